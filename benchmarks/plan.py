"""Time of plan(): 1,000 futures of 20,000 features at four sizes, from a pilot and from stated effects.

Usage: ``python benchmarks/plan.py [FUTURES]``. Kernels are compiled first.
"""

import sys
import time

import numpy as np

import bayesieve as bs

SIZES = (20, 40, 80, 160)


def pilot(n=15, p=20_000, markers=200):
    """Values and labels of a pilot with some markers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, p)) / np.sqrt(rng.gamma(2.0, 0.5, p))
    X[n:, :markers] += rng.normal(size=markers) * X[:, :markers].std(axis=0)
    return X, np.repeat([0, 1], n)


def main():
    """Print a table."""
    futures = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    X, y = pilot()
    ways = {
        "pilot": {"pilot": X, "y": y},
        "pilot, four rules": {"pilot": X, "y": y, "rules": ("mnc", "cmnc:100", "fdr:0.1", "np:5")},
        "pilot, combined": {"pilot": X, "y": y, "combined": True},
        "pilot, looks half way": {"pilot": X, "y": y, "interim": True},
        "stated effects": {"effects": bs.StatedEffects()},
    }
    bs.plan(X[:, :500], y, per_class=10, futures=4, interim=True)
    bs.plan(X[:, :500], y, per_class=10, futures=4, combined=True)
    print(f"{futures:,} futures of 20,000 features at {', '.join(map(str, SIZES))} per class")
    for name, options in ways.items():
        start, cpu = time.perf_counter(), time.process_time()
        found = bs.plan(per_class=SIZES, futures=futures, **options)
        true = ", ".join(f"{each:.0f}" for each in found.to_dict()["true"][:4])
        took, used = time.perf_counter() - start, time.process_time() - cpu
        print(f"{name:24} {took:6.1f} s  ({used:5.1f} CPU s)   true markers {true}", flush=True)


if __name__ == "__main__":
    main()
