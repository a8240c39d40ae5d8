"""Probit regression with inclusion indicators: against enumeration, dense algebra and draws from the prior."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.errors import ConvergenceWarning, DataError, LabelError, MissingValueError, OptionError
from bayesieve.rivals.mcmc import probit_sampler as kernels
from bayesieve.rivals.mcmc.bpm import ProbitChain, probit_inclusion
from bayesieve.rivals.mcmc.chains import Schedule, effective_sizes

Y = np.array([1, 0, 1, 1, 0, 0, 1], dtype=bool)


def standard(X):
    return stats.zscore(X, axis=0)


def projector(X):
    return X @ np.linalg.pinv(X) if X.shape[1] else np.zeros((X.shape[0], X.shape[0]))


def orthant(mean, covariance, y):
    """Probability that the signs are those of y."""
    sign = np.where(y, 1.0, -1.0)
    normal = stats.multivariate_normal(-sign * mean, covariance * np.outer(sign, sign), abseps=1e-6, releps=1e-5)
    return normal.cdf(np.zeros(y.size), rng=np.random.default_rng(0))


def exact_inclusion(X, y, c, pi, *, intercept=False):
    """Probabilities of inclusion by all sets of at most n - 2 features."""
    n, p = X.shape
    total, included = 0.0, np.zeros(p)
    for choice in itertools.product([False, True], repeat=p):
        gamma = np.array(choice)
        if gamma.sum() > n - 2:
            continue
        covariance = np.eye(n) + c * projector(X[:, gamma])
        if intercept:
            likelihood = integrate.fixed_quad(
                lambda starts, C=covariance: [orthant(np.full(n, b), C, y) for b in starts], -16, 16, n=60
            )[0]
        else:
            likelihood = orthant(np.zeros(n), covariance, y)
        weight = likelihood * pi ** gamma.sum() * (1 - pi) ** (p - gamma.sum())
        total += weight
        included += weight * gamma
    return included / total


def sampled(X, y, settings, draws=100_000, seed=1):
    """Estimates of a chain, Rao-Blackwell and plain, and the standard error of the former."""
    plan = Schedule(draws, 200, 1, 1, seed)
    chain = ProbitChain(np.ascontiguousarray(X.T), y, np.arange(X.shape[1]), settings, plan, plan.generators()[0])
    chain.advance(plan.n_sweeps)
    error = chain.traces.std(axis=0) / np.sqrt(effective_sizes(chain.traces[None]))
    return *(chain.sums / draws), error


@pytest.mark.parametrize("swaps", [0, 3])
@pytest.mark.parametrize("kind", ["plain", "separable", "dependent"])
def test_inclusion_by_enumeration_with_orthant_probabilities(rng, kind, swaps):
    """Within 4.5 standard errors, which are below 0.006; the plain frequencies within 0.02."""
    X = rng.normal(size=(7, 3))
    if kind == "separable":
        X[:, 1] = np.where(Y, 1.0, -1.0) * rng.uniform(0.5, 2.0, 7)
    if kind == "dependent":  # a duplicate, its mirror image and a sum
        X = np.column_stack([X[:, :2], X[:, 0], -2 * X[:, 0], X[:, 0] + X[:, 1]])
    X = standard(X)
    chance, frequency, error = sampled(X, Y, (0.3, 10.0, False, swaps))
    expected = exact_inclusion(X, Y, 10.0, 0.3)
    assert error.max() < 0.006
    assert (abs(chance - expected) / error).max() < 4.5
    np.testing.assert_allclose(frequency, expected, atol=0.02)


def test_a_flat_intercept_by_integration(rng):
    X, y = standard(rng.normal(size=(5, 2)) + 1.0), np.array([1, 1, 1, 1, 0], dtype=bool)
    chance, _, error = sampled(X, y, (0.4, 4.0, True, 0))
    assert (abs(chance - exact_inclusion(X, y, 4.0, 0.4, intercept=True)) / error).max() < 4.5
    assert error.max() < 0.006


def test_other_labels_for_the_classes_change_nothing(rng):
    X = standard(rng.normal(size=(7, 3)))
    first, second = (sampled(X, y, (0.3, 10.0, False, 0)) for y in (Y, ~Y))
    assert (abs(first[0] - second[0]) / np.hypot(first[2], second[2])).max() < 4.5


def test_fast_updates_agree_with_dense_algebra_after_many_flips(rng):
    """To 1e-9 after 2,000 flips and no refresh; among the features are duplicates."""
    n, p = 30, 25
    X = rng.normal(size=(n, p))
    X[:, 20], X[:, 21], X[:, 22] = X[:, 0], X[:, 1] - X[:, 2], 3.0 * X[:, 1]
    X[:, 23] = X[:, 3] + 0.01 * X[:, 23]
    X, y = standard(X), rng.random(n) < 0.5
    pi, c = 0.2, 50.0
    chain = ProbitChain(
        np.ascontiguousarray(X.T), y, np.arange(5), (pi, c, False, 0), Schedule(4, 0, 1, 1, 0), rng
    )
    state = chain.state
    for k in range(2000):
        kernels.flip(state, int(rng.integers(p)))
        if k % 250 == 249:
            inside = chain.included
            P = projector(X[:, inside])
            assert state.numbers[0] == np.linalg.matrix_rank(X[:, inside])
            assert state.numbers[1] == inside.sum()
            rest = X - P @ X
            np.testing.assert_allclose(state.outside, (rest**2).sum(axis=0), atol=1e-9)
            np.testing.assert_allclose(state.outside_z, rest.T @ state.z, atol=1e-9)
            for j in range(p):
                expected = np.log(pi / (1 - pi))
                with_j, without = inside.copy(), inside.copy()
                with_j[j], without[j] = True, False
                P1, P0 = projector(X[:, with_j]), projector(X[:, without])
                expected += 0.5 * c / (1 + c) * (state.z @ (P1 - P0) @ state.z)
                expected -= 0.5 * np.log1p(c) * round(np.trace(P1 - P0))
                assert kernels.log_odds(state, j) == pytest.approx(expected, abs=1e-8)


def test_at_most_two_features_fewer_than_samples(rng):
    X, y = standard(rng.normal(size=(8, 20))), np.tile([True, False], 4)
    plan = Schedule(200, 0, 1, 1, 0)
    chain = ProbitChain(np.ascontiguousarray(X.T), y, np.arange(20), (0.9, 1.0, False, 2), plan, rng)
    assert chain.included.sum() == 6
    chain.advance(200)
    assert chain.sizes.max() == 6
    assert np.isfinite(chain.state.z).all()


def test_without_information_the_posterior_is_the_prior(rng):
    X, y = rng.normal(size=(20, 5)), np.tile([0, 1], 10)
    X[y == 1, 0] += 3.0
    scores = probit_inclusion(LabelledMatrix.from_arrays(X, y), c=1e-12, pi=0.2, draws=50)
    np.testing.assert_allclose(scores.score, 0.2, atol=1e-9)


def test_a_prior_probability_of_zero_selects_nothing(rng):
    X, y = rng.normal(size=(20, 5)), np.tile([0, 1], 10)
    X[y == 1, 0] += 3.0
    scores = probit_inclusion(LabelledMatrix.from_arrays(X, y), pi=0.0, draws=50)
    assert scores.score.tolist() == scores.details["frequency"].tolist() == [0.0] * 5
    assert scores.diagnostics["n_included_most"] == 0
    assert scores.top(1) == bs.score(X, y, method="bd").top(1)  # ties are broken by the distance


def test_of_a_correlated_block_only_a_few_are_included(rng):
    """The paper's criticism of regressions, and what the t test has not."""
    y = np.tile([0, 1], 50)
    X = rng.normal(size=(100, 40))
    marker = rng.normal(size=100) + 2.0 * y
    X[:, :8] = marker[:, None] + 0.2 * rng.normal(size=(100, 8))
    scores = probit_inclusion(LabelledMatrix.from_arrays(X, y), draws=30000, swap=5)
    assert 0.9 < scores.score[:8].sum() < 3.0
    assert bs.score(X, y, method="welch").ranking[:8].max() < 8


def marked(rng, n=100, p=400):
    X, y = rng.normal(size=(n, p)), np.tile([0, 1], n // 2)
    X[y == 1, :3] += 1.2
    return X, y


def test_the_rival_as_a_user_meets_it(rng):
    X, y = marked(rng)
    told = []
    scores = bs.score(
        X, y, method="bpm", draws=3000, chains=2, screen="bd:30", swap=2, progress=lambda *now: told.append(now)
    )
    kept = bs.score(X, y, method="bd").ranking[:30]
    assert np.flatnonzero(~np.isnan(scores.score)).tolist() == sorted(kept.tolist())
    assert set(scores.top(2)) < {"x0", "x1", "x2"}
    assert scores.selected is None
    assert told[-1] == (6000, 6000)
    assert scores.diagnostics["pi"] == 10 / 30
    assert {"chains", "sweeps", "seconds", "r_hat_top", "r_hat_worst", "ess_top"} <= set(scores.diagnostics)
    assert set(scores.details) == {"inclusion", "frequency", "r_hat", "ess"}
    again = bs.score(X, y, method="bpm", draws=3000, chains=2, screen="bd:30", swap=2, n_threads=1)
    np.testing.assert_array_equal(again.score, scores.score)
    other = bs.score(X, y, method="bpm", draws=3000, chains=2, screen="bd:30", swap=2, seed=1)
    assert not np.array_equal(again.score, other.score, equal_nan=True)
    plain = bs.score(X, y, method="bpm", draws=3000, screen="bd:30", swap=2, estimate="frequency")
    np.testing.assert_array_equal(plain.score, scores.details["frequency"])


def test_chains_that_are_too_short_are_announced(rng):
    X, y = marked(rng)
    X[:, 1] = X[:, 0] + 0.05 * rng.normal(size=100)
    with pytest.warns(ConvergenceWarning, match=r"bpm: chains disagree on \d+ of the 20 strongest features"):
        bs.score(X, y, method="bpm", draws=8, screen="bd:30")


@pytest.mark.parametrize(
    ("options", "text"),
    [({"c": 0.0}, "c must be"), ({"pi": 1.0}, "pi must be below 1"), ({"pi": -0.1}, "pi must be a number between"),
     ({"intercept": "normal"}, "intercept must be 'none' or 'flat'"), ({"swap": -1}, "swap must be"),
     ({"estimate": "mode"}, "estimate must be"), ({"start": 2.5}, "start must be"),
     ({"screen": "bd"}, "bd:300"), ({"burnin": 5}, "no option 'burnin'")],
)  # fmt: skip
def test_options_that_make_no_sense(rng, options, text):
    X, y = marked(rng, p=5)
    with pytest.raises(OptionError, match=text):
        bs.score(X, y, method="bpm", **options)


def test_tables_that_cannot_be_used(r1):
    X, y = r1
    holes = X.copy()
    holes[[1, 3]] = np.nan
    with pytest.raises(MissingValueError, match="bpm takes no missing values, and 2 of the values are missing"):
        probit_inclusion(LabelledMatrix.from_arrays(holes, y), screen=None)
    with pytest.raises(DataError, match="no infinite values, and there are 1"):
        probit_inclusion(LabelledMatrix.from_arrays(np.where(X.max() == X, np.inf, X), y), screen=None)
    with pytest.raises(LabelError, match="there is only 0"):
        bs.score(X, [0] * 9, method="bpm")
    with pytest.raises(LabelError, match="two classes, not 3"):
        probit_inclusion(LabelledMatrix.from_arrays(X, [0, 1, 2] * 3), screen=None)
    with pytest.raises(LabelError, match="at least two samples of each class, but there are 8 of class 0 and 1"):
        probit_inclusion(LabelledMatrix.from_arrays(X, [0] * 8 + [1]), screen=None)
    with pytest.raises(DataError, match="nothing to work on: 2 features"):
        probit_inclusion(LabelledMatrix.from_arrays(np.ones((9, 2)), y), screen=None)


def test_constant_columns_have_no_score(rng):
    X, y = marked(rng, p=6)
    X[:, 4] = 1e8 + 0.1
    with pytest.warns(bs.DegenerateFeatureWarning, match="bpm has no score for 1 of 6 features: constant"):
        scores = probit_inclusion(LabelledMatrix.from_arrays(X, y), screen=None, draws=200)
    assert np.flatnonzero(np.isnan(scores.score)).tolist() == [4]
    alone = probit_inclusion(LabelledMatrix.from_arrays(np.delete(X, 4, axis=1), y), screen=None, draws=200)
    np.testing.assert_array_equal(alone.score, np.delete(scores.score, 4))


@pytest.mark.parametrize("low", [-4.0, 0.2, 0.44, 0.46, 2.0, 9.0, 60.0])
def test_truncated_normals_by_scipy(low):
    """Kolmogorov and Smirnov at 0.001; far in the tail the excess times the threshold is exponential."""
    rng = np.random.default_rng(3)
    draws = np.array([kernels.truncated_normal(rng, low) for _ in range(4000)])
    survival = np.exp(stats.norm.logsf(draws) - stats.norm.logsf(low))
    assert stats.kstest(survival, "uniform").pvalue > 0.001
