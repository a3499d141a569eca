"""An action: one thing that a key can do, and what it is called."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass

from clusterscope.tui.keynames import shown_key

Keymap = dict[str, tuple[str, ...]]  # keys by name of an action


@dataclass(frozen=True)
class Action:
    """One thing a key can do.

    Attributes:
        id: Textual action, with its arguments.
        keys: keys as Textual names them; the first is the one that is shown.
        label: one or two words for the footer; "" keeps it out of there.
        help: what it does, for the help screen and the palette.
        group: heading in the help screen.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    group: str

    @property
    def shown_keys(self) -> str:
        """Keys as a person reads them: "space", "U ctrl+r"."""
        return " ".join(shown_key(key) for key in self.keys)

    @property
    def name(self) -> str:
        """What settings call it: the id, that in the explorer of what is handed on to it."""
        handed = re.fullmatch(r"explorer\('(.*)'\)", self.id)
        return handed[1] if handed else self.id

    def under(self, keymap: Mapping[str, tuple[str, ...]]) -> Action:
        """The action with the keys that a keymap gives it."""
        keys = keymap.get(self.name)
        return self if keys is None else dataclasses.replace(self, keys=keys)
