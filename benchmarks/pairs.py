"""All pairs of features: time, memory, and the time of the bare matrix products in them.

CPU seconds are those of all threads together; on a busy machine they say more than the clock.

Run: python benchmarks/pairs.py
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import bayesieve as bs
from bayesieve.data import LabelledMatrix

N_SAMPLES = 200
BARS = {2_000: 3.0, 20_000: 300.0}  # seconds
MEMORY = 2e9


def seconds(call: Callable[[], object], repeats: int = 1) -> tuple[float, float]:
    """Return the least time by the clock, and of the processor."""
    taken, busy = [], []
    for _ in range(repeats):
        start = time.perf_counter(), time.process_time()
        call()
        taken.append(time.perf_counter() - start[0])
        busy.append(time.process_time() - start[1])
    return min(taken), min(busy)


def table(p: int, n: int = N_SAMPLES) -> LabelledMatrix:
    rng = np.random.default_rng(0)
    return LabelledMatrix.from_arrays(rng.standard_normal((n, p)), np.tile([0, 1], n // 2))


def products(p: int) -> tuple[float, float]:
    """Upper triangle of the products of both classes in tiles of 1,000, by BLAS with its own threads."""
    values = np.random.default_rng(0).standard_normal((p, N_SAMPLES // 2))
    out = np.empty((1000, 1000))

    def run() -> None:
        for _ in range(2):
            for lo in range(0, p, 1000):
                for at in range(lo, p, 1000):
                    np.matmul(values[lo : lo + 1000], values[at : at + 1000].T, out=out)

    return seconds(run, 2)


def measure(p: int) -> None:
    small, matrix = table(50, 40), table(p)
    jobs: dict[str, Callable[[LabelledMatrix], object]] = {
        "list of pairs, no shuffles": lambda m: bs.screen_pairs(m, shuffles=0),
        "the same, proper prior": lambda m: bs.screen_pairs(m, shuffles=0, prior="pp"),
        "2MNC-Robust": lambda m: bs.score(m, method="2mnc-robust"),
        "POFAC": lambda m: bs.score(m, method="pofac"),
        "REMAIN": lambda m: bs.score(m, method="remain"),
        "SPM": lambda m: bs.score(m, method="spm"),
        "list of pairs with its shuffles": bs.screen_pairs,
    }
    bare = products(p)
    print(f"{'bare matrix products':34} {p:7,} x {N_SAMPLES} {bare[0]:8.2f} s  CPU {bare[1]:7.2f} s")
    for name, job in jobs.items():
        job(small)  # compiles
        taken, busy = seconds(lambda job=job: job(matrix), 3 if p < 5000 else 1)
        mark = "  <- over" if taken > BARS[p] and "with" not in name else ""  # bars are for one pass
        ratio = f"{busy / bare[1]:6.1f} x bare"
        print(f"{name:34} {p:7,} x {N_SAMPLES} {taken:8.2f} s  CPU {busy:7.2f} s  {ratio}{mark}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{'peak memory of the process':34} {p:7,} x {N_SAMPLES} {peak / 1e6:8.0f} MB (bar {MEMORY / 1e6:,.0f})")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
    else:
        for size in BARS:  # each in a process of its own, for its memory
            subprocess.run([sys.executable, __file__, str(size)], check=True)
