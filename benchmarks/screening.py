"""screen() against peers on the same data, its memory, and the distribution of the errors.

Run: python benchmarks/screening.py
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.stats
from sklearn.feature_selection import f_classif

import bayesieve as bs


def best(call: Callable[[], Any], rounds: int) -> float:
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def peers(n: int, bar: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20_000))
    y = np.repeat([0, 1], n // 2)
    ours = best(lambda: bs.screen(X, y, model=bs.GaussianModel.jeffreys(), shuffles=0), 30)
    welch = best(lambda: scipy.stats.ttest_ind(X[y == 0], X[y == 1], equal_var=False), 5)
    anova = best(lambda: f_classif(X, y), 5)
    ours = min(ours, best(lambda: bs.screen(X, y, model=bs.GaussianModel.jeffreys(), shuffles=0), 30))
    for name, other in (("scipy ttest_ind (Welch)", welch), ("sklearn f_classif", anova)):
        mark = "" if other >= bar * ours else "  <- under"
        print(f"{n:5} x 20,000  {name:26} {1e3 * other:8.1f} ms  screen {1e3 * ours:6.2f} ms  "
              f"{other / ours:6.1f} times faster (bar {bar:.0f}){mark}")  # fmt: skip


MEMORY = """
import resource, sys, threading, time
import numpy as np, psutil, bayesieve as bs
import scipy.stats
from sklearn.feature_selection import f_classif
rng = np.random.default_rng(0)
X = rng.standard_normal((2000, 20_000)); y = np.repeat([0, 1], 1000)
calls = {"screen": lambda: bs.screen(X, y, model=bs.GaussianModel.jeffreys(), shuffles=0),
         "ttest": lambda: scipy.stats.ttest_ind(X[y == 0], X[y == 1], equal_var=False),
         "f_classif": lambda: f_classif(X, y)}
call = calls[sys.argv[1]]
call()
process, before, peak, done = psutil.Process(), None, 0, False
before = process.memory_info().rss
def watch():
    global peak
    while not done:
        peak = max(peak, process.memory_info().rss)
thread = threading.Thread(target=watch); thread.start()
for _ in range(5): call()
done = True; thread.join()
print(100 * (peak - before) / X.nbytes)
"""


def memory() -> None:
    for name in ("screen", "ttest", "f_classif"):
        shown = subprocess.run([sys.executable, "-c", MEMORY, name], capture_output=True, text=True, check=True)
        print(f"peak memory above a 2,000 x 20,000 float64 input: {name:10} {float(shown.stdout):6.2f}% of it"
              + ("  (bar 5%)" if name == "screen" else ""))  # fmt: skip


def degenerate() -> None:
    """A sparse table most of whose columns are constant in a class, which are looked at twice."""
    rng = np.random.default_rng(0)
    X = sp.random_array((500, 50_000), density=0.002, format="csr", rng=rng)
    y = np.repeat([0, 1], 250)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole, sums = (
            best(lambda: bs.screen(X, y, model=bs.GaussianModel.jeffreys(), shuffles=0), 5),
            best(lambda: bs.Moments.from_matrix(X, y, shape=False), 5),
        )
    print(f"500 x 50,000 CSR, half of it degenerate: screen {1e3 * whole:.1f} ms, moments {1e3 * sums:.1f} ms")


def distributions() -> None:
    rng = np.random.default_rng(0)
    screenlike = 1 / (1 + np.exp(-np.concatenate([rng.normal(-6, 1.2, 19_900), rng.normal(5, 8, 100)])))
    for name, p, bar in (("screen-like", screenlike, 20), ("all one half", np.full(20_000, 0.5), 60),
                         ("uniform", rng.random(20_000), 60)):  # fmt: skip
        taken = best(lambda p=p: bs.PoissonBinomial.of(p), 10)
        print(f"Poisson-binomial distribution of 20,000 features, {name:13} {1e3 * taken:6.1f} ms (bar {bar})")


if __name__ == "__main__":
    peers(200, 15)
    peers(2000, 25)
    degenerate()
    distributions()
    memory()
    print(
        "peak resident memory of this process:", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, "MB"
    )
