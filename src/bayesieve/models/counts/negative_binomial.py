"""The negative binomial model of counts with extra variation, its mean integrated out under a beta prior."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.models.counts.dispersed import EXACT, QUICK, DispersedEvidences
from bayesieve.models.counts.dispersion import Trend, fit_trend, with_spread
from bayesieve.models.counts.poisson import (
    check_hyperparameter,
    check_lengths,
    draw_totals,
    one_group,
    totals_of_group,
)
from bayesieve.models.evidences import Evidences
from bayesieve.models.log_terms import deviance, log_gamma_rest
from bayesieve.models.model import Model
from bayesieve.stats import EventTotals, wide
from bayesieve.utils import DataError, FloatArray, PriorError, Wording

SMALLEST_SIZE, LARGEST_SIZE = 1e-3, 1e6


def estimate_size(statistics: EventTotals) -> FloatArray:
    r"""Moment estimate of the size of a negative binomial, per feature, from within the classes.

    .. math::
        r = \frac{\sum_y w_y \bar x_y^2}{\sum_y w_y (s_y^2 - \bar x_y)}, \quad
        w_y = \frac{n_y - 1}{\sum_z (n_z - 1)}

    with the mean and the unbiased variance of each class: within a class the variance is
    :math:`\mu_y + \mu_y^2 / r`, so that classes of different means are no extra variation. Kept within
    [1e-3, 1e6]; 1e6, where counts are all but Poisson, if the denominator is not positive or no class has two
    values. With few samples it is a rough estimate: give ``size`` where it is known better.
    """
    moments = statistics.moments
    if moments is None:
        raise DataError(
            "The size is estimated from the spread of the counts, which these totals do not hold. Make them with "
            "EventTotals.from_matrix(..., spread=True), or give size to the model."
        )
    freedom = np.maximum(moments.counts - 1, 0)
    top = (freedom * moments.mean**2).sum(axis=0)
    bottom = (moments.centred_squares - freedom * moments.mean).sum(axis=0)
    estimate = np.divide(top, bottom, out=np.full(top.shape, LARGEST_SIZE), where=bottom > 0)
    return np.asarray(np.clip(estimate, SMALLEST_SIZE, LARGEST_SIZE))


def per_exposure(matrix: LabelledMatrix) -> Any:
    """Counts as if every sample had been looked at equally deeply."""
    assert matrix.exposures is not None
    scale = (1.0 / matrix.exposures)[:, None]
    values: Any = matrix.values
    return values.multiply(scale).tocsr() if is_sparse(values) else values * scale


_TYPICAL = (0.1, 10.0)  # median of exposures that are size factors
_DRAW_COST = 16
_HALF = 0.5  # the smaller parameter of the default prior
_UNEQUAL = (
    "The negative binomial model is exact for equal exposures only, and these differ. Use the Poisson model, "
    "which takes exposures, or bring all samples to the same depth first."
)


@dataclass(frozen=True, slots=True, eq=False)
class NegativeBinomialModel(Model):
    r"""Counts with pmf :math:`\binom{x+r-1}{x} p^r (1-p)^x`, size :math:`r` known and :math:`p \sim` Beta(a, b).

    The mean is :math:`\mu = r (1-p)/p` and the variance :math:`\mu + \mu^2/r`. With :math:`n` values that
    add up to :math:`X`, the log evidence of a group is

    .. math::
        \ell = \log B(a + n r,\, b + X) - \log B(a, b)

    The binomial coefficients are the same however the classes are grouped; they cancel and are left out.

    Where the size is not given, nor the prior of :math:`p`, the dispersion :math:`\alpha = 1/r` of a feature is
    integrated out. It lies about a trend over the means of all features, which makes comparisons of few samples
    possible: see :mod:`bayesieve.models.counts.dispersed` for the evidence, and
    :mod:`bayesieve.models.counts.dispersion` for the trend.

    Parameters
    ----------
    size
        :math:`r`, a number or one per feature, shared by all classes; infinite dispersion is 0. When not given, it
        is integrated out, or, with more than 20 patterns of classes or with ``success_prior``, the most probable
        one under the trend is taken as if it were known.
    success_prior
        :math:`(a, b)`, each a number or one per feature. By default the prior whose mean is the feature's
        own :math:`p_0 = r / (r + \bar x)` over all classes and whose smaller parameter is 1/2:
        :math:`a = \tfrac12 \max(1, r/\bar x)`, :math:`b = \tfrac12 \max(1, \bar x/r)`; with
        :math:`1 + r/\bar x` and :math:`1 + \bar x/r` where the size is integrated out, which is smooth. For large
        :math:`r` this is the default of :class:`PoissonModel`; a fixed prior would instead favour means near
        :math:`r`. A feature without any event then has a log Bayes factor of 0, the limit.
    trend
        Coefficients :math:`a_0, a_1` of the trend :math:`a_0 + a_1/\mu` of dispersions, and the width of the prior
        of their logarithms about it; taken from all features when not given.
    nodes
        Step and end of the sums that stand for integrals over dispersions.
    reference
        Set by :meth:`fitted`: :math:`(p_0, 1 - p_0)`, relative to whose likelihood evidences are taken,
        which adds :math:`-n r \log p_0 - X \log(1 - p_0)`. That cancels too, and saves digits.

    Examples
    --------
    >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
    >>> from bayesieve.stats.events.event_totals import EventTotals
    >>> totals = EventTotals.from_matrix([[3], [4], [11], [9]], ["a", "a", "b", "b"])
    >>> model = NegativeBinomialModel(size=4.0, success_prior=(1.0, 1.0))
    >>> evidence = [model.log_evidence(totals.pool(group))[0] for group in (["a"], ["b"], ["a", "b"])]
    >>> round(float(evidence[0] + evidence[1] - evidence[2]), 6)
    0.228957
    """

    size: Any = None
    success_prior: Any = None
    reference: Any = None
    trend: Trend | None = None
    nodes: tuple[float, float] = EXACT
    statistics_type: ClassVar[type] = EventTotals
    takes_exposures: ClassVar[bool] = True
    capabilities: ClassVar[frozenset[str]] = frozenset({"permutations"})
    family: ClassVar[str] = "negative binomial"

    def __post_init__(self) -> None:
        if self.trend is not None:
            object.__setattr__(self, "trend", _check_trend(self.trend))
        if self.size is not None:
            object.__setattr__(self, "size", check_hyperparameter("size", self.size))
            if not np.isfinite(self.size).all():
                raise PriorError("size must be finite; counts without extra variation are PoissonModel's.")
        for name in ("success_prior", "reference"):
            pair = getattr(self, name)
            if pair is None:
                continue
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise PriorError(f"{name} must be a pair of numbers, for example (0.5, 0.5), not {pair!r}.")
            object.__setattr__(self, name, tuple(check_hyperparameter(name, value) for value in pair))

    def statistic(self, values: FloatArray) -> EventTotals:
        """Add up one group's values, with their spread if the size is to be estimated.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> NegativeBinomialModel().statistic(np.array([[3.0], [4.0]])).total.tolist()
        [[7.0]]
        """
        return totals_of_group(values, spread=self.size is None)

    def merge(self, first: EventTotals, second: EventTotals) -> EventTotals:
        """Add two groups, whatever their labels.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> model = NegativeBinomialModel(size=2.0)
        >>> group = model.statistic(np.array([[3.0], [4.0]]))
        >>> model.merge(group, group).total.tolist()
        [[14.0]]
        """
        return first.merge(second.renamed(first.classes))

    def summarise(
        self, matrix: LabelledMatrix, *, missing: str = "raise", n_threads: int | None = None
    ) -> EventTotals:
        """Add up a table class by class, with the spread if the size is to be estimated.

        Exposures (size factors around 1) divide the counts: the closed form holds for equal exposures, and a
        count per exposure is treated as if its sample had been looked at like all others.

        Examples
        --------
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> model = NegativeBinomialModel()
        >>> model.summarise(model.matrix([[3], [4]], ["a", "b"])).moments is None
        False
        """
        if matrix.exposures is not None:
            matrix = dataclasses.replace(matrix, values=per_exposure(matrix), exposures=None)
        return EventTotals.from_labelled(matrix, missing=missing, spread=self.size is None, n_threads=n_threads)

    def check_exposures(self, exposures: Any) -> None:
        """Raise unless exposures lie around 1: a count per exposure must still look like a count.

        Examples
        --------
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> NegativeBinomialModel().check_exposures([0.8, 1.3])
        """
        typical = float(np.median(exposures))
        if not _TYPICAL[0] <= typical <= _TYPICAL[1]:
            raise DataError(
                "The negative binomial model divides counts by their exposures, which should lie around 1, but "
                f"they are around {typical:.3g}. Divide them by their mean, or take ",
                Wording("size_factors(X)", "--exposures total"),
                ".",
                kind="exposures",
            )

    def fitted(self, statistics: Any) -> NegativeBinomialModel:
        """Return the model with size and prior, if not given, and the reference taken from all classes.

        Examples
        --------
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> totals = EventTotals.from_matrix([[3], [5]], ["a", "b"])
        >>> [a.tolist() for a in NegativeBinomialModel(size=2.0).fitted(totals).success_prior]
        [[0.5], [1.0]]
        """
        _check_exposures(statistics)
        count, total, _ = one_group(statistics.pool())
        size = self._likely_size(statistics) if self.size is None else self.size
        check_lengths(total.size, size=size)
        trials = count * size
        prior = self.success_prior
        if prior is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                odds = np.where(total > 0, trials / total, np.inf)  # r over the mean
                prior = (_HALF * np.maximum(1.0, odds), _HALF * np.maximum(1.0, 1.0 / odds))
        check_lengths(total.size, success_prior=prior[0] + prior[1])
        a = np.where(np.isinf(prior[0]), 1.0, prior[0]) + trials
        b = prior[1] + total
        return dataclasses.replace(self, size=size, success_prior=prior, reference=(a / (a + b), b / (a + b)))

    def estimate(self, parts: Sequence[Any]) -> NegativeBinomialModel:
        """Return the model with the trend of dispersions, if neither it nor the size is given, from all features.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> X = np.random.default_rng(0).negative_binomial(5, 0.05, size=(10, 400))
        >>> totals = EventTotals.from_matrix(X, [0] * 5 + [1] * 5, spread=True)
        >>> [round(number, 1) for number in NegativeBinomialModel().estimate([totals]).trend[:1]]
        [0.2]
        """
        if self.size is not None or self.trend is not None:
            return self
        return dataclasses.replace(self, trend=fit_trend(parts))

    def quick(self) -> NegativeBinomialModel:
        """Return the model with fewer nodes: log Bayes factors to 0.01.

        Examples
        --------
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> NegativeBinomialModel().quick().nodes
        (0.6, 3.6)
        """
        return dataclasses.replace(self, nodes=QUICK)

    def evidences(self, statistics: Any) -> Evidences:
        """Prepare the Bayes factors of patterns of classes.

        Examples
        --------
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> totals = EventTotals.from_matrix([[3], [5], [4], [9]], ["a", "a", "b", "b"], spread=True)
        >>> NegativeBinomialModel().evidences(totals).pattern([(0,), (1,)]).shape
        (1,)
        """
        if self.size is not None or self.success_prior is not None:
            return super(NegativeBinomialModel, self).evidences(statistics)
        model = self.estimate([statistics])
        _check_exposures(statistics)
        assert model.trend is not None

        def plain() -> Evidences:
            return super(NegativeBinomialModel, model).evidences(statistics)

        return DispersedEvidences(statistics, model.trend, self.nodes, plain)

    def _likely_size(self, statistics: EventTotals) -> FloatArray:
        """Return the most probable size of every feature under the trend."""
        trend = self.estimate([statistics]).trend
        assert trend is not None
        peaks = DispersedEvidences(statistics, trend).peaks()
        return np.asarray(np.clip(np.exp(-peaks), SMALLEST_SIZE, LARGEST_SIZE))

    def log_evidence(self, group: EventTotals) -> FloatArray:
        """Log evidence of one group, feature by feature; the formula is that of the class.

        Examples
        --------
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> group = EventTotals.from_matrix([[3], [4]], ["a", "a"])
        >>> model = NegativeBinomialModel(size=4.0, success_prior=(1.0, 1.0))
        >>> model.log_evidence(group).round(6).tolist()
        [-11.542096]
        """
        if self.size is None or self.success_prior is None:
            raise PriorError(
                "Size or prior are not known yet. Give both, or take them from the data: model.fitted(totals)."
            )
        count, total, _ = one_group(group)
        a, b = self.success_prior
        check_lengths(total.size, size=self.size, a=a, b=b)
        with np.errstate(divide="ignore", invalid="ignore"):
            result = self._kernel(a + count * self.size, b + total) - self._kernel(a, b)
        return np.asarray(np.where(np.isinf(a), np.where(total > 0, -np.inf, 0.0), result))

    def _kernel(self, p: Any, q: Any) -> Any:
        r"""Return :math:`\log B(p, q)`, less :math:`p \log p_0 + q \log(1 - p_0)` if there is a reference."""
        whole = p + q
        rest = log_gamma_rest(p) + log_gamma_rest(q) - log_gamma_rest(whole)
        if self.reference is None:
            return rest - p * np.log1p(q / p) - q * np.log1p(p / q)
        share_p, share_q = self.reference
        excess = np.where(
            share_p < share_q, p - whole * share_p, whole * share_q - q
        )  # the smaller has the digits
        return rest + deviance(p, whole * share_p, excess) + deviance(q, whole * share_q, -excess)

    def draw_cost(self, statistics: Any) -> int:
        """How much a draw costs: more where dispersions are integrated out.

        Examples
        --------
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> NegativeBinomialModel(size=1.0).draw_cost(EventTotals.from_matrix([[3], [5]], ["a", "b"]))
        1
        """
        del statistics
        return 1 if self.size is not None else _DRAW_COST

    def draw_null(self, statistics: Any, rng: np.random.Generator) -> EventTotals:
        """Draw the totals of features whose classes share the mean of all classes together.

        A sum of ``n`` values of size ``r`` is negative binomial of size ``n r``. Where the size is not given,
        centred squares are drawn, too, so that chance also acts on what they say of it.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> totals = EventTotals.from_matrix([[3], [5]], ["a", "b"])
        >>> NegativeBinomialModel(size=2.0).draw_null(totals, np.random.default_rng(0)).total.shape
        (2, 1)
        """
        size = self._likely_size(statistics) if self.size is None else self.size
        count, total, _ = one_group(statistics.pool())
        mean = total / np.maximum(count, 1)
        shape = np.broadcast_to(statistics.counts * size, statistics.total.shape)
        drawn = draw_totals(statistics, rng.gamma(shape, mean / size), rng)
        return drawn if self.size is not None else with_spread(drawn, -np.log(size), rng)


def _check_trend(trend: Any) -> Trend:
    """Return three numbers, of which the width is positive."""
    try:
        first, second, width = (float(number) for number in trend)
    except (TypeError, ValueError):
        raise PriorError(f"trend must be three numbers, a_0, a_1 and the width, not {trend!r}.") from None
    if not (first >= 0 and second >= 0 and first + second > 0 and 0 < width < np.inf):
        raise PriorError(f"trend must be three positive numbers, a_0, a_1 and the width, not {trend!r}.")
    return first, second, width


def _check_exposures(statistics: EventTotals) -> None:
    exposure = np.broadcast_to(wide(statistics.exposure), statistics.total.shape)
    counts = np.broadcast_to(statistics.counts, statistics.total.shape)
    each = exposure[counts > 0] / counts[counts > 0]
    if each.size and np.ptp(each) > 1e-9 * each.max():
        raise DataError(_UNEQUAL)
