"""What nccl-tests printed: a log of `all_reduce_perf` and its like, by size.

A data line has the columns that the comment above names; older versions have no root, and none for
errors. Ranks of MPI may put a tag in front of a line, and NCCL lines of its own between; a line
that does not begin with a number is none of the table's.

Source: NVIDIA/nccl-tests, README.md and src/common.cu (columns, and their units B, us, GB/s).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final

from clusterscope.errors import SpecError
from clusterscope.spec.model import Collective
from clusterscope.spec.read import read_text
from clusterscope.spec.wording import shown, shown_name

# nccl-tests word -> ours.
COLLECTIVES: Final[dict[str, Collective]] = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "broadcast": "broadcast",
    "alltoall": "all-to-all",
    "sendrecv": "sendrecv",
}
_ALLOWED: Final = "a log of nccl-tests, which is text"
_TAG = re.compile(r"^\s*(?:\[[\d,. ]+\])?(?:<std(?:out|err)>)?:?\s*")
_RANK = re.compile(r"#\s+Rank\s+(\d+)\s")
_NAME = re.compile(r"\b(" + "|".join(COLLECTIVES) + r")_perf")
_DIGITS: Final = 16
_TIMED: Final = ("time", "algbw", "busbw")
# Columns when no comment names them, by how many there are in front of the first time.
_FRONTS: Final = {
    5: ("size", "count", "type", "redop", "root"),
    4: ("size", "count", "type", "redop"),
    3: ("size", "count", "type"),
}


@dataclass(frozen=True)
class Measured:
    """One line of a log, out of place unless there is only the other.

    Attributes:
        size_bytes: of the message.
        seconds: of one call.
        algbw_GBps: message over time, 10^9 B/s.
        busbw_GBps: times the factor of the collective.
        wrong: results that a check found wrong; 0 when it found none or was off.
    """

    size_bytes: int
    seconds: float
    algbw_GBps: float  # noqa: N815 - the unit's own spelling
    busbw_GBps: float  # noqa: N815
    wrong: int = 0


@dataclass(frozen=True)
class Log:
    """A whole log.

    Attributes:
        name: of its file.
        rows: by size, ascending; of sizes that occur again the last.
        collective: that it says it ran; None when it does not.
        ranks: that it lists; None when it lists none.
        redop: reduction that its lines name; None when they do not.
    """

    name: str
    rows: tuple[Measured, ...]
    collective: Collective | None
    ranks: int | None
    redop: str | None = None


def read_log(path: str | PathLike[str]) -> Log:
    """A log from a file.

    Raises:
        SpecError: the file cannot be read, holds no results, or a broken line.
    """
    where = shown_name(path)
    return parse_log(read_text(Path(path), where, _ALLOWED), where)


def parse_log(text: str, where: str) -> Log:
    """A log from its text; `where` names the file in error messages.

    Raises:
        SpecError: it holds no results, or a broken line.
    """
    head: Sequence[str] | None = None
    rows: dict[int, Measured] = {}
    collective: Collective | None = None
    ranks, redop = 0, None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip() if raw.lstrip().startswith("#") else _TAG.sub("", raw, count=1).strip()
        named = _NAME.search(line)
        if named is not None and collective is None:
            collective = COLLECTIVES[named[1]]
        if line.startswith("#"):
            words = line.lstrip("# ").split()
            head = words if words[:1] == ["size"] and "time" in words else head
            rank = _RANK.match(line)
            ranks = max(ranks, int(rank[1]) + 1) if rank else ranks
        elif re.match(r"\d+\s", line):
            cells = line.split()
            row = _row(cells, head, f"{where}: line {number}")
            names = head or _guessed(cells, where)
            if "redop" in names and not _is_number(cells[names.index("redop")]):
                redop = cells[names.index("redop")]
            # Sizes that leave nothing for each rank are printed as 0.
            rows |= {row.size_bytes: row} if row.size_bytes else {}
    if not rows:
        raise SpecError(
            where, "holds no results of nccl-tests", "give what all_reduce_perf printed"
        )
    ordered = tuple(rows[size] for size in sorted(rows))
    return Log(where, ordered, collective, ranks or None, redop)


def _row(cells: Sequence[str], head: Sequence[str] | None, where: str) -> Measured:
    """One data line."""
    names = head or _guessed(cells, where)
    timed = names.index("time")
    if len(cells) < timed + len(_TIMED):
        raise SpecError(
            where,
            f"has {len(cells)} columns",
            f"a line of nccl-tests has {' '.join(names)}",
        )
    size = _number(cells[0], "size", where)
    values = [_number(cells[timed + place], name, where) for place, name in enumerate(_TIMED)]
    if size >= 1 and values[0] <= 0:
        raise SpecError(where, f"time {shown(cells[timed])} is not above 0")
    after = timed + len(_TIMED)  # where #wrong is
    wrong = cells[after] if len(cells) > after else ""
    found = int(wrong) if wrong.isdecimal() and len(wrong) < _DIGITS else 0
    return Measured(int(size), values[0] * 1e-6, values[1], values[2], found)


def _guessed(cells: Sequence[str], where: str) -> Sequence[str]:
    """Columns of a line that no comment explains: numbers begin again with the time."""
    for count, names in _FRONTS.items():
        timed = cells[count : count + len(_TIMED)]
        if len(timed) == len(_TIMED) and all(map(_is_number, timed)) and not _is_number(cells[2]):
            return (*names, *_TIMED)
    raise SpecError(
        where, "is not a line of nccl-tests", "it has size count type redop root time algbw busbw"
    )


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _number(cell: str, name: str, where: str) -> float:
    if not _is_number(cell):
        raise SpecError(where, f"{name} {shown(cell)} is not a number")
    return float(cell)
