"""Which format a file has, and its table."""

from __future__ import annotations

import importlib
import os

from bayesieve.io.table import FeatureTable, ReadOptions, SampleTable
from bayesieve.io.text.opening import TextBytes, check_file, plain_suffix

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
    >>> from bayesieve.io.formats import open_table
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
