"""What the explorer costs a person: the real program on a pty, from the key to the bytes.

Run `python -m tests.bench.bench_terminal`; `--presets NAME ...` measures others, `--quick` presses
fewer keys. Every figure stands beside its limit; a figure over it is marked.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections.abc import Callable

import numpy as np

from tests.terminal import CLUSTERSCOPE, Terminal

BIG, SMALL = "xai-colossus-100k", "gb200-superpod"
WIDE, NARROW = (120, 36), (80, 24)
SPINE = {BIG: "pod07/spine21", SMALL: "spine3", "million": "pod07/spine021"}
PRESSES, FAILURES, SECONDS = 60, 5, 10.0
PLAYING = "▶"

_STEP = re.compile(r"step ([\d,]+)")
_DONE = re.compile(r" \d+/\d+ +▸")  # the time line, which is painted with all the rest
_SELECTED = re.compile(r"▸ (\S+) *$", re.MULTILINE)


def line(label: str, value: float, unit: str, limit: float | None, more: str = "") -> None:
    """Print one figure beside its limit."""
    within = "" if limit is None else f"at most {limit:g} {unit}"
    mark = "  OVER" if limit is not None and value > limit else ""
    digits = 2 if unit == "s" else 1 if unit == "kB" else 0
    print(f"  {label:<58} {value:8.{digits}f} {unit:<3} {within:<16} {more}{mark}", flush=True)


def paused(text: str) -> bool:
    """True when time stands still."""
    return PLAYING not in text


def done(text: str) -> bool:
    """True when the whole explorer is painted."""
    return _DONE.search(text) is not None


def opened(name: str, size: tuple[int, int] = WIDE, rate: float | None = None) -> Terminal:
    """The explorer on a preset, painted and quiet."""
    terminal = Terminal((*CLUSTERSCOPE, name), *size, rate=rate)
    terminal.wait(done, 60)
    terminal.settle()
    return terminal


def selected(text: str) -> str:
    """Name of what is selected."""
    found = _SELECTED.search(text)
    return found[1] if found else ""


def step_of(text: str) -> str:
    """The step in sight."""
    found = _STEP.search(text)
    return found[1] if found else ""


def first_paint(name: str, repeats: int) -> None:
    """From the start of a process to its first line, and to the whole explorer."""
    line_s, all_s, kilobytes = [], [], []
    for _ in range(repeats):
        with Terminal((*CLUSTERSCOPE, name), *WIDE) as terminal:
            line_s.append(terminal.wait(name) - terminal.began)
            all_s.append(terminal.wait(done, 60) - terminal.began)
            terminal.settle()
            kilobytes.append(terminal.bytes / 1e3)
    big = name == BIG
    line("first words", float(np.median(line_s)), "s", 0.8, f"best {min(line_s):.2f}")
    line("first whole screen", float(np.median(all_s)), "s", 3.0 if big else None,
         f"best {min(all_s):.2f}; {np.median(kilobytes):.0f} kB until quiet")  # fmt: skip


def latency(terminal: Terminal, presses: int, seed: int = 0) -> np.ndarray:
    """From the press of a cursor key to the painted selection, by press, seconds.

    The keys walk down the tree and back, at times that keep no step with the frames.
    """
    chance, spent = random.Random(seed), []
    terminal.press("1jj")
    terminal.listen(0.5)
    for number in range(presses):
        terminal.listen(0.12 + chance.random() * 0.25)
        before = selected(terminal.screen.text)
        pressed = terminal.press("j" if number % 14 < 7 else "k")
        terminal.wait(lambda text, old=before: selected(text) not in ("", old))
        spent.append(time.perf_counter() - pressed)
    return np.array(spent)


def report_latency(label: str, spent: np.ndarray, limit_ms: float) -> None:
    """Print the 95th percentile of some latencies."""
    p95, median, worst = np.percentile(spent * 1e3, [95, 50, 100])
    line(label, float(p95), "ms", limit_ms, f"median {median:.0f}, worst {worst:.0f}")


def traffic(terminal: Terminal, seconds: float) -> tuple[float, int]:
    """Bytes that each frame takes while time runs, kB, and how many frames there were."""
    steps: set[str] = set()
    before, end = terminal.bytes, time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        if terminal.read(left):
            steps.add(step_of(terminal.screen.text))
    return (terminal.bytes - before) / 1e3 / max(1, len(steps)), len(steps)


def report_traffic(label: str, terminal: Terminal, limit_kb: float, seconds: float) -> None:
    """Print what a frame costs while playing, and what nothing costs while paused."""
    terminal.press(" ")
    terminal.wait(PLAYING)
    each, frames = traffic(terminal, seconds)
    line(f"{label}, a frame while playing", each, "kB", limit_kb, f"{frames} frames")
    terminal.press(" ")
    terminal.wait(paused)
    terminal.settle()
    line(f"{label}, paused and untouched for 2 s", terminal.listen(2.0) / 1e3, "kB", 0.0)


def failures(terminal: Terminal, spine: str, repeats: int) -> tuple[list[float], list[float]]:
    """From the key that fails a spine to the words that say so, and to the last byte, seconds."""
    words, last = [], []
    terminal.press(":")
    terminal.listen(0.3)
    terminal.press(f"select {spine}\r")
    terminal.wait(lambda text: selected(text) == spine)
    terminal.settle()
    for _ in range(repeats):
        pressed = terminal.press("x")
        words.append(terminal.wait("1 switch down") - pressed)
        last.append(words[-1])
        while terminal.read(0.15):
            last[-1] = time.perf_counter() - pressed
        terminal.press("u")
        terminal.wait("all up")
        terminal.settle()
    return words, last


def explore(name: str, presses: int, seconds: float) -> None:
    """One session: paused, playing, failing, and what that takes of the machine."""
    with opened(name) as terminal:
        report_latency("key to repaint, paused, p95", latency(terminal, presses), 40)
        report_traffic("120x36", terminal, 25, seconds)
        terminal.press(" ")
        terminal.wait(PLAYING)
        report_latency("key to repaint, playing, p95", latency(terminal, presses), 80)
        terminal.press(" ")
        terminal.wait(paused)
        terminal.settle()
        words, last = failures(terminal, SPINE[name], FAILURES)
        line("fail a spine: key to updated panes", float(np.median(last)) * 1e3, "ms", 400,
             f"best {min(last) * 1e3:.0f}; words after {np.median(words) * 1e3:.0f}")  # fmt: skip
        line("resident memory at its peak", terminal.peak_mb, "MB", 700,
             f"now {terminal.memory_mb:.0f}")  # fmt: skip
    with opened(name, NARROW) as terminal:
        report_traffic("80x24", terminal, 15, seconds)
    with opened(name, rate=250e3) as terminal:
        terminal.press(" ")
        terminal.wait(PLAYING)
        spent = latency(terminal, presses)
        report_latency("key to repaint, playing, 250 kB/s, p95", spent, 100)


def sizes(name: str) -> None:
    """What is there at other sizes."""
    expected: tuple[tuple[tuple[int, int], tuple[str, ...]], ...] = (
        ((40, 10), ("too small",)),
        ((60, 20), ("utilization", "1topo", "step 0", name)),
        ((80, 24), ("utilization", "1topo", "step 0", name)),
        ((120, 36), ("1 topology", "6 hottest links", "4 jobs", "3 inspector", name)),
        ((300, 80), ("1 topology", "6 hottest links", "4 jobs", "3 inspector", name)),
    )
    for (columns, rows), words in expected:
        with Terminal((*CLUSTERSCOPE, name), columns, rows) as terminal:
            terminal.wait(words[0], 30)
            terminal.settle()
            lines = [text.rstrip() for text in terminal.screen.lines]
            missing = [word for word in words if word not in terminal.screen.text]
            filled = sum(len(text) > columns * 0.9 for text in lines) / rows
            terminal.press("q")
            code = terminal.exit_status()
        wrong = f"MISSING {missing}" if missing else f"EXIT {code}" if code else "as expected"
        print(f"  {columns}x{rows}: {wrong}, {filled:.0%} of the lines reach the right edge")


def main(arguments: list[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="*", default=[BIG, SMALL])
    parser.add_argument("--quick", action="store_true", help="fewer keys, less time")
    chosen = parser.parse_args(arguments)
    presses, seconds = (20, 4.0) if chosen.quick else (PRESSES, SECONDS)
    measures: tuple[Callable[[str], None], ...] = (
        lambda name: first_paint(name, 3 if chosen.quick else 5),
        lambda name: explore(name, presses, seconds),
        sizes,
    )
    for name in chosen.presets:
        print(f"the explorer on {name}, 256 colors")
        for measure in measures:
            measure(name)


if __name__ == "__main__":
    main()
