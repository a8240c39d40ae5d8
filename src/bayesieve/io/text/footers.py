"""Remarks below a table: told from its last records where that is certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bayesieve.io.text.sniffing import split
from bayesieve.utils import Message, plural

HELD = 2**16  # bytes at the end of a file that are looked at together
_MOST = 60  # records
_WORDS = re.compile(
    r"\W*(grand total|totals?|sums?|means?|averages?|median|ende?|eof|generated|exported|export|created|produced|"
    r"printed|written|downloaded|saved|notes?|sources?|legend|abbreviations?|footnotes?|date|version|report|page|"
    r"copyright|\d+ rows?|rows?|records?|n|count|number of|completion time|summe|gesamt|erstellt|quelle|fin)"
    r"\b",
    re.IGNORECASE,
)
_SIGNS = ("*", "#", "--", "==", "__", "//", "©", "†")
_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+([eE][+-]?[0-9]+)?")
_LETTERS, _DIGITS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")


@dataclass(slots=True)
class Footers:
    """Remarks below a table.

    Parameters
    ----------
    path, delimiter, n_fields
        The file, what stands between its fields, and how many a record has.
    notes
        Where it is said what was skipped.
    """

    path: str
    delimiter: str
    n_fields: int
    notes: list[Message] = field(default_factory=list)

    def count(self, data: bytes | bytearray, starts: Any, ends: Any, *, ended: bool) -> int:
        """Count the last records that are remarks; ``ended`` says that the last line has an end."""
        first = max(0, len(starts) - _MOST)
        spans = list(zip(starts[first:].tolist(), ends[first:].tolist(), strict=True))
        while len(spans) > 2 and spans[-1][1] - spans[1][0] > HELD:
            spans.pop(0)
        cells = [split(data[lo:hi].decode("utf-8", "replace"), self.delimiter) for lo, hi in spans]
        apart = [k > 0 and spans[k - 1][1] + 1 < lo for k, (lo, _) in enumerate(spans)]
        n = count_remarks(cells, apart, self.n_fields, ended=ended)
        if n:
            self._tell([" ".join(filter(None, each)) for each in cells[-n:]])
        return n

    def _tell(self, lines: Sequence[str]) -> None:
        if not any(note.kind == "footers" for note in self.notes):  # a table is read more than once
            self.notes.append(describe_remarks(self.path, lines))


def describe_remarks(path: str, lines: Sequence[str]) -> Message:
    """Say which lines are skipped."""
    n, first = len(lines), lines[0]
    return Message.of(
        f"{plural(n, 'line')} below the table of {path} {'is' if n == 1 else 'are'} skipped: "
        f"{first[:60] + ('...' if len(first) > 60 else '')!r}.",
        kind="footers",
    )


def count_remarks(records: Sequence[list[str]], apart: Sequence[bool], n_fields: int, *, ended: bool) -> int:
    """Count records at the end that are no data, where that is certain.

    Parameters
    ----------
    records
        Cells of the last records.
    apart
        Whether blank lines stand above each.
    n_fields
        Number of fields of a record of data.
    ended
        Whether the last line has an end; a file that is cut short has none.
    """
    shapes = [_shape(cells) for cells in records]
    n = 0
    for k in range(len(records) - 1, 0, -1):
        below_blank = _below_blank(apart, records, n_fields, k)
        known = {shape for shape, cells in zip(shapes[:k], records[:k], strict=True) if _is_full(cells, n_fields)}
        whole = ended or k < len(records) - 1
        if not _is_remark(records[k], n_fields, below_blank=below_blank, whole=whole, known=shapes[k] in known):
            break
        n += 1
    return n


def _below_blank(apart: Sequence[bool], records: Sequence[list[str]], n_fields: int, k: int) -> bool:
    """Whether a blank line stands between this record and the last one with all its fields."""
    while k > 0 and not apart[k] and not _is_full(records[k - 1], n_fields):
        k -= 1
    return apart[k]


def _is_full(cells: list[str], n_fields: int) -> bool:
    return len(cells) >= n_fields and bool(cells[n_fields - 1] or sum(map(bool, cells)) > n_fields / 2)


def _is_remark(cells: list[str], n_fields: int, *, below_blank: bool, whole: bool, known: bool) -> bool:
    """Tell whether a record holds words and no data: few cells, which say so or look unlike the ids above."""
    last = max((k + 1 for k, cell in enumerate(cells) if cell), default=0)
    if last > max(1, n_fields / 2) or last >= n_fields or not last:
        return False
    text = cells[0] or next(filter(None, cells))
    if _WORDS.match(text) or text.startswith(_SIGNS):
        return True
    numbers = any(_NUMBER.fullmatch(cell) for cell in cells[1:])
    if known or numbers:
        return False
    if len(cells) >= n_fields and not below_blank:  # one of the rows, with missing values only?
        return len(text.split()) > 2
    return whole or below_blank


def _shape(cells: list[str]) -> str:
    """What the first cell looks like: letters and numbers, whichever they are."""
    return _DIGITS.sub("0", _LETTERS.sub("a", cells[0])) if cells else ""
