"""Tables of a TOML file to a `ClusterSpec`; the first mistake becomes one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from clusterscope.errors import SpecError, nearest
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.prices import mistake
from clusterscope.spec.wording import (
    allowed,
    dotted,
    element_of,
    fields_at,
    listed,
    options,
    shown,
    table_name,
)

# A misspelt key also makes the right one missing, so the unknown key is named first.
_FIRST = ("extra_forbidden", "literal_error")


def validate(data: Mapping[str, Any], where: str, set_keys: Iterable[str] = ()) -> ClusterSpec:
    """Check tables against the model.

    Args:
        data: tables as tomllib gives them.
        where: file that they come from.
        set_keys: dotted keys that `--set` changed, so that it is named and not the file.

    Raises:
        SpecError: the first mistake, and how many more there are.
    """
    try:
        spec = ClusterSpec.model_validate(dict(data))
    except ValidationError as error:
        raise first_mistake(error, where, set_keys) from None
    _check_prices(spec, where, set_keys)
    _check_sources(spec, where)
    return spec


def first_mistake(error: ValidationError, where: str, set_keys: Iterable[str] = ()) -> SpecError:
    """The first mistake of many as one sentence; arguments as for `validate`."""
    details = error.errors(include_url=False)
    details.sort(key=lambda d: _FIRST.index(d["type"]) if d["type"] in _FIRST else len(_FIRST))
    detail, more = details[0], len(details) - 1
    path = tuple(detail["loc"])
    key = dotted(path)
    if any(key == k or key.startswith(f"{k}.") or k.startswith(f"{key}.") for k in set_keys):
        where = "--set"
    problem, hint = _problem(detail, path)
    tail = f" (and {more} more)" if more else ""
    return SpecError(f"{where}: {key}" if key else where, problem, hint + tail)


def _problem(detail: ErrorDetails, path: tuple[str | int, ...]) -> tuple[str, str]:
    """What is wrong, and what would be right."""
    table = path[:-1]
    fields = fields_at(table) or {}
    name = str(path[-1]) if path else ""
    if detail["type"] == "extra_forbidden":
        return unknown_key(table, name)
    field = fields.get(name)
    if detail["type"] == "missing":
        about = f": {field.description}" if field and field.description else ""
        kind = allowed(field) if field else "a value"
        return "is missing", f"{table_name(table)} needs {kind}{about}"
    value = detail["input"]
    if path[:1] == ("prices",) and len(path) == 2:
        return f"{shown(value)} is not allowed", "allowed is a number of US$"
    if field is None or isinstance(path[-1], int):
        kind = "a table" if fields_at(path) else _element(path)
        return f"{shown(value)} is not allowed", f"allowed is {kind}"
    near = nearest(str(value), [str(o) for o in options(field)]) if isinstance(value, str) else None
    guess = f"; did you mean {near!r}?" if near else ""
    return f"{shown(value)} is not allowed", f"allowed is {allowed(field)}{guess}"


def _element(path: tuple[str | int, ...]) -> str:
    """What may stand at a place of an array of plain values."""
    names = [part for part in path if isinstance(part, str)]
    holder = (fields_at(names[:-1]) or {}).get(names[-1]) if names else None
    element = element_of(holder) if holder else None
    return allowed(element) if element else "a value of its kind"


def unknown_key(table: tuple[str | int, ...], name: str) -> tuple[str, str]:
    """Problem and hint for a key that a table does not have."""
    known = fields_at(table) or {}
    near = nearest(name, known)
    guess = f"did you mean {near!r}? " if near else ""
    return (
        f"{shown(name)} is not a key of {table_name(table)}",
        f"{guess}allowed are {listed(known)}",
    )


def _check_prices(spec: ClusterSpec, where: str, set_keys: Iterable[str]) -> None:
    """Every key of `[prices]` is a part or an assumption, and every value makes sense."""
    found = mistake(spec.prices)
    if found is not None:
        key, problem, hint = found
        key = dotted(("prices", key))
        raise SpecError(f"{'--set' if key in set_keys else where}: {key}", problem, hint)


def _check_sources(spec: ClusterSpec, where: str) -> None:
    """Every key of `[sources]` is a key of the spec."""
    for key in spec.sources:
        if key.startswith("prices.") and key.removeprefix("prices.") in spec.prices:
            continue
        *table, name = re.sub(r"\.\d+$", "", key).split(".")  # an element has no field of its own
        path = tuple(int(part) if part.isdecimal() else part for part in table)
        fields = fields_at(path)
        if fields is None or name not in fields:
            known = fields or fields_at(()) or {}
            near = nearest(name if fields else key, known)
            guess = f"did you mean {near!r}? " if near else ""
            raise SpecError(
                f"{where}: sources.{dotted([key])}",
                f"{shown(key)} is not a key of the spec",
                f"{guess}allowed in {table_name(path if fields else ())} are {listed(known)}",
            )
