"""What a service reaches: tokens, seconds, what bounds them, and what a failure leaves of it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.causes import causes
from clusterscope.metrics.explain import explain
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.report import json_safe, report
from clusterscope.metrics.serving import serving_row
from clusterscope.metrics.subject import subject_of
from clusterscope.spec.presets import load
from clusterscope.spec.services import CATALOGUE
from tests.small import scenario

MODEL = {
    "layers": 4,
    "hidden": 1024,
    "heads": 8,
    "sequence": 128,
    "vocabulary": 1024,
    "experts": 16,
    "top_k": 4,
    "expert_ffn": 512,
    "precision": "fp8",
}
DECODE = {"gpus": 16, "batch": 32, "microbatches": 1}
BOTH = {"prefill": {"gpus": 4, "instances": 2, "batch_tokens": 2048}, "decode": {"gpus": 8}}


def built(serve, model=None, **changes):
    job = {"name": "chat", "model": MODEL | (model or {}), "serve": serve}
    return scenario(jobs=[job], transport={"name": "infiniband", "reroute_s": 0.0}, **changes)


def at(made, *events, step=0):
    timeline = Timeline(made)
    for kind, name in events:
        timeline.inject(Event.named(made.names, kind, name, step=0))
    return job_metrics(made, timeline.at(step))[0]


def test_a_step_is_computing_and_the_exchange_when_nothing_overlaps():
    made = built({"decode": DECODE})
    job = at(made)
    own, decode = job.serving, job.serving.decode
    computing = decode.compute_s + decode.memory_s
    assert own.tpot_s == decode.step_s == pytest.approx(job.iteration_s)
    assert decode.step_s == pytest.approx(computing + decode.exchange_s)
    assert decode.exposed_s == {"ep": pytest.approx(decode.exchange_s)}
    # By hand: a GPU sends 14 of 16 parts of its tokens to other nodes, at what its NIC carries.
    sent = 32 * 4 * 4 * 1024 * (1 + 4 / 128 + 2) * 14 / 16
    latency = made.healthy.phase((0, 0)).latency_s.max()
    line_s = sent * 8 / (100e9 * made.transport.goodput_ratio)
    assert decode.exchange_s >= line_s + latency * (1 - 1e-9)
    assert own.tokens_per_s == pytest.approx(16 * 32 / own.tpot_s)
    assert decode.tokens_per_s_per_node == pytest.approx(2 * 32 / own.tpot_s)
    assert own.requests_per_s == pytest.approx(own.tokens_per_s / 1024)
    assert math.isnan(own.ttft_s)
    assert own.transfer is None


def test_two_parts_hide_the_exchange_or_are_paced_by_it():
    short = {"input_tokens": 16, "output_tokens": 16}
    slow = at(built(short | {"decode": DECODE | {"microbatches": 2, "batch": 512}})).serving.decode
    assert slow.bound == "expert exchange"
    assert slow.step_s == pytest.approx(slow.exchange_s)
    fast = at(built({"decode": DECODE | {"microbatches": 2, "batch": 8}})).serving.decode
    assert fast.bound == "memory"
    assert fast.exposed_s == {}
    assert 0 < fast.exchange_s < fast.step_s
    assert fast.step_s == pytest.approx(fast.compute_s + fast.memory_s)
    dense = {"experts": 0, "top_k": 0, "expert_ffn": None}
    alone = at(built({"decode": {"gpus": 16}}, dense)).serving.decode
    assert (alone.exchange_s, alone.exposed_s) == (0.0, {})
    assert alone.step_s == pytest.approx(alone.compute_s + alone.memory_s)
    assert alone.bound in ("memory", "computing")


def test_guesses_that_hold_shorten_a_token():
    plain = at(built({"decode": DECODE})).serving
    guessed = at(built({"decode": DECODE, "drafts": 1, "accepted": 0.8})).serving
    assert guessed.tpot_s == pytest.approx(guessed.decode.step_s / 1.8)
    assert plain.decode.step_s < guessed.decode.step_s < 2 * plain.decode.step_s


def test_the_first_token_waits_for_its_pass_and_the_rest_of_its_cache():
    job = at(built(BOTH))
    own = job.serving
    assert own.ttft_s == pytest.approx(own.prefill.step_s + own.transfer.exposed_s)
    assert own.transfer.exposed_s < own.transfer.seconds
    whole = at(built(BOTH | {"kv_overlap": False})).serving
    assert whole.transfer.exposed_s == whole.transfer.seconds
    stages = (own.prefill, own.transfer, own.decode)
    assert own.requests_per_s == min(stage.requests_per_s for stage in stages)
    assert own.transfer.token_bytes == 4 * 2 * 1024 * 2
    # The longest phase of a wave is what holds the service back.
    wave = job.iteration_s * own.requests_per_s
    requests = built(BOTH).program[0].serving.requests
    assert wave == pytest.approx(requests, rel=0.05)


@given(nic=st.sampled_from([25.0, 50.0, 200.0, 400.0]), parts=st.sampled_from([1, 2]))
@settings(max_examples=8, deadline=None)
def test_faster_nics_never_serve_slower(nic, parts):
    keys = {"decode": DECODE | {"microbatches": parts}}
    slow = at(built(keys, node__nic_gbps=nic)).serving
    fast = at(built(keys, node__nic_gbps=2 * nic)).serving
    assert fast.tpot_s <= slow.tpot_s * (1 + 1e-9)
    assert fast.tokens_per_s >= slow.tokens_per_s * (1 - 1e-9)


def test_a_dead_node_takes_its_instance_along_and_no_other():
    made = built(BOTH)
    whole, hurt = at(made).serving, at(made, ("fail", "node0")).serving
    assert (whole.prefill.running, hurt.prefill.running) == (2, 1)
    assert hurt.prefill.requests_per_s == pytest.approx(whole.prefill.requests_per_s / 2, rel=0.02)
    assert hurt.decode.running == 1
    assert hurt.requests_per_s > 0
    gone = at(made, ("fail", "node7"), ("fail", "node4")).serving
    assert (gone.decode.running, gone.requests_per_s, gone.tokens_per_s) == (0, 0.0, 0.0)
    assert math.isinf(gone.tpot_s)


def test_a_slow_gpu_is_waited_for_by_its_instance():
    made = built({"decode": {"gpus": 16, "batch": 256}})
    whole, timeline = at(made).serving, Timeline(made)
    timeline.inject(Event.named(made.names, "degrade", "node3/gpu1", step=0, scale=0.25))
    slow = job_metrics(made, timeline.at(0))[0].serving
    assert slow.decode.compute_s == pytest.approx(4 * whole.decode.compute_s)
    assert slow.tpot_s >= whole.tpot_s


def test_a_slow_gpu_of_decode_holds_no_first_token_up():
    made = build(load("deepseek-v3-serve"))
    whole, timeline = at(made).serving, Timeline(made)
    timeline.inject(Event.named(made.names, "degrade", "node13/gpu0", step=0, scale=0.5))
    slow = job_metrics(made, timeline.at(0))[0].serving
    assert slow.ttft_s == pytest.approx(whole.ttft_s)
    assert slow.transfer.seconds == pytest.approx(whole.transfer.seconds)
    assert slow.tpot_s == pytest.approx(2 * whole.tpot_s, rel=0.01)


def test_less_of_a_link_is_a_longer_token():
    made = built({"decode": DECODE})
    timeline = Timeline(made)
    timeline.inject(Event.named(made.names, "degrade", "node3/nic0:u0", step=0, scale=0.5))
    slow = job_metrics(made, timeline.at(0))[0].serving.decode
    assert slow.exchange_s > 1.5 * at(made).serving.decode.exchange_s
    assert made.names.link(slow.bound_link).startswith("node3/nic0")


def test_the_formula_is_the_exchange_without_scales_headers_and_paths_at_home():
    # One GPU a node, experts in all layers, none shared: what is left between both is known.
    node = {"count": 8, "gpus": 1, "gpu": "H100-SXM", "nics": 1, "nic_gbps": 100.0}
    made = built({"decode": {"gpus": 8, "batch": 256}}, node=node, scale_up=None)
    decode = at(made).serving.decode
    sending = decode.exchange_s - float(made.healthy.phase((0, 0)).latency_s.max())
    known = 7 / 8 * (1 + 4 / 128 + 2) / 3 / made.transport.goodput_ratio
    assert sending == pytest.approx(decode.formula_s * known, rel=1e-3)


def test_spans_of_a_wave_lie_inside_it():
    job = at(built(BOTH))
    assert {span.name.split(":")[0] for span in job.serving.spans} == {
        "prefill",
        "KV cache transfer",
        "decode",
    }
    for span in job.serving.spans:
        assert 0 <= span.begin_s <= span.end_s <= job.iteration_s * (1 + 1e-9)


def test_the_report_holds_the_service_and_names_its_links():
    made = built(BOTH)
    row = report(Timeline(made), 0)["jobs"][0]
    assert row["serving"] == json_safe(serving_row(made, at(made).serving))
    assert isinstance(row["serving"]["decode"]["bound_link"], str | None)
    assert row["training"] is None


@pytest.mark.parametrize(
    ("name", "published", "faster"),
    [
        ("deepseek-v3-h800", {"prefill": 73_700, "decode": 14_800}, (1.3, 1.7)),
        ("deepseek-v3-h100-96", {"prefill": 52_300, "decode": 22_300}, (0.9, 2.1)),
    ],
)
def test_what_was_published_is_slower_by_as_much_as_the_docs_say(name, published, faster):
    # No fit: the model leaves out quiet hours, unequal experts and more; docs say how much.
    made = build(load(CATALOGUE.text(name, "preset"), [f'jobs=[{{name="chat",serve="{name}"}}]']))
    own = job_metrics(made, Timeline(made).at(0))[0].serving
    for kind, tokens in published.items():
        ratio = getattr(own, kind).tokens_per_s_per_node / tokens
        assert faster[0] < ratio < faster[1], (kind, ratio)


@pytest.mark.parametrize("name", ["infiniband", "rocev2", "roce-ar", "spectrum-x"])
def test_what_hides_beside_computing_leaves_the_rest_of_the_links_to_others(name):
    made = built(BOTH | {"input_tokens": 256, "output_tokens": 256}, transport__name=name)
    keys = ((0, 0), (0, 1), (0, 2))
    share = made.healthy.share(keys)
    for key in keys:
        load, latency = made.loads[0][key[1]], made.healthy.phase(key).latency_s
        room = load.work.beside_s[load.work.wire] - latency
        wanted = load.size_bytes[room > 0] * 8 / room[room > 0] / 1e9
        assert (share.rate_gbps[key][room > 0] <= wanted * (1 + 1e-9)).all()


def test_a_service_with_one_dead_instance_is_slower_and_not_dead():
    made = built(BOTH | {"input_tokens": 4096, "output_tokens": 32, "efficiency": 0.05})
    whole, hurt = at(made), at(made, ("fail", "node0"))
    assert "decode" not in (whole.serving.bound, hurt.serving.bound)
    assert not hurt.stalled
    lost = whole.serving.tokens_per_s / hurt.serving.tokens_per_s
    assert lost == pytest.approx(2.0, rel=0.02)
    # Every figure of the job tells the same: wave, slowdown, busbw, and what failures take of it.
    assert hurt.slowdown == pytest.approx(lost, rel=0.02)
    assert hurt.busbw_GBps == pytest.approx(whole.busbw_GBps / lost, rel=0.02)
    timeline = Timeline(made)
    timeline.inject(Event.named(made.names, "fail", "node0", step=0))
    split = causes(made, timeline.at(0))[0]
    assert split["failures"] == pytest.approx(hurt.iteration_s - whole.iteration_s, rel=0.02)
    # Time goes on: waves end in the timeline too.
    steps = math.ceil(3 * hurt.iteration_s / made.spec.sim.dt_s)
    assert at(made, ("fail", "node0"), step=steps).iterations >= 2
    gone = at(made, ("fail", "node0"), ("fail", "node2"), ("fail", "node3"))
    assert gone.stalled
    assert gone.serving.tokens_per_s == 0.0


def test_a_transfer_goes_between_the_bursts_of_decode():
    # Decode in one part needs its NICs for less of the time, and must not keep the cache waiting.
    serve = BOTH | {"input_tokens": 1024, "output_tokens": 512}
    one, two = ({"gpus": 8, "batch": 32, "microbatches": parts} for parts in (1, 2))
    bursts = at(built(serve | {"decode": one})).serving
    hidden = at(built(serve | {"decode": two})).serving
    assert bursts.transfer.seconds <= hidden.transfer.seconds * 1.05
    assert bursts.ttft_s <= hidden.ttft_s * 1.05
    # Nothing is won for free: what decode sends in turn is no faster than without the transfer.
    alone = at(built(serve | {"prefill": None, "decode": one})).serving
    assert bursts.tpot_s >= alone.tpot_s * (1 - 1e-9)


def test_what_holds_a_service_back_is_told_in_tokens():
    made = built(BOTH | {"input_tokens": 4096, "output_tokens": 32, "efficiency": 0.05})
    timeline = Timeline(made, [Event.named(made.names, "fail", "node0", step=0)])
    frame = timeline.at(0)
    (job,) = job_metrics(made, frame)
    found = explain(subject_of(made, frame.network, "chat"), frame.network)
    assert found.unit == "tokens/s"
    assert found.value == pytest.approx(job.serving.tokens_per_s, rel=0.02)
