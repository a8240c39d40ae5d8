"""Counts: what a screen costs next to Gaussian values, and what its lists hold with few samples.

Run: python benchmarks/counts.py [quick]

The first table is CPU time of bayesieve.screen with 20 shuffles. The second simulates negative binomial counts
with dispersions 0.05 + 2/mean, spread by a factor of exp(0.4) about that, of which 5% change two- to fourfold: the
trend of dispersions, the estimate from each feature alone, both at a probability over 0.5 (prior 5%), and t-tests
of log2(1 + count) at a false discovery rate of 10% after Benjamini and Hochberg.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from scipy import stats

import bayesieve as bs
from bayesieve.models.counts.negative_binomial import estimate_size
from bayesieve.stats import EventTotals


def simulate(rng: np.random.Generator, n: int, p: int) -> tuple[Any, Any, Any]:
    """Counts of ``n + n`` samples, their labels, and which features change."""
    mean = np.exp(rng.normal(4.0, 2.0, p))
    alpha = (0.05 + 2.0 / mean) * np.exp(0.4 * rng.normal(size=p))
    marker = np.arange(p) < p // 20
    change = np.where(marker, rng.uniform(2.0, 4.0, p) ** rng.choice([-1, 1], p), 1.0)
    means = np.vstack([np.tile(mean, (n, 1)), np.tile(mean * change, (n, 1))])
    return rng.poisson(rng.gamma(1 / alpha, means * alpha)), np.repeat([0, 1], n), marker


def listed(posterior: bs.FeaturePosterior, marker: Any) -> tuple[int, float, int]:
    """True and claimed false positives, and true positives."""
    over = posterior.log_odds > 0
    return int((over & ~marker).sum()), float((1 - posterior.probability[over]).sum()), int((over & marker).sum())


def tested(X: Any, y: Any, marker: Any) -> tuple[int, float, int]:
    values = np.log2(1.0 + X)
    with np.errstate(all="ignore"):
        p = np.nan_to_num(stats.ttest_ind(values[y == 0], values[y == 1]).pvalue, nan=1.0)
    over = stats.false_discovery_control(p) <= 0.1
    return int((over & ~marker).sum()), 0.1 * over.sum(), int((over & marker).sum())


def costs(n: int, p: int) -> None:
    rng = np.random.default_rng(0)
    mean, size = np.exp(rng.normal(1.5, 1.5, p)), np.exp(rng.normal(0.5, 0.5, p))
    X, y = rng.poisson(rng.gamma(size, mean / size, (n, p))).astype(float), np.arange(n) % 2
    models = {
        "Gaussian, calibrated": bs.CalibratedModel(), "Poisson": bs.PoissonModel(),
        "negative binomial": bs.NegativeBinomialModel(),
    }  # fmt: skip
    print(f"{n:,} x {p:,}, 20 shuffles{'':10} CPU s")
    for name, model in models.items():
        with warnings.catch_warnings(action="ignore"):
            bs.screen(X[:, :50], y, model=model, shuffles=1)
            start = time.process_time()
            bs.screen(X, y, model=model, shuffles=20)
        print(f"{name:34} {time.process_time() - start:6.2f}")


def main() -> None:
    quick = "quick" in sys.argv
    costs(*((1000, 1000) if quick else (6000, 3000)))
    rounds, p = (3, 2000) if quick else (20, 4000)
    print(f"\n{rounds} rounds of {p:,} features, {p // 20} of which change: claimed / true false positives, found")
    print(f"{'samples':9} {'trend':>22} {'each feature alone':>22} {'t-test of logs':>22}")
    for n in (3, 5, 10):
        rng, rows = np.random.default_rng(n), []
        for _ in range(rounds):
            X, y, marker = simulate(rng, n, p)
            size = estimate_size(EventTotals.from_matrix(X.astype(float), y, spread=True))
            screens = [
                bs.screen(X, y, model=model, prior_probability=0.05, shuffles=0)
                for model in (bs.NegativeBinomialModel(), bs.NegativeBinomialModel(size=size))
            ]
            rows.append([*(listed(each, marker) for each in screens), tested(X, y, marker)])
        cells = [f"{c:.1f} / {f:.1f}, {t:.0f}" for f, c, t in np.mean(rows, axis=0)]
        print(f"{n} + {n:<5} {cells[0]:>22} {cells[1]:>22} {cells[2]:>22}", flush=True)


if __name__ == "__main__":
    main()
