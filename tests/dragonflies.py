"""Small dragonflies, and their ways found one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.build import build
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.validate import validate

# groups, switches of a group, NIC ports of a switch, global links, local links
Size = tuple[int, int, int, int, int]


def tables(size: Size, nodes: int | None = None, nics: int = 1, **more: Any) -> dict[str, Any]:
    """A dragonfly of 64-port switches, full unless `nodes` says otherwise."""
    groups, switches, ports, links, local = size
    count = groups * (switches * ports // nics) if nodes is None else nodes
    return {
        "name": "fly",
        "node": {"count": count, "gpus": nics, "gpu": "generic", "nics": nics, "nic_gbps": 200.0},
        "dragonfly": {
            "groups": groups,
            "switches": switches,
            "nic_ports": ports,
            "global_links": links,
            "local_links": local,
            "switch": "generic-64",
            **more.pop("dragonfly", {}),
        },
        "transport": {"name": "spectrum-x", "reroute_s": 0.0},
        **more,
    }


def spec(size: Size, **more: Any) -> ClusterSpec:
    return validate(tables(size, **more), "fly")


def fly(size: Size, **more: Any) -> Fabric:
    return build(spec(size, **more))


@st.composite
def sizes(draw: st.DrawFn) -> Size:
    return (
        draw(st.integers(1, 5)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 3)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 2)),
    )


@st.composite
def hurt(draw: st.DrawFn) -> tuple[Fabric, np.ndarray]:
    """A dragonfly, and the rate of its cables, (C,): some dead, some switches dead."""
    fabric = fly(draw(sizes()))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rate = fabric.cable_gbps.copy()
    rate[rng.random(fabric.cables) < draw(st.sampled_from([0.0, 0.1, 0.4]))] = 0.0
    dead = np.flatnonzero(rng.random(fabric.switches) < draw(st.sampled_from([0.0, 0.15])))
    for vertex in (fabric.ports + dead).tolist():
        rate[(fabric.cable_a == vertex) | (fabric.cable_b == vertex)] = 0.0
    return fabric, rate


class Ways:
    """Ways between switches over live cables, by looking at every cable."""

    def __init__(self, fabric: Fabric, rate: np.ndarray) -> None:
        self.size = fabric.switches // fabric.pods
        self.local: dict[tuple[int, int], list[int]] = {}
        self.across: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self.groups = fabric.pods
        for cable in np.flatnonzero(rate > 0).tolist():
            a, b = (int(end[cable]) - fabric.ports for end in (fabric.cable_a, fabric.cable_b))
            if a < 0:
                continue
            for link, x, y in ((2 * cable, a, b), (2 * cable + 1, b, a)):
                if a // self.size == b // self.size:
                    self.local.setdefault((x, y), []).append(link)
                else:
                    pair = (x // self.size, y // self.size)
                    self.across.setdefault(pair, []).append((link, x, y))

    def near(self, x: int, y: int) -> bool:
        """Whether one or two trunks lead from switch x to y of its group."""
        group = x // self.size
        members = range(group * self.size, (group + 1) * self.size)
        return (
            x == y
            or (x, y) in self.local
            or any((x, z) in self.local and (z, y) in self.local for z in members)
        )

    def far(self, x: int, y: int, over: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Global links of every way from switch x to y that visits the groups `over`, in order."""
        if len(over) == 1:
            if over[0] == y // self.size and self.near(x, y):
                yield ()
            return
        for link, u, v in self.across.get((over[0], over[1]), []):
            if self.near(x, u):
                for rest in self.far(v, y, over[1:]):
                    yield (link, *rest)

    def joined(self, x: int, y: int) -> bool:
        """Whether any way leads there: inside the group, direct, or over one other group."""
        g, h = x // self.size, y // self.size
        if g == h:
            return self.near(x, y)
        others = [(g, i, h) for i in range(self.groups) if i not in (g, h)]
        return any(next(self.far(x, y, over), None) is not None for over in [(g, h), *others])
