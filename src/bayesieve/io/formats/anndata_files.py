"""AnnData in HDF5 files and zarr stores, and MuData: values read a few samples or features at a time."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable
from typing import Any

from bayesieve.data import LevelCounts, declared_order
from bayesieve.io.formats.contents import check_zarr
from bayesieve.io.formats.numpy_files import check_names
from bayesieve.io.formats.stored_matrix import Compressed, Dense, matrix_table, reading
from bayesieve.io.tables.roles import asks_for_labels, no_such_column
from bayesieve.io.tables.table import FeatureTable, ReadOptions, SampleTable, id_text, label_text
from bayesieve.utils import (
    FileError,
    LabelError,
    MissingExtraError,
    OptionError,
    did_you_mean,
    install_command,
    list_names,
    option,
)

_UNIQUE = ("Call adata.var_names_make_unique() and write it again.", "Call adata.obs_names_make_unique() first.")
_MOST_LEVELS = 1000

Closing = Callable[[], None]


def anndata_reader(path: str, what: str = "an AnnData file", package: str = "anndata") -> Any:
    """Return the reader of elements of anndata."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            anndata = importlib.import_module("anndata")
            importlib.import_module(package)
            try:
                return importlib.import_module("anndata.io").read_elem
            except ImportError:  # anndata < 0.11
                return importlib.import_module(f"{anndata.__name__}.experimental").read_elem
    except ImportError as error:
        raise MissingExtraError(
            f"{path} is {what}, and reading it needs the package {package}: run {install_command('anndata')} "
            f"({error})."
        ) from error


def check_rows(path: str, options: ReadOptions, what: str = "an AnnData file") -> None:
    """Raise if samples are said to be in columns."""
    if options.samples_in == "columns":
        raise OptionError(
            f"{path} is {what}, and those always have samples in rows.",
            hint=("Leave ", option("samples_in"), " out."),
        )


def open_zarr(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    """Open a zarr store of AnnData (or MuData), or a zarr array: a folder."""
    name = os.fspath(path)
    check_rows(name, options, "a store of AnnData")
    read_elem = anndata_reader(name, "a zarr store", "zarr")
    check_zarr(name)
    with reading(name):
        store: Any = importlib.import_module("zarr").open(name, mode="r")
        if not hasattr(store, "keys"):
            return _plain_array(name, store, options)
        if "mod" in store and hasattr(store["mod"], "keys"):
            return mudata_table(name, store, read_elem, options, _nothing)
        return annotated_table(name, store, read_elem, options, _nothing, "AnnData, zarr")


def _plain_array(path: str, values: Any, options: ReadOptions) -> SampleTable | FeatureTable:
    """Open a zarr array: values without names, whose labels stand in another file, in order."""
    for role, name in options.columns.items():
        raise LabelError(
            f"{path} is one zarr array and holds no {role} {name!r}.",
            hint=f"Give the {role} in a file of their own, in the order of the samples.",
        )
    if options.id_column is not None or options.layer is not None:
        raise OptionError(f"{path} is one zarr array, which has no ids and no layers. Leave these options out.")
    if len(values.shape) != 2:
        raise FileError(
            f"{path} has {len(values.shape)} dimensions (shape {values.shape}), not samples x features."
        )
    features = [f"x{j}" for j in range(values.shape[1])]
    check_names(path, features, None, options)
    return matrix_table(path, "zarr array", Dense(path, values), features, None, {}, options, _nothing)


def _nothing() -> None:
    """A zarr store keeps nothing open."""


def mudata_table(
    path: str, file: Any, read_elem: Any, options: ReadOptions, closing: Closing
) -> SampleTable | FeatureTable:
    """Open one modality of MuData; the samples are also described by what is said of all modalities."""
    names = [str(name) for name in file["mod"]]
    wanted = options.modality or (names[0] if len(names) == 1 else None)
    if wanted is None:
        raise OptionError(
            f"{path} holds {len(names)} modalities: {list_names(names)}.",
            hint=("Say which one to screen: ", option("modality", names[0] if names else "NAME"), "."),
        )
    if wanted not in names:
        raise OptionError(
            f"{path} has no modality {wanted!r}.{did_you_mean(wanted, names)} It has: {list_names(names)}."
        )
    shared = read_elem(file["obs"]) if "obs" in file else None
    form = f"MuData, modality {wanted}"
    return annotated_table(path, file["mod"][wanted], read_elem, options, closing, form, shared)


def annotated_table(
    path: str,
    file: Any,
    read_elem: Any,
    options: ReadOptions,
    closing: Closing,
    form: str = "AnnData",
    shared: Any = None,
) -> SampleTable | FeatureTable:
    """Make a table of an AnnData group; dense values and CSR come by sample, CSC by feature, as stored."""
    for part in ("obs", "var"):
        if part not in file or not hasattr(file[part], "keys"):
            raise FileError(
                f"{path} is an HDF5 file or a zarr store, but not an AnnData file of version 0.7 or later: it has "
                f"no group {part!r}. Read it with the program that wrote it, and write it with adata.write_h5ad."
            )
    values, var = _layer(path, file, options.layer)
    obs = _samples(read_elem(file["obs"]), shared)
    features = [id_text(name) for name in read_elem(var).index]
    named = obs.index if options.id_column is None else _obs(path, obs, options.id_column)
    ids = [id_text(name) for name in named]
    check_names(path, features, ids, options, _UNIQUE)
    columns = {
        role: [label_text(value, options.missing_words) for value in _obs(path, obs, column)]
        for role, column in options.columns.items()
    }
    form = f"{form}, layer {options.layer}" if options.layer else form
    sparse = hasattr(values, "keys")
    shape = (len(ids), len(features))
    stored = Compressed(path, values, shape, _encoding(values)) if sparse else Dense(path, values)
    table = matrix_table(path, form, stored, features, ids, columns, options, closing)
    table.about_samples = tuple(str(name) for name in obs.columns)
    if "labels" in options.columns:
        levels = declared_order(obs[options.columns["labels"]])
        table.declared = tuple(label_text(level) or "" for level in levels)
    if asks_for_labels(options):
        table.candidates = {str(name): _levels(obs[name], options) for name in obs.columns}
    return table


def _samples(obs: Any, shared: Any) -> Any:
    """Add what is said of all modalities to what is said of one."""
    if shared is None:
        return obs
    more = [name for name in shared.columns if name not in obs.columns]
    return obs.join(shared[more]) if more else obs


def _levels(column: Any, options: ReadOptions) -> LevelCounts:
    counts = column.value_counts()
    if len(counts) > _MOST_LEVELS:
        return {}
    named = ((label_text(value, options.missing_words), int(n)) for value, n in counts.items())
    return {label: n for label, n in named if label is not None and n}


def _obs(path: str, obs: Any, name: str) -> list[Any]:
    columns = [str(column) for column in obs.columns]
    if name not in columns:
        raise no_such_column(path, name, columns, "obs column")
    return list(obs[name])


def _layer(path: str, file: Any, layer: str | None) -> tuple[Any, Any]:
    """The values and the frame that names their features."""
    layers = list(file["layers"]) if "layers" in file else []
    if layer is None:
        if "X" not in file or _encoding(file["X"]) == "null":
            raise FileError(f"{path} has no X. Choose one of its layers: {list_names(layers) or 'there is none'}.")
        return file["X"], file["var"]
    if layer == "raw" and "raw" in file and "X" in file["raw"]:
        return file["raw"]["X"], file["raw"]["var"]
    if layer in layers:
        return file["layers"][layer], file["var"]
    known = [*layers, *(["raw"] if "raw" in file else [])]
    there = f"It has: {list_names(known)}." if known else "It has only X."
    raise OptionError(f"{path} has no layer {layer!r}.{did_you_mean(layer, known)} {there}")


def _encoding(values: Any) -> str:
    found = values.attrs.get("encoding-type", values.attrs.get("h5sparse_format", ""))
    return found.decode() if isinstance(found, bytes) else str(found)
