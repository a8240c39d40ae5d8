"""When data are drawn from the prior, probabilities and intervals mean what they say."""

from __future__ import annotations

import jeffreys
import numpy as np
import pytest

import bayesieve as bs

PRIOR_PROBABILITY = 0.05


def drawn_from_the_prior(rng, n_features, n0, n1):
    """Parameters from section 6's PP, statistics given the parameters; returns moments and truth."""
    truth = rng.random(n_features) < PRIOR_PROBABILITY
    variance = 0.25 / rng.gamma(1.5, size=(3, n_features))
    mean = rng.normal(np.array([0.0, 0.2, 0.0])[:, None], np.sqrt(variance / 0.1))
    variance = np.where(truth, variance[:2], variance[2])
    mean = np.where(truth, mean[:2], mean[2])
    counts = np.array([n0, n1])
    squares = variance * rng.chisquare(counts[:, None] - 1, size=(2, n_features))
    means = rng.normal(mean, np.sqrt(variance / counts[:, None]))
    return bs.Moments((0, 1), counts, means, squares), truth


@pytest.mark.filterwarnings("ignore:The median variance")
@pytest.mark.parametrize(("n0", "n1"), [(3, 4), (15, 15)])
def test_probabilities_are_calibrated(rng, n0, n1):
    moments, truth = drawn_from_the_prior(rng, 400_000, n0, n1)
    q = bs.screen(moments, model=bs.GaussianModel.proper(), prior_probability=PRIOR_PROBABILITY).probability
    for low, high in [(0, 0.01), (0.01, 0.05), (0.05, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 0.99), (0.99, 1.01)]:
        inside = (q >= low) & (q < high)
        expected, sd = q[inside].sum(), np.sqrt((q * (1 - q))[inside].sum())
        assert abs(truth[inside].sum() - expected) <= 4 * sd + 1e-9, (low, high)


@pytest.mark.filterwarnings("ignore:The median variance")
def test_intervals_of_false_positives_cover(rng):
    covered, standardised = 0, []
    rounds = 300
    for _ in range(rounds):
        moments, truth = drawn_from_the_prior(rng, 2000, 8, 8)
        posterior = bs.screen(moments, model=bs.GaussianModel.proper(), prior_probability=PRIOR_PROBABILITY)
        selection = bs.MinimalRisk(0.3).select(posterior)
        low, high = selection.false_positives.interval(0.9)
        actual = int((selection.mask & ~truth).sum())
        covered += low <= actual <= high
        standardised.append((actual - selection.expected_false_positives) / selection.false_positives.sd)
    assert covered / rounds == pytest.approx(0.93, abs=0.05)  # at least 0.90: counts are discrete
    assert np.mean(standardised) == pytest.approx(0.0, abs=4 / np.sqrt(rounds))
    assert np.std(standardised) == pytest.approx(1.0, abs=0.2)


def test_the_jeffreys_gap_is_real_and_shown(rng):
    """Not calibrated under an improper prior even on ideal data: the number under the global null tells it."""
    X = rng.normal(size=(50, 20_000))
    X[25:, :100] += rng.normal(0, 1.5, 100)
    selection = bs.MinimalRisk(0.5).select(jeffreys.screen(X, np.repeat([0, 1], 25), prior_probability=0.005))
    actual = int(selection.mask[100:].sum())
    assert selection.expected_under_null == pytest.approx(actual, abs=4 * np.sqrt(actual))
    assert selection.expected_false_positives < selection.expected_under_null
    assert "under the global null" in selection.summary()
