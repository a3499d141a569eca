"""What can be typed after `:`."""

from __future__ import annotations

from dataclasses import dataclass

from clusterscope.errors import SpecError, UnknownNameError

USAGE: dict[str, str] = {
    "fail": "fail NAME",
    "restore": "restore NAME",
    "degrade": "degrade NAME [SCALE]",
    "select": "select NAME",
    "step": "step [N]",
    "seek": "seek N",
    "transport": "transport NAME",
    "help": "help",
    "quit": "quit",
}
_SHORT = {"q": "quit", "h": "help", "s": "step"}
_STEPS_MOST = 1_000_000


@dataclass(frozen=True)
class Command:
    """One command, checked as far as it can be without a cluster.

    Attributes:
        verb: a key of USAGE.
        name: the thing or transport named, "" when none is.
        steps: steps to go, or the step to go to.
        scale: degrade: share of the line rate that is left.
    """

    verb: str
    name: str = ""
    steps: int = 0
    scale: float = 0.5


def parse(line: str) -> Command:
    """Command of a typed line.

    Raises:
        UnknownNameError: no such command.
        SpecError: an argument is missing, too many, or no number.
    """
    words = line.split()
    if not words:
        raise SpecError("command", "nothing was typed", f"try {', '.join(USAGE.values())}")
    verb, given = _SHORT.get(words[0], words[0]), words[1:]
    if verb not in USAGE:
        raise UnknownNameError("command", words[0], USAGE, f"try {', '.join(USAGE.values())}")
    wanted = USAGE[verb].split()[1:]
    least = sum(not word.startswith("[") for word in wanted)
    if not least <= len(given) <= len(wanted):
        raise SpecError(f":{line.strip()}", "cannot be read", f"type {USAGE[verb]!r}")
    if verb in ("step", "seek"):
        return Command(verb, steps=_whole(given[0]) if given else 1)
    scale = _share(given[1]) if len(given) > 1 else 0.5
    return Command(verb, given[0] if given else "", scale=scale)


def _whole(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= _STEPS_MOST:
        return int(text)
    raise SpecError("command", f"{text!r} is not a number of steps", f"use 0 to {_STEPS_MOST:,}")


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if 0 < value <= 1:
        return value
    raise SpecError("command", f"{text!r} is not a share of the line rate", "use 0.01 to 1")
