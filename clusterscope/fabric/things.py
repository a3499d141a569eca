"""What a selection, an event or a row can point at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ThingKind = Literal[
    "cluster",
    "pod",
    "switch",
    "node",
    "nic",
    "gpu",
    "cable",
    "link",
    "domain",
    "subdomain",  # first-level group of a scale-up domain with two levels
    "cores",  # all cores of the cluster
    "spines",  # the spines of pod `index`
    "domains",  # all scale-up domains
]


@dataclass(frozen=True, order=True)
class Thing:
    """One device, cable, link or group, by kind and index (a NIC is a NIC *port*)."""

    kind: ThingKind
    index: int = 0
