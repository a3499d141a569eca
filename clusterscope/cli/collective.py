"""`collective`: a collective by message size, as nccl-tests prints it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clusterscope.cli.changes import spec_of
from clusterscope.cli.telling import say
from clusterscope.errors import SpecError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clusterscope.metrics.curve import Curve
    from clusterscope.spec.model import ClusterSpec, JobSpec
    from clusterscope.spec.nccl_log import Log

_BEGIN, _END, _FACTOR = "8", "8G", 2.0
_LAST_STEP = 10**9
_MOST = 400  # sizes of a table
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kmgt]?)(?:i?b)?", re.IGNORECASE)
TYPE_BYTES = 4  # of an element of nccl-tests
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


@click.command()
@click.argument("spec")
@click.option("--collective", "-c", "kind", metavar="NAME",
              help="all-reduce, all-gather, reduce-scatter, broadcast, all-to-all or sendrecv; "
              "the job's when left out")  # fmt: skip
@click.option("--algorithm", "-a", metavar="NAME", help="force one; the job's when left out")
@click.option("--begin", "-b", metavar="SIZE", help=f"first size  [{_BEGIN}]")
@click.option("--end", "-e", metavar="SIZE", help=f"last size  [{_END}]")
@click.option("--factor", "-f", type=click.FloatRange(1.001, 1e6), default=_FACTOR,
              show_default=True, help="from one size to the next")  # fmt: skip
@click.option("--ranks", type=click.IntRange(2, 10**9), metavar="N", help="GPUs that take part")
@click.option("--nodes", type=click.IntRange(1, 10**9), metavar="N", help="nodes, whole, instead")
@click.option("--job", metavar="NAME", help="whose placement and ranks; the first job's")
@click.option("--transport", metavar="NAME", help="another transport, at its defaults")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="change a key of the spec")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="seed of all chance")
@click.option("--fail", "fails", multiple=True, metavar="NAME|RULE",
              help="fail a thing by name, or what a rule names")  # fmt: skip
@click.option("--overlay", type=click.Path(path_type=Path), metavar="LOG",
              help="print what nccl-tests measured beside it")  # fmt: skip
@click.option("--csv", "as_csv", is_flag=True, help="as CSV")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def collective(
    spec: str,
    kind: str | None,
    algorithm: str | None,
    overlay: Path | None,
    as_csv: bool,
    as_json: bool,
    **more: Any,  # noqa: ANN401 - the other options, by name
) -> None:
    """Print time, algbw and busbw of a collective by size, as nccl-tests would.

    A ratio is busbw measured over busbw modeled.
    """
    from clusterscope.export import csv
    from clusterscope.export import curve as writer
    from clusterscope.spec.nccl_log import read_log
    from clusterscope.views.curve import curve_table, doubts

    if as_csv and as_json:
        raise SpecError("--csv", "cannot go with --json", "give one of them")
    log = None if overlay is None else read_log(overlay)
    changes = {key: more[key] for key in ("sets", "transport", "seed")}
    loaded = spec_of(spec, changes)
    job = _job(loaded, _collective(kind, log), algorithm, more)
    found = _whole(_curve(loaded, job, _sizes(log, more), more["fails"]))
    say("")
    for words in () if log is None else doubts(found, log):
        click.echo(f"clusterscope: --overlay: {log.name if log else ''}, {words}", err=True)
    if as_csv:
        click.echo(csv.write(curve_table(found, log)), nl=False)
        return
    write = writer.json if as_json else writer.text
    click.echo(write(loaded.name, found, log), nl=False)


def _whole(curve: Curve) -> Curve:
    """The curve without sizes that leave no element to a rank, as nccl-tests leaves them out."""
    from dataclasses import replace

    from clusterscope.views.curve import count

    kept = tuple(point for point in curve.points if count(curve, point))
    if not kept:
        least = TYPE_BYTES * curve.ranks
        raise SpecError("--end", "leaves no element for each rank", f"use {least} or more")
    if len(kept) < len(curve.points):
        first = f"sizes below {kept[0].size_bytes:,} B leave no element for each rank"
        click.echo(f"clusterscope: {first}: left out", err=True)
    return replace(curve, points=kept)


def _curve(spec: ClusterSpec, job: JobSpec, sizes: Sequence[int], fails: Sequence[str]) -> Curve:
    """The job alone in the cluster, once routes have reacted to what fails."""
    from clusterscope.cli.changes import cluster_of
    from clusterscope.metrics.curve import curve
    from clusterscope.metrics.rules import health_at
    from clusterscope.process import heed

    def tell(words: str, done: int, of: int) -> None:
        heed(words, done / of)
        say(f"playing {words} …")

    empty = spec.model_copy(update={"jobs": (), "events": ()})
    none = {"steps": None, "until": None, "events": None}
    timeline, _ = cluster_of(empty, {**none, "fails": fails})
    health = health_at(timeline.scenario, timeline.log, _LAST_STEP)
    return curve(timeline.scenario, job, sizes, tell, (health, health))


def _collective(kind: str | None, log: Log | None) -> str | None:
    """The collective asked for, by our name or that of nccl-tests; else that of a log."""
    from clusterscope.metrics.curve import ORDER
    from clusterscope.spec.nccl_log import COLLECTIVES

    if kind is None:
        return log.collective if log is not None else None
    word = kind.casefold().removesuffix("_perf")
    found = COLLECTIVES.get(word.replace("-", "_"), word.replace("_", "-"))
    if found not in ORDER:
        raise UnknownNameError("collective", kind, ORDER, "known are " + ", ".join(ORDER))
    return found


def _job(
    spec: ClusterSpec, kind: str | None, algorithm: str | None, more: dict[str, Any]
) -> JobSpec:
    """The job that is played: whose ranks and placement, what it runs and how."""
    from clusterscope.metrics.curve import algorithm_named, job_of, refuse

    if more["ranks"] is not None and more["nodes"] is not None:
        raise SpecError("--nodes", "cannot go with --ranks", "give one of them")
    names = [job.name for job in spec.jobs]
    if more["job"] is not None and more["job"] not in names:
        raise UnknownNameError("job", more["job"], names, "known are " + ", ".join(names))
    job = job_of(spec, 0 if more["job"] is None else names.index(more["job"]))
    changes: dict[str, object] = {}
    if kind is not None and kind != job.collective:
        changes |= {"collective": kind, "algorithm": "auto"}
    if algorithm is not None:
        changes["algorithm"] = algorithm_named(algorithm)
    if more["ranks"] is not None:
        changes["ranks"] = more["ranks"]
    if more["nodes"] is not None:
        changes["ranks"] = more["nodes"] * spec.node.gpus
    changed = job.model_copy(update=changes)
    refuse(spec, changed)
    return changed


def _sizes(log: Log | None, more: dict[str, Any]) -> Sequence[int]:
    """Sizes asked for, or those of a log."""
    from clusterscope.metrics.curve import sizes_between

    begin, end = more["begin"], more["end"]
    if log is not None and begin is None and end is None:
        return [row.size_bytes for row in log.rows]
    first, last = _size("--begin", begin or _BEGIN), _size("--end", end or _END)
    if first > last:
        raise SpecError(
            "--begin", f"{begin or _BEGIN} is more than --end {end or _END}", "swap them"
        )
    if math.isnan(more["factor"]):
        raise SpecError("--factor", "nan is no factor", "use 1.001 or more")
    sizes = sizes_between(first, last, more["factor"])
    if len(sizes) > _MOST:
        raise SpecError(
            "--factor", f"{more['factor']:g} gives {len(sizes):,} sizes", f"at most {_MOST}"
        )
    return sizes


def _size(option: str, text: str) -> int:
    """Bytes of 8, 1K, 512M, 8G or '1 GiB', as nccl-tests takes them: powers of 1024."""
    match = _SIZE.fullmatch(text.strip())
    size = float(match[1]) * 1024 ** _POWERS[match[2].casefold()] if match else 0.0
    if not 1 <= size <= 2**50:
        raise SpecError(option, f"{text!r} is not a size", "write 8, 1K, 512M or 8G")
    if size < TYPE_BYTES:
        raise SpecError(option, f"{text!r} is less than an element of 4 bytes", "use 4 or more")
    return int(size)


COMMANDS = (collective,)
