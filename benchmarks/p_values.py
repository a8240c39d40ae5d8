"""Exact p-values: what they cost beside a screen, and how far both routes are from mpmath quadrature.

Run: python benchmarks/p_values.py
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bayesieve as bs
from bayesieve.posterior import tabulated_log_null_probability
from bayesieve.posterior.null.distribution import log_null_probability, null_quantile

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "posterior"))
import test_null_distribution  # the mpmath reference, beside its tests

N_FEATURES, BAR = 20_000, 1.0  # seconds, for p-values from moments


def best(call: Callable[[], Any], rounds: int = 5) -> float:
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def times() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = rng.standard_normal((200, N_FEATURES))
    moments = bs.Moments.from_matrix(X, y)
    statistic = bs.pearson_neyman(moments).details["log_lambda"]
    X[rng.random(X.shape) < 0.1] = np.nan
    holes = bs.Moments.from_matrix(X, y, missing="omit")
    screen = best(lambda: bs.screen(moments, model=bs.GaussianModel.jeffreys()))
    cases: dict[str, Callable[[], Any]] = {
        "screen(moments), to compare with": lambda: bs.screen(moments, model=bs.GaussianModel.jeffreys()),
        f"pearson_neyman(moments), exact (bar {BAR:.0f} s)": lambda: bs.pearson_neyman(moments),
        "pearson_neyman(moments), Bartlett": lambda: bs.pearson_neyman(moments, method="bartlett"),
        "pearson_neyman(moments), 10% of values missing": lambda: bs.pearson_neyman(holes),
        "distribution alone, tabulated": lambda: tabulated_log_null_probability(statistic, 100, 100),
        "distribution alone, each value by itself": lambda: log_null_probability(statistic, 100, 100),
        "quantiles of the distribution, each by itself": lambda: null_quantile(statistic, 100, 100),
    }
    for name, call in cases.items():
        taken = best(call)
        print(f"{name:52} {N_FEATURES:,} features: {1e3 * taken:8.1f} ms, {taken / screen:7.1f} times the screen")


def errors() -> None:
    n0, n1, x, expected = np.array(test_null_distribution.BY_QUADRATURE).T
    copies = np.tile(np.arange(x.size), 150)  # enough of each for a table
    routes = {
        "each value by itself": log_null_probability(-x, n0, n1),
        "tabulated": tabulated_log_null_probability(-x[copies], n0[copies], n1[copies])[: x.size],
    }
    reach = f"n from {int((n0 + n1).min())} to {int((n0 + n1).max()):,}, log p from {expected.max():.0e} to "
    for name, got in routes.items():
        worst = np.abs(got / expected - 1).max()
        print(f"worst relative error of log p, {name:22} {worst:.0e}  ({reach}{expected.min():,.0f})")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    times()
    errors()
