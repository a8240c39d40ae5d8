r"""Polya-Gamma numbers PG(1, c), exactly (Polson, Scott and Windle, 2013).

PG(1, c) is a quarter of an exponentially tilted Jacobi number, which is drawn by rejection: the proposal is an
inverse Gaussian cut off at T = 0.64 or an exponential beyond it, and the alternating series of the density decides
after one or two terms. It is compiled here so that a chain needs no lock of the interpreter for it.
"""

from __future__ import annotations

import math
from typing import Any

from bayesieve.utils import compiled

_CUT = 0.64
_ROOT_CUT, _HALF_PI2 = math.sqrt(_CUT), 0.5 * math.pi * math.pi


@compiled()
def _normal_cdf(x: float) -> float:
    return 0.5 * math.erfc(-x * math.sqrt(0.5))


@compiled()
def _below_cut(z: float) -> float:
    """Probability that an inverse Gaussian number of mean 1/z and shape 1 lies below the cut, over exp(z)."""
    upper = -(_CUT * z + 1.0) / _ROOT_CUT
    tail = _normal_cdf(upper)
    if tail > 0.0:
        second = math.exp(z) * tail
    else:  # Mills' ratio: exp(z) would overflow before the tail is missed
        second = math.exp(z - 0.5 * upper * upper) / (-upper * math.sqrt(2.0 * math.pi))
    return math.exp(-z) * _normal_cdf((_CUT * z - 1.0) / _ROOT_CUT) + second


@compiled()
def _inverse_gaussian_below_cut(rng: Any, z: float) -> float:
    """Inverse Gaussian number of mean 1/z and shape 1, given that it is below the cut."""
    if z * _CUT < 1.0:  # the mean lies beyond: a scaled inverse chi-square, tilted
        while True:
            first, second = rng.standard_exponential(), rng.standard_exponential()
            while first * first > 2.0 * second / _CUT:
                first, second = rng.standard_exponential(), rng.standard_exponential()
            x = _CUT / ((1.0 + _CUT * first) * (1.0 + _CUT * first))
            if rng.standard_exponential() >= 0.5 * z * z * x:
                return float(x)
    mean = 1.0 / z
    while True:
        x = inverse_gaussian(rng, mean, 1.0)
        if x <= _CUT:
            return float(x)


@compiled()
def inverse_gaussian(rng: Any, mean: float, shape: float) -> float:
    """Inverse Gaussian number (Michael, Schucany and Haas, 1976), without the cancellation of large means."""
    normal = rng.standard_normal()
    ratio = 0.5 * mean * normal * normal / shape
    x = mean / (1.0 + ratio + math.sqrt(ratio * (ratio + 2.0)))
    if rng.random() * (mean + x) <= mean:
        return float(x)
    return float(mean * (mean / x))


@compiled()
def _term(n: int, x: float) -> float:
    """Term of the series of the Jacobi density."""
    half = n + 0.5
    if x > _CUT:
        return math.pi * half * math.exp(-half * half * _HALF_PI2 * x)
    return math.pi * half * math.exp(1.5 * math.log(2.0 / (math.pi * x)) - 2.0 * half * half / x)


@compiled()
def _jacobi(rng: Any, z: float) -> float:
    rate = 0.25 * _HALF_PI2 + 0.5 * z * z
    right = 0.5 * math.pi / rate * math.exp(-rate * _CUT)
    share = right / (right + 2.0 * _below_cut(z))
    while True:
        if rng.random() < share:
            x = _CUT + rng.standard_exponential() / rate
        else:
            x = _inverse_gaussian_below_cut(rng, z)
        total = _term(0, x)
        level, n = rng.random() * total, 0
        while True:
            n += 1
            if n % 2 == 1:
                total -= _term(n, x)
                if level <= total:
                    return float(x)
            else:
                total += _term(n, x)
                if level > total:
                    break


@compiled()
def polya_gamma(rng: Any, tilts: Any, draws: Any) -> None:
    """Draw PG(1, c) for every c."""
    for i in range(tilts.size):
        draws[i] = 0.25 * _jacobi(rng, 0.5 * abs(tilts[i]))


@compiled()
def laplace_scales(rng: Any, scaled_squares: Any, scales: Any) -> None:
    r"""Draw :math:`\lambda^2` given :math:`b^2 / (\sigma^2 \tau^2)`, where :math:`\lambda^2` is exponential."""
    for j in range(scales.size):
        draw = inverse_gaussian(rng, math.sqrt(2.0 / max(scaled_squares[j], 1e-300)), 2.0)
        scales[j] = 1.0 / max(draw, 1e-300)
