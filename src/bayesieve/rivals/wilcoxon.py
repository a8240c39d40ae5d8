r"""Wilcoxon's rank-sum test, also called Mann-Whitney's U test.

With :math:`R_1` the sum of the ranks of the second class (tied values share the mean of their ranks),
:math:`U = R_1 - n_1 (n_1 + 1) / 2` counts the pairs in which the second class is ahead. Without a difference its
mean is :math:`n_0 n_1 / 2` and its variance

.. math:: \frac{n_0 n_1}{12} \Big(n + 1 - \frac{\sum_t (t^3 - t)}{n (n - 1)}\Big)

with a sum over groups of t tied values.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals import sorted_values as kernels
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.log_tails import log_normal_tails
from bayesieve.rivals.sorted_values import SortedTile, score_sorted
from bayesieve.utils import FloatArray, IntArray, check_choice

NULL_DISTRIBUTIONS = ("auto", "normal")
_SMALL = 8  # values in the smaller class up to which the exact distribution is used, as in SciPy
_MOST_PAIRS = 100_000  # beyond, the exact one would be long and the normal one is as good
_CAVEAT = "The rank-sum test sees one class lying above the other; it hardly sees a difference in spread."


def wilcoxon(matrix: LabelledMatrix, *, law: str = "auto", n_threads: int | None = None) -> FeatureScores:
    r"""Test, feature by feature, whether one class tends to larger values.

    Returns
    -------
    FeatureScores
        The score is minus the log of the two-sided p-value. In ``details`` stand ``u``, of the second class,
        ``z``, positive where the second class lies higher and 0 where the continuity correction leaves nothing,
        and ``auc``, the probability that a value of the second class is the larger one, ties counting half. A
        feature whose values are all equal has a p-value of 1; one without values in a class is not tested, and a
        warning counts them.
    """
    return score_sorted(matrix, [wilcoxon_method(law=law)], n_threads)[0]


@dataclass(frozen=True, slots=True)
class _RankSum:
    """How to test; a :class:`bayesieve.rivals.sorted_values.SortedMethod`."""

    exact: bool
    name: str = "wilcoxon"
    fewest: int = 1
    lacking: str = "no values in a class"

    def look(self, tile: SortedTile) -> FloatArray:
        result = np.empty((2, tile.counts.shape[1]))
        kernels.rank_sums(*tile.merged, tile.counts, result)
        return result

    def scores(self, found: FloatArray, counts: IntArray, names: tuple[str, ...] | None) -> FeatureScores:
        (u, ties), pairs = found, counts[0] * counts[1]
        tested = pairs > 0
        with np.errstate(invalid="ignore", divide="ignore"):  # features without values, or without differences
            auc = np.where(tested, u / pairs, np.nan)
        ahead = u - 0.5 * pairs
        z = np.where(tested, np.sign(ahead) * _standardise(np.abs(ahead), ties, counts), np.nan)
        log_p = log_normal_tails(z) + 0.0  # no minus zero
        if self.exact:
            few = (counts.min(axis=0) <= _SMALL) & (pairs <= _MOST_PAIRS)
            small = np.flatnonzero(tested & (ties == 0) & few)
            log_p[small] = _exact_log_p(np.maximum(u, pairs - u)[small], counts[:, small])
        details = {"u": np.where(tested, u, np.nan), "z": z, "auc": auc}
        return FeatureScores(self.name, 0.0 - log_p, names, log_p, details, _CAVEAT)


def _standardise(distance: FloatArray, ties: FloatArray, counts: IntArray) -> FloatArray:
    """Distance of U from its mean in standard deviations, after the correction for continuity; at least 0."""
    sizes = counts.astype(np.float64)
    n = sizes.sum(axis=0)
    correction = ties / np.maximum(n * (n - 1.0), 1.0)
    variance = sizes[0] * sizes[1] / 12.0 * ((n + 1.0) - correction)
    left = np.maximum(distance - 0.5, 0.0)
    return np.asarray(left / np.sqrt(np.where(left > 0, variance, 1.0)))


def _exact_log_p(u: FloatArray, counts: IntArray) -> FloatArray:
    """Log of the two-sided p-values of features without ties; ``u`` is the larger of both classes' U."""
    sizes, which = np.unique(np.sort(counts, axis=0), axis=1, return_inverse=True)
    result = np.empty(u.size)
    for i, (smaller, larger) in enumerate(sizes.T.tolist()):
        here = which.ravel() == i
        result[here] = exact_log_tails(smaller, larger)[u[here].astype(np.int64)]
    return np.minimum(math.log(2.0) + result, 0.0)


@functools.lru_cache(maxsize=256)
def exact_log_tails(smaller: int, larger: int) -> FloatArray:
    r"""Log of the probability, for every u, that U is at least u when there is no difference and no tie.

    The number of orders with :math:`U = u` is the coefficient of :math:`q^u` in
    :math:`\prod_{i=1}^{m} (1 - q^{n+i}) / (1 - q^i)`, found in whole numbers.
    """
    orders = np.zeros(smaller * larger + 1, dtype=object)
    orders[0] = 1
    for i in range(1, smaller + 1):
        orders[larger + i :] -= orders[: max(orders.size - larger - i, 0)].copy()
        for rest in range(i):
            orders[rest::i] = np.cumsum(orders[rest::i])
    tails = np.cumsum(orders[::-1])[::-1]
    result = np.array([math.log(tail) for tail in tails]) - math.log(tails[0])
    result.flags.writeable = False
    return result


def wilcoxon_method(*, law: str = "auto") -> _RankSum:
    """Check the options of :func:`wilcoxon`, for a pass over sorted values."""
    check_choice("law", law, NULL_DISTRIBUTIONS)
    return _RankSum(law == "auto")


RIVAL = Rival("wilcoxon", "Wilcoxon", "values", wilcoxon)
