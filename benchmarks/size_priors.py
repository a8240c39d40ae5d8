"""Priors on the number of markers: marginals and sizes for 20,000 features and more, beside a screen of as many.

Run: python benchmarks/size_priors.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import bayesieve as bs

BAR = 5.0  # seconds, for 20,000 features


def best(call: Callable[[], Any], rounds: int = 3) -> tuple[float, Any]:
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def posterior_of(log_factor: Any) -> bs.FeaturePosterior:
    n = log_factor.size
    moments = bs.Moments(("a", "b"), np.array([20, 20]), np.zeros((2, n)), np.full((2, n), 19.0))
    codes = np.zeros(n, np.int8)
    return bs.FeaturePosterior(log_factor, 0.0, None, codes, moments, bs.GaussianModel.jeffreys())


def log_factors(n: int) -> dict[str, Any]:
    """Log Bayes factors as screens give them, and two extremes: no information at all, and too much."""
    rng = np.random.default_rng(0)
    null = rng.chisquare(2, n) / 2 - 2.9
    some = null.copy()
    some[: n // 60] += rng.exponential(20.0, n // 60)
    return {"some markers": some, "no markers": null, "no information": 1e-3 * rng.normal(size=n),
            "-700 to 700": rng.uniform(-700, 700, n)}  # fmt: skip


def main() -> None:
    priors = {
        "uniform": bs.SizePrior.uniform(),
        "beta-binomial(1/2, 1/2)": bs.SizePrior.beta_binomial(0.5, 0.5),
        "binomial(0.01)": bs.SizePrior.binomial(0.01),
        "fixed(300)": bs.SizePrior.fixed(300),
    }
    rng = np.random.default_rng(1)
    for n in (20_000, 100_000):
        X = rng.standard_normal((200, n))
        screening, _ = best(
            lambda X=X: bs.screen(X, np.arange(200) % 2, model=bs.GaussianModel.jeffreys(), shuffles=0)
        )
        print(f"{n:7,} features, to compare with: a screen of 200 samples {1e3 * screening:7.1f} ms")
        for data, log_factor in log_factors(n).items():
            if n > 20_000 and data == "no information":
                continue
            posterior = posterior_of(log_factor)
            for name, prior in priors.items():
                seconds, found = best(lambda p=posterior, q=prior: bs.with_size_prior(p, q))
                list_seconds, _ = best(lambda found=found: found.false_positives(found.select("MNC")), rounds=1)
                bar = f" (bar {BAR:.0f} s)" if n == 20_000 else ""
                print(f"{n:7,} features, {data:14}, {name:24}: {1e3 * seconds:7.0f} ms{bar}, "
                      f"{seconds / screening:6.1f} screens, {len(found.sums.windows):3} windows, false "
                      f"positives {1e3 * list_seconds:6.0f} ms ({list_seconds / seconds:5.2f} of it)")  # fmt: skip


if __name__ == "__main__":
    main()
