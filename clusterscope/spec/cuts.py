"""What must hold of every cut of a model over GPUs, whether the job trains or serves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from clusterscope.errors import SpecError
from clusterscope.spec.model import ClusterSpec, JobSpec


def need_divisors(where: str, rules: Iterable[tuple[str, int, str, int]]) -> None:
    """Every part divides its whole.

    Args:
        where: the table, in error messages.
        rules: key, part, the whole in words, the whole.

    Raises:
        SpecError: the first that does not.
    """
    for key, part, words, whole in rules:
        if whole % part:
            raise SpecError(
                f"{where}.{key}",
                f"{part} does not divide {words}",
                f"allowed is a divisor of {whole}" if whole > 1 else "allowed is 1",
            )


def domain_kept(spec: ClusterSpec, job: JobSpec) -> int:
    """GPUs of a scale-up domain that the placement of a job keeps together, 1 without domains."""
    domain = spec.scale_up.domain_gpus if spec.scale_up else 1
    if job.placement == "packed":
        return domain
    return min(domain, spec.node.gpus)  # other placements keep the GPUs of a node together


class TensorCut(Protocol):
    """What has tensor parallel groups: a plan, or the instances of a service."""

    @property
    def tp(self) -> int:
        """Ranks of a group."""

    @property
    def tp_over_nics(self) -> bool:
        """Groups may leave their domain."""


def check_domain(cut: TensorCut, domain_gpus: int, first_gpu: int, where: str) -> None:
    """Tensor parallel groups stay inside scale-up domains, unless they are let out.

    Args:
        cut: the groups.
        domain_gpus: GPUs of a domain, 1 when there is none.
        first_gpu: GPU of the first rank.
        where: the table, in error messages.

    Raises:
        SpecError: a group would span two domains.
    """
    tp = cut.tp
    if tp == 1 or cut.tp_over_nics:
        return
    if domain_gpus % tp or first_gpu % tp:
        raise SpecError(
            f"{where}.tp",
            f"{tp} ranks from GPU {first_gpu} on do not stay inside scale-up domains of "
            f"{domain_gpus}",
            f"allowed is a divisor of {domain_gpus} at a multiple of itself, or "
            "tp_over_nics = true",
        )
