"""The optimal Bayesian filter of section 6 among its rivals: under Jeffreys' prior (JP) and a proper one (PP)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesieve.models import GaussianModel, PriorRatio
from bayesieve.posterior import FeaturePosterior
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.screening.obf import screen
from bayesieve.stats import Moments

OBF_MODELS: dict[str, Callable[..., GaussianModel]] = {
    "obf-jp": GaussianModel.jeffreys,
    "obf-pp": GaussianModel.proper,
}


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
    name: str, moments: Moments, *, prior_probability: Any = 0.005, **options: Any
) -> FeaturePosterior:
    """Screen moments under the prior that a name of :data:`OBF_MODELS` stands for.

    Parameters
    ----------
    name
        ``"obf-jp"`` or ``"obf-pp"``.
    moments
        Moments of two classes.
    prior_probability
        Share of features believed to be markers, or one probability per feature.
    **options
        Those of the prior; lists, as files hold them, are taken as tuples.
    """
    plain = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    return screen(moments, model=OBF_MODELS[name](**plain), prior_probability=prior_probability)


def _scores(name: str, moments: Moments, **options: Any) -> FeatureScores:
    found = obf_posterior(name, moments, **options)
    return FeatureScores(
        name.replace("-", "_"), found.log_odds, details={"log_bayes_factor": found.log_bayes_factor}
    )


JEFFREYS = Rival("obf-jp", "OBF-JP", "moments", obf_jeffreys)
PROPER = Rival("obf-pp", "OBF-PP", "moments", obf_proper)
