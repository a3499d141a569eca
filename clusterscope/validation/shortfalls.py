"""Why cases that do not come out do not: what the model lacks, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SHORTFALLS: Final[Mapping[str, str]] = {
    "COLL-09": "phases of a hierarchical all-reduce do not overlap",
    "MEAS-01": "small messages on NVLink come out too fast",
    "MEAS-05": "small messages on NVLink come out too fast",
    "MEAS-08": "what a host and its software take from one connection is not modeled",
    "ROUT-13": "rings keep step link by link, so the fullest of a hash paces all; real libraries "
    "run ahead",
    "ROUT-15": "hashed rings keep step link by link, and batch and accumulation are not told",
    "TOPO-09": "what hosts take from a NIC is not modeled",
    "TRAIN-05": "the collectives of ZeRO-3 in 2021 are not modeled beyond one ring",
    "TRAIN-08": "the paper's own kernels and parallel block are not modeled",
    "TRAN-07": "that a sender gives up paths that lose packets is not modeled",
}
