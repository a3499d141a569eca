"""Where switches can reduce on the way, and why not elsewhere."""

from __future__ import annotations

from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec, JobSpec

Reason = tuple[str, str]


def unreduced(spec: ClusterSpec, job: JobSpec) -> Reason | None:
    """Why a job's algorithm cannot run here, and what can; None when it can.

    Raises:
        UnknownNameError: a part that is not in the catalogue.
    """
    name = job.algorithm
    if name in ("auto", "ring"):
        return None
    for collectives, algorithms in _ONLY.items():
        if name in algorithms and job.collective not in collectives:
            what = "reduces, and" if name in _REDUCING else "is for others, and"
            return f"{name!r} {what} {job.collective} does not", "use ring or auto"
    if name in _REDUCING:
        return _no_sharp(spec) if name == "sharp" else _no_nvls(spec)
    if name in ("direct", "pxn", "rail-ring") and spec.scale_up is None:
        return f"{name!r} works inside scale-up domains, and there are none", "use ring or auto"
    return None


_REDUCING = ("sharp", "nvls", "nvls-tree")
# Collectives that some algorithms are for.
_ONLY = {
    ("all-reduce",): (
        *_REDUCING,
        *("tree", "single-tree", "halving-doubling", "recursive-doubling"),
    ),
    ("all-reduce", "all-gather", "reduce-scatter"): ("rail-ring",),
    ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"): ("direct",),
    ("all-to-all",): ("pxn",),
}


def _no_sharp(spec: ClusterSpec) -> Reason | None:
    """Why the switches between domains cannot reduce."""
    if not parts.transport(spec.transport.name).in_network_reduction:
        reason = (
            f"'sharp' reduces in InfiniBand switches, and the transport is {spec.transport.name}"
        )
        return reason, "use ring, or an infiniband transport"
    out = spec.scale_out
    if out is None:
        return "'sharp' reduces in switches of a Clos, and there is none", "use ring"
    names = (out.leaf_switch, out.spine_switch or out.leaf_switch)
    for name in (*names, out.core_switch or names[1])[: out.tiers]:
        if tree_rule(parts.switch(name)) == "none":
            return f"'sharp' needs switches that reduce, and {name} does not", "use ring"
    return None


def tree_rule(switch: parts.Switch) -> parts.Reduction:
    """How many streaming trees a switch runs; a generic one does as the transport wants."""
    return "port" if switch.radix is not None else switch.in_network_reduction


def _no_nvls(spec: ClusterSpec) -> Reason | None:
    """Why the switches inside a domain cannot reduce."""
    up = spec.scale_up
    hint = "use ring, or NVSwitch3 or later"
    if up is None or up.switch is None:
        return "'nvls' reduces in NVSwitches, and scale_up.switch names none", hint
    if parts.switch(up.switch).in_network_reduction != "domain":
        return f"'nvls' reduces in NVSwitches, and {up.switch} does not", hint
    if up.topology != "switched":
        return f"'nvls' needs one switch between all GPUs, and the domain is {up.topology}", hint
    return None
