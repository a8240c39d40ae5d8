"""Heavy tails: how much of what variances seem to say is left when values are far from Gaussian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve.stats import Moments
from bayesieve.utils import BoolArray, FloatArray

_FEW_FEATURES = 10  # fewer say nothing about the tails of another


def tempering(moments: Moments, kurtosis: float = 0.0) -> FloatArray:
    r"""Share :math:`g` of the evidence from variances that heavy tails leave, feature by feature.

    With the excess kurtosis :math:`\gamma_y` of a class, a log variance has the sampling variance
    :math:`2/(n_y - 1) + \gamma_y / n_y`; :math:`g` is the share of the first part, summed over classes, and at
    most 1. Without fourth powers (or beyond the range of numbers), with fewer than three values or without spread
    in a class it is 0.

    Parameters
    ----------
    moments
        Moments of the classes.
    kurtosis
        Least excess kurtosis: few values rarely show how heavy their tails are, all features together do.
    """
    excess, weight, usable = _excess(moments)
    n = np.broadcast_to(moments.counts, moments.mean.shape).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ideal = (2.0 / (n - 1.0)).sum(axis=0)
        return np.where(usable, ideal / (ideal + np.maximum(excess, kurtosis * weight)), 0.0)


def nuisance_share(moments: Moments, share: FloatArray) -> FloatArray:
    """Return what variances say of their own ratio where only means are asked about.

    Without fourth powers that is all that Gaussian values say: heavy tails cannot make a marker then.
    """
    if moments.centred_fourths is not None:
        return share
    counts = np.broadcast_to(moments.counts, moments.mean.shape)
    return np.where(((counts > 2) & (moments.centred_squares > 0)).all(axis=0), 1.0, 0.0)


def typical_kurtosis(parts: Sequence[Any]) -> float:
    """Excess kurtosis of the median feature, averaged over parts; 0 if it is negative or features are few."""
    found = []
    for part in parts:
        excess, weight, usable = _excess(part)
        if usable.sum() >= _FEW_FEATURES:
            found.append(float(np.median(excess[usable] / weight[usable])))
    return max(float(np.mean(found)), 0.0) if found else 0.0


def _excess(moments: Moments) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Sum over classes of excess kurtosis over count, sum of 1 / count, and where the first can be known."""
    n = np.broadcast_to(moments.counts, moments.mean.shape).astype(np.float64)
    fourths, squares = moments.centred_fourths, moments.centred_squares
    if fourths is None:
        nothing = np.zeros(moments.n_features)
        return nothing, nothing, nothing > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.sqrt(fourths) / squares  # squares of squares may leave the range of numbers
        excess = ((n * ratio * ratio * (n + 1.0) / (n - 1.0) - 3.0) / n).sum(axis=0)
        weight = (1.0 / n).sum(axis=0)
    usable = ((n > 2) & (squares > 0) & (fourths > 0)).all(axis=0) & np.isfinite(excess)
    return excess, weight, usable
