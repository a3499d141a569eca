"""A letter and a color for each job, so that the eye can follow it from screen to screen.

Colors are entries of the xterm palette that are light enough for black letters and stay apart
(CIEDE2000 over 16) under all three dichromacies; the letter says the same without them. After the
last color they begin again, after Z letters are doubled.
"""

from __future__ import annotations

from typing import Final

# Blue, gold, plum, cyan, olive, violet, ivory, khaki.
COLORS: Final = (
    "#87afd7", "#ffd700", "#af5f87", "#87ffff", "#5f8700", "#875fff", "#ffffd7", "#afaf87",
)  # fmt: skip
SIXTEEN: Final = (
    "#55ffff", "#aa5500", "#00aa00", "#ff55ff", "#ffff55", "#ff5555", "#5555ff", "#aaaaaa",
)  # fmt: skip
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(job: int) -> str:
    """Letter of a job by its place in the spec: A, B, … Z, AA, BB."""
    again, place = divmod(job, len(_LETTERS))
    return _LETTERS[place] * (again + 1)


def slot(job: int) -> int:
    """Place of a job's color in `COLORS`."""
    return job % len(COLORS)


def place(letters: str) -> int:
    """Job of a letter, the other way round; -1 for what is none."""
    if not letters or letters[0] not in _LETTERS:
        return -1
    return _LETTERS.index(letters[0]) + len(_LETTERS) * (len(letters) - 1)
