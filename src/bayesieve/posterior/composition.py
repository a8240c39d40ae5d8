"""Composition of the log-odds: prior, likelihood and Occam terms of one feature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.models import Comparison, jeffreys_constant
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.stats import Moments, as_moments
from bayesieve.utils import FloatArray

_CLOSE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    r"""Terms that add up to the log Bayes factor, feature by feature.

    Two Gaussian classes under Jeffreys' prior, with :math:`S_y` the centred squares, :math:`W = S_0 + S_1` and
    :math:`d` the difference of the means:

    .. math::
        \log BF = \log L + K(n_0, n_1) + \frac n2 \log\left(1 + \frac{n_0 n_1 d^2}{n W}\right)
        + \frac n2 \log\frac Wn - \sum_y \frac{n_y}2 \log\frac{S_y}{n_y}

    Under the calibrated prior, with :math:`w` the weight of variances, :math:`BF = (1 - w) BF_M + w BF_V`; the
    first term is :math:`\log (1 - w) BF_M`, the second what variances add to it, which is never below 0.

    Parameters
    ----------
    kind
        ``"jeffreys"``: prior ratio, number of samples, mean and variance. ``"effects"``: means, and what variances
        add. ``"blocks"``: one term per block, and a last one for what they say only together (0 where blocks add
        up). ``"data"``: one term.
    names
        The terms in words.
    terms
        ``(n_terms, n_features)``; NaN where a feature (a degenerate one, say) has no such terms.
    """

    kind: str
    names: tuple[str, ...]
    terms: FloatArray

    def of(self, posterior: FeaturePosterior, place: int) -> list[tuple[str, float]]:
        """Terms of one feature, prior odds first; they add up to its log-odds."""
        prior = float(np.broadcast_to(posterior.prior_log_odds, (posterior.n_features,))[place])
        log_bf, parts = float(posterior.log_bayes_factor[place]), self.terms[:, place].tolist()
        if not np.isfinite(parts).all() or abs(sum(parts) - log_bf) > _CLOSE * (1.0 + abs(log_bf)):
            return [("prior odds", prior), ("data", log_bf)]  # a floor, a resolution or a policy had its say
        together = self.kind == "blocks" and abs(parts[-1]) <= _CLOSE * (1.0 + abs(log_bf))
        named = list(zip(self.names, parts, strict=True))
        return [("prior odds", prior), *(named[:-1] if together else named)]


def composition_of(posterior: FeaturePosterior) -> Composition:
    """Take the log Bayes factors apart, as far as the model allows."""
    log_bf, evidence = posterior.log_bayes_factor, posterior.block_evidence
    if evidence is not None:
        rest = log_bf - evidence.contributions.sum(axis=0)
        names = (*(f"block {name}" for name in evidence.names), "blocks together")
        return Composition("blocks", names, np.vstack([evidence.contributions, rest]))
    moments = _moments(posterior)
    if moments is None or posterior.adjustment is not None:
        return Composition("data", ("data",), log_bf[None])
    if not posterior.model.is_jeffreys:
        return _of_effects(posterior, moments)
    with np.errstate(all="ignore"):  # features without variance get NaN
        terms = _of_jeffreys(posterior.model, moments)
    terms[:, posterior.degenerate] = np.nan
    return Composition("jeffreys", ("prior ratio", "number of samples", "means", "variances"), terms)


def _moments(posterior: FeaturePosterior) -> Moments | None:
    """Moments that were compared, if they are all there is and the prior on two classes can be taken apart."""
    compared: Any = posterior.comparison
    model: Any = posterior.model
    known = model.is_jeffreys or (model.supports("effect-sizes") and model.variance_weight)
    if len(posterior.classes) != 2 or not known or model.difference != "any":
        return None
    if isinstance(compared, Comparison):
        used: Any = compared.parts[0].statistics if len(compared.parts) == 1 else None
    else:
        used = posterior.statistics if compared is None else None
    return as_moments(used)


def _of_effects(posterior: FeaturePosterior, moments: Moments) -> Composition:
    """Means first, and what variances add; stored results know the whole and the means only."""
    model: Any = posterior.model
    with np.errstate(all="ignore"):
        means = math.log1p(-model.variance_weight) + model.quick().evidences(moments).kinds([(0,), (1,)])[0]
    added = posterior.log_bayes_factor - means
    usable = ~posterior.degenerate & (added > -_CLOSE * (1.0 + np.abs(means)))
    terms = np.where(usable, [means, np.maximum(added, 0.0)], np.nan)
    return Composition("effects", ("means differ", "or variances differ"), terms)


def _of_jeffreys(model: Any, moments: Moments) -> FloatArray:
    n0, n1 = np.asarray(moments.counts, dtype=np.float64)
    n, squares = n0 + n1, moments.centred_squares
    within = squares.sum(axis=0)
    means = 0.5 * n * np.log1p(n0 * n1 * moments.mean_difference**2 / (n * within))
    variances = 0.5 * (n * np.log(within / n) - n0 * np.log(squares[0] / n0) - n1 * np.log(squares[1] / n1))
    parts = (model.log_prior_ratio(moments), jeffreys_constant(n0, n1), means, variances)
    return np.array([np.broadcast_to(part, within.shape) for part in parts])
