"""The timeline: the one mutable object, and the one door by which events come in.

A frame is a fold of the log over the scenario, so seek, undo, redo and replay are all the same
thing: fold again. Frames are kept within a byte budget, later only every `_KEYFRAME`-th.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.step import start, step

_KEYFRAME = 32
_BUDGET_BYTES = 192 * 2**20


class Timeline:
    """Frames of a scenario under a log of events.

    Args:
        scenario: what is simulated.
        log: events to begin with, besides the scenario's own schedule.
    """

    def __init__(self, scenario: Scenario, log: Iterable[Event] = ()) -> None:
        self.scenario = scenario
        self._log: list[Event] = list(log)
        self._undone: list[Event] = []
        self._frames: dict[int, Frame] = {}

    @property
    def log(self) -> tuple[Event, ...]:
        """Injected events, in the order in which they were injected."""
        return tuple(self._log)

    @property
    def can_undo(self) -> bool:
        """True when there is an injected event to take back."""
        return bool(self._log)

    @property
    def can_redo(self) -> bool:
        """True when an undone event can be put back."""
        return bool(self._undone)

    def events_at(self, index: int) -> tuple[Event, ...]:
        """Scheduled, then injected events of a step."""
        return self.scenario.scheduled(index) + tuple(e for e in self._log if e.step == index)

    def at(self, index: int) -> Frame:
        """Frame at a step; computed from the nearest earlier frame that is kept.

        Raises:
            ValueError: a step before 0.
        """
        if index < 0:
            msg = f"step {index} is before the start"
            raise ValueError(msg)
        known = max((k for k in self._frames if k <= index), default=None)
        if known is None:
            frame = self._keep(start(self.scenario, self.events_at(0)))
        else:
            frame = self._frames[known]
        while frame.step < index:
            frame = self._keep(step(self.scenario, frame, self.events_at(frame.step + 1)))
        return frame

    def inject(self, event: Event) -> None:
        """Add an event to the log; frames from its step on are computed anew."""
        self._log.append(event)
        self._undone.clear()
        self._forget(event.step)

    def undo(self) -> Event | None:
        """Take back the event injected last; None when there is none."""
        if not self._log:
            return None
        event = self._log.pop()
        self._undone.append(event)
        self._forget(event.step)
        return event

    def redo(self) -> Event | None:
        """Put back the event undone last; None when there is none."""
        if not self._undone:
            return None
        event = self._undone.pop()
        self._log.append(event)
        self._forget(event.step)
        return event

    def what_if(self, event: Event) -> Frame:
        """Frame at the event's step if it happened; the log stays as it is."""
        before = [e for e in self._log if e.step <= event.step]
        events = (*self.events_at(event.step), dataclasses.replace(event))
        if event.step == 0:
            return start(self.scenario, events)
        other = Timeline(self.scenario, before)
        other._frames = {k: f for k, f in self._frames.items() if k < event.step}
        return step(self.scenario, other.at(event.step - 1), events)

    def _keep(self, frame: Frame) -> Frame:
        self._frames[frame.step] = frame
        each = max(1, 8 * self.scenario.fabric.links)
        if len(self._frames) * each > _BUDGET_BYTES:
            last = max(self._frames)
            old = [k for k in self._frames if k % _KEYFRAME and k < last - _KEYFRAME // 4]
            for k in old:
                del self._frames[k]
        return frame

    def _forget(self, from_step: int) -> None:
        self._frames = {k: f for k, f in self._frames.items() if k < from_step}
