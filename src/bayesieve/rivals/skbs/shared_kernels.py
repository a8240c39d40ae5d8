r"""SharedKernels: the dictionary of Gaussian kernels that all features are mixtures of.

A value of feature :math:`m` in class :math:`y` has density :math:`\sum_k w_{myk} f_k(x)`. The kernels :math:`f_k`
belong to all features; the weights are a feature's own, with a Dirichlet(:math:`\alpha`) prior. A marker has
weights for each class, another feature one set of weights for both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.utils import FloatArray, OptionError, is_number

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True, slots=True, eq=False)
class SharedKernels:
    r"""Kernels and the Dirichlet prior of the weights.

    Parameters
    ----------
    mean, sd
        Of each kernel.
    alpha
        Concentrations of the Dirichlet prior, one per kernel.
    support
        Ends between which the kernels are cut off, as for shares of methylation, or None.
    """

    mean: FloatArray
    sd: FloatArray
    alpha: FloatArray
    support: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        columns = [np.atleast_1d(np.array(each, dtype=np.float64)) for each in (self.mean, self.sd, self.alpha)]
        if len({each.shape for each in columns}) != 1 or columns[0].ndim != 1:
            raise OptionError("Kernels need a mean, a standard deviation and a concentration each.")
        if not np.isfinite(columns).all() or min(columns[1].min(), columns[2].min()) <= 0.0:
            raise OptionError("Standard deviations and concentrations of kernels must be positive and finite.")
        for name, each in zip(("mean", "sd", "alpha"), columns, strict=True):
            each.flags.writeable = False
            object.__setattr__(self, name, each)
        object.__setattr__(self, "support", check_support(self.support))

    @property
    def n_kernels(self) -> int:
        """Number of kernels."""
        return int(self.mean.size)

    @property
    def constants(self) -> FloatArray:
        """Mean, inverse standard deviation and logarithm of the factor of each kernel: ``(3, n_kernels)``."""
        factor = -np.log(self.sd) - _HALF_LOG_2PI - log_mass(self.mean, self.sd, self.support)
        return np.stack([self.mean, 1.0 / self.sd, factor])

    def log_density(self, values: Any) -> FloatArray:
        """Log density of every value under every kernel: a last axis of kernels."""
        mean, rate, factor = self.constants
        scaled = (np.asarray(values, dtype=np.float64)[..., None] - mean) * rate
        return np.asarray(factor - 0.5 * scaled * scaled)

    def ordered(self) -> SharedKernels:
        """The same kernels, by their means."""
        order = np.lexsort((self.sd, self.mean))
        return SharedKernels(self.mean[order], self.sd[order], self.alpha[order], self.support)


def log_mass(mean: FloatArray, sd: FloatArray, support: tuple[float, float] | None) -> FloatArray:
    """Logarithm of the share of each Gaussian inside the support."""
    if support is None:
        return np.zeros(np.shape(mean))
    from scipy.special import log_ndtr  # noqa: PLC0415 - slow to import

    low, high = (support[0] - mean) / sd, (support[1] - mean) / sd
    flip = low > 0.0  # the lower tail keeps its digits
    below, above = np.where(flip, -high, low), np.where(flip, -low, high)
    upper = log_ndtr(above)
    return np.asarray(upper + np.log(-np.expm1(np.minimum(log_ndtr(below) - upper, -1e-300))))


def check_support(support: Any) -> tuple[float, float] | None:
    """Return the two ends of the support, or raise."""
    if support is None:
        return None
    ends = tuple(support) if isinstance(support, (tuple, list, np.ndarray)) else ()
    if len(ends) != 2 or not all(is_number(end) and math.isfinite(end) for end in ends) or ends[0] >= ends[1]:
        raise OptionError(
            f"support must be two ends such as (0, 1), the lower one first, or None, not {support!r}."
        )
    return float(ends[0]), float(ends[1])
