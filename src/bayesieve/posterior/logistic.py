"""Log-odds to probabilities, without losing either end."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def expit(log_odds: npt.ArrayLike) -> FloatArray:
    """Probability of log-odds; ``expit(-x)`` is the accurate complement.

    Examples
    --------
    >>> from bayesieve.posterior.logistic import expit
    >>> expit([0.0, -800.0]).tolist()
    [0.5, 0.0]
    """
    x = np.asarray(log_odds, dtype=np.float64)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def log_expit(log_odds: npt.ArrayLike) -> FloatArray:
    """Log of the probability of log-odds.

    Examples
    --------
    >>> from bayesieve.posterior.logistic import log_expit
    >>> log_expit([-800.0]).tolist()
    [-800.0]
    """
    return -np.logaddexp(0.0, -np.asarray(log_odds, dtype=np.float64))
