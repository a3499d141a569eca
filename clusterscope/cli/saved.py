"""`replay`: a saved timeline, reopened or verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clusterscope.opening import explore, explorer_options, start_of


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--verify", is_flag=True, help="recompute the digests and compare; exit 1 if they differ"
)
@explorer_options
@click.pass_context
def replay(ctx: click.Context, /, file: Path, verify: bool, **flags: Any) -> None:  # noqa: ANN401 - the options of explorer_options
    """Reopen a saved timeline in the explorer, or verify it."""
    from clusterscope.engine import replay as saved

    if verify:
        differing = saved.verify(file)
        for step in differing:
            click.echo(f"step {step}: digest differs")
        click.echo("the replay gives other frames" if differing else "every digest agrees")
        ctx.exit(1 if differing else 0)
    recorded = saved.read(file)
    from clusterscope.tui.start import Start

    start = start_of(flags, Start.of(recorded))
    explore(flags, str(file), recorded.timeline, start, lambda: recorded.spec)


COMMANDS = (replay,)
