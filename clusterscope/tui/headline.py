"""The two lines on top of the explorer, as parts that give way when room is short."""

from __future__ import annotations

import math

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.counts import counts
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.tui.player import Player
from clusterscope.tui.widgets.bars import Part
from clusterscope.views.text import fmt, sanitize


def head(scenario: Scenario, frame: Frame, player: Player) -> list[Part]:
    """The cluster, what it is made of, and where time stands."""
    count, spec = counts(scenario.fabric), scenario.spec
    switches = [f"{number:,} {tier}" for tier, number in count["switches"].items() if number]
    clock = f"step {frame.step:,} · {fmt(frame.time_s, 'seconds')}"
    return [
        Part(sanitize(spec.name), "head", 0),
        Part(f"{count['gpus']:,} {sanitize(spec.node.gpu)}", rank=3),
        Part(" · ".join(switches), "dim", 6),
        state(player),
        Part(clock, rank=1, right=True),
    ]


def state(player: Player) -> Part:
    """Whether time runs, and how fast."""
    if player.playing:
        return Part(f"▶ {player.speed:g}/s", "good", 1, right=True)
    if player.busy:
        return Part("working …", "good", 1, right=True)
    return Part("paused", "dim", 2, right=True)


def health(frame: Frame) -> Part:
    """What is dead or slow, in a few words."""
    now = frame.health
    if now.healthy:
        return Part("all up", "dim", 5)
    dead = {
        "cable": int((now.cable_scale == 0).sum()),
        "switch": int((~now.switch_up).sum()),
        "NIC port": int((~now.nic_up).sum()),
        "node": int((~now.node_up).sum()),
        "GPU": int((~now.gpu_up).sum()),
    }
    words = [f"{number} {what} down" for what, number in dead.items() if number]
    slow = int(((now.cable_scale > 0) & (now.cable_scale < 1)).sum())
    words += [f"{slow} cable slow"] if slow else []
    if frame.network.routed is not frame.network.actual:
        words.append("rerouting")
    return Part(", ".join(words), "alert", 1)


def jobs(scenario: Scenario, frame: Frame) -> list[Part]:
    """The transport, what is dead, and the first job's speed."""
    metrics = job_metrics(scenario, frame)
    parts = [Part(sanitize(scenario.transport.name), "head", 2), health(frame)]
    if not metrics:
        return [*parts, Part("no job", "dim", 4)]
    first = metrics[0]
    more = f" +{len(metrics) - 1} more" if len(metrics) > 1 else ""
    collective = f"{first.collective} × {first.ranks:,} · {fmt(first.message_bytes, 'bytes')}{more}"
    return [*parts, Part(collective, rank=4), *_speed(first)]


def _speed(job: JobMetrics) -> list[Part]:
    if not math.isfinite(job.iteration_s):
        return [Part("stalled", "alert", 1)]
    low, high = job.error_band
    band = f" ({fmt(low, 'GBps')} to {fmt(high, 'GBps')})" if low < high else ""
    slower = job.iteration_s / job.healthy_s - 1 if job.healthy_s > 0 else 0.0
    against = f"{slower:+.1%} against healthy" if abs(slower) >= 5e-4 else "as when healthy"
    return [
        Part(f"busbw {fmt(job.busbw_GBps, 'GBps')}", rank=1),
        Part(band.strip(), "dim", 7),
        Part(f"iteration {fmt(job.iteration_s, 'seconds')}", rank=5),
        Part(against, "alert" if slower >= 5e-4 else "dim", 3),
    ]
