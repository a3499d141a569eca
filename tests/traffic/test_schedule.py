"""Pipeline schedules slot by slot, against their closed forms."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.traffic.schedule import Slots, bubble_of_step, bubble_ratio, slots

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4))
SECONDS = st.sampled_from([0.5, 1.0, 3.0])


def test_gpt3_idles_as_narayanan_et_al_say():
    assert bubble_ratio(8, 64) == 0.109375
    assert bubble_of_step(bubble_ratio(8, 64)) == pytest.approx(7 / 71)
    played = slots(8, 64, 1, 1.0, 2.0)
    assert played.end_s.max() == 64 * 3 * (1 + 0.109375)


@given(shape=SHAPES, forward_s=SECONDS, backward_s=SECONDS)
@settings(max_examples=60, deadline=None)
def test_slots_take_as_long_as_the_closed_form(shape, forward_s, backward_s):
    stages, laps, chunks = shape
    microbatches = laps * stages
    chunks = chunks if stages > 1 else 1
    played = slots(stages, microbatches, chunks, forward_s, backward_s)
    busy = microbatches * (forward_s + backward_s)
    expected = busy * (1 + bubble_ratio(stages, microbatches, chunks))
    assert played.end_s.max() == pytest.approx(expected)


@given(shape=SHAPES)
@settings(max_examples=40, deadline=None)
def test_every_slot_comes_once_and_after_its_input(shape):
    stages, laps, chunks = shape
    check_order(slots(stages, laps * stages, chunks, 1.0, 2.0), stages, laps * stages, chunks)


def check_order(played: Slots, stages: int, microbatches: int, chunks: int) -> None:
    when = {
        (int(s), int(c), int(m), bool(b)): (float(begin), float(end))
        for s, c, m, b, begin, end in zip(
            played.stage,
            played.chunk,
            played.microbatch,
            played.backward,
            played.begin_s,
            played.end_s,
            strict=True,
        )
    }
    assert len(when) == len(played.stage) == 2 * stages * chunks * microbatches
    for (stage, chunk, micro, backward), (begin, _) in when.items():
        depth = chunk * stages + stage
        before = depth + 1 if backward else depth - 1
        if before == chunks * stages:
            assert when[stage, chunk, micro, False][1] <= begin + 1e-9
        elif before >= 0:
            source = when[before % stages, before // stages, micro, backward]
            assert source[1] <= begin + 1e-9
    for stage in range(stages):
        spans = sorted(span for key, span in when.items() if key[0] == stage)
        assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(spans))


def test_weight_gradients_fill_two_thirds_of_the_bubble():
    assert bubble_ratio(8, 64, schedule="zero-bubble") == pytest.approx(0.109375 / 3)


def test_interleaving_needs_whole_laps():
    with pytest.raises(ValueError, match="multiple"):
        slots(4, 6, 2, 1.0, 2.0)
