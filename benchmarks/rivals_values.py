"""Rivals that need the values: spacing information, bolstered error, rank sums, and scikit-learn's two.

Run: python benchmarks/rivals_values.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse, stats

from bayesieve.data import LabelledMatrix
from bayesieve.rivals import rival, sorted_scores

N_FEATURES, BAR = 20_000, 1.0  # seconds, for 200 samples


def best(call: Callable[[], Any], rounds: int = 5) -> float:
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def line(name: str, taken: float, bar: float | None = None) -> None:
    mark = "" if bar is None else f" (bar {bar:.0f} s)" + ("" if taken <= bar else "  <- over")
    print(f"{name:66} {1e3 * taken:9.1f} ms{mark}")


def tables(n_samples: int) -> dict[str, Any]:
    X = np.random.default_rng(0).standard_normal((n_samples, N_FEATURES))
    few = np.where(np.random.default_rng(1).random(X.shape) < 0.1, X, 0.0)
    return {
        "rows": X,
        "columns (Fortran order)": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "rounded to 0.1": X.round(1),
        "10% missing": np.where(few == 0.0, X, np.nan),
        "CSR, 10% stored": sparse.csr_matrix(few),
    }


def sorted_rivals(n_samples: int, bar: float | None) -> None:
    y = np.tile([0, 1], n_samples // 2)
    for form, X in tables(n_samples).items():
        matrix, plain = LabelledMatrix.from_arrays(X, y), form == "rows"
        for name in ("mi", "nmc", "wilcoxon"):
            taken = best(lambda m=matrix, r=name: rival(r).run(m))
            line(f"{name}, {n_samples:,} x {N_FEATURES:,}, {form}", taken, bar if plain else None)
        together = best(lambda m=matrix: sorted_scores(m, ["mi", "nmc", "wilcoxon"]))
        line(f"the three with one sort, {n_samples:,} x {N_FEATURES:,}, {form}", together)
        if plain:
            alone = best(lambda m=matrix: sorted_scores(m, ["mi", "nmc", "wilcoxon"], n_threads=1))
            line("the same with one thread", alone)
        if form.startswith("rounded"):
            taken = best(lambda m=matrix: rival("mi").run(m, ties="jitter"))
            line(f"mi with jitter, {n_samples:,} x {N_FEATURES:,}, {form}", taken)


def habits() -> None:
    X, y = np.random.default_rng(0).standard_normal((200, N_FEATURES)), np.tile([0, 1], 100)
    line(
        "f-classif of scikit-learn, 200 x 20,000",
        best(lambda: rival("f-classif").run(LabelledMatrix.from_arrays(X, y))),
    )
    some = LabelledMatrix.from_arrays(X[:, :200], y)
    line("mutual-info of scikit-learn, 200 x 200", best(lambda: rival("mutual-info").run(some), 2))
    line(
        "scipy.stats.mannwhitneyu, 200 x 2,000",
        best(lambda: stats.mannwhitneyu(X[y == 0, :2000], X[y == 1, :2000]), 2),
    )


if __name__ == "__main__":
    sorted_rivals(200, BAR)
    sorted_rivals(1000, None)
    habits()
