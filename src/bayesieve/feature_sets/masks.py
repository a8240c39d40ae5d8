"""Arithmetic over all sets of a few features: array entry ``g`` belongs to the set with the bits of ``g``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError, OptionError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

MOST_FEATURES = 20


def check_number(n_features: int, most: int = MOST_FEATURES) -> None:
    """Raise if all sets of so many features are too many to look at.

    Examples
    --------
    >>> from bayesieve.feature_sets.masks import check_number
    >>> check_number(16)
    """
    if n_features <= most:
        return
    number = f"{2**n_features:,}" if n_features <= 60 else f"2^{n_features:,}"
    raise OptionError(
        f"{n_features:,} features have {number} sets, and every one would be looked at; {most} features are the "
        "most that can be done here. Look at fewer of them, or use screen() for independent features and "
        "with_size_prior() for a prior on the number of markers: both take any number of features."
    )


def number_of_features(of_sets: Any, names: Sequence[str] | None, n_features: int | None) -> int:
    """Work out the number of features from numbers for all sets, names or a given number; they must agree.

    Examples
    --------
    >>> from bayesieve.feature_sets.masks import number_of_features
    >>> number_of_features([0.0, 1.0, 2.0, 3.0], None, None)
    2
    """
    given = {n for n in (n_features, None if names is None else len(names)) if n is not None}
    if not callable(of_sets):
        size = np.size(of_sets)
        if size < 2 or size & (size - 1) or np.ndim(of_sets) != 1:
            raise DataError(f"{size} numbers were given; 2^p are needed, one for every set of p features.")
        given.add(size.bit_length() - 1)
    if len(given) != 1:
        raise OptionError(
            f"The number of features is not clear ({', '.join(map(str, sorted(given))) or 'none is given'}). "
            "Give n_features or feature_names, in agreement with the likelihood."
        )
    return given.pop()


def sums_over_sets(inside: npt.ArrayLike, outside: npt.ArrayLike = 0.0) -> FloatArray:
    r"""Return :math:`\sum_{f \in G} a_f + \sum_{f \notin G} b_f` for every set, by doubling.

    Parameters
    ----------
    inside
        One number per feature, for the sets that hold it.
    outside
        The same for the sets without it; 0 by default.

    Examples
    --------
    >>> from bayesieve.feature_sets.masks import sums_over_sets
    >>> sums_over_sets([1.0, 10.0], [0.0, 5.0]).tolist()
    [5.0, 6.0, 10.0, 11.0]
    """
    a = np.asarray(inside, dtype=np.float64)
    b = np.broadcast_to(np.asarray(outside, dtype=np.float64), a.shape)
    sums = np.zeros(1)
    for with_it, without in zip(a.tolist(), b.tolist(), strict=True):
        sums = np.concatenate((sums + without, sums + with_it))
    return sums


def set_sizes(n_features: int) -> IntArray:
    """Return the number of features in every set.

    Examples
    --------
    >>> from bayesieve.feature_sets.masks import set_sizes
    >>> set_sizes(2).tolist()
    [0, 1, 1, 2]
    """
    sizes = np.zeros(1, np.int64)
    for _ in range(n_features):
        sizes = np.concatenate((sizes, sizes + 1))
    return sizes


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
