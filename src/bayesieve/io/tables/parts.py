"""A part of the samples of a table, as one of several jobs reads it: every sample is in one part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

from bayesieve.io.formats.numpy_files import MatrixSamples
from bayesieve.io.tables.table import FeatureChunk, FeatureTable, SampleChunk, SampleTable
from bayesieve.utils import DataError, IntArray, OptionError, option


@dataclass(frozen=True, slots=True)
class Part:
    """One of several parts of nearly equal size, in the order of the samples.

    Parameters
    ----------
    number, of
        Its number, from 1, and how many there are.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``"3/20"``."""
        found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise OptionError(
                option("part"),
                f" takes the number of the part and how many there are, such as 3/20 (from 1/20 to 20/20), not "
                f"{text!r}.",
                kind="part",
            )
        return cls(int(found[1]), int(found[2]))

    def bounds(self, n_samples: int, path: str) -> tuple[int, int]:
        """Return the first of its samples and the one after the last."""
        if n_samples < self.of:
            raise DataError(
                f"{path} holds {n_samples:,} samples, too few for {self.of:,} parts. Make fewer of them.",
                kind="part",
            )
        first, after = ((self.number + k) * n_samples // self.of for k in (-1, 0))
        return first, after

    def of_table(self, table: SampleTable | FeatureTable) -> SampleTable | FeatureTable:
        """Return a table of its samples alone; a matrix in a file is read there only."""
        if isinstance(table, FeatureTable):
            lo, hi = self.bounds(table.n_samples, table.path)
            return _PartFeatures(
                **_about(table),
                sample_ids=None if table.sample_ids is None else table.sample_ids[lo:hi],
                n_samples=hi - lo,
                columns={role: texts[lo:hi] for role, texts in table.columns.items()},
                table=table,
                first=lo,
            )
        if not isinstance(table, MatrixSamples):
            n_samples = sum(int(chunk.values.shape[0]) for chunk in table.chunks(slice(0, 1)))
            bounds = self.bounds(n_samples, table.path)
            return _PartSamples(**_about(table), feature_ids=table.feature_ids, table=table, bounds=bounds)
        lo, hi = self.bounds(table.n_samples, table.path)
        read = table.read
        return replace(
            table,
            read=lambda part, features: read(slice(part.start + lo, part.stop + lo), features),
            n_samples=hi - lo,
            ids=None if table.ids is None else table.ids[lo:hi],
            columns={role: texts[lo:hi] for role, texts in table.columns.items()},
        )


def _about(table: SampleTable | FeatureTable) -> dict[str, Any]:
    names = ("path", "form", "samples_in", "left_out", "notes", "candidates", "about_samples")
    return {name: getattr(table, name) for name in names}


@dataclass(slots=True)
class _PartSamples(SampleTable):
    """Samples of a table that is read from its start, such as text."""

    table: SampleTable = field(kw_only=True)
    bounds: tuple[int, int] = field(kw_only=True)

    def chunks(self, features: slice = slice(None)) -> Iterator[SampleChunk]:
        """Yield the samples of the part in order, with a range of the features."""
        seen, (first, after) = 0, self.bounds
        for chunk in self.table.chunks(features):
            size = int(chunk.values.shape[0])
            lo, hi = max(first - seen, 0), min(after - seen, size)
            seen += size
            if lo < hi:
                yield SampleChunk(
                    None if chunk.ids is None else chunk.ids[lo:hi],
                    {role: texts[lo:hi] for role, texts in chunk.columns.items()},
                    chunk.values[lo:hi],
                    chunk.levels,
                )

    def close(self) -> None:
        """Close the file."""
        self.table.close()


@dataclass(slots=True)
class _PartFeatures(FeatureTable):
    """Some samples of a table that comes by features."""

    table: FeatureTable = field(kw_only=True)
    first: int = field(kw_only=True)

    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        """Yield all features in order, with the values of chosen samples of the part."""
        yield from self.table.chunks(samples + self.first)

    def close(self) -> None:
        """Close the file."""
        self.table.close()
