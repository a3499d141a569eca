"""A comparison with what it was made of, and as JSON; short of what pages and plots need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.compare import Comparison, as_dict
from clusterscope.metrics.verdict import Use
from clusterscope.views.verdict import paragraph


@dataclass(frozen=True)
class Compared:
    """A comparison with what it was made of.

    Attributes:
        comparison: the transports.
        uses: what the verdict rests on besides; empty when nothing was tried.
        clusters: clusters under the transport that each is built for, the first one's jobs in all.
        sides: label, cluster under its transport and the transport it is built for, as compared.
    """

    comparison: Comparison
    uses: Sequence[Use]
    clusters: Sequence[Scenario]
    sides: Sequence[tuple[str, Scenario, str]]

    @property
    def verdict(self) -> str:
        """The verdict as one paragraph."""
        return paragraph(self.comparison, self.uses)


def document(compared: Compared) -> dict[str, Any]:
    """The comparison as JSON takes it."""
    return {
        "spec": compared.clusters[0].spec.name,
        **as_dict(compared.comparison),
        "verdict": compared.verdict,
        "uses": [
            {
                "name": use.name,
                "what": use.what,
                "unit": use.unit,
                "level": list(use.front),
                "standings": [dict(vars(one)) for one in use.standings],
            }
            for use in compared.uses
        ],
    }
