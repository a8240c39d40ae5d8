"""The null law of lambda for many features at once: a table for every pair of class sizes that is common."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Chebyshev

from bayesieve.posterior.null_law import log_null_probability

FloatArray = npt.NDArray[np.float64]

_DEGREE = 64
_FAR = 4096.0  # -log lambda beyond it is worked out directly
_MANY = 2 * (_DEGREE + 1)  # features with the same class sizes for which a table is worth its cost


def tabulated_log_null_probability(log_lambda: npt.ArrayLike, n0: npt.ArrayLike, n1: npt.ArrayLike) -> FloatArray:
    r"""Log p-values of many features, those with common class sizes by interpolation.

    The ratio of :math:`\log p` to :math:`\log\lambda` changes little and smoothly, so a polynomial of degree 64
    in :math:`\log(1 - \log\lambda)` holds it to about 1e-13 for :math:`-\log\lambda` up to 4,096. Values beyond,
    and class sizes of few features, go through
    :func:`~bayesieve.posterior.null_law.log_null_probability` itself.

    Parameters
    ----------
    log_lambda, n0, n1
        As for :func:`~bayesieve.posterior.null_law.log_null_probability`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.posterior.null_law import log_null_probability
    >>> from bayesieve.posterior.null_table import tabulated_log_null_probability
    >>> log_lambda = -np.linspace(0.01, 1000.0, 5_000)
    >>> quick = tabulated_log_null_probability(log_lambda, 28, 210)
    >>> bool(np.allclose(quick, log_null_probability(log_lambda, 28, 210), rtol=1e-12, atol=0.0))
    True
    """
    values, n0, n1 = np.broadcast_arrays(np.asarray(log_lambda, dtype=np.float64), n0, n1)
    flat, sizes = values.ravel(), np.stack([np.minimum(n0, n1).ravel(), np.maximum(n0, n1).ravel()])
    result, left = np.empty_like(flat), np.ones(flat.shape, dtype=bool)
    near = np.flatnonzero((flat < 0) & (flat >= -_FAR))
    for rows in _of_equal_sizes(sizes, near):
        small, large = sizes[:, rows[0]].tolist()
        if rows.size >= _MANY and small >= 2:
            result[rows], left[rows] = _interpolated(flat[rows], small, large), False
    result[left] = log_null_probability(flat[left], *sizes[:, left])
    return result.reshape(values.shape)


def _of_equal_sizes(sizes: npt.NDArray[np.float64], rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Put together the rows that have the same class sizes."""
    if not rows.size or (sizes[:, rows] == sizes[:, rows[:1]]).all():
        return [rows] if rows.size else []
    _, which, counts = np.unique(sizes[:, rows], axis=1, return_inverse=True, return_counts=True)
    return np.split(rows[np.argsort(which.ravel(), kind="stable")], np.cumsum(counts)[:-1])


def _interpolated(log_lambda: FloatArray, small: float, large: float) -> FloatArray:
    def ratio(position: FloatArray) -> FloatArray:
        x = np.expm1(position)
        return log_null_probability(-x, small, large) / -x

    table = Chebyshev.interpolate(ratio, _DEGREE, domain=[0.0, np.log1p(_FAR)])
    return np.asarray(log_lambda * table(np.log1p(-log_lambda)))
