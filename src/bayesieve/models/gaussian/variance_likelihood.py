r"""Likelihood of a log variance ratio, taken from its maximum down, so that no digits are lost with many samples.

At :math:`\theta = \log\frac{S_1 / \nu_1}{S_0 / \nu_0}`, in the notation of
:mod:`bayesieve.models.gaussian.effect_mixture`,

.. math::

    h(t) = \sum_y \tfrac{\nu_y}{2} (r_y - 1 - \log r_y) - \tfrac{\nu}{2} \lambda_{\nu_0/\nu}(t - \theta), \quad
        r_y = \frac{S_y / \nu_y}{W / \nu}, \quad \lambda_p(x) = \log(1 - p + p\, e^x) - p x
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.utils import compiled

LARGEST_EXPONENT = 300.0
SMALL_POWER = 1e3  # times the rounding of a number near 1: 1e-13
_FURTHEST_RATIO = 1e290  # of squares, and its inverse
_MOST_STEPS, _NEAR = 60, 1e-3  # of the search for a mode, and how near, in squared standard deviations


@compiled()
def add_exp(total: float, largest: float, term: float) -> tuple[float, float]:
    """Add an exponential to a sum in units of its largest term."""
    if term > largest:
        return total * math.exp(largest - term) + 1.0, term
    return total + math.exp(term - largest), largest


@compiled()
def log_variance_ratio(s0: float, s1: float, n0: float, n1: float) -> float:
    """Log ratio of two variances, of squares on degrees of freedom."""
    ratio = s1 / s0 if s0 * _FURTHEST_RATIO > s1 > s0 / _FURTHEST_RATIO else 0.0
    return math.log(ratio * (n0 / n1)) if ratio > 0.0 else math.log(s1 / n1) - math.log(s0 / n0)


@compiled()
def highest_likelihood(s0: float, s1: float, n0: float, n1: float) -> float:
    """Maximum of h(t) of the module's formula; h(0) is 0."""
    r0, r1 = s0 / (s0 + s1) * ((n0 + n1) / n0), s1 / (s0 + s1) * ((n0 + n1) / n1)
    return 0.5 * (n0 * ((r0 - 1.0) - math.log(r0)) + n1 * ((r1 - 1.0) - math.log(r1)))


@compiled()
def fall(x: float, p: float, power: float) -> float:
    """Return the module's lambda of a share p, at least 0 and flat at 0, to be multiplied by a power.

    Small powers take the way with fewer digits, which is twice as quick.
    """
    if p > 0.5:  # the smaller share loses no digits
        p, x = 1.0 - p, -x
    if x > LARGEST_EXPONENT:
        return x + math.log(p) - p * x
    if power < SMALL_POWER:
        return math.log(1.0 - p + p * math.exp(x)) - p * x
    return math.log1p(p * math.expm1(x)) - p * x


@compiled()
def variance_part_of_many(
    theta: float, s0: float, s1: float, n0: float, n1: float, g: float, omegas: Any, step: float, half: int
) -> float:
    """Log of the mean Bayes factor over the grid, by the trapezoidal rule around each mode."""
    top, power, normal = g * highest_likelihood(s0, s1, n0, n1), 0.5 * g * (n0 + n1), g / (2.0 / n0 + 2.0 / n1)
    p, side = min(n0, n1) / (n0 + n1), 1.0 if n0 <= n1 else -1.0
    largest, total = -np.inf, 0.0
    for k in range(omegas.shape[0]):
        precision = 1.0 / (omegas[k] * omegas[k])
        mode, curvature = theta * normal / (precision + normal), precision + normal
        for _ in range(_MOST_STEPS):
            x = side * (mode - theta)
            share = (
                p / (p + (1.0 - p) * math.exp(-x)) if x > 0.0 else p * math.exp(x) / (1.0 - p + p * math.exp(x))
            )
            curvature = precision + power * share * (1.0 - share)
            change = (side * power * (p - share) - precision * mode) / curvature
            change = max(-2.0, min(2.0, change))
            mode += change
            if change * change * curvature < _NEAR:
                break
        width, depth = step / math.sqrt(curvature), power * fall(side * (mode - theta), p, power)
        area = 0.0
        for i in range(-half, half + 1):
            t = mode + i * width
            fallen = power * fall(side * (t - theta), p, power)
            area += math.exp(depth - fallen - 0.5 * precision * (t - mode) * (t + mode))
        term = top - depth - 0.5 * precision * mode * mode
        term += math.log(area * width / (omegas[k] * math.sqrt(2.0 * math.pi)))
        total, largest = add_exp(total, largest, term)
    return largest + math.log(total / omegas.shape[0])
