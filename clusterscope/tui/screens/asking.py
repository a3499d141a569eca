"""What a rule would do, computed in stages by a thread that can be told to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from textual.worker import Worker

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.network import Network
from clusterscope.errors import ClusterscopeError
from clusterscope.metrics.faults import BlastRadius, Next, blast, settled, worst_next
from clusterscope.metrics.rules import events_of, health_at, read

_EACH = 2  # switches of each tier that are tried as the next failure


@dataclass(frozen=True, eq=False)
class Question:
    """What would a line do?

    Attributes:
        line: the rule.
        frame: what is shown when it is asked.
        log: injected events of then.
    """

    line: str
    frame: Frame
    log: tuple[Event, ...]


@dataclass(frozen=True, eq=False)
class Stage:
    """How far a question has been answered.

    Attributes:
        question: the question.
        events: what the line does, empty until it has been read.
        blast: what they do; None until it is computed.
        following: what may follow; None until it is computed.
        doing: what is being computed, in words.
        mistake: why there is no answer, a sentence; "" when there is one.
    """

    question: Question
    events: tuple[Event, ...] = ()
    blast: BlastRadius | None = None
    following: tuple[Next, ...] | None = None
    doing: str = field(default="")
    mistake: str = ""


class _EndedError(Exception):
    """Nobody wants the answer any more."""


def understand(question: Question) -> tuple[Event, ...]:
    """Events of a line.

    Raises:
        ClusterscopeError: it cannot be read, or names nothing.
    """
    return _read(question)[0]


def _read(question: Question) -> tuple[tuple[Event, ...], Network]:
    """Events of a line, and the settled network that they meet."""
    deed, frame = read(question.line), question.frame
    scenario = frame.network.scenario
    if deed.step in (None, frame.step):
        before = settled(frame.network)
        return events_of(deed, scenario, before.actual, frame.step), before
    assert deed.step is not None
    health = health_at(scenario, question.log, deed.step)
    events = events_of(deed, scenario, health, deed.step)
    return events, Network(scenario, health, health)


def ask(question: Question, tell: Callable[[Stage], object], worker: Worker[None]) -> None:
    """Answer a question, stage by stage; stops soon after its worker has been cancelled."""

    def say(stage: Stage) -> Stage:
        if worker.is_cancelled:
            raise _EndedError
        tell(stage)
        return stage

    try:
        _answer(question, say)
    except ClusterscopeError as error:
        if not worker.is_cancelled:
            tell(Stage(question, mistake=str(error)))
    except _EndedError:
        return


def _answer(question: Question, say: Callable[[Stage], Stage]) -> None:
    events, before = _read(question)
    stage = say(Stage(question, events, doing="computing …"))
    stage = replace(stage, blast=blast(before, events), doing="computing …")
    say(stage)
    stalled = stage.blast is not None and stage.blast.all_stalled
    following: tuple[Next, ...] = ()
    if not stalled:
        following = worst_next(
            before,
            events,
            _EACH,
            lambda done, of: say(replace(stage, doing=f"computing {done + 1} of {of} …")),
        )
    say(replace(stage, following=following, doing=""))
