"""permutations(): 1,000 permutations of a usual table, against calling screen() for each.

Run: python benchmarks/permutations.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import bayesieve as bs

BAR = 60.0


def table(name: str, X: Any, y: Any, bar: float | None = None, **options: Any) -> None:
    options.setdefault("model", bs.GaussianModel.jeffreys())
    posterior = bs.screen(X, y, missing="omit", shuffles=0, **options)
    bs.permutations(X[:, :64], y, missing="omit", n_permutations=10, **options)  # compiles
    start = time.perf_counter()
    bs.permutations(X, y, posterior=posterior)
    spent = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(5):
        bs.screen(X, np.random.default_rng(0).permutation(y), missing="omit", shuffles=0, **options)
    screens = 200 * (time.perf_counter() - start)
    mark = "" if bar is None else f" (bar {bar:.0f} s)" + ("" if spent <= bar else "  <- over")
    print(f"{name:44} {spent:6.2f} s, by 1,000 screens about {screens:5.1f} s{mark}")


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 20_000)), np.repeat([0, 1], 100)
    table("200 x 20,000, two classes", X, y, BAR)
    table("the same, proper priors", X, y, model=bs.GaussianModel.proper())
    table("the same, three classes", X, np.repeat([0, 1, 2], [60, 60, 80]))
    table("the same, 20 samples per class", X[80:120], y[80:120])
    holes = np.where(rng.random(X.shape) < 0.02, np.nan, X)
    table("the same, 2% of the values missing", holes, y)
    table("the same, log-normal", np.exp(X), y)
    counts = rng.poisson(0.01, X.shape).astype(float)
    table("counts, 99% of them zero", counts, y)
