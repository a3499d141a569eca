"""What can be typed after `:`."""

from __future__ import annotations

from dataclasses import dataclass

from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.metrics.rules import read, share
from clusterscope.metrics.targets import is_rule

USAGE: dict[str, str] = {
    "fail": "fail NAME or RULE [@STEP]",
    "restore": "restore NAME or RULE or all",
    "degrade": "degrade NAME or RULE [to SCALE]",
    "select": "select NAME",
    "step": "step [N]",
    "seek": "seek N",
    "transport": "transport NAME",
    "set": "set KEY=VALUE [KEY=VALUE ...]",
    "plan": "plan FIELD=VALUE [FIELD=VALUE ...]",
    "explain": "explain [JOB or THING]",
    "save": "save [NAME]",
    "open": "open NAME",
    "what": "what [WORD]",
    "help": "help",
    "quit": "quit",
}
_SHORT = {"q": "quit", "h": "help", "s": "step"}
_STEPS_MOST = 1_000_000
_DEEDS = ("fail", "restore", "degrade")


@dataclass(frozen=True)
class Command:
    """One command, checked as far as it can be without a cluster.

    Attributes:
        verb: a key of USAGE.
        name: the thing, rule or transport named, "" when none is.
        steps: steps to go, or the step to go to.
        scale: degrade: share of the line rate that is left.
        at: step of what is done to the cluster; None for now.
    """

    verb: str
    name: str = ""
    steps: int = 0
    scale: float = 0.5
    at: int | None = None


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
    if verb in _DEEDS and given:
        return _deed(verb, given)
    if verb in ("what", "save", "open", "set", "plan", "explain") and given:
        given = [" ".join(given)]
    wanted = (
        USAGE[verb].split()[1:2] if verb in ("set", "plan", "explain") else USAGE[verb].split()[1:]
    )
    least = sum(not word.startswith("[") for word in wanted)
    if not least <= len(given) <= len(wanted):
        raise SpecError(f":{line.strip()}", "cannot be read", f"type {USAGE[verb]!r}")
    if verb in ("step", "seek"):
        return Command(verb, steps=_whole(given[0]) if given else 1)
    return Command(verb, given[0] if given else "")


def _deed(verb: str, given: list[str]) -> Command:
    """Something done to a name or to what a rule names."""
    if verb == "degrade" and len(given) == 2 and not is_rule(given[0]):
        return Command(verb, given[0], scale=share(given[1]))
    deed = read(" ".join([verb, *given]))
    return Command(verb, deed.targets, scale=deed.scale, at=deed.step)


def _whole(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= _STEPS_MOST:
        return int(text)
    raise SpecError("command", f"{text!r} is not a number of steps", f"use 0 to {_STEPS_MOST:,}")
