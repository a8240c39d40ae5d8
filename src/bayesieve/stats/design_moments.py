r"""Sufficient statistics of a design: moments of the classes together with those of covariates (age, dose, sex).

For every class :math:`y` and feature :math:`x` with covariates :math:`z` they are the count, the means
:math:`\bar x_y, \bar z_y` and, centred within the class, :math:`SS_y = \sum (x - \bar x_y)^2`,
:math:`b_y = \sum (z - \bar z_y)(x - \bar x_y)` and :math:`A_y = \sum (z - \bar z_y)(z - \bar z_y)^T`. Any linear
model of the class means with slopes on the covariates follows from them. They merge: with
:math:`\delta` the differences of the means of two parts,

.. math:: A = A_0 + A_1 + \tfrac{n_0 n_1}{n} \delta_z \delta_z^T, \quad
    b = b_0 + b_1 + \tfrac{n_0 n_1}{n} \delta_z \delta_x
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bayesieve.data import Label, LabelledMatrix, check_classes, is_lazy, union_of_classes
from bayesieve.distributed import sum_labelled
from bayesieve.stats.moments.checks import check_same_features
from bayesieve.stats.moments.moments import Moments, plain_counts
from bayesieve.stats.present import with_missing
from bayesieve.stats.scatter import cross_products
from bayesieve.utils import CountArray, DataError, FloatArray, IntArray, for_each, n_threads_for

_TILE = 2048  # columns whose products are summed together


class _Part(NamedTuple):
    """One class: count, mean of the features and its residual; means, products, cross-products of covariates."""

    n: Any
    mean: Any
    residual: Any
    location: Any
    scatter: Any
    cross: Any


@dataclass(frozen=True, slots=True, eq=False)
class DesignMoments:
    """Moments of the features, of the covariates, and their cross-products, class by class.

    Parameters
    ----------
    moments
        Moments of the features.
    covariates
        Names of the covariates.
    location
        Means of the covariates, ``(n_classes, n_covariates)``; with one more axis for the features where values
        are missing, so that features differ in the samples they have.
    scatter
        Centred sums of products of covariates, ``(n_classes, n_covariates, n_covariates)`` and perhaps features.
    cross
        Centred sums of products of covariates with features, ``(n_classes, n_covariates, n_features)``.
    """

    moments: Moments
    covariates: tuple[str, ...]
    location: FloatArray
    scatter: FloatArray
    cross: FloatArray

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        y: Any,
        covariates: Any,
        *,
        names: Sequence[str] | None = None,
        classes: Sequence[Label] | None = None,
        missing: str = "raise",
        n_threads: int | None = None,
        shape: bool = True,
    ) -> DesignMoments:
        """Sum a samples x features table and its covariates (samples x covariates) class by class."""
        if is_lazy(X):
            function = functools.partial(cls.from_labelled, names=names, shape=shape)
            numbers = _check_covariates(covariates, len(covariates))
            found: DesignMoments = sum_labelled(X, y, function, classes=classes, missing=missing, numbers=numbers)
            return found
        matrix = LabelledMatrix.from_arrays(X, y, classes=classes)
        return cls.from_labelled(
            matrix, covariates, names=names, missing=missing, n_threads=n_threads, shape=shape
        )

    @classmethod
    def from_labelled(
        cls,
        matrix: LabelledMatrix,
        covariates: Any,
        *,
        names: Sequence[str] | None = None,
        missing: str = "raise",
        n_threads: int | None = None,
        shape: bool = True,
    ) -> DesignMoments:
        """Sum a matrix that has been checked already; see :meth:`from_matrix`."""
        Z = _check_covariates(covariates, matrix.n_samples)
        names = tuple(f"z{k}" for k in range(Z.shape[1])) if names is None else tuple(map(str, names))
        moments = Moments.from_labelled(matrix, missing=missing, n_threads=n_threads, shape=shape)
        codes, n_classes, p = matrix.labels.codes, len(moments.classes), Z.shape[1]
        location, scatter = np.zeros((n_classes, p)), np.zeros((n_classes, p, p))
        cross = np.zeros((n_classes, p, moments.n_features))
        threads = n_threads_for(n_threads, matrix.n_samples * matrix.n_features * max(p, 1))
        starts = range(0, moments.n_features, _TILE)
        for k in range(n_classes):
            rows = np.flatnonzero(codes == k)
            if not rows.size or not p:
                continue
            location[k], scatter[k], partners = _centred(Z[rows])

            def work(lo: int, k: int = k, rows: IntArray = rows, partners: FloatArray = partners) -> None:
                hi = min(lo + _TILE, moments.n_features)
                cross[k, :, lo:hi] = cross_products(matrix.values, rows, lo, hi, partners, moments.mean[k, lo:hi])

            for_each(work, starts, threads)
        if moments.count.ndim == 1 or not p:
            return cls(moments, names, location, scatter, cross)
        return cls(moments, names, *with_missing(matrix, Z, moments, location, scatter, cross, threads))

    @property
    def classes(self) -> tuple[Label, ...]:
        """Class labels, in order."""
        return self.moments.classes

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.moments.n_features

    @property
    def n_covariates(self) -> int:
        """Number of covariates."""
        return len(self.covariates)

    @property
    def counts(self) -> CountArray:
        """Values present, in a shape that broadcasts against the means."""
        return self.moments.counts

    @property
    def by_feature(self) -> bool:
        """Whether features differ in the samples they have, so that each has its own moments of covariates."""
        return self.location.ndim == 3

    def pick(self, classes: Sequence[Label]) -> DesignMoments:
        """Some classes, in the order given."""
        moments = self.moments.pick(classes)
        places = [self.classes.index(label) for label in classes]
        arrays = (array[places] for array in (self.location, self.scatter, self.cross))
        return DesignMoments(moments, self.covariates, *arrays)

    def pool(self, classes: Sequence[Label] | None = None) -> DesignMoments:
        """Several classes taken together, as one class whose label is the tuple of theirs."""
        chosen = self.classes if classes is None else tuple(check_classes(classes))
        moments = self.moments.pool(chosen)
        whole = self._part(chosen[0])
        for label in chosen[1:]:
            whole = _merged(whole, self._part(label))
        return self._of(moments, [whole])

    def merge(self, other: DesignMoments) -> DesignMoments:
        """Both samples together; a part may lack a class."""
        self._check(other)
        classes = union_of_classes(self.classes, other.classes)
        moments = self.moments.merge(other.moments)
        return self._of(moments, [_merged(self._part(label), other._part(label)) for label in classes])

    def remove(self, other: DesignMoments) -> DesignMoments:
        """What is left when ``other``, a part of these samples, is withdrawn."""
        self._check(other)
        moments = self.moments.remove(other.moments)
        return self._of(moments, [_removed(self._part(label), other._part(label)) for label in self.classes])

    def at(self, moments: Moments, places: IntArray) -> DesignMoments:
        """The same of features by position, -1 for one without values; ``moments`` are theirs."""
        whole = self if (places >= 0).all() else self.spread()

        def taken(array: FloatArray) -> FloatArray:
            return np.where(places >= 0, array[..., places], 0.0)

        location, scatter = whole.location, whole.scatter
        if whole.by_feature:
            location, scatter = taken(location), taken(scatter)
        return DesignMoments(moments, self.covariates, location, scatter, taken(whole.cross))

    def take(self, places: Any) -> DesignMoments:
        """Some features, by position or as a slice."""
        location, scatter = self.location, self.scatter
        if self.by_feature:
            location, scatter = location[..., places], scatter[..., places]
        return DesignMoments(
            self.moments.take(places), self.covariates, location, scatter, self.cross[..., places]
        )

    def renamed(self, classes: Sequence[Label]) -> DesignMoments:
        """The same under other class labels."""
        arrays = (self.location, self.scatter, self.cross)
        return DesignMoments(self.moments.renamed(classes), self.covariates, *arrays)

    def grouped(self, groups: Sequence[Sequence[Label]], labels: Sequence[Label]) -> DesignMoments:
        """Groups of classes, each under a label of its own."""
        if all(list(group) == [label] for group, label in zip(groups, self.classes, strict=False)) and (
            len(groups) == len(self.classes)
        ):
            return self.renamed(labels)
        pooled = [self.pool(group).renamed([label]) for group, label in zip(groups, labels, strict=True)]
        whole = pooled[0]
        for part in pooled[1:]:
            whole = whole.merge(part)
        return whole

    def with_constants(self, names: Sequence[str], values: FloatArray) -> DesignMoments:
        """The same with further covariates first, that have one value in all samples of a class."""
        m, n = len(names), self.location.shape[2:]
        found = self.columns((*names, *self.covariates))
        location = found.location.copy()
        location[:, :m] = values.reshape(*values.shape, *(1,) * len(n))
        return replace(found, location=location)

    def columns(
        self, names: Sequence[str], centres: FloatArray | None = None, units: FloatArray | None = None
    ) -> DesignMoments:
        """The same of other covariates by name, about other centres and in other units; an unknown one is 0."""
        p, n = len(names), self.location.shape[2:]
        here = [k for k, name in enumerate(names) if name in self.covariates]
        places = [self.covariates.index(names[k]) for k in here]
        location, scatter = np.zeros((len(self.classes), p, *n)), np.zeros((len(self.classes), p, p, *n))
        cross = np.zeros((len(self.classes), p, self.n_features))
        location[:, here], cross[:, here] = self.location[:, places], self.cross[:, places]
        scatter[:, np.array(here, int)[:, None], here] = self.scatter[:, np.array(places, int)[:, None], places]
        if centres is not None and units is not None:
            wide = (slice(None), *(None,) * len(n))
            present: Any = np.asarray(self.counts) > 0
            there = present[:, None] if n else present.any(axis=1)[:, None]
            location = np.where(there, (location - centres[wide]) / units[wide], 0.0)
            scatter /= (units[:, None] * units)[(..., *wide[1:])]
            cross /= units[:, None]
        return DesignMoments(self.moments, tuple(names), location, scatter, cross)

    @staticmethod
    def join(parts: Sequence[DesignMoments]) -> DesignMoments:
        """Features of several statistics of the same classes, side by side."""
        first = parts[0]
        whole = [part if not any(each.by_feature for each in parts) else part.spread() for part in parts]
        location, scatter = first.location, first.scatter
        if whole[0].by_feature:
            location = np.concatenate([part.location for part in whole], axis=-1)
            scatter = np.concatenate([part.scatter for part in whole], axis=-1)
        cross = np.concatenate([part.cross for part in whole], axis=-1)
        moments = Moments.join([part.moments for part in parts])
        moments = moments if whole[0].by_feature else plain_counts(moments)
        return DesignMoments(moments, first.covariates, location, scatter, cross)

    def spread(self) -> DesignMoments:
        """The same with moments of the covariates of every feature."""
        if self.by_feature:
            return self
        location, scatter = (
            np.repeat(array[..., None], self.n_features, axis=-1) for array in (self.location, self.scatter)
        )
        return DesignMoments(self.moments, self.covariates, location, scatter, self.cross)

    def describe(self, labels: Sequence[str]) -> dict[str, Any]:
        """Columns for the table of results: those of the features as measured."""
        return self.moments.describe(labels)

    def _check(self, other: DesignMoments) -> None:
        if self.covariates != other.covariates:
            raise DataError(
                f"Statistics with the covariates {list(self.covariates)!r} and {list(other.covariates)!r} do not "
                "go together: the same covariates in the same order are needed."
            )
        check_same_features(self.n_features, other.n_features)

    def _part(self, label: Label) -> _Part:
        """One class; nothing if it is not there."""
        p = self.n_covariates
        if label not in self.classes:
            return _Part(0, 0.0, 0.0, np.zeros(p), np.zeros((p, p)), np.zeros((p, self.n_features)))
        k = self.classes.index(label)
        means = self.moments.mean[k], np.asarray(self.moments.residual)[k]
        return _Part(self.moments.count[k], *means, self.location[k], self.scatter[k], self.cross[k])

    def _of(self, moments: Moments, parts: Sequence[_Part]) -> DesignMoments:
        p, n = self.n_covariates, self.n_features
        wide = any(part.location.ndim == 2 for part in parts)
        location = np.array([_widened(part.location, (p, n), wide) for part in parts])
        scatter = np.array([_widened(part.scatter, (p, p, n), wide) for part in parts])
        cross = np.array([part.cross for part in parts])
        return DesignMoments(moments, self.covariates, location, scatter, cross)


def _check_covariates(covariates: Any, n_samples: int) -> FloatArray:
    Z = np.asarray(covariates, dtype=np.float64)
    Z = Z[:, None] if Z.ndim == 1 else Z
    if Z.ndim != 2 or Z.shape[0] != n_samples:
        raise DataError(f"The covariates have shape {Z.shape}; one row for each of {n_samples} samples is needed.")
    if not np.isfinite(Z).all():
        raise DataError(f"{int((~np.isfinite(Z)).sum())} values of the covariates are missing or infinite.")
    return Z


def _centred(Z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, centred products and centred values; the rounding of a first mean is made good by a second."""
    first = Z.mean(axis=0)
    rest = (Z - first).mean(axis=0)
    centred = (Z - first) - rest
    return first + rest, np.einsum("ij,ik->jk", centred, centred), centred


def _widened(array: FloatArray, shape: tuple[int, ...], wide: bool) -> FloatArray:
    """Give an array the axis of the features, if it is to have one."""
    return np.broadcast_to(array[..., None], shape) if wide and array.ndim < len(shape) else array


def _products(first: _Part, second: _Part, weight: Any) -> tuple[Any, ...]:
    """Locations and scatters of two parts in the same shape, and products of the differences of their means."""
    wide = first.location.ndim == 2 or second.location.ndim == 2 or np.ndim(weight) == 1
    p, n = first.cross.shape
    places = [_widened(part.location, (p, n), wide) for part in (first, second)]
    scatters = [_widened(part.scatter, (p, p, n), wide) for part in (first, second)]
    shift = places[1] - places[0]
    moved = (second.mean - first.mean) + (second.residual - first.residual)
    products = weight * (shift[:, None] * shift[None, :]), weight * ((shift if wide else shift[:, None]) * moved)
    return places[0], shift, moved, *scatters, *products


def _merged(first: _Part, second: _Part) -> _Part:
    """Two parts together."""
    n = first.n + second.n
    share = second.n / np.maximum(n, 1)
    place, shift, moved, scatter0, scatter1, square, product = _products(first, second, first.n * share)
    offset = first.residual + share * moved
    mean = first.mean + offset
    back = mean - first.mean
    residual = (first.mean - (mean - back)) + (offset - back)
    return _Part(
        n,
        mean,
        residual,
        place + share * shift,
        scatter0 + scatter1 + square,
        first.cross + second.cross + product,
    )


def _removed(whole: _Part, part: _Part) -> _Part:
    """What is left without a part; means of the features are left to their own moments."""
    n = whole.n - part.n
    share = part.n / np.maximum(n, 1)
    place, shift, _, scatter0, scatter1, square, product = _products(whole, part, whole.n * share)
    left = np.asarray(n) > 0
    return whole._replace(
        n=n,
        location=np.where(left, place - share * shift, 0.0),
        scatter=np.where(left, scatter0 - scatter1 - square, 0.0),
        cross=np.where(left, whole.cross - part.cross - product, 0.0),
    )
