"""Upper tails of the hypergeometric distribution, in log space, for many sets at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.utils import DataError, FloatArray, compiled


@compiled()
def _log_choose(n: float, k: float) -> float:
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@compiled()
def _tails(count: Any, population: Any, successes: Any, drawn: Any, out: Any) -> None:
    """Sum the tail outwards from its first term; all terms are positive, so that small tails keep their digits."""
    for i in range(out.shape[0]):
        total, good, n = float(population[i]), float(successes[i]), float(drawn[i])
        least, most = max(0.0, n + good - total), min(good, n)
        k = float(count[i])
        if k <= least:
            out[i] = 0.0
            continue
        if k > most:
            out[i] = -np.inf
            continue
        first = _log_choose(good, k) + _log_choose(total - good, n - k) - _log_choose(total, n)
        term, whole = 1.0, 1.0
        while k < most:
            term *= (good - k) * (n - k) / ((k + 1.0) * (total - good - n + k + 1.0))
            whole += term
            k += 1.0
            if term < 1e-18 * whole and (good - k) * (n - k) < (k + 1.0) * (total - good - n + k + 1.0):
                break
        out[i] = min(0.0, first + math.log(whole))


def log_upper_tail(
    count: npt.ArrayLike, population: npt.ArrayLike, successes: npt.ArrayLike, drawn: npt.ArrayLike
) -> FloatArray:
    r"""Return :math:`\log P(X \ge k)` of successes among items drawn without replacement.

    Parameters
    ----------
    count
        The number k, as seen.
    population, successes, drawn
        Items in all, those that count, and those drawn (a list).
    """
    arrays = np.broadcast_arrays(count, population, successes, drawn)
    k, total, good, n = (np.array(each, dtype=np.int64).ravel() for each in arrays)
    if (good > total).any() or (n > total).any() or (np.minimum(np.minimum(good, n), total) < 0).any():
        raise DataError("A list and a set cannot hold more items than there are, or fewer than none.")
    out = np.empty(k.size)
    _tails(k, total, good, n, out)
    return out.reshape(arrays[0].shape)
