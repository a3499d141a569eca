"""A terminal of our own: the real program on a pty, its screen as text, and a clock on every byte.

Knows what Textual writes: moves, colors, whole lines. It answers the one question that Textual
asks (mode 2026, frames that begin and end), so that frames can be counted.
"""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Sequence

CLUSTERSCOPE = (sys.executable, "-m", "clusterscope")

_TOKEN = re.compile(
    r"\x1b\[([?>=<]?)([0-9;]*)([ $]?)([@-~])"  # CSI
    r"|\x1b[\]P_^X].*?(?:\x07|\x1b\\)"  # strings: titles, clipboard
    r"|\x1b[()][0-9A-Za-z]|\x1b[=>78cDEHM]|[\r\n\b\x07]|[^\x1b\r\n\b\x07]+",
    re.DOTALL,
)
_UNFINISHED = re.compile(r"\x1b(?:\[[?>=<]?[0-9;]*[ $]?|[\]P_^X][^\x07\x1b]*\x1b?|[()]?)?\Z")


class Screen:
    """What a terminal shows: characters, without their colors."""

    def __init__(self, columns: int, rows: int) -> None:
        self.frames = 0
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        """Start with an empty screen of another size."""
        self.columns, self.rows = columns, rows
        self._cells = [[" "] * columns for _ in range(rows)]
        self._x = self._y = 0

    @property
    def lines(self) -> list[str]:
        """The lines of the screen."""
        return ["".join(row) for row in self._cells]

    @property
    def text(self) -> str:
        """All of the screen."""
        return "\n".join(self.lines)

    def feed(self, data: bytes) -> None:
        """Take what the program has written."""
        text = self._rest + self._decode(data)
        cut = _UNFINISHED.search(text)
        self._rest = text[cut.start() :] if cut else ""
        for match in _TOKEN.finditer(text[: cut.start()] if cut else text):
            if match[4]:
                self._control(match[1], match[2], match[4])
            elif match[0] in "\r\n\b":
                self._x = {"\b": max(0, self._x - 1), "\r": 0, "\n": self._x}[match[0]]
                self._y += match[0] == "\n"
            elif match[0][0] not in "\x1b\x07":
                self._print(match[0])

    def _control(self, private: str, numbers: str, final: str) -> None:
        first, _, second = numbers.partition(";")
        if final == "H" and not private:
            self._y, self._x = int(first or 1) - 1, int(second or 1) - 1
        elif final == "J" and not private:
            self.resize(self.columns, self.rows)
        elif (private, numbers, final) == ("?", "2026", "l"):
            self.frames += 1

    def _print(self, text: str) -> None:
        if 0 <= self._y < self.rows:
            end = min(self.columns, self._x + len(text))
            self._cells[self._y][self._x : end] = text[: max(0, end - self._x)]
        self._x += len(text)


class Terminal:
    """A program on a pty.

    Args:
        command: the program and its arguments.
        columns: width.
        rows: height.
        rate: bytes a second that are read at most; None for no limit.
        environment: variables to set, or to take away with None.
    """

    def __init__(
        self,
        command: Sequence[str] = CLUSTERSCOPE,
        columns: int = 120,
        rows: int = 36,
        *,
        rate: float | None = None,
        **environment: str | None,
    ) -> None:
        self.screen = Screen(columns, rows)
        self.rate = rate
        self.bytes = 0
        self.seen = b""  # the last of what was written, for what is no part of the screen
        self._allowed, self._last = 0.0, time.perf_counter()
        self.status: int | None = None
        known = {
            "TERM": "xterm-256color",
            "COLORTERM": None,
            "NO_COLOR": None,
            "TEXTUAL_THEME": None,
            "COLUMNS": None,  # a line editor in the test process may have set them
            "LINES": None,
        }
        changes = {**known, **environment}
        set_ = {key: value for key, value in changes.items() if value is not None}
        env = {k: v for k, v in os.environ.items() if k not in changes} | set_
        self.began = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            self._size(0, columns, rows)
            os.execvpe(command[0], list(command), env)
        self._size(self.fd, columns, rows)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @staticmethod
    def _size(fd: int, columns: int, rows: int) -> None:
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size; the program is told."""
        self.screen.resize(columns, rows)
        self._size(self.fd, columns, rows)

    def press(self, keys: str) -> float:
        """Type; gives the time at which it was done."""
        os.write(self.fd, keys.encode())
        return time.perf_counter()

    def read(self, seconds: float) -> bool:
        """Take one piece of what the program writes, if it comes in time; else False."""
        size = self._size_allowed()
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, size)
        except OSError:  # the other end is closed
            data = b""
        if not data:
            self._reap()
            return False
        self.bytes += len(data)
        self._allowed -= len(data)
        self.seen = (self.seen + data)[-4096:]
        if b"\x1b[?2026$p" in data:
            os.write(self.fd, b"\x1b[?2026;2$y")
        self.screen.feed(data)
        return True

    def _size_allowed(self) -> int:
        """How much may be read now; waits while it is nothing."""
        if self.rate is None:
            return 65536
        while True:
            now = time.perf_counter()
            self._allowed = min(2048.0, self._allowed + (now - self._last) * self.rate)
            self._last = now
            if self._allowed >= 1024:
                return int(self._allowed)
            time.sleep((1024 - self._allowed) / self.rate)

    def wait(self, true: Callable[[str], bool] | str, seconds: float = 20.0) -> float:
        """Read until something is on the screen; gives the time at which it was.

        Raises:
            TimeoutError: it did not come; says what is on the screen instead.
        """
        wanted = (lambda text: true in text) if isinstance(true, str) else true
        end = time.perf_counter() + seconds
        while not wanted(self.screen.text):
            left = end - time.perf_counter()
            if left <= 0 or (not self.read(left) and self.status is not None):
                raise TimeoutError(f"{true!r} is not on the screen:\n{self.screen.text}")
        return time.perf_counter()

    def listen(self, seconds: float) -> int:
        """Read for a while; gives the number of bytes that came."""
        before, end = self.bytes, time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0 and self.status is None:
            self.read(left)
        return self.bytes - before

    def settle(self, quiet: float = 0.3, seconds: float = 20.0) -> None:
        """Read until nothing has come for a while."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end and self.read(quiet):
            pass

    @property
    def memory_mb(self) -> float:
        """Resident memory of the program now, MB."""
        return self._memory("VmRSS")

    @property
    def peak_mb(self) -> float:
        """The most that it has been."""
        return self._memory("VmHWM")

    def _memory(self, field: str) -> float:
        with open(f"/proc/{self.pid}/status", encoding="ascii") as lines:  # noqa: PTH123
            return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))

    @property
    def alive(self) -> bool:
        """Whether the program still runs."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is None

    def exit_status(self, seconds: float = 10.0) -> int:
        """Read until the program has ended; gives its exit code, or minus the signal.

        Raises:
            TimeoutError: it goes on.
        """
        end = time.perf_counter() + seconds
        while self.alive and time.perf_counter() < end:
            self.read(0.02)
        if self.status is None:
            raise TimeoutError(f"still there:\n{self.screen.text}")
        return self.status

    def hang_up(self) -> None:
        """Close the terminal, as a dropped connection does."""
        os.close(self.fd)
        self.fd = -1

    def end(self) -> None:
        """End the program, by force if need be."""
        if self.alive:
            os.kill(self.pid, signal.SIGKILL)
            self._reap()
        if self.fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self.fd)
            self.fd = -1

    def _reap(self) -> None:
        if self.status is None:
            with contextlib.suppress(ChildProcessError):
                self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
