"""Steps, failures and growth of whole scenarios."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import Scenario, build, with_spec
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.planned import job_facts
from clusterscope.spec.presets import load
from clusterscope.spec.replan import parse_changes, replanned


def best(function: Callable[[], object], repeat: int = 3) -> float:
    """Shortest of some runs, seconds."""
    spans = []
    for _ in range(repeat):
        begin = time.perf_counter()
        function()
        spans.append(time.perf_counter() - begin)
    return min(spans)


def timeline(name: str, *settings: str) -> Timeline:
    """A timeline at its first frame."""
    made = Timeline(build(load(name, settings)))
    made.at(0)
    return made


def quiet_step(made: Timeline) -> float:
    """Seconds of a step without a change of links or flows."""
    for k in range(1, 4):
        made.at(k)
    begin = time.perf_counter()
    for k in range(4, 14):
        made.at(k)
    return (time.perf_counter() - begin) / 10


def spine_failure(made: Timeline, spine: str) -> float:
    """Seconds from the failure of a spine to new rates on new routes."""

    def fail() -> None:
        made.inject(Event.named(made.scenario.names, "fail", spine, step=2))
        made.at(2)
        made.undo()

    made.at(1)
    return best(fail)


TRAINS = ('jobs=[{name="train",ranks=98304,model="gpt3-175b",plan={tp=8,pp=16,microbatches=8}}]',)
PLANS = ("tp=4 global_batch=12288", "tp=4 vp=2 global_batch=24576", "pp=8 global_batch=12288")


def training(preset: str = "xai-colossus-100k", sets: Sequence[str] = TRAINS) -> tuple[float, ...]:
    """Seconds to all that is told of a training job, then of each of `PLANS`."""
    spans = []

    def told(make: Callable[[], Scenario]) -> Scenario:
        begin = time.perf_counter()
        scenario = make()
        job_facts(scenario, Timeline(scenario).at(0), 0)
        spans.append(time.perf_counter() - begin)
        return scenario

    first = told(lambda: build(load(preset, sets)))
    for plan in PLANS:
        told(lambda plan=plan: with_spec(first, replanned(first.spec, 0, parse_changes(plan))))
    return tuple(spans)


def failure_to_first(name: str) -> float:
    """A failed core, from event to new rates, over what routes and rates cost at first.

    What stays inside scale-up domains need not be shared out again: at most about 1.
    """
    scenario = build(load(name))
    begin = time.perf_counter()
    made = Timeline(scenario)
    made.at(0)
    first = time.perf_counter() - begin
    return spine_failure(made, scenario.names.switch(scenario.fabric.switches - 1)) / first


def growth() -> None:
    """Exponent of the cost of a first frame over 1k, 10k and 100k GPUs."""
    sizes = (1_024, 10_240, 100_000)
    spans = []
    for gpus in sizes:
        settings = (
            f"node.count={gpus // 8}", "expect={}", 'jobs.0.placement="random"',
            'jobs.0.collective="permutation"', 'transport.name="rocev2"',
        )  # fmt: skip
        spec = load("xai-colossus-100k", settings)
        spans.append(best(lambda spec=spec: Timeline(build(spec)).at(0)))
    slope = np.diff(np.log(spans)) / np.diff(np.log(sizes))
    print("growth of spec to first frame, random permutation under ECMP")
    for gpus, span in zip(sizes, spans, strict=True):
        print(f"  {gpus:>8,} GPUs  {span * 1e3:9.1f} ms")
    print(f"  exponents {slope[0]:.2f} (1k to 10k), {slope[1]:.2f} (10k to 100k)")
    assert all(math.isfinite(s) for s in slope)


def row(label: str, seconds: float, limit_ms: int) -> None:
    """Print one figure beside its limit."""
    print(f"  {label:<40} {seconds * 1e3:8.1f} ms   limit {limit_ms} ms")


def main() -> None:
    """Print the figures."""
    print("scenarios of xai-colossus-100k")
    spine = "pod07/spine21"
    made = timeline("xai-colossus-100k")
    row("quiet step, all-reduce", quiet_step(made), 10)
    row("fail a spine, all-reduce", spine_failure(made, spine), 250)
    for transport in ("rocev2", "infiniband", "spectrum-x"):
        made = timeline(
            "xai-colossus-100k", f'transport.name="{transport}"', "transport.reroute_s=0",
            'jobs.0.collective="permutation"', "sim.dt_s=1e-5",
        )  # fmt: skip
        row(f"quiet step, permutation, {transport}", quiet_step(made), 10)
        row(f"fail a spine, permutation, {transport}", spine_failure(made, spine), 250)
    first, *changed = training()
    row("a job of 98,304 GPUs, first result", first, 3000)
    for plan, span in zip(PLANS, changed, strict=True):
        row(f"  with {plan}", span, 1000)
    print(f"  fail a core over the first frame: {failure_to_first('xai-colossus-100k'):.2f} times")
    growth()


if __name__ == "__main__":
    main()
