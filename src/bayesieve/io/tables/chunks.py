"""The pieces of a table as slabs of labelled, transformed values: samples x features, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import NEEDS_ALL_SAMPLES, is_sparse, transformed
from bayesieve.errors import DataError
from bayesieve.io.tables.pairing import Chosen, choose
from bayesieve.io.tables.samples import Samples
from bayesieve.io.tables.table import FeatureTable, SampleTable
from bayesieve.utils import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Slab:
    """Values of some samples and some features.

    Parameters
    ----------
    values
        Samples x features, transformed; an array or a sparse matrix. Pairs x features if samples are paired.
    codes
        Cell of each sample or pair, as a position in ``Samples.cells()``.
    samples
        Their ids, empty if there are none.
    first
        Number of the first feature.
    features
        Ids of the features.
    exposures
        Of the samples, or None.
    levels
        The texts that the values are positions in (-1 is missing), or None.
    """

    values: Any
    codes: IntArray
    samples: Sequence[str]
    first: int
    features: Sequence[str]
    exposures: FloatArray | None = None
    levels: tuple[str, ...] | None = None


@dataclass(slots=True)
class Missing:
    """Missing values met so far, and where the first one was."""

    total: int = 0
    first: str = ""

    def look(self, values: Any, where: Any) -> None:
        """Count the missing values; an infinity is an error."""
        stored = values.data if is_sparse(values) else values
        if stored.dtype.kind != "f" or np.isfinite(stored).all():
            return
        if is_sparse(values):
            entries = values.tocoo()
            odd = ~np.isfinite(entries.data)
            places, found = np.stack([entries.row[odd], entries.col[odd]], axis=1), entries.data[odd]
        else:
            odd = ~np.isfinite(values)
            places, found = np.argwhere(odd), values[odd]
        infinite = places[np.isinf(found)]
        if infinite.size:
            raise DataError(
                f"There is an infinite value (inf) at {where(*infinite[0].tolist())}. An infinity is no "
                "measurement: find out where it comes from (log of 0? division by 0?) and correct it, or name its "
                "spelling with --na-values if the value is unknown."
            )
        if not self.total:
            self.first = where(*places[0].tolist())
        self.total += len(places)


@dataclass(frozen=True, slots=True, eq=False)
class Slabs:
    """All slabs of a table.

    Parameters
    ----------
    table
        The table.
    transform
        Name of the transformation.
    memory
        Bytes for what has to be held whole.
    paired
        Whether samples come in pairs, whose differences are wanted.
    """

    table: SampleTable | FeatureTable
    transform: str
    memory: int
    paired: bool = False

    @property
    def whole_features(self) -> bool:
        """Whether a slab holds all samples of its features (else all features of its samples)."""
        return isinstance(self.table, FeatureTable) or self.paired or self.transform in NEEDS_ALL_SAMPLES

    def walk(self, samples: Samples, missing: Missing) -> Iterator[Slab]:
        """Read the table from the start."""
        if isinstance(self.table, FeatureTable):
            return self._by_features(self.table, samples, missing)
        if self.whole_features:
            return self._by_ranges(self.table, samples, missing)
        return self._by_samples(self.table, samples, missing)

    def _by_features(self, table: FeatureTable, samples: Samples, missing: Missing) -> Iterator[Slab]:
        seen = samples.look(table.path, table.sample_ids, table.labels, table.n_samples)
        chosen = choose(table.path, table.sample_ids, seen, samples)
        first = 0
        for piece in table.pieces(chosen.rows):
            yield self._slab(piece.values.T, chosen, first, piece.ids, missing, piece.levels)
            first += len(piece.ids)

    def _by_samples(self, table: SampleTable, samples: Samples, missing: Missing) -> Iterator[Slab]:
        for piece in table.pieces():
            n_samples = int(piece.values.shape[0])
            seen = samples.look(table.path, piece.ids, piece.labels, n_samples)
            chosen = choose(table.path, piece.ids, seen, samples)
            values = piece.values if chosen.rows.size == n_samples else piece.values[chosen.rows]
            yield self._slab(values, chosen, 0, table.feature_ids, missing, piece.levels)

    def _by_ranges(self, table: SampleTable, samples: Samples, missing: Missing) -> Iterator[Slab]:
        """As many features at a time as fit into memory, with all their samples."""
        ids: list[str] = []
        labels: list[str | None] = []
        n_samples = 0
        for piece in table.pieces(slice(0, 1)):
            n_samples += int(piece.values.shape[0])
            ids += piece.ids or []
            labels += piece.labels or []
        seen = samples.look(table.path, ids or None, labels or None, n_samples)
        chosen = choose(table.path, ids, seen, samples)
        width = max(1, self.memory // (48 * max(n_samples, 1)))
        for lo in range(0, len(table.feature_ids), width):
            part = slice(lo, lo + width)
            values = np.concatenate([_dense(piece.values) for piece in table.pieces(part)])
            yield self._slab(values[chosen.rows], chosen, lo, table.feature_ids[part], missing)

    def _slab(
        self, values: Any, chosen: Chosen, first: int, features: Sequence[str], missing: Missing,
        levels: tuple[str, ...] | None = None,
    ) -> Slab:  # fmt: skip
        def where(i: int, j: int) -> str:
            sample = repr(chosen.names[i]) if chosen.names else f"number {i + 1}"
            return f"sample {sample}, feature {features[j]!r} of {self.table.path}"

        missing.look(values if levels is None else np.where(values < 0, np.nan, 0.0), where)
        if levels is None:
            values = chosen.combined(transformed(self.transform, values, where))
        return Slab(values, chosen.cells, chosen.units, first, features, chosen.exposures, levels)


def _dense(values: Any) -> npt.NDArray[np.float64]:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
