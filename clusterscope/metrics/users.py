"""Who uses a link: the jobs, and the phases and flows of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clusterscope.columns import I32, Bool
from clusterscope.engine.frame import Frame
from clusterscope.engine.loads import Load
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import Routed
from clusterscope.engine.step import iteration_parts
from clusterscope.metrics.memo import per_key


@dataclass(frozen=True)
class Use:
    """What one phase of one job puts on a link when the job is alone in the network.

    Attributes:
        job: index of the job.
        phase: index of the phase in the job.
        rows: flows, or connections of them, that cross the link.
        connections: connections that these are.
        entities: how many rates they have between them: 1 when all move in lock step.
        gbps: load on the wire, Gb/s; with phases that overlap, of all of them together.
    """

    job: int
    phase: int
    rows: int
    entities: int
    gbps: float
    connections: int = 0


def flows_on(scenario: Scenario, frame: Frame, link: int) -> tuple[Use, ...]:
    """What each phase of each job puts on a link, in order; phases that do not use it are absent.

    Linear in the routed entries of all jobs, the first time a network is asked about a link.
    """
    kept = _kept(frame.network)
    if link not in kept:
        kept[link] = tuple(_flows_on(scenario, frame, link))
    return kept[link]


@per_key
def _kept(network: Network) -> dict[int, tuple[Use, ...]]:  # noqa: ARG001 - the key
    """Answers about the links of a network."""
    return {}


def _flows_on(scenario: Scenario, frame: Frame, link: int) -> Iterator[Use]:
    for job, loads in enumerate(scenario.loads):
        load_of: dict[int, float] = {}
        for _, share in iteration_parts(scenario, frame.network, job):
            for _, phase in share.rate_gbps:
                load_of.setdefault(phase, float(share.link_gbps[link]))
        for phase in range(len(loads)):
            routed = frame.network.phase((job, phase))
            entries = np.flatnonzero(_uses(routed, link, scenario.fabric.links))
            if len(entries):
                entities = len(np.unique(routed.entry_entity[entries]))
                gbps = load_of.get(phase, 0.0)
                connections = connections_of(loads[phase], routed.entry_row[entries])
                yield Use(job, phase, len(entries), entities, gbps, connections)


def connections_of(load: Load, rows: I32) -> int:
    """Connections that some rows of a phase are; those of a uniform exchange are not counted."""
    return 0 if load.exchange is not None else int(load.row_connections[rows].sum())


def _uses(routed: Routed, link: int, links: int) -> Bool:
    """Entries that load a link, itself or as a member of a bundle, (E,)."""
    used: Bool = routed.entry_link == link
    bundles = routed.bundles
    members = np.flatnonzero(bundles.member_link == link)
    for bundle in np.searchsorted(bundles.start, members, side="right") - 1:
        used |= routed.entry_link == links + bundle
    return used


def users_of(scenario: Scenario, frame: Frame, links: I32) -> tuple[tuple[int, ...], ...]:
    """Jobs that load each of the links in some phase, by link."""
    users: list[list[int]] = [[] for _ in range(len(links))]
    for job in range(len(scenario.program)):
        used = np.zeros(len(links), dtype=np.bool_)
        for _, share in iteration_parts(scenario, frame.network, job):
            used |= share.link_gbps[links] > 0
        for row in np.flatnonzero(used):
            users[row].append(job)
    return tuple(tuple(jobs) for jobs in users)
