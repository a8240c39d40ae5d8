"""BlockTable: Dask arrays and frames, zarr arrays and lazy AnnData objects as one Dask array of known chunks."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.system import CPU_COUNT

from bayesieve.data import annotated, check_frame, is_annotated, row_totals
from bayesieve.distributed.leaves import NUMBERS, picked
from bayesieve.distributed.tree import FAN_IN
from bayesieve.utils import TABLE, DataError, free_memory

BLOCK_BYTES = 2**26  # of a zarr array whose chunks are smaller: as many of them are read together
_READ_TOGETHER = 16  # blocks whose columns are read together for a second look
_COPIES = 2.0  # of a block: as it was read, and as it is unpacked
_USABLE = 0.6  # of the memory of a worker, before Dask begins to write results to its disk


@dataclass(frozen=True, slots=True, eq=False)
class BlockTable:
    """A lazy table.

    Parameters
    ----------
    array
        Samples x features, a Dask array of known chunks; its blocks are arrays, sparse matrices or texts.
    feature_names
        Names, or None.
    source
        Where it comes from, as far as that is known.
    fixed
        Whether its blocks cannot be cut otherwise: those of a file.
    """

    array: Any
    feature_names: tuple[str, ...] | None
    source: str = ""
    fixed: bool = False

    @classmethod
    def of_file(cls, reader: Any) -> BlockTable:
        """Return the blocks that a :class:`BlockReader` reads as an array."""
        meta = sparse_meta(reader.dtype) if reader.sparse else np.empty((0, 0), reader.dtype)
        name = f"bayesieve-file-{uuid.uuid4().hex}"
        array = da.from_array(reader, chunks=reader.sizes, name=name, asarray=False, inline_array=True, meta=meta)
        return cls(array, None, reader.source, fixed=True)

    @classmethod
    def of(cls, X: Any, *, texts: bool = False) -> BlockTable:
        """Bring a lazy table into this form without reading its values.

        Parameters
        ----------
        X
            Dask array or frame, zarr array, AnnData object with one of them.
        texts
            Whether values may be texts: categories.
        """
        names: tuple[str, ...] | None = None
        source = ""
        if is_annotated(X):
            held = annotated(X, lazy=True)
            X, names = held.values, held.feature_names
        if hasattr(X, "store_path") or type(X).__module__.startswith("zarr"):
            source = str(getattr(X, "store_path", "") or getattr(X, "path", ""))
            X = _of_zarr(X)
        elif hasattr(X, "npartitions") and hasattr(X, "columns"):
            names = tuple(map(str, X.columns))
            X = _of_frame(X, texts)
        _check(X, texts)
        return cls(X, names, source)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return int(self.array.shape[0]), int(self.array.shape[1])

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return int(self.array.npartitions)

    def row_totals(self) -> Any:
        """Return the sum of the values of every sample, which takes a pass over the blocks."""
        parts = da.blockwise(
            row_totals, "ij", self.array, "ij", dtype=np.float64, adjust_chunks={"j": 1}, meta=np.empty((0, 0))
        )
        return np.asarray(parts.sum(axis=1).compute())

    def columns(self, which: Any) -> Iterator[tuple[slice, int, Any]]:
        """Read some features again: rows, position of the first one among those asked for, and values.

        Parameters
        ----------
        which
            Positions of the features, in ascending order.
        """
        starts = np.concatenate([[0], np.cumsum(self.array.chunks[1])])
        firsts = np.concatenate([[0], np.cumsum(self.array.chunks[0])])
        for j in range(len(starts) - 1):
            lo, hi = np.searchsorted(which, starts[j : j + 2])
            if lo == hi:
                continue
            places = np.asarray(which[lo:hi]) - starts[j]
            for i in range(0, len(firsts) - 1, _READ_TOGETHER):
                blocks = self.array.blocks[i : i + _READ_TOGETHER, j]
                chosen = da.blockwise(
                    picked, "ij", blocks, "ij", places=places, dtype=blocks.dtype, meta=np.empty((0, 0)),
                    adjust_chunks={"j": len(places)},
                )  # fmt: skip
                found = dask.compute(*chosen.to_delayed(optimize_graph=True)[:, 0].tolist())
                for k, values in enumerate(found, start=i):
                    yield slice(int(firsts[k]), int(firsts[k + 1])), int(lo), values

    def describe_pass(self) -> str:
        """Say what one more reading of the table takes."""
        size = "" if _is_sparse(self.array) else f", {self.array.nbytes / 1e9:,.2g} GB"
        return f"one more pass over the {self.n_blocks:,} blocks of the table{size}"

    def check_memory(self, n_classes: int, client: Any) -> None:
        """Raise if the largest block is too large for the memory of a worker.

        Parameters
        ----------
        n_classes
            Number of classes (times that of labellings) that a block is summed for.
        client
            Of the cluster; None for this process.
        """
        rows, columns = (max(sizes) for sizes in self.array.chunks)
        held = FAN_IN * NUMBERS * n_classes * columns
        block = 0.0 if _is_sparse(self.array) else _COPIES * rows * columns * self.array.dtype.itemsize
        limit = _USABLE * _memory_of_a_thread(client)
        if held + block <= limit:
            return
        left = max(limit - held, limit / 4)
        share = min(1.0, left / max(block, 1.0))
        fewer_rows, fewer_columns = max(1, int(rows * share)), max(1, int(columns * min(1.0, limit / 2 / held)))
        mend = f"X = X.rechunk({{0: {fewer_rows}}})" if held <= limit / 2 else (
            f"X = X.rechunk({{0: {fewer_rows}, 1: {fewer_columns}}})"
        )  # fmt: skip
        whose = "this process" if client is None else "a worker"
        raise DataError(
            f"Blocks of up to {rows:,} x {columns:,} values are too large: one needs about "
            f"{(held + block) / 1e6:,.0f} MB with its sums, and a thread of {whose} can use "
            f"{limit / 1e6:,.0f} MB.",
            hint="Give workers more memory, or fewer threads." if self.fixed else f"Make chunks smaller: {mend}.",
            kind="large-chunks",
            numbers={"bytes": int(held + block), "limit": int(limit)},
        )


def sparse_meta(dtype: Any) -> Any:
    """Return an empty sparse matrix, which says what blocks are."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - slow to import

    return csr_matrix((0, 0), dtype=dtype)


def _memory_of_a_thread(client: Any) -> float:
    """Bytes that one thread of the smallest worker, or of this process, can use."""
    if client is None:
        return float(free_memory() / max(CPU_COUNT, 1))
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    limits = (each["memory_limit"] / max(each["nthreads"], 1) for each in workers if each.get("memory_limit"))
    return float(min(limits, default=math.inf))


def _is_sparse(array: Any) -> bool:
    meta = getattr(array, "_meta", None)
    return not isinstance(meta, np.ndarray)


def _of_zarr(X: Any) -> Any:
    """Return an array of zarr in blocks of whole chunks, each of a size that is worth a task."""
    if len(X.shape) != 2:
        return da.from_array(X, chunks=X.chunks)
    rows, columns = (getattr(X, "shards", None) or X.chunks)[:2]
    size = max(1, rows * columns * X.dtype.itemsize)
    times = max(1, BLOCK_BYTES // size)
    wide = max(1, min(times, -(-X.shape[1] // columns)))
    return da.from_array(X, chunks=(rows * max(1, times // wide), columns * wide), inline_array=True)


def _of_frame(X: Any, texts: bool) -> Any:
    """Return a frame as an array; the lengths of its partitions are counted."""
    if not texts:
        check_frame(X)
    lengths = tuple(X.map_partitions(len).compute())
    return X.to_dask_array(lengths=lengths)


def _check(X: Any, texts: bool) -> None:
    """Raise unless an array is a table of numbers in blocks of known size."""
    if X.ndim != 2:
        how = " A single feature is X.reshape(-1, 1)." if X.ndim == 1 else ""
        raise DataError(
            f"X must be a table of samples x features, but it has {X.ndim} dimension(s) (shape {X.shape}).{how}"
        )
    if any(math.isnan(size) for sizes in X.chunks for size in sizes):
        raise DataError(
            "The sizes of the chunks of X are not known, so that labels cannot be told to its samples.",
            hint="Find them out, which computes X once: X.compute_chunk_sizes(). Of a data frame: "
            "frame.to_dask_array(lengths=True).",
            kind="unknown-chunks",
        )
    if 0 in X.shape:
        raise DataError(
            f"X is empty: {X.shape[0]} samples x {X.shape[1]} features. Both numbers must be at least 1."
        )
    if X.dtype.kind not in ("bifuOUST" if texts else "bifu"):
        what = {"O": "Python objects", "U": "text", "S": "bytes", "c": "complex numbers"}.get(
            X.dtype.kind, f"values of type {X.dtype}"
        )
        raise DataError(
            TABLE,
            f" holds {what}, not numbers. Convert it first, for example X.astype(float), and leave labels and ids "
            "out of it.",
        )
