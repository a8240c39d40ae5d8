"""Moments that grow as samples come in, piece by piece, without the table ever being whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve.data import Label, LabelledMatrix, Labels, is_sparse
from bayesieve.stats.accumulate import Sums, accumulate, add_rows_present
from bayesieve.stats.dense_kernels import ROW_BLOCK
from bayesieve.stats.moments import Moments
from bayesieve.stats.row_plan import IntArray, RowPlan
from bayesieve.stats.threads import n_threads_for


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

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.stats.streaming import MomentStream
    >>> stream = MomentStream(1)
    >>> stream.add(np.array([[1.0], [3.0]]), np.array([0, 1]), 2)
    >>> stream.add(np.array([[5.0], [9.0]]), np.array([1, -1]), 2)
    >>> stream.moments(["a", "b"]).mean.tolist()
    [[1.0], [4.0]]
    """

    def __init__(self, n_features: int, n_threads: int | None = None) -> None:
        self._n_features, self._n_threads = n_features, n_threads
        self._sums = Sums(np.zeros((0, n_features), np.int64), *(np.zeros((0, n_features)) for _ in range(3)))
        self._sparse: Moments | None = None

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
        if is_sparse(values):
            labels = Labels(tuple(range(n_classes)), codes[kept])
            part = values if kept.size == codes.size else values[kept]
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
            return plain_counts(Moments.trusted(
                tuple(classes), sparse.count, sparse.mean, sparse.centred_squares, sparse.residual
            ))  # fmt: skip
        self._grow(len(classes))
        return plain_counts(Moments.trusted(tuple(classes), *self._arrays()))

    def _arrays(self) -> tuple[Any, ...]:
        sums = self._sums
        return sums.count, sums.mean, sums.centred_squares, sums.residual


def plain_counts(moments: Moments) -> Moments:
    """Hold one count per class where all features have the same.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.stats.streaming import plain_counts
    >>> moments = bs.Moments(["a"], [[2, 2]], [[0.0, 1.0]], [[1.0, 2.0]])
    >>> plain_counts(moments).count.tolist()
    [2]
    """
    count = moments.count
    if count.ndim == 2 and (count == count[:, :1]).all():
        count = count[:, 0].copy()
    return Moments.trusted(moments.classes, count, moments.mean, moments.centred_squares, moments.residual)


def beside(parts: Sequence[Moments]) -> Moments:
    """Put the moments of different features of the same samples beside each other.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.stats.streaming import beside
    >>> parts = [bs.Moments.from_matrix([[1.0], [3.0]], ["a", "b"]) for _ in range(3)]
    >>> beside(parts).n_features
    3
    """
    first = parts[0]
    if len(parts) == 1:
        return plain_counts(first)
    counts = [np.broadcast_to(part.counts, part.mean.shape) for part in parts]
    arrays = ([getattr(part, name) for part in parts] for name in ("mean", "centred_squares", "residual"))
    return plain_counts(
        Moments.trusted(
            first.classes, np.concatenate(counts, axis=1), *(np.concatenate(a, axis=1) for a in arrays)
        )
    )
