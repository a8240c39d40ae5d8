r"""Posterior predictive densities of the classes, for plots of one feature.

A mean and variance with an updated normal-inverse-gamma distribution (section 2.3: :math:`\kappa^*, s^*, \nu^*,
m^*`) give a new value Student's t distribution with :math:`\kappa^*` degrees of freedom, location :math:`m^*` and
squared scale :math:`s^* (1 + 1/\nu^*) / \kappa^*`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models import EffectPairs, PairedComparison, model_of_classes
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray, PriorError


@dataclass(frozen=True, slots=True, eq=False)
class Predictive:
    """Student's t distributions of a new value: one row per class, then that of all classes alike.

    Parameters
    ----------
    dof, location, scale
        Of shape (n_classes + 1, n_features); NaN where the distribution is not defined.
    """

    dof: FloatArray
    location: FloatArray
    scale: FloatArray

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.dof.shape[1])


def predictive(posterior: FeaturePosterior, places: npt.ArrayLike) -> Predictive | None:
    """Work out the distributions of a new value, for some features of a Gaussian screen; None for other models.

    Blocks are thrown together, and the resolution of rounded values is taken into account. A model with priors on
    differences has none on a class; its classes have Jeffreys' prior here.
    """
    model: Any = posterior.model
    if not model.supports("moments") or not posterior.has_moments:
        return None
    where = np.asarray(places, dtype=np.int64)
    moments, resolution = posterior.moments.take(where), np.asarray(posterior.resolution, dtype=np.float64)
    step = resolution[where] if resolution.ndim else resolution
    if isinstance(posterior.comparison, PairedComparison | EffectPairs):
        return _of_pairs(moments)
    if np.any(step):
        moments = moments.with_resolution(step)
    few, k = model_of_classes(model).take(where, posterior.n_features), len(moments.classes)
    try:
        groups = [(few.prior_of(j, k), moments.group(label)) for j, label in enumerate(moments.classes)]
    except PriorError:  # priors of groups of classes, not of classes
        return None
    groups.append((few.pooled_prior, moments.pool()))
    return _stack([prior.updated_values(group) for prior, group in groups], where.size)


def _of_pairs(differences: Moments) -> Predictive:
    r"""Distributions of a difference: any mean (prior :math:`\sigma^{-1/2} d\mu\, d\sigma/\sigma`), and mean 0."""
    n = np.broadcast_to(differences.counts, differences.mean.shape)[0].astype(np.float64)
    mean, squares = differences.mean[0] + np.asarray(differences.residual)[0], differences.centred_squares[0]
    free = (n - 0.5, squares, n, mean)
    null = (n, squares + n * mean * mean, np.full(n.shape, np.inf), np.zeros(n.shape))
    return _stack([free, null], n.size)


def _stack(updated: list[tuple[Any, Any, Any, Any]], n_features: int) -> Predictive:
    rows = [np.broadcast_arrays(*(np.asarray(each, np.float64) for each in row), np.empty(n_features))[:4]
            for row in updated]  # fmt: skip
    dof, squares, strength, location = (np.array([row[j] for row in rows]) for j in range(4))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(squares * (1.0 + 1.0 / strength) / dof)
    defined = (dof > 0) & (scale > 0) & np.isfinite(scale)
    return Predictive(*(np.where(defined, each, np.nan) for each in (dof, location, scale)))
