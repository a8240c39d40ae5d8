"""What a text table looks like: delimiter, comment lines, header."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

from bayesieve.utils import FileError, OptionError, option

_CANDIDATES = {".tsv": "\t,;| ", ".txt": "\t,;| ", ".gct": "\t", ".csv": ",;\t| "}
_NAMED = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|", "\\t": "\t"}
_FEW, _MANY, _LEAST = 6, 40, 3
_LOOK = 2**21
_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+([eE][+-]?[0-9]+)?")
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
        Lines before the first record of data: comments, titles and the header.
    titles
        Lines of text above the header.
    """

    delimiter: str
    names: tuple[str, ...]
    skipped: int
    titles: tuple[str, ...] = ()


def named_delimiter(delimiter: str | None) -> str | None:
    r"""Check a delimiter given by the user, as a character or a word."""
    if delimiter is None:
        return None
    found = _NAMED.get(delimiter.lower(), delimiter)
    if len(found) != 1 or not found.isascii() or found.isalnum() or found in '"\r\n.-+':
        raise OptionError(f"The delimiter must be one character or one of {', '.join(_NAMED)}, not {delimiter!r}.")
    return found


def check_decimal(decimal: str | None, delimiter: str | None) -> None:
    """Raise unless a stated decimal mark is one and does not separate fields, too."""
    if decimal not in (None, ".", ","):
        raise OptionError(f"The decimal mark is a point or a comma, not {decimal!r}.")
    if decimal is not None and decimal == named_delimiter(delimiter):
        raise OptionError(f"{decimal!r} cannot be both the decimal mark and the delimiter. Change one of them.")


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


def sniff(name: str, lines: list[str], suffix: str, delimiter: str | None, decimal: str, skip: int = 0) -> Form:
    """Find delimiter and header from the first lines of a file, after so many that the user wants to skip."""
    if skip:
        form = sniff(name, lines[skip:], suffix, delimiter, decimal)
        return Form(form.delimiter, form.names, form.skipped + skip, form.titles)
    numbered = [(end, record) for end, record in _records(lines) if record.strip()]
    if not numbered:
        raise FileError(f"{name} holds only blank lines. Check how it was written or downloaded.")
    numbered = _after_comments(numbered)
    declaration = _SAID.fullmatch(numbered[0][1].strip())
    if declaration and len(numbered) > 1:  # a first line for Excel
        delimiter, numbered = delimiter or declaration[1], numbered[1:]
    n_titles = _n_titles([record for _, record in numbered[:_MANY]], delimiter, suffix, decimal)
    titles = tuple(record.strip(' ,;\t|"') for _, record in numbered[:n_titles])
    numbered = numbered[n_titles:]
    records = [record for _, record in numbered[:_FEW]]
    chosen = delimiter or _delimiter(records, suffix, decimal)
    if chosen is None or not any(chosen in record for record in records[:2]):
        asked = (
            f"{delimiter!r} does not separate" if delimiter else "no tab, comma, semicolon, space or bar separates"
        )
        raise FileError(
            f"{name} seems to have a single column: {asked} its first line into fields ({records[0][:60]!r}).",
            hint=(
                "If another character does, name it with ",
                option("delimiter"),
                "; if lines of text stand above the header, skip them with ",
                option("skip_rows"),
                ".",
            ),
        )
    names = split(records[0], chosen)
    if len(records) < 2:
        raise no_data(name)
    body = [split(record, chosen) for record in records[1:3]]
    if all(len(fields) == len(names) + 1 for fields in body):
        ended = all(fields[-1] == "" for fields in body)  # every line ends in a delimiter
        names = [*names, ""] if ended else ["", *names]  # else row names, as R writes them
    return Form(chosen, tuple(names), numbered[0][0], titles)


def _n_titles(records: list[str], delimiter: str | None, suffix: str, decimal: str) -> int:
    """Count lines of text above the header, where it is certain that they are no header.

    Either all their cells but one are empty, or they have less than half as many cells as the lines below, of
    which the first looks like a header: few of its cells are numbers, and many of the next line's are.
    """
    best, widest = 0, 2
    for mark in [delimiter] if delimiter else [c for c in _CANDIDATES.get(suffix, "\t,;| ") if c != decimal]:
        counts = [_n_fields(record, mark) for record in records]
        usual = max(counts, key=lambda n: (counts.count(n), n))
        while len(counts) > 1 and counts[-1] != usual:  # remarks at the end, which are told when they are met
            counts.pop()
        first = len(counts) - 1
        while first > 0 and counts[first - 1] == counts[-1]:
            first -= 1
        if first and counts[first - 1] == counts[-1] - 1:  # row names, as R writes them
            first -= 1
        if len(counts) - first < _LEAST or counts[-1] <= widest:
            continue
        while len(counts) - first > _LEAST and _one_cell(records[first], mark):
            first += 1
        above = zip(counts, records[:first], strict=False)
        short = all(count < counts[-1] / 2 or _one_cell(record, mark) for count, record in above)
        if not first or (short and _is_header(split(records[first], mark), split(records[first + 1], mark))):
            best, widest = first, counts[-1]
    return best


def _one_cell(record: str, mark: str) -> bool:
    """Tell whether all cells but one are empty."""
    return mark not in record.strip(f"{mark} ")


def _is_header(head: list[str], data: list[str]) -> bool:
    numbers = [sum(_NUMBER.fullmatch(cell) is not None for cell in cells) for cells in (head, data)]
    return numbers[0] <= len(head) / 5 and numbers[1] > numbers[0] and numbers[1] >= len(data) / 4


def find_decimal(lines: list[str], form: Form) -> str:
    """Tell the decimal mark: a comma if numbers have one and none has a point; three decimals may be thousands."""
    if form.delimiter == ",":
        return "."
    mark = re.escape(form.delimiter)
    body = "\n".join(lines[form.skipped :])[:_LOOK]
    number = r'(?:^|%s)[ "]*[+-]?([0-9]%s)[.]([0-9]+)(?:[eE][+-]?[0-9]+)?[ "]*(?=%s|$)'
    if re.search(number % (mark, "*", mark), body, re.MULTILINE):
        return "."
    found = re.findall((number % (mark, "+", mark)).replace("[.]", ","), body, re.MULTILINE)
    powers = (
        (number % (mark, "+", mark)).replace("[.]", ",").replace("[0-9]+)?", "[0-9]+)")
    )  # no thousands have any
    if re.search(powers, body, re.MULTILINE):
        return ","
    certain = any(len(decimals) != 3 or len(whole) > 3 or whole.startswith("0") for whole, decimals in found)
    return "," if certain else "."


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
