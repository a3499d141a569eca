"""`explain`: why a flow, a link or a job is as fast as it is; `tenants`: who slows whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clusterscope.cli.changes import refuse_late, run_options, timeline_of
from clusterscope.cli.telling import say
from clusterscope.errors import SpecError

if TYPE_CHECKING:
    from clusterscope.engine.frame import Frame
    from clusterscope.engine.scenario import Scenario


_JOBS_NAMED = 8


def _at_option(function: Any) -> Any:  # noqa: ANN401 - a decorator
    return click.option(
        "--at", type=click.IntRange(0, 10_000_000), metavar="STEP",
        help="at this step; that of the last event when left out",
    )(function)  # fmt: skip


@click.command()
@click.argument("spec")
@click.argument("thing", required=False)
@run_options
@_at_option
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def explain(spec: str, thing: str | None, at: int | None, as_json: bool, **changes: Any) -> None:  # noqa: ANN401 - the options of run_options, passed on as they are
    """Say what holds THING back and try what would help.

    THING is a job, a link, a device, or a flow: 'node0/gpu0 -> node1/gpu0'.
    """
    from clusterscope.export import answers
    from clusterscope.metrics.explain import explain as why
    from clusterscope.metrics.remedies import remedies
    from clusterscope.metrics.subject import subject_of
    from clusterscope.process import heed

    scenario, frame = _frame(spec, at, changes)
    if thing is None:
        jobs = ", ".join(program.name for program in scenario.program[:_JOBS_NAMED])
        hint = f"name a job ({jobs}), a link or a device" if jobs else "name a link or a device"
        raise SpecError("explain", "what to explain is missing", hint)
    subject = subject_of(scenario, frame.network, thing)
    found = why(subject, frame.network)

    def tell(words: str, done: int, of: int) -> None:
        heed(words, done / of)
        say(f"trying {done + 1} of {of}: {words} …")

    tried = remedies(found, frame.network, tell)
    say("")
    write = answers.explanation_json if as_json else answers.explanation
    click.echo(write(scenario, found, tried), nl=False)


@click.command()
@click.argument("spec")
@run_options
@_at_option
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def tenants(spec: str, at: int | None, as_json: bool, **changes: Any) -> None:  # noqa: ANN401 - as above
    """Print who slows whom: each job of SPEC beside each other, and beside all."""
    from clusterscope.export import answers
    from clusterscope.metrics.tenants import tenants as matrix
    from clusterscope.process import heed

    scenario, frame = _frame(spec, at, changes)

    def tell(words: str, done: int, of: int) -> None:
        heed(words, done / of)
        say(f"job {done + 1} of {of}: {words} …")

    matrix(frame.network, tell)
    write = answers.tenants_json if as_json else answers.tenants
    text = write(scenario, frame, tell)
    say("")
    click.echo(text, nl=False)


def _frame(spec: str, at: int | None, changes: dict[str, Any]) -> tuple[Scenario, Frame]:
    """The cluster, and its frame at the step asked for."""
    timeline, steps = timeline_of(spec, changes)
    if at is None:
        at = max((event.step for event in timeline.log), default=0)
        at = steps if changes["steps"] is not None or changes["until"] is not None else at
    refuse_late(timeline, at)
    return timeline.scenario, timeline.at(at)


COMMANDS = (explain, tenants)
