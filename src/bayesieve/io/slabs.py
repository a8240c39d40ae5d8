"""The pieces of a table as slabs of labelled, transformed values: samples x features, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import is_sparse
from bayesieve.data.transform import NEEDS_ALL_SAMPLES, transformed
from bayesieve.errors import DataError
from bayesieve.io.labelling import Labeller
from bayesieve.io.table import FeatureTable, IntArray, SampleTable


@dataclass(frozen=True, slots=True, eq=False)
class Slab:
    """Values of some samples and some features.

    Parameters
    ----------
    values
        Samples x features, transformed; an array or a sparse matrix.
    codes
        Class of each sample, as a position in the labeller's classes.
    samples
        Their ids, empty if there are none.
    first
        Number of the first feature.
    features
        Ids of the features.
    """

    values: Any
    codes: IntArray
    samples: Sequence[str]
    first: int
    features: Sequence[str]


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
    """

    table: SampleTable | FeatureTable
    transform: str
    memory: int

    @property
    def whole_features(self) -> bool:
        """Whether a slab holds all samples of its features (else all features of its samples)."""
        return isinstance(self.table, FeatureTable) or self.transform in NEEDS_ALL_SAMPLES

    def walk(self, labeller: Labeller, missing: Missing) -> Iterator[Slab]:
        """Read the table from the start."""
        if isinstance(self.table, FeatureTable):
            return self._by_features(self.table, labeller, missing)
        if self.whole_features:
            return self._by_ranges(self.table, labeller, missing)
        return self._by_samples(self.table, labeller, missing)

    def _by_features(self, table: FeatureTable, labeller: Labeller, missing: Missing) -> Iterator[Slab]:
        codes = labeller.codes(table.path, table.sample_ids, table.labels, table.n_samples)
        kept = np.flatnonzero(codes >= 0)
        samples = [table.sample_ids[i] for i in kept.tolist()] if table.sample_ids else []
        first = 0
        for piece in table.pieces(kept):
            yield self._slab(piece.values.T, codes[kept], samples, first, piece.ids, missing)
            first += len(piece.ids)

    def _by_samples(self, table: SampleTable, labeller: Labeller, missing: Missing) -> Iterator[Slab]:
        for piece in table.pieces():
            codes = labeller.codes(table.path, piece.ids, piece.labels, int(piece.values.shape[0]))
            kept, values, samples = np.flatnonzero(codes >= 0), piece.values, piece.ids or []
            if kept.size < codes.size:
                values, samples = values[kept], [samples[i] for i in kept.tolist()] if samples else []
            yield self._slab(values, codes[kept], samples, 0, table.feature_ids, missing)

    def _by_ranges(self, table: SampleTable, labeller: Labeller, missing: Missing) -> Iterator[Slab]:
        """As many features at a time as fit into memory, with all their samples."""
        codes, samples = np.empty(0, np.int64), []
        for piece in table.pieces(slice(0, 1)):
            new = labeller.codes(table.path, piece.ids, piece.labels, int(piece.values.shape[0]))
            codes = np.concatenate([codes, new])
            samples += piece.ids or []
        kept = np.flatnonzero(codes >= 0)
        samples = [samples[i] for i in kept.tolist()] if samples else []
        width = max(1, self.memory // (48 * max(codes.size, 1)))
        for lo in range(0, len(table.feature_ids), width):
            chosen = slice(lo, lo + width)
            values = np.concatenate([_dense(piece.values) for piece in table.pieces(chosen)])
            yield self._slab(values[kept], codes[kept], samples, lo, table.feature_ids[chosen], missing)

    def _slab(
        self, values: Any, codes: IntArray, samples: Sequence[str], first: int, features: Sequence[str],
        missing: Missing,
    ) -> Slab:  # fmt: skip
        def where(i: int, j: int) -> str:
            sample = repr(samples[i]) if samples else f"number {i + 1}"
            return f"sample {sample}, feature {features[j]!r} of {self.table.path}"

        missing.look(values, where)
        return Slab(transformed(self.transform, values, where), codes, samples, first, features)


def _dense(values: Any) -> npt.NDArray[np.float64]:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
