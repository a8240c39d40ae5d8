r"""The Bayes factor of means that differ, whether or not variances do: the ratio of variances is integrated out.

The classes have variances :math:`\sigma^2 e^{-t/2}` and :math:`\sigma^2 e^{t/2}` under both hypotheses; with
probability :math:`1 - v` they are equal, :math:`t = 0`, otherwise :math:`t` is a mixture of
:math:`N(0, \omega^2)`. Given :math:`t`, the means differ by :math:`\delta` times the root of the mean variance,
:math:`\delta \sim N(0, \tau^2)`, or not at all. With
:math:`M_b = 1 / (e^{-t/2} / n_{b0} + e^{t/2} / n_{b1})` of block b (one block if there are none),
:math:`M = \sum_b M_b`, the weighted mean :math:`\hat d` of the differences and :math:`Q` what they leave,
:math:`c = \cosh(t/2)`, :math:`U = d_0 s_0^2 c + S_0 e^{t/2} + S_1 e^{-t/2}` and :math:`D` half of the degrees of
freedom:

.. math::

    p_0(t) &= e^{g h(t)}\, \Big(\prod_b M_b\Big)^{1/2} U^{D - B/2}\, (U + Q + M \hat d^2)^{-D} \\
    p_\tau(t) &= p_0(t)\, (1 + c \tau^2 M)^{-1/2}
        \left[\frac{U + Q + M \hat d^2}{U + Q + M \hat d^2 / (1 + c \tau^2 M)}\right]^{D} \\
    BF &= \frac{(1 - v)\, p_\tau(0) + v \int p_\tau(t)\, p(t)\, dt}{(1 - v)\, p_0(0) + v \int p_0(t)\, p(t)\, dt}

:math:`e^{g h(t)}` is what squares within classes say of :math:`t`, see :mod:`.effect_mixture`. The average
precision of the classes, :math:`c / \sigma^2`, has the prior that a precision has. Where variances are equal the
result comes near that of :func:`.effect_mixture.two_group_evidence`; where they are not it takes the place of
Behrens and Fisher's test.

The integrand is analytic for an imaginary part of :math:`t` below :math:`\pi` and grows there at most as
:math:`\cos(\theta/2)^{-E}`, so that the trapezoidal rule converges exponentially: its step follows from :math:`E`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.models.gaussian.effect_mixture import EXACT
from bayesieve.models.gaussian.variance_likelihood import add_exp, fall, highest_likelihood, log_variance_ratio
from bayesieve.utils import FloatArray, compiled, for_each, n_threads_for

_TILE = 2048  # features of one task
_FURTHEST = 100.0  # log ratios of variances beyond are not looked at
_WORK = 512  # an integral costs about as much as reading this many values


def mean_evidence(
    blocks: tuple[Any, Any, Any],
    variance: tuple[Any, ...],
    prior: tuple[Any, Any, float],
    grids: tuple[FloatArray, FloatArray],
    weight: float,
    nodes: tuple[float, int] = EXACT,
) -> FloatArray:
    """Log Bayes factor of means that differ against means that do not, feature by feature.

    Parameters
    ----------
    blocks
        Counts of both classes and differences of means, ``(n_blocks, n_features)`` or, counts, ``(n_blocks, 1)``;
        a block without one of the classes says nothing about means.
    variance
        Centred squares and degrees of freedom of both classes, all blocks together, and the share g; where g is 0
        variances are taken to be equal.
    prior
        Half the degrees of freedom D with those of the prior of variances, the squares of that prior, and what
        factors taken out add to the variance factor of a difference.
    grids
        Effect sizes of means and of log variance ratios.
    weight
        Probability v that variances differ.
    nodes
        ``EXACT`` or ``QUICK``, as in :mod:`.effect_mixture`.
    """
    n0, n1, differences = (np.atleast_2d(np.asarray(each, dtype=np.float64)) for each in blocks)
    n = differences.shape[1]
    columns = tuple(np.ascontiguousarray(np.broadcast_to(each, (n,)), np.float64) for each in (*variance, *prior))
    counts = tuple(np.broadcast_to(each, differences.shape) for each in (n0, n1))
    found = np.empty(n)

    def work(lo: int) -> None:
        where = slice(lo, min(lo + _TILE, n))
        part = tuple(np.ascontiguousarray(each[:, where].T) for each in (*counts, differences))
        _of_features(part, tuple(each[where] for each in columns), *grids, weight, nodes[0], found[where])

    for_each(work, range(0, n, _TILE), n_threads_for(None, n * _WORK))
    return found


@compiled()
def _of_features(
    blocks: Any, columns: Any, taus: Any, omegas: Any, weight: float, step: float, found: Any
) -> None:
    n0, n1, differences = blocks
    squares0, squares1, dof0, dof1, share, half_dof, prior, penalty = columns
    for f in range(found.shape[0]):
        found[f] = mean_bayes_factor(
            n0[f], n1[f], differences[f], squares0[f], squares1[f], dof0[f], dof1[f], share[f], half_dof[f],
            prior[f], penalty[f], taus, omegas, weight, step,
        )  # fmt: skip


@compiled()
def _given_ratio(
    t: float, n0: Any, n1: Any, differences: Any, s0: float, s1: float, half_dof: float, prior: float,
    penalty: float, taus: Any,
) -> tuple[float, float, float]:  # fmt: skip
    """Log of p_0(t) without its first factor, of the mean over tau of p_tau / p_0, and an upper bound.

    The bound is what p_0 and p_tau are at most, whatever the differences.
    """
    root = math.exp(0.5 * t)
    c = 0.5 * (root + 1.0 / root)
    u = prior * c + s0 * root + s1 / root
    total, centre, bound = 0.0, 0.0, 0.0
    for b in range(n0.shape[0]):
        if n0[b] > 0.0 and n1[b] > 0.0:
            size = 1.0 / (1.0 / (root * n0[b]) + root / n1[b] + penalty)
            total, centre = total + size, centre + size * differences[b]
            bound += 0.5 * math.log(size / u)
    if total == 0.0:
        return 0.0, 0.0, 0.0
    centre /= total
    rest = 0.0
    if n0.shape[0] > 1:
        for b in range(n0.shape[0]):
            if n0[b] > 0.0 and n1[b] > 0.0:
                size = 1.0 / (1.0 / (root * n0[b]) + root / n1[b] + penalty)
                rest += size * (differences[b] - centre) ** 2
    b_t = total * centre * centre / (u + rest)
    gain = half_dof * math.log1p(b_t)
    null = bound - gain
    if rest > 0.0:
        null -= half_dof * math.log1p(rest / u)
    return null, gain + _log_mean_effect(b_t, c * total, half_dof, taus), bound


@compiled()
def _log_mean_effect(b: float, size: float, half_dof: float, taus: Any) -> float:
    """Log of the mean over tau of what a difference does to the density of equal means, that at its height."""
    scale = 1.0 + size * taus[-1] * taus[-1]
    high = half_dof * math.log1p(b / scale)  # of the widest prior, which is the least surprised by a difference
    total = 0.0
    for k in range(taus.shape[0]):
        scale = 1.0 + size * taus[k] * taus[k]
        total += math.exp(high - half_dof * math.log1p(b / scale)) / math.sqrt(scale)
    return math.log(total / taus.shape[0]) - high


@compiled()
def _log_prior(t: float, omegas: Any) -> float:
    """Log density of the mixture of normals; the widest is the last."""
    high = -0.5 * (t / omegas[-1]) ** 2
    total = 0.0
    for k in range(omegas.shape[0]):
        total += math.exp(-0.5 * (t / omegas[k]) ** 2 - high) / omegas[k]
    return float(high + math.log(total / (omegas.shape[0] * math.sqrt(2.0 * math.pi))))


@compiled()
def mean_bayes_factor(  # noqa: PLR0913, PLR0917 - numbers of one feature, for compiled loops
    n0: Any, n1: Any, differences: Any, s0: float, s1: float, dof0: float, dof1: float, g: float, half_dof: float,
    prior: float, penalty: float, taus: Any, omegas: Any, weight: float, step: float,
) -> float:  # fmt: skip
    """Log Bayes factor of one feature; arguments as of :func:`mean_evidence`, blocks as vectors."""
    if not s0 + s1 + prior > 0.0:
        return 0.0
    null, effect, _ = _given_ratio(0.0, n0, n1, differences, s0, s1, half_dof, prior, penalty, taus)
    if not (weight > 0.0 and g > 0.0 and s0 > 0.0 and s1 > 0.0 and dof0 > 0.0 and dof1 > 0.0 and omegas.shape[0]):
        return effect
    digits, cut = (22.0, 42.0) if step < 0.5 else ((10.0, 18.0) if step < 1.0 else (8.0, 12.0))
    growth = 0.125 * (0.5 * g * (dof0 + dof1) + half_dof) + 0.5 / (omegas[0] * omegas[0])
    width = min(math.pi / math.sqrt(growth * digits), math.pi * math.pi / digits)
    below, none = 1.0, math.log1p(-weight) + null  # sums in units of their largest terms
    above, some = 1.0, math.log1p(-weight) + null + effect
    theta, top = log_variance_ratio(s0, s1, dof0, dof1), g * highest_likelihood(s0, s1, dof0, dof1)
    power, p = 0.5 * g * (dof0 + dof1), min(dof0, dof1) / (dof0 + dof1)
    toward = 1.0 if dof0 <= dof1 else -1.0
    low, high = max(min(theta, 0.0), -_FURTHEST), min(max(theta, 0.0), _FURTHEST)
    start = 0.5 * (low + high)
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        i = side
        while True:
            t = start + sign * i * width
            null, effect, bound = _given_ratio(t, n0, n1, differences, s0, s1, half_dof, prior, penalty, taus)
            weighed = math.log(weight * width) + _log_prior(t, omegas)
            weighed += top - power * fall(toward * (t - theta), p, power)
            below, none = add_exp(below, none, weighed + null)
            above, some = add_exp(above, some, weighed + null + effect)
            i += 1
            beyond = t > high if side == 0 else t < low
            if (beyond and weighed + bound < min(none, some) - cut) or abs(t) > _FURTHEST:
                break
    return some + math.log(above) - none - math.log(below)
