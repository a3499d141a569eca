"""Narration on stderr: progress only for a terminal, what was written always."""

from __future__ import annotations

import sys
from pathlib import Path

import click


def tell(name: str, step: int, of: int) -> None:
    """Say on a terminal what is being computed; "" wipes the line."""
    say(f"computing {name}, step {step:,} of {of:,} …" if name else "")


def say(text: str) -> None:
    """Say something in place of what was said before; "" wipes the line."""
    if sys.stderr.isatty():
        click.echo(f"\r{text[:78]:<78}\r", err=True, nl=False)


def wrote(directory: Path) -> None:
    """Say which directory was written."""
    click.echo(f"wrote {click.format_filename(directory)}", err=True)
