"""Layout of a text table: which field is an id, a label or a value, samples in rows or in columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bayesieve.io.tables.roles import (
    ID_NAMES,
    asks_for_labels,
    check_distinct,
    check_features,
    check_ignored,
    ignore_option,
    no_sample_column,
    no_such_column,
    sample_orientation,
)
from bayesieve.io.tables.table import ReadOptions, label_text
from bayesieve.io.text.fields import SKIP
from bayesieve.io.text.parsing import COMMA, THOUSANDS, Codes, Parser
from bayesieve.io.text.records import Batch
from bayesieve.utils import DataWarning, FileError, OptionError, SampleIds, list_names, option, warn

_MARKED = re.compile(r"[<>~=≤≥]?\s*[+-]?[0-9][0-9,.' \u00a0\u202f\u2019]*(e[+-]?[0-9]+)?\s*%?", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"[0-9]{1,15}")


def doubt_texts(path: str, columns: dict[str, Sequence[str]], decimal: str | None) -> None:
    """Doubt that columns are mere text when their cells look like numbers written in another way."""
    commas, marked = [], {}
    for name, cells in columns.items():
        filled = [cell for cell in cells if cell]
        if decimal != "," and _most(COMMA, filled):
            commas.append(name)
        elif _most(_MARKED, filled) or _most(THOUSANDS, filled):
            marked[name] = filled[0]
    if commas:
        raise FileError(
            f"{path}: {len(commas):,} column(s) hold numbers with decimal commas: {list_names(commas, 3)}.",
            hint=("Say so: ", option("decimal", ",")),
        )
    if marked:
        name, cell = next(iter(marked.items()))
        warn(
            DataWarning,
            f"{path}: {len(marked):,} column(s) that are left out hold numbers with other signs",
            SampleIds((f"{cell!r} in {name!r}",), ", for example "),
            ". Write plain numbers if they are measurements.",
            kind="other-signs",
        )


def _most(pattern: re.Pattern[str], cells: Sequence[str]) -> bool:
    return bool(cells) and sum(pattern.fullmatch(cell) is not None for cell in cells) > len(cells) / 2


def is_running_number(cells: Sequence[str]) -> bool:
    """Tell whether cells count 1, 2, 3, ...: a number of the line, and no measurement."""
    if len(cells) < 3 or not all(_WHOLE_NUMBER.fullmatch(cell) for cell in cells):
        return False
    first = int(cells[0])
    return all(int(cell) == first + k for k, cell in enumerate(cells))


def doubt_samples(path: str, names: Sequence[str]) -> None:
    """Raise if columns that the label file names as samples hold text."""
    if names:
        raise FileError(
            f"{path}: {len(names):,} sample(s) that the label file names hold text instead of numbers",
            SampleIds(tuple(map(repr, names)), ": "),
            ".",
            hint=("Correct their columns, or leave them out: ", ignore_option(names[0]), "."),
        )


def doubt_rows(path: str, names: Sequence[str], label: str) -> None:
    """Warn of rows of numbers above the labels: they may describe the samples, and count as features."""
    if names:
        warn(
            DataWarning,
            f"{path}: {len(names):,} row(s) above {label!r} hold numbers and are taken for features: "
            f"{list_names(names, 3)}.",
            hint=("If they describe the samples, leave them out: ", ignore_option(names[0]), "."),
            kind="rows-above-labels",
        )


_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_PEEK = 500  # records looked at
_MOST_CODES = 8  # levels of a field of codes, and such fields
_DOUBTED = 200  # text columns looked at closely


@dataclass(frozen=True, slots=True)
class Layout:
    """The part each field plays.

    Parameters
    ----------
    samples_in
        ``"rows"`` or ``"columns"``.
    ids
        Field with the id of a record, None if there is none.
    values
        Fields with values.
    left_out
        Names of other fields and records, by reason.
    columns
        Fields that describe a record (samples in rows), by role: its label, its block.
    rows
        Texts by sample (samples in columns), by role.
    skipped
        Records, by position, that hold no values (samples in columns).
    categories
        Whether values are texts.
    candidates
        Fields that could hold labels (samples in rows), where nobody said which.
    """

    samples_in: str
    ids: int | None
    values: list[int]
    left_out: dict[str, list[str]] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    rows: dict[str, list[str | None]] = field(default_factory=dict)
    skipped: frozenset[int] = frozenset()
    categories: bool = False
    candidates: tuple[int, ...] = ()


def label_from_text(text: str | None, words: tuple[str, ...] = ()) -> str | None:
    """Return a label as it is written in a text file; ``1.0`` and ``1`` are the same."""
    label = label_text(text, words)
    whole = _WHOLE.fullmatch(label) if label else None
    return whole[1] if whole else label


@dataclass(frozen=True, slots=True)
class Survey:
    """The first records of a table, looked at closely.

    Parameters
    ----------
    path, batch, parser
        The file, its first records, and how to read them.
    text
        Fields that hold text and no number.
    """

    path: str
    batch: Batch
    parser: Parser
    text: list[int]

    @classmethod
    def of(cls, path: str, batch: Batch, parser: Parser) -> Survey:
        """Look which fields hold text: those that do not begin with a number are read further."""
        n_fields, n = len(parser.names), min(len(batch), _PEEK)
        every: Codes = np.arange(n_fields, dtype=np.int32)
        first = parser.parse(batch, 0, 1, every, strict=False)
        doubtful = np.flatnonzero(np.isnan(first.values[0]))
        if not doubtful.size:
            return cls(path, batch, parser, [])
        codes: Codes = np.full(n_fields, SKIP, dtype=np.int32)
        codes[doubtful] = np.arange(doubtful.size)
        parsed = parser.parse(batch, 0, n, codes, strict=False)
        numbers = set(doubtful[np.isfinite(parsed.values).any(axis=0)].tolist())
        return cls(path, batch, parser, sorted({f for _, f, _ in parsed.texts_at} - numbers))

    def column(self, place: int) -> list[str]:
        """Texts of a field in the first records."""
        codes: Codes = np.full(len(self.parser.names), SKIP, dtype=np.int32)
        codes[place] = SKIP - 1
        return self.parser.parse(self.batch, 0, min(len(self.batch), _PEEK), codes).texts(0)


def find_layout(survey: Survey, options: ReadOptions) -> Layout:
    """Decide which field is what, from the first records and what the user said."""
    names, text = survey.parser.names, survey.text
    candidates = sorted({0, *text})
    if options.samples_in == "columns" and options.labels in names:
        raise OptionError(
            option("samples_in", "columns"),
            " contradicts ",
            option("labels", options.labels),
            f": that is a column of {survey.path}, whose rows are then the samples.",
            hint=("Leave ", option("samples_in"), " out, or give the labels in a file of their own."),
        )
    if options.id_column is not None:
        if options.id_column not in names:
            raise no_such_column(survey.path, options.id_column, names)
        candidates = [names.index(options.id_column)]
    row_label = _label_row(survey, options)
    if row_label is None:
        ids = {names[f]: survey.column(f) for f in candidates} if options.known_ids else {}
        samples_in = sample_orientation(survey.path, options, names, ids, [names[f] for f in text])
    else:
        samples_in = "columns"
    return (
        _in_columns(survey, options, row_label)
        if samples_in == "columns"
        else _in_rows(survey, options, candidates)
    )


def _label_row(survey: Survey, options: ReadOptions) -> int | None:
    """Find the record that holds the labels, in a table with samples in columns."""
    if options.labels is None or options.labels in survey.parser.names or options.samples_in == "rows":
        return None
    heads = survey.column(0)
    return heads.index(options.labels) if options.labels in heads else None


def _in_rows(survey: Survey, options: ReadOptions, candidates: list[int]) -> Layout:
    names = _without_nameless_end(survey.parser.names)
    text = [f for f in survey.text if f < len(names)]
    check_ignored(survey.path, options.ignore, names)
    for name in options.columns.values():
        if name not in names:
            raise no_such_column(survey.path, name, names, listing=[names[f] for f in text])
    columns = {role: names.index(name) for role, name in options.columns.items()}
    taken = {columns.get("labels")} if options.id_column is not None else {*columns.values()}
    ids = _id_field(survey, options, [f for f in candidates if f not in taken])
    left = {*options.ignore}
    ignored = {f for f, name in enumerate(names) if name in left} - {ids, columns.get("labels")}
    apart = {ids, *columns.values(), *ignored}
    others = [f for f in text if f not in apart]
    values = [f for f in range(len(names)) if f not in {*apart, *others}]
    categories = options.are_texts(len(others), len(values))
    if categories:
        values, others = sorted([*values, *others]), []
    doubt_texts(survey.path, {names[f]: survey.column(f) for f in others[:_DOUBTED]}, options.decimal)
    check_features(survey.path, [names[f] for f in values], options)
    roles = {"", *(names[f] for f in (*columns.values(), *([] if ids is None else [ids])))}
    check_distinct(survey.path, [name for name in names if name in roles], "column")
    left_out = {
        "not numeric": [names[f] for f in others],
        "ignored": [names[f] for f in sorted(ignored)],
    }
    if not values:
        raise FileError(
            f"{survey.path} has no column of numbers besides ids and labels. Columns: {', '.join(names[:8])}.",
            hint=(
                "Check the delimiter (",
                option("delimiter"),
                ") and the decimal mark (",
                option("decimal"),
                ").",
            ),
            kind="no-numbers",
        )
    left_out = {reason: found for reason, found in left_out.items() if found}
    could_be = [*others, *_few_levels(survey, values)] if asks_for_labels(options) else []
    return Layout("rows", ids, values, left_out, columns, categories=categories, candidates=tuple(could_be))


def _few_levels(survey: Survey, values: list[int]) -> list[int]:
    """Fields of numbers that look like codes of classes: whole and few; none if many fields are like that."""
    codes: Codes = np.full(len(survey.parser.names), SKIP, dtype=np.int32)
    codes[values] = np.arange(len(values))
    parsed = survey.parser.parse(survey.batch, 0, min(len(survey.batch), _PEEK), codes, strict=False)
    whole = np.flatnonzero((np.isnan(parsed.values) | (parsed.values == np.round(parsed.values))).all(axis=0))
    coded = [values[j] for j in whole.tolist() if len(np.unique(parsed.values[:, j])) <= _MOST_CODES]
    return coded if len(coded) <= _MOST_CODES else []


def _id_field(survey: Survey, options: ReadOptions, candidates: list[int]) -> int | None:
    names = survey.parser.names
    if options.id_column is not None:
        return candidates[0] if candidates else None
    if options.known_ids is not None:
        known = {f: len(options.known_ids.intersection(survey.column(f))) for f in candidates}
        best = max(known, key=lambda f: known[f], default=None)
        if best is not None and known[best]:
            return best
    if 0 in candidates and (names[0].casefold() in ID_NAMES or is_running_number(survey.column(0))):
        return 0
    for f in candidates:
        if f in survey.text:
            texts = survey.column(f)
            if len(set(texts)) == len(texts) > 1:
                return f
    return None


def _in_columns(survey: Survey, options: ReadOptions, row_label: int | None) -> Layout:
    names = _without_nameless_end(survey.parser.names)
    text = [f for f in survey.text if f < len(names)]
    ids = names.index(options.id_column) if options.id_column is not None else 0
    heads = survey.column(ids)
    for role, name in options.described.items():
        if name not in heads:
            raise no_sample_column(survey.path, role, name, heads)
    rows = {role: heads.index(name) for role, name in options.described.items()}
    rows |= {"labels": row_label} if row_label is not None else {}
    apart = set(rows.values())
    every = [f for f in range(len(names)) if f != ids and names[f] not in options.ignore]
    if options.categories and options.are_texts(*_rows_of_texts(survey, every, apart)):
        left_out = {"ignored": list(options.ignore)}
        layout = Layout("columns", ids, every, left_out, skipped=frozenset(apart), categories=True)
        return _with_samples(survey, options, rows, layout)
    values = [f for f in every if f not in text]
    doubt_samples(survey.path, [names[f] for f in text if f != ids and names[f] in (options.known_ids or ())])
    texts = _text_rows(survey, values, apart, {k for k, head in enumerate(heads) if head in options.ignore})
    values = values if len(values) > 1 else every  # a text row on top hides the numbers below
    annotation = [k for k in texts if k not in apart and heads[k] not in options.ignore]
    if row_label is not None:
        known_rows = {*texts, *apart}
        above = [heads[k] for k in range(row_label) if k not in known_rows and heads[k] not in options.ignore]
        doubt_rows(survey.path, above, heads[row_label])
    others = [f for f in text if f != ids and f not in values]
    doubt_texts(survey.path, {names[f]: survey.column(f) for f in others[:_DOUBTED]}, options.decimal)
    left_out = {
        "not numeric": [names[f] for f in others],
        "rows without numbers": [heads[k] for k in annotation],
        "ignored": list(options.ignore),
    }
    layout = Layout("columns", ids, values, left_out, skipped=frozenset({*apart, *annotation}))
    return _with_samples(survey, options, rows, layout)


def _with_samples(survey: Survey, options: ReadOptions, rows: dict[str, int], layout: Layout) -> Layout:
    """Keep the samples that the label file knows, and read the rows that describe them."""
    names, values, left_out = survey.parser.names, layout.values, dict(layout.left_out)
    if options.known_ids is not None:
        left_out["not in the label file"] = [names[f] for f in values if names[f] not in options.known_ids]
        values = [f for f in values if names[f] in options.known_ids]
    check_distinct(survey.path, [names[f] for f in values], "sample")
    if not values:
        raise FileError(
            f"{survey.path} has no column of numbers besides {names[layout.ids or 0]!r}, which names the features."
        )
    texts = {role: _row_texts(survey, record, values) for role, record in rows.items()}
    kept = {reason: found for reason, found in left_out.items() if found}
    return replace(layout, values=values, left_out=kept, rows=texts)


def _rows_of_texts(survey: Survey, values: list[int], apart: set[int]) -> tuple[int, int]:
    """Count the first records with texts among their values, and those without."""
    codes: Codes = np.full(len(survey.parser.names), SKIP, dtype=np.int32)
    codes[values] = np.arange(len(values))
    parsed = survey.parser.parse(survey.batch, 0, min(len(survey.batch), _PEEK), codes, strict=False)
    with_text = {row for row, _, _ in parsed.texts_at} - apart
    return len(with_text), len(parsed.values) - len(with_text | apart)


def _text_rows(survey: Survey, values: list[int], apart: set[int], ignored: set[int]) -> list[int]:
    """Records on top that hold text where the others hold numbers; further down, text is a mistake."""
    codes: Codes = np.full(len(survey.parser.names), SKIP, dtype=np.int32)
    places = values if len(values) > 1 else list(range(1, len(survey.parser.names)))
    codes[places] = np.arange(len(places))
    parsed = survey.parser.parse(survey.batch, 0, min(len(survey.batch), 50), codes, strict=False)
    with_text = {row for row, _, _ in parsed.texts_at}
    with_numbers = set(np.flatnonzero(np.isfinite(parsed.values).any(axis=1)).tolist())
    on_top = itertools.takewhile(lambda k: k in apart or k in ignored or k not in with_numbers, itertools.count())
    last = max(itertools.islice(on_top, len(parsed.values)), default=-1)
    last = max(last, *apart, -1)
    return sorted(k for k in with_text - with_numbers if k <= last)


def _row_texts(survey: Survey, record: int, values: list[int]) -> list[str | None]:
    codes: Codes = np.full(len(survey.parser.names), SKIP, dtype=np.int32)
    codes[values] = SKIP - 1 - np.arange(len(values))
    parsed = survey.parser.parse(survey.batch, record, record + 1, codes)
    return [label_from_text(parsed.texts(k)[0], survey.parser.words) for k in range(len(values))]


def _without_nameless_end(names: tuple[str, ...]) -> tuple[str, ...]:
    """Drop empty names at the end: Excel keeps empty columns, and some lines end in a delimiter."""
    last = len(names)
    while last > 2 and names[last - 1] == "":
        last -= 1
    return names[:last]
