"""How often the checks of a list doubt clean Gaussian data: python docs/experiments/false_alarms.py [kind ...]."""

from __future__ import annotations

import collections
import sys
import warnings

import numpy as np

import bayesieve as bs

SIZES = ((10, 500), (20, 2000), (50, 2000), (100, 1000))  # samples of the first class, features
SHARES, REPEATS, FIRST = (0.0, 0.01, 0.03), 9, 777_000_000
MODELS = {"calibrated": None, "Jeffreys": bs.GaussianModel.jeffreys(prior_ratio=0.1)}
KINDS = ("independent", "blocks", "factors")
N_FACTORS, CORRELATION = 20, 0.6


def noise(rng: np.random.Generator, n: int, p: int, kind: str) -> np.ndarray:
    """Gaussian features of variance 1: independent, in blocks of one correlation, or of factors that all share."""
    own = rng.normal(size=(n, p))
    if kind == "independent":
        return own
    factors = rng.normal(size=(n, N_FACTORS))
    weights = np.zeros((N_FACTORS, p))
    if kind == "blocks":
        weights[np.arange(p) * N_FACTORS // p, np.arange(p)] = 1.0
    else:
        weights = rng.normal(size=(N_FACTORS, p))
        weights /= np.sqrt((weights**2).sum(axis=0))
    return np.sqrt(CORRELATION) * factors @ weights + np.sqrt(1 - CORRELATION) * own


def clean(
    seed: int, n: int, p: int, share: float, kind: str = "independent"
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Two Gaussian classes, equal or not, with markers in the mean, and four columns that mean nothing."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n, n if seed % 2 else max(n * 2 // 3, 5)])
    X = noise(rng, y.size, p, kind) * np.exp(rng.normal(size=p)) + 8.0
    k = int(share * p)
    markers = rng.permutation(p)[:k] if kind != "independent" else np.arange(k)
    shift = rng.choice([-1, 1], k) * rng.uniform(0.8, 2.5, k)
    X[np.ix_(y == 1, markers)] += shift * X[:, markers].std(axis=0)
    columns = {
        "batch": rng.choice(list("abcd"), y.size),
        "sex": rng.choice(["m", "f"], y.size),
        "age": rng.normal(60, 8, y.size).round(),
        "site": rng.choice(["x", "y"], y.size),
    }
    return X, y, columns


def main() -> None:
    """Print a line for each kind and model: tables that any check doubts, and which checks do."""
    warnings.simplefilter("ignore")
    for kind in sys.argv[1:] or KINDS:
        for name, model in MODELS.items():
            doubted, doubts, total = 0, collections.Counter[tuple[str, str]](), 0
            for n, p in SIZES:
                for share in SHARES:
                    for k in range(REPEATS if kind == "independent" else 4):
                        X, y, columns = clean(FIRST + 1000 * n + int(100 * share) * 50 + k, n, p, share, kind)
                        checks = bs.screen(X, y, model=model, sample_columns=columns).checks
                        doubts.update((each.name, each.state) for each in checks if each.state != "good")
                        doubted, total = doubted + (checks.state != "good"), total + 1
            print(f"{kind}, {name}: {doubted} of {total} clean tables doubted", dict(doubts), flush=True)


if __name__ == "__main__":
    main()
