"""How many rings a collective library runs at once over one pair of NICs.

NCCL cuts a collective into channels: each is a ring of its own with an equal part of the bytes, a
connection of its own between two NICs, and so a hash of its own. For rings that leave a node by n
NICs, NCCL

    finds      n rings, one a NIC, at the largest speed of its list that a NIC carries
    cuts       each in two at half the speed, from 25 GB/s on; with more than 4 rings, from 50 on
    doubles    all of them, up to 64
    doubles    them again on Hopper and later, while there are fewer than 16 of more than 45 GB/s

which comes to 2 channels a NIC when all 8 NICs of 400 Gb/s of a node take part (16 in all) and to
4 when one does, as between the data parallel ranks of a job with tensor parallelism in the node.

Of the two trees of a double tree the first half of the channels run one, the others the other.

Source: NVIDIA/nccl 2.30, src/graph/search.cc (ncclTopoDupChannels, sm100SpeedArrayInter) and
src/graph/connect.cc (ncclTopoPostset, connectTrees). Model: GPUs before Hopper, and libraries of
other vendors, are taken to do the same (estimate).
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import I32
from clusterscope.fabric.arrays import Fabric
from clusterscope.units import gbps_to_GBps

# A send between two ranks, while a rank has few peers: NCCL 2.20 to 2.28, src/graph/paths.cc,
# ncclTopoGetNchannels. With many peers there is one, as for the exchanges of experts.
SEND_CHANNELS = 2

# Speeds of rings over a network that NCCL tries, GB/s; below the last one nothing depends on them.
_SPEEDS = (96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0)
_CUT, _CUT_MANY, _MANY = 25.0, 50.0, 4
_MOST, _FEW, _FAST = 64, 16, 45.0


def ring_channels(nics: int, nic_gbps: float) -> int:
    """Channels over each of the NICs by which the ranks of a node leave it, at least 1.

    >>> ring_channels(8, 400.0), ring_channels(4, 400.0), ring_channels(1, 400.0)
    (2, 4, 4)
    >>> ring_channels(8, 200.0), ring_channels(1, 200.0), ring_channels(8, 800.0)
    (2, 2, 4)
    """
    rings, speed = nics, next((s for s in _SPEEDS if s <= gbps_to_GBps(nic_gbps)), 0.0)
    if speed >= (_CUT_MANY if rings > _MANY else _CUT):
        rings, speed = 2 * rings, speed / 2
    channels = min(_MOST, 2 * rings)
    if speed > _FAST and channels < _FEW:
        channels *= 2
    return max(1, channels // nics)


def channels_of(fabric: Fabric, gpus: I32, rings: int) -> int:
    """Channels a NIC, of so many rings between the domains of `gpus` (R,); 1 without NICs."""
    first = fabric.gpu_nic_port[gpus]
    if not len(first) or int(first.min()) < 0:
        return 1
    nic_gbps = float(fabric.cable_gbps[first].min()) * fabric.ports_per_nic
    return ring_channels(min(rings, _nics_of_domain(fabric, gpus)), nic_gbps)


def _nics_of_domain(fabric: Fabric, gpus: I32) -> int:
    """NICs that the GPUs of a domain have between them, at least 1."""
    domain = fabric.gpu_domain[gpus]
    own = fabric.gpu_nic_port[gpus[domain == domain[0]]] if domain[0] >= 0 else gpus[:1]
    return max(1, len(np.unique(own)))
