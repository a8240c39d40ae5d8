"""The exact law of a number of errors: a sum of independent, unequal coins (Poisson-binomial)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import RuleError
from bayesieve.posterior.count_law import CountLaw
from bayesieve.stats.compiled import compiled

FloatArray = npt.NDArray[np.float64]

_NEGLIGIBLE = 1e-30


@compiled(fastmath={"contract"})
def convolve_coin(mass: Any, low: int, high: int, p: float, q: float) -> tuple[int, int]:
    """Add one coin to the law held in ``mass[low:high]``; return the new window.

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
def _recursion(p: Any, q: Any, mass: Any) -> tuple[int, int]:
    mass[0] = 1.0
    low, high = 0, 1
    for i in range(p.shape[0]):
        low, high = convolve_coin(mass, low, high, p[i], q[i])
    return low, high


@dataclass(frozen=True, slots=True, eq=False)
class PoissonBinomial(CountLaw):
    """Law of the number of successes among independent trials with their own probabilities.

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
    >>> law = bs.PoissonBinomial.of([0.5, 0.5])
    >>> law.pmf.tolist(), law.mean
    ([0.25, 0.5, 0.25], 1.0)
    """

    @classmethod
    def of(cls, probability: npt.ArrayLike, complement: npt.ArrayLike | None = None) -> PoissonBinomial:
        """Compute the law by direct convolution over a moving window.

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
