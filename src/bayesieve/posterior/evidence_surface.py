"""Evidence as a surface over the map of effects: what log Bayes factor a feature at any place would have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.models import Comparison, jeffreys_constant, mean_evidence, mix_kinds, tempering, two_group_evidence
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.stats import Moments, as_moments
from bayesieve.utils import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceSurface:
    r"""Log Bayes factor of two Gaussian classes by standardised mean difference and log variance ratio.

    A feature at :math:`(x, y)` has class variances :math:`v_0, v_1` with :math:`y = \log(v_1 / v_0)` and a mean
    difference of :math:`x` times the root of their mean. Under Jeffreys' prior that is all that counts. Under the
    calibrated prior the size of the variance (next to those of other features) and the tails count, too: the
    surface is then that of a feature with a given sum of squares within classes and a given share of the evidence
    from variances.

    Parameters
    ----------
    exact
        Whether the place says it all, so that the surface is the same for every feature.
    n0, n1
        Samples of the classes.
    constant
        What does not depend on the data: logarithm of the prior ratio, and the constant of the sample sizes.
    model
        The calibrated model; None under Jeffreys' prior.
    within, share
        Squares within classes and share of the median feature; 0 under Jeffreys' prior.
    """

    exact: bool
    n0: int
    n1: int
    constant: float = 0.0
    model: Any = None
    within: float = 0.0
    share: float = 0.0

    def log_bayes_factor(self, x: Any, y: Any, within: Any = None, share: Any = None) -> FloatArray:
        """Log Bayes factor at some places.

        Parameters
        ----------
        x, y
            Standardised mean differences and log variance ratios.
        within, share
            Those of the features, if not of the median one.
        """
        x, y = (np.asarray(each, dtype=np.float64) for each in np.broadcast_arrays(x, y))
        odds = 1.0 / (1.0 + np.exp(-y))
        squares = np.array([(self.n0 - 1.0) * 2.0 * (1.0 - odds), (self.n1 - 1.0) * 2.0 * odds])
        if self.model is None:
            return self._of_jeffreys(x, squares)
        wanted = self.within if within is None else np.asarray(within)
        squares = squares * (wanted / squares.sum(axis=0))
        unit = 0.5 * (squares[0] / (self.n0 - 1.0) + squares[1] / (self.n1 - 1.0))
        return self._of_effects(x * x * unit, squares, self.share if share is None else share)

    def _of_jeffreys(self, x: FloatArray, squares: FloatArray) -> FloatArray:
        n, within = self.n0 + self.n1, squares.sum(axis=0)
        means = 0.5 * n * np.log1p(self.n0 * self.n1 * x * x / (n * within))
        parts = self.n0 * np.log(squares[0] / self.n0) + self.n1 * np.log(squares[1] / self.n1)
        return np.asarray(self.constant + means + 0.5 * (n * np.log(within / n) - parts))

    def _of_effects(self, difference_squared: FloatArray, squares: FloatArray, share: Any) -> FloatArray:
        model, shape = self.model, difference_squared.shape
        dof, scale = model.variance_dof or 0.0, model.variance_scale or 0.0
        size = self.n0 * self.n1 / (self.n0 + self.n1)
        means, ratios = (np.array(sizes) for sizes in (model.mean_sizes, model.ratio_sizes))
        flat = squares.reshape(2, -1)
        if model.difference == "mean":
            return mean_evidence(
                (self.n0, self.n1, np.sqrt(difference_squared.ravel())[None]),
                (*flat, self.n0 - 1.0, self.n1 - 1.0, share),
                (0.5 * (self.n0 + self.n1 - 1.0 + dof), dof * scale, 0.0), (means, ratios),
                model.variance_weight or 0.0, model.nodes,
            ).reshape(shape)  # fmt: skip
        found = two_group_evidence(
            (size * difference_squared.ravel(), flat.sum(axis=0), size, 0.5 * (self.n0 + self.n1 - 1.0 + dof),
             dof * scale),
            (*flat, self.n0 - 1.0, self.n1 - 1.0, np.broadcast_to(share, flat[0].shape)), (means, ratios),
            model.nodes,
        )  # fmt: skip
        if model.difference == "variance":
            return found[1].reshape(shape)
        return mix_kinds(*found, model.variance_weight or 0.0, model.both_share or 0.0).reshape(shape)


def evidence_surface(posterior: FeaturePosterior) -> EvidenceSurface | None:
    """Return the surface of a screen of two Gaussian classes; None where a place does not say enough.

    That is so with blocks, pairs, factors taken out, numbers of values that differ, and proper priors.
    """
    moments = _compared(posterior)
    if moments is None or (moments.counts != moments.counts[:, :1]).any() or (moments.counts < 2).any():
        return None
    n0, n1 = (int(n) for n in moments.counts[:, 0])
    if posterior.model.supports("effect-sizes"):
        return _of_median_feature(posterior, moments, n0, n1)
    model: Any = posterior.model
    ratio = np.unique(model.log_prior_ratio(moments)) if model.is_jeffreys else np.array([np.nan])
    if ratio.size != 1 or not np.isfinite(ratio[0]):
        return None
    return EvidenceSurface(True, n0, n1, float(ratio[0] + jeffreys_constant(n0, n1)))


def _of_median_feature(posterior: FeaturePosterior, moments: Moments, n0: int, n1: int) -> EvidenceSurface | None:
    model: Any = posterior.model
    known = None not in (model.variance_dof, model.mean_sizes, model.ratio_sizes, model.both_share)
    within, share = moments.centred_squares.sum(axis=0), tempering(moments, model.kurtosis or 0.0)
    varies = (within > 0) & ~posterior.degenerate
    if not known or model.n_factors or not varies.any():
        return None
    typical = float(np.median(within[varies])), float(np.median(share[varies]))
    return EvidenceSurface(False, n0, n1, 0.0, model, *typical)


def _compared(posterior: FeaturePosterior) -> Moments | None:
    """Moments of two classes, if these alone were compared."""
    compared: Any = posterior.comparison
    if len(posterior.classes) != 2 or not posterior.calibrated or not posterior.model.supports("moments"):
        return None
    others = posterior.block_evidence is not None or posterior.adjustment is not None
    if not hasattr(posterior.model, "is_jeffreys") or others:
        return None
    if isinstance(compared, Comparison):
        whole: Any = compared.parts[0].statistics if len(compared.parts) == 1 else None
        return as_moments(whole)
    return as_moments(posterior.statistics) if compared is None else None
