"""Means that differ whatever variances do: against sums over all parameters, Student's t, F and multivariate t."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

import bayesieve as bs
from bayesieve.models import KindModel
from bayesieve.models.gaussian.effect_mixture import EXACT, QUICK, effect_sizes
from bayesieve.models.gaussian.mean_difference import mean_evidence

A, B = np.array([0.1, -0.4, 0.3, 0.8]), np.array([1.2, 0.7, 2.1, 1.5, 0.9])
LEAVING_OUT = (1.2, 4)  # nodes of a first look at every sample


def squares(x):
    return float(((x - x.mean()) ** 2).sum())


def log_density(x, mean, variance):
    rest = sum((value - mean) ** 2 for value in x)
    return -0.5 * len(x) * np.log(2 * np.pi * variance) - 0.5 * rest / variance


def summed(tau, t):
    """Log evidence of equal means and of means that differ, given t: sums over both means and the variance."""
    z, u = np.linspace(-9.0, 9.0, 41), np.linspace(-9.0, 11.0, 101)[:, None]
    first, second = np.exp(u - 0.5 * t), np.exp(u + 0.5 * t)
    spread = 1 / (A.size / first + B.size / second)
    centre = spread * (A.sum() / first + B.sum() / second)
    mean = centre + np.sqrt(spread) * z
    step = np.log(z[1] - z[0])
    null = log_density(A, mean, first) + log_density(B, mean, second) + 0.5 * np.log(spread) + step
    first, second, u = first[:, :, None], second[:, :, None], u[:, :, None]
    of_a = A.mean() + np.sqrt(first / A.size) * z[None, :, None]
    of_b = B.mean() + np.sqrt(second / B.size) * z[None, None, :]
    unit = 0.5 * (first + second)  # the mean variance
    both = log_density(A, of_a, first) + log_density(B, of_b, second)
    both = both + stats.norm.logpdf(of_b - of_a, scale=tau * np.sqrt(unit))
    both = both + 0.5 * np.log(first / A.size * second / B.size) + 2 * step
    return special.logsumexp(null), special.logsumexp(both)


def test_a_mean_difference_is_a_sum_over_all_parameters():
    """Means, variance, their ratio and the effect, on grids on which trapezoidal sums converge exponentially."""
    tau, omega, weight = 1.3, 0.6, 0.4
    grid = np.linspace(-8 * omega, 8 * omega, 49)
    log_prior = stats.norm.logpdf(grid, scale=omega) + np.log(weight * (grid[1] - grid[0]))
    terms = np.array([summed(tau, t) for t in grid]) + log_prior[:, None]
    equal = np.array([summed(tau, 0.0)]) + np.log(1 - weight)
    null, both = special.logsumexp(np.vstack([terms, equal]), axis=0)
    n0, n1 = A.size, B.size
    found = mean_evidence(
        (n0, n1, [B.mean() - A.mean()]), (squares(A), squares(B), n0 - 1.0, n1 - 1.0, 1.0),
        (0.5 * (n0 + n1 - 1.0), 0.0, 0.0), (np.array([tau]), np.array([omega])), weight,
    )  # fmt: skip
    assert found[0] == pytest.approx(both - null, abs=1e-8)


def by_densities(n0, n1, d, s0, s1, g, dof, prior, grids, weight):
    """The same from densities of F and of multivariate t, by adaptive quadrature; blocks as vectors."""
    taus, omegas = grids
    nu0, nu1 = (n0 - 1.0).sum(), (n1 - 1.0).sum()
    ratio = (s1 / nu1) / (s0 / nu0)

    def densities(t):
        root, c = np.exp(t / 2), np.cosh(t / 2)
        freedom = nu0 + nu1 + dof
        unit = (prior * c + s0 * root + s1 / root) / freedom
        own = np.diag(1 / (n0 * root) + root / n1)
        of_ratio = g * (stats.f.logpdf(ratio * np.exp(-t), nu1, nu0) - t - stats.f.logpdf(ratio, nu1, nu0))
        null = stats.multivariate_t.logpdf(d, shape=unit * own, df=freedom)
        some = [stats.multivariate_t.logpdf(d, shape=unit * (own + c * tau**2), df=freedom) for tau in taus]
        return np.exp(of_ratio + np.array([null, special.logsumexp(some) - np.log(len(some))]))

    def integrand(t, which):
        return densities(t)[which] * np.mean([stats.norm.pdf(t, scale=omega) for omega in omegas])

    found = []
    for which in (0, 1):
        area = sum(
            integrate.quad(integrand, lo, lo + 2.0, args=(which,), epsabs=0, epsrel=1e-11)[0]
            for lo in np.arange(-10.0, 10.0, 2.0)
        )
        found.append((1 - weight) * densities(0.0)[which] + weight * area)
    return np.log(found[1] / found[0])


@pytest.mark.parametrize(
    ("n0", "n1", "d", "s0", "s1", "g", "dof", "prior"),
    [
        ([10], [40], [1.5], 30.0, 20.0, 0.6, 0.0, 0.0),
        ([4], [3], [2.5], 1.0, 5.0, 1.0, 6.0, 5.0),
        ([8, 5], [5, 12], [1.0, -0.2], 9.0, 40.0, 0.8, 4.0, 3.0),
    ],
)
def test_moderated_and_tempered_evidence_and_blocks(n0, n1, d, s0, s1, g, dof, prior):
    n0, n1, d = (np.array(each, dtype=float) for each in (n0, n1, d))
    grids = np.array([0.5, 1.0, 2.0]), np.array([0.7, 1.4])
    expected = by_densities(n0, n1, d, s0, s1, g, dof, prior, grids, 0.5)
    half_dof = 0.5 * ((n0 + n1 - 1).sum() + dof)
    data = (n0[:, None], n1[:, None], d[:, None]), (s0, s1, (n0 - 1).sum(), (n1 - 1).sum(), g)
    found = [
        mean_evidence(*data, (half_dof, prior, 0.0), grids, 0.5, nodes)[0] for nodes in (EXACT, QUICK, LEAVING_OUT)
    ]
    assert found[0] == pytest.approx(expected, abs=1e-8)
    assert found[1] == pytest.approx(expected, abs=2e-4)
    assert found[2] == pytest.approx(expected, abs=4e-3)


@pytest.mark.parametrize(("n0", "n1"), [(3, 5), (3, 100), (60, 60)])
def test_ratios_far_from_one_and_large_differences_keep_their_digits(n0, n1):
    """Plain sums over a fine and wide grid of log ratios, in log space, of densities of Student's t."""
    rng, n = np.random.default_rng(n1), 40
    s0, s1 = rng.chisquare([[n0 - 1], [n1 - 1]], (2, n)) * np.exp(rng.normal(size=(2, n)) * 2)
    d, g, dof, prior = rng.normal(size=n) * 5, rng.uniform(0.1, 1.0, n), 4.0, 4.0
    taus, omegas = effect_sizes(n0 * n1 / (n0 + n1), 2 / (n0 - 1) + 2 / (n1 - 1))
    t = np.linspace(-40.0, 40.0, 4001)[:, None]
    root, c, freedom = np.exp(t / 2), np.cosh(t / 2), n0 + n1 - 2 + dof
    scale = prior * c + s0 * root + s1 / root
    own = 1 / (n0 * root) + root / n1
    log_f = g * ((n0 - n1) / 4 * t - 0.5 * (n0 + n1 - 2) * np.log((s0 * root + s1 / root) / (s0 + s1)))
    log_prior = special.logsumexp([stats.norm.logpdf(t, scale=omega) for omega in omegas], axis=0)
    log_prior += np.log((t[1] - t[0]) / omegas.size)

    def log_sum(factor):
        square = scale / freedom * factor
        terms = -0.5 * np.log(square) - 0.5 * (freedom + 1) * np.log1p(d * d / (freedom * square)) + log_f
        return np.logaddexp(special.logsumexp(terms + log_prior, axis=0), terms[t.size // 2])

    some = special.logsumexp([log_sum(own + c * tau**2) for tau in taus], axis=0) - np.log(taus.size)
    variance = s0, s1, n0 - 1.0, n1 - 1.0, g
    found = mean_evidence((n0, n1, d[None]), variance, (0.5 * (freedom + 1), prior, 0.0), (taus, omegas), 0.5)
    assert np.allclose(found, some - log_sum(own), rtol=0, atol=1e-9)


def test_jeffreys_prior_compares_two_of_the_four_kinds_with_the_other_two():
    """The odds that ``kinds`` gives to means (variances) that differ, its constants as the prior ratio says."""
    X = np.random.default_rng(2).normal(size=(30, 6)) * np.r_[np.ones(12), np.full(18, 2.0)][:, None]
    X[12:, :3] += 1.0
    moments = bs.Moments.from_matrix(X, [0] * 12 + [1] * 18)
    for ratio in (0.1, 0.02):
        for difference, constants, name in (
            ("mean", {"mean_constant": 4 * ratio}, "means_differ"),
            ("variance", {"variance_constant": np.sqrt(2 * np.pi) * ratio}, "variances_differ"),
        ):
            model = KindModel((bs.NormalInverseGamma(),), bs.NormalInverseGamma(), ratio, difference)
            found = model.log_bayes_factor(moments)
            probability = getattr(bs.kinds(moments, prior_probability=0.75, **constants), name)
            assert np.allclose(found, special.logit(probability), atol=1e-9)
