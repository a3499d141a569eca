"""What a line names: "pod07/leaf12", "all spines of plane 1", "3 random leaf-spine cables seed 5".

    rule      part, part, ...
    part      NAME  |  [how many] KIND [NUMBER or NAME] [of PLACE]... [seed N]
    how many  all  every  |  N  N random  a random  |  N%           (a kind alone means all)
    kind      leaf spine core switch node gpu nic cable link optic uplink downlink, also in the
              plural, and cables of one tier: "leaf-spine cable", "spine-core optics"
    place     pod N  group N  plane N  rail N  domain N  NAME  |  [how many] KIND ...

A draw orders candidates by a hash of seed, part and index, so it is the same on every machine and
in every order of drawing. A link stands for its cable, and an optic too: without either of its two
ends a cable is dead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clusterscope.columns import I64, U64, Bool
from clusterscope.engine.events import BREAKABLE
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.fabric.things import Thing, ThingKind
from clusterscope.metrics.places import (
    KIND_WORDS,
    PLACES,
    TIER_WORDS,
    Kind,
    Places,
    kind_of,
    tier_of,
)
from clusterscope.routing.hashing import mix
from clusterscope.units import counted

MOST = 10_000  # targets of one rule

# Which of the things (n,) of a kind may be meant at all.
Keep = Callable[[ThingKind, I64], Bool]

_PREPOSITIONS = ("of", "in", "on", "at", "under", "from", "within")
_ALL = ("all", "every", "each", "the")
_ONE = ("a", "an", "one", "any")
_NUMBER = re.compile(r"[0-9]{1,9}")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%")
_WORDS = (*_ALL, *_ONE, "random", "seed")


@dataclass(frozen=True)
class _Amount:
    """How many of the candidates: all of them, so many, or a share of them."""

    count: int | None = None
    share: float | None = None

    @property
    def whole(self) -> bool:
        """True for all of them."""
        return self.count is None and self.share is None


def is_rule(text: str) -> bool:
    """True for a line that can be no plain name: several words, or a word of the language."""
    words = _words(text)
    if len(words) != 1 or "," in text:
        return True
    word = words[0].casefold()
    return kind_of(word) is not None or word in _WORDS or word.endswith("/spines")


def parse(
    text: str, scenario: Scenario, seed: int | None = None, keep: Keep | None = None
) -> tuple[Thing, ...]:
    """Things that a rule names, each once, in order of its parts and then of their index.

    Args:
        text: the rule.
        scenario: what it is about.
        seed: of its draws where it names none; the scenario's when left out.
        keep: what may be meant ("what still works"); a thing called by its name is meant anyway.

    Raises:
        SpecError: it cannot be read, or names nothing, or more than `MOST` things.
        UnknownNameError: a word, a name or a number in it stands for nothing.
    """
    chance = scenario.spec.sim.seed if seed is None else seed
    found: dict[Thing, None] = {}
    parts = [part.strip() for part in text.split(",")]
    if not any(parts):
        raise SpecError("rule", "nothing was typed", "try '3 random cables' or a name")
    for place, part in enumerate(part for part in parts if part):
        words, own = _seeded(_words(part), chance)
        found.update(dict.fromkeys(_Part(scenario, own, place, keep).things(words)))
        if len(found) > MOST:
            raise _too_many(text, len(found))
    return tuple(found)


def _words(text: str) -> list[str]:
    return text.split()


def _too_many(text: str, count: int) -> SpecError:
    hint = f"at most {MOST:,} can be meant at a time"
    return SpecError("rule", f"{text.strip()!r} is {counted(count, 'thing')}", hint)


def _seeded(words: list[str], seed: int) -> tuple[list[str], int]:
    """Words without a "seed N" at the end, and the seed."""
    if len(words) > 1 and words[-2].casefold() == "seed":
        if not _NUMBER.fullmatch(words[-1]):
            raise SpecError("rule", f"{words[-1]!r} is not a seed", "use a whole number")
        return words[:-2], int(words[-1])
    return words, seed


@dataclass(frozen=True)
class _Part:
    """One part of a rule being read."""

    scenario: Scenario
    seed: int
    place: int
    keep: Keep | None

    def things(self, words: list[str]) -> list[Thing]:
        """Things that the part names.

        Raises:
            SpecError, UnknownNameError: as `parse`.
        """
        if not words:
            raise SpecError("rule", "a seed alone names nothing", "say what it is for")
        amount, rest = _amount(words)
        kind, rest, counted = self._kind(rest, alone=amount.whole)
        if kind is None:
            return self._named(words)
        if rest and rest[0].casefold() not in _PREPOSITIONS:
            return self._picked(kind, rest, amount)
        members = self._within(kind, rest, Places(self.scenario))
        if not len(members):
            raise SpecError("rule", f"of {' '.join(words)!r} there is none here")
        if self.keep is not None:
            members = members[self.keep(kind.thing, members)]
        if not len(members):
            raise SpecError("rule", f"of {' '.join(words)!r} there is none that would change")
        chosen = self._drawn(kind, members, amount, counted)
        if len(chosen) > MOST:
            raise _too_many(" ".join(words), len(chosen))
        return [Thing(kind.thing, index) for index in chosen.tolist()]

    def _kind(self, words: list[str], *, alone: bool) -> tuple[Kind | None, list[str], str]:
        """Kind that the words begin with, what follows, and the words of the kind.

        None for what begins with no kind and may be a name.
        """
        if not words:
            raise SpecError("rule", "says how many, but not of what", "as '3 random cables'")
        tier = tier_of(words[0], self.scenario.fabric)
        if tier is not None:
            kind = kind_of(words[1]) if len(words) > 1 else None
            if kind is None or kind.thing != "cable":
                raise SpecError("rule", f"{words[0]!r} is a tier", f"say '{words[0]} cables'")
            return replace(kind, tiers=tier), words[2:], " ".join(words[:2])
        if words[0].casefold() in TIER_WORDS:
            tiers = ", ".join(self.scenario.fabric.tier_names)
            raise SpecError("rule", f"there are no {words[0]} cables here", f"tiers are {tiers}")
        kind = kind_of(words[0])
        if kind is None and (len(words) > 1 or not alone):
            # A place can stand before what is meant of it: nobody can tell, so say how.
            region = words[0].casefold() in PLACES
            near = {"domain": "nodes", "group": "switches"}.get(words[0].casefold(), "spines")
            hint = f"say what of it, as 'all {near} of {' '.join(words)}'" if region else ""
            raise _no_kind(words[0], hint)
        return kind, words[1:], words[0]

    def _named(self, words: list[str]) -> list[Thing]:
        """Things that one name stands for: a group is its switches."""
        name = words[-1]
        names, fabric = self.scenario.names, self.scenario.fabric
        try:
            thing = names.find(name)
        except UnknownNameError:
            if len(words) == 1:
                raise
            raise _no_kind(name, "") from None
        if thing.kind == "link":
            return [Thing("cable", thing.index // 2)]
        if thing.kind in ("cores", "spines"):
            members = fabric.switches_of(3 if thing.kind == "cores" else 2)
            return [
                Thing("switch", switch)
                for switch in members
                if thing.kind == "cores" or fabric.switch_pod[switch] == thing.index
            ]
        if thing.kind not in BREAKABLE:
            above = "switches" if fabric.dragonfly else "spines"
            near = above if thing.kind == "pod" else "nodes"
            hint = f"say what of it, as 'all {near} of {name}'"
            kind = {"subdomain": "group", "pod": fabric.pod_word}.get(thing.kind, thing.kind)
            raise SpecError("rule", f"{name!r} is a {kind}, which cannot be meant", hint)
        return [thing]

    def _picked(self, kind: Kind, words: list[str], amount: _Amount) -> list[Thing]:
        """The one thing of a kind that is called by a name, or by a number in a place."""
        said = words[0]
        if not amount.whole:
            raise SpecError("rule", f"{said!r} cannot follow a number", "say 'of' before a place")
        if not _NUMBER.fullmatch(said):
            if kind_of(said) is not None or len(words) > 1:
                raise SpecError("rule", f"{said!r} cannot be read here", "say 'of' before a place")
            thing = self.scenario.names.find(said)
            index = thing.index // 2 if thing.kind == "link" else thing.index
            if thing.kind not in (kind.thing, "link") or index not in self._all(kind):
                raise SpecError("rule", f"{said!r} is no {kind.words[0]}", f"it is a {thing.kind}")
            return [Thing(kind.thing, index)]
        places = Places(self.scenario)
        members = self._within(kind, words[1:], places)
        own = members[places.number(kind, members) == int(said)]
        if len(own) != 1:
            many = f"there are {len(own):,} of them" if len(own) else "there is none"
            pod = self.scenario.fabric.pod_word
            hint = f"say of which {pod}, plane or node" if len(own) else ""
            raise SpecError("rule", f"{kind.words[0]} {' '.join(words)}: {many}", hint)
        return [Thing(kind.thing, int(own[0]))]

    def _all(self, kind: Kind) -> I64:
        return Places(self.scenario).members(kind)

    def _within(self, kind: Kind, words: list[str], places: Places) -> I64:
        members = places.members(kind)
        while words:
            if words[0].casefold() not in _PREPOSITIONS or len(words) == 1:
                raise SpecError("rule", f"{words[0]!r} cannot be read here", "as 'of pod 7'")
            own, words = self._place(words[1:], places)
            members = members[places.inside(kind, members, own)]
        return members

    def _place(self, words: list[str], places: Places) -> tuple[Bool, list[str]]:
        """Vertices of the place that the words begin with, (V,), and the words after it."""
        words = words[1:] if words[0].casefold() in _ALL and len(words) > 1 else words
        word, fabric = words[0].casefold(), self.scenario.fabric
        if word in PLACES:
            if len(words) < 2 or not _NUMBER.fullmatch(words[1]):
                raise SpecError("rule", f"{word!r} needs a number", f"as '{word} 1'")
            return places.region(word, int(words[1])), words[2:]
        if kind_of(word) is None and tier_of(word, fabric) is None and not _is_amount(word):
            return places.of(self.scenario.names.find(words[0])), words[1:]
        inner = replace(self, keep=None, place=self.place + 1_000)
        if len(words) > 2 and kind_of(word) and words[1].casefold() not in _PREPOSITIONS:
            # "node 5" is one node already; "leaf 3" may need the pod that follows.
            try:
                return places.of(*inner.things(words[:2])), words[2:]
            except SpecError:
                pass
        # Whatever follows belongs to the inner selection: "cables of all spines of pod 7".
        return places.of(*inner.things(words)), []

    def _drawn(self, kind: Kind, members: I64, amount: _Amount, counted: str) -> I64:
        """So many of the members, drawn by seed, ascending."""
        if amount.whole:
            return members
        count = amount.count
        if amount.share is not None:
            count = max(1, int(amount.share * len(members) + 0.5))
        assert count is not None
        if count > len(members):
            have = "is" if len(members) == 1 else "are"
            words = f"there {have} only {len(members):,} to choose from"
            raise SpecError("rule", f"asks for {count:,} {counted}: {words}")
        chosen: I64 = np.sort(members[np.argsort(self._lots(kind, members), kind="stable")[:count]])
        return chosen

    def _lots(self, kind: Kind, members: I64) -> U64:
        """What members are ordered by in a draw, (n,)."""
        purpose = (self.place << 8) + BREAKABLE.index(kind.thing)
        word = np.array([self.seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
        stream = mix(mix(word) ^ np.uint64(purpose))
        return mix(stream ^ members.astype(np.uint64))


def _is_amount(word: str) -> bool:
    folded = word.casefold()
    return folded in (*_ALL, *_ONE, "random") or bool(
        _NUMBER.fullmatch(word) or _PERCENT.fullmatch(word)
    )


def _amount(words: list[str]) -> tuple[_Amount, list[str]]:
    """How many, and the words after it."""
    word, rest = words[0].casefold(), words[1:]
    amount = _Amount()
    if word == "random":
        amount = _Amount(count=1)
    elif word in _ONE:
        amount, rest = _Amount(count=1), _without("random", rest)
    elif match := _PERCENT.fullmatch(word):
        share = float(match[1]) / 100
        if not 0 < share <= 1:
            raise SpecError("rule", f"{word!r} is no share", "use 0.1% to 100%")
        amount, rest = _Amount(share=share), _without("random", rest)
    elif _NUMBER.fullmatch(word):
        if not int(word):
            raise SpecError("rule", "0 of them is nothing", "use 1 or more")
        amount, rest = _Amount(count=int(word)), _without("random", rest)
    elif word not in _ALL:
        return amount, words
    return amount, _without("the", _without("of", rest))


def _without(word: str, words: list[str]) -> list[str]:
    return words[1:] if words and words[0].casefold() == word else words


def _no_kind(word: str, hint: str) -> UnknownNameError:
    return UnknownNameError("kind of thing", word, () if hint else (*KIND_WORDS, *_WORDS), hint)
