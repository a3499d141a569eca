"""The real program on a pty: what it writes, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.terminal import CLUSTERSCOPE, Screen, Terminal

pytestmark = pytest.mark.xdist_group("pty")  # one at a time: they look at the clock

SMALL = "gb200-nvl72"
ROOT = Path(__file__).resolve().parents[2]
DRAWN = re.compile(r" \d+/\d+ +▸")


def drawn(text: str) -> bool:
    return DRAWN.search(text) is not None


@contextmanager
def explorer(*arguments: str, columns: int = 120, rows: int = 36, **more: object):
    command = (*CLUSTERSCOPE, *(arguments or (SMALL,)))
    with Terminal(command, columns, rows, PYTHONPATH=str(ROOT), **more) as terminal:
        terminal.wait(drawn, 60)
        terminal.settle()
        yield terminal


def test_a_screen_holds_what_is_written_to_it():
    screen = Screen(10, 3)
    screen.feed(b"\x1b[2;3Hab\x1b[38;5;1mc\x1b")
    screen.feed("[1;1H▸é\x1b[?2026l".encode()[:8])
    screen.feed("[1;1H▸é\x1b[?2026l".encode()[8:])
    assert screen.lines == ["▸é        ", "  abc     ", "          "]
    assert screen.frames == 1


def test_nothing_is_written_while_nothing_happens():
    with explorer() as terminal:
        assert terminal.listen(1.0) == 0
        terminal.press("j")
        terminal.settle()
        assert terminal.listen(0.5) == 0


def test_a_frame_while_time_runs_is_small():
    with explorer(columns=80, rows=24) as terminal:
        terminal.press(" ")
        terminal.wait("▶")
        frames = terminal.screen.frames
        written = terminal.listen(2.0)
        assert terminal.screen.frames > frames
        assert written / (terminal.screen.frames - frames) < 15_000
        terminal.press(" ")
        terminal.settle()
        assert terminal.listen(0.5) == 0


def test_the_screen_is_painted_once_at_the_start():
    with explorer() as terminal:
        assert terminal.bytes < 60_000


def test_keys_that_are_typed_faster_than_the_prompt_opens_are_not_lost():
    with explorer() as terminal:
        terminal.press(":seek 7\r")
        terminal.wait("step 7")


def test_a_slow_terminal_sees_fewer_frames_and_still_answers():
    with explorer(rate=20_000) as terminal:
        terminal.press(" ++++++")
        terminal.listen(4.0)
        pressed = terminal.press("?")
        assert terminal.wait("esc back") - pressed < 5.0


def test_q_gives_the_terminal_back():
    with explorer() as terminal:
        terminal.press("q")
        assert terminal.exit_status() == 0
        assert b"\x1b[?1049l" in terminal.seen
        assert b"\x1b[?25h" in terminal.seen


def test_quitting_does_not_wait_for_a_long_step():
    with explorer() as terminal:
        terminal.press(":step 900000\r")
        terminal.wait("working …")
        began = terminal.press("q")
        assert terminal.exit_status() == 0
        assert time.perf_counter() - began < 3.0


def test_a_terminal_that_is_closed_ends_the_program():
    with explorer() as terminal:
        terminal.hang_up()
        assert ended(terminal) != 0


@pytest.mark.parametrize("playing", [False, True])
def test_a_terminal_that_is_closed_ends_a_program_that_ignores_it(playing):
    """As under nohup: the signal does not come, but nothing can be read any more."""
    shell = f"trap '' HUP; exec {' '.join(CLUSTERSCOPE)} {SMALL}"
    with Terminal(("sh", "-c", shell), PYTHONPATH=str(ROOT)) as terminal:
        terminal.wait(drawn, 60)
        if playing:
            terminal.press(" ")
            terminal.wait("▶")
        terminal.hang_up()
        ended(terminal)


def ended(terminal: Terminal, seconds: float = 10.0) -> int:
    end = time.monotonic() + seconds
    while terminal.alive:
        assert time.monotonic() < end, "still there"
        time.sleep(0.02)
    assert terminal.status is not None
    return terminal.status


def test_a_signal_to_end_gives_the_terminal_back():
    with explorer() as terminal:
        os.kill(terminal.pid, signal.SIGTERM)
        assert terminal.exit_status() == 130
        assert b"\x1b[?1049l" in terminal.seen


def test_ctrl_c_says_how_to_leave():
    with explorer() as terminal:
        terminal.press("\x03")
        terminal.wait("to quit the app")


def test_sizes_may_change_as_fast_as_they_like():
    with explorer() as terminal:
        terminal.press(" ")
        for number in range(40):
            terminal.resize(40 + number * 3 % 90, 10 + number * 7 % 40)
            terminal.listen(0.01)
        terminal.resize(120, 36)
        terminal.press(" ")
        terminal.wait(lambda text: "6 hottest links" in text and "paused" in text)
        assert terminal.alive


def test_ctrl_z_and_fg_come_back():
    with Terminal(("bash", "--norc", "--noprofile", "-i"), PYTHONPATH=str(ROOT), PS1="$ ") as shell:
        shell.wait("$ ")
        shell.press(f"{' '.join(CLUSTERSCOPE)} {SMALL}\r")
        shell.wait(drawn, 60)
        shell.press(" ")
        shell.wait("▶")
        shell.press("\x1a")
        shell.wait("Stopped", 10)
        shell.listen(0.5)
        shell.screen.resize(120, 36)
        shell.press("fg\r")
        shell.wait("▶", 10)
        shell.press(" ")
        shell.wait("paused")
        shell.press("q")
        shell.listen(0.5)
        shell.press("echo back to $((40 + 2))\r")
        shell.wait("back to 42", 10)
