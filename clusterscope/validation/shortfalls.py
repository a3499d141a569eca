"""Why cases that do not come out do not: what the model lacks, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SHORTFALLS: Final[Mapping[str, str]] = {
    "ROUT-13": "the fullest link of a hash paces a ring; sizes, placements and times of the jobs "
    "are not told",
    "ROUT-15": "what DeepSpeed sends for Llama-7B is hidden, or paced by NVLink; batch and overlap "
    "are not told",
    "TOPO-09": "what hosts take from a NIC is not modeled",
    "TRAIN-15": "software of 2024 reached less of an H100 than that of 2025, on which the model is "
    "fitted",
    "TRAN-07": "that a sender gives up paths that lose packets is not modeled",
}
