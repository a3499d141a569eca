"""Words for what a user wrote and for what a field allows, safe to print on a terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from clusterscope.spec.model import ClusterSpec

MAX_SHOWN = 60
_BIG_INT_BITS = 190  # has nearly as many digits as are shown
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,60}")
_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}

Fields = dict[str, FieldInfo]


def shown(value: object) -> str:
    """A value in a sentence: short, on one line, without control characters."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "an array"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > _BIG_INT_BITS:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, int | float):
        return repr(value)
    text = repr(str(value)[: MAX_SHOWN + 1])
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 2]}…{text[-1]}"


def shown_name(name: object) -> str:
    """A file name or free text: as it is when printable, else escaped."""
    text = str(name)
    return text if text.isprintable() else repr(text)


def escaped(text: str, escape: Callable[[int], str]) -> str:
    """A file's text with what no terminal should get from it (bidirectional marks) escaped.

    Args:
        text: TOML or JSON, in which such characters stand in quoted strings alone.
        escape: a code point as that format writes it.
    """
    if text.isascii():
        return text
    hidden = (c for c in set(text) if unicodedata.category(c)[0] == "C" and c not in "\n\t\r")
    return text.translate({ord(c): escape(ord(c)) for c in hidden})


def in_toml(code: int) -> str:
    """A code point as an escape of a TOML string."""
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def dotted(path: Iterable[str | int]) -> str:
    """Keys and indices as `jobs.0.name`; odd keys are quoted and escaped."""
    return ".".join(
        str(key) if isinstance(key, int) or _PLAIN_KEY.fullmatch(key) else shown(key)
        for key in path
    )


def listed(names: Iterable[object]) -> str:
    """Names in a row, "or" before the last."""
    words = [str(name) for name in names]
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def fields_at(path: Iterable[str | int]) -> Fields | None:
    """Fields of the table at a path of the spec, None where there is no table of ours."""
    fields: Fields | None = dict(ClusterSpec.model_fields)
    for key in path:
        if isinstance(key, int):
            continue  # an element has the fields that its array was resolved to
        if fields is None or key not in fields:
            return None
        fields = _table_fields(fields[key].annotation)
    return fields


def _table_fields(annotation: Any) -> Fields | None:  # noqa: ANN401 - annotations have no type
    """Fields of the one model that an annotation speaks of."""
    for part in (annotation, *get_args(annotation)):
        if isinstance(part, type) and issubclass(part, BaseModel):
            return dict(part.model_fields)
    return None


def table_name(path: tuple[str | int, ...]) -> str:
    """A table as a reader of the file sees it."""
    return f"[{dotted(path)}]" if path else "the file"


def allowed(field: FieldInfo) -> str:
    """What a field takes, in words."""
    choices = options(field)
    if choices:
        return f"one of {listed(choices)}"
    if any(isinstance(extra, BeforeValidator) for extra in field.metadata):
        return 'bytes from 1 to 2**50, as 1048576 or "1 MiB"'
    element = element_of(field)
    if element is not None:
        most = next((e.max_length for e in field.metadata if hasattr(e, "max_length")), None)
        count = f"up to {most} " if most else ""
        of = next(word for kind, word in _KINDS.items() if kind is element.annotation)
        return f"an array of {count}{of.removeprefix('a ')}s{_bounds(element)}"
    bounded = next((p for p in get_args(field.annotation) if get_origin(p) is Annotated), None)
    if bounded is not None:  # as in `Annotated[int, Field(ge=1)] | None`
        return allowed(_field_of(bounded))
    parts = [field.annotation, *get_args(field.annotation)]
    kind = next((_KINDS[part] for part in parts if part in _KINDS), None)
    if kind is None:
        return "an array of tables" if get_origin(field.annotation) is tuple else "a table"
    return kind + _bounds(field)


def _field_of(annotated: Any) -> FieldInfo:  # noqa: ANN401 - annotations have no type
    """A field of that annotation alone."""
    found: FieldInfo = FieldInfo.from_annotation(annotated)
    return found


def element_of(field: FieldInfo) -> FieldInfo | None:
    """What an array of plain values holds; None for any other field."""
    if get_origin(field.annotation) is not tuple:
        return None
    first = get_args(field.annotation)[0]
    if get_origin(first) is not Annotated:
        return None
    kind, *extras = get_args(first)
    return FieldInfo.from_annotation(Annotated[kind, *extras]) if kind in _KINDS else None


def options(field: FieldInfo) -> tuple[object, ...]:
    """Values of a Literal field, also of an optional one; empty otherwise."""
    annotation = field.annotation
    for part in (annotation, *(get_args(annotation) if _is_union(annotation) else ())):
        if get_origin(part) is Literal:
            return get_args(part)
    return ()


def _is_union(annotation: object) -> bool:
    """True for `X | None`."""
    return get_origin(annotation) is Union or type(annotation).__name__ == "UnionType"


def _bounds(field: FieldInfo) -> str:
    """Limits of a number or of the length of a text."""
    limit = {
        name: getattr(extra, name)
        for extra in field.metadata
        for name in ("ge", "gt", "le", "max_length")
        if getattr(extra, name, None) is not None
    }
    if "max_length" in limit:
        return f" of 1 to {limit['max_length']} characters"
    if "ge" in limit and "le" in limit:
        return f" from {limit['ge']} to {limit['le']}"
    low = f" of at least {limit['ge']}" if "ge" in limit else ""
    low = f" above {limit['gt']}" if "gt" in limit else low
    return low + (f" and at most {limit['le']}" if "le" in limit else "")
