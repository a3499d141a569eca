"""Powers by multiplication alone, so that every machine gives the same last bit."""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64


def power(base: F64, exponent: int) -> F64:
    """`base` to a whole, non-negative power, elementwise."""
    result, square = np.ones_like(base, dtype=np.float64), np.asarray(base, dtype=np.float64)
    while exponent:
        if exponent & 1:
            result = result * square
        exponent >>= 1
        square = square * square
    return result
