"""A serving job as phases: what is computed, what is read, and what is sent to whom."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.spec import parts
from clusterscope.spec.models import Transformer, model, resolve_model
from clusterscope.spec.services import resolve_service
from clusterscope.spec.serving import DecodeSpec, PrefillSpec, ServeSpec
from clusterscope.spec.training import ModelSpec
from clusterscope.traffic import roofline
from clusterscope.traffic.exchanges import (
    cache_flows,
    exchange_wires,
    tensor_wires,
    token_bytes,
)
from clusterscope.traffic.serving import serving_phases
from clusterscope.traffic.serving_task import Serving
from clusterscope.traffic.stages import kernel_s_of, slowest_of
from clusterscope.traffic.transformer import attention_parameters, expert_parameters
from clusterscope.traffic.wires import Site
from tests.small import scenario

MOE = Transformer(
    layers=5,
    hidden=256,
    heads=4,
    kv_heads=2,
    head_dim=64,
    ffn=512,
    sequence=128,
    vocabulary=512,
    experts=16,
    top_k=3,
    expert_ffn=128,
    dense_layers=1,
    precision="fp8",
)
FABRIC = scenario().fabric  # 8 nodes of 2 GPUs, a domain each
H800 = parts.gpu("H800-SXM")


def serving(own: Transformer = MOE, gpu=H800, **keys) -> Serving:
    return Serving(own, resolve_service(ServeSpec(**keys), own, "serve"), gpu)


def decoding(own: Transformer = MOE, gpu=H800, **keys) -> Serving:
    return serving(own, gpu, decode=DecodeSpec(**keys))


def site(ranks: int = 16) -> Site:
    return Site("job", FABRIC, np.arange(ranks, dtype=np.int32), True)


def sent_by_gpu(flows) -> np.ndarray:
    """Bytes that every GPU of FABRIC sends, (G,); each has a NIC of its own."""
    port = {int(p): gpu for gpu, p in enumerate(FABRIC.gpu_nic_port)}
    out = np.zeros(FABRIC.gpus)
    for src, size in zip(flows.src.tolist(), flows.size_bytes.tolist(), strict=True):
        out[port[src] if src < FABRIC.ports else src - FABRIC.gpu_vertex] += size
    return out


def test_published_sizes_of_a_cached_token():
    # Insights into DeepSeek-V3, ISCA 2025, table 1: KV cache a token, 16 bit.
    qwen = ModelSpec(layers=80, hidden=8192, heads=64, kv_heads=8, sequence=1, vocabulary=1)
    found = {
        "deepseek": roofline.token_cache_bytes(model("deepseek-v3"), 2),
        "qwen 72b": roofline.token_cache_bytes(resolve_model(qwen, "x"), 2),
        "llama 405b": roofline.token_cache_bytes(model("llama3-405b"), 2),
    }
    assert found == {"deepseek": 70_272, "qwen 72b": 327_680, "llama 405b": 516_096}


def test_a_step_by_hand():
    own = decoding(gpus=8, ep=8, batch=10, microbatches=1, redundant_experts=8)
    decode = own.service.decode
    found = {part.name: part for part in own.parts(decode)}
    slow, rate = slowest_of(8), 3.35e12 * 0.9
    attention = 5 * attention_parameters(MOE)
    weights = found["attention weights"]
    assert weights.memory_s == pytest.approx(slow * attention / rate)
    flops = kernel_s_of(MOE, None, H800, np.array([2.0 * 10 * attention]), np.zeros(1))
    assert weights.compute_s == pytest.approx(slow * float(flops[0]))
    # Three of 24 experts are held by each of 8 GPUs; 80 tokens visit each of 16 for certain.
    held = 3 * expert_parameters(MOE) * 4
    assert found["routed experts"].memory_s == pytest.approx(slow * held / rate, rel=1e-6)
    context = 4096 + 512
    cache = 10 * context * 5 * 2 * 2 * 64 * 2
    assert found["scores"].memory_s == pytest.approx(slow * cache / rate)


def test_latent_attention_decodes_in_its_latent_width():
    deepseek = model("deepseek-v3")
    own = decoding(deepseek, gpus=144, batch=88, redundant_experts=32)
    scores = {p.name: p for p in own.parts(own.service.decode)}["scores"]
    width = 128 * (2 * 512 + 64)
    flops = np.array([2.0 * 88 * 61 * width * own.service.context])
    seconds = float(kernel_s_of(deepseek, None, H800, np.zeros(1), flops)[0])
    assert scores.compute_s == pytest.approx(slowest_of(144) * seconds)


@given(
    batch=st.integers(1, 300),
    parts_=st.integers(1, 4),
    context=st.integers(1, 20_000),
    tp=st.sampled_from([1, 2, 4]),
    balance=st.floats(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_a_step_takes_the_longer_of_operations_and_bytes(batch, parts_, context, tp, balance):
    batch = max(batch, parts_)
    decode = DecodeSpec(gpus=8, tp=tp, ep=8, batch=batch, microbatches=parts_)
    own = serving(decode=decode, input_tokens=context, output_tokens=2, balance=balance)
    found = own.parts(own.service.decode)
    assert own.compute_s(own.service.decode) == pytest.approx(
        sum(max(p.compute_s, p.memory_s) for p in found)
    )
    # Oracle: bytes by plain counting, token by token and part by part.
    slow, rate = slowest_of(8), 3.35e12 * 0.9
    cached = sum(4 * 2 * 64 * MOE.layers * max(1.0, tp / 2) * (context + 1) for _ in range(batch))
    weights = sum(MOE.layers * attention_parameters(MOE) / tp for _ in range(parts_))
    by_name = {p.name: p.memory_s for p in found}
    assert by_name["scores"] == pytest.approx(slow * cached / rate)
    assert by_name["attention weights"] == pytest.approx(slow * weights / rate)


@given(
    exchange=st.sampled_from(["direct", "forwarded"]),
    instances=st.integers(1, 2),
    gpus=st.sampled_from([1, 2, 4, 8]),
    groups=st.sampled_from([1, 2]),
    tokens=st.integers(1, 64),
)
@settings(max_examples=60, deadline=None)
def test_expert_exchange_against_plain_counting(exchange, instances, gpus, groups, tokens):
    ep = max(1, gpus // groups)
    own = decoding(gpus=gpus, ep=ep, batch=64, instances=instances, exchange=exchange)
    decode = own.service.decode
    wires = exchange_wires(site(), MOE, decode, 0, float(tokens))
    each = token_bytes(MOE)
    assert (each.dispatch, each.combine) == (256 * (1 + 4 / 128), 512)
    sent = tokens * 4 * (each.dispatch + each.combine)  # four layers with experts
    want = defaultdict(float)
    for rank in range(instances * gpus):
        first = rank // ep * ep
        domains = {peer // 2 for peer in range(first, first + ep)}
        for peer in range(first, first + ep):
            near = peer // 2 == rank // 2
            if peer == rank:
                continue
            if exchange == "direct":
                want["near" if near else "far"] += sent * 3 / ep
            elif near:
                want["near"] += sent * 3 / min(ep, 2)
        if exchange == "forwarded":
            hit = len(domains) * (1 - (1 - 1 / len(domains)) ** 3)
            want["far"] += sent * hit * (len(domains) - 1) / len(domains)
    got = defaultdict(float)
    for wire in wires:
        assert wire.kind == "ep"
        assert wire.steps == 2 * 4 * 2
        by_nic = wire.flows.src < FABRIC.ports
        got["far"] += float(wire.flows.size_bytes[by_nic].sum())
        got["near"] += float(wire.flows.size_bytes[~by_nic].sum())
    assert got["near"] == pytest.approx(want["near"])
    assert got["far"] == pytest.approx(want["far"])
    for wire in wires:  # all send alike, and no group leaves its instance
        busy = sent_by_gpu(wire.flows)[: instances * gpus]
        assert busy == pytest.approx(np.full(instances * gpus, busy[0]))


def test_tensor_sums_are_those_of_every_layer():
    own = decoding(gpus=4, tp=4, ep=4, batch=10, microbatches=2)
    inside, across = tensor_wires(site(), MOE, own.service.decode, 0, 10.0)
    buffer = 10 * 4 * 256 * 2 * (2 * 5 - 4)  # a layer with experts has one sum, not two
    assert inside.flows.size_bytes == pytest.approx(np.full(4, buffer * 2 / 2))
    assert across.flows.size_bytes == pytest.approx(np.full(4, buffer / 2))
    assert inside.steps == 2 * (2 - 1) * 6 * 2


@given(
    prefill=st.sampled_from([1, 2, 4]),
    decode=st.sampled_from([1, 2, 4, 8]),
    requests=st.floats(0.1, 40),
)
@settings(max_examples=60, deadline=None)
def test_the_cache_arrives_where_it_is_needed(prefill, decode, requests):
    own = serving(
        prefill=PrefillSpec(gpus=prefill, ep=1, instances=2),
        decode=DecodeSpec(gpus=decode, ep=1),
    )
    stages = own.service.prefill, own.service.decode
    flows = cache_flows(site(), *stages, requests, 1000.0)
    sent = sent_by_gpu(flows)
    assert sent[: 2 * prefill] == pytest.approx(np.full(2 * prefill, 1000.0))
    assert not sent[2 * prefill :].any()
    ports = FABRIC.gpu_nic_port[2 * prefill : 2 * prefill + decode].tolist()
    far = flows.dst[flows.dst < FABRIC.ports]
    assert set(far.tolist()) <= set(ports)
    most = np.bincount(far).max(initial=0)
    assert most <= -(-2 * prefill // decode)  # never more senders at one NIC than there must be


@given(
    inputs=st.integers(1, 8192),
    outputs=st.integers(1, 4096),
    cached=st.sampled_from([0.0, 0.5]),
    drafts=st.integers(0, 2),
)
@settings(max_examples=60, deadline=None)
def test_a_wave_answers_what_it_reads(inputs, outputs, cached, drafts):
    own = serving(
        input_tokens=inputs,
        output_tokens=outputs,
        cached_ratio=cached,
        drafts=drafts,
        prefill=PrefillSpec(gpus=4, instances=2, batch_tokens=2048),
        decode=DecodeSpec(gpus=8, batch=16),
    )
    read = own.passes * 8 * 2048
    assert own.requests * inputs * (1 - cached) == pytest.approx(read)
    written = own.steps * 8 * 16 * own.service.tokens_per_step
    assert written == pytest.approx(own.requests * outputs)
    assert own.steps >= 1 - 1e-12


def test_phases_run_beside_each_other():
    own = serving(
        prefill=PrefillSpec(gpus=4), decode=DecodeSpec(gpus=8), input_tokens=64, output_tokens=64
    )
    phases = serving_phases(own, site(12))
    assert [p.name for p in phases] == ["prefill", "KV cache transfer", "decode"]
    cached = own.requests * 64 * roofline.token_cache_bytes(MOE, 2)
    assert float(phases[1].demand.size_bytes.sum()) == pytest.approx(cached)
    alone = serving_phases(decoding(gpus=8), site(8))
    assert [p.name for p in alone] == ["decode"]


def test_a_forwarded_exchange_takes_cores_from_computing_beside_it():
    whole = serving(prefill=PrefillSpec(gpus=4, exchange="direct"))
    shared = serving(prefill=PrefillSpec(gpus=4, exchange="forwarded"))
    ratio = shared.compute_s(shared.service.prefill) / whole.compute_s(whole.service.prefill)
    assert ratio == pytest.approx(132 / 112)


def test_many_pairs_are_thinned_and_no_byte_is_lost(monkeypatch):
    own = decoding(gpus=16, ep=16, batch=64)
    whole = exchange_wires(site(), MOE, own.service.decode, 0, 64.0)
    monkeypatch.setattr("clusterscope.traffic.exchanges._MOST_PAIRS", 80)
    thin = exchange_wires(site(), MOE, own.service.decode, 0, 64.0)
    assert len(thin[0].flows.src) == 16 * 5 < len(whole[0].flows.src)
    for few, many in zip(thin, whole, strict=True):
        assert sent_by_gpu(few.flows) == pytest.approx(sent_by_gpu(many.flows))
        received = np.bincount(few.flows.dst, few.flows.size_bytes)
        other = np.bincount(many.flows.dst, many.flows.size_bytes)
        assert received == pytest.approx(other)
