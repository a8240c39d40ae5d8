"""Posteriors of Bayesian regressions: against importance sampling, quadrature, algebra, draws from the prior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from bayesieve.rivals.mcmc.bayesreg import RegressionChain
from bayesieve.rivals.mcmc.chains import Schedule, effective_sizes

VARIANTS = [(link, prior) for link in ("linear", "logit") for prior in ("l1", "hs")]
SHORT = Schedule(4, 0, 1, 1, 0)


def columns_of(X):
    """Features x samples of mean 0 and length 1."""
    return np.ascontiguousarray(stats.zscore(X, axis=0).T / np.sqrt(X.shape[0]))


def chain_of(columns, y, link, prior, plan=SHORT, seed=0, **options):
    return RegressionChain(columns, y, link, prior, plan, np.random.default_rng(seed), **options)


@pytest.fixture
def small(rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2 == 1
    X[y, 0] += 1.5
    return columns_of(X), y


def gibbs(columns, y, link, prior, draws=30_000, **options):
    """Posterior mean of the coefficients by the sampler, from conditional means, and its standard error."""
    plan = Schedule(draws, 500, 1, 1, 0)
    chain = chain_of(columns, y, link, prior, plan, 5, **options)
    chain.advance(plan.n_sweeps)
    error = chain.draws.std(axis=0) / np.sqrt(effective_sizes(chain.draws[None]))
    return chain.mean_sum / draws, error, chain.draws


def scale_draws(prior, n_draws, p, rng):
    """Draws of the squared global scale times the squared local scales, from the prior."""
    if prior == "l1":
        return rng.exponential(size=(n_draws, p)) / rng.exponential(size=(n_draws, 1))
    return (rng.standard_cauchy((n_draws, p)) * rng.standard_cauchy((n_draws, 1))) ** 2


def linear_mean(columns, y, prior):
    """Given the scales everything is conjugate: posterior mean by averaging over 200,000 prior draws of them."""
    rng, n = np.random.default_rng(8), y.size
    centred = y - y.mean()
    d = scale_draws(prior, 200_000, 2, rng)
    gram, right = columns @ columns.T, columns @ centred
    precision = gram + np.einsum("kj,ij->kij", 1 / d, np.eye(2))
    means = np.linalg.solve(precision, np.broadcast_to(right, d.shape)[..., None])[..., 0]
    log_weight = -0.5 * np.log(np.linalg.det(precision)) - 0.5 * np.log(d).sum(axis=1)
    log_weight -= 0.5 * (n - 1) * np.log(centred @ centred - means @ right)
    return weighted(np.exp(log_weight - log_weight.max()), means)


def logit_mean(columns, y, prior):
    """The scales integrated out by quadrature; intercept and coefficients by 20,000 Student t proposals."""
    rng = np.random.default_rng(9)
    design = np.column_stack([np.ones(y.size), columns.T])

    def log_likelihood(b):
        eta = b @ design.T
        return (np.where(y, eta, 0.0) - np.logaddexp(0.0, eta)).sum(axis=-1)

    def log_posterior(b):
        return log_likelihood(b) + log_prior(b[:, 1:], prior)

    mode = optimize.minimize(lambda b: -log_likelihood(b) + 0.01 * b @ b, np.zeros(3)).x
    weight = special.expit(design @ mode) * special.expit(-design @ mode)
    shape = np.linalg.inv((design.T * weight) @ design + 0.02 * np.eye(3))
    proposal = stats.multivariate_t(mode * [1, 0.5, 0.5], 2.0 * shape, df=3, seed=rng)
    b = proposal.rvs(20_000)
    log_weight = log_posterior(b) - proposal.logpdf(b)
    return weighted(np.exp(log_weight - log_weight.max()), b[:, 1:])


def log_prior(b, prior):
    """Logarithm of the marginal prior density: the trapezoidal rule over the log of the global scale."""
    tau = np.exp(np.linspace(-12, 12, 161))
    if prior == "l1":  # Laplace of variance tau^2; tau^2 is inverse gamma
        local = -np.log(tau * np.sqrt(2)) - np.sqrt(2) * abs(b[..., None]) / tau
        density = stats.invgamma(1).logpdf(tau**2) + np.log(2 * tau)
    else:  # the horseshoe's density, by the exponential integral
        x = 0.5 * (b[..., None] / tau) ** 2
        scaled = np.where(x < 500, np.exp(np.minimum(x, 500)) * special.exp1(np.minimum(x, 500)), 1 / (x + 1))
        local = np.log(scaled) - np.log(tau * np.sqrt(2 * np.pi**3))
        density = stats.halfcauchy().logpdf(tau)
    return special.logsumexp(local.sum(axis=-2) + density + np.log(tau), axis=-1)


def weighted(weights, values):
    mean = weights @ values / weights.sum()
    error = np.sqrt(weights**2 @ (values - mean) ** 2) / weights.sum()
    return mean, error


@pytest.mark.parametrize(("link", "prior"), VARIANTS)
def test_posterior_means_by_importance_sampling(small, link, prior):
    """Within 4 standard errors of both estimates, which are below 4% of the larger coefficient."""
    columns, y = small
    found, error, _ = gibbs(columns, y, link, prior, 12_000)
    expected, other = (linear_mean if link == "linear" else logit_mean)(columns, y, prior)
    assert max(error.max(), other.max()) < 0.04 * abs(expected).max()
    assert (abs(found - expected) / np.hypot(error, other)).max() < 4


@pytest.mark.parametrize("among_samples", [False, True])
@pytest.mark.parametrize("link", ["linear", "logit"])
def test_both_ways_to_solve_by_dense_algebra(rng, link, among_samples):
    """Conditional means to 1e-10; mean and covariance of 8,000 draws within 5 standard errors."""
    n, p = 9, 5
    columns, y = columns_of(rng.normal(size=(n, p))), np.arange(n) % 2 == 1
    chain = chain_of(columns, y, link, "l1", among_samples=among_samples)
    chain.scales, chain.tau, chain.b0 = rng.exponential(size=p), 1.7, 0.3
    if link == "linear":
        chain.noise = 0.4
    else:
        chain.omega = rng.uniform(0.05, 0.25, n)
    response = y.astype(float) if link == "linear" else (y - 0.5) / chain.omega
    A = (columns * chain.omega) @ columns.T / chain.noise + np.diag(1 / (chain.noise * chain.tau * chain.scales))
    covariance = np.linalg.inv(A)
    mean = covariance @ (columns * chain.omega) @ (response - 0.3) / chain.noise
    draws = np.empty((8000, p))
    for k in range(draws.shape[0]):
        chain.draw_coefficients()
        draws[k] = chain.b
    np.testing.assert_allclose(chain.mean, mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(chain.predictor, chain.b @ columns, rtol=1e-12)
    deviation = np.sqrt(np.diag(covariance))
    assert (abs(draws.mean(axis=0) - mean) / deviation).max() < 5 / np.sqrt(8000)
    scaled = (np.cov(draws.T) - covariance) / np.outer(deviation, deviation)
    assert abs(scaled).max() < 5 * np.sqrt(2 / 8000)


@pytest.mark.parametrize(("link", "prior"), [("linear", "hs"), ("logit", "l1")])
def test_both_ways_to_solve_give_the_same_distribution(rng, link, prior):
    """Means within 4.5 standard errors and deviations to 15%, of the whole sampler."""
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2 == 1
    X[y, 0] += 1.0
    one, other = (gibbs(columns_of(X), y, link, prior, 5000, among_samples=among) for among in (False, True))
    assert (abs(one[0] - other[0]) / np.hypot(one[1], other[1])).max() < 4.5
    ranges = [np.subtract(*np.quantile(draws, [0.9, 0.1], axis=0)) for draws in (one[2], other[2])]
    np.testing.assert_allclose(ranges[0], ranges[1], rtol=0.15)


def test_an_orthogonal_design_and_the_soft_threshold():
    """Given both variances each coefficient has a density of its own, whose mode is the soft threshold."""
    n, p, noise, tau = 16, 3, 0.5, 0.8
    rng = np.random.default_rng(4)
    basis = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, p))]))[0][:, 1:]
    y = np.arange(n) % 2 == 1
    y[:2] = False
    chain = chain_of(np.ascontiguousarray(basis.T), y, "linear", "l1")
    chain.noise, chain.tau, chain.b0 = noise, tau, y.mean()
    draws = np.empty((8000, p))
    for k in range(draws.shape[0]):
        chain.draw_coefficients()
        chain.draw_local_scales()
        draws[k] = chain.b
    penalty = np.sqrt(2 / (noise * tau))
    for j, least_squares in enumerate(basis.T @ (y - y.mean())):

        def density(b, at=least_squares):
            return np.exp(-((b - at) ** 2) / (2 * noise) - penalty * abs(b))

        grid = np.linspace(-6, 6, 6001)
        weights = density(grid)
        cdf = integrate.cumulative_trapezoid(weights, grid, initial=0)
        error = draws[:, j].std() / np.sqrt(effective_sizes(draws[None, :, j : j + 1])[0])
        mean = (weights * grid).sum() / weights.sum()
        assert abs(draws[:, j].mean() - mean) < 4.5 * error
        below = np.interp(np.quantile(draws[:, j], [0.05, 0.25, 0.5, 0.75, 0.95]), grid, cdf / cdf[-1])
        np.testing.assert_allclose(below, [0.05, 0.25, 0.5, 0.75, 0.95], atol=0.02)
        soft = np.sign(least_squares) * max(abs(least_squares) - noise * penalty, 0.0)
        assert grid[weights.argmax()] == pytest.approx(soft, abs=0.002)


def test_separable_classes_have_a_proper_posterior_under_the_lasso():
    """Quartiles of the coefficient of the one feature, by quadrature: within 4.5 standard errors."""
    y = np.array([False, False, False, True, True, True])
    columns = columns_of(np.array([[-2.0], [-1.0], [-1.5], [0.5], [2.0], [1.0]]))
    plan = Schedule(30_000, 500, 1, 1, 0)
    chain = chain_of(columns, y, "logit", "l1", plan, 6)
    chain.advance(plan.n_sweeps)
    b = np.sinh(np.linspace(-6, 12, 500))
    b0 = (1 + abs(b))[:, None] * np.sinh(np.linspace(-6, 6, 400))
    eta = b0[..., None] + b[:, None, None] * columns[0]
    likelihood = np.exp((np.where(y, eta, 0.0) - np.logaddexp(0.0, eta)).sum(axis=-1))
    density = integrate.trapezoid(likelihood, b0, axis=1) * np.exp(log_prior(b[:, None], "l1"))
    cdf = integrate.cumulative_trapezoid(density, b, initial=0)
    for share in (0.25, 0.5, 0.75):
        below = (chain.draws < np.interp(share, cdf / cdf[-1], b)).astype(float)
        error = np.sqrt(share * (1 - share) / effective_sizes(below[None])[0])
        assert error < 0.03
        assert abs(below.mean() - share) < 4.5 * error


def test_scales_far_apart_do_not_stop_a_chain(rng):
    """Where the matrix has lost its digits for Cholesky, orthogonal triangles take over."""
    n, p = 8, 20
    columns, y = columns_of(rng.normal(size=(n, p))), np.arange(n) % 2 == 1
    chain = chain_of(columns, y, "linear", "hs", among_samples=False)
    chain.scales, chain.tau = np.full(p, 1e10), 1e12
    chain.scales[::5] = 1e-10
    spread = np.sqrt(chain.tau * chain.scales)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(columns @ columns.T * np.outer(spread, spread) + np.eye(p))
    chain.draw_coefficients()
    assert np.isfinite(chain.b).all()
    np.testing.assert_allclose(chain.mean @ columns, y - y.mean(), atol=1e-4)  # no shrinkage: an exact fit
