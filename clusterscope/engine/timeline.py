"""The timeline: the one mutable object, and the one door by which events come in.

A frame is a fold of the log over the scenario, so seek, undo, redo and replay are all the same
thing: fold again. Frames are kept within a byte budget, later only every `_KEYFRAME`-th.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.step import start, step

_KEYFRAME = 32
_BUDGET_BYTES = 224 * 2**20
# Bytes a link that a frame takes once it has been looked at: load, utilization, and what metrics
# keep of it by cable.
_LINK_BYTES = 21


@dataclass(frozen=True)
class _Edit:
    """One change of the log, to be undone as one: a slice of it became another."""

    at: int
    old: tuple[Event, ...]
    new: tuple[Event, ...]

    @property
    def turned(self) -> _Edit:
        """The change that takes this one back."""
        return _Edit(self.at, self.new, self.old)


class Timeline:
    """Frames of a scenario under a log of events.

    Args:
        scenario: what is simulated.
        log: events to begin with, besides the scenario's own schedule; undo takes them one by one.
        budget_bytes: what kept frames may take together.
    """

    def __init__(
        self, scenario: Scenario, log: Iterable[Event] = (), *, budget_bytes: int | None = None
    ) -> None:
        self.scenario = scenario
        self._log: list[Event] = list(log)
        self._done = [_Edit(at, (), (event,)) for at, event in enumerate(self._log)]
        self._undone: list[_Edit] = []
        self._frames: dict[int, Frame] = {}
        self._budget_bytes = _BUDGET_BYTES if budget_bytes is None else budget_bytes

    @property
    def log(self) -> tuple[Event, ...]:
        """Injected events, in the order in which they were injected."""
        return tuple(self._log)

    @property
    def can_undo(self) -> bool:
        """True when there is a change of the log to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """True when an undone change can be put back."""
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
        frame = self.nearest(index)
        if frame is None:
            frame = self._keep(start(self.scenario, self.events_at(0)))
        while frame.step < index:
            frame = self._keep(step(self.scenario, frame, self.events_at(frame.step + 1)))
        return frame

    def nearest(self, index: int) -> Frame | None:
        """The last frame up to a step that is kept already."""
        known = max((k for k in self._frames if k <= index), default=None)
        return None if known is None else self._frames[known]

    def inject(self, event: Event) -> None:
        """Add an event to the log; frames from its step on are computed anew."""
        self.inject_all((event,))

    def inject_all(self, events: Iterable[Event]) -> None:
        """Add events to the log as one change: undo and redo take all of them together."""
        self._change(_Edit(len(self._log), (), tuple(events)))

    def remove(self, event: Event) -> bool:
        """Take an event out of the log, the last of equal ones; undo puts it back.

        False when it is not in the log: what the spec schedules stays.
        """
        places = [at for at, known in enumerate(self._log) if known == event]
        if places:
            self._change(_Edit(places[-1], (event,), ()))
        return bool(places)

    def follow(self, log: Sequence[Event]) -> None:
        """Take over another log as one change; frames that both logs share are kept."""
        old, new = self._log, tuple(log)
        at = next(
            (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
            min(len(old), len(new)),
        )
        self._change(_Edit(at, tuple(old[at:]), new[at:]))

    def undo(self) -> Event | None:
        """Take the last change back; gives the last event it touched, None without a change."""
        return self._turn(self._done, self._undone)

    def redo(self) -> Event | None:
        """Put the change undone last back; gives the last event it touched, None without one."""
        return self._turn(self._undone, self._done)

    def under(self, scenario: Scenario) -> Timeline:
        """The same history of changes over another scenario of the same fabric."""
        other = Timeline(scenario, self._log)
        other._done, other._undone = list(self._done), list(self._undone)
        return other

    def _change(self, edit: _Edit) -> None:
        """Do something new."""
        if edit.old != edit.new:
            self._apply(edit)
            self._done.append(edit)
            self._undone.clear()

    def _turn(self, source: list[_Edit], target: list[_Edit]) -> Event | None:
        """Move the last change from one stack to the other, turned around."""
        if not source:
            return None
        edit = source.pop()
        # A change is kept as it was done; only taking it back needs it turned.
        self._apply(edit.turned if source is self._done else edit)
        target.append(edit)
        return (*edit.old, *edit.new)[-1]

    def _apply(self, edit: _Edit) -> None:
        self._log[edit.at : edit.at + len(edit.old)] = edit.new
        self._forget(min(event.step for event in (*edit.old, *edit.new)))

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
        each = max(1, _LINK_BYTES * self.scenario.fabric.links)
        if len(self._frames) * each > self._budget_bytes:
            self._thin(self._budget_bytes // each)
        return frame

    def _thin(self, most: int) -> None:
        """Keep the latest frames, and of the others only every so many-th: fewer, the more."""
        last, every = max(self._frames), _KEYFRAME
        latest = {k for k in self._frames if k >= last - _KEYFRAME // 4}
        while every <= last and len(latest) + last // every > most:
            every *= 2
        self._frames = {
            k: frame for k, frame in self._frames.items() if k in latest or k % every == 0
        }

    def _forget(self, from_step: int) -> None:
        self._frames = {k: f for k, f in self._frames.items() if k < from_step}
