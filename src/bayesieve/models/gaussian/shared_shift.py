r"""Batches (blocks) that share the shift between the classes.

Every block b (a batch, a site) has its own location :math:`\alpha_b`; the shift :math:`\delta` of the
second class and the class variances :math:`\sigma_0, \sigma_1` are common to all blocks. A feature
that is no marker has :math:`\delta = 0` and one variance. Compared with adding up the blocks' own
Bayes factors, a marker pays for two parameters more and not for two per block, and a shift that
has the same sign everywhere adds up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.models.gaussian.gaussian import GaussianModel
from bayesieve.models.gaussian.prior_ratio import PriorRatio, check_prior_ratio, log_prior_ratio
from bayesieve.models.gaussian.variance_ratio import log_ratio_integral
from bayesieve.stats import Moments, check_same_features
from bayesieve.utils import DataError, FloatArray, LabelError


def shared_shift_log_bayes_factor(
    blocks: Sequence[Moments], prior_ratio: PriorRatio, *, n_threads: int | None = None
) -> FloatArray:
    r"""Log Bayes factor of a shift and variances shared by all blocks against no difference.

    With block counts :math:`n_{by}`, differences of class means :math:`d_b`, totals :math:`N_y` and
    :math:`S_y` of counts and centred squares, :math:`Q` the sum of the blocks' pooled centred
    squares, :math:`1/v_b = (1/n_{b0} + \rho/n_{b1})^{-1}`, :math:`w = \sum_b 1/v_b`,
    :math:`\hat d = \sum_b d_b / (v_b w)` and :math:`q = \sum_b (d_b - \hat d)^2 / v_b`:

    .. math::
        BF = L \sqrt{2\pi} \int \frac{d\rho}{\rho}\; \rho^{-N_1/2}
        \left[\frac{w (N_0 \rho + N_1)}{n}\right]^{-1/2}
        \left[\frac{S_0 + S_1/\rho + q}{Q}\right]^{-n/2}

    The priors are :math:`\sqrt{(n_{b0}/\sigma_0 + n_{b1}/\sigma_1)/n_b}\; d\alpha_b`,
    :math:`\sqrt{n / (N_0 \sigma_1 + N_1 \sigma_0)}\; d\delta` and :math:`d\sigma_y/\sigma_y`; for a
    non-marker :math:`\sigma^{-1/2} d\alpha_b` and :math:`d\sigma/\sigma`. With one block this is the
    two-class Bayes factor under Jeffreys' prior.

    A block that lacks a class tells about the spread of the other class and not about the shift:
    its location integrates to the same factor under both hypotheses, its counts and centred squares
    stay in the totals. A block without values changes nothing.

    Parameters
    ----------
    blocks
        Moments of the same two classes in every block; a class may have no samples in a block.
    prior_ratio
        The paper's :math:`L`, in any form :class:`GaussianModel` takes; a function of the class sizes
        sees the totals. It enters once, however many blocks there are.
    n_threads
        Threads to use, all cores by default; the result is the same to the last bit.

    Returns
    -------
    numpy.ndarray
        One number per feature; NaN where the classes never meet in a block, or where a class has no
        spread within blocks.
    """
    ratio = check_prior_ratio(prior_ratio)
    _check_blocks(blocks)
    shape = (len(blocks), 2, blocks[0].n_features if any(b.count.ndim == 2 for b in blocks) else 1)
    counts = np.array([np.broadcast_to(block.counts, shape[1:]) for block in blocks])
    differences = np.array([block.mean_difference for block in blocks])
    squares = np.zeros((2, blocks[0].n_features))
    for block in blocks:
        squares += block.centred_squares
    integral = log_ratio_integral(squares, counts, differences, free_shift=True, n_threads=n_threads)
    totals = counts.sum(axis=0)
    log_ratio = log_prior_ratio(ratio, *(totals if shape[2] > 1 else totals[:, 0]))
    return np.asarray(log_ratio + 0.5 * math.log(2.0 * math.pi) + integral)


def _check_blocks(blocks: Sequence[Moments]) -> None:
    if not blocks:
        raise DataError("At least one block of samples is needed.")
    classes = blocks[0].classes
    if len(classes) != 2:
        raise LabelError(f"Blocks share the shift between two classes, but there are {len(classes)}: {classes!r}.")
    for number, block in enumerate(blocks[1:], start=2):
        if block.classes != classes:
            raise LabelError(
                f"Block {number} has the classes {list(block.classes)!r}, the first {list(classes)!r}. Give all "
                "blocks the same classes in the same order; a class may have no samples."
            )
        check_same_features(blocks[0].n_features, block.n_features)


@dataclass(frozen=True, slots=True, eq=False)
class ShiftComparison:
    """Own location per block, shared class shift and variances.

    Parameters
    ----------
    blocks
        Moments of two classes in every block.
    model
        Jeffreys' model, whose prior ratio enters once.
    """

    blocks: tuple[Moments, ...]
    model: GaussianModel

    def log_bayes_factor(self) -> FloatArray:
        """Log Bayes factor, NaN where it is not defined."""
        ratio: Any = self.model.prior_ratio
        return shared_shift_log_bayes_factor(self.blocks, ratio)

    def without(self, block: int) -> FloatArray:
        """Log Bayes factor with one block left out; 0 where nothing is left."""
        left = tuple(part for k, part in enumerate(self.blocks) if k != block)
        if not left:
            return np.zeros(self.blocks[0].n_features)
        log_bf = ShiftComparison(left, self.model).log_bayes_factor()
        return np.where(np.isfinite(log_bf), log_bf, 0.0)

    @property
    def cost(self) -> int:
        """How much a draw costs: an integral, whose integrand looks at every block."""
        return 20 * len(self.blocks)

    def take(self, places: Any) -> ShiftComparison:
        """The same for some of the features."""
        return ShiftComparison(
            tuple(block.take(places) for block in self.blocks), self.model.take(places, self.blocks[0].n_features)
        )

    def null_log_bayes_factor(self, rng: np.random.Generator) -> FloatArray:
        """Draw log Bayes factors as if no feature were a marker: the spread of all blocks, no shift."""
        drawn = []
        for block in self.blocks:
            shape = block.mean.shape
            counts = np.broadcast_to(block.counts, shape)
            there = np.maximum(counts, 1)
            means = np.where(counts > 0, rng.standard_normal(shape) / np.sqrt(there), 0.0)
            squares = np.where(counts > 1, rng.chisquare(np.maximum(there - 1, 1e-9)), 0.0)
            drawn.append(Moments.trusted(block.classes, block.count, means, squares, np.zeros(shape)))
        return ShiftComparison(tuple(drawn), self.model).log_bayes_factor()
