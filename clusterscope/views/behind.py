"""Why a job is slower on one network than on another, in words."""

from __future__ import annotations

from clusterscope.fabric.audit import check_trunks
from clusterscope.metrics.causes import CAUSES
from clusterscope.metrics.compare import Comparison, JobSide
from clusterscope.views.text import fmt, sanitize

# Share of what is lost from which a second cause is told.
_WORTH = 0.2
_IDEAL = "a longer time at line rate"
_WORDS = {
    "scale-up goodput": "what collectives leave of the line rate in a domain",
    "headers": "bytes on the wire that are no payload",
    "latency": "waiting for messages that follow one another",
    "few uplinks": "the fabric carries less than the NICs send, with perfect balancing",
    "collisions": "flows that meet on a link by hash, static table or blind spray",
    "in-network reduction": "bytes that rings would move and switches save",
    "ordering and recovery": "lost packets, and packets that overtake where NICs want order",
    "congestion spreading": "links that a busy egress of another job pauses",
    "failures": "what is dead or slow, after the reroute",
    "reroute": "routes that still lead over what is dead",
    "other jobs": "jobs that share the links",
}


def held_back_by(job: JobSide, best: JobSide, told: set[str]) -> str:
    """What a job is slower by than the best, the largest part first, and what it saves of that.

    Args:
        job: the slower one.
        best: the other.
        told: causes that have been explained; those that are explained now join them.
    """
    more = {cause: job.causes[cause] - best.causes[cause] for cause in CAUSES}
    more[_IDEAL] = job.metrics.ideal_s - best.metrics.ideal_s
    lost = sum(max(0.0, part) for part in more.values())
    first, second, *_ = sorted(more, key=lambda one: -more[one])
    words = f"{_much(more[first] / lost if lost else 0.0)} {first}"
    words += _explained(first) * (first not in told)
    told.add(first)
    if more[second] > _WORTH * lost:
        words += f", then {second}" + _explained(second) * (second not in told)
        told.add(second)
    if -more[_IDEAL] > _WORTH * lost:
        words += f"; at line rate it would take {fmt(-more[_IDEAL], 'seconds')} less"
    return words


def trunks_note(comparison: Comparison) -> str:
    """Where some pairs of switches share more cables than others, a part of collisions; "" if not.

    With more uplinks a job can be slower for it.
    """
    uneven: dict[str, str] = {}
    for _, network in comparison.networks:
        scenario = network.scenario
        for found in check_trunks(scenario.spec, scenario.fabric):
            where = f"{found.where} of {sanitize(scenario.spec.name)}"
            uneven.setdefault(where, f"In {where} {found.message}, which counts as collisions.")
    return " ".join(uneven.values())


def _explained(cause: str) -> str:
    """What a cause is, in brackets; "" where its name says it all."""
    return f" ({_WORDS[cause]})" if cause in _WORDS else ""


def _much(part: float) -> str:
    if part > 0.95:
        return "all of it"
    return "most of it" if part > 0.5 else "the largest part"
