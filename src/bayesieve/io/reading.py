"""read_table(): from a file of any kind to something that can be screened."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import replace

from bayesieve.data.transform import checked_transform
from bayesieve.errors import DataError, LabelError, OptionError
from bayesieve.io.classes import ClassMap, Encoder
from bayesieve.io.columns import Columns, is_reference, read_columns, split_reference
from bayesieve.io.labelling import Labeller, no_ids, spellings
from bayesieve.io.roles import nearest
from bayesieve.io.slabs import Slabs
from bayesieve.io.summarise import Summary, summarise
from bayesieve.io.table import FeatureTable, Progress, ReadOptions, SampleTable
from bayesieve.io.text.layout import label_from_text
from bayesieve.io.text.opening import TextBytes, check_file, plain_suffix
from bayesieve.io.text.sniffing import named_delimiter

_COLUMNAR = {".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows"}
_OPENERS = {
    ".h5ad": ("annotated", "open_annotated"),
    ".npy": ("numpy_files", "open_numpy"),
    ".npz": ("numpy_files", "open_numpy"),
    ".gct": ("gct", "open_gct"),
}


def open_table(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    r"""Open a table by what its name says it is.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayesieve.io.reading import open_table
    >>> from bayesieve.io.table import ReadOptions
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = path.write_text("y\tTP53\na\t1\nb\t2\n")
    >>> open_table(path, ReadOptions(labels="y")).form
    'TSV'
    """
    check_file(path)
    suffix = plain_suffix(path)
    if suffix in _COLUMNAR:
        module, opener = "columnar", "open_columnar"
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
        return "geo", "open_series"
    if start.startswith((b"#1.2\n", b"#1.3\n", b"#1.2\r\n", b"#1.3\r\n")):
        return "gct", "open_gct"
    return "text.reader", "open_text"


def read_table(  # noqa: PLR0913 - every option of the command line
    path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    classes: str | Sequence[str] | None = None,
    transform: str = "none",
    missing: str = "raise",
    samples_in: str | None = None,
    id_column: str | None = None,
    ignore: Sequence[str] = (),
    na_values: Sequence[str] = (),
    encoding: str | None = None,
    decimal: str = ".",
    delimiter: str | None = None,
    layer: str | None = None,
    memory: int | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    r"""Read a file once and reduce it to what a screen needs.

    Text (CSV, TSV, TXT; gzip, bzip2, xz, zstd), Parquet, Arrow/Feather, AnnData, GEO series matrix,
    GCT and NumPy files. The file may be larger than memory.

    Parameters
    ----------
    path
        The file.
    labels
        The class of each sample: a column of the table (obs column, GEO characteristic, label row), or
        a column of another file, ``"pheno.csv:stage"``, matched by sample id.
    classes
        Which labels make up which class, ``"early=1,adenoma; late=2,3,4"``, or just their order,
        ``"control, case"``. Other samples are left out. By default every label is a class, sorted.
    transform
        ``"none"``, ``"log2"``, ``"log1p"`` or ``"rank-normal"``; see
        :func:`bayesieve.data.transform.transformed`.
    missing
        ``"raise"``: missing values are an error. ``"omit"``: every feature uses the values it has.
    samples_in
        ``"rows"`` or ``"columns"``; found out from the labels when not given.
    id_column
        Column with the ids of the samples, of the table or of the label file (or, with samples in
        columns, the table's column with the ids of the features).
    ignore
        Columns to leave out.
    na_values
        Further spellings of a missing value.
    encoding, decimal, delimiter
        Of text.
    layer
        AnnData: a layer, or ``"raw"``; X when not given.
    memory
        Bytes that may be used for data; half of what is free by default.
    n_threads
        Threads, all cores by default. Neither this nor ``memory`` changes the result.
    progress
        Called with the amount read and the total.

    Returns
    -------
    Summary
        To be handed to :func:`bayesieve.screen`; holds ``moments``, ``feature_names`` and what was
        left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import bayesieve as bs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "genes.csv"
    >>> _ = path.write_text("id,stage,TP53,KRAS\ns1,1,0.1,5\ns2,1,0.4,4\ns3,2,7.1,5\ns4,3,7.9,6\n")
    >>> table = bs.read_table(path, labels="stage", classes="early=1; late=2,3")
    >>> table.moments.mean.tolist()
    [[0.25, 4.5], [7.5, 5.5]]
    >>> bs.screen(table, model=bs.GaussianModel.proper()).names
    ('TP53', 'KRAS')
    """
    checked_transform(transform)
    if missing not in ("raise", "omit"):
        raise DataError(f"missing must be 'raise' or 'omit', not {missing!r}.")
    if decimal not in (".", ","):
        raise OptionError(f"The decimal mark is a point or a comma, not {decimal!r}.")
    if decimal == named_delimiter(delimiter):
        raise OptionError(f"{decimal!r} cannot be both the decimal mark and the delimiter. Change one of them.")
    wanted = classes if classes is None or isinstance(classes, str) else "; ".join(classes)
    encoder = Encoder(None if wanted is None else ClassMap.parse(wanted))
    options = ReadOptions(
        labels, None, samples_in, id_column, tuple(ignore), tuple(na_values), encoding, decimal, delimiter, layer,
        memory or free_memory() // 2, n_threads, progress,
    )  # fmt: skip
    table, labeller = _with_labels(path, options, encoder)
    try:
        return summarise(Slabs(table, transform, options.memory), labeller, missing=missing, n_threads=n_threads)
    except BaseException:
        table.close()  # otherwise it stays open for a second look
        raise


def _with_labels(
    path: str | os.PathLike[str], options: ReadOptions, encoder: Encoder
) -> tuple[SampleTable | FeatureTable, Labeller]:
    """Open the table, and the label file if there is one; ids tell rows from columns."""
    if options.labels is None or not is_reference(options.labels):
        table = open_table(path, options)
        return table, Labeller(encoder, candidates=tuple(table.left_out.get("not numeric", ())))
    label_path, column = split_reference(options.labels)
    check_file(path)
    known = read_columns(label_path, encoding=options.encoding)
    column = column or _only_label(known)
    known.column(column)  # is it there?
    named = options.id_column if options.id_column in known.names else None  # else it is one of the table
    others = [named] if named else [name for name in known.names if name != column]
    every = frozenset(
        form for name in others for text in known.column(name) if text is not None for form in spellings(text)
    )
    table = open_table(
        path, replace(options, labels=None, known_ids=every, id_column=None if named else options.id_column)
    )
    ids = table.sample_ids if isinstance(table, FeatureTable) else _first_ids(table)
    if ids is None and plain_suffix(path) in (".npy", ".npz"):  # an array has no ids: labels in order
        in_order = [label_from_text(text, options.missing_words) for text in known.column(column)]
        return table, Labeller(encoder, source=label_path, in_order=in_order)
    if ids is None:
        raise no_ids(os.fspath(path), label_path)
    key, found = known.id_column((form for name in ids if name for form in spellings(name)), named)
    if not found:
        raise LabelError(
            f"No id of {label_path} is a sample of {os.fspath(path)}.{nearest(ids[0] if ids else '', every)} "
            "Check that both files write their ids alike."
        )
    raw = known.keyed(key, column)
    by_id = {name: label_from_text(text, options.missing_words) for name, text in raw.items()}
    said = f"column {key!r} of {label_path}" if key != known.names[0] else ""
    return table, Labeller(encoder, by_id, label_path, ids_in=said)


def _only_label(known: Columns) -> str:
    """Return the label column of a file that names none: it must have just ids and labels."""
    if len(known.names) != 2:
        raise LabelError(
            f"Say which column of {known.path} holds the classes: --labels {known.path}:COLUMN. There are: "
            f"{', '.join(known.names[:8])}."
        )
    return known.names[1]


def _first_ids(table: SampleTable) -> list[str] | None:
    piece = next(table.pieces(slice(0, 1)), None)
    return piece.ids if piece else None


def free_memory() -> int:
    """Return the number of bytes that could be used without pushing others out.

    Examples
    --------
    >>> from bayesieve.io.reading import free_memory
    >>> free_memory() > 0
    True
    """
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) // 2
    except (AttributeError, ValueError, OSError):
        return 2**31
