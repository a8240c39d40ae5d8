"""The values of a table that has been screened, looked at once more."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, ValueBlocks, is_sparse
from bayesieve.posterior import FeaturePosterior
from bayesieve.stats import ClassStatistics, largest_counts
from bayesieve.utils import DataError, FloatArray, IntArray, Wording


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
