"""Whether counts, means and powers can be moments of the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve.data import Label, check_classes
from bayesieve.utils import CountArray, DataError, FloatArray


def check_moments(
    classes: Sequence[Label], count: Any, mean: Any, squares: Any, residual: Any
) -> tuple[tuple[Label, ...], CountArray, FloatArray, FloatArray, FloatArray]:
    """Bring classes, counts, means, centred squares and residuals to their form, or say what is wrong."""
    names = tuple(check_classes(classes))
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
    """Raise unless two parts hold the same number of features."""
    if mine != theirs:
        raise DataError(
            f"These moments describe {mine} features and the others {theirs}. "
            "Both parts must hold the same features in the same order."
        )


def check_resolution(resolution: Any, n_features: int) -> FloatArray:
    """Check the step to which values are rounded: a number of at least 0, or one per feature."""
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
        numbers = np.asarray(count, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if not ((numbers >= 0) & (numbers == np.round(numbers)) & np.isfinite(numbers)).all():
        raise DataError("count must hold whole numbers of samples, at least 0.")
    return numbers.astype(np.int64)


def _matrix(values: Any, name: str) -> FloatArray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must hold numbers, (n_classes, n_features).") from None
    if array.ndim != 2:
        raise DataError(f"{name} must be (n_classes, n_features), not of shape {array.shape}.")
    return array


def check_powers(cubes: Any, fourths: Any, shape: tuple[int, ...]) -> tuple[FloatArray | None, ...]:
    """Check third and fourth powers, which come together or not at all."""
    if cubes is None and fourths is None:
        return None, None
    if cubes is None or fourths is None:
        raise DataError("Give both centred_cubes and centred_fourths, or neither.")
    made = _matrix(cubes, "centred_cubes"), _matrix(fourths, "centred_fourths")
    if any(array.shape != shape or not np.isfinite(array).all() for array in made) or (made[1] < 0).any():
        raise DataError(
            f"centred_cubes and centred_fourths must be finite and of shape {shape}, fourths not negative."
        )
    return made
