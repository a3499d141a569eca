"""Keys of a spec that say nothing about the cluster they stand in: written down, and never read.

A key that contradicts another table is refused when a spec is read. What is told here is harmless,
but whoever wrote it expects it to matter: a stride of a packed job, a taper of a tier that is not
there. Only keys that differ from their default are told.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.finding import Finding
from clusterscope.spec.base import Frozen
from clusterscope.spec.carrying import TransportSpec
from clusterscope.spec.model import ClusterSpec, JobSpec

# Load balancing by which no hash of a flow chooses its way.
_UNHASHED = ("adaptive", "spray")
Idle = tuple[str, str]  # dotted key, and why it is not read


def idle_keys(scenario: Scenario) -> tuple[Finding, ...]:
    """A warning for each key that has no effect."""
    spec = scenario.spec
    found = [*_networks(spec), *_front_end(spec), *_transport(scenario), *_scripts(spec)]
    return tuple(
        Finding("warning", "no-effect", key, f"{_value(spec, key)} changes nothing: {why}")
        for key, why in found
    )


def _value(spec: ClusterSpec, key: str) -> str:
    """The value of a key, in words."""
    here: object = spec
    for part in key.split("."):
        here = here[int(part)] if isinstance(here, tuple) else getattr(here, part)
    return (
        f"{here:,}" if isinstance(here, int | float) and not isinstance(here, bool) else f"{here}"
    )


def _differs(table: Frozen, *keys: str) -> Iterator[str]:
    """Keys of a table that somebody has set to something else than the default."""
    for key in keys:
        if getattr(table, key) != type(table).model_fields[key].default:
            yield key


def _networks(spec: ClusterSpec) -> Iterator[Idle]:
    """Keys of networks that are built otherwise."""
    up, out, fly = spec.scale_up, spec.scale_out, spec.dragonfly
    if up is not None and up.group_gbps is not None:
        for key in _differs(up, "group_taper"):
            yield f"scale_up.{key}", "scale_up.group_gbps says what a group's uplink carries"
    if out is not None and out.tiers == 1:
        for key in _differs(out, "link_gbps", "leaf_taper"):
            yield f"scale_out.{key}", "with tiers = 1 there is nothing above the leaves"
    if out is not None and out.tiers < 3:
        for key in _differs(out, "spine_taper"):
            yield f"scale_out.{key}", f"with tiers = {out.tiers} there is nothing above the spines"
    if fly is not None and fly.switches == 1:
        for key in _differs(fly, "local_links"):
            yield f"dragonfly.{key}", "a group of one switch has no cables inside"


def _front_end(spec: ClusterSpec) -> Iterator[Idle]:
    """Keys of a front-end that is built otherwise."""
    front = spec.front_end
    if front is None:
        return
    if front.tiers == 1:
        for key in _differs(front, "link_gbps", "taper"):
            yield f"front_end.{key}", "with tiers = 1 there is nothing above the leaves"
    if front.tiers < 3:
        for key in _differs(front, "pod_nodes"):
            yield f"front_end.{key}", f"with tiers = {front.tiers} there are no pods"
    if not front.storage_nodes:
        for key in _differs(front, "storage_gbps"):
            yield f"front_end.{key}", "there are no storage nodes"


def _transport(scenario: Scenario) -> Iterator[Idle]:
    """Keys of a transport whose mechanism is not at work."""
    spec, own = scenario.spec, scenario.transport
    table = spec.transport
    if not scenario.fabric.ports:
        for key in _differs(table, *(key for key in type(table).model_fields if key != "name")):
            yield f"transport.{key}", "the cluster has no NICs"
        return
    if own.policy.load_balancing in _UNHASHED and spec.dragonfly is None:
        for key in _differs(table, "hash_seed", "flowlet_gap_s"):
            words = f"{own.policy.load_balancing} load balancing hashes no flow"
            yield f"transport.{key}", words
    if not own.slows:
        for key in _differs(table, "recovery"):
            yield f"transport.{key}", "nothing is lost (transport.loss_rate) and nothing overtakes"
    yield from _rerouting(table)


def _rerouting(table: TransportSpec) -> Iterator[Idle]:
    """Keys that say when routes react, beside one that counts more."""
    if table.reroute_s is not None:
        for key in _differs(table, "self_healing", "link_down_detection", "hold_timer_s"):
            yield f"transport.{key}", "transport.reroute_s says when routes react"
    elif table.link_down_detection is not False:
        for key in _differs(table, "hold_timer_s"):
            yield f"transport.{key}", "links that fail go down (transport.link_down_detection)"


def _scripts(spec: ClusterSpec) -> Iterator[Idle]:
    """Keys of jobs and events."""
    for index, job in enumerate(spec.jobs):
        yield from ((f"jobs.{index}.{key}", why) for key, why in _job(job))
    for index, event in enumerate(spec.events):
        if event.kind != "degrade":
            for key in _differs(event, "scale"):
                yield f"events.{index}.{key}", f"{event.kind} leaves nothing to scale"


def _job(job: JobSpec) -> Iterator[Idle]:
    if job.placement != "strided":
        for key in _differs(job, "stride"):
            yield key, f"placement is {job.placement}"
    if job.model is None and job.serve is None and job.collective != "all-to-all":
        for key in _differs(job, "imbalance"):
            yield key, "only an all-to-all has ranks that are busier than others"
