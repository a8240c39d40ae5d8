"""Arithmetic over all sets of a few features: array entry ``g`` belongs to the set with the bits of ``g``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bayesieve.models.subset_kernels import set_sizes, sums_over_sets

__all__ = [
    "log_sum",
    "log_sums_over_sets",
    "marginal_log_odds",
    "mask_of",
    "members",
    "set_sizes",
    "sums_over_sets",
]

FloatArray = npt.NDArray[np.float64]


def log_sums_over_sets(inside: FloatArray, outside: FloatArray) -> FloatArray:
    r"""Return :math:`\log(\sum_{f \in G} e^{a_f} + \sum_{f \notin G} e^{b_f})` for every set, by doubling.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.masks import log_sums_over_sets
    >>> log_sums_over_sets(np.array([-900.0]), np.array([-np.inf])).tolist()
    [-inf, -900.0]
    """
    sums = np.full(1, -np.inf)
    for with_it, without in zip(inside.tolist(), outside.tolist(), strict=True):
        sums = np.concatenate((np.logaddexp(sums, without), np.logaddexp(sums, with_it)))
    return sums


def log_sum(values: FloatArray, axis: int | tuple[int, ...] | None = None) -> FloatArray:
    """Return the log of the sum of exponentials; minus infinity for a sum of nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.masks import log_sum
    >>> float(log_sum(np.log([0.25, 0.5])).round(6)), float(log_sum(np.full(2, -np.inf)))
    (-0.287682, -inf)
    """
    top = values.max(axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(values - shift).sum(axis=axis, keepdims=True))
    return np.asarray(np.squeeze(total + shift, axis=axis))


def marginal_log_odds(log_weights: FloatArray) -> FloatArray:
    r"""Return the log-odds of every feature: sets that hold it against sets that do not, equation (2.7).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.masks import marginal_log_odds
    >>> marginal_log_odds(np.log([0.25, 0.25, 0.125, 0.375])).round(6).tolist()
    [0.510826, 0.0]
    """
    n_features = log_weights.size.bit_length() - 1
    odds = np.empty(n_features)
    for f in range(n_features):
        split = log_weights.reshape(-1, 2, 2**f)
        odds[f] = log_sum(split[:, 1]) - log_sum(split[:, 0])
    return odds


def members(mask: int) -> tuple[int, ...]:
    """Return the positions of the features in a set.

    Examples
    --------
    >>> from bayesieve.feature_sets.masks import members
    >>> members(0b101)
    (0, 2)
    """
    return tuple(f for f in range(mask.bit_length()) if mask >> f & 1)


def mask_of(features: Iterable[int]) -> int:
    """Return the bit mask of a set of positions.

    Examples
    --------
    >>> from bayesieve.feature_sets.masks import mask_of
    >>> mask_of([2, 0])
    5
    """
    return sum(1 << f for f in {int(f) for f in features})
