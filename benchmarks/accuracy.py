"""Worst error of the log-odds against a 50-digit evaluation from raw data (tests/exact.py).

Run: python benchmarks/accuracy.py
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import mpmath as mp
import numpy as np

import bayesieve as bs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import exact  # the mpmath reference, beside the tests

JEFFREYS = (exact.JEFFREYS,) * 3


def case(
    name: str, X: np.ndarray, n0: int, model: bs.GaussianModel | None = None, hypers: tuple = JEFFREYS
) -> None:
    y = np.repeat([0, 1], [n0, len(X) - n0])
    got = bs.screen(X, y, model=model, shuffles=0).log_odds
    absolute, relative = 0.0, 0.0
    for j in range(X.shape[1]):
        expected = exact.log_odds(X[:n0, j], X[n0:, j], hypers)
        error = abs(mp.mpf(float(got[j])) - expected)
        absolute, relative = max(absolute, float(error)), max(relative, float(error / abs(expected)))
    spread = f"{got.min():.4g} to {got.max():.4g}"
    print(f"| {name} | {spread} | {relative:.0e} | {absolute:.0e} |")


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)

    def table(n: int, p: int, n0: int, shift: float = 1.0, ratio: float = 1.0) -> np.ndarray:
        X = rng.normal(size=(n, p))
        X[n0:] = X[n0:] * ratio + shift
        return X

    print("| data | log-odds | worst relative error | worst absolute error |\n| --- | --- | --- | --- |")
    case("2 + 2 samples", table(4, 200, 2), 2)
    case("1 + 6, proper prior", table(7, 200, 1), 1, bs.GaussianModel.proper(), exact.PROPER)
    case("28 + 210", table(238, 50, 28), 28)
    case("28 + 210, proper prior", table(238, 50, 28), 28, bs.GaussianModel.proper(), exact.PROPER)
    case("2,500 + 2,500", table(5000, 4, 2500, 40.0, 2.0), 2500)
    case("30 + 40, float32", table(70, 50, 30).astype(np.float32), 30)
    case("12 + 15, scale 1e-150", 1e-150 * table(27, 50, 12), 12)
    case("12 + 15, scale 1e150", 1e150 * table(27, 50, 12), 12)
    case("20 + 25, mean 1e8, variance 1", 1e8 + table(45, 50, 20, 0.5), 20)
    case("20 + 25, mean 1e8, variance 1e-12", 1e8 + 1e-6 * table(45, 50, 20, 0.5), 20)
    far = (bs.NormalInverseGamma(1e6, 1e11, 1e6, 50.0),)
    hypers = (exact.Hyper(1e6, 1e11, 1e6, 50.0),) * 2 + (exact.Hyper(3, 3, 1, 0),)
    model = bs.GaussianModel(far, bs.NormalInverseGamma(3.0, 3.0, 1.0, 0.0))
    case("4,000 + 4,000, strong contrary prior", table(8000, 3, 4000, 0.0), 4000, model, hypers)


if __name__ == "__main__":
    main()
