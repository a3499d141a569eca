"""Player: what is asked of the timeline, one thing at a time, and how fast time runs.

The screen asks, takes the next job when nothing runs, and runs it inline or in a thread; so the
timeline is never in two hands, and a key waits for no computation.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from clusterscope.engine.frame import Frame
from clusterscope.engine.timeline import Timeline

FPS = 4
INLINE_S = 0.010
_SLICE_S, _REST_S = 0.002, 0.0005
_SLOWEST, _FASTEST = 0.25, 1024.0

Request = Callable[[Timeline, int], int]  # changes the timeline; old step -> new step


@dataclass(frozen=True)
class Job:
    """One request, ready to run.

    Attributes:
        run: does it and gives the frame; may be called in a thread.
        steps: how many steps it computes; 0 when nobody can tell.
        quick: cheap enough for the event loop.
    """

    run: Callable[[], Frame]
    steps: int
    quick: bool


class Player:
    """Serializes requests to a timeline.

    Args:
        timeline: the one mutable object.
        step: where to begin.
    """

    def __init__(self, timeline: Timeline, step: int = 0) -> None:
        self.timeline = timeline
        self.step = self.last = step
        self.speed = 4.0
        self.playing = False
        self.busy = False
        self.late = False  # what runs takes longer than a person likes to wait
        self.reached = step  # how far what runs has come
        self.ended = False  # nobody waits for what runs any more
        self._due = 0.0
        self._step_s = float("inf")
        self._waiting: deque[tuple[Request, int]] = deque()

    def ask(self, request: Request, steps: int = 0) -> None:
        """Queue a request that computes about so many steps; 0 when nobody can tell."""
        self._waiting.append((request, steps))

    def go(self, steps: int) -> None:
        """Queue a move by some steps, not past the start."""
        self.ask(lambda _, step: max(0, step + steps), max(0, steps))

    def tick(self) -> None:
        """Ask for the steps that are due after one tick, unless earlier ones still run."""
        if not self.playing or self.busy or self._waiting:
            return
        self._due += self.speed / FPS
        steps, self._due = int(self._due), self._due % 1
        if steps:
            self.go(steps)

    def faster(self, factor: float) -> float:
        """Multiply the speed; gives the new one in steps a second."""
        self.speed = min(_FASTEST, max(_SLOWEST, self.speed * factor))
        return self.speed

    def take(self) -> Job | None:
        """The next job, now running; None when one runs already or none waits."""
        if self.busy or not self._waiting:
            return None
        request, steps = self._waiting.popleft()
        self.busy = True
        return Job(lambda: self._run(request), steps, 0 < steps * self._step_s < INLINE_S)

    def done(self, job: Job, seconds: float) -> None:
        """Say that a job has ended, and how long it took with all that shows it."""
        self.busy = self.late = False
        # Slow at once, quick only by degrees: one fast step says little about the next.
        self._step_s = max(seconds / max(1, job.steps), min(self._step_s, 1.0) * 0.7)

    def _run(self, request: Request) -> Frame:
        frame = self._reach(request(self.timeline, self.step))
        self.step, self.last = frame.step, max(self.last, frame.step)
        return frame

    def _reach(self, step: int) -> Frame:
        """The frame at a step, computed with rests: many small steps would starve the keys.

        numpy lets go of the interpreter's lock and takes it again so often that a thread which
        waits for it never sees it free; only one that sleeps hands it over.
        """
        known = self.timeline.nearest(step)
        self.reached, stride = known.step if known else 0, 1
        while self.reached < step and not self.ended:
            begin = time.perf_counter()
            self.reached = min(step, self.reached + stride)
            self.timeline.at(self.reached)
            spent = time.perf_counter() - begin
            stride = max(1, min(2 * stride, int(stride * _SLICE_S / max(spent, 1e-6))))
            if self.reached < step:
                time.sleep(_REST_S)
        return self.timeline.at(self.reached)
