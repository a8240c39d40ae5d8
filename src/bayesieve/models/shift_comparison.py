"""Blocks that share the class shift, as a comparison that can be repeated on draws of chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models.gaussian import GaussianModel
from bayesieve.models.shared_shift import shared_shift_log_bayes_factor
from bayesieve.stats import Moments

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ShiftComparison:
    """Own location per block, shared class shift and variances.

    Parameters
    ----------
    blocks
        Moments of two classes in every block.
    model
        Jeffreys' model, whose prior ratio enters once.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.models.shift_comparison import ShiftComparison
    >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
    >>> model = bs.GaussianModel.jeffreys()
    >>> difference = ShiftComparison((moments,), model).log_bayes_factor() - model.log_bayes_factor(moments)
    >>> bool(abs(difference[0]) < 1e-10)
    True
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
