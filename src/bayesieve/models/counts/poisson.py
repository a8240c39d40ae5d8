r"""The Poisson model of counts with exposures (offsets), and terms that the count models share.

A log Bayes factor of a few units is a difference of log gamma functions that may reach 1e12. The large parts
combine to deviances :math:`x \log(x/m) - x + m`, which are small where the data are as expected; see
:mod:`bayesieve.models.log_terms`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.models.log_terms import deviance, log_gamma_rest
from bayesieve.models.model import Model
from bayesieve.stats import EventTotals, wide
from bayesieve.utils import FloatArray, Message, PriorError, Wording, option

_LARGEST_MEAN = 9e18  # beyond, NumPy draws no Poisson numbers


def one_group(group: Any) -> tuple[Any, FloatArray, Any]:
    """Return count, total and exposure of totals that hold one class only."""
    if not isinstance(group, EventTotals) or len(group.classes) != 1:
        raise PriorError("One group of samples is needed: use totals.pick([label]) or totals.pool().")
    return group.count[0], group.total[0], group.exposure[0]


def totals_of_group(values: FloatArray, *, spread: bool) -> EventTotals:
    """Return the totals of one group's values, NaN where missing; a group may be empty."""
    if len(values):
        return EventTotals.from_matrix(values, ["group"] * len(values), missing="omit", spread=spread)
    nothing = totals_of_group(np.zeros((1, values.shape[1])), spread=spread)
    return nothing.remove(nothing)


def draw_totals(statistics: EventTotals, mean: FloatArray, rng: np.random.Generator) -> EventTotals:
    """Draw totals from Poisson distributions, at the counts and exposures (and with the moments) of others."""
    total = rng.poisson(np.minimum(mean, _LARGEST_MEAN)).astype(np.float64)
    return dataclasses.replace(statistics, total=total)


def check_hyperparameter(name: str, value: Any, lowest: str = "above 0") -> Any:
    """Check a number, or one per feature, that must be above 0 or, on request, ``"at least 0"``."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full((1, 1), np.nan)
    if array.ndim > 1 or not array.size:
        raise PriorError(f"{name} must be a number or one number per feature, not {value!r}.")
    bad = np.isnan(array) | (array < 0) | ((array == 0) & (lowest == "above 0"))
    if bad.any():
        raise PriorError(
            f"{name} must be {lowest}, but {int(bad.sum())} of {array.size} value(s) are not, "
            f"the first is {array[bad][0]:g}."
        )
    array.flags.writeable = False
    return float(array) if array.ndim == 0 else array


def check_lengths(n_features: int, **parameters: Any) -> None:
    """Raise unless every parameter is a number or has one value per feature."""
    for name, value in parameters.items():
        if np.ndim(value) and np.size(value) != n_features:
            raise PriorError(
                f"{name} is given for {np.size(value)} features, but the data have {n_features}. "
                "Give one number, or one per feature in the order of the columns."
            )


@dataclass(frozen=True, slots=True, eq=False)
class PoissonModel(Model):
    r"""Counts :math:`x_i \sim` Poisson(:math:`e_i \theta`) with :math:`\theta \sim` Gamma(shape, rate).

    With :math:`X` events at the exposure :math:`E = \sum e_i` the log evidence of a group is

    .. math::
        \ell = a \log b - \log\Gamma(a) + \log\Gamma(a + X) - (a + X) \log(b + E)

    The factors :math:`e_i^{x_i} / x_i!` are the same however the classes are grouped; they cancel in
    every comparison and are left out. Fractions (expected counts) are taken as they are.

    Parameters
    ----------
    shape
        :math:`a`, a number or one per feature. The default says about as much as half an event.
    rate
        :math:`b`, a number or one per feature. By default :math:`a / (X / E)` of all classes together:
        the prior has its mean at the feature's own rate, so that units of exposure do not matter. A feature
        without any event then has a log Bayes factor of 0, the limit.
    prior_ratio
        Required if the prior is improper (shape or rate 0), not allowed otherwise: a positive number, by
        which every further group of classes is weighted. The constant :math:`b^a / \Gamma(a)` is then 1,
        and every group needs :math:`a + X > 0`; the evidence is NaN where it is not. Unless the shape is 0, what
        a prior ratio means depends on the units of exposure.
    reference
        Set by :meth:`fitted`: the rate :math:`\theta_0` relative to whose likelihood evidences are taken,
        which adds :math:`E \theta_0 - X \log\theta_0`. That cancels too, and saves digits.

    Notes
    -----
    Real counts mostly vary more than Poisson's; what looks like strong evidence is then spread within
    the classes. :class:`NegativeBinomialModel` allows for it.

    Examples
    --------
    >>> from bayesieve.models.counts.poisson import PoissonModel
    >>> from bayesieve.stats.events.event_totals import EventTotals
    >>> totals = EventTotals.from_matrix([[3], [4], [11], [9]], ["a", "a", "b", "b"])
    >>> model = PoissonModel(shape=1.0, rate=0.5)
    >>> evidence = [model.log_evidence(totals.pool(group))[0] for group in (["a"], ["b"], ["a", "b"])]
    >>> round(float(evidence[0] + evidence[1] - evidence[2]), 6)
    1.151828
    """

    shape: Any = 0.5
    rate: Any = None
    prior_ratio: Any = None
    reference: Any = None
    statistics_type: ClassVar[type] = EventTotals
    takes_exposures: ClassVar[bool] = True
    capabilities: ClassVar[frozenset[str]] = frozenset({"permutations"})
    family: ClassVar[str] = "Poisson"
    caveat: ClassVar[str | Message] = Message.of(
        "Poisson counts vary within a class no more than chance makes them; counts that do, as most of sequencing "
        "do, pass for markers.",
        hint=("Compare with ", Wording("NegativeBinomialModel()", "--model negative-binomial"), "."),
        kind="model",
    )

    def __post_init__(self) -> None:
        for name in ("shape", "rate", "reference"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check_hyperparameter(name, value, "at least 0"))
        if self.rate is None and np.any(np.asarray(self.shape) == 0):
            raise PriorError("rate=None puts the mean of the prior at the data, which needs a shape above 0.")
        improper = (np.asarray(self.shape) == 0) | (np.asarray(1.0 if self.rate is None else self.rate) == 0)
        if improper.any() != improper.all():
            raise PriorError(
                "The prior is improper (shape or rate 0) for some features only. Screen them apart: their Bayes "
                "factors rest on prior_ratio, those of the others do not."
            )
        object.__setattr__(self, "prior_ratio", _check_ratio(self.prior_ratio, bool(improper.all())))

    def statistic(self, values: FloatArray) -> EventTotals:
        """Add up one group's values, each at exposure 1.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.counts.poisson import PoissonModel
        >>> PoissonModel().statistic(np.array([[3.0], [4.0]])).total.tolist()
        [[7.0]]
        """
        return totals_of_group(values, spread=False)

    def merge(self, first: EventTotals, second: EventTotals) -> EventTotals:
        """Add two groups, whatever their labels.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.counts.poisson import PoissonModel
        >>> group = PoissonModel().statistic(np.array([[3.0], [4.0]]))
        >>> PoissonModel().merge(group, group).total.tolist()
        [[14.0]]
        """
        return first.merge(second.renamed(first.classes))

    def summarise(
        self, matrix: LabelledMatrix, *, missing: str = "raise", n_threads: int | None = None
    ) -> EventTotals:
        """Add up a table class by class, with the exposures of the matrix.

        Examples
        --------
        >>> from bayesieve.models.counts.poisson import PoissonModel
        >>> model = PoissonModel()
        >>> model.summarise(model.matrix([[3], [4]], ["a", "b"])).total.tolist()
        [[3.0], [4.0]]
        """
        return EventTotals.from_labelled(matrix, missing=missing, n_threads=n_threads)

    def fitted(self, statistics: Any) -> PoissonModel:
        """Return the model with the rate of the prior, if not given, and the reference taken from all classes.

        Examples
        --------
        >>> from bayesieve.models.counts.poisson import PoissonModel
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> totals = EventTotals.from_matrix([[3], [5]], ["a", "b"])
        >>> PoissonModel(shape=1.0).fitted(totals).rate.tolist()
        [0.25]
        """
        _, total, exposure = one_group(statistics.pool())
        check_lengths(total.size, shape=self.shape, rate=self.rate)
        some = total > 0
        mean = np.divide(total, exposure, out=np.zeros(total.shape), where=some)
        rate = self.rate
        if rate is None:
            rate = np.divide(self.shape, mean, out=np.full(total.shape, np.inf), where=some)
        return dataclasses.replace(self, rate=rate, reference=np.where(some, mean, 1.0))

    def log_evidence(self, group: EventTotals) -> FloatArray:
        """Log evidence of one group, feature by feature; the formula is that of the class.

        Examples
        --------
        >>> from bayesieve.models.counts.poisson import PoissonModel
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> group = EventTotals.from_matrix([[3], [4]], ["a", "a"])
        >>> PoissonModel(shape=1.0, rate=0.5).log_evidence(group).round(6).tolist()
        [0.501688]
        """
        if self.rate is None:
            raise PriorError(
                "The rate of the prior is not known yet. Give it, or take it from the data: model.fitted(totals)."
            )
        _, total, exposure = one_group(group)
        check_lengths(total.size, shape=self.shape, rate=self.rate, reference=self.reference)
        unit = 1.0 if self.reference is None else self.reference
        with np.errstate(divide="ignore", invalid="ignore"):
            result = self._kernel(self.shape + total, self.rate + exposure, unit)
            if self.prior_ratio is None:
                result = result - self._kernel(self.shape, self.rate, unit)
                result = np.where(np.isinf(self.rate), np.where(total > 0, -np.inf, 0.0), result)
            else:
                if self.reference is not None:
                    result = result + self.shape * np.log(unit) - self.rate * unit
                result = np.where(self.shape + total > 0, result, np.nan)
        return np.asarray(result)

    def _kernel(self, shape: Any, rate: Any, unit: Any) -> Any:
        r"""Return :math:`\log\Gamma(a) - a \log(b \theta_0) + b \theta_0`; without a reference the first two."""
        rest = log_gamma_rest(shape)
        if self.reference is None:
            return rest + shape * np.log(shape / rate) - shape
        return rest + deviance(shape, rate * unit, shape - rate * unit)

    def draw_null(self, statistics: Any, rng: np.random.Generator) -> EventTotals:
        """Draw the totals of features whose classes share the rate of all classes together.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.models.counts.poisson import PoissonModel
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> totals = EventTotals.from_matrix([[3], [5]], ["a", "b"])
        >>> PoissonModel().draw_null(totals, np.random.default_rng(0)).total.shape
        (2, 1)
        """
        mean = np.nan_to_num(statistics.pool().rate) * wide(statistics.exposure)
        return draw_totals(statistics, np.broadcast_to(mean, statistics.total.shape), rng)


def _check_ratio(ratio: Any, improper: bool) -> float | None:
    if ratio is None:
        if improper:
            raise PriorError(
                "The prior is improper (shape or rate 0), so the prior ratio must be given, for example ",
                option("prior_ratio", 0.1),
                ": by how much every further group of classes is weighted.",
                kind="prior-ratio",
            )
        return None
    if not improper:
        raise PriorError(
            "The prior is proper, so ",
            option("prior_ratio"),
            " follows from it; do not give it.",
            kind="prior-ratio",
        )
    value = check_hyperparameter("prior_ratio", ratio)
    if not isinstance(value, float) or not np.isfinite(value):
        raise PriorError(f"prior_ratio must be one positive and finite number for counts, not {ratio!r}.")
    return value
