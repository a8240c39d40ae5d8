"""Numbers under the global null at many cuts: against one cut at a time, simulation and the page's table."""

from __future__ import annotations

import numpy as np
import pytest
from jeffreys import screen

import bayesieve as bs
from bayesieve.posterior import null_curve
from bayesieve.report.data import make_null_grid

CUTS = np.array([-np.inf, -8.0, -5.0, -2.0, 0.0, 3.0, 9.0, np.inf])


def interpolated(grid, cut):
    """As the page does: linear in the log; the first value below, nothing beyond."""
    if cut < grid.cuts[0]:
        return np.exp(grid.log_expected[0])
    if cut > grid.cuts[-1]:
        return 0.0
    with np.errstate(invalid="ignore"):
        return np.exp(np.interp(cut, grid.cuts, grid.log_expected))


def screens(rng):
    labels = np.arange(44) % 2
    values = rng.normal(size=(44, 300))
    values[labels == 1, :6] += 3.0
    gaps = values.copy()
    gaps[rng.random(gaps.shape) < 0.1] = np.nan
    yield "plain", screen(values, labels)
    yield "gaps", screen(gaps, labels, missing="omit")
    yield "own priors", screen(values, labels, prior_probability=rng.uniform(0.001, 0.2, 300))
    yield "ends", screen(values, labels, prior_probability=np.r_[0.0, 1.0, np.full(298, 0.01)])
    yield "proper", screen(values, labels, model=bs.GaussianModel.proper())
    yield "three", screen(values, np.arange(44) % 3)
    yield "counts", screen(rng.poisson(4.0, size=(44, 300)), labels, model=bs.PoissonModel())


@pytest.mark.filterwarnings("ignore:The median variance")
def test_many_cuts_are_many_single_cuts(rng):
    for name, posterior in screens(rng):
        together = null_curve(posterior, CUTS)
        apart = [bs.expected_under_null(posterior, cut) for cut in CUTS]
        np.testing.assert_allclose(together, apart, rtol=1e-9, atol=0, err_msg=name)
        assert (np.diff(together) <= 0).all(), name
        backwards = null_curve(posterior, CUTS[::-1])[::-1]
        np.testing.assert_allclose(together, backwards, rtol=1e-12, err_msg=name)


def test_the_curve_is_what_is_seen_without_markers(rng):
    values = rng.normal(size=(24, 200_000))
    posterior = screen(values, np.arange(24) % 2, prior_probability=0.1)
    cuts = np.array([-3.0, -1.0, 0.0, 1.5])
    seen = (posterior.log_odds[:, None] > cuts).sum(axis=0)
    expected = null_curve(posterior, cuts)
    assert (np.abs(seen - expected) <= 4.5 * np.sqrt(expected)).all()


def test_many_priors_and_cuts_go_through_a_table(rng):
    values = rng.normal(size=(30, 4000))
    prior = np.r_[0.0, 1.0, rng.uniform(0.001, 0.3, 3998)]
    posterior = screen(values, np.arange(30) % 2, prior_probability=prior)
    cuts = np.linspace(-9.0, 40.0, 400)
    together = null_curve(posterior, cuts)
    for k in (0, 57, 123, 250, 399):
        assert together[k] == pytest.approx(bs.expected_under_null(posterior, cuts[k]), rel=1e-6)


def test_models_that_cannot_draw_have_no_curve():
    class Odd(bs.Model):
        def statistic(self, values):
            return np.array([np.isfinite(values).sum(axis=0), np.nansum(values, axis=0)])

        def merge(self, first, second):
            return first + second

        def log_evidence(self, group):
            return -group[1] / (1.0 + group[0])

    posterior = screen([[1.0], [2.0], [3.0], [5.0]], [0, 0, 1, 1], model=Odd())
    assert np.isnan(null_curve(posterior, [0.0, 1.0])).all()
    assert make_null_grid(posterior, 0.0) is None


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
@pytest.mark.parametrize(("n0", "n1"), [(2, 2), (3, 40), (100, 100), (2000, 1500)])
@pytest.mark.parametrize("prior", [0.0005, 0.3])
def test_interpolation_is_within_half_a_percent(rng, n0, n1, prior):
    labels = np.r_[np.zeros(n0), np.ones(n1)]
    values = rng.normal(size=(n0 + n1, 50))
    values[n0:, 0] += 30.0
    posterior = screen(values, labels, prior_probability=prior)
    grid = make_null_grid(posterior, 0.0)
    low, high = posterior.log_odds.min(), posterior.log_odds.max()
    cuts = np.concatenate([np.linspace(low - 5, high + 5, 397), low + np.geomspace(1e-4, high - low, 211)])
    exact = null_curve(posterior, cuts)
    close = np.array([interpolated(grid, cut) for cut in cuts])
    shown = exact > 1e-280
    np.testing.assert_allclose(close[shown], exact[shown], rtol=5e-3)
    assert interpolated(grid, 0.0) == pytest.approx(grid.at_cut, rel=1e-12)
    assert grid.cuts.size <= 600
    assert (np.diff(grid.cuts) > 0).all()


def test_the_number_at_the_cut_of_a_list_is_exact(rng):
    labels = np.arange(44) % 2
    values = rng.normal(size=(44, 300))
    values[labels == 1, :6] += 3.0
    for posterior in (screen(values, labels), screen(rng.poisson(4.0, size=(44, 300)), labels,
                                                           model=bs.PoissonModel())):  # fmt: skip
        for rule in (bs.FixedSize(11), bs.MinimalRisk(0.9), bs.FixedSize(0), bs.MinimalRisk(0.0)):
            selection = rule.select(posterior)
            grid = make_null_grid(posterior, selection.cut)
            assert grid.at_cut == pytest.approx(selection.expected_under_null, rel=1e-9)
