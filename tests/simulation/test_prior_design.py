"""Designs drawn from a prior: parameters by SciPy, exact statistics against data, calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.simulation import Kind
from bayesieve.simulation.prior_design import PriorDesign

PRIORS = bs.GaussianModel(
    (bs.NormalInverseGamma(5.0, 1.0, 0.4, -1.0), bs.NormalInverseGamma(8.0, 3.0, 2.0, 0.5)),
    bs.NormalInverseGamma(6.0, 2.0, 0.7, 0.2),
)


def distribution_of_the_variance(prior):
    return stats.invgamma(prior.variance_dof / 2, scale=prior.variance_scale / 2)


def distribution_of_the_mean(prior):
    """Student's t: the mean with the variance integrated out."""
    scale = math.sqrt(prior.variance_scale / (prior.variance_dof * prior.mean_strength))
    return stats.t(prior.variance_dof, loc=prior.mean_location, scale=scale)


def test_parameters_have_the_distribution_of_the_priors():
    """Statistics of 10^12 samples are the parameters."""
    design = PriorDesign(20_000, 0.3, PRIORS)
    drawn = design.draw_moments(2 * 10**12, seed=1)
    markers = drawn.true_markers
    assert markers.sum() == pytest.approx(6000, abs=4.5 * math.sqrt(20_000 * 0.21))
    mean, variance = drawn.moments.mean, drawn.moments.variance
    for k, prior in enumerate(PRIORS.class_priors):
        assert stats.kstest(variance[k, markers], distribution_of_the_variance(prior).cdf).pvalue > 1e-3
        assert stats.kstest(mean[k, markers], distribution_of_the_mean(prior).cdf).pvalue > 1e-3
    assert stats.kstest(variance[0, ~markers], distribution_of_the_variance(PRIORS.pooled_prior).cdf).pvalue > 1e-3
    assert stats.kstest(mean[0, ~markers], distribution_of_the_mean(PRIORS.pooled_prior).cdf).pvalue > 1e-3
    np.testing.assert_allclose(variance[0, ~markers], variance[1, ~markers], rtol=1e-4)
    assert abs(stats.spearmanr(mean[0, markers], mean[1, markers]).statistic) < 4.5 / math.sqrt(6000)
    assert set(np.unique(drawn.kind)) == {Kind.MARKER, Kind.NON_MARKER}


@pytest.mark.parametrize("sizes", [(3, 8), (1, 2), (40, 40)], ids=str)
def test_statistics_have_the_distribution_of_data(sizes):
    """Two-sample Kolmogorov-Smirnov, and the same parameters for the same seed."""
    design = PriorDesign(6000, 0.5, PRIORS)
    data, exact = design.draw(sizes, seed=2), design.draw_moments(sizes, seed=3)
    raw = bs.Moments.from_matrix(data.values, data.labels)
    for markers in (True, False):
        for k in (0, 1):
            mine, theirs = exact.true_markers == markers, data.true_markers == markers
            pairs = [(exact.moments.mean, raw.mean), (exact.moments.centred_squares, raw.centred_squares)]
            for one, two in pairs:
                assert stats.ks_2samp(one[k, mine], two[k, theirs], method="asymp").pvalue > 1e-3
    same = design.draw_moments(2 * 10**10, seed=2)
    np.testing.assert_array_equal(same.kind, data.kind)
    standard = (raw.mean - same.moments.mean) / np.sqrt(same.moments.variance / np.array(sizes)[:, None])
    assert stats.kstest(standard.ravel(), stats.norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize("raw", [True, False], ids=["values", "statistics"])
@pytest.mark.parametrize("model", [PRIORS, bs.GaussianModel.proper()], ids=["own", "section 6"])
def test_probabilities_are_calibrated(model, raw):
    """Among features whose probability lies in a bin, the share of markers is their mean probability."""
    design = PriorDesign(40_000, 0.1, model)
    if raw:
        data = design.draw((12, 9), seed=4)
        posterior = bs.screen(data.values, data.labels, model=model, prior_probability=0.1)
    else:
        data = design.draw_moments((12, 9), seed=5)
        posterior = bs.screen(data.moments, model=model, prior_probability=0.1)
    probability, truth = posterior.probability, data.true_markers
    edges = np.array([0, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 1.0])
    bins = np.digitize(probability, edges[1:-1])
    for k in range(edges.size - 1):
        inside = probability[bins == k]
        if inside.size < 20:
            continue
        error = math.sqrt((inside * (1 - inside)).sum())
        assert truth[bins == k].sum() == pytest.approx(inside.sum(), abs=4.5 * error + 1)
    selection = bs.MinimalRisk(0.5).select(posterior)
    wrong = int((selection.mask & ~truth).sum())
    spread = math.sqrt((probability * (1 - probability))[selection.mask].sum())
    assert wrong == pytest.approx(selection.expected_false_positives, abs=4.5 * spread)


def test_probabilities_and_hyper_parameters_per_feature():
    scale = np.array([1e-8, 1.0, 1e8])
    chance = np.array([0.0, 1.0, 0.5])
    prior = bs.NormalInverseGamma(50.0, scale, 1.0, np.array([0.0, 5.0, -5.0]))
    design = PriorDesign(3, chance, bs.GaussianModel((prior,), prior))
    drawn = [design.draw_moments(1000, seed=seed) for seed in range(40)]
    assert sum(d.true_markers for d in drawn).tolist()[:2] == [0, 40]
    assert 8 < sum(d.true_markers for d in drawn)[2] < 32
    spread = np.log10(np.mean([d.moments.variance for d in drawn], axis=(0, 1)))
    np.testing.assert_allclose(spread, np.log10(scale / 48), atol=0.2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0,), "at least 1"),
        ((10, 1.5), "between 0 and 1"),
        ((10, np.nan), "between 0 and 1"),
        ((10, 0.1, bs.GaussianModel.jeffreys()), "proper priors only"),
        ((10, np.full(3, 0.1)), "given for 3 features"),
        ((10, 0.1, bs.GaussianModel.proper(mean_locations=(0.0, 0.1, 0.2))), "two classes"),
    ],
)
def test_designs_that_make_no_sense(arguments, words):
    with pytest.raises(bs.PriorError, match=words):
        PriorDesign(*arguments)
