"""Strip: a few lines of guidance over a screen, wrapped to its width."""

from __future__ import annotations

import textwrap

from textual.content import Content
from textual.widgets import Static


class GuideStrip(Static):
    """What to do next, and how to get rid of being told."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__("", id=id, markup=False)
        self._said, self._keys = ("", "", ""), ""
        self.display = False

    def tell(self, words: tuple[str, str, str], keys: str) -> None:
        """Show the place, what was learned and what to do, and what the tour's own keys do."""
        self._said, self._keys = words, keys
        self.display = True
        self._lay_out()

    def on_resize(self) -> None:
        """Wrap anew."""
        self._lay_out()

    def _lay_out(self) -> None:
        place, praise, ask = self._said
        head = f"tour {place} "
        indent = " " * (len(head) + 1)
        told = f"✓ {praise}. " if praise else ""
        text = f"{told}{ask}  ({self._keys})"
        width = max(20, self.app.size.width - 2)
        lines = textwrap.wrap(text, width - len(indent)) or [""]
        parts = [Content.styled(f" {head}", "bold reverse"), Content(f" {lines[0]}")]
        parts += [Content(f"\n{indent} {line}") for line in lines[1:]]
        self.update(Content("").join(parts))
