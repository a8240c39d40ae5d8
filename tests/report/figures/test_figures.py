"""Static figures: the axes hold the right numbers, and hostile or empty screens are drawn as well."""

from __future__ import annotations

import builtins
import math

import matplotlib as mpl
import numpy as np
import pytest
from jeffreys import screen
from matplotlib.figure import Figure
from posteriors import posterior_of
from scipy import stats

import bayesieve as bs
from bayesieve.report import figures
from bayesieve.report.figures.effects import name_points
from bayesieve.report.figures.style import format_number
from bayesieve.screening import SiteView

OF_ALL = (
    figures.effect_map,
    figures.log_odds_by_rank,
    figures.expected_roc,
    figures.false_discovery,
    figures.false_positives,
    figures.probabilities,
)
HOSTILE = [
    "$x^2$",
    "a\\$b",
    "new\nline\ttab",
    "$unbalanced",
    "_^{}\\frac{1}{0}",
    "\ud800",
    "n" * 10_000,
    "<b>&amp;",
]


def new_axes():
    return Figure(figsize=(3.3, 2.6), layout="constrained").subplots()


def drawn(ax):
    ax.figure.draw_without_rendering()  # lays out every text
    return ax


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 300))
    X[30:, :6] += 2.5
    X[30:, 6:9] *= 4.0
    return X, ["control"] * 30 + ["case"] * 30


@pytest.fixture(scope="module")
def posterior(data):
    return screen(*data, classes=("control", "case"), prior_probability=0.03)


def offsets(ax):
    return [np.asarray(each.get_offsets()) for each in ax.collections if len(each.get_offsets())]


def test_the_map_holds_every_feature_at_its_effect(data, posterior):
    X, _ = data
    a, b = X[:30], X[30:]
    x = (b.mean(0) - a.mean(0)) / np.sqrt((a.var(0, ddof=1) + b.var(0, ddof=1)) / 2)
    y = np.log(b.var(0, ddof=1) / a.var(0, ddof=1))
    chosen = posterior.probability > 0.5
    assert 0 < chosen.sum() < 20
    rest, picked = offsets(figures.effect_map(posterior, new_axes()))[:2]
    np.testing.assert_allclose(rest, np.column_stack([x, y])[~chosen], rtol=1e-9)
    order = np.argsort(posterior.log_odds[chosen])
    np.testing.assert_allclose(picked, np.column_stack([x, y])[chosen][order], rtol=1e-9)


def test_the_colours_of_the_map_are_log_odds(posterior):
    ax = figures.effect_map(posterior, new_axes())
    colours = ax.collections[1].get_array()
    np.testing.assert_allclose(np.sort(colours), np.sort(posterior.log_odds[posterior.log_odds > 0]))


def test_names_do_not_overlap(posterior):
    ax = drawn(figures.effect_map(posterior, new_axes(), n_labels=9))
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text().startswith("x")]
    assert len(boxes) > 5
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_a_name_without_room_is_left_out():
    ax = Figure(figsize=(0.9, 0.9)).subplots()
    x = np.full(30, 0.5)
    written = name_points(ax, x, x, ["a long name"] * 30, (x, x))
    assert len(written) < 30


def test_ranks_fall_and_the_cut_is_drawn(posterior):
    selection = bs.MinimalRisk(0.9).select(posterior)
    ax = figures.log_odds_by_rank(selection, new_axes())
    rest, picked = offsets(ax)
    everything = np.concatenate([picked, rest])
    np.testing.assert_allclose(everything[:, 0], np.arange(1, 301))
    np.testing.assert_allclose(everything[:, 1], np.sort(posterior.log_odds)[::-1])
    cut = [line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert cut == [pytest.approx(math.log(9.0))]


def test_the_roc_curve_passes_through_the_list(posterior):
    selection = bs.FixedSize(12).select(posterior)
    ax = figures.expected_roc(selection, new_axes())
    p = np.sort(1.0 / (1.0 + np.exp(-posterior.log_odds)))[::-1]
    curve, _, dot = ax.lines[:3]
    assert dot.get_xdata()[0] == pytest.approx((1 - p[:12]).sum())
    assert dot.get_ydata()[0] == pytest.approx(p[:12].sum())
    false, true = np.concatenate([[0], np.cumsum(1 - p)]), np.concatenate([[0], np.cumsum(p)])
    shown = len(curve.get_xdata())
    assert shown > 12
    np.testing.assert_allclose(curve.get_xdata(), false[:shown], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(curve.get_ydata(), true[:shown], rtol=1e-9)


def test_false_discoveries_are_shares_of_lists(posterior):
    ax = figures.false_discovery(posterior, new_axes())
    q = np.sort(1.0 / (1.0 + np.exp(posterior.log_odds)))
    rate, missed = ax.lines[:2]
    length = rate.get_xdata().astype(int)
    np.testing.assert_allclose(rate.get_ydata(), [q[:k].mean() for k in length], rtol=1e-9)
    np.testing.assert_allclose(
        missed.get_ydata(), [1 - (1 - q[:k]).sum() / (1 - q).sum() for k in length], atol=1e-12
    )


def test_bars_are_the_distribution_of_the_number_of_false_positives():
    selection = bs.FixedSize(20).select(posterior_of(np.full(30, 1.0)))
    ax = figures.false_positives(selection, new_axes())
    distribution = stats.binom(20, 1.0 / (1.0 + math.e))
    for bar in ax.patches:
        assert bar.get_height() == pytest.approx(
            distribution.pmf(round(bar.get_x() + bar.get_width() / 2)), rel=1e-9
        )
    low, high = (int(distribution.ppf(level)) for level in (0.05, 0.95))
    orange = [bar for bar in ax.patches if mpl.colors.to_hex(bar.get_facecolor()) == "#e69f00"]
    assert len(orange) == high - low + 1
    assert f"{low} to {high}" in " ".join(text.get_text() for text in ax.texts)


def test_a_wide_distribution_is_an_area():
    ax = figures.false_positives(bs.FixedSize(5_000).select(posterior_of(np.full(6_000, 0.0))), new_axes())
    assert not ax.patches
    assert len(ax.collections) == 2


def test_a_number_by_chance_far_off_is_told_in_words():
    log_odds = np.concatenate([np.full(3, 20.0), np.full(60_000, -1.0)])
    ax = figures.false_positives(bs.FixedSize(3).select(posterior_of(log_odds)).take(slice(0, 3)), new_axes())
    assert "under the global null" in " ".join(text.get_text() for text in ax.texts)


def test_probabilities_are_counted_once(posterior):
    ax = figures.probabilities(bs.MinimalRisk(0.5).select(posterior), new_axes())
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(2, 20).sum(axis=0)
    np.testing.assert_array_equal(heights, np.histogram(posterior.probability, 20, (0, 1))[0])


def test_points_of_a_feature_are_its_values(data, posterior):
    X, y = data
    for given in (X, X[:, 3]):
        ax = figures.feature(posterior, 3, given, y, ax=new_axes())
        strips = [each for each in offsets(ax) if len(each) == 30]
        np.testing.assert_array_equal(strips[0][:, 0], X[:30, 3])
        np.testing.assert_array_equal(strips[1][:, 0], X[30:, 3])


def test_curves_of_a_feature_are_student_distributions(data, posterior):
    X, _ = data
    ax = figures.feature(posterior, "x3", ax=new_axes())
    curves = [line for line in ax.lines if len(line.get_xdata()) > 100]
    assert len(curves) == 4  # two classes, and all samples on either line
    first = curves[0]
    height = first.get_ydata() - 0.0
    distribution = stats.t(30, X[:30, 3].mean(), math.sqrt(X[:30, 3].var() * (1 + 1 / 30)))
    density = distribution.pdf(first.get_xdata())
    np.testing.assert_allclose(height / height.max(), density / density.max(), rtol=2e-2, atol=2e-2)


def test_composition_adds_up(data, posterior):
    X, _ = data
    ax = figures.composition(posterior, "x3", new_axes())
    widths = [bar.get_width() for bar in ax.patches]
    assert sum(widths[:-1]) == pytest.approx(widths[-1]) == pytest.approx(posterior.log_odds[3])
    a, b = X[:30, 3], X[30:, 3]
    within = 30 * (a.var() + b.var())
    assert widths[3] == pytest.approx(30 * math.log1p(900 * (a.mean() - b.mean()) ** 2 / (60 * within)))
    assert widths[4] == pytest.approx(30 * math.log(within / 60) - 15 * math.log(a.var() * b.var()))


def test_composition_of_many_blocks_is_shortened():
    rng = np.random.default_rng(0)
    blocks = np.repeat([f"site {k}" for k in range(20)], 60)
    posterior = screen(rng.normal(size=(1200, 2)), ["a", "b"] * 600, blocks=blocks)
    ax = figures.composition(posterior, 0, new_axes())
    assert len(ax.patches) == 1 + 12 + 1 + 1
    assert sum(bar.get_width() for bar in ax.patches[:-1]) == pytest.approx(posterior.log_odds[0])


@pytest.fixture(scope="module")
def sites():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 5))
    X[1::2, 2] += 1.5
    X[60:, 2] = np.nan
    parts = {
        name: bs.Moments.from_matrix(X[k : k + 30], ["a", "b"] * 15, missing="omit")
        for k, name in ((0, "Oslo $"), (30, "Bonn"), (60, "Ulm"))
    }
    return SiteView.of(screen(X, ["a", "b"] * 45, missing="omit"), parts)


def test_a_forest_has_an_interval_for_every_site_that_measured(sites):
    ax = drawn(figures.forest(sites, "x2", new_axes()))
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2 and len(set(line.get_ydata())) == 1]
    inside = [line for line in lines if line.get_color() == "#0072B2"]
    assert len(inside) == 2
    place = sites.features.index("x2")
    assert inside[0].get_xdata() == pytest.approx([sites.sites[0].low[place], sites.sites[0].high[place]])
    assert "not measured" in [text.get_text() for text in ax.texts]
    with pytest.raises(bs.DataError, match="none of them"):
        figures.forest(sites, "x99")


def test_a_forest_of_three_classes_shows_log_bayes_factors():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 4)), ["a", "b", "c"] * 20
    parts = {"p": bs.Moments.from_matrix(X[:30], y[:30]), "q": bs.Moments.from_matrix(X[30:], y[30:])}
    view = SiteView.of(screen(X, y), parts)
    ax = drawn(figures.forest(view, 1, new_axes()))
    ends = [line.get_xdata()[-1] for line in ax.lines if len(line.get_xdata()) == 1]
    together = [view.pooled.log_bayes_factor[1], view.combined[1]]
    assert ends == pytest.approx([*(part.log_bayes_factor[1] for part in view.sites), *together])


@pytest.mark.parametrize("used", ["pooled", "combined"])
def test_a_forest_has_both_ways_to_take_sites_together(used):
    rng = np.random.default_rng(2)
    X, y, blocks = rng.normal(size=(60, 4)), ["a", "b"] * 30, ["p"] * 30 + ["q"] * 30
    X[1::2, 0] += 1.0
    posterior = screen(X, y) if used == "pooled" else screen(X, y, blocks=blocks)
    parts = {"p": bs.Moments.from_matrix(X[:30], y[:30]), "q": bs.Moments.from_matrix(X[30:], y[30:])}
    view = SiteView.of(posterior, parts)
    assert view.used == used
    ax = drawn(figures.forest(view, 0, new_axes()))
    assert [text.get_text() for text in ax.get_yticklabels()][-2:] == ["all pooled (60)", "sum of sites"]
    numbers = [text for text in ax.texts if "log Bayes factor" not in text.get_text()]
    assert len(numbers) == 4
    assert [text.get_text() for text in numbers[2:]] == [
        format_number(float(view.pooled.log_bayes_factor[0])), format_number(float(view.combined[0]))
    ]  # fmt: skip
    (bold,) = (text for text in numbers if text.get_fontweight() == "bold")
    assert bold.get_text() == format_number(float(posterior.log_bayes_factor[posterior.ranking[0]]))


def test_nothing_is_written_if_a_feature_cannot_be_drawn(tmp_path, data, posterior):
    X, y = data
    with pytest.raises(bs.DataError, match="not those that were screened"):
        figures.save_all(posterior, tmp_path / "pictures", ["png"], [0], data=X + 1.0, labels=y)
    assert not (tmp_path / "pictures").exists()


def screens():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 8)), ["a", "b"] * 30
    X[1::2, 0] += 3.0
    counts = rng.poisson(4.0, size=(60, 8))
    counts[1::2, 0] = 0
    three, blocks = ["a", "b", "c"] * 20, ["p"] * 30 + ["q"] * 30
    return {
        "nothing selected": (X[:, 1:], y, {"prior_probability": 1e-4}),
        "one feature": (X[:, :1], y, {}),
        "three classes": (X, three, {}),
        "blocks": (X, y, {"blocks": blocks}),
        "shift": (X, y, {"blocks": blocks, "block_model": "shift"}),
        "pairs": (X, y, {"pairs": np.repeat(np.arange(30), 2)}),
        "Poisson": (counts, y, {"model": bs.PoissonModel()}),
        "categories": (np.minimum(counts, 3), y, {"model": bs.CategoricalModel()}),
        "proper": (X, y, {"model": bs.GaussianModel.proper()}),
        "a prior per feature": (X, y, {"prior_probability": [0.0, 1.0, *[0.1] * 6]}),
        "all certain": (X, y, {"prior_probability": [1.0] * 8}),
    }


@pytest.mark.parametrize("case", screens())
def test_every_screen_can_be_drawn(case):
    X, y, options = screens()[case]
    posterior = screen(X, y, **options)
    for draw in OF_ALL:
        drawn(draw(posterior, new_axes()))
    drawn(figures.feature(posterior, 0, ax=new_axes()))
    drawn(figures.composition(posterior, -1, new_axes()))
    if case not in ("pairs", "categories"):
        drawn(figures.feature(posterior, 0, X, y, ax=new_axes()))


@pytest.mark.filterwarnings("ignore::bayesieve.DegenerateFeatureWarning")
def test_screens_without_variance_can_be_drawn():
    X = np.ones((20, 3))
    posterior = screen(X, ["a", "b"] * 10)
    assert posterior.degenerate.all()
    for draw in OF_ALL:
        drawn(draw(posterior, new_axes()))
    drawn(figures.feature(posterior, 1, X, ["a", "b"] * 10, ax=new_axes()))
    drawn(figures.composition(posterior, 1, new_axes()))
    texts = [text.get_text() for text in figures.effect_map(posterior, new_axes()).texts]
    assert "3 without a place" in texts


def hostile_screen():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, len(HOSTILE)))
    X[1::2] += 3.0
    return screen(X, ["$a", "b\\$"] * 30, feature_names=HOSTILE), X, ["$a", "b\\$"] * 30


def test_names_are_never_formulas():
    posterior, X, y = hostile_screen()
    for draw in OF_ALL:
        drawn(draw(posterior, new_axes()))
    for name in HOSTILE:
        ax = drawn(figures.feature(posterior, name, X, y, ax=new_axes()))
        drawn(figures.composition(posterior, name, new_axes()))
        assert len(ax.get_title(loc="left")) <= 28
    ax = figures.feature(posterior, "$x^2$", X, y, ax=new_axes())
    assert ax.get_title(loc="left") == "$x^2$"
    texts = [
        ax.xaxis.label,
        ax.yaxis.label,
        *ax.texts,
        *ax.get_yticklabels(),
        *ax.get_xticklabels(),
        ax._left_title,
    ]
    assert not any(text.get_parse_math() for text in texts if "$" in text.get_text())


def test_files_of_hostile_names_are_apart(tmp_path):
    posterior, X, y = hostile_screen()
    files = figures.save_all(posterior, tmp_path / "new" / "folder", ["svg"], HOSTILE, data=X, labels=y)
    assert len({path.name.lower() for path in files}) == len(files) == 6 + 2 * len(HOSTILE)
    assert all(path.parent == tmp_path / "new" / "folder" and path.stat().st_size for path in files)
    assert "$x^2$" in (tmp_path / "new" / "folder" / "feature__x_2_.svg").read_text(encoding="utf-8")


def test_the_same_screen_gives_the_same_files(tmp_path, posterior, sites):
    for folder in ("first", "second"):
        figures.save_all(posterior.take(slice(0, 40)), tmp_path / folder, features=["x3"])
        figures.save_all(posterior, tmp_path / folder, ["png"], sites=sites)
    names = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert len(names) == 3 * 8 + 1
    for name in names:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes(), name


def test_many_points_do_not_make_large_files(tmp_path):
    rng = np.random.default_rng(0)
    posterior = screen(rng.normal(size=(30, 20_000)), ["a", "b"] * 15, prior_probability=0.001)
    files = figures.save_all(posterior, tmp_path, ("svg", "pdf"))
    assert max(path.stat().st_size for path in files) < 400_000
    text = (tmp_path / "effect_map.svg").read_text()
    assert "<text" in text
    assert "<image" in text


def test_type_is_at_least_seven_points(posterior):
    with figures.style.on_paper():
        for draw in OF_ALL:
            ax = drawn(draw(posterior))
            texts = [text for text in ax.figure.findobj(mpl.text.Text) if text.get_text()]
            assert min(text.get_fontsize() for text in texts) >= 7.0
            assert ax.figure.get_size_inches()[0] == pytest.approx(85 / 25.4)


def test_settings_of_matplotlib_stay_as_they_were(tmp_path, posterior):
    import matplotlib.pyplot as plt  # noqa: PLC0415

    before, figures_before = dict(mpl.rcParams), plt.get_fignums()
    figures.save_all(posterior, tmp_path, ["png"], ["x0"])
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == figures_before


def test_a_new_figure_is_one_of_pyplot(posterior):
    import matplotlib.pyplot as plt  # noqa: PLC0415

    before = dict(mpl.rcParams)
    ax = figures.probabilities(posterior)
    assert ax.figure.number in plt.get_fignums()
    plt.close(ax.figure)
    assert dict(mpl.rcParams) == before


def test_clear_errors(tmp_path, posterior, data):
    with pytest.raises(bs.OptionError, match="svg, pdf, png, not as 'gif'"):
        figures.save_all(posterior, tmp_path, ["gif"])
    with pytest.raises(bs.OptionError, match="none of them"):
        figures.save_all(posterior, tmp_path, [])
    with pytest.raises(bs.DataError, match="There is no feature 'y3'"):
        figures.save_all(posterior, tmp_path, ["png"], ["y3"])
    assert not list(tmp_path.iterdir())  # nothing is written when a name is wrong
    with pytest.raises(bs.DataError, match="number 300"):
        figures.feature(posterior, 300)
    with pytest.raises(bs.RuleError, match="not ndarray"):
        figures.effect_map(data[0])
    with pytest.raises(bs.LabelError, match="no labels"):
        figures.feature(posterior, 0, data[0][:, 0])
    with pytest.raises(bs.LabelError, match="no class 'other'"):
        figures.feature(posterior, 0, data[0][:, 0], ["other"] * 60)
    with pytest.raises(bs.DataError, match="SiteView"):
        figures.forest(posterior)
    (tmp_path / "file").write_text("")
    with pytest.raises(bs.FileError, match="folder"):
        figures.save_all(posterior, tmp_path / "file", ["png"])


def test_a_missing_matplotlib_is_named_with_the_command(monkeypatch, tmp_path, posterior):
    real = builtins.__import__

    def without(name, *args, **rest):
        if name == "matplotlib" or name.startswith("matplotlib."):
            raise ImportError(name)
        return real(name, *args, **rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for draw in (*OF_ALL, lambda found: figures.save_all(found, tmp_path / "new")):
        with pytest.raises(bs.MissingExtraError, match=r"pip install .*\[figures\]"):
            draw(posterior)
    assert not (tmp_path / "new").exists()


def test_numbers_of_a_composition_stand_beside_the_bars_and_within_the_figure():
    """Whatever their length: a log-odds of 135,999.53 needs more room than one of 1.2."""
    X = np.random.default_rng(0).normal(size=(40_000, 1))
    X[1::2] += 60.0
    ax = figures.composition(screen(X, [0, 1] * 20_000), 0)
    ax.figure.canvas.draw()
    room, axes = ax.figure.bbox, ax.get_window_extent()
    written = [text.get_window_extent() for text in ax.texts]
    assert len(written) == 6
    assert all(axes.x1 < box.x0 and box.x1 <= room.x1 for box in written)
