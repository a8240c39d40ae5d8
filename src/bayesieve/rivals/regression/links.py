r"""Links: how the class (y = 0 or 1) depends on a linear predictor :math:`\eta`, each with its loss.

======  ===============================================  ==============================
link    loss                                             minus its derivative (residual)
======  ===============================================  ==============================
linear  :math:`(y - \eta)^2 / 2`                         :math:`y - \eta`
logit   :math:`\log(1 + e^\eta) - y \eta`                :math:`y - 1 / (1 + e^{-\eta})`
probit  :math:`-\log \Phi(s \eta)`, :math:`s = 2y - 1`   :math:`s \phi(\eta) / \Phi(s \eta)`
======  ===============================================  ==============================
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtri

from bayesieve.utils import FloatArray

LINKS = ("linear", "logit", "probit")
_HALF_LOG_TAU = 0.5 * np.log(2.0 * np.pi)


def null_intercept(link: str, share: float) -> float:
    """Return the intercept of the model without features, for a share of samples in the second class."""
    if link == "linear":
        return share
    return float(logit(share) if link == "logit" else ndtri(share))


def residual(link: str, y: FloatArray, eta: FloatArray) -> FloatArray:
    """Return minus the derivative of every sample's loss by its linear predictor."""
    if link == "linear":
        return np.asarray(y - eta)
    if link == "logit":
        return np.asarray(y - expit(eta))
    sign = 2.0 * y - 1.0
    return np.asarray(sign * np.exp(-0.5 * eta * eta - _HALF_LOG_TAU - log_ndtr(sign * eta)))


def deviance(link: str, y: FloatArray, eta: FloatArray) -> FloatArray:
    """Return twice the loss of every sample."""
    if link == "linear":
        return np.asarray((y - eta) ** 2)
    sign = 2.0 * y - 1.0
    return np.asarray(2.0 * (np.logaddexp(0.0, -sign * eta) if link == "logit" else -log_ndtr(sign * eta)))


def class_scores(link: str, eta: FloatArray) -> FloatArray:
    """Return predictors that are above 0 where the second class is the more probable, below for the first."""
    return np.asarray(eta - 0.5) if link == "linear" else eta
