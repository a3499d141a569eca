"""Which function derives which case: one module a category, one function a case."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from clusterscope.validation.verdict import Outcome

Derivation = Callable[[Mapping[str, Any]], Outcome]

# Front of a case's id -> module that derives it; each lists its cases in `DERIVATIONS`.
ROOMS: Final = {
    "FAIR": "flows",
    "COLL": "collectives",
    "MEAS": "measured",
    "TOPO": "topology",
    "ROUT": "routing",
    "TRAN": "transport",
    "TRAIN": "training",
    "REL": "reliability",
}


def derivation(case_id: str) -> Derivation | None:
    """The function that derives a case from its setup; None while there is none."""
    room = ROOMS.get(case_id.split("-")[0])
    if room is None:
        return None
    ways: dict[str, Derivation] = importlib.import_module(
        f"clusterscope.validation.{room}"
    ).DERIVATIONS
    return ways.get(case_id)
