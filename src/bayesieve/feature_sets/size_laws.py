r"""Laws of the number of markers: what a :class:`~bayesieve.feature_sets.size_prior.SizePrior` is made of.

A law says the weight of *one* set of each size, :math:`p_k / \binom{n}{k}`: of many priors that is a
simpler number than :math:`p_k`, and the one that posteriors need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.special import xlog1py, xlogy

from bayesieve.errors import PriorError

FloatArray = npt.NDArray[np.float64]


@runtime_checkable
class SizeLaw(Protocol):
    """Where the weights of a :class:`SizePrior` come from."""

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of 0, 1, ..., ``n_features`` markers, up to a constant."""
        ...

    @property
    def words(self) -> str:
        """The law in words."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """Law of :meth:`SizePrior.fixed`.

    Examples
    --------
    >>> from bayesieve.feature_sets.size_laws import Fixed
    >>> Fixed(1).log_per_set(2).tolist()
    [-inf, 0.0, -inf]
    """

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
        """The law in words."""
        return f"exactly {self.size:,} marker{'' if self.size == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class AtMost:
    """Law of :meth:`SizePrior.at_most`.

    Examples
    --------
    >>> from bayesieve.feature_sets.size_laws import AtMost
    >>> AtMost(1).log_per_set(1).tolist()
    [-0.0, -0.0]
    """

    size: int

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size."""
        return np.where(np.arange(n_features + 1) <= self.size, -log_choose(n_features), -np.inf)

    @property
    def words(self) -> str:
        """The law in words."""
        return f"at most {self.size:,} marker{'' if self.size == 1 else 's'}, each number equally probable"


@dataclass(frozen=True, slots=True)
class Binomial:
    """Law of :meth:`SizePrior.binomial`.

    Examples
    --------
    >>> from bayesieve.feature_sets.size_laws import Binomial
    >>> Binomial(0.5).log_per_set(1).round(6).tolist()
    [-0.693147, -0.693147]
    """

    prior_probability: float

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size."""
        k = np.arange(n_features + 1.0)
        return np.asarray(xlogy(k, self.prior_probability) + xlog1py(n_features - k, -self.prior_probability))

    @property
    def words(self) -> str:
        """The law in words."""
        return f"independent features of prior probability {self.prior_probability:g}"


@dataclass(frozen=True, slots=True)
class BetaBinomial:
    """Law of :meth:`SizePrior.beta_binomial`.

    Examples
    --------
    >>> from bayesieve.feature_sets.size_laws import BetaBinomial
    >>> BetaBinomial(1.0, 1.0).log_per_set(1).tolist()
    [0.0, 0.0]
    """

    a: float
    b: float

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size, from the ratios of neighbouring sizes."""
        k = np.arange(n_features)
        return running_sum(np.log((self.a + k) / (self.b + (n_features - 1 - k))))

    @property
    def words(self) -> str:
        """The law in words."""
        if self.a == self.b == 1.0:
            return "every number of markers equally probable"
        return f"a prior probability that is unknown and follows a Beta({self.a:g}, {self.b:g}) law"


@dataclass(frozen=True, slots=True)
class Table:
    """Weights that were given.

    Examples
    --------
    >>> from bayesieve.feature_sets.size_laws import Table
    >>> Table((1.0, 0.0)).log_per_set(1).tolist()
    [0.0, -inf]
    """

    weights: tuple[float, ...]

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size."""
        if any(self.weights[n_features + 1 :]):
            raise PriorError(
                f"The prior gives weight to more than {n_features} markers, but there are only {n_features} "
                f"features; of {len(self.weights)} weights, those after the first {n_features + 1} must be 0."
            )
        weights = np.zeros(n_features + 1)
        given = self.weights[: n_features + 1]
        weights[: len(given)] = given
        return _log(weights) - log_choose(n_features)

    @property
    def words(self) -> str:
        """The law in words."""
        return "the weights given"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the number of markers.

    Examples
    --------
    >>> from bayesieve.feature_sets.size_laws import Function
    >>> Function(lambda k: 1.0).log_per_set(1).tolist()
    [0.0, 0.0]
    """

    weight: Callable[[int], float]

    def log_per_set(self, n_features: int) -> FloatArray:
        """Log weight of one set of each size."""
        weights = [self._weight(k) for k in range(n_features + 1)]
        return _log(np.array(checked_weights(weights))) - log_choose(n_features)

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
        """The law in words."""
        return "the weights given"


def running_sum(terms: FloatArray) -> FloatArray:
    """Sums of the first 0, 1, 2, ... terms, with the rounding errors of the sums added back.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.size_laws import running_sum
    >>> running_sum(np.array([1e16, 1.0, -1e16])).tolist()
    [0.0, 1e+16, 1e+16, 1.0]
    """
    total = np.concatenate([[0.0], np.cumsum(terms)])
    before, after = total[:-1], total[1:]
    added = after - before
    total[1:] += np.cumsum((before - (after - added)) + (terms - added))
    return total


def log_choose(n: int) -> FloatArray:
    r"""Return :math:`\log \binom{n}{k}` for :math:`k = 0, ..., n`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.size_laws import log_choose
    >>> np.exp(log_choose(4)).round(9).tolist()
    [1.0, 4.0, 6.0, 4.0, 1.0]
    """
    k = np.arange(n // 2)
    half = running_sum(np.log((n - k) / (k + 1.0)))
    return np.concatenate([half, half[::-1][1 - n % 2 :]])


def _log(weights: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights))


def checked_weights(weights: Any) -> tuple[float, ...]:
    """Check weights of 0, 1, 2, ... markers.

    Examples
    --------
    >>> from bayesieve.feature_sets.size_laws import checked_weights
    >>> checked_weights([1, 2])
    (1.0, 2.0)
    """
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.ndim != 1 or not given.size or not (np.isfinite(given) & (given >= 0)).all() or not given.any():
        raise PriorError(
            "A prior on the number of markers needs one weight for 0, 1, 2, ... markers: finite, not negative, "
            "and at least one of them positive."
        )
    return tuple(given.tolist())
