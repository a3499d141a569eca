"""Small services that cases of inference are played in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clusterscope.metrics.serving import StageMetrics
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.models import Transformer, resolve_model
from clusterscope.spec.training import ModelSpec
from clusterscope.units import GBps_to_gbps
from clusterscope.validation.worlds import leaf_spine, played, star

Setup = Mapping[str, Any]

# What the cases leave open and no exchange depends on: one head, a small cache, one short expert.
_PLAIN: Final = {
    "heads": 1,
    "head_dim": 128,
    "ffn": 128,
    "gated": True,
    "sequence": 1024,
    "vocabulary": 1024,
    "precision": "fp8",
}
_HOSTS: Final = 32


def decoding(setup: Setup, rate_GBps: float, domain: int) -> StageMetrics:  # noqa: N803 - the unit's own spelling
    """Decode of a model with `paths` - 1 routed experts and a shared one, batch in two parts.

    Args:
        setup: of the case: tokens of a part, hidden, paths, layers.
        rate_GBps: of the NIC of a GPU, or of a GPU into its domain.
        domain: GPUs of a domain; 1 when there are NICs alone.
    """
    model = _model(setup, setup["layers"], setup["paths"] - 1, 64) | {"shared_experts": 1}
    decode = {"gpus": 64, "ep": 64, "batch": 2 * setup["tokens"], "microbatches": 2}
    gbps = GBps_to_gbps(rate_GBps)
    inside = {"scale_up": {"domain_gpus": domain, "gpu_gbps": gbps}} if domain > 1 else {}
    node = {} if domain > 1 else {"nic_gbps": gbps}
    return _decoded(star(64, node=node, jobs=[_job(model, decode)], **inside))


def exchanging(setup: Setup, ranks: int) -> StageMetrics:
    """Decode on so many GPUs with a NIC each, one layer, the whole batch at once."""
    decode = {"gpus": ranks, "ep": ranks, "batch": setup["tokens"], "microbatches": 1}
    job = _job(_model(setup, 1, setup["topk"], ranks), decode)
    node = {"nic_gbps": GBps_to_gbps(setup["nic_GBps"])}
    return _decoded(leaf_spine(ranks // _HOSTS, _HOSTS, _HOSTS, node=node, jobs=[job]))


def model_of(setup: Setup) -> Transformer:
    """The model of a case of one exchange."""
    return resolve_model(ModelSpec(**_model(setup, 1, setup["topk"], setup["topk"])), "case")


def _model(setup: Setup, layers: int, top_k: int, experts: int) -> dict[str, Any]:
    """Keys of a model."""
    own = {"layers": layers, "hidden": setup["hidden"], "experts": experts, "top_k": top_k}
    return {**_PLAIN, **own, "expert_ffn": 128}


def _job(model: dict[str, Any], decode: dict[str, Any]) -> dict[str, Any]:
    """A job that decodes."""
    return {"name": "decode", "model": model, "serve": {"input_tokens": 128, "decode": decode}}


def _decoded(spec: ClusterSpec) -> StageMetrics:
    """What decodes in a cluster."""
    found = played(spec)[1][0].serving
    assert found is not None
    assert found.decode is not None
    return found.decode
