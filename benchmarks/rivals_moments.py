"""Time of every method that starts from moments, for 20,000 features: python benchmarks/rivals_moments.py."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

import bayesieve as bs
from bayesieve.rivals import rival

METHODS = (
    ("welch", {}),
    ("welch", {"score": "abs_t", "p_values": False}),
    ("student", {}),
    ("student", {"p_values": False}),
    ("limma", {}),
    ("limma", {"p_values": False}),
    ("limma", {"trend": True}),
    ("bd", {}),
    ("pearson-neyman", {}),
    ("pearson-neyman", {"p_values": False}),
    ("obf-jp", {}),
    ("obf-pp", {}),
)


def best(work: Callable[[], object], repeats: int) -> float:
    """Shortest of several times, in seconds: other work on the machine only adds to it."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def drawn(n_features: int, n0: int, n1: int, *, missing: bool) -> bs.Moments:
    """Moments of Gaussian features, one in 100 of them a marker."""
    rng = np.random.default_rng(0)
    counts = np.array([[n0], [n1]])
    if missing:
        counts = rng.binomial(counts, 0.95, size=(2, n_features))
    mean = rng.normal(size=(2, n_features)) * np.sqrt(0.5 / counts)
    mean[1, : n_features // 100] += 0.5
    squares = 0.5 * rng.chisquare(np.broadcast_to(counts - 1, mean.shape))
    return bs.Moments((0, 1), counts if missing else counts[:, 0], mean, squares)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for n0, n1, missing in ((5, 5, False), (50, 50, False), (2_500, 2_500, False), (50, 50, True)):
        moments = drawn(options.features, n0, n1, missing=missing)
        print(f"{options.features:,} features, {n0} + {n1} samples{', 5% missing' if missing else ''}")
        welch = None
        for name, keywords in METHODS:
            seconds = best(partial(rival(name).run, moments, **keywords), options.repeats)
            welch = seconds if welch is None else welch
            said = ", ".join(f"{key}={value}" for key, value in keywords.items())
            print(f"  {name:15s} {said:32s} {1e3 * seconds:7.2f} ms  {seconds / welch:5.2f} x Welch")


if __name__ == "__main__":
    main()
