"""JSON Schema of `report.json`, version 1: keys are added within a version, never taken away."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "number"}
_MAYBE: Schema = {"type": ["number", "null"]}
_MAYBE_TEXT: Schema = {"type": ["string", "null"]}
_FLAG: Schema = {"type": "boolean"}
_RATIO: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1.000001}
_BAND: Schema = {"type": "array", "items": _MAYBE, "minItems": 2, "maxItems": 2}


def _record(**properties: Schema) -> Schema:
    """An object in which all of the properties are there."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(items: Schema) -> Schema:
    """An array of one kind of item."""
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    """An object with free keys and one kind of value."""
    return {"type": "object", "additionalProperties": values}


_TIER = _record(
    links=_COUNT,
    live=_COUNT,
    down=_COUNT,
    mean=_RATIO,
    p50=_RATIO,
    p99=_RATIO,
    max=_RATIO,
    peak=_RATIO,
    worst_link=_MAYBE_TEXT,
)
_LINK = _record(
    link=_TEXT,
    load_gbps=_NUMBER,
    capacity_gbps=_NUMBER,
    utilization=_RATIO,
    peak=_RATIO,
    jobs=_list(_TEXT),
)
_SPAN = _record(
    name=_TEXT,
    kind={"enum": ["compute", "communication", "hidden", "bubble"]},
    network=_TEXT,
    begin_s=_NUMBER,
    end_s=_NUMBER,
)
_STAGE = _record(
    plan=_TEXT,
    instances=_COUNT,
    running=_COUNT,
    step_s=_MAYBE,
    requests_per_s=_NUMBER,
    tokens_per_s=_NUMBER,
    tokens_per_s_per_gpu=_NUMBER,
    tokens_per_s_per_node=_NUMBER,
    compute_s=_NUMBER,
    memory_s=_NUMBER,
    exchange_s=_MAYBE,
    dispatch_s=_MAYBE,
    combine_s=_MAYBE,
    exposed_s=_map(_NUMBER),
    formula_s=_NUMBER,
    bound=_TEXT,
    bound_link=_MAYBE_TEXT,
    weights_bytes=_NUMBER,
    cache_bytes=_NUMBER,
    memory_bytes=_NUMBER,
)
_TRANSFER = _record(
    token_bytes=_NUMBER,
    request_bytes=_NUMBER,
    seconds=_MAYBE,
    exposed_s=_MAYBE,
    requests_per_s=_NUMBER,
    bound_link=_MAYBE_TEXT,
)
_SERVING = _record(
    model=_TEXT,
    plan=_TEXT,
    ttft_s=_MAYBE,
    tpot_s=_MAYBE,
    user_tokens_per_s=_MAYBE,
    requests_per_s=_NUMBER,
    tokens_per_s=_NUMBER,
    bound=_TEXT,
    prefill={"anyOf": [{"type": "null"}, _STAGE]},
    decode={"anyOf": [{"type": "null"}, _STAGE]},
    transfer={"anyOf": [{"type": "null"}, _TRANSFER]},
    spans=_list(_SPAN),
)
_TRAINING = _record(
    model=_TEXT,
    plan=_TEXT,
    tokens=_COUNT,
    tokens_per_s=_NUMBER,
    mfu=_RATIO,
    tflops_per_gpu=_NUMBER,
    compute_s=_NUMBER,
    bubble_s=_NUMBER,
    exposed_s=_map(_NUMBER),
    spans=_list(_SPAN),
    straggler={
        "anyOf": [
            {"type": "null"},
            _record(rank=_COUNT, gpu=_TEXT, speed=_RATIO, ranks=_COUNT, lost_s=_NUMBER),
        ]
    },
)
_JOB = _record(
    name=_TEXT,
    collective=_TEXT,
    ranks=_COUNT,
    message_bytes=_NUMBER,
    iteration_s=_MAYBE,
    alone_s=_MAYBE,
    last_iteration_s=_MAYBE,
    ideal_s=_NUMBER,
    healthy_s=_MAYBE,
    latency_s=_MAYBE,
    algbw_GBps=_NUMBER,
    busbw_GBps=_NUMBER,
    line_GBps=_NUMBER,
    error_band=_BAND,
    share_of_line={**_MAYBE, "minimum": 0},
    slowdown=_MAYBE,
    stalled=_FLAG,
    mfu=_MAYBE,
    mfu_band={"anyOf": [{"type": "null"}, _BAND]},
    iterations=_COUNT,
    running_phase=_COUNT,
    training={"anyOf": [{"type": "null"}, _TRAINING]},
    serving={"anyOf": [{"type": "null"}, _SERVING]},
    algorithm=_TEXT,
    protocol=_TEXT,
    settled={
        "anyOf": [
            {"type": "null"},
            _record(from_s=_NUMBER, iteration_s=_MAYBE, busbw_GBps=_NUMBER, alone_s=_MAYBE),
        ]
    },
)
_PHASE = _record(
    job=_TEXT,
    name=_TEXT,
    network={"enum": ["scale-up", "scale-out"]},
    seconds=_MAYBE,
    latency_s=_MAYBE,
    bytes=_NUMBER,
    bound_link=_MAYBE_TEXT,
    rate_gbps=_MAYBE,
    entities=_COUNT,
    stalled=_COUNT,
    unreached=_COUNT,
    connections=_COUNT,
)
_TENANT = _record(
    job=_TEXT,
    alone=_MAYBE,
    slowdown=_list(_MAYBE),
    all=_MAYBE,
    meets=_MAYBE_TEXT,
)
_EVENT = _record(step=_COUNT, kind={"enum": ["fail", "degrade", "restore"]}, target=_TEXT)
_FINDING = _record(
    severity={"enum": ["error", "warning", "info"]}, rule=_TEXT, where=_TEXT, message=_TEXT
)
_ITEM = _record(
    kind=_TEXT,
    part=_TEXT,
    count=_COUNT,
    each=_NUMBER,
    total=_NUMBER,
    estimate=_FLAG,
    source=_TEXT,
)
_TOTALS = _record(
    unit={"enum": ["usd", "watts"]},
    total=_NUMBER,
    network=_NUMBER,
    estimate_ratio=_RATIO,
    items=_list(_ITEM),
)
_TRANSPORT = _record(
    name=_TEXT,
    title=_TEXT,
    load_balancing=_TEXT,
    hash_seed=_TEXT,
    qps=_COUNT,
    channels=_MAYBE,
    ordering=_TEXT,
    goodput_ratio=_RATIO,
    nic_latency_s=_NUMBER,
    reroute_s=_NUMBER,
    reroute_by=_TEXT,
    loss_rate=_NUMBER,
    recovery=_TEXT,
    congestion=_TEXT,
    error_band=_BAND,
    evidence=_TEXT,
)
_FACTS: dict[str, Schema] = {
    "name": {"enum": ["scale-up", "scale-out", "front-end"]},
    "technology": _TEXT,
    "made_of": _TEXT,
    "reached": _COUNT,
    "each_gbps": _NUMBER,
    "bisection_gbps": _NUMBER,
    "switches": _COUNT,
    "cables": _COUNT,
    "cables_are": _TEXT,
    "latency_s": _NUMBER,
    "usd": _NUMBER,
    "watts": _NUMBER,
}
_STORAGE = _record(
    nodes=_COUNT, gbps=_NUMBER, checkpoint_bytes=_NUMBER, seconds=_NUMBER, narrowest=_TEXT
)
_FRONT_END = _record(
    **_FACTS,
    node_gbps=_NUMBER,
    tiers=_map(_COUNT),
    cables_by_tier=_map(_COUNT),
    storage={"anyOf": [{"type": "null"}, _STORAGE]},
)
_SERIES = _record(
    step=_list(_COUNT),
    iterations=_map(_list(_COUNT)),
    utilization=_map(_record(mean=_list(_RATIO), max=_list(_RATIO))),
)

SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "ClusterScope report",
    **_record(
        schema={"const": 1},
        clusterscope=_TEXT,
        spec={"type": "object"},
        seed=_COUNT,
        steps=_COUNT,
        time_s=_NUMBER,
        digest=_TEXT,
        fabric=_record(
            gpus=_COUNT,
            nodes=_COUNT,
            nics=_COUNT,
            switches=_map(_COUNT),
            cables=_map(_COUNT),
            bisection_gbps=_NUMBER,
        ),
        transport=_TRANSPORT,
        links=_record(by_tier=_map(_TIER), hottest=_list(_LINK)),
        jobs=_list(_JOB),
        phases=_list(_PHASE),
        tenants=_list(_TENANT),
        events=_list(_EVENT),
        findings=_list(_FINDING),
        networks=_list(_record(**_FACTS)),
        front_end={"anyOf": [{"type": "null"}, _FRONT_END]},
        cost=_TOTALS,
        power=_TOTALS,
        series=_SERIES,
        notes=_list(_TEXT),
    ),
}
