"""The calibrated model in designs: differences within pairs, and batches that share the class difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.models.gaussian.calibrated import CalibratedModel
from bayesieve.models.gaussian.effect_mixture import mix_kinds, two_group_evidence
from bayesieve.models.gaussian.heavy_tails import nuisance_share, tempering
from bayesieve.models.gaussian.mean_difference import mean_evidence
from bayesieve.stats import Moments
from bayesieve.utils import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class EffectPairs:
    """Differences within pairs, batch by batch: their mean over their standard deviation is 0, or an effect.

    Parameters
    ----------
    parts
        Moments of the differences of each batch, as one class.
    kept
        Features about which a batch has a say.
    model
        The model, its constants known.
    """

    parts: tuple[Moments, ...]
    kept: tuple[BoolArray, ...]
    model: CalibratedModel

    def contributions(self) -> FloatArray:
        """Log Bayes factor of every batch."""
        found = [_of_pairs(self.model, part) for part in self.parts]
        return np.array([np.where(kept, each, 0.0) for kept, each in zip(self.kept, found, strict=True)])

    def log_bayes_factor(self) -> FloatArray:
        """Sum over the batches."""
        return np.asarray(self.contributions().sum(axis=0))

    @property
    def cost(self) -> int:
        """How much a draw would cost."""
        return len(self.parts)

    def take(self, places: Any) -> EffectPairs:
        """The same for some of the features."""
        parts = tuple(part.take(places) for part in self.parts)
        return EffectPairs(parts, tuple(kept[places] for kept in self.kept), self.model)

    def null_log_bayes_factor(self, rng: np.random.Generator) -> None:
        """Not drawn: labels are permuted instead."""
        del rng


def _of_pairs(model: CalibratedModel, part: Moments) -> FloatArray:
    n = np.broadcast_to(part.counts, part.mean.shape)[0].astype(np.float64)
    dof, scale = model.variance_dof or 0.0, model.variance_scale or 0.0
    mean = part.mean[0] + np.asarray(part.residual)[0]
    columns = (n * mean * mean, part.centred_squares[0], n, 0.5 * (n + dof), dof * scale)
    return two_group_evidence(columns, (0.0, 0.0, 0.0, 0.0, 0.0), model.grids(part), model.nodes)[0]


@dataclass(frozen=True, slots=True, eq=False)
class EffectShift:
    r"""Batches with a location of their own, one class difference and one variance per class.

    The difference is the weighted mean of those of the batches, :math:`N = \sum_b N_b`, and what batches differ
    from it counts as spread; each batch costs a degree of freedom.

    Parameters
    ----------
    parts
        Moments of the two classes in each batch.
    model
        The model, its constants known.
    """

    parts: tuple[Moments, ...]
    model: CalibratedModel

    def log_bayes_factor(self) -> FloatArray:
        """Log Bayes factor of all batches; NaN where classes never meet in one."""
        return _of_shift(self.model, self.parts)

    def without(self, k: int) -> FloatArray:
        """Log Bayes factor of all batches but one; 0 where nothing is left."""
        left = tuple(part for i, part in enumerate(self.parts) if i != k)
        found = _of_shift(self.model, left) if left else np.zeros(self.parts[k].n_features)
        return np.where(np.isfinite(found), found, 0.0)

    @property
    def cost(self) -> int:
        """How much a draw would cost."""
        return len(self.parts)

    def take(self, places: Any) -> EffectShift:
        """The same for some of the features."""
        return EffectShift(tuple(part.take(places) for part in self.parts), self.model)

    def null_log_bayes_factor(self, rng: np.random.Generator) -> None:
        """Not drawn: labels are permuted instead."""
        del rng


def _of_shift(model: CalibratedModel, parts: Sequence[Moments]) -> FloatArray:
    counts = np.array([np.broadcast_to(part.counts, part.mean.shape) for part in parts], dtype=np.float64)
    differences = np.array([part.mean_difference for part in parts])
    squares = np.array([part.centred_squares for part in parts])
    both = np.asarray((counts > 0).all(axis=1))
    sizes = np.where(both, counts.prod(axis=1) / np.maximum(counts.sum(axis=1), 1.0), 0.0)
    size = sizes.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = (sizes * differences).sum(axis=0) / size
        spread = (sizes * np.where(both, differences - difference, 0.0) ** 2).sum(axis=0)
    n_batches = (counts.sum(axis=1) > 0).sum(axis=0)
    dof = counts.sum(axis=(0, 1)) - n_batches - 1.0  # of the squares within batches, the class difference fitted
    prior_dof, scale = model.variance_dof or 0.0, model.variance_scale or 0.0
    by_class, class_dof = squares.sum(axis=0), np.maximum(counts - 1.0, 0.0).sum(axis=0)
    shares = np.array(
        [np.where(both[b], tempering(part, model.kurtosis or 0.0), np.nan) for b, part in enumerate(parts)]
    )
    weights = counts.sum(axis=1)
    share = np.where(
        np.isnan(shares).all(axis=0),
        0.0,
        np.nansum(shares * weights, axis=0) / np.maximum(weights.sum(axis=0), 1.0),
    )
    within, half_dof = by_class.sum(axis=0) + spread, 0.5 * (dof + 1.0 + prior_dof)
    usable = (size > 0) & (dof + prior_dof > 0)
    if model.difference == "mean":
        whole = _whole(parts)
        of_means = mean_evidence(
            (counts[:, 0], counts[:, 1], differences), (*by_class, *class_dof, nuisance_share(whole, share)),
            (half_dof, prior_dof * scale, 0.0), model.grids(whole), model.variance_weight or 0.0, model.nodes,
        )  # fmt: skip
        return np.where(usable, of_means, np.nan)
    mean, ratio = two_group_evidence(
        (size * difference**2, within, size, half_dof, prior_dof * scale), (*by_class, *class_dof, share),
        model.grids(_whole(parts)), model.nodes,
    )  # fmt: skip
    if model.difference == "variance":
        return np.where(usable, ratio, np.nan)
    found = mix_kinds(mean, ratio, model.variance_weight or 0.0, model.both_share or 0.0)
    return np.where(usable, found, np.nan)


def _whole(parts: Sequence[Moments]) -> Moments:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merge(part)
    return whole
