"""Atlases that do not fit: screens of files against a bare read of them, and against scanpy on the same file.

    python benchmarks/atlas.py --folder SCRATCH [--cells 200000] [--genes 20000] [--scanpy PYTHON] [--only ...]

Files are made once in the folder: cells as CSR at 5% (``.h5ad`` plain and gzip, zarr), and a dense zarr store. Every
run is a process of its own; times are the best of runs that alternate.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import zarr

N_TYPES, DENSITY, ROWS = 8, 0.05, 4_096
REPEATS = 3


def obs_of(n_cells: int, n_genes: int) -> anndata.AnnData:
    """Return an object without values that names cells, their types and states, and genes."""
    rng = np.random.default_rng(1)
    types = pd.Categorical([f"type {k}" for k in rng.integers(0, N_TYPES, n_cells).tolist()])
    state = pd.Categorical(np.array(["well", "sick"])[rng.integers(0, 2, n_cells)])
    index = pd.Index([f"cell{i}" for i in range(n_cells)])
    var = pd.DataFrame(index=pd.Index([f"gene{j}" for j in range(n_genes)]))
    return anndata.AnnData(obs=pd.DataFrame({"cell_type": types, "state": state}, index=index), var=var)


def sparse_rows(n_cells: int, n_genes: int) -> Any:
    """Yield values, genes and numbers of values of some cells at a time: logarithms of small counts."""
    rng = np.random.default_rng(0)
    chance = rng.gamma(0.5, size=n_genes)
    chance /= chance.sum()
    each = int(n_genes * DENSITY)
    ends = np.cumsum(chance)
    for lo in range(0, n_cells, ROWS):
        n = min(ROWS, n_cells - lo)
        draws = np.searchsorted(ends, rng.random((n, int(1.25 * each)))).clip(max=n_genes - 1)
        draws.sort(axis=1)
        new = np.concatenate([np.ones((n, 1), bool), np.diff(draws, axis=1) > 0], axis=1)
        genes = draws[new].astype(np.int32)
        values = np.log1p(rng.geometric(0.5, genes.size)).astype(np.float32)
        yield values, genes, new.sum(axis=1)


def make_h5ad(path: Path, n_cells: int, n_genes: int, compression: str | None) -> None:
    """Write cells as CSR, block by block."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    obs_of(n_cells, n_genes).write_h5ad(part)
    with h5py.File(part, "r+") as file:
        if "X" in file:
            del file["X"]
        X = file.create_group("X")
        X.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": (n_cells, n_genes)})
        how: dict[str, Any] = {"maxshape": (None,), "chunks": (2**18,), "compression": compression}
        data, indices = (X.create_dataset(name, (0,), dtype=kind, **how) for name, kind in (("data", "f4"), ("indices", "i4")))  # fmt: skip
        starts = [np.zeros(1, np.int64)]
        for values, genes, sizes in sparse_rows(n_cells, n_genes):
            done = data.shape[0]
            for kept, new in ((data, values), (indices, genes)):
                kept.resize((done + new.size,))
                kept[done:] = new
            starts.append(done + np.cumsum(sizes))
        X.create_dataset("indptr", data=np.concatenate(starts))
    os.rename(part, path)


def make_sparse_zarr(path: Path, source: Path, n_cells: int, n_genes: int) -> None:
    """Copy the matrix of an .h5ad file into a zarr store, with its usual compression."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    obs_of(n_cells, n_genes).write_zarr(part)
    store = zarr.open_group(part, mode="r+")
    if "X" in store:
        del store["X"]
    with h5py.File(source, "r") as file:
        X = store.create_group("X")
        X.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [n_cells, n_genes]})
        for name in ("data", "indices", "indptr"):
            held = file["X"][name]
            made = X.create_array(name, shape=held.shape, dtype=held.dtype, chunks=(2**20,))
            for lo in range(0, held.shape[0], 2**24):
                made[lo : lo + 2**24] = held[lo : lo + 2**24]
    zarr.consolidate_metadata(store.store)
    os.rename(part, path)


def make_dense_zarr(path: Path, n_cells: int, n_genes: int) -> None:
    """Write a dense store in chunks of 16 MB, cut along both axes, with the usual compression."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    obs_of(n_cells, n_genes).write_zarr(part)
    store = zarr.open_group(part, mode="r+")
    if "X" in store:
        del store["X"]
    X = store.create_array("X", shape=(n_cells, n_genes), dtype="f4", chunks=(2_000, 2_000))
    X.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    rng = np.random.default_rng(0)
    for lo in range(0, n_cells, 2_000):
        n = min(2_000, n_cells - lo)
        X[lo : lo + n] = np.round(rng.normal(8.0, 1.0, (n, n_genes)).astype(np.float32) * 64) / 64
    zarr.consolidate_metadata(store.store)
    os.rename(part, path)


def make(folder: Path, n_cells: int, n_genes: int) -> dict[str, Path]:
    """Make all files that are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    plain, packed = folder / "cells.h5ad", folder / "cells-gzip.h5ad"
    make_h5ad(plain, n_cells, n_genes, None)
    make_h5ad(packed, n_cells, n_genes, "gzip")
    make_sparse_zarr(folder / "cells.zarr", plain, n_cells, n_genes)
    make_dense_zarr(folder / "dense.zarr", n_cells // 2, n_genes // 2)
    return {each.name: each for each in (plain, packed, folder / "cells.zarr", folder / "dense.zarr")}
