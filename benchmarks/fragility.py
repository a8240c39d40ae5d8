"""fragility() against screen() on the same table, and against trying every sample.

Run: python benchmarks/fragility.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import bayesieve as bs
from bayesieve.screening import fragility

BAR = 6.0


JEFFREYS = bs.GaussianModel.jeffreys()


def best(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Least time of each call, the calls taking turns so that a busy machine slows all of them."""
    times = [np.inf] * len(calls)
    for call in calls:
        call()
    for _ in range(rounds):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[k] = min(times[k], time.perf_counter() - start)
    return times


def without_each(X: Any, y: Any) -> None:
    """Screen again without each sample, from the moments: what is saved."""
    moments = bs.Moments.from_matrix(X, y)
    model = bs.GaussianModel.jeffreys()
    for i in range(len(y)):
        model.log_bayes_factor(moments.remove(bs.Moments.from_matrix(X[i : i + 1], y[i : i + 1])))


def table(name: str, X: Any, y: Any, rounds: int, bar: float | None = None) -> None:
    screen, fragile = best(
        [
            lambda: bs.screen(X, y, model=bs.GaussianModel.jeffreys(), shuffles=0),
            lambda: fragility(X, y, JEFFREYS),
        ],
        rounds,
    )
    mark = "" if bar is None else f" (bar {bar:.0f})" + ("" if fragile <= bar * screen else "  <- over")
    print(f"{name:44} screen {1e3 * screen:7.2f} ms  fragility {1e3 * fragile:7.2f} ms  "
          f"{fragile / screen:4.1f} times{mark}")  # fmt: skip


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 20_000)), np.repeat([0, 1], 100)
    table("200 x 20,000 float64, row-major", X, y, 100, BAR)
    table("200 x 20,000 float64, feature-major", np.asfortranarray(X), y, 30)
    table("200 x 20,000 float32", X.astype(np.float32), y, 100)
    X[:, :1000] += 1.5 * y[:, None]
    table("200 x 20,000 float64, 1,000 markers", X, y, 100)
    X[rng.integers(200, size=20_000), np.arange(20_000)] += 8.0
    table("200 x 20,000 float64, an outlier in each", X, y, 30)
    every, fragile = best([lambda: without_each(X, y), lambda: fragility(X, y, JEFFREYS)], 1)
    print(f"trying every sample by downdated moments: {1e3 * every:.0f} ms, {every / fragile:.0f} times as much")
