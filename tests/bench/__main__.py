"""`make bench`: every figure that the product promises, measured and printed.

Whole processes are measured by their wall time and peak memory; kernels against a fixed numpy
kernel in the same run, so that the ratio survives a noisy machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench import bench_presets, bench_rates, bench_scenario, bench_terminal

FIRST_FRAME = "import clusterscope as cs; t = cs.Timeline(cs.build(cs.load({name!r}))); t.at(0)"


def process(label: str, limit: str, *command: str) -> None:
    """Run a command once warm, and print wall time and peak memory."""
    best_s, peak_kib = float("inf"), 0
    for _ in range(3):
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        if status:
            print(f"  {label}: FAILED {child.stderr.read().decode() if child.stderr else ''}")
            return
        best_s, peak_kib = min(best_s, seconds), max(peak_kib, usage.ru_maxrss)
    print(f"  {label:<52} {best_s:7.2f} s  {peak_kib / 1024:7.0f} MB   limit {limit}")


def processes() -> None:
    """Figures of whole processes."""
    python = sys.executable
    run = (python, "-m", "clusterscope")
    print("whole processes (best of 3)")
    process("clusterscope --help", "0.4 s", *run, "--help")
    process("clusterscope presets", "0.4 s", *run, "presets")
    for name, limit in (
        ("xai-colossus-100k", "1.2 s, 600 MB"),
        ("meta-24k-roce", "2.5 s"),
        ("million", "6 s, 1,500 MB"),
    ):
        process(f"{name}: TOML to first frame", limit, python, "-c", FIRST_FRAME.format(name=name))
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "out")
        process(
            "xai-colossus-100k --export, 20 steps", "8 s",
            *run, "xai-colossus-100k", "--export", out, "--steps", "20",
        )  # fmt: skip
    process("llama3-16k: a job's first result", "5 s", *run, "job", "llama3-16k")


if __name__ == "__main__":
    processes()
    bench_terminal.main([])
    bench_scenario.main()
    bench_presets.main([])
    bench_rates.main()
