"""The command line: composition, exit codes, stderr.

stdout carries data, stderr narration. One module a group of commands; a module lists its commands
in `COMMANDS`. Every import of another room is inside the command that needs it, so that `--help`
costs nothing. Exit codes: 0 fine, 1 findings, 2 bad input, 3 assertion failed, 130 interrupted.
"""

from __future__ import annotations

import click

from clusterscope import __version__
from clusterscope.cli import (
    catalog,
    checking,
    collective,
    comparing,
    explaining,
    inner,
    jobs,
    opened,
    plans,
    saved,
    serving,
    settings,
    validating,
)
from clusterscope.cli.group import SpecFirst
from clusterscope.process import guard


@click.group(cls=SpecFirst, context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(__version__, message="clusterscope %(version)s")
def cli() -> None:
    """Terminal explorer and digital twin for AI cluster networks."""


_GROUPS = (
    opened,
    catalog,
    checking,
    collective,
    comparing,
    explaining,
    inner,
    jobs,
    plans,
    saved,
    serving,
    settings,
    validating,
)
for _group in _GROUPS:
    for _command in _group.COMMANDS:
        cli.add_command(_command)


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit."""
    guard(lambda: cli.main(args, prog_name="clusterscope", standalone_mode=False))
