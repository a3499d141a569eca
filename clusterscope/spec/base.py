"""What every table of a spec is made of."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from clusterscope.units import GIB, KIB, MIB

_SIZES = {"b": 1, "kib": KIB, "mib": MIB, "gib": GIB, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)")


def _size(value: object) -> object:
    """Bytes from 1073741824 or "1 GiB"; anything else is left for pydantic to refuse."""
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    scale = _SIZES.get(match[2].casefold() or "b") if match and len(match[1]) < 20 else None
    return int(float(match[1]) * scale) if match and scale else value


Size = Annotated[
    int,
    BeforeValidator(_size),
    Field(ge=1, le=2**50),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 2**50},
                {"type": "string", "pattern": f"^{_SIZE.pattern}$"},
            ]
        },
        mode="validation",
    ),
]
Name = Annotated[str, Field(min_length=1, max_length=120)]


class Frozen(BaseModel):
    """Base of every table: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
