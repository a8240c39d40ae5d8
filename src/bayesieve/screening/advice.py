"""Where the numbers of a screen deserve doubt, said as warnings."""

from __future__ import annotations

import warnings

import numpy as np

from bayesieve.errors import CalibrationWarning, PriorWarning
from bayesieve.models import GaussianModel
from bayesieve.models.prior_ratio import warn_unless_semi_proper
from bayesieve.posterior import FeaturePosterior, expected_by_chance
from bayesieve.stats import Moments
from bayesieve.stats.statistics import largest_counts

_FEW_SAMPLES = 5
_FEW_IN_A_BLOCK, _MANY_BY_CHANCE = 15, 0.005
_FITTING_SCALE = (0.02, 200.0)  # pooled variance over the prior's, beyond which PP-like priors mislead


def advise(posterior: FeaturePosterior) -> None:
    """Warn of tiny classes, odd prior ratios and a scale the prior does not fit."""
    model = posterior.model
    if not isinstance(model, GaussianModel):
        return
    moments, sizes = posterior.moments, largest_counts(posterior.statistics)
    smallest = min(sizes)
    if model.is_proper:
        _warn_about_scale(model, moments)
        return
    blocks = posterior.block_evidence
    if blocks is not None and blocks.block_model == "own" and len(sizes) > 1:
        _warn_about_blocks(posterior, len(blocks.names))
        return
    if len(sizes) == 1:  # differences within pairs
        return
    if model.prior_ratio is not None and callable(model.prior_ratio):
        warn_unless_semi_proper(model.prior_ratio, *sizes)
    if 0 < smallest < _FEW_SAMPLES:
        by_chance = expected_by_chance(posterior, 0.0)
        label = moments.classes[sizes.index(smallest)]
        warnings.warn(
            f"Class {label!r} has only {smallest} samples. With an improper prior, about {by_chance:,.0f} of "
            f"{posterior.n_features:,} features would exceed a probability of 0.5 by chance alone if all were "
            "Gaussian non-markers. Prefer FixedSize(n), a proper prior, or more samples.",
            CalibrationWarning,
            stacklevel=3,
        )


def _warn_about_blocks(posterior: FeaturePosterior, n_blocks: int) -> None:
    """Small blocks under an improper prior: evidence of chance adds up, and so does the arbitrary ratio."""
    comparison = posterior.comparison
    smallest = min(min(largest_counts(part.statistics)) for part in getattr(comparison, "parts", ()))
    if smallest >= _FEW_IN_A_BLOCK or comparison is None:
        return
    drawn = comparison.null_log_bayes_factor(np.random.default_rng(0))
    share = 0.0 if drawn is None else float(np.mean(drawn > -np.asarray(posterior.prior_log_odds)))
    if share > _MANY_BY_CHANCE:
        warnings.warn(
            f"{n_blocks} blocks, some with only {smallest} samples of a class, under an improper prior: about "
            f"{share:.1%} of the features would exceed a probability of 0.5 by chance alone if all were Gaussian "
            "non-markers, because the prior ratio enters once per block. Prefer block_model='shift', larger "
            "blocks or a proper prior.",
            CalibrationWarning,
            stacklevel=4,
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
