"""`[prices]`: what things cost here, by part or by assumption; whatever is left out is as known.

    [prices]
    SN5600 = 40000              # a part of the catalogue, US$
    energy_usd_per_kwh = 0.06   # an assumption, see ASSUMPTIONS

Every value has a source or the word estimate: those of the catalogue their own, those of the spec
what its `[sources]` say of `prices.NAME`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clusterscope.errors import nearest
from clusterscope.spec import parts

if TYPE_CHECKING:
    from clusterscope.spec.model import ClusterSpec


@dataclass(frozen=True)
class Assumption:
    """A number that turns watts and prices into money a year.

    Attributes:
        value: used when the spec says nothing.
        low: smallest value that makes sense.
        high: largest.
        meaning: what it is, with its unit.
        source: where it comes from, or why it is estimated.
        estimate: True when nobody published it.
    """

    value: float
    low: float
    high: float
    meaning: str
    source: str
    estimate: bool


ASSUMPTIONS: Final[dict[str, Assumption]] = {
    "energy_usd_per_kwh": Assumption(
        0.078, 0.0, 10.0, "US$ a kWh",
        "1.59 TWh a year for 123.9 M US$ at 100,000 H100 (V2:semi-100k)", False,
    ),
    "pue": Assumption(
        1.25, 1.0, 5.0, "power of the site over that of the equipment",
        "between 1.1 of new liquid-cooled halls and 1.4 of air-cooled ones", True,
    ),
    "amortization_years": Assumption(
        4.0, 0.1, 50.0, "years over which the price is written off",
        "servers are written off over 4 to 6 years; accelerators at the short end", True,
    ),
    "run_hours": Assumption(
        1000.0, 0.01, 1e6, "hours that a training run takes on a perfect network",
        "six weeks, the order of published runs", True,
    ),
    "comm_ratio": Assumption(
        0.3, 0.0, 1.0, "share of a run on a perfect network that waits for communication",
        "published shares of exposed communication lie between 0.1 and 0.5", True,
    ),
}  # fmt: skip

_GENERIC = re.compile(r"generic-[1-9]\d{0,3}")
_SCALED = re.compile(r"(dac|aoc|optic)-[0-9.]+")
_MOST_USD = 1e9


def names() -> tuple[str, ...]:
    """What can have a price: assumptions, then every part of the catalogue."""
    known = (parts.gpus(), parts.nics(), parts.switches(), parts.cables())
    return tuple(dict.fromkeys((*ASSUMPTIONS, *(name for group in known for name in group))))


def mistake(prices: Mapping[str, float]) -> tuple[str, str, str] | None:
    """Key, problem and hint of the first price that makes no sense; None when all do."""
    for key, value in prices.items():
        assumed = ASSUMPTIONS.get(key)
        if assumed is not None:
            if not assumed.low <= value <= assumed.high:
                hint = f"allowed is {assumed.low:g} to {assumed.high:g}, {assumed.meaning}"
                return key, f"{value!r} is not allowed", hint
        elif key not in names() and not _GENERIC.fullmatch(key) and not _SCALED.fullmatch(key):
            near = nearest(key, names())
            guess = f"did you mean {near!r}? " if near else ""
            hint = f"{guess}allowed are parts of the catalogue and {', '.join(ASSUMPTIONS)}"
            return key, "there is no such part or assumption", hint
        elif not 0 <= value <= _MOST_USD:
            return key, f"{value!r} is not a price", f"allowed is 0 to {_MOST_USD:g} US$"
    return None


def assumption(spec: ClusterSpec, name: str) -> Assumption:
    """An assumption as the spec has it."""
    known = ASSUMPTIONS[name]
    if name not in spec.prices:
        return known
    note = told(spec, name)
    return Assumption(spec.prices[name], known.low, known.high, known.meaning, *note)


def price(
    spec: ClusterSpec, part: str, known_usd: float, note: parts.Note
) -> tuple[float, parts.Note]:
    """Price of a part, US$, and where that comes from: the spec's own, or the one known."""
    if part not in spec.prices:
        return known_usd, note
    source, estimate = told(spec, part)
    return spec.prices[part], parts.Note(source, estimate)


def told(spec: ClusterSpec, name: str) -> tuple[str, bool]:
    """What the spec says about a price of its own: words, and whether it is an estimate."""
    entry = spec.sources.get(f"prices.{name}")
    if entry is None:
        return "set by the spec", True
    return entry.source or entry.why or "set by the spec", entry.estimate or not entry.source
