"""Opening a table: which reader a file needs, by its bytes first and by its name second."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from bayesieve.io.tables.places import check_table
from bayesieve.io.tables.table import FeatureTable, ReadOptions, SampleTable
from bayesieve.io.text.files import TextBytes, first_bytes, plain_suffix
from bayesieve.io.text.foreign import HDF5, OLE, TEXTS, ZIP, check_foreign
from bayesieve.utils import FileError, OptionError, option

_COLUMNAR = {".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows"}
_OPENERS = {
    ".h5ad": ("formats.hdf5", "open_hdf5"),
    ".h5mu": ("formats.hdf5", "open_hdf5"),
    ".loom": ("formats.hdf5", "open_hdf5"),
    ".npy": ("formats.numpy_files", "open_numpy"),
    ".npz": ("formats.numpy_files", "open_numpy"),
    ".gct": ("formats.gct", "open_gct"),
    ".mtx": ("formats.matrix_market", "open_matrix_market"),
}


def open_table(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    r"""Open a table by what its bytes say it is, else by what its name says."""
    module, opener = _opener(path, options)
    if options.skip_rows and module != "text.reader":
        raise OptionError(
            option("skip_rows"), f" is for delimited text; {os.fspath(path)} has another form. Leave it out."
        )
    opened = getattr(importlib.import_module(f"bayesieve.io.{module}"), opener)  # formats load what they need
    table: SampleTable | FeatureTable = opened(path, options)
    return table


def _opener(path: str | os.PathLike[str], options: ReadOptions) -> tuple[str, str]:
    file = check_table(path)
    if file.is_dir():
        return "formats.matrix_market", "open_folder"
    suffix = plain_suffix(file)
    if suffix in _COLUMNAR:
        return "formats.columnar", "open_columnar"
    if suffix in _OPENERS:
        start = first_bytes(file)
        known = start.startswith((HDF5, ZIP, b"PAR1", b"\x93NUMPY"))
        check_foreign(os.fspath(path), b"" if known else start)
        return ("formats.hdf5", "open_hdf5") if start.startswith(HDF5) else _OPENERS[suffix]
    if suffix in TEXTS:
        check_foreign(os.fspath(path), first_bytes(file), by_name=True)
    try:
        return _text_opener(file, options)
    except FileError as error:
        if error.message.kind != "foreign":
            raise
        return _binary_opener(file, error)


def _binary_opener(file: Path, error: FileError) -> tuple[str, str]:
    """Tell HDF5 files and workbooks, whatever they are called, from files that are no tables."""
    start = first_bytes(file)
    if start.startswith(HDF5):
        return "formats.hdf5", "open_hdf5"
    if start.startswith((ZIP, OLE)):
        from bayesieve.io.formats.workbook import is_workbook  # noqa: PLC0415 - rarely wanted

        if is_workbook(file):
            return "formats.workbook", "open_workbook"
        if start.startswith(ZIP):
            return "formats.numpy_files", "open_numpy"
    raise error


def _text_opener(path: str | os.PathLike[str], options: ReadOptions) -> tuple[str, str]:
    """Tell GEO, GCT and Matrix Market files, whatever they are called, from other text by their first line."""
    with TextBytes(path, options.encoding) as stream:
        start = stream.read(16)
    if start.startswith((b"!Series_", b"!Sample_")):
        return "formats.geo", "open_series"
    if start.startswith((b"#1.2\n", b"#1.3\n", b"#1.2\r\n", b"#1.3\r\n")):
        return "formats.gct", "open_gct"
    if start.startswith(b"%%MatrixMarket"):
        return "formats.matrix_market", "open_matrix_market"
    if start.startswith((b"^DATABASE", b"^SERIES", b"^SAMPLE", b"^PLATFORM", b"^DATASET", b"^Annotation")):
        return "formats.soft", "open_family"
    return "text.reader", "open_text"
