"""The verdict in plain words: which transport for which use, with the numbers and their error.

Transports whose error bands overlap are called level, whatever their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario, with_transport
from clusterscope.engine.step import start
from clusterscope.fabric.things import Thing
from clusterscope.metrics.compare import (
    MAIN,
    Comparison,
    TransportSide,
    rivals_of,
    side_of,
)
from clusterscope.metrics.memo import per_key
from clusterscope.metrics.verdict import CROWD_MOST, Standing, Use, money_uses, uses
from clusterscope.units import counted
from clusterscope.views.compare import cents, scale_up_words
from clusterscope.views.shapes import Column, Kind, Note, Table
from clusterscope.views.text import fmt, sanitize

_WORDS: Final = {
    "training": "training",
    "experts": "mixtures of experts",
    "tenants": "many tenants at once",
    "storage": "flows beside an incast, as storage makes them",
}
_KINDS: Final[dict[str, Kind]] = {"GBps": "GBps", "usd": "usd", "seconds": "seconds"}


def verdict(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Note:  # noqa: ARG001 - every view takes a selection
    """The verdict on the cluster's own and the main transports, healthy; for a report."""
    return _verdict(scenario)


@per_key
def _verdict(scenario: Scenario) -> Note:
    known, own = rivals_of(scenario), scenario.transport.name
    names = tuple(name for name in known if name in MAIN or name == own)
    if len(names) < 2:
        words = "This cluster has no scale-out fabric, so transports make no difference."
        return Note("verdict", (), (words,))
    if scenario.fabric.gpus > CROWD_MOST:
        return Note("verdict", (), ("Too large to be judged beside a report: see compare.",))
    sides = [(n, scenario if n == own else with_transport(scenario, n)) for n in names]
    compared = Comparison(
        step=0,
        time_s=0.0,
        seed=scenario.spec.sim.seed,
        sides=tuple(side_of(built, start(built), own) for _, built in sides),
    )
    return Note("verdict", (), (paragraph(compared, uses(compared.networks)),))


def paragraph(comparison: Comparison, tried: Sequence[Use]) -> str:
    """The verdict on a comparison as one paragraph; "" for fewer than two transports."""
    if len(comparison.sides) < 2:
        return ""
    money = money_uses(comparison.sides)
    away = [use for use in tried if not use.inside]
    told = [_frame(comparison), *(_speed(use) for use in away)]
    told.append(_inside(comparison, [use for use in tried if use.inside]))
    told += [_cost(use) for use in money if use.name == "cost"]
    if tried and not away:
        told.append(_owned(comparison))
    told += [_reroute(use) for use in money if use.name == "reroute"]
    told.append(_over_all(comparison, away))
    return " ".join(sentence for sentence in told if sentence)


def _frame(comparison: Comparison) -> str:
    """When this is, if something is broken then."""
    if comparison.whole:
        return ""
    waiting = any(network.routed is not network.actual for _, network in comparison.networks)
    routes = ", once routes have reacted" if waiting else ""
    return f"With what is broken at step {comparison.step:,}{routes}:"


def _inside(comparison: Comparison, tried: Sequence[Use]) -> str:
    """Uses to which transports make no difference."""
    if not tried:
        return ""
    names = _listed([_named(use) for use in tried])
    stay = "stays" if len(tried) == 1 else "stay"
    got = _listed([_span(use.standings[-1].value, use.standings[0].value) for use in tried])
    return (
        f"{names[:1].upper()}{names[1:]} {stay} inside {scale_up_words(comparison)} here, so the "
        f"scale-out network makes no difference to {'it' if len(tried) == 1 else 'them'} ({got})."
    )


def _named(use: Use) -> str:
    """A use with what was run for it: what the values that follow are of."""
    return f"{_WORDS[use.name]} ({use.what})" if use.name in _WORDS else use.what


def _speed(use: Use) -> str:
    """Who is in front in a use, and how far the others are behind."""
    words = _named(use)
    best = use.standings[0]
    if best.value <= 0:
        return f"For {words} none of them delivers anything."
    if use.level == len(use.standings):
        low, high = min(s.value for s in use.standings), best.value
        waits = [f"{sanitize(s.label)} {_until(s)[2:]}" for s in use.standings if _until(s)]
        until = "".join(f"; {one}" for one in waits)
        return f"For {words} all are level within the model's error ({_span(low, high)}{until})."
    rest = "; ".join(_behind(one, best) for one in use.standings[use.level :])
    if use.level > 1:
        front = _listed([_valued(one) for one in use.standings[: use.level]])
        return f"For {words} {front} are level within the model's error; {rest}."
    return f"For {words} take {_valued(best)}; {rest}."


def _span(low: float, high: float) -> str:
    if fmt(low, "GBps") == fmt(high, "GBps"):
        return fmt(high, "GBps")
    return f"{fmt(low, 'GBps').removesuffix(' GB/s')} to {fmt(high, 'GBps')}"


def _valued(one: Standing) -> str:
    band = f"{_within(one)} by the error band"
    return f"{sanitize(one.label)} ({fmt(one.value, 'GBps')}, {band}{_until(one)})"


def _within(one: Standing) -> str:
    """The error band: "36 to 40"."""
    return _span(one.low, one.high).removesuffix(" GB/s")


def _until(one: Standing) -> str:
    """What it reaches until its routes react, if that is another value."""
    if one.now is None or abs(one.now - one.value) <= 5e-3 * one.value:
        return ""
    now = fmt(one.now, "GBps") if one.now > 0 else "nothing"
    return f"; {now} until its routes react"


def _behind(one: Standing, best: Standing) -> str:
    label = sanitize(one.label)
    if one.value <= 0:
        return f"{label} delivers nothing"
    less = _less(1 - one.value / best.value)
    reaches = f"{label} reaches {fmt(one.value, 'GBps')} ({_within(one)}{_until(one)})"
    return f"{reaches}, {less} less"


def _less(part: float) -> str:
    """A part in percent, which is 0 or 100 only where it is exactly that: "20 %", "99.6 %"."""
    texts = [f"{100 * part:.{digits}f}" for digits in range(5)]
    fit = [text for text in texts if part in (0.0, 1.0) or float(text) not in (0.0, 100.0)]
    return f"{(fit or texts[-1:])[0]} %"


def _cost(use: Use) -> str:
    """What a delivered petabyte costs."""
    best, last = use.standings[0], use.standings[-1]
    if use.level == len(use.standings):
        return (
            "What a delivered petabyte costs of the network is level within the model's error: "
            f"{cents(best.value)} to {cents(max(s.value for s in use.standings))}."
        )
    front = _listed([f"{sanitize(s.label)} ({cents(s.value)})" for s in use.standings[: use.level]])
    level = " are level and" if use.level > 1 else ""
    verb = " deliver" if use.level > 1 else " delivers"
    return (
        f"By price {front}{level}{verb} a petabyte for least, "
        f"{sanitize(last.label)} for most ({cents(last.value)})."
    )


def _owned(comparison: Comparison) -> str:
    """What the networks cost a year, where that is all they differ in."""
    priced = [(s.money.network_year_usd, s.label) for s in comparison.sides if s.money is not None]
    if not priced or comparison.sizes_differ:
        return ""
    (least, first), (most, last) = min(priced), max(priced)
    if most <= 1.005 * least:
        return f"Their networks cost alike, {fmt(least, 'usd')} a year."
    return (
        f"The network of {sanitize(first)} is the cheapest, {fmt(least, 'usd')} a year, that of "
        f"{sanitize(last)} the dearest, {fmt(most, 'usd')}."
    )


def _reroute(use: Use) -> str:
    """Who is quick after a failure, and how quick the others are."""
    waits: dict[str, list[str]] = {}
    for one in use.standings:
        waits.setdefault(fmt(one.value, "seconds"), []).append(sanitize(one.label))
    if len(waits) == 1:
        return f"After a failure all of them avoid it within {next(iter(waits))}."
    avoid = "avoid" if use.level > 1 else "avoids"
    parts = [f"{_listed(names)} within {wait}" for wait, names in waits.items()]
    first = parts[0].replace(" within ", f" {avoid} it within ", 1)
    return f"After a failure {', '.join([first, *parts[1:]])}."


def _over_all(comparison: Comparison, tried: Sequence[Use]) -> str:
    """Who is in front or level most often, and the cheapest of them to own."""
    if not tried:
        return ""
    tried, every = [use for use in tried if use.standings[0].value > 0], len(tried)
    if not tried:
        return "Over all none of them is in front: nobody delivers anything."
    often = {side.label: sum(side.label in use.front for use in tried) for side in comparison.sides}
    most = max(often.values())
    front = [side for side in comparison.sides if often[side.label] == most]
    words = f"{most} of {counted(len(tried), 'use')}"
    words += " in which any delivers something" if len(tried) < every else ""
    if len(front) == 1:
        return f"Over all {sanitize(front[0].label)} is in front or level in {words}."
    names = _listed([sanitize(side.label) for side in front])
    owned = [side for side in front if side.money is not None]
    if len(owned) < len(front):
        return f"Over all {names} are in front or level in {words}."
    if comparison.sizes_differ:
        return f"Over all {names} are in front or level in {words}{_by_petabyte(owned)}."
    least = min(side.money.network_year_usd for side in owned if side.money)
    cheap = [s for s in owned if s.money and s.money.network_year_usd <= least * 1.005]
    if len(cheap) == len(front):
        return f"Over all {names} are in front or level in {words}, and their networks cost alike."
    return (
        f"Over all {names} are in front or level in {words}; of these "
        f"{_listed([sanitize(side.label) for side in cheap])} "
        f"{'have' if len(cheap) > 1 else 'has'} the cheapest network, {fmt(least, 'usd')} a year."
    )


def _by_petabyte(sides: Sequence[TransportSide]) -> str:
    """Who delivers for least, where the price of a whole network would compare sizes."""
    use = next((use for use in money_uses(sides) if use.name == "cost"), None)
    if use is None or use.level == len(use.standings):
        return ""
    least = _listed([f"{sanitize(s.label)} ({cents(s.value)})" for s in use.standings[: use.level]])
    return f"; of these {least} {'deliver' if use.level > 1 else 'delivers'} a petabyte for least"


def _listed(words: Sequence[str]) -> str:
    """Words in a row, "and" before the last."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def uses_table(tried: Sequence[Use]) -> Table:
    """Every transport in every use, with its error band."""
    rows = [(use, place, one) for use in tried for place, one in enumerate(use.standings)]
    return Table(
        "uses",
        (
            Column("use", "text", [use.name for use, _, _ in rows]),
            Column("transport", "text", [sanitize(one.label) for _, _, one in rows]),
            Column("value", "text", [fmt(one.value, _KINDS[use.unit]) for use, _, one in rows]),
            Column("low", "text", [fmt(one.low, _KINDS[use.unit]) for use, _, one in rows]),
            Column("high", "text", [fmt(one.high, _KINDS[use.unit]) for use, _, one in rows]),
            Column(
                "level with the best",
                "text",
                ["yes" if place < use.level else "no" for use, place, _ in rows],
                "error bands overlap",
            ),
            Column("what", "text", [use.what for use, _, _ in rows]),
        ),
        rows=len(rows),
        note="each on the cluster as it is at the step, with jobs of its own",
    )
