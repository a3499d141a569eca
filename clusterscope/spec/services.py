"""Catalogue of services from `services.toml`, and what a `[jobs.serve]` comes to with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clusterscope.errors import SpecError
from clusterscope.spec.cuts import need_divisors
from clusterscope.spec.models import Transformer
from clusterscope.spec.named import Named
from clusterscope.spec.serving import Exchange, InstanceSpec, ServeSpec
from clusterscope.spec.training import ModelSpec

CATALOGUE = Named("services.toml", "service")
_DEFAULTS: Mapping[str, Any] = {
    "input_tokens": 4096,
    "output_tokens": 1024,
    "cached_ratio": 0.0,
    "kv_bytes": 2,
    "kv_overlap": True,
    "balance": 1.0,
    "drafts": 0,
    "accepted": 0.85,
    "efficiency": None,
    "memory_ratio": 0.9,  # what vLLM takes by default (gpu_memory_utilization)
}
_BATCH_TOKENS = 16_384
_BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """Instances of one kind with nothing left out; keys as in `InstanceSpec`.

    `batch` is the tokens of a pass of one GPU (prefill), or its requests (decode).
    """

    kind: str
    instances: int
    gpus: int
    tp: int
    tp_over_nics: bool
    ep: int
    redundant_experts: int
    microbatches: int
    exchange: Exchange
    batch: int

    @property
    def ranks(self) -> int:
        """GPUs of all instances."""
        return self.instances * self.gpus

    @property
    def dp(self) -> int:
        """Groups of an instance that attend to requests apart."""
        return self.gpus // self.tp

    @property
    def text(self) -> str:
        """In words, as "2 x 32 GPUs, DP32, EP32"."""
        cuts = [f"{n}{size}" for n, size in (("TP", self.tp), ("DP", self.dp)) if size > 1]
        cuts += [f"EP{self.ep}"] if self.ep > 1 else []
        return ", ".join([f"{self.instances} x {self.gpus} GPUs", *cuts])


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A `[jobs.serve]` with nothing left out; keys as in `ServeSpec`."""

    input_tokens: int
    output_tokens: int
    cached_ratio: float
    kv_bytes: int
    kv_overlap: bool
    balance: float
    drafts: int
    accepted: float
    efficiency: float | None
    memory_ratio: float
    prefill: Instance | None
    decode: Instance | None

    @property
    def ranks(self) -> int:
        """GPUs that the service takes."""
        return sum(own.ranks for own in (self.prefill, self.decode) if own)

    @property
    def tokens_per_step(self) -> float:
        """Tokens that a request gains in a decode step: one, and the guesses that held."""
        return 1.0 + self.drafts * self.accepted

    @property
    def context(self) -> float:
        """Tokens that a request holds while it is answered, a mean over its answer."""
        return self.input_tokens + self.output_tokens / 2

    @property
    def text(self) -> str:
        """Its instances in words."""
        own = [f"{i.kind} {i.text}" for i in (self.prefill, self.decode) if i]
        return " + ".join(own)


def services() -> tuple[str, ...]:
    """Names of all services of the catalogue."""
    return CATALOGUE.names


def model_of(serve: ServeSpec, model: ModelSpec | None, where: str) -> ModelSpec | None:
    """The model of a job: its own, or that of the service it names.

    Raises:
        SpecError: the catalogue has no such service; names the nearest.
    """
    if model is not None or serve.name is None:
        return model
    entry = CATALOGUE.asked(serve.name, where)
    return ModelSpec(name=entry["model"], precision=entry.get("precision"))


def ranks_of(serve: ServeSpec, where: str) -> int | None:
    """GPUs that a service takes, before its model is known; None when it does not say.

    Raises:
        SpecError: the catalogue has no such service; names the nearest.
    """
    tables = [_merged(serve, where).get(kind) for kind in ("prefill", "decode")]
    sizes = [own.get("instances", 1) * own["gpus"] for own in tables if own and "gpus" in own]
    return sum(sizes) or None


def resolve_service(spec: ServeSpec, model: Transformer, where: str) -> Service:
    """A service with nothing left out.

    Args:
        spec: what the user wrote; its own keys go before those of the service it names.
        model: what is served.
        where: the table, in error messages.

    Raises:
        SpecError: something is missing, or does not fit the model.
    """
    values = _merged(spec, where)
    own = {key: values.get(key, default) for key, default in _DEFAULTS.items()}
    prefill, decode = (
        _instance(kind, values.get(kind), model, f"{where}.{kind}")
        for kind in ("prefill", "decode")
    )
    if prefill is None and decode is None:
        raise SpecError(
            where,
            "has neither prefill nor decode instances",
            f"give [jobs.serve.prefill], [jobs.serve.decode], or a name ({', '.join(services())})",
        )
    return Service(**own, prefill=prefill, decode=decode)


def _merged(spec: ServeSpec, where: str) -> dict[str, Any]:
    """What the user wrote over what the service that it names has."""
    base = CATALOGUE.asked(spec.name, where) if spec.name is not None else {}
    written = spec.model_dump(exclude_none=True)
    for key, value in written.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        base[key] = base[key] | value if both else value
    return base


def _instance(
    kind: str, table: dict[str, Any] | None, model: Transformer, where: str
) -> Instance | None:
    """Instances of one kind; None when there are none."""
    if table is None:
        return None
    if "gpus" not in table:
        hint = f"a number of GPUs: {InstanceSpec.model_fields['gpus'].description}"
        raise SpecError(f"{where}.gpus", "is missing", hint)
    gpus, dense = table["gpus"], not model.experts
    batch = ("batch_tokens", _BATCH_TOKENS) if kind == "prefill" else ("batch", _BATCH)
    own = Instance(
        kind=kind,
        instances=table.get("instances", 1),
        gpus=gpus,
        tp=table.get("tp", 1),
        tp_over_nics=table.get("tp_over_nics", False),
        ep=table.get("ep", 1 if dense else gpus),
        redundant_experts=table.get("redundant_experts", 0),
        microbatches=table.get("microbatches", 1 if dense else 2),
        exchange=table.get("exchange", "forwarded" if kind == "prefill" else "direct"),
        batch=table.get(*batch),
    )
    _check(own, model, where, batch[0])
    return own


def _check(own: Instance, model: Transformer, where: str, batch: str) -> None:
    copies = model.experts + own.redundant_experts
    rules = (
        ("tp", own.tp, f"gpus = {own.gpus}", own.gpus),
        ("tp", own.tp, f"model.heads = {model.heads}", model.heads),
        ("ep", own.ep, f"gpus = {own.gpus}", own.gpus),
        (
            "ep",
            own.ep,
            f"model.experts + redundant_experts = {copies}" if model.experts else "a dense model",
            copies if model.experts else 1,
        ),
    )
    need_divisors(where, rules)
    if own.redundant_experts and not model.experts:
        raise SpecError(f"{where}.redundant_experts", "the model has no experts", "allowed is 0")
    if own.microbatches > own.batch:
        raise SpecError(
            f"{where}.microbatches",
            f"{own.microbatches} parts are more than {batch} = {own.batch}",
            f"allowed is 1 to {own.batch}",
        )
