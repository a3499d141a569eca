"""Cables of a scale-up domain that has no switches, a mesh or torus: who is next to whom.

A place is a GPU's number in its domain; on a torus the first dimension varies fastest. All domains
of a cluster are alike, so tables of one domain serve all.

Axes: P places, K cables of one domain between its GPUs, N dimensions, H hops.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Annotated

import numpy as np

from clusterscope.columns import I32, I64, Arrays, Col
from clusterscope.spec.shape import Shape

AXES = "xyzw"
FORWARD, BACK = 0, 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Geometry(Arrays):
    """Cables of one mesh or torus, by place; links are numbered 2 x cable, + 1 from `b` to `a`."""

    a: Annotated[I32, Col("K", "place", "lower end; on a torus the one whose forward cable it is")]
    b: Annotated[I32, Col("K", "place", "upper end")]
    axis: Annotated[I32, Col("K", "1", "dimension of a torus, 0 on a mesh")]
    at: Annotated[I32, Col("PX", "cable", "cables at each place, ascending, -1 pads")]


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps(Arrays):
    """One hop along each dimension of a torus, forward (0) or back (1)."""

    coordinate: Annotated[I32, Col("PN", "1", "where a place is")]
    link: Annotated[I32, Col("PN2", "link", "link of the hop; -1 where the dimension has one GPU")]
    to: Annotated[I32, Col("PN2", "place", "where the hop leads")]


@cache
def geometry(shape: Shape) -> Geometry:
    """Cables of one domain whose GPUs are cabled to each other."""
    if shape.kind == "mesh":
        a, b = np.triu_indices(shape.size, 1)
        axis = np.zeros(len(a), dtype=np.int64)
    else:
        a, b, axis = _rings(shape.dims)
    return Geometry(
        a=a.astype(np.int32),
        b=b.astype(np.int32),
        axis=axis.astype(np.int32),
        at=_at(a, b, shape),
    )


def _rings(dims: tuple[int, ...]) -> tuple[I64, I64, I64]:
    """Ends and dimension of the cables of a torus: place by place, dimension by dimension.

    A ring of two has one cable, a ring of one has none.
    """
    place, strides = np.arange(prod(dims)), _strides(dims)
    ends, nexts, axes = [], [], []
    for axis, (n, stride) in enumerate(zip(dims, strides, strict=True)):
        coordinate = place // stride % n
        own = place if n > 2 else place[coordinate < n - 1]
        ends.append(own)
        nexts.append(own + ((own // stride + 1) % n - own // stride % n) * stride)
        axes.append(np.full(len(own), axis))
    a, b, axis_of = (np.concatenate(part) for part in (ends, nexts, axes))
    order = np.lexsort((axis_of, a))
    return a[order], b[order], axis_of[order]


def _at(a: I64, b: I64, shape: Shape) -> I32:
    """Cables at each place, ascending, padded with -1."""
    cable = np.tile(np.arange(len(a)), 2)
    place = np.concatenate([a, b])
    order = np.lexsort((cable, place))
    count = np.bincount(place, minlength=shape.size)
    column = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
    at = np.full((shape.size, shape.gpu_cables), -1, dtype=np.int32)
    at[place[order], column] = cable[order]
    return at


@cache
def steps(shape: Shape) -> Steps:
    """Hops from every place of a torus."""
    cables, dims = geometry(shape), shape.dims
    place = np.arange(shape.size)
    strides = np.array(_strides(dims))
    coordinate = place[:, None] // strides % np.array(dims)
    link = np.full((shape.size, len(dims), 2), -1, dtype=np.int32)
    to = np.repeat(place, 2 * len(dims)).reshape(link.shape).astype(np.int32)
    number = np.arange(len(cables.a), dtype=np.int32)
    two = np.array(dims)[cables.axis] == 2
    every = np.ones(len(two), dtype=np.bool_)
    # The one cable of a ring of two leads to the other GPU both ways round.
    for own, a_way, b_way in ((every, FORWARD, BACK), (two, BACK, FORWARD)):
        a, b, axis = cables.a[own], cables.b[own], cables.axis[own]
        link[a, axis, a_way], to[a, axis, a_way] = 2 * number[own], b
        link[b, axis, b_way], to[b, axis, b_way] = 2 * number[own] + 1, a
    return Steps(coordinate=coordinate.astype(np.int32), link=link, to=to)


@cache
def ring_place(shape: Shape) -> I64:
    """Place of every GPU of a domain in a ring whose neighbors are cabled, (P,).

    On a torus a path that turns around at the end of each row; with an even dimension, which is
    then walked last, its ends are neighbors too. Elsewhere the order of the GPUs.
    """
    order = np.arange(shape.size, dtype=np.int64)
    if shape.kind != "torus":
        return order
    dims, strides = shape.dims, _strides(shape.dims)
    last = max(range(len(dims)), key=lambda d: (dims[d] % 2 == 0 and dims[d] > 1, dims[d], d))
    walked = [d for d in range(len(dims)) if d != last] + [last]
    rank, width = np.zeros(shape.size, dtype=np.int64), 1
    for axis in walked:
        coordinate = order // strides[axis] % dims[axis]
        # An odd row is walked from its end, so the walk below it is mirrored.
        rank = np.where(coordinate % 2 == 0, rank, width - 1 - rank) + coordinate * width
        width *= dims[axis]
    rank.setflags(write=False)
    return rank


def _strides(dims: tuple[int, ...]) -> list[int]:
    """Places between neighbors along each dimension."""
    return [prod(dims[:axis]) for axis in range(len(dims))]
