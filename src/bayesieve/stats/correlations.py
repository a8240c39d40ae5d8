"""Correlations of all pairs of features within each class, a block of pairs at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from bayesieve.data import LabelledMatrix, Labels, is_sparse
from bayesieve.stats.moments.moments import Moments, complete_moments
from bayesieve.stats.scatter import Scatter
from bayesieve.utils import FloatArray, IntArray

_KEPT = 1 << 25  # values in units of their spread that are kept in memory; beyond, they are made when needed
_TOGETHER = 1 << 21


class Correlations(Protocol):
    """Where correlations within classes come from: values, or scatter matrices that sites have merged."""

    @property
    def moments(self) -> Moments:
        """Moments of every feature by itself."""
        ...

    def take(self, places: IntArray) -> Self:
        """Return the same of some features."""
        ...

    def rows(self, lo: int, hi: int) -> Sequence[Any]:
        """Prepare some features for :meth:`tile`: one part per class."""
        ...

    def tile(self, rows: Sequence[Any], k: int, lo: int, hi: int, out: FloatArray) -> None:
        """Write the correlations in class ``k`` of prepared features with features ``lo`` to ``hi - 1``."""
        ...

    def of_pairs(self, first: IntArray, second: IntArray) -> FloatArray:
        """Correlations of some pairs, classes x pairs."""
        ...

    def with_one(self, feature: int) -> FloatArray:
        """Correlations of one feature with all, classes x features."""
        ...


class ValueCorrelations:
    """Correlations from values: products of columns about their class mean, in units of their spread.

    Parameters
    ----------
    matrix
        A table without missing values, dense or sparse; sparse columns are made dense a block at a time.
    moments
        Its moments.
    """

    def __init__(self, matrix: LabelledMatrix, moments: Moments) -> None:
        self._matrix, self._moments = matrix, moments
        self._members = [np.flatnonzero(matrix.labels.codes == k) for k in range(len(moments.classes))]
        root = np.sqrt(moments.centred_squares)
        self._root = np.where(root > 0.0, root, 1.0)
        self._kept: list[FloatArray] | None = None
        if matrix.n_samples * matrix.n_features <= _KEPT:
            whole = [np.empty((matrix.n_features, rows.size)) for rows in self._members]
            width = max(1, _TOGETHER // matrix.n_samples)
            for lo in range(0, matrix.n_features, width):
                hi = min(lo + width, matrix.n_features)
                for part, into in zip(self._make(np.arange(lo, hi)), whole, strict=True):
                    into[lo:hi] = part
            self._kept = whole

    @classmethod
    def of(cls, matrix: LabelledMatrix, *, n_threads: int | None = None) -> ValueCorrelations:
        """Look at a table; raise if a value is missing."""
        if is_sparse(matrix.values):  # columns are what is asked for
            matrix = LabelledMatrix(
                matrix.values.tocsc(), matrix.labels, matrix.feature_names, matrix.sample_names
            )
        return cls(matrix, complete_moments(matrix, "Pairs of features need all values", n_threads=n_threads))

    @property
    def moments(self) -> Moments:
        """Moments of every feature by itself."""
        return self._moments

    def shuffled(self, n_shuffles: int, seed: int, *, n_threads: int | None = None) -> Iterator[ValueCorrelations]:
        """Yield the same table with shuffled labels; the true ones come only if there is hardly another way."""
        codes = self._matrix.labels.codes
        for stream in np.random.SeedSequence(seed).spawn(n_shuffles):
            rng = np.random.default_rng(stream)
            for _ in range(100):
                other = rng.permutation(codes)
                if not (np.array_equal(other, codes) or np.array_equal(other, 1 - codes)):
                    break
            yield self.relabelled(other, n_threads=n_threads)

    def relabelled(self, codes: IntArray, *, n_threads: int | None = None) -> ValueCorrelations:
        """Return the same table with other labels."""
        labels = Labels(self._matrix.labels.classes, codes)
        matrix = LabelledMatrix(self._matrix.values, labels, None)
        return ValueCorrelations(matrix, Moments.from_labelled(matrix, n_threads=n_threads))

    def take(self, places: IntArray) -> ValueCorrelations:
        """Return the same of some features."""
        matrix = LabelledMatrix(self._matrix.values[:, places], self._matrix.labels, None)
        return ValueCorrelations(matrix, self._moments.take(places))

    def rows(self, lo: int, hi: int) -> Sequence[Any]:
        """Prepare some features for :meth:`tile`."""
        return self._kept_or_made(lo, hi)

    def tile(self, rows: Sequence[Any], k: int, lo: int, hi: int, out: FloatArray) -> None:
        """Write the correlations in class ``k`` of prepared features with features ``lo`` to ``hi - 1``."""
        np.matmul(rows[k], self._kept_or_made(lo, hi)[k].T, out=out)

    def of_pairs(self, first: IntArray, second: IntArray) -> FloatArray:
        """Correlations of some pairs, classes x pairs."""
        places, where = np.unique(np.concatenate([first, second]), return_inverse=True)
        parts = self._make(places)
        one, other = where[: first.size], where[first.size :]
        return np.stack([np.einsum("pi,pi->p", part[one], part[other]) for part in parts])

    def with_one(self, feature: int) -> FloatArray:
        """Correlations of one feature with all, classes x features."""
        own, p = self._make(np.array([feature])), self._matrix.n_features
        out = np.empty((len(own), p))
        width = max(1, _TOGETHER // self._matrix.n_samples)
        for lo in range(0, p, width):
            for k, part in enumerate(self._kept_or_made(lo, min(lo + width, p))):
                out[k, lo : lo + width] = part @ own[k][0]
        return out

    def _kept_or_made(self, lo: int, hi: int) -> Sequence[FloatArray]:
        if self._kept is None:
            return self._make(np.arange(lo, hi))
        return [part[lo:hi] for part in self._kept]

    def _make(self, places: IntArray) -> Sequence[FloatArray]:
        """Features x samples of each class, about their mean, of length 1."""
        if self._kept is not None:
            return [part[places] for part in self._kept]
        values = self._matrix.values[:, places]
        values = (values.toarray() if is_sparse(values) else np.asarray(values)).astype(np.float64)
        residual = np.asarray(self._moments.residual)
        made = []
        for k, rows in enumerate(self._members):
            part = np.ascontiguousarray(values[rows].T)
            part -= self._moments.mean[k, places, None]
            part -= residual[k, places, None]
            part /= self._root[k, places, None]
            made.append(part)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class ScatterCorrelations:
    """Correlations of features whose scatter matrices are known, for example merged from several sites.

    Parameters
    ----------
    scatter
        Sums of products of every class.
    """

    scatter: Scatter

    @property
    def moments(self) -> Moments:
        """Moments of every feature by itself."""
        return self.scatter.moments()

    def take(self, places: IntArray) -> ScatterCorrelations:
        """Return the same of some features."""
        return ScatterCorrelations(self.scatter.take(places))

    def rows(self, lo: int, hi: int) -> Sequence[Any]:
        """Prepare some features for :meth:`tile`."""
        return [(lo, hi)] * len(self.scatter.classes)

    def tile(self, rows: Sequence[Any], k: int, lo: int, hi: int, out: FloatArray) -> None:
        """Write the correlations in class ``k`` of prepared features with features ``lo`` to ``hi - 1``."""
        root, (first, last) = self._root(k), rows[k]
        out[:] = self.scatter.products[k, first:last, lo:hi] / root[first:last, None] / root[lo:hi]

    def of_pairs(self, first: IntArray, second: IntArray) -> FloatArray:
        """Correlations of some pairs, classes x pairs."""
        roots = [self._root(k) for k in range(len(self.scatter.classes))]
        return np.stack(
            [self.scatter.products[k, first, second] / root[first] / root[second] for k, root in enumerate(roots)]
        )

    def with_one(self, feature: int) -> FloatArray:
        """Correlations of one feature with all, classes x features."""
        every = np.arange(self.scatter.n_features)
        return self.of_pairs(np.full(every.size, feature), every)

    def _root(self, k: int) -> FloatArray:
        root = np.sqrt(np.diagonal(self.scatter.products[k]))
        return np.where(root > 0.0, root, 1.0)
