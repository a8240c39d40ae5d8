"""Checks of ready-made statistics: what a user hands over as moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.data.labels import checked_classes
from bayesieve.errors import DataError

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]


def checked_moments(
    classes: Sequence[Label], count: Any, mean: Any, squares: Any, residual: Any
) -> tuple[tuple[Label, ...], CountArray, FloatArray, FloatArray, FloatArray]:
    """Bring classes, counts, means, centred squares and residuals to their form, or say what is wrong.

    Examples
    --------
    >>> from bayesieve.stats.checking import checked_moments
    >>> checked_moments(["a"], [2], [[1.0]], [[0.5]], None)[4].tolist()
    [[0.0]]
    """
    names = tuple(checked_classes(classes))
    mean, squares = _matrix(mean, "mean"), _matrix(squares, "centred_squares")
    residual = np.zeros_like(mean) if residual is None else _matrix(residual, "residual")
    k = len(names)
    if not (mean.shape == squares.shape == residual.shape and mean.shape[0] == k):
        raise DataError(
            f"mean {mean.shape}, centred_squares {squares.shape} and residual {residual.shape} "
            f"must all be (n_classes, n_features) with n_classes = {k}."
        )
    if not mean.shape[1]:
        raise DataError("These moments hold no feature. At least one is needed.")
    count = _counts(count)
    if count.shape not in ((k,), mean.shape):
        raise DataError(f"count has shape {count.shape}; it must be ({k},) or {mean.shape}.")
    if not all(np.isfinite(array).all() for array in (mean, squares, residual)) or (squares < 0).any():
        raise DataError("Means must be finite, and centred squares finite and not negative.")
    alone = (count if count.ndim == 2 else count[:, None]) <= 1
    if (squares[np.broadcast_to(alone, squares.shape)] > 0).any():
        raise DataError("A class with at most one value has no spread: its centred squares must be 0.")
    return names, count, mean, squares, residual


def check_same_features(mine: int, theirs: int) -> None:
    """Raise unless two parts hold the same number of features.

    Examples
    --------
    >>> from bayesieve.stats.checking import check_same_features
    >>> check_same_features(3, 3)
    """
    if mine != theirs:
        raise DataError(
            f"These moments describe {mine} features and the others {theirs}. "
            "Both parts must hold the same features in the same order."
        )


def checked_resolution(resolution: Any, n_features: int) -> FloatArray:
    """Check the step to which values are rounded: a number of at least 0, or one per feature.

    Examples
    --------
    >>> from bayesieve.stats.checking import checked_resolution
    >>> float(checked_resolution(0.5, 3))
    0.5
    """
    try:
        delta = np.asarray(resolution, dtype=np.float64)
    except (TypeError, ValueError):
        delta = np.array(np.nan)
    if delta.shape not in ((), (n_features,)) or not (np.isfinite(delta) & (delta >= 0)).all():
        raise DataError(
            "resolution must be a number of at least 0, or one such number per feature: the step "
            "to which the instrument rounds, in the units of the data."
        )
    return delta


def _counts(count: Any) -> CountArray:
    try:
        given = np.asarray(count, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if not ((given >= 0) & (given == np.round(given)) & np.isfinite(given)).all():
        raise DataError("count must hold whole numbers of samples, at least 0.")
    return given.astype(np.int64)


def _matrix(values: Any, name: str) -> FloatArray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must hold numbers, (n_classes, n_features).") from None
    if array.ndim != 2:
        raise DataError(f"{name} must be (n_classes, n_features), not of shape {array.shape}.")
    return array
