"""More than two classes: the cost of all partitions after the moments, and beside the two-class screen.

Run: python benchmarks/classes.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import bayesieve as bs

N_FEATURES = 20_000
BAR = {6: 2.0}  # seconds, for 203 partitions


def best(call: Callable[[], Any], rounds: int = 3) -> float:
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, N_FEATURES))
    two = None
    for n_classes in (2, 3, 4, 5, 6, 7, 8):
        moments = bs.Moments.from_matrix(X, np.arange(240) % n_classes)
        taken = best(lambda moments=moments: bs.screen(moments, model=bs.GaussianModel.jeffreys()))
        two = two or taken
        n_partitions = len(bs.Patterns.of("any", moments.classes).growths) + 1
        bar = f"  (bar {BAR[n_classes]:.0f} s)" if n_classes in BAR else ""
        print(f"{n_classes} classes, {n_partitions:5,} partitions, {N_FEATURES:,} features from moments: "
              f"{1e3 * taken:8.1f} ms, {taken / two:7.1f} times two classes{bar}")  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
