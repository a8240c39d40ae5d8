r"""Bolstered resubstitution error of the nearest-mean classifier, one feature at a time (section 6, NMC).

A value is given to the class whose mean is nearer: the threshold is :math:`c = (m_0 + m_1) / 2`. Bolstering
(Braga-Neto and Dougherty, 2004) puts a Gaussian kernel on every training value and counts how much of it lies on
the wrong side:

.. math::

    \text{err} = \frac1n \Big[\sum_{\text{class } 0} \Phi\Big(\frac{d(x - c)}{\sigma_0}\Big)
        + \sum_{\text{class } 1} \Phi\Big(\frac{-d(x - c)}{\sigma_1}\Big)\Big], \qquad d = \text{sign}(m_1 - m_0).

The spread :math:`\sigma_y` is the mean distance from a value to the nearest other one of its class, divided by
:math:`\alpha = \Phi^{-1}(3/4)`, the median of the distance of a standard Gaussian from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals import sorted_values as kernels
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.sorted_values import SortedTile, score_sorted
from bayesieve.utils import FloatArray, IntArray, OptionError

ALPHA = 0.674489750196081743  # the median of chi with one degree of freedom


def bolstered_error(
    matrix: LabelledMatrix, *, alpha: float = ALPHA, n_threads: int | None = None
) -> FeatureScores:
    r"""Estimate, feature by feature, how often the nearest mean is that of the wrong class.

    Returns
    -------
    FeatureScores
        The score is minus the error. In ``details`` stand ``error``, ``threshold`` and the spreads of the
        kernels of both classes. Classes count by their size. Where both means are equal, up to rounding, the
        error is 1/2; where all values of a class have a twin, its kernels have no width and a value at the
        threshold counts half. A feature with fewer than two values in a class has no score;
        a warning counts them.
    """
    return score_sorted(matrix, [bolstered_method(alpha=alpha)], n_threads)[0]


@dataclass(frozen=True, slots=True)
class _Bolstered:
    """How to estimate; a :class:`bayesieve.rivals.sorted_values.SortedMethod`."""

    alpha: float
    name: str = "nmc"
    fewest: int = 2
    lacking: str = "too few values in a class"

    def look(self, tile: SortedTile) -> FloatArray:
        result = np.full((4, tile.counts.shape[1]), np.nan)
        kernels.bolstered(tile.first, tile.second, tile.counts, self.alpha, result)
        return result

    def scores(self, found: FloatArray, counts: IntArray, names: tuple[str, ...] | None) -> FeatureScores:
        details = dict(zip(("error", "threshold", "spread_0", "spread_1"), found, strict=True))
        return FeatureScores(self.name, 0.0 - found[0], names, details=details)


def bolstered_method(*, alpha: float = ALPHA) -> _Bolstered:
    """Check the options of :func:`bolstered_error`, for a pass over sorted values."""
    return _Bolstered(_positive("alpha", alpha))


def _positive(name: str, value: Any) -> float:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not 0 < value < np.inf:
        raise OptionError(f"{name} must be a positive number, not {value!r}.")
    return float(value)


RIVAL = Rival("nmc", "Bolstered NMC", "values", bolstered_error)
