"""Transports side by side as a table, with a sentence that says who wins and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from clusterscope.columns import F64
from clusterscope.metrics.causes import CAUSES
from clusterscope.metrics.compare import Comparison, JobSide, TransportSide
from clusterscope.metrics.economics import Economics
from clusterscope.metrics.jobs import JobMetrics
from clusterscope.metrics.networks import SCALE_UP_WORDS
from clusterscope.spec.prices import assumption
from clusterscope.views.behind import held_back_by
from clusterscope.views.serving import compared_rows
from clusterscope.views.shapes import Column, Table
from clusterscope.views.text import NOTHING, fmt, percent, ratio, sanitize

# Parts of an iteration that are rounding, not physics.
_NOISE = 1e-9
# Share of an iteration below which two are as fast as each other.
_EQUAL = 5e-4
# Causes that are worth a line even where they cost nothing.
_ALWAYS = ("headers", "latency", "few uplinks", "collisions", "failures")


@dataclass(frozen=True)
class _Row:
    """One line: words by transport, and how long a bar each gets, 0 to 1."""

    label: str
    cells: tuple[str, ...]
    bars: tuple[float, ...] = field(default=())


def compare_table(comparison: Comparison, base: str, here: str, *, full: bool = True) -> Table:
    """One column a transport, one row a quantity.

    Args:
        comparison: the transports.
        base: the one that differences are against.
        here: the one that the explorer runs.
        full: with error bands, and with differences in time as well as in percent.
    """
    rows = list(_rows(comparison, base, full=full))
    columns = [Column("", "text", [row.label for row in rows])]
    for place, side in enumerate(comparison.sides):
        name = sanitize(side.label) + " ●" * (side.label == here)
        name += " base" * (side.label == base)
        columns.append(Column(name, "text", [row.cells[place] for row in rows]))
    note = f"against {base}: same flows, seed {comparison.seed}, failures; step {comparison.step:,}"
    return Table("compare", tuple(columns), rows=len(rows), note=note)


def compare_bars(comparison: Comparison, base: str) -> F64:
    """Length of the bar beside each cell of `compare_table`, (rows, transports); nan for none."""
    rows = list(_rows(comparison, base, full=False))
    out = np.full((len(rows), len(comparison.sides)), np.nan)
    for place, row in enumerate(rows):
        if row.bars:
            out[place] = row.bars
    return out


def _rows(comparison: Comparison, base: str, *, full: bool) -> Iterator[_Row]:
    sides = comparison.sides
    against = comparison.side(base) or (sides[0] if sides else None)
    if against is None:
        return
    if any(side.gpus > _at_work(side) > 0 for side in sides) or comparison.sizes_differ:
        yield _Row("GPUs with a job, of all", tuple(_sizes(side) for side in sides))
    for index, job in enumerate(against.jobs):
        jobs = [side.jobs[index] for side in sides]
        name = sanitize(job.metrics.name)
        what = f"{job.metrics.collective} × {job.metrics.ranks:,}"
        own = name if name == job.metrics.collective else f"{name}: {what}"
        yield _Row(own, _blank(sides))
        yield from _job_rows(jobs, job, full=full)
    yield _Row("network", _blank(sides))
    for tier in against.peaks:
        peaks = [side.peaks.get(tier, math.nan) for side in sides]
        yield _Row(f"  hottest {tier} link", tuple(_peak(p) for p in peaks), tuple(peaks))
    yield _row("  reroute takes", sides, lambda side: fmt(side.reroute_s, "seconds"))
    if comparison.same_parts and len(sides) > 1:
        equal = ("as the others: same parts",) + ('"',) * (len(sides) - 1)
        yield _Row("  cost and power", equal)
    else:
        yield _row("  network costs", sides, lambda side: fmt(side.network_usd, "usd"))
        yield _row("  network draws", sides, lambda side: fmt(side.network_w, "watts"))
    yield from money_rows(sides)


def money_rows(sides: Sequence[TransportSide]) -> Iterator[_Row]:
    """What each costs to own and run; nothing where nobody asked."""
    money = [side.money for side in sides if side.money is not None]
    if len(money) < len(sides):
        return

    def row(label: str, words: Callable[[Economics], str]) -> _Row:
        return _Row(label, tuple(words(own) for own in money))

    part = any(own.used_ratio < 1 for own in money)
    yield _Row("money, of the whole cluster" if part else "money", _blank(sides))
    yield row("  cluster costs", lambda own: fmt(own.capital_usd, "usd"))
    yield row("  energy a year", lambda own: f"{fmt(own.energy_usd, 'usd')}, {_energy(own)}")
    yield row("  network a year", lambda own: fmt(own.network_year_usd, "usd"))
    yield row("  a petabyte delivered", lambda own: cents(own.petabyte_usd))
    yield row("  a training run", _run)


def money_note(comparison: Comparison) -> str:
    """What the prices of a petabyte and of a training run are of; "" where nobody asked."""
    known = [network.scenario.spec for _, network in comparison.networks]
    if not known:
        return ""
    hours, ratio = (assumption(known[0], key).value for key in ("run_hours", "comm_ratio"))
    return (
        "A petabyte and a training run count the share of the cluster whose GPUs have a job, as "
        "fast as the jobs are while all of them send and once routes have reacted. A training run "
        f"is {hours:,.0f} h at line rate, {percent(ratio, 0)} of them communication."
    )


def _at_work(side: TransportSide) -> int:
    """GPUs that a job has."""
    used = 1.0 if side.money is None else side.money.used_ratio
    return round(used * side.gpus)


def _sizes(side: TransportSide) -> str:
    """GPUs with a job, and all: "24,576 of 100,000"."""
    return f"{_at_work(side):,} of {side.gpus:,}" if side.gpus else NOTHING


def _energy(money: Economics) -> str:
    return f"{money.energy_kwh / 1e6:,.3g} GWh"


def _run(money: Economics) -> str:
    if math.isinf(money.run_hours):
        return "never ends"
    return f"{fmt(money.run_usd, 'usd')}, {money.run_hours:,.0f} h"


def _blank(sides: Sequence[TransportSide]) -> tuple[str, ...]:
    return ("",) * len(sides)


def _row(label: str, sides: Sequence[TransportSide], words: Callable[[TransportSide], str]) -> _Row:
    return _Row(label, tuple(words(side) for side in sides))


def _peak(value: float) -> str:
    return NOTHING if math.isnan(value) else ratio(value)


def _job_rows(jobs: Sequence[JobSide], base: JobSide, *, full: bool) -> Iterator[_Row]:
    """Rows of one job."""
    for label, cells in compared_rows([job.metrics for job in jobs]):
        yield _Row(f"  {label}", cells)
    if all(job.metrics.training is not None for job in jobs):
        yield _Row("  MFU", tuple(_mfu(job, full=full) for job in jobs))
    served = all(job.metrics.serving is not None for job in jobs)
    if not served:
        yield _Row("  busbw", tuple(_busbw(job, full=full) for job in jobs))
    took = tuple(_iteration(job, base, full=full) for job in jobs)
    yield _Row("  a wave of requests" if served else "  iteration", took)
    yield _Row("  against undisturbed", tuple(_slower(job.metrics.slowdown) for job in jobs))
    if any(job.metrics.settled is not None for job in jobs):
        yield _Row("  once routes react", tuple(map(_later, jobs)))
    if any(job.unreached for job in jobs):
        yield _Row("  unreached flows", tuple(f"{job.unreached:,}" for job in jobs))
    line = tuple(job.metrics.share_of_line for job in jobs)
    yield _Row("  at line rate", tuple(percent(value) for value in line), line)
    ideal = tuple(_ideal(job, base, full=full) for job in jobs)
    if len({f"{job.metrics.ideal_s:.9g}" for job in jobs}) > 1:
        yield _Row("  ideal at line rate", ideal)
    shown = [
        name
        for name in CAUSES
        if name in _ALWAYS or any(abs(_share(job, name)) > _NOISE for job in jobs)
    ]
    for name in shown:
        sign = ("└" if name == shown[-1] else "├") + " lost to" * full
        cells = tuple(_cause(job, base, name, full=full) for job in jobs)
        yield _Row(f"  {sign} {name}", cells, tuple(_share(job, name) for job in jobs))


def _ideal(job: JobSide, base: JobSide, *, full: bool) -> str:
    """Iteration at line rate, to which causes add, and its seconds beyond those of the base."""
    text, more = fmt(job.metrics.ideal_s, "seconds"), job.metrics.ideal_s - base.metrics.ideal_s
    if not full or abs(more) <= _NOISE * job.metrics.ideal_s:
        return text
    return f"{text} {'+' if more > 0 else ''}{fmt(more, 'seconds')}"


def _busbw(job: JobSide, *, full: bool) -> str:
    """Bus bandwidth, and where there is room what it may be in truth."""
    return banded(job.metrics) if full else fmt(job.metrics.busbw_GBps, "GBps")


def _iteration(job: JobSide, base: JobSide, *, full: bool) -> str:
    """Iteration, and how much longer it is than that of the base."""
    seconds, other = job.metrics.iteration_s, base.metrics.iteration_s
    text = fmt(seconds, "seconds")
    if math.isinf(seconds) and _resumes(job):
        return f"stalled for {fmt(job.wait_s, 'seconds')}"
    if job is base or math.isinf(seconds) or math.isinf(other):
        return text
    if abs(seconds / other - 1) < 5e-4:
        return text
    more = 100 * (seconds / other - 1)
    return f"{text} {more:+.{1 if full or abs(more) < 9.95 else 0}f} %"


def _resumes(job: JobSide) -> bool:
    """True for what stands still only until routes have reacted."""
    settled = job.metrics.settled
    return settled is not None and math.isfinite(settled.iteration_s)


def cents(usd: float) -> str:
    """Money with cents where it is little: "$0.42", "$12.00", "$1,250"; of what never comes, –."""
    if math.isinf(usd):
        return NOTHING
    return f"${usd:,.2f}" if usd < 100 else f"${usd:,.0f}"


def _later(job: JobSide) -> str:
    """How a job goes once routes have reacted, and how soon: "in 3 ms: 250 ms, the same"."""
    settled = job.metrics.settled
    if settled is None:
        return "as it is"
    when = f"in {fmt(job.wait_s, 'seconds')}"
    if math.isinf(settled.iteration_s):
        return f"{when}: stands still for good"
    slower = _slower(settled.iteration_s / job.metrics.healthy_s)
    return f"{when}: {fmt(settled.iteration_s, 'seconds')}, {slower}"


def _slower(slowdown: float) -> str:
    if math.isinf(slowdown):
        return "stands still"
    return "the same" if abs(slowdown - 1) < 5e-4 else f"{100 * (slowdown - 1):+.1f} %"


def _share(job: JobSide, name: str) -> float:
    """Part of an iteration that a cause takes; all of it when it makes the job stand still."""
    seconds = job.causes[name]
    if math.isinf(job.metrics.iteration_s):
        return 1.0 if math.isinf(seconds) else 0.0
    return seconds / job.metrics.iteration_s


def _cause(job: JobSide, base: JobSide, name: str, *, full: bool) -> str:
    """Part of an iteration that a cause takes, and its seconds beyond those of the base."""
    text = percent(_share(job, name))
    seconds, other = job.causes[name], base.causes[name]
    stalled = math.isinf(job.metrics.iteration_s) or math.isinf(base.metrics.iteration_s)
    if not full or job is base or stalled:
        return text
    more = seconds - other
    if abs(more) <= _NOISE * job.metrics.ideal_s:
        return text
    return f"{text} {'+' if more > 0 else ''}{fmt(more, 'seconds')}"


def verdict(comparison: Comparison) -> tuple[str, ...]:
    """A sentence a job: which transport is fastest, and what costs the others how much."""
    sides = comparison.sides
    if len(sides) < 2:
        return ()
    network = scale_up_words(comparison)
    return tuple(
        _sentence([(side.label, side.jobs[index]) for side in sides], network)
        for index in range(len(sides[0].jobs))
    )


def scale_up_words(comparison: Comparison) -> str:
    """What the scale-up network of the clusters is called."""
    found = [network.scenario.spec.scale_up for _, network in comparison.networks]
    kinds = dict.fromkeys(SCALE_UP_WORDS[up.kind] for up in found if up is not None)
    return " or ".join(kinds) or "the scale-up network"


def _sentence(jobs: Sequence[tuple[str, JobSide]], network: str) -> str:
    """Who wins a job, by what."""
    if all(job.inside for _, job in jobs):
        return _inside(jobs, network)
    ranked = sorted(jobs, key=lambda pair: pair[1].metrics.iteration_s)
    (best, first), rest = ranked[0], ranked[1:]
    name = sanitize(first.metrics.name)
    if math.isinf(first.metrics.iteration_s):
        return f"{name}: stands still under all of them."
    least = first.metrics.iteration_s
    level = [other for other, job in rest if job.metrics.iteration_s / least - 1 < _EQUAL]
    lead = f"{sanitize(best)} is fastest, {_speed(first)}"
    if level:
        names = [sanitize(name) for name in (best, *level)]
        lead = f"{', '.join(names[:-1])} and {names[-1]} are as fast as each other"
        lead += f"{' and fastest' if len(level) < len(rest) else ''}, {_speed(first)}"
    parts, told = [lead], set[str]()
    parts += [_behind(sanitize(n), job, first, told) for n, job in rest[len(level) :]]
    return f"{name}: {'; '.join(parts)}."


def _speed(job: JobSide) -> str:
    """What a job reaches, in what its kind is measured by."""
    own = job.metrics
    if own.serving is not None:
        return f"{fmt(own.serving.tokens_per_s, 'int')} tokens/s"
    return banded(own) if own.training is None else f"MFU {_mfu(job, full=True)}"


def _inside(jobs: Sequence[tuple[str, JobSide]], network: str) -> str:
    """What a job gets that no transport of NICs can help."""
    name = sanitize(jobs[0][1].metrics.name)
    got = dict.fromkeys(banded(job.metrics) for _, job in jobs)
    words = f"{name}: never leaves {network}, so the scale-out network makes no difference to it"
    if len(got) == 1:
        return f"{words}; {next(iter(got))} under each."
    each = "; ".join(f"{banded(job.metrics)} under {sanitize(label)}" for label, job in jobs)
    return f"{words}; {each}."


def _mfu(job: JobSide, *, full: bool) -> str:
    """MFU of a training job, and where there is room what it may be in truth."""
    train, band = job.metrics.training, job.metrics.mfu_band
    assert train is not None
    text = percent(train.mfu)
    if not full or band is None:
        return text
    least, most = (percent(end).removesuffix(" %") for end in band)
    return text if least == most else f"{text} ({least} to {most})"


def banded(job: JobMetrics) -> str:
    """Bus bandwidth, and what it may be in truth: "48 GB/s (42 to 48)"."""
    return with_band(job.busbw_GBps, *job.error_band)


def with_band(value: float, low: float, high: float) -> str:
    """A rate in GB/s with its error band."""
    text = fmt(value, "GBps")
    if low >= high:
        return text
    least, most = (fmt(end, "GBps").removesuffix(" GB/s") for end in (low, high))
    return text if least == most else f"{text} ({least} to {most})"


def _behind(name: str, job: JobSide, best: JobSide, told: set[str]) -> str:
    """How far a transport is behind, most of it by what; a cause is explained once."""
    seconds, least = job.metrics.iteration_s, best.metrics.iteration_s
    if math.isinf(seconds):
        settled = job.metrics.settled
        if settled is not None and _resumes(job):
            later = f"for {fmt(job.wait_s, 'seconds')}, until its routes react"
            return f"{name} stands still {later}, then {fmt(settled.busbw_GBps, 'GBps')}"
        reason = next((cause for cause in CAUSES if math.isinf(job.causes[cause])), "failures")
        return f"{name} stands still: {reason}"
    behind = seconds / least - 1
    reason = held_back_by(job, best, told)
    close = job.metrics.error_band[1] >= best.metrics.error_band[0]
    sure = ", which is within the model's error" if close else ""
    return f"{name} {_longer(behind)}{sure}: {reason}"


def _longer(behind: float) -> str:
    """How much longer it takes: "needs 12.0 % longer", "takes 18.8 times as long"."""
    if behind < 1:
        return f"needs {100 * behind:.1f} % longer"
    return f"takes {1 + behind:.1f} times as long"
