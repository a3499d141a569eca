"""What a GPU hangs on: its scale-up domain, and its NIC."""

from __future__ import annotations

import numpy as np

from clusterscope.columns import I64
from clusterscope.spec.model import ScaleUpSpec


def gpu_domains(scale_up: ScaleUpSpec | None, gpus: int) -> I64:
    """Scale-up domain of every GPU, (G,), in GPU order; -1 without scale-up."""
    if scale_up is None:
        return np.full(gpus, -1, dtype=np.int64)
    return np.arange(gpus, dtype=np.int64) // scale_up.domain_gpus


def gpu_ports(nodes: int, gpus: int, nics: int, planes: int) -> I64:
    """First port of the NIC of every GPU, (G,), -1 without NICs.

    NICs are shared out evenly in order: `gpus` and `nics` are those of one node.
    """
    if nics == 0:
        return np.full(nodes * gpus, -1, dtype=np.int64)
    nic = np.arange(gpus, dtype=np.int64) * nics // gpus
    ports = (np.arange(nodes, dtype=np.int64)[:, None] * nics + nic) * planes
    return ports.ravel()
