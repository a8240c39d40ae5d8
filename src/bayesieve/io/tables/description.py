"""What else a table or its label file says of the samples: batch, sex, age, site, read when somebody asks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bayesieve.io.tables.columns import Columns, is_reference, read_reference, split_reference
from bayesieve.io.tables.opening import open_table
from bayesieve.io.tables.places import WORKBOOKS
from bayesieve.io.tables.samples import spellings
from bayesieve.io.tables.summary import Summary
from bayesieve.io.tables.table import FeatureTable, ReadOptions
from bayesieve.io.text.files import plain_suffix
from bayesieve.utils import BayesieveError, BayesieveWarning

Cells = list[Any]
_MOST = 50  # columns; more are measurements


def label_files(options: ReadOptions) -> list[Columns]:
    """Read the label file, if there is one."""
    if options.labels is None or not is_reference(options.labels):
        return []
    return [read_reference(options.labels, encoding=options.encoding)[0]]


def with_description(
    summary: Summary,
    path: str | os.PathLike[str],
    options: ReadOptions,
    about: Sequence[str],
    extras: Mapping[str, str],
) -> Summary:
    """Tell a table how to find out what else is known of its samples.

    Parameters
    ----------
    summary
        The table that was read.
    path, options
        The table, and how it was read.
    about
        Columns of numbers of the table that seem to describe the samples.
    extras
        Columns of blocks, pairs and exposures.
    """
    labels = options.labels
    given = [text for text in (labels, *extras.values()) if text is not None]
    names = [_column_of(text) for text in given]
    summary.label_name = names[0] if labels is not None else ""
    summary.describe = partial(_describe, summary, path, options, about, frozenset(filter(None, names)))
    return summary


def _column_of(text: str) -> str:
    """Name the column of COLUMN, FILE:COLUMN or BOOK:SHEET:COLUMN."""
    if not is_reference(text):
        return text
    path, column = split_reference(text)
    in_book = column is not None and plain_suffix(path) in WORKBOOKS
    return (str(column).rpartition(":")[2] if in_book else column) or ""


def _describe(
    summary: Summary,
    path: str | os.PathLike[str],
    options: ReadOptions,
    about: Sequence[str],
    used: Collection[str],
) -> dict[str, Cells]:
    """Read the columns about the samples that were used, in their order; nothing if that is not possible."""
    if summary.n_pairs:
        return {}
    found: dict[str, Cells] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesieveWarning)  # all was said at the first reading
            files = label_files(options)
            for file in files:
                found |= _of_file(summary, file)
            known = frozenset(form for name in summary.sample_names for form in spellings(name))
            plain = replace(options, labels=None, known_ids=known) if files else options
            found = _of_table(summary, path, plain, about) | found
    except (BayesieveError, LookupError, OSError):  # a look to the side must not fail a screen
        pass
    return {name: cells for name, cells in found.items() if name not in used}


def _of_file(summary: Summary, file: Columns) -> dict[str, Cells]:
    """Columns of a label file, looked up by the ids of the samples."""
    labeller = summary.samples.labeller
    if labeller.in_order is not None:
        n = sum(summary.class_counts.values())
        return {name: list(file.column(name)) for name in file.names if len(file.column(name)) == n}
    keys = [labeller.by_match.get(name, name) for name in summary.sample_names]
    key, n_known = file.id_column(form for name in keys for form in spellings(name))
    if not n_known:
        return {}
    found = {}
    for name in file.names[:_MOST]:
        if name != key:
            by_id = dict(zip(file.column(key), file.column(name), strict=True))
            found[name] = [next((by_id[f] for f in spellings(each) if f in by_id), None) for each in keys]
    return found


def _of_table(
    summary: Summary, path: str | os.PathLike[str], options: ReadOptions, about: Sequence[str]
) -> dict[str, Cells]:
    """Columns of the table itself that hold no features."""
    in_rows = summary.chunks.table.samples_in == "rows"  # else such columns are about the features
    names = [*summary.chunks.table.left_out.get("not numeric", ()), *about] if in_rows else []
    if not names and summary.chunks.table.form not in ("CSV", "TSV"):
        names = _candidates(path, options)
    names = [name for name in dict.fromkeys(names) if name not in options.columns.values()][:_MOST]
    if not names:
        return {}
    kept = tuple(name for name in options.ignore if name not in names)
    again = replace(options, described={**options.described, **{name: name for name in names}}, ignore=kept,
                    progress=None)  # fmt: skip
    table = open_table(path, again)
    try:
        if isinstance(table, FeatureTable):
            return _in_order(summary, table.sample_ids, {name: list(table.columns[name]) for name in names})
        ids: list[str] = []
        columns: dict[str, Cells] = {name: [] for name in names}
        for chunk in table.chunks(slice(0, 1)):
            ids += chunk.ids or []
            for name in names:
                columns[name] += chunk.columns[name]
        return _in_order(summary, ids, columns)
    finally:
        table.close()


def _candidates(path: str | os.PathLike[str], options: ReadOptions) -> list[str]:
    """Columns about the samples of a format that keeps them apart from the values."""
    table = open_table(path, replace(options, labels=None, known_ids=None, described={}, progress=None))
    try:
        return list(table.candidates)
    finally:
        table.close()


def _in_order(summary: Summary, ids: Sequence[str] | None, columns: dict[str, Cells]) -> dict[str, Cells]:
    """Cells of the samples that were used, by their ids; by position where there are none and all were used."""
    if ids and summary.sample_names:
        place = {name: k for k, name in enumerate(ids)}
        rows = [place.get(name) for name in summary.sample_names]
        return {name: [None if k is None else cells[k] for k in rows] for name, cells in columns.items()}
    n = sum(summary.class_counts.values())
    return {name: cells for name, cells in columns.items() if len(cells) == n}
