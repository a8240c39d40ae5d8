"""Simulation-based calibration (Talts et al., 2018) of the samplers.

Among draws from the posterior of data that a draw from the prior has made, the rank of that draw is uniform.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from bayesieve.rivals.mcmc import probit_sampler as kernels
from bayesieve.rivals.mcmc.bayesreg import RegressionChain
from bayesieve.rivals.mcmc.bpm import ProbitChain
from bayesieve.rivals.mcmc.chains import Schedule

VARIANTS = [(link, prior) for link in ("linear", "logit") for prior in ("l1", "hs")]
LEVEL = 0.001  # of each chi-square test


def assert_uniform(ranks, most):
    for each in ranks.T:
        assert stats.chisquare(np.bincount(each, minlength=most + 1)).pvalue > LEVEL


def test_probit_with_indicators():
    """A fitted value, the size of the fit and the number of features, with swaps in every other data set."""
    n, p, pi, c, n_kept, n_sets = 12, 4, 0.4, 5.0, 19, 1500
    rng = np.random.default_rng(11)
    X = stats.zscore(rng.normal(size=(n, p)))
    X[:, 3] = stats.zscore(X[:, 2] + 0.3 * X[:, 3])
    ranks = np.zeros((n_sets, 3), dtype=int)
    for k in range(n_sets):
        gamma = rng.random(p) < pi
        fit = np.sqrt(c) * X[:, gamma] @ np.linalg.pinv(X[:, gamma]) @ rng.normal(size=n)
        y = fit + rng.normal(size=n) > 0
        plan = Schedule(4, 0, 1, 1, 0)
        chain = ProbitChain(np.ascontiguousarray(X.T), y, np.arange(2), (pi, c, False, k % 2), plan, rng)
        chain.advance(4)  # of which the draws are not looked at
        found = np.empty((n_kept, 3))
        for i in range(n_kept):
            kernels.advance(chain.state, rng, 12, 10**9, 1, chain.sums, chain.traces, chain.sizes)
            now = chain.state.fit
            found[i] = now[0], now @ now, chain.included.sum()
        true = np.array([fit[0], fit @ fit, gamma.sum()])
        ties = rng.random((n_kept + 1, 3)) * 1e-9  # numbers of features, and fits of 0, are tied
        ranks[k] = (found + ties[1:] < true + ties[0]).sum(axis=0)
    assert_uniform(ranks, n_kept)


@pytest.mark.parametrize(("link", "prior"), VARIANTS)
def test_regressions(link, prior):
    """With proper priors of intercept and noise; draws of the horseshoe are far apart, as they are correlated."""
    n, p, n_kept, n_sets, thin = 8, 2, 9, 400, 8 if prior == "l1" else 30
    rng = np.random.default_rng(12)

    def spare(b, noise):
        return noise if link == "linear" else b @ b

    columns = np.ascontiguousarray(stats.zscore(rng.normal(size=(n, p))).T) * 0.7
    ranks = np.zeros((n_sets, 5), dtype=int)
    for k in range(n_sets):
        noise = 3.0 / rng.gamma(4.0) if link == "linear" else 1.0
        if prior == "l1":
            scales, tau = rng.exponential(size=p), 1 / rng.exponential()
        else:
            scales, tau = rng.standard_cauchy(p) ** 2, rng.standard_cauchy() ** 2
        b, b0 = rng.normal(size=p) * np.sqrt(noise * tau * scales), rng.normal()
        eta = b0 + b @ columns
        chain = RegressionChain(
            columns,
            np.zeros(n, bool),
            link,
            prior,
            Schedule(4, 0, 1, 1, 0),
            rng,
            intercept_precision=1.0,
            noise_prior=(4.0, 3.0),
        )
        if link == "linear":
            chain.labels = eta + np.sqrt(noise) * rng.normal(size=n)
        else:
            chain.labels = (rng.random(n) < special.expit(eta)).astype(float)
        chain.b0, chain.b, chain.tau, chain.noise, chain.scales = b0, b, tau, noise, np.clip(scales, 1e-10, 1e10)
        chain.predictor = b @ columns
        found = np.empty((n_kept, 5))
        for _ in range(30):
            chain.sweep()
        for i in range(n_kept):
            for _ in range(thin):
                chain.sweep()
            found[i] = chain.b[0], chain.b0, chain.tau, chain.scales[0], spare(chain.b, chain.noise)
        ranks[k] = (found < [b[0], b0, tau, scales[0], spare(b, noise)]).sum(axis=0)
    assert_uniform(ranks, n_kept)
