"""What `[scale_up]` leaves out, taken from the GPU that the cluster is made of."""

from __future__ import annotations

from collections.abc import Mapping

from clusterscope.errors import UnknownNameError
from clusterscope.spec import parts


def with_gpu_defaults(data: object) -> object:
    """Tables of a spec, `scale_up.kind` and `scale_up.gpu_gbps` filled in from `node.gpu`.

    What is no table, or names a GPU that nobody knows, is kept for those who report it.
    """
    if not isinstance(data, Mapping):
        return data
    up, node = data.get("scale_up"), data.get("node")
    if not isinstance(up, Mapping) or not isinstance(node, Mapping):
        return data
    name = node.get("gpu")
    if not isinstance(name, str):
        return data
    try:
        gpu = parts.gpu(name)
    except UnknownNameError:
        # Any rate will do: the name is what is refused, and not a rate that follows from it.
        return {**data, "scale_up": {"gpu_gbps": 1.0, **up}}
    known = {"kind": gpu.scale_up_kind, "gpu_gbps": gpu.scale_up_gbps}
    return {**data, "scale_up": {**known, **up}}
