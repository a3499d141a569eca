"""Nothing but ASCII on the screen, for terminals and fonts that have no more.

Every line that is painted passes through here last, so no widget has to know.
"""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_FRAMES: Final = dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┣┫┳┻╋╔╗╚╝", "+")
_LINES: Final = {**dict.fromkeys("─━═╌┄", "-"), **dict.fromkeys("│┃║┆╵", "|")}
_SIGNS: Final = {
    "▸": ">", "▶": ">", "▾": "v", "◂": "<", "●": "o", "‖": "=", "▲": "^", "▼": "v",
    "·": ".", "•": "*", "–": "-", "—": "-", "−": "-", "…": "~", "×": "x", "±": "+", "µ": "u",
    "§": "^", "←": "<", "→": ">", "↑": "^", "↓": "v", "∞": "8", "✗": "x", "≥": ">", "≤": "<",
    "▁": "_", "▂": "_", "▃": "-", "▄": "-", "▅": "=", "▆": "=", "▇": "#", "█": "#",
    "▔": "-", "▎": "|", "▏": "|", "▊": "|", "▌": "|", "▐": "|", "▕": "|",
    "’": "'", "“": '"', "”": '"',
}  # fmt: skip
TABLE: Final = str.maketrans(_FRAMES | _LINES | _SIGNS)


def plain(text: str) -> str:
    """Text of as many cells in ASCII; what has no likeness is a question mark."""
    if text.isascii():
        return text
    text = text.translate(TABLE)
    return "".join(c if c.isascii() else "?" * cell_len(c) for c in text)


class Ascii(LineFilter):
    """Paints lines in ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - the filter's signature
        """The same cells in ASCII."""
        return [
            segment if segment.text.isascii() else Segment(plain(segment.text), segment.style)
            for segment in segments
        ]
