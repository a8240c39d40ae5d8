"""Records to numbers: threads share the work, and whatever is no number is explained."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.io.tables.roles import ignore_option
from bayesieve.io.tables.table import MISSING_WORDS
from bayesieve.io.text.fields import SKIP, gather_texts, read_fields
from bayesieve.io.text.records import Batch
from bayesieve.io.text.sniffing import split
from bayesieve.utils import FileError, FloatArray, Wording, for_each, n_threads_for, option, plural, share

Codes = npt.NDArray[np.int32]


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


_ODD = 4096
_FEW_TEXTS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Parser:
    """How fields become numbers.

    Parameters
    ----------
    delimiter, decimal
        Between fields, and before the decimals.
    names
        Names of the fields.
    words
        Spellings of a missing value, and values that stand for one.
    features_in
        Field that names the feature of a record, where records are features.
    n_threads
        Threads, None for all cores.
    """

    delimiter: str
    decimal: str
    names: tuple[str, ...]
    words: tuple[str, ...] = ()
    n_threads: int | None = None
    features_in: int | None = None

    @property
    def _spellings(self) -> tuple[Any, Any]:
        words = [word.encode() for word in dict.fromkeys((*MISSING_WORDS, *self.words))]
        padded = np.zeros((len(words), max(map(len, words))), dtype=np.uint8)
        for row, word in zip(padded, words, strict=True):
            row[: len(word)] = list(word)
        return padded, np.array([len(word) for word in words])

    def parse(self, batch: Batch, lo: int, hi: int, codes: Codes, *, strict: bool = True) -> ParsedRecords:
        """Read the records ``lo : hi`` of a batch."""
        n, n_values, n_texts = hi - lo, max(int(codes.max()) + 1, 0), max(int(SKIP - codes.min()), 0)
        values, spans = np.empty((n, n_values)), np.zeros((n, n_texts, 2), np.int64)
        starts, ends, spellings = batch.starts[lo:hi], batch.ends[lo:hi], self._spellings
        form = (ord(self.delimiter), ord(self.decimal))
        found: list[tuple[int, Any]] = []

        def work(rows: tuple[int, int]) -> None:
            size = _ODD
            while True:
                odd = np.empty((size, 4), np.int64)
                n_odd, bad = read_fields(
                    batch.buffer, starts, ends, rows, form, codes, spellings, values, spans, odd
                )
                if n_odd <= size:
                    break
                size = 4 * n_odd
            found.append((bad, odd[:n_odd]))

        threads = n_threads_for(self.n_threads, n * max(n_values, 1))
        for_each(work, share(n, threads), threads)
        bad = min((bad for bad, _ in found if bad >= 0), default=-1)
        if bad >= 0:
            self._raise_ragged(batch, lo + bad)
        odd = np.concatenate([rows for _, rows in found])
        texts_at = self._resolve(batch, lo, odd[np.lexsort((odd[:, 1], odd[:, 0]))], codes, values)
        if strict and texts_at:
            self._raise_not_numbers(batch, lo, texts_at)
        for word in self.words:
            if _NUMBER.fullmatch(word):
                values[values == float(word)] = np.nan
        return ParsedRecords(batch, lo, values, spans, texts_at, self.words)

    def _resolve(
        self, batch: Batch, lo: int, odd: Any, codes: Codes, values: FloatArray
    ) -> list[tuple[int, int, str]]:
        """Let Python read what the compiled loop was not sure of; return what is text."""
        texts = []
        for row, column, first, last in odd.tolist():
            text = batch.text(first, last, lo + row)
            plain = text.strip("\u00a0\u202f ").replace("\u2212", "-")  # a minus as it is printed
            plain = plain.replace(self.decimal, ".") if self.decimal != "." and "." not in plain else plain
            if _NUMBER.fullmatch(plain) or _INFINITY.fullmatch(plain):
                values[row, codes[column]] = float(plain)
            else:
                texts.append((row, column, text))
        return texts

    def _raise_ragged(self, batch: Batch, record: int) -> None:
        found = len(split(batch.record(record), self.delimiter))
        what = f"{found:,} field{'' if found == 1 else 's'} where the header has {len(self.names):,}"
        cut_short = record == len(batch) - 1 and found < len(self.names)
        begin = "The file may be cut short: fetch it again. Otherwise quote" if cut_short else "Quote"
        raise FileError(
            f"{batch.name}, line {batch.line(record)}: {what} (fields are separated by {self.delimiter!r}).",
            hint=(
                f"{begin} fields that hold the delimiter, or name another one with ",
                option("delimiter"),
                "; lines above the header are skipped with ",
                option("skip_rows"),
                "; delete remarks below the table." if found < len(self.names) / 2 else ".",
            ),
        )

    def _raise_not_numbers(self, batch: Batch, lo: int, texts: list[tuple[int, int, str]]) -> None:
        row, column, text = texts[0]
        more = f" ({plural(len(texts) - 1, 'more such cell')} nearby)" if len(texts) > 1 else ""
        name, feature = self.names[column], ""
        if self.features_in is not None:
            name = split(batch.record(lo + row), self.delimiter)[self.features_in]
            feature = f", feature {name!r}"
        raise FileError(
            f"{batch.name}, line {batch.line(lo + row)}{feature}, column {self.names[column]!r} (field "
            f"{column + 1}): {text[:40]!r} is not a number{more}.",
            hint=self._cure(text, name, self.names[column], _distinct(texts)),
        )

    def _cure(self, text: str, name: str, column: str, others: Sequence[str]) -> tuple[str | Wording, ...]:
        if text == column:
            return ("The header seems to be repeated here: delete the line.",)
        if THOUSANDS.fullmatch(text) and (self.decimal == "." or "," not in text):
            return ("Marks between thousands are not understood: write numbers without them.",)
        if self.decimal == "." and COMMA.fullmatch(text):
            return ("If the comma is a decimal mark, say so: ", option("decimal", ","))
        if self.decimal == "," and _NUMBER.fullmatch(text):
            return (
                "The decimal mark was said to be a comma; if it is a point, leave out ",
                option("decimal"),
                ".",
            )
        what = "column" if self.features_in is None else "row"
        missing = Wording(f"na_values={list(others)!r}", " ".join(f"--na-values {other!r}" for other in others))
        if _LIMIT.fullmatch(text):
            return (
                "A value beyond a limit of detection is no number: write the limit, or half of it, in its place. "
                "If such values are to be left out, say so: ",
                missing,
                ".",
            )
        return (
            f"If {'it stands' if len(others) == 1 else 'these stand'} for a missing value, say so: ",
            missing,
            f"; if the {what} holds no measurements, leave it out: ",
            ignore_option(name),
            "; else correct the cell.",
        )


def _distinct(texts: list[tuple[int, int, str]]) -> list[str]:
    """A few texts, each once; the first alone if there are many."""
    found = list(dict.fromkeys(text[:20] for _, _, text in texts))
    return found if len(found) <= _FEW_TEXTS else found[:1]


@dataclass(frozen=True, slots=True, eq=False)
class ParsedRecords:
    """What was read from some records.

    Parameters
    ----------
    batch, lo
        Where they come from.
    values
        Numbers, NaN where missing.
    spans
        First and last byte of each text.
    texts_at
        (record, field, text) of values that are no numbers, when not strict.
    words
        Spellings of a missing value besides the usual ones.
    """

    batch: Batch
    lo: int
    values: FloatArray
    spans: npt.NDArray[np.int64]
    texts_at: list[tuple[int, int, str]]
    words: tuple[str, ...] = ()

    def texts(self, k: int) -> list[str]:
        """Texts of the ``k``-th text field."""
        spans = np.ascontiguousarray(self.spans[:, k])
        out = np.empty(int((spans[:, 1] - spans[:, 0]).sum()) + len(spans), np.uint8)
        joined = out[: gather_texts(self.batch.buffer, spans, out)].tobytes()
        try:
            texts = joined.decode().split("\n")[:-1]
        except UnicodeDecodeError:
            texts = []
        if len(texts) != len(spans) or '"' in joined.decode("latin-1"):  # newlines, quotes, or not UTF-8
            return [self.batch.text(lo, hi, self.lo + i) for i, (lo, hi) in enumerate(spans.tolist())]
        return texts


COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")


THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}([,' \u00a0\u202f\u2019][0-9]{3})+([.,][0-9]+)?")
_LIMIT = re.compile(r"[<>≤≥]\s*=?\s*[0-9][0-9.,eE+-]*")


def number(text: str) -> float:
    """Return the number a text stands for, NaN if it is none."""
    try:
        return float(text.replace(",", ".") if COMMA.fullmatch(text) else text)
    except ValueError:
        return math.nan
