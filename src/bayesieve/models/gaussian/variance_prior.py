r"""The prior that all features together give to the variance of one, fitted as limma does.

If :math:`1/\sigma_f^2 \sim \chi^2_{d_0} / (d_0 s_0^2)`, the residual variances :math:`s_f^2` follow
:math:`s_0^2 F_{d_f, d_0}`, and :math:`d_0` and :math:`s_0^2` follow from mean and variance of their logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import digamma, polygamma

from bayesieve.utils import DataError, DegenerateFeatureWarning, FloatArray, check_choice, warn

LIMIT_SCALES = ("mean", "log_mean")
_LEAST_SHARE = 1e-5  # of the median: smaller variances are raised to it before the logarithm
_SIZES = (3, 6, 30)  # number of features from which a trend has one more dimension


@dataclass(frozen=True, slots=True, eq=False)
class VariancePrior:
    r"""What all features together say about the variance of one.

    Parameters
    ----------
    dof
        :math:`d_0`, how many degrees of freedom that knowledge is worth; infinite if all features have the same
        variance.
    scale
        :math:`s_0^2`, the variance expected; one per feature if it follows a trend.
    """

    dof: float
    scale: Any

    def posterior(self, variance: FloatArray, dof: Any) -> FloatArray:
        r"""Squeeze variances towards the prior: :math:`(d s^2 + d_0 s_0^2) / (d + d_0)`."""
        if math.isinf(self.dof):
            return np.array(np.broadcast_to(self.scale, np.shape(variance)), dtype=np.float64)
        known = np.where(np.equal(dof, 0), 0.0, variance)
        return np.asarray((dof * known + self.dof * self.scale) / (dof + self.dof))


def fit_variance_prior(
    variance: npt.ArrayLike,
    dof: npt.ArrayLike,
    covariate: npt.ArrayLike | None = None,
    *,
    limit_scale: str = "mean",
) -> VariancePrior:
    r"""Fit the prior to residual variances by the moments of their logarithms, as limma's ``fitFDist`` does.

    With :math:`e_f = \log s_f^2 - \psi(d_f/2) + \log(d_f/2)`, the variance of :math:`e` less the mean of
    :math:`\psi'(d_f/2)` is :math:`\psi'(d_0/2)`, and
    :math:`\log s_0^2 = \bar e + \psi(d_0/2) - \log(d_0/2)`. If nothing is left of that variance,
    :math:`d_0 = \infty`.

    Parameters
    ----------
    variance
        Residual variances.
    dof
        Their degrees of freedom, one number or one per feature; features with none do not take part.
    covariate
        One number per feature, of which the expected log variance is a natural cubic spline; None for a constant.
    limit_scale
        The scale if :math:`d_0 = \infty` and there is no trend: ``"mean"`` of the variances, as limma has it since
        2017, or ``"log_mean"``, :math:`\exp \bar e`, as it was before.
    """
    check_choice("limit_scale", limit_scale, LIMIT_SCALES)
    x, d = np.asarray(variance, dtype=np.float64), np.asarray(dof, dtype=np.float64)
    used = np.isfinite(x) & (d > 0)
    if not used.any():
        raise DataError("No feature has a residual variance. Every class needs more than one value somewhere.")
    z = None if covariate is None else np.asarray(covariate, dtype=np.float64)
    if not used.all():
        x, d = x[used], d[used] if d.ndim else d
    if x.size == 1:
        return VariancePrior(0.0, float(x[0]))
    size = 1 if z is None else _dimensions(z[used])
    if z is not None and size < 2:  # nothing to follow: one prior for all, as without a covariate
        flat = fit_variance_prior(x, d, limit_scale=limit_scale)
        return VariancePrior(flat.dof, np.full(z.shape, flat.scale))
    raised = _raise_zeros(x)
    half, where = np.unique(0.5 * d, return_inverse=True) if d.ndim else (0.5 * d, ...)  # few distinct numbers
    e = np.log(raised) - (digamma(half) - np.log(half))[where]
    centre, spread = _line(e) if z is None else _trend(e, z, used, size)
    left = spread - float(np.mean(polygamma(1, half)[where]))
    if left > 0:
        half_dof = trigamma_inverse(left)
        return VariancePrior(2.0 * half_dof, np.exp(centre + (float(digamma(half_dof)) - math.log(half_dof))))
    if z is None and limit_scale == "mean":
        return VariancePrior(math.inf, float(np.mean(raised)))
    return VariancePrior(math.inf, np.exp(centre))


def trigamma_inverse(x: float) -> float:
    r"""Solve :math:`\psi'(y) = x` by Newton's method on :math:`1/\psi'`, which never overshoots."""
    if x > 1e7:
        return 1.0 / math.sqrt(x)
    if x < 1e-6:
        return 1.0 / x
    y = 0.5 + 1.0 / x
    for _ in range(50):
        slope = float(polygamma(1, y))
        step = slope * (1.0 - slope / x) / float(polygamma(2, y))
        y += step
        if -step / y < 1e-8:
            break
    return y


def natural_spline(x: FloatArray, knots: FloatArray) -> FloatArray:
    r"""Basis of the cubic splines with these knots that are straight lines beyond the first and the last.

    Returns
    -------
    numpy.ndarray
        One column per knot: 1, :math:`x`, and differences of truncated cubes (all in units of the range of the
        knots).
    """
    low, width = knots[0], knots[-1] - knots[0]
    u, k = (x - low) / width, (knots - low) / width
    above = [np.maximum(u - each, 0.0) for each in k]
    cubes = [each * each * each for each in above]
    slopes = [(cubes[i] - cubes[-1]) / (k[-1] - k[i]) for i in range(k.size - 1)]
    return np.column_stack([np.ones_like(u), u, *(slope - slopes[-1] for slope in slopes[:-1])])


def _raise_zeros(x: FloatArray) -> FloatArray:
    """Raise variances of 0 and nearly 0 so that they have a logarithm."""
    x = np.maximum(x, 0.0)
    median = float(np.median(x))
    if median == 0:
        warn(
            DegenerateFeatureWarning,
            f"{int((x == 0).sum())} of {x.size} residual variances are 0, at least half of them: the common "
            "prior of the variances is not to be trusted. Leave out features without variance.",
        )
        median = 1.0
    return np.maximum(x, _LEAST_SHARE * median)


def _line(e: FloatArray) -> tuple[float, float]:
    """Mean and variance."""
    centre = float(np.mean(e))
    return centre, float(np.sum((e - centre) ** 2)) / (e.size - 1)


def _dimensions(known: FloatArray) -> int:
    """Dimensions of a trend over these numbers, 1 if there is none to be seen."""
    return min(1 + sum(known.size >= least for least in _SIZES), np.unique(known).size)


def _trend(e: FloatArray, z: FloatArray, used: npt.NDArray[np.bool_], size: int) -> tuple[Any, float]:
    """Trend at all features, fitted to those in use, and the variance about it."""
    known = z[used]
    knots = np.quantile(known, np.linspace(0.0, 1.0, size))
    if (np.diff(knots) <= 0).any():
        raise DataError(
            f"A trend of the variances cannot be fitted: many of the {known.size} features share their mean. "
            "Leave trend out."
        )
    basis = natural_spline(z, knots)
    coefficients, _, rank, _ = np.linalg.lstsq(basis[used], e, rcond=None)
    fitted = basis @ coefficients
    rest = e - fitted[used]
    return fitted, float(rest @ rest) / (e.size - int(rank))
