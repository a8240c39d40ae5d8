"""Moments: the sufficient statistics of the Gaussian model (section 2.3), per class and feature."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix, check_classes, is_lazy, is_sparse, place, union_of_classes
from bayesieve.distributed import sum_labelled
from bayesieve.stats.moments.accumulate import accumulate
from bayesieve.stats.moments.checks import check_moments, check_powers, check_resolution, check_same_features
from bayesieve.stats.moments.kernels import merge
from bayesieve.stats.moments.removal import remove_part, warn_of_lost_digits
from bayesieve.stats.moments.shape import Shape, merge_powers, remove_powers
from bayesieve.utils import (
    TABLE,
    CountArray,
    DataError,
    FloatArray,
    Glimpse,
    Glimpsed,
    LabelError,
    MissingValueError,
    glimpse_of_classes,
)

_ARRAYS = ("count", "mean", "centred_squares", "residual")
_SHAPE = ("centred_cubes", "centred_fourths")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moments(Glimpsed):
    r"""Sufficient statistics of the Gaussian model: all it needs to know about each class of samples.

    Moments merge: those of two parts of the data, in any order and however they were split, give
    the moments of the whole.

    Parameters
    ----------
    classes
        Class labels, in order.
    count
        Number of values: ``(n_classes,)``, or ``(n_classes, n_features)`` when values are missing.
    mean
        Class means, ``(n_classes, n_features)``; 0 where the count is 0.
    centred_squares
        Sum of ``(x - mean) ** 2``, same shape: the paper's :math:`(n_y - 1) \hat\sigma_y`.
    residual
        What rounding took from ``mean``: the mean is ``mean + residual``. Zero when not given.
    centred_cubes, centred_fourths
        Sums of the third and fourth powers of the distance from the mean, which say how heavy tails are; both or
        None.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.0, 5.0], [2.0, 5.0], [4.0, 7.0], [8.0, 9.0]]
    >>> moments = bs.Moments.from_matrix(X, ["a", "a", "b", "b"])
    >>> moments.count.tolist(), moments.mean.tolist()
    ([2, 2], [[1.0, 5.0], [6.0, 8.0]])
    """

    classes: tuple[Label, ...]
    count: CountArray
    mean: FloatArray
    centred_squares: FloatArray
    residual: FloatArray | None = None
    centred_cubes: FloatArray | None = None
    centred_fourths: FloatArray | None = None

    def __post_init__(self) -> None:
        checked = check_moments(self.classes, self.count, self.mean, self.centred_squares, self.residual)
        object.__setattr__(self, "classes", checked[0])
        shape = check_powers(self.centred_cubes, self.centred_fourths, checked[2].shape)
        for name, array in zip((*_ARRAYS, *_SHAPE), (*checked[1:], *shape), strict=True):
            if array is None:
                continue
            view = array.view()  # the caller's own array stays writeable
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        y: Any,
        *,
        classes: Sequence[Label] | None = None,
        missing: str = "raise",
        n_threads: int | None = None,
        shape: bool = True,
    ) -> Moments:
        """Sum a samples x features table class by class.

        Parameters
        ----------
        X
            Dense array, pandas or polars frame, CSR or CSC matrix. Implicit zeros count. A Dask array or frame, or
            a zarr array, is summed block by block.
        y
            One label per sample.
        classes
            Order of the classes; sorted when not given. A class without samples is kept.
        missing
            ``"raise"`` (default) or ``"omit"``: use the values that are there, with counts per feature.
        n_threads
            Threads to use, all cores by default; the result is the same to the last bit.
        shape
            Whether to add up third and fourth powers, too, which takes a second look at the values.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.Moments.from_matrix([[1.0], [3.0], [5.0]], [0, 0, 1]).mean.tolist()
        [[2.0], [5.0]]
        """
        if is_lazy(X):
            function = functools.partial(cls.from_labelled, shape=shape)
            found: Moments = sum_labelled(X, y, function, classes=classes, missing=missing)
            return plain_counts(found)
        return cls.from_labelled(
            LabelledMatrix.from_arrays(X, y, classes=classes), missing=missing, n_threads=n_threads, shape=shape
        )

    @classmethod
    def from_labelled(
        cls, matrix: LabelledMatrix, *, missing: str = "raise", n_threads: int | None = None, shape: bool = True
    ) -> Moments:
        """Sum a matrix that has been checked already; see :meth:`from_matrix`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.data import LabelledMatrix
        >>> matrix = LabelledMatrix.from_arrays([[1.0], [3.0], [5.0]], [0, 0, 1])
        >>> bs.Moments.from_labelled(matrix).mean.tolist()
        [[2.0], [5.0]]
        """
        found = Shape.of(matrix, n_threads) if shape else None
        powers = None if found is None else _powers_of(found)
        if found is not None and is_sparse(matrix.values) and found.is_complete(matrix.labels.counts):
            # another sweep would add nothing
            arrays = (matrix.labels.counts.copy(), found.mean, found.squares, np.zeros(found.mean.shape))
            return cls.trusted(matrix.labels.classes, *arrays, shape=powers)
        sums = accumulate(matrix, missing=missing, n_threads=n_threads)
        return cls.trusted(
            matrix.labels.classes, sums.count, sums.mean, sums.centred_squares, sums.residual, shape=powers
        )

    def _glimpse(self) -> Glimpse:
        """Return the classes with their numbers of values."""
        return glimpse_of_classes(self)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.mean.shape[1])

    @property
    def counts(self) -> CountArray:
        """Counts in a shape that broadcasts against ``mean``."""
        return self.count if self.count.ndim == 2 else self.count[:, None]

    @property
    def variance(self) -> FloatArray:
        """Unbiased variance per class and feature, NaN where there are fewer than two values."""
        freedom = np.broadcast_to(self.counts - 1, self.mean.shape)
        out = np.full(self.mean.shape, np.nan)
        np.divide(self.centred_squares, freedom, out=out, where=freedom > 0)
        return out

    @property
    def mean_difference(self) -> FloatArray:
        """Second class minus first, with the digits that rounding of the means would take."""
        if len(self.classes) != 2:
            raise LabelError(f"A difference needs two classes, not {len(self.classes)}.")
        difference: FloatArray = (self.mean[1] - self.mean[0]) + (self._residual[1] - self._residual[0])
        return difference

    def between_squares(self, classes: Sequence[Label]) -> FloatArray:
        """Squares between some classes: what their pooled centred squares have beyond those within them.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.Moments.from_matrix([[0.0], [2.0], [7.0]], ["a", "a", "b"]).between_squares(["a", "b"]).tolist()
        [24.0]
        """
        first, *others = (self._part(label)[:4] for label in classes)
        found = np.zeros(self.n_features)
        for i, other in enumerate(others):
            n0, n1 = np.asarray(first[0]), np.asarray(other[0])
            delta = other[1] - first[1]
            delta += other[2] - first[2]
            delta *= delta
            delta *= n0 * (n1 / np.maximum(n0 + n1, 1))
            found += delta
            if i + 1 < len(others):
                first = _merged(first, other)
        return found

    def group(self, label: Label) -> Moments:
        """Moments of one class alone.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [3.0], [5.0]], ["a", "a", "b"])
        >>> moments.group("a").mean.tolist()
        [[2.0]]
        """
        return self.pick((label,))

    def pick(self, classes: Sequence[Label]) -> Moments:
        """Moments of some classes, in the order given.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [3.0], [5.0]], ["a", "b", "c"])
        >>> moments.pick(["c", "a"]).mean.tolist()
        [[5.0], [1.0]]
        """
        places = [self._position(label) for label in check_classes(classes)]
        where: Any = slice(places[0], places[0] + 1) if len(places) == 1 else places  # one class: no copy
        arrays = (self.count[where], self.mean[where], self.centred_squares[where], self._residual[where])
        return self.trusted(tuple(classes), *arrays, shape=self.shape(lambda array: array[where]))

    def pool(self, classes: Sequence[Label] | None = None) -> Moments:
        """Moments of several classes taken together, as one class whose label is the tuple of theirs.

        Parameters
        ----------
        classes
            Which classes; all of them when not given.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[0.0], [2.0], [7.0]], ["a", "a", "b"])
        >>> pooled = moments.pool()
        >>> pooled.classes, pooled.mean.tolist(), pooled.count.tolist()
        ((('a', 'b'),), [[3.0]], [3])
        """
        chosen = self.classes if classes is None else tuple(check_classes(classes))
        for label in chosen:
            self._position(label)
        first, *others = (self._part(label) for label in chosen)
        for other in others:
            first = _merged(first, other)
        return self._from_parts((chosen,), [first])

    def merge(self, other: Moments) -> Moments:
        """Moments of both samples together; a part may lack a class.

        Examples
        --------
        >>> import bayesieve as bs
        >>> a = bs.Moments.from_matrix([[0.0], [2.0]], ["well", "sick"])
        >>> b = bs.Moments.from_matrix([[4.0]], ["sick"])
        >>> a.merge(b).mean.tolist()
        [[3.0], [0.0]]
        """
        self._same_features(other)
        parts = []
        classes = union_of_classes(self.classes, other.classes)
        for label in classes:
            mine, theirs = self._part(label), other._part(label)
            parts.append(_merged(mine, theirs))
        return self._from_parts(classes, parts)

    def remove(self, other: Moments, *, warns: bool = True) -> Moments:
        """Moments of what is left when ``other``, a part of these samples, is withdrawn.

        The inverse of :meth:`merge`, to rounding: what is left has the rounding errors of the whole. Where its
        spread (or its fourth powers) is so much smaller that fewer than seven digits hold, as after a value a
        hundred million standard deviations away, a :class:`DataWarning` says of how many features.

        Parameters
        ----------
        other
            The part.
        warns
            Whether to say so; not where these moments stand beside sums of whole numbers, which lose nothing.

        Examples
        --------
        >>> import bayesieve as bs
        >>> whole = bs.Moments.from_matrix([[0.0], [2.0], [7.0]], ["a", "a", "a"])
        >>> part = bs.Moments.from_matrix([[7.0]], ["a"])
        >>> whole.remove(part).mean.tolist()
        [[1.0]]
        """
        self._same_features(other)
        for label in other.classes:
            self._position(label)
        parts = []
        for label in self.classes:
            whole, part = self._part(label), other._part(label)
            left: Part = remove_part(label, whole[:4], part[:4])
            if len(whole) == len(part) == 6:
                left = (*left, *remove_powers(*(_powers(each, part[1]) for each in (whole, part, left))))
            parts.append(left)
        if warns:
            warn_of_lost_digits([self._part(label) for label in self.classes], parts, self.n_features)
        return self._from_parts(self.classes, parts)

    def take(self, places: Any) -> Moments:
        """Moments of some features, by position or as a slice, in the order given.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0, 2.0], [3.0, 5.0]], ["a", "b"])
        >>> moments.take([1]).mean.tolist()
        [[2.0], [5.0]]
        """
        count = self.count if self.count.ndim == 1 else self.count[:, places]
        arrays = (array[:, places] for array in (self.mean, self.centred_squares, np.asarray(self.residual)))
        return self.trusted(self.classes, count, *arrays, shape=self.shape(lambda array: array[:, places]))

    def renamed(self, classes: Sequence[Label]) -> Moments:
        """Return the same moments under other class labels.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.Moments.from_matrix([[1.0], [3.0]], ["a", "b"]).renamed(["x", "y"]).classes
        ('x', 'y')
        """
        arrays = (self.count, self.mean, self.centred_squares, np.asarray(self.residual))
        return self.trusted(tuple(classes), *arrays, shape=self.shape())

    @staticmethod
    def join(parts: Sequence[Moments]) -> Moments:
        """Put the features of several moments of the same classes side by side.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [3.0]], ["a", "b"])
        >>> bs.Moments.join([moments, moments]).mean.tolist()
        [[1.0, 1.0], [3.0, 3.0]]
        """
        first = parts[0]
        counts = [np.broadcast_to(part.counts, part.mean.shape) for part in parts]
        arrays = [
            np.concatenate([np.asarray(getattr(part, name)) for part in parts], axis=1)
            for name in ("mean", "centred_squares", "residual")
        ]
        shape = None
        if all(part.has_shape for part in parts):
            shape = tuple(np.concatenate([getattr(part, name) for part in parts], axis=1) for name in _SHAPE)
        return first.trusted(first.classes, np.concatenate(counts, axis=1), *arrays, shape=shape)

    def with_resolution(self, resolution: npt.ArrayLike) -> Moments:
        r"""Add the rounding variance of values recorded to the nearest ``resolution``.

        Every group of :math:`n` values gains :math:`n \delta^2 / 12` centred squares.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [1.0]], ["a", "a"])
        >>> moments.with_resolution(6.0).centred_squares.tolist()
        [[6.0]]
        """
        delta = check_resolution(resolution, self.n_features)
        extra = self.counts * (delta * delta / 12.0)
        squares = self.centred_squares + extra
        shape = self.shape()
        if shape is not None:  # of a sum of the value and an independent rounding error
            shape = (shape[0], shape[1] + 0.5 * delta**2 * self.centred_squares + self.counts * (delta**4 / 80.0))
        return self.trusted(self.classes, self.count, self.mean, squares, np.asarray(self.residual), shape=shape)

    def describe(self, labels: Sequence[str]) -> dict[str, Any]:
        """Count, mean and standard deviation of every class, and how the second of two differs from the first.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[0.0], [2.0], [4.0], [8.0]], ["a", "a", "b", "b"])
        >>> moments.describe(["a", "b"])["mean_difference"].tolist()
        [5.0]
        """
        counts, variance = np.broadcast_to(self.counts, self.mean.shape), self.variance
        columns: dict[str, Any] = {}
        for k, label in enumerate(labels):
            columns[f"n_{label}"] = counts[k]
            columns[f"mean_{label}"] = np.where(counts[k] > 0, self.mean[k], np.nan)
            columns[f"sd_{label}"] = np.sqrt(variance[k])
        if len(self.classes) == 2:
            columns["mean_difference"] = np.where((counts > 0).all(axis=0), self.mean_difference, np.nan)
            with np.errstate(divide="ignore", invalid="ignore"):
                columns["log_variance_ratio"] = np.log(variance[1]) - np.log(variance[0])
        return columns

    @property
    def _residual(self) -> FloatArray:
        assert self.residual is not None
        return self.residual

    @property
    def has_shape(self) -> bool:
        """Whether third and fourth powers are there."""
        return self.centred_fourths is not None

    def shape(self, change: Callable[[FloatArray], FloatArray] = np.asarray) -> tuple[FloatArray, ...] | None:
        """Third and fourth powers, after a change to each; None without them.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.Moments.from_matrix([[0.0], [2.0]], ["a", "a"]).shape()[1].tolist()
        [[2.0]]
        """
        if self.centred_cubes is None or self.centred_fourths is None:
            return None
        return change(self.centred_cubes), change(self.centred_fourths)

    def _part(self, label: Label) -> tuple[Any, ...]:
        """Count, mean, residual and centred squares of a class, and higher powers; zeros if it is not there."""
        if label not in self.classes:
            return (0, 0.0, 0.0, 0.0, 0.0, 0.0)
        k = self.classes.index(label)
        arrays = self.count[k], self.mean[k], self._residual[k], self.centred_squares[k]
        return (*arrays, *(self.shape(lambda array: array[k]) or ()))

    def _position(self, label: Label) -> int:
        if label not in self.classes:
            raise LabelError(f"There is no class {label!r}; the classes are {list(self.classes)!r}.")
        return self.classes.index(label)

    def _same_features(self, other: Moments) -> None:
        if not isinstance(other, Moments):
            raise DataError(f"Moments merge with Moments, not with {type(other).__name__}.")
        check_same_features(self.n_features, other.n_features)

    def _from_parts(self, classes: tuple[Label, ...], parts: Sequence[Any]) -> Moments:
        counts = [part[0] for part in parts]
        if any(np.ndim(count) for count in counts):
            counts = [np.broadcast_to(count, (self.n_features,)) for count in counts]

        def stacked(i: int) -> FloatArray:
            whole = [np.broadcast_to(part[i], (self.n_features,)) for part in parts]
            return whole[0][None] if len(parts) == 1 else np.array(whole)

        shape = (stacked(4), stacked(5)) if all(len(part) == 6 for part in parts) else None
        return self.trusted(classes, np.array(counts), stacked(1), stacked(3), stacked(2), shape=shape)

    @classmethod
    def trusted(
        cls, classes: tuple[Label, ...], *arrays: Any, shape: tuple[FloatArray, ...] | None = None
    ) -> Moments:
        """Build from arrays known to be right: count, mean, centred squares, residual; third and fourth powers.

        Examples
        --------
        >>> import bayesieve as bs, numpy as np
        >>> bs.Moments.trusted(("a",), np.array([2]), *(np.zeros((1, 3)) for _ in range(3))).n_features
        3
        """
        made = object.__new__(cls)
        object.__setattr__(made, "classes", classes)
        for name, array in zip((*_ARRAYS, *_SHAPE), (*arrays, *(shape or (None, None))), strict=True):
            if array is not None:
                array.flags.writeable = False
            object.__setattr__(made, name, array)
        return made


Part = tuple[Any, ...]  # count, mean, residual, centred squares and perhaps the third and fourth powers


def _merged(first: Part, second: Part) -> Part:
    """Two parts together; with higher powers if both have them."""
    whole = (first[0] + second[0], *merge(*first[:4], *second[:4]))
    if not len(first) == len(second) == 6:
        return whole
    return (*whole, *merge_powers(_powers(first, first[1]), _powers(second, first[1]))[3:])


def _powers(part: Part, origin: Any) -> Part:
    """Count, mean less an origin near it, centred squares and higher powers."""
    return (part[0], (part[1] - origin) + part[2], part[3], *part[4:])


def _powers_of(shape: Shape) -> tuple[FloatArray, FloatArray]:
    return shape.cubes, shape.fourths


Statistics = TypeVar("Statistics")


def as_moments(statistics: Any) -> Moments | None:
    """Return statistics that are moments; None instead of others."""
    return statistics if isinstance(statistics, Moments) else None


def plain_counts(statistics: Statistics) -> Statistics:
    """Hold one count per class where all features have the same, if the statistics are moments."""
    moments = as_moments(statistics)
    if moments is None:
        return statistics
    count = moments.count
    if count.ndim == 2 and (count == count[:, :1]).all():
        count = count[:, 0].copy()
    arrays = (moments.mean, moments.centred_squares, moments.residual)
    return cast("Statistics", Moments.trusted(moments.classes, count, *arrays, shape=moments.shape()))


def split_blocks(cells: Any, classes: Sequence[Label]) -> tuple[Any, dict[Any, Any]]:
    """Take statistics of (block, class) apart into those of blocks, and together into those of classes."""
    names = dict.fromkeys(label[0] for label in cells.classes)
    blocks = {
        name: plain_counts(cells.pick([(name, label) for label in classes]).renamed(classes)) for name in names
    }
    return plain_counts(functools.reduce(lambda first, second: first.merge(second), blocks.values())), blocks


def complete_moments(matrix: LabelledMatrix, why: str, *, n_threads: int | None = None) -> Moments:
    """Moments of a matrix in which no value is missing."""
    try:
        return Moments.from_labelled(matrix, n_threads=n_threads)
    except MissingValueError:
        present = Moments.from_labelled(matrix, missing="omit", n_threads=n_threads)
    absent = matrix.n_samples - np.broadcast_to(present.counts, present.mean.shape).sum(axis=0)
    short = np.flatnonzero(absent)
    j, column = next(matrix.columns(short[:1]))
    first = place(matrix, int(np.flatnonzero(np.isnan(column))[0]), j)
    raise MissingValueError(
        TABLE,
        f" holds {int(absent.sum())} missing value(s) (NaN) in {short.size} of {matrix.n_features} features, the "
        f"first at {first}. {why}: fill them in first.",
    )
