"""A correlation that changes its sign among 200 features: who finds it, and what they find without it.

Two features have a correlation of 0.8 in one class and of -0.8 in the other, with equal means and variances; a
third differs in mean by one standard deviation; 197 are noise. Under the null the two are noise as well, in the
same places. Prints the tables of docs/how-to/pairs.md. Takes about a minute.

Run: python docs/experiments/flipped_correlation.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import bayesieve as bs

N_TABLES, N_FEATURES, N_PER_CLASS = 50, 200, 60
METHODS = {"2MNC-Robust": "2mnc-robust", "POFAC": "pofac", "OBF-JP": "obf-jp", "OBF": "obf", "Welch t": "welch"}
LISTS: dict[str, Callable[..., bs.FeatureScores]] = {
    "REMAIN, T1 = 0.3, T2 = 5": lambda X, y: bs.score(X, y, method="remain", t1=0.3, t2=5.0),
    "REMAIN as it is": lambda X, y: bs.score(X, y, method="remain"),
    "SPM as it is": lambda X, y: bs.score(X, y, method="spm"),
    "SPM with 5 shuffles": lambda X, y: bs.score(X, y, method="spm", shuffles=5),
}


def table(seed: int, flipped: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], N_PER_CLASS)
    X = rng.normal(size=(y.size, N_FEATURES))
    if flipped:
        X[:, 1] = np.where(y == 1, -0.8, 0.8) * X[:, 0] + 0.6 * X[:, 1]
    X[y == 1, 2] += 1.0
    return X, y


def ranks(flipped: bool) -> None:
    print("| method | better of the two | worse of the two | both in the first two | marker in mean |")
    print("| --- | -: | -: | -: | -: |")
    tables = [table(seed, flipped) for seed in range(N_TABLES)]
    for title, method in METHODS.items():
        found = np.array([bs.score(X, y, method=method).rank[:3] for X, y in tables])
        two = np.sort(found[:, :2], axis=1)
        hits = int((two[:, 1] <= 2).sum())
        print(
            f"| {title} | {np.median(two[:, 0]):g} | {np.median(two[:, 1]):g} | {hits} of {N_TABLES} | "
            f"{np.median(found[:, 2]):g} |"
        )


def lists(flipped: bool) -> None:
    print("| method | both of the two | marker in mean | others on average |")
    print("| --- | -: | -: | -: |")
    tables = [table(seed, flipped) for seed in range(N_TABLES)]
    for title, run in LISTS.items():
        chosen = np.array([run(X, y).selected for X, y in tables])
        both, marker = int(chosen[:, :2].all(axis=1).sum()), int(chosen[:, 2].sum())
        print(f"| {title} | {both} | {marker} | {chosen[:, 3:].sum(axis=1).mean():.1f} |")


def strongest(flipped: bool) -> None:
    """The list of pairs and the number by chance."""
    first, above, chance = 0, 0, []
    for seed in range(N_TABLES):
        found = bs.screen_pairs(*table(seed, flipped), top=1, seed=seed)
        assert found.null is not None
        first += found.pairs[0] == ("x0", "x1")
        above += found.score[0] > found.null.largest.max()
        chance.append(found.by_chance[0])
    print(
        f"The strongest pair is the flipped one in {first} of {N_TABLES} tables and stronger than any in 20 "
        f"shuffles in {above}; {np.mean(chance):.2f} pairs as strong by chance."
    )


if __name__ == "__main__":
    for flipped, title in ((True, "flipped"), (False, "null: no flipped pair")):
        print(f"\n{title}\n")
        ranks(flipped)
        print()
        lists(flipped)
        print()
        strongest(flipped)
