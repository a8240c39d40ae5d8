"""The log evidence by routes that share no formula with it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bayesieve as bs


def evidence(x, prior):
    moments = bs.Moments.from_matrix(np.asarray(x)[:, None], ["a"] * len(x))
    return float(bs.log_evidence(prior, moments)[0])


def prior(kappa=2.5, s=0.8, nu=0.4, m=0.3):
    return bs.NormalInverseGamma(kappa, s, nu, m)


def test_chain_rule_of_student_t_predictive_densities(rng):
    """Each value, given those before, is Student t: their product is the evidence."""
    x = rng.normal(1.0, 2.0, size=12)
    kappa, s, nu, m = 2.5, 0.8, 0.4, 0.3
    total = 0.0
    for value in x:
        scale = np.sqrt(s * (nu + 1) / (kappa * nu))
        total += stats.t.logpdf(value, df=kappa, loc=m, scale=scale)
        s += nu / (nu + 1) * (value - m) ** 2
        m = (nu * m + value) / (nu + 1)
        nu, kappa = nu + 1, kappa + 1
    assert evidence(x, prior()) == pytest.approx(total, rel=1e-12)


def test_log_evidence_is_a_multivariate_student_t(rng):
    """Integrating out the mean and variance of a Gaussian leaves a Student t: an independent route."""
    x = rng.normal(size=7)
    shape = 0.8 / 2.5 * (np.eye(7) + np.ones((7, 7)) / 0.4)
    expected = stats.multivariate_t.logpdf(x, loc=np.full(7, 0.3), shape=shape, df=2.5)
    assert evidence(x, prior()) == pytest.approx(expected, rel=1e-12)


def log_integral(x, log_density):
    """Integrate prior times likelihood over the mean (in units of its spread) and the log variance."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    z, log_variance = 13.0 * nodes[:, None], 15.0 * nodes[None, :]
    variance = np.exp(log_variance)
    mu = np.mean(x) + z * np.sqrt(variance)
    likelihood = sum(stats.norm.logpdf(value, mu, np.sqrt(variance)) for value in x)
    integrand = np.exp(log_density(mu, variance) + likelihood + 1.5 * log_variance)
    return np.log(13.0 * 15.0 * weights @ integrand @ weights)


def test_two_dimensional_quadrature_of_prior_times_likelihood():
    x = np.array([0.2, -0.5, 0.9])

    def log_density(mu, variance):
        return stats.invgamma.logpdf(variance, 1.25, scale=0.4) + stats.norm.logpdf(
            mu, 0.3, np.sqrt(variance / 0.4)
        )

    assert evidence(x, prior()) == pytest.approx(log_integral(x, log_density), abs=1e-9)


def test_improper_evidence_by_quadrature():
    """Jeffreys' prior, density variance^(-3/2) with constant 1 as the paper defines it."""
    x = np.array([0.2, -0.5, 0.9, 0.4])
    expected = log_integral(x, lambda mu, variance: -1.5 * np.log(variance))
    assert evidence(x, bs.NormalInverseGamma()) == pytest.approx(expected, abs=1e-9)


def test_no_data_leaves_no_evidence():
    moments = bs.Moments(("a",), np.array([0]), np.zeros((1, 2)), np.zeros((1, 2)))
    np.testing.assert_allclose(bs.log_evidence(prior(), moments), 0.0, atol=1e-13)


def test_posterior_is_the_next_prior(rng):
    """Learning in two steps equals learning at once."""
    x = rng.normal(size=10)
    first = bs.Moments.from_matrix(x[:4, None], ["a"] * 4)
    both = evidence(x[:4], prior()) + evidence(x[4:], prior().updated(first))
    assert both == pytest.approx(evidence(x, prior()), rel=1e-12)
