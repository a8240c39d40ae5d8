"""Directions and effects: Monte Carlo, scipy.stats, and mpmath quadrature by another route."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

import bayesieve as bs
from bayesieve.posterior import effects
from bayesieve.posterior.findings.effects import BehrensFisher

MODELS = [bs.GaussianModel.proper(), bs.GaussianModel.jeffreys()]


def screened(x, n0, model=None, **options):
    y = [0] * n0 + [1] * (len(x) - n0)
    return bs.screen(x, y, model=model or bs.GaussianModel.proper(), **options)


def posterior_from_moments(n, mean, squares, model=None):
    moments = bs.Moments((0, 1), n, np.array(mean, float), np.array(squares, float))
    return bs.FeaturePosterior(
        log_bayes_factor=np.zeros(moments.n_features),
        prior_log_odds=0.0,
        feature_names=None,
        degenerate_codes=np.zeros(moments.n_features, np.int8),
        statistics=moments,
        model=model or bs.GaussianModel.jeffreys(),
    )


@pytest.mark.parametrize("model", MODELS, ids=["proper", "jeffreys"])
def test_against_draws_from_the_normal_inverse_gamma_posterior(model):
    n, mean, squares = [6, 9], [[0.2], [0.9]], [[2.0], [6.0]]
    found = effects(posterior_from_moments(n, mean, squares, model))
    rng, draws = np.random.default_rng(5), []
    for k in range(2):
        prior = model.prior_of(k, 2)
        dof, strength = prior.variance_dof + n[k], prior.mean_strength + n[k]
        pull = prior.mean_strength * n[k] / strength * (mean[k][0] - prior.mean_location) ** 2
        scale = prior.variance_scale + squares[k][0] + pull
        location = (prior.mean_strength * prior.mean_location + n[k] * mean[k][0]) / strength
        variance = scale / rng.chisquare(dof, 400_000)
        draws.append((location + np.sqrt(variance / strength) * rng.standard_normal(400_000), variance))
    (mean0, variance0), (mean1, variance1) = draws
    assert found.probability_mean_higher[0] == pytest.approx((mean1 > mean0).mean(), abs=0.003)
    assert found.probability_variance_higher[0] == pytest.approx((variance1 > variance0).mean(), abs=0.003)
    low, high = np.quantile(mean1 - mean0, [0.025, 0.975])
    assert found.mean_difference_low[0] == pytest.approx(low, abs=0.02)
    assert found.mean_difference_high[0] == pytest.approx(high, abs=0.02)
    low, high = np.quantile(np.log(variance1 / variance0), [0.025, 0.975])
    assert found.log_variance_ratio_low[0] == pytest.approx(low, abs=0.02)
    assert found.log_variance_ratio_high[0] == pytest.approx(high, abs=0.02)


def exact_tail(n, squares, distance):
    """P(second mean - first > centre + distance): the two Student distributions convolved, with mpmath."""
    with mp.workdps(25):
        distributions = [
            (mp.mpf(k), mp.sqrt(mp.mpf(s) / mp.mpf(k) / mp.mpf(k))) for k, s in zip(n, squares, strict=True)
        ]

        def density(distribution, x):
            k, scale = distribution
            constant = mp.gamma((k + 1) / 2) / mp.gamma(k / 2) / mp.sqrt(k * mp.pi)
            return constant / scale * (1 + (x / scale) ** 2 / k) ** (-(k + 1) / 2)

        def upper(distribution, x):
            k, scale = distribution
            z = x / scale
            part = mp.betainc(k / 2, mp.mpf(1) / 2, 0, k / (k + z * z), regularized=True) / 2
            return part if z >= 0 else 1 - part

        d = mp.mpf(distance)
        near = [-mp.inf, -10, -3, -1, -d / 2, 0, d / 2, 1, 3, 10, mp.inf]
        points = sorted({mp.mpf(x) for x in near} | {-d})
        return mp.quad(lambda x: density(distributions[0], x) * upper(distributions[1], d + x), points)


@pytest.mark.parametrize(
    ("n", "squares", "difference"),
    [((3, 4), (1.0, 5.0), 2.0), ((8, 5), (3.0, 0.2), 1.5), ((12, 12), (4.0, 4.0), 3.0)],
)
def test_means_against_the_convolution_of_two_student_distributions(n, squares, difference):
    found = effects(posterior_from_moments(n, [[1.0], [1.0 + difference]], [[s] for s in squares]), level=0.9)
    assert found.probability_mean_lower[0] == pytest.approx(float(exact_tail(n, squares, difference)), rel=1e-10)
    assert found.probability_mean_higher[0] + found.probability_mean_lower[0] == pytest.approx(1.0)
    width = found.mean_difference_high[0] - found.mean_difference[0]
    assert float(exact_tail(n, squares, width)) == pytest.approx(0.05, rel=1e-9)
    assert found.mean_difference[0] - found.mean_difference_low[0] == pytest.approx(width)


def test_variances_against_the_f_distribution(rng):
    n0, n1 = 7, 11
    squares = rng.chisquare(5, size=(2, 20)) * rng.lognormal(size=20)
    found = effects(posterior_from_moments([n0, n1], np.zeros((2, 20)), squares), level=0.8)
    distribution = scipy.stats.f(n0, n1)
    ratio = (squares[1] / n1) / (squares[0] / n0)
    assert found.log_variance_ratio_low == pytest.approx(
        np.log(ratio * distribution.ppf(0.1)), rel=1e-10, abs=1e-12
    )
    assert found.log_variance_ratio_high == pytest.approx(
        np.log(ratio * distribution.ppf(0.9)), rel=1e-10, abs=1e-12
    )
    assert found.probability_variance_higher == pytest.approx(distribution.sf(1 / ratio), rel=1e-10)
    assert found.probability_variance_lower == pytest.approx(distribution.cdf(1 / ratio), rel=1e-10)


def test_equal_scales_and_a_common_variance_limit():
    """One class of very many values: the difference is a plain Student distribution around a known mean."""
    found = effects(posterior_from_moments([9, 10**9], [[0.0], [1.0]], [[4.0], [1.0]]), level=0.95)
    scale = math.sqrt(4.0 / 9 / 9)
    half = scipy.stats.t(9).ppf(0.975) * scale
    assert found.mean_difference_high[0] - 1.0 == pytest.approx(half, rel=1e-7)
    assert found.probability_mean_lower[0] == pytest.approx(scipy.stats.t(9).sf(1.0 / scale), rel=1e-6)


def test_many_samples_give_the_normal_distribution():
    n0, n1, v0, v1 = 10**6, 2 * 10**6, 1.0, 4.0
    found = effects(posterior_from_moments([n0, n1], [[0.0], [0.003]], [[n0 * v0], [n1 * v1]]), level=0.95)
    error = math.sqrt(v0 / n0 + v1 / n1)
    assert found.mean_difference_high[0] - 0.003 == pytest.approx(scipy.stats.norm.ppf(0.975) * error, rel=1e-5)
    assert found.probability_mean_higher[0] == pytest.approx(scipy.stats.norm.cdf(0.003 / error), rel=1e-5)
    assert found.standardised_difference[0] == pytest.approx(0.003 / math.sqrt(2.5), rel=1e-12)


def test_tiny_probabilities_keep_their_digits():
    found = effects(posterior_from_moments([20, 20], [[0.0], [12.0]], [[20.0], [20.0]]))
    exact = exact_tail((20, 20), (20.0, 20.0), 12.0)
    assert 0 < exact < 1e-15
    assert found.probability_mean_lower[0] == pytest.approx(float(exact), rel=1e-8)
    assert found.probability_mean_higher[0] == 1.0


@pytest.mark.parametrize("model", MODELS, ids=["proper", "jeffreys"])
def test_swapping_the_classes_turns_everything_round(model, rng):
    n, mean, squares = [5, 8], rng.normal(size=(2, 30)), rng.chisquare(5, size=(2, 30))
    if model.is_proper:
        model = bs.GaussianModel.proper(mean_locations=(0.0, 0.0))
    one = effects(posterior_from_moments(n, mean, squares, model))
    two = effects(posterior_from_moments(n[::-1], mean[::-1], squares[::-1], model))
    assert two.mean_difference_low == pytest.approx(-one.mean_difference_high, rel=1e-12)
    assert two.log_variance_ratio_low == pytest.approx(-one.log_variance_ratio_high, rel=1e-12)
    assert two.probability_mean_higher == pytest.approx(one.probability_mean_lower, rel=1e-12)
    assert two.probability_variance_higher == pytest.approx(one.probability_variance_lower, rel=1e-12)
    assert two.standardised_difference == pytest.approx(-one.standardised_difference, rel=1e-12)


def test_shift_and_scale(rng):
    x = rng.normal(size=(16, 25)) * rng.lognormal(size=25)
    plain = effects(screened(x, 8, bs.GaussianModel.jeffreys()))
    moved = effects(screened(1e3 * x - 7.0, 8, bs.GaussianModel.jeffreys()))
    assert moved.mean_difference_low == pytest.approx(1e3 * plain.mean_difference_low, rel=1e-9)
    assert moved.log_variance_ratio_high == pytest.approx(plain.log_variance_ratio_high, rel=1e-9)
    assert moved.probability_mean_higher == pytest.approx(plain.probability_mean_higher, rel=1e-9)
    assert moved.standardised_difference == pytest.approx(plain.standardised_difference, rel=1e-9)


def test_threads_and_chunks_do_not_show(rng):
    posterior = screened(rng.normal(size=(24, 1300)), 12)
    one, three = (effects(posterior, n_threads=threads) for threads in (1, 3))
    for name, values in one.columns().items():
        assert np.array_equal(values, three.columns()[name])


def test_only_some_features(rng):
    posterior = screened(rng.normal(size=(24, 6)), 12)
    every, some = effects(posterior), effects(posterior, which=[4, 1])
    assert np.isfinite(some.mean_difference_low).tolist() == [False, True, False, False, True, False]
    assert some.mean_difference_low[4] == every.mean_difference_low[4]
    assert np.array_equal(every.take([4, 1]).mean_difference_low, every.mean_difference_low[[4, 1]])


def test_missing_values_give_the_result_of_each_feature_alone(rng):
    x = rng.normal(size=(20, 8))
    x[rng.random(x.shape) < 0.2] = np.nan
    together = effects(screened(x, 10, missing="omit"))
    for j in range(8):
        there = np.flatnonzero(~np.isnan(x[:, j]))
        alone = effects(screened(x[there, j : j + 1], int((there < 10).sum())))
        for name, values in alone.columns().items():
            assert together.columns()[name][j] == pytest.approx(values[0], rel=1e-9)


def test_degenerate_features_have_no_effects():
    x = np.array([[1.0, 5.0], [1.0, 6.0], [1.0, 5.5], [2.0, 7.0], [3.0, 8.0], [4.0, 9.0]])
    with pytest.warns(bs.BayesieveWarning):
        posterior = screened(x, 3, bs.GaussianModel.jeffreys())
    found = effects(posterior)
    assert np.isnan(found.mean_difference_low[0])
    assert np.isfinite(found.mean_difference_low[1])


def test_resolution_widens_the_intervals(rng):
    x = np.round(rng.normal(size=(20, 4)))
    fine, coarse = effects(screened(x, 10)), effects(screened(x, 10, resolution=1.0))
    assert (coarse.mean_difference_high > fine.mean_difference_high).all()


@pytest.mark.parametrize("dofs", [(2.0, 2.0), (2.0, 60.0), (5.0, 1e6)])
def test_quantiles_undo_tails(dofs):
    distribution = BehrensFisher.of(np.array([dofs[0]]), np.array([dofs[1]]), np.array([1e-6, 0.3, 0.9]))
    for tail in (0.3, 0.025, 1e-6):
        assert distribution.tail(distribution.quantile(tail)) == pytest.approx(tail, rel=1e-8)


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 95, "x", True])
def test_levels_that_are_no_probability_are_refused(level, rng):
    with pytest.raises(bs.OptionError, match="level"):
        effects(screened(rng.normal(size=(10, 2)), 5), level=level)


def test_notes_name_the_level(rng):
    found = effects(screened(rng.normal(size=(10, 2)), 5), level=0.9)
    assert "90%" in str(found.notes()[0])
    assert not found.mean_difference_low.flags.writeable
