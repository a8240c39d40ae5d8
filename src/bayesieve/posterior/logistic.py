"""Log-odds to probabilities, without losing either end, and back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve.errors import PriorError
from bayesieve.utils import FloatArray


def expit(log_odds: npt.ArrayLike) -> FloatArray:
    """Probability of log-odds; ``expit(-x)`` is the accurate complement."""
    x = np.asarray(log_odds, dtype=np.float64)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def log_expit(log_odds: npt.ArrayLike) -> FloatArray:
    """Log of the probability of log-odds."""
    return -np.logaddexp(0.0, -np.asarray(log_odds, dtype=np.float64))


def checked_log_odds(prior_probability: npt.ArrayLike, n_features: int) -> float | FloatArray:
    r"""Prior log-odds :math:`\log \pi / (1 - \pi)` of a checked prior probability."""
    try:
        prior = np.asarray(prior_probability, dtype=np.float64)
    except (TypeError, ValueError):
        raise PriorError(f"prior_probability must be a number, not {prior_probability!r}.") from None
    if not ((prior >= 0) & (prior <= 1)).all():
        wrong = prior[~((prior >= 0) & (prior <= 1))].flat[0]
        raise PriorError(
            f"prior_probability must lie between 0 and 1, but {wrong} was given. It is the share of "
            "features believed to be markers before seeing the data, for example 0.01."
        )
    if prior.shape not in ((), (n_features,)):
        raise PriorError(
            f"prior_probability has shape {prior.shape}; give one number, or one for each of the "
            f"{n_features} features."
        )
    with np.errstate(divide="ignore"):
        odds = np.log(prior) - np.log1p(-prior)
    if odds.ndim == 0:
        return float(odds)
    odds.flags.writeable = False
    return np.asarray(odds)
