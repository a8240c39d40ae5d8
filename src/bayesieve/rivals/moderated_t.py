"""The moderated t-test of limma, with the inverse gamma prior of variances fitted to all features."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve.models import fit_variance_prior
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.t_tests import TwoSamples, t_scores, warn_degenerate
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray, LabelError


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

    with :math:`d_0` and :math:`s_0^2` of :func:`~bayesieve.models.gaussian.variance_prior.fit_variance_prior`;
    there are :math:`\min(d + d_0, \sum_f d_f)` degrees of freedom.

    Parameters
    ----------
    moments
        Moments of two classes, with at least one value each and three together.
    trend
        Let the expected variance depend on the mean of a feature, by a natural cubic spline (``trend=TRUE``).
    limit_scale
        The common variance if :math:`d_0 = \infty`; see
        :func:`~bayesieve.models.gaussian.variance_prior.fit_variance_prior`.
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
