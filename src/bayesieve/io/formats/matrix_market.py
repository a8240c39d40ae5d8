"""Matrix Market files with the files of names beside them, sparse throughout; folders of 10x and zarr."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.io.formats.coordinates import Coordinates, is_ascending, read_coordinates
from bayesieve.io.formats.hdf5 import of_type
from bayesieve.io.formats.numpy_files import SPARSE_ROWS, MatrixSamples, check_extent, check_names
from bayesieve.io.formats.stored_matrix import distinct_names
from bayesieve.io.tables.roles import asks_for_labels, count_levels, no_such_column
from bayesieve.io.tables.table import FeatureTable, ReadOptions, SampleTable, label_text, samples_per_chunk
from bayesieve.io.text.files import ENDINGS, TROUBLE, TextBytes, decompress
from bayesieve.io.text.sniffing import split
from bayesieve.utils import FileError, OptionError, Wording, check_file, list_names, option, wrap_read_errors

_BLOCK, _LARGEST = 2**22, 2**31
_FEATURES = ("features", "genes", "rows", "peaks", "gene_names", "var", "genenames")
_SAMPLES = ("barcodes", "cells", "cols", "columns", "samples", "cell_names", "obs", "cellnames")
_ENDINGS = (".tsv", ".txt", ".csv", "")
_MATRIX = re.compile(r"(.*?)(?:matrix|counts)?\.mtx(\.gz|\.bz2|\.xz|\.zst)?", re.IGNORECASE)
_HEADERS = {"gene", "genes", "gene_id", "geneid", "feature", "feature_id", "id", "ensembl_id", "barcode",
            "barcodes", "cell", "cell_id", "cellid", "sample", "name", "index", "", "x", "v1"}  # fmt: skip

_ZARR = ("zarr.json", ".zgroup", ".zarray", ".zattrs", ".zmetadata")
_TENX = ("filtered_feature_bc_matrix", "filtered_gene_bc_matrices", "outs")
_TABLES = (".csv", ".tsv", ".txt", ".parquet", ".h5ad", ".h5mu", ".h5", ".loom", ".xlsx", ".gct", ".gz")


def open_folder(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    """Open a folder that holds one table."""
    folder = Path(path)
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise FileError(f"{path} is a folder that cannot be looked into: {error.strerror or error}.") from None
    if any(file.name in _ZARR for file in inside):
        from bayesieve.io.formats.anndata_files import open_zarr  # noqa: PLC0415 - imports anndata's readers

        return open_zarr(path, options)
    shown = [file for file in inside if not file.name.startswith((".", "_"))]  # _SUCCESS, _metadata
    if shown and all(file.name.lower().endswith((".parquet", ".pq")) for file in shown):
        from bayesieve.io.formats.columnar import open_columnar  # noqa: PLC0415 - rarely wanted

        return open_columnar(path, options)
    matrices = [file for file in inside if file.name.lower().endswith((".mtx", ".mtx.gz", ".mtx.bz2"))]
    if matrices:
        usual = [file for file in matrices if file.name.lower().startswith("matrix.mtx")]
        return _from_folder(path, usual or matrices, options)
    deeper = [file.name for file in inside if file.name in _TENX or file.name.endswith("_bc_matrix.h5")]
    if deeper:
        raise FileError(
            f"{path} is a folder without a matrix. Name what is in it: {os.path.join(path, deeper[0])}."
        )
    tables = [file.name for file in inside if file.name.lower().endswith(_TABLES)]
    holds = f"Name the file in it: {list_names(tables, 4)}." if tables else "Name the file in it."
    raise FileError(
        f"{path} is a folder, and neither of 10x (matrix.mtx, features.tsv, barcodes.tsv) nor a zarr store "
        f"nor of Parquet files alone. {holds}"
    )


def open_matrix_market(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable:
    """Open a Matrix Market file; names of features and samples stand in files beside it, if there are any."""
    file = check_file(path)
    return _table(os.fspath(path), file, options)


def _from_folder(path: str | os.PathLike[str], matrices: Sequence[Path], options: ReadOptions) -> SampleTable:
    """Open a folder with a matrix and the names of its features and barcodes."""
    name = os.fspath(path)
    if len(matrices) > 1:
        raise OptionError(
            f"{name} holds {len(matrices)} matrices: {list_names([file.name for file in matrices], 4)}. Name one "
            "of them instead of the folder; the names of its features and barcodes are found beside it."
        )
    return _table(name, check_file(matrices[0]), options)


def _table(path: str, file: Path, options: ReadOptions) -> SampleTable:
    if options.layer is not None:
        raise OptionError(f"{path} is one matrix, without layers.", hint=("Leave ", option("layer"), " out."))
    features, samples = (_beside(file, words) for words in (_FEATURES, _SAMPLES))
    matrix = _read(file, options.n_threads)
    samples_in = _orientation(path, matrix.shape, features, samples, options)
    X = _by_sample(matrix, samples_in)
    n_samples, n_features = X.shape
    names = features.names(options) if features is not None else [f"x{j}" for j in range(n_features)]
    ids = samples.cells(0) if samples is not None else None
    columns = {} if samples is None else samples.columns
    for role, name in options.columns.items():
        if name not in columns:
            raise no_such_column(path, name, list(columns), f"column of samples that could hold {role}")
    check_names(path, names, ids, options)
    chosen = of_type(path, [] if features is None else features.cells(2), options) or range(n_features)
    kept = [j for j in chosen if names[j] not in options.ignore]
    table = MatrixSamples(
        path, _form(features, samples), samples_in,
        {"ignored": list(options.ignore)} if options.ignore else {}, tuple(names[j] for j in kept),
        read=lambda rows, which: _block(X, rows, which), n_samples=n_samples, ids=ids,
        size=SPARSE_ROWS if is_sparse(X) else samples_per_chunk(n_features), options=options,
        columns={
            role: [label_text(cell, options.missing_words) for cell in columns[name]]
            for role, name in options.columns.items()
        },
        kept=np.array(kept) if len(kept) < n_features else None,
    )  # fmt: skip
    if asks_for_labels(options):
        table.candidates = {name: count_levels(cells, options.missing_words) for name, cells in columns.items()}
    return table


def _form(features: _Names | None, samples: _Names | None) -> str:
    tenx = features is not None and samples is not None and "barcodes" in os.path.basename(samples.path).lower()
    return "10x" if tenx else "Matrix Market"


@dataclass(frozen=True, slots=True)
class _Names:
    """A file of names beside a matrix, one line for each row or column of it.

    Parameters
    ----------
    path
        The file.
    lines
        Fields of its lines, without a header.
    header
        Names of the fields, if the file has them.
    """

    path: str
    lines: list[list[str]]
    header: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    def cells(self, place: int) -> list[str]:
        """Return one field of all lines, empty where a line is shorter."""
        return [fields[place] if place < len(fields) else "" for fields in self.lines]

    def names(self, options: ReadOptions) -> list[str]:
        """Names of features: symbols where there are any, with the id behind those that are repeated."""
        ids, symbols = self.cells(0), self.cells(1)
        if options.id_column == "id" or not any(symbols):
            return ids
        return distinct_names(symbols, ids)

    @property
    def columns(self) -> dict[str, list[str]]:
        """What else the file says of every sample, by name."""
        return {name: self.cells(place) for place, name in enumerate(self.header) if place and name}


def _beside(file: Path, words: Iterable[str]) -> _Names | None:
    """Find and read the file of names beside a matrix, by the beginning of its name."""
    found = _MATRIX.fullmatch(file.name)
    stem = found[1] if found else file.stem
    alone = sum(".mtx" in other.name.lower() for other in file.parent.iterdir()) == 1
    starts = [stem, *(f"{stem}{mark}" for mark in "_.-"), f"{file.name}_", *([""] if alone else [])]
    there = {other.name.lower(): other for other in file.parent.iterdir() if other.is_file()}
    for start in starts:
        for word in words:
            for ending in _ENDINGS:
                for packed in ("", *ENDINGS):
                    path = there.get(f"{start}{word}{ending}{packed}".lower())
                    if path is not None and path != file:
                        return _read_names(path)
    return None


def _read_names(path: Path) -> _Names:
    with TextBytes(path) as stream:
        data = b"".join(iter(lambda: bytes(stream.read(2**22)), b""))
    try:
        rows = data.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise FileError(f"{path} is not UTF-8 text. Fetch it again.") from None
    rows = rows[:-1] if rows and not rows[-1].strip() else rows
    delimiter = (
        "," if rows and "\t" not in rows[0] and path.name.lower().partition(".gz")[0].endswith(".csv") else "\t"
    )
    lines = [split(row, delimiter) if '"' in row else row.split(delimiter) for row in rows]
    header = bool(lines) and lines[0][0].casefold() in _HEADERS
    return _Names(os.fspath(path), lines[1:] if header else lines, lines[0] if header else [])


def _orientation(
    path: str, shape: tuple[int, int], features: _Names | None, samples: _Names | None, options: ReadOptions
) -> str:
    """Tell by the numbers of names whether samples are the columns of the matrix, as 10x has it, or its rows."""
    as_columns = (features is None or len(features) == shape[0]) and (samples is None or len(samples) == shape[1])
    as_rows = (features is None or len(features) == shape[1]) and (samples is None or len(samples) == shape[0])
    fits = [where for where, fit in (("columns", as_columns), ("rows", as_rows)) if fit]
    if features is None and samples is None and options.samples_in is None:
        raise OptionError(
            f"{path} is a matrix of {shape[0]:,} x {shape[1]:,} without names of its rows and columns.",
            hint=(
                "Say what its samples are: ",
                Wording("samples_in='rows' or 'columns'", "--samples-in rows or columns"),
                "; or put the files of names (features.tsv, barcodes.tsv) beside it.",
            ),
        )
    if not fits or (options.samples_in is not None and options.samples_in not in fits):
        counted = [
            f"{os.path.basename(named.path)} names {len(named):,} {what}"
            for named, what in ((features, "features"), (samples, "samples"))
            if named is not None
        ]
        raise FileError(
            f"{path}: the matrix has {shape[0]:,} rows and {shape[1]:,} columns, but {' and '.join(counted)}. "
            "They do not belong together, or one of them is cut short: fetch them again."
        )
    return options.samples_in or fits[0]


def _read(file: Path, n_threads: int | None = None) -> Any:
    """Read the matrix: sparse in coordinates, or dense; by SciPy if it does not hold whole numbers."""
    name = os.fspath(file)
    with wrap_read_errors(name, "a Matrix Market file"), file.open("rb") as source:
        start = source.read(64)
        source.seek(0)
        with suppress(*TROUBLE):  # which SciPy meets again
            whole = read_coordinates(decompress(file, name, start, source).read, n_threads)
            if whole is not None:
                check_extent(name, whole.shape, whole.data.size)
                return whole
        from scipy.io import mmread  # noqa: PLC0415 - slow to import

        source.seek(0)
        _check_text(name, decompress(file, name, start, source))
        source.seek(0)
        stream = decompress(file, name, start, source)
        matrix: Any = mmread(file if stream is source else stream)
    if matrix.dtype.kind not in "biuf":
        raise FileError(f"{name} holds complex numbers, which are no measurements.")
    if is_sparse(matrix):
        check_extent(name, matrix.shape, matrix.nnz)
    if max(matrix.shape) > _LARGEST:
        raise FileError(f"{name} says that its shape is {matrix.shape}, which cannot be meant. Fetch it again.")
    if 0 in matrix.shape:
        raise FileError(f"{name} holds no values: its shape is {matrix.shape}. Check how it was made.")
    return matrix


def _check_text(name: str, stream: Any) -> None:
    """Raise if a file holds zero bytes, at which SciPy's reader crashes."""
    with wrap_read_errors(name, "a Matrix Market file"):
        while block := stream.read(_BLOCK):
            if b"\0" in block:
                raise FileError(
                    f"{name} is damaged: it should be text, but holds zero bytes. Download or copy it again."
                )


def _by_sample(matrix: Any, samples_in: str) -> Any:
    """Return samples x features: CSR, without sorting where the file is in that order, as 10x writes it."""
    if not isinstance(matrix, Coordinates) and not is_sparse(matrix):
        return np.ascontiguousarray(matrix.T if samples_in == "columns" else matrix, dtype=np.float64)
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - slow to import

    samples, features = (matrix.col, matrix.row) if samples_in == "columns" else (matrix.row, matrix.col)
    shape = matrix.shape[::-1] if samples_in == "columns" else matrix.shape
    data = _smaller(matrix.data)
    if is_ascending(samples, features):
        starts = np.searchsorted(samples, np.arange(shape[0] + 1, dtype=samples.dtype))
        return csr_matrix((data, features, starts), shape=shape)
    X = csr_matrix((data, (samples, features)), shape=shape)
    X.sum_duplicates()
    return X


def _block(X: Any, part: slice, features: slice) -> Any:
    """Return some samples with a range of the features; all features without a copy."""
    if not is_sparse(X) or features != slice(None):
        return X[part, features]
    starts = X.indptr[part.start : part.stop + 1]
    entries = slice(int(starts[0]), int(starts[-1]))
    return type(X)((X.data[entries], X.indices[entries], starts - starts[0]), shape=(len(starts) - 1, X.shape[1]))


def _smaller(data: Any) -> Any:
    """Counts fit into 32 bits."""
    if (
        data.dtype.kind in "iu"
        and data.dtype.itemsize > 4
        and data.size
        and data.min() > -(2**31)
        and data.max() < 2**31
    ):
        return data.astype(np.int32)
    return data
