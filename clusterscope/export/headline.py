"""What a reader with ten seconds sees: the cluster's title and each job in four numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clusterscope.units import counted
from clusterscope.views.text import fmt, percent


@dataclass(frozen=True)
class Headline:
    """One job as a reader with ten seconds sees it, in words; `ratio` is the share of line."""

    name: str
    collective: str
    size: str
    ranks: str
    busbw: str
    band: str
    iteration: str
    share: str
    ratio: object
    settled: str
    served: tuple[tuple[str, str], ...] = ()

    @property
    def figures(self) -> tuple[tuple[str, str], ...]:
        """Value and what it is, the three that matter: of a service tokens and their times."""
        band = f", band {self.band}" if self.band else ""
        usual = ((self.busbw, f"busbw{band}"), (self.iteration, "an iteration"))
        return self.served or (*usual, (self.share, "of line rate"))

    @property
    def sentence(self) -> str:
        """The same in a row."""
        if self.served:
            return ", ".join(f"{value} {label}" for value, label in self.served)
        band = f" (model band {self.band})" if self.band else ""
        return f"busbw {self.busbw}{band}, {self.iteration} an iteration, {self.share} of line"


def title(report: Mapping[str, Any]) -> str:
    """What the report is about."""
    spec = report["spec"]
    return str(spec.get("title") or spec["name"])


def headlines(report: Mapping[str, Any]) -> list[Headline]:
    """Every job of a report in short."""
    return [_headline(job) for job in report.get("jobs", ())]


def _headline(job: Mapping[str, Any]) -> Headline:
    stalled = bool(job.get("stalled"))
    low, high = (None, None) if stalled else job.get("error_band") or (None, None)
    share = job.get("share_of_line")
    return Headline(
        name=job["name"],
        collective=str(job.get("collective") or ""),
        size=fmt(job.get("message_bytes"), "bytes"),
        ranks=counted(int(job.get("ranks", 0)), "rank"),
        busbw=fmt(job.get("busbw_GBps"), "GBps"),
        settled=_settled(job.get("settled")),
        band="" if low is None or high is None else _band(low, high),
        iteration="stalled" if stalled else fmt(job.get("iteration_s"), "seconds"),
        share=percent(math.nan if share is None else share),
        ratio=share,
        served=() if job.get("serving") is None else tuple(_served(job, job["serving"])),
    )


def _served(job: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a request feels and the service gives, and what of it stands still."""
    yield fmt(own.get("tokens_per_s") or 0, "int"), "tokens/s"
    for kind, name, key in (("prefill", "TTFT", "ttft_s"), ("decode", "TPOT", "tpot_s")):
        if own.get(kind) is not None:
            seconds = own.get(key)
            yield fmt(math.inf if seconds is None else seconds, "seconds"), name
    if job.get("stalled"):
        yield "none", "of the requests gets through"
        return
    for kind in ("prefill", "decode"):
        stage = own.get(kind)
        if stage is not None and stage["running"] < stage["instances"]:
            down = stage["instances"] - stage["running"]
            yield (
                f"{down} of {stage['instances']}",
                f"{kind} instances {'stands' if down == 1 else 'stand'} still",
            )


def _settled(settled: Mapping[str, Any] | None) -> str:
    """How the job goes once routes have reacted; "" when they have."""
    if settled is None:
        return ""
    when = f"once routes have reacted, at {fmt(settled['from_s'], 'seconds')}"
    if settled["iteration_s"] is None:
        return f"{when}: still stalled"
    busbw = fmt(settled["busbw_GBps"], "GBps")
    return f"{when}: {busbw}, {fmt(settled['iteration_s'], 'seconds')} an iteration"


def _band(low: float, high: float) -> str:
    """Two bandwidths under one unit: "330 to 371 GB/s"."""
    return f"{fmt(low, 'GBps').removesuffix(' GB/s')} to {fmt(high, 'GBps')}"
