"""Atlases that do not fit: screens of files against a bare read of them, and against scanpy on the same file.

    python benchmarks/atlas.py --folder SCRATCH [--cells 200000] [--genes 20000] [--scanpy PYTHON] [--only ...]

Files are made once in the folder: cells as CSR at 5% (``.h5ad`` plain and gzip, zarr), and a dense zarr store.
Every run is a process of its own; times are the best of runs that alternate.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import zarr

N_TYPES, DENSITY, ROWS = 8, 0.05, 4_096
_PARTS = (("data", "f4"), ("indices", "i4"))


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
        data, indices = (X.create_dataset(name, (0,), dtype=kind, **how) for name, kind in _PARTS)
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


def cost() -> dict[str, float]:
    """Wall clock, processor seconds and largest memory of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall": time.perf_counter(), "processor": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024.0,
    }  # fmt: skip


def bare(path: Path) -> None:
    """Read every value once, with the same decompression and in the same pieces, and do nothing with it."""
    if path.suffix == ".h5ad":
        X: Any = h5py.File(path)["X"]
    else:
        X = zarr.open_group(path, mode="r")["X"]
    if hasattr(X, "chunks"):
        wide = 4 * X.chunks[1]
        for lo in range(0, X.shape[0], X.chunks[0]):
            for j in range(0, X.shape[1], wide):
                X[lo : lo + X.chunks[0], j : j + wide]
        return
    for lo in range(0, X["data"].shape[0], 2**23):
        X["data"][lo : lo + 2**23], X["indices"][lo : lo + 2**23]


def ours(path: Path) -> None:
    """Read and sum the table as a screen does, within 1 GB."""
    import bayesieve as bs  # noqa: PLC0415 - others have to do without

    bs.read_table(path, labels="state", memory=10**9, keep_values=False)


def screened(path: Path) -> None:
    """Find the markers of every type of cell, within 1 GB."""
    import bayesieve as bs  # noqa: PLC0415

    table = bs.read_table(path, labels="cell_type", memory=10**9, keep_values=False)
    bs.screen_groups(table, shuffles=0)


def scanpy(path: Path) -> None:
    """Find the markers of every type of cell by scanpy's t-tests, which loads the file."""
    import scanpy as sc  # noqa: PLC0415

    held: Any = (anndata.read_zarr if path.suffix == ".zarr" else anndata.read_h5ad)(path)
    if hasattr(held.X, "indptr"):
        held.X.indptr = held.X.indptr.astype(held.X.indices.dtype)  # which it needs to be of the same type
    sc.tl.rank_genes_groups(held, "cell_type", method="t-test")


WORK: dict[str, Callable[[Path], None]] = {"bare": bare, "ours": ours, "screened": screened, "scanpy": scanpy}


def run(python: str, what: str, path: Path, small: Path) -> dict[str, float]:
    """Do something in a process of its own, after the same on a small file, so that everything is loaded."""
    line = [python, "-W", "ignore", __file__, "--work", what, "--path", str(path), "--small", str(small)]
    found: dict[str, float] = json.loads(subprocess.run(line, check=True, capture_output=True).stdout)
    return found


def work(what: str, path: Path, small: Path) -> None:
    """Do something, and print what it took."""
    if what != "bare":
        WORK[what](small)
    before = cost()
    WORK[what](path)
    after = cost()
    print(json.dumps({**{name: after[name] - before[name] for name in before}, "memory": after["memory"]}))


def compared(python: str, asked: tuple[tuple[str, str], ...], path: Path, small: Path, repeats: int) -> None:
    """Do several things in turns, and print the best of each with its ratio to the first one."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(repeats):
        for what, by in asked:
            found = run(by or python, what, path, small)
            held = best.setdefault(what, found)
            best[what] = {name: min(held[name], value) for name, value in found.items()}
    first = best[asked[0][0]]
    for what, found in best.items():
        ratios = ", ".join(f"{name} {found[name] / first[name]:.2f}" for name in ("wall", "processor", "memory"))
        print(
            f"  {path.name}, {what}: {found['wall']:.1f} s, {found['processor']:.1f} s of processor, "
            f"{found['memory'] / 1e6:,.0f} MB; of {asked[0][0]}: {ratios}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--cells", type=int, default=200_000)
    parser.add_argument("--genes", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scanpy", default="", help="a Python that has scanpy")
    parser.add_argument("--only", default="cells.h5ad,cells-gzip.h5ad,cells.zarr,dense.zarr")
    for name in ("--work", "--path", "--small"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.work, Path(asked.path), Path(asked.small))
        return
    files = make(asked.folder / "large", asked.cells, asked.genes)
    small = make(asked.folder / "small", 2_000, 500)
    for name in asked.only.split(","):
        compared(sys.executable, (("bare", ""), ("ours", "")), files[name], small[name], asked.repeats)
        if asked.scanpy:
            compared(
                sys.executable,
                (("screened", ""), ("scanpy", asked.scanpy)),
                files[name],
                small[name],
                asked.repeats,
            )


if __name__ == "__main__":
    main()
