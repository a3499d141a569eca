"""An event file: `[[events]]` tables as in a spec."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from clusterscope.errors import SpecError
from clusterscope.spec.base import Frozen
from clusterscope.spec.model import EventSpec
from clusterscope.spec.read import read_text, tables
from clusterscope.spec.validate import first_mistake
from clusterscope.spec.wording import shown, shown_name


class _EventFile(Frozen):
    events: tuple[EventSpec, ...] = Field(strict=False)


def read_events(path: str | PathLike[str]) -> tuple[EventSpec, ...]:
    """Events of a file, in file order.

    Raises:
        SpecError: the file cannot be read, is no TOML, or holds something that is no event.
    """
    where = shown_name(path)
    return parse_events(tables(read_text(Path(path), where), where), where)


def parse_events(data: dict[str, Any], where: str) -> tuple[EventSpec, ...]:
    """Events of TOML tables; `where` names their file in error messages."""
    odd = sorted(set(data) - {"events"})
    if odd:
        raise SpecError(where, f"{shown(odd[0])} is not a key of an event file", "use [[events]]")
    try:
        return _EventFile.model_validate(data).events
    except ValidationError as error:
        raise first_mistake(error, where) from None
