"""A comparison in plain numbers, for files: jobs with causes, money, and every price behind it."""

from __future__ import annotations

from collections.abc import Sequence

from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.causes import CAUSES
from clusterscope.metrics.compare import Comparison
from clusterscope.metrics.cost import cost_items
from clusterscope.metrics.made_for import network_items
from clusterscope.spec.prices import ASSUMPTIONS, assumption
from clusterscope.views.shapes import Column, Kind, Table
from clusterscope.views.text import sanitize

_MONEY: tuple[tuple[str, Kind], ...] = (
    ("capital_usd", "usd"),
    ("network_usd", "usd"),
    ("power_w", "watts"),
    ("network_w", "watts"),
    ("energy_kwh", "float"),
    ("energy_usd", "usd"),
    ("year_usd", "usd"),
    ("network_year_usd", "usd"),
    ("delivered_bytes_s", "float"),
    ("petabyte_usd", "usd"),
    ("run_hours", "float"),
    ("run_usd", "usd"),
    ("estimate_ratio", "ratio"),
    ("used_ratio", "ratio"),
)


def jobs_table(comparison: Comparison) -> Table:
    """One row a transport and job: speed, error band, and seconds lost by cause."""
    rows = [(side.label, job) for side in comparison.sides for job in side.jobs]
    metrics = [job.metrics for _, job in rows]
    return Table(
        "jobs",
        (
            Column("transport", "text", [sanitize(label) for label, _ in rows]),
            Column("job", "text", [sanitize(m.name) for m in metrics]),
            Column("collective", "text", [m.collective for m in metrics]),
            Column("ranks", "int", [m.ranks for m in metrics]),
            Column("iteration", "seconds", [m.iteration_s for m in metrics]),
            Column("ideal", "seconds", [m.ideal_s for m in metrics], "every port at line rate"),
            Column("busbw", "GBps", [m.busbw_GBps for m in metrics]),
            Column("low", "GBps", [m.error_band[0] for m in metrics], "error band"),
            Column("high", "GBps", [m.error_band[1] for m in metrics], "error band"),
            Column("of line", "ratio", [m.share_of_line for m in metrics]),
            *(
                Column(name, "seconds", [job.causes[name] for _, job in rows], "lost to it")
                for name in CAUSES
            ),
        ),
        rows=len(rows),
        note="causes add up to iteration less ideal",
    )


def money_table(comparison: Comparison) -> Table:
    """One row a transport: capital, power, energy, and what a petabyte and a run cost."""
    sides = [side for side in comparison.sides if side.money is not None]
    columns = [Column("transport", "text", [sanitize(side.label) for side in sides])]
    columns += [
        Column(name, kind, [getattr(side.money, name) for side in sides]) for name, kind in _MONEY
    ]
    return Table("money", tuple(columns), rows=len(sides), note="see prices for what it rests on")


def prices_table(scenarios: Sequence[tuple[str, Scenario, str]]) -> Table:
    """Every assumption and every price, with its source or the word estimate.

    Args:
        scenarios: label, cluster under its transport, and the transport it is built for.
    """
    rows: list[tuple[str, str, str, float, str, str]] = []
    if scenarios:
        spec = scenarios[0][1].spec
        for name in ASSUMPTIONS:
            own = assumption(spec, name)
            mark = "estimate" if own.estimate else "source"
            rows.append(("", name, own.meaning, own.value, mark, own.source))
    for label, scenario, own_name in scenarios:
        items = [item for item in cost_items(scenario) if not item.network]
        for item in (*items, *network_items(scenario, own_name)):
            mark = "estimate" if item.usd_estimate else "source"
            what = f"{item.count:,} × {item.kind}"
            rows.append((label, item.part, what, item.each_usd, mark, item.usd_source))
    columns: list[list[object]] = [[row[place] for row in rows] for place in range(6)]
    return Table(
        "prices",
        (
            Column("transport", "text", [sanitize(str(v)) for v in columns[0]]),
            Column("name", "text", columns[1]),
            Column("what", "text", columns[2]),
            Column("value", "float", columns[3], "US$ each, or the assumption's own unit"),
            Column("trust", "text", columns[4]),
            Column("from", "text", [sanitize(str(v)) for v in columns[5]]),
        ),
        rows=len(rows),
        note="change any of them with [prices] or --set prices.NAME=VALUE",
    )
