"""MethodComparison: scores, ranks and overlaps of several methods on the same features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import fdtr, fdtrc, polygamma, psi, stdtr

from bayesieve.posterior import Tabular
from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.t_tests import unequal_variances
from bayesieve.stats import Moments
from bayesieve.utils import (
    BoolArray,
    FloatArray,
    Glimpse,
    Glimpsed,
    IntArray,
    OptionError,
    classes_in_words,
    is_whole,
    shorten,
)

VARIANCES_DIFFER = 1e-4  # p-values of the F test below it
MEANS_MAY_NOT = 0.05  # p-values of Welch's t test above it


def mean_z(moments: Moments) -> FloatArray:
    r"""Difference of the means in its standard errors, :math:`(m_1 - m_0) / \sqrt{v_0/n_0 + v_1/n_1}`.

    Returns
    -------
    ndarray
        Infinite where no class varies but the means differ; NaN where the means are equal too, or a class has
        fewer than two values.
    """
    return unequal_variances(moments.mean_difference, *moments.variance, *moments.counts)[0]


def variance_z(moments: Moments) -> FloatArray:
    r"""Log ratio of the variances, less its expectation, in its standard errors.

    Of Gaussian data with equal variances, :math:`\log v_y` has the expectation
    :math:`\log\sigma^2 + \psi(d_y/2) - \log(d_y/2)` and the variance :math:`\psi'(d_y/2)`, where
    :math:`d_y = n_y - 1`. Heavier tails than the Gaussian make the standard error too small.

    Returns
    -------
    ndarray
        Infinite where one class does not vary; NaN where none does, or a class has fewer than two values.
    """
    half = np.maximum(moments.counts - 1, 1) / 2  # features with fewer values are NaN already
    bias = psi(half) - np.log(half)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(moments.variance[1]) - np.log(moments.variance[0])
        return np.asarray((ratio - (bias[1] - bias[0])) / np.sqrt(polygamma(1, half).sum(axis=0)))


def variance_alone(moments: Moments) -> npt.NDArray[np.bool_]:
    """Mark features whose variances surely differ and whose means may be the same.

    They have a two-sided p-value below 0.0001 in the F test of equal variances and above 0.05 in Welch's t test.
    The F test is that of Gaussian data; heavier tails make its p-values too small. A feature that does not vary in
    a class is not marked.
    """
    freedom = np.maximum(moments.counts - 1, 1).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = moments.variance[1] / moments.variance[0]
        of_variance = 2 * np.minimum(
            *(distribution(freedom[1], freedom[0], ratio) for distribution in (fdtr, fdtrc))
        )
        t, dof = unequal_variances(moments.mean_difference, *moments.variance, *moments.counts)
        of_mean = 2 * stdtr(dof, -np.abs(t))
        varies = (ratio > 0) & (ratio < np.inf)
    return np.asarray(varies & (of_variance < VARIANCES_DIFFER) & (of_mean > MEANS_MAY_NOT))


def shared_features(ranks: IntArray, n: int) -> IntArray:
    """Count the features that the top lists of two methods share, for every two methods.

    Parameters
    ----------
    ranks
        Methods x features, 1 for the strongest; a rank above the number of features for one without a score.
    n
        Length of the lists.
    """
    member = ranks <= n
    member = member[:, member.any(axis=0)].astype(np.int64)
    return np.asarray(member @ member.T)


def jaccard_index(ranks: IntArray, n: int) -> FloatArray:
    """Shared features of two top lists as a share of those on either; NaN if both are empty."""
    shared = shared_features(ranks, n)
    size = shared.diagonal()
    either = size[:, None] + size - shared
    result = np.full(shared.shape, np.nan)
    np.divide(shared, either, out=result, where=either > 0)
    return result


def average_overlap(ranks: IntArray, n: int) -> FloatArray:
    r"""Mean over :math:`d = 1, \dots, n` of the share of features common to the first :math:`d` of two lists.

    It is 1 for lists in the same order and 0 for lists without a common feature, and weighs the first places
    more than the last (Fagin, Kumar and Sivakumar 2003). Depths beyond the last feature that has a score in
    either list do not count; NaN if there is none.
    """
    lengths = (ranks <= n).sum(axis=1)
    ranks = ranks[:, (ranks <= n).any(axis=0)]
    result = np.full((len(ranks), len(ranks)), np.nan)
    for a, b in np.ndindex(result.shape):
        depth = int(max(lengths[a], lengths[b]))
        if depth:
            both = np.maximum(ranks[a], ranks[b])  # the depth from which on both lists hold the feature
            common = np.bincount(both[both <= depth], minlength=depth + 1)[1:].cumsum()
            result[a, b] = np.mean(common / np.arange(1, depth + 1))
    return result


def rank_correlation(scores: Sequence[FloatArray]) -> FloatArray:
    """Spearman's correlation of every two scores, over the features that all methods score; ties share a rank.

    NaN where all scores of a method are the same, or there are fewer than two features.
    """
    table = np.array(scores)
    table = table[:, ~np.isnan(table).any(axis=0)]
    centred = np.array([_average_ranks(row) for row in table]).reshape(table.shape) - (table.shape[1] + 1) / 2
    length = np.sqrt((centred * centred).sum(axis=1))
    with np.errstate(invalid="ignore"):
        products = np.einsum("if,jf->ij", centred, centred)  # one order of summation, unlike BLAS
        return np.asarray(np.clip(products / np.multiply.outer(length, length), -1.0, 1.0))


def _average_ranks(values: FloatArray) -> FloatArray:
    """Ranks from the smallest, equal values sharing the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: FloatArray = (count.cumsum() - (count - 1) / 2)[place.reshape(-1)]
    return ranks


def check_top(top: Any, n_features: int) -> tuple[int, ...]:
    """Return the lengths of lists in order; 10, 50 and 100 as far as half of the features allows by default."""
    if top is None:
        return tuple(n for n in (10, 50, 100) if 2 * n <= n_features) or (max(1, n_features // 2),)
    lengths: list[Any] = [top] if np.ndim(top) == 0 else list(top)
    if not lengths or not all(is_whole(n) and 1 <= n <= n_features for n in lengths):
        raise OptionError(
            f"The length of a top list is a whole number from 1 to the number of features ({n_features:,}), not "
            f"{', '.join(repr(n) for n in lengths) or 'nothing'}."
        )
    return tuple(sorted({int(n) for n in lengths}))


def summary_lines(comparison: MethodComparison) -> list[str]:
    """Sentences: what the lists share, who stands alone, and why."""
    classes = " and ".join(f"{label} ({count:,})" for label, count in comparison.class_counts.items())
    n_methods = len(comparison.methods)
    ranked = f"{n_methods} method{'' if n_methods == 1 else 's'} ranked"
    lines = [f"{ranked} {comparison.n_features:,} feature{_s(comparison.n_features)}; classes {classes}."]
    if n_methods > 1:
        lines += [_common(comparison), *_extremes(comparison), *_alone(comparison), *_variances(comparison)]
    return [*lines, *_own_lists(comparison), *_odd(comparison)]


def _own_lists(comparison: MethodComparison) -> list[str]:
    """How many features methods choose by themselves, and what else they say of their list."""
    lines = []
    for name, scores in comparison.scores.items():
        if scores.selected is not None:
            n = int(scores.selected.sum())
            caveat = f" {scores.caveat}" if scores.caveat else ""
            lines.append(f"{comparison.titles[name]} chooses {n:,} feature{_s(n)} by itself.{caveat}")
    return lines


def _common(comparison: MethodComparison) -> str:
    """How many features all lists hold, for every length."""
    n_methods = len(comparison.methods)
    shared = [int((comparison.n_lists(n) == n_methods).sum()) for n in comparison.top]
    words = [f"{count:,} of the {n:,} strongest" for count, n in zip(shared, comparison.top, strict=True)]
    return f"On {'both' if n_methods == 2 else f'all {n_methods}'} lists: {', '.join(words)}."


def _extremes(comparison: MethodComparison) -> list[str]:
    """Which two lists are most alike, and which least."""
    if len(comparison.methods) < 3:
        return []
    shared, length = comparison.overlap(), comparison.top[-1]
    pairs = list(combinations(range(len(comparison.methods)), 2))
    titles = [comparison.titles[name] for name in comparison.methods]
    counts = [int(shared[pair]) for pair in pairs]
    most, least = pairs[int(np.argmax(counts))], pairs[int(np.argmin(counts))]
    if shared[most] == shared[least]:
        return []
    words = [f"{titles[a]} and {titles[b]} ({shared[a, b]:,} of {length:,})" for a, b in (most, least)]
    return [f"Most alike: {words[0]}; least alike: {words[1]}."]


def _alone(comparison: MethodComparison) -> list[str]:
    """Which methods have features on their list that no other has."""
    lines, names = [], comparison.names
    of_variance = {names[i] for i in np.flatnonzero(comparison.variance_alone).tolist()}
    for name in comparison.methods:
        only = comparison.only(name)
        if not only:
            continue
        best = ", ".join(only[:3]) + (", ..." if len(only) > 3 else "")
        count = len(of_variance.intersection(only))
        why = f"; {count:,} of them differ{_s(count, 's', '')} in variance alone" if count else ""
        lines.append(
            f"Of the {comparison.top[-1]:,} strongest of {comparison.titles[name]}, {len(only):,} "
            f"{_s(len(only), 'is', 'are')} on no other list ({best}){why}."
        )
    return lines


def _variances(comparison: MethodComparison) -> list[str]:
    """How many of the features on any list differ in variance alone."""
    union = comparison.union()
    count = int(comparison.variance_alone[union].sum())
    if not count:
        return []
    differ = f"differ{_s(count, 's', '')} in variance alone"
    tests = f"p-value of the F test below {VARIANCES_DIFFER:g}, of Welch's t test above {MEANS_MAY_NOT:g}"
    return [
        f"{count:,} of the {union.size:,} features on any list {differ} ({tests}, for Gaussian data): methods "
        f"that compare means do not see {_s(count, 'it', 'them')}."
    ]


def _odd(comparison: MethodComparison) -> list[str]:
    """Features without a score, and lists whose end is a tie."""
    lines, length = [], comparison.top[-1]
    for name, scores in comparison.scores.items():
        title, absent = comparison.titles[name], int(np.isnan(scores.score).sum())
        screened = scores.diagnostics.get("n_screened")
        if absent and screened:
            lines.append(f"{title} was given the {screened:,} strongest features of a quicker method only.")
        elif absent:
            lines.append(f"{title} has no score for {absent:,} feature{_s(absent)}, ranked last.")
        first, last = _tie(scores.score, int(comparison.ranking(name)[length - 1]))
        if first <= length < last and scores.tie_break is None and scores.selected is None:
            lines.append(
                f"Ranks {first:,} to {last:,} of {title} are a tie: the order of the table decides which of these "
                f"are among the first {length:,}."
            )
    return lines


def _tie(score: npt.NDArray[np.float64], at: int) -> tuple[int, int]:
    """First and last rank of those with the same score as a feature; (0, 0) if that feature has none."""
    if np.isnan(score[at]):
        return 0, 0
    above = int((score > score[at]).sum())
    return above + 1, above + int((score == score[at]).sum())


def _s(count: int, one: str = "", many: str = "s") -> str:
    return one if count == 1 else many


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MethodComparison(Glimpsed, Tabular):
    """Scores, ranks and top lists of several methods; made by :func:`bayesieve.compare_methods`.

    The list of a method that chooses one by itself holds no other features, however long a list may be.

    Parameters
    ----------
    scores
        What each method found, by its name.
    titles
        How each method is called in sentences and tables.
    top
        Lengths of the lists to compare, the shortest first. Where a method below takes a length ``n``, the
        last of these is meant if none is given.
    differences
        ``mean_difference`` and ``log_variance_ratio``, second class against first, and both in standard errors,
        ``mean_z`` and ``variance_z``.
    variance_alone
        Features whose variances surely differ (p-value of the F test below 0.0001) and whose means may be the
        same (Welch's above 0.05): methods that compare means do not see them. The tests are those of Gaussian
        data.
    class_counts
        Number of samples by class.

    Attributes
    ----------
    ranks
        Methods x features: rank of every feature, 1 for the strongest; features without a score are last.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).normal(size=(60, 200))
    >>> X[30:, 0] += 3.0        # feature 0 differs in mean
    >>> X[30:, 1] *= 5.0        # feature 1 differs in variance
    >>> found = bs.compare_methods(X, ["control"] * 30 + ["case"] * 30, ["obf-jp", "welch"], top=2)
    >>> found.methods, found.top
    (('obf-jp', 'welch'), (2,))
    >>> found.scores["welch"].top(1)
    ('x0',)
    """

    scores: Mapping[str, FeatureScores]
    titles: Mapping[str, str]
    top: tuple[int, ...]
    differences: Mapping[str, FloatArray]
    variance_alone: BoolArray
    class_counts: Mapping[Any, int]
    ranks: IntArray = field(init=False, repr=False)
    _listed: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ranks = np.array([scores.rank for scores in self.scores.values()])
        unlisted = np.array([
            np.isnan(scores.score) if scores.selected is None else ~scores.selected
            for scores in self.scores.values()
        ])  # fmt: skip
        for name, array in (("ranks", ranks), ("_listed", np.where(unlisted, ranks.shape[1] + 1, ranks))):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def _glimpse(self) -> Glimpse:
        """Return the strongest features of every method."""
        title = f"MethodComparison of {len(self.methods)} methods on {self.n_features:,} features"
        lines = (f"classes {classes_in_words(list(self.class_counts), list(self.class_counts.values()))}",)
        heads = [", ".join(map(shorten, scores.top(2))) for scores in self.scores.values()]
        return Glimpse(title, lines, {"method": self.methods[:6], "strongest": heads[:6]})

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(self.scores)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._first.n_features

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self._first.names

    def overlap(self, n: int | None = None) -> IntArray:
        """Count the features that the first ``n`` of two methods share, for every two methods.

        The diagonal counts the features on a list: ``n``, or fewer if a method scores fewer.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"], top=1).overlap().tolist()
        [[1, 1], [1, 1]]
        """
        return shared_features(self._listed, self._length(n))

    def jaccard(self, n: int | None = None) -> FloatArray:
        """Shared features as a share of those on either of two lists: 1 if the lists hold the same features.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"], top=1).jaccard().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
        """
        return jaccard_index(self._listed, self._length(n))

    def agreement(self, n: int | None = None) -> FloatArray:
        """Average overlap of the first 1, 2, ..., ``n`` features of two methods, which knows their order.

        See :func:`bayesieve.rivals.method_comparison.average_overlap`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).agreement(2).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
        """
        return average_overlap(self._listed, self._length(n))

    def rank_correlation(self) -> FloatArray:
        """Spearman's correlation of the scores of every two methods, over the features that all of them score.

        Most features are noise to every method, so that methods with the same list can be far from 1.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).rank_correlation().round(12).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
        """
        return rank_correlation([scores.score for scores in self.scores.values()])

    def n_lists(self, n: int | None = None) -> IntArray:
        """Count, for every feature, the methods that have it among their first ``n``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).n_lists(2).tolist()
        [2, 2, 0]
        """
        return np.asarray((self._listed <= self._length(n)).sum(axis=0))

    def listed(self, n: int | None = None) -> BoolArray:
        """Methods x features: whether a feature is in the list of a method.

        Parameters
        ----------
        n
            Length of the lists.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X = np.random.default_rng(0).normal(size=(40, 20))
        >>> X[20:, 3] += 4.0
        >>> bs.compare_methods(X, [0] * 20 + [1] * 20, ["welch", "limma"], top=1).listed().sum(axis=1).tolist()
        [1, 1]
        """
        return np.asarray(self._listed <= self._length(n))

    def union(self, n: int | None = None) -> IntArray:
        """Indices of the features among the first ``n`` of any method, in the order of the first method.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).union(2).tolist()
        [0, 1]
        """
        ranking = self.ranking(self.methods[0])
        return ranking[self.n_lists(n)[ranking] > 0]

    def only(self, method: str, n: int | None = None) -> tuple[str, ...]:
        """Names of the features that are among the first ``n`` of one method and of no other.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).only("bd", 2)
        ()
        """
        listed = self._listed[self._place(method)] <= self._length(n)
        ranking, alone, names = self.ranking(method), listed & (self.n_lists(n) == 1), self.names
        return tuple(names[i] for i in ranking[alone[ranking]].tolist())

    def summary(self) -> str:
        """Say in words what the top lists share and why they may differ.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> print(bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).summary())
        2 methods ranked 3 features; classes 0 (2) and 1 (3).
        On both lists: 1 of the 1 strongest.
        """
        return "\n".join(summary_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """Table of all features as columns, in feature order; ``rank_``, ``score_`` and ``log_p_`` by method.

        ``n_lists`` counts the methods with the feature on their (longest) list.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> list(bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).to_dict())[:5]
        ['feature', 'rank_welch', 'rank_bd', 'n_lists', 'score_welch']
        """
        keys = {name: name.replace("-", "_") for name in self.scores}
        table: dict[str, Any] = {"feature": list(self.names)}
        table |= {f"rank_{key}": row for key, row in zip(keys.values(), self.ranks, strict=True)}
        table["n_lists"] = self.n_lists()
        for name, scores in self.scores.items():
            table[f"score_{keys[name]}"] = scores.score
            if scores.log_p_value is not None:
                table[f"log_p_{keys[name]}"] = scores.log_p_value
            if scores.selected is not None:
                table[f"selected_{keys[name]}"] = scores.selected
        return table | dict(self.differences) | {"variance_alone": self.variance_alone}

    @property
    def _first(self) -> FeatureScores:
        return next(iter(self.scores.values()))

    def ranking(self, method: str) -> IntArray:
        """Indices of the features from the strongest to the weakest by one method.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).ranking("bd").tolist()
        [0, 1, 2]
        """
        order = np.empty(self.n_features, np.int64)
        order[self.ranks[self._place(method)] - 1] = np.arange(self.n_features)
        return order

    def _place(self, method: str) -> int:
        if method not in self.scores:
            raise OptionError(f"{method!r} was not compared. Methods are {', '.join(self.methods)}.")
        return self.methods.index(method)

    def _length(self, n: int | None) -> int:
        if n is None:
            return self.top[-1]
        return check_top(n, self.n_features)[0]
