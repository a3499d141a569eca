"""Failures: choose what fails, read what it would do, then do it, now or at a step.

A rule is looked at in a thread of its own, on the frame that is shown and on networks that nobody
else has; a new rule ends the one before. Only what is confirmed travels to the explorer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import ClusterscopeError
from clusterscope.metrics.rules import read
from clusterscope.tui import edits
from clusterscope.tui.keys import FAILURES, SIDE, Action, bindings
from clusterscope.tui.messages import Entered, Pointed
from clusterscope.tui.panes.log import entries, table
from clusterscope.tui.screens.asking import Question, Stage, ask, understand
from clusterscope.tui.screens.side import Side
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.blast import blast_note, meant, quick_choices
from clusterscope.views.shapes import Note, Table
from clusterscope.views.text import sanitize

_PAUSE_S = 0.15  # after the last key, before a line that is being typed is read
_HINT = "all spines · 3 random leaf-spine cables · 1% of optics · 2 random nodes seed 5 @7"
_WHICH_STEP = "at which step? type its number"
_EMPTY = Note("blast radius", (), ("Choose what fails, or type it after /: nothing happens yet.",))


def titled(widget: Widget, title: str, name: str, hint: str = "") -> Container:
    """A widget in a frame with a title, and below it what keys do there."""
    frame = Container(widget, id=name, classes="pane")
    frame.border_title = Content(title)
    frame.border_subtitle = Content(hint)
    return frame


class Failures(Side):
    """The rule, quick choices, the schedule, and the blast radius of what is looked at."""

    ACTIONS: ClassVar[Sequence[Action]] = (*FAILURES, *SIDE)
    BINDINGS = bindings(FAILURES)
    FOOTER = ("confirm", "rule", "at_step", "remove", "close", "help", "explorer('undo')")

    class _Meant(Message):
        """What a line that is being typed would be, in words."""

        def __init__(self, words: str, *, wrong: bool) -> None:
            self.words, self.wrong = words, wrong
            super().__init__()

    class _Chosen(Message):
        """Quick choices of a frame."""

        def __init__(self, choices: Table) -> None:
            self.choices = choices
            super().__init__()

    class _Said(Message):
        """A question has come to a stage."""

        def __init__(self, stage: Stage) -> None:
            self.stage = stage
            super().__init__()

    def body(self) -> Sequence[Widget]:
        """Rule on top, choices and schedule at the left, blast radius at the right."""
        self._input = Input(compact=True, placeholder=_HINT, select_on_focus=False, id="rule")
        self._input.cursor_blink = False
        self._meaning = Static("", id="meant", markup=False)
        self._choices = TableView(id="choices")
        self._schedule = TableView(id="schedule")
        self._note = NoteView(id="blast")
        self._asked: Question | None = None
        self._stage: Stage | None = None
        self._by_hand = False  # what is looked at was typed, not chosen
        self._chosen_for: Frame | None = None
        rule = titled(Container(self._input, self._meaning), "/ what fails", "ruling")
        rest = Container(
            titled(self._choices, "quick choices", "choosing", "enter looks at it"),
            titled(self._note, "blast radius", "blasting"),
            titled(self._schedule, "schedule", "scheduling", "d deletes · enter seeks"),
            id="failing",
        )
        return rule, rest

    def on_mount(self) -> None:
        """Begin at the choices, where every key works."""
        self._note.draw(_EMPTY)
        self._choices.focus()

    # What is shown

    def redraw(self, frame: Frame) -> None:
        """Draw the schedule as seen from a frame, and choices that fit it."""
        self._draw_schedule(frame)
        health = None if self._chosen_for is None else self._chosen_for.health
        if frame.health is not health:
            self._chosen_for = frame

            def work() -> None:
                self.post_message(self._Chosen(quick_choices(self.scenario, frame)))

            self.in_thread(work, "choices", exclusive=True)

    def watch_events(self) -> None:
        """Draw a changed log; what is looked at may do something else now."""
        if self.frame is not None and self.is_mounted:
            self._draw_schedule(self.frame)
            if self._asked is not None:
                self._look(self._asked.line)

    def _draw_schedule(self, frame: Frame) -> None:
        self._schedule.draw(schedule(self.scenario, self.events, frame.step))

    @on(_Chosen)
    def _show_choices(self, message: _Chosen) -> None:
        self._choices.draw(message.choices)

    def on_pointed(self, message: Pointed) -> None:
        """A cursor moved: nothing follows it here."""
        message.stop()

    # Typing

    def action_rule(self) -> None:
        """Type a rule in place of the one that is there."""
        self.set_focus(self._input)
        self._input.action_select_all()

    def action_at_step(self) -> None:
        """Have the rule say at which step."""
        line = self._asked.line if self._asked is not None else self._input.value
        if not line.strip():
            self.say("choose what fails first")
            return
        self._input.value = f"{line.rpartition('@')[0] or line}".rstrip() + " @"
        self._input.cursor_position = len(self._input.value)
        self.set_focus(self._input)

    @on(Input.Changed, "#rule")
    def _typing(self, message: Input.Changed) -> None:
        message.stop()
        self.set_timer(_PAUSE_S, lambda: self._understand(message.value))

    def _understand(self, line: str) -> None:
        """Say what a line would be, unless it has been typed on since."""
        frame = self.frame
        if frame is None or line != self._input.value:
            return
        if not line.strip() or line.rstrip().endswith("@"):
            self._show_meaning(self._Meant(_WHICH_STEP if line.strip() else "", wrong=False))
            return
        question = Question(line, frame, self.events)

        def work() -> None:
            try:
                words, wrong = meant(self.scenario, understand(question)), False
            except ClusterscopeError as error:
                words, wrong = str(error), True
            if not get_current_worker().is_cancelled:
                self.post_message(self._Meant(words, wrong=wrong))

        self.in_thread(work, "meaning", exclusive=True)

    @on(_Meant)
    def _show_meaning(self, message: _Meant) -> None:
        self._meaning.set_class(message.wrong, "wrong")
        self._meaning.update(Content(sanitize(message.words)))

    @on(Input.Submitted, "#rule")
    def _typed(self, message: Input.Submitted) -> None:
        message.stop()
        self._by_hand = True
        self._look(message.value)
        self._note.focus()

    def on_entered(self, message: Entered) -> None:
        """Look at a choice; go to the step of an event."""
        message.stop()
        if self.focused is self._choices:
            with self.prevent(Input.Changed):
                self._input.value = message.key
            self._meaning.update("")
            self._by_hand = False
            self._look(message.key)
            self._note.focus()
        elif self.focused is self._schedule:
            self._seek()

    def _seek(self) -> None:
        event = self._under_cursor()
        if event is not None:
            self.explorer.go_to(event[0].step)

    # Looking

    def _look(self, line: str) -> None:
        """Compute what a line would do, in a thread; ends what was looked at before."""
        if self.frame is None or not line.strip():
            return
        question = self._asked = Question(line, self.frame, self.events)
        self._stage = None
        self._note.draw(Note("blast radius", (), ("reading the rule …",)))

        def work() -> None:
            worker = get_current_worker()
            ask(question, lambda stage: self.post_message(self._Said(stage)), worker)

        self.in_thread(work, "blast", exclusive=True)

    @on(_Said)
    def _show_stage(self, message: _Said) -> None:
        stage = message.stage
        if stage.question is not self._asked:
            return
        self._stage = stage
        if stage.mistake:
            self._note.draw(Note("blast radius", (), (stage.mistake,)))
            self._asked = None
            return
        note = blast_note(self.scenario, stage.events, stage.blast, stage.following, stage.doing)
        ready = stage.following is not None
        line = "enter does it · @ at a step · esc back" if ready or stage.blast else ""
        self._note.draw(Note(note.title, note.facts, (line,) if line else ()))

    def action_confirm(self) -> None:
        """Do what is looked at."""
        stage = self._stage
        if self._asked is None or stage is None or not stage.events or stage.blast is None:
            self.say("nothing is looked at yet: choose, or type a rule after /")
            return
        deed = read(self._asked.line)
        if deed.step is None:
            self.explorer.ask(edits.injecting_now(stage.events))
        else:
            self.explorer.ask(edits.injecting_all(stage.events))
        words = meant(self.scenario, stage.events)
        self._end()
        self._note.draw(Note("done", (), (f"{words}.", "u takes it back, all of it together.")))
        self._forget_line()

    def _forget_line(self) -> None:
        """Back to the choices, with nothing typed."""
        with self.prevent(Input.Changed):
            self._input.value = ""
        self._meaning.update("")
        self._choices.focus()

    def broke(self, sentence: str) -> None:
        """Say what went wrong, also where an answer was waited for."""
        if self._asked is not None:
            self._end()
            self._note.draw(Note("blast radius", (), (sentence,)))
        super().broke(sentence)

    def _end(self) -> None:
        """End what is being computed."""
        self._asked = self._stage = None
        self.workers.cancel_group(self, "blast")

    def action_close(self) -> None:
        """Out of the line or of what is looked at, then back to the explorer."""
        if self._asked is not None:
            self._end()
            self._note.draw(_EMPTY)
            if self._by_hand:
                self._input.focus()
            else:
                self._forget_line()
        elif self.focused is self._input:
            self._choices.focus()
        else:
            self.workers.cancel_node(self)
            super().action_close()

    # The schedule

    def _under_cursor(self) -> tuple[Event, int | None] | None:
        rows = entries(self.scenario.schedule, self.events)
        place = self._schedule.key_of(self._schedule.cursor)
        return rows[int(place)] if place else None

    def action_remove(self) -> None:
        """Take the event under the cursor of the schedule out of the log."""
        row = self._under_cursor()
        if self.focused is not self._schedule or row is None:
            self.say("tab to the schedule to delete one of its events")
        elif row[1] is None:
            self.say(f"the spec itself schedules {row[0].text()}: take it out of there", wrong=True)
        else:
            self.explorer.ask(edits.removing(row[0]))


def schedule(scenario: Scenario, injected: tuple[Event, ...], step: int) -> Table:
    """Events of spec and log, by step; a row's key is its place."""
    rows = table(scenario.schedule, injected, step)
    return Table(rows.title, rows.columns, rows.rows, str)
