"""HDF5 files: AnnData, MuData, loom and 10x, told apart by what they hold."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from bayesieve.io.formats.anndata_files import anndata_reader, annotated_table, check_rows, mudata_table
from bayesieve.io.formats.contents import check_hdf5
from bayesieve.io.formats.crashes import survive_crash
from bayesieve.io.formats.numpy_files import MatrixFeatures, check_names
from bayesieve.io.formats.stored_matrix import Compressed, check_numbers, distinct_names, matrix_table, reading
from bayesieve.io.tables.roles import asks_for_labels, count_levels, no_such_column
from bayesieve.io.tables.table import (
    FeatureTable,
    ReadOptions,
    SampleTable,
    features_per_chunk,
    id_text,
    label_text,
)
from bayesieve.utils import (
    FileError,
    MissingExtraError,
    OptionError,
    check_file,
    did_you_mean,
    list_names,
    option,
)

_COMPRESSED = {"barcodes", "data", "indices", "indptr", "shape"}
_GENES = ("Gene", "gene", "Genes", "gene_name", "gene_names", "var_names", "Symbol", "symbol")
_ACCESSIONS = ("Accession", "accession", "gene_id", "gene_ids", "ensembl_id", "EnsemblID")
_CELLS = ("CellID", "cellid", "cell_id", "obs_names", "barcode", "Barcode", "cell_names")


def open_hdf5(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    """Open an HDF5 file, whatever it is called."""
    name = os.fspath(path)
    check_file(path)
    annotated = name.lower().endswith((".h5ad", ".h5mu"))
    with survive_crash(name, _LOOK_THROUGH):
        read_elem = anndata_reader(name) if annotated else None
        h5py = _h5py(name)
    with reading(name):
        file = h5py.File(path, "r")
    try:
        with reading(name):
            check_hdf5(name, file)
            return _open(name, file, read_elem, options)
    except BaseException:
        file.close()
        raise


def _open(path: str, file: Any, read_elem: Any, options: ReadOptions) -> SampleTable | FeatureTable:
    groups = {name for name in file if hasattr(file[name], "keys")}
    if "mod" in groups:
        check_rows(path, options, "a MuData file")
        return mudata_table(path, file, read_elem or anndata_reader(path, "a MuData file"), options, file.close)
    if {"obs", "var"} <= groups or path.lower().endswith(".h5ad"):
        check_rows(path, options)
        return annotated_table(path, file, read_elem or anndata_reader(path), options, file.close)
    if "matrix" in file and {"row_attrs", "col_attrs"} <= groups:
        return _loom(path, file, options)
    cells = {name: file[name] for name in sorted(groups) if set(file[name]) >= _COMPRESSED}
    if cells:
        return _tenx(path, cells, file.close, options)
    raise _unknown(path, file, groups)


def _unknown(path: str, file: Any, groups: set[str]) -> FileError:
    """Name an HDF5 file for what it is, as far as can be told."""
    inner = {name for group in groups for name in file[group]}
    if {"assays", "meta.data"} <= groups:
        what = "a Seurat file (.h5Seurat). In R: SeuratDisk::Convert(FILE, dest = 'h5ad')"
    elif "block0_values" in inner or "axis0" in inner:
        what = "a table of pandas (HDFStore). In Python: pandas.read_hdf(FILE).to_parquet('table.parquet')"
    elif "#refs#" in groups or "MATLAB_fields" in file.attrs:
        what = "a MATLAB file. In MATLAB: writetable(array2table(X), 'table.csv')"
    elif "molecule_info" in path or {"barcode_idx", "feature_idx"} <= set(file):
        what = "a 10x file of molecules, not of cells. Take filtered_feature_bc_matrix.h5"
    else:
        what = (
            f"an HDF5 file that holds {list_names(sorted(file), 5) or 'nothing'}, and neither AnnData, MuData, "
            "loom nor 10x. Read it with the program that wrote it, and write the table as Parquet or CSV"
        )
    return FileError(f"{path} is {what}.", kind="foreign")


def _tenx(path: str, groups: dict[str, Any], closing: Any, options: ReadOptions) -> SampleTable | FeatureTable:
    """Open what Cell Ranger writes: one group (version 3 and later), or one per genome (version 2)."""
    if options.layer is not None:
        raise OptionError(f"{path} is a 10x file, which has no layers.", hint=("Leave ", option("layer"), " out."))
    if len(groups) > 1 and options.modality not in groups:
        raise OptionError(
            f"{path} holds the counts of {len(groups)} genomes: {list_names(list(groups))}.",
            hint=("Say which one to screen: ", option("modality", next(iter(groups))), "."),
        )
    genome = options.modality if len(groups) > 1 and options.modality else next(iter(groups))
    group = groups[genome]
    described = group.get("features", group)
    keys, names = (
        _texts(described[key]) for key in (("id", "name") if "features" in group else ("genes", "gene_names"))
    )
    types = _texts(described["feature_type"]) if "feature_type" in described else []
    barcodes = _texts(group["barcodes"])
    features = keys if options.id_column == "id" else distinct_names(names, keys)
    _check_no_columns(path, options)
    shape = tuple(int(n) for n in group["shape"][:])
    if shape != (len(features), len(barcodes)) or len(keys) != len(names):
        raise FileError(
            f"{path} is damaged: its matrix has shape {shape}, but it names {len(features):,} features and "
            f"{len(barcodes):,} barcodes. Fetch it again."
        )
    chosen = of_type(path, types, options) if len(groups) == 1 else None
    check_names(path, features, barcodes, options)
    stored = Compressed(path, group, (len(barcodes), len(features)), "csr")
    return matrix_table(
        path, "10x", stored, features, barcodes, {}, options, closing, samples_in="columns", chosen=chosen
    )


def of_type(path: str, types: list[str], options: ReadOptions) -> list[int] | None:
    """Return the places of the features of the type that is asked for; None if none is."""
    if options.modality is None:
        return None
    known = list(dict.fromkeys(types))
    if options.modality not in known:
        raise OptionError(
            f"{path} has no features of type {options.modality!r}.{did_you_mean(options.modality, known)} It has: "
            f"{list_names(known) or 'no types at all'}."
        )
    return [j for j, kind in enumerate(types) if kind == options.modality]


def _check_no_columns(path: str, options: ReadOptions) -> None:
    for role, name in options.columns.items():
        raise no_such_column(path, name, [], f"column of samples that could hold {role}")


def _loom(path: str, file: Any, options: ReadOptions) -> FeatureTable:
    """Open a loom file: features in rows, described by row_attrs and col_attrs."""
    rows, cells = _attributes(file["row_attrs"]), _attributes(file["col_attrs"])
    values = file["matrix"]
    if options.layer is not None:
        layers = list(file["layers"]) if "layers" in file else []
        if options.layer not in layers:
            raise OptionError(
                f"{path} has no layer {options.layer!r}.{did_you_mean(options.layer, layers)} It has: "
                f"{list_names(layers) or 'only its matrix'}."
            )
        values = file["layers"][options.layer]
    check_numbers(path, values)
    n_features, n_samples = (int(n) for n in values.shape)
    features = _feature_names(rows) or [f"x{j}" for j in range(n_features)]
    key = options.id_column or next((name for name in _CELLS if name in cells), None)
    for name in [*options.columns.values(), *([options.id_column] if options.id_column else [])]:
        if name not in cells:
            raise no_such_column(path, name, list(cells), "column attribute")
    ids = None if key is None else [id_text(cell) for cell in cells[key]]
    for n, named, what in ((n_features, features, "features"), (n_samples, ids or range(n_samples), "cells")):
        if len(named) != n:
            raise FileError(f"{path} is damaged: it has {n:,} {what}, but names {len(named):,}. Fetch it again.")
    if 0 in (n_features, n_samples):
        raise FileError(f"{path} holds no values: its shape is {values.shape}. Check how it was made.")
    check_names(path, features, ids, options)
    columns = {
        role: [label_text(value, options.missing_words) for value in cells[name]]
        for role, name in options.columns.items()
    }
    step = int(values.chunks[0]) if values.chunks else 1
    size = max(step, features_per_chunk(n_samples, options) // step * step)

    def read(part: slice) -> Any:
        with reading(path):
            return values[part]

    form = f"loom, layer {options.layer}" if options.layer else "loom"
    table = MatrixFeatures(
        path, form, "columns", {"ignored": list(options.ignore)} if options.ignore else {},
        None if ids is None else tuple(ids), n_samples, columns, feature_ids=features, read=read, size=size,
        ignored=frozenset(options.ignore), options=options, closing=file.close,
    )  # fmt: skip
    if asks_for_labels(options):
        table.candidates = {name: count_levels(column, options.missing_words) for name, column in cells.items()}
    return table


def _feature_names(rows: dict[str, list[Any]]) -> list[str] | None:
    genes, keys = (next((rows[name] for name in known if name in rows), None) for known in (_GENES, _ACCESSIONS))
    if genes is None and keys is None:
        return None
    texts, ids = ([id_text(cell) for cell in column or ()] for column in (genes, keys))
    return distinct_names(texts, ids) if texts and ids else texts or ids


def _attributes(group: Any) -> dict[str, list[Any]]:
    """Attributes of the rows or the columns that have one value each."""
    found = {str(name): group[name] for name in group if hasattr(group[name], "shape")}
    return {name: list(_strings(item)) for name, item in found.items() if len(item.shape) == 1}


def _texts(item: Any) -> list[str]:
    return [id_text(cell) for cell in _strings(item)]


def _strings(item: Any) -> Any:
    values = item[()]
    return np.char.decode(values, "utf-8", "replace") if values.dtype.kind == "S" else values


def _h5py(path: str) -> Any:
    try:
        return importlib.import_module("h5py")
    except ImportError as error:
        raise MissingExtraError(
            f"{path} is an HDF5 file, and reading it needs the package h5py: run python -m pip install "
            f'"bayesieve[anndata]" ({error}).'
        ) from error


# Everything that HDF5 itself has to follow: names, attributes, descriptions of the samples and features, and
# where the chunks of the values are; the values are not read.
_LOOK_THROUGH = """
import sys, h5py

described = {"obs", "var", "row_attrs", "col_attrs", "features", "barcodes", "genes", "gene_names"}

def look(name, item):
    dict(item.attrs)
    if isinstance(item, h5py.Dataset):
        if item.chunks:
            item.id.get_num_chunks()
        if described.intersection(name.split("/")) and item.nbytes <= 2**30 and not item.external:
            item[()]

with h5py.File(sys.argv[1], "r") as file:
    dict(file.attrs)
    file.visititems(look)
"""
