"""How much traffic between two members of a full mesh goes direct, and how much over a third.

Members are groups of a dragonfly, or the switches of a group. A pair (a, b) of them has capacity
C(a, b), demand D(a, b), and sends x(a, b) of it over other members i in proportion to
C(a, i) C(i, b), so that a way counts for what both of its hops carry. The load of a pair is then

    F(a, b) = D(a, b) - x(a, b) + C(a, b) [ sum_h y(a, h) C(b, h) + sum_g C(g, a) y(g, b) ],
    y(a, b) = x(a, b) / sum_i C(a, i) C(i, b),

the sums being traffic on the first and on the second hop of detours. Adaptive routing sends no more
around than it must: x is the least detour for which F <= r C everywhere, with the least level
r >= 1 that can be met. For a given r it is the least fixed point of

    x = min(max(D + detours of x - r C, 0), D),

reached from below since detours grow with x; r is found by bisection. Demand that the cables of its
sender or receiver together cannot carry is scaled down to what they can before that.

Model: the fluid limit of UGAL with perfect knowledge (Singh, "Load-balanced routing in
interconnection networks", Stanford 2005). One level r serves the whole mesh.

Axes: K meshes, n members of each, X pairs whose capacity is not the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clusterscope.columns import F64, I64, Bool

_BISECTIONS = 14
_ROUNDS = 48
_CLOSE = 1e-7
_FINE = 1e-3


@dataclass(frozen=True, eq=False)
class Mesh:
    """Full meshes of equal size, and how detours load them.

    Attributes:
        capacity: (K, n, n) from row to column; nothing from a member to itself.
        most: (K, 1, 1) largest capacity of a mesh.
        missing: where in a mesh (mesh, row, column) capacity is below the largest, (X,) each.
        lack: (X,) by how much.
        ways: (K, n, n) sum of C(a, i) C(i, b): 0 where there is no detour.
    """

    capacity: F64
    most: F64
    missing: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
    lack: F64
    ways: F64

    @classmethod
    def of(cls, capacity: F64) -> Mesh:
        """Mesh of these capacities, (K, n, n)."""
        most = capacity.max(axis=(1, 2), keepdims=True, initial=0.0)
        lack = np.where(np.eye(capacity.shape[1], dtype=np.bool_), 0.0, most - capacity)
        k, row, column = np.nonzero(lack)
        less = lack[k, row, column]
        # Sum over i of C(a, i) C(i, b), as the sum over h of Y(a, h) C(b, h) with C transposed.
        turned = cls(_turned(capacity), most, (k, column, row), less, capacity)
        ways = turned.toward(capacity)
        ways[:, np.eye(capacity.shape[1], dtype=np.bool_)] = 0.0
        return cls(capacity, most, (k, row, column), less, ways)

    def toward(self, y: F64) -> F64:
        """Sum over h of y(a, h) C(b, h), for every (a, b)."""
        out = self.most * (_sums(y, 2) - y)
        if len(self.lack):
            mesh, row, column = self.missing
            part = _turned(y)[mesh, column] * self.lack[:, None]  # (X, n), over a
            np.subtract.at(_turned(out), (mesh, row), part)
        return out

    def onward(self, y: F64) -> F64:
        """Sum over g of C(g, a) y(g, b), for every (a, b)."""
        out = self.most * (_sums(y, 1) - y)
        if len(self.lack):
            mesh, row, column = self.missing
            np.subtract.at(out, (mesh, column), y[mesh, row] * self.lack[:, None])
        return out

    def detours(self, x: F64) -> F64:
        """Load that detoured traffic x puts on every pair, both hops, (K, n, n)."""
        y = np.divide(x, self.ways, out=np.zeros_like(x), where=self.ways > 0)
        return self.capacity * (self.toward(y) + self.onward(y))

    def only(self, meshes: I64) -> Mesh:
        """Some of the meshes."""
        return Mesh.of(self.capacity[meshes])


def detoured(demand: F64, mesh: Mesh) -> F64:
    """Traffic that goes around, of demand scaled to what its ends carry, as a share: (K, n, n).

    Args:
        demand: (K, n, n) what members would send each other; nothing to themselves.
        mesh: what joins them.

    Returns:
        Share of each pair's traffic that is detoured; of a pair without demand, 1 where only a
        detour leads, else 0.
    """
    capacity = mesh.capacity
    forced = (capacity == 0) & (mesh.ways > 0)
    share = forced.astype(np.float64)
    scaled = _scaled(demand, capacity)
    least = np.where(forced, scaled, 0.0)
    most = np.where(mesh.ways > 0, scaled, 0.0)
    # Pairs without any way are reported as unreached elsewhere.
    scaled = np.where((capacity > 0) | forced, scaled, 0.0)
    load = scaled - least + mesh.detours(least)
    level = np.divide(load, capacity, out=np.zeros_like(load), where=capacity > 0)
    high = level.max(axis=(1, 2), initial=0.0)
    busy = np.flatnonzero(high > 1.0)
    if len(busy):
        part = mesh if len(busy) == len(high) else mesh.only(busy)
        search = _Search(part, scaled[busy], least[busy], most[busy])
        around = search.least_detour(high[busy])
        share[busy] = np.divide(around, scaled[busy], out=share[busy], where=scaled[busy] > 0)
    out: F64 = np.minimum(share, 1.0)
    return out


@dataclass(frozen=True, eq=False)
class _Search:
    """The least level of some meshes; demand and the bounds of x are (K, n, n)."""

    mesh: Mesh
    demand: F64
    least: F64
    most: F64

    def least_detour(self, high: F64) -> F64:
        """Detour at the least level, which is 1 or between 1 and `high` (K,)."""
        best = self.least.copy()
        low, high = np.ones_like(high), high.copy()
        trial = low.copy()
        for _ in range(_BISECTIONS):
            x, fits = self._fixed_point(best, trial)
            # A mesh that is done stays as it is, so that the others do not change it.
            wide = high > low * (1 + _FINE)
            best[fits & wide] = x[fits & wide]
            high, low = np.where(fits & wide, trial, high), np.where(wide & ~fits, trial, low)
            trial = np.sqrt(low * high)  # the square root is exact to the last bit everywhere
            if (high <= low * (1 + _FINE)).all():
                break
        return best

    def _fixed_point(self, start: F64, level: F64) -> tuple[F64, Bool]:
        """Least x at each mesh's level (K,), from below, and where it is one."""
        room = level[:, None, None] * self.mesh.capacity
        slack = _CLOSE * np.maximum(self.demand.max(axis=(1, 2), keepdims=True, initial=0.0), 1e-30)
        x = start
        fits = np.ones(len(level), dtype=np.bool_)
        done = np.zeros_like(fits)
        for _ in range(_ROUNDS):
            asked = self.demand + self.mesh.detours(x) - room
            fits &= ~(asked > self.most + slack).any(axis=(1, 2))
            following = np.where(done[:, None, None], x, np.clip(asked, self.least, self.most))
            done = (np.abs(following - x) <= slack).all(axis=(1, 2))
            x = following
            if (done | ~fits).all():
                break
        return x, fits & done


def _scaled(demand: F64, capacity: F64) -> F64:
    """Demand less what the sender's or receiver's cables together cannot carry."""
    levels = []
    for axis in (2, 1):
        carried = _sums(capacity, axis)
        levels.append(
            np.divide(_sums(demand, axis), carried, out=np.zeros_like(carried), where=carried > 0)
        )
    return demand / np.maximum(1.0, np.maximum(*levels))


def _sums(values: F64, axis: int) -> F64:
    """Sums along an axis, kept; in order, so that every machine rounds alike."""
    total: F64 = np.cumsum(values, axis=axis).take([-1], axis=axis)
    return total


def _turned(values: F64) -> F64:
    """Transposed meshes, a view."""
    return values.swapaxes(1, 2)
