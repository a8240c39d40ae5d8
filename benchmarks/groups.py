"""Marker tables of all clusters, beside scanpy's t-test on the same cells in the same run.

    python benchmarks/groups.py [--cells 68000] [--genes 20000] [--clusters 15] [--shuffles 20] [--no-scanpy]

Cells are made: log1p counts, 4% of them not zero, every cluster with 50 genes of its own. Kernels are compiled
before anything is timed. Processor seconds tell more than those of the clock where others share the machine.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import scipy.sparse as sp

import bayesieve as bs

_MARKERS = 50
_ROWS = 4000


def make_cells(n_cells: int, n_genes: int, n_clusters: int, seed: int = 0):
    """Return log1p counts as CSR, and the cluster of every cell."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, n_clusters, n_cells)
    weights = np.exp(rng.normal(0.0, 1.5, n_genes))
    parts = []
    for lo in range(0, n_cells, _ROWS):
        of = clusters[lo : lo + _ROWS]
        rows, columns = [], []
        for cluster in np.unique(of):
            own = weights.copy()
            own[cluster * _MARKERS : (cluster + 1) * _MARKERS] *= 4.0
            ends = np.cumsum(own) / own.sum()
            cells = np.flatnonzero(of == cluster)
            n_reads = rng.poisson(0.055 * n_genes, cells.size)
            rows.append(np.repeat(cells, n_reads))
            columns.append(np.minimum(np.searchsorted(ends, rng.random(n_reads.sum())), n_genes - 1))
        where = np.concatenate(rows), np.concatenate(columns)
        part = sp.coo_matrix((np.ones(where[0].size, np.float32), where), shape=(of.size, n_genes)).tocsr()
        parts.append(part.log1p())
    return sp.vstack(parts).tocsr(), np.array([f"c{k:02d}" for k in clusters])


def timed(run):
    """Seconds of the clock and of the processor, and what came out."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = run()
    return time.perf_counter() - wall, time.process_time() - cpu, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("cells", 68_000), ("genes", 20_000), ("clusters", 15), ("shuffles", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--no-scanpy", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    X, clusters = make_cells(asked.cells, asked.genes, asked.clusters)
    share = X.nnz / X.shape[0] / X.shape[1]
    print(f"{asked.cells:,} cells x {asked.genes:,} genes, {share:.1%} not zero, {asked.clusters} clusters")
    bs.screen_groups(X[:2000], clusters[:2000], shuffles=1)
    rows = []
    for reference in ("rest", "c00", "each"):
        wall, cpu, found = timed(lambda r=reference: bs.screen_groups(X, clusters, reference=r, shuffles=0))
        n = found.select(bs.MinimalRisk(0.9)).n_selected
        rows.append((f"bs.screen_groups, reference={reference!r}", wall, cpu, f"{n:,} markers"))
    try:
        import anndata as ad  # noqa: PLC0415
        import pandas as pd  # noqa: PLC0415

        adata = ad.AnnData(
            X, obs=pd.DataFrame({"cluster": pd.Categorical(clusters)}, index=map(str, range(X.shape[0])))
        )
        adata.uns["log1p"] = {"base": None}
    except ImportError:
        adata = None
    if adata is not None and hasattr(bs, "tl"):
        wall, cpu, _ = timed(lambda: bs.tl.rank_markers(adata, "cluster", shuffles=0))
        rows.append(("bs.tl.rank_markers", wall, cpu, "all tables in scanpy's schema"))
    if asked.shuffles:
        wall, cpu, _ = timed(lambda: bs.screen_groups(X, clusters, shuffles=asked.shuffles))
        rows.append((f"bs.screen_groups, {asked.shuffles} shuffles", wall, cpu, ""))
    if adata is not None and not asked.no_scanpy:
        import scanpy as sc  # noqa: PLC0415

        wall, cpu, _ = timed(lambda: sc.tl.rank_genes_groups(adata, "cluster", method="t-test"))
        rows.append((f"scanpy {sc.__version__} rank_genes_groups, t-test", wall, cpu, "all tables"))
    last = rows[-1]
    print(f"{'':46} {'clock s':>8} {'cpu s':>8} {'times faster':>13}")
    for what, wall, cpu, note in rows:
        ratio = f"{last[1] / wall:>6.1f}/{last[2] / cpu:<6.1f}" if "scanpy" in last[0] else ""
        print(f"{what:46} {wall:8.2f} {cpu:8.2f} {ratio:>13}  {note}")


if __name__ == "__main__":
    main()
