"""CategoryCounts: how often each category occurs, per class and feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix
from bayesieve.data.categories import Levels, checked_levels, labelled_categories
from bayesieve.data.labels import checked_classes, union_of_classes
from bayesieve.errors import DataError, LabelError
from bayesieve.stats.category_counting import count_categories
from bayesieve.stats.category_shapes import CategoryShapes

CountArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CategoryCounts(CategoryShapes):
    """Everything the categorical model needs to know about each class of samples.

    Counts merge: those of two parts of the data, in any order and however they were split, give the
    counts of the whole.

    Parameters
    ----------
    classes
        Class labels, in order.
    levels
        The categories, in order; a feature need not have them all.
    table
        Counts, ``(n_classes, n_levels, n_features)``.

    Examples
    --------
    >>> from bayesieve.stats.category_counts import CategoryCounts
    >>> counts = CategoryCounts.from_matrix([["AA"], ["AG"], ["AG"]], ["well", "sick", "sick"])
    >>> counts.classes, counts.levels, counts.table[:, :, 0].tolist()
    (('sick', 'well'), ('AA', 'AG'), [[0, 2], [1, 0]])
    """

    classes: tuple[Label, ...]
    levels: Levels
    table: CountArray

    def __post_init__(self) -> None:
        classes, levels = tuple(checked_classes(self.classes)), checked_levels(self.levels)
        try:
            given = np.asarray(self.table)
            table = given.astype(np.int64)
            whole = given.dtype.kind in "iuf" and bool((table == given).all() and (table >= 0).all())
        except (TypeError, ValueError):
            table, whole = np.empty(0, np.int64), False
        if not whole:
            raise DataError("The table of counts must hold whole numbers of samples, at least 0.")
        if table.ndim != 3 or table.shape[:2] != (len(classes), len(levels)) or not table.shape[2]:
            raise DataError(
                f"The table of counts has shape {table.shape}; it must be (n_classes, n_levels, n_features) with "
                f"n_classes = {len(classes)}, n_levels = {len(levels)} and at least one feature."
            )
        _fill(self, classes, levels, table)

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        y: Any,
        *,
        classes: Sequence[Label] | None = None,
        missing: str = "raise",
        levels: Sequence[Any] | None = None,
        n_threads: int | None = None,
    ) -> CategoryCounts:
        """Count the categories of a samples x features table class by class.

        Parameters
        ----------
        X
            Array of numbers, booleans or texts, pandas or polars frame, CSR or CSC matrix. Implicit zeros
            count. Whole numbers are levels whatever their type; more than 64 different ones are refused.
        y
            One label per sample.
        classes
            Order of the classes; sorted when not given. A class without samples is kept.
        missing
            ``"raise"`` (default) or ``"omit"``: count the values that are there.
        levels
            The categories there can be, in the order wanted; the sorted distinct values when not given.
        n_threads
            Threads to use, all cores by default; the result is the same.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> counts = CategoryCounts.from_matrix([[0, 2], [1, 2], [0, 2]], ["a", "a", "b"])
        >>> counts.levels, counts.table[0].tolist()
        ((0, 1, 2), [[1, 0], [1, 0], [0, 2]])
        """
        matrix = labelled_categories(X, y, classes=classes, levels=levels)
        return cls.from_labelled(matrix, missing=missing, levels=levels, n_threads=n_threads)

    @classmethod
    def from_labelled(
        cls,
        matrix: LabelledMatrix,
        *,
        missing: str = "raise",
        levels: Sequence[Any] | None = None,
        n_threads: int | None = None,
    ) -> CategoryCounts:
        """Count a table that has been checked already; see :meth:`from_matrix`.

        Where the matrix has levels, its values are positions in them and -1 is missing.

        Examples
        --------
        >>> from bayesieve.data import LabelledMatrix
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> matrix = LabelledMatrix.from_arrays([[0.0], [1.0], [1.0]], ["a", "b", "b"])
        >>> CategoryCounts.from_labelled(matrix).table[:, :, 0].tolist()
        [[1, 0], [0, 2]]
        """
        declared = None if levels is None else checked_levels(levels)
        found, table = count_categories(matrix, levels=declared, missing=missing, n_threads=n_threads)
        return cls.trusted(matrix.labels.classes, found, table)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.table.shape[2])

    @property
    def counts(self) -> CountArray:
        """Values present, per class and feature."""
        return np.asarray(self.table.sum(axis=1))

    def pick(self, classes: Sequence[Label]) -> CategoryCounts:
        """Counts of some classes, in the order given.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> CategoryCounts.from_matrix([[0], [1]], ["a", "b"]).pick(["b"]).table.tolist()
        [[[0], [1]]]
        """
        places = [self._position(label) for label in checked_classes(classes)]
        where: Any = slice(places[0], places[0] + 1) if len(places) == 1 else places  # one class: no copy
        return self.trusted(tuple(classes), self.levels, self.table[where])

    def pool(self, classes: Sequence[Label] | None = None) -> CategoryCounts:
        """Counts of several classes taken together, as one class whose label is the tuple of theirs.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> pooled = CategoryCounts.from_matrix([[0], [1], [1]], ["a", "a", "b"]).pool()
        >>> pooled.classes, pooled.table.tolist()
        ((('a', 'b'),), [[[1], [2]]])
        """
        chosen = self.classes if classes is None else tuple(checked_classes(classes))
        first, *others = (self.table[self._position(label)] for label in chosen)
        whole = first.copy() if others else first
        for other in others:
            whole += other
        return self.trusted((chosen,), self.levels, whole[None])

    def merge(self, other: CategoryCounts) -> CategoryCounts:
        """Counts of both samples together; a part may lack a class or a level.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> a = CategoryCounts.from_matrix([[0], [2]], ["well", "sick"])
        >>> b = CategoryCounts.from_matrix([[1]], ["sick"])
        >>> whole = a.merge(b)
        >>> whole.levels, whole.table[:, :, 0].tolist()
        ((0, 1, 2), [[0, 1, 1], [1, 0, 0]])
        """
        return self._combined(other, union_of_classes(self.classes, self._same_features(other).classes), 1)

    def remove(self, other: CategoryCounts) -> CategoryCounts:
        """Counts of what is left when ``other``, a part of these samples, is withdrawn.

        The inverse of :meth:`merge`, except that levels are kept although nobody may have them now.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> whole = CategoryCounts.from_matrix([[0], [1], [1]], ["a", "a", "a"])
        >>> whole.remove(CategoryCounts.from_matrix([[1]], ["a"])).table.tolist()
        [[[1], [1]]]
        """
        for label in self._same_features(other).classes:
            self._position(label)
        left = self._combined(other, self.classes, -1)
        if (left.table < 0).any():
            k, m, j = (int(places[0]) for places in np.nonzero(left.table < 0))
            raise DataError(
                f"The samples to remove are no part of these: they hold level {left.levels[m]!r} of feature {j} "
                f"more often in class {self.classes[k]!r} ({-int(left.table[k, m, j])} too many)."
            )
        return left

    def _combined(self, other: CategoryCounts, classes: tuple[Label, ...], sign: int) -> CategoryCounts:
        levels = union_of_classes(self.levels, other.levels)
        table = np.zeros((len(classes), len(levels), self.n_features), dtype=np.int64)
        for part, factor in ((self, 1), (other, sign)):
            aligned = part.with_levels(levels).table
            for k, label in enumerate(part.classes):
                table[classes.index(label)] += factor * aligned[k]
        return self.trusted(classes, levels, table)

    def _position(self, label: Label) -> int:
        if label not in self.classes:
            raise LabelError(f"There is no class {label!r}; the classes are {list(self.classes)!r}.")
        return self.classes.index(label)

    def _same_features(self, other: CategoryCounts) -> CategoryCounts:
        if not isinstance(other, CategoryCounts):
            raise DataError(f"CategoryCounts merge with CategoryCounts, not with {type(other).__name__}.")
        if self.n_features != other.n_features:
            raise DataError(
                f"These counts describe {self.n_features} features and the others {other.n_features}. "
                "Both parts must hold the same features in the same order."
            )
        return other

    @classmethod
    def trusted(cls, classes: tuple[Label, ...], levels: Levels, table: CountArray) -> CategoryCounts:
        """Build from counts known to be right.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> CategoryCounts.trusted(("a",), (0, 1), np.zeros((1, 2, 3), np.int64)).n_features
        3
        """
        made = object.__new__(cls)
        _fill(made, classes, levels, table)
        return made


def _fill(counts: CategoryCounts, classes: tuple[Label, ...], levels: Levels, table: CountArray) -> None:
    view = table.view()  # the caller's own array stays writeable
    view.flags.writeable = False
    for name, value in (("classes", classes), ("levels", levels), ("table", view)):
        object.__setattr__(counts, name, value)
