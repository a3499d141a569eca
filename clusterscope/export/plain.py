"""Text from outside made harmless to look at, whatever file it lands in.

Names come from specs and dumps. Characters that would move a terminal's cursor, turn the reading
direction of what follows, break a line or not survive UTF-8 are spelled out; everything else, right
to left letters and emoji too, stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

from clusterscope.views.shapes import Kind
from clusterscope.views.text import fmt

# C0 and C1 controls, soft line ends, direction marks and overrides, zero-width joins that hide
# differences between two names (the joiner of emoji stays), tag characters, lone surrogates.
_HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def spelled_out(text: str) -> str:
    r"""`text` with every hidden character as its escape: an ESC becomes the four signs `\x1b`."""
    return _HIDDEN.sub(lambda m: m[0].encode("unicode_escape").decode("ascii"), text)


def words(value: object, kind: Kind) -> str:
    """A value as a report shows it: numbers as on the screen, text spelled out."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return spelled_out(value) if isinstance(value, str) else spelled_out(fmt(value, kind))
