"""Gene sets on the page: a section when there are any, with every name escaped; figures of genes."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayesieve as bs
from bayesieve.enrichment import GeneSets, recovery_curve
from bayesieve.report import figures

GENES = [f"G{i}" for i in range(120)]
HOSTILE = '<script>alert("x")</script>&$^{'


def selection(names=GENES):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, len(names)))
    X[20:, :12] += 2.5
    return bs.MinimalRisk(0.5).select(bs.screen(X, [0] * 20 + [1] * 20, feature_names=names, shuffles=20))


def test_the_page_has_a_section_of_gene_sets_only_if_there_are_any(tmp_path):
    chosen = selection([HOSTILE, *GENES[1:]])
    sets = {HOSTILE: [HOSTILE, *GENES[1:15]], "rest%made up": GENES[15:90]}
    found = bs.enrich(chosen, GeneSets.from_dict(sets, HOSTILE))
    page = bs.report.write(chosen, tmp_path / "with.html", sets=found).read_text(encoding="utf-8")
    without = bs.report.write(chosen, tmp_path / "without.html").read_text(encoding="utf-8")
    assert 'id="gene-sets"' in page
    assert 'href="#gene-sets"' in page
    assert "gene-sets" not in without
    assert HOSTILE not in page
    section = page[page.index('id="gene-sets"') : page.index('id="table"')]
    assert "&lt;script&gt;" in section
    rows = re.findall(r"<tr><td.*?</tr>", section, flags=re.DOTALL)
    assert len(rows) == 2
    assert ">rest<" in rows[1].replace(' class="text"', "")
    assert f">{int(found.selected[0])}<" in rows[0]
    assert f"{found.n_selected} of 120 genes are in the list" in section


def test_figures_of_genes_say_what_they_show():
    chosen = selection()
    found = bs.enrich(chosen, GeneSets.from_dict({HOSTILE: GENES[:15], "other": GENES[10:40]}), min_share=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = figures.set_dots(found, ax=Figure().subplots())
        ax.figure.canvas.draw()
    assert len(ax.get_yticklabels()) == int((found.selected > 0).sum())
    offsets = ax.collections[0].get_offsets()
    np.testing.assert_allclose(offsets[:, 0], found.fold[: len(offsets)])
    empty = bs.enrich(GENES, GeneSets.from_dict({"a": GENES[:15]}), min_share=0.0)
    words = [text.get_text() for text in figures.set_dots(empty, ax=Figure().subplots()).texts]
    assert "No set holds a selected gene." in words
    curves = [recovery_curve(GENES, ["G3", "G70"], "one"), recovery_curve(GENES[::-1], ["G3", "G70"], HOSTILE)]
    ax = figures.recovery(curves, Figure().subplots())
    ax.figure.canvas.draw()
    lines = [line for line in ax.lines if len(line.get_xdata()) > 2]
    np.testing.assert_allclose(lines[0].get_ydata(), curves[0].points[1])
    assert ax.get_legend().get_texts()[0].get_text() == "one"
    with pytest.raises(bs.DataError, match="no curve"):
        figures.recovery([])
