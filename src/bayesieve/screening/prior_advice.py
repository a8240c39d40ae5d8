"""Warnings about priors that do not fit: tiny classes, small batches, odd prior ratios and scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.models import GaussianModel, warn_unless_semi_proper
from bayesieve.posterior import FeaturePosterior, expected_under_null
from bayesieve.stats import Moments, largest_counts
from bayesieve.utils import JEFFREYS, CalibrationWarning, PriorWarning, Wording, option, warn

_FEW_SAMPLES = 5
_FEW_IN_A_BLOCK, _MANY_UNDER_NULL = 15, 0.005
_FAR = 3.0  # standard deviations of the prior between its location and the level of the data
_FITTING_SCALE = (0.02, 200.0)  # pooled variance over the prior's, beyond which PP-like priors mislead


def advise(posterior: FeaturePosterior) -> None:
    """Warn of tiny classes, odd prior ratios and a scale the prior does not fit."""
    model: Any = posterior.model
    if not model.supports("moments") or model.supports("effect-sizes"):
        return
    moments, sizes = posterior.moments, largest_counts(posterior.statistics)
    smallest = min(sizes)
    if model.is_proper:
        if not _warn_about_scale(model, moments):
            _warn_about_location(model, moments)
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
        under_null = expected_under_null(posterior, 0.0)
        label = moments.classes[sizes.index(smallest)]
        warn(
            CalibrationWarning,
            f"Class {label!r} has only {smallest} samples. With an improper prior, about {under_null:,.0f} of "
            f"{posterior.n_features:,} features would exceed a probability of 0.5 under the global null (no "
            "feature differs, Gaussian values).",
            hint=("Prefer ", Wording("FixedSize(n)", "--n-selected N"), ", a proper prior, or more samples."),
            kind="small-class",
        )


def _warn_about_blocks(posterior: FeaturePosterior, n_blocks: int) -> None:
    """Small blocks under an improper prior: evidence of noise adds up, and so does the arbitrary ratio."""
    comparison = posterior.comparison
    smallest = min(min(largest_counts(part.statistics)) for part in getattr(comparison, "parts", ()))
    if smallest >= _FEW_IN_A_BLOCK or comparison is None:
        return
    drawn = comparison.null_log_bayes_factor(np.random.default_rng(0))
    share = 0.0 if drawn is None else float(np.mean(drawn > -np.asarray(posterior.prior_log_odds)))
    if share > _MANY_UNDER_NULL:
        warn(
            CalibrationWarning,
            f"{n_blocks} blocks, some with only {smallest} samples of a class, under an improper prior: about "
            f"{share:.1%} of the features would exceed a probability of 0.5 under the global null (no feature "
            "differs, Gaussian values), because the prior ratio enters once per block.",
            hint=("Prefer ", option("block_model", "shift"), ", larger blocks or a proper prior."),
            kind="small-blocks",
        )


def _warn_about_location(model: GaussianModel, moments: Moments) -> None:
    """Compare the level of the features with that of the prior, in standard deviations of the prior's means."""
    prior = model.pooled_prior
    numbers = (prior.mean_location, prior.mean_strength, prior.variance_scale, prior.variance_dof)
    if any(np.ndim(each) for each in numbers):
        return
    location, strength, scale, dof = (float(np.asarray(each)) for each in numbers)
    means = moments.pool().mean[0]
    if not np.isfinite(means).any() or strength <= 0:
        return
    spread = float(np.sqrt(scale / (dof - 2.0 if dof > 2.0 else dof) / strength))
    median = float(np.nanmedian(means))
    if abs(median - location) > _FAR * spread:
        warn(
            PriorWarning,
            f"The median mean of the features is {median:.3g}, but this proper prior expects {location:.3g} "
            f"within about {spread:.2g}: {abs(median - location) / spread:.0f} standard deviations away. "
            "Probabilities will mislead: centre the data, ",
            Wording("set mean_location to fit", "give a --prior file whose mean_location fits"),
            ", or use ",
            JEFFREYS,
            ", which has no location.",
            kind="prior-location",
        )


def _warn_about_scale(model: GaussianModel, moments: Moments) -> bool:
    """Compare variances with those of the prior; whether there was something to say."""
    prior = model.pooled_prior
    if np.ndim(prior.variance_scale) or np.ndim(prior.variance_dof):
        return False
    dof = float(np.asarray(prior.variance_dof))
    typical = float(np.asarray(prior.variance_scale)) / (dof - 2.0 if dof > 2.0 else dof)
    variance = moments.pool().variance[0]
    median = float(np.nanmedian(variance)) if np.isfinite(variance).any() else typical
    misfit = not _FITTING_SCALE[0] * typical <= median <= _FITTING_SCALE[1] * typical
    if misfit:
        warn(
            PriorWarning,
            f"The median variance of the features is {median:.3g}, but this proper prior expects about "
            f"{typical:.3g}. Probabilities will mislead: rescale the data, ",
            Wording("set variance_scale (and mean_strength) to fit", "give a --prior file whose scale fits"),
            ", or use ",
            JEFFREYS,
            ", which has no scale.",
            kind="prior-scale",
        )
    return misfit
