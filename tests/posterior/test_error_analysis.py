"""Expected errors of any set, against enumeration of all truths and against Monte Carlo."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from posteriors import posterior_of

import bayesieve as bs


def truths(q):
    """All possible sets of markers with their probabilities: 2^n of them."""
    for bits in itertools.product([False, True], repeat=len(q)):
        truth = np.array(bits)
        yield truth, float(np.prod(np.where(truth, q, 1 - q)))


@pytest.fixture(params=range(4))
def case(request):
    rng = np.random.default_rng(request.param)
    log_odds = rng.normal(0, 2, 9)
    posterior = posterior_of(log_odds)
    mask = rng.random(9) < (0.0, 0.4, 0.8, 1.0)[request.param]
    return posterior, mask, posterior.probability


def expectation(q, function):
    return sum(weight * function(truth) for truth, weight in truths(q))


def test_expected_counts_and_their_distributions(case):
    posterior, mask, q = case
    errors = bs.ErrorAnalysis.of(posterior, mask)
    counts = {
        "true_positives": lambda t: (mask & t).sum(),
        "false_positives": lambda t: (mask & ~t).sum(),
        "false_negatives": lambda t: (~mask & t).sum(),
        "true_negatives": lambda t: (~mask & ~t).sum(),
        "mislabelled": lambda t: (mask != t).sum(),
    }
    for name, count in counts.items():
        distribution = getattr(errors, name)
        for k in range(10):
            expected = expectation(q, lambda t, k=k, count=count: count(t) == k)
            at_k = (
                distribution.pmf[k - distribution.lowest]
                if 0 <= k - distribution.lowest < distribution.pmf.size
                else 0.0
            )
            assert at_k == pytest.approx(expected, abs=1e-13)
        if name != "mislabelled":
            assert getattr(errors, f"expected_{name}") == pytest.approx(expectation(q, count), abs=1e-12)


def test_expected_rates(case):
    posterior, mask, q = case
    errors = bs.ErrorAnalysis.of(posterior, mask)

    def share(part, whole, empty):
        return part / whole if whole else empty

    def check(got, function):
        assert got == pytest.approx(expectation(q, function), abs=1e-12)

    check(errors.expected_sensitivity, lambda t: share((mask & t).sum(), t.sum(), 1.0))
    check(errors.expected_specificity, lambda t: share((~mask & ~t).sum(), (~t).sum(), 1.0))
    check(errors.expected_false_discovery_rate, lambda t: share((mask & ~t).sum(), mask.sum(), 0.0))
    check(errors.expected_false_omission_rate, lambda t: share((~mask & t).sum(), (~mask).sum(), 0.0))
    check(errors.expected_f1, lambda t: share(2 * (mask & t).sum(), mask.sum() + t.sum(), 1.0))
    check(errors.hit_rate_probability(0.75), lambda t: (mask & t).sum() >= 0.75 * mask.sum() - 1e-9)


def test_probability_of_the_set_and_risk(case):
    posterior, mask, q = case
    errors = bs.ErrorAnalysis.of(posterior, mask)
    exact = sum(weight for truth, weight in truths(q) if (truth == mask).all())
    assert np.exp(errors.log_probability) == pytest.approx(exact, rel=1e-12)
    loss = bs.Loss(true_positive=-1.0, false_positive=3.0, false_negative=2.0, true_negative=0.5)

    def cost(t):
        return -1.0 * (mask & t).sum() + 3 * (mask & ~t).sum() + 2 * (~mask & t).sum() + 0.5 * (~mask & ~t).sum()

    risk = expectation(q, cost)
    assert errors.risk(loss) == pytest.approx(risk, rel=1e-12)
    assert errors.risk_sd(loss) ** 2 == pytest.approx(expectation(q, lambda t: (cost(t) - risk) ** 2), rel=1e-10)
    best = bs.MinimalRisk(loss.threshold).select(posterior)
    assert errors.regret(loss) == pytest.approx(errors.risk(loss) - best.risk(loss), abs=1e-12)
    assert errors.regret(loss) >= -1e-15


def test_features_by_mask_index_and_name(case):
    posterior, mask, _ = case
    names = [posterior.names[i] for i in np.flatnonzero(mask)]
    for features in (mask, np.flatnonzero(mask), names):
        np.testing.assert_array_equal(bs.ErrorAnalysis.of(posterior, features).mask, mask)


def test_extreme_log_odds_stay_exact():
    posterior = posterior_of([800.0, -800.0, 50.0, -50.0])
    errors = bs.ErrorAnalysis.of(posterior, [True, False, True, False])
    assert errors.expected_false_positives == pytest.approx(np.exp(-50.0), rel=1e-12)
    assert errors.log_probability == pytest.approx(-2 * np.exp(-50.0), rel=1e-12)
    wrong = bs.ErrorAnalysis.of(posterior, [False, True, False, True])
    assert wrong.log_probability == pytest.approx(-1700.0, rel=1e-12)


def test_expected_roc_is_the_cumulative_sum_and_no_order_beats_it(rng):
    posterior = posterior_of(rng.normal(-1, 3, 30))
    best = bs.expected_roc(posterior)
    q = np.sort(posterior.probability)[::-1]
    np.testing.assert_allclose(best.true_positives[1:], np.cumsum(q), rtol=1e-12)
    np.testing.assert_allclose(best.false_positives[1:], np.arange(1, 31) - np.cumsum(q), rtol=1e-9)
    assert best.true_positives[-1] == pytest.approx(posterior.expected_markers)
    for _ in range(20):
        other = bs.expected_roc(posterior, rng.permutation(30))
        at = np.interp(other.false_positives, best.false_positives, best.true_positives)
        assert (at >= other.true_positives - 1e-9).all()
        assert other.area <= best.area + 1e-12
    assert 0.5 < best.area <= 1.0
    np.testing.assert_allclose(best.precision, np.cumsum(q) / np.arange(1, 31), rtol=1e-12)
    assert best.recall[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(best.true_positives_sd[-1] ** 2, (q * (1 - q)).sum(), rtol=1e-9)


def test_equal_probabilities_give_half_the_area():
    assert bs.expected_roc(posterior_of(np.zeros(50))).area == pytest.approx(0.5)
