"""Matrices in files of HDF5 or zarr: dense or compressed, read a few samples or features at a time."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.io.formats.numpy_files import (
    SPARSE_ROWS,
    MatrixFeatures,
    MatrixSamples,
    native,
    sparse_features_per_chunk,
)
from bayesieve.io.tables.table import (
    FeatureTable,
    ReadOptions,
    SampleTable,
    features_per_chunk,
    samples_per_chunk,
    without_words,
)
from bayesieve.utils import FileError, IntArray, wrap_read_errors

BLOCK_BYTES = 2**26  # of a block, as it is stored
_TALL = 1024  # samples of a block at least, where there are so many: fewer would cost as much in merging
_LONGEST = 2**18  # samples, or features, of a sparse block at most
_MOST = 2**28  # bytes that all features of a row of chunks may take: else they are read by features


def reading(path: str) -> AbstractContextManager[None]:
    """Turn whatever the reading library raises into words."""
    return wrap_read_errors(path, "an HDF5 file or zarr store (AnnData, MuData, loom, 10x)")


def distinct_names(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Return names, with the id behind those that are repeated or empty."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return [
        (f"{name} ({key})" if name else key) if seen[name] > 1 or not name else name
        for name, key in zip(names, ids, strict=True)
    ]


def matrix_table(
    path: str,
    form: str,
    stored: Dense | Compressed,
    features: list[str],
    ids: list[str] | None,
    columns: Mapping[str, list[str | None]],
    options: ReadOptions,
    closing: Callable[[], None],
    samples_in: str = "rows",
    chosen: Sequence[int] | None = None,
) -> SampleTable | FeatureTable:
    """Make a table of a matrix in an open file, with ``chosen`` features (stored by sample) or all of them."""
    left_out = {"ignored": list(options.ignore)} if options.ignore else {}
    n_samples = stored.shape[0] if ids is None else len(ids)
    if stored.shape != (n_samples, len(features)):
        raise FileError(
            f"{path} is damaged: its values have shape {stored.shape}, but it names {n_samples:,} samples and "
            f"{len(features):,} features."
        )
    if 0 in stored.shape:
        raise FileError(f"{path} holds no values: its shape is {stored.shape}. Check how it was made.")
    words = options.missing_words
    wanted = range(len(features)) if chosen is None else chosen
    kept = [place for place in wanted if features[place] not in options.ignore]
    places = np.array(kept) if len(kept) < len(features) else None
    blocks = StoredBlocks(stored, places, words)
    if stored.by_feature:
        size = features_per_chunk(n_samples, options)
        if isinstance(stored, Compressed):
            size = sparse_features_per_chunk(stored.n_entries, len(features), options)
        return MatrixFeatures(
            path, form, samples_in, left_out, None if ids is None else tuple(ids), n_samples, columns,
            feature_ids=features,
            read=stored.block, size=size, ignored=frozenset(options.ignore), options=options, closing=closing,
            stored=blocks,
        )  # fmt: skip
    size = SPARSE_ROWS
    if isinstance(stored, Dense):
        tall = stored.cut[0]
        size = max(tall, samples_per_chunk(len(features)) // tall * tall)
    return MatrixSamples(
        path, form, samples_in, left_out, tuple(features[place] for place in kept), read=stored.rows,
        n_samples=n_samples, size=size, ids=ids, columns=columns, options=options, closing=closing, kept=places,
        stored=blocks,
    )  # fmt: skip


class Dense:
    """A table in the file."""

    sparse, by_feature = False, False

    def __init__(self, path: str, values: Any) -> None:
        self.path, self._values, self.shape, self.dtype = path, values, tuple(values.shape), values.dtype
        check_numbers(path, values)
        self.cut = getattr(values, "shards", None) or values.chunks or (1, 1)  # what is read and unpacked together
        n_rows = min(self.cut[0], self.shape[0])
        self.by_feature = self.cut[1] < self.shape[1] and n_rows * self.shape[1] * self.dtype.itemsize > _MOST

    def __reduce__(self) -> Any:
        return _dense_again, (os.path.abspath(self.path), *_address(self._values))

    def rows(self, part: slice, features: slice) -> Any:
        """Return some samples with a range of the features."""
        with reading(self.path):
            return self._values[part, features]

    def block(self, part: slice) -> Any:
        """Return a range of the features, features x samples."""
        return np.ascontiguousarray(self.rows(slice(0, self.shape[0]), part).T)

    def sizes(self, n_features: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Cut the table into blocks of whole chunks, of at least some height, so that sums cost little beside."""
        n, size, (tall, wide) = self.shape[0], self.dtype.itemsize, self.cut
        rows = BLOCK_BYTES // (n_features * size) // tall * tall
        if rows >= min(n, _TALL):
            return _even(n, rows), (n_features,)
        rows = min(n, -(-_TALL // tall) * tall)
        return _even(n, rows), _even(n_features, max(wide, BLOCK_BYTES // (rows * size) // wide * wide))

    def n_bytes(self, rows: int, features: int) -> int:
        """Bytes of a block."""
        return rows * features * int(self.dtype.itemsize)


class Compressed:
    """A CSR or CSC matrix in the file; blocks are runs of what is stored together."""

    sparse = True

    def __init__(self, path: str, group: Mapping[str, Any], shape: tuple[int, int], form: str) -> None:
        self.path, self._group, self.shape, self._form = path, group, shape, form
        self.by_feature = form.startswith("csc")
        if not form.startswith(("csr", "csc")):
            raise FileError(f"{path}: values stored as {form!r} are not read. Store a dense, CSR or CSC matrix.")
        check_numbers(path, group["data"])
        self.dtype = group["data"].dtype
        self._starts = np.asarray(group["indptr"][:], dtype=np.int64)
        self._check_starts(shape[1] if self.by_feature else shape[0])
        self.n_entries = int(self._starts[-1])

    def __reduce__(self) -> Any:
        return _compressed_again, (os.path.abspath(self.path), *_address(self._group), self.shape, self._form)

    def rows(self, part: slice, features: slice) -> Any:
        """Return some samples with a range of the features."""
        block = self.block(part)
        return block if features == slice(None) else block[:, features]

    def block(self, part: slice) -> Any:
        """Return a run of what is stored together: samples, or features."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - slow to import

        starts = self._starts[part.start : part.stop + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        shape = (len(starts) - 1, self.shape[0 if self.by_feature else 1])
        with reading(self.path):
            data, places = self._group["data"][entries], self._group["indices"][entries]
            block: Any = csr_matrix((data, places, starts - starts[0]), shape=shape)
            block.check_format(full_check=True)
            return block

    def sizes(self, n_features: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Cut the table into runs of what is stored together."""
        n = n_features if self.by_feature else self.shape[0]
        step = 1 if self.by_feature else _TALL
        each = self.n_bytes(self.shape[0], 1) if self.by_feature else self.n_bytes(1, self.shape[1])
        runs = _even(n, min(max(step, BLOCK_BYTES // max(each, 1) // step * step), _LONGEST))
        return ((self.shape[0],), runs) if self.by_feature else (runs, (n_features,))

    def n_bytes(self, rows: int, features: int) -> int:
        """Bytes of a block, if values are everywhere alike."""
        each = self.dtype.itemsize + self._group["indices"].dtype.itemsize
        return int(each * self.n_entries * (rows / self.shape[0]) * (features / self.shape[1]))

    def _check_starts(self, n: int) -> None:
        starts, stored = self._starts, min(self._group["data"].shape[0], self._group["indices"].shape[0])
        if len(starts) != n + 1 or starts[0] != 0 or starts[-1] > stored or bool(np.any(np.diff(starts) < 0)):
            raise FileError(
                f"{self.path} is damaged: its sparse matrix does not fit its {self.shape[0]:,} samples and "
                f"{self.shape[1]:,} features. Fetch it again, or write it anew."
            )


@dataclass(frozen=True, slots=True, eq=False)
class StoredBlocks:
    """Blocks of a matrix in a file, as they are to be summed; see :class:`bayesieve.distributed.BlockReader`.

    Parameters
    ----------
    stored
        The matrix; it opens its file again where it arrives.
    kept
        Places of the features that are not left out, None for all.
    missing_words
        Numbers that stand for a missing value.
    """

    stored: Dense | Compressed
    kept: IntArray | None = None
    missing_words: tuple[str, ...] = ()
    ndim = 2

    @property
    def source(self) -> str:
        """The file."""
        return self.stored.path

    @property
    def sparse(self) -> bool:
        """Whether blocks are sparse."""
        return self.stored.sparse

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return self.stored.shape[0], self.stored.shape[1] if self.kept is None else len(self.kept)

    @property
    def dtype(self) -> Any:
        """Kind of the values."""
        return self.stored.dtype

    @property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Sizes of the blocks along samples and features."""
        return self.stored.sizes(self.shape[1])

    @property
    def n_bytes(self) -> int:
        """Bytes of the largest block, about."""
        return self.stored.n_bytes(*(max(sizes) for sizes in self.sizes))

    def __getitem__(self, place: tuple[slice, slice]) -> Any:
        """Read some samples and features: samples x features."""
        rows, columns = place
        kept = None if self.kept is None else self.kept[columns]
        if kept is not None:
            columns = slice(int(kept[0]), int(kept[-1]) + 1)
        if isinstance(self.stored, Compressed) and self.stored.by_feature:
            values = self.stored.block(columns)
            values = values if kept is None else values[kept - columns.start]
            return native(without_words(values, ReadOptions(missing_words=self.missing_words))).T[rows]
        whole = columns == slice(0, self.stored.shape[1])
        values = self.stored.rows(rows, slice(None) if whole else columns)
        values = values if kept is None else values[:, kept - columns.start]
        return native(without_words(values, ReadOptions(missing_words=self.missing_words)))


def _even(n: int, size: int) -> tuple[int, ...]:
    """Cut a range into pieces of a size; the last one may be smaller."""
    return tuple(min(size, n - lo) for lo in range(0, n, size))


def _address(stored: Any) -> tuple[str, bool]:
    """Return the name of an element inside its file, and whether that is HDF5."""
    hdf5 = hasattr(stored, "file")
    return (stored.name if hdf5 else stored.path), hdf5


@functools.lru_cache(maxsize=4)
def _opened(path: str, name: str, hdf5: bool, changed: float) -> Any:
    """Open an element of a file; once in a process, as long as the file does not change."""
    del changed
    with reading(path):
        if hdf5:
            return importlib.import_module("h5py").File(path, "r")[name]
        store = importlib.import_module("zarr").open(path, mode="r")
        return store[name] if name else store


def _dense_again(path: str, name: str, hdf5: bool) -> Dense:
    return Dense(path, _opened(path, name, hdf5, os.path.getmtime(path)))


@functools.lru_cache(maxsize=4)
def _compressed_at(path: str, name: str, hdf5: bool, shape: tuple[int, int], form: str, at: float) -> Compressed:
    """Open a sparse matrix, whose starts are read once in a process."""
    return Compressed(path, _opened(path, name, hdf5, at), shape, form)


def _compressed_again(path: str, name: str, hdf5: bool, shape: tuple[int, int], form: str) -> Compressed:
    return _compressed_at(path, name, hdf5, shape, form, os.path.getmtime(path))


def check_numbers(path: str, values: Any) -> None:
    """Raise unless values are numbers."""
    if values.dtype.kind not in "biuf":
        raise FileError(f"{path}: values of type {values.dtype} are no numbers. Choose another layer.")
