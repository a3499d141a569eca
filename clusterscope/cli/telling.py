"""Narration on stderr, only for a terminal."""

from __future__ import annotations

import sys

import click


def tell(name: str, step: int, of: int) -> None:
    """Say on a terminal what is being computed; "" wipes the line."""
    say(f"computing {name}, step {step:,} of {of:,} …" if name else "")


def say(text: str) -> None:
    """Say something in place of what was said before; "" wipes the line."""
    if sys.stderr.isatty():
        click.echo(f"\r{text[:78]:<78}\r", err=True, nl=False)
