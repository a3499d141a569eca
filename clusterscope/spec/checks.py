"""What must hold between the tables of a spec before a fabric is derived from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.plan import ScaleOutPlan
from clusterscope.spec.reductions import unreduced
from clusterscope.spec.serves import check_serving
from clusterscope.spec.shape import check_shape, shape_of
from clusterscope.spec.trains import check_training
from clusterscope.spec.transports import check_transport
from clusterscope.units import GIB, counted

MEMORY_LIMIT_BYTES = 16 * GIB
# Ends, rate, load and share of one direction, and what routes and a solve add: measured to the
# first frame of presets from 10,000 to 1,048,576 GPUs.
_LINK_BYTES = 105
_GPU_BYTES = 40
_NODE_BYTES = 16
_LEAST = 1e-6  # Gb/s, and ratio of a taper

P = TypeVar("P", bound=parts.Part)


def part(where: str, key: str, find: Callable[[str], P], name: str) -> P:
    """A catalogue part that a spec names.

    Raises:
        SpecError: the catalogue has no such part; names the nearest.
    """
    try:
        return find(name)
    except UnknownNameError as error:
        problem, _, hint = str(error).partition("; ")
        raise SpecError(f"{where}: {key}", problem, hint) from None


def check(spec: ClusterSpec, where: str) -> None:
    """Parts exist, jobs fit, scale-up domains tile the GPUs, and memory suffices.

    Raises:
        SpecError: the first thing that does not hold.
    """
    _check_least(spec, where)
    _check_memory(spec, where, spec.node.count * spec.node.nics * _planes(spec))
    _check_parts(spec, where)
    _check_scale_up(spec, where)
    check_shape(spec, where)
    _check_jobs(spec, where)


def check_plan_memory(spec: ClusterSpec, plan: ScaleOutPlan, where: str) -> None:
    """The arrays of the whole fabric fit into memory."""
    mesh = plan.dragonfly
    # Routing keeps tables of the pairs of groups, and of the pairs of switches of each group.
    pairs = mesh.groups * (2 * mesh.groups + mesh.switches**2) if mesh else 0
    _check_memory(spec, where, plan.cables + pairs)


def _planes(spec: ClusterSpec) -> int:
    """Ports of a NIC."""
    return spec.scale_out.planes if spec.scale_out else 1


def memory_bytes(spec: ClusterSpec, cables: int) -> int:
    """Memory that a cluster takes up to its first frame, estimated without building any."""
    shape = shape_of(spec.scale_up)
    inside = shape.cables * -(-spec.gpus // shape.size) if shape.size else 0
    links = 2 * (cables + inside)
    return _LINK_BYTES * links + _GPU_BYTES * spec.gpus + _NODE_BYTES * spec.node.count


def _check_least(spec: ClusterSpec, where: str) -> None:
    """Rates and tapers are not so small that times and counts leave what a float can hold."""
    for name in ("node", "scale_up", "scale_out", "dragonfly", "front_end"):
        table = getattr(spec, name)
        for key in type(table).model_fields if table else ():
            value = getattr(table, key)
            if key.endswith(("_gbps", "taper")) and value is not None and value < _LEAST:
                raise SpecError(
                    f"{where}: {name}.{key}",
                    f"{value:g} is next to nothing",
                    f"allowed is at least {_LEAST:g}",
                )


def _check_memory(spec: ClusterSpec, where: str, cables: int) -> None:
    need = memory_bytes(spec, cables)
    if need > MEMORY_LIMIT_BYTES:
        fits = spec.node.count * MEMORY_LIMIT_BYTES // need
        raise SpecError(
            f"{where}: node.count",
            f"{counted(spec.node.count, 'node')} ({counted(spec.gpus, 'GPU')}) would need "
            f"{need // GIB:,} GiB of memory",
            f"allowed is {MEMORY_LIMIT_BYTES // GIB} GiB, about {counted(fits, 'node')} of this "
            f"kind",
        )


def _check_parts(spec: ClusterSpec, where: str) -> None:
    node, up = spec.node, spec.scale_up
    part(where, "node.gpu", parts.gpu, node.gpu)
    nic = part(where, "node.nic", parts.nic, node.nic)
    if nic.gbps is not None and node.nic_gbps > nic.gbps:
        raise SpecError(
            f"{where}: node.nic_gbps",
            f"{node.nic_gbps:g} is more than a {nic.name} has",
            f"allowed is at most {nic.gbps:g}, or node.nic = 'generic'",
        )
    if up and up.switch:
        part(where, "scale_up.switch", parts.switch, up.switch)
    part(where, "transport.name", parts.transport, spec.transport.name)
    check_transport(spec, where)


def _check_scale_up(spec: ClusterSpec, where: str) -> None:
    if spec.scale_up is None:
        return
    domain, per_node = spec.scale_up.domain_gpus, spec.node.gpus
    whole = domain % per_node == 0 or per_node % domain == 0
    if not whole or spec.gpus % domain:
        raise SpecError(
            f"{where}: scale_up.domain_gpus",
            f"{domain:,} does not divide the {counted(spec.gpus, 'GPU')} into domains of whole "
            f"nodes "
            f"or whole parts of a node",
            f"allowed is a divisor of {spec.gpus} that is a multiple or a divisor of "
            f"node.gpus = {per_node}, such as {_near_domain(spec, domain)}",
        )


def _near_domain(spec: ClusterSpec, domain: int) -> int:
    """An allowed domain size near the one asked for, looked for in a bounded neighbourhood."""
    want = max(1, domain // spec.node.gpus)
    for away in range(4096):
        for nodes in (want - away, want + away):
            if nodes > 0 and spec.node.count % nodes == 0:
                return nodes * spec.node.gpus
    return spec.node.gpus


def _check_jobs(spec: ClusterSpec, where: str) -> None:
    seen: dict[str, int] = {}
    for index, job in enumerate(spec.jobs):
        key = f"{where}: jobs.{index}"
        reason = unreduced(spec, job)
        if reason is not None:
            raise SpecError(f"{key}.algorithm", *reason)
        if job.name in seen:
            raise SpecError(
                f"{key}.name",
                f"{job.name!r} is also the name of jobs.{seen[job.name]}",
                "allowed is a name that no other job has",
            )
        seen[job.name] = index
        if job.first_gpu >= spec.gpus:
            raise SpecError(
                f"{key}.first_gpu",
                f"{job.first_gpu:,} is not a GPU of this cluster",
                f"allowed is 0 to {spec.gpus - 1:,}",
            )
        room = spec.gpus - (job.first_gpu if job.placement == "packed" else 0)
        if job.ranks is not None and job.ranks > room:
            raise SpecError(
                f"{key}.ranks",
                f"{job.ranks:,} is more than the {counted(room, 'GPU')} "
                + (f"from GPU {job.first_gpu} on" if room < spec.gpus else "of this cluster"),
                f"allowed is 1 to {room:,}",
            )
        check_training(spec, job, key)
        check_serving(spec, job, key)


def unmet(spec: ClusterSpec, plan: ScaleOutPlan | None) -> tuple[str, ...]:
    """Entries of `[expect]` that the derived counts do not give, one sentence each."""
    got = {"gpus": spec.gpus, "nodes": spec.node.count}
    if plan:
        got |= {
            "leaf": plan.leaves,
            "spine": plan.spines_total,
            "core": plan.cores_total,
            "nic_leaf_cables": plan.nic_leaf_cables,
            "leaf_spine_cables": plan.leaf_spine_cables,
            "spine_core_cables": plan.spine_core_cables,
        }
        if plan.dragonfly:
            got |= {
                "groups": plan.dragonfly.groups,
                "switches": plan.leaves,
                "local_cables": plan.dragonfly.local_cables,
                "global_cables": plan.dragonfly.global_cables,
            }
    wanted = spec.expect.model_dump(exclude_none=True)
    return tuple(
        f"expect.{key}: {value} expected, {got.get(key, 0)} derived"
        for key, value in wanted.items()
        if got.get(key, 0) != value
    )
