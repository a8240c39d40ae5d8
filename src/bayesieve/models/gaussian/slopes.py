r"""Two groups with means and variances of their own and slopes on covariates that they share.

With :class:`bayesieve.stats.DesignMoments`, :math:`A = A_0 + A_1` and least-squares slopes :math:`\hat\beta` that
both groups share, there is a matrix :math:`T` with :math:`T^T A T = 1` and :math:`T^T A_0 T =
\mathrm{diag}(\lambda)`.
With :math:`c = T^T (b_0 - A_0 \hat\beta)`, squares :math:`S_y` about the shared slopes and a ratio
:math:`\rho = \sigma_1 / \sigma_0` of the variances, the weighted regression leaves

.. math::
    R(\rho) = S_0 + S_1 / \rho - (1 - 1/\rho)^2 \sum_k c_k^2 / D_k, \quad D_k = \lambda_k + (1 - \lambda_k) / \rho

and has the determinant :math:`|A| \prod_k D_k`. Under Jeffreys' prior of each mean and variance, and flat slopes,
the Bayes factor of a difference against none is

.. math::
    BF = L \sqrt{2\pi\, \frac{n}{n_0 n_1} (1 + N \delta^T A^{-1} \delta)}
        \int \frac{d\rho}{\rho}\, \rho^{-n_1/2} \prod_k D_k^{-1/2} \left[\frac{R(\rho)}{Q}\right]^{-(n - p)/2}

with :math:`Q` what one regression of all samples leaves, :math:`\delta` the difference of the means of the
covariates and :math:`N = n_0 n_1 / n`. Without covariates this is the two-class Bayes factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.models.gaussian.normal_inverse_gamma import log_gamma
from bayesieve.models.gaussian.two_ratios import log_two_ratios_integral
from bayesieve.models.gaussian.variance_ratio import log_ratio_integral
from bayesieve.stats import AdjustedMoments, DesignMoments, Moments, full_rank, solve
from bayesieve.utils import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class SlopeGroups:
    r"""What two groups with shared slopes come down to.

    Parameters
    ----------
    moments
        Moments of both groups, adjusted by the shared slopes.
    leverage
        :math:`\delta^T A^{-1} \delta`, a number or one per feature: what slopes add to the variance of a
        difference.
    shares, turned
        :math:`\lambda` and :math:`c`, ``(n_covariates, n_features)``.
    apart
        Squares of :math:`T^T \delta`, of the same shape.
    defined
        Where covariates tell more than each other.
    """

    moments: Moments
    leverage: FloatArray
    shares: FloatArray
    turned: FloatArray
    apart: FloatArray
    defined: BoolArray

    @classmethod
    def of(cls, design: DesignMoments) -> SlopeGroups:
        """Reduce the moments of two groups and their covariates."""
        adjusted = AdjustedMoments.of(design)
        n = design.n_features
        scatter, cross = design.scatter, design.cross
        products = scatter.sum(axis=0)
        shift = design.location[1] - design.location[0]
        defined = np.broadcast_to(full_rank(products), (n,))
        if not design.n_covariates:
            nothing = np.empty((0, n))
            return cls(adjusted, np.zeros(1), nothing, nothing, nothing, defined)
        left = cross[0] - _times(scatter[0], solve(products, cross.sum(axis=0)))
        if not design.by_feature:
            turn, shares = _diagonal(products, scatter[0])
            away = turn.T @ shift
            wide = (np.broadcast_to(each[:, None], (shares.size, n)) for each in (shares, away**2))
            one, three = wide
            return cls(adjusted, np.atleast_1d(away @ away), one, turn.T @ left, three, defined)
        stacked = np.where(defined[:, None, None], np.moveaxis(products, -1, 0), np.eye(len(products)))
        turn, shares = _diagonal(stacked, np.moveaxis(scatter[0], -1, 0))
        away, turned = (np.einsum("fab,af->bf", turn, each) for each in (shift, left))
        return cls(adjusted, (away**2).sum(axis=0), shares.T, turned, away**2, defined)

    @property
    def counts(self) -> FloatArray:
        """Number of values of both groups, as numbers or one per feature."""
        return np.asarray(self.moments.counts, dtype=np.float64)

    @property
    def size(self) -> FloatArray:
        """Harmonic size of a difference given the slopes: its variance is that of a value over this."""
        n0, n1 = self.counts
        return _harmonic(n0, n1, self.leverage)

    @property
    def within(self) -> FloatArray:
        """Squares about the means of both groups and the shared slopes."""
        return np.asarray(self.moments.centred_squares.sum(axis=0))


def size_of_difference(design: DesignMoments) -> FloatArray:
    """Harmonic size of the difference of two groups given slopes; see :attr:`SlopeGroups.size`."""
    n0, n1 = np.asarray(design.counts, dtype=np.float64)
    shift = design.location[1] - design.location[0]
    wide = shift if design.by_feature else shift[:, None]
    leverage = (wide * solve(design.scatter.sum(axis=0), np.ascontiguousarray(wide))).sum(axis=0)
    return _harmonic(n0, n1, leverage)


def _harmonic(n0: FloatArray, n1: FloatArray, leverage: FloatArray) -> FloatArray:
    plain = n0 * n1 / np.maximum(n0 + n1, 1.0)
    return np.asarray(plain / (1.0 + plain * leverage))


def grouped(design: DesignMoments, groups: Sequence[tuple[int, ...]]) -> DesignMoments:
    """Moments of groups of classes."""
    named = [[design.classes[k] for k in group] for group in groups]
    return design.grouped(named, tuple(range(len(groups))))


def _times(matrix: FloatArray, vectors: FloatArray) -> FloatArray:
    return matrix @ vectors if matrix.ndim == 2 else np.einsum("abf,bf->af", matrix, vectors)


def _diagonal(whole: FloatArray, part: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return T that makes the whole the unit matrix and the part diagonal, and that diagonal, between 0 and 1."""
    root = np.linalg.cholesky(whole)
    inverse = np.linalg.inv(root)
    turned = inverse @ part @ np.swapaxes(inverse, -1, -2)
    shares, vectors = np.linalg.eigh(0.5 * (turned + np.swapaxes(turned, -1, -2)))
    return np.swapaxes(inverse, -1, -2) @ vectors, np.clip(shares, 0.0, 1.0)


def slopes_log_bayes_factor(
    design: DesignMoments, log_prior_ratio: Any, *, scaled: bool = False, n_threads: int | None = None
) -> FloatArray:
    r"""Log Bayes factor of two groups that differ in mean, variance or both, given slopes that they share.

    Parameters
    ----------
    design
        Moments of two classes and their covariates.
    log_prior_ratio
        Log of the paper's :math:`L`, a number or one per feature.
    scaled
        Give slopes and the common location a prior in units of the values, :math:`|Z^T W Z|^{1/2} / |Z^T Z|^{1/2}`
        with the precisions :math:`W` of the samples, instead of flat slopes: with indicators of blocks as
        covariates that is the model of a shared shift. It forgets that slopes cost degrees of freedom.
    n_threads
        Threads; the result is the same to the last bit.

    Returns
    -------
    numpy.ndarray
        One number per feature; NaN where a group has no spread about a regression of its own.
    """
    groups, p = SlopeGroups.of(design), design.n_covariates
    n0, n1 = groups.counts
    n = n0 + n1
    squares, within = groups.moments.centred_squares, groups.within
    slopes = (groups.shares, groups.turned, *((groups.apart,) if scaled else ()))
    counts = np.stack([n0, n1])[None]
    nothing = np.zeros((1, design.n_features))
    integral = log_ratio_integral(squares, counts, nothing, free_shift=False, slopes=slopes, n_threads=n_threads)
    between = groups.size * groups.moments.mean_difference**2
    power = n if scaled else n - p
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = 0.0 if scaled else 0.5 * np.log1p(n0 * n1 / n * groups.leverage)
        constant = 0.5 * (math.log(2.0 * math.pi) + np.log(n / n0 / n1)) + growth
        found = log_prior_ratio + constant + integral + 0.5 * power * np.log1p(between / within)
    return np.where(groups.defined, found, np.nan)


MOST_GROUPS = 3  # whose variances are integrated out


def group_log_bayes_factor(
    design: DesignMoments, priors: Sequence[Any], log_constant: Any, *, n_threads: int | None = None
) -> FloatArray:
    r"""Log Bayes factor of two or three groups under normal-inverse-gamma priors, given flat slopes they share.

    A prior of the mean, at the mean of the covariates, acts as further squares: with
    :math:`w = \nu n / (\nu + n)`, :math:`A^* = A + w \bar z \bar z^T`, :math:`b^* = b + w \bar z (\bar x - m)` and
    :math:`S^* = S + s + w (\bar x - m)^2` take the places of :math:`A, b, S`, and :math:`\kappa + n` that of
    :math:`n`. What is left is an integral over the ratio of two variances, or over two ratios of three.

    Parameters
    ----------
    design
        Moments of the groups and their covariates.
    priors
        Priors of the groups and, last, of all samples together.
    log_constant
        Log of what the constants of the priors (or the prior ratio) contribute.
    n_threads
        Threads.
    """
    pooled, p, n_groups = design.pool(), design.n_covariates, len(design.classes)
    centre = pooled.location[0]
    starred = [_with_prior(design, k, prior, centre) for k, prior in enumerate(priors[:-1])]
    whole = _with_prior(pooled, 0, priors[-1], centre)
    arrays = [np.array(np.broadcast_arrays(*(each[i] for each in starred))) for i in range(3)]
    nothing = np.zeros_like(arrays[0])
    made = DesignMoments(
        Moments.trusted(design.classes, design.moments.count, nothing, arrays[0], nothing.copy()),
        design.covariates, np.zeros(arrays[2].shape[:1] + arrays[2].shape[2:]), arrays[2], arrays[1],
    )  # fmt: skip
    dofs = np.stack(np.broadcast_arrays(*(np.atleast_1d(each[3]) for each in starred)))
    ratios = _two_groups if n_groups == 2 else _three_groups
    within, integral, defined = ratios(made, dofs, n_threads)
    left = whole[0] - (solve(whole[2], whole[1]) * whole[1]).sum(axis=0)
    power, single = 0.5 * (dofs.sum(axis=0) - p), 0.5 * (whole[3] - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        strengths = np.log(whole[4]) - sum(np.log(each[4]) for each in starred)
        found = log_constant + 0.5 * ((n_groups - 1) * math.log(2.0 * math.pi) + strengths)
        found = found + log_gamma(power) - log_gamma(single) + (power - single) * math.log(2.0)
        found = found + 0.5 * (_log_determinant(whole[2]) - _log_determinant(arrays[2].sum(axis=0)))
        found = found + integral + single * np.log(left) - power * np.log(within)
    return np.where(defined, found, np.nan)


def _two_groups(
    made: DesignMoments, dofs: FloatArray, n_threads: int | None
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Squares within, the integral over the ratio of the variances, and where it is defined."""
    groups = SlopeGroups.of(made)
    integral = log_ratio_integral(
        groups.moments.centred_squares, dofs[None], np.zeros((1, made.n_features)), free_shift=False,
        slopes=(groups.shares, groups.turned), n_threads=n_threads,
    )  # fmt: skip
    return groups.within, integral, groups.defined


def _three_groups(
    made: DesignMoments, dofs: FloatArray, n_threads: int | None
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Squares within, the integral over both ratios of the variances, and where it is defined."""
    products, n, p = made.scatter.sum(axis=0), made.n_features, made.n_covariates
    squares = AdjustedMoments.of(made).centred_squares
    defined = np.broadcast_to(full_rank(products), (n,))
    slopes = solve(products, made.cross.sum(axis=0))
    left = made.cross - np.stack([_times(each, slopes) for each in made.scatter])
    stacked = np.moveaxis(products, -1, 0) if made.by_feature else products[None]
    usable = defined if made.by_feature else defined[:1]
    inverse = np.linalg.inv(np.linalg.cholesky(np.where(usable[:, None, None], stacked, np.eye(p))))
    scatter = np.moveaxis(made.scatter, -1, 0) if made.by_feature else made.scatter[None]
    turned = inverse[:, None] @ scatter @ np.swapaxes(inverse, -1, -2)[:, None]
    turned = 0.5 * (turned + np.swapaxes(turned, -1, -2))
    cross = np.einsum("fab,gbf->gaf" if made.by_feature else "nab,gbf->gaf", inverse, left)
    return squares.sum(axis=0), log_two_ratios_integral(squares, dofs, turned, cross, n_threads=n_threads), defined


def _with_prior(design: DesignMoments, k: int, prior: Any, centre: FloatArray) -> tuple[Any, ...]:
    """Squares, cross-products and products of a group with its prior, degrees of freedom and strength."""
    one = design.pick([design.classes[k]]).moments
    dof, scale, strength, _ = prior.updated_values(one)
    weight = prior.mean_strength * one.count[0] / strength
    away = design.location[k] - centre
    wide = design.by_feature or np.ndim(weight) > 0
    away = away if design.by_feature or not wide else away[:, None]
    distance = (one.mean[0] - prior.mean_location) + np.asarray(one.residual)[0]
    cross = design.cross[k] + (away if wide else away[:, None]) * (weight * distance)
    scatter = design.scatter[k] if design.by_feature or not wide else design.scatter[k][..., None]
    return scale, cross, scatter + weight * (away[:, None] * away[None, :]), dof, strength


def _log_determinant(products: FloatArray) -> Any:
    stacked = np.moveaxis(products, -1, 0) if products.ndim == 3 else products
    return np.linalg.slogdet(stacked)[1]
