"""`job`: one job's iteration, what bounds its phases, its groups and its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clusterscope.cli.changes import cluster_of, refuse_late, run_options, spec_of

if TYPE_CHECKING:
    from clusterscope.engine.scenario import Scenario
    from clusterscope.engine.timeline import Timeline
    from clusterscope.metrics.planned import JobFacts


@click.command()
@click.argument("spec")
@click.argument("name", required=False)
@run_options
@click.option("--plan", "changes_of_plan", metavar="'FIELD=VALUE ...'",
              help="another plan, as 'tp=4 pp=8': dp follows; with the difference")  # fmt: skip
@click.option("--at", type=click.IntRange(0, 10_000_000), metavar="STEP",
              help="at this step; that of the last event when left out")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def job(
    spec: str,
    name: str | None,
    changes_of_plan: str | None,
    at: int | None,
    as_json: bool,
    **changes: Any,  # noqa: ANN401 - the options of run_options, passed on as they are
) -> None:
    """Print one iteration of a job of SPEC: chart, phases, groups and memory.

    NAME is a job of the spec; the first that trains, or the first one, when left out.
    """
    from clusterscope.export.job import job_json, job_text
    from clusterscope.metrics.planned import job_named
    from clusterscope.spec.replan import parse_changes, replanned

    cluster = spec_of(spec, changes)
    timeline, steps = cluster_of(cluster, changes)
    if at is None:
        asked = changes["steps"] is not None or changes["until"] is not None
        at = steps if asked else max((event.step for event in timeline.log), default=0)
    refuse_late(timeline, at)
    index = job_named(timeline.scenario, name)
    scenario, facts, before = timeline.scenario, _facts(timeline, at, index), None
    if changes_of_plan is not None:
        other = replanned(cluster, index, parse_changes(changes_of_plan))
        before, scenario = facts, _under(timeline.scenario, other)
        facts = _facts(timeline.under(scenario), at, index)
    click.echo((job_json if as_json else job_text)(scenario, facts, before), nl=False)


def _facts(timeline: Timeline, step: int, index: int) -> JobFacts:
    """A job at a step."""
    from clusterscope.metrics.planned import job_facts

    return job_facts(timeline.scenario, timeline.at(step), index)


def _under(scenario: Scenario, spec: Any) -> Scenario:  # noqa: ANN401 - a ClusterSpec
    """The same fabric under another plan."""
    from clusterscope.engine.scenario import with_spec

    return with_spec(scenario, spec)


COMMANDS = (job,)
