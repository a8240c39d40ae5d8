"""Draw the data sets of this folder: features in rows, the class of each sample in the first line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
MIRROR = np.kron([1, -1], np.eye(4, dtype=int))  # the second class is the first turned over: one mean for all


def write(name: str, values: np.ndarray, n0: int) -> None:
    """Write a table with at most four decimals; NaN becomes NA."""
    labels = ["0"] * n0 + ["1"] * (values.shape[1] - n0)
    rows = [["NA" if np.isnan(x) else f"{x:.4f}".rstrip("0").rstrip(".") for x in row] for row in values]
    text = "\n".join(",".join(row) for row in [labels, *rows])
    (HERE / f"{name}.csv").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Draw and write all of them."""
    rng = np.random.default_rng(20260606)

    def table(n_features: int, n0: int, n1: int, dof: float | None) -> np.ndarray:
        spread = np.ones(n_features) if dof is None else np.sqrt(dof / rng.chisquare(dof, n_features))
        values = spread[:, None] * rng.normal(size=(n_features, n0 + n1))
        values[: n_features // 10, n0:] += 2.0
        return values

    def alike(values: np.ndarray, n0: int) -> np.ndarray:
        """Make residual variances more alike than chance would, so that the prior has infinite dof."""
        centred = np.hstack([part - part.mean(axis=1, keepdims=True) for part in np.split(values, [n0], axis=1)])
        return values / np.sqrt(centred.std(axis=1, keepdims=True))

    write("small", table(60, 3, 3, 4.0), 3)
    write("one_variance", alike(table(40, 4, 4, None), 4), 4)
    unequal = table(30, 21, 6, 3.0)
    unequal[:, 21:] *= 2.0
    write("unequal_variances", unequal, 21)
    missing = table(60, 6, 5, 6.0)
    missing[rng.uniform(size=missing.shape) < 0.15] = np.nan
    missing[0, :6] = missing[1, 6:] = np.nan  # a class without values
    missing[2, 1:6] = missing[2, 7:] = np.nan  # one value each: no degree of freedom
    missing[3] = np.nan  # no value at all
    missing[4, 1:] = np.nan  # one value
    write("missing", missing, 6)
    zero = table(40, 4, 5, 4.0)
    zero[5] = 1.5
    zero[6] = [1.0] * 4 + [3.0] * 5
    zero[7, :4] = 2.0
    zero[8] = 1e-4 * zero[8]
    write("zero_variances", zero, 4)
    strong = table(10, 60, 60, 10.0)
    strong[:, 60:] += 10.0 ** np.arange(-4, 6)[:, None]  # p-values far below the smallest float
    write("strong", strong, 60)
    trend = table(60, 4, 4, 8.0)
    level = rng.uniform(2.0, 14.0, size=60)
    write("trend", level[:, None] + np.exp(1.5 - 0.2 * level)[:, None] * trend, 4)
    write("trend_few", (level[:, None] + np.exp(1.5 - 0.2 * level)[:, None] * trend)[:20], 4)
    write("trend_four", (level[:, None] + np.exp(1.5 - 0.2 * level)[:, None] * trend)[20:24], 4)
    gaps = level[:40, None] + np.exp(1.5 - 0.2 * level[:40])[:, None] * trend[:40]
    gaps[rng.uniform(size=gaps.shape) < 0.15] = np.nan
    gaps[0, :4] = np.nan
    gaps[1, 1:4] = gaps[1, 5:] = np.nan
    write("trend_missing", gaps, 4)
    write("trend_one_variance", level[:40, None] + alike(rng.normal(size=(40, 8)), 4), 4)
    write("trend_two", level[:2, None] + alike(rng.normal(size=(2, 8)), 4), 4)
    write("trend_two_apart", level[2:4, None] + np.array([[0.02], [3.0]]) * rng.normal(size=(2, 8)), 4)
    write("trend_one_mean", 8.0 + np.round(table(30, 4, 4, 6.0)[:, 4:] @ MIRROR), 4)
    write("large", table(150, 12, 9, 5.0), 12)
    write("trend_large", 6.0 + rng.uniform(0.0, 8.0, size=(150, 1)) + table(150, 7, 6, 5.0), 7)


if __name__ == "__main__":
    main()
