"""What a collective library takes besides bytes: NCCL's published cost model.

A collective by one algorithm and protocol takes a start, so much a step inside a domain and between
domains, and sends so many bytes a payload byte. LL sends a flag with every 4 bytes, LL128 with
every 120: little waiting for more bytes; Simple waits at every step and sends payload alone.

Source: NVIDIA/nccl 2.30, src/graph/tuning.cc (base and hardware latencies, bandwidth factors, the
correction of trees, the plateau of rings), src/enqueue.cc (chunks), src/transport/nvls.cc
(channels). Libraries of other vendors are taken to do the same (estimate).

`LAUNCH_S` is fitted on case MEAS-01 (1 MB on 8 H100 by NVLS): what starting a kernel takes, which
NCCL's model leaves out since it is the same for all its choices. `HOST_RATIO` is fitted on MEAS-08:
what hosts and their software leave of the payload rate of a NIC, a mean of three NICs.
"""

from __future__ import annotations

from typing import Final, Literal

Protocol = Literal["LL", "LL128", "Simple"]
Family = Literal["ring", "tree", "nvls", "nvls-tree", "collnet"]
Generation = Literal["Volta", "Ampere", "Hopper", "Blackwell"]

LAUNCH_S: Final = 5.4e-6
HOST_RATIO: Final = 0.9835

# By protocol, microseconds; a missing protocol is one that the family does not have.
_START_US: Final[dict[Family, dict[Protocol, float]]] = {
    "ring": {"LL": 6.6, "LL128": 14.0, "Simple": 8.4},
    "tree": {"LL": 6.8, "LL128": 14.0, "Simple": 8.4},
    "nvls": {"Simple": 0.0},
    "nvls-tree": {"Simple": 0.0},
    "collnet": {"Simple": 7.4},
}
# Inside: a whole pass of NVLS in two steps, up and down; in each a half of 25 us. Domains of
# CollNet scatter and gather by rings, whose steps these are.
_INSIDE_US: Final[dict[Family, dict[Protocol, float]]] = {
    "ring": {"LL": 0.6, "LL128": 1.9, "Simple": 3.4},
    "tree": {"LL": 0.6, "LL128": 1.25, "Simple": 4.0},
    "nvls": {"Simple": 12.5},
    "nvls-tree": {"Simple": 12.5},
    "collnet": {"Simple": 3.4},
}
# Between: 31 us of CollNet in two steps; NVLS between domains by a ring.
_BETWEEN_US: Final[dict[Family, dict[Protocol, float]]] = {
    "ring": {"LL": 2.7, "LL128": 4.0, "Simple": 14.0},
    "tree": {"LL": 5.0, "LL128": 8.5, "Simple": 14.0},
    "nvls": {"Simple": 14.0},
    "nvls-tree": {"Simple": 20.9},
    "collnet": {"Simple": 15.5},
}
# A proxy posts every message of a ring between nodes; on Simple three times.
_POST_US: Final[dict[Protocol, float]] = {"LL": 1.0, "LL128": 1.0, "Simple": 3.0}
# Most that LL moves as busbw, GB/s: in a node by GPU, between two nodes, between more (Intel).
_LL_NODE: Final[dict[Generation, float]] = {
    "Volta": 39.0,
    "Ampere": 87.7,
    "Hopper": 141.0,
    "Blackwell": 282.0,
}
_LL_TWO, _LL_MORE = 39.0, 20.4
_TREE_RATIO: Final = 0.92
PLATEAU: Final = 1.4
# Powers of two from 64 B on, by protocol.
_TREE_CORRECTION: Final[dict[Protocol, tuple[float, ...]]] = {
    "LL": (1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "LL128": (
        *(1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8),
        *(0.9, 0.9, 0.9, 0.9),
    ),
    "Simple": (
        *(0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5),
        *(0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
    ),
}
_KIB: Final = 1024
_CHUNK: Final = 128 * _KIB
# A message shorter than so many rounds is cut into chunks of that size instead.
_SMALLER: Final = ((64, 64 * _KIB), (8, 32 * _KIB), (2, 16 * _KIB))
_MOST_HEADS: Final = 32
# Scatter, reduce and gather follow one another on each round of chunks: two rounds to fill.
FILL_ROUNDS: Final = 2


def protocols(family: Family) -> tuple[Protocol, ...]:
    """Protocols that a family of algorithms can use, quickest start of a step first."""
    return tuple(_START_US[family])


def start_s(family: Family, protocol: Protocol) -> float:
    """Until the first step, seconds, launch included."""
    return LAUNCH_S + _START_US[family][protocol] * 1e-6


def inside_s(family: Family, protocol: Protocol, domains: int) -> float:
    """A step between two GPUs of a domain, seconds; rings between nodes post messages besides."""
    step = _INSIDE_US[family][protocol]
    if family == "ring" and domains > 1:
        step = max(step, _POST_US[protocol])
    return step * 1e-6


def between_s(family: Family, protocol: Protocol, domain_ranks: int) -> float:
    """A step over NICs and one switch, seconds; exposed in full where each domain is one GPU."""
    own = "tree" if family == "ring" and domain_ranks == 1 else family
    return _BETWEEN_US[own][protocol] * 1e-6


def wire_ratio(family: Family, protocol: Protocol) -> float:
    """Bytes on the wire for a payload byte: those of the flags come on top, at least 1."""
    if family not in ("ring", "tree"):
        return 1.0
    return {"LL": 2.0, "LL128": 128.0 / 120.0, "Simple": 1.0}[protocol]


def slowing(
    family: Family,
    protocol: Protocol,
    domains: int,
    generation: Generation,
    busbw_GBps: float,  # noqa: N803 - the unit's own spelling
) -> float:
    """Time that bytes take by a protocol over that of payload alone at the rate of the wires.

    Args:
        family: of the algorithm.
        protocol: how it is sent.
        domains: that take part.
        generation: of the GPUs.
        busbw_GBps: busbw that the wires allow for payload alone.
    """
    if family not in ("ring", "tree"):
        return 1.0
    ratio = 1.0 if family == "ring" else 1.0 / _TREE_RATIO
    match protocol, family:
        case "LL", _:
            most = _LL_NODE[generation] if domains == 1 else _LL_TWO if domains == 2 else _LL_MORE
            return max(2.0 if family == "ring" else 3.8 * ratio, busbw_GBps / most)
        case "LL128", "ring":
            return 1.0 / 0.92
        case "LL128", _:
            return ratio * (9.0 / 7.0 if domains == 1 else 128.0 / 120.0)
        case _:
            return ratio


def tree_correction(protocol: Protocol, size_bytes: float) -> float:
    """Share of a tree's bandwidth that a message of this size gets."""
    place = max(1, int(size_bytes) // 64).bit_length() - 1
    row = _TREE_CORRECTION[protocol]
    return row[place] if place < len(row) else 1.0


def round_bytes(size_bytes: float, generation: Generation, domains: int, ranks: int) -> float:
    """Bytes of the message that NVSwitches work on in one round of chunks, at most all of it."""
    channels = 16 if generation != "Blackwell" else 24 if domains == 1 else 32
    lanes, chunk = channels * min(_MOST_HEADS, ranks), _CHUNK
    for rounds, smaller in _SMALLER:
        if size_bytes < rounds * lanes * chunk and chunk > smaller:
            chunk = smaller
    return float(min(size_bytes, lanes * chunk))


def generation_of(gpu: str) -> Generation:
    """Generation whose figures hold for a GPU of the catalogue; Hopper's for other vendors'."""
    name = gpu.upper()
    for front, generation in _FRONTS.items():
        if name.startswith(front):
            return generation
    return "Hopper"


_FRONTS: Final[dict[str, Generation]] = {
    "GB": "Blackwell",
    "B": "Blackwell",
    "A100": "Ampere",
    "V100": "Volta",
    "P100": "Volta",
}
