"""A command line whose first word may be a spec instead of a command."""

from __future__ import annotations

from pathlib import Path

import click

from clusterscope.errors import UnknownNameError, nearest


class SpecFirst(click.Group):
    """A group whose first word may be a spec: `clusterscope xai-colossus-100k --export out`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the hidden `open` command in front of anything that is not a command."""
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "--version")):
            args = ["open", *args]
        return super().parse_args(ctx, args)

    def format_usage(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Usage in both of its forms."""
        formatter.write_usage("clusterscope", "[SPEC] [OPTIONS]")
        formatter.write_usage("clusterscope", "COMMAND [ARGS]...")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options of the command that has no name."""
        with formatter.section("With a SPEC (preset name or TOML path)"):
            opener = self.commands["open"]
            records = [p.get_help_record(ctx) for p in opener.get_params(ctx)]
            formatter.write_dl([r for r in records if r and "--help" not in r[0]])


class Opener(click.Command):
    """The command without a name, which also meets every command that is misspelt."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and name the nearest command when what fails looks like one.

        Raises:
            UnknownNameError: the first word is nearer to a command than to a preset.
        """
        first = args[0] if args else ""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError:
            _refuse_misspelt(first, _commands(ctx))
            raise


def _commands(ctx: click.Context) -> list[str]:
    group = ctx.parent.command if ctx.parent else None
    return (
        [n for n, c in group.commands.items() if not c.hidden]
        if isinstance(group, click.Group)
        else []
    )


def _refuse_misspelt(word: str, commands: list[str]) -> None:
    """Raise UnknownNameError for a word that was meant to be a command."""
    from clusterscope.spec.presets import names

    if word.startswith("-") or Path(word).exists():
        return
    if nearest(word, [*commands, *names()]) in commands:
        raise UnknownNameError("command", word, commands)
