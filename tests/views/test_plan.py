"""A job as tables: what it sends, its groups, its memory, and what changed since another plan."""

from __future__ import annotations

from clusterscope.engine.scenario import with_spec
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.planned import job_facts
from clusterscope.spec.replan import replanned
from clusterscope.views import plan
from clusterscope.views.planned import groups, memory, sends
from tests import plans, small


def both():
    built = plans.scenario()
    before = job_facts(built, Timeline(built).at(0), 0)
    other = with_spec(built, replanned(built.spec, 0, {"pp": "4"}))
    return other, job_facts(other, Timeline(other).at(0), 0), before


def column(table, name):
    found = next(c for c in table.columns if c.name == name)
    return [found[row] for row in range(table.rows)]


def test_the_plan_says_what_it_was():
    _, facts, before = both()
    table = plan.plan_table(facts, before)
    rows = dict(zip(column(table, "field"), column(table, "was"), strict=True))
    assert (rows["pp"], rows["dp"], rows["tp"]) == ("2", "4", "")
    assert "was" not in [c.name for c in plan.plan_table(facts).columns]


def test_figures_come_with_the_difference():
    _, facts, before = both()
    told = {fact.label: str(fact.value) for fact in plan.facts_note(facts, before).facts}
    assert "points)" in told["MFU"]
    assert told["iteration"].endswith("%)")
    assert told["bubble"].endswith("%)")
    same = {fact.label: str(fact.value) for fact in plan.facts_note(facts, facts).facts}
    assert same["MFU"].endswith("(as before)")
    assert plan.headline(facts).startswith("MFU ")


def test_rows_lead_to_the_links_that_bound_them():
    built, facts, _ = both()
    table = plan.sent_table(built, facts)
    links = [key for key in table.keys if key]
    assert links
    assert all(built.names.find(key).kind == "link" for key in links)
    assert "first forward" in column(table, "phase")


def test_groups_say_whether_they_stay_inside():
    _, facts, _ = both()
    rows = dict(zip(column(plan.groups_table(facts), "cut"),
                    column(plan.groups_table(facts), "where"), strict=True))  # fmt: skip
    assert rows["tp"] == "inside the scale-up domain"
    assert rows["dp"] == "across NICs"


def test_places_name_leaves_and_gpus():
    built, facts, _ = both()
    table = plan.places_table(built, facts, "tp", 1)
    assert table.title == "tp group 1 of 8"
    assert column(table, "GPUs") == ["node1/gpu0", "node1/gpu1"]
    assert [built.names.find(key).kind for key in table.keys] == ["switch", "switch"]


def test_memory_rows_add_up():
    _, facts, _ = both()
    table = plan.memory_table(facts)
    values = dict(zip(column(table, "what"), column(table, "GB"), strict=True))
    parts = ("weights", "gradients", "optimizer", "activations")
    assert abs(sum(values[part] for part in parts) - values["needed"]) < 1e-9
    assert values["HBM"] == 80


def test_the_tables_of_all_jobs_name_the_job_of_each_row():
    jobs = [
        {"name": "ring", "collective": "all-reduce", "ranks": 4, "message_bytes": 10**9},
        plans.job(ranks=8, first_gpu=8),
    ]
    built = small.scenario(jobs=jobs)
    frame = Timeline(built).at(0)
    assert set(column(sends(built, frame), "job")) == {"ring", "train"}
    assert set(column(groups(built, frame), "job")) == {"ring", "train"}
    assert set(column(memory(built, frame), "job")) == {"train"}


def test_beside_other_jobs_the_head_says_how_fast_it_is_alone():
    own = {"collective": "incast", "message_bytes": 10**9, "ranks": 8}
    jobs = [{"name": "a", **own}, {"name": "b", **own}]
    built = small.scenario(jobs=jobs, sim={"seed": 1, "dt_s": 100.0, "steps": 1})
    facts = job_facts(built, Timeline(built).at(1), 0)
    assert facts.metrics.iteration_s > facts.metrics.alone_s * 1.5
    words = plan.headline(facts)
    assert " beside the others, " in words
    assert " alone (chart)" in words
    assert "exposed" not in words
    assert len(words) <= 76
