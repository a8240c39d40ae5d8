"""Removal of a part from sums: what is left, and whether any of its digits are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve.data import Label
from bayesieve.utils import DataError, DataWarning, warn

_FEW_DIGITS = 1e-9  # of the whole: rounding of the whole leaves less than seven digits of so small a part
_NOISE = 16 * np.finfo(np.float64).eps  # below this share of the whole, a difference has no digits left


def remove_part(
    label: Label, whole: tuple[Any, Any, Any, Any], part: tuple[Any, Any, Any, Any]
) -> tuple[Any, Any, Any, Any]:
    r"""Count, mean, residual and centred squares of ``whole`` without ``part``.

    With :math:`\delta = \bar x - \bar x_1` and :math:`n_0 = n - n_1`:
    :math:`\bar x_0 = \bar x + \delta n_1 / n_0` and :math:`SS_0 = SS - SS_1 - \delta^2 n\, n_1 / n_0`.
    """
    n, mean, residual, squares = whole
    n1, mean1, residual1, squares1 = part
    n0 = np.asarray(n) - n1
    if (n0 < 0).any():
        raise DataError(
            f"Class {label!r} holds {int(np.max(n))} value(s) but {int(np.max(n1))} would be removed. "
            "Remove only what was merged before."
        )
    rest = np.maximum(n0, 1)
    delta = (mean - mean1) + (residual - residual1)
    left = squares - squares1 - delta * delta * (n * (np.asarray(n1) / rest))
    if (left < -1e-9 * np.asarray(squares))[np.broadcast_to(n0 > 0, np.shape(left))].any():
        raise DataError(
            f"What would be removed from class {label!r} is not part of it: its spread is larger than "
            "that of the whole. Remove only what was merged before."
        )
    left = np.where((n0 <= 1) | (left <= _NOISE * np.asarray(squares)), 0.0, left)
    offset = residual + delta * (np.asarray(n1) / rest)
    new_mean = mean + offset
    back = new_mean - mean
    new_residual = (mean - (new_mean - back)) + (offset - back)
    gone = n0 == 0
    return n0, np.where(gone, 0.0, new_mean), np.where(gone, 0.0, new_residual), left


def warn_of_lost_digits(
    whole: Sequence[tuple[Any, ...]], left: Sequence[tuple[Any, ...]], n_features: int
) -> None:
    """Warn where what is left is so small a share of the whole that rounding of the whole is much of it."""
    lost = np.zeros(n_features, dtype=np.bool_)
    for before, after in zip(whole, left, strict=True):
        taken = np.less(after[0], before[0]) & np.greater(after[0], 1)
        for k in (3, 5)[: len(after) // 3]:
            lost |= taken & np.greater(before[k], 0) & np.less(after[k], _FEW_DIGITS * np.asarray(before[k]))
    if lost.any():
        first = int(np.flatnonzero(lost)[0])
        warn(
            DataWarning,
            f"What was removed held nearly all of the spread of {int(lost.sum()):,} of {n_features:,} features, "
            f"the first in column {first:,}: squares or fourth powers of what is left hold fewer than seven "
            "digits, or none. Sum the samples that are left anew.",
            kind="lost-digits",
        )
