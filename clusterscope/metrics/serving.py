"""How a job serves: time to the first token, time a token, tokens a second, and what bounds them.

    TTFT  = one pass of prefill + what of the KV cache transfer is not sent meanwhile
    TPOT  = one decode step / tokens that a request gains in it
    requests/s = the least of what prefill, transfer and decode manage

A pass or step takes what the engine gives its phase of a wave, over the passes or steps of the wave
(`traffic.serving_task`); an instance whose GPUs cannot reach each other serves nobody, and the
others go on. No waiting in queues, no scheduler: requests come as evenly as batches take them.

* formula: what DeepSeek prints as the limit of direct exchanges (Insights into DeepSeek-V3, ISCA
  2025, section 2.3.2): every path of every token at line rate, that of the shared expert too, one
  byte out and two back, in all layers: 3 tokens paths h / B a part of the batch and layer. Ours is
  shorter by the layers without experts, by paths inside a node and by the shared expert, which
  every GPU has, and longer by scales, headers and latency.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from clusterscope.columns import F64
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.step import iteration_parts
from clusterscope.engine.straggling import slowness
from clusterscope.metrics.training import Span
from clusterscope.metrics.waves import (
    Wave,
    by_instance,
    entity_s,
    exchange_of,
    exposed_s,
    link_of,
    sends_of,
    spans_of,
    transfer_of,
)
from clusterscope.spec.services import Instance
from clusterscope.traffic.flows import Flows
from clusterscope.traffic.roofline import holds
from clusterscope.traffic.serving import TRANSFER
from clusterscope.traffic.serving_task import Serving
from clusterscope.traffic.volumes import decode_token_s, expert_step_s
from clusterscope.units import GIGA, gbps_to_GBps

_BYTE_OUT, _BYTES_BACK = 1, 2


@dataclass(frozen=True)
class StageMetrics:
    """Prefill or decode instances at a frame; seconds of one pass or step unless said otherwise.

    Attributes:
        plan: the instances in words.
        instances: how many there are.
        running: how many of them serve.
        step_s: one pass or step of the slowest that serves; inf when none does.
        requests_per_s: of all that serve.
        tokens_per_s: prompts read (what was cached too), or tokens written.
        tokens_per_s_per_gpu: of an instance that serves, a mean.
        tokens_per_s_per_node: the same for all GPUs of a node.
        compute_s: computing that operations pace.
        memory_s: computing that reading memory paces.
        exchange_s: expert exchange at line rate, with latency; hidden or not.
        dispatch_s: tokens to their experts, in one layer and part of the batch.
        combine_s: results back, in one layer and part of the batch.
        exposed_s: seconds waited, by kind of communication ("tp", "ep").
        formula_s: a step by DeepSeek's formula (see above); 0 without a direct exchange.
        bound: what paces it: "computing", "memory", "expert exchange" or "tensor parallel".
        bound_link: link that paces its slowest sends, -1 when none does.
        weights_bytes: on one GPU.
        cache_bytes: KV cache on one GPU.
        memory_bytes: of one GPU.
    """

    plan: str
    instances: int
    running: int
    step_s: float
    requests_per_s: float
    tokens_per_s: float
    tokens_per_s_per_gpu: float
    tokens_per_s_per_node: float
    compute_s: float
    memory_s: float
    exchange_s: float
    dispatch_s: float
    combine_s: float
    exposed_s: dict[str, float]
    formula_s: float
    bound: str
    bound_link: int
    weights_bytes: float
    cache_bytes: float
    memory_bytes: float


@dataclass(frozen=True)
class TransferMetrics:
    """The KV cache on its way from prefill to decode.

    Attributes:
        token_bytes: of one token, all layers.
        request_bytes: of one prompt.
        seconds: all requests of one pass, sent as fast as they go; inf when it stalls.
        exposed_s: what a request waits for it after its pass.
        requests_per_s: that could be sent one pass after another.
        bound_link: link that paces the slowest, -1 when none does.
    """

    token_bytes: float
    request_bytes: float
    seconds: float
    exposed_s: float
    requests_per_s: float
    bound_link: int


@dataclass(frozen=True)
class ServingMetrics:
    """A serving job at a frame.

    Attributes:
        model: what is served.
        plan: its instances in words.
        ttft_s: time to the first token, without waiting; nan without prefill.
        tpot_s: time per output token after it; nan without decode.
        user_tokens_per_s: tokens a second of one request.
        requests_per_s: of the whole service; 0 when it stands still.
        tokens_per_s: written by the whole service; read by it when nothing is decoded.
        bound: what holds requests_per_s back: "prefill", "KV cache transfer" or "decode".
        prefill: None when there is none.
        decode: None when there is none.
        transfer: None when nothing is sent.
        spans: one wave, row by row; stages run beside each other.
    """

    model: str
    plan: str
    ttft_s: float
    tpot_s: float
    user_tokens_per_s: float
    requests_per_s: float
    tokens_per_s: float
    bound: str
    prefill: StageMetrics | None
    decode: StageMetrics | None
    transfer: TransferMetrics | None
    spans: tuple[Span, ...]


def serving_metrics(
    network: Network, job: int, line_gbps: F64, slower: float = 1.0
) -> ServingMetrics | None:
    """How a job serves; None for any other job.

    Args:
        network: what it runs in.
        job: the job.
        line_gbps: line rate of every vertex.
        slower: times as long as alone in the network, where others run beside it.
    """
    if network.scenario.program[job].serving is None:
        return None
    wave = Wave(network, job, iteration_parts(network.scenario, network, job), line_gbps)
    serving = wave.serving
    service = serving.service
    prefill = _stage(wave, service.prefill, slower) if service.prefill else None
    decode = _stage(wave, service.decode, slower) if service.decode else None
    transfer = _transfer(wave, prefill, slower)
    able = {"prefill": prefill, TRANSFER: transfer, "decode": decode}
    rates = {name: own.requests_per_s for name, own in able.items() if own is not None}
    bound = min(rates, key=rates.__getitem__)
    ttft = math.nan if prefill is None else prefill.step_s
    ttft += transfer.exposed_s if transfer else 0.0
    tpot = math.nan if decode is None else decode.step_s / service.tokens_per_step
    each = service.output_tokens if decode else service.input_tokens
    return ServingMetrics(
        model=serving.model.name,
        plan=service.text,
        ttft_s=ttft,
        tpot_s=tpot,
        user_tokens_per_s=1.0 / tpot if decode else math.nan,
        requests_per_s=rates[bound],
        tokens_per_s=rates[bound] * each,
        bound=bound,
        prefill=prefill,
        decode=decode,
        transfer=transfer,
        spans=spans_of(wave),
    )


def serving_row(scenario: Scenario, own: ServingMetrics) -> dict[str, object]:
    """A serving job as plain values, links by name."""
    found: dict[str, Any] = asdict(own)
    for key in ("prefill", "decode", "transfer"):
        if found[key] is not None:
            link = found[key]["bound_link"]
            found[key]["bound_link"] = scenario.names.link(link) if link >= 0 else None
    return found


def _stage(wave: Wave, own: Instance, slower: float) -> StageMetrics:
    """Instances of one kind."""
    serving, place = wave.serving, wave.place(own.kind)
    service, step = serving.service, serving.step(own)
    seconds, count = slower * by_instance(wave, place, own), serving.count(own)
    live = np.isfinite(seconds)
    steps = seconds[live] / count
    gains = 1.0 / service.output_tokens * service.tokens_per_step if own.kind == "decode" else 1.0
    requests = own.gpus * step.requests * gains * float((1.0 / steps).sum())
    tokens = requests * (service.input_tokens if own.kind == "prefill" else service.output_tokens)
    per_gpu = tokens / (own.gpus * len(steps)) if len(steps) else 0.0
    kept = holds(serving.model, service, own)
    slow = _slowest(wave, own)
    exchange = exchange_of(wave, place, count, slow)
    compute, by_memory = (s * slow for s in _computing(serving, own))
    waits = float(steps.max()) - compute - by_memory if len(steps) else math.nan
    exposed = exposed_s(wave, place, waits, count)
    return StageMetrics(
        plan=own.text,
        instances=own.instances,
        running=len(steps),
        step_s=float(steps.max()) if len(steps) else math.inf,
        requests_per_s=requests,
        tokens_per_s=tokens,
        tokens_per_s_per_gpu=per_gpu,
        tokens_per_s_per_node=per_gpu * wave.network.scenario.spec.node.gpus,
        compute_s=compute,
        memory_s=by_memory,
        exchange_s=exchange.seconds,
        dispatch_s=exchange.way_s(serving, own, 0),
        combine_s=exchange.way_s(serving, own, 1),
        exposed_s=exposed,
        formula_s=_formula_s(wave, place, own),
        bound=_bound(compute, by_memory, exposed, exchange.seconds if own.microbatches > 1 else 0),
        bound_link=link_of(wave, place),
        weights_bytes=kept.weights_bytes,
        cache_bytes=step.requests * kept.request_bytes,
        memory_bytes=serving.gpu.hbm_gb * GIGA,
    )


def _slowest(wave: Wave, own: Instance) -> float:
    """Time of the slowest GPU of a stage over that of one with its own speed."""
    slow = slowness(wave.program, wave.network.actual)
    if slow is None:
        return 1.0
    prefill = wave.serving.service.prefill
    first = prefill.ranks if own.kind == "decode" and prefill is not None else 0
    return float(slow[first : first + own.ranks].max())


def _computing(serving: Serving, own: Instance) -> tuple[float, float]:
    """Computing of a pass or step that operations pace, and that memory paces, seconds."""
    by_memory = sum(p.memory_s for p in serving.parts(own) if p.memory_s > p.compute_s)
    by_memory /= 1.0 - serving.cores_ratio(own)
    return serving.compute_s(own) - by_memory, by_memory


def _formula_s(wave: Wave, place: int, own: Instance) -> float:
    """The direct exchange of one pass or step by DeepSeek's formula; 0 without one."""
    serving, demand = wave.serving, wave.program.phases[place].demand
    model, mine = serving.model, sends_of(wave, place, "ep")
    if not len(mine) or own.exchange != "direct":
        return 0.0
    assert isinstance(demand, Flows)
    nics = demand.src[demand.src < wave.network.scenario.fabric.ports]
    gbps = float(wave.line_gbps[nics if len(nics) else demand.src].min())
    gbps *= wave.network.scenario.fabric.ports_per_nic if len(nics) else 1
    out = _BYTE_OUT if model.precision == "fp8" else _BYTES_BACK
    paths = model.top_k + model.shared_experts
    tokens = serving.step(own).tokens / own.microbatches
    step = expert_step_s(tokens, model.hidden, paths, out + _BYTES_BACK, gbps_to_GBps(gbps))
    return decode_token_s(model.layers, step, own.microbatches)


def _bound(compute_s: float, memory_s: float, waited_s: dict[str, float], beside_s: float) -> str:
    """What paces a pass or step: the longest of what it goes through.

    `beside_s` is what goes on beside computing.
    """
    waits = waited_s.get("ep", 0.0)
    if beside_s > compute_s + memory_s:
        return "expert exchange"
    lasts = {
        "computing": compute_s,
        "memory": memory_s,
        "expert exchange": waits,
        "tensor parallel": waited_s.get("tp", 0.0),
    }
    return max(lasts, key=lasts.__getitem__)


def _transfer(wave: Wave, prefill: StageMetrics | None, slower: float) -> TransferMetrics | None:
    """The KV cache transfer; None when nothing is sent."""
    place = wave.place(TRANSFER)
    if place < 0 or prefill is None:
        return None
    serving = wave.serving
    service = serving.service
    assert service.prefill is not None
    live = np.isfinite(entity_s(wave, place))
    whole_s, paced_by = transfer_of(wave, place, _slowest(wave, service.prefill))
    seconds = slower * whole_s / serving.passes
    waits = seconds
    if service.kv_overlap and math.isfinite(seconds):
        # The last layer goes when its computing is done; the others beside that of later layers.
        last = 1.0 / serving.model.layers
        waits = max(seconds * last, seconds - prefill.step_s * (1 - last))
    requests = serving.requests / serving.passes * float(live.mean())
    return TransferMetrics(
        token_bytes=serving.token_cache_bytes,
        request_bytes=serving.token_cache_bytes * service.input_tokens,
        seconds=seconds,
        exposed_s=waits,
        requests_per_s=requests / seconds,
        bound_link=paced_by,
    )
