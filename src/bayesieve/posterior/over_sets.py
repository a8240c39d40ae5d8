"""Priors over sets of features, as far as posteriors ask them anything; they are made in feature_sets."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

MOST_FEATURES = 20  # whose sets can all be looked at


@runtime_checkable
class OverSets(Protocol):
    """A prior that gives every set of features a probability, such as :class:`bayesieve.SetPrior`."""

    def log_weights(self, n_features: int) -> FloatArray:
        """Log weight of every set, by bit mask."""
        ...

    def log_probability(self, n_features: int) -> FloatArray:
        """Log probability of every set, by bit mask."""
        ...


@runtime_checkable
class OverSizes(OverSets, Protocol):
    """One that depends on the number of markers only, such as :class:`bayesieve.SizePrior`."""

    def log_sizes(self, n_features: int) -> FloatArray:
        """Log probability of 0, 1, ..., ``n_features`` markers."""
        ...
