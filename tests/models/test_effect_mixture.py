"""Bayes factors of differences against sums over all parameters, and against mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

import bayesieve as bs
from bayesieve.models.gaussian import effect_mixture
from bayesieve.models.gaussian.calibrated import tempering
from bayesieve.models.gaussian.effect_mixture import (
    EXACT,
    QUICK,
    effect_sizes,
    two_group_evidence,
)
from bayesieve.models.gaussian.several_effects import several_means, several_variances

A, B = np.array([0.1, -0.4, 0.3, 0.8]), np.array([1.2, 0.7, 2.1, 1.5, 0.9])


def squares(x):
    return float(((x - x.mean()) ** 2).sum())


def log_normal_likelihood(x, mu, log_variance):
    """Of all values, for arrays of parameters."""
    rest = sum((value - mu) ** 2 for value in x)
    return -0.5 * len(x) * (np.log(2 * np.pi) + log_variance) - 0.5 * rest * np.exp(-log_variance)


def variance_prior(log_variance, dof, scale):
    """Scaled inverse chi-squared, as a density of the log variance; flat without degrees of freedom."""
    return -0.5 * dof * log_variance - 0.5 * dof * scale * np.exp(-log_variance)


@pytest.mark.parametrize(("dof", "scale"), [(0.0, 0.0), (3.5, 0.4)])
@pytest.mark.parametrize("tau", [0.5, 2.0])
def test_a_mean_difference_is_a_sum_over_all_parameters(dof, scale, tau):
    """Trapezoidal sums over the common mean, the log variance and the effect: they converge exponentially."""
    u = np.linspace(-9.0, 9.0, 161)[:, None, None]
    mu = np.linspace(-12.0, 12.0, 401)[None, :, None]
    effect = np.linspace(-9.0 * tau, 9.0 * tau, 241)[None, None, :]
    prior = variance_prior(u, dof, scale)
    null = special.logsumexp(log_normal_likelihood(np.r_[A, B], mu, u) + prior)
    both = log_normal_likelihood(A, mu, u) + log_normal_likelihood(B, mu + effect * np.exp(0.5 * u), u)
    density = stats.norm.logpdf(effect, scale=tau) + np.log(effect[0, 0, 1] - effect[0, 0, 0])
    brute = special.logsumexp(both + prior + density) - null
    n0, n1 = A.size, B.size
    size, d = n0 * n1 / (n0 + n1), B.mean() - A.mean()
    found, _ = two_group_evidence(
        (size * d * d, squares(A) + squares(B), size, 0.5 * (n0 + n1 - 1 + dof), dof * scale),
        (squares(A), squares(B), n0 - 1.0, n1 - 1.0, 1.0), (np.array([tau]), np.array([1.0])),
    )  # fmt: skip
    assert found[0] == pytest.approx(brute, rel=1e-8)


def log_evidence_of_spread(x, log_variance):
    """The mean summed out with a flat prior, on a grid."""
    mu = np.linspace(-60.0, 60.0, 24_001)
    return np.array([special.logsumexp(log_normal_likelihood(x, mu, each)) for each in log_variance])


@pytest.mark.parametrize("omega", [0.6, 2.0])
def test_a_variance_ratio_is_a_sum_over_all_parameters(omega):
    """Both means flat under both hypotheses; sums over them, the common log variance and the log ratio."""
    fine = np.linspace(-14.0, 14.0, 1121)
    of_a, of_b = log_evidence_of_spread(A, fine), log_evidence_of_spread(B, fine)
    step = fine[1] - fine[0]
    shift = np.arange(-280, 281)  # half the log ratio, in steps of the grid
    terms = []
    for k in shift:
        where = np.arange(fine.size)
        low, high = where - k, where + k
        inside = (low >= 0) & (low < fine.size) & (high >= 0) & (high < fine.size)
        total = special.logsumexp(of_a[low[inside]] + of_b[high[inside]])
        terms.append(total + stats.norm.logpdf(2 * k * step, scale=omega) + np.log(2 * step))
    brute = special.logsumexp(terms) - special.logsumexp(of_a + of_b)
    _, found = two_group_evidence(
        (0.0, 1.0, 1.0, 1.0, 0.0), (squares(A), squares(B), A.size - 1.0, B.size - 1.0, 1.0),
        (np.array([1.0]), np.array([omega])),
    )  # fmt: skip
    assert found[0] == pytest.approx(brute, abs=1e-7)


def exact_ratio(s0, s1, n0, n1, g, omega):
    with mp.workdps(40):
        s0, s1, n0, n1, g, omega = (mp.mpf(x) for x in (s0, s1, n0, n1, g, omega))

        def integrand(t):
            total = (s0 * mp.e ** (t / 2) + s1 * mp.e ** (-t / 2)) / (s0 + s1)
            return mp.e ** (g * ((n0 - n1) * t / 4 - (n0 + n1) / 2 * mp.log(total))) * mp.npdf(t, 0, omega)

        ends = [-60, -20, -8, -4, -2, -1, 0, 1, 2, 4, 8, 20, 60]
        return float(mp.log(mp.quad(integrand, ends)))


CASES = [
    (1.0, 2.0, 9, 9, 1.0), (1.0, 50.0, 24, 24, 1.0), (3.0, 1.0, 2, 2, 1.0), (1.0, 1e3, 2, 40, 0.5),
    (1.0, 1.0, 99, 99, 0.1), (1.0, 7.0, 2, 2, 0.05), (1.0, 1e6, 3, 3, 1.0), (5.0, 1.0, 400, 30, 1.0),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("omega", [0.3, 2.0])
def test_variance_ratios_agree_with_mpmath(case, omega):
    grids = np.array([1.0]), np.array([omega])
    exact = exact_ratio(*case, omega)
    for nodes, tolerance in ((EXACT, 1e-11), (QUICK, 5e-6)):
        _, found = two_group_evidence((0.0, 1.0, 1.0, 1.0, 0.0), case, grids, nodes)
        assert found[0] == pytest.approx(exact, abs=tolerance)


def test_mixtures_are_mean_bayes_factors():
    columns = (3.0, 5.0, 4.0, 8.0, 1.0), (2.0, 3.0, 7.0, 9.0, 0.7)
    taus, omegas = np.array([0.4, 0.8, 1.6]), np.array([0.5, 1.0])
    single = [two_group_evidence(*columns, (taus[k : k + 1], omegas[:1]))[0][0] for k in range(3)]
    ratios = [two_group_evidence(*columns, (taus[:1], omegas[k : k + 1]))[1][0] for k in range(2)]
    mean, ratio = two_group_evidence(*columns, (taus, omegas))
    assert np.exp(mean[0]) == pytest.approx(np.mean(np.exp(single)), rel=1e-13)
    assert np.exp(ratio[0]) == pytest.approx(np.mean(np.exp(ratios)), rel=1e-13)


def test_no_variance_in_a_group_leaves_the_variances_out():
    grids = np.array([1.0]), np.array([1.0])
    for variance in ((0.0, 3.0, 5.0, 5.0, 1.0), (3.0, 3.0, 0.0, 5.0, 1.0), (3.0, 4.0, 5.0, 5.0, 0.0)):
        assert two_group_evidence((1.0, 3.0, 4.0, 8.0, 0.0), variance, grids)[1][0] == 0.0


def test_effect_sizes_double_from_twice_the_standard_error():
    means, ratios = effect_sizes(12.5, 2 / 24 + 2 / 24)
    np.testing.assert_allclose(means, np.sqrt(4 / 12.5) * np.array([1, 2, 4]))
    np.testing.assert_allclose(ratios, np.sqrt(4 / 6) * np.array([1, 2]))
    assert effect_sizes(0.1, np.inf)[0].tolist() == [4.0]
    assert effect_sizes(1.0, np.inf)[1].size == 0


GROUPS = [np.array([0.1, -0.4, 0.3, 0.8]), np.array([1.2, 0.7, 2.1]), np.array([-0.2, 0.9, 0.4, 0.1, 0.5])]


@pytest.mark.parametrize(("dof", "scale"), [(0.0, 0.0), (4.0, 0.3)])
def test_three_means_are_a_sum_over_all_parameters(dof, scale):
    tau = 0.9
    u, mu = np.linspace(-8.0, 8.0, 121)[:, None], np.linspace(-10.0, 10.0, 301)[None, :]
    sd = np.sqrt(0.5) * tau
    effect = np.linspace(-8.0 * sd, 8.0 * sd, 161)
    log_density = stats.norm.logpdf(effect, scale=sd) + np.log(effect[1] - effect[0])
    marker = 0.0
    for x in GROUPS:
        each = [
            log_normal_likelihood(x, mu + e * np.exp(0.5 * u), u) + d
            for e, d in zip(effect, log_density, strict=True)
        ]
        marker = marker + special.logsumexp(each, axis=0)
    prior = variance_prior(u, dof, scale)
    null = special.logsumexp(log_normal_likelihood(np.concatenate(GROUPS), mu, u) + prior)
    brute = special.logsumexp(marker + prior) - null
    n = np.array([[float(x.size)] for x in GROUPS])
    means = np.array([[x.mean()] for x in GROUPS])
    within = np.array([sum(squares(x) for x in GROUPS)])
    found = several_means(n, means, within, dof * scale, 0.5 * (n.sum() - 1 + dof), np.array([tau]))
    assert found[0] == pytest.approx(brute, abs=1e-8)


def test_two_groups_are_a_case_of_several():
    n, means, within = np.array([[7.0], [4.0]]), np.array([[0.0], [1.3]]), np.array([5.0])
    taus = np.array([0.5, 1.0])
    size = 28 / 11
    expected, _ = two_group_evidence(
        (size * 1.3**2, 5.0, size, 6.0, 0.7), (1.0, 1.0, 1.0, 1.0, 0.0), (taus, np.array([1.0]))
    )
    assert several_means(n, means, within, 0.7, 6.0, taus)[0] == pytest.approx(expected[0], rel=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_three_variances_are_a_sum_over_all_parameters(share):
    """Trapezoidal sums over the log of the common variance and the log of every group's own factor."""
    s, n, a = np.array([2.0, 9.0, 1.5]), np.array([4.0, 6.0, 9.0]), 1.7
    u, v = np.linspace(-10.0, 40.0, 2001), np.linspace(-25.0, 6.0, 1601)
    marker = 0.0
    for k in range(3):
        log_density = stats.gamma.logpdf(np.exp(v), a, scale=1 / a) + v + np.log(v[1] - v[0])
        power = share * (0.5 * n[k] * (v - u[:, None]) - 0.5 * s[k] * np.exp(v - u[:, None]))
        marker = marker + special.logsumexp(power + log_density, axis=1)
    null = share * (-0.5 * n.sum() * u - 0.5 * s.sum() * np.exp(-u))
    expected = special.logsumexp(marker) - special.logsumexp(null)
    found = several_variances(s[:, None], n[:, None], np.array([share]), np.array([a]))
    assert found[0] == pytest.approx(expected, abs=1e-9)


def test_tempering_is_the_share_of_the_normal_sampling_variance(rng):
    X = rng.standard_t(4, size=(31, 6))
    y = np.repeat([0, 1], [12, 19])
    expected = []
    for j in range(6):
        ideal = excess = 0.0
        for k in (0, 1):
            x = X[y == k, j]
            n = x.size
            kurtosis = stats.kurtosis(x, fisher=False) * (n + 1) / (n - 1)
            ideal, excess = ideal + 2 / (n - 1), excess + (kurtosis - 3) / n
        expected.append(ideal / (ideal + max(excess, 0.0)))
    np.testing.assert_allclose(tempering(bs.Moments.from_matrix(X, y)), expected, rtol=1e-11)


def test_tempering_without_fourth_powers_leaves_nothing(rng):
    moments = bs.Moments.from_matrix(rng.normal(size=(10, 3)), [0] * 5 + [1] * 5, shape=False)
    assert tempering(moments).tolist() == [0.0, 0.0, 0.0]


def test_few_nodes_are_as_good_as_many():
    """Priors that share nodes, and nearly normal integrands, against the rule with 67 nodes of its own each."""
    rng = np.random.default_rng(0)
    n0, n1 = np.exp(rng.uniform(np.log(100.0), np.log(3e4), (2, 400))).round()
    share = np.minimum(60.0 / np.minimum(n0, n1) * np.exp(rng.uniform(0.0, 5.0, 400)), 1.0)
    theta = rng.normal(size=400) * np.exp(rng.uniform(np.log(0.01), np.log(3.0), 400))
    s0, s1 = n0, n1 * np.exp(theta)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    share_0 = s0 / (s0 + s1)

    def log_integrand(t, omega):
        sums = np.logaddexp(np.log(share_0) + 0.5 * t, np.log1p(-share_0) - 0.5 * t)
        return share * (0.25 * (n0 - n1) * t - 0.5 * (n0 + n1) * sums) - 0.5 * (t / omega) ** 2

    for omega in (0.05, 0.2, 0.4, 0.8, 2.0):
        grids = np.ones(1), np.array([omega])
        _, found = two_group_evidence((np.zeros(400), s0 + s1, 1.0, 10.0, 1.0), (s0, s1, n0, n1, share), grids)
        between = np.multiply.outer(np.linspace(0.0, 1.0, 2001), theta)  # where the mode is
        mode = np.take_along_axis(between, log_integrand(between, omega).argmax(axis=0)[None], axis=0)[0]
        of_first = share_0 * np.exp(mode) / (share_0 * np.exp(mode) + 1.0 - share_0)
        reach = 15.0 / np.sqrt(omega**-2.0 + 0.5 * share * (n0 + n1) * of_first * (1.0 - of_first))
        terms = log_integrand(mode + np.multiply.outer(nodes, reach), omega) + np.log(weights)[:, None]
        top = terms.max(axis=0)
        expected = top + np.log(np.exp(terms - top).sum(axis=0) * reach / (omega * np.sqrt(2.0 * np.pi)))
        np.testing.assert_allclose(found, expected, rtol=2e-10, atol=2e-10)


def test_short_forms_of_exponential_and_logarithm():
    """Loops take them several at a time; they are to be those of the mathematics library to the last digits."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-700.0, 700.0, 4000), rng.normal(size=4000) * 1e-3, [0.0, -700.0, 709.0]])
    found = np.array([effect_mixture._exp(each) for each in x])
    np.testing.assert_allclose(found, np.exp(x), rtol=4.5e-16, atol=0.0)
    assert effect_mixture._exp(-1e300) < 1e-300
    y = np.concatenate(
        [np.exp(x), 1.0 + rng.normal(size=4000) * 1e-6, [1.0, np.sqrt(0.5), np.sqrt(2.0), 2.0**-1022]]
    )
    found = np.array([effect_mixture._log(each) for each in y])
    np.testing.assert_allclose(found, np.log(y), rtol=1e-15, atol=0.0)


def test_squares_beyond_numbers_stay_undefined():
    """The screen finds and names such features, so that they must not turn into numbers."""
    columns = (np.ones(2), np.ones(2), 5.0, 6.0, 1.0)
    squares = (np.array([np.inf, 1e308]), np.array([1.0, 1.7e308]), 9.0, 9.0, 1.0)
    found = two_group_evidence(columns, squares, (np.array([1.0]), np.array([1.0])))[1]
    assert not np.isfinite(found).any()
