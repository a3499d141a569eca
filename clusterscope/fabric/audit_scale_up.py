"""What deserves attention in the scale-up domains of a valid cluster."""

from __future__ import annotations

from collections.abc import Iterator

from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.finding import STEEP_TAPER, Finding, Severity
from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec, ScaleUpSpec
from clusterscope.spec.shape import uplink_gbps
from clusterscope.units import counted

_TOLERANCE = 1e-9


def check_scale_up(spec: ClusterSpec, fabric: Fabric) -> Iterator[Finding]:
    """No domains, tapered groups, too few switch ports, and rings that cannot close over cables."""
    up, shape = spec.scale_up, fabric.shape
    if up is None:
        yield from _no_scale_up(spec)
        return
    if shape.kind == "two-level":
        taper = shape.group * up.gpu_gbps / uplink_gbps(up)
        if taper > 1 + _TOLERANCE:
            message = (
                f"{taper:.4g}:1 from the {counted(shape.group, 'GPU')} of a group to its uplink"
            )
            severity: Severity = "warning" if taper > STEEP_TAPER + _TOLERANCE else "info"
            yield Finding(severity, "scale-up-taper", "scale_up.group_taper", message)
    if shape.kind == "torus" and all(n % 2 for n in shape.dims if n > 1):
        message = "without an even dimension the last step of a ring over all GPUs takes two hops"
        yield Finding("info", "odd-torus", "scale_up.dims", message)
    if up.switch is not None and up.switches:
        yield from _ports(up, fabric)


def _no_scale_up(spec: ClusterSpec) -> Iterator[Finding]:
    """GPUs of a node that could talk over more than their NICs."""
    own, count = parts.gpu(spec.node.gpu), spec.node.gpus
    joined = spec.scale_out is not None or spec.dragonfly is not None
    if joined and count > 1 and own.scale_up_gbps > 0:
        message = (
            f"the {counted(count, 'GPU')} of a node talk to each other over their NICs only; "
            f"[scale_up] with domain_gpus = {count} joins them at {own.scale_up_gbps:,g} Gb/s a GPU"
        )
        yield Finding("info", "no-scale-up", "scale_up", message)


def _ports(up: ScaleUpSpec, fabric: Fabric) -> Iterator[Finding]:
    """Switches of a domain that have less bandwidth than their cables need."""
    part = parts.switch(up.switch or "")
    if not part.ports:
        return
    have = up.switches * max(mode.count * mode.gbps for mode in part.ports)
    need = fabric.shape.size * up.gpu_gbps
    if fabric.shape.kind == "two-level":
        need += 2 * fabric.shape.groups * uplink_gbps(up)
    if need > have * (1 + _TOLERANCE):
        message = (
            f"{up.switches:,} {part.name} have ports of {have:,.0f} Gb/s each way, and the cables "
            f"of a domain need {need:,.0f}"
        )
        yield Finding("warning", "scale-up-ports", "scale_up.switches", message)
