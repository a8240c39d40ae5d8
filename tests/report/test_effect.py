"""Where features lie on the map of effects, and what their log-odds are made of: against plain NumPy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from jeffreys import screen

import bayesieve as bs
from bayesieve.models import jeffreys_constant
from bayesieve.posterior import composition_of, effect_of

Y = ["a", "b"] * 30
BLOCKS = ["p"] * 24 + ["q"] * 36


@pytest.fixture
def values():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 6)) * rng.uniform(0.1, 9.0, size=6) + 1e6 * np.arange(6)
    X[1::2, 0] += 2.0
    return X


def standardised(a, b):
    return (b.mean(0) - a.mean(0)) / np.sqrt((a.var(0, ddof=1) + b.var(0, ddof=1)) / 2)


def test_two_classes(values):
    effect = effect_of(screen(values, Y))
    a, b = values[::2], values[1::2]
    assert effect.kind == "map"
    np.testing.assert_allclose(effect.x, standardised(a, b), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(effect.y, np.log(b.var(0) / a.var(0)), rtol=1e-6, atol=1e-9)
    assert effect.x_title.endswith("b minus a")
    assert effect.y_title.endswith("b over a")
    turned = effect_of(screen(values, Y, classes=("b", "a")))
    np.testing.assert_allclose(turned.x, -effect.x)
    np.testing.assert_allclose(turned.y, -effect.y)


def test_more_classes_take_the_largest_difference(values):
    y = ["a", "b", "c"] * 20
    effect = effect_of(screen(values, y))
    parts = [values[k::3] for k in range(3)]
    expected = np.max([np.abs(standardised(a, b)) for a, b in combinations(parts, 2)], axis=0)
    variances = np.array([part.var(0) for part in parts])
    np.testing.assert_allclose(effect.x, expected, rtol=1e-6)
    np.testing.assert_allclose(effect.y, np.log(variances.max(0) / variances.min(0)), rtol=1e-6)


@pytest.mark.parametrize("block_model", ["own", "shift"])
def test_blocks_are_looked_at_from_within(values, block_model):
    whole = effect_of(screen(values, Y, blocks=BLOCKS, block_model=block_model))
    moved = values.copy()
    moved[24:] += 100.0  # a batch effect that dwarfs everything
    shifted = effect_of(screen(moved, Y, blocks=BLOCKS, block_model=block_model))
    np.testing.assert_allclose(shifted.x, whole.x, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(shifted.y, whole.y, rtol=1e-4, atol=1e-6)
    weights, squares, freedom = [], np.zeros((2, 6)), np.zeros(2)
    for rows in (slice(0, 24), slice(24, 60)):
        a, b = values[rows][::2], values[rows][1::2]
        weights.append((len(a) * len(b) / (len(a) + len(b)), b.mean(0) - a.mean(0)))
        squares += [len(a) * a.var(0), len(b) * b.var(0)]
        freedom += [len(a) - 1, len(b) - 1]
    variance = squares / freedom[:, None]
    difference = sum(w * d for w, d in weights) / sum(w for w, _ in weights)
    np.testing.assert_allclose(whole.x, difference / np.sqrt(variance.mean(0)), rtol=1e-4, atol=1e-6)
    assert "within blocks" in whole.x_title


def test_pairs_counts_and_categories_are_volcanoes(values):
    paired = effect_of(screen(values, Y, pairs=np.repeat(np.arange(30), 2)))
    differences = values[1::2] - values[::2]
    assert paired.kind == "volcano"
    assert paired.y is None
    np.testing.assert_allclose(paired.x, differences.mean(0) / differences.std(0, ddof=1), rtol=1e-6, atol=1e-9)
    counts = np.random.default_rng(1).poisson(3.0, size=(60, 4))
    counts[1::2, 0] = 0
    rates = effect_of(screen(counts, Y, model=bs.PoissonModel()))
    expected = np.log((counts[1::2].sum(0) + 0.5) / (counts[::2].sum(0) + 0.5))
    np.testing.assert_allclose(rates.x, expected)
    assert np.isfinite(rates.x).all()
    levels = effect_of(screen(counts, Y, model=bs.CategoricalModel()))
    shares = [
        max(abs((counts[1::2, j] == level).mean() - (counts[::2, j] == level).mean()) for level in range(20))
        for j in range(4)
    ]
    np.testing.assert_allclose(levels.x, shares)


@pytest.mark.filterwarnings("ignore::bayesieve.DegenerateFeatureWarning")
def test_what_is_not_defined_is_nan(values):
    values[:, 2] = 4.0
    values[::2, 3] = 4.0
    effect = effect_of(screen(values, Y))
    assert np.flatnonzero(np.isnan(effect.x)).tolist() == [2]
    assert np.flatnonzero(np.isnan(effect.y)).tolist() == [2, 3]


@pytest.mark.parametrize("options", [{}, {"resolution": 0.5}, {"missing": "omit"}, {"prior_probability": 0.3}])
def test_terms_add_up_to_the_log_odds(values, options):
    if "missing" in options:
        values[3:9, 1] = np.nan
    posterior = bs.screen(values, Y, model=bs.GaussianModel.jeffreys(), **options)
    found = composition_of(posterior)
    assert found.kind == "jeffreys"
    np.testing.assert_allclose(found.terms.sum(axis=0), posterior.log_bayes_factor, rtol=1e-9, atol=1e-9)
    for place in range(6):
        terms = found.of(posterior, place)
        assert [name for name, _ in terms] == [
            "prior odds",
            "prior ratio",
            "number of samples",
            "means",
            "variances",
        ]
        assert sum(value for _, value in terms) == pytest.approx(posterior.log_odds[place])
    np.testing.assert_allclose(found.terms[0], np.log(0.1))
    if not options:
        np.testing.assert_allclose(found.terms[1], jeffreys_constant(30, 30))


@pytest.mark.filterwarnings("ignore:The median mean")
@pytest.mark.filterwarnings("ignore::bayesieve.DegenerateFeatureWarning")
def test_other_screens_are_taken_apart_as_far_as_they_go(values):
    own = screen(values, Y, blocks=BLOCKS)
    assert [name for name, _ in composition_of(own).of(own, 0)] == ["prior odds", "block p", "block q"]
    shift = screen(values, Y, blocks=BLOCKS, block_model="shift")
    terms = composition_of(shift).of(shift, 0)
    assert terms[-1][0] == "blocks together"
    assert sum(value for _, value in terms) == pytest.approx(shift.log_odds[0])
    values[:, 2] = 4.0
    flat = bs.screen(values, Y, model=bs.GaussianModel.jeffreys())
    assert [name for name, _ in composition_of(flat).of(flat, 2)] == ["prior odds", "data"]
    assert len(composition_of(flat).of(flat, 0)) == 5
    proper = screen(values, Y, model=bs.GaussianModel.proper())
    assert composition_of(proper).of(proper, 1)[1] == ("data", pytest.approx(proper.log_bayes_factor[1]))
