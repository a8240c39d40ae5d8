"""MethodComparison: what several methods say about the same features, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import OptionError
from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.top_lists import (
    average_overlap,
    checked_lengths,
    jaccard_index,
    rank_correlation,
    shared_features,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class MethodComparison:
    """Scores, ranks and top lists of several methods; made by :func:`bayesieve.compare_methods`.

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
        unscored = np.isnan([scores.score for scores in self.scores.values()])
        for name, array in (("ranks", ranks), ("_listed", np.where(unscored, ranks.shape[1] + 1, ranks))):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

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

        See :func:`bayesieve.rivals.top_lists.average_overlap`.

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
        from bayesieve.rivals.comparison_summary import summary_lines  # noqa: PLC0415 - only when asked for

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
        return table | dict(self.differences) | {"variance_alone": self.variance_alone}

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of :meth:`to_dict` as a pandas frame.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).to_pandas().shape[0]
        3
        """
        import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> pl.DataFrame:
        """Return the table of :meth:`to_dict` as a polars frame.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.0, 1.0, 5.0], [1.0, 0.0, 7.0], [8.0, 2.0, 5.5], [9.0, 1.5, 7.5], [8.5, 2.5, 6.0]]
        >>> bs.compare_methods(X, [0, 0, 1, 1, 1], ["welch", "bd"]).to_polars().shape[0]
        3
        """
        import polars as pl  # noqa: PLC0415 - slow to import

        return pl.DataFrame(self.to_dict())

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
        return checked_lengths(n, self.n_features)[0]
