"""AnnData files (``.h5ad``): values read from the file a few samples or features at a time."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from bayesieve.io.formats.numpy_files import (
    SPARSE_ROWS,
    MatrixFeatures,
    MatrixSamples,
    check_names,
    sparse_features_per_chunk,
)
from bayesieve.io.tables.roles import no_such_column
from bayesieve.io.tables.table import (
    FeatureTable,
    ReadOptions,
    SampleTable,
    id_text,
    label_text,
    samples_per_chunk,
)
from bayesieve.utils import (
    FileError,
    MissingExtraError,
    OptionError,
    check_file,
    did_you_mean,
    install_command,
    list_names,
    option,
    wrap_read_errors,
)

SUFFIXES = (".h5ad",)

_UNIQUE = ("Call adata.var_names_make_unique() and write it again.", "Call adata.obs_names_make_unique() first.")


def open_annotated(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    """Open an AnnData file; its samples (observations) are always in rows.

    Dense values and CSR matrices come by sample, CSC matrices by feature, as they are stored.
    """
    name = os.fspath(path)
    if options.samples_in == "columns":
        raise OptionError(
            f"{name} is an AnnData file, and those always have samples in rows.",
            hint=("Leave ", option("samples_in"), " out."),
        )
    check_file(path)
    with _survive_crash(name):
        read_elem, h5py = _packages(name)
    with _reading(name):
        file = h5py.File(path, "r")
    try:
        with _reading(name):
            return _table(name, file, read_elem, options)
    except BaseException:
        file.close()
        raise


# Everything that HDF5 itself has to follow: names, attributes, descriptions of the samples and features, and
# where the chunks of the values are; the values are not read.
_LOOK_THROUGH = """
import sys, h5py

def look(name, item):
    dict(item.attrs)
    if isinstance(item, h5py.Dataset):
        if item.chunks:
            item.id.get_num_chunks()
        if {"obs", "var"}.intersection(name.split("/")):
            item[()]

with h5py.File(sys.argv[1], "r") as file:
    dict(file.attrs)
    file.visititems(look)
"""
_PATIENCE = 120  # seconds; sound files take a few milliseconds
_DEATHS = {"SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE"}


@contextmanager
def _survive_crash(path: str) -> Iterator[None]:
    """Look through a file in another process meanwhile: damaged structures can crash the HDF5 library.

    Only a crash is told here; whatever can be caught is met again, and explained, when the file is opened.
    """
    if not sys.executable or getattr(sys, "frozen", False):  # Python is part of another program
        yield
        return
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-c", _LOOK_THROUGH, path]
    with subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere) as child:
        try:
            yield
            code = child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # damaged links can lead in a circle
            code = -signal.SIGABRT
        finally:
            child.kill()
    death = signal.Signals(-code).name if code < 0 else ""
    if death in _DEATHS:
        raise FileError(
            f"{path} seems to be damaged: the library that reads this format crashed or found no end ({death}).",
            hint="Fetch or write the file again.",
            kind="crash",
        )


def _packages(path: str) -> tuple[Any, Any]:
    """The reader of elements of anndata, and h5py."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            anndata, h5py = importlib.import_module("anndata"), importlib.import_module("h5py")
            try:
                return importlib.import_module("anndata.io").read_elem, h5py
            except ImportError:  # anndata < 0.11
                return importlib.import_module(f"{anndata.__name__}.experimental").read_elem, h5py
    except ImportError as error:
        raise MissingExtraError(
            f"{path} is an AnnData file, and reading it needs the package anndata: run "
            f"{install_command('anndata')} ({error})."
        ) from error


def _reading(path: str) -> AbstractContextManager[None]:
    return wrap_read_errors(path, "an AnnData file", "write it anew with adata.write_h5ad")


def _table(path: str, file: Any, read_elem: Any, options: ReadOptions) -> SampleTable | FeatureTable:
    for part in ("obs", "var"):
        if part not in file or not hasattr(file[part], "keys"):
            raise FileError(
                f"{path} is an HDF5 file, but not an AnnData file of version 0.7 or later: it has no group "
                f"{part!r}. Read it with the program that wrote it, and write it with adata.write_h5ad."
            )
    values, var = _layer(path, file, options.layer)
    obs = read_elem(file["obs"])
    features = [id_text(name) for name in read_elem(var).index]
    named = obs.index if options.id_column is None else _obs(path, obs, options.id_column)
    ids = [id_text(name) for name in named]
    check_names(path, features, ids, options, _UNIQUE)
    columns = {
        role: [label_text(value, options.missing_words) for value in _obs(path, obs, column)]
        for role, column in options.columns.items()
    }
    return _matrix(path, file, values, features, ids, columns, options)


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


def _matrix(
    path: str, file: Any, values: Any, features: list[str], ids: list[str], columns: Any, options: ReadOptions
) -> SampleTable | FeatureTable:
    form = f"AnnData, layer {options.layer}" if options.layer else "AnnData"
    left_out = {"ignored": list(options.ignore)} if options.ignore else {}
    sparse = hasattr(values, "keys")
    stored = _Compressed(path, values, (len(ids), len(features))) if sparse else _Dense(path, values)
    if stored.shape != (len(ids), len(features)):
        raise FileError(
            f"{path} is damaged: its values have shape {stored.shape}, but it names {len(ids):,} samples and "
            f"{len(features):,} features."
        )
    if 0 in stored.shape:
        raise FileError(f"{path} holds no values: its shape is {stored.shape}. Check how it was made.")
    if isinstance(stored, _Compressed) and stored.by_feature:
        return MatrixFeatures(
            path, form, "rows", left_out, tuple(ids), len(ids), columns, feature_ids=features, read=stored.block,
            size=sparse_features_per_chunk(stored.n_entries, len(features), options),
            ignored=frozenset(options.ignore), options=options, closing=file.close,
        )  # fmt: skip
    kept = [place for place, name in enumerate(features) if name not in options.ignore]
    return MatrixSamples(
        path, form, "rows", left_out, tuple(features[place] for place in kept), read=stored.rows,
        n_samples=len(ids), size=SPARSE_ROWS if sparse else samples_per_chunk(len(features)), ids=ids,
        columns=columns, kept=np.array(kept) if options.ignore else None, options=options, closing=file.close,
    )  # fmt: skip


class _Dense:
    """A table in the file."""

    def __init__(self, path: str, values: Any) -> None:
        self.path, self._values, self.shape = path, values, tuple(values.shape)
        _check_numbers(path, values)

    def rows(self, part: slice, features: slice) -> Any:
        with _reading(self.path):
            return self._values[part, features]


class _Compressed:
    """A CSR or CSC matrix in the file; blocks are runs of what is stored together."""

    def __init__(self, path: str, group: Mapping[str, Any], shape: tuple[int, int]) -> None:
        self.path, self._group, self.shape = path, group, shape
        encoding = _encoding(group)
        self.by_feature = encoding.startswith("csc")
        if not encoding.startswith(("csr", "csc")):
            raise FileError(
                f"{path}: values stored as {encoding!r} are not read. Store a dense, CSR or CSC matrix."
            )
        _check_numbers(path, group["data"])
        self._starts = np.asarray(group["indptr"][:], dtype=np.int64)
        self._check_starts(shape[1] if self.by_feature else shape[0])
        self.n_entries = int(self._starts[-1])

    def rows(self, part: slice, features: slice) -> Any:
        block = self.block(part)
        return block if features == slice(None) else block[:, features]

    def block(self, part: slice) -> Any:
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - slow to import

        starts = self._starts[part.start : part.stop + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        shape = (len(starts) - 1, self.shape[0 if self.by_feature else 1])
        with _reading(self.path):
            data, places = self._group["data"][entries], self._group["indices"][entries]
            block: Any = csr_matrix((data, places, starts - starts[0]), shape=shape)
            block.check_format(full_check=True)
            return block

    def _check_starts(self, n: int) -> None:
        starts, stored = self._starts, min(self._group["data"].shape[0], self._group["indices"].shape[0])
        if len(starts) != n + 1 or starts[0] != 0 or starts[-1] > stored or bool(np.any(np.diff(starts) < 0)):
            raise FileError(
                f"{self.path} is damaged: its sparse matrix does not fit its {self.shape[0]:,} samples and "
                f"{self.shape[1]:,} features. Fetch it again, or write it anew."
            )


def _check_numbers(path: str, values: Any) -> None:
    if values.dtype.kind not in "biuf":
        raise FileError(f"{path}: values of type {values.dtype} are no numbers. Choose another layer.")
