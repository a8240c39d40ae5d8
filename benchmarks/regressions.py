"""Penalised regressions: the paper's 84 fits, cross-validation and stability selection.

Run: python benchmarks/regressions.py
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.regression.cross_validation import cross_validate
from bayesieve.rivals.regression.every import all_regressions
from bayesieve.rivals.regression.path import Regression
from bayesieve.rivals.regression.stability import stability_selection
from bayesieve.simulation import SynergeticModel

N_SUBSAMPLES, MEASURED = 100, 100  # measured may be fewer; the rest is then reckoned, and said


Seconds = tuple[float, float]
"""By the clock, and of processors: a machine that is busy otherwise shows in the first alone."""


def timed(work: Callable[[], Any]) -> Seconds:
    start, used = time.perf_counter(), sum(os.times()[:4])
    work()
    return time.perf_counter() - start, sum(os.times()[:4]) - used


def best(work: Callable[[], Any], rounds: int = 3) -> Seconds:
    work()
    return min(timed(work) for _ in range(rounds))


def line(name: str, taken: Seconds, bar: float | None = None, more: str = "") -> None:
    mark = "" if bar is None else f" (bar {bar:.0f} s)" + ("" if taken[0] <= bar else "  <- over")
    print(f"{name:62} {taken[0]:8.2f} s, {taken[1]:8.2f} s of processors{mark}{more}", flush=True)


def synthetic(n: int) -> LabelledMatrix:
    data = SynergeticModel().draw(n, seed=1)
    return LabelledMatrix.from_arrays(data.values, data.labels)


def microarray(n_features: int = 42_450) -> LabelledMatrix:
    """As large as the colon cancer data: 28 and 210 samples, features correlated by factors, some weak markers."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [28, 210])
    X = rng.standard_normal((238, 20)) @ rng.standard_normal((20, n_features)) * 0.2
    X += rng.standard_normal(X.shape)
    X[y == 1, :300] += 0.35
    return LabelledMatrix.from_arrays(X, y)


def eighty_four() -> None:
    for n, bar in ((200, 1.0), (1000, 5.0)):
        matrix = synthetic(n)
        line(f"84 fits, {n:,} x 20,000, all threads", best(lambda m=matrix: all_regressions(m)), bar)
        line(f"84 fits, {n:,} x 20,000, one thread", best(lambda m=matrix: all_regressions(m, n_threads=1)))
        if importlib.util.find_spec("adelie"):
            taken = best(lambda m=matrix: all_regressions(m, solver="adelie", n_threads=1))
            line(f"84 fits, {n:,} x 20,000, adelie (looser), one thread", taken)


def chosen() -> None:
    matrix = microarray()
    for alpha, kind in ((1.0, "LASSO"), (0.5, "elastic net")):
        for share in (0.5, 0.9):
            found: list[Any] = []
            spent = timed(
                lambda a=alpha, s=share, f=found: f.append(
                    stability_selection(matrix, Regression(alpha=a), n_subsamples=MEASURED, share=s)
                )
            )
            taken = spent[0] * N_SUBSAMPLES / MEASURED, spent[1] * N_SUBSAMPLES / MEASURED
            told = f"  q = {found[0].q:.0f}, {int(found[0].selected(0.6).sum())} at 0.6"
            title = f"stability, {kind}, {N_SUBSAMPLES} x {share:.0%} x 40, 238 x 42,450"
            line(title, taken, 180.0, told + ("" if MEASURED == N_SUBSAMPLES else f", from {MEASURED}"))
        results: list[Any] = []
        taken = timed(
            lambda a=alpha, f=results: f.append(cross_validate(matrix, Regression(alpha=a), "supplement"))
        )
        tried = results[0]
        told = f"  penalty {tried.penalties[tried.best]:.3g}, accuracy {tried.scores['accuracy'][tried.best]:.3f}"
        line(f"10 x 10 cross-validation, {kind}, 40 penalties, 238 x 42,450", taken, more=told)


if __name__ == "__main__":
    eighty_four()
    chosen()
