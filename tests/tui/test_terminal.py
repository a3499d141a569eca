"""What is asked of the terminal, and the private parts of Textual that it rests on."""

from __future__ import annotations

import io
import sys
import time

import pytest
from textual.constants import ESCAPE_DELAY
from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread

from clusterscope.errors import SpecError
from clusterscope.tui import terminal
from clusterscope.tui.run import run


class Driver:
    def __init__(self, writer: WriterThread | None) -> None:
        self._writer_thread = writer


class App:
    def __init__(self, driver: object) -> None:
        self._driver = driver


def test_the_backlog_is_what_the_writer_has_not_written():
    writer = WriterThread(io.StringIO())  # never started: nothing is taken from its queue
    app = App(Driver(writer))
    assert terminal.backlog(app) == 0
    writer.write("a")
    writer.write("b")
    assert terminal.backlog(app) == 2


@pytest.mark.parametrize("driver", [None, object(), Driver(None)])
def test_without_a_writer_there_is_no_backlog(driver):
    assert terminal.backlog(App(driver)) == 0


class Tty(io.StringIO):
    def __init__(self, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


@pytest.mark.parametrize(
    ("stdin", "stderr", "term", "words"),
    [
        (False, True, "xterm", "not a terminal"),
        (True, False, "xterm", "not a terminal"),
        (True, True, "dumb", "TERM=dumb"),
        (True, True, "", "TERM=dumb"),
    ],
)
def test_where_nobody_can_see_it_nothing_is_drawn(monkeypatch, stdin, stderr, term, words):
    monkeypatch.delenv("TEXTUAL_DRIVER", raising=False)
    monkeypatch.setattr(sys, "stdin", Tty(stdin))
    monkeypatch.setattr(sys, "stderr", Tty(stderr))
    monkeypatch.setenv("TERM", term)
    with pytest.raises(SpecError, match=words) as caught:
        run("anything")
    assert "--export" in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_web_driver_needs_no_terminal(monkeypatch):
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    monkeypatch.setattr(sys, "stdin", Tty(tty=False))
    terminal.require_terminal()


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("\x1b", ["escape"]),
        ("\x1bt", ["escape", "t"]),
        ("\x1b:", ["escape", "colon"]),
        ("\x1bt\x1b", ["escape", "t", "escape"]),
        ("\x1b\x1b[A", ["escape", "up"]),
        ("\x1bx\x1b[A", ["escape", "x", "up"]),
        ("\x1b[A\x1bOP", ["up", "f1"]),
        ("a^", ["a", "circumflex_accent"]),
    ],
)
def test_escape_and_a_quick_key_are_two_keys(monkeypatch, typed, keys):
    monkeypatch.setattr(linux_driver, "XTermParser", linux_driver.XTermParser)
    terminal.tell_escapes_apart()
    parser = linux_driver.XTermParser()
    found = list(parser.feed(typed))
    time.sleep(ESCAPE_DELAY)
    found += parser.tick()
    assert [key.key for key in found] == keys
    assert all(key.character != "^" for key in found if key.key == "escape")
