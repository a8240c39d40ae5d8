"""Spread: variances that go with shuffled labels, where only means are asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, dense_values
from bayesieve.utils import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Variances of two classes that labels carry with them.

    Parameters
    ----------
    means
        About which values spread, ``(n_batches, 2, n_features)``; one batch if there are none.
    log_ratio
        Log ratio of the variances, second class over first.
    batches
        Names of the batches.
    """

    means: FloatArray
    log_ratio: FloatArray
    batches: tuple[Any, ...] = ()

    def follow(self, matrix: LabelledMatrix, codes: IntArray, strata: tuple[Any, ...] | None) -> FloatArray:
        """Return values in which samples that change their class have the spread of the other one."""
        values, own = dense_values(matrix).copy(), matrix.labels.codes
        factors = np.expm1(0.5 * np.array([-self.log_ratio, self.log_ratio]))
        for i in np.flatnonzero(codes != own).tolist():
            mean = self.means[0 if strata is None else self.batches.index(strata[i]), own[i]]
            values[i] += (values[i] - mean) * factors[codes[i]]
        return values
