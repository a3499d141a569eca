"""The two lines on top of the explorer, as parts that give way when room is short."""

from __future__ import annotations

import dataclasses
import math

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import SWITCH_TIERS, Fabric
from clusterscope.fabric.counts import counts
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.metrics.links import hottest
from clusterscope.metrics.memo import per_frame
from clusterscope.metrics.networks import network_name
from clusterscope.metrics.serving import ServingMetrics
from clusterscope.tui.player import Player
from clusterscope.tui.widgets.bars import Part
from clusterscope.units import counted
from clusterscope.views import diff
from clusterscope.views.text import fmt, percent, sanitize


def switch_plurals(fabric: Fabric) -> tuple[str, ...]:
    """What switches of tier 1, 2 and 3 are called behind their number."""
    return ("switches", "", "") if fabric.dragonfly else SWITCH_TIERS


def head(scenario: Scenario, frame: Frame, player: Player) -> list[Part]:
    """The cluster, what it is made of, and where time stands."""
    count, spec = counts(scenario.fabric), scenario.spec
    numbers = zip(switch_plurals(scenario.fabric), count["switches"].values(), strict=True)
    switches = [f"{number:,} {tier}" for tier, number in numbers if number]
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
    if player.late:
        far = f" at step {player.reached:,}" if player.reached != player.step else ""
        return Part(f"working …{far}", "good", 1, right=True)
    return Part("paused", "dim", 2, right=True)


def _counted(number: int, what: str) -> str:
    return counted(number, what, "switches" if what == "switch" else "")


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
    words = [f"{_counted(number, what)} down" for what, number in dead.items() if number]
    slow = int(((now.cable_scale > 0) & (now.cable_scale < 1)).sum())
    words += [f"{_counted(slow, 'cable')} slow"] if slow else []
    lame = int((now.gpu_up & (now.gpu_speed < 1)).sum())
    words += [f"{_counted(lame, 'GPU')} slow"] if lame else []
    if frame.network.routed is not frame.network.actual:
        words.append("rerouting")
    return Part(", ".join(words), "alert", 1)


def jobs(
    scenario: Scenario, frame: Frame, job: int = 0, baseline: Frame | None = None
) -> list[Part]:
    """The transport, what is dead, and one job's speed, against a baseline if there is one."""
    metrics = job_metrics(scenario, frame)
    parts = [Part(sanitize(network_name(scenario)), "head", 2), health(frame)]
    if not metrics:
        return [*parts, Part("no job", "dim", 4)]
    job = min(job, len(metrics) - 1)
    own = metrics[job]
    which = f"{job + 1}/{len(metrics)} {sanitize(own.name)}: " if len(metrics) > 1 else ""
    runs = own.training or own.serving
    size = fmt(own.message_bytes, "bytes") if runs is None else sanitize(runs.model)
    collective = f"{which}{own.collective} × {own.ranks:,} · {size}"
    band = scenario.transport.error_band
    if own.busbw_GBps > 0:
        band = (own.error_band[0] / own.busbw_GBps, own.error_band[1] / own.busbw_GBps)
    busbw, *rest = _speed(own, band)
    return [
        *parts,
        Part(collective, rank=4),
        busbw,
        *_against(scenario, frame, baseline, job),
        *rest,
    ]


def _against(
    scenario: Scenario, frame: Frame, baseline: Frame | None, job: int, words: str = "vs baseline"
) -> list[Part]:
    """How a job goes against the baseline."""
    if baseline is None:
        return []
    share, worse = diff.headline(scenario, frame, baseline, job)
    text = f"{words} step {baseline.step:,}" + (f": {share}" if share else "")
    return [Part(text, "alert" if worse else "head", 2)]


def short(
    scenario: Scenario, frame: Frame, player: Player, job: int = 0, baseline: Frame | None = None
) -> list[Part]:
    """All of it in one line, where there is room for no more."""
    transport, dead, what, *speed = jobs(scenario, frame, job)
    transport = dataclasses.replace(transport, rank=3)
    clock = Part(f"{'▶' if player.playing else '‖'} step {frame.step:,}", rank=1, right=True)
    busy = [] if player.playing or not player.late else [state(player)]
    return [
        Part(sanitize(scenario.spec.name), "head", 0),
        transport,
        dead,
        *(speed[:1] or [what]),
        *_against(scenario, frame, baseline, job, "vs"),
        # What is compared with a baseline matters more than what is hot.
        dataclasses.replace(hot(scenario, frame), rank=2 if baseline is None else 3),
        *speed[1:],
        *busy,
        clock,
    ]


def hot(scenario: Scenario, frame: Frame) -> Part:
    """The hottest link: its load, and the device at its lower end."""
    link = _hottest_link(scenario, frame)
    if link < 0:
        return Part("")
    end = int(scenario.fabric.cable_a[link >> 1])
    name = scenario.names.thing(scenario.names.of_vertex(end))
    if not name.startswith("node"):
        name = name.rpartition("/")[2]
    return Part(f"hot {fmt(float(frame.utilization[link]), 'ratio')} {sanitize(name)}", rank=2)


@per_frame
def _hottest_link(scenario: Scenario, frame: Frame) -> int:
    """The hottest link, the first of equals; -1 when none is live."""
    return next(iter(hottest(scenario, frame, 1).tolist()), -1)


def band_words(band: tuple[float, float]) -> str:
    """An error band, as shares of what is told: "±4 %" or "-15/+2 %"."""
    low, high = (round(100 * (share - 1)) for share in band)
    if low == high == 0:
        return ""
    return f"±{high} %" if low == -high else f"{low:+d}/{high:+d} %".replace("-", "−")


def _until(job: JobMetrics) -> str:
    """When a job that is stalled will move again, and how fast."""
    later = job.settled
    if later is None or not math.isfinite(later.iteration_s):
        return ""
    busbw = fmt(later.busbw_GBps, "GBps")
    return f"until rerouted at {fmt(later.from_s, 'seconds')}, then {busbw}"


def _served(job: JobMetrics, own: ServingMetrics) -> list[Part]:
    """What a request feels and the service gives, and what of it stands still."""
    if own.requests_per_s <= 0:
        return [Part("no request gets through", "alert", 1)]
    stages = [stage for stage in (own.prefill, own.decode) if stage is not None]
    down = sum(stage.instances - stage.running for stage in stages)
    slower = job.slowdown - 1 if math.isfinite(job.slowdown) else 0.0
    return [
        Part(f"TPOT {fmt(own.tpot_s, 'seconds')}" if own.decode else "", rank=1),
        Part(f"TTFT {fmt(own.ttft_s, 'seconds')}" if own.prefill else "", rank=2),
        Part(f"{fmt(own.tokens_per_s, 'int')} tokens/s", rank=3),
        Part(f"bound by {own.bound}", rank=5),
        Part(_idle(down), "alert", 1),
        Part(f"wave {slower:+.1%} against undisturbed" if slower >= 5e-4 else "", "alert", 2),
    ]


def _idle(instances: int) -> str:
    """How many instances stand still, in words."""
    if not instances:
        return ""
    return "1 instance stands still" if instances == 1 else f"{instances} instances stand still"


def _speed(job: JobMetrics, band: tuple[float, float]) -> list[Part]:
    """Bandwidths, time of an iteration and what it is measured by."""
    if job.serving is not None:
        return _served(job, job.serving)
    if not math.isfinite(job.iteration_s):
        return [Part("stalled", "alert", 1), Part(_until(job), "alert", 2)]
    slower = job.iteration_s / job.healthy_s - 1 if job.healthy_s > 0 else 0.0
    against = f"iteration {slower:+.1%} against undisturbed" if abs(slower) >= 5e-4 else ""
    busbw = f"busbw {fmt(job.busbw_GBps, 'GBps')} {band_words(band)}"
    algbw = f"algbw {fmt(job.algbw_GBps, 'GBps')}"
    if job.training is not None:
        busbw = f"MFU {percent(job.training.mfu)}"
        algbw = f"{fmt(job.training.tokens_per_s, 'int')} tokens/s"
    return [
        Part(busbw.strip(), rank=1),
        Part(algbw, rank=6),
        Part(f"iter {fmt(job.iteration_s, 'seconds')}", rank=5),
        Part(f"{percent(job.share_of_line, 0)} of line", rank=5),
        Part(against, "alert" if slower >= 5e-4 else "dim", 2),
    ]
