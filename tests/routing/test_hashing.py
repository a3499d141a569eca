import numpy as np
import pytest

from clusterscope.routing.hashing import entropy, mix, switch_salts


def test_mix_is_the_same_on_every_machine():
    values = mix(np.array([0, 1, 2**64 - 1], dtype=np.uint64))
    # The first output of SplitMix64 seeded with 0, and its neighbors.
    assert [hex(int(v)) for v in values] == [
        "0xe220a8397b1dcdaf",
        "0x910a2dec89025cc1",
        "0xe4d971771b652c20",
    ]


@pytest.mark.parametrize("shape", [(), (0,), (40_000,), (3, 20_000)])
def test_mix_is_the_same_in_any_shape(shape):
    values = np.arange(1, 60_001, dtype=np.uint64)[: int(np.prod(shape))].reshape(shape)
    mixed = mix(values)
    assert mixed.shape == shape
    for place in (0, 16_383, 16_384, 39_999):
        if place < values.size:
            assert mixed.ravel()[place] == mix(values.ravel()[place : place + 1])[0]
    if len(shape) == 2:
        np.testing.assert_array_equal(mix(np.asfortranarray(values)), mixed)


def test_entropy_tells_direction_queue_pair_and_seed_apart():
    a, b = np.array([1], dtype=np.int32), np.array([2], dtype=np.int32)
    qp = np.zeros(1, dtype=np.int32)
    draws = [entropy(a, b, qp, 7), entropy(b, a, qp, 7), entropy(a, b, qp + 1, 7)]
    draws += [entropy(a, b, qp, 8), entropy(a, b, qp, -1)]
    assert len({int(draw[0]) for draw in draws}) == 5
    assert entropy(a, b, qp, 7) == draws[0]


def test_entropy_spreads_evenly_over_uplinks():
    flows = np.arange(64_000, dtype=np.int32)
    keys = entropy(flows, flows[::-1].copy(), np.zeros_like(flows), 0)
    counts = np.bincount((keys % np.uint64(64)).astype(np.int64))
    # Poisson of mean 1000: six standard deviations.
    assert counts.min() > 810
    assert counts.max() < 1190


def test_salts_differ_by_switch_unless_the_seed_is_shared():
    assert len(np.unique(switch_salts(1000, 5, "per-switch"))) == 1000
    assert len(np.unique(switch_salts(1000, 5, "shared"))) == 1
    assert switch_salts(1, 5, "shared") != switch_salts(1, 6, "shared")
