"""What a text table looks like: delimiter, comment lines, header."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

from bayesieve.utils import FileError, OptionError, option

_CANDIDATES = {".tsv": "\t,;| ", ".txt": "\t,;| ", ".gct": "\t", ".csv": ",;\t| "}
_NAMED = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|", "\\t": "\t"}
_FEW = 6
_SAID = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
_QUOTED = re.compile(r'(?:^|(?<=[\t,;| ]))"(?:[^"]|"")*"')
_OPEN = re.compile(r'(?:^|[\t,;| ])"')


@dataclass(frozen=True, slots=True)
class Form:
    """How records are written.

    Parameters
    ----------
    delimiter
        Between fields.
    names
        Names of the fields, from the header; a first name is added where the header lacks it.
    skipped
        Lines before the first record of data: comments and the header.
    """

    delimiter: str
    names: tuple[str, ...]
    skipped: int


def named_delimiter(delimiter: str | None) -> str | None:
    r"""Check a delimiter given by the user, as a character or a word."""
    if delimiter is None:
        return None
    found = _NAMED.get(delimiter.lower(), delimiter)
    if len(found) != 1 or not found.isascii() or found.isalnum() or found in '"\r\n.-+':
        raise OptionError(f"The delimiter must be one character or one of {', '.join(_NAMED)}, not {delimiter!r}.")
    return found


def no_data(path: str) -> FileError:
    """Say that a table ends after its header."""
    return FileError(
        f"{path} holds a header and no data.", hint="Check how it was written or downloaded.", kind="no-data"
    )


def split(record: str, delimiter: str) -> list[str]:
    """Cut one record into its fields."""
    try:
        return [field.strip() for field in next(csv.reader([record], delimiter=delimiter), [])]
    except csv.Error:
        return [field.strip().strip('"') for field in record.split(delimiter)]


def _n_fields(record: str, delimiter: str) -> int:
    if '"' not in record:
        return record.count(delimiter) + 1
    return len(split(record, delimiter))


def sniff(name: str, lines: list[str], suffix: str, delimiter: str | None, decimal: str) -> Form:
    """Find delimiter and header from the first lines of a file."""
    numbered = [(end, record) for end, record in _records(lines) if record.strip()]
    if not numbered:
        raise FileError(f"{name} holds only blank lines. Check how it was written or downloaded.")
    numbered = _after_comments(numbered)
    declaration = _SAID.fullmatch(numbered[0][1].strip())
    if declaration and len(numbered) > 1:  # a first line for Excel
        delimiter, numbered = delimiter or declaration[1], numbered[1:]
    records = [record for _, record in numbered[:_FEW]]
    chosen = delimiter or _delimiter(records, suffix, decimal)
    if chosen is None or not any(chosen in record for record in records[:2]):
        asked = (
            f"{delimiter!r} does not separate" if delimiter else "no tab, comma, semicolon, space or bar separates"
        )
        raise FileError(
            f"{name} seems to have a single column: {asked} its first line into fields ({records[0][:60]!r}).",
            hint=("If another character does, name it with ", option("delimiter"), "."),
        )
    names = split(records[0], chosen)
    if len(records) < 2:
        raise no_data(name)
    body = [split(record, chosen) for record in records[1:3]]
    if all(len(fields) == len(names) + 1 for fields in body):
        ended = all(fields[-1] == "" for fields in body)  # every line ends in a delimiter
        names = [*names, ""] if ended else ["", *names]  # else row names, as R writes them
    return Form(chosen, tuple(names), numbered[0][0])


def _records(lines: list[str]) -> list[tuple[int, str]]:
    """Join lines whose quotes are not closed; return each record with the number of the line after it."""
    records, open_ = [], ""
    for i, line in enumerate(lines):
        joined = f"{open_}\n{line}" if open_ else line
        if '"' in joined and _OPEN.search(_QUOTED.sub("", joined)) and i + 1 < len(lines):
            open_ = joined
        else:
            records.append((i + 1, joined))
            open_ = ""
    return records


def _after_comments(numbered: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Drop lines that begin with # unless the last of them is the header."""
    first = next((k for k, (_, line) in enumerate(numbered) if not line.startswith("#")), 0)
    if first and len(numbered) > first:
        head, data = numbered[first - 1][1], numbered[first][1]
        like = any(head.count(c) == data.count(c) > 0 for c in "\t,;|")
        first -= bool(like)
    return numbered[first:]


def _delimiter(records: list[str], suffix: str, decimal: str) -> str | None:
    best, most = None, 1
    for candidate in _CANDIDATES.get(suffix, "\t,;| "):
        if candidate == decimal or not any(candidate in record for record in records[:2]):
            continue
        counts = [_n_fields(record, candidate) for record in records]
        body = counts[1:] or counts
        fits = len(set(body)) == 1 and counts[0] in (body[0], body[0] - 1)
        if fits and body[0] > most and not (candidate == " " and best):
            best, most = candidate, body[0]
    if best is None:  # ragged: take what splits the header, so that the message names the line
        best = next((c for c in _CANDIDATES.get(suffix, "\t,;| ")[:4] if c in records[0] and c != decimal), None)
    return best
