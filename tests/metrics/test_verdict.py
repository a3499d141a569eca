"""The verdict: ranked by the numbers, level within the error, the same text every time."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import with_transport
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.compare import Comparison, Rivals, TransportSide
from clusterscope.metrics.economics import Economics
from clusterscope.metrics.verdict import Standing, Use, _running, ranked, uses
from clusterscope.views.compare import verdict
from clusterscope.views.verdict import _less, paragraph, uses_table
from tests import small


def side(name, reroute_s=1e-3, petabyte_usd=1.0, year=1e6):
    money = Economics(1e7, 1e6, 1e6, 1e5, 1e6, 1e5, 3e6, year, 1e12, petabyte_usd, 1100.0, 4e5, 1.0)
    return TransportSide(name, (), {}, reroute_s, 1e6, 1e5, money)


def standing(name, value, low=0.9):
    return Standing(name, value, low * value, value)


def test_values_within_each_others_error_are_level():
    found = ranked(
        "training", "x", "GBps", [standing("a", 95), standing("b", 100), standing("c", 80)]
    )
    assert [one.label for one in found.standings] == ["b", "a", "c"]
    assert found.front == ("b", "a")


def test_less_is_better_where_it_is():
    found = ranked(
        "reroute", "x", "seconds", [standing("a", 2, 1), standing("b", 1, 1)], most=False
    )
    assert found.front == ("b",)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(1, 100), st.floats(0.5, 1)), min_size=2, max_size=6))
def test_nobody_wins_within_the_error(rows):
    standings = [standing(f"t{i}", value, low) for i, (value, low) in enumerate(rows)]
    found = ranked("training", "x", "GBps", standings)
    best = found.standings[0]
    assert best.value == max(value for value, _ in rows)
    for one in found.standings[found.level :]:
        assert one.high < best.low
    for one in found.standings[: found.level]:
        assert one.high >= best.low


COMPARISON = Comparison(
    0, 0.0, 1, (side("spectrum-x"), side("uec", year=5e5), side("rocev2", 0.2, 1.5))
)


def use(name, *values):
    names = ("spectrum-x", "uec", "rocev2")
    standings = [
        standing(n, v, 0.7 if v == 60 else 0.9) for n, v in zip(names, values, strict=True)
    ]
    return ranked(name, "x", "GBps", standings)


USES = (use("training", 100, 99, 60), use("experts", 50, 50, 49), use("storage", 40, 30, 0))


def test_the_verdict_reads_like_this():
    assert paragraph(COMPARISON, USES) == (
        "For training (x) spectrum-x (100.0 GB/s, 90 to 100.0 by the error band) and uec "
        "(99 GB/s, 89.1 to 99 by the error band) are level within the model's error; rocev2 "
        "reaches 60 GB/s (42 to 60), 40 % less. For mixtures of experts (x) "
        "all are level within the model's error (49 to 50 GB/s). For flows beside an incast, as "
        "storage makes them (x) take spectrum-x (40 GB/s, 36 to 40 by the error band); uec "
        "reaches 30 GB/s (27 to 30), 25 % less; rocev2 delivers nothing. By price spectrum-x "
        "($1.00) and uec ($1.00) are level and deliver a petabyte for least, rocev2 for most "
        "($1.50). After a failure spectrum-x and uec avoid it within 1 ms, rocev2 within 200 ms. "
        "Over all spectrum-x is in front or level in 3 of 3 uses."
    )


def test_of_those_in_front_the_cheapest_is_named():
    text = paragraph(COMPARISON, USES[:2])
    assert text.endswith(
        "Over all spectrum-x and uec are in front or level in 2 of 2 uses; of these uec has the "
        "cheapest network, $500k a year."
    )


def test_a_use_in_which_nobody_delivers_is_not_won():
    dead = ranked("storage", "y", "GBps", [standing(n, 0) for n in ("spectrum-x", "uec", "rocev2")])
    text = paragraph(COMPARISON, (USES[0], dead))
    assert "(y) none of them delivers anything" in text
    assert "in 1 of 1 use in which any delivers something" in text
    assert "nobody delivers anything" in paragraph(COMPARISON, (dead,))


def test_every_transport_is_told_how_quick_it_reroutes():
    sides = (side("spectrum-x"), side("infiniband", 3e-3), side("rocev2", 0.2))
    text = paragraph(Comparison(0, 0.0, 1, sides), ())
    assert "spectrum-x avoids it within 1 ms, infiniband within 3 ms, rocev2 within 200 ms" in text


def test_one_transport_needs_no_verdict_and_stalls_are_no_price():
    assert paragraph(Comparison(0, 0.0, 1, (side("a"),)), USES) == ""
    dead = Comparison(0, 0.0, 1, (side("a", petabyte_usd=math.inf), side("b")))
    assert "By price" not in paragraph(dead, ())


def test_uses_are_run_on_the_cluster_itself():
    built = small.scenario(transport={"name": "spectrum-x"}, scale_out__leaf_up=2)
    sides = [(n, with_transport(built, n)) for n in ("spectrum-x", "rocev2", "infiniband")]
    told = []
    sides = [(name, other.healthy) for name, other in sides]
    found = uses(sides, lambda *at: told.append(at))
    assert [use.name for use in found] == ["training", "experts", "tenants", "storage"]
    assert told[0] == ("training under spectrum-x", 0, 4)
    assert all(isinstance(use, Use) and len(use.standings) == 3 for use in found)
    assert found == uses(sides)
    comparison = Rivals(built).compare(Timeline(built).at(0), (), [n for n, _ in sides])
    assert paragraph(comparison, found) == paragraph(comparison, uses(sides))
    assert uses_table(found).rows == 12


def test_a_small_cluster_has_room_for_fewer_uses():
    built = small.scenario(node__count=2, scale_out__su_nodes=2)
    assert [use.name for use in uses([("a", built.healthy)])] == ["training", "experts"]


def broken(built, *names, step=0):
    """The comparison of two transports with something dead, and the uses then."""
    log = [Event.named(built.names, "fail", name, step=0) for name in names]
    frame = Timeline(built, log).at(step)
    found = Rivals(built).compare(frame, log, ("spectrum-x", "rocev2"))
    return found, uses(found.networks)


def test_uses_are_tried_with_what_is_broken_at_the_step():
    built = small.scenario(scale_out__leaf_up=2)
    whole, before = broken(built)
    hurt, after = broken(built, "leaf0:u0", "leaf1:u0", step=30)
    assert whole.whole
    assert not hurt.whole
    assert whole.health != hurt.health
    assert "broken" not in paragraph(whole, before)
    assert paragraph(hurt, after).startswith("With what is broken at step 30: For training")
    for label in ("spectrum-x", "rocev2"):
        now, then = (
            next(one.value for one in found[1].standings if one.label == label)
            for found in (after, before)
        )
        assert now < then, label


def test_until_routes_react_both_values_are_told():
    built = small.scenario(scale_out__leaf_up=2, transport={"name": "rocev2", "reroute_s": 1.0})
    log = [Event.named(built.names, "fail", "leaf0:u0", step=0)]
    frame = Timeline(built, log).at(0)
    found = Rivals(built).compare(frame, log, ("rocev2", "spectrum-x"))
    tried = uses(found.networks)
    hashed = next(one for one in tried[0].standings if one.label == "rocev2")
    assert hashed.now == 0.0 < hashed.value
    text = paragraph(found, tried)
    assert text.startswith("With what is broken at step 0, once routes have reacted: For training")
    assert "nothing until its routes react" in text


def test_where_nothing_leaves_the_domain_no_transport_is_ranked():
    built = small.scenario(
        node__count=2, scale_up__domain_gpus=4, scale_out__su_nodes=2,
        transport={"name": "spectrum-x"},
    )  # fmt: skip
    found = Rivals(built).compare(Timeline(built).at(0), (), ("spectrum-x", "rocev2"))
    tried = uses(found.networks)
    assert tried
    assert all(use.inside for use in tried)
    text = paragraph(found, tried)
    assert "stay inside NVLink here, so the scale-out network makes no difference to them" in text
    assert "Over all" not in text
    assert "petabyte" not in text
    assert "Their networks cost alike" in text
    (sentence,) = verdict(found)
    assert sentence.startswith("job: never leaves NVLink, so the scale-out network makes no diff")
    assert "fastest" not in sentence
    # The transport's error is about its fabric, not about NVLink.
    bands = {side.jobs[0].metrics.error_band for side in found.sides}
    assert len(bands) == 1


def test_every_busbw_of_a_verdict_has_its_band():
    built = small.scenario(scale_out__leaf_up=2)
    found, tried = broken(built)
    for text in (paragraph(found, tried), *verdict(found)):
        for part in re.split(r"[;.] ", text):
            if "GB/s" in part and "within the model's error (" not in part:
                assert re.search(r"GB/s,? \(?[\d.]+ to [\d.]+", part), part


def test_a_use_that_the_cluster_runs_anyway_is_not_run_again():
    own = small.scenario(jobs=small.job("all-reduce"))
    (job,) = own.spec.jobs
    named = job.model_copy(update={"name": "training", "ranks": own.fabric.gpus})
    assert _running(own.healthy, (named,)) is own.healthy
    other = _running(own.healthy, (named.model_copy(update={"message_bytes": 7}),))
    assert other.scenario.spec.jobs[0].message_bytes == 7


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.2, "20 %"), (0.9957, "99.6 %"), (0.99999, "99.999 %"), (1.0, "100 %"), (0.003, "0.3 %")],
)
def test_nearly_all_is_not_all(part, text):
    assert _less(part) == text
