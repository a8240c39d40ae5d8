"""What is said of every sample: its class, maybe its block, pair and exposure, in the table or another file."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace

from bayesieve.errors import DataWarning, LabelError, OptionError
from bayesieve.io.formats.numpy_files import MatrixSamples
from bayesieve.io.tables.classes import Encoder
from bayesieve.io.tables.columns import Columns, is_reference, read_columns, split_reference
from bayesieve.io.tables.samples import Labeller, no_ids, spellings
from bayesieve.io.tables.table import FeatureTable, ReadOptions, SampleTable
from bayesieve.io.text.files import TextBytes, plain_suffix
from bayesieve.io.text.layout import label_from_text
from bayesieve.utils import check_file, did_you_mean

WHAT = {"labels": "class", "blocks": "block", "pairs": "pair", "exposures": "exposure"}


def open_samples(
    path: str | os.PathLike[str], options: ReadOptions, encoder: Encoder, extras: Mapping[str, str]
) -> tuple[SampleTable | FeatureTable, Labeller, dict[str, Labeller]]:
    r"""Open a table and all that is said of its samples.

    Parameters
    ----------
    path, options
        The table; ``options.labels`` is a column of it, or a column of another file.
    encoder
        Labels to classes.
    extras
        Further columns by role (``"blocks"``, ``"pairs"``, ``"exposures"``), each COLUMN or FILE:COLUMN.

    Returns
    -------
    table, labeller, found
        The table; who gives its samples their class; and who gives them the rest, by role.
    """
    for role, column in extras.items():
        if column == options.labels:
            raise OptionError(
                f"--labels and --{role} both name {column!r}. Classes and {role} are two things: change one."
            )
    check_file(path)
    inside = {role: column for role, column in extras.items() if not is_reference(column)}
    options = replace(options, described=tuple(inside.values()))
    known = _known(options) if options.labels is not None and is_reference(options.labels) else None
    opened = options if known is None else known.options(options)
    table = open_table(path, opened)
    try:
        if known is None:
            labeller = Labeller(encoder, candidates=tuple(table.left_out.get("not numeric", ())))
        else:
            labeller = _by_id(table, known, encoder, options)
        found = {
            role: _column(table, opened, role, column)
            if role in inside
            else _by_id(table, _known(replace(options, labels=column), role), Encoder(), options)
            for role, column in extras.items()
        }
    except BaseException:
        table.close()
        raise
    return table, labeller, found


@dataclass(frozen=True, slots=True)
class _Known:
    """A column of another file; ``key`` is its column of ids, if the user named it."""

    file: Columns
    column: str
    key: str | None
    ids: frozenset[str]

    def options(self, options: ReadOptions) -> ReadOptions:
        """Open the table by the ids of this file, unless the user names a column of the table."""
        id_column = None if self.key else options.id_column
        return replace(options, labels=None, known_ids=self.ids, id_column=id_column)


def _known(options: ReadOptions, role: str = "labels") -> _Known:
    """Read the file that FILE:COLUMN names."""
    assert options.labels is not None
    path, column = split_reference(options.labels)
    known = read_columns(path, encoding=options.encoding)
    column = column or _only_column(known, role)
    known.column(column)  # is it there?
    named = options.id_column if options.id_column in known.names else None  # else it is one of the table
    others = [named] if named else [name for name in known.names if name != column]
    ids = frozenset(
        form for name in others for text in known.column(name) if text is not None for form in spellings(text)
    )
    return _Known(known, column, named, ids)


def _by_id(table: SampleTable | FeatureTable, known: _Known, encoder: Encoder, options: ReadOptions) -> Labeller:
    """Look the samples of the table up in another file; an array without ids takes its lines in order."""
    file, words = known.file, options.missing_words
    ids = table.sample_ids if isinstance(table, FeatureTable) else _first_ids(table)
    if ids is None and plain_suffix(table.path) in (".npy", ".npz"):
        in_order = [label_from_text(text, words) for text in file.column(known.column)]
        return Labeller(encoder, source=file.path, in_order=in_order)
    if ids is None:
        raise no_ids(table.path, file.path)
    key, found = file.id_column((form for name in ids if name for form in spellings(name)), known.key)
    if not found:
        raise LabelError(
            f"No id of {file.path} is a sample of {table.path}.{did_you_mean(ids[0] if ids else '', known.ids)} "
            "Check that both files write their ids alike."
        )
    raw = file.keyed(key, known.column)
    by_id = {name: label_from_text(text, words) for name, text in raw.items()}
    said = f"column {key!r} of {file.path}" if key != file.names[0] else ""
    return Labeller(encoder, by_id, file.path, ids_in=said)


def _column(table: SampleTable | FeatureTable, options: ReadOptions, role: str, column: str) -> Labeller:
    """Read a further column of the table itself, as if it held the labels."""
    apart = {*options.described, options.labels} - {column, None}
    again = replace(options, labels=column, described=tuple(map(str, apart)), progress=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # what is doubtful is said when the table itself is opened
        second = open_table(table.path, again)
    with closing(second):
        texts = _texts(second) if second.samples_in == table.samples_in else None
    if texts is None:
        raise LabelError(
            f"{table.path} has its samples in {table.samples_in}, and {column!r} gives no {WHAT[role]} for them. "
            f"Give it in a file of its own, with one line per sample: --{role} FILE:COLUMN."
        )
    return Labeller(Encoder(), source=f"column {column!r}", in_order=texts)


def _texts(table: SampleTable | FeatureTable) -> list[str | None] | None:
    if isinstance(table, (FeatureTable, MatrixSamples)):
        return table.labels
    texts: list[str | None] = []
    for piece in table.pieces(slice(0, 0)):
        texts += piece.labels or []
    return texts


def _only_column(known: Columns, role: str) -> str:
    """Return the column of a file when none is named: it must have just ids and one more."""
    if len(known.names) != 2:
        what = "classes" if role == "labels" else role
        raise LabelError(
            f"Say which column of {known.path} holds the {what}: --{role} {known.path}:COLUMN. There are: "
            f"{', '.join(known.names[:8])}."
        )
    return known.names[1]


def _first_ids(table: SampleTable) -> list[str] | None:
    piece = next(table.pieces(slice(0, 1)), None)
    return piece.ids if piece else None


_COLUMNAR = {".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows"}


_OPENERS = {
    ".h5ad": ("formats.anndata_files", "open_annotated"),
    ".npy": ("formats.numpy_files", "open_numpy"),
    ".npz": ("formats.numpy_files", "open_numpy"),
    ".gct": ("formats.gct", "open_gct"),
}


def open_table(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    r"""Open a table by what its name says it is."""
    check_file(path)
    suffix = plain_suffix(path)
    if suffix in _COLUMNAR:
        module, opener = "formats.columnar", "open_columnar"
    elif suffix in _OPENERS:
        module, opener = _OPENERS[suffix]
    else:
        module, opener = _text_opener(path, options)
    opened = getattr(importlib.import_module(f"bayesieve.io.{module}"), opener)  # formats load what they need
    table: SampleTable | FeatureTable = opened(path, options)
    return table


def _text_opener(path: str | os.PathLike[str], options: ReadOptions) -> tuple[str, str]:
    """Tell GEO and GCT files, whatever they are called, from other text by their first line."""
    with TextBytes(path, options.encoding) as stream:
        start = stream.read(16)
    if start.startswith((b"!Series_", b"!Sample_")):
        return "formats.geo", "open_series"
    if start.startswith((b"#1.2\n", b"#1.3\n", b"#1.2\r\n", b"#1.3\r\n")):
        return "formats.gct", "open_gct"
    return "text.reader", "open_text"
