"""Moments that grow as samples come in, chunk by chunk, without the table ever being whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve.data import Label, LabelledMatrix, Labels, is_sparse
from bayesieve.stats.moments.accumulate import RowPlan, Sums, accumulate, add_rows_present
from bayesieve.stats.moments.kernels import ROW_BLOCK
from bayesieve.stats.moments.moments import Moments, plain_counts
from bayesieve.stats.moments.shape import Shape
from bayesieve.utils import FloatArray, IntArray, n_threads_for


class MomentStream:
    """Sums over pieces of a table; missing values (NaN) are left out and counted per feature.

    The result depends on how the samples are cut into pieces only through rounding, and not at all
    on the number of threads.

    Parameters
    ----------
    n_features
        Number of features of every piece.
    n_threads
        Threads, all cores by default.
    """

    def __init__(self, n_features: int, n_threads: int | None = None) -> None:
        self._n_features, self._n_threads = n_features, n_threads
        self._sums = Sums(np.zeros((0, n_features), np.int64), *(np.zeros((0, n_features)) for _ in range(3)))
        self._sparse: Moments | None = None
        self._shape: Shape | None = None

    def add(self, values: Any, codes: IntArray, n_classes: int) -> None:
        """Add some samples.

        Parameters
        ----------
        values
            Samples x features, dense or sparse.
        codes
            Class of each sample as a position, -1 for samples to leave out.
        n_classes
            Number of classes known so far; it may grow from piece to piece.
        """
        kept = np.flatnonzero(codes >= 0)
        if not kept.size:
            return
        labels = Labels(tuple(range(n_classes)), codes[kept])
        part = values if kept.size == codes.size else values[kept]
        shape = Shape.of(LabelledMatrix(part, labels, None), self._n_threads)
        self._shape = shape if self._shape is None else self._shape.grow(n_classes).merge(shape)
        if is_sparse(values):
            sums = accumulate(LabelledMatrix(part, labels, None), missing="omit", n_threads=self._n_threads)
            made = Moments.trusted(labels.classes, sums.count, sums.mean, sums.centred_squares, sums.residual)
            self._sparse = made if self._sparse is None else self._sparse.merge(made)
            return
        self._grow(n_classes)
        plan = RowPlan.build(codes[kept], n_classes, ROW_BLOCK)
        plan = RowPlan(kept[plan.rows], plan.starts, plan.seen)
        add_rows_present(values, plan, self._sums, n_threads_for(self._n_threads, values.size))

    def _grow(self, n_classes: int) -> None:
        more = n_classes - self._sums.mean.shape[0]
        if more > 0:
            for name in ("count", "mean", "residual", "centred_squares"):
                old = getattr(self._sums, name)
                new = np.zeros((more, self._n_features), old.dtype)
                setattr(self._sums, name, np.concatenate([old, new]))

    def moments(self, classes: Sequence[Label]) -> Moments:
        """Return the moments of everything added, with a label for each position."""
        if self._sparse is not None:
            self._grow(len(classes))
            sparse = self._sparse.merge(Moments.trusted(tuple(range(len(classes))), *self._arrays()))
            arrays = (sparse.count, sparse.mean, sparse.centred_squares, sparse.residual)
            return plain_counts(Moments.trusted(tuple(classes), *arrays, shape=self._powers(len(classes))))
        self._grow(len(classes))
        return plain_counts(Moments.trusted(tuple(classes), *self._arrays(), shape=self._powers(len(classes))))

    def _powers(self, n_classes: int) -> tuple[FloatArray, ...] | None:
        if self._shape is None:
            return None
        shape = self._shape.grow(n_classes)
        return shape.cubes, shape.fourths

    def _arrays(self) -> tuple[Any, ...]:
        sums = self._sums
        return sums.count, sums.mean, sums.centred_squares, sums.residual


class FeatureStream:
    """Moments that grow as features come in, each with all its samples; the counterpart of :class:`MomentStream`.

    Parameters
    ----------
    n_threads
        Threads, all cores by default.
    """

    def __init__(self, n_threads: int | None = None) -> None:
        self._n_threads, self._n_features = n_threads, 0
        self._classes: tuple[Label, ...] = ()
        self._arrays: list[Any] = []

    def add(self, matrix: LabelledMatrix) -> None:
        """Add some features; missing values are left out and counted."""
        self._classes = matrix.labels.classes
        sums = accumulate(matrix, missing="omit", n_threads=self._n_threads)
        counts = sums.count if sums.count.ndim == 2 else sums.count[:, None]
        first, last = self._n_features, self._n_features + matrix.n_features
        shape = Shape.of(matrix, self._n_threads)
        parts = (counts, sums.mean, sums.centred_squares, sums.residual, shape.cubes, shape.fourths)
        if not self._arrays:
            self._arrays = [np.empty((counts.shape[0], max(last, 4096)), part.dtype) for part in parts]
        for k, part in enumerate(parts):  # large arrays that double: small ones would leave holes in memory
            if last > self._arrays[k].shape[1]:
                grown = np.empty((counts.shape[0], 2 * last), part.dtype)
                grown[:, :first] = self._arrays[k][:, :first]
                self._arrays[k] = grown
            self._arrays[k][:, first:last] = part
        self._n_features = last

    def moments(self) -> Moments:
        """Return the moments of all features; the stream is empty afterwards."""
        whole = []
        while self._arrays:  # one by one, so that nothing else is held twice
            whole.append(self._arrays.pop(0)[:, : self._n_features].copy())
        return plain_counts(Moments.trusted(self._classes, *whole[:4], shape=tuple(whole[4:]) or None))
