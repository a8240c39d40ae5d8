"""Log-odds of markers and non-markers while a sample grows to a million, for docs/theory/consistency.md.

Markers differ in mean, in variance or in both. Data are Gaussian, or from Student's t with five degrees of
freedom, or Gaussian with a correlation of 0.8 between the features of a path, markers and non-markers alike.
Prints a table of fitted slopes and draws docs/pictures/rates.png. Takes a minute or two.

Run: python docs/experiments/rates.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from bayesieve.simulation.rates import KINDS, RatePaths, consistency_paths

TARGET = Path(__file__).parents[1] / "pictures" / "rates.png"
SIZES = [int(n) for n in np.geomspace(100, 1_000_000, 17)]
N_PATHS = {"gaussian": 1000, "t5": 100, "correlated": 100}
WORDS = {"gaussian": "Gaussian", "t5": "Student's t, 5 d.f.", "correlated": "correlated at 0.8"}
SHAPES = {"gaussian": "o", "t5": "^", "correlated": "s"}
BLUE, ORANGE, GREEN, BLACK = "#0072b2", "#d55e00", "#009e73", "#000000"  # apart for every common colour vision
COLOURS = (BLUE, ORANGE, GREEN)
STYLE = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
}


def print_table(found: dict[str, RatePaths]) -> None:
    print("| data | feature | slope of the log-odds | standard error | limit |")
    print("| --- | --- | -: | -: | -: |")
    for noise, paths in found.items():
        for rate in paths.rates():
            digits = 5 if rate.against == "n" else 3
            numbers = (rate.standard_error, rate.limit)
            print(
                f"| {WORDS[noise]} | {rate.name} | {rate.slope:.{digits}f} per {rate.against} | "
                + " | ".join(f"{number:.{digits}f}" for number in numbers)
                + " |"
            )


def draw_markers(ax: Any, found: dict[str, RatePaths]) -> None:
    """Log-odds over n of the three kinds of markers, and their limits."""
    for k, kind in enumerate(KINDS[:3]):
        limit = kind.limit_rate()
        ax.axhline(limit, color=COLOURS[k], lw=1.0, ls=(0, (5, 3)))
        ax.annotate(f"{kind.name}: {limit:.4f}", (1e6, limit), (0, 3), textcoords="offset points",
                    ha="right", va="bottom", color=COLOURS[k])  # fmt: skip
        for noise in found:
            mean = found[noise].log_odds[k].mean(axis=0) / SIZES
            ax.plot(SIZES, mean, SHAPES[noise], color=COLOURS[k], ms=4.5, mfc="none", lw=0, zorder=3)
    ax.axhline(0.0, color=BLACK, lw=0.6)
    ax.set_ylabel("mean log-odds divided by n (per sample)")
    ax.set_ylim(-0.065, 0.047)
    ax.set_title("(a) Markers: exponential, at the limit rate", loc="left")
    handles = [
        ax.plot([], [], SHAPES[noise], color=BLACK, mfc="none", ms=4.5, label=WORDS[noise])[0] for noise in N_PATHS
    ]
    ax.legend(handles=handles, loc="lower right")


def draw_non_markers(ax: Any, found: dict[str, RatePaths]) -> None:
    """Log-odds of non-markers under two choices of L, and lines of the slopes that the theory gives."""
    n = np.array(SIZES, dtype=float)
    decay = np.log(10.0 / (np.sqrt(2.0 * np.pi) * n))  # by which L = (2 pi)^(-1/2) / n differs from L = 0.1
    for colour, slope, shift in ((BLACK, -1.0, np.zeros_like(n)), (ORANGE, -2.0, decay)):
        gaussian = found["gaussian"].log_odds[-1] + shift
        low, high = np.quantile(gaussian, [0.05, 0.95], axis=0)
        ax.fill_between(n, low, high, color=colour, alpha=0.15, lw=0)
        ax.plot(n, gaussian.mean() + slope * (np.log(n) - np.log(n).mean()), color=colour, lw=1.0, ls=(0, (5, 3)))
        for noise, paths in found.items():
            mean = (paths.log_odds[-1] + shift).mean(axis=0)
            ax.plot(n, mean, SHAPES[noise], color=colour, ms=4.5, mfc="none", lw=0, zorder=3)
    minus = "\N{MINUS SIGN}"
    ax.text(1.1e6, -7.5, f"L = 0.1\nslope {minus}1", ha="right", color=BLACK)
    ax.text(1.0e2, -22.0, f"L = 1 / (2.51 n)\nslope {minus}2", ha="left", color=ORANGE)
    ax.text(1.0e2, -29.5, "bands: 90% of Gaussian non-markers", ha="left", fontsize=8.0)
    ax.set_ylim(-30.5, -4.0)
    ax.set_ylabel("mean log-odds (natural logarithm)")
    ax.set_title("(b) Non-markers: a power of n", loc="left")


def main() -> None:
    found = {
        noise: consistency_paths(SIZES, n_paths=number, noise=noise, seed=1) for noise, number in N_PATHS.items()
    }
    print_table(found)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.7), layout="constrained")
        draw_markers(axes[0], found)
        draw_non_markers(axes[1], found)
        for ax in axes:
            ax.set_xscale("log")
            ax.set_xlabel("number of samples n")
        figure.savefig(TARGET, dpi=120, metadata={"Software": None})
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
