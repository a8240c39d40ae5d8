"""Shared-kernel Bayesian screening: kernels and evidence together, and each by itself.

Run: python benchmarks/skbs.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals import rival
from bayesieve.rivals.skbs.dictionary import fit_kernels
from bayesieve.rivals.skbs.evidence import exact_log_bayes_factor
from bayesieve.simulation import SynergeticModel
from bayesieve.stats import Moments

N_SAMPLES = 200


def best(call: Callable[[], Any], rounds: int = 5) -> tuple[float, float]:
    """Shortest of some rounds, by the clock and in seconds of processors."""
    call()
    times = []
    for _ in range(rounds):
        start, used = time.perf_counter(), time.process_time()
        call()
        times.append((time.perf_counter() - start, time.process_time() - used))
    return min(taken for taken, _ in times), min(used for _, used in times)


def line(name: str, taken: tuple[float, float], bar: float | None = None) -> None:
    mark = "" if bar is None else f" (bar {bar:g} s)" + ("" if taken[0] <= bar else "  <- over")
    print(f"{name:66} {1e3 * taken[0]:9.1f} ms, {1e3 * taken[1]:9.1f} ms of processors{mark}")


def main() -> None:
    warnings.simplefilter("ignore")
    data = SynergeticModel().draw(N_SAMPLES, seed=0)
    whole = LabelledMatrix.from_arrays(data.values, data.labels)
    order = rival("bd").run(Moments.from_labelled(whole)).ranking
    skbs = rival("skbs").run
    for number, bar in ((300, 0.1), (5000, 2.0), (20_000, None)):
        part = LabelledMatrix.from_arrays(data.values[:, order[:number]], data.labels)
        line(f"skbs, 2 kernels, {N_SAMPLES} x {number:,}", best(lambda m=part: skbs(m, screen=None)), bar)
        rows = np.ascontiguousarray(part.values[np.argsort(data.labels, kind="stable")].T)
        some = rows[:: max(1, number // 1000)][:1000]
        line(f"  kernels from {some.shape[0]:,} features, one thread", best(lambda x=some: fit_kernels(x, 2)))
        kernels = fit_kernels(some, 2).kernels
        line(
            "  evidence, one thread",
            best(lambda x=rows, k=kernels: exact_log_bayes_factor(x, N_SAMPLES // 2, k)),
        )
        if number == 300:
            line("skbs, 3 kernels, 200 x 300", best(lambda m=part: skbs(m, n_kernels=3), 2))
            line(
                "skbs, 2 kernels, Gibbs (1,000 + 5,000), 200 x 300",
                best(lambda m=part: skbs(m, evidence="gibbs"), 1),
            )
            line("skbs, 7 kernels, Gibbs (1,000 + 5,000), 200 x 300", best(lambda m=part: skbs(m, n_kernels=7), 1))
    line("obf-jp, 200 x 20,000", best(lambda: rival("obf-jp").run(Moments.from_labelled(whole))))


if __name__ == "__main__":
    main()
