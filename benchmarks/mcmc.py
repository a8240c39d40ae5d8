"""Rivals that draw from a posterior: time of a sweep, and of a whole run as the paper sets it.

Run: python benchmarks/mcmc.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import bayesieve as bs

N_SAMPLES = 200
BARS = {300: 2.0, 5000: 20.0}  # milliseconds per sweep of BayesReg
VARIANTS = [f"bayesreg-{link}-{prior}" for link in ("linear", "logit") for prior in ("l1", "hs")]


def seconds(call: Callable[[], bs.FeatureScores]) -> tuple[float, bs.FeatureScores]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def line(name: str, taken: float, unit: str, bar: float | None = None, more: str = "") -> None:
    mark = "" if bar is None else f"  (bar {bar:g} {unit})" + ("" if taken <= bar else "  <- over")
    print(f"{name:58} {taken:9.2f} {unit}{mark}{more}")


def table(n_features: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((N_SAMPLES, n_features)), np.tile([0, 1], N_SAMPLES // 2)
    X[y == 1, :20] += 0.5
    return X, y


def sweeps() -> None:
    for p, bar in BARS.items():
        X, y = table(p)
        plan = {"screen": None, "chains": 1, "burn_in": 0, "thin": 5, "draws": 100 if p == 300 else 10}
        for method in VARIANTS:
            taken = []
            for _ in range(4):  # the first may compile
                _, found = seconds(lambda m=method, X=X, y=y, plan=plan: bs.score(X, y, method=m, **plan))
                taken.append(1e3 * found.diagnostics["seconds"] / found.diagnostics["sweeps"])
            line(f"{method}, a sweep, {N_SAMPLES} x {p:,}", min(taken[1:]), "ms", bar)


def runs() -> None:
    X, y = table(300)
    bs.score(X, y, method="bpm", draws=4, chains=1)
    for options in ({}, {"swap": 10}):
        words = "".join(f", {name} {value}" for name, value in options.items())
        taken, _ = seconds(lambda o=options: bs.score(X, y, method="bpm", chains=1, **o))
        line(f"bpm, 5,000 sweeps, {N_SAMPLES} x 300{words}", taken, "s", 60)
    wide = table(5000)
    taken, _ = seconds(lambda: bs.score(*wide, method="bpm", chains=1, draws=500, screen=None))
    line(f"bpm, 500 sweeps, {N_SAMPLES} x 5,000", taken, "s")
    for method in ("bpm", *VARIANTS):
        taken, found = seconds(lambda m=method: bs.score(X, y, method=m))
        told = found.diagnostics
        more = (
            f"  R-hat {told['r_hat_top']:.3f}, {told['ess_top']:.0f} independent draws of the worst of the top 20"
        )
        line(f"{method} as a user calls it, two chains, {N_SAMPLES} x 300", taken, "s", None, more)


if __name__ == "__main__":
    warnings.simplefilter("ignore", bs.errors.ConvergenceWarning)
    sweeps()
    runs()
