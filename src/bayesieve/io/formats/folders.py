"""Folders that are tables: those of 10x, and zarr stores."""

from __future__ import annotations

import os
from pathlib import Path

from bayesieve.io.tables.table import FeatureTable, ReadOptions, SampleTable
from bayesieve.utils import FileError, list_names

_ZARR = ("zarr.json", ".zgroup", ".zattrs", ".zmetadata")
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
        from bayesieve.io.formats.anndata_files import open_zarr  # noqa: PLC0415 - formats load what they need

        return open_zarr(path, options)
    matrices = [file for file in inside if file.name.lower().endswith((".mtx", ".mtx.gz", ".mtx.bz2"))]
    if matrices:
        from bayesieve.io.formats.matrix_market import open_tenx_folder  # noqa: PLC0415

        usual = [file for file in matrices if file.name.lower().startswith("matrix.mtx")]
        return open_tenx_folder(path, usual or matrices, options)
    deeper = [file.name for file in inside if file.name in _TENX or file.name.endswith("_bc_matrix.h5")]
    if deeper:
        raise FileError(
            f"{path} is a folder without a matrix. Name what is in it: {os.path.join(path, deeper[0])}."
        )
    tables = [file.name for file in inside if file.name.lower().endswith(_TABLES)]
    holds = f"Name the file in it: {list_names(tables, 4)}." if tables else "Name the file in it."
    raise FileError(
        f"{path} is a folder, and neither of 10x (matrix.mtx, features.tsv, barcodes.tsv) nor a zarr store. "
        f"{holds}"
    )
