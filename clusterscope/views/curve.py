"""The curve of a collective by message size: a table in the words of nccl-tests, and a line."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clusterscope.metrics.curve import Curve, Point
from clusterscope.spec.nccl_log import Log, Measured
from clusterscope.traffic.collectives import busbw_factor
from clusterscope.units import counted
from clusterscope.views.shapes import Column, Series, Table
from clusterscope.views.text import sanitize

# Elements of nccl-tests' default type.
TYPE, TYPE_BYTES = "float", 4
# Part by which busbw over algbw of a log may be off: it is printed with few digits.
_ODD = 0.03
_REDUCES = ("all-reduce", "reduce-scatter")
# Collectives whose count is that of one rank's part.
_PARTED = ("all-gather", "reduce-scatter", "all-to-all")


def redop(curve: Curve) -> str:
    """Reduction as nccl-tests names it."""
    return "sum" if curve.collective in _REDUCES else "none"


def root(curve: Curve) -> int:
    """Root as nccl-tests prints it: -1 where there is none."""
    return 0 if curve.collective == "broadcast" else -1


def count(curve: Curve, point: Point) -> int:
    """Elements as nccl-tests counts them."""
    parts = curve.ranks if curve.collective in _PARTED else 1
    return point.size_bytes // TYPE_BYTES // parts


def measured_at(log: Log | None, point: Point) -> Measured | None:
    """The line of a log for a size, None when it has none."""
    if log is None:
        return None
    return next((row for row in log.rows if row.size_bytes == point.size_bytes), None)


def measured_ratio(point: Point, row: Measured | None) -> float:
    """Busbw measured over busbw modeled; nan for none."""
    if row is None or not point.busbw_GBps:
        return math.nan
    return row.busbw_GBps / point.busbw_GBps


def curve_table(curve: Curve, log: Log | None = None) -> Table:
    """One row a size: time and bandwidths, who sends how, and beside it what was measured."""
    points = curve.points
    rows = [measured_at(log, point) for point in points]
    columns = [
        Column("size", "bytes", [p.size_bytes for p in points], "message, as nccl-tests has it"),
        Column("count", "int", [count(curve, p) for p in points], "elements of 4 bytes"),
        Column("time", "seconds", [p.seconds for p in points], "of one call"),
        Column("algbw", "GBps", [p.algbw_GBps for p in points], "message over time"),
        Column("busbw", "GBps", [p.busbw_GBps for p in points], "what a link must carry"),
    ]
    if log is not None:
        ratios = [measured_ratio(p, row) for p, row in zip(points, rows, strict=True)]
        columns += [
            Column("measured", "seconds", [row.seconds if row else None for row in rows]),
            Column("measured busbw", "GBps", [row.busbw_GBps if row else None for row in rows]),
            Column("ratio", "float", ratios, "busbw measured over busbw modeled"),
        ]
    columns += [
        Column("algorithm", "text", [p.algorithm for p in points], "that runs at this size"),
        Column("protocol", "text", [p.protocol or "–" for p in points], "how it is sent"),
        Column("latency", "seconds", [p.latency_s for p in points], "part of the time, no bytes"),
    ]
    return Table(title(curve), tuple(columns), rows=len(points), note=note(curve, log))


def curve_series(curve: Curve, log: Log | None = None) -> Series:
    """Bus bandwidth by size, one block a size; and that of a log."""
    points = curve.points
    lines = {"busbw": np.array([p.busbw_GBps for p in points])}
    lines["algbw"] = np.array([p.algbw_GBps for p in points])
    if log is not None:
        found = [measured_at(log, p) for p in points]
        lines["measured"] = np.array([row.busbw_GBps if row else math.nan for row in found])
    sizes = np.array([float(p.size_bytes) for p in points])
    return Series("bandwidth by size", sizes, "size_bytes", lines, "GB/s", kind="GBps")


def title(curve: Curve) -> str:
    """What the curve is of, in a line."""
    domains = "one domain" if curve.domains == 1 else f"{curve.domains:,} domains"
    return f"{curve.collective} over {curve.ranks:,} ranks in {domains}"


def note(curve: Curve, log: Log | None = None) -> str:
    """What to know about the curve: transport, how sure it is, whose measurement is beside it."""
    low, high = curve.band
    band = f"busbw may be {low:.2g} to {high:.3g} of this in truth"
    parts = [f"over {curve.transport}", *([band] if high > low else [])]
    if curve.failures:
        parts.append("with what has failed")
    if log is not None:
        parts += [f"beside {sanitize(log.name)}", *doubts(curve, log)]
    return "; ".join(parts)


def doubts(curve: Curve, log: Log) -> Sequence[str]:
    """Where a log was not measured on what the curve is of."""
    found = []
    if log.collective is not None and log.collective != curve.collective:
        found.append(f"which ran {log.collective}, not {curve.collective}")
    if log.ranks is not None and log.ranks != curve.ranks:
        found.append(f"which ran on {log.ranks:,} ranks, not {curve.ranks:,}")
    same = log.collective in (None, curve.collective)
    if same and log.redop is not None and (log.redop == "none") == (redop(curve) == "sum"):
        found.append(f"whose redop is {sanitize(log.redop)}, and that of {curve.collective} is not")
    elif same and not found and (other := _factor(curve, log)):
        found.append(other)
    wrong = [row.size_bytes for row in log.rows if row.wrong]
    if wrong:
        found.append(f"which had wrong results at {counted(len(wrong), 'size')}")
    return found


def _factor(curve: Curve, log: Log) -> str:
    """What is odd about busbw over algbw of a log; "" when nothing is."""
    rows = [row.busbw_GBps / row.algbw_GBps for row in log.rows if row.algbw_GBps >= 1]
    if not rows:
        return ""
    own, theirs = busbw_factor(curve.collective, curve.ranks), sorted(rows)[len(rows) // 2]
    if abs(theirs / own - 1) < _ODD:
        return ""
    what = f"{curve.collective} over {curve.ranks:,} ranks"
    return f"whose busbw is {theirs:.3g} times its algbw, where that of {what} is {own:.3g}"
