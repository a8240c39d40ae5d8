"""A posterior with given log-odds, for tests of rules and errors that need no data."""

from __future__ import annotations

import numpy as np

import bayesieve as bs


def posterior_of(log_odds, names=None):
    log_odds = np.asarray(log_odds, dtype=np.float64)
    n = log_odds.size
    moments = bs.Moments(("a", "b"), np.array([20, 20]), np.zeros((2, n)), np.full((2, n), 19.0))
    return bs.FeaturePosterior(
        log_bayes_factor=log_odds.copy(),
        prior_log_odds=0.0,
        feature_names=names,
        degenerate_codes=np.zeros(n, np.int8),
        statistics=moments,
        model=bs.GaussianModel.jeffreys(),
    )
