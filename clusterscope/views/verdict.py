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
from clusterscope.metrics.compare import MAIN, Comparison, rivals_of, side_of
from clusterscope.metrics.memo import per_key
from clusterscope.metrics.verdict import CROWD_MOST, Standing, Use, money_uses, uses
from clusterscope.views.compare import cents, scale_up_words
from clusterscope.views.shapes import Column, Kind, Note, Table
from clusterscope.views.text import fmt, sanitize

_WORDS: Final = {
    "training": "training (all-reduce)",
    "experts": "mixtures of experts (all-to-all)",
    "tenants": "many tenants at once",
    "storage": "flows beside an incast, as storage makes them,",
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
        return Note("verdict", (), ("This cluster has no NICs, so transports make no difference.",))
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
    names = _listed([_WORDS.get(use.name, use.what).rstrip(",") for use in tried])
    stay = "stays" if len(tried) == 1 else "stay"
    got = _listed([_span(use.standings[-1].value, use.standings[0].value) for use in tried])
    return (
        f"{names[:1].upper()}{names[1:]} {stay} inside {scale_up_words(comparison)} here, so the "
        f"scale-out network makes no difference to {'it' if len(tried) == 1 else 'them'} ({got})."
    )


def _speed(use: Use) -> str:
    """Who is in front in a use, and how far the others are behind."""
    words = _WORDS.get(use.name, use.what)
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
    less = 100 * (1 - one.value / best.value)
    reaches = f"{label} reaches {fmt(one.value, 'GBps')} ({_within(one)}{_until(one)})"
    return f"{reaches}, {less:.0f} % less"


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
    if not priced:
        return ""
    (least, first), (most, last) = min(priced), max(priced)
    if most <= 1.005 * least:
        return f"Their networks cost alike, {fmt(least, 'usd')} a year."
    return (
        f"The network of {sanitize(first)} is the cheapest, {fmt(least, 'usd')} a year, that of "
        f"{sanitize(last)} the dearest, {fmt(most, 'usd')}."
    )


def _reroute(use: Use) -> str:
    """Who is quick after a failure."""
    best, last = use.standings[0], use.standings[-1]
    if best.value == last.value:
        return f"After a failure all of them avoid it within {fmt(best.value, 'seconds')}."
    front = _listed([sanitize(label) for label in use.front])
    avoid = "avoid" if use.level > 1 else "avoids"
    return (
        f"After a failure {front} {avoid} it within {fmt(best.value, 'seconds')}, "
        f"{sanitize(last.label)} within {fmt(last.value, 'seconds')}."
    )


def _over_all(comparison: Comparison, tried: Sequence[Use]) -> str:
    """Who is in front or level most often, and the cheapest of them to own."""
    if not tried:
        return ""
    often = {side.label: sum(side.label in use.front for use in tried) for side in comparison.sides}
    most = max(often.values())
    front = [side for side in comparison.sides if often[side.label] == most]
    words = f"{most} of {len(tried)} uses"
    if len(front) == 1:
        return f"Over all {sanitize(front[0].label)} is in front or level in {words}."
    names = _listed([sanitize(side.label) for side in front])
    owned = [side for side in front if side.money is not None]
    if len(owned) < len(front):
        return f"Over all {names} are in front or level in {words}."
    least = min(side.money.network_year_usd for side in owned if side.money)
    cheap = [s for s in owned if s.money and s.money.network_year_usd <= least * 1.005]
    if len(cheap) == len(front):
        return f"Over all {names} are in front or level in {words}, and their networks cost alike."
    return (
        f"Over all {names} are in front or level in {words}; of these "
        f"{_listed([sanitize(side.label) for side in cheap])} "
        f"{'have' if len(cheap) > 1 else 'has'} the cheapest network, {fmt(least, 'usd')} a year."
    )


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
