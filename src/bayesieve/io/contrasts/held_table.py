"""A table whose chunks were read once and are held in memory, to be looked at under several labellings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.io.tables.table import FeatureChunk, FeatureTable, SampleChunk, SampleTable, take_samples
from bayesieve.utils import IntArray


@dataclass(slots=True)
class HeldSamples(SampleTable):
    """A table of samples; ``held`` are its chunks, None if they are read anew every time."""

    table: SampleTable = field(kw_only=True)
    held: Sequence[SampleChunk] | None = field(kw_only=True)

    def chunks(self, features: slice = slice(None)) -> Iterator[SampleChunk]:
        """Yield all samples in order, with a range of the features."""
        if self.held is None:
            yield from self.table.chunks(features)
            return
        for chunk in self.held:
            values = chunk.values if features == slice(None) else chunk.values[:, features]
            yield SampleChunk(chunk.ids, chunk.columns, values, chunk.levels)

    def close(self) -> None:
        """Close the file."""
        self.table.close()


@dataclass(slots=True)
class HeldFeatures(FeatureTable):
    """A table of features; ``held`` are its chunks with the samples at the positions ``used``, or None."""

    table: FeatureTable = field(kw_only=True)
    held: Sequence[FeatureChunk] | None = field(kw_only=True)
    used: IntArray = field(kw_only=True)

    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        """Yield all features in order, with the values of chosen samples."""
        if self.held is None:
            yield from self.table.chunks(samples)
            return
        places = np.searchsorted(self.used, samples)
        for chunk in self.held:
            yield FeatureChunk(chunk.ids, take_samples(chunk.values, places), chunk.levels)

    def close(self) -> None:
        """Close the file."""
        self.table.close()


def hold(table: SampleTable | FeatureTable, used: IntArray, most: int) -> HeldSamples | HeldFeatures:
    """Read a table once and hold it, unless it takes more than so many bytes; ``used`` are samples, ascending."""
    about = (table.path, table.form, table.samples_in, table.left_out)
    if isinstance(table, FeatureTable):
        features = _within(table.chunks(used), most)
        return HeldFeatures(
            *about, table.sample_ids, table.n_samples, table.columns, notes=table.notes, table=table,
            held=features, used=used,
        )  # fmt: skip
    samples = _within(table.chunks(), most)
    return HeldSamples(*about, table.feature_ids, notes=table.notes, table=table, held=samples)


def _within(chunks: Iterator[Any], most: int) -> list[Any] | None:
    held, size = [], 0
    for chunk in chunks:
        values = chunk.values
        size += values.data.nbytes + values.indices.nbytes if is_sparse(values) else values.nbytes
        if size > most:
            return None
        held.append(chunk)
    return held
