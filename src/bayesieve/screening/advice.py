"""Where the numbers of a screen deserve doubt, said as warnings."""

from __future__ import annotations

import warnings

import numpy as np

from bayesieve.errors import CalibrationWarning, PriorWarning
from bayesieve.models import GaussianModel
from bayesieve.models.prior_ratio import warn_unless_semi_proper
from bayesieve.posterior import FeaturePosterior, expected_by_chance
from bayesieve.stats import Moments

_FEW_SAMPLES = 5
_FITTING_SCALE = (0.02, 200.0)  # pooled variance over the prior's, beyond which PP-like priors mislead


def advise(posterior: FeaturePosterior) -> None:
    """Warn of tiny classes, odd prior ratios and a scale the prior does not fit."""
    model, moments = posterior.model, posterior.moments
    sizes = [int(np.max(count)) for count in moments.count]
    smallest = min(sizes)
    if model.is_proper:
        _warn_about_scale(model, moments)
        return
    if model.prior_ratio is not None and callable(model.prior_ratio):
        warn_unless_semi_proper(model.prior_ratio, *sizes)
    if smallest < _FEW_SAMPLES:
        by_chance = expected_by_chance(posterior, 0.0)
        label = moments.classes[sizes.index(smallest)]
        warnings.warn(
            f"Class {label!r} has only {smallest} samples. With an improper prior, about {by_chance:,.0f} of "
            f"{posterior.n_features:,} features would exceed a probability of 0.5 by chance alone if all were "
            "Gaussian non-markers. Prefer FixedSize(n), a proper prior, or more samples.",
            CalibrationWarning,
            stacklevel=3,
        )


def _warn_about_scale(model: GaussianModel, moments: Moments) -> None:
    prior = model.pooled_prior
    if np.ndim(prior.variance_scale) or np.ndim(prior.variance_dof):
        return
    dof = float(np.asarray(prior.variance_dof))
    typical = float(np.asarray(prior.variance_scale)) / (dof - 2.0 if dof > 2.0 else dof)
    variance = moments.pool().variance[0]
    median = float(np.nanmedian(variance)) if np.isfinite(variance).any() else typical
    if not _FITTING_SCALE[0] * typical <= median <= _FITTING_SCALE[1] * typical:
        warnings.warn(
            f"The median variance of the features is {median:.3g}, but this proper prior expects about "
            f"{typical:.3g}. Probabilities will mislead: rescale the data, set variance_scale (and "
            "mean_strength) to fit, or use GaussianModel.jeffreys(), which has no scale.",
            PriorWarning,
            stacklevel=4,
        )
