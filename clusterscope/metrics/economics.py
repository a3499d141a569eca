"""What a cluster costs to own and to run: a year, a byte delivered, a training run.

    a year          = capital / amortization_years + energy
    energy          = power x pue x 8,766 h x energy_usd_per_kwh
    a byte          = a year of the network alone / payload that the jobs move over it in a year
    a training run  = run_hours x ((1 - comm_ratio) + comm_ratio x iteration / line-rate iteration)
                      hours of the cluster, at what one hour of a year of it costs
    Both take jobs as fast as they are while all of them send and once routes have reacted,
    whatever the step, and count the share of the cluster whose GPUs the jobs have.

Prices and assumptions are those of the spec's `[prices]`, else of the catalogue and of
`spec.prices.ASSUMPTIONS`; each has a source or is marked as an estimate. Buildings, cooling plant,
storage, people and the time value of money are not in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.cost import CostItem, cost_items
from clusterscope.metrics.jobs import JobMetrics, lasting_s
from clusterscope.metrics.made_for import network_items
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.prices import assumption

HOURS_A_YEAR = 8766.0
_SECONDS_AN_HOUR = 3600.0
PETABYTE = 1e15


@dataclass(frozen=True)
class Economics:
    """Money and energy of one cluster under one transport.

    Attributes:
        capital_usd: price of everything.
        network_usd: of it the scale-out network; without NICs the scale-up network.
        power_w: power of the equipment at full load.
        network_w: of it the network.
        energy_kwh: energy of a year, the site's overhead with it.
        energy_usd: its price.
        year_usd: capital written off and energy, a year.
        network_year_usd: the network's part of that.
        delivered_bytes_s: payload that the jobs move over the network, bytes a second.
        petabyte_usd: price of the network for each petabyte delivered; inf when nothing moves.
        run_hours: hours of a training run; inf when a job stands still.
        run_usd: what they cost.
        estimate_ratio: share of the capital that rests on estimated prices.
        used_ratio: share of the GPUs that the jobs have.
    """

    capital_usd: float
    network_usd: float
    power_w: float
    network_w: float
    energy_kwh: float
    energy_usd: float
    year_usd: float
    network_year_usd: float
    delivered_bytes_s: float
    petabyte_usd: float
    run_hours: float
    run_usd: float
    estimate_ratio: float
    used_ratio: float = 1.0


def economics(
    scenario: Scenario, jobs: Sequence[JobMetrics], own: str, network: Network
) -> Economics:
    """Money and energy of a cluster under its transport.

    Args:
        scenario: the cluster.
        jobs: how fast each job is.
        own: the transport that it is built for; others are priced with parts made for them.
        network: routes and health that the jobs run in.
    """
    lasting = lasting_s(network)
    spec = scenario.spec
    others = tuple(item for item in cost_items(scenario) if not item.network)
    joins = network_items(scenario, own)
    capital, network_usd = _usd((*others, *joins)), _usd(joins)
    watts, network_w = _watts((*others, *joins)), _watts(joins)
    years = assumption(spec, "amortization_years").value
    energy_kwh = _energy_kwh(spec, watts)
    kwh_usd = assumption(spec, "energy_usd_per_kwh").value
    year = capital / years + energy_kwh * kwh_usd
    network_year = network_usd / years + _energy_kwh(spec, network_w) * kwh_usd
    over = "scale-out" if scenario.fabric.ports else "scale-up"
    delivered = sum(map(_delivered_bytes_s, jobs, lasting, [over] * len(jobs)))
    a_year = delivered * HOURS_A_YEAR * _SECONDS_AN_HOUR
    hours, used = run_hours(spec, jobs, lasting), _used(scenario)
    guessed = sum(item.usd for item in (*others, *joins) if item.usd_estimate)
    return Economics(
        capital_usd=capital,
        network_usd=network_usd,
        power_w=watts,
        network_w=network_w,
        energy_kwh=energy_kwh,
        energy_usd=energy_kwh * kwh_usd,
        year_usd=year,
        network_year_usd=network_year,
        delivered_bytes_s=delivered,
        petabyte_usd=used * network_year / a_year * PETABYTE if a_year > 0 else math.inf,
        run_hours=hours,
        run_usd=used * hours * year / HOURS_A_YEAR,
        estimate_ratio=guessed / capital if capital else 0.0,
        used_ratio=used,
    )


def _used(scenario: Scenario) -> float:
    """Share of the GPUs that some job has, 0 to 1; all when there is no job."""
    if not scenario.program:
        return 1.0
    gpus = np.unique(np.concatenate([program.gpus for program in scenario.program]))
    return len(gpus) / scenario.fabric.gpus


def _usd(items: Sequence[CostItem]) -> float:
    return float(sum(item.usd for item in items))


def _watts(items: Sequence[CostItem]) -> float:
    return float(sum(item.watts for item in items))


def _energy_kwh(spec: ClusterSpec, watts: float) -> float:
    """Energy of a year with the site's overhead, kWh."""
    return watts / 1e3 * assumption(spec, "pue").value * HOURS_A_YEAR


def _delivered_bytes_s(job: JobMetrics, iteration_s: float, network: str) -> float:
    """Payload of a job over the network that is priced, bytes a second."""
    if not iteration_s > 0 or math.isinf(iteration_s):
        return 0.0
    out = sum(phase.bytes for phase in job.phases if phase.network == network)
    return out / iteration_s


def run_hours(
    spec: ClusterSpec, jobs: Sequence[JobMetrics], lasting: Sequence[float] = ()
) -> float:
    """Hours of a training run: its communication as much longer as iterations are, by ranks.

    Args:
        spec: with what a run is taken to be.
        jobs: how fast each job is.
        lasting: seconds of an iteration of each, from `lasting_s`.
    """
    ratio = assumption(spec, "comm_ratio").value
    ranks = sum(job.ranks for job in jobs)
    if not ranks:
        return assumption(spec, "run_hours").value
    pairs = zip(jobs, lasting, strict=True)
    longer = sum(job.ranks * seconds / job.ideal_s for job, seconds in pairs) / ranks
    return assumption(spec, "run_hours").value * ((1.0 - ratio) + ratio * longer)
