"""Limits of sections S5 and S6, the split of section 5, and symmetries of the model."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import bayesieve as bs


@pytest.fixture
def seven_and_eleven(rng):
    X = rng.normal(size=(18, 5))
    X[7:] += 0.5
    return X, np.repeat([0, 1], [7, 11])


def log_bf(X, y, class_prior, pooled_prior):
    model = bs.GaussianModel((bs.NormalInverseGamma(*class_prior),), bs.NormalInverseGamma(*pooled_prior))
    return model.log_bayes_factor(bs.Moments.from_matrix(X, y))


@pytest.mark.parametrize(("power", "slope"), [(1, -0.5), (2, 0.0), (3, 0.5)])
def test_vanishing_mean_strength(seven_and_eleven, power, slope):
    """nu_b = nu**power as nu -> 0: to zero, to a constant, to infinity, with slope in -log nu."""
    small = [log_bf(*seven_and_eleven, (3, 0.5, nu, 0), (3, 0.5, nu**power, 0)) for nu in (1e-6, 1e-8)]
    rate = (small[1] - small[0]) / math.log(100)
    np.testing.assert_allclose(rate, slope, atol=1e-5)


@pytest.mark.parametrize(("power", "slope"), [(1, -1.0), (2, 0.0), (3, 1.0)])
def test_vanishing_degrees_of_freedom(seven_and_eleven, power, slope):
    """kappa_b = kappa**power: the paper's S6 prints kappa where its own condition needs kappa squared."""
    small = [log_bf(*seven_and_eleven, (k, 0.5, 0.1, 0), (k**power, 0.5, 0.1, 0)) for k in (1e-6, 1e-8)]
    rate = (small[1] - small[0]) / math.log(100)
    np.testing.assert_allclose(rate, slope, atol=1e-4)


@pytest.mark.parametrize(
    ("factor", "ratio"), [(1.0, 0.5 / math.sqrt(2 * math.pi)), (0.5, 1 / math.sqrt(2 * math.pi))]
)
def test_limit_of_the_prior_ratio(factor, ratio):
    """With all c = 1 the limit is half of (2 pi)^(-1/2); kappa_b = kappa**2 / 2 gives (2 pi)^(-1/2)."""
    tiny = 1e-7
    prior = bs.NormalInverseGamma(tiny, 1.0, tiny)
    model = bs.GaussianModel((prior,), bs.NormalInverseGamma(factor * tiny**2, 1.0, tiny**2))
    moments = bs.Moments.from_matrix([[0.0], [1.0]], [0, 1])
    assert math.exp(model.log_prior_ratio(moments)) == pytest.approx(ratio, rel=1e-5)


def test_truncated_jeffreys_prior_needs_a_lower_cut_and_then_tends_to_the_improper_answer(r1):
    """S5 with 1/K < sigma < K: without a lower cut the integral of 1/sigma diverges at zero."""
    X, y = r1
    groups = [X[y == 0, 0], X[y == 1, 0], X[:, 0]]

    def truncated(x, bound):
        n = len(x)
        spread = mp.mpf(float(np.sum((x - x.mean()) ** 2)))

        def integrand(t):  # the mean integrated over the line; t = log variance
            return mp.e ** (-(mp.mpf(n) / 2) * t - spread / (2 * mp.e**t))

        edges = [-mp.log(bound), -3, 0, 3, mp.log(bound)]
        return mp.quad(integrand, edges) * (2 * mp.pi) ** (-mp.mpf(n - 1) / 2) / mp.sqrt(n)

    expected = bs.GaussianModel.jeffreys(1.0).log_bayes_factor(bs.Moments.from_matrix(X, y))[0]
    gaps = []
    for bound in (mp.mpf(20), mp.mpf(10) ** 4):
        parts = [mp.log(truncated(x, bound)) for x in groups]
        gaps.append(abs(float(parts[0] + parts[1] - parts[2]) - expected))
    assert gaps[1] < 1e-6 < gaps[0]


@pytest.mark.parametrize("model", [bs.GaussianModel.jeffreys(), bs.GaussianModel.proper()], ids=["JP", "PP"])
def test_the_product_of_section_5_is_the_bayes_factor(rng, model):
    """Log l(f, S) + log a(f, S) = log BF, with l and a typed from section 5."""
    X = rng.normal(size=(16, 4))
    y = np.repeat([0, 1], [6, 10])
    moments = bs.Moments.from_matrix(X, y)
    n0, n1, n = 6, 10, 16
    cells = [p.updated(g) for p, g in zip(
        (model.prior_of(0, 2), model.prior_of(1, 2), model.pooled_prior),
        (moments.group(0), moments.group(1), moments.pool()), strict=True)]  # fmt: skip
    k0, k1, k = (np.asarray(c.variance_dof) for c in cells)
    v0, v1, v = (np.asarray(c.mean_strength) for c in cells)
    c0, c1, c = (np.asarray(c.variance_scale) / d for c, d in zip(cells, (n0 - 1, n1 - 1, n - 1), strict=True))
    kappas = [np.asarray(p.variance_dof) for p in (model.pooled_prior, model.prior_of(0, 2), model.prior_of(1, 2))]
    half = np.vectorize(math.lgamma)
    log_l = model.log_prior_ratio(moments) + half(k0 / 2) + half(k1 / 2) - half(k / 2) + 0.5 * (
        np.log(2 * np.pi * v / (v0 * v1)) + (kappas[0] - kappas[1] - kappas[2]) * math.log(0.5)
        + k * math.log(n - 1) - k0 * math.log(n0 - 1) - k1 * math.log(n1 - 1)
    )  # fmt: skip
    log_a = 0.5 * (k * np.log(c) - k0 * np.log(c0) - k1 * np.log(c1))
    np.testing.assert_allclose(log_l + log_a, model.log_bayes_factor(moments), rtol=1e-10, atol=1e-10)


def test_swapping_classes_and_their_priors_changes_nothing(rng):
    X = rng.normal(size=(15, 6))
    y = np.repeat(["a", "b"], [6, 9])
    proper = bs.GaussianModel.proper()
    swapped = bs.GaussianModel(proper.class_priors[::-1], proper.pooled_prior)
    one = bs.screen(X, y, model=proper).log_odds
    other = bs.screen(X, y, model=swapped, classes=("b", "a")).log_odds
    np.testing.assert_allclose(one, other, rtol=1e-13)


def test_order_of_samples_does_not_matter(rng):
    X = rng.normal(size=(40, 6))
    y = np.repeat([0, 1], 20)
    order = rng.permutation(40)
    np.testing.assert_allclose(bs.screen(X[order], y[order]).log_odds, bs.screen(X, y).log_odds, rtol=1e-12)


@pytest.mark.parametrize(("a", "b"), [(3.0, 0.0), (-0.01, 7.0), (1e6, -1e6)])
def test_jeffreys_log_odds_survive_affine_maps(rng, a, b):
    X = rng.normal(size=(40, 6))
    y = np.repeat([0, 1], 20)
    np.testing.assert_allclose(bs.screen(a * X + b, y).log_odds, bs.screen(X, y).log_odds, rtol=1e-8)


def test_scale_enters_through_the_degrees_of_freedom(rng):
    """Improper priors with s = nu = 0: log-odds change by (kappa - kappa_0 - kappa_1) log|a|."""
    X = rng.normal(size=(20, 4))
    y = np.repeat([0, 1], 10)
    model = bs.GaussianModel(
        (bs.NormalInverseGamma(1.0), bs.NormalInverseGamma(2.0)), bs.NormalInverseGamma(0.5), 0.1
    )
    change = bs.screen(5.0 * X, y, model=model).log_odds - bs.screen(X, y, model=model).log_odds
    np.testing.assert_allclose(change, (0.5 - 1.0 - 2.0) * math.log(5.0), rtol=1e-10)


def test_gamma_functions_at_a_million_samples():
    """K against its Stirling series, whose next terms are known: (1/n0 + 1/n1 - 1/n) / 6."""
    n = 10**6
    from bayesieve.models import jeffreys_constant  # noqa: PLC0415

    series = math.log(2 * math.sqrt(2) * math.pi * n / (n / 2) ** 2) + (2 / n + 2 / n - 1 / n) / 6
    assert float(jeffreys_constant(n // 2, n // 2)) == pytest.approx(series, abs=5e-9)
