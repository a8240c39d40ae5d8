r"""Terms of log evidences that keep their digits however many samples there are.

Log evidences of groups grow with the number of samples, and the log Bayes factor is what little their sum leaves.
Written with :math:`\log\Gamma(x) = x \log x - x + \rho(x)`, where :math:`\rho` is small, what grows combines to
terms that vanish where the data are as expected.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.utils import FloatArray

_SERIES_FROM = 10.0
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)  # of Stirling


def log_gamma_rest(x: Any) -> Any:
    r"""Return :math:`\rho(x) = \log\Gamma(x) - x \log x + x`, about :math:`\tfrac12\log(2\pi/x)`."""
    if np.ndim(x) == 0 and not float(x) >= _SERIES_FROM:  # SciPy takes a while to import
        number = float(x)
        return math.lgamma(number) - number * math.log(number) + number if number > 0.0 else math.inf
    x = np.asarray(x, dtype=np.float64)
    large = np.maximum(x, _SERIES_FROM)
    inverse = 1.0 / large
    square = inverse * inverse
    series = np.zeros(x.shape)
    for coefficient in reversed(_SERIES):
        series = series * square + coefficient
    rest = series * inverse - 0.5 * np.log(large / (2.0 * math.pi))
    small = x < _SERIES_FROM
    if small.any():
        from scipy.special import gammaln, xlogy  # noqa: PLC0415 - SciPy is slow to import

        few = x[small]
        rest[small] = gammaln(few) - xlogy(few, few) + few
    return rest if rest.ndim else float(rest)


def deviance(x: Any, expected: Any, difference: Any) -> FloatArray:
    r"""Return :math:`x \log(x/m) - x + m` with :math:`m` expected, given :math:`x - m` with its own digits."""
    return np.asarray(x * np.log1p(difference / expected) - difference)


def tangent_gap(ratio: Any) -> FloatArray:
    r"""Return :math:`r - 1 - \log r`, at least 0: how far the logarithm is below its tangent at 1.

    Near 1 rounding of the ratio itself cancels, too, as the tangent is flat there.
    """
    gap = np.asarray(ratio - 1.0)
    gap -= np.log(ratio)
    return gap
