r"""Pairs: differences within pairs, with mean zero against any mean.

The differences :math:`d_i` of :math:`n` pairs are Gaussian. Not a marker: mean 0, any variance, prior
:math:`d\sigma / \sigma`. Marker: any mean, prior :math:`\sigma^{-1/2} d\mu\, d\sigma / \sigma`, whose one
further mean needs a constant :math:`B`:

.. math:: BF = B \sqrt{2\pi / n}\, \left(\sum d_i^2 / SS\right)^{n/2}

The fractional Bayes factor with training fraction :math:`2/n` has :math:`B = \pi^{-1/2}`. The variance
of differences says nothing about a difference in variance: pairs see the mean only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.stats import Moments
from bayesieve.utils import FloatArray

PAIR_CONSTANT = math.pi**-0.5


def paired_log_bayes_factor(differences: Moments, constant: float = PAIR_CONSTANT) -> FloatArray:
    r"""Log Bayes factor of "the mean of the differences is not 0".

    Parameters
    ----------
    differences
        Moments of the differences, as one class; NaN or infinite results where fewer than two of them
        differ.
    constant
        The constant :math:`B`.
    """
    n = np.asarray(differences.count[0], dtype=np.float64)
    mean = differences.mean[0] + np.asarray(differences.residual)[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.log1p(n * mean * mean / differences.centred_squares[0])
        log_bf = math.log(constant) + 0.5 * (math.log(2.0 * math.pi) - np.log(n)) + 0.5 * n * growth
    return np.asarray(log_bf)


@dataclass(frozen=True, slots=True, eq=False)
class PairedComparison:
    """Differences within pairs, in one or more blocks.

    Parameters
    ----------
    parts
        Moments of the differences.
    kept
        For every part the features about which it has a say.
    step
        Step to which differences are rounded, whose variance is in the squares; 0 if it is not known.
    """

    parts: tuple[Moments, ...]
    kept: tuple[npt.NDArray[np.bool_], ...]
    step: Any = 0.0

    def contributions(self) -> FloatArray:
        """Log Bayes factor of every part, 0 where it has no say: (n_parts, n_features)."""
        return np.array([
            np.where(kept, paired_log_bayes_factor(part), 0.0)
            for part, kept in zip(self.parts, self.kept, strict=True)
        ])  # fmt: skip

    def log_bayes_factor(self) -> FloatArray:
        """Log Bayes factors of the parts added up."""
        return np.asarray(self.contributions().sum(axis=0))

    @property
    def cost(self) -> int:
        """How much a draw costs."""
        return len(self.parts)

    def take(self, places: Any) -> PairedComparison:
        """The same for some of the features."""
        return PairedComparison(
            tuple(part.take(places) for part in self.parts),
            tuple(kept[places] for kept in self.kept),
            self.step[places] if np.ndim(self.step) else self.step,
        )

    def null_log_bayes_factor(self, rng: np.random.Generator) -> FloatArray:
        """Draw log Bayes factors as if all differences had mean 0."""
        drawn = []
        for part in self.parts:
            counts: Any = np.maximum(np.broadcast_to(part.counts, part.mean.shape), 2)
            extra = counts * (np.asarray(self.step) ** 2 / 12.0)
            variance = np.maximum(part.centred_squares - extra, 0.0) / (counts - 1.0)
            means = rng.standard_normal(counts.shape) * np.sqrt(variance / counts)
            squares = rng.chisquare(counts - 1.0) * variance + extra
            drawn.append(Moments.trusted(part.classes, part.count, means, squares, np.zeros_like(means)))
        return PairedComparison(tuple(drawn), self.kept, self.step).log_bayes_factor()
