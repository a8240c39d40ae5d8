"""Counts of categories in other shapes: some features, other labels or levels, side by side, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.data import Label
from bayesieve.data.labels import union_of_classes
from bayesieve.errors import DataError, LabelError

if TYPE_CHECKING:
    from bayesieve.stats.category_counts import CategoryCounts


class CategoryShapes:
    """Methods of :class:`bayesieve.CategoryCounts` that read no data and add nothing up."""

    __slots__ = ()

    def take(self: CategoryCounts, places: Any) -> CategoryCounts:  # type: ignore[misc]
        """Counts of some features, by position or as a slice, in the order given.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> CategoryCounts.from_matrix([[0, 1], [1, 1]], ["a", "a"]).take([1]).table.tolist()
        [[[0], [2]]]
        """
        return self.trusted(self.classes, self.levels, self.table[:, :, places])

    def renamed(self: CategoryCounts, classes: Sequence[Label]) -> CategoryCounts:  # type: ignore[misc]
        """Return the same counts under other class labels.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> CategoryCounts.from_matrix([[0], [1]], ["a", "b"]).renamed(["x", "y"]).classes
        ('x', 'y')
        """
        return self.trusted(tuple(classes), self.levels, self.table)

    @staticmethod
    def join(parts: Sequence[CategoryCounts]) -> CategoryCounts:
        """Put the features of several counts of the same classes side by side.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> counts = CategoryCounts.from_matrix([[0], [1]], ["a", "b"])
        >>> CategoryCounts.join([counts, counts]).table[0].tolist()
        [[1, 1], [0, 0]]
        """
        first, levels = parts[0], parts[0].levels
        for part in parts[1:]:
            if part.classes != first.classes:
                raise LabelError(f"The parts have the classes {list(first.classes)!r} and {list(part.classes)!r}.")
            levels = union_of_classes(levels, part.levels)
        table = np.concatenate([part.with_levels(levels).table for part in parts], axis=2)
        return first.trusted(first.classes, levels, table)

    def with_levels(self: CategoryCounts, levels: Sequence[Any]) -> CategoryCounts:  # type: ignore[misc]
        """Return the same counts with other levels, in the order given; one that occurs must not be left out.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> CategoryCounts.from_matrix([[0], [1]], ["a", "b"]).with_levels([1, 0, 9]).table[0].tolist()
        [[0], [1], [0]]
        """
        wanted = tuple(levels)
        if wanted == self.levels:
            return self
        places = {level: i for i, level in enumerate(wanted)}
        table = np.zeros((len(self.classes), len(wanted), self.n_features), dtype=np.int64)
        for m, level in enumerate(self.levels):
            if level in places:
                table[:, places[level]] = self.table[:, m]
            elif (count := int(self.table[:, m].sum())) > 0:
                raise DataError(f"Level {level!r} occurs {count} times but is not among {list(wanted)!r}.")
        return self.trusted(self.classes, wanted, table)

    def describe(self: CategoryCounts, labels: Sequence[str]) -> dict[str, Any]:  # type: ignore[misc]
        """Number of values of every class, and which share of them each level has.

        Examples
        --------
        >>> from bayesieve.stats.category_counts import CategoryCounts
        >>> columns = CategoryCounts.from_matrix([[0], [1], [1]], ["a", "b", "b"]).describe(["a", "b"])
        >>> {name: column.tolist() for name, column in columns.items()}
        {'n_a': [1], 'share_0_a': [1.0], 'share_1_a': [0.0], 'n_b': [2], 'share_0_b': [0.0], 'share_1_b': [1.0]}
        """
        counts = self.counts
        columns: dict[str, Any] = {}
        texts = [str(level) for level in self.levels]
        for k, label in enumerate(labels):
            columns[f"n_{label}"] = counts[k]
            total = np.where(counts[k] > 0, counts[k], np.nan)
            for m, (text, level) in enumerate(zip(texts, self.levels, strict=True)):
                name = text if texts.count(text) == 1 else repr(level)  # the number 1 and the text '1'
                columns[f"share_{name}_{label}"] = self.table[k, m] / total
        return columns
