"""Compiled sweeps of the Gibbs samplers: of the dictionary, and of the weights of a feature given its kernels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.utils import compiled

_PACE = 1.7  # of proposals, in standard errors
_ROOT_2, _HALF_LOG_2PI = math.sqrt(2.0), 0.5 * math.log(2.0 * math.pi)
_LEAST_MASS = 1e-290


@compiled()
def _draw_weights(concentration: Any, rng: Any, weights: Any) -> None:
    """Draw from a Dirichlet distribution; by logarithms, since draws of small concentrations vanish as floats."""
    n = concentration.shape[0]
    most = -np.inf
    for k in range(n):
        a = concentration[k]
        if a < 1.0:
            log_gamma = math.log(rng.standard_gamma(a + 1.0)) + math.log(1.0 - rng.random()) / a
        else:
            log_gamma = math.log(rng.standard_gamma(a))
        weights[k] = log_gamma
        most = max(most, log_gamma)
    total = 0.0
    for k in range(n):
        weights[k] = math.exp(weights[k] - most)
        total += weights[k]
    for k in range(n):
        weights[k] /= total


@compiled()
def _draw_kernel(density: Any, weights: Any, rng: Any) -> int:
    """Draw the kernel of a value."""
    n: int = density.shape[0]
    total = 0.0
    for k in range(n):
        total += weights[k] * density[k]
    left = rng.random() * total
    for k in range(n - 1):
        left -= weights[k] * density[k]
        if left < 0.0:
            return k
    return n - 1


@compiled()
def _densities(values: Any, constants: Any, density: Any) -> int:
    """Densities of the values that are there, the largest of each value 1; return their number."""
    kept = 0
    for i in range(values.shape[0]):
        if math.isnan(values[i]):
            continue
        most = -np.inf
        for k in range(constants.shape[1]):
            scaled = (values[i] - constants[0, k]) * constants[1, k]
            density[kept, k] = constants[2, k] - 0.5 * scaled * scaled
            most = max(most, density[kept, k])
        for k in range(constants.shape[1]):
            density[kept, k] = math.exp(density[kept, k] - most)
        kept += 1
    return kept


@compiled()
def sweep_dictionary(rows: Any, constants: Any, alpha: Any, weights: Any, sums: Any, rng: Any) -> None:
    """Draw the kernel of every value and the weights of every feature; add up sums about the means."""
    n_kernels = alpha.shape[0]
    density = np.empty((rows.shape[1], n_kernels))
    concentration = np.empty(n_kernels)
    for f in range(rows.shape[0]):
        _densities(rows[f], constants, density)
        concentration[:] = alpha
        kept = 0
        for i in range(rows.shape[1]):
            if math.isnan(rows[f, i]):
                continue
            k = _draw_kernel(density[kept], weights[f], rng)
            kept += 1
            gap = rows[f, i] - constants[0, k]
            concentration[k] += 1.0
            sums[0, k] += 1.0
            sums[1, k] += gap
            sums[2, k] += gap * gap
        _draw_weights(concentration, rng, weights[f])


@compiled()
def _log_mass(low: float, high: float) -> float:
    """Logarithm of the share of a standard Gaussian between two ends."""
    if low > 0.0:  # the lower tail keeps its digits
        low, high = -high, -low
    mass = 0.5 * (math.erfc(-high / _ROOT_2) - math.erfc(-low / _ROOT_2))
    if mass > _LEAST_MASS:
        return math.log(mass)
    return -0.5 * high * high - math.log(max(-high, 1.0)) - _HALF_LOG_2PI  # the tail beyond the nearer end


@compiled()
def walk(
    k: int, constants: Any, sums: Any, prior: Any, support: Any, n_steps: int, rng: Any
) -> tuple[float, float]:
    """Draw the mean and standard deviation of a truncated kernel: a random walk of Metropolis and Hastings.

    ``sums`` are the number of its values and their sums about its present mean, ``prior`` the centre, size, shape
    and rate of :class:`bayesieve.rivals.skbs.kernel_prior.KernelPrior`. Steps are in units of the present standard
    deviation, so that the way back has another unit.
    """
    number, first, second = sums[0, k], sums[1, k], sums[2, k]
    start = constants[0, k]
    error = _PACE / math.sqrt(number + 2.0)
    here, log_sd, height, step = start, -math.log(constants[1, k]), 0.0, 0.0
    for attempt in range(n_steps + 1):
        there, log_wide = here, log_sd
        if attempt > 0:
            step = rng.standard_normal()
            there, log_wide = (
                here + error * math.exp(log_sd) * step,
                log_sd + error * rng.standard_normal() / _ROOT_2,
            )
        wide, gap = math.exp(log_wide), there - start
        inside = _log_mass((support[0] - there) / wide, (support[1] - there) / wide)
        squares = second - 2.0 * gap * first + number * gap * gap + prior[1] * (there - prior[0]) ** 2
        reached = -(0.5 * squares + prior[3]) / (wide * wide) - number * (log_wide + inside)
        reached -= (2.0 * prior[2] + 1.0) * log_wide  # a density of precisions times the precision: of logarithms
        if attempt == 0:
            height = reached
            continue
        back = (here - there) / (error * wide)
        proposed = 0.5 * (step * step - back * back) + log_sd - log_wide
        if math.log(1.0 - rng.random()) < reached - height + proposed:
            here, log_sd, height = there, log_wide, reached
    return here, math.exp(log_sd)


@compiled()
def _log_beta(concentration: Any) -> float:
    total, result = 0.0, 0.0
    for k in range(concentration.shape[0]):
        total += concentration[k]
        result += math.lgamma(concentration[k])
    return result - math.lgamma(total)


@compiled()
def _log_sum(a: float, b: float) -> float:
    most = max(a, b)
    return most if most == -np.inf else most + math.log(math.exp(a - most) + math.exp(b - most))


@compiled()
def sample_features(  # noqa: C901, PLR0912 - one loop, compiled
    rows: Any,
    n_first: int,
    constants: Any,
    alpha: Any,
    log_prior_odds: float,
    burn_in: int,
    averaged: bool,
    rng: Any,
    log_means: Any,
    trace: Any,
) -> None:
    r"""Sample the weights of every feature in both classes, and whether they are the same.

    Parameters
    ----------
    rows, n_first
        One feature per row, the first class first.
    constants, alpha
        Of the kernels.
    log_prior_odds
        Log odds of a marker beforehand.
    averaged
        In the place of drawing whether the classes differ, average the weights drawn under both by its
        probability: as the released code does, and no Gibbs step.
    log_means
        By feature and batch of draws, logarithms of the mean probability that the classes are the same, and that
        they differ: ``(n_features, n_batches, 2)``. Its shape says how many batches there are.
    trace
        By feature and draw, the weight of the first kernel in both classes; ``(n_features, n_draws, 2)``.
    """
    n_kernels, n_batches = alpha.shape[0], log_means.shape[1]
    n_draws = trace.shape[1]
    density = np.empty((2, rows.shape[1], n_kernels))
    weights, same = np.empty((2, n_kernels)), np.empty(n_kernels)
    counts, both = np.empty((2, n_kernels)), np.empty(n_kernels)
    n_values = np.empty(2, np.int64)
    log_beta = _log_beta(alpha)
    for f in range(rows.shape[0]):
        n_values[0] = _densities(rows[f, :n_first], constants, density[0])
        n_values[1] = _densities(rows[f, n_first:], constants, density[1])
        _draw_weights(alpha, rng, weights[0])
        weights[1] = weights[0]
        log_means[f] = -np.inf
        for draw in range(-burn_in, n_draws):
            for c in range(2):
                counts[c] = alpha
                for i in range(n_values[c]):
                    counts[c, _draw_kernel(density[c, i], weights[c], rng)] += 1.0
            for k in range(n_kernels):
                both[k] = counts[0, k] + counts[1, k] - alpha[k]
            odds = log_prior_odds + _log_beta(counts[0]) + _log_beta(counts[1]) - _log_beta(both) - log_beta
            log_same, log_differ = -_log_sum(0.0, odds), -_log_sum(0.0, -odds)
            share = math.exp(log_same)
            if averaged:
                _draw_weights(both, rng, same)
                for c in range(2):
                    _draw_weights(counts[c], rng, weights[c])
                    for k in range(n_kernels):
                        weights[c, k] = (1.0 - share) * weights[c, k] + share * same[k]
            elif rng.random() < share:
                _draw_weights(both, rng, weights[0])
                weights[1] = weights[0]
            else:
                for c in range(2):
                    _draw_weights(counts[c], rng, weights[c])
            if draw >= 0:
                batch = draw * n_batches // n_draws
                log_means[f, batch, 0] = _log_sum(log_means[f, batch, 0], log_same)
                log_means[f, batch, 1] = _log_sum(log_means[f, batch, 1], log_differ)
                trace[f, draw, 0] = weights[0, 0]
                trace[f, draw, 1] = weights[1, 0]
        for batch in range(n_batches):
            first = -(-batch * n_draws // n_batches)
            last = -(-(batch + 1) * n_draws // n_batches)
            log_means[f, batch] -= math.log(last - first)
