"""Predicted against realised true positives: how often the 90% interval of a plan holds what the study then finds.

Usage: ``python docs/experiments/plan_coverage.py [PILOTS] [NAME ...]``. For every way in which effects may be
spread, pilots of 10 + 10 samples and 2,000 features are simulated, a study of 40 + 40 is planned from each, and
then made: other values of the same features, screened as a table. True positives of the list (MNC) are held
against the plan. Its numbers stand in docs/how-to/plan-a-study.md.
"""

import sys
import time
import warnings

import numpy as np

import bayesieve as bs

warnings.simplefilter("ignore")
FEATURES, PILOT, STUDY, FUTURES = 2000, 10, 40, 200


def normal(rng, m):
    """Standard normal differences."""
    return rng.normal(size=m), np.zeros(m)


def laplace(rng, m):
    """Many small differences, few large ones."""
    return rng.laplace(0.0, 0.8, m), np.zeros(m)


def mixed(rng, m):
    """Gamma-distributed means, a fifth of the markers with other variances, half of these with equal means."""
    means, logs = rng.gamma(3.0, 0.3, m) * rng.choice([-1.0, 1.0], m), np.zeros(m)
    differs = rng.random(m) < 0.2
    logs[differs] = rng.normal(0.0, 1.0, differs.sum())
    means[differs & (rng.random(m) < 0.5)] = 0.0
    return means, logs


def equal(rng, m):
    """Every marker differs by exactly one standard deviation."""
    return rng.choice([-1.0, 1.0], m), np.zeros(m)


SPREADS = {"normal": normal, "laplace": laplace, "mixed": mixed, "equal": equal}


def values(rng, n, means, logs, deviations):
    """Values and labels of a study."""
    X = rng.normal(size=(2 * n, FEATURES))
    X[n:, : means.size] *= np.exp(0.5 * logs)
    X[n:, : means.size] += means
    return X * deviations, np.repeat([0, 1], n)


def cover(name, pilots, share=None, futures=FUTURES):
    """Whether intervals hold, predicted and realised true positives of every pilot."""
    rows = []
    for i in range(pilots):
        rng = np.random.default_rng((7, i))
        markers = int(FEATURES * (rng.choice([0.01, 0.02, 0.05, 0.1]) if share is None else share))
        means, logs = SPREADS[name](rng, markers)
        deviations = 1.0 / np.sqrt(rng.gamma(2.0, 0.5, FEATURES))
        X, y = values(rng, PILOT, means, logs, deviations)
        plan = bs.plan(X, y, per_class=STUDY, futures=futures, seed=i, n_threads=1)
        X, y = values(rng, STUDY, means, logs, deviations)
        found = bs.MinimalRisk(0.5).select(bs.screen(X, y, shuffles=0))
        true = int(found.mask[:markers].sum())
        low, high = plan.expected[0].interval(plan.expected[0].counts.true)
        rows.append((low <= true <= high, plan.expected[0].counts.true.mean(), true, true < low, true > high,
                     plan.expected[0].counts.false.mean(), found.n_selected - true))  # fmt: skip
    return np.array(rows, dtype=float)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print("effects  pilots  held  below  above  true: predicted, realised  false: predicted, realised  seconds")
    for spread in sys.argv[2:] or list(SPREADS):
        start = time.perf_counter()
        held, told, true, below, above, told_false, false = cover(spread, number).mean(axis=0)
        print(f"{spread:8} {number:6} {held:5.0%} {below:6.0%} {above:6.0%} {told:16.1f} {true:9.1f}"
              f" {told_false:17.2f} {false:9.2f} {time.perf_counter() - start:9.0f}", flush=True)  # fmt: skip
