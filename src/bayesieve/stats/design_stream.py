"""Moments of a design that grow as samples come in, chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve.data import Label, LabelledMatrix, Labels
from bayesieve.stats.design_moments import DesignMoments
from bayesieve.utils import DataError, FloatArray, IntArray


class DesignStream:
    """Moments of a design that grow as samples come in, chunk by chunk; missing values are left out and counted.

    Parameters
    ----------
    covariates
        Names of the covariates so far; one that comes later was 0 in the samples before, as an indicator is.
    n_threads
        Threads, all cores by default; the result is the same to the last bit.
    """

    def __init__(self, covariates: Sequence[str], n_threads: int | None = None) -> None:
        self._names, self._n_threads = tuple(covariates), n_threads
        self._whole: DesignMoments | None = None

    def add(
        self,
        values: Any,
        codes: IntArray,
        n_classes: int,
        covariates: FloatArray,
        names: Sequence[str] | None = None,
    ) -> None:
        """Add some samples with their covariates; codes are positions of classes, -1 for samples to leave out."""
        if names is not None and tuple(names) != self._names:
            self._names = tuple(names)
            self._whole = None if self._whole is None else self._whole.columns(self._names)
        kept = np.flatnonzero(codes >= 0)
        if not kept.size:
            return
        matrix = LabelledMatrix(values[kept], Labels(tuple(range(n_classes)), codes[kept]), None)
        part = DesignMoments.from_labelled(
            matrix, np.asarray(covariates)[kept], names=self._names, missing="omit", n_threads=self._n_threads
        )
        self._whole = part if self._whole is None else self._whole.merge(part)

    def statistics(self, classes: Sequence[Label]) -> DesignMoments:
        """Return the moments of everything added, with a label for each position."""
        if self._whole is None:
            raise DataError("No sample was added.")
        return self._whole.renamed(tuple(classes)[: len(self._whole.classes)])
