"""Serving jobs as shapes: what a request feels, what the GPUs give, and what bounds both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.metrics.serving import ServingMetrics, StageMetrics
from clusterscope.traffic.flows import JobProgram
from clusterscope.views.shapes import Column, Fact, Kind, Table
from clusterscope.views.text import fmt, sanitize

NOTE = (
    "without waiting in queues; computing at the fitted kernel efficiency unless serve.efficiency "
    "says otherwise"
)
# Share of its requests that a stage may miss and still count as busy.
_FED = 0.005
Named = list[tuple[str, ServingMetrics]]
_STAGE: tuple[tuple[str, Kind, str, str], ...] = (
    ("instances", "text", "plan", ""),
    ("running", "int", "running", "instances whose GPUs all reach each other"),
    ("step", "seconds", "step_s", "a pass of prefill, or a step of decode"),
    ("bound by", "text", "bound", ""),
    ("tokens/s a node", "int", "tokens_per_s_per_node", "prompts with what was cached; answers"),
    ("tokens/s a GPU", "int", "tokens_per_s_per_gpu", ""),
    ("requests/s", "float", "requests_per_s", "of all instances that run"),
    ("computing", "seconds", "compute_s", "of a step: operations pace it"),
    ("memory", "seconds", "memory_s", "of a step: weights and KV cache read pace it"),
    ("exchange", "seconds", "exchange_s", "of experts, whether hidden or not"),
    ("dispatch", "seconds", "dispatch_s", "in one layer and part of the batch"),
    ("combine", "seconds", "combine_s", "in one layer and part of the batch"),
)


def serving(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001
    """A row a serving job: time to the first token, time a token, tokens a second."""
    rows = served(scenario, frame)

    def of(name: str, kind: Kind, attribute: str, doc: str = "") -> Column:
        return Column(name, kind, [getattr(own, attribute) for _, own in rows], doc)

    moved = [own.transfer for _, own in rows]
    return Table(
        "serving",
        (
            Column("job", "text", [name for name, _ in rows]),
            Column("model", "text", [sanitize(own.model) for _, own in rows]),
            of("TTFT", "seconds", "ttft_s", "to the first token: prefill, and KV cache waited for"),
            of("TPOT", "seconds", "tpot_s", "per output token after the first"),
            of("tokens/s a request", "float", "user_tokens_per_s"),
            of("requests/s", "float", "requests_per_s"),
            of("tokens/s", "int", "tokens_per_s", "of the whole service"),
            of("bound by", "text", "bound", "what has the least requests/s"),
            Column(
                "KV cache a request",
                "bytes",
                [None if t is None else t.request_bytes for t in moved],
            ),
            Column(
                "KV transfer",
                "seconds",
                [None if t is None else t.seconds for t in moved],
                "all prompts of one pass, from prefill to decode",
            ),
            Column("paced by", "text", [link(scenario, t.bound_link if t else -1) for t in moved]),
        ),
        rows=len(rows),
        note=NOTE,
    )


def stages(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001
    """A row for prefill and for decode of each serving job: what a step is made of."""
    rows = [
        (name, kind, own) for name, service in served(scenario, frame) for kind, own in _of(service)
    ]

    def waits(kind: str) -> Column:
        seconds = [own.exposed_s.get(kind, 0.0) for _, _, own in rows]
        return Column(f"waits {kind}", "seconds", seconds, "not hidden beside computing")

    return Table(
        "serving stages",
        (
            Column("job", "text", [name for name, _, _ in rows]),
            Column("stage", "text", [kind for _, kind, _ in rows]),
            *(
                Column(name, kind, [getattr(own, field) for _, _, own in rows], doc)
                for name, kind, field, doc in _STAGE
            ),
            waits("ep"),
            waits("tp"),
            Column("by formula", "seconds", [own.formula_s or None for _, _, own in rows]),
            Column("weights", "bytes", [own.weights_bytes for _, _, own in rows], "a GPU"),
            Column("KV cache", "bytes", [own.cache_bytes for _, _, own in rows], "a GPU"),
            Column("of memory", "ratio", [_full(own) for _, _, own in rows]),
            Column("paced by", "text", [link(scenario, own.bound_link) for _, _, own in rows]),
        ),
        rows=len(rows),
        note="by formula: DeepSeek's limit of a step, every path of every token at line rate",
    )


def served(scenario: Scenario, frame: Frame) -> Named:
    """Name and figures of every job that serves."""
    jobs = job_metrics(scenario, frame)
    return [(sanitize(job.name), job.serving) for job in jobs if job.serving is not None]


def serving_facts(job: JobMetrics, own: ServingMetrics) -> list[Fact]:
    """What a serving job is and how it goes."""
    name = sanitize(job.name)
    facts = [Fact(f"{name}: job", f"serving {sanitize(own.model)}, {job.ranks:,} ranks")]
    for kind, stage in _of(own):
        down = stage.instances - stage.running
        words = f"{stage.plan}; {_node_words(own, stage)}, bound by {stage.bound}"
        if down:
            words += f"; {down} of {stage.instances} {'stands' if down == 1 else 'stand'} still"
        facts.append(Fact(f"{name}: {kind}", words, "text", "derived"))
    if own.prefill:
        facts.append(Fact(f"{name}: TTFT", own.ttft_s, "seconds", "derived", "without waiting"))
    if own.decode:
        facts.append(Fact(f"{name}: TPOT", own.tpot_s, "seconds", "derived"))
        facts.append(Fact(f"{name}: tokens/s a request", own.user_tokens_per_s, "float", "derived"))
    facts.append(Fact(f"{name}: requests/s", own.requests_per_s, "float", "derived", own.bound))
    facts.append(Fact(f"{name}: held back by", _held_back(own), "text", "derived"))
    facts.append(Fact(f"{name}: tokens/s", own.tokens_per_s, "int", "derived"))
    if own.transfer:
        facts.append(Fact(f"{name}: KV transfer of a pass", own.transfer.seconds, "seconds"))
    return facts


def _node_words(own: ServingMetrics, stage: StageMetrics) -> str:
    """What a node of a stage could do, and what the rest of the service lets it do."""
    able = fmt(stage.tokens_per_s_per_node, "int")
    if not stage.requests_per_s or own.requests_per_s > stage.requests_per_s * (1 - _FED):
        return f"{able} tokens/s a node"
    fed = stage.tokens_per_s_per_node * own.requests_per_s / stage.requests_per_s
    return f"able to do {able} tokens/s a node, fed {fmt(fed, 'int')}"


def _kind(number: float) -> Kind:
    """Few requests a second with their decimals, many without."""
    return "float" if number < 1000 else "int"


def _held_back(own: ServingMetrics) -> str:
    """Which side limits the requests, and what the others could take."""
    able = {"prefill": own.prefill, "KV cache transfer": own.transfer, "decode": own.decode}
    rest = [
        f"{kind} could take {fmt(side.requests_per_s, _kind(side.requests_per_s))}"
        for kind, side in able.items()
        if side is not None and kind != own.bound
    ]
    return "; ".join([own.bound, *rest])


def compared_rows(jobs: Sequence[JobMetrics]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What the same serving job reaches on several sides, row by row; nothing for other jobs."""
    found = [job.serving for job in jobs if job.serving is not None]
    if not found or len(found) < len(jobs):
        return
    if found[0].prefill:
        yield "TTFT", tuple(fmt(own.ttft_s, "seconds") for own in found)
    if found[0].decode:
        yield "TPOT", tuple(fmt(own.tpot_s, "seconds") for own in found)
    yield "tokens/s", tuple(fmt(own.tokens_per_s, "int") for own in found)
    yield "bound by", tuple(own.bound for own in found)


def role(program: JobProgram, rank: int) -> str:
    """What a rank of a serving job does, in brackets: "(decode)"; nothing for any other job."""
    if program.serving is None:
        return ""
    service = program.serving.service
    for own in (service.prefill, service.decode):
        if own is not None and rank < own.ranks:
            which = f" {rank // own.gpus + 1} of {own.instances}" if own.instances > 1 else ""
            return f" ({own.kind}{which})"
        rank -= own.ranks if own is not None else 0
    return ""


def link(scenario: Scenario, index: int) -> str:
    """Name of a link; nothing for -1."""
    return scenario.names.link(index) if index >= 0 else ""


def _of(own: ServingMetrics) -> list[tuple[str, StageMetrics]]:
    """Its stages by name."""
    both = (("prefill", own.prefill), ("decode", own.decode))
    return [(kind, stage) for kind, stage in both if stage is not None]


def _full(own: StageMetrics) -> float:
    """Share of a GPU's memory that weights and KV cache take."""
    return (own.weights_bytes + own.cache_bytes) / own.memory_bytes
