"""Plans held against real tables: a pilot drawn from a table, and what the rest of the table really lists.

Usage: ``python docs/experiments/plan_real_tables.py FOLDER [halves|shuffles]`` with the tables named below in the
folder (samples in rows, labels in the column ``y``). Prints one line for each table.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import bayesieve as bs

warnings.simplefilter("ignore")
TABLES = {  # name: file, samples of a class in the pilot, whether to take logarithms
    "alon": ("alon_colon_62x2000_raw.csv.gz", 10, True),
    "gravier": ("gravier_breast_168x2905.csv.gz", 15, False),
    "singh": ("singh_prostate_102x12600_raw.csv.gz", 15, True),
    "gordon": ("gordon_lung_181x12533_raw.csv.gz", 10, True),
}
REPEATS, FUTURES = 8, 100


def read(folder, name):
    """Values and labels of a table."""
    file, n, logarithms = TABLES[name]
    table = pl.read_csv(Path(folder) / file)
    y = table["y"].to_numpy()
    X = table.drop("y").to_numpy().astype(float)
    return (np.log2(np.maximum(X, 1.0)) if logarithms else X), y, n


def draw(y, sizes, rng):
    """Draw so many samples of each class."""
    return np.concatenate([
        rng.permutation(np.flatnonzero(y == label))[:n] for label, n in zip(np.unique(y), sizes, strict=True)
    ])  # fmt: skip


def halves(folder):
    """Pilots from a part of the samples; the others are the study."""
    print("table     pilot    study     predicted list (90%)         really listed   within")
    for name in TABLES:
        X, y, n = read(folder, name)
        X = X[:, X.std(axis=0) > 0]
        told, found, within, doubted = [], [], [], 0
        for r in range(REPEATS):
            rng = np.random.default_rng(r)
            pilot = draw(y, (n, n), rng)
            rest = np.setdiff1d(np.arange(y.size), pilot)
            sizes = np.unique(y[rest], return_counts=True)[1]
            plan = bs.plan(X[pilot], y[pilot], per_class=[tuple(sizes)], futures=FUTURES, seed=r)
            counts = plan.expected[0].counts.listed
            low, high = np.quantile(counts, [0.05, 0.95])
            screened = bs.screen(X[rest], y[rest], shuffles=40)
            told.append((counts.mean(), low, high))
            doubted += "shows nothing reliable" in plan.summary()
            found.append(bs.MinimalRisk(0.5).select(screened).n_selected)
            within.append(low <= found[-1] <= high)
        mean, low, high = np.median(told, axis=0)
        span = f"{min(found)} to {max(found)}, median {np.median(found):.0f}"
        print(f"{name:9} {n} + {n}  {sizes[0]} + {sizes[1]:<4} {mean:7.0f} ({low:.0f} to {high:.0f})    {span}"
              f"     {sum(within)} of {REPEATS}     {doubted} said to be unreliable", flush=True)  # fmt: skip


def shuffles(folder):
    """Whole tables with shuffled labels as pilots: nothing is there to be found."""
    print("table     samples   markers of 0.5 sd or more   true at twice the size: median, largest   unreliable")
    for name in ("alon", "gravier"):
        X, y, _ = read(folder, name)
        large, true, doubted = [], [], 0
        for r in range(REPEATS):
            shuffled = np.random.default_rng(r).permutation(y)
            sizes = np.unique(y, return_counts=True)[1]
            plan = bs.plan(X, shuffled, per_class=[tuple(2 * sizes)], futures=FUTURES, seed=r)
            large.append(plan.large.mean())
            true.append(plan.to_dict()["true"][0])
            doubted += "shows nothing reliable" in plan.summary()
        print(f"{name:9} {sizes[0]} + {sizes[1]:<4} {np.round(np.sort(large), 1).tolist()}   "
              f"{np.median(true):.1f}, {max(true):.1f}   {doubted} of {REPEATS}", flush=True)  # fmt: skip


if __name__ == "__main__":
    for part in sys.argv[2:] or ("shuffles", "halves"):
        {"halves": halves, "shuffles": shuffles}[part](sys.argv[1])
