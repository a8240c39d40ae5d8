"""Dispersions about a trend: expectations by enumeration, evidences by mpmath, and lists of few samples."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import gammaln

import bayesieve as bs
from bayesieve.models.counts.dispersed import EXACT, QUICK, DispersedEvidences
from bayesieve.models.counts.dispersion import expected_squares, fit_trend, freedom, overall_mean, spread_of
from bayesieve.stats import EventTotals

TREND = (0.2, 1.0, 0.4)


def totals_of(X, y):
    return EventTotals.from_matrix(np.asarray(X, dtype=float), y, spread=True)


@pytest.mark.parametrize(("n", "total", "alpha"), [(2, 5, 0.3), (3, 7, 2.0), (4, 6, 0.05)])
def test_expected_squares_are_those_of_all_ways_to_share_a_total(n, total, alpha):
    r, mean = 1.0 / alpha, total / n
    ways = [x for x in itertools.product(range(total + 1), repeat=n) if sum(x) == total]
    weights = [sum(gammaln(k + r) - gammaln(r) - gammaln(k + 1) for k in x) for x in ways]
    shares = np.exp(np.array(weights) - max(weights))
    squares = [sum((k - mean) ** 2 for k in x) for x in ways]
    expected = np.average(squares, weights=shares)
    got = expected_squares(alpha, np.array([[float(n)]]), np.array([[mean]]), 0)
    assert got == pytest.approx(expected, rel=1e-12)


def by_mpmath(counts, means, squares, nu, groups):
    """Evidence of one feature by its definition, at 20 digits."""
    n, m, W, nu = (
        [mp.mpf(float(v)) for v in counts],
        [mp.mpf(float(v)) for v in means],
        mp.mpf(squares),
        mp.mpf(nu),
    )
    X = [a * b for a, b in zip(n, m, strict=True)]
    mean = mp.fsum(X) / mp.fsum(n)
    centre = mp.log(TREND[0] + TREND[1] / mean)

    def log_value(u):
        alpha = mp.exp(u)
        r = 1 / alpha
        E = mp.fsum((a - 1) * b * (1 + alpha * b) / (1 + alpha / a) for a, b in zip(n, m, strict=True))
        value = -nu / 2 * (mp.log(E) + W / E) - 3 * mp.log(1 + ((u - centre) / TREND[2]) ** 2 / 5)
        value -= max(u - mp.log(100), mp.log(1e-5) - u, 0) ** 2 / 2
        value += mp.fsum(mp.loggamma(x + a * r) - mp.loggamma(a * r) for a, x in zip(n, X, strict=True))
        a, b = (1 + r / mean) / 2, (1 + mean / r) / 2
        for group in groups:
            N, T = mp.fsum(n[k] for k in group), mp.fsum(X[k] for k in group)
            near = mp.beta(a + N * r, b + T) / mp.beta(a, b)
            far = mp.beta(N * r + mp.mpf(1) / 2, T + mp.mpf(1) / 2) / mp.pi
            value += mp.log((near * 9 + far) / 10)
        return value

    grid = [mp.mpf(k) / 2 for k in range(-14, 10)]
    peak = max(grid, key=log_value)
    top = log_value(peak)
    ends = [peak - 18, peak - 4, peak - 1, peak + 1, peak + 4, peak + 12]
    return top + mp.log(mp.quad(lambda u: mp.exp(log_value(u) - top), ends, maxdegree=5))


def test_evidence_is_the_integral_over_dispersions(rng):
    X = np.vstack([rng.negative_binomial(3, 3 / (3 + np.array([4.0, 60.0])), (3, 2)),
                   rng.negative_binomial(3, 3 / (3 + np.array([30.0, 50.0])), (4, 2))])  # fmt: skip
    totals = totals_of(X, [0] * 3 + [1] * 2 + [2] * 2)
    counts, means, squares = spread_of([totals])
    mean = overall_mean(counts, means)
    nu = freedom(counts, means, np.log(TREND[0] + TREND[1] / mean))
    exact, quick = DispersedEvidences(totals, TREND), DispersedEvidences(totals, TREND, QUICK)
    with mp.workdps(20):
        held = counts[:, 0], means[:, 0], float(squares[0]), float(nu[0])
        pooled = by_mpmath(*held, [(0, 1, 2)])
        groups = [(0,), (1, 2)]
        expected = float(by_mpmath(*held, groups) - pooled)
    assert exact.pattern(groups)[0] == pytest.approx(expected, abs=2e-6)
    assert quick.pattern(groups)[0] == pytest.approx(expected, abs=1e-2)
    assert EXACT[0] < QUICK[0]


def test_many_samples_are_integrated_as_well(rng):
    """Narrow integrands: halving the step changes nothing."""
    X = rng.negative_binomial(2, 0.1, size=(2000, 20)) * np.where(np.arange(2000) < 1000, 1, 3)[:, None]
    totals = totals_of(X, [0] * 1000 + [1] * 1000)
    found = DispersedEvidences(totals, TREND).pattern([(0,), (1,)])
    finer = DispersedEvidences(totals, TREND, (0.1, 7.0)).pattern([(0,), (1,)])
    np.testing.assert_allclose(found, finer, atol=1e-6)


@pytest.mark.parametrize(("a0", "a1", "width"), [(0.1, 1.0, 0.6), (0.05, 2.0, 0.3)])
@pytest.mark.parametrize("n", [5, 30])
def test_the_trend_and_its_width_are_found(rng, a0, a1, width, n):
    mean = np.exp(rng.normal(4.0, 2.0, 3000))
    alpha = (a0 + a1 / mean) * np.exp(width * rng.normal(size=3000))
    first, second, spread = fit_trend([totals_of(rng.poisson(rng.gamma(1 / alpha, mean * alpha, (2 * n, 3000))),
                                                 [0] * n + [1] * n)])  # fmt: skip
    assert first == pytest.approx(a0, rel=0.15)
    assert second == pytest.approx(a1, rel=0.4)
    assert 0.5 * width < spread * math.sqrt(5 / 3) < 1.4 * width  # the standard deviation of the prior


@pytest.mark.parametrize("n", [3, 5])
def test_lists_of_few_samples_hold_what_they_claim(rng, n):
    """Two- to fourfold changes of 5% of the features; the old estimate claimed a fifth of what it got."""
    p = 4000
    mean = np.exp(rng.normal(4.0, 2.0, p))
    alpha = (0.05 + 2.0 / mean) * np.exp(0.4 * rng.normal(size=p))
    change = np.where(np.arange(p) < p // 20, rng.uniform(2.0, 4.0, p) ** rng.choice([-1, 1], p), 1.0)
    means = np.vstack([np.tile(mean, (n, 1)), np.tile(mean * change, (n, 1))])
    X = rng.poisson(rng.gamma(1 / alpha, means * alpha))
    posterior = bs.screen(
        X, [0] * n + [1] * n, model=bs.NegativeBinomialModel(), prior_probability=0.05, shuffles=0
    )
    listed = posterior.log_odds > 0
    false, claimed = int(listed[p // 20 :].sum()), float((1 - posterior.probability[listed]).sum())
    assert listed[: p // 20].sum() > 90
    assert false < 2.0 * claimed + 3.0


def test_counts_of_one_sample_alone_are_no_difference():
    """One sample holds all events, so that the dispersion is as large as it can be."""
    X = np.zeros((20, 12))
    X[3] = 10.0 ** np.arange(0.0, 6.0, 0.5).round()
    totals = totals_of(X, np.arange(20) % 2)
    for trend in (TREND, (0.1, 70.0, 0.7)):
        found, quick, fine = (
            DispersedEvidences(totals, trend, nodes).pattern([(0,), (1,)]) for nodes in (EXACT, QUICK, (0.05, 8.0))
        )
        np.testing.assert_allclose(found, fine, atol=1e-3)
        np.testing.assert_allclose(found, quick, atol=0.1)
        assert (np.abs(found) < 4.0).all()


def test_few_features_and_features_without_events():
    X = np.array([[0, 3, 4], [0, 5, 9], [0, 4, 30], [0, 6, 25]])
    posterior = bs.screen(X, [0, 0, 1, 1], model=bs.NegativeBinomialModel(), shuffles=0)
    assert posterior.log_bayes_factor[0] == 0.0
    assert np.isfinite(posterior.log_bayes_factor).all()
    one = bs.screen(np.array([[3], [50]]), [0, 1], model=bs.NegativeBinomialModel(), shuffles=0)
    assert abs(one.log_bayes_factor[0]) < 5.0  # nothing tells of the spread but the prior


def test_many_classes_take_the_most_probable_dispersion(rng):
    X = rng.negative_binomial(3, 0.1, size=(30, 40))
    X[20:, 0] += 300
    posterior = bs.screen(X, np.repeat(range(5), 6), model=bs.NegativeBinomialModel(), shuffles=0)
    assert np.argmax(posterior.log_odds) == 0


def test_a_trend_must_be_three_positive_numbers():
    for wrong in ((0.1, 1.0), (0.1, 1.0, 0.0), (-1.0, 1.0, 1.0), "abc"):
        with pytest.raises(bs.PriorError, match="trend must be three"):
            bs.NegativeBinomialModel(trend=wrong)


def test_a_gene_that_one_class_hardly_has_is_a_marker(rng):
    """Counts of 0 to 10 in one class and hundreds in the other, among genes that do not differ."""
    mean = np.exp(rng.normal(5.0, 1.5, 400))
    X = rng.negative_binomial(4, 4 / (4 + mean), size=(40, 400))
    X[:20, 0] = rng.poisson(2.0, 20)
    X[20:, 0] = rng.negative_binomial(4, 4 / 1004, 20)
    X[:20, 1], X[20:, 1] = 0, rng.negative_binomial(4, 4 / 204, 20)
    posterior = bs.screen(X, np.repeat([0, 1], 20), model=bs.NegativeBinomialModel(), shuffles=0)
    assert posterior.log_odds[:2].min() > 20
    assert (posterior.log_odds[2:] < 0).mean() > 0.98
