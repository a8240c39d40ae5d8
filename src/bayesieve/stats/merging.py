"""The one formula of streaming statistics: how two parts become a whole.

Class means are held as ``mean + residual``, the float64 nearest to the mean and the little that
rounding took away. Differences of means then keep their digits even when all values sit at 1e8.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.stats.compiled import compiled


def merge_parts(
    n0: Any, mean0: Any, residual0: Any, squares0: Any, n1: Any, mean1: Any, residual1: Any, squares1: Any
) -> tuple[Any, Any, Any]:
    r"""Mean, residual and centred squares of two parts together (Chan, Golub & LeVeque 1979).

    Written so that a constant stays exactly constant: the mean is the first part's mean plus a
    share of the difference. Works on numbers and on arrays. An empty part must carry the other's mean.

    .. math::
        \delta = \bar x_1 - \bar x_0, \quad
        \bar x = \bar x_0 + \delta\, n_1 / n, \quad
        SS = SS_0 + SS_1 + \delta^2\, n_0 n_1 / n

    Examples
    --------
    >>> from bayesieve.stats.merging import merge_parts
    >>> merge_parts(2, 1.0, 0.0, 2.0, 2, 3.0, 0.0, 2.0)
    (2.0, 0.0, 8.0)
    """
    share = n1 / (n0 + n1)
    delta = (mean1 - mean0) + (residual1 - residual0)
    squares = (squares0 + squares1) + (n0 * share) * (delta * delta)
    offset = residual0 + delta * share
    mean = mean0 + offset
    back = mean - mean0
    residual = (mean0 - (mean - back)) + (offset - back)
    return mean, residual, squares


merge_one = compiled()(merge_parts)


@compiled()
def _merge_all(parts: Any, mean: Any, residual: Any, squares: Any) -> None:
    for i in range(mean.shape[0]):
        n0, n1 = parts[0][i], parts[4][i]
        if n1 == 0:
            mean[i], residual[i], squares[i] = parts[1][i], parts[2][i], parts[3][i]
        elif n0 == 0:
            mean[i], residual[i], squares[i] = merge_one(
                0.0, parts[5][i], 0.0, 0.0, n1, parts[5][i], parts[6][i], parts[7][i]
            )
        else:
            mean[i], residual[i], squares[i] = merge_one(
                n0, parts[1][i], parts[2][i], parts[3][i], n1, parts[5][i], parts[6][i], parts[7][i]
            )


@compiled()
def _merge_counted(n0: float, n1: float, parts: Any, mean: Any, residual: Any, squares: Any) -> None:
    """As :func:`_merge_all` where every feature has the same counts, above 0: no division per feature."""
    for i in range(mean.shape[0]):
        mean[i], residual[i], squares[i] = merge_one(
            n0, parts[0][i], parts[1][i], parts[2][i], n1, parts[3][i], parts[4][i], parts[5][i]
        )


def merge(*parts: Any) -> tuple[Any, Any, Any]:
    """Merge arrays of parts as :func:`merge_parts` does, where any part may be empty.

    Parameters
    ----------
    *parts
        The eight arguments of :func:`merge_parts`, which broadcast against each other.

    Examples
    --------
    >>> from bayesieve.stats.merging import merge
    >>> mean, residual, squares = merge(0, [0.0], [0.0], [0.0], 3, [5.0], [0.0], [2.0])
    >>> mean.tolist(), squares.tolist()
    ([5.0], [2.0])
    """
    shape = np.broadcast_shapes(*(np.shape(part) for part in parts))
    merged = tuple(np.empty(math.prod(shape)) for _ in range(3))
    n0, n1 = parts[0], parts[4]
    if np.ndim(n0) == np.ndim(n1) == 0 and n0 > 0 and n1 > 0:
        values = tuple(_flat(part, shape) for part in (*parts[1:4], *parts[5:]))
        _merge_counted(float(n0), float(n1), values, *merged)
    else:
        _merge_all(tuple(_flat(part, shape) for part in parts), *merged)
    mean, residual, squares = (array.reshape(shape) for array in merged)
    return mean, residual, squares


def _flat(part: Any, shape: tuple[int, ...]) -> Any:
    """Return one contiguous read-only vector, so that a single compiled kernel serves all."""
    array = np.asarray(part, dtype=np.float64)
    if array.shape != shape:
        array = np.ascontiguousarray(np.broadcast_to(array, shape))
    flat = array.reshape(-1).view()
    flat.flags.writeable = False
    return flat
