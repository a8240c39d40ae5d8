"""Transformations of the values, always declared and never guessed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.matrix import is_sparse
from bayesieve.utils import DataError, OptionError

TRANSFORMS = ("none", "log2", "log1p", "logit", "rank-normal")
NEEDS_ALL_SAMPLES = frozenset({"rank-normal"})

_INWARDS = (
    "It is for shares such as methylation levels: move values of exactly 0 and 1 inwards first, say by 0.001, or "
    "use rank-normal."
)
_CURES = {
    "log2": "log1p takes zeros; for values below zero, as of background-corrected intensities, use rank-normal, "
    "or clip them first.",
    "log1p": "Use rank-normal, or clip such values first.",
    "logit": _INWARDS,
}
Where = Callable[[int, int], str]  # (sample, feature) of the piece, in words


def check_transform(name: str) -> str:
    """Return the name of a transformation, or say which there are."""
    if name not in TRANSFORMS:
        raise OptionError(f"There is no transformation {name!r}. There are: {', '.join(TRANSFORMS)}.")
    return name


def apply_transform(name: str, values: Any, where: Where) -> Any:
    """Apply a transformation to samples x features, dense or sparse.

    ``log2`` is for values above 0, ``log1p`` (the natural logarithm of 1 + x) for values above -1. ``logit`` is
    log2(x / (1 - x)), which makes M-values of methylation levels; it is for values between 0 and 1.
    ``rank-normal`` replaces the values of a feature by normal scores of their ranks among all its
    samples, the normal quantile of (rank - 3/8) / (n + 1/4) (Blom 1958); ties share their mean rank.

    Parameters
    ----------
    name
        One of :data:`TRANSFORMS`.
    values
        Samples x features; NaN stays NaN.
    where
        Names a cell in words, for messages.
    """
    if name == "none":
        return values
    if name == "rank-normal":
        return _normal_scores(values.toarray() if is_sparse(values) else np.asarray(values, dtype=np.float64))
    if is_sparse(values):
        if name in ("log2", "logit"):
            raise DataError(
                f"{name} needs values above 0, but in a sparse table most are 0. log1p takes zeros and keeps them."
            )
        _check_domain(name, values.data[None], -1.0, lambda _, k: _sparse_where(values, k, where))
        return values.log1p()
    values = np.asarray(values)
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    _check_domain(name, values, -1.0 if name == "log1p" else 0.0, where)
    if name == "logit":
        return _logit(values, where)
    return np.log2(values, dtype=np.float64) if name == "log2" else np.log1p(values, dtype=np.float64)


def _logit(values: npt.NDArray[Any], where: Where) -> npt.NDArray[np.float64]:
    outside = values >= 1.0
    if outside.any():
        i, j = (int(k) for k in np.argwhere(outside)[0])
        raise DataError(
            f"logit needs values below 1, but {int(outside.sum()):,} or more are not, the first is "
            f"{values[i, j]:g} at {where(i, j)}. {_INWARDS}"
        )
    values = values.astype(np.float64)
    return np.asarray(np.log2(values) - np.log1p(-values) / np.log(2.0))


def _check_domain(name: str, values: npt.NDArray[Any], bound: float, where: Where) -> None:
    outside = values <= bound
    if not outside.any():
        return
    i, j = (int(k) for k in np.argwhere(outside)[0])
    cure = _CURES[name]
    raise DataError(
        f"{name} needs values above {bound:g}, but {int(outside.sum()):,} or more are not, the first is "
        f"{values[i, j]:g} at {where(i, j)}. {cure}"
    )


def _sparse_where(values: Any, k: int, where: Where) -> str:
    matrix = values.tocoo()
    return where(int(matrix.row[k]), int(matrix.col[k]))


def _normal_scores(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    there = ~np.isnan(values)
    ranks = _mean_ranks(np.where(there, values, np.inf))  # missing values come last and are put back
    scores = np.asarray(ndtri((ranks - 0.375) / (there.sum(axis=0) + 0.25)))
    return np.where(there, scores, np.nan)


def _mean_ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Rank every column from 1; equal values share the mean of their ranks."""
    n, columns = values.shape[0], np.ascontiguousarray(values.T)
    order = np.argsort(columns, axis=1, kind="stable")
    ranks = np.empty(columns.shape)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(1.0, n + 1.0), columns.shape), axis=1)
    ordered = np.take_along_axis(columns, order, axis=1)
    for j in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)).tolist():
        starts = np.flatnonzero(np.concatenate([[True], ordered[j, 1:] != ordered[j, :-1]]))
        ends = np.append(starts[1:], n)
        ranks[j, order[j]] = np.repeat((starts + ends + 1.0) / 2.0, ends - starts)
    return np.ascontiguousarray(ranks.T)
