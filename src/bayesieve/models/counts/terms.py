r"""What the models of counts share: gamma functions of large arguments without large numbers.

A log Bayes factor of a few units is a difference of log gamma functions that may reach 1e12. Written
with :math:`\log\Gamma(x) = x \log x - x + \rho(x)`, where :math:`\rho` is small, the large parts
combine to deviances :math:`x \log(x/m) - x + m`, which are small where the data are as expected.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from bayesieve.errors import PriorError
from bayesieve.stats import EventTotals
from bayesieve.utils import FloatArray

_LARGEST_MEAN = 9e18  # beyond, NumPy draws no Poisson numbers
_SERIES_FROM = 10.0
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)  # of Stirling


def log_gamma_rest(x: Any) -> FloatArray:
    r"""Return :math:`\rho(x) = \log\Gamma(x) - x \log x + x`, about :math:`\tfrac12\log(2\pi/x)`."""
    from scipy.special import gammaln, xlogy  # noqa: PLC0415 - SciPy is slow to import

    x = np.asarray(x, dtype=np.float64)
    large = np.maximum(x, _SERIES_FROM)
    inverse = 1.0 / large
    square = inverse * inverse
    series = np.zeros(x.shape)
    for coefficient in reversed(_SERIES):
        series = series * square + coefficient
    rest = np.asarray(series * inverse - 0.5 * np.log(large / (2.0 * math.pi)))
    small = x < _SERIES_FROM
    if small.any():
        few = x[small]
        rest[small] = gammaln(few) - xlogy(few, few) + few
    return rest


def deviance(x: Any, expected: Any, difference: Any) -> FloatArray:
    r"""Return :math:`x \log(x/m) - x + m` with :math:`m` expected, given :math:`x - m` with its own digits."""
    return np.asarray(x * np.log1p(difference / expected) - difference)


def one_group(group: Any) -> tuple[Any, FloatArray, Any]:
    """Return count, total and exposure of totals that hold one class only."""
    if not isinstance(group, EventTotals) or len(group.classes) != 1:
        raise PriorError("One group of samples is needed: use totals.pick([label]) or totals.pool().")
    return group.count[0], group.total[0], group.exposure[0]


def totals_of_group(values: FloatArray, *, spread: bool) -> EventTotals:
    """Return the totals of one group's values, NaN where missing; a group may be empty."""
    if len(values):
        return EventTotals.from_matrix(values, ["group"] * len(values), missing="omit", spread=spread)
    nothing = totals_of_group(np.zeros((1, values.shape[1])), spread=spread)
    return nothing.remove(nothing)


def drawn(statistics: EventTotals, mean: FloatArray, rng: np.random.Generator) -> EventTotals:
    """Return totals drawn from Poisson laws, at the counts and exposures (and with the moments) of others."""
    total = rng.poisson(np.minimum(mean, _LARGEST_MEAN)).astype(np.float64)
    return dataclasses.replace(statistics, total=total)


def checked_hyperparameter(name: str, value: Any, lowest: str = "above 0") -> Any:
    """Check a number, or one per feature, that must be above 0 or, on request, ``"at least 0"``."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full((1, 1), np.nan)
    if array.ndim > 1 or not array.size:
        raise PriorError(f"{name} must be a number or one number per feature, not {value!r}.")
    bad = np.isnan(array) | (array < 0) | ((array == 0) & (lowest == "above 0"))
    if bad.any():
        raise PriorError(
            f"{name} must be {lowest}, but {int(bad.sum())} of {array.size} value(s) are not, "
            f"the first is {array[bad][0]:g}."
        )
    array.flags.writeable = False
    return float(array) if array.ndim == 0 else array


def check_lengths(n_features: int, **parameters: Any) -> None:
    """Raise unless every parameter is a number or has one value per feature."""
    for name, value in parameters.items():
        if np.ndim(value) and np.size(value) != n_features:
            raise PriorError(
                f"{name} is given for {np.size(value)} features, but the data have {n_features}. "
                "Give one number, or one per feature in the order of the columns."
            )
