"""What a block of a table is reduced to: statistics of its classes, and a look at its values before that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, SampleScales, apply_transform, is_sparse
from bayesieve.distributed import OneThread, Place
from bayesieve.stats.value_profile import ValueSample
from bayesieve.utils import DataError, FloatArray


@dataclass(frozen=True, slots=True)
class Looked:
    """Statistics of a block together with a look at its values; they merge and join as both do.

    Parameters
    ----------
    statistics, sample
        What was summed, and what the values look like; None if nobody asks.
    """

    statistics: Any
    sample: ValueSample | None

    def merge(self, other: Looked) -> Looked:
        """Both parts together."""
        sample = None if self.sample is None or other.sample is None else self.sample.merge(other.sample)
        return Looked(self.statistics.merge(other.statistics), sample)

    @staticmethod
    def join(parts: Sequence[Looked]) -> Looked:
        """Features of several parts of the same samples, side by side."""
        sample = parts[0].sample
        for part in parts[1:]:
            sample = None if sample is None or part.sample is None else sample.merge(part.sample)
        return Looked(type(parts[0].statistics).join([part.statistics for part in parts]), sample)


@dataclass(frozen=True, slots=True)
class BlockSums:
    """Looks at the values of a block, transforms them and sums them; it travels to where the block is.

    Parameters
    ----------
    summarise
        Statistic of a matrix, given ``missing`` and ``n_threads``.
    looks
        Whether to look at the values first.
    numbers
        What the further numbers of a sample are, in the order of their columns: ``"factors"``, ``"centres"``,
        ``"exposures"``.
    transform, dispersion
        See :func:`bayesieve.data.transform.apply_transform`.
    keep
        Called with the transformed values of a block and its place; not where blocks are summed elsewhere.
    """

    summarise: Callable[..., Any]
    looks: bool = False
    numbers: tuple[str, ...] = ()
    transform: str = "none"
    dispersion: float | None = None
    keep: Callable[[Any, Place], None] | None = None

    def __call__(self, matrix: LabelledMatrix, place: Place, *numbers: FloatArray) -> Looked:
        """Return the sums of a block."""
        given = dict(zip(self.numbers, numbers[0].T, strict=True)) if numbers else {}
        sample = None
        if self.looks:
            corner = place.first_sample, place.first_feature
            sample = ValueSample.of(matrix.values, matrix.labels.codes, *corner)
        values = self._transformed(matrix.values, given)
        made = replace(matrix, values=values, exposures=given.get("exposures", matrix.exposures))
        statistics = OneThread(self.summarise)(made, place)
        if self.keep is not None:
            self.keep(values, place)
        return Looked(statistics, sample)

    def _transformed(self, values: Any, given: dict[str, FloatArray]) -> Any:
        if self.transform == "none" and "factors" not in given:
            return values
        check_no_infinity(values)
        scales = SampleScales(given.get("factors"), given.get("centres"), self.dispersion)
        return apply_transform(self.transform, scales.divide(values), _cell, scales)


def check_no_infinity(values: Any) -> None:
    """Raise if a value is infinite, which a transformation or a count could hide."""
    stored = values.data if is_sparse(values) else values
    if stored.dtype.kind == "f" and not np.isfinite(stored).all() and np.isinf(stored).any():
        raise DataError("There is an infinite value (inf). An infinity is no measurement.", kind="infinite")


def _cell(i: int, j: int) -> str:
    return f"sample {i}, feature {j} of the block"
