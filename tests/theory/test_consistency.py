"""Theorems 2 and 3 along growing samples: selections settle on the truth, at the rates of the theory."""

from __future__ import annotations

import jeffreys
import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.simulation.rates import KINDS, FeatureKind, RatePaths, consistency_paths, growing_moments

NULL = (FeatureKind("non-marker"),)
SIZES = [int(n) for n in np.geomspace(100, 1_000_000, 17)]
WITHIN = 4.0  # standard errors


def ratio(power: float) -> bs.GaussianModel:
    return bs.GaussianModel.jeffreys(lambda n0, n1: 0.1 * float(n0 + n1) ** power)


@pytest.fixture(scope="module")
def screens() -> tuple[np.ndarray, list[bs.FeaturePosterior]]:
    """The truth (9 markers of 200 features), and one screen for every size of one growing sample."""
    kinds = [KINDS[k % 3] for k in range(9)] + [KINDS[-1]] * 191
    return np.arange(200) < 9, [jeffreys.screen(moments) for moments in growing_moments(SIZES, kinds, seed=2)]


def log_probability_of(truth: np.ndarray, posterior: bs.FeaturePosterior) -> float:
    return float(np.where(truth, posterior.log_probability, posterior.log_null_probability).sum())


def test_theorem_3_probability_of_the_true_set_tends_to_one(screens):
    truth, posteriors = screens
    probability = np.exp([log_probability_of(truth, posterior) for posterior in posteriors])
    assert probability[0] < 0.01
    assert probability[-1] > 0.998
    assert (probability[-4:] > 0.97).all()


@pytest.mark.parametrize(
    ("rule", "enough"),
    [
        pytest.param(bs.MinimalRisk(0.05), 0.95, id="MR 0.05"),
        pytest.param(bs.MinimalRisk(0.5), 0.5, id="MNC"),
        pytest.param(bs.MinimalRisk(0.9), 0.9, id="MR 0.9"),
        pytest.param(bs.FixedSize(9), 0.5, id="CMNC"),
        pytest.param(bs.NeymanPearson(0.1), 1 - 0.1 / 9, id="NP 0.1"),
        pytest.param(bs.NeymanPearson(0.9), 0.9, id="NP 0.9"),
        pytest.param(bs.MostProbable(), 0.5, id="MAP"),
    ],
)
def test_theorem_2_selections_are_the_truth_from_some_n_on(screens, rule, enough):
    """Where p(true set) exceeds ``enough``, probabilities of markers are above it and the others below 1 - it."""
    truth, posteriors = screens
    right = np.array([(rule.select(posterior).mask == truth).all() for posterior in posteriors])
    surely = np.array([np.exp(log_probability_of(truth, posterior)) > enough for posterior in posteriors])
    assert surely.sum() >= 3
    assert right[surely].all()
    assert not right[0]
    assert right[-4:].all()


def test_theorem_2_a_list_of_another_size_is_never_the_truth(screens):
    truth, posteriors = screens
    assert not (bs.FixedSize(10).select(posteriors[-1]).mask == truth).all()


@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize("model", [bs.GaussianModel.jeffreys(), bs.GaussianModel.proper()], ids=["JP", "PP"])
def test_theorem_3_log_odds_of_markers_grow_at_the_limit_rate(model, share):
    paths = consistency_paths([1000, 1_000_000], n_paths=400, model=model, share=share, seed=11)
    for rate in paths.rates()[:3]:
        assert rate.limit > 0.007
        assert abs(rate.error_in_standard_errors) < WITHIN
        assert rate.standard_error < 0.001 * rate.limit + 1e-5


@pytest.mark.parametrize(
    ("model", "slope"),
    [
        pytest.param(bs.GaussianModel.jeffreys(), -1.0, id="JP"),
        pytest.param(bs.GaussianModel.jeffreys("bic"), -1.0, id="bic"),
        pytest.param(bs.GaussianModel.jeffreys("n_decay"), -2.0, id="1/n"),
        pytest.param(bs.GaussianModel.proper(), -1.0, id="PP"),
        pytest.param(ratio(0.5), -0.5, id="sqrt n"),
        pytest.param(ratio(1.0), 0.0, id="n"),
    ],
)
def test_theorem_3_log_odds_of_non_markers_fall_like_the_power_p_minus_1(model, slope):
    [rate] = consistency_paths(SIZES, NULL, n_paths=2000, model=model, seed=12).rates()
    assert rate.limit == pytest.approx(slope, abs=1e-5)
    assert rate.standard_error < 0.01
    assert abs(rate.slope - slope) < WITHIN * rate.standard_error


def test_theorem_3_fails_where_the_ratio_grows_like_n():
    """Log-odds of non-markers are distributed alike at a hundred samples and at a million (Kolmogorov-Smirnov)."""
    paths = consistency_paths(
        [100, 1_000_000], NULL, n_paths=2000, model=ratio(1.0), prior_probability=0.2, seed=13
    )
    early, late = paths.log_odds[0].T
    assert stats.ks_2samp(early, late).pvalue > 1e-3
    assert (late > 0).mean() > 0.5
    assert not bs.consistency_report(ratio(1.0)).holds


def log_one_over_lambda(paths: RatePaths) -> np.ndarray:
    """What is left of the log-odds at the last size without L = 0.1 and the factor of Stirling's formula."""
    n = int(paths.sizes[-1])
    return paths.log_odds[0, :, -1] - np.log(0.1 * 2 * np.sqrt(2) * np.pi * 4 / n)


def test_log_odds_of_gaussian_non_markers_less_their_trend_are_exponential():
    paths = consistency_paths([1_000_000], NULL, n_paths=2000, prior_probability=0.5, seed=14)
    assert stats.kstest(log_one_over_lambda(paths), "expon").pvalue > 1e-3


def test_heavy_tails_scale_the_part_of_the_variance_by_the_kurtosis():
    """For t_5 (kurtosis 9): half a chi2 for the mean, (9 - 1)/2 times that for the variance, by Monte Carlo.

    The squares have few moments and approach normality slowly, hence medians and a wide tolerance.
    """
    paths = consistency_paths([20_000], NULL, n_paths=500, prior_probability=0.5, noise="t5", seed=15)
    drawn = np.random.default_rng(16).chisquare(1.0, size=(2, 100_000))
    expected = np.median(0.5 * (drawn[0] + (9 - 1) / 2 * drawn[1]))
    assert expected > 2 * np.log(2)  # twice the median of Gaussian non-markers
    assert np.median(log_one_over_lambda(paths)) == pytest.approx(expected, rel=0.25)


@pytest.mark.parametrize("noise", ["t5", "correlated"])
def test_theorem_3_without_gaussian_data_or_independent_features(noise):
    sizes = [int(n) for n in np.geomspace(100, 50_000, 12)]
    paths = consistency_paths(sizes, n_paths=20, noise=noise, seed=17)
    probability = np.exp(paths.log_probability_of_truth)
    assert probability[:, -1].min() > 0.95
    assert np.median(probability[:, -1]) > 0.99
    assert (paths.first_correct_size() > 0).all()
    for rate in paths.rates()[:3]:
        assert abs(rate.error_in_standard_errors) < WITHIN
    non_marker = paths.rates()[3]
    assert non_marker.slope == pytest.approx(-1.0, abs=0.3)
    assert abs(non_marker.error_in_standard_errors) < WITHIN


def test_a_marker_that_the_prior_rules_out_is_never_found():
    """Condition (iv)."""
    [moments] = growing_moments([1_000_000], KINDS, seed=18)
    prior = [0.01, 0.0, 0.01, 0.01]
    posterior = jeffreys.screen(moments, prior_probability=prior)
    report = bs.consistency_report(prior_probability=prior)
    assert bs.MinimalRisk(0.5).select(posterior).mask.tolist() == [True, False, True, False]
    assert report.never.tolist() == [1]
    assert report.holds is None


def test_probabilities_of_a_non_marker_add_up_to_a_finite_number_with_n_decay_only():
    """Section S6: sums over 100 < n <= 10^6 along one path, by the trapezoid rule, decade by decade."""
    edges = np.arange(4, 13) / 2.0
    sizes = np.unique(np.round(10.0 ** np.arange(2.0, 6.01, 0.05)).astype(int))
    sums = {}
    for name in ("paper", "n_decay"):
        paths = consistency_paths(
            sizes.tolist(), NULL, n_paths=200, model=bs.GaussianModel.jeffreys(name), seed=19
        )
        probability = 1.0 / (1.0 + np.exp(-paths.log_odds[0]))
        steps = 0.5 * (probability[:, 1:] + probability[:, :-1]) * np.diff(sizes)
        decade = np.digitize(np.log10(sizes[1:]), edges)
        sums[name] = [np.median(steps[:, decade == k].sum(axis=1)) for k in range(1, edges.size)]
    assert max(sums["paper"]) / min(sums["paper"]) < 2.0
    assert all(b < 0.5 * a for a, b in zip(sums["n_decay"], sums["n_decay"][1:], strict=False))
