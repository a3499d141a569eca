"""What each preset costs: first frame, a step with a failure, a comparison, and what views take.

Run `python -m tests.bench.bench_presets`; `--presets NAME ...` measures some of them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import NamedTuple

from clusterscope.spec.presets import summaries

MILLION = "million"
# What is measured runs in a process of its own: its peak memory is then that of one preset.
MEASURE = """
import resource, sys, time
begin = time.perf_counter()
import clusterscope as cs
from clusterscope.engine.events import Event
from clusterscope.views.catalog import VIEWS
scenario = cs.build(cs.load({name!r}))
timeline = cs.Timeline(scenario)
timeline.at(0)
first = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
timeline.at(1)
begin = time.perf_counter()
timeline.at(2)
quiet = time.perf_counter() - begin
fail, names = 0.0, scenario.names
for switch in (0, scenario.fabric.switches - 1) if scenario.fabric.switches else ():
    timeline.inject(Event.named(names, "fail", names.switch(switch), step=3))
    begin = time.perf_counter()
    frame = timeline.at(3)
    fail = max(fail, time.perf_counter() - begin)
    timeline.undo()
frame = timeline.at(3)
begin = time.perf_counter()
for view in VIEWS:
    if not view.files:
        view.function(scenario, frame, None)
views = time.perf_counter() - begin
print(first, peak, quiet, fail, views)
"""


class Cost(NamedTuple):
    """Seconds and megabytes of one preset."""

    first_s: float
    peak_mb: float
    quiet_s: float
    fail_s: float
    views_s: float


LIMITS = {
    MILLION: Cost(6.0, 1_500, 0.5, 2.0, 2.0),
    "xai-colossus-100k": Cost(1.2, 600, 0.01, 0.25, 0.4),
}


def cost(name: str) -> Cost:
    """Measure a preset in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", MEASURE.format(name=name)],
        capture_output=True, text=True, check=True, env=os.environ | {"CLUSTERSCOPE_CHECK": "0"},
    )  # fmt: skip
    return Cost(*map(float, run.stdout.split()))


def compared(name: str, transports: str) -> float:
    """Wall time of `clusterscope compare`, seconds."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "clusterscope", "compare", name, "--transports", transports]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def main(arguments: list[str] | None = None) -> None:
    """Print the figures of the presets, largest last."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="*", help="all when left out")
    chosen = parser.parse_args(arguments).presets
    rows = sorted(summaries(), key=lambda row: row.gpus)
    print(f"  {'preset':<20} {'GPUs':>9}  first s   peak MB  quiet ms  fail ms  views ms")
    for row in rows:
        if chosen is not None and row.name not in chosen:
            continue
        got, limit = cost(row.name), LIMITS.get(row.name)
        over = [f for f, a, b in zip(Cost._fields, got, limit or got, strict=True) if a > b]
        print(
            f"  {row.name:<20} {row.gpus:>9,} {got.first_s:8.2f} {got.peak_mb:9.0f} "
            f"{got.quiet_s * 1e3:9.1f} {got.fail_s * 1e3:8.0f} {got.views_s * 1e3:9.0f}"
            + (f"  OVER {', '.join(over)}" if over else ""),
            flush=True,
        )
    if chosen is None:
        seconds = compared("xai-colossus-100k", "infiniband,rocev2,spectrum-x")
        print(f"  compare xai-colossus-100k, three transports: {seconds:.2f} s, limit 4 s")


if __name__ == "__main__":
    main()
