"""Which part of a table plays which role: samples, ids, labels, values; the same for every format."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bayesieve.data import BETWEEN, LevelCounts
from bayesieve.io.tables.table import ReadOptions, label_text
from bayesieve.utils import FileError, LabelError, OptionError, Wording, did_you_mean, list_names, option

_NAMELESS = (
    "",
    "unnamed: 0",
    "__index_level_0__",
    "index",
    "row.names",
    "rownames",
    "id",
    "ids",
    "name",
    "barcode",
)
_SUBJECTS = ("sample", "patient", "subject", "participant", "donor", "case", "cell", "record", "gsm")
ID_NAMES = frozenset(
    (*_NAMELESS, *(what + end for what in _SUBJECTS for end in ("", "s", "id", "_id", ".id", " id")))
)

WHAT = {"labels": "class", "blocks": "block", "pairs": "pair", "exposures": "exposure", "aggregate": "donor",
        "subject": "subject"}  # fmt: skip
WHAT |= {f"aggregate{k}": "donor" for k in (2, 3)}  # further columns of the same option
WHAT |= {f"{role}{k}": what for role, what in (("blocks", "block"), ("covariates", "covariate")) for k in
         ("", *range(2, 21))}  # fmt: skip
NO_LABEL_COLUMN = "If its samples are in columns, give their labels in a file of their own."

_PLURALS = {"sample": "sample ids", "feature": "feature ids", "column": "column names"}
_MOST_SHOWN = 3
_TESTED = {
    "basemean",
    "log2foldchange",
    "lfcse",
    "padj",
    "pvalue",
    "logfc",
    "aveexpr",
    "adj.p.val",
    "p.value",
    "fdr",
    "logcpm",
}
_FEWEST_TESTED = 3


def option_of(role: str) -> str:
    """Return the option that a role belongs to."""
    return role.rstrip("0123456789")


def together(texts: Mapping[str, Sequence[str | None]], name: str) -> Sequence[str | None]:
    """Return what several columns of an option say of each sample, as one text; None where one says nothing."""
    columns = [each for role, each in texts.items() if option_of(role) == name]
    if len(columns) == 1:
        return columns[0]
    rows = zip(*columns, strict=True)
    return [None if None in row else BETWEEN.join(map(str, row)) for row in rows]


def columns_of(name: str, chunks: Sequence[Any] | None, *, first: bool) -> list[list[str]]:
    """Return what the columns of an option say of the samples used, column by column.

    Parameters
    ----------
    name
        The option.
    chunks
        Parts of a table; nothing is known without them.
    first
        Whether the first part has all samples.
    """
    parts = [chunk.roles for chunk in chunks or () if chunk.roles.cells.size][: 1 if first else None]
    roles = [role for role in (parts[0].said if parts else ()) if option_of(role) == name]
    return [[text for part in parts for text in part.said[role]] for role in roles]


def asks_for_labels(options: ReadOptions) -> bool:
    """Tell whether nobody said where the labels are, so that the user will be asked."""
    return options.labels is None and options.known_ids is None


def count_levels(values: Iterable[object], words: Collection[str] = ()) -> LevelCounts:
    """Count the samples of each label."""
    return Counter(text for value in values if (text := label_text(value, words)) is not None)


def no_such_column(
    path: str, name: str, choices: Sequence[str], what: str = "column", listing: Sequence[str] | None = None
) -> LabelError:
    """Say that a table has no column of this name."""
    if listing is None:
        tail = f" It has: {list_names(choices)}." if choices else f" It has no {what} at all."
    elif listing:
        tail = f" Columns that do not hold numbers: {list_names(listing)}."
    else:
        tail = f" All its columns hold numbers. {NO_LABEL_COLUMN}"
    return LabelError(f"{path} has no {what} {name!r}.{did_you_mean(name, choices)}{tail}")


def no_sample_column(path: str, role: str, name: str, choices: Sequence[str] = ()) -> LabelError:
    """Say that a table with samples in columns has no row that describes them by this name."""
    flag = option_of(role)
    return LabelError(
        f"{path} has its samples in columns, and {name!r} gives no {WHAT[role]} for them."
        f"{did_you_mean(name, choices)}",
        hint=(
            "Give it in a file of its own, with one line per sample: ",
            Wording(f"{flag}='FILE:COLUMN'", f"--{flag} FILE:COLUMN"),
            ".",
        ),
    )


def ignore_option(name: str) -> Wording:
    """Name the option that leaves a column or row out."""
    return Wording(f"ignore=[{name!r}]", f"--ignore {name!r}")


def no_match(
    path: str, known_ids: Collection[str], table_ids: Sequence[str], columns: Sequence[str] = ()
) -> LabelError:
    """Say that the ids of a label file and those of a table have nothing in common."""
    shown = [f"{_examples(table_ids)}{' in its rows' if columns else ''}"] if table_ids else []
    shown += [f"{_examples(columns)} as names of columns"] if columns else []
    count = f"None of the {len(known_ids):,} sample ids" if len(known_ids) != 1 else "The only sample id"
    end = "is in" if len(known_ids) != 1 else "is not in"
    tested = [name for name in (*table_ids, *columns) if name.casefold() in _TESTED]
    advice = "Check that the ids of the label file are written as in the table."
    if len(tested) >= _FEWEST_TESTED:
        advice = (
            f"Its columns {list_names(tested, _MOST_SHOWN)} are those of a finished test, as DESeq2, edgeR and "
            "limma write it: give the matrix of counts or values that the test was made from."
        )
    return LabelError(
        f"{count} of the label file {end} {path}. The label file has {_examples(sorted(known_ids)) or 'none'}; "
        f"the table has {' and '.join(shown) or 'none'}. {advice}",
        kind="no-match",
        numbers={"candidates": [list(table_ids), list(columns)]},
    )


def nothing_describes(path: str, *, has_ids: bool) -> LabelError:
    """Ask for a file that describes the samples of a bare matrix."""
    order = "with their ids, as in the table" if has_ids else "in their order"
    return LabelError(
        f"Which class each sample of {path} belongs to was not said, and nothing in it describes them.",
        hint=(
            f"Give a file with one line per sample, {order}: ",
            Wording("labels='pheno.csv:COLUMN'", "--labels pheno.csv:COLUMN"),
            ".",
        ),
    )


def long_form_advice(path: str, ids: Sequence[str]) -> str:
    """Say what to do if every sample has as many rows as there are features; empty if that is not so."""
    counts = set(Counter(ids).values())
    if len(counts) > 1 or counts <= {1, 2}:
        return ""
    return (
        "If there is one row for each sample and feature (long form), make the table wide first, for example in "
        f"Python: pandas.read_csv({os.path.basename(path)!r}).pivot(index=SAMPLE, columns=FEATURE, values=VALUE)."
        "to_csv('wide.csv'), with the labels in a file of their own. Otherwise rename or remove the repetitions."
    )


def no_ids(path: str, source: str) -> LabelError:
    """Say that samples without ids cannot be looked up."""
    return LabelError(
        f"The samples of {path} have no ids that could be looked up in {source}.",
        hint=("Name the column that holds them with ", option("id_column"), "."),
    )


def check_distinct(path: str, ids: Sequence[str], what: str, hint: str = "") -> None:
    """Raise unless all ids differ."""
    if len(set(ids)) == len(ids):
        return
    repeated = [(name, count) for name, count in Counter(ids).items() if count > 1]
    shown = ", ".join(f"{name!r} ({count} times)" for name, count in repeated[:_MOST_SHOWN])
    more = f" and {len(repeated) - _MOST_SHOWN:,} more" if len(repeated) > _MOST_SHOWN else ""
    what = _PLURALS.get(what, what)
    verb = "is" if len(repeated) == 1 else "are"
    raise FileError(
        f"{path}: {what} must be distinct, but {len(repeated):,} of them {verb} repeated: {shown}{more}. "
        f"{hint or 'Rename or remove the repetitions.'}"
    )


def check_features(path: str, ids: Sequence[str], options: ReadOptions, hint: str = "") -> None:
    """Raise if features have the same id and the user wants that to be an error."""
    if options.duplicates == "error":
        check_distinct(path, ids, "feature", hint)


def check_ignored(path: str, ignore: Sequence[str], columns: Sequence[str]) -> None:
    """Raise if a column that is to be left out does not exist."""
    known = set(columns)
    for name in ignore:
        if name not in known:
            raise OptionError(f"{path} has no column {name!r} that could be ignored.{did_you_mean(name, columns)}")


def sample_orientation(
    path: str,
    options: ReadOptions,
    columns: Sequence[str],
    row_ids: Mapping[str, Sequence[str]],
    text: Sequence[str],
) -> str:
    """Find out whether samples are in rows or in columns.

    What the user said decides; else where the label column is; else where the ids of the label file are.
    """
    if options.samples_in is not None:
        if options.samples_in not in ("rows", "columns"):
            raise OptionError(f"Samples are in 'rows' or in 'columns', not in {options.samples_in!r}.")
        return options.samples_in
    if options.labels is not None and options.labels in columns:
        return "rows"
    if options.known_ids is not None:
        across = len(options.known_ids.intersection(columns))
        down = max((matches(options.known_ids, ids) for ids in row_ids.values()), default=0)
        if not across and not down:
            down_ids = list(dict.fromkeys(name for ids in row_ids.values() for name in ids))
            raise no_match(path, options.known_ids, down_ids, columns)
        if 2 * min(across, down) > max(across, down):
            raise OptionError(
                f"Ids of the label file are found both in the columns ({across:,}) and in the rows ({down:,} of "
                f"those looked at) of {path}.",
                hint=(
                    "Say where the samples are: ",
                    Wording("samples_in='rows' or 'columns'", "--samples-in rows or columns"),
                    ".",
                ),
            )
        return "columns" if across > down else "rows"
    if options.labels is not None:
        raise no_such_column(path, options.labels, columns, listing=text)
    return "rows"


def matches(known_ids: frozenset[str], ids: Iterable[str]) -> int:
    """Count the known ids that occur."""
    return len(known_ids.intersection(ids))


def _examples(ids: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in ids[:_MOST_SHOWN])
