"""The values of a table that has been screened, looked at once more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import Block, LabelledMatrix, Labels, ValueBlocks, is_sparse
from bayesieve.posterior import FeaturePosterior
from bayesieve.screening.lazy_table import LazyTable
from bayesieve.stats import ClassStatistics, Shape, adjusted_values, largest_counts
from bayesieve.utils import DataError, FloatArray, IntArray, Wording


@dataclass(frozen=True, slots=True, eq=False)
class AdjustedBlocks:
    """A table whose values are read again: less slopes times covariates.

    Parameters
    ----------
    table, labels
        The table, and the class of every sample.
    covariates, slopes
        Samples x columns about their means, and columns x features.
    """

    table: ValueBlocks
    labels: Labels
    covariates: FloatArray
    slopes: FloatArray

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features."""
        return self.table.feature_names

    def blocks(self, which: IntArray) -> Iterator[Block]:
        """Yield the adjusted values of some features."""
        seen: dict[int, int] = {}
        for block in self.table.blocks(which):
            first, n = block.first, block.codes.size
            start = seen.get(first, 0)
            seen[first] = start + n
            own = self.slopes[:, which[first : first + block.values.shape[1]]]
            here = slice(start, start + n)
            matrix = LabelledMatrix(block.values, Labels(self.labels.classes, self.labels.codes[here]), None)
            values = adjusted_values(matrix, self.covariates[here], own, centred=True)
            yield Block(matrix.labels.codes, first, values)

    def powers(self) -> Shape:
        """Third and fourth powers, which takes one more pass over the table."""
        if isinstance(self.table, LazyTable):
            return self.table.powers(self.labels, self.covariates, self.slopes)
        parts: dict[int, Shape] = {}
        for block in self.blocks(np.arange(self.slopes.shape[1])):
            shape = Shape.of(LabelledMatrix(block.values, Labels(self.labels.classes, block.codes), None))
            parts[block.first] = parts[block.first].merge(shape) if block.first in parts else shape
        return Shape.join([part for _, part in sorted(parts.items())])


def values_of(table: ValueBlocks, which: IntArray) -> tuple[IntArray, FloatArray]:
    """Class of all samples, and their values of some features."""
    codes: list[IntArray] = []
    parts: dict[int, list[FloatArray]] = {}
    for block in table.blocks(which):
        if block.first == 0:
            codes.append(block.codes)
        dense: Any = block.values.toarray() if is_sparse(block.values) else block.values
        parts.setdefault(block.first, []).append(np.asarray(dense, dtype=np.float64))
    whole = [part[0] if len(part) == 1 else np.concatenate(part) for _, part in sorted(parts.items())]
    values = whole[0] if len(whole) == 1 else np.concatenate(whole, axis=1)
    return np.concatenate(codes), np.ascontiguousarray(values)


def held_matrix(table: Any) -> LabelledMatrix:
    """Return the table of counts or categories with labels and exposures, if its values are in memory."""
    if isinstance(table, LabelledMatrix):
        return table
    held: tuple[LabelledMatrix, Any] | None = table.in_memory()
    if held is None:
        raise DataError(
            "The values of the table were not kept in memory, and counts and categories have to be summed again. ",
            hint=(
                Wording("Read it with keep_values=True and a larger memory", "Give a larger --memory"),
                ".",
            ),
            kind="not-in-memory",
        )
    return held[0]


def check_same_data(statistics: ClassStatistics, posterior: FeaturePosterior) -> None:
    """Raise if statistics are not, to six digits, those of the screen."""
    labels = [str(k) for k in range(len(posterior.classes))]
    same = statistics.n_features == posterior.n_features and len(statistics.classes) == len(labels)
    if same:
        now, then = (each.describe(labels) for each in (statistics, posterior.statistics))
        same = all(np.allclose(now[name], then.get(name, np.nan), rtol=1e-6, equal_nan=True) for name in now)
    if not same:
        raise DataError(
            f"The table is not the one that was screened, with {posterior.n_features:,} features and "
            f"{largest_counts(posterior.statistics)} samples in the classes.",
            hint="Give the same table and labels, and the exposures that the screen had.",
        )
