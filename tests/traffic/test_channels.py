"""Channels that a collective library opens over a pair of NICs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.fabric.build import build as build_fabric
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.validate import validate
from clusterscope.traffic.channels import SEND_CHANNELS, channels_of, ring_channels
from clusterscope.traffic.flows import Flows
from clusterscope.traffic.program import build


def spec_of(nodes: int = 4, gpus: int = 8, gbps: float = 400.0, **tables: object) -> ClusterSpec:
    """Nodes of GPUs with a NIC each behind one leaf a rail."""
    return validate(
        {
            "name": "case",
            "node": {
                "count": nodes,
                "gpus": gpus,
                "gpu": "H100-SXM",
                "nics": gpus,
                "nic": "generic",
                "nic_gbps": gbps,
            },
            "scale_up": {"domain_gpus": gpus, "gpu_gbps": 3600.0},
            "scale_out": {
                "tiers": 1,
                "wiring": "rail",
                "su_nodes": nodes,
                "leaf_switch": "generic-64",
            },
            "transport": {"name": "rocev2"},
            **tables,
        },
        "case",
    )


def opened(spec: ClusterSpec) -> dict[str, set[int]]:
    """Channels of the flows over NICs, by phase."""
    fabric = build_fabric(spec)
    (program,) = build(spec, fabric)
    found = {}
    for phase in program.phases:
        if isinstance(phase.demand, Flows):
            out = phase.demand.src < fabric.ports
            assert set(phase.demand.channels[~out].tolist()) <= {1}
            if out.any():
                found[phase.name] = set(phase.demand.channels[out].tolist())
    return found


@pytest.mark.parametrize(
    ("nics", "gbps", "channels"),
    [
        # NCCL logs 16 channels on nodes of 8 H100 with 8 NICs of 400 Gb/s.
        (8, 400.0, 2),
        (4, 400.0, 4),
        (1, 400.0, 4),
        (8, 200.0, 2),
        (1, 200.0, 2),
        (8, 800.0, 4),
        (1, 800.0, 8),
        (6, 400.0, 4),  # 12 channels of 48 GB/s are fewer than 16
        (72, 400.0, 1),
    ],
)
def test_channels_are_those_of_nccl(nics: int, gbps: float, channels: int) -> None:
    assert ring_channels(nics, gbps) == channels


@given(nics=st.integers(1, 128), gbps=st.floats(1.0, 3200.0))
@settings(max_examples=100, deadline=None)
def test_a_node_never_has_more_channels_than_nccl_allows(nics: int, gbps: float) -> None:
    channels = ring_channels(nics, gbps)
    assert 1 <= channels <= 8
    assert channels == 1 or channels * nics <= 64


def test_rings_between_nodes_have_channels_and_rings_inside_have_none() -> None:
    job = {"name": "j", "collective": "all-reduce", "message_bytes": 2**30, "algorithm": "ring"}
    assert opened(spec_of(jobs=[job])) == {"all-reduce between domains": {2}}


def test_the_trees_of_a_double_tree_share_the_channels() -> None:
    job = {"name": "j", "collective": "all-reduce", "message_bytes": 2**30, "algorithm": "tree"}
    assert opened(spec_of(jobs=[job])) == {"double tree between domains": {1}}


def test_a_bare_flow_has_one() -> None:
    job = {"name": "j", "collective": "permutation", "message_bytes": 2**20}
    assert opened(spec_of(gpus=1, jobs=[job])) == {"permutation": {1}}


def test_ranks_of_data_parallelism_beside_tensor_parallelism_have_four() -> None:
    model = {"layers": 4, "hidden": 64, "heads": 8, "sequence": 64, "vocabulary": 128}
    job = {"name": "j", "model": model, "plan": {"tp": 8, "microbatches": 1}}
    found = opened(spec_of(jobs=[job]))
    assert found
    assert all(channels == {4} for channels in found.values())


def test_sends_of_a_pipeline_have_two() -> None:
    model = {"layers": 4, "hidden": 64, "heads": 8, "sequence": 64, "vocabulary": 128}
    plan = {"tp": 8, "pp": 4, "microbatches": 2, "overlap": ()}
    found = opened(spec_of(jobs=[{"name": "j", "model": model, "plan": plan}]))
    assert found["pipeline sends"] == {SEND_CHANNELS}


def test_a_domain_is_counted_by_its_nics() -> None:
    fabric = build_fabric(spec_of(gpus=4))
    gpus = np.arange(fabric.gpus, dtype=np.int32)
    assert channels_of(fabric, gpus, 4) == 4
    assert channels_of(fabric, gpus, 1) == 4
    assert channels_of(fabric, gpus[:0], 1) == 1
