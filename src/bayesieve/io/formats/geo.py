"""GEO series matrix files: an expression table between lines that describe the series and its samples."""

from __future__ import annotations

import os
from dataclasses import replace

from bayesieve.data import describe_candidates
from bayesieve.io.tables.roles import asks_for_labels, count_levels
from bayesieve.io.tables.table import FeatureTable, ReadOptions
from bayesieve.io.text.files import TextBytes
from bayesieve.io.text.layout import label_from_text
from bayesieve.io.text.reader import Source, as_table
from bayesieve.io.text.sniffing import Form, split
from bayesieve.utils import FileError, LabelError, did_you_mean, option

_BEGIN = "!series_matrix_table_begin"
_END = b"!series_matrix_table_end"
_SAMPLE = "!Sample_"
_BLOCK, _LONGEST = 2**20, 2**28

Annotations = dict[str, list[str | None]]


def open_series(path: str | os.PathLike[str], options: ReadOptions) -> FeatureTable:
    r"""Open a GEO series matrix; characteristics and other sample lines serve as label columns."""
    lines = _prelude(path, options)
    name, names = os.fspath(path), split(lines[-1], "\t")
    if len(names) < 2 or names[1] == "":
        raise FileError(f"{name}: the line after {_BEGIN} names no samples. Download the file again.")
    form = Form("\t", tuple(names), len(lines))
    plain = replace(options, labels=None, described={}, samples_in="columns", decimal=".")
    try:
        table = as_table(Source(name, form, plain, _END), "GEO series matrix")
    except FileError as error:
        if error.message.kind != "no-data":
            raise
        raise FileError(
            f"{name} describes {len(names) - 1} samples but holds no expression values, as is usual for "
            "sequencing series. Use the supplementary table of the series instead, with this file's "
            "characteristics as labels in a CSV file."
        ) from None
    assert isinstance(table, FeatureTable)
    assert table.sample_ids is not None
    asked = asks_for_labels(options)
    found = sample_lines(lines, names[1:], options.missing_words) if options.columns or asked else {}
    if asked:
        table.candidates = {key: count_levels(column) for key, column in found.items()}
    for role, key in options.columns.items():
        column = dict(zip(names[1:], find_characteristic(name, key, found), strict=True))
        table.columns = {**table.columns, role: [column[sample] for sample in table.sample_ids]}
    return table


def read_annotations(path: str | os.PathLike[str]) -> tuple[tuple[str, ...], Annotations]:
    """Return the samples of a series matrix, and what is said of them, by the name of the field."""
    lines = _prelude(path, ReadOptions())
    samples = split(lines[-1], "\t")[1:]
    return tuple(samples), sample_lines(lines, samples)


def _prelude(path: str | os.PathLike[str], options: ReadOptions) -> list[str]:
    """Return all lines up to the header of the table."""
    head, mark = b"", _BEGIN.encode()
    with TextBytes(path, options.encoding) as stream:
        name = stream.name
        while True:
            at = head.find(mark)
            ends = head.find(b"\n", head.find(b"\n", at) + 1) if at >= 0 else -1
            if ends >= 0:
                break
            block = stream.read(_BLOCK) if len(head) < _LONGEST else b""
            if not block:
                raise FileError(
                    f"{name} is no whole GEO series matrix: it has no table after a line {_BEGIN}. Download it "
                    "again from GEO ('Series Matrix File(s)')."
                )
            head += block
    try:
        return [line.rstrip("\r") for line in head[:ends].decode("utf-8").split("\n")]
    except UnicodeDecodeError:
        raise FileError(
            f"{name}: the text is not UTF-8.", hint=("Name its encoding: ", option("encoding", "latin-1"), ".")
        ) from None


def sample_lines(lines: list[str], samples: list[str], words: tuple[str, ...] = ()) -> Annotations:
    r"""Return what the sample lines say, by name: characteristics by their key, other lines by theirs."""
    found: Annotations = {}
    for line in lines:
        if not line.startswith(_SAMPLE):
            continue
        key, *cells = split(line, "\t")
        key = key.removeprefix(_SAMPLE)
        if len(cells) != len(samples):
            continue
        if not key.startswith("characteristics"):
            if key not in found and any(cells):
                found[key] = [label_from_text(cell, words) for cell in cells]
            continue
        for i, cell in enumerate(cells):
            name, colon, value = cell.partition(":")
            if colon:
                column = found.setdefault(name.strip(), [None] * len(samples))
                column[i] = label_from_text(value.strip(), words)
    return found


def find_characteristic(path: str, name: str, found: Annotations) -> list[str | None]:
    """Return what is said of the samples under a name, whatever its case; or say which names there are."""
    folded = {key.casefold(): key for key in found}
    key = name if name in found else folded.get(name.casefold())
    if key is not None:
        return found[key]
    useful = describe_candidates({key: count_levels(column) for key, column in found.items()})
    raise LabelError(
        f"{path} has no sample characteristic {name!r}.{did_you_mean(name, found)} Those that take several "
        f"values: {useful or 'none'}."
    )
