"""What a rule of the audit finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]

# Above this a job that crosses a tier is bound by it rather than by its NICs.
STEEP_TAPER = 2.0


@dataclass(frozen=True)
class Finding:
    """One thing that a rule found.

    Attributes:
        severity: how bad it is.
        rule: name of the rule, stable.
        where: key of the spec, tier, or name of a device.
        message: one sentence.
    """

    severity: Severity
    rule: str
    where: str
    message: str
