r"""Mutual information of a feature and the classes, from the spacings of sorted values (section 6, MI).

With sorted values :math:`z_{(1)} \le \dots \le z_{(n)}` and spacings :math:`D_i = z_{(i+m)} - z_{(i)}` the
entropy of a sample is estimated (Beirlant et al., 1997) by one of

.. math::

    H_{\text{literal}} &= \frac1n \sum_{i=1}^{n-m} \log\frac{n D_i}{m} - \psi(m) + \log m \\
    H_{\text{invariant}} &= \frac1{n-m} \sum_{i=1}^{n-m} \log D_i + \psi(n+1) - \psi(m)

and the information is :math:`H(\text{all}) - \sum_y \frac{n_y}n H(\text{class } y)`, in which
:math:`\psi(m)` and :math:`\log m` cancel. The invariant form has no bias for uniform data. The literal form has
n - m terms but divides by n, so that the unit of measurement matters: values times a add :math:`\log(a)\, m/n`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

from bayesieve.data import LabelledMatrix
from bayesieve.rivals import sorted_values as kernels
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.sorted_values import SortedTile, score_sorted
from bayesieve.utils import DataWarning, FloatArray, IntArray, check_choice, check_whole, warn

VARIANTS = ("invariant", "literal")
TIES = ("floor", "jitter", "drop")
_MANY_TIES = 0.2  # share of spacings of 0 from which on scores cannot be compared


def spacing_information(
    matrix: LabelledMatrix,
    *,
    variant: str = "invariant",
    order: int = 1,
    ties: str = "floor",
    seed: int = 0,
    n_threads: int | None = None,
) -> FeatureScores:
    r"""Estimate, feature by feature, the mutual information of value and class.

    Returns
    -------
    FeatureScores
        The score is the estimate in nats. It is not cut at 0: without information it lies on both sides of it.
        A feature whose values are all equal scores 0; one with at most ``order`` values in a class has no
        score, nor has, under ``"drop"``, one whose spacings within a class are all 0. A warning counts them.
    """
    return score_sorted(matrix, [spacing_method(variant=variant, order=order, ties=ties, seed=seed)], n_threads)[0]


def spacing_information_literal(
    matrix: LabelledMatrix, *, order: int = 1, ties: str = "floor", seed: int = 0, n_threads: int | None = None
) -> FeatureScores:
    """Estimate the information by the literal form; see :func:`spacing_information`."""
    return score_sorted(matrix, [literal_method(order=order, ties=ties, seed=seed)], n_threads)[0]


@dataclass(frozen=True, slots=True)
class _Spacings:
    """How to estimate; a :class:`bayesieve.rivals.sorted_values.SortedMethod`."""

    variant: str
    order: int
    ties: str
    seed: int

    @property
    def name(self) -> str:
        return "mi" if self.variant == "invariant" else "mi-literal"

    @property
    def fewest(self) -> int:
        return self.order + 1

    @property
    def lacking(self) -> str:
        return f"too few {'different ' if self.ties == 'drop' else ''}values in a class"

    def look(self, tile: SortedTile) -> FloatArray:
        if self.ties == "jitter":
            tile = tile.jitter(self.seed)
        sums = np.full((6, tile.counts.shape[1]), np.nan)
        pooled, _ = tile.merged
        kernels.spacings(tile.first, tile.second, pooled, tile.counts, self.order, self.ties == "drop", sums)
        return np.vstack([sums, _ties(tile, pooled)])

    def scores(self, found: FloatArray, counts: IntArray, names: tuple[str, ...] | None) -> FeatureScores:
        sizes = counts.astype(np.float64)
        n = sizes.sum(axis=0)
        if self.ties == "floor":
            _warn_of_ties(found[6] > _MANY_TIES * n)
        with np.errstate(divide="ignore", invalid="ignore"):  # features with nothing to say
            whole = self._entropy(found[0], found[1], n)
            parts = [self._entropy(found[2 * k + 2], found[2 * k + 3], sizes[k]) for k in range(2)]
            information = whole - (sizes[0] * parts[0] + sizes[1] * parts[1]) / n
        information[(found[3] == 0) | (found[5] == 0)] = np.nan
        information[found[1] == 0] = 0.0
        return FeatureScores(self.name.replace("-", "_"), information, names)

    def _entropy(self, total: FloatArray, number: FloatArray, n: FloatArray) -> FloatArray:
        """Entropy without the terms in m alone, which cancel."""
        if self.variant == "literal":
            return (total + number * np.log(n / self.order)) / n
        return np.asarray(total / number + digamma(n + 1.0))


def _ties(tile: SortedTile, pooled: FloatArray) -> IntArray:
    """Count the spacings of 0 of features that vary in both classes; the others are announced as such."""
    rows = np.arange(pooled.shape[0])
    vary = np.ones(rows.size, dtype=bool)
    for values, count in zip((tile.first, tile.second), tile.counts, strict=True):
        vary &= values[rows, np.maximum(count - 1, 0)] > values[:, 0]
    present = np.arange(1, pooled.shape[1]) < tile.counts.sum(axis=0)[:, None]
    equal = (pooled[:, 1:] == pooled[:, :-1]) & present
    return np.where(vary, equal.sum(axis=1), 0)


def _warn_of_ties(tied: npt.NDArray[np.bool_]) -> None:
    """Warn where the floor in place of spacings of 0 decides the score."""
    if tied.any():
        warn(
            DataWarning,
            f"{int(tied.sum())} of {tied.size} features hold many equal values, so that their spacings tell of "
            "rounding and not of the classes; their mutual information is far too large. Leave them out, or use a "
            "method that takes ties, such as 'wilcoxon'.",
        )


def spacing_method(*, variant: str = "invariant", order: int = 1, ties: str = "floor", seed: int = 0) -> _Spacings:
    """Check the options of :func:`spacing_information`, for a pass over sorted values."""
    check_choice("variant", variant, VARIANTS)
    check_choice("ties", ties, TIES)
    return _Spacings(variant, check_whole("order", order, 1), ties, check_whole("seed", seed))


def literal_method(*, order: int = 1, ties: str = "floor", seed: int = 0) -> _Spacings:
    """Check the options of :func:`spacing_information_literal`."""
    return spacing_method(variant="literal", order=order, ties=ties, seed=seed)


RIVAL = Rival("mi", "MI (spacings)", "values", spacing_information)
LITERAL = Rival("mi-literal", "MI (spacings, literal)", "values", spacing_information_literal)
