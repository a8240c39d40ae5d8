"""KernelPrior: what is believed of a kernel beforehand, and what sums of its values make of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesieve.rivals.skbs.shared_kernels import SharedKernels, log_mass
from bayesieve.utils import FloatArray


@dataclass(frozen=True, slots=True)
class KernelPrior:
    """Prior of a kernel: its precision is Gamma(shape, rate), its mean as if of ``size`` values at ``centre``."""

    centre: float
    rate: float
    shape: float = 1.0
    size: float = 1.0

    @classmethod
    def of(cls, rows: FloatArray) -> KernelPrior:
        """Take the mean and variance of all values."""
        return cls(float(np.nanmean(rows)), float(np.nanvar(rows)))

    def log_density(self, mean: FloatArray, sd: FloatArray) -> float:
        """Log density of means and precisions, up to a constant."""
        precision = sd**-2.0
        spread = 0.5 * self.size * (mean - self.centre) ** 2
        return float(np.sum((self.shape - 0.5) * np.log(precision) - precision * (self.rate + spread)))

    def updated(
        self, kernels: SharedKernels, sums: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Posterior of kernels that are not cut off: centre, size, shape and rate of each.

        ``sums`` are the number of values of each kernel, and their first and second sums about its present mean.
        """
        number, first, second = sums
        size = self.size + number
        gap = self.centre - kernels.mean
        shift = (self.size * gap + first) / size
        rate = self.rate + 0.5 * (second + self.size * gap**2 - size * shift**2)
        return kernels.mean + shift, size, self.shape + 0.5 * number, rate

    def log_posterior(self, kernels: SharedKernels, k: int, sums: FloatArray, mean: float, log_sd: float) -> float:
        """Log density of the mean and precision of a kernel, cut off or not, given sums about its present mean."""
        number, first, second = (float(each) for each in sums[:, k])
        gap, sd = mean - float(kernels.mean[k]), math.exp(log_sd)
        at, wide = np.array([mean]), np.array([sd])
        fit = -0.5 * (second - 2.0 * gap * first + number * gap * gap) / sd**2
        inside = float(log_mass(at, wide, kernels.support)[0])
        return fit - number * (log_sd + inside) + self.log_density(at, wide)
