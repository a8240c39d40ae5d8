"""Moments.from_matrix against the time of merely reading the same array, in one process.

Run: python benchmarks/moments.py [quick]

The read limit is a numba ``parallel=True, fastmath=True`` sum, one stream per row (dense) or one
over values and indices (sparse). Each case alternates reading and summing and reports the ratio of
the best times, so that a noisy machine disturbs both alike.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit, prange

from bayesieve.stats import Moments


@njit(parallel=True, fastmath=True)
def read_dense(X: Any) -> float:
    out = np.zeros(X.shape[0])
    for i in prange(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += X[i, j]
        out[i] = total
    return float(out.sum())


@njit(parallel=True, fastmath=True)
def read_sparse(data: Any, indices: Any) -> float:
    total = 0.0
    places = 0
    for t in prange(data.shape[0]):
        total += data[t]
        places += indices[t]
    return total + places


def ratio(limit: Callable[[], Any], work: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Return best times of both, taken in turns."""
    limit()
    work()
    best = [np.inf, np.inf]
    for _ in range(rounds):
        for which, call in enumerate((limit, work)):
            time.sleep(0.01)  # numba's worker threads spin for a while after a parallel loop
            start = time.perf_counter()
            call()
            best[which] = min(best[which], time.perf_counter() - start)
    return best[0], best[1]


def sparse_case(rng: np.random.Generator, n: int, p: int, density: float) -> sp.csr_array:
    per_row = int(p * density)
    step = p // per_row
    indices = np.arange(0, per_row * step, step, dtype=np.int32)[None, :] + rng.integers(
        0, step, (n, per_row), dtype=np.int32
    )
    indptr = np.arange(n + 1, dtype=np.int32) * per_row
    return sp.csr_array((rng.standard_normal(n * per_row) + 1.0, indices.ravel(), indptr), shape=(n, p))


def main() -> None:
    quick = "quick" in sys.argv
    rounds = 5 if quick else 25
    rng = np.random.default_rng(0)
    n, p = (1000, 20_000) if quick else (4000, 20_000)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, p))
    print(f"{'case':34} {'read ms':>8} {'ours ms':>8} {'ratio':>6} {'bar':>5}")

    def show(name: str, bar: float, limit: Callable[[], Any], work: Callable[[], Any]) -> None:
        read, ours = ratio(limit, work, rounds)
        mark = "" if ours <= bar * read else "  <- over"
        print(f"{name:34} {1e3 * read:8.1f} {1e3 * ours:8.1f} {ours / read:6.2f} {bar:5.1f}{mark}")

    for name, dtype, bar in (
        ("float64", np.float64, 1.3),
        ("float32", np.float32, 1.2),
        ("int8", np.int8, 1.3),
    ):
        A = (20 * X).astype(dtype) if dtype is np.int8 else X.astype(dtype)
        show(f"C order {name}", bar, lambda A=A: read_dense(A), lambda A=A: Moments.from_matrix(A, y, shape=False))
    show(
        "C order float64, NaN allowed",
        1.4,
        lambda A=X: read_dense(A),
        lambda A=X: Moments.from_matrix(A, y, missing="omit", shape=False),
    )
    for name, dtype in (("float64", np.float64), ("float32", np.float32)):
        V = np.ascontiguousarray(X.T.astype(dtype))
        show(
            f"feature-major {name}",
            1.6,
            lambda V=V: read_dense(V),
            lambda V=V: Moments.from_matrix(V.T, y, shape=False),
        )
    del X, A, V
    n = 10_000 if quick else 50_000
    y = rng.integers(0, 2, n)
    S = sparse_case(rng, n, p, 0.05)
    show("CSR 5%", 4.5, lambda: read_sparse(S.data, S.indices), lambda: Moments.from_matrix(S, y, shape=False))
    C = S.tocsc()
    show("CSC 5%", 1.8, lambda: read_sparse(C.data, C.indices), lambda: Moments.from_matrix(C, y, shape=False))


if __name__ == "__main__":
    main()
