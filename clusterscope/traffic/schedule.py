"""Pipeline schedules: which stage works on which microbatch when, and how long stages idle.

With p stages, m microbatches and v chunks a stage, forward and backward of one microbatch through
one stage taking f and b seconds, an iteration takes m (f + b) and a bubble of

    1f1b          (p-1)     (f + b)        Narayanan et al. 2019
    interleaved   (p-1) / v (f + b)        Narayanan et al. SC21, section 2.2.2
    zero-bubble   (p-1)     (f + b - 2 w)  Qi et al. 2023, ZB-H1; w of b is the weights' gradient

Interleaved, m is a multiple of p. With less than p microbatches, zero-bubble has too little
of the weights' gradients to fill its idle time with: the last backward comes up all stages, and the
first stage does its own gradient after that, so that (p-1) (f + b) - (p-2+m) w is left.

The closed forms leave out the time of sends; `slots` plays 1f1b and interleaved slot by slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from clusterscope.columns import F64, I32, Arrays, Bool, Col
from clusterscope.spec.training import Schedule


@dataclass(frozen=True, eq=False, kw_only=True)
class Slots(Arrays):
    """What every stage does when, by stage and then by time."""

    stage: Annotated[I32, Col("N", "1", "pipeline stage, ascending")]
    microbatch: Annotated[I32, Col("N", "1", "microbatch")]
    chunk: Annotated[I32, Col("N", "1", "chunk of layers of the stage")]
    backward: Annotated[Bool, Col("N", "1", "backward, not forward")]
    begin_s: Annotated[F64, Col("N", "s", "when the slot begins")]
    end_s: Annotated[F64, Col("N", "s", "when it ends")]


class _Work(NamedTuple):
    """One slot of a stage: a chunk of a microbatch, forward or backward."""

    backward: bool
    chunk: int
    microbatch: int


def bubble_ratio(
    stages: int,
    microbatches: int,
    chunks: int = 1,
    schedule: Schedule = "1f1b",
    backward_over_forward: float = 2.0,
) -> float:
    """Time that a stage idles over the time that it works.

    >>> bubble_ratio(8, 64)
    0.109375
    """
    idle = (stages - 1) / (chunks * microbatches)
    if schedule != "zero-bubble":
        return idle
    forward, backward = 1.0, backward_over_forward
    # Half of an ordinary backward is the weights' gradient; it fills what would be bubble.
    weights = min(1.0, backward / 2)
    filled = min(2 * (stages - 1), stages - 2 + microbatches) if stages > 1 else 0
    left = (stages - 1) * (forward + backward) - filled * weights
    return max(0.0, left) / (microbatches * (forward + backward))


def bubble_of_step(bubble: float) -> float:
    """Share of the whole iteration that is bubble.

    >>> round(bubble_of_step(7 / 64), 6)
    0.098592
    """
    return bubble / (1 + bubble)


def slots(
    stages: int, microbatches: int, chunks: int, forward_s: float, backward_s: float
) -> Slots:
    """Play 1f1b (one chunk) or interleaved 1f1b slot by slot; sends take no time.

    Args:
        stages: pipeline stages p.
        microbatches: microbatches m; a multiple of p when interleaved.
        chunks: chunks of layers that a stage holds.
        forward_s: forward of one microbatch through a whole stage.
        backward_s: backward of it.

    Raises:
        ValueError: interleaved, and m is no multiple of p.
    """
    if chunks > 1 and microbatches % stages:
        raise ValueError(f"{microbatches} microbatches are no multiple of {stages} stages")
    length = {False: forward_s / chunks, True: backward_s / chunks}
    orders = [_order(stage, stages, microbatches, chunks) for stage in range(stages)]
    done: dict[tuple[int, _Work], float] = {}
    clock, place = [0.0] * stages, [0] * stages
    rows: list[list[tuple[_Work, float]]] = [[] for _ in range(stages)]
    waiting = set(range(stages))
    while waiting:
        for stage in sorted(waiting):
            for work in orders[stage][place[stage] :]:
                before = _before(stage, work, stages, chunks)
                if before is not None and before not in done:
                    break
                begin = max(clock[stage], done[before] if before else 0.0)
                clock[stage] = done[stage, work] = begin + length[work.backward]
                rows[stage].append((work, begin))
                place[stage] += 1
            if place[stage] == len(orders[stage]):
                waiting.discard(stage)
    return _slots(rows, length)


def _order(stage: int, stages: int, microbatches: int, chunks: int) -> list[_Work]:
    """What a stage works on, in Megatron's order: warm up, one forward one backward, cool down."""
    total = microbatches * chunks
    ahead = stages - stage - 1
    warm = ahead if chunks == 1 else 2 * ahead + (chunks - 1) * stages
    warm = min(total, warm)
    forward = [_nth(k, False, stages, chunks) for k in range(total)]
    backward = [_nth(k, True, stages, chunks) for k in range(total)]
    steady = [w for pair in zip(forward[warm:], backward, strict=False) for w in pair]
    return forward[:warm] + steady + backward[total - warm :]


def _nth(k: int, backward: bool, stages: int, chunks: int) -> _Work:
    """The k-th forward or backward of a stage: p microbatches of a chunk, then the next chunk."""
    if chunks == 1:
        return _Work(backward, 0, k)
    lap, within = divmod(k, stages * chunks)
    chunk, microbatch = divmod(within, stages)
    return _Work(backward, chunks - 1 - chunk if backward else chunk, lap * stages + microbatch)


def _before(stage: int, work: _Work, stages: int, chunks: int) -> tuple[int, _Work] | None:
    """The slot that sends this one its input, as (stage, work)."""
    away = 1 if work.backward else -1
    near = stage + away
    if 0 <= near < stages:
        return near, work
    chunk = work.chunk + away
    if 0 <= chunk < chunks:
        return near % stages, work._replace(chunk=chunk)
    return (stage, work._replace(backward=False)) if work.backward else None


def _slots(rows: list[list[tuple[_Work, float]]], length: dict[bool, float]) -> Slots:
    flat = [(stage, *work, begin) for stage, row in enumerate(rows) for work, begin in row]
    stage, backward, chunk, microbatch, begin = zip(*flat, strict=True)
    begin_s = np.array(begin, dtype=np.float64)
    back = np.array(backward, dtype=np.bool_)
    return Slots(
        stage=np.array(stage, dtype=np.int32),
        microbatch=np.array(microbatch, dtype=np.int32),
        chunk=np.array(chunk, dtype=np.int32),
        backward=back,
        begin_s=begin_s,
        end_s=begin_s + np.where(back, length[True], length[False]),
    )
