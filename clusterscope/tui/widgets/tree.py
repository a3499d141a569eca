"""Tree: rows that open; only what is open is kept, and children are asked for when it opens."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from clusterscope.tui.messages import Entered, Pointed
from clusterscope.tui.theme import Palette, glyph
from clusterscope.tui.widgets.rows import RowsView, Span
from clusterscope.views.levels import level_of
from clusterscope.views.shapes import Column, Table
from clusterscope.views.text import fmt

_SEARCHED = 3_000  # rows that a filter looks at; deeper ones are found by their whole name
_SHOWN = 2_000


@dataclass(frozen=True)
class Branch:
    """One row of a tree.

    Attributes:
        key: what it stands for.
        label: its name.
        detail: a few words beside it.
        worst: ratio at its right, or change of one when `signed`; nan when there is none.
        down: dead members.
        children: True when it opens.
        signed: True when `worst` is a change.
        door: key of what the row leads into, for one that stands for nothing of its own; else "".
    """

    key: str
    label: str
    detail: str
    worst: float
    down: int
    children: bool
    signed: bool = False
    door: str = ""


Row = Callable[[str], Branch]
Children = Callable[[str], Sequence[Branch]]
Line = tuple[int, str]


class TreeView(RowsView):
    """Draws a tree whose rows come from functions of their keys."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._root = ""
        self._row: Row | None = None
        self._children: Children = lambda _: ()
        self._known: dict[str, Branch] = {}  # rows of this drawing
        self._index: Index | None = None
        self._open: set[str] = set()
        self._lines: list[Line] = []
        self._filter = ""
        self.matches = 0
        self.first_match = ""
        self.searched_all = True  # False when there were too many rows to look at
        self.opened = 0  # rows opened by hand so far

    def draw(self, root: str, row: Row, children: Children) -> None:
        """Show a tree; rows that were open stay open, the cursor stays on its row."""
        if self._row is None:
            self._open.add(root)
        self._root, self._row, self._children = root, row, children
        self._known.clear()
        self._rebuild()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._lines)

    @property
    def shape(self) -> Table | None:
        """The rows that are open, as a table."""
        branches = [(depth, self._branch(row)) for row, (depth, _) in enumerate(self._lines)]
        signed = any(branch.signed for _, branch in branches)
        worst = [branch.worst for _, branch in branches]
        columns = (
            Column("depth", "int", [depth for depth, _ in branches]),
            Column("name", "text", [branch.key for _, branch in branches]),
            Column("what", "text", [branch.detail for _, branch in branches]),
            Column("change" if signed else "worst", "delta" if signed else "ratio", worst),
            Column("down", "int", [branch.down for _, branch in branches]),
        )
        keys = [key for _, key in self._lines]
        return Table("topology", columns, len(branches), keys) if branches else None

    def key_of(self, row: int) -> str:
        """Key of a row."""
        return self._lines[row][1] if 0 <= row < len(self._lines) else ""

    def spans_of(self, row: int, width: int, colors: Palette) -> list[Span]:
        """Indent and sign, name, detail, dead members and worst value."""
        depth, branch = self._lines[row][0], self._branch(row)
        sign = " " if not branch.children else ("▾" if self._shown_open(row) else "▸")
        name = f"{' ' * depth}{'»' if branch.door else sign} {branch.label}"
        if branch.door:
            return [(name, colors.text), (f" {branch.detail}", colors.dim)]
        tail: list[Span] = [(f" {branch.down}X" if branch.down else "", colors.alert)]
        level = level_of(
            branch.worst,
            down=branch.down > 0 and math.isnan(branch.worst),
            signed=branch.signed,
            thresholds=colors.look.thresholds,
        )
        worst = f"{fmt(branch.worst, 'delta' if branch.signed else 'ratio'):>5}"
        tail += [(" ", colors.text), (glyph(level), colors.levels[level]), (worst, colors.text)]
        across = width - sum(cell_len(text) for text, _ in tail)
        name = set_cell_size(name, across) if cell_len(name) > across else name
        detail = f" {branch.detail}" if branch.detail else ""
        if cell_len(name) + cell_len(detail) > across:
            detail = ""
        gap = " " * (across - cell_len(name) - cell_len(detail))
        head = colors.alert if branch.down else colors.text
        return [(name, head), (detail, colors.dim), (gap, colors.text), *tail]

    def _shown_open(self, row: int) -> bool:
        """True for a row whose children are in sight: a filter shows those that match."""
        if self._filter:
            depths = [depth for depth, _ in self._lines[row : row + 2]]
            return len(depths) == 2 and depths[1] > depths[0]
        return self._lines[row][1] in self._open

    def filter(self, text: str) -> None:
        """Show only rows whose name holds the text, with their parents; "" shows all."""
        self._filter = text.casefold().strip()
        self.matches, self.first_match = 0, ""
        self._rebuild()

    @property
    def filtered(self) -> str:
        """The filter in force, "" when none is."""
        return self._filter

    def open(self, keys: Sequence[str]) -> None:
        """Open rows, in sight or not."""
        if not self._open.issuperset(keys):
            self._open.update(keys)
            self._rebuild()

    def select(self, key: str) -> None:
        """Put the cursor on a key when its row is in sight, without telling anyone."""
        if self._lines and self._branch(self.cursor).door == key:
            return  # the row under the cursor is a way into it
        before = self.cursor
        self._hold(key)
        if self.cursor != before:
            self._redraw_row(before)
            self._redraw_row(self.cursor)
        self.reveal()

    def action_enter(self) -> None:
        """Open or close the row under the cursor; go into one that does not open."""
        if not self._lines:
            return
        branch = self._branch(self.cursor)
        if branch.children and not self._filter:
            self._open.symmetric_difference_update({branch.key})
            self.opened += branch.key in self._open
            self._rebuild()
        self.post_message(Pointed(branch.key) if branch.children else Entered(branch.key))

    def sideways(self, where: str) -> None:
        """Right opens; left closes, or goes to the parent of what is closed."""
        if not self._lines:
            return
        branch = self._branch(self.cursor)
        closable = branch.children and branch.key in self._open and not self._filter
        if where == "right" and branch.children and branch.key not in self._open:
            self.action_enter()
        elif where == "right":
            self.point(self.cursor + 1)
        elif closable:
            self.action_enter()
        else:
            self.out()

    def out(self) -> bool:
        """Go to the parent; False when there is none."""
        if not self._lines or self.cursor == 0:
            return False
        depth = self._lines[self.cursor][0]
        above = range(self.cursor - 1, -1, -1)
        self.point(next((row for row in above if self._lines[row][0] < depth), 0))
        return True

    def _branch(self, row: int) -> Branch:
        key = self._lines[row][1]
        if key not in self._known and self._row is not None:
            self._known[key] = self._row(key)
        return self._known[key]

    def _rebuild(self) -> None:
        """List the visible rows anew; the cursor keeps its key."""
        if self._row is None:
            return
        key = self.key_of(self.cursor)
        self._lines = self._matching() if self._filter else list(self._visible(0, self._root))
        self._hold(key)
        self.reshaped()

    def _hold(self, key: str) -> None:
        rows = (row for row, (_, other) in enumerate(self._lines) if other == key)
        self.cursor = next(rows, min(self.cursor, max(0, len(self._lines) - 1)))

    def _visible(self, depth: int, key: str) -> Iterator[Line]:
        yield depth, key
        if key in self._open:
            for child in self._children(key):
                self._known[child.key] = child
                yield from self._visible(depth + 1, child.key)

    def _matching(self) -> list[Line]:
        """Matches among the rows of the index, each below its parents."""
        if self._index is None:
            self._index = index_of(self._root, self._children)
        labels, parents = self._index
        self.searched_all = len(labels) < _SEARCHED
        hits = [k for k, label in labels.items() if self._filter in f"{k} {label}".casefold()]
        self.matches, self.first_match = len(hits), hits[0] if hits else ""
        return with_parents(hits[:_SHOWN], parents, self._root)


Index = tuple[dict[str, str], dict[str, str]]


def index_of(root: str, children: Children) -> Index:
    """Label and parent of the first rows of a tree, level by level: what a filter looks at."""
    labels: dict[str, str] = {root: ""}
    parents: dict[str, str] = {}
    level = [root]
    while level:
        following: list[str] = []
        for key in level:
            if len(labels) >= _SEARCHED:
                return labels, parents
            for child in children(key):
                if child.key not in labels and not child.door:
                    labels[child.key], parents[child.key] = child.label, key
                    if child.children:
                        following.append(child.key)
        level = following
    return labels, parents


def with_parents(hits: Sequence[str], parents: dict[str, str], root: str) -> list[Line]:
    """Lines of the hits and of everything above them, parents first."""
    below: dict[str, dict[str, None]] = {}
    for hit in hits:
        key = hit
        while key != root:
            above = parents[key]
            known = above in below
            below.setdefault(above, {})[key] = None
            if known:
                break
            key = above
    lines: list[Line] = []
    stack = [(0, root)]
    while stack:
        depth, key = stack.pop()
        lines.append((depth, key))
        stack += [(depth + 1, child) for child in reversed(below.get(key, {}))]
    return lines
