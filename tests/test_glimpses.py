"""Results at a glance: short text, small HTML, figures and report as methods."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayesieve as bs
from bayesieve.stats.sites import SiteStatistics, StatisticsSet

NAMES = [f"<script>alert({i})</script> " + "very long name " * 10 for i in range(30)]
LABELS = ["a & <b>" * 20, "control"]


@pytest.fixture(scope="module")
def table():
    values = np.random.default_rng(0).normal(size=(40, 30))
    values[1::2, :3] += 3.0
    return values, LABELS * 20


@pytest.fixture(scope="module")
def posterior(table):
    return bs.screen(*table, feature_names=NAMES, shuffles=5)


@pytest.fixture(scope="module")
def results(table, posterior):
    values, labels = table
    moments = bs.Moments.from_matrix(values, labels)
    counts = np.random.default_rng(1).poisson(3.0, values.shape)
    site = SiteStatistics("Oslo " * 30, moments, tuple(NAMES))
    return {
        "posterior": posterior,
        "selection": bs.MinimalRisk(0.5).select(posterior),
        "nothing": bs.MinimalRisk(1.0).select(posterior),
        "scores": bs.score(values, labels, feature_names=NAMES),
        "comparison": bs.compare_methods(values, labels, ["welch", "limma"], feature_names=NAMES),
        "moments": moments,
        "totals": bs.EventTotals.from_matrix(counts, labels),
        "categories": bs.CategoryCounts.from_matrix(counts > 3, labels),
        "site": site,
        "sites": StatisticsSet((site,)),
        "pairs": bs.screen_pairs(values, labels, feature_names=NAMES, shuffles=0),
        "fragility": bs.fragility(values, labels, feature_names=NAMES),
    }


def test_texts_are_short_whatever_the_names(results):
    for name, result in results.items():
        text = repr(result)
        assert 10 < len(text) < 600, name
        assert max(map(len, text.splitlines())) <= 110, name
        assert type(result).__name__ in text


def test_html_is_escaped_small_and_takes_the_colours_of_the_page(results):
    for name, result in results.items():
        shown = result._repr_html_()
        assert "<script" not in shown, name
        assert "<b>" not in shown, name
        assert len(shown) < 6000, name
        assert "#" not in shown.replace("&#", ""), name  # no colour of its own
        assert type(result).__name__ in shown


def test_a_glimpse_holds_the_strongest_features(posterior):
    best = int(np.argmax(posterior.log_odds))
    first = repr(posterior).splitlines()[4].split()
    assert first[0] == "1"
    assert NAMES[best].startswith(" ".join(first[1:-2]).removesuffix("…"))
    assert float(first[-2]) == pytest.approx(posterior.log_odds[best], abs=0.01)


def test_the_list_says_its_false_positives(results):
    selection = results["selection"]
    assert selection.false_positive_estimate.describe() in repr(selection)
    assert "nothing passes" in repr(results["nothing"])


def test_figures_are_methods_that_take_and_return_axes(results, posterior):
    axes = Figure(figsize=(12, 6)).subplots(2, 4).ravel()
    for found in (posterior, results["selection"]):
        names = (
            "effect_map",
            "log_odds_by_rank",
            "expected_roc",
            "false_discovery",
            "false_positives",
            "probabilities",
        )
        for name, ax in zip(names, axes, strict=False):
            assert getattr(found.plot, name)(ax) is ax
        assert found.plot.composition(0, axes[6]) is axes[6]
        assert "effect_map" in repr(found.plot)


def test_a_figure_of_one_feature(table, posterior):
    values, labels = table
    ax = Figure().subplots()
    assert posterior.plot.feature(0, values, labels, ax=ax) is ax


def test_a_report_is_a_method(results, posterior, tmp_path):
    for name in ("selection", "posterior"):
        path = results[name].report(tmp_path / f"{name}.html")
        assert Path(path).read_text(encoding="utf-8").startswith("<!doctype html>")
