r"""Expectation and maximisation for shared kernels: steps, and long steps as long as they climb.

With one, or with more than three kernels the weights of every feature are estimated as well, in the basis
:math:`\theta = \ln w`, in which a Dirichlet density is :math:`\prod_k w_k^{\alpha_k} / B(\alpha)` and has its mode
inside the simplex for every :math:`\alpha`. With two or three they are integrated out.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from bayesieve.rivals.skbs import em_loops
from bayesieve.rivals.skbs.kernel_prior import KernelPrior
from bayesieve.rivals.skbs.quadrature import COARSE, quadrature
from bayesieve.rivals.skbs.shared_kernels import SharedKernels
from bayesieve.utils import FloatArray, for_each

_BLOCK = 32  # features; sums are added block by block whatever the number of threads
_STILL = 1e-5  # of a standard deviation: kernels that move less in a step have settled

_Place = tuple[FloatArray, ...]  # means, log standard deviations, and log weights if they are estimated


class Climb(ABC):
    """The state of EM on one table, one feature per row, NaN where there is no value.

    ``weights`` are the estimated weights of every feature, ``variances`` those of the weights about the estimates,
    and ``objective`` holds the values reached, one sequence per value of alpha.
    """

    def __init__(self, rows: FloatArray, kernels: SharedKernels, prior: KernelPrior, n_threads: int) -> None:
        self.rows, self.kernels, self.prior, self.n_threads = rows, kernels, prior, n_threads
        self.weights = np.tile(kernels.alpha / kernels.alpha.sum(), (rows.shape[0], 1))
        self.objective: list[list[float]] = [[]]
        self._longest = 4.0
        starts = range(0, rows.shape[0], _BLOCK)
        self._blocks = [(i, lo, min(lo + _BLOCK, rows.shape[0])) for i, lo in enumerate(starts)]

    @abstractmethod
    def _expect(self) -> tuple[float, FloatArray]:
        """Return the objective, and the number and the first and second sums about the mean of each kernel."""

    @property
    @abstractmethod
    def variances(self) -> FloatArray:
        """Variance of each weight about its estimate."""

    def climb(self, n_cycles: int, still: float = _STILL) -> bool:
        """Take up to so many cycles of three steps; tell whether the kernels have settled.

        Two steps are prolonged to a third as if they were the first of a geometric series (SQUAREM), which is
        taken back if the objective falls.
        """
        for _ in range(n_cycles):
            start = self._place()
            self._record(self._step())
            once = self._place()
            if _movement(start, once) < still:
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

    def set_alpha(self, alpha: FloatArray) -> None:
        """Go on with other concentrations."""
        self.kernels = SharedKernels(self.kernels.mean, self.kernels.sd, alpha, self.kernels.support)
        self.objective.append([])

    def _step(self) -> float:
        """Take one step of EM; return the objective before it."""
        value, sums = self._expect()
        self.kernels = self._maximise(sums)
        return value

    def _record(self, value: float) -> None:
        self.objective[-1].append(value)

    def _place(self) -> _Place:
        return self.kernels.mean, np.log(self.kernels.sd)

    def _go(self, place: _Place) -> None:
        self.kernels = SharedKernels(place[0], np.exp(place[1]), self.kernels.alpha, self.kernels.support)

    def _further(self, start: _Place, once: _Place, twice: _Place) -> _Place:
        first = [b - a for a, b in zip(start, once, strict=True)]
        bend = [c - b - d for b, c, d in zip(once, twice, first, strict=True)]
        units = (np.exp(-2.0 * start[1]), 1.0, 1.0 / self.rows.shape[0])[: len(start)]
        lengths = [
            math.sqrt(sum(float((u * part**2).sum()) for u, part in zip(units, parts, strict=True)))
            for parts in (first, bend)
        ]
        pace = min(max(lengths[0] / max(lengths[1], 1e-300), 1.0), self._longest)
        mean, log_sd, *others = (
            a + 2.0 * pace * d + pace**2 * e for a, d, e in zip(start, first, bend, strict=True)
        )
        return mean, np.clip(log_sd, start[1] - 1.0, start[1] + 1.0), *others

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


class IntegratedClimb(Climb):
    """Two or three kernels: the weights are integrated out on nodes, which stay as long as alpha does."""

    def __init__(self, rows: FloatArray, kernels: SharedKernels, prior: KernelPrior, n_threads: int) -> None:
        super().__init__(rows, kernels, prior, n_threads)
        self._variances = np.zeros_like(self.weights)

    @property
    def variances(self) -> FloatArray:
        """Posterior variances of the weights."""
        return self._variances

    def _expect(self) -> tuple[float, FloatArray]:
        rule = quadrature(tuple(self.kernels.alpha.tolist()), self.rows.shape[1], COARSE)
        sums, logs = np.zeros((len(self._blocks), 3, self.kernels.n_kernels)), np.zeros(len(self._blocks))
        constants = self.kernels.constants

        def work(block: tuple[int, int, int]) -> None:
            i, lo, hi = block
            logs[i] = em_loops.share_integrated(
                self.rows[lo:hi], constants, rule.nodes, rule.log_weights, sums[i], self.weights[lo:hi],
                self._variances[lo:hi],
            )  # fmt: skip

        for_each(work, self._blocks, self.n_threads)
        value = float(logs.sum()) + self.prior.log_density(self.kernels.mean, self.kernels.sd)
        return value, sums.sum(axis=0)


class ModeClimb(Climb):
    """Any number of kernels: the weights are estimated."""

    def __init__(self, rows: FloatArray, kernels: SharedKernels, prior: KernelPrior, n_threads: int) -> None:
        super().__init__(rows, kernels, prior, n_threads)
        self.counts = (~np.isnan(rows)).sum(axis=1)

    def _step(self) -> float:
        value, sums, members, _ = self._share()
        self.weights = (self.kernels.alpha + members) / (self.kernels.alpha.sum() + self.counts)[:, None]
        self.kernels = self._maximise(sums)
        return value

    def _expect(self) -> tuple[float, FloatArray]:
        return self._share()[:2]

    def _share(self, *, products: bool = False) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Return also the number of values of each feature by kernel, and sums of products of their shares."""
        n_kernels, n_features = self.kernels.n_kernels, self.rows.shape[0]
        sums, logs = np.zeros((len(self._blocks), 3, n_kernels)), np.zeros(len(self._blocks))
        members = np.zeros((n_features, n_kernels))
        made = np.zeros((n_features if products else 0, n_kernels, n_kernels))
        constants = self.kernels.constants

        def work(block: tuple[int, int, int]) -> None:
            i, lo, hi = block
            logs[i] = em_loops.share_at_mode(
                self.rows[lo:hi], constants, self.weights[lo:hi], sums[i], members[lo:hi], made[lo:hi]
            )

        for_each(work, self._blocks, self.n_threads)
        return float(logs.sum()) + self._log_prior(), sums.sum(axis=0), members, made

    def _log_prior(self) -> float:
        alpha = self.kernels.alpha
        log_beta = sum(map(math.lgamma, alpha.tolist())) - math.lgamma(float(alpha.sum()))
        of_weights: float = float((np.log(self.weights) @ alpha).sum()) - self.rows.shape[0] * log_beta
        return of_weights + self.prior.log_density(self.kernels.mean, self.kernels.sd)

    def _place(self) -> _Place:
        return *super()._place(), np.log(self.weights)

    def _go(self, place: _Place) -> None:
        super()._go(place)
        weights = np.exp(np.maximum(place[2] - place[2].max(axis=1, keepdims=True), -50.0))
        self.weights = weights / weights.sum(axis=1, keepdims=True)

    @property
    def variances(self) -> FloatArray:
        """Inverse of the curvature of the objective (Laplace), brought to the weights."""
        products = self._share(products=True)[3]
        w, alpha = self.weights, self.kernels.alpha
        outer = w[:, :, None] * w[:, None, :]
        eye = np.eye(alpha.size)
        total = (alpha.sum() + self.counts)[:, None, None]
        curvature = alpha * eye - total * outer + products + 1.0  # the last term fills the direction that is free
        moving = w[:, :, None] * eye - outer
        covariance = moving @ np.linalg.inv(curvature + 1e-9 * total * eye) @ moving
        return np.asarray(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))


def _movement(start: _Place, once: _Place) -> float:
    """Return how far kernels moved, in standard deviations."""
    moved = np.abs(once[0] - start[0]) / np.exp(start[1])
    return float(max(moved.max(), np.abs(once[1] - start[1]).max()))
