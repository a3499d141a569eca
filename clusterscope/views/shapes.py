"""The four things a view can be.

The explorer has one widget a shape, the exporter one writer a shape and format. Shapes hold
numbers, units and words; they know nothing of colors, glyphs, widths or files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from clusterscope.columns import F64, Bool

Kind = Literal[
    "text",
    "int",
    "float",
    "ratio",
    "delta",  # a ratio less another one
    "change",  # a share by which something has grown
    "gbps",
    "GBps",
    "bytes",
    "seconds",
    "usd",
    "watts",
]
Mark = Literal["", "source", "estimate", "doubt", "derived", "set"]


@dataclass(frozen=True, eq=False)
class Column:
    """One column: values of one kind, by row.

    `values` is a sequence, or a function of the row index when rows are too many to spell out.
    """

    name: str
    kind: Kind
    values: Sequence[object] | np.ndarray | Callable[[int], object]
    doc: str = ""

    def __getitem__(self, row: int) -> object:
        """Value in a row."""
        return self.values(row) if callable(self.values) else self.values[row]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of columns."""

    title: str
    columns: tuple[Column, ...]
    rows: int
    keys: Sequence[str] | Callable[[int], str] | None = None
    note: str = ""

    def key(self, row: int) -> str:
        """Name of the thing in a row, as selections and events use it; "" when it is none."""
        if self.keys is None:
            return ""
        return self.keys(row) if callable(self.keys) else self.keys[row]


@dataclass(frozen=True, eq=False)
class Grid:
    """Ratios in rows and columns: a heat map.

    `values` (R, C) is 0 to 1, or -1 to 1 when `signed`, and nan where nothing is; `down` (R, C)
    marks cells with a dead member. `where` gives the cell that a key belongs to.
    """

    title: str
    values: F64
    down: Bool
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    keys: Callable[[int, int], str] | None = None
    note: str = ""
    signed: bool = False
    where: Callable[[str], tuple[int, int] | None] | None = None

    @property
    def kind(self) -> Kind:
        """Kind of the values."""
        return "delta" if self.signed else "ratio"


@dataclass(frozen=True, eq=False)
class Series:
    """Lines over steps: x (T,), each y (T,)."""

    title: str
    x: F64
    x_label: str
    y: dict[str, F64]
    y_label: str
    kind: Kind = "float"
    note: str = ""


@dataclass(frozen=True)
class Fact:
    """One labelled value and how far it can be trusted."""

    label: str
    value: object
    kind: Kind = "text"
    mark: Mark = ""
    source: str = ""


@dataclass(frozen=True)
class Note:
    """Facts and sentences."""

    title: str
    facts: tuple[Fact, ...] = ()
    lines: tuple[str, ...] = field(default=())


Shape = Table | Grid | Series | Note
