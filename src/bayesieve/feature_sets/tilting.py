r"""Tilted coins: the laws that hold elementary symmetric polynomials of Bayes factors, and how many are needed.

Multiplied by :math:`e^\tau`, Bayes factors :math:`x_f` are the odds of independent coins, and

.. math:: e_k(x) = P_\tau(k) \, e^{-k\tau} \prod_f (1 + x_f e^\tau)

with :math:`P_\tau(k)` the probability that :math:`k` coins fall on 1 (a Poisson-binomial law). The tilt
:math:`\tau` brings any :math:`k` into the middle of that law. A *window* is the middle of one such law; windows
are added until what they leave out is known to be negligible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bayesieve.feature_sets.size_laws import log_choose
from bayesieve.posterior.logistic import expit
from bayesieve.posterior.poisson_binomial import PoissonBinomial

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

LOG_NEGLIGIBLE = -45.0
_MIDDLE = 1e-3
_BELOW_ONE = np.nextafter(1.0, 0.0)
_N_LEVELS = 9


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Features whose Bayes factors are divided out of every polynomial, so that no large number is left.

    Parameters
    ----------
    sign
        -1 for a feature of the reference, 1 for another.
    size
        Number of features in the reference.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.tilting import Reference
    >>> Reference.at(np.array([3.0, -3.0]), 0.0).size
    1
    """

    sign: FloatArray
    size: int

    @classmethod
    def at(cls, log_factor: FloatArray, tilt: float) -> Reference:
        """Take the coins that rather fall on 1 after a tilt."""
        sign = np.where(log_factor + tilt > 0, -1.0, 1.0)
        return cls(sign, int((sign < 0).sum()))

    @classmethod
    def none(cls, n_features: int) -> Reference:
        """Take nothing out."""
        return cls(np.ones(n_features), 0)

    def log_factors(self, log_factor: FloatArray, tilt: float) -> FloatArray:
        r"""Return :math:`\log(1 + x_f e^\tau)`, for the reference less :math:`\log x_f`."""
        return np.logaddexp(0.0, self.sign * (log_factor + tilt)) + np.where(self.sign < 0, tilt, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The law of the coins after one tilt, and the numbers it is used for.

    Parameters
    ----------
    tilt
        What was added to all log Bayes factors.
    law
        Law of the number of coins on 1.
    first, last
        The middle of the law: its masses from ``first`` to ``last`` are over a thousandth of the largest.
    fresh
        Those of the numbers from ``first`` up to but without ``last`` that no earlier window serves.
    log_scale
        Log of what the masses are multiplied by, apart from the power of the tilt.
    reference_size
        Number of features in the reference.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.tilting import Window, coins
    >>> window = Window(-1.0, coins(np.array([1.0, 1.0]), -1.0), 0, 2, np.ones(2, dtype=bool), np.log(4.0))
    >>> np.allclose(window.log_polynomial(), [0.0, np.log(2.0) + 1.0, 2.0])
    True
    """

    tilt: float
    law: PoissonBinomial
    first: int
    last: int
    fresh: BoolArray
    log_scale: float = 0.0
    reference_size: int = 0

    def log_weight(self, number: npt.NDArray[np.int64]) -> FloatArray:
        """Log of what a mass of the law is multiplied by to give the polynomial of that number."""
        return np.asarray(self.log_scale + (self.reference_size - number) * self.tilt, dtype=np.float64)

    def log_polynomial(self) -> FloatArray:
        """Log symmetric polynomials from ``first`` to ``last``."""
        number = np.arange(self.first, self.last + 1)
        return np.asarray(np.log(self.law.pmf[number - self.law.lowest]) + self.log_weight(number))

    def scaled(self, log_factor: FloatArray, reference: Reference) -> Window:
        """Divide the factors of a reference out."""
        log_scale = float(np.logaddexp(0.0, reference.sign * (log_factor + self.tilt)).sum())
        return replace(self, log_scale=log_scale, reference_size=reference.size)


def coins(log_factor: FloatArray, tilt: float) -> PoissonBinomial:
    """Law of the number of coins on 1, their log-odds being tilted log Bayes factors.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.tilting import coins
    >>> coins(np.array([1.0, 1.0]), -1.0).pmf.tolist()
    [0.25, 0.5, 0.25]
    """
    x = log_factor + tilt
    return PoissonBinomial.of(np.minimum(expit(x), _BELOW_ONE), expit(-x))  # none is taken as certain


def tilt_to(log_factor: FloatArray, mean: float, start: float = 0.0) -> float:
    """Return the tilt at which the expected number of coins on 1 is near ``mean``.

    It is rounded to a few binary digits, so that its products with whole numbers are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.tilting import tilt_to
    >>> round(tilt_to(np.full(4, 3.0), 2.0), 2)
    -3.0
    """
    reach = math.log(log_factor.size) + 40.0
    low, high = -float(log_factor.max()) - reach, -float(log_factor.min()) + reach
    tilt = min(max(start, low), high)
    for _ in range(500):
        q = expit(log_factor + tilt)
        off = mean - float(q.sum())
        if abs(off) < 0.05:
            break
        low, high = (tilt, high) if off > 0 else (low, tilt)
        slope = float((q * (1.0 - q)).sum())
        step = tilt + off / slope if slope > 0 else math.inf
        tilt = step if low < step < high else 0.5 * (low + high)
    return round(tilt * 2**20) / 2**20


def cover(
    log_factor: FloatArray, log_per_set: FloatArray, start: float
) -> tuple[tuple[Window, ...], Reference, FloatArray]:
    """Return windows that cover every number of markers that matters, the reference, and log polynomials.

    Parameters
    ----------
    log_factor
        Log Bayes factors.
    log_per_set
        Log prior probability of one set of 0, 1, ... markers.
    start
        A first guess of the tilt.

    Notes
    -----
    Polynomials that do not matter are NaN: their terms are below e^-45 of the largest, in the sums for the
    number of markers and for the odds of any feature.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.feature_sets.tilting import cover
    >>> windows, reference, polynomial = cover(np.log([1.0, 2.0]), np.zeros(3), 0.0)
    >>> len(windows), np.exp(polynomial - polynomial[0]).round(9).tolist()
    (1, [1.0, 3.0, 2.0])
    """
    found, bulk = _find(log_factor, log_per_set, start)
    reference = Reference.at(log_factor, bulk.tilt)  # what has the most weight is then held most exactly
    windows = tuple(window.scaled(log_factor, reference) for window in found)
    polynomial = np.full(log_factor.size + 1, np.nan)
    for window in windows:
        polynomial[window.first : window.last + 1] = window.log_polynomial()
    return windows, reference, polynomial


def _find(log_factor: FloatArray, log_per_set: FloatArray, start: float) -> tuple[list[Window], Window]:
    """Place windows until the rest is negligible; also return the one where most weight lies.

    Polynomials are needed roughly here, and are made without a reference.
    """
    n = log_factor.size
    possible = np.flatnonzero(log_per_set > -np.inf)
    place = int(min(np.clip(expit(log_factor + start).sum(), possible[0], possible[-1]), n - 1))
    levels, choose = np.quantile(log_factor, np.linspace(0.0, 1.0, _N_LEVELS)), log_choose(n)
    served, polynomial = np.zeros(n, dtype=bool), np.full(n + 1, np.nan)
    windows: list[Window] = []
    wanted: int | None = place
    while wanted is not None:
        tilt = tilt_to(log_factor, place + 0.5, windows[-1].tilt if windows else start)
        window = _middle(coins(log_factor, tilt), tilt, served)
        windows.append(window)
        rough = window.scaled(log_factor, Reference.none(n))
        polynomial[window.first : window.last + 1] = rough.log_polynomial()
        served[window.first : window.last] = True
        wanted = _most_wanted(_bound(polynomial, choose), log_per_set, served, levels)
        if wanted is not None:
            place = _moved(wanted, served, int(0.45 * (window.last - window.first)))
    bulk = int(np.nanargmax(np.where(log_per_set > -np.inf, log_per_set + polynomial, np.nan)))
    return windows, next(window for window in windows if window.first <= bulk <= window.last)


def _middle(law: PoissonBinomial, tilt: float, served: BoolArray) -> Window:
    middle = np.flatnonzero(law.pmf >= _MIDDLE * law.pmf.max()) + law.lowest
    first, last = int(middle[0]), int(middle[-1])
    return Window(tilt, law, first, last, ~served[first:last])


def _bound(polynomial: FloatArray, choose: FloatArray) -> FloatArray:
    r"""Log polynomials, bounded from above where unknown: :math:`e_k / \binom{n}{k}` is log-concave (Newton)."""
    n, known, k = polynomial.size, ~np.isnan(polynomial), np.arange(polynomial.size)
    mean = polynomial - choose
    left = np.maximum.accumulate(np.where(known, k, -1))
    right = np.minimum.accumulate(np.where(known, k, n)[::-1])[::-1]
    at, to = np.maximum(left, 1), np.minimum(right, n - 2)
    from_left = np.where(left > 0, mean[at] + (k - at) * (mean[at] - mean[at - 1]), np.inf)
    from_right = np.where(right < n - 1, mean[to] - (to - k) * (mean[to + 1] - mean[to]), np.inf)
    return np.where(known, polynomial, np.minimum(from_left, from_right) + choose)


def _most_wanted(bound: FloatArray, log_per_set: FloatArray, served: BoolArray, levels: FloatArray) -> int | None:
    r"""Return the number to serve next; None if all that are left are negligible.

    :math:`e_m` and :math:`e_{m+1} / x_f` bound :math:`e_m(x_{-f})`, and the lesser is at most twice as large.
    Its share is looked at in the odds of the weakest feature, the strongest, and some between.

    The search ends after as many windows as there are numbers, at the latest. The next window is centred on a
    number :math:`m` that no window serves (:func:`_moved` sees to that), by a law of mean :math:`m + 1/2`. Such a
    law has its mode at :math:`m` or :math:`m + 1`, and at the other one at least a thousandth of that: otherwise,
    being log-concave, it had next to nothing on that side of the mode, and its mean could not lie there. So both
    are in its middle, and :math:`m` is served.
    """
    gain = np.full(served.size, -np.inf)
    for level in levels:
        left_out = np.minimum(bound[:-1], bound[1:] - level)
        for weight in (log_per_set[1:], log_per_set[:-1]):
            score = weight + left_out
            top = score[served].max()
            top = score.max() if top == -np.inf else top
            if top > -np.inf:
                np.maximum(gain, score - top, out=gain)
    gain[served] = -np.inf
    best = int(gain.argmax())
    if gain[best] <= LOG_NEGLIGIBLE:
        return None
    if gain[best] > 3.0:  # the bulk has not been found yet
        return best
    beside = np.zeros_like(served)
    beside[1:] |= served[:-1]
    beside[:-1] |= served[1:]
    near = np.where(beside, gain, -np.inf)
    return int(near.argmax()) if near.max() > LOG_NEGLIGIBLE else best


def _moved(place: int, served: BoolArray, half: int) -> int:
    """Centre of a window with ``place`` at its edge, if what lies on one side of it is served already."""
    if place > 0 and served[place - 1]:
        ahead = served[place : place + half + 1]
        return place + (int(ahead.argmax()) // 2 if ahead.any() else ahead.size - 1)
    if place < served.size - 1 and served[place + 1]:
        ahead = served[max(place - half, 0) : place + 1][::-1]
        return place - (int(ahead.argmax()) // 2 if ahead.any() else ahead.size - 1)
    return place
