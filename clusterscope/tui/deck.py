"""Deck: plays a timeline. A widget nobody sees, that owns the clock and the engine's thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from textual import on
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from clusterscope.engine.frame import Frame
from clusterscope.tui.mishaps import sentence
from clusterscope.tui.player import FPS, Job, Player, Request
from clusterscope.tui.terminal import backlog

Prepare = Callable[[Frame], None]
PATIENCE_S = 0.3  # a key that takes longer to answer says so


@dataclass(frozen=True)
class Mistake:
    """Why there is no frame, in a sentence."""

    sentence: str


Answer = Frame | Mistake


class Deck(Widget):
    """Runs requests, inline or in a thread, and reports frames.

    Args:
        player: what is asked and how fast.
        preparing: called before each threaded job; gives what to compute of its frame in there.
    """

    class Shown(Message):
        """A frame to be shown."""

        def __init__(self, frame: Frame) -> None:
            self.frame = frame
            super().__init__()

    class Refused(Message):
        """A request that could not be done, in a sentence; time has stopped."""

        def __init__(self, sentence: str) -> None:
            self.sentence = sentence
            super().__init__()

    class _Answered(Message):
        """The thread has finished."""

        def __init__(self, job: Job, answer: Answer, seconds: float) -> None:
            self.job, self.answer, self.seconds = job, answer, seconds
            super().__init__()

    class Working(Message):
        """An answer is taking its time."""

    def __init__(self, player: Player, preparing: Callable[[], Prepare]) -> None:
        super().__init__()
        self.display = False
        self.player = player
        self.skipped = 0
        self._preparing = preparing
        self._clock: Timer | None = None
        self._job: Job | None = None

    def on_mount(self) -> None:
        """Set up the clock, stopped."""
        self._clock = self.set_interval(1 / FPS, self._tick, pause=True)
        # Painting while another program has the terminal would block the writer for good.
        self.app.app_suspend_signal.subscribe(self, lambda _: self._wind(running=False))
        self.app.app_resume_signal.subscribe(self, lambda _: self._wind(self.player.playing))

    def on_unmount(self) -> None:
        """Stop what runs: nobody will see it."""
        self.player.ended = True

    def play(self, playing: bool) -> None:
        """Let time run, or stop it."""
        self.player.playing = playing
        self._wind(playing)

    def ask(self, request: Request) -> None:
        """Have something done to the timeline, after what waits already."""
        self.player.ask(request)
        self._pump()

    def prepare(self) -> None:
        """Have a thread compute what panes want of the frame that is shown."""
        self.ask(lambda _, step: step)

    def go(self, steps: int) -> None:
        """Move by some steps."""
        self.player.go(steps)
        self._pump()

    def _wind(self, running: bool) -> None:
        if self._clock is not None:
            (self._clock.resume if running else self._clock.pause)()

    def _tick(self) -> None:
        self.player.tick()
        self._pump()

    def _pump(self) -> None:
        """Run what waits: here when it is quick, else in a thread that reports back."""
        job = self.player.take()
        if job is None:
            return
        prepare = self._preparing()

        def work() -> Deck._Answered:
            begin = time.perf_counter()
            answer = _answer(job, prepare)
            return self._Answered(job, answer, time.perf_counter() - begin)

        if job.quick:
            self._answered(work())
        else:
            self._job = job
            self.run_worker(lambda: self.post_message(work()), thread=True, group="engine")
            self.set_timer(PATIENCE_S, partial(self._still_working, job))

    def _still_working(self, job: Job) -> None:
        if self.player.busy and self._job is job and not self.player.playing:
            self.player.late = True
            self.post_message(self.Working())
            self.set_timer(1.0, partial(self._still_working, job))

    @on(_Answered)
    def _answered(self, message: _Answered) -> None:
        message.stop()
        answer = message.answer
        self.player.done(message.job, message.seconds)
        if not isinstance(answer, Frame):
            self.play(playing=False)
            self.post_message(self.Refused(answer.sentence))
        elif self.player.playing and backlog(self.app) > 1:
            self.skipped += 1
        else:
            self.post_message(self.Shown(answer))
        self._pump()


def _answer(job: Job, prepare: Prepare) -> Answer:
    """The job's frame, with what shows it computed, or why there is none."""
    try:
        frame = job.run()
        prepare(frame)
    except AssertionError:
        raise  # an invariant of ours: nothing that follows could be trusted
    except Exception as error:  # or time would stand still, and nobody know why
        return Mistake(sentence(error))
    return frame
