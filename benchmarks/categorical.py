"""Counting and screening categories against the time of merely reading the same array, in one process.

Run: python benchmarks/categorical.py [quick]

The read limit is that of benchmarks/moments.py: a parallel sum, one stream per row. "evidence" adds
what a screen of two classes does with the counts: which levels occur, and three log evidences.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from moments import ratio, read_dense, read_sparse

from bayesieve.models import CategoricalModel
from bayesieve.stats import CategoryCounts


def evidence(X: Any, y: Any) -> Any:
    counts = CategoryCounts.from_matrix(X, y)
    model = CategoricalModel().fitted(counts)
    first, second = (model.log_evidence(counts.pick([label])) for label in counts.classes)
    return first + second - model.log_evidence(counts.pool())


def main() -> None:
    quick = "quick" in sys.argv
    rounds = 3 if quick else 9
    rng = np.random.default_rng(0)
    n, p = (1000, 50_000) if quick else (1000, 500_000)
    y = rng.integers(0, 2, n)
    X = rng.integers(0, 3, (n, p), dtype=np.int8)
    print(f"{'case':34} {'read ms':>8} {'ours ms':>8} {'ratio':>6} {'bar':>5}")

    def show(name: str, bar: float, limit: Callable[[], Any], work: Callable[[], Any]) -> None:
        read, ours = ratio(limit, work, rounds)
        mark = "" if ours <= bar * read else "  <- over"
        print(f"{name:34} {1e3 * read:8.1f} {1e3 * ours:8.1f} {ours / read:6.2f} {bar:5.1f}{mark}")

    def both(name: str, A: Any, V: Any) -> None:
        show(f"{name}, counts", 4.0, lambda: read_dense(V), lambda: CategoryCounts.from_matrix(A, y))
        show(f"{name}, evidence", 6.0, lambda: read_dense(V), lambda: evidence(A, y))

    both("C order int8", X, X)
    V = np.ascontiguousarray(X.T)
    both("feature-major int8", V.T, V)
    del V
    B = X > 1
    show("C order bool, counts", 4.0, lambda: read_dense(B), lambda: CategoryCounts.from_matrix(B, y))
    X[5, ::1000] = -9
    show("C order int8, a rare level", 6.0, lambda: read_dense(X), lambda: CategoryCounts.from_matrix(X, y))
    X[5, ::1000] = 0
    F = X[:, : p // 10].astype(np.float64)
    show("C order float64, counts", 4.0, lambda: read_dense(F), lambda: CategoryCounts.from_matrix(F, y))
    F[rng.random(F.shape) < 0.01] = np.nan
    show(
        "C order float64, NaN allowed",
        4.0,
        lambda: read_dense(F),
        lambda: CategoryCounts.from_matrix(F, y, missing="omit"),
    )
    S = sp.csr_array(X[:, : p // 10] * (rng.random((n, p // 10)) < 0.1))
    show("CSR 7%, counts", 40.0, lambda: read_sparse(S.data, S.indices), lambda: CategoryCounts.from_matrix(S, y))
    C = S.tocsc()
    show("CSC 7%, counts", 40.0, lambda: read_sparse(C.data, C.indices), lambda: CategoryCounts.from_matrix(C, y))


if __name__ == "__main__":
    main()
