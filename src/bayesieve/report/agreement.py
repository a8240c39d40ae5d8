"""Whether values are those that were screened: their numbers, means and deviations against the screen's."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.labels import told_apart
from bayesieve.errors import DataError
from bayesieve.posterior import FeaturePosterior
from bayesieve.stats import Moments
from bayesieve.stats.event_totals import EventTotals

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_CLOSE = 1e-6  # of a standard deviation, or of a total
_SINGLE = 2.0**-22  # what four bytes per number may change


def check_agreement(posterior: FeaturePosterior, which: IntArray, values: FloatArray, codes: IntArray) -> None:
    """Raise unless values of some features are those that were screened, class by class.

    Compared are numbers of values and, for Gaussian data, means and standard deviations, for counts totals.
    Values rounded to four bytes per number pass.

    Parameters
    ----------
    posterior
        The screen.
    which
        Features.
    values
        Their values, features x samples; NaN where one is missing.
    codes
        Class of every sample.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.report.agreement import check_agreement
    >>> X, y = np.array([[1.0], [2.0], [4.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 0, 1, 1, 1])
    >>> posterior = bs.screen(X, y, model=bs.GaussianModel.proper())
    >>> check_agreement(posterior, np.array([0]), X.T, y)
    >>> try:
    ...     check_agreement(posterior, np.array([0]), np.log2(X.T), y)
    ... except bs.DataError as error:
    ...     print(str(error)[:90])
    The data are not those that were screened: feature 'x0' has mean 1 in class 0, the screen
    """
    statistics: Any = posterior.statistics.take(which)
    counts = np.broadcast_to(statistics.counts, (len(posterior.classes), which.size))
    for k in range(len(posterior.classes)):
        mine = values[:, codes == k]
        there = ~np.isnan(mine)
        number = there.sum(axis=1)
        _check(posterior, which, k, "{:,.0f} values", number, counts[k], np.zeros(which.size))
        if isinstance(statistics, Moments):
            _check_moments(posterior, which, k, mine, statistics)
        elif isinstance(statistics, EventTotals):
            total = statistics.total[k]
            found = np.where(there, mine, 0.0).sum(axis=1)
            _check(posterior, which, k, "{:,.6g} events", found, total, _CLOSE * np.abs(total))


def _check_moments(
    posterior: FeaturePosterior, which: IntArray, k: int, values: FloatArray, moments: Moments
) -> None:
    there = ~np.isnan(values)
    number = there.sum(axis=1)
    filled = np.where(there, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = filled.sum(axis=1) / number
        squares = np.where(there, values - mean[:, None], 0.0)
        deviation = np.sqrt((squares**2).sum(axis=1) / (number - 1))
        wanted = np.sqrt(moments.variance[k])
    allowed = _CLOSE * np.nan_to_num(wanted) + _SINGLE * np.abs(filled).max(axis=1, initial=0.0)
    _check(posterior, which, k, "mean {:.6g}", mean, moments.mean[k], allowed)
    _check(posterior, which, k, "standard deviation {:.6g}", deviation, wanted, allowed)


def _check(
    posterior: FeaturePosterior, which: IntArray, k: int, words: str, found: Any, wanted: Any, allowed: FloatArray
) -> None:
    """Compare one number per feature; what is not defined in either is not compared."""
    with np.errstate(invalid="ignore"):
        far = np.flatnonzero(np.abs(np.asarray(found, dtype=np.float64) - wanted) > allowed)
    if far.size:
        i = int(far[0])
        more = f" ({far.size:,} of {which.size:,} features differ)" if far.size > 1 else ""
        raise DataError(
            f"The data are not those that were screened: feature {posterior.names[int(which[i])]!r} has "
            f"{words.format(float(found[i]))} in class {told_apart(posterior.classes)[k]}, the screen "
            f"{words.format(float(wanted[i]))}{more}. Hand over the values as they were screened, with the same "
            "transform, samples and labels."
        )
