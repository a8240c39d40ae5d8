r"""The independent categorical model: Dirichlet priors on the shares of the categories.

.. math:: \ln B(\alpha + n) - \ln B(\alpha), \qquad
          \ln B(\alpha) = \sum_k \ln\Gamma(\alpha_k) - \ln\Gamma(\textstyle\sum_k \alpha_k)

is summed from terms :math:`\ln\Gamma(a + n) - \ln\Gamma(a)`, which vanish where :math:`n = 0`: a
category that does not occur matters only through :math:`\sum_k \alpha_k`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from bayesieve.data import Label, LabelledMatrix, check_levels, labelled_categories
from bayesieve.models.evidences import Evidences, ProductOfEvidences
from bayesieve.models.log_terms import log_gamma_rest, tangent_gap
from bayesieve.models.model import Model
from bayesieve.stats import CategoryCounts
from bayesieve.utils import CountArray, DataError, FloatArray, LabelError, PriorError

_LARGEST_TABLE = 2**18  # terms made in advance; beyond that each is computed where it is needed
_MANY_VALUES = 2**13  # whose evidence is too large a number for the digits of a Bayes factor


def dirichlet_evidence(counts: CountArray, alpha: Any, n_levels: Any) -> FloatArray:
    """Log probability of samples with these counts of categories, in the order they were seen.

    Parameters
    ----------
    counts
        ``(n_levels, n_features)``.
    alpha
        Concentration: a number, one per level ``(n_levels, 1)``, or one per feature ``(n_features,)``.
    n_levels
        How many categories there are: a number, or one per feature, at least 1.

    Returns
    -------
    ndarray
        One number per feature, exactly 0 where there is one category or no value.
    """
    per_level = np.ndim(alpha) == 2
    total: tuple[Any, Any] = (float(alpha.sum()), 1) if per_level else (alpha, n_levels)
    sums = counts.sum(axis=0)
    most, widest = int(sums.max(initial=0)), int(np.max(total[1], initial=1))
    rising = _log_rising if np.ndim(alpha) == 1 or (most + 1) * widest > _LARGEST_TABLE else _look_up
    result = np.zeros(counts.shape[1])
    for m, count in enumerate(counts):
        result += rising(float(alpha[m, 0]) if per_level else alpha, 1, count)
    result -= rising(*total, sums)
    return result


def _log_rising(a: Any, k: Any, n: CountArray) -> FloatArray:
    r"""Return :math:`\ln\Gamma(ka + n) - \ln\Gamma(ka)`."""
    from scipy.special import gammaln  # noqa: PLC0415 - SciPy is slow to import

    return np.asarray(gammaln(k * a + n) - gammaln(k * a))


def _look_up(a: float, k: Any, n: CountArray) -> FloatArray:
    """Do the same by making the terms of every ``k`` up to the largest count once."""
    length = int(n.max(initial=0)) + 1
    if np.ndim(k) == 0:
        return _rising_table(k * a, length)[n]
    table = np.concatenate([_rising_table(i * a, length) for i in range(1, int(k.max(initial=1)) + 1)])
    return np.asarray(table[(k - 1) * length + n])


def _rising_table(a: float, length: int) -> FloatArray:
    r"""Return :math:`\sum_{i < n} \ln(a + i)` for :math:`n` below ``length``, summed in extended precision."""
    terms = np.zeros(length, dtype=np.longdouble)
    np.cumsum(np.log(a + np.arange(length - 1, dtype=np.longdouble)), out=terms[1:])
    return terms.astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class CategoricalModel(Model):
    r"""Categories with a Dirichlet prior: genotypes, texts, booleans.

    The prior is proper, so there is no ``prior_ratio``. With one concentration :math:`\alpha` for
    every category, the log Bayes factor of two classes is

    .. math:: \log BF = \ln\frac{B(\alpha + n_0)}{B(\alpha)} + \ln\frac{B(\alpha + n_1)}{B(\alpha)}
              - \ln\frac{B(\alpha + n_0 + n_1)}{B(\alpha)}

    Parameters
    ----------
    concentration
        Positive: a number, or one per declared level, or one per feature. A sequence as long as ``levels``
        is read as one per level. 1/2 is Jeffreys' prior, 1 the uniform one.
    levels
        The categories that every feature can have. When not given, a feature has those that occur in it
        in any class; :meth:`fitted` fixes how many they are.
    n_levels
        Set by :meth:`fitted`, not by users: the number of categories of each feature.

    Examples
    --------
    >>> from bayesieve.models.categorical import CategoricalModel
    >>> from bayesieve.stats.categories.category_counts import CategoryCounts
    >>> counts = CategoryCounts(["well", "sick"], ["AA", "AG", "GG"], [[[4], [1], [0]], [[1], [3], [2]]])
    >>> model = CategoricalModel().fitted(counts)
    >>> well, sick, both = (model.log_evidence(group)[0] for group in
    ...                     (counts.pick(["well"]), counts.pick(["sick"]), counts.pool()))
    >>> round(float(well + sick - both), 10)
    1.2735042513
    """

    concentration: Any = 0.5
    levels: Any = None
    n_levels: CountArray | None = field(default=None, repr=False, kw_only=True)
    statistics_type: ClassVar[type] = CategoryCounts
    capabilities: ClassVar[frozenset[str]] = frozenset({"categories", "permutations"})

    def __post_init__(self) -> None:
        if self.levels is not None:
            object.__setattr__(self, "levels", check_levels(self.levels))
        object.__setattr__(self, "concentration", _check_concentration(self.concentration))

    @classmethod
    def jeffreys(cls, levels: Sequence[Any] | None = None) -> CategoricalModel:
        r"""Return the model with Jeffreys' prior, :math:`\alpha_k = 1/2`.

        Examples
        --------
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> CategoricalModel.jeffreys().concentration
        0.5
        """
        return cls(0.5, levels)

    @classmethod
    def uniform(cls, levels: Sequence[Any] | None = None) -> CategoricalModel:
        r"""Return the model in which all shares are equally likely, :math:`\alpha_k = 1`.

        Examples
        --------
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> CategoricalModel.uniform(levels=[0, 1, 2]).levels
        (0, 1, 2)
        """
        return cls(1.0, levels)

    def matrix(
        self, X: Any, y: Any, *, classes: Sequence[Label] | None = None, feature_names: Sequence[str] | None = None
    ) -> LabelledMatrix:
        """Check a table of categories and its labels.

        Examples
        --------
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> CategoricalModel().matrix([["red"], ["blue"]], ["a", "b"]).levels
        ('blue', 'red')
        """
        return labelled_categories(X, y, classes=classes, feature_names=feature_names, levels=self.levels)

    def take(self, places: Any, n_features: int) -> CategoricalModel:
        """Return the model of some features; a concentration per level stays.

        Examples
        --------
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> CategoricalModel([0.5, 1.0]).take([1], 2).concentration.tolist()
        [1.0]
        """
        taken: CategoricalModel = Model.take(self, places, n_features)
        by_level = self.levels is not None and np.size(self.concentration) == len(self.levels)
        return replace(taken, concentration=self.concentration) if by_level else taken

    def summarise(
        self, matrix: LabelledMatrix, *, missing: str = "raise", n_threads: int | None = None
    ) -> CategoryCounts:
        """Count the categories of every class.

        Examples
        --------
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> model = CategoricalModel()
        >>> model.summarise(model.matrix([[True], [False]], ["a", "b"])).levels
        (False, True)
        """
        return CategoryCounts.from_labelled(matrix, missing=missing, levels=self.levels, n_threads=n_threads)

    def statistic(self, values: FloatArray) -> CategoryCounts:
        """Count the categories of one group, told by numbers; NaN is missing.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> CategoricalModel().statistic(np.array([[0.0], [2.0], [2.0]])).table.tolist()
        [[[1], [2]]]
        """
        if len(values):
            return CategoryCounts.from_matrix(values, np.zeros(len(values)), missing="omit", levels=self.levels)
        levels = self.levels or ()
        return CategoryCounts.trusted((0.0,), levels, np.zeros((1, len(levels), values.shape[1]), np.int64))

    def merge(self, first: CategoryCounts, second: CategoryCounts) -> CategoryCounts:
        """Add the counts of two groups.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> model = CategoricalModel()
        >>> part = model.statistic(np.array([[0.0], [2.0]]))
        >>> model.merge(part, part).table.tolist()
        [[[2], [2]]]
        """
        return first.merge(second)

    def fitted(self, statistics: Any) -> CategoricalModel:
        """Fix which categories a feature has: the declared ones, or those that occur in any class.

        Examples
        --------
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> counts = CategoryCounts.from_matrix([[0, 0], [1, 0], [2, 1]], ["a", "a", "b"])
        >>> CategoricalModel().fitted(counts).n_levels.tolist()
        [3, 2]
        """
        return self if self.levels is not None else replace(self, n_levels=_occurring(_counts(statistics).table))

    def evidences(self, statistics: Any) -> Evidences:
        """Prepare the log evidences of groups of classes.

        Examples
        --------
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> counts = CategoryCounts(["well", "sick"], [0, 1], [[[40000], [10000]], [[40100], [9900]]])
        >>> CategoricalModel().evidences(counts).pattern([(0,), (1,)]).round(3).tolist()
        [-4.975]
        """
        counts = _counts(statistics)
        if int(counts.counts.sum(axis=0).max(initial=0)) < _MANY_VALUES:
            return Model.evidences(self, statistics)
        return DirichletEvidences(self.fitted(statistics), counts)

    def log_evidence(self, group: CategoryCounts) -> FloatArray:
        r"""Log probability of the categories of one group in the order they were seen.

        It is :math:`\ln B(\alpha + n) - \ln B(\alpha)`, and exactly 0 for a feature with one category or
        without values. Evidences of several groups can be compared under declared levels or a model that
        was :meth:`fitted` to all of them; otherwise a feature has the categories that occur in this group.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> model = CategoricalModel.uniform()
        >>> group = model.statistic(np.array([[0.0], [1.0], [1.0]]))
        >>> model.log_evidence(group).round(10).tolist() == np.log([1 / 12]).round(10).tolist()
        True
        """
        table, alpha = self.prepare(group)
        return dirichlet_evidence(table, alpha, self.levels_of(table))

    def prepare(self, group: CategoryCounts) -> tuple[CountArray, Any]:
        """Return the counts of one group, and a concentration that fits them.

        Examples
        --------
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> counts = CategoryCounts(["well"], [0, 1], [[[4], [1]]])
        >>> CategoricalModel([0.5, 1.0], levels=[0, 1]).prepare(counts)[1].tolist()
        [[0.5], [1.0]]
        """
        alpha = self.concentration
        by_level = isinstance(alpha, np.ndarray) and self.levels is not None and alpha.size == len(self.levels)
        return self._table(_counts(group)), alpha[:, None] if by_level else alpha

    def draw_null(self, statistics: Any, rng: np.random.Generator) -> CategoryCounts:
        """Draw counts as if the classes were alike: multinomial with the shares of the pooled sample.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> from bayesieve.stats.categories.category_counts import CategoryCounts
        >>> counts = CategoryCounts.from_matrix([[0], [1], [1], [0], [1]], [0, 0, 1, 1, 1])
        >>> CategoricalModel().draw_null(counts, np.random.default_rng(0)).counts.tolist()
        [[2], [3]]
        """
        counts = _counts(statistics)
        if not counts.levels:
            return counts
        pooled = counts.table.sum(axis=0).T.astype(np.float64)
        pooled[pooled.sum(axis=1) == 0, 0] = 1.0  # a feature without values
        pooled /= pooled.sum(axis=1, keepdims=True)
        drawn = [rng.multinomial(n, pooled).T for n in counts.counts]
        return CategoryCounts.trusted(counts.classes, counts.levels, np.array(drawn, dtype=np.int64))

    def _table(self, group: CategoryCounts) -> CountArray:
        """Counts of one group, (n_levels, n_features), in the order of the declared levels."""
        if len(group.classes) != 1:
            raise LabelError(
                f"The evidence is that of one group, but there are {len(group.classes)} classes: "
                f"{list(group.classes)!r}. Pick one of them, or pool them."
            )
        sizes = {array.size for array in (self.concentration, self.n_levels) if isinstance(array, np.ndarray)}
        sizes -= {group.n_features, len(self.levels or ())}
        if sizes:
            raise PriorError(
                f"The model has numbers for {sorted(sizes)} features, but the data have {group.n_features}. "
                "Give one concentration, or one per feature in the order of the columns (or one per level, with "
                "levels), and fit the model to the same features."
            )
        aligned: CategoryCounts = group if self.levels is None else group.with_levels(self.levels)
        return np.asarray(aligned.table[0])

    def levels_of(self, table: CountArray) -> Any:
        """Return the number of categories that every feature has, given the counts of a group.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.categorical import CategoricalModel
        >>> CategoricalModel().levels_of(np.array([[3, 0], [1, 2]])).tolist()
        [2, 1]
        """
        if self.levels is not None:
            return len(self.levels)
        here = _occurring(table[None])
        if self.n_levels is None:
            return here
        if (here > self.n_levels).any():
            raise DataError(
                f"{int((here > self.n_levels).sum())} feature(s) have more categories than in the data that the "
                f"model was fitted to, the first is column {int(np.argmax(here > self.n_levels))}. Fit it to all "
                "classes together."
            )
        return self.n_levels


class DirichletEvidences(ProductOfEvidences):
    r"""Log evidences of groups with many values, next to the shares of the categories in all classes together.

    With :math:`x_k = \alpha_k + n_k`, :math:`X = \sum_k x_k`, :math:`A = \sum_k \alpha_k` and the shares
    :math:`\pi_k = x^+_k / X^+` of the pooled sample, the evidence of a group less :math:`\sum_k n_k \log \pi_k`,
    which all groupings share, is a sum over the categories that occur,

    .. math::
        \sum_k \left[x_k \log\frac{x_k}{X \pi_k} - x_k + X \pi_k + \rho(x_k) + \alpha_k \log\pi_k
            - \log\Gamma(\alpha_k)\right] - \rho(X) + \log\Gamma(A) + \frac{A_0}{X^+} X - A_0 \log X

    where :math:`A_0` is the concentration of those that do not; see :mod:`bayesieve.models.log_terms`.

    Parameters
    ----------
    model
        The model, fitted to all classes.
    counts
        Counts of the classes.
    """

    __slots__ = ("_counts", "_model", "_shares", "_sum", "_unseen")

    def __init__(self, model: CategoricalModel, counts: CategoryCounts) -> None:
        self._model, self._counts = model, counts
        table, alpha = model.prepare(counts.pool())
        each = np.broadcast_to(np.asarray(alpha, dtype=np.float64), table.shape)
        seen = table > 0
        self._sum = alpha.sum() if np.ndim(alpha) == 2 else alpha * np.asarray(model.levels_of(table))
        whole = self._sum + table.sum(axis=0)
        self._shares = np.where(seen, (each + table) / whole, 0.0)
        self._unseen = self._sum - np.where(seen, each, 0.0).sum(axis=0), whole

    def pooled(self) -> FloatArray:
        """Log evidence of all classes together."""
        return self.group(tuple(range(len(self._counts.classes))), 0)

    def group(self, members: tuple[int, ...], prior_index: int) -> FloatArray:
        """Log evidence of some classes."""
        del prior_index
        from scipy.special import gammaln  # noqa: PLC0415 - SciPy is slow to import

        table, alpha = self._model.prepare(self._counts.pool([self._counts.classes[k] for k in members]))
        x, total = alpha + table.astype(np.float64), self._sum + table.sum(axis=0)
        seen = self._shares > 0
        shares = np.where(seen, self._shares, 1.0)
        terms = x * tangent_gap(total * shares / x) + log_gamma_rest(x) + alpha * np.log(shares) - gammaln(alpha)
        absent, whole = self._unseen
        rest = gammaln(self._sum) - log_gamma_rest(total) + absent * (total / whole - np.log(total))
        return np.asarray(np.where(seen, terms, 0.0).sum(axis=0) + rest)

    def log_constant(self, n_groups: int) -> float:
        """Return 0: the prior is proper."""
        del n_groups
        return 0.0


def _check_concentration(concentration: Any) -> float | FloatArray:
    try:
        alpha = np.array(concentration, dtype=np.float64)
    except (TypeError, ValueError):
        alpha = np.array(np.nan)
    if alpha.ndim > 1 or not alpha.size or not (np.isfinite(alpha) & (alpha > 0)).all():
        raise PriorError(
            "concentration must be a positive number, or one per declared level or per feature, for example 0.5; "
            f"this is {concentration!r}."
        )
    if not alpha.ndim:
        return float(alpha)
    alpha.flags.writeable = False
    return alpha


def _counts(statistics: Any) -> CategoryCounts:
    if not isinstance(statistics, CategoryCounts):
        raise DataError(
            f"The categorical model needs CategoryCounts, not {type(statistics).__name__}. Make them with "
            "CategoryCounts.from_matrix(X, y)."
        )
    return statistics


def _occurring(table: CountArray) -> CountArray:
    """Number of levels that occur in each feature in any class; at least 1, which changes nothing."""
    present = table[0] > 0
    for more in table[1:]:
        present |= more > 0
    return np.asarray(np.maximum(present.sum(axis=0), 1))
