"""Text tables as chunks of numbers; threads share the parsing, and whatever is no number is explained."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesieve.data import LevelCounts
from bayesieve.io.tables.table import (
    FeatureChunk,
    FeatureTable,
    ReadOptions,
    SampleChunk,
    SampleTable,
    samples_per_chunk,
)
from bayesieve.io.text.fields import SKIP
from bayesieve.io.text.files import TextBytes, plain_suffix
from bayesieve.io.text.layout import Layout, Survey, find_layout, label_from_text
from bayesieve.io.text.parsing import Codes, ParsedRecords, Parser
from bayesieve.io.text.records import Batch, batches
from bayesieve.io.text.sniffing import Form, find_decimal, named_delimiter, no_data, sniff
from bayesieve.utils import DataError, FileError, IntArray, Message, option, plural

_HEAD = 2**20
_LONGEST_HEAD = 2**28
_SURVEY = 2**22
_MOST_LEVELS = 2**15 - 1
_NO_CATEGORY = (".", "?")  # "-" and "none" may be categories


@dataclass(frozen=True, slots=True)
class Source:
    """A text file that can be read again and again.

    Parameters
    ----------
    path, form, options
        The file, how its records are written, and what the user said.
    stop
        Begin of the line that ends the table, if there is one.
    content
        The text, if it was taken out of the file already.
    """

    path: str
    form: Form
    options: ReadOptions
    stop: bytes | None = None
    content: bytes | None = None

    @property
    def parser(self) -> Parser:
        """How fields become numbers."""
        options = self.options
        return Parser(
            self.form.delimiter, options.decimal or ".", self.form.names, options.missing_words, options.n_threads
        )

    def batches(self, group: int, block: int | None = None) -> Iterator[Batch]:
        """Read the records from the first to the last."""
        block = block or int(np.clip(self.options.memory // 40, 2**20, 2**24))
        with TextBytes(self.path, self.options.encoding, self.content) as stream:
            stream.skip_lines(self.form.skipped)
            for batch in batches(
                stream, self.form.delimiter, group=group, block=block,
                first_line=self.form.skipped + 1, stop=self.stop,
            ):  # fmt: skip
                yield batch
                if self.options.progress is not None:
                    self.options.progress(stream.position, stream.size)


def open_text(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    r"""Open a delimited text table and find out what it holds."""
    name, suffix, skip = os.fspath(path), plain_suffix(path), options.skip_rows
    lines = head_lines(path, options, skip + 8)
    delimiter = named_delimiter(options.delimiter)
    form = sniff(name, lines, suffix, delimiter, options.decimal or ".", skip)
    notes = [_titles(name, form)] if form.titles else []
    if options.decimal is None:
        options = replace(options, decimal=find_decimal(lines, form))
        notes += [_COMMAS] if options.decimal == "," else []
    kind = {"\t": "TSV", ",": "CSV"}.get(form.delimiter, f"text with {form.delimiter!r} between fields")
    table = as_table(Source(name, form, options), kind)
    table.notes = [*notes, *table.notes]
    return table


_COMMAS = Message.of(
    "Numbers have decimal commas, which was found out.",
    hint="If they stand between thousands, write numbers without them.",
    kind="decimal-commas",
)


def _titles(name: str, form: Form) -> Message:
    n = len(form.titles)
    first = next((title for title in form.titles if title), "")
    return Message.of(
        f"{plural(n, 'line')} above the header of {name} {'is' if n == 1 else 'are'} skipped: "
        f"{first[:60] + ('...' if len(first) > 60 else '')!r}.",
        kind="titles",
    )


def head_lines(
    path: str | os.PathLike[str], options: ReadOptions, n_lines: int = 8, content: bytes | None = None
) -> list[str]:
    r"""Return the first lines of a text file, all of them whole."""
    with TextBytes(path, options.encoding, content) as stream:
        head, ended = b"", False
        while not ended and len(head) < _LONGEST_HEAD and _n_lines(head) <= n_lines:
            block = stream.read(max(_HEAD, len(head)))
            head, ended = head + block, not block
        name = stream.name
    lines = head.split(b"\n")
    if not ended and len(lines) > 1:
        lines.pop()  # it may go on
    comments = next((k for k, line in enumerate(lines) if not line.startswith(b"#")), 0)
    try:
        return [line.decode("utf-8").rstrip("\r") for line in lines[: comments + 8 * n_lines]]
    except UnicodeDecodeError:
        raise FileError(
            f"{name}: the first lines are not UTF-8 text.",
            hint=(
                "Name the encoding, for example ",
                option("encoding", "latin-1"),
                "; if this is no text file, save the table as CSV.",
            ),
        ) from None


def _n_lines(head: bytes) -> int:
    """Count lines that are no comments; a header may hold a newline in quotes."""
    return head.count(b"\n") - head.count(b"\n#") - head.startswith(b"#")


def as_table(source: Source, kind: str) -> SampleTable | FeatureTable:
    """Survey a source and make a table of it."""
    first = next(source.batches(1, _SURVEY), None)
    if first is None:
        raise no_data(source.path)
    layout = find_layout(Survey.of(source.path, first, source.parser), source.options)
    n_units = _unit_rows(first, source.parser) if layout.samples_in == "rows" and not layout.categories else 0
    if n_units:
        line = first.line(n_units)
        skipped = replace(source.form, skipped=line - 1)
        table = as_table(replace(source, form=skipped), kind)
        table.notes.insert(0, _units(first, n_units))
        return table
    names = source.form.names
    chosen = tuple(names[f] for f in layout.values)
    if layout.samples_in == "rows":
        table = TextSamples(source.path, kind, "rows", layout.left_out, chosen, source=source, layout=layout)
        table.candidates = _candidates(table)
        return table
    return TextFeatures(
        source.path, kind, "columns", layout.left_out, chosen, len(chosen), layout.rows,
        source=source, layout=layout,
    )  # fmt: skip


def _unit_rows(batch: Batch, parser: Parser) -> int:
    """Count records on top with text in the columns that hold numbers from there on: units and the like."""
    n = min(len(batch), 10)
    parsed = parser.parse(batch, 0, n, np.arange(len(parser.names), dtype=np.int32), strict=False)
    there, texts = np.isfinite(parsed.values), np.zeros(parsed.values.shape, dtype=bool)
    for row, column, _ in parsed.texts_at:
        texts[row, column] = True
    found = 0
    while found < min(3, n - 3):
        numeric = there[found + 1 :].mean(axis=0) > 0.5
        numeric[0] = False  # ids
        hits = int(texts[found, numeric].sum())
        if numeric.sum() < 2 or hits < 0.8 * numeric.sum() or there[found, numeric].any():
            break
        found += 1
    return found


def _units(batch: Batch, n: int) -> Message:
    line, shown = batch.line(0), batch.record(0)[:60]
    where = f"Line {line} below the header holds" if n == 1 else f"Lines {line} to {batch.line(n - 1)} hold"
    return Message.of(f"{where} text where numbers follow, and is left out: {shown!r}.", kind="units")


def _candidates(table: TextSamples) -> dict[str, LevelCounts]:
    """Count the levels of all columns that could hold labels, in one pass over the file."""
    layout, names = table.layout, table.source.form.names
    if not layout.candidates:
        return {}
    described = {names[f]: f for f in layout.candidates}
    found: dict[str, Counter[str]] = {name: Counter() for name in described}
    for chunk in replace(table, layout=replace(layout, columns=described)).chunks(slice(0, 1)):
        for name, labels in chunk.columns.items():
            found[name].update(label for label in labels if label is not None)
    return dict(found)


@dataclass(slots=True)
class TextSamples(SampleTable):
    """A text table with samples in rows."""

    source: Source = field(kw_only=True)
    layout: Layout = field(kw_only=True)

    def chunks(self, features: slice = slice(None)) -> Iterator[SampleChunk]:
        """Yield all samples in order, with a range of the features."""
        parser, values, texts = self.source.parser, self.layout.values[features], self._text_fields()
        codes = _codes(self.source, texts, values, self.layout)
        group = samples_per_chunk(len(self.layout.values))
        for batch in self.source.batches(group):
            for lo in range(0, len(batch), group):
                parsed = parser.parse(batch, lo, min(lo + group, len(batch)), codes)
                yield SampleChunk(*self._texts(parsed), *_values(parsed, len(texts), len(values), self.layout))

    def _text_fields(self) -> list[int]:
        """Fields that are read as texts, each once: the ids and what describes the samples."""
        ids = [] if self.layout.ids is None else [self.layout.ids]
        return list(dict.fromkeys([*ids, *self.layout.columns.values()]))

    def _texts(self, parsed: ParsedRecords) -> tuple[list[str] | None, dict[str, list[str | None]]]:
        words, texts = self.source.parser.words, {f: parsed.texts(k) for k, f in enumerate(self._text_fields())}
        columns = {
            role: [label_from_text(text, words) for text in texts[f]] for role, f in self.layout.columns.items()
        }
        return None if self.layout.ids is None else texts[self.layout.ids], columns


@dataclass(slots=True)
class TextFeatures(FeatureTable):
    """A text table with samples in columns; ``n_declared`` is the number of features it announces, if it does."""

    source: Source = field(kw_only=True)
    layout: Layout = field(kw_only=True)
    n_declared: int | None = None

    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        """Yield all features in order, with the values of chosen samples."""
        assert self.layout.ids is not None
        codes = _codes(self.source, [self.layout.ids], np.asarray(self.layout.values)[samples], self.layout)
        parser, done = replace(self.source.parser, features_in=self.layout.ids), 0
        only_ids: Codes = np.where(codes == SKIP - 1, codes, SKIP).astype(np.int32)
        ignored = set(self.source.options.ignore)
        for batch in self.source.batches(1):
            holes = {k - done for k in self.layout.skipped}
            if ignored:
                names = parser.parse(batch, 0, len(batch), only_ids).texts(0)
                holes |= {k for k, name in enumerate(names) if name in ignored}
            for lo, hi in _runs_between(len(batch), holes):
                parsed = parser.parse(batch, lo, hi, codes)
                yield FeatureChunk(parsed.texts(0), *_values(parsed, 1, len(samples), self.layout))
            done += len(batch)
        if self.n_declared is not None and done != self.n_declared:
            raise FileError(
                f"{self.path} announces {self.n_declared:,} features but holds {done:,}. It may be cut short: "
                "fetch it again, or correct its second line."
            )


def _codes(source: Source, texts: Sequence[int], values: Sequence[int] | IntArray, layout: Layout) -> Codes:
    """Say what each field is read as: a text, a value (categories are texts too), or nothing."""
    codes: Codes = np.full(len(source.form.names), SKIP, dtype=np.int32)
    places = np.arange(len(values))
    codes[values] = SKIP - 1 - len(texts) - places if layout.categories else places
    codes[texts] = SKIP - 1 - np.arange(len(texts))
    return codes


def _values(
    parsed: ParsedRecords, first: int, n_values: int, layout: Layout
) -> tuple[Any, tuple[str, ...] | None]:
    """Values of some records: numbers, or codes of categories and the levels they stand for."""
    if not layout.categories:
        return parsed.values, None
    codes, levels = encode_texts([parsed.texts(first + k) for k in range(n_values)], parsed.words)
    return np.ascontiguousarray(codes.T), levels


def encode_texts(
    columns: Sequence[Sequence[str]], words: tuple[str, ...] = ()
) -> tuple[Any, tuple[str, ...] | None]:
    """Turn columns of texts into a table of codes, one row per column, and the sorted levels they stand for.

    A missing value has code -1: besides the spellings of a missing label, a point and a question mark.
    Where no column has any value, they are NaN and have no levels.
    """
    met: dict[str, int] = {}
    raw = np.array([[met.setdefault(text, len(met)) for text in column] for column in columns], np.int64)
    names = [label_from_text(text, (*_NO_CATEGORY, *words)) for text in met]
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


def _runs_between(n: int, holes: set[int]) -> Iterator[tuple[int, int]]:
    """Ranges of ``range(n)`` between the holes."""
    lo = 0
    for hole in sorted(hole for hole in holes if 0 <= hole < n):
        if hole > lo:
            yield lo, hole
        lo = hole + 1
    if lo < n:
        yield lo, n
