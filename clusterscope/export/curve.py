"""A curve on stdout as nccl-tests prints one, or as JSON.

The table is one that nccl-tests' own readers take: comments, then size, count, type, redop, root,
time, algbw, busbw. Further columns follow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from clusterscope.export.json import write
from clusterscope.export.plain import spelled_out
from clusterscope.metrics.curve import Curve, Point
from clusterscope.metrics.report import json_safe
from clusterscope.spec.nccl_log import Log, Measured
from clusterscope.views.curve import (
    TYPE,
    count,
    doubts,
    measured_at,
    measured_ratio,
    note,
    redop,
    root,
    title,
)

_PERF = {"all-to-all": "alltoall"}
_HEAD = (
    f"{'size':>12}  {'count':>12}  {'type':>8}  {'redop':>6}  {'root':>6}  "
    f"{'time':>9}  {'algbw':>7}  {'busbw':>7}"
)
_UNITS = (
    f"{'(B)':>12}  {'(elements)':>12}  {'':>8}  {'':>6}  {'':>6}  "
    f"{'(us)':>9}  {'(GB/s)':>7}  {'(GB/s)':>7}"
)
_OURS = f"  {'algorithm':<18}  {'protocol':<8}"
_THEIRS = f"  {'measured':>9}  {'busbw':>7}  {'ratio':>6}"
_THEIR_UNITS = f"  {'(us)':>9}  {'(GB/s)':>7}  {'':>6}"


def text(name: str, curve: Curve, log: Log | None = None) -> str:
    """The curve as nccl-tests prints it; `name` is the cluster's."""
    lines = [f"# {spelled_out(name)}: {title(curve)}; {perf(curve)}, modeled"]
    if words := note(curve, log):
        lines.append(f"# {spelled_out(words)}")
    theirs = (_THEIRS, _THEIR_UNITS) if log is not None else ("", "")
    lines += [f"#{_HEAD[1:]}{_OURS}{theirs[0]}".rstrip(), f"#{_UNITS[1:]}".rstrip()]
    if log is not None:
        lines[-1] = f"#{_UNITS[1:]}{'':{len(_OURS)}}{theirs[1]}".rstrip()
    lines += _rows(curve, log)
    return "".join(f"{line}\n" for line in lines)


def perf(curve: Curve) -> str:
    """The program of nccl-tests that measures the collective."""
    name = _PERF.get(curve.collective, curve.collective.replace("-", "_"))
    return f"{name}_perf"


def _rows(curve: Curve, log: Log | None) -> Iterator[str]:
    for point in curve.points:
        front = (
            f"{point.size_bytes:>12}  {count(curve, point):>12}  {TYPE:>8}  {redop(curve):>6}  "
            f"{root(curve):>6}  {_us(point.seconds):>9}  {point.algbw_GBps:>7.2f}  "
            f"{point.busbw_GBps:>7.2f}  {point.algorithm:<18}  {point.protocol or '-':<8}"
        )
        yield (front + (_beside(point, measured_at(log, point)) if log else "")).rstrip()


def _beside(point: Point, row: Measured | None) -> str:
    """What was measured, and how much of the modeled speed that is."""
    if row is None:
        return f"  {'-':>9}  {'-':>7}  {'-':>6}"
    ratio = measured_ratio(point, row)
    return f"  {_us(row.seconds):>9}  {row.busbw_GBps:>7.2f}  {ratio:>6.2f}"


def _us(seconds: float) -> str:
    """Microseconds with as many digits as nccl-tests gives them."""
    if not math.isfinite(seconds):
        return "inf"
    micro = seconds * 1e6
    return f"{micro:.2f}" if micro < 100 else f"{micro:.1f}" if micro < 1000 else f"{micro:.0f}"


def json(name: str, curve: Curve, log: Log | None = None) -> str:
    """The curve as JSON; null for what stalls or was not measured."""
    rows = []
    for point in curve.points:
        row = measured_at(log, point)
        ratio = measured_ratio(point, row)
        rows.append(
            {
                "size_bytes": point.size_bytes,
                "count": count(curve, point),
                "type": TYPE,
                "redop": redop(curve),
                "root": root(curve),
                "time_us": point.seconds * 1e6,
                "algbw_GBps": point.algbw_GBps,
                "busbw_GBps": point.busbw_GBps,
                "error_band": list(point.error_band),
                "latency_us": point.latency_s * 1e6,
                "algorithm": point.algorithm,
                "protocol": point.protocol,
                **({} if log is None else _measured(row, ratio)),
            }
        )
    document = {
        "schema": 1,
        "spec": name,
        "collective": curve.collective,
        "algorithm": curve.asked,
        "ranks": curve.ranks,
        "domains": curve.domains,
        "transport": curve.transport,
        "failures": curve.failures,
        "overlay": None if log is None else log.name,
        "overlay_doubts": [] if log is None else list(doubts(curve, log)),
        "rows": rows,
    }
    return write(json_safe(document))


def _measured(row: Measured | None, ratio: float) -> dict[str, object]:
    return {
        "measured_us": row.seconds * 1e6 if row else None,
        "measured_busbw_GBps": row.busbw_GBps if row else None,
        "measured_over_modeled": ratio,
    }
