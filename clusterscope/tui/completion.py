"""Completes what is typed after `:`, as far as there is one way to go on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

import numpy as np

from clusterscope.errors import UnknownNameError
from clusterscope.fabric.names import Names
from clusterscope.fabric.things import Thing
from clusterscope.metrics.places import KIND_WORDS
from clusterscope.spec import presets
from clusterscope.spec.parts import transports
from clusterscope.tui.commands import USAGE
from clusterscope.views.glossary import TERMS

_SHOWN = 4  # ways to go on that are named
_RULES = ("all", "random", *KIND_WORDS)


class WordCompleter:
    """Completes one word out of a few.

    Args:
        words: all that can be typed.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words

    def usage(self, line: str) -> str:
        """What can be meant by a line, as far as there is room to say so."""
        return _listed(_beginning(self._words, line), "")

    def complete(self, line: str) -> tuple[str, str]:
        """The line as far as it goes on in one way only, and in words the ways from there."""
        return _gone_on(line, _beginning(self._words, line))


class Completer:
    """Completes commands about one cluster.

    Args:
        names: names of its things.
    """

    def __init__(self, names: Names) -> None:
        self._names = names

    def usage(self, line: str) -> str:
        """How the command that a line begins with is used, "" before it is known."""
        return USAGE.get(line.split(" ", 1)[0], "")

    def complete(self, line: str) -> tuple[str, str]:
        """The line as far as it goes on in one way only, and in words the ways from there."""
        found = self._ways(line)
        if found == [line]:
            found = self._further(line)
        if not found and line.endswith(" ") and self.usage(line):
            return line, self.usage(line)
        return _gone_on(line, found)

    def _ways(self, line: str) -> list[str]:
        """Whole lines that begin as this one does."""
        verb, space, rest = line.partition(" ")
        if not space:
            known = [f"{v} " if " " in usage else v for v, usage in USAGE.items()]
            return _beginning(known, line)
        # Only a rule has several words; those of the glossary count as one.
        start = len(verb) + 1 if verb == "what" else line.rindex(" ") + 1
        return [line[:start] + word for word in _beginning(self._words(verb, rest), line[start:])]

    def _further(self, line: str) -> list[str]:
        """What is in the thing that a line names in full."""
        return self._ways(f"{line}/") or self._ways(f"{line}:")

    def _words(self, verb: str, rest: str) -> Iterable[str]:
        """What can follow a command."""
        match verb:
            case "fail" | "restore" | "degrade":
                return (*_RULES, *things(self._names, rest.split(" ")[-1]))
            case "select" | "explain":
                return things(self._names, rest)
            case "transport":
                return transports()
            case "open":
                return presets.names()
            case "what":
                return (term.name for term in TERMS)
            case _:
                return ()


def things(names: Names, typed: str) -> Iterator[str]:
    """Names of things of which one may be meant by what is typed so far."""
    fabric = names.fabric
    owner, sign = re.fullmatch(r"(?:(.*)([/:]))?[^/:]*", typed, re.DOTALL).groups()  # type: ignore[union-attr]
    if not sign:
        for count, name in (
            (fabric.pods if names.pods_named else 0, names.pod),
            (fabric.nodes, names.node),
            (fabric.domains, names.domain),
        ):
            letters = re.match("[a-z]*", typed.casefold())
            # Twelve thousand nodes are listed for somebody who means one of them only.
            if count and letters and name(0).startswith(letters[0]):
                yield from (name(index) for index in range(count))
        yield from (name for name in map(names.switch, range(fabric.switches)) if "/" not in name)
        return
    try:
        thing = names.find(owner)
    except UnknownNameError:
        thing = Thing("cluster")
    if sign == ":":
        yield from map(names.cable, _cables(names, thing))
    elif thing.kind == "node":
        gpus, nics = fabric.gpus_per_node, fabric.nics_per_node * fabric.ports_per_nic
        yield from (names.gpu(thing.index * gpus + place) for place in range(gpus))
        yield from (names.nic(thing.index * nics + place) for place in range(nics))
    else:
        yield from map(names.switch, range(fabric.switches))


def _cables(names: Names, thing: Thing) -> Sequence[int]:
    """Cables whose lower end a thing is."""
    first = {"nic": 0, "switch": names.fabric.ports, "gpu": names.fabric.gpu_vertex}
    if thing.kind not in first:
        return ()
    vertex = first[thing.kind] + thing.index
    found: list[int] = np.flatnonzero(names.fabric.cable_a == vertex).tolist()
    return found


def _beginning(words: Iterable[str], typed: str) -> list[str]:
    """Words that begin with what is typed, whatever the case."""
    start = typed.casefold()
    return [word for word in words if word.casefold().startswith(start)]


def _gone_on(line: str, found: Sequence[str]) -> tuple[str, str]:
    """What all ways to go on begin with, and in words what they are."""
    if not found:
        return line, "nothing begins so"
    common = _shared(found)
    # Nothing is taken away where spellings differ in upper and lower case.
    common = common if len(common) > len(line) else line
    return common, "" if len(found) == 1 else _listed(found, common)


def _shared(words: Sequence[str]) -> str:
    """What all words begin with."""
    # Whatever the first and the last of them share, those between share as well.
    pairs = zip(min(words), max(words), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _listed(found: Sequence[str], common: str) -> str:
    """Some of the ways to go on, from the last word or part of a name that they share."""
    start = max(common.rfind(sign) for sign in " /:") + 1
    words = " ".join(way[start:].strip() for way in found[:_SHOWN])
    return words if len(found) <= _SHOWN else f"{words} … {len(found):,} in all"
