"""The general model by enumeration, every set of features, beside a screen of the same features one by one.

Run: python benchmarks/enumeration.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import bayesieve as bs

N_SAMPLES = 100
BAR = {(16, "joint"): 10.0}  # seconds
CASES = (
    *((n_features, "joint") for n_features in (12, 16, 18, 20)),
    (20, "diagonal"),
    *((n_features, "average") for n_features in (12, 14, 16)),
)


def best(call: Callable[[], Any], rounds: int = 3) -> float:
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_SAMPLES, 20)) @ (np.eye(20) + 0.2 * rng.standard_normal((20, 20)))
    y = np.arange(N_SAMPLES) % 2
    model = bs.GaussianModel.proper()
    sized = (bs.FixedSize(5), bs.MostProbable(size=5))
    rules = (bs.MostProbable(), bs.MinimalRisk(0.5), bs.NeymanPearson(1.0), *sized)
    for n_features, structure in CASES:
        values = X[:, :n_features]
        screening = best(lambda: bs.screen(values, y, model=model, prior_probability=0.1, shuffles=0), 20)  # noqa: B023
        taken = best(lambda: bs.enumerate_sets(values, y, model=model, prior=0.1, structure=structure))  # noqa: B023
        posterior = bs.enumerate_sets(values, y, model=model, prior=0.1, structure=structure)
        deciding = best(lambda: [posterior.select(rule) for rule in rules])  # noqa: B023
        bar = f"  (bar {BAR[n_features, structure]:.0f} s)" if (n_features, structure) in BAR else ""
        print(f"{n_features} features, {2**n_features:9,} sets, {structure:8}: {1e3 * taken:8.1f} ms "
              f"({taken / screening:8.1f} screens), {len(rules)} criteria {1e3 * deciding:7.1f} ms "
              f"({deciding / taken:4.2f} of it){bar}")  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
