"""What a pilot says about its features: likelihoods against SciPy's, draws against quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import bayesieve as bs
from bayesieve.planning.pilot import Pilot, read_pilot
from bayesieve.planning.truth import (
    _FAMILIES,
    _MARKERS,
    MEANS,
    NARROW,
    RATIOS,
    PilotPosterior,
    PilotTruths,
    _draw_differences,
    _grid,
    _mean_factors,
)


@pytest.mark.parametrize("t", [0.0, 0.7, 3.0, 9.0])
@pytest.mark.parametrize(("size", "dof", "centre"), [(5.0, 22.0, 1.0), (2.0, 4.0, 0.25), (40.0, 90.0, 0.5)])
def test_likelihood_of_a_point_is_the_noncentral_t(t, size, dof, centre):
    found = np.empty((1, 1))
    _mean_factors(np.array([t]), np.array([size]), np.array([dof]), np.array([centre]), np.array([1e-9]), found)
    shift = np.sqrt(size) * centre
    both = 0.5 * (stats.nct.pdf(t, dof, shift) + stats.nct.pdf(-t, dof, shift))
    assert found[0, 0] == pytest.approx(np.log(both / stats.t.pdf(t, dof)), abs=2e-5)


def test_likelihood_of_a_narrow_part_is_its_mean():
    t, size, dof, centre = 2.5, 5.0, 18.0, 0.7
    found = np.empty((1, 1))
    _mean_factors(np.array([t]), np.array([size]), np.array([dof]), np.array([centre]), np.array([0.14]), found)

    def density(delta):
        return stats.norm.pdf(delta, centre, 0.14) * sum(
            0.5 * stats.nct.pdf(sign * t, dof, np.sqrt(size) * delta) for sign in (1, -1)
        )

    both = integrate.quad(density, -0.7, 2.1)[0]
    assert found[0, 0] == pytest.approx(np.log(both / stats.t.pdf(t, dof)), abs=1e-6)


def test_differences_are_drawn_from_their_posterior():
    """Mean and standard deviation against quadrature over the difference."""
    t, size, dof, centre = 2.0, 5.0, 12.0, 1.0
    n = 40_000
    rng = np.random.default_rng(1)
    found, scales = np.zeros(n), np.ones(n)
    columns = [np.full(n, value) for value in (t, size, dof, centre)]
    _draw_differences(*columns, NARROW, rng.random((3, n)), rng.standard_normal(n), found, scales)

    def density(delta):
        prior = 0.5 * (stats.norm.pdf(delta, centre, NARROW) + stats.norm.pdf(delta, -centre, NARROW))
        return prior * stats.nct.pdf(t, dof, np.sqrt(size) * delta)

    whole, first, second = (
        integrate.quad(lambda d, k=k: d**k * density(d), -2.5, 2.5, points=[-1.0, 1.0])[0] for k in range(3)
    )
    mean, spread = first / whole, np.sqrt(second / whole - (first / whole) ** 2)
    assert found.mean() == pytest.approx(mean, abs=4 * spread / np.sqrt(n))
    assert found.std() == pytest.approx(spread, rel=0.03)


@pytest.fixture(scope="module")
def pilot():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 600))
    X[12:, :60] += rng.choice([-1.5, 1.5], 60)
    X[12:, 60:75] *= 4.0
    return read_pilot(X, [0] * 12 + [1] * 12, shuffles=0)


def test_likelihood_on_the_grid_is_that_of_the_mixture(pilot):
    known = PilotPosterior(pilot)
    fit = np.empty((len(_FAMILIES), _MARKERS.size))
    _grid(known.means, known.ratios, known.top, known.kinds, known.of_ratio, _FAMILIES, _MARKERS, fit)
    mean = np.log(known.means @ _FAMILIES[30]) + known.top[0]
    ratio = np.log(known.ratios @ known.of_ratio) + known.top[1]
    marker = np.logaddexp.reduce(
        [np.log(w) + x for w, x in zip(known.kinds, (mean, ratio, mean + ratio), strict=True)]
    )
    for i in (5, 20, 30):
        expected = np.logaddexp(np.log1p(-_MARKERS[i]), np.log(_MARKERS[i]) + marker).sum()
        assert fit[30, i] == pytest.approx(expected, rel=1e-9)


def test_equal_differences_are_a_family_of_their_own():
    """With many features the share and the size that all markers have in common are found, by no other family."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(30, 6000))
    X[15:, :600] += rng.choice([-1.0, 1.0], 600)
    known = PilotPosterior(read_pilot(X, [0] * 15 + [1] * 15, shuffles=0))
    drawn = [known.draw_shares(rng) for _ in range(200)]
    sizes = np.array([MEANS @ shares for shares, _ in drawn])
    assert np.mean([shares.max() > 0.95 for shares, _ in drawn]) > 0.5
    assert np.median(sizes) == pytest.approx(1.0, abs=0.12)
    assert np.median([share for _, share in drawn]) == pytest.approx(0.1, abs=0.03)


def test_drawn_markers_are_those_that_differ(pilot):
    truths = PilotTruths(PilotPosterior(pilot), np.random.default_rng(0))
    drawn = [truths.draw() for _ in range(40)]
    often = np.bincount(np.concatenate([truth.places for truth in drawn]), minlength=600) / 40
    assert often[:60].mean() > 0.7
    assert often[60:75].mean() > 0.6
    assert often[75:].mean() < 0.15
    sizes = np.concatenate([np.abs(truth.difference[truth.places < 60]) for truth in drawn])
    assert 1.2 < np.median(sizes[sizes > 0]) < 1.8
    ratios = np.concatenate([truth.log_ratio[(truth.places >= 60) & (truth.places < 75)] for truth in drawn])
    assert np.median(ratios[ratios != 0]) == pytest.approx(np.log(16.0), abs=0.6)


def test_a_pilot_keeps_what_matters():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(14, 300))
    y = [0] * 6 + [1] * 8
    moments = bs.Moments.from_matrix(X, y, shape=True)
    found, moved = Pilot.of(moments), Pilot.of(bs.Moments.from_matrix(7.0 - 3.0 * X, y, shape=True))
    assert moved.t == pytest.approx(found.t)  # free of location and scale
    assert moved.squares == pytest.approx(found.squares)
    t = stats.ttest_ind(X[6:], X[:6]).statistic
    assert stats.spearmanr(np.abs(t), found.t).statistic > 0.95
    assert len(MEANS) == 17
    assert found.log_ratio_factors(RATIOS).shape == (300, 3)


def test_heavy_tails_are_seen_in_how_variances_spread():
    """Few values show too small a kurtosis; how far variances of shuffled classes spread does not lie."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_t(5, size=(24, 1500)), [0] * 12 + [1] * 12
    found = read_pilot(X, y, shuffles=10)
    assert read_pilot(X, y, shuffles=0).kurtosis < 1.0
    assert found.kurtosis > 1.2  # 6 in truth, of which the bulk of the features shows a part
    assert read_pilot(rng.normal(size=(24, 1500)), y, shuffles=10).kurtosis < 0.3
