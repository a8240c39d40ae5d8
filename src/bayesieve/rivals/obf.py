"""The optimal Bayesian filter among its rivals: calibrated, and section 6's under Jeffreys' prior (JP) and PP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesieve.data import LabelledMatrix
from bayesieve.models import CalibratedModel, GaussianModel, Model, PriorRatio
from bayesieve.posterior import FeaturePosterior
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.screening.obf import screen
from bayesieve.screening.value_advice import values_unjudged
from bayesieve.stats import Moments

OBF_MODELS: dict[str, Callable[..., Model]] = {
    "obf": CalibratedModel,
    "obf-jp": GaussianModel.jeffreys,
    "obf-pp": GaussianModel.proper,
}


def obf_calibrated(
    moments: Moments, *, prior_probability: Any = 0.005, variance_weight: float | None = None
) -> FeatureScores:
    r"""Log-odds of every feature under priors on the differences: the default of :func:`bayesieve.screen`.

    Labels are not shuffled: these are scores, not a list.

    Parameters
    ----------
    moments
        Moments of two classes; without fourth powers variances have no say.
    prior_probability
        Share of features believed to be markers, or one probability per feature.
    variance_weight
        See :class:`bayesieve.CalibratedModel`.

    Returns
    -------
    FeatureScores
        The score is the log-odds, above 0 where a marker is the better guess; ``log_bayes_factor`` stands in
        ``details``.
    """
    return _scores("obf", moments, prior_probability=prior_probability, variance_weight=variance_weight)


def obf_jeffreys(
    moments: Moments, *, prior_probability: Any = 0.005, prior_ratio: PriorRatio = 0.1
) -> FeatureScores:
    r"""Log-odds of every feature under Jeffreys' prior, equation (2.18): section 6's OBF-JP.

    Parameters
    ----------
    moments
        Moments of two classes.
    prior_probability
        Share of features believed to be markers, or one probability per feature.
    prior_ratio
        The paper's :math:`L`; see :class:`bayesieve.GaussianModel`.

    Returns
    -------
    FeatureScores
        The score is the log-odds, above 0 where a marker is the better guess; ``log_bayes_factor`` stands in
        ``details``.
    """
    return _scores("obf-jp", moments, prior_probability=prior_probability, prior_ratio=prior_ratio)


def obf_proper(
    moments: Moments,
    *,
    prior_probability: Any = 0.005,
    variance_dof: float = 3.0,
    variance_scale: float = 0.5,
    mean_strength: float = 0.1,
    mean_locations: tuple[float, float] = (0.0, 0.2),
) -> FeatureScores:
    r"""Log-odds of every feature under the proper prior of section 6: OBF-PP.

    Returns
    -------
    FeatureScores
        The score is the log-odds, above 0 where a marker is the better guess; ``log_bayes_factor`` stands in
        ``details``.
    """
    return _scores(
        "obf-pp", moments, prior_probability=prior_probability, variance_dof=variance_dof,
        variance_scale=variance_scale, mean_strength=mean_strength, mean_locations=mean_locations,
    )  # fmt: skip


def obf_posterior(
    name: str,
    data: Moments | LabelledMatrix,
    *,
    prior_probability: Any = 0.005,
    shuffles: int = 0,
    seed: Any = 0,
    n_threads: int | None = None,
    **options: Any,
) -> FeaturePosterior:
    """Screen moments, or values, under the prior that a name of :data:`OBF_MODELS` stands for.

    Parameters
    ----------
    name
        ``"obf"``, ``"obf-jp"`` or ``"obf-pp"``.
    data
        Moments of two classes, or the values if labels are to be shuffled.
    prior_probability
        Share of features believed to be markers, or one probability per feature.
    shuffles, seed, n_threads
        As for :func:`bayesieve.screen`.
    **options
        Those of the prior; lists, as files hold them, are taken as tuples.
    """
    plain = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    given: dict[str, Any] = {"model": OBF_MODELS[name](**plain), "prior_probability": prior_probability}
    if not isinstance(data, LabelledMatrix):
        return screen(data, **given)
    labels = data.labels
    y = [labels.classes[code] for code in labels.codes.tolist()]
    given |= {"classes": labels.classes, "feature_names": data.feature_names, "missing": "omit"}
    with values_unjudged():
        return screen(data.values, y, shuffles=shuffles, seed=seed, n_threads=n_threads, **given)


def _scores(name: str, moments: Moments, **options: Any) -> FeatureScores:
    found = obf_posterior(name, moments, **options)
    return FeatureScores(
        name.replace("-", "_"), found.log_odds, details={"log_bayes_factor": found.log_bayes_factor}
    )


CALIBRATED = Rival("obf", "OBF calibrated", "moments", obf_calibrated)
JEFFREYS = Rival("obf-jp", "OBF-JP", "moments", obf_jeffreys)
PROPER = Rival("obf-pp", "OBF-PP", "moments", obf_proper)
