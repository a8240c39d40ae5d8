"""Matrices in files of HDF5 or zarr: dense or compressed, read a few samples or features at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from bayesieve.io.formats.numpy_files import (
    SPARSE_ROWS,
    MatrixFeatures,
    MatrixSamples,
    sparse_features_per_chunk,
)
from bayesieve.io.tables.table import FeatureTable, ReadOptions, SampleTable, samples_per_chunk
from bayesieve.utils import FileError, wrap_read_errors


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
    ids: list[str],
    columns: Mapping[str, list[str | None]],
    options: ReadOptions,
    closing: Callable[[], None],
    samples_in: str = "rows",
    chosen: Sequence[int] | None = None,
) -> SampleTable | FeatureTable:
    """Make a table of a matrix in an open file, with ``chosen`` features (stored by sample) or all of them."""
    left_out = {"ignored": list(options.ignore)} if options.ignore else {}
    if stored.shape != (len(ids), len(features)):
        raise FileError(
            f"{path} is damaged: its values have shape {stored.shape}, but it names {len(ids):,} samples and "
            f"{len(features):,} features."
        )
    if 0 in stored.shape:
        raise FileError(f"{path} holds no values: its shape is {stored.shape}. Check how it was made.")
    if isinstance(stored, Compressed) and stored.by_feature:
        return MatrixFeatures(
            path, form, samples_in, left_out, tuple(ids), len(ids), columns, feature_ids=features,
            read=stored.block, size=sparse_features_per_chunk(stored.n_entries, len(features), options),
            ignored=frozenset(options.ignore), options=options, closing=closing,
        )  # fmt: skip
    size = SPARSE_ROWS if isinstance(stored, Compressed) else samples_per_chunk(len(features))
    places = range(len(features)) if chosen is None else chosen
    kept = [place for place in places if features[place] not in options.ignore]
    return MatrixSamples(
        path, form, samples_in, left_out, tuple(features[place] for place in kept), read=stored.rows,
        n_samples=len(ids), size=size, ids=ids, columns=columns, options=options, closing=closing,
        kept=np.array(kept) if len(kept) < len(features) else None,
    )  # fmt: skip


class Dense:
    """A table in the file."""

    def __init__(self, path: str, values: Any) -> None:
        self.path, self._values, self.shape = path, values, tuple(values.shape)
        check_numbers(path, values)

    def rows(self, part: slice, features: slice) -> Any:
        """Return some samples with a range of the features."""
        with reading(self.path):
            return self._values[part, features]


class Compressed:
    """A CSR or CSC matrix in the file; blocks are runs of what is stored together."""

    def __init__(self, path: str, group: Mapping[str, Any], shape: tuple[int, int], form: str) -> None:
        self.path, self._group, self.shape = path, group, shape
        self.by_feature = form.startswith("csc")
        if not form.startswith(("csr", "csc")):
            raise FileError(f"{path}: values stored as {form!r} are not read. Store a dense, CSR or CSC matrix.")
        check_numbers(path, group["data"])
        self._starts = np.asarray(group["indptr"][:], dtype=np.int64)
        self._check_starts(shape[1] if self.by_feature else shape[0])
        self.n_entries = int(self._starts[-1])

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

    def _check_starts(self, n: int) -> None:
        starts, stored = self._starts, min(self._group["data"].shape[0], self._group["indices"].shape[0])
        if len(starts) != n + 1 or starts[0] != 0 or starts[-1] > stored or bool(np.any(np.diff(starts) < 0)):
            raise FileError(
                f"{self.path} is damaged: its sparse matrix does not fit its {self.shape[0]:,} samples and "
                f"{self.shape[1]:,} features. Fetch it again, or write it anew."
            )


def check_numbers(path: str, values: Any) -> None:
    """Raise unless values are numbers."""
    if values.dtype.kind not in "biuf":
        raise FileError(f"{path}: values of type {values.dtype} are no numbers. Choose another layer.")
