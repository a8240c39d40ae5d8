r"""Estimation of shared kernels, without labels: expectation and maximisation, and the choice of their number.

EM climbs the posterior density of means and precisions of the kernels,

.. math:: \sum_m \ln E_{w \sim Dir(\alpha)} \prod_i \sum_k w_k f_k(x_{mi}) + \sum_k \ln p(\mu_k, \tau_k),

with precisions :math:`\tau_k \sim \Gamma(1, \text{rate } v)` and :math:`\mu_k \sim N(\bar x, 1 / \tau_k)`, where
:math:`\bar x` and :math:`v` are the mean and variance of all values. Were the weights of every feature estimated
instead of integrated out, hundreds of them would bend the kernels: means of overlapping kernels move apart by some
percent, and kernels that few features need are lost. Integrals are for two and three kernels only; with more,
weights are at their mode. Between rounds :math:`\alpha` is set by the moments of the weights. Their variance is
that of the estimates plus that of the weights of a feature about its estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from bayesieve.rivals.skbs.climbing import Climb, IntegratedClimb, ModeClimb
from bayesieve.rivals.skbs.kernel_prior import KernelPrior
from bayesieve.rivals.skbs.shared_kernels import SharedKernels
from bayesieve.utils import FloatArray

LEAST_ALPHA, MOST_ALPHA = 1e-3, 1e3
KERNELS_TRIED = range(2, 8)
_FIRST_ALPHA = 0.5
_VALUES_TO_START = 6_000
_CYCLES_TO_START, _CYCLES, _ROUNDS, _CYCLES_A_ROUND = 4, 100, 24, 1
_STILL_A_ROUND, _STILL_ALPHA = 1e-3, 1e-2
_FASTEST = 8.0
_HELD_OUT = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class FittedKernels:
    """Kernels, the weights of every feature, and how the objective rose: one sequence per value of alpha."""

    kernels: SharedKernels
    weights: FloatArray
    objective: list[list[float]] = field(default_factory=list)
    converged: bool = True


def fit_kernels(
    rows: FloatArray,
    n_kernels: int,
    *,
    support: tuple[float, float] | None = None,
    n_threads: int = 1,
) -> FittedKernels:
    """Estimate kernels from all values of some features, one feature per row, NaN where there is none.

    Three beginnings are tried on some features at one value of alpha: means spread over the range, over the
    quantiles, and one mean with standard deviations that differ. The highest is refined on all of them.
    """
    prior = KernelPrior.of(rows)
    number = min(rows.shape[0], max(_VALUES_TO_START // rows.shape[1], 20))
    some = rows[np.linspace(0, rows.shape[0] - 1, number).astype(np.int64)]
    method = IntegratedClimb if n_kernels in (2, 3) else ModeClimb
    tried = []
    for kernels in starting_kernels(rows, n_kernels, support):
        climb = method(some, kernels, prior, n_threads)
        climb.climb(_CYCLES_TO_START)
        tried.append(climb)
    best = max(tried, key=lambda climb: climb.objective[-1][-1])
    if n_kernels > 1:
        _settle_alpha(best)
    climb = method(rows, best.kernels, prior, n_threads)
    if n_kernels > 1:
        _settle_alpha(climb)
    converged = climb.climb(_CYCLES)
    order = np.lexsort((climb.kernels.sd, climb.kernels.mean))
    return FittedKernels(climb.kernels.ordered(), climb.weights[:, order], climb.objective, converged)


def choose_n_kernels(
    rows: FloatArray, *, support: tuple[float, float] | None = None, seed: int = 0, n_threads: int = 1
) -> tuple[int, dict[int, float]]:
    """Choose the number of kernels by the mean log density of values held out, a tenth of every feature.

    Returns
    -------
    n_kernels : int
        The number whose mean is the largest.
    scores : dict
        The mean of each number tried.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    present = ~np.isnan(rows)
    held = present & (rng.random(rows.shape) < _HELD_OUT)
    held &= (present & ~held).sum(axis=1, keepdims=True) > 1
    training = np.where(held, np.nan, rows)
    scores = {}
    for n_kernels in KERNELS_TRIED:
        fitted = fit_kernels(training, n_kernels, support=support, n_threads=n_threads)
        feature, _ = np.nonzero(held)
        log_density = fitted.kernels.log_density(rows[held]) + np.log(fitted.weights[feature])
        scores[n_kernels] = float(np.logaddexp.reduce(log_density, axis=1).mean())
    return max(scores, key=scores.__getitem__), scores


def starting_kernels(rows: FloatArray, n_kernels: int, support: tuple[float, float] | None) -> list[SharedKernels]:
    """Kernels to start from."""
    values = rows[~np.isnan(rows)]
    low, high, spread = float(values.min()), float(values.max()), float(values.std())
    alpha = np.full(n_kernels, _FIRST_ALPHA)
    middle = (np.arange(n_kernels) + 0.5) / n_kernels
    if n_kernels == 1:
        return [SharedKernels(values.mean(keepdims=True), values.std(keepdims=True), alpha, support)]
    step = (high - low) / (2 * n_kernels)
    quantiles = np.quantile(values, middle)
    scales = spread * 2.0 ** np.linspace(-1.0, 1.0, n_kernels)
    return [
        SharedKernels(low + middle * (high - low), np.full(n_kernels, step), alpha, support),
        SharedKernels(quantiles, np.full(n_kernels, max(spread / n_kernels, 1e-3 * step)), alpha, support),
        SharedKernels(np.full(n_kernels, values.mean()) + 1e-3 * scales * (middle - 0.5), scales, alpha, support),
    ]


def _settle_alpha(climb: Climb) -> None:
    """Climb and renew alpha in turns until both have settled; every third alpha is prolonged from the last two."""
    logs = [np.log(climb.kernels.alpha)]
    for _ in range(_ROUNDS):
        settled = climb.climb(_CYCLES_A_ROUND, _STILL_A_ROUND)
        logs.append(np.log(alpha_by_moments(climb.weights, climb.variances)))
        if np.abs(logs[-1] - logs[-2]).max() < _STILL_ALPHA and settled:
            return
        if len(logs) == 3:
            first, bend = logs[1] - logs[0], logs[2] - 2.0 * logs[1] + logs[0]
            length, change = float(np.linalg.norm(first)), float(np.linalg.norm(bend))
            pace = min(max(length / max(change, 1e-300), 1.0), _FASTEST)
            further = np.clip(logs[0] + 2.0 * pace * first + pace**2 * bend, logs[2] - 1.5, logs[2] + 1.5)
            logs = [np.clip(further, math.log(LEAST_ALPHA), math.log(MOST_ALPHA))]
        climb.set_alpha(np.exp(logs[-1]))


def alpha_by_moments(weights: FloatArray, variances: FloatArray | float = 0.0) -> FloatArray:
    """Return the concentrations whose Dirichlet has the means, and on average the variances, of weights."""
    mean = weights.mean(axis=0)
    variance = weights.var(axis=0) + np.mean(np.broadcast_to(variances, weights.shape), axis=0)
    with np.errstate(divide="ignore"):
        each = (mean * (1.0 - mean) / variance - 1.0)[:-1]
    total = math.exp(float(np.log(np.clip(each, LEAST_ALPHA, 1e6)).mean()))
    return np.asarray(np.clip(mean * total, LEAST_ALPHA, MOST_ALPHA))
