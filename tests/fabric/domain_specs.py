"""Specs of clusters that are scale-up domains of every shape, without a scale-out fabric."""

from __future__ import annotations

from math import prod
from typing import Any

from hypothesis import strategies as st

from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.build import build
from clusterscope.spec.model import ClusterSpec
from tests.fabric.fabric_specs import cluster


def domains(gpus: int, up: dict[str, Any], *, nodes: int = 1, count: int = 1) -> ClusterSpec:
    """`count` domains of `gpus` GPUs in `nodes` nodes each; 3,600 Gb/s a GPU unless said."""
    table = {"domain_gpus": gpus, "gpu_gbps": 3600.0} | up
    node = {"gpus": gpus // nodes, "nics": 0}
    return cluster(nodes * count, None, node=node, scale_up=table)


def mesh(gpus: int = 8, **more: Any) -> ClusterSpec:
    """Every pair cabled."""
    return domains(gpus, {"topology": "mesh"}, **more)


def torus(*dims: int, **more: Any) -> ClusterSpec:
    """A torus."""
    return domains(prod(dims), {"topology": "torus", "dims": list(dims)}, **more)


def two_level(gpus: int, group: int, taper: float = 1.0, **more: Any) -> ClusterSpec:
    """Groups below one domain."""
    up = {"topology": "two-level", "group_gpus": group, "group_taper": taper}
    return domains(gpus, up, **more)


@st.composite
def shaped(draw: st.DrawFn) -> ClusterSpec:
    """One to three domains of any shape and of up to 24 GPUs."""
    count = draw(st.integers(1, 3))
    match draw(st.sampled_from(["switched", "mesh", "torus", "two-level"])):
        case "mesh":
            return mesh(draw(st.integers(2, 7)), count=count)
        case "torus":
            dims = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
            return torus(*dims, count=count)
        case "two-level":
            group, groups = draw(st.integers(1, 4)), draw(st.integers(1, 4))
            return two_level(group * groups, group, nodes=groups, count=count)
        case _:
            return domains(draw(st.integers(1, 8)), {}, count=count)


def fabric_of(spec: ClusterSpec) -> Fabric:
    return build(spec)
