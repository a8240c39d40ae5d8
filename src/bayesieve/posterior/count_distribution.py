"""Distribution of a number of errors: any distribution of counts, and the Poisson-binomial one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bayesieve.utils import FloatArray, RuleError, compiled


@dataclass(frozen=True, slots=True, eq=False)
class CountDistribution:
    """Probabilities of the numbers 0, 1, 2, ..., and what follows from them.

    Parameters
    ----------
    lowest
        Smallest number with a mass.
    pmf
        Masses of ``lowest``, ``lowest + 1``, ...
    mean, variance
        Mean and variance.

    Examples
    --------
    >>> import bayesieve as bs
    >>> distribution = bs.CountDistribution.of_masses([0.0, 0.25, 0.75])
    >>> distribution.lowest, distribution.mean, distribution.mode
    (1, 1.75, 2)
    """

    lowest: int
    pmf: FloatArray
    mean: float
    variance: float

    @classmethod
    def of_masses(cls, masses: npt.ArrayLike) -> Self:
        """Take the probabilities of 0, 1, 2, ...

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.CountDistribution.of_masses([0.5, 0.25, 0.25]).variance
        0.6875
        """
        weights = np.asarray(masses, dtype=np.float64)
        if weights.ndim != 1 or not (weights >= 0).all() or not weights.any():
            raise RuleError("The distribution of a number needs probabilities of 0, 1, 2, ..., not all of them 0.")
        number = np.arange(weights.size)
        mean = float(number @ weights)
        variance = float((number - mean) ** 2 @ weights)
        positive = np.flatnonzero(weights)
        pmf = weights[positive[0] : positive[-1] + 1].copy()
        pmf.flags.writeable = False
        return cls(int(positive[0]), pmf, mean, variance)

    def masses(self, n: int) -> FloatArray:
        """Probabilities of the numbers 0, 1, ..., ``n``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.PoissonBinomial.of([1.0, 0.5]).masses(3).tolist()
        [0.0, 0.5, 0.5, 0.0]
        """
        whole = np.zeros(max(n + 1, self.lowest + self.pmf.size))
        whole[self.lowest : self.lowest + self.pmf.size] = self.pmf
        return whole[: n + 1]

    @property
    def support(self) -> npt.NDArray[np.int64]:
        """The numbers that ``pmf`` gives masses of."""
        return np.arange(self.lowest, self.lowest + self.pmf.size)

    @property
    def sd(self) -> float:
        """Standard deviation."""
        return float(np.sqrt(self.variance))

    @property
    def mode(self) -> int:
        """Most probable number."""
        return self.lowest + int(np.argmax(self.pmf))

    def cdf(self, number: float) -> float:
        """Probability of at most ``number`` successes.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.PoissonBinomial.of([0.5, 0.5]).cdf(1)
        0.75
        """
        if np.isnan(number):
            raise RuleError("A number of successes is needed, not NaN.")
        last = int(np.floor(min(number, self.lowest + self.pmf.size))) - self.lowest
        return 0.0 if last < 0 else float(min(1.0, self.pmf[: last + 1].sum()))

    def quantile(self, level: float) -> int:
        """Smallest number whose cumulative probability reaches ``level``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.PoissonBinomial.of([0.5, 0.5]).quantile(0.5)
        1
        """
        if not 0 <= level <= 1:
            raise RuleError(f"A quantile level lies between 0 and 1; {level} was given.")
        cumulative = np.cumsum(self.pmf)
        reached = np.searchsorted(cumulative, level * (1 - 1e-15) - 1e-300)
        return self.lowest + min(int(reached), self.pmf.size - 1)

    def interval(self, level: float = 0.9) -> tuple[int, int]:
        """Equal-tailed credible interval.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.PoissonBinomial.of([0.5] * 100).interval(0.9)
        (42, 58)
        """
        if not 0 < level < 1:
            raise RuleError(f"An interval level lies between 0 and 1, for example 0.9; {level} was given.")
        tail = (1.0 - level) / 2.0
        return self.quantile(tail), self.quantile(1.0 - tail)

    def highest_density(self, level: float = 0.9) -> tuple[int, int]:
        """Shortest credible interval: numbers in the order of their masses until ``level`` is reached.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.PoissonBinomial.of([0.01] * 10).highest_density(0.9)
        (0, 0)
        """
        if not 0 < level < 1:
            raise RuleError(f"An interval level lies between 0 and 1, for example 0.9; {level} was given.")
        order = np.argsort(-self.pmf, kind="stable")
        needed = int(np.searchsorted(np.cumsum(self.pmf[order]), level)) + 1
        taken = order[:needed]
        return self.lowest + int(taken.min()), self.lowest + int(taken.max())


CountLaw = CountDistribution
"""The former name of :class:`CountDistribution`."""

_NEGLIGIBLE = 1e-30


@compiled(fastmath={"contract"})
def convolve_coin(mass: Any, low: int, high: int, p: float, q: float) -> tuple[int, int]:
    """Add one coin to the distribution held in ``mass[low:high]``; return the new window.

    All terms are positive, so that tails keep their relative accuracy. Ends below 1e-30 are dropped.
    """
    part = mass[low : high + 1]
    width = high - low
    part[width] = part[width - 1] * p
    for k in range(width - 1, 0, -1):
        part[k] = part[k] * q + part[k - 1] * p
    part[0] *= q
    high += 1
    while high - low > 1 and mass[low] < _NEGLIGIBLE:
        mass[low] = 0.0
        low += 1
    while high - low > 1 and mass[high - 1] < _NEGLIGIBLE:
        mass[high - 1] = 0.0
        high -= 1
    return low, high


@compiled()
def longest_sure_prefix(null: Any, marker: Any, proportion: float, confidence: float) -> int:
    """Length of the longest prefix within the bound; every one is tried, since the condition is not monotone."""
    mass = np.zeros(null.shape[0] + 2)
    mass[0] = 1.0
    low, high, longest = 0, 1, 0
    for i in range(null.shape[0]):
        low, high = convolve_coin(mass, low, high, null[i], marker[i])
        allowed = math.floor(proportion * (i + 1) + 1e-9)
        reached = 0.0 if allowed < low else 1.0
        if low <= allowed < high - 1:
            reached = mass[low : allowed + 1].sum()
        if reached >= confidence:
            longest = i + 1
    return longest


@compiled()
def _recursion(p: Any, q: Any, mass: Any) -> tuple[int, int]:
    mass[0] = 1.0
    low, high = 0, 1
    for i in range(p.shape[0]):
        low, high = convolve_coin(mass, low, high, p[i], q[i])
    return low, high


@dataclass(frozen=True, slots=True, eq=False)
class PoissonBinomial(CountDistribution):
    """Distribution of the number of successes among independent trials with their own probabilities.

    Parameters
    ----------
    lowest
        Smallest number with a mass above 1e-30.
    pmf
        Masses of ``lowest``, ``lowest + 1``, ...
    mean, variance
        Exact, from the probabilities.

    Examples
    --------
    >>> import bayesieve as bs
    >>> distribution = bs.PoissonBinomial.of([0.5, 0.5])
    >>> distribution.pmf.tolist(), distribution.mean
    ([0.25, 0.5, 0.25], 1.0)
    """

    @classmethod
    def of(cls, probability: npt.ArrayLike, complement: npt.ArrayLike | None = None) -> PoissonBinomial:
        """Compute the distribution by direct convolution over a moving window.

        Parameters
        ----------
        probability
            Success probability of every trial.
        complement
            One minus it, given apart where that is more accurate.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.PoissonBinomial.of([1.0, 0.0, 0.25]).lowest
        1
        """
        try:
            p = np.atleast_1d(np.asarray(probability, dtype=np.float64)).ravel()
            q = 1.0 - p if complement is None else np.asarray(complement, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise RuleError("Probabilities must be numbers between 0 and 1.") from None
        if p.shape != q.shape:
            raise RuleError(f"There are {p.size} probabilities and {q.size} complements. Give one each.")
        if not ((p >= 0) & (p <= 1) & (q >= 0) & (q <= 1)).all():
            raise RuleError("Probabilities must lie between 0 and 1.")
        certain = p == 1.0
        unsure = (p > 0) & ~certain
        shift = int(certain.sum())
        mean, variance = float(p.sum()), float((p * q).sum())
        p, q = p[unsure], q[unsure]
        order = np.argsort(np.minimum(p, q), kind="stable")  # near-certain trials first: a narrow window
        mass = np.zeros(p.size + 2)
        low, high = _recursion(p[order], q[order], mass)
        pmf = mass[low:high].copy()
        pmf.flags.writeable = False
        return cls(shift + low, pmf, mean, variance)
