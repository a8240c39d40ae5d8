"""Draw demo.png: what a screen finds in the synthetic microarray of section 6.

Run: python docs/pictures/make_demo_picture.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

import bayesieve as bs
from bayesieve.simulation import SynergeticModel

TARGET = Path(__file__).with_name("demo.png")
GREY, ORANGE, BLACK = "#b3b3b3", "#d55e00", "#000000"  # apart for every common kind of colour vision
RING = {"facecolors": "none", "edgecolors": BLACK, "lw": 0.8, "zorder": 4}
STYLE = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
}


def standardised_difference(moments: bs.Moments) -> Any:
    """Difference of the class means over the pooled standard deviation within classes."""
    freedom = int(moments.count.sum()) - 2
    return moments.mean_difference / np.sqrt(moments.centred_squares.sum(axis=0) / freedom)


def draw_effects(ax: Any, posterior: bs.FeaturePosterior, selected: Any, truth: Any) -> None:
    """Where every feature lies in mean and variance, and which ones are picked."""
    x = standardised_difference(posterior.moments)
    variance = posterior.moments.variance
    y = np.log(variance[1] / variance[0])
    rest = ~selected
    ax.scatter(x[rest], y[rest], s=5, c=GREY, lw=0, alpha=0.5, rasterized=True)
    ax.scatter(x[selected], y[selected], s=20, c=ORANGE, lw=0, zorder=3)
    ax.scatter(x[truth], y[truth], s=42, **RING)
    ax.set_xlabel("standardised mean difference, class 1 minus class 0")
    ax.set_ylabel("log variance ratio, class 1 over class 0")
    ax.set_title("(a) Means and variances both count", loc="left")
    ax.set_ylim(y.min() - 0.15, y.max() + 0.95)  # room for the legend
    handles = [
        ax.scatter([], [], s=24, c=GREY, lw=0, label=f"not selected ({rest.sum():,})"),
        ax.scatter(
            [], [], s=24, c=ORANGE, lw=0, label=f"selected ({selected.sum()}); without a ring: false positive"
        ),
        ax.scatter([], [], s=42, **RING, label=f"true marker ({truth.sum()}); without orange: missed"),
    ]
    ax.legend(handles=handles, loc="upper left", handletextpad=0.2, borderaxespad=0.1, labelspacing=0.45)


def draw_ranking(ax: Any, selection: bs.Selection, truth: Any) -> None:
    """Log-odds along the ranking, the cut, and the number of false positives three ways."""
    posterior = selection.posterior
    order = posterior.ranking
    rank, log_odds = np.arange(1, order.size + 1), posterior.log_odds[order]
    picked, marker = selection.mask[order], truth[order]
    ax.axhline(0.0, color=BLACK, lw=0.8, ls=(0, (5, 3)))
    ax.scatter(rank[~picked], log_odds[~picked], s=20, c=GREY, lw=0, rasterized=True)
    ax.scatter(rank[picked], log_odds[picked], s=20, c=ORANGE, lw=0, zorder=3)
    ax.scatter(rank[marker], log_odds[marker], s=42, **RING)
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=10.0, linscale=1.0)
    ax.set_xlim(0.8, 1.5 * order.size)
    ax.set_ylim(-12.0, 300.0)
    ax.set_xticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1,000", "10,000"])
    ticks = [-10, -5, 0, 5, 10, 20, 50, 100]
    ax.set_yticks(ticks, [f"{tick}".replace("-", "\N{MINUS SIGN}") for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("rank")
    ax.set_ylabel("posterior log-odds (logarithmic beyond 10)")
    ax.set_title("(b) One number per feature, one cut", loc="left")
    ax.annotate("cut: probability 1/2", (0.9, 0.0), (0, 4), textcoords="offset points",
                ha="left", va="bottom", fontsize=8.5)  # fmt: skip
    head, *rows = verdict(selection, truth)
    ax.text(0.40, 0.985, head, transform=ax.transAxes, va="top", fontsize=9)
    for k, (number, words) in enumerate(rows):
        height = 0.985 - 0.068 * (k + 2)
        ax.text(0.47, height, number, transform=ax.transAxes, va="top", ha="right", fontsize=9)
        ax.text(0.49, height, words, transform=ax.transAxes, va="top", fontsize=9)


def verdict(selection: bs.Selection, truth: Any) -> tuple[Any, ...]:
    """The counts of the right panel: a heading, then numbers with their words."""
    return (
        f"{selection.n_selected} of {truth.size:,} features selected;\nfalse positives among them:",
        (f"{selection.expected_false_positives:.1f}", "expected under the model"),
        (f"{selection.expected_by_chance:.1f}", "expected by chance alone"),
        (f"{int((selection.mask & ~truth).sum())}", "in truth"),
    )


def main() -> None:
    data = SynergeticModel().draw(200, seed=1)
    posterior = bs.screen(
        data.values, data.labels, model=bs.GaussianModel.jeffreys(prior_ratio=0.1), prior_probability=0.005
    )
    selection = bs.MinimalRisk(0.5).select(posterior)
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.9), layout="constrained")
        draw_effects(left, posterior, selection.mask, data.true_markers)
        draw_ranking(right, selection, data.true_markers)
        figure.savefig(TARGET, dpi=120, metadata={"Software": None})
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
