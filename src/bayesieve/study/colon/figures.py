"""Figures S1 to S3: all values, recovery of known genes, and values of single genes by class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bayesieve.enrichment import RecoveryCurve
from bayesieve.study.colon.published import TITLES, known_genes, published
from bayesieve.study.colon.run import ColonResults
from bayesieve.study.colon.series import codes_of
from bayesieve.study.figures import STYLE, WIDTH
from bayesieve.utils import BLUE, GREY, PALETTE, VERMILION, open_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = dict(zip(TITLES, PALETTE, strict=False))
_DASHED = ("skbs", "bpm", "bayesreg-logit-l1")  # behind a first phase
_N_SHOWN = 4
_LONGEST = 20


def figures_of(results: ColonResults) -> dict[str, Callable[[], Figure]]:
    """Functions that draw the figures, by name."""
    drawn: dict[str, Callable[[], Figure]] = {"s1": lambda: draw_values(results)}
    if results.rankings and results.known_names:
        drawn["s2"] = lambda: draw_recovery(results)
    if results.main is not None:
        drawn["s3"] = lambda: draw_genes(results)
    return drawn


def captions_of(results: ColonResults) -> dict[str, str]:
    """Captions of the figures, by name."""
    here = "made values" if results.design.synthetic else "values"
    absent = [symbol for symbol, name, _ in shown_genes(results) if not name] if results.main is not None else []
    instead = (
        f" Genes of the paper's figure that are not measured here ({', '.join(absent)}) are replaced by the "
        "first genes "
        "of our ranking." if absent else ""
    )  # fmt: skip
    return {
        "s1": f"Figure S1: histogram of the {here} of all samples and all probes used.",
        "s2": "Figure S2: share of the known genes among the first n genes. Left: from the ranks that the paper "
        "prints in Table S1. Right: here. Grey: by chance. Dashed: methods that rank the first probes of BD only.",
        "s3": f"Figure S3: {here} of single genes (best probe by CMNC-OBF-JP), early above and late below, as "
        f"shares of the class.{instead}",
    }


def draw_values(results: ColonResults) -> Figure:
    """Figure S1."""
    values = results.table.values
    edges = np.linspace(values.min(), values.max(), 81)
    heights = np.zeros(80)
    for column in range(0, values.shape[1], 4096):  # the whole at once would be copied
        heights += np.histogram(values[:, column : column + 4096], edges)[0]
    with open_figure(STYLE, WIDTH * 0.7, 2.6) as figure:
        axes = figure.subplots()
        axes.stairs(heights / 1e3, edges, fill=True, color=BLUE, alpha=0.8)
        axes.set(
            xlabel="value (logarithm to base 2)", ylabel="number of values, thousands", xlim=(edges[0], edges[-1])
        )
        axes.yaxis.set_major_formatter("{x:,g}")
    return figure


def draw_recovery(results: ColonResults) -> Figure:
    """Figure S2."""
    paper = published()["data"]
    with open_figure(STYLE, WIDTH, 3.3) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for method in published()["table_s1"]["methods"]:
            ranks = np.array(sorted(gene.ranks[method] for gene in known_genes() if method in gene.ranks))
            n_ranked = paper["prescreened_genes"] if method in _DASHED else paper["genes"]
            _curve(left, method, RecoveryCurve(method, ranks, paper["known"], n_ranked))
        for method in TITLES:
            found = results.of_method(method)
            if found is not None:
                ranks = np.array(sorted(rank for rank in found.known.values() if rank), dtype=np.int64)
                _curve(right, method, RecoveryCurve(method, ranks, len(results.known_names), len(found.genes)))
        for axes, n, title in ((left, paper["genes"], "the paper"), (right, results.n_genes, "here")):
            axes.plot([0, n], [0, 1], color=GREY, lw=0.8, zorder=0)
            axes.set(title=title, xlabel="genes selected", xlim=(0, n), ylim=(0, 1.02))
            axes.xaxis.set_major_formatter("{x:,g}")
            axes.locator_params(axis="x", nbins=5)
        left.set_ylabel("share of known genes")
        handles = dict(zip(*reversed(left.get_legend_handles_labels()), strict=True))
        handles |= dict(zip(*reversed(right.get_legend_handles_labels()), strict=True))
        figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, columnspacing=1.2)
    return figure


def _curve(axes: Axes, method: str, curve: RecoveryCurve) -> None:
    sizes, shares = curve.points
    line = "--" if method in _DASHED else "-"
    axes.step(sizes, shares, where="post", color=_COLOURS[method], ls=line, label=TITLES[method])


def shown_genes(results: ColonResults) -> list[tuple[str, str, str]]:
    """Genes of Figure S3: what the paper shows, what it is called here (empty if absent), and the probe drawn."""
    assert results.main is not None
    genes = results.main.genes
    listed = {gene: k for k in range(len(genes) - 1, -1, -1) for gene in genes.gene_lists[k]}
    found: list[tuple[str, str, str]] = []
    spare = iter(range(len(genes)))
    for symbol, entrez in published()["figure_s3"]["genes"]:
        k = listed.get(symbol, listed.get(entrez))
        if k is not None:
            found.append((symbol, genes.genes[k], genes.features[k]))
    for symbol, entrez in published()["figure_s3"]["genes"]:
        if symbol not in listed and entrez not in listed:
            taken = {probe for _, _, probe in found}
            k = next((k for k in spare if genes.features[k] not in taken), None)
            if k is not None:
                found.append((symbol, "", genes.features[k]))
    return found[:_N_SHOWN]


def draw_genes(results: ColonResults) -> Figure:
    """Figure S3."""
    table = results.table
    codes = codes_of(table.stages, results.reading)
    place = {probe: k for k, probe in enumerate(table.features)}
    shown = shown_genes(results)
    with open_figure(STYLE, WIDTH, 3.4) as figure:
        panels = figure.subplots(2, len(shown), sharex="col", squeeze=False)
        for k, (symbol, name, probe) in enumerate(shown):
            values = table.values[:, place[probe]]
            edges = np.histogram_bin_edges(values[codes >= 0], 20)
            title = symbol if name else _first_gene(results, probe)
            for row, colour in ((0, VERMILION), (1, BLUE)):
                axes = panels[row, k]
                members = values[codes == row]
                axes.hist(members, edges, weights=np.full(members.size, 1 / members.size), color=colour)
                axes.set_ylim(0, None)
                if k == 0:
                    axes.set_ylabel(f"{'early' if row == 0 else 'late'} ({members.size})\nshare")
            panels[0, k].set_title(title)
            panels[1, k].set_xlabel("value")
            top = max(axes.get_ylim()[1] for axes in panels[:, k])
            for axes in panels[:, k]:
                axes.set_ylim(0, top)
    return figure


def _first_gene(results: ColonResults, probe: str) -> str:
    name = (results.gene_map[probe] or (probe,))[0]
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."
