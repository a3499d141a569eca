"""Structs of arrays that describe, check and freeze themselves.

A room that keeps arrays declares a frozen dataclass deriving from `Arrays`; each array field is
`Annotated[I32, Col("shape", "unit", "meaning")]`. Shapes are strings of single capital axes
("F", "FH"); a digit or an expression such as "S+1" is a fixed or derived length. Construction
casts nothing: a wrong dtype or an axis that two fields disagree on is an error of ours.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
I8 = NDArray[np.int8]
U64 = NDArray[np.uint64]
Bool = NDArray[np.bool_]

_AXIS = re.compile(r"[A-Z](?:\+\d+)?|\d+")


@dataclass(frozen=True, slots=True)
class Col:
    """What one array holds: axes, unit, meaning."""

    shape: str
    unit: str
    doc: str = ""


_COLUMNS: dict[str, dict[str, tuple[Col, Any]]] = {}


def columns_of(cls: type[Any]) -> dict[str, tuple[Col, Any]]:
    """Array fields of a dataclass: name -> (Col, expected dtype), in declaration order."""
    key = f"{cls.__module__}.{cls.__qualname__}"
    if key not in _COLUMNS:
        _COLUMNS[key] = _read_columns(cls)
    return _COLUMNS[key]


def _read_columns(cls: type[Any]) -> dict[str, tuple[Col, Any]]:
    """Columns from the annotations, resolved once a class."""
    hints = get_type_hints(cls, include_extras=True)
    found: dict[str, tuple[Col, Any]] = {}
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        if get_origin(hint) is Annotated:
            array, col = get_args(hint)[:2]
            if isinstance(col, Col):
                found[field.name] = (col, get_args(get_args(array)[1])[0])
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Arrays:
    """Base of frozen structs of arrays: checks shapes and dtypes, makes arrays read-only."""

    def __post_init__(self) -> None:
        axes: dict[str, int] = {}
        for name, (col, dtype) in columns_of(type(self)).items():
            array = getattr(self, name)
            _check(f"{type(self).__name__}.{name}", array, col, np.dtype(dtype), axes)
            array.setflags(write=False)

    def digest(self) -> str:
        """Hex digest of every array's bytes, equal on any machine for equal content."""
        sha = hashlib.blake2b(digest_size=16)
        for name in columns_of(type(self)):
            array = np.ascontiguousarray(getattr(self, name))
            sha.update(name.encode())
            sha.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
        return sha.hexdigest()


def _check(
    where: str, array: NDArray[Any], col: Col, dtype: np.dtype[Any], axes: dict[str, int]
) -> None:
    """Refuse an array of another dtype, rank or axis length; remember new axes in `axes`."""
    wanted = _AXIS.findall(col.shape)
    if array.dtype != dtype or array.ndim != len(wanted):
        msg = f"{where}: {array.dtype} with {array.ndim} axes, expected {dtype} {col.shape}"
        raise TypeError(msg)
    for axis, length in zip(wanted, array.shape, strict=True):
        letter, _, extra = axis.partition("+")
        size = length - int(extra or 0)
        expected = int(letter) if letter.isdigit() else axes.setdefault(letter, size)
        if expected != size:
            msg = f"{where}: axis {axis} is {length} long, expected {expected + int(extra or 0)}"
            raise ValueError(msg)


def bincount(index: NDArray[np.integer[Any]], weight: F64 | None, length: int) -> F64:
    """Sum of `weight` (or count) per index, (length,) float64."""
    out: F64 = np.bincount(index, weights=weight, minlength=length).astype(np.float64, copy=False)
    return out
