r"""SizePrior: a prior that depends on the number of markers only.

A distribution says the weight of *one* set of each size, :math:`p_k / \binom{n}{k}`: of many priors that is a
simpler number than :math:`p_k`, and the one that posteriors need.

With :math:`p_k` the probability of :math:`k` markers among :math:`n` features, every set of :math:`k`
has the probability :math:`p_k / \binom{n}{k}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.special import xlog1py, xlogy

from bayesieve.models import Model
from bayesieve.posterior import CountDistribution, PriorRemark
from bayesieve.sets.masks import check_number, log_sum, set_sizes
from bayesieve.sets.priors import SetPrior
from bayesieve.utils import FloatArray, PriorError, check_whole, is_number


@runtime_checkable
class SizeDistribution(Protocol):
    """Where the weights of a :class:`SizePrior` come from."""

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of 0, 1, ..., ``n_features`` markers, up to a constant."""
        ...

    @property
    def words(self) -> str:
        """The distribution in words."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """Distribution of :meth:`SizePrior.fixed`."""

    size: int

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size."""
        if self.size > n_features:
            raise PriorError(f"{self.size} markers are supposed, but there are only {n_features} features.")
        weights = np.full(n_features + 1, -np.inf)
        weights[self.size] = 0.0
        return weights

    @property
    def words(self) -> str:
        """The distribution in words."""
        return f"exactly {self.size:,} marker{'' if self.size == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class AtMost:
    """Distribution of :meth:`SizePrior.at_most`."""

    size: int

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size."""
        return np.where(np.arange(n_features + 1) <= self.size, -log_choose(n_features), -np.inf)

    @property
    def words(self) -> str:
        """The distribution in words."""
        return f"at most {self.size:,} marker{'' if self.size == 1 else 's'}, each number equally probable"


@dataclass(frozen=True, slots=True)
class Binomial:
    """Distribution of :meth:`SizePrior.binomial`."""

    prior_probability: float

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size."""
        k = np.arange(n_features + 1.0)
        return np.asarray(xlogy(k, self.prior_probability) + xlog1py(n_features - k, -self.prior_probability))

    @property
    def words(self) -> str:
        """The distribution in words."""
        return f"independent features of prior probability {self.prior_probability:g}"


@dataclass(frozen=True, slots=True)
class BetaBinomial:
    """Distribution of :meth:`SizePrior.beta_binomial`."""

    a: float
    b: float

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size, from the ratios of neighbouring sizes."""
        k = np.arange(n_features)
        return running_sum(np.log((self.a + k) / (self.b + (n_features - 1 - k))))

    @property
    def words(self) -> str:
        """The distribution in words."""
        if self.a == self.b == 1.0:
            return "every number of markers equally probable"
        return f"a prior probability that is unknown and follows a Beta({self.a:g}, {self.b:g}) distribution"


@dataclass(frozen=True, slots=True)
class Table:
    """Weights that were given."""

    weights: tuple[float, ...]

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size."""
        if any(self.weights[n_features + 1 :]):
            raise PriorError(
                f"The prior gives weight to more than {n_features} markers, but there are only {n_features} "
                f"features; of {len(self.weights)} weights, those after the first {n_features + 1} must be 0."
            )
        weights = np.zeros(n_features + 1)
        head = self.weights[: n_features + 1]
        weights[: len(head)] = head
        return _log(weights) - log_choose(n_features)

    @property
    def words(self) -> str:
        """The distribution in words."""
        return "the weights given"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the number of markers."""

    weight: Callable[[int], float]

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size."""
        weights = [self._weight(k) for k in range(n_features + 1)]
        return _log(np.array(check_weights(weights))) - log_choose(n_features)

    def _weight(self, k: int) -> float:
        try:
            return float(self.weight(k))
        except Exception as problem:
            raise PriorError(
                f"The function of the number of markers failed for {k} ({type(problem).__name__}: {problem}). It "
                "takes a number of markers, from 0 to that of all features, and returns its weight."
            ) from problem

    @property
    def words(self) -> str:
        """The distribution in words."""
        return "the weights given"


def running_sum(terms: FloatArray) -> FloatArray:
    """Sums of the first 0, 1, 2, ... terms, with the rounding errors of the sums added back."""
    total = np.concatenate([[0.0], np.cumsum(terms)])
    before, after = total[:-1], total[1:]
    added = after - before
    total[1:] += np.cumsum((before - (after - added)) + (terms - added))
    return total


def log_choose(n: int) -> FloatArray:
    r"""Return :math:`\log \binom{n}{k}` for :math:`k = 0, ..., n`."""
    k = np.arange(n // 2)
    half = running_sum(np.log((n - k) / (k + 1.0)))
    return np.concatenate([half, half[::-1][1 - n % 2 :]])


def _log(weights: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights))


def check_weights(weights: Any) -> tuple[float, ...]:
    """Check weights of 0, 1, 2, ... markers."""
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim != 1 or not values.size or not (np.isfinite(values) & (values >= 0)).all() or not values.any():
        raise PriorError(
            "A prior on the number of markers needs one weight for 0, 1, 2, ... markers: finite, not negative, "
            "and at least one of them positive."
        )
    return tuple(values.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class SizePrior(SetPrior):
    r"""A prior on the number of markers; all sets of one size are equally probable.

    Parameters
    ----------
    law
        Weights of 0, 1, 2, ... markers, zero beyond the last; or a function that returns the weight of a
        number of markers. Weights need not add up to 1. For distributions with a name see :meth:`uniform`,
        :meth:`beta_binomial`, :meth:`binomial`, :meth:`fixed` and :meth:`at_most`.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> prior = bs.SizePrior([0.5, 0.3, 0.2])
    >>> np.exp(prior.log_sizes(3)).round(6).tolist()
    [0.5, 0.3, 0.2, 0.0]
    >>> np.exp(prior.log_probability(3)).round(6).tolist()
    [0.5, 0.1, 0.1, 0.066667, 0.1, 0.066667, 0.066667, 0.0]
    >>> round(bs.SizePrior(lambda k: 0.5**k).prior_probability(2), 6)
    0.285714
    """

    law: Any

    def __post_init__(self) -> None:
        law = self.law
        if isinstance(law, SizeDistribution):
            return
        object.__setattr__(self, "law", Function(law) if callable(law) else Table(check_weights(law)))

    @classmethod
    def fixed(cls, size: int) -> SizePrior:
        """Exactly this many markers.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SizePrior.fixed(2).log_sizes(3).tolist()
        [-inf, -inf, 0.0, -inf]
        """
        return cls(Fixed(check_whole("A number of markers", size, error=PriorError)))

    @classmethod
    def at_most(cls, size: int) -> SizePrior:
        """Up to this many markers, each number equally probable.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.at_most(1).log_sizes(3)).round(6).tolist()
        [0.5, 0.5, 0.0, 0.0]
        """
        return cls(AtMost(check_whole("A number of markers", size, error=PriorError)))

    @classmethod
    def binomial(cls, prior_probability: float) -> SizePrior:
        """Independent features with one prior probability: what :func:`bayesieve.screen` supposes.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.binomial(0.5).log_sizes(2)).round(6).tolist()
        [0.25, 0.5, 0.25]
        """
        if not is_number(prior_probability) or not 0 <= prior_probability <= 1:
            raise PriorError(f"prior_probability must lie between 0 and 1, not {prior_probability!r}.")
        return cls(Binomial(float(prior_probability)))

    @classmethod
    def beta_binomial(cls, a: float, b: float) -> SizePrior:
        r"""Independent features whose prior probability is unknown and follows a Beta(a, b) distribution.

        Examples
        --------
        >>> import bayesieve as bs
        >>> round(bs.SizePrior.beta_binomial(1, 99).prior_probability(500), 9)
        0.01
        """
        if not all(is_number(value) and 0 < value < math.inf for value in (a, b)):
            raise PriorError(f"a and b of a beta-binomial prior must be positive numbers, not {a!r} and {b!r}.")
        return cls(BetaBinomial(float(a), float(b)))

    @classmethod
    def uniform(cls) -> SizePrior:
        """Every number of markers equally probable, the same as ``beta_binomial(1, 1)``.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.uniform().log_sizes(3)).round(6).tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        return cls.beta_binomial(1.0, 1.0)

    def log_per_set(self, n_features: int) -> FloatArray:
        r"""Log probability of one set of :math:`k = 0, ..., n` markers, :math:`\log p_k - \log \binom{n}{k}`.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.uniform().log_per_set(2)).round(6).tolist()
        [0.333333, 0.166667, 0.333333]
        """
        check_whole("n_features", n_features)
        weights = self.law.log_per_set(n_features)
        total = log_sum(weights + log_choose(n_features))
        if total == -np.inf:
            raise PriorError(f"The prior on the number of markers gives no weight to 0 to {n_features} markers.")
        return np.asarray(weights - total, dtype=np.float64)

    def log_sizes(self, n_features: int) -> FloatArray:
        """Log probability of every number of markers, from 0 to ``n_features``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SizePrior.fixed(0).log_sizes(1).tolist()
        [0.0, -inf]
        """
        return self.log_per_set(n_features) + log_choose(n_features)

    def log_weights(self, n_features: int) -> FloatArray:
        """Log probability of every set, by bit mask.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> np.exp(bs.SizePrior.fixed(1).log_weights(2)).round(6).tolist()
        [0.0, 0.5, 0.5, 0.0]
        """
        check_number(n_features)
        return self.log_per_set(n_features)[set_sizes(n_features)]

    def prior_probability(self, n_features: int) -> float:
        """Prior probability that any one feature is a marker: the expected share of markers.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SizePrior.fixed(5).prior_probability(100)
        0.05
        """
        check_whole("n_features", n_features, 1)
        share = np.arange(n_features + 1) / n_features
        return float(share @ np.exp(self.log_sizes(n_features)))

    @property
    def words(self) -> str:
        """The prior in words."""
        return str(self.law.words)


def about_size(prior: SizePrior, number_of_markers: CountDistribution, model: Model) -> PriorRemark:
    """Say what was believed about the number of markers, and what is believed now."""
    low, high = number_of_markers.interval(0.9)
    number = (
        f"Given the data {number_of_markers.mean:,.1f} are expected, with a 90% interval of {low:,} to {high:,}."
    )
    dependent = "Under this prior features are not independent: ask false_positives() of the size posterior."
    sentences = [f"The prior is on the number of markers: {prior.words}. {number}", dependent]
    if model.supports("prior-ratio"):
        sentences.append(
            "Under an improper prior the number of markers is one given its prior_ratio: another ratio, another "
            "number."
        )
    return PriorRemark(tuple(sentences))
