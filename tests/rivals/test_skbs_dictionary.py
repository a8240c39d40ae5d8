"""Estimation of shared kernels: the objective rises to a maximum found by other means, and the truth is found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from bayesieve.rivals.skbs.climbing import IntegratedClimb, ModeClimb
from bayesieve.rivals.skbs.dictionary import alpha_by_moments, choose_n_kernels, fit_kernels
from bayesieve.rivals.skbs.kernel_prior import KernelPrior
from bayesieve.rivals.skbs.shared_kernels import SharedKernels


def simulate(n_features, n_samples, mean, sd, alpha, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(alpha, n_features)
    places = (rng.random((n_features, n_samples, 1)) > np.cumsum(weights, axis=1)[:, None, :-1]).sum(axis=2)
    return np.array(mean)[places] + np.array(sd)[places] * rng.normal(size=places.shape)


def log_evidence_of_two(values, kernels):
    """One integral at a time, by adaptive quadrature of scipy."""
    density = np.exp(kernels.log_density(values))
    scale = np.log(density.sum(axis=1)).sum()
    prior = stats.beta(*kernels.alpha)

    def integrand(p):
        return prior.pdf(p) * np.exp(np.log(density @ [p, 1.0 - p]).sum() - scale)

    return np.log(integrate.quad(integrand, 0, 1, limit=200, epsabs=0, epsrel=1e-10)[0]) + scale


def log_prior(kernels, rows):
    centre, variance = rows.mean(), rows.var()
    precision = kernels.sd**-2.0
    return np.sum(
        stats.gamma.logpdf(precision, 1.0, scale=1.0 / variance)
        + stats.norm.logpdf(kernels.mean, centre, precision**-0.5)
    )


@pytest.mark.parametrize("n_kernels", [2, 3, 4])
def test_the_objective_never_falls(n_kernels):
    rows = simulate(60, 40, [0.0, 1.0, 3.0], [0.4, 0.6, 1.0], [1.0, 0.5, 0.5])
    fitted = fit_kernels(rows, n_kernels)
    assert fitted.converged
    steps = np.concatenate([np.diff(each) for each in fitted.objective])
    assert steps.size > 5
    assert steps.min() > -1e-9 * abs(fitted.objective[-1][-1])


def test_the_objective_is_the_posterior_density_of_the_kernels():
    rows = simulate(12, 15, [0.0, 1.0], [0.4, 0.6], [2.0, 1.0])
    values = []
    for kernels in (
        SharedKernels([0.1, 0.9], [0.5, 0.7], [1.5, 2.0]),
        SharedKernels([0.0, 1.2], [0.3, 0.6], [1.5, 2.0]),
    ):
        climb = IntegratedClimb(rows, kernels, KernelPrior.of(rows), 1)
        climb.climb(1)
        expected = sum(log_evidence_of_two(x, kernels) for x in rows) + log_prior(kernels, rows)
        values.append((climb.objective[0][0], expected))
    (found, expected), (other, other_expected) = values
    assert found - other == pytest.approx(expected - other_expected, abs=1e-5)  # a constant is left out


@pytest.mark.parametrize("method", [IntegratedClimb, ModeClimb])
@pytest.mark.parametrize("support", [None, (-1.0, 2.5)])
def test_a_generic_optimiser_finds_no_higher_place(method, support):
    rows = simulate(40, 30, [0.0, 1.4], [0.4, 0.5], [1.0, 1.0], seed=5).clip(-0.99, 2.49)
    prior, start = KernelPrior.of(rows), SharedKernels([0.2, 1.0], [0.5, 0.5], [0.8, 1.2], support)
    climb = method(rows, start, prior, 1)
    assert climb.climb(200, 1e-8)
    there, log_sd, *weights = climb._place()

    def loss(point):
        climb._go((point[:2], point[2:], *weights))
        return -climb._expect()[0]

    best = optimize.minimize(loss, np.concatenate([there, log_sd]), method="BFGS", options={"gtol": 1e-4})
    assert -best.fun - climb.objective[-1][-1] < 1e-5
    np.testing.assert_allclose(best.x, np.concatenate([there, log_sd]), atol=1e-4)


def test_kernels_weights_and_concentrations_are_recovered():
    """As the specification's simulation: 150 features of 60 values."""
    errors = []
    for seed in range(4):
        found = fit_kernels(simulate(150, 60, [0.0, 1.0], [0.4, 0.6], [2.0, 1.0], seed), 2).kernels
        errors.append([*(found.mean - [0.0, 1.0]), *(found.sd - [0.4, 0.6]), *np.log(found.alpha / [2.0, 1.0])])
    assert np.abs(errors)[:, :4].max() < 0.06
    assert np.abs(np.mean(errors, axis=0)[:4]).max() < 0.03
    assert np.abs(np.mean(errors, axis=0)[4:]).max() < 0.25


def test_kernels_of_one_mean_and_kernels_that_are_not_there():
    found = fit_kernels(simulate(150, 60, [0.0, 0.0], [0.5, 1.5], [0.3, 0.3]), 2).kernels
    np.testing.assert_allclose(np.sort(found.sd), [0.5, 1.5], rtol=0.05)
    alone = np.random.default_rng(2).normal(size=(150, 60))
    found = fit_kernels(alone, 2).kernels
    assert np.abs(np.diff(found.mean)) < 0.15
    np.testing.assert_allclose(found.sd, 1.0, atol=0.05)


def test_three_kernels_are_recovered_and_ordered():
    found = fit_kernels(simulate(200, 50, [3.0, 0.0, 1.2], [0.5, 0.3, 0.3], [0.5, 1.0, 0.7], 3), 3).kernels
    np.testing.assert_allclose(found.mean, [0.0, 1.2, 3.0], atol=0.08)
    np.testing.assert_allclose(found.sd, [0.3, 0.3, 0.5], atol=0.06)
    np.testing.assert_allclose(found.alpha, [1.0, 0.7, 0.5], rtol=0.4)


def test_truncated_kernels_are_recovered():
    rng = np.random.default_rng(4)
    places = rng.random((80, 40)) > rng.beta(1.0, 1.0, size=(80, 1))
    mean, sd = np.array([0.05, 0.8])[places.astype(int)], np.array([0.15, 0.2])[places.astype(int)]
    rows = stats.truncnorm.rvs((0 - mean) / sd, (1 - mean) / sd, mean, sd, random_state=rng)
    cut = fit_kernels(rows, 2, support=(0.0, 1.0)).kernels
    np.testing.assert_allclose(cut.mean, [0.05, 0.8], atol=0.03)
    np.testing.assert_allclose(cut.sd, [0.15, 0.2], atol=0.02)
    plain = fit_kernels(rows, 2).kernels
    assert plain.mean[0] > 0.1  # what cutting off is for


def test_one_kernel_in_closed_form(rng):
    rows = rng.normal(2.0, 3.0, size=(7, 11))
    found = fit_kernels(rows, 1).kernels
    assert found.mean[0] == pytest.approx(rows.mean())
    rate = rows.var() + 0.5 * rows.size * rows.var()
    assert found.sd[0] ** 2 == pytest.approx(rate / (0.5 + 0.5 * rows.size))


def test_units_missing_values_and_threads(rng):
    rows = simulate(80, 30, [0.0, 1.0], [0.4, 0.6], [2.0, 1.0])
    found = fit_kernels(rows, 2).kernels
    moved = fit_kernels(5.0 + 100.0 * rows, 2).kernels
    np.testing.assert_allclose(moved.mean, 5.0 + 100.0 * found.mean, rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(moved.sd, 100.0 * found.sd, rtol=1e-5)
    holes = np.insert(rows, [5, 20], np.nan, axis=1)
    for other in (fit_kernels(holes, 2).kernels, fit_kernels(rows, 2, n_threads=3).kernels):
        np.testing.assert_allclose(other.mean, found.mean, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(fit_kernels(rows, 2, n_threads=3).kernels.mean, found.mean)


def test_concentrations_by_moments(rng):
    weights = rng.dirichlet([2.0, 0.5, 1.0], 200_000)
    np.testing.assert_allclose(alpha_by_moments(weights), [2.0, 0.5, 1.0], rtol=0.02)
    assert alpha_by_moments(np.full((5, 2), 0.5)).tolist() == [1e3, 1e3]
    assert alpha_by_moments(np.array([[1.0, 0.0], [0.0, 1.0]])).min() >= 1e-3


def test_variances_of_weights_at_their_mode_are_near_the_posterior_ones():
    rows = simulate(40, 60, [0.0, 2.0], [0.5, 0.5], [2.0, 2.0])
    kernels = SharedKernels([0.0, 2.0], [0.5, 0.5], [2.0, 2.0])
    mode, exact = (method(rows, kernels, KernelPrior.of(rows), 1) for method in (ModeClimb, IntegratedClimb))
    for _ in range(60):
        mode._step()
        mode.kernels = kernels
    exact._expect()
    np.testing.assert_allclose(mode.weights, exact.weights, atol=0.002)
    np.testing.assert_allclose(mode.variances, exact.variances, rtol=0.1)


def test_the_number_of_kernels_is_found():
    rows = simulate(150, 40, [0.0, 3.0, 6.0], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5])
    number, scores = choose_n_kernels(rows, seed=1)
    assert list(scores) == [2, 3, 4, 5, 6, 7]
    assert scores[3] - scores[2] > 0.05
    assert number >= 3
    assert scores[number] - scores[3] < 0.02  # further ones gain next to nothing
