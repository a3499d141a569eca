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


@given(
    stages=st.integers(1, 8),
    microbatches=st.integers(1, 24),
    schedule=st.sampled_from(["1f1b", "zero-bubble"]),
    back=st.sampled_from([1.0, 2.0, 2.5, 3.0]),
)
@settings(max_examples=100, deadline=None)
def test_no_microbatch_overtakes_itself(stages, microbatches, schedule, back):
    taken = microbatches * (1 + back) * (1 + bubble_ratio(stages, microbatches, 1, schedule, back))
    weights = min(1.0, back / 2) if schedule == "zero-bubble" else 0.0
    # The last stage begins when the first forward arrives, and sends the last backward up.
    path = (stages + microbatches - 1) * (1 + back - weights) + weights
    assert taken >= path * (1 - 1e-12)


@given(stages=st.integers(1, 8), data=st.data(), back=st.sampled_from([1.0, 2.0, 2.5, 3.0]))
@settings(max_examples=60, deadline=None)
def test_few_microbatches_take_as_long_as_they_do_slot_by_slot(stages, data, back):
    microbatches = data.draw(st.integers(1, stages))
    weights = min(1.0, back / 2)
    played = slots(stages, microbatches, 1, 1.0, back - weights)
    expected = max(weights_filled(played, stage, weights) for stage in range(stages))
    ratio = bubble_ratio(stages, microbatches, 1, "zero-bubble", back)
    assert microbatches * (1 + back) * (1 + ratio) == pytest.approx(expected)


def weights_filled(played: Slots, stage: int, weights: float) -> float:
    """When a stage ends that does weights' gradients in its gaps, and the others at last."""
    own = played.stage == stage
    clock, due = 0.0, 0
    for begin, end, backward in zip(
        played.begin_s[own], played.end_s[own], played.backward[own], strict=True
    ):
        while due and clock + weights <= begin + 1e-9:
            clock, due = clock + weights, due - 1
        clock, due = end, due + int(backward)
    return float(clock + due * weights)


def test_one_microbatch_passes_four_stages_forward_and_backward_in_turn():
    assert 3 * (1 + bubble_ratio(4, 1)) == 4 * 3
    assert 3 * (1 + bubble_ratio(4, 1, schedule="zero-bubble")) == 4 * (1 + 1) + 1
