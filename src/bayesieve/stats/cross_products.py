"""Sums of products between a few features and all others, at about the speed of reading the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import is_sparse
from bayesieve.stats.compiled import compiled

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def cross_products(
    values: Any, rows: IntArray, lo: int, hi: int, partners: FloatArray, mean: FloatArray
) -> FloatArray:
    r"""Centred sums of products :math:`\sum_i z_{ik} (x_{ij} - \bar x_j)` over some rows, partners x columns.

    Parameters
    ----------
    values
        Table, dense or CSC.
    rows
        Rows to sum over.
    lo, hi
        Columns ``lo`` to ``hi - 1``.
    partners
        The few features :math:`z`, rows x partners, already centred.
    mean
        Means of the columns over these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.stats.cross_products import cross_products
    >>> table = np.array([[1.0, 5.0], [3.0, 9.0]])
    >>> cross_products(table, np.arange(2), 0, 2, np.array([[-1.0], [1.0]]), np.array([2.0, 7.0])).tolist()
    [[2.0, 4.0]]
    """
    first = lo
    if is_sparse(values):
        values, first = np.ascontiguousarray(values[:, lo:hi].toarray(), dtype=np.float64), 0
    elif (
        values.dtype not in (np.float64, np.float32) or not values.flags.c_contiguous or not values.dtype.isnative
    ):
        values, first = np.ascontiguousarray(values[:, lo:hi], dtype=np.float64), 0
    view = values.view()
    view.flags.writeable = False  # one compiled kernel for all
    out = np.zeros((partners.shape[1], hi - lo))
    _add(view, rows, first, np.ascontiguousarray(partners.T), np.array(mean), out)
    return out


@compiled(fastmath={"contract"})
def _add(X: Any, rows: Any, lo: int, partners: Any, mean: Any, out: Any) -> None:
    n, width = rows.shape[0], mean.shape[0]
    for k in range(partners.shape[0]):
        z, total = partners[k], out[k]
        i = 0
        while i + 4 <= n:
            a, b, c, d = X[rows[i], lo:], X[rows[i + 1], lo:], X[rows[i + 2], lo:], X[rows[i + 3], lo:]
            za, zb, zc, zd = z[i], z[i + 1], z[i + 2], z[i + 3]
            for j in range(width):
                m = mean[j]
                total[j] += (za * (a[j] - m) + zb * (b[j] - m)) + (zc * (c[j] - m) + zd * (d[j] - m))
            i += 4
        while i < n:
            a, za = X[rows[i], lo:], z[i]
            for j in range(width):
                total[j] += za * (a[j] - mean[j])
            i += 1
