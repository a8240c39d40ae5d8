"""GCT files, versions 1.2 and 1.3: features in rows, with annotations of features and samples."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from bayesieve.io.tables.roles import asks_for_labels, check_distinct, count_levels, no_match, no_such_column
from bayesieve.io.tables.table import FeatureTable, ReadOptions
from bayesieve.io.text.layout import Layout, label_from_text
from bayesieve.io.text.reader import Source, TextFeatures, head_lines
from bayesieve.io.text.sniffing import Form, split
from bayesieve.utils import FileError


def open_gct(path: str | os.PathLike[str], options: ReadOptions) -> FeatureTable:
    r"""Open a GCT file; in version 1.3 the annotations of the samples serve as label columns."""
    name, lines = os.fspath(path), head_lines(path, options, 3)
    shape = _shape(name, lines)
    skipped = 3 + shape.n_sample_rows
    if shape.n_sample_rows:
        lines = head_lines(path, options, skipped)
    if len(lines) < skipped:
        raise FileError(f"{name} is cut short: it ends before its first feature. Fetch it again.")
    names = split(lines[2], "\t")
    first = 1 + shape.n_feature_columns
    if len(names) != first + shape.n_samples:
        raise FileError(
            f"{name}, line 3: {len(names) - first:,} samples, but line 2 announces {shape.n_samples:,}. Correct "
            "the second line, or write the file again."
        )
    check_distinct(name, names[first:], "sample")
    values = list(range(first, len(names)))
    left_out = {"not numeric": names[1:first]} if first > 1 else {}
    if options.known_ids is not None:
        values = [f for f in values if names[f] in options.known_ids]
        if not values:
            raise no_match(name, options.known_ids, names[first:])
        unknown = [names[f] for f in range(first, len(names)) if names[f] not in options.known_ids]
        left_out |= {"not in the label file": unknown} if unknown else {}
    columns = {}
    for role, annotation in options.columns.items():
        every = _annotation(name, lines[3:skipped], first, shape.n_samples, annotation, options.missing_words)
        columns[role] = [every[f - first] for f in values]
    rows = _annotations(lines[3:skipped], first) if asks_for_labels(options) else {}
    source = Source(name, Form("\t", tuple(names), skipped), replace(options, decimal="."))
    chosen = tuple(names[f] for f in values)
    form = f"GCT {lines[0].strip()[1:]}"
    return TextFeatures(
        name, form, "columns", left_out, chosen, len(chosen), columns,
        source=source, layout=Layout("columns", 0, values), n_declared=shape.n_features,
        candidates={key: count_levels(cells, options.missing_words) for key, cells in rows.items()},
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Shape:
    n_features: int
    n_samples: int
    n_feature_columns: int
    n_sample_rows: int


def _shape(name: str, lines: list[str]) -> _Shape:
    version = lines[0].strip()
    numbers = lines[1].split() if len(lines) > 1 else []
    if version not in ("#1.2", "#1.3"):
        raise FileError(
            f"{name} is no GCT file of version 1.2 or 1.3: its first line is {version[:20]!r} instead of '#1.2' "
            "or '#1.3'. If it is another table, give it another ending, such as .tsv."
        )
    needed = 2 if version == "#1.2" else 4
    if len(numbers) < needed or not all(number.isdecimal() for number in numbers[:needed]) or len(lines) < 3:
        raise FileError(
            f"{name}, line 2: {needed} whole numbers are expected (features, samples"
            f"{', feature annotations, sample annotations' if needed == 4 else ''}), not {lines[1:2]!r}."
        )
    sizes = [int(number) for number in numbers[:needed]]
    return _Shape(*sizes) if needed == 4 else _Shape(sizes[0], sizes[1], 1, 0)


def _annotations(lines: list[str], first: int) -> dict[str, list[str]]:
    return {cells[0]: cells[first:] for cells in (split(line, "\t") for line in lines) if cells}


def _annotation(
    name: str, lines: list[str], first: int, n_samples: int, key: str, words: tuple[str, ...]
) -> list[str | None]:
    rows = _annotations(lines, first)
    if key not in rows:
        raise no_such_column(name, key, list(rows), "sample annotation")
    cells = rows[key]
    if len(cells) != n_samples:
        line = 4 + list(rows).index(key)
        raise FileError(
            f"{name}, line {line}: {len(cells):,} values of {key!r} for {n_samples:,} samples. Every "
            "sample needs one; leave a cell empty where it is unknown."
        )
    return [label_from_text(cell, words) for cell in cells]
