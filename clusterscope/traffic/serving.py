"""A serving job as phases that run at the same time: prefill, KV cache transfer, decode.

One iteration is a wave of requests (`serving_task.Serving`): in it each kind of instance does what
keeps the others busy once, so its longest phase says how many requests a second the service takes.
A phase of instances computes as long as `roofline` says, beside its expert exchange when the batch
is in several parts, else in turn with it; tensor parallel sums are always waited for.
"""

from __future__ import annotations

from dataclasses import replace

from clusterscope.fabric.arrays import SCALE_UP
from clusterscope.spec.services import Instance
from clusterscope.traffic.edges import network_of
from clusterscope.traffic.exchanges import cache_flows, exchange_wires, tensor_wires
from clusterscope.traffic.flows import Phase
from clusterscope.traffic.phasing import Timed, phase
from clusterscope.traffic.serving_task import Serving
from clusterscope.traffic.wires import Site, Wire
from clusterscope.units import BITS_PER_BYTE, GIGA

TRANSFER = "KV cache transfer"


def serving_phases(serving: Serving, site: Site) -> tuple[Phase, ...]:
    """Phases of one wave; all run at once.

    Raises:
        SpecError: ranks of different domains have to talk and have no NICs.
    """
    service = serving.service
    phases = []
    if service.prefill is not None:
        phases.append(_stage(serving, site, service.prefill, 0))
    if service.prefill is not None and service.decode is not None:
        phases += _transfer(serving, site, service.prefill, service.decode)
    if service.decode is not None:
        first = service.prefill.ranks if service.prefill else 0
        phases.append(_stage(serving, site, service.decode, first))
    return tuple(phases)


def _stage(serving: Serving, site: Site, own: Instance, first: int) -> Phase:
    """All passes or steps of a wave in instances of one kind."""
    tokens, count = serving.step(own).tokens, serving.count(own)
    compute_s = count * serving.compute_s(own)
    tensor = [_repeated(w, count) for w in tensor_wires(site, serving.model, own, first, tokens)]
    busiest = tokens * serving.service.balance
    experts = exchange_wires(site, serving.model, own, first, busiest)
    experts = [_repeated(w, count) for w in experts]
    wires: list[Timed] = [(wire, compute_s, 0.0) for wire in tensor]
    if own.microbatches > 1:
        wires += [(wire, 0.0, compute_s) for wire in experts]
    else:
        # Model: sums of tensor parallel ranks come before the exchange at their GPUs' full rate.
        before = compute_s + sum(_alone_s(site, wire) for wire in tensor)
        wires += [(wire, before, 0.0) for wire in experts]
    return phase(site.fabric, own.kind, wires, compute_s, 0.0)


def _transfer(serving: Serving, site: Site, prefill: Instance, decode: Instance) -> list[Phase]:
    """The KV cache of all requests of a wave; none where it moves over no link.

    Layer by layer beside the passes that compute it, or all of it once they are done.
    """
    each = serving.passes * serving.step(prefill).requests
    sent = each * serving.service.input_tokens * serving.token_cache_bytes
    flows = cache_flows(site, prefill, decode, each, sent)
    if not len(flows.src):
        return []
    if serving.service.kv_overlap and len(flows.src) > prefill.instances:
        wire = Wire("kv", flows, serving.passes * serving.model.layers)
        pass_s = serving.passes * serving.compute_s(prefill)
        return [phase(site.fabric, TRANSFER, [(wire, 0.0, pass_s)], 0.0, 0.0)]
    return [Phase(TRANSFER, network_of(site.fabric, flows), flows, 1)]


def _repeated(wire: Wire, count: float) -> Wire:
    """A wire used so many times."""
    flows = replace(wire.flows, size_bytes=wire.flows.size_bytes * count)
    return Wire(wire.kind, flows, max(1, round(wire.steps * count)))


def _alone_s(site: Site, wire: Wire) -> float:
    """Seconds that the largest flow of a wire takes on its first cable at line rate."""
    fabric, src = site.fabric, int(wire.flows.src[0])
    if src >= fabric.ports:
        gbps = float(fabric.cable_gbps[fabric.tier_start[SCALE_UP]])
    else:
        gbps = float(fabric.cable_gbps[src])
    return float(wire.flows.size_bytes.max()) * BITS_PER_BYTE / (gbps * GIGA)
