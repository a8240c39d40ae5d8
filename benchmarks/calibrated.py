"""The calibrated screen and its shuffled labels, against Jeffreys' prior and the reading of the file.

Run: python benchmarks/calibrated.py [--file]

Times are the best of several, taken in turns. ``--file`` also writes a CSV of 238 samples x 54,675 features and
reads it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import bayesieve as bs


def best(*calls, repeats=5):
    """Best times of several calls, taken in turns."""
    times = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(repeats):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[k].append(time.perf_counter() - start)
    return [min(each) for each in times]


def arrays() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 20_000)), np.repeat([0, 1], 100)
    jeffreys, calibrated = best(
        lambda: bs.screen(X, y, model=bs.GaussianModel.jeffreys(), shuffles=0), lambda: bs.screen(X, y, shuffles=0)
    )
    (shuffled,) = best(lambda: bs.screen(X, y), repeats=2)
    print("200 x 20,000 float64")
    print(f"  Jeffreys' prior, no shuffles    {jeffreys:8.3f} s")
    print(f"  calibrated, no shuffles         {calibrated:8.3f} s   bar 1 s")
    print(f"  calibrated, 100 shuffles        {shuffled:8.3f} s   bar 4 s")


def files() -> None:
    rng = np.random.default_rng(0)
    n, p = 238, 54_675
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("class," + ",".join(f"g{j}" for j in range(p)) + "\n")
            for i in range(n):
                file.write(f"{i % 2}," + ",".join(f"{v:.4f}" for v in rng.normal(8.0, 1.0, p)) + "\n")

        def run(**options):
            return bs.screen(bs.read_table(path, labels="class", keep_values=True), **options)

        before, after = best(lambda: run(model=bs.GaussianModel.jeffreys(), shuffles=0), run, repeats=3)
    print(f"238 x 54,675 from CSV to list: Jeffreys' prior {before:.2f} s, calibrated with shuffles {after:.2f} s")
    print(f"  {after - before:.2f} s more, bar 4 s")


if __name__ == "__main__":
    arrays()
    if "--file" in sys.argv:
        files()
