r"""The moderated t-test of limma, with the inverse gamma prior of variances fitted to all features.

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

from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.t_tests import TwoSamples, t_scores, warn_degenerate
from bayesieve.stats import Moments
from bayesieve.utils import DataError, DegenerateFeatureWarning, FloatArray, LabelError, check_choice, warn

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
    raised = _raise_zeros(x)
    half, where = np.unique(0.5 * d, return_inverse=True) if d.ndim else (0.5 * d, ...)  # few distinct numbers
    e = np.log(raised) - (digamma(half) - np.log(half))[where]
    centre, spread = _line(e) if z is None else _trend(e, z, used)
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


def _trend(e: FloatArray, z: FloatArray, used: npt.NDArray[np.bool_]) -> tuple[Any, float]:
    """Trend at all features, fitted to those in use, and the variance about it."""
    known = z[used]
    size = min(1 + sum(e.size >= least for least in _SIZES), np.unique(known).size)
    if size < 2:
        centre, spread = _line(e)
        return np.full(z.shape, centre), spread
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


def moderated_t(
    moments: Moments,
    *,
    trend: bool = False,
    limit_scale: str = "mean",
    score: str = "p_value",
    p_values: bool = True,
) -> FeatureScores:
    r"""Moderated t-test of every feature, from moments alone: limma's ``eBayes`` for two groups.

    .. math::
        \tilde t = \frac{\bar x_1 - \bar x_0}{\tilde s \sqrt{1/n_0 + 1/n_1}}, \qquad
        \tilde s^2 = \frac{d\,s^2 + d_0 s_0^2}{d + d_0}, \qquad
        s^2 = \frac{SS_0 + SS_1}{d}, \qquad d = n_0 + n_1 - 2

    with :math:`d_0` and :math:`s_0^2` of :func:`~bayesieve.rivals.moderated_t.fit_variance_prior`; there are
    :math:`\min(d + d_0, \sum_f d_f)` degrees of freedom.

    Parameters
    ----------
    moments
        Moments of two classes, with at least one value each and three together.
    trend
        Let the expected variance depend on the mean of a feature, by a natural cubic spline (``trend=TRUE``).
    limit_scale
        The common variance if :math:`d_0 = \infty`; see
        :func:`~bayesieve.rivals.moderated_t.fit_variance_prior`.
    score
        ``"p_value"``: rank by p-value, the score is :math:`-\log p`. ``"abs_t"``: rank by :math:`|\tilde t|`, the
        same order unless values are missing.
    p_values
        False leaves out the p-values where ranks do not need them, which is quicker; the score is then
        :math:`|\tilde t|`.

    Returns
    -------
    FeatureScores
        With ``t``, ``dof``, ``posterior_variance``, ``prior_variance`` (:math:`s_0^2`) and ``prior_dof``
        (:math:`d_0`) in ``details``. A feature without a value in a class is not tested (NaN).

    Notes
    -----
    With missing values the degrees of freedom differ, and :math:`d_0` is found as limma did up to version 3.60
    (``legacy=TRUE`` in later ones).
    """
    pair = TwoSamples.of(moments, "The moderated t-test", smallest=1)
    dof = pair.pooled_dof
    if not (dof > 0).any():
        raise LabelError("The moderated t-test needs more than one value in a class of at least one feature.")
    squares = pair.squares0 + pair.squares1
    variance = squares / np.where(dof > 0, dof, np.nan)
    prior = fit_variance_prior(
        variance, _plain(dof), _average(moments) if trend else None, limit_scale=limit_scale
    )
    posterior = prior.posterior(variance, dof)
    with np.errstate(divide="ignore", invalid="ignore"):  # features without variance or without values
        t = pair.difference / (pair.scale * np.sqrt(posterior))
    total = np.minimum(dof + prior.dof, np.broadcast_to(dof, t.shape).sum())
    warn_degenerate(
        t.size,
        ((squares == 0) & (dof > 0), "constant in each class, with the variance that the others suggest"),
        (np.isnan(pair.difference), "not tested: no value in a class"),
    )
    details = {
        "posterior_variance": posterior,
        "prior_variance": np.broadcast_to(prior.scale, t.shape),
        "prior_dof": np.full(t.shape, prior.dof),
    }
    return t_scores("moderated_t", t, total, pair.difference, score=score, p_values=p_values, details=details)


def _plain(dof: FloatArray) -> npt.ArrayLike:
    """One number where all features have as many values: special functions are slow."""
    return dof[0] if dof.size == 1 else dof


def _average(moments: Moments) -> FloatArray:
    """Mean of all values of a feature, limma's ``Amean``."""
    pooled = moments.pool()
    return np.where(np.broadcast_to(pooled.counts, pooled.mean.shape)[0] > 0, pooled.mean[0], np.nan)


RIVAL = Rival("limma", "Moderated t", "moments", moderated_t)
