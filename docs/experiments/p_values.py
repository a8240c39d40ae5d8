"""What other distributions than the Gaussian do to exact p-values, and what permuted labels say.

20,000 features, none of them a marker, 25 samples per class. Values are Gaussian, Student's t with 5 degrees of
freedom, exponential, or Gaussian with 2% outliers of five times the standard deviation. For each
table: the exact p-values of the Pearson-Neyman test, the p-values of the pool of 1,000 permutations (how many lie
below 0.01, and how many features are significant at 5% after Benjamini and Hochberg), and how many features pass a
probability of 0.5 (prior probability 0.01), also as a mean over 20 fresh tables of the same kind. L lets one pass.

Prints a table and writes docs/pictures/p_values.png. Run: python docs/experiments/p_values.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from scipy import stats

import bayesieve as bs

mpl.use("Agg")
import matplotlib.pyplot as plt

N_FEATURES, N_PER_CLASS, N_PERMUTATIONS, N_FRESH = 20_000, 25, 1000, 20
DISTRIBUTIONS = ("Gaussian", "Student, 5 d.f.", "exponential", "2% outliers")
LINES = (("#000000", "-"), ("#D55E00", "--"), ("#0072B2", "-."), ("#009E73", (0, (1, 1))))
PICTURE = Path(__file__).parents[1] / "pictures" / "p_values.png"


def table(distribution: str, rng: np.random.Generator) -> Any:
    """Values of features whose classes are alike."""
    shape = 2 * N_PER_CLASS, N_FEATURES
    if distribution == "Student, 5 d.f.":
        return rng.standard_t(5, size=shape)
    if distribution == "exponential":
        return rng.exponential(size=shape)
    values = rng.standard_normal(shape)
    return values * np.where(rng.random(shape) < 0.02, 5.0, 1.0) if distribution == "2% outliers" else values


def row(distribution: str, seed: int) -> tuple[str, Any, Any]:
    rng = np.random.default_rng(seed)
    X, y = table(distribution, rng), np.repeat([0, 1], N_PER_CLASS)
    posterior = bs.screen(X, y)
    exact = bs.pearson_neyman(posterior)
    found = bs.permutations(X, y, posterior=posterior, n_permutations=N_PERMUTATIONS)
    shares = [float((np.asarray(p) < 0.01).mean() / 0.01) for p in (exact.p_value, found.p_value)]
    fresh = np.mean([(bs.screen(table(distribution, rng), y).log_odds > 0).sum() for _ in range(N_FRESH)])
    numbers = [found.gaussian_under_null, found.expected_under_null, float(fresh)]
    significant = [len(exact.significant(0.05)), int((found.adjusted_p_value <= 0.05).sum())]
    said = [
        *(f"{share:.1f}" for share in shares),
        *map(str, significant),
        *(f"{number:.0f}" for number in numbers),
        f"{found.prior_ratio(1.0):.2g}",
    ]
    return f"| {distribution} | {' | '.join(said)} |", exact.log_p_value, found.log_p_value


def draw(curves: dict[str, tuple[Any, Any]]) -> None:
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = plt.subplots(1, 2, figsize=(7.4, 4.0), sharex=True, sharey=True, layout="constrained")
    ranks = np.arange(1, N_FEATURES + 1)
    expected = -np.log10(ranks / (N_FEATURES + 1))
    band = [-np.log10(stats.beta.ppf(q, ranks, N_FEATURES + 1 - ranks)) for q in (0.025, 0.975)]
    for k, (panel, title) in enumerate(
        zip(panels, ("exact Gaussian distribution", "permuted labels"), strict=True)
    ):
        panel.fill_between(expected, *band, color="0.85", lw=0, label="95% under the null")
        for (distribution, logs), (colour, style) in zip(curves.items(), LINES, strict=True):
            panel.plot(
                expected, np.sort(-logs[k] / np.log(10))[::-1], color=colour, ls=style, lw=1.8, label=distribution
            )
        panel.set_title(title, fontsize=11)
        panel.set_xlabel(r"expected  $-\log_{10} p$")
    panels[0].set_ylabel(r"found  $-\log_{10} p$")
    panels[0].set(xlim=(0, 4.4), ylim=(0, None))
    panels[1].legend(frameon=False, loc="upper left")
    figure.savefig(PICTURE, dpi=120)


def main() -> None:
    print("| distribution | exact | permuted | exact, BH | permuted, BH | Gaussian | permuted | fresh | L |")
    print("| --- | -: | -: | -: | -: | -: | -: | -: | -: |")
    curves = {}
    for seed, distribution in enumerate(DISTRIBUTIONS):
        said, *logs = row(distribution, seed)
        print(said)
        curves[distribution] = (logs[0], logs[1])
    draw(curves)


if __name__ == "__main__":
    main()
