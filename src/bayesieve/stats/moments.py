"""Moments: the sufficient statistic of the Gaussian model (section 2.3), per class and feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix
from bayesieve.data.labels import checked_classes, union_of_classes
from bayesieve.errors import DataError, LabelError
from bayesieve.stats.accumulate import accumulate
from bayesieve.stats.checking import check_same_features, checked_moments
from bayesieve.stats.downdating import remove_part
from bayesieve.stats.merging import merge
from bayesieve.stats.shapes import Shapes

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]

_ARRAYS = ("count", "mean", "centred_squares", "residual")


@dataclass(frozen=True, slots=True, eq=False)
class Moments(Shapes):
    r"""Everything the Gaussian model needs to know about each class of samples.

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

    def __post_init__(self) -> None:
        checked = checked_moments(self.classes, self.count, self.mean, self.centred_squares, self.residual)
        object.__setattr__(self, "classes", checked[0])
        for name, array in zip(_ARRAYS, checked[1:], strict=True):
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
    ) -> Moments:
        """Sum a samples x features table class by class, reading it once.

        Parameters
        ----------
        X
            Dense array, pandas or polars frame, CSR or CSC matrix. Implicit zeros count.
        y
            One label per sample.
        classes
            Order of the classes; sorted when not given. A class without samples is kept.
        missing
            ``"raise"`` (default) or ``"omit"``: use the values that are there, with counts per feature.
        n_threads
            Threads to use, all cores by default; the result is the same to the last bit.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.Moments.from_matrix([[1.0], [3.0], [5.0]], [0, 0, 1]).mean.tolist()
        [[2.0], [5.0]]
        """
        return cls.from_labelled(
            LabelledMatrix.from_arrays(X, y, classes=classes), missing=missing, n_threads=n_threads
        )

    @classmethod
    def from_labelled(
        cls, matrix: LabelledMatrix, *, missing: str = "raise", n_threads: int | None = None
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
        sums = accumulate(matrix, missing=missing, n_threads=n_threads)
        return cls.trusted(matrix.labels.classes, sums.count, sums.mean, sums.centred_squares, sums.residual)

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
        places = [self._position(label) for label in checked_classes(classes)]
        where: Any = slice(places[0], places[0] + 1) if len(places) == 1 else places  # one class: no copy
        return self.trusted(
            tuple(classes), self.count[where], self.mean[where], self.centred_squares[where], self._residual[where]
        )

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
        chosen = self.classes if classes is None else tuple(checked_classes(classes))
        for label in chosen:
            self._position(label)
        first, *others = (self._part(label) for label in chosen)
        for other in others:
            first = (first[0] + other[0], *merge(*first, *other))
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
            parts.append((mine[0] + theirs[0], *merge(*mine, *theirs)))
        return self._from_parts(classes, parts)

    def remove(self, other: Moments) -> Moments:
        """Moments of what is left when ``other``, a part of these samples, is withdrawn.

        The inverse of :meth:`merge`, to rounding.

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
        parts = [remove_part(label, self._part(label), other._part(label)) for label in self.classes]
        return self._from_parts(self.classes, parts)

    @property
    def _residual(self) -> FloatArray:
        assert self.residual is not None
        return self.residual

    def _part(self, label: Label) -> tuple[Any, Any, Any, Any]:
        """Count, mean, residual and centred squares of a class; nothing if it is not there."""
        if label not in self.classes:
            return 0, 0.0, 0.0, 0.0
        k = self.classes.index(label)
        return self.count[k], self.mean[k], self._residual[k], self.centred_squares[k]

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
        mean, residual, squares = (
            parts[0][i][None] if len(parts) == 1 else np.array([part[i] for part in parts]) for i in (1, 2, 3)
        )
        return self.trusted(classes, np.array(counts), mean, squares, residual)

    @classmethod
    def trusted(cls, classes: tuple[Label, ...], *arrays: Any) -> Moments:
        """Build from arrays known to be right: count, mean, centred squares, residual.

        Examples
        --------
        >>> import bayesieve as bs, numpy as np
        >>> bs.Moments.trusted(("a",), np.array([2]), *(np.zeros((1, 3)) for _ in range(3))).n_features
        3
        """
        made = object.__new__(cls)
        object.__setattr__(made, "classes", classes)
        for name, array in zip(_ARRAYS, arrays, strict=True):
            array.flags.writeable = False
            object.__setattr__(made, name, array)
        return made
