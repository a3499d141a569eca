"""A serving job before it has a place: its model, its service and the GPU it runs on."""

from __future__ import annotations

from dataclasses import dataclass

from clusterscope.errors import SpecError
from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.spec.models import Transformer, resolve_model
from clusterscope.spec.parts import Gpu
from clusterscope.spec.serves import service_of
from clusterscope.spec.services import Instance, Service, model_of
from clusterscope.traffic.roofline import (
    EXCHANGE_CORES,
    Part,
    Step,
    holds,
    step_of,
    token_cache_bytes,
    work,
)

_GIGA = 1e9


@dataclass(frozen=True, eq=False)
class Serving:
    """A serving job: what is served, how, on what.

    One iteration is a wave: prefill instances go through `passes` passes, the KV cache of these
    requests moves, and decode instances go through the `steps` steps that as many answers take.

    Attributes:
        model: what is served.
        service: requests and instances.
        gpu: what it runs on.
    """

    model: Transformer
    service: Service
    gpu: Gpu

    def step(self, own: Instance) -> Step:
        """What a GPU has to do in one pass or step."""
        return step_of(own, self.service)

    def parts(self, own: Instance) -> tuple[Part, ...]:
        """Work of one pass or step on one GPU, the slowest of its instance."""
        return work(self.model, self.service, own, self.gpu)

    def compute_s(self, own: Instance) -> float:
        """Seconds of computing in one pass or step, memory included."""
        return sum(part.seconds for part in self.parts(own)) / (1.0 - self.cores_ratio(own))

    def cores_ratio(self, own: Instance) -> float:
        """Share of the GPU that exchange kernels take from computing beside them."""
        shared = own.exchange == "forwarded" and own.ep > 1 and own.microbatches > 1
        return EXCHANGE_CORES if shared else 0.0

    @property
    def token_cache_bytes(self) -> float:
        """KV cache of one token."""
        return token_cache_bytes(self.model, self.service.kv_bytes)

    @property
    def passes(self) -> int:
        """Passes of prefill in a wave: as many as it takes for one decode step or more."""
        one = self._steps_of_pass
        return max(1, int(-(-1.0 // one))) if 0 < one < 1 else 1

    @property
    def requests(self) -> float:
        """Requests of a wave; those that decode holds when nothing is prefilled."""
        prefill, decode = self.service.prefill, self.service.decode
        if prefill is None:
            assert decode is not None
            return float(decode.ranks * decode.batch)
        return self.passes * prefill.ranks * self.step(prefill).requests

    @property
    def steps(self) -> float:
        """Decode steps of a wave; one when nothing is prefilled."""
        return 1.0 if self.service.prefill is None else self.passes * self._steps_of_pass

    def count(self, own: Instance) -> float:
        """Passes or steps of a wave."""
        return float(self.passes) if own.kind == "prefill" else self.steps

    @property
    def _steps_of_pass(self) -> float:
        """Decode steps that answer the requests of one pass of all prefill instances."""
        prefill, decode = self.service.prefill, self.service.decode
        if prefill is None or decode is None:
            return 0.0
        tokens = prefill.ranks * self.step(prefill).requests * self.service.output_tokens
        return tokens / (decode.ranks * decode.batch * self.service.tokens_per_step)


def serving_of(job: JobSpec, spec: ClusterSpec) -> Serving | None:
    """What a job serves; None when it does not.

    Raises:
        SpecError: model, service and GPUs do not fit each other.
    """
    if job.serve is None:
        return None
    where = f"job {job.name!r}"
    written = model_of(job.serve, job.model, f"{where}: serve")
    service = service_of(job, where)
    assert written is not None
    found = Serving(resolve_model(written, where), service, parts.gpu(spec.node.gpu))
    for own in (service.prefill, service.decode):
        if own is not None:
            _check_memory(found, own, f"{where}: serve.{own.kind}")
    return found


def _check_memory(serving: Serving, own: Instance, where: str) -> None:
    """Weights and KV cache of an instance fit into the memory of its GPUs."""
    gpu, ratio = serving.gpu, serving.service.memory_ratio
    room = gpu.hbm_gb * _GIGA * ratio
    held = holds(serving.model, serving.service, own)
    of = f"the {room / _GIGA:.3g} GB that memory_ratio = {ratio:g} leaves of an {gpu.name}"
    if held.weights_bytes > room:
        raise SpecError(
            f"{where}.gpus",
            f"a GPU would hold {held.weights_bytes / _GIGA:.3g} GB of weights, more than {of}",
            "allowed are cuts into more ranks (tp, ep), or experts in fewer copies",
        )
    requests = serving.step(own).requests
    cache = requests * held.request_bytes
    if held.weights_bytes + cache > room:
        fits = int((room - held.weights_bytes) / (cache / own.batch))
        key = "batch" if own.kind == "decode" else "batch_tokens"
        raise SpecError(
            f"{where}.{key}",
            f"{own.batch} need {cache / _GIGA:.3g} GB of KV cache beside "
            f"{held.weights_bytes / _GIGA:.3g} GB of weights, more than {of}",
            f"allowed is at most {fits}" if fits else "allowed are shorter prompts or more ranks",
        )
