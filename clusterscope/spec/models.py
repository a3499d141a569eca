"""Catalogue of models from `models.toml`, and what a `[jobs.model]` comes to with it."""

from __future__ import annotations

from dataclasses import dataclass

from clusterscope.errors import SpecError
from clusterscope.spec.cuts import need_divisors
from clusterscope.spec.named import Named
from clusterscope.spec.training import ModelSpec, Precision
from clusterscope.units import counted

CATALOGUE = Named("models.toml", "model")
_NEEDED = ("layers", "hidden", "heads", "sequence", "vocabulary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer:
    """A model with nothing left out; counts and widths.

    Attributes:
        name: catalogue name, or "model".
        layers: transformer layers.
        hidden: width of the residual stream.
        heads: query heads.
        kv_heads: key and value heads.
        head_dim: width of a head.
        ffn: width of a dense feed-forward block.
        gated: three matrices in a feed-forward block instead of two.
        sequence: tokens of a sequence.
        vocabulary: entries of the vocabulary.
        tied: embedding and output share one matrix.
        experts: routed experts of a layer, 0 when dense.
        top_k: routed experts that a token visits.
        shared_experts: experts that every token visits.
        expert_ffn: width of one expert.
        dense_layers: layers without experts.
        expert_domains: most scale-up domains that a token's experts are in, 0 when any.
        q_rank: latent width of queries, 0 without latent attention.
        kv_rank: latent width of keys and values, 0 without latent attention.
        rope_dim: part of a key that carries positions, with latent attention.
        parallel: attention and feed-forward side by side, of one norm.
        window: tokens that attention looks back at most, 0 when all.
        precision: number format of the matrix products.
    """

    name: str = "model"
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    gated: bool = False
    sequence: int
    vocabulary: int
    tied: bool = False
    experts: int = 0
    top_k: int = 0
    shared_experts: int = 0
    expert_ffn: int = 0
    dense_layers: int = 0
    expert_domains: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    rope_dim: int = 0
    parallel: bool = False
    window: int = 0
    precision: Precision = "bf16"

    @property
    def moe_layers(self) -> int:
        """Layers with experts."""
        return self.layers - self.dense_layers if self.experts else 0

    @property
    def latent(self) -> bool:
        """True with latent attention (MLA)."""
        return self.kv_rank > 0


def models() -> tuple[str, ...]:
    """Names of all models of the catalogue."""
    return CATALOGUE.names


def model(name: str) -> Transformer:
    """A catalogue model.

    Raises:
        UnknownNameError: there is no such model; names the nearest.
    """
    return resolve_model(ModelSpec(name=CATALOGUE.spelled(name)), "model")


def resolve_model(spec: ModelSpec, where: str) -> Transformer:
    """A `[jobs.model]` with nothing left out.

    Args:
        spec: what the user wrote; its own keys go before those of the named model.
        where: the table, in error messages.

    Raises:
        SpecError: something cannot be filled in, or contradicts something else.
    """
    values = {} if spec.name is None else CATALOGUE.asked(spec.name, where)
    values.pop("title", None)
    values.pop("source", None)
    values |= spec.model_dump(exclude_none=True)
    for key in _NEEDED:
        if key not in values:
            raise SpecError(
                f"{where}.{key}",
                "is missing",
                f"give it, or a catalogue model as name ({', '.join(models())})",
            )
    values.setdefault("name", "model")
    values.setdefault("kv_heads", values["heads"])
    values.setdefault("ffn", 4 * values["hidden"])
    values.setdefault("expert_ffn", values["ffn"])
    if "head_dim" not in values:
        hidden = values["hidden"]
        need_divisors(where, [("heads", values["heads"], f"hidden = {hidden}", hidden)])
        values["head_dim"] = values["hidden"] // values["heads"]
    found = Transformer(**values)
    _check(found, where)
    return found


def _check(found: Transformer, where: str) -> None:
    need_divisors(where, [("kv_heads", found.kv_heads, f"heads = {found.heads}", found.heads)])
    if found.top_k > found.experts:
        raise SpecError(
            f"{where}.top_k",
            f"{found.top_k} experts a token are more than the {found.experts} of a layer",
            f"allowed is 0 to {found.experts}",
        )
    if found.experts and not found.top_k:
        raise SpecError(
            f"{where}.top_k",
            f"is missing, and nobody would visit the {counted(found.experts, 'expert')}",
            f"allowed is 1 to {found.experts}",
        )
    if found.dense_layers > found.layers:
        raise SpecError(
            f"{where}.dense_layers",
            f"{found.dense_layers} is more than the {counted(found.layers, 'layer')}",
            f"allowed is 0 to {found.layers}",
        )
    if (found.q_rank > 0) != found.latent:
        raise SpecError(
            f"{where}.{'kv_rank' if found.q_rank else 'q_rank'}",
            "is missing, and latent attention has both q_rank and kv_rank",
            "give both or none",
        )
