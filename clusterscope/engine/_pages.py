"""Links by the page: what a solve needs of a fabric of which its entries touch a part.

At a million GPUs there are millions of links, and most phases use those of one network. Arrays over
all of them would cost more than the solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clusterscope.engine._waterfill import Floats, Ints

PAGE = 2**12
"""Links whose numbers stay together when entries are on few of all links."""

FEW_PAGES = 16
"""Pages up to which arrays over all links are cheap."""


@dataclass(frozen=True, eq=False)
class Capacities:
    """Capacities of all links, then of bundles, worked out where entries are.

    ``line_gbps`` (L,) is what links carry, ``payload`` (L,) the part of it that is payload, and
    ``bundle_gbps`` (B,) what bundles carry.
    """

    line_gbps: Floats
    payload: Floats
    bundle_gbps: Floats

    def __len__(self) -> int:
        """Links and bundles."""
        return len(self.line_gbps) + len(self.bundle_gbps)

    def some(self, low: int, high: int) -> Floats:
        """Capacities of a range of links and bundles."""
        links = len(self.line_gbps)
        own = self.line_gbps[low:high] * self.payload[low:high]
        if high <= links:
            return own
        return np.concatenate([own, self.bundle_gbps[max(low - links, 0) : high - links]])

    def whole(self) -> Floats:
        """All capacities, (L + B,) Gb/s."""
        return self.some(0, len(self))


class Pages(NamedTuple):
    """The pages of links that entries are on, as a denser numbering that keeps their order.

    ``links`` is how many links there are, ``used`` (P,) the pages of `PAGE` links that any entry is
    on, None when renaming would not pay.
    """

    links: int
    used: Ints | None

    def dense(self, link: NDArray[np.integer[Any]]) -> Ints:
        """Return links (E,) in the numbering of the pages."""
        if self.used is None:
            return link.astype(np.intp, copy=False)
        first = np.zeros(-(-self.links // PAGE), dtype=np.intp)
        first[self.used] = (np.arange(len(self.used)) - self.used) * PAGE
        return first.take(link // PAGE) + link

    def padded(self, capacity: Floats | Capacities) -> Floats:
        """Return the capacities (L,) of the pages behind the infinite padding link 0."""
        if self.used is None:
            return np.concatenate(([np.inf], _of(capacity, 0, self.links)))
        out = np.full(1 + len(self.used) * PAGE, np.inf)
        for place, low in enumerate((self.used * PAGE).tolist()):
            high = low + PAGE
            some = _of(capacity, low, high)
            out[1 + place * PAGE : 1 + place * PAGE + len(some)] = some
        return out

    def spread(self, values: Floats) -> Floats:
        """Return the values of the pages on all links (L,), 0 elsewhere."""
        if self.used is None:
            return values
        out = np.zeros(self.links)
        for place, low in enumerate((self.used * PAGE).tolist()):
            some = out[low : low + PAGE]
            some[:] = values[place * PAGE : place * PAGE + len(some)]
        return out

    def named(self, dense: Ints) -> Ints:
        """Return the links that dense numbers stand for; -1 stays."""
        if self.used is None:
            return dense
        page, place = np.divmod(dense, PAGE)
        return np.where(dense < 0, -1, self.used.take(page, mode="clip") * PAGE + place)


def used_pages(link: NDArray[np.integer[Any]], links: int) -> Pages:
    """Return the pages that entries are on, or no pages when they are on most of the links."""
    pages = -(-links // PAGE)
    if pages < FEW_PAGES:
        return Pages(links, None)
    on = np.zeros(pages, dtype=np.bool_)
    on[link // PAGE] = True
    used = np.flatnonzero(on)
    return Pages(links, used if 0 < len(used) <= pages // 2 else None)


def _of(capacity: Floats | Capacities, low: int, high: int) -> Floats:
    """Return a range of the capacities."""
    return capacity.some(low, high) if isinstance(capacity, Capacities) else capacity[low:high]
