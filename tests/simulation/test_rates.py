"""Growing samples and the slopes fitted to them, against raw data, mpmath and hand-made paths."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.simulation import rates as growing_samples
from bayesieve.simulation.rates import (
    KINDS,
    NOISES,
    FeatureKind,
    FittedRate,
    RatePaths,
    class_sizes,
    consistency_paths,
    growing_moments,
)

MARKER = FeatureKind("both", means=(1.0, 1.5), variances=(2.0, 0.5))


@pytest.mark.parametrize("share", [0.5, 0.3, 0.9])
def test_limit_rate_against_mpmath(share):
    for kind in (*KINDS, MARKER, FeatureKind("tiny", variances=(1.0, 1.0 + 1e-7))):
        with mp.workdps(50):
            rho, (m0, m1), (s0, s1) = mp.mpf(share), map(mp.mpf, kind.means), map(mp.mpf, kind.variances)
            pooled = rho * s0 + (1 - rho) * s1 + rho * (1 - rho) * (m0 - m1) ** 2
            expected = (mp.log(pooled) - rho * mp.log(s0) - (1 - rho) * mp.log(s1)) / 2
            assert kind.limit_rate(share) == pytest.approx(float(expected), rel=1e-8, abs=1e-30)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (FeatureKind("group 2, global, first", (0.0, 1.0), (0.09, 0.25)), 0.5148),
        (FeatureKind("group 0, global, first", (0.0, 1.0), (0.16, 0.16)), 0.4705),
        (FeatureKind("group 1, heterogeneous, fifth", (0.0, 0.1), (0.49, 0.50)), 0.00254),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_limit_rates_of_the_synthetic_microarray(kind, expected):
    assert kind.limit_rate() == pytest.approx(expected, abs=5e-5 if expected > 0.1 else 5e-6)


@pytest.mark.parametrize("noise", NOISES)
def test_counts_grow_and_the_share_stays(noise):
    sizes = [10, 11, 40, 1000]
    counts = [moments.count.tolist() for moments in growing_moments(sizes, KINDS, share=0.3, noise=noise)]
    assert counts == class_sizes(sizes, 0.3).tolist() == [[3, 7], [3, 8], [12, 28], [300, 700]]


@pytest.mark.parametrize("noise", NOISES)
def test_statistics_have_the_distribution_of_raw_data(noise):
    """Means and centred squares of the two classes against those of data drawn at once (Kolmogorov-Smirnov)."""
    rng = np.random.default_rng(1)
    *_, moments = growing_moments([8, 13, 30], [MARKER], n_paths=3000, noise=noise, seed=4)
    for k, n in enumerate((15, 15)):
        drawn = rng.standard_normal((n, 3000)) if noise != "t5" else rng.standard_t(5, (n, 3000)) * np.sqrt(0.6)
        data = MARKER.means[k] + np.sqrt(MARKER.variances[k]) * drawn
        assert stats.ks_2samp(moments.mean[k], data.mean(axis=0)).pvalue > 1e-3
        assert stats.ks_2samp(moments.variance[k], data.var(axis=0, ddof=1)).pvalue > 1e-3


def test_samples_are_nested():
    """The mean of the first 100 and that of the first 400 samples correlate at (100/400)^(1/2)."""
    for noise in NOISES:
        first, second = growing_moments([100, 400], KINDS[-1:], n_paths=4000, noise=noise, seed=5)
        assert np.corrcoef(first.mean[0], second.mean[0])[0, 1] == pytest.approx(0.5, abs=0.06)


def test_features_of_a_path_correlate_and_paths_do_not():
    [moments] = growing_moments([40], KINDS[:2], n_paths=5000, noise="correlated", seed=6)
    means = moments.mean[0].reshape(-1, 2)
    assert np.corrcoef(means.T)[0, 1] == pytest.approx(0.8, abs=0.03)
    assert np.corrcoef(means[1:, 0], means[:-1, 1])[0, 1] == pytest.approx(0.0, abs=0.06)


@pytest.mark.parametrize("noise", ["t5", "correlated"])
def test_pieces_and_intermediate_sizes_do_not_change_what_is_drawn(monkeypatch, noise):
    plain = [consistency_paths([50, 100, 900], n_paths=3, noise=noise, seed=7).log_odds for _ in range(2)]
    np.testing.assert_array_equal(*plain)
    fewer = consistency_paths([50, 900], n_paths=3, noise=noise, seed=7).log_odds
    np.testing.assert_allclose(fewer, plain[0][..., [0, 2]], rtol=1e-11, atol=1e-11)
    monkeypatch.setattr(growing_samples, "_VALUES_AT_ONCE", 100)
    pieces = consistency_paths([50, 100, 900], n_paths=3, noise=noise, seed=7).log_odds
    np.testing.assert_allclose(pieces, plain[0], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("noise", NOISES)
def test_same_seed_same_paths(noise):
    one, same, other = (consistency_paths([20, 90], n_paths=2, noise=noise, seed=s).log_odds for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).all()


def test_log_odds_are_those_of_a_screen():
    sizes, model = [60, 500], bs.GaussianModel.jeffreys("sqrt2pi")
    paths = consistency_paths(sizes, n_paths=3, model=model, prior_probability=0.02, share=0.4, seed=8)
    assert paths.log_odds.shape == (4, 3, 2)
    for k, moments in enumerate(growing_moments(sizes, KINDS, n_paths=3, share=0.4, seed=8)):
        expected = bs.screen(moments, model=model, prior_probability=0.02).log_odds
        np.testing.assert_allclose(paths.log_odds[:, :, k].T.ravel(), expected, rtol=1e-12)


def hand_made() -> RatePaths:
    sizes = np.array([10, 100, 1000])
    marker = np.array([[-1.0, 5.0, 98.0 - np.log(100)], [1.0, -5.0, 100.0 - np.log(100)]])
    other = -2.0 * np.log(sizes) + np.array([[10.0], [1.0]])
    return RatePaths(sizes, (KINDS[0], KINDS[-1]), np.stack([marker, other]), exponent=0.0)


def test_slopes_of_hand_made_paths():
    marker, other = hand_made().rates()
    assert marker.slope == pytest.approx(99.0 / 990.0)
    assert marker.standard_error == pytest.approx(0.0, abs=1e-12)
    assert (marker.against, other.against, other.limit) == ("n", "log n", -1.0)
    assert other.slope == pytest.approx(-2.0)
    assert str(FittedRate("x", "n", 0.1, 0.01, 0.2)) == "x: 0.10000 per n (standard error 0.01000), limit 0.20000"


def test_when_hand_made_paths_settle():
    paths = hand_made()
    assert paths.first_correct_size().tolist() == [1000, 1000]
    assert paths.first_correct_size(0.9999999999).tolist() == [1000, 1000]
    assert paths.first_correct_size(1e-4).tolist() == [-1, 1000]
    assert paths.names == ("mean", "non-marker")
    expected = np.log(1 / (1 + np.exp(-5.0))) + np.log(1 / (1 + np.exp(10 - 2 * np.log(100))))
    assert paths.log_probability_of_truth[0, 1] == pytest.approx(expected)


def test_one_path_has_no_standard_error():
    assert np.isnan(consistency_paths([20, 90], n_paths=1).rates()[0].standard_error)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"sizes": [100, 50]}, "larger than the one before"),
        ({"sizes": [10.5, 20.0]}, "whole numbers"),
        ({"sizes": []}, "whole numbers"),
        ({"sizes": [4], "share": 0.2}, "two samples from the start; 4 samples give 1"),
        ({"share": 1.0}, "share must be a number between 0 and 1"),
        ({"noise": "cauchy"}, "'gaussian', 't5' or 'correlated', not 'cauchy'"),
        ({"n_paths": 0}, "one path"),
        ({"kinds": ()}, "At least one kind"),
    ],
)
def test_wrong_requests_are_explained(changed, words):
    with pytest.raises(bs.BayesieveError, match=words):
        consistency_paths(**{"sizes": [50, 100], **changed})


def test_wrong_features_slopes_and_thresholds_are_explained():
    with pytest.raises(bs.DataError, match="must be positive"):
        FeatureKind("flat", variances=(1.0, 0.0))
    with pytest.raises(bs.DataError, match="two finite means"):
        FeatureKind("far", means=(0.0, np.inf))
    with pytest.raises(bs.DataError, match="two sizes at least"):
        consistency_paths([50]).rates()
    with pytest.raises(bs.RuleError, match="between 0 and 1"):
        consistency_paths([50]).first_correct_size(1.0)
