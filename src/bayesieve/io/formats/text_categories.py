"""Tables whose values are texts, such as genotypes AA, AG, GG: every chunk becomes codes and their levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.errors import DataError, option
from bayesieve.io.tables.table import FeatureChunk, SampleChunk, samples_per_chunk
from bayesieve.io.text.fields import SKIP
from bayesieve.io.text.layout import label_from_text
from bayesieve.io.text.parsing import Codes, Parsed
from bayesieve.io.text.reader import TextFeatures, TextSamples, runs_between
from bayesieve.utils import IntArray

_MOST_LEVELS = 2**15 - 1
_MISSING = (".", "?")  # "-" and "none" may be categories


def encode_texts(
    columns: Sequence[Sequence[str]], words: tuple[str, ...] = ()
) -> tuple[Any, tuple[str, ...] | None]:
    """Turn columns of texts into a table of codes, one row per column, and the sorted levels they stand for.

    A missing value has code -1: besides the spellings of a missing label, a point and a question mark.
    Where no column has any value, they are NaN and have no levels.
    """
    met: dict[str, int] = {}
    raw = np.array([[met.setdefault(text, len(met)) for text in column] for column in columns], np.int64)
    names = [label_from_text(text, (*_MISSING, *words)) for text in met]
    levels = tuple(sorted({name for name in names if name is not None}))
    if len(levels) > _MOST_LEVELS:
        raise DataError(
            f"The values take {len(levels):,} different forms, for example {levels[0]!r} and {levels[-1]!r}: they "
            "look like measurements or names, not categories.",
            hint=("Leave such columns out with ", option("ignore"), "."),
        )
    if not levels:
        return np.full(raw.shape, np.nan), None
    position = {name: k for k, name in enumerate(levels)}
    codes = np.array([-1 if name is None else position[name] for name in names], np.int16)
    return codes[raw], levels


def _encode_fields(parsed: Parsed, first: int, n_fields: int, words: tuple[str, ...]) -> tuple[Any, Any]:
    return encode_texts([parsed.texts(first + k) for k in range(n_fields)], words)


@dataclass(slots=True)
class CategorySamples(TextSamples):
    """A text table of categories with samples in rows."""

    def chunks(self, features: slice = slice(None)) -> Iterator[SampleChunk]:
        """Yield all samples in order, with a range of the features."""
        codes, parser = self._codes(slice(0, 0)), self.source.parser
        first, places = int(SKIP - codes.min()), self.layout.values[features]
        codes[places] = SKIP - 1 - first - np.arange(len(places))
        group = samples_per_chunk(len(self.layout.values))
        for batch in self.source.batches(group):
            for lo in range(0, len(batch), group):
                parsed = parser.parse(batch, lo, min(lo + group, len(batch)), codes)
                values, levels = _encode_fields(parsed, first, len(places), parser.words)
                yield SampleChunk(*self._texts(parsed), np.ascontiguousarray(values.T), levels)


@dataclass(slots=True)
class CategoryFeatures(TextFeatures):
    """A text table of categories with samples in columns."""

    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        """Yield all features in order, with the values of chosen samples."""
        assert self.layout.ids is not None
        codes: Codes = np.full(len(self.source.form.names), SKIP, dtype=np.int32)
        codes[self.layout.ids] = SKIP - 1
        codes[np.asarray(self.layout.values)[samples]] = SKIP - 2 - np.arange(len(samples))
        parser, done = replace(self.source.parser, features_in=self.layout.ids), 0
        ignored = set(self.source.options.ignore)
        for batch in self.source.batches(1):
            holes = {k - done for k in self.layout.skipped}
            if ignored:
                names = parser.parse(batch, 0, len(batch), np.where(codes == SKIP - 1, codes, SKIP)).texts(0)
                holes |= {k for k, name in enumerate(names) if name in ignored}
            for lo, hi in runs_between(len(batch), holes):
                parsed = parser.parse(batch, lo, hi, codes)
                values, levels = _encode_fields(parsed, 1, len(samples), parser.words)
                yield FeatureChunk(parsed.texts(0), np.ascontiguousarray(values.T), levels)
            done += len(batch)
