"""Heavy tails, skewness and outliers: distributions by SciPy, moments by closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.simulation import Kind, SynergeticModel
from bayesieve.simulation.variants import HeavyTailedModel, OutlierModel, SkewedModel

ARRANGED = {"low_variance_blocks": 3, "high_variance_features": 4}
N = 20_000


def standard_noise(model, seed=1):
    """Values of the low-variance non-markers over their standard deviation."""
    data = model.draw(N, seed=seed, shuffle=False)
    columns = data.kind == Kind.LOW_VARIANCE_NON_MARKER
    deviations = np.sqrt(np.array(model.class_variances)[data.group[columns], 0])
    return data.values[:, columns] / deviations


@pytest.mark.parametrize("freedom", [3.0, 5.0, 30.0])
def test_heavy_tails_are_those_of_student(freedom):
    noise = standard_noise(HeavyTailedModel(degrees_of_freedom=freedom, **ARRANGED))
    distribution = stats.t(freedom, scale=math.sqrt((freedom - 2) / freedom))
    for column in (0, 7, 59):
        assert stats.kstest(noise[:, column], distribution.cdf).pvalue > 1e-3
    if freedom > 4:
        assert noise.var() == pytest.approx(1.0, rel=0.03)


def test_heavy_tails_keep_the_correlation_of_a_block():
    noise = standard_noise(HeavyTailedModel(degrees_of_freedom=8.0, **ARRANGED))
    correlation = np.corrcoef(noise[:, :10].T)
    np.testing.assert_allclose(correlation[:5, :5][~np.eye(5, dtype=bool)], 0.8, atol=0.02)
    np.testing.assert_allclose(correlation[:5, 5:], 0.0, atol=0.04)
    squares = np.corrcoef(noise[:, 0] ** 2, noise[:, 5] ** 2)[0, 1]  # another block has its own divisor
    assert abs(squares) < 0.05


@pytest.mark.parametrize("deviation", [0.25, 0.5])
def test_skewed_noise_is_log_normal(deviation):
    noise = standard_noise(SkewedModel(log_deviation=deviation, **ARRANGED))
    square = deviation**2
    scale = math.sqrt(math.exp(square) * (math.exp(square) - 1))
    distribution = stats.lognorm(deviation, loc=-math.exp(square / 2) / scale, scale=1 / scale)
    assert distribution.mean() == pytest.approx(0.0, abs=1e-12)
    assert distribution.var() == pytest.approx(1.0, rel=1e-12)
    for column in (0, 7, 59):
        assert stats.kstest(noise[:, column], distribution.cdf).pvalue > 1e-3
    correlation = np.corrcoef(noise[:, :5].T)[~np.eye(5, dtype=bool)]
    expected = (math.exp(0.8 * square) - 1) / (math.exp(square) - 1)
    np.testing.assert_allclose(correlation, expected, atol=0.02)


def test_default_skewness():
    square = 0.25
    expected = (math.exp(square) + 2) * math.sqrt(math.exp(square) - 1)
    assert expected == pytest.approx(1.75, abs=0.005)
    assert stats.skew(standard_noise(SkewedModel(**ARRANGED)), axis=None) == pytest.approx(expected, rel=0.05)


def test_outliers_move_a_share_of_the_gaussian_values():
    """Without them the same seed gives the same values, so that the difference shows which were moved."""
    model = OutlierModel(outlier_share=0.02, outlier_shift=6.0, **ARRANGED)
    noise, plain = standard_noise(model), standard_noise(SynergeticModel(**ARRANGED))
    moved = (noise - plain).round(6)
    assert set(np.unique(moved)) == {-6.0, 0.0, 6.0}
    n = moved.size
    for side in (-6.0, 6.0):
        assert (moved == side).sum() == pytest.approx(0.01 * n, abs=4.5 * math.sqrt(0.01 * n))
    assert noise.var() == pytest.approx(1 + 0.02 * 36, rel=0.02)
    both = ((moved[:, 0] != 0) & (moved[:, 1] != 0)).sum()  # independent of each other
    assert both < 30


VARIANTS = [
    HeavyTailedModel(degrees_of_freedom=8.0, **ARRANGED),
    SkewedModel(**ARRANGED),
    OutlierModel(**ARRANGED),
]


@pytest.mark.parametrize("model", VARIANTS, ids=lambda model: type(model).__name__)
def test_means_and_variances_are_those_of_the_gaussian_model(model):
    """Every kind of feature, by the limit of the exact sampler of the Gaussian model with the same features."""
    found = model.draw_moments(2 * N, seed=5)
    limit = SynergeticModel(**ARRANGED).draw_moments(10**10, seed=5)
    np.testing.assert_array_equal(found.kind, limit.kind)
    error = np.sqrt(limit.moments.variance * 1.7 / N)
    assert (np.abs(found.moments.mean - limit.moments.mean) < 5 * error).all()
    if isinstance(model, OutlierModel):
        variances = np.array(model.class_variances)[found.group, 0]
        plain = found.kind == Kind.LOW_VARIANCE_NON_MARKER
        expected = (variances * (1 + 0.01 * 64))[plain]
        np.testing.assert_allclose(found.moments.variance[:, plain], np.tile(expected, (2, 1)), rtol=0.15)
    else:
        np.testing.assert_allclose(found.moments.variance, limit.moments.variance, rtol=0.12)


@pytest.mark.parametrize("model", VARIANTS, ids=lambda model: type(model).__name__)
def test_non_markers_have_the_same_distribution_in_both_classes(model):
    data = model.draw(N, seed=6)
    first, second = data.values[data.labels == 0], data.values[data.labels == 1]
    for column in np.flatnonzero(~data.true_markers)[:30]:
        assert stats.ks_2samp(first[:, column], second[:, column], method="asymp").pvalue > 1e-4
    far = np.abs(first.mean(axis=0) - second.mean(axis=0)) + np.abs(np.log(first.var(axis=0) / second.var(axis=0)))
    assert far[data.true_markers].min() > 0.05


@pytest.mark.parametrize(
    ("build", "constants", "words"),
    [
        (HeavyTailedModel, {"degrees_of_freedom": 2.0}, "over 2"),
        (SkewedModel, {"log_deviation": 0.0}, "over 0"),
        (OutlierModel, {"outlier_share": 1.5}, "between 0 and 1"),
        (HeavyTailedModel, {"block_size": 0}, "at least 1"),
        (OutlierModel, {"correlation": 1.0}, "correlation"),
    ],
)
def test_constants_that_make_no_sense(build, constants, words):
    with pytest.raises(bs.DataError, match=words):
        build(**constants)
