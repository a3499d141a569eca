"""The only place that knows how bits, bytes and SI prefixes convert.

Names carry units: `_gbps` is 10^9 bit/s, `_GBps` is 10^9 byte/s (nccl-tests), `_bytes`, `_s`.
"""

from __future__ import annotations

BITS_PER_BYTE = 8
GIGA = 1e9
KIB, MIB, GIB = 2**10, 2**20, 2**30


def gbps_to_GBps(gbps: float) -> float:  # noqa: N802 - the unit's own spelling
    """10^9 bit/s as 10^9 byte/s."""
    return gbps / BITS_PER_BYTE


def GBps_to_gbps(gigabytes_per_s: float) -> float:  # noqa: N802 - the unit's own spelling
    """10^9 byte/s as 10^9 bit/s."""
    return gigabytes_per_s * BITS_PER_BYTE


def seconds_for(size_bytes: float, gbps: float) -> float:
    """Seconds that `size_bytes` take at `gbps`; inf at rate 0."""
    return size_bytes * BITS_PER_BYTE / (gbps * GIGA) if gbps > 0 else float("inf")


def moved_bytes(gbps: float, seconds: float) -> float:
    """Bytes moved at `gbps` in `seconds`."""
    return gbps * GIGA * seconds / BITS_PER_BYTE


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things: "1 leaf", "1,600 leaves"; the plural ends in s unless it is given."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
