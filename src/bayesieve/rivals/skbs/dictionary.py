r"""Estimation of shared kernels by expectation and maximisation, without labels.

With values :math:`x_{mi}` of feature :math:`m`, and weights in the basis :math:`\theta = \ln w`, in which a
Dirichlet density is :math:`\prod_k w_k^{\alpha_k} / B(\alpha)` and has its mode inside the simplex for every
:math:`\alpha`, EM climbs

.. math:: \sum_{m, i} \ln \sum_k w_{mk} f_k(x_{mi}) + \sum_m \Big(\sum_k \alpha_k \ln w_{mk} - \ln B(\alpha)\Big)
          + \sum_k \ln p(\mu_k, \tau_k),

with precisions :math:`\tau_k \sim \Gamma(1, \text{rate } v)` and :math:`\mu_k \sim N(\bar x, 1 / \tau_k)`, where
:math:`\bar x` and :math:`v` are the mean and variance of all values. Between rounds :math:`\alpha` is set by the
moments of the weights. Their variance is that of the estimates plus that of a feature's weights about its
estimate, by Laplace's method; without the second part :math:`\alpha` would be far too large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.rivals.skbs.kernel_prior import KernelPrior
from bayesieve.rivals.skbs.shared_kernels import SharedKernels
from bayesieve.utils import FloatArray, compiled, for_each

LEAST_ALPHA, MOST_ALPHA = 1e-3, 1e3
KERNELS_TRIED = range(2, 8)
_FIRST_ALPHA = 0.5
_BLOCK = 32  # features; sums are added block by block whatever the number of threads
_VALUES_TO_START = 10_000
_CYCLES_TO_START, _CYCLES, _ROUNDS, _CYCLES_A_ROUND = 5, 100, 20, 1
_STILL, _STILL_A_ROUND = 1e-5, 1e-3  # of a standard deviation: kernels that move less in a step have settled
_STILL_ALPHA = 1e-2
_HELD_OUT = 0.1
_SMALL = 1e-200  # a factor is at least a weight, far above its inverse

_Place = tuple[FloatArray, FloatArray, FloatArray]  # means, log standard deviations and log weights


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
    tried = []
    for kernels in starting_kernels(rows, n_kernels, support):
        climb = _Climb(some, kernels, prior, n_threads)
        climb.climb(_CYCLES_TO_START)
        tried.append(climb)
    best = max(tried, key=lambda climb: climb.objective[-1][-1])
    climb = _Climb(rows, best.kernels, prior, n_threads)
    for _ in range(_ROUNDS):
        settled = climb.climb(_CYCLES_A_ROUND, _STILL_A_ROUND)
        if climb.renew_alpha() and settled:
            break
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


class _Climb:
    """The state of EM on one table; steps are lengthened as long as the objective does not fall (SQUAREM)."""

    def __init__(self, rows: FloatArray, kernels: SharedKernels, prior: KernelPrior, n_threads: int) -> None:
        self.rows, self.kernels, self.prior, self.n_threads = rows, kernels, prior, n_threads
        self.counts = (~np.isnan(rows)).sum(axis=1)
        self.weights = np.tile(kernels.alpha / kernels.alpha.sum(), (rows.shape[0], 1))
        self.objective: list[list[float]] = [[]]
        self._longest = 4.0
        starts = range(0, rows.shape[0], _BLOCK)
        self.blocks = [(i, lo, min(lo + _BLOCK, rows.shape[0])) for i, lo in enumerate(starts)]

    def climb(self, n_cycles: int, still: float = _STILL) -> bool:
        """Take up to so many cycles of three steps; tell whether the kernels have settled."""
        for _ in range(n_cycles):
            start = self._place()
            self._record(self._step())
            once = self._place()
            if self._movement(start, once) < still:
                return True
            at_once = self._step()
            self._record(at_once)
            twice = self._place()
            self._go(self._further(start, once, twice))
            reached = self._step()
            if reached >= at_once:
                self._record(reached)
                self._longest *= 4.0
            else:
                self._go(twice)
                self._longest = max(1.0, 0.25 * self._longest)
        return False

    def _step(self) -> float:
        """Take one step of EM; return the objective before it."""
        value, sums, members = self._expect()
        self.weights = (self.kernels.alpha + members) / (self.kernels.alpha.sum() + self.counts)[:, None]
        self.kernels = self._maximise(sums)
        return value

    def _record(self, value: float) -> None:
        self.objective[-1].append(value)

    def _place(self) -> _Place:
        return self.kernels.mean, np.log(self.kernels.sd), np.log(self.weights)

    def _go(self, place: _Place) -> None:
        mean, log_sd, log_weights = place
        self.kernels = SharedKernels(mean, np.exp(log_sd), self.kernels.alpha, self.kernels.support)
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        self.weights = weights / weights.sum(axis=1, keepdims=True)

    def _movement(self, start: _Place, once: _Place) -> float:
        """Return how far the kernels moved, in standard deviations."""
        moved = np.abs(once[0] - start[0]) / np.exp(start[1])
        return float(max(moved.max(), np.abs(once[1] - start[1]).max()))

    def _further(self, start: _Place, once: _Place, twice: _Place) -> _Place:
        """Go on from two steps as if they were the first of a geometric series."""
        first = [b - a for a, b in zip(start, once, strict=True)]
        bend = [c - b - d for b, c, d in zip(once, twice, first, strict=True)]
        units = np.exp(-2.0 * start[1]), 1.0, 1.0 / self.rows.shape[0]
        lengths = [
            math.sqrt(sum(float((u * part**2).sum()) for u, part in zip(units, parts, strict=True)))
            for parts in (first, bend)
        ]
        pace = min(max(lengths[0] / max(lengths[1], 1e-300), 1.0), self._longest)
        mean, log_sd, log_weights = (
            a + 2.0 * pace * d + pace**2 * e for a, d, e in zip(start, first, bend, strict=True)
        )
        return mean, np.clip(log_sd, start[1] - 1.0, start[1] + 1.0), np.maximum(log_weights, -50.0)

    def _expect(self, products: FloatArray | None = None) -> tuple[float, FloatArray, FloatArray]:
        """Return the objective, sums about the means (number, first, second) by kernel, and members by feature."""
        n_kernels = self.kernels.n_kernels
        sums = np.zeros((len(self.blocks), 3, n_kernels))
        logs = np.zeros(len(self.blocks))
        members = np.zeros((self.rows.shape[0], n_kernels))
        constants = self.kernels.constants
        none = np.empty((0, n_kernels, n_kernels))

        def work(block: tuple[int, int, int]) -> None:
            i, lo, hi = block
            made = none if products is None else products[lo:hi]
            logs[i] = _responsibilities(
                self.rows[lo:hi], constants, self.weights[lo:hi], sums[i], members[lo:hi], made
            )

        for_each(work, self.blocks, self.n_threads)
        return float(logs.sum()) + self._log_prior(), sums.sum(axis=0), members

    def _log_prior(self) -> float:
        alpha = self.kernels.alpha
        log_beta = sum(map(math.lgamma, alpha.tolist())) - math.lgamma(float(alpha.sum()))
        of_weights = float((np.log(self.weights) @ alpha).sum()) - self.rows.shape[0] * log_beta
        return of_weights + self.prior.log_density(self.kernels.mean, self.kernels.sd)

    def _maximise(self, sums: FloatArray) -> SharedKernels:
        """Return the kernels of the highest density given sums about the present means."""
        mean, _, shape, rate = self.prior.updated(self.kernels, sums)
        sd = np.sqrt(rate / (shape - 0.5))
        if self.kernels.support is not None:
            mean, sd = np.array([self._maximise_truncated(k, sums, mean[k], sd[k]) for k in range(mean.size)]).T
        return SharedKernels(mean, sd, self.kernels.alpha, self.kernels.support)

    def _maximise_truncated(self, k: int, sums: FloatArray, mean: float, sd: float) -> tuple[float, float]:
        """Climb from the better of the present and the untruncated answer; never below the present."""
        from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

        at, unit = float(self.kernels.mean[k]), float(self.kernels.sd[k])

        def place(point: FloatArray) -> tuple[float, float]:
            return at + unit * float(point[0]), math.log(unit) + float(point[1])

        def loss(point: FloatArray) -> float:
            return -self.prior.log_posterior(self.kernels, k, sums, *place(point)) / (float(sums[0, k]) + 1.0)

        here, other = np.zeros(2), np.array([(mean - at) / unit, math.log(sd / unit)])
        bounds = [(-5.0, 5.0), (-2.0, 2.0)]
        start = min(here, np.clip(other, *np.transpose(bounds)), key=loss)
        found = minimize(loss, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9})
        there, log_sd = place(min(here, start, np.asarray(found.x), key=loss))
        return there, math.exp(log_sd)

    def renew_alpha(self) -> bool:
        """Set alpha by the moments of the weights; tell whether it has settled."""
        before = self.kernels.alpha
        if before.size == 1:
            return True
        products = np.zeros((self.rows.shape[0], before.size, before.size))
        self._expect(products)
        alpha = alpha_by_moments(self.weights, self._variances(products))
        self.kernels = SharedKernels(self.kernels.mean, self.kernels.sd, alpha, self.kernels.support)
        self.objective.append([])
        return bool(np.abs(np.log(alpha / before)).max() < _STILL_ALPHA)

    def _variances(self, products: FloatArray) -> FloatArray:
        """Variance of each weight about its estimate: the inverse of the curvature, brought to the weights."""
        w, alpha = self.weights, self.kernels.alpha
        outer = w[:, :, None] * w[:, None, :]
        eye = np.eye(alpha.size)
        total = (alpha.sum() + self.counts)[:, None, None]
        curvature = alpha * eye - total * outer + products + 1.0  # the last term fills the direction that is free
        moving = w[:, :, None] * eye - outer
        covariance = moving @ np.linalg.inv(curvature + 1e-9 * total * eye) @ moving
        return np.asarray(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))


def alpha_by_moments(weights: FloatArray, variances: FloatArray | float = 0.0) -> FloatArray:
    """Return the concentrations whose Dirichlet has the means, and on average the variances, of weights."""
    mean = weights.mean(axis=0)
    variance = weights.var(axis=0) + np.mean(np.broadcast_to(variances, weights.shape), axis=0)
    with np.errstate(divide="ignore"):
        each = (mean * (1.0 - mean) / variance - 1.0)[:-1]
    total = math.exp(float(np.log(np.clip(each, LEAST_ALPHA, 1e6)).mean()))
    return np.asarray(np.clip(mean * total, LEAST_ALPHA, MOST_ALPHA))


@compiled(fastmath={"contract"})
def _responsibilities_of_two(
    rows: Any, constants: Any, weights: Any, sums: Any, members: Any, products: Any
) -> float:
    """Do what :func:`_responsibilities` does for two kernels, with one exponential a value."""
    log_likelihood, product = 0.0, 1.0
    first, second = np.zeros(2), np.zeros(2)
    for f in range(rows.shape[0]):
        w0, w1 = weights[f, 0], weights[f, 1]
        member0, square0, n = 0.0, 0.0, 0
        for i in range(rows.shape[1]):
            x = rows[f, i]
            if math.isnan(x):
                continue
            gap0, gap1 = x - constants[0, 0], x - constants[0, 1]
            scaled0, scaled1 = gap0 * constants[1, 0], gap1 * constants[1, 1]
            log0 = constants[2, 0] - 0.5 * scaled0 * scaled0
            log1 = constants[2, 1] - 0.5 * scaled1 * scaled1
            ratio = math.exp(-abs(log0 - log1))
            larger = log0 > log1
            part0, part1 = (w0, w1 * ratio) if larger else (w0 * ratio, w1)
            total = part0 + part1
            log_likelihood += log0 if larger else log1
            product *= total  # one logarithm serves many
            if product < _SMALL:
                log_likelihood += math.log(product)
                product = 1.0
            inverse = 1.0 / total
            part0, part1 = part0 * inverse, part1 * inverse
            member0 += part0
            square0 += part0 * part0
            n += 1
            moved0, moved1 = part0 * gap0, part1 * gap1
            first[0] += moved0
            first[1] += moved1
            second[0] += moved0 * gap0
            second[1] += moved1 * gap1
        members[f, 0], members[f, 1] = member0, n - member0
        sums[0] += members[f]
        if products.shape[0] > 0:
            products[f, 0, 0], products[f, 1, 1] = square0, n - 2.0 * member0 + square0
            products[f, 0, 1] = products[f, 1, 0] = member0 - square0
    sums[1] += first
    sums[2] += second
    return log_likelihood + math.log(product)


@compiled(fastmath={"contract"})
def _responsibilities(  # noqa: C901 - one loop, compiled
    rows: Any, constants: Any, weights: Any, sums: Any, members: Any, products: Any
) -> float:
    """Share values out among the kernels; return the log-likelihood."""
    n_kernels = constants.shape[1]
    if n_kernels == 2:
        return _responsibilities_of_two(rows, constants, weights, sums, members, products)
    part, gap, member = np.empty(n_kernels), np.empty(n_kernels), np.empty(n_kernels)
    log_likelihood, product = 0.0, 1.0
    for f in range(rows.shape[0]):
        member[:] = 0.0
        for i in range(rows.shape[1]):
            x = rows[f, i]
            if math.isnan(x):
                continue
            most, at = -np.inf, 0
            for k in range(n_kernels):
                gap[k] = x - constants[0, k]
                scaled = gap[k] * constants[1, k]
                part[k] = constants[2, k] - 0.5 * scaled * scaled
                if part[k] > most:
                    most, at = part[k], k
            total = 0.0
            for k in range(n_kernels):
                part[k] = weights[f, k] if k == at else weights[f, k] * math.exp(part[k] - most)
                total += part[k]
            log_likelihood += most
            product *= total  # one logarithm serves many
            if product < _SMALL:
                log_likelihood += math.log(product)
                product = 1.0
            inverse = 1.0 / total
            for k in range(n_kernels):
                part[k] *= inverse
                member[k] += part[k]
                moved = part[k] * gap[k]
                sums[1, k] += moved
                sums[2, k] += moved * gap[k]
            if products.shape[0] > 0:
                for k in range(n_kernels):
                    for j in range(n_kernels):
                        products[f, k, j] += part[k] * part[j]
        members[f] = member
        sums[0] += member
    return log_likelihood + math.log(product)
