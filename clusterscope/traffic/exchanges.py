"""Bytes of serving: expert exchange, tensor parallel sums, KV cache, and who sends them to whom.

A GPU with T tokens of a part of the batch sends, in a layer with experts,

    direct       T top_k h (d + c)                to all ranks alike, its own share of 1/ep stays
    forwarded    T v (D-1)/D h (d + c)            over NICs, to the v of D domains with its experts
                 T top_k (g-1)/g h (d + c)        on inside each domain of g ranks

with dispatch in d = 1 + 4/128 bytes (FP8 and a scale for 128 values; 2 in BF16) and combine in
c = 2. Sources: DeepEP README (docs/legacy.md: dispatch FP8, combine BF16); DeepSeek-V3 report,
section 3.4. Axes: R ranks, F flows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from clusterscope.columns import I32
from clusterscope.spec.models import Transformer
from clusterscope.spec.services import Instance
from clusterscope.traffic.edges import connect
from clusterscope.traffic.flows import Flows
from clusterscope.traffic.groups import Rings, domain_of
from clusterscope.traffic.layout import hierarchy
from clusterscope.traffic.volumes import ACTIVATION_BYTES, domains_visited, ring_share
from clusterscope.traffic.wires import Site, Wire, rotations

_SCALE_BYTES, _SCALED_VALUES = 4, 128
# Decode instances that a GPU of prefill hands requests to at once; bounds the flows of a transfer.
_MOST_RECEIVERS = 8
# Pairs of GPUs of all direct exchanges that are told apart: what a second of solving takes.
_MOST_PAIRS = 500_000


@dataclass(frozen=True)
class Token:
    """Bytes of one token on its way to one expert, and back."""

    dispatch: float
    combine: float


def token_bytes(model: Transformer) -> Token:
    """What a token weighs in an exchange."""
    scaled = 1 + _SCALE_BYTES / _SCALED_VALUES
    dispatch = scaled if model.precision == "fp8" else ACTIVATION_BYTES
    return Token(model.hidden * dispatch, float(model.hidden * ACTIVATION_BYTES))


def groups_of(own: Instance, first: int, size: int) -> Rings:
    """Runs of `size` ranks in instances of one kind that begin at rank `first`."""
    rank = np.arange(first, first + own.ranks, dtype=np.int32)
    start = np.arange(0, own.ranks + 1, size, dtype=np.int32)
    return Rings(rank=rank, start=start)


def tensor_wires(
    site: Site, model: Transformer, own: Instance, first: int, tokens: float
) -> list[Wire]:
    """Tensor parallel all-reduces of one step, in all layers; `tokens` are those of a GPU."""
    if own.tp == 1:
        return []
    reduces = 2 * model.layers - model.moe_layers
    buffer = tokens * own.tp * model.hidden * ACTIVATION_BYTES * reduces
    ranks = np.full(len(site.gpus), buffer)
    wires = site.shared("tp", groups_of(own, first, own.tp), ranks, 2)
    return [replace(w, steps=w.steps * reduces * own.microbatches) for w in wires]


def exchange_wires(
    site: Site, model: Transformer, own: Instance, first: int, tokens: float
) -> list[Wire]:
    """Dispatch and combine of one step, in all layers; `tokens` are those of a GPU.

    Raises:
        SpecError: ranks of different domains have to talk and have no NICs.
    """
    if own.ep == 1 or not model.experts:
        return []
    each = token_bytes(model)
    sent = tokens * model.moe_layers * (each.dispatch + each.combine)
    steps = 2 * model.moe_layers * own.microbatches
    groups = groups_of(own, first, own.ep)
    if own.exchange == "direct":
        return _direct(site, groups, sent * model.top_k, steps)
    cut = hierarchy(groups, domain_of(site.fabric, site.gpus))
    wires = []
    if cut.inside is not None:
        inside = np.full(len(site.gpus), sent * model.top_k * ring_share(cut.g))
        wires += site.rings("ep", cut.inside, inside, steps)
    if cut.across is not None:
        visited = domains_visited(cut.k, model.top_k, model.expert_domains)
        wires += rotations(site, cut.across, sent * visited * ring_share(cut.k), steps)
    return wires


def _direct(site: Site, groups: Rings, sent_bytes: float, steps: int) -> list[Wire]:
    """Every rank sends alike to all of its group, over NICs and inside domains.

    Model: where there would be too many pairs, each rank sends what it has for other domains to
    some of their ranks, evenly around the group; every NIC still sends and receives as much.
    """
    size = int(groups.sizes[0])
    grid = groups.rank.reshape(-1, size)
    domain = domain_of(site.fabric, site.gpus)[grid]
    shifts = np.arange(1, size)
    cut = hierarchy(groups, domain_of(site.fabric, site.gpus))
    few = max(1, _MOST_PAIRS // grid.size)
    far_shifts = np.arange(cut.g, size - cut.g + 1)
    thin = len(far_shifts) > few and cut.k > 1
    wires = []
    for near in (False, True):
        each = sent_bytes / size
        if thin and not near:
            step = np.linspace(0, len(far_shifts) - 1, few).round().astype(np.int64)
            own = far_shifts[step]
            each *= (size - cut.g) / len(own)
        else:
            own = shifts
        place = (np.arange(size)[:, None] + own) % size
        there, at = grid[:, place], domain[:, place]
        kept = (at == domain[:, :, None]) == near
        if not kept.any():
            continue
        here = np.broadcast_to(grid[:, :, None], there.shape)[kept]
        group = np.broadcast_to(np.arange(len(grid))[:, None, None], there.shape)[kept]
        ends = site.gpus[here], site.gpus[there[kept]]
        sizes = np.full(len(here), each)
        flows = connect(site.name, site.fabric, *ends, sizes, group.astype(np.int32))
        wires += [Wire("ep", flows, steps)] if len(flows.src) else []
    return wires


def cache_flows(
    site: Site, prefill: Instance, decode: Instance, requests: float, sent_bytes: float
) -> Flows:
    """KV cache from every GPU of prefill, `sent_bytes` each, to those of decode in turn.

    The transfers of one prefill instance keep step.
    Model: requests are handed on so that no GPU of decode receives from more of prefill at a time
    than it must; over many waves every one of them gets its turn.
    """
    free = min(_MOST_RECEIVERS, decode.ranks // prefill.ranks, int(-(-requests // 1)))
    count = max(1, free)
    sender = np.repeat(np.arange(prefill.ranks, dtype=np.int32), count)
    receiver = prefill.ranks + np.arange(len(sender), dtype=np.int32) % decode.ranks
    group = sender // prefill.gpus
    size = np.full(len(sender), sent_bytes / count)
    ends: tuple[I32, I32] = site.gpus[sender], site.gpus[receiver]
    return connect(site.name, site.fabric, *ends, size, group.astype(np.int32))
