"""Data models: raw values against NumPy's standard normals, the exact sampler at any n, and `simulate` to a file.

Run: python benchmarks/simulation.py
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.cli.simulate import write_data
from bayesieve.simulation import SynergeticModel, data_model
from bayesieve.simulation.data_model import data_model_names

SHAPE = (1000, 20_000)
RATIO_BAR, MOMENTS_BAR = 3.0, 20.0


def best(work: Callable[[], Any], rounds: int = 5) -> float:
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def values() -> None:
    rng = np.random.default_rng(0)
    normals = best(lambda: rng.standard_normal(SHAPE))
    print(f"{'NumPy standard normals, 1,000 x 20,000':48} {normals * 1e3:7.0f} ms")
    for name in data_model_names():
        model: Any = data_model(name)
        for threads in (1, None):
            spent = best(lambda m=model, t=threads: m.draw(SHAPE[0], seed=1, n_threads=t), 3)
            bar = f" (bar {RATIO_BAR:.0f})" if name == "synergetic" else ""
            over = "  <- over" if name == "synergetic" and spent > RATIO_BAR * normals else ""
            title = f"{name}, {'one thread' if threads else 'all threads'}"
            print(f"{title:48} {spent * 1e3:7.0f} ms, {spent / normals:4.1f} times{bar}{over}")
    model = SynergeticModel()
    for by in ("samples", "features"):
        spent = best(lambda b=by: sum(piece.values.size for piece in model.chunks(SHAPE[0], seed=1, by=b)), 2)
        print(f"{f'synergetic, in chunks by {by}':48} {spent * 1e3:7.0f} ms, {spent / normals:4.1f} times")


def moments() -> None:
    model = SynergeticModel()
    for n in (50, 1000, 5000, 1_000_000):
        spent = best(lambda n=n: model.draw_moments(n, seed=1), 30) * 1e3
        over = "  <- over" if spent > MOMENTS_BAR else ""
        print(
            f"{f'exact sampler, 20,000 features, n = {n:,}':48} {spent:7.1f} ms (bar {MOMENTS_BAR:.0f} ms){over}"
        )


def files() -> None:
    model = SynergeticModel()
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("csv", "csv.gz", "parquet"):
            path = Path(folder) / f"practice.{ending}"
            spent = best(lambda p=path: write_data(model.chunks(200, seed=1), p, 200), 1)
            size = path.stat().st_size / 1e6
            print(f"{f'simulate, 200 x 20,000 to .{ending}':48} {spent * 1e3:7.0f} ms, {size:.0f} MB")


if __name__ == "__main__":
    values()
    moments()
    files()
