"""How often the checks of a list doubt clean Gaussian data: python docs/experiments/false_alarms.py."""

from __future__ import annotations

import collections
import warnings

import numpy as np

import bayesieve as bs

SIZES = ((10, 500), (20, 2000), (50, 2000), (100, 1000))  # samples of the first class, features
SHARES, REPEATS, FIRST = (0.0, 0.01, 0.03), 9, 777_000_000
MODELS = {"calibrated": None, "Jeffreys": bs.GaussianModel.jeffreys(prior_ratio=0.1)}


def clean(seed: int, n: int, p: int, share: float) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Two Gaussian classes, equal or not, with markers in the mean, and four columns that mean nothing."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n, n if seed % 2 else max(n * 2 // 3, 5)])
    X = rng.normal(size=(y.size, p)) * np.exp(rng.normal(size=p)) + 8.0
    k = int(share * p)
    X[y == 1, :k] += rng.choice([-1, 1], k) * rng.uniform(0.8, 2.5, k) * X[:, :k].std(axis=0)
    columns = {
        "batch": rng.choice(list("abcd"), y.size),
        "sex": rng.choice(["m", "f"], y.size),
        "age": rng.normal(60, 8, y.size).round(),
        "site": rng.choice(["x", "y"], y.size),
    }
    return X, y, columns


def main() -> None:
    """Print a line for each model: tables that any check doubts, and which checks do."""
    warnings.simplefilter("ignore")
    for name, model in MODELS.items():
        doubted, doubts, total = 0, collections.Counter[tuple[str, str]](), 0
        for n, p in SIZES:
            for share in SHARES:
                for k in range(REPEATS):
                    X, y, columns = clean(FIRST + 1000 * n + int(100 * share) * 50 + k, n, p, share)
                    checks = bs.screen(X, y, model=model, sample_columns=columns).checks
                    doubts.update((each.name, each.state) for each in checks if each.state != "good")
                    doubted, total = doubted + (checks.state != "good"), total + 1
        print(f"{name}: {doubted} of {total} clean tables doubted", dict(doubts))


if __name__ == "__main__":
    main()
