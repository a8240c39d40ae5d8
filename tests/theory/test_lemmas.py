"""Lemmas S1 to S3 and the inequalities of section 5 in numbers, with mpmath and fractions; errata included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from exact import JEFFREYS, PROPER, Hyper
from hypothesis import assume, example, given, strategies as st

import bayesieve as bs
from bayesieve.simulation.rates import FeatureKind

DIGITS = 50


@dataclass(frozen=True)
class Feature:
    """Hyper-parameters of the two classes and the pooled sample, and L as a function of the class sizes."""

    first: Hyper
    second: Hyper
    pooled: Hyper
    ratio: Callable[[Any, Any], Any]


def constant_of(hyper: Hyper) -> Any:
    """A B of section 2.3, written out."""
    kappa, s, nu = (mp.mpf(x) for x in (hyper.kappa, hyper.s, hyper.nu))
    return (s / 2) ** (kappa / 2) / mp.gamma(kappa / 2) * mp.sqrt(nu / (2 * mp.pi))


def proper_ratio(first: Hyper, second: Hyper, pooled: Hyper) -> Callable[[Any, Any], Any]:
    return lambda n0, n1: constant_of(first) * constant_of(second) / constant_of(pooled)


UNLIKE = (Hyper(3.0, 0.5, 0.1, 0.0), Hyper(5.5, 1.0, 2.0, 0.3), Hyper(0.7, 0.4, 0.3, -0.1))
MIXED = (Hyper(2.0, 0.0, 0.0), Hyper(0.0, 0.3, 1.0, 0.5), Hyper(1.0, 0.2, 0.0))
JP = Feature(JEFFREYS, JEFFREYS, JEFFREYS, lambda n0, n1: mp.mpf("0.1"))
DECAY = Feature(JEFFREYS, JEFFREYS, JEFFREYS, lambda n0, n1: 1 / (mp.sqrt(2 * mp.pi) * (n0 + n1)))
ROOT = Feature(*MIXED, lambda n0, n1: mp.sqrt(n0 + n1))
PP = Feature(*PROPER, proper_ratio(*PROPER))
ODD = Feature(*UNLIKE, proper_ratio(*UNLIKE))


def log_l(feature: Feature, n0: int, n1: int) -> Any:
    """l(f, S_n) as it is printed in section 5, in logs."""
    hypers, sizes = (feature.first, feature.second, feature.pooled), (mp.mpf(n0), mp.mpf(n1), mp.mpf(n0 + n1))
    kappa = [mp.mpf(hyper.kappa) for hyper in hypers]
    k0, k1, k = (a + n for a, n in zip(kappa, sizes, strict=True))
    v0, v1, v = (mp.mpf(hyper.nu) + n for hyper, n in zip(hypers, sizes, strict=True))
    inside = mp.log(2 * mp.pi) + mp.log(v) + (kappa[2] - kappa[0] - kappa[1]) * mp.log(mp.mpf("0.5"))
    inside += k * mp.log(sizes[2] - 1) - mp.log(v0) - mp.log(v1)
    inside -= k0 * mp.log(sizes[0] - 1) + k1 * mp.log(sizes[1] - 1)
    gammas = mp.loggamma(k0 / 2) + mp.loggamma(k1 / 2) - mp.loggamma(k / 2)
    return mp.log(feature.ratio(n0, n1)) + gammas + inside / 2


def c_of(hyper: Hyper, n: Any, mean: Any, variance: Any) -> Any:
    """s* / (n - 1) of one group."""
    pull = mp.mpf(hyper.nu) * n / (mp.mpf(hyper.nu) + n) * (mean - mp.mpf(hyper.m)) ** 2 if hyper.nu else 0
    return (mp.mpf(hyper.s) + (n - 1) * variance + pull) / (n - 1)


def mean_and_variance(x: Any) -> tuple[Any, Any]:
    values = [mp.mpf(float(v)) for v in x]
    mean = mp.fsum(values) / len(values)
    return mean, mp.fsum([(v - mean) ** 2 for v in values]) / (len(values) - 1)


def log_a(feature: Feature, x0: Any, x1: Any) -> Any:
    """a({f}, S_n) as it is printed in section 5, in logs."""
    total = mp.mpf(0)
    for hyper, x, sign in (
        (feature.first, x0, -1),
        (feature.second, x1, -1),
        (feature.pooled, [*x0, *x1], 1),
    ):
        c = c_of(hyper, mp.mpf(len(x)), *mean_and_variance(x))
        total += sign * (mp.mpf(hyper.kappa) + len(x)) / 2 * mp.log(c)
    return total


def model_of(feature: Feature) -> bs.GaussianModel:
    priors = [
        bs.NormalInverseGamma(h.kappa, h.s, h.nu, h.m) for h in (feature.first, feature.second, feature.pooled)
    ]
    proper = all(prior.is_proper for prior in priors)
    ratio = None if proper else lambda n0, n1: float(feature.ratio(n0, n1))
    return bs.GaussianModel(tuple(priors[:2]), priors[2], ratio)


@pytest.mark.parametrize("feature", [JP, DECAY, ROOT, PP, ODD], ids=["JP", "1/n", "sqrt n", "PP", "unlike"])
def test_log_bayes_factor_is_the_printed_l_times_the_printed_a(rng, feature):
    x0, x1 = rng.normal(0.3, 1.2, size=15), rng.normal(0.9, 0.7, size=22)
    posterior = bs.screen(np.concatenate([x0, x1])[:, None], [0] * 15 + [1] * 22, model=model_of(feature))
    with mp.workdps(DIGITS):
        expected = float(log_l(feature, 15, 22) + log_a(feature, x0, x1))
    assert posterior.log_bayes_factor[0] == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("tenths", [1, 3, 5])
@pytest.mark.parametrize(
    ("feature", "p"),
    [(JP, 0.0), (DECAY, -1.0), (ROOT, 0.5), (PP, 0.0), (ODD, 0.0)],
    ids=["JP", "1/n", "sqrt n", "PP", "unlike"],
)
def test_lemma_s1_one_feature(feature, p, tenths):
    """Times n^(1-p), l tends to a positive constant, the distance shrinking like 1/n."""
    with mp.workdps(DIGITS):
        scaled = [
            log_l(feature, tenths * 10 ** (k - 1), (10 - tenths) * 10 ** (k - 1)) + (1 - p) * k * mp.log(10)
            for k in range(3, 13)
        ]
        steps = [float(abs(b - a)) for a, b in pairwise(scaled)]
    assert steps[-1] < 1e-9
    for before, after in pairwise(steps[2:]):
        assert after == pytest.approx(before / 10, rel=0.05)


@pytest.mark.parametrize("tenths", [1, 3, 5])
def test_lemma_s1_constant_under_jeffreys_prior(tenths):
    """Stirling: l ~ L 2 sqrt(2) pi e^(1/2) n / (n0 n1)."""
    with mp.workdps(DIGITS):
        n0, n1 = tenths * 10**11, (10 - tenths) * 10**11
        n = mp.mpf(n0 + n1)
        limit = mp.mpf("0.1") * 2 * mp.sqrt(2) * mp.pi * mp.exp(mp.mpf(1) / 2) * n / (mp.mpf(n0) * n1)
        assert float(log_l(JP, n0, n1) - mp.log(limit)) == pytest.approx(0.0, abs=1e-10)


def log_z(members: list[Feature], log_prior: float, n: int) -> Any:
    return log_prior + mp.fsum(log_l(feature, 3 * n // 10, n - 3 * n // 10) for feature in members)


@pytest.mark.parametrize(
    ("G", "H"),
    [([JP], [PP, ODD]), ([], [JP, PP, ODD]), ([JP, PP, ODD], [ODD]), ([JP, PP], [PP, ODD])],
    ids=["1-2", "0-3", "3-1", "2-2"],
)
def test_lemma_s1_sets_of_different_sizes(G, H):
    """z(G) / z(H) ~ c n^(|H| - |G|) where p = 0, whatever the priors of the two sets."""
    with mp.workdps(DIGITS):
        logs = [log_z(G, -2.0, 10**k) - log_z(H, -7.5, 10**k) for k in (10, 11, 12)]
        slopes = [float((b - a) / mp.log(10)) for a, b in pairwise(logs)]
    assert slopes == pytest.approx([len(H) - len(G)] * 2, abs=1e-8)


def test_lemma_s1_needs_one_power_for_all_features():
    """Definition 3 prints one p per feature; sets of the same size then have a ratio that is not constant."""
    with mp.workdps(DIGITS):
        logs = [log_z([JP], 0.0, 10**k) - log_z([DECAY], 0.0, 10**k) for k in (11, 12)]
        assert float((logs[1] - logs[0]) / mp.log(10)) == pytest.approx(1.0, abs=1e-9)


def limit_of(kind: FeatureKind, rho: Any) -> Any:
    """The limit in the proof of Lemma S2, with the class means mu_0 and mu_1."""
    (m0, m1), (s0, s1) = (tuple(map(mp.mpf, pair)) for pair in (kind.means, kind.variances))
    return s0**rho * s1 ** (1 - rho) / (rho * s0 + (1 - rho) * s1 + rho * (1 - rho) * (m0 - m1) ** 2)


def log_ratio(feature: Feature, kind: FeatureKind, n0: int, n: int) -> Any:
    """Log of c0^k0* c1^k1* / c^k* for statistics on their way to those of ``kind``, at distance n^(-1/2)."""
    sizes = [mp.mpf(n0), mp.mpf(n - n0)]
    off = 1 / mp.sqrt(n)
    means = [mp.mpf(kind.means[0]) + off, mp.mpf(kind.means[1]) - off / 2]
    variances = [mp.mpf(kind.variances[0]) * (1 - off), mp.mpf(kind.variances[1]) * (1 + off)]
    mean = (sizes[0] * means[0] + sizes[1] * means[1]) / n
    within = sum((m - 1) * v for m, v in zip(sizes, variances, strict=True))
    between = sizes[0] * sizes[1] / n * (means[0] - means[1]) ** 2
    groups = [
        (feature.first, sizes[0], means[0], variances[0], 1),
        (feature.second, sizes[1], means[1], variances[1], 1),
        (feature.pooled, mp.mpf(n), mean, (within + between) / (n - 1), -1),
    ]
    return mp.fsum(sign * (h.kappa + m) * mp.log(c_of(h, m, x, v)) for h, m, x, v, sign in groups)


MARKERS = (
    FeatureKind("mean", means=(0.0, 0.4)),
    FeatureKind("variance", variances=(1.0, 1.5)),
    FeatureKind("both", means=(1.0, 0.8), variances=(2.0, 1.4)),
)


@pytest.mark.parametrize("feature", [JP, PP, ODD], ids=["JP", "PP", "unlike"])
@pytest.mark.parametrize("kind", MARKERS, ids=lambda kind: kind.name)
def test_lemma_s2_the_ratio_falls_exponentially(kind, feature):
    with mp.workdps(DIGITS):
        limit = limit_of(kind, mp.mpf("0.3"))
        base = (1 + limit) / 2  # 1 - epsilon
        logs = {n: log_ratio(feature, kind, 3 * n // 10, n) for n in (10**k for k in range(5, 13))}
        assert base < 1
        assert all(value < n * mp.log(base) for n, value in logs.items())
        assert float(logs[10**12] / 10**12 / mp.log(limit)) == pytest.approx(1.0, abs=1e-4)
        assert -float(mp.log(limit)) / 2 == pytest.approx(kind.limit_rate(0.3), rel=1e-12)


@pytest.mark.parametrize("kind", MARKERS, ids=lambda kind: kind.name)
def test_lemma_s2_while_the_share_of_the_classes_oscillates(kind):
    with mp.workdps(DIGITS):
        worst = max(limit_of(kind, mp.mpf(r) / 100) for r in range(20, 71))
        base = (1 + worst) / 2
        for k in range(16, 40):
            n = 2**k
            n0 = int(n * (0.45 + 0.25 * (-1) ** k))
            assert log_ratio(PP, kind, n0, n) < n * mp.log(base)


def test_lemma_s2_with_the_printed_limit_of_the_means_would_fail():
    """Both means at one value mu^g, as printed, and equal variances: no exponential fall."""
    same = FeatureKind("non-marker", means=(0.4, 0.4))
    with mp.workdps(DIGITS):
        assert limit_of(same, mp.mpf("0.3")) == pytest.approx(1.0, abs=1e-40)
        base = mp.mpf("0.9999")
        assert all(log_ratio(JP, same, 3 * n // 10, n) > n * mp.log(base) for n in (10**9, 10**12))


@given(
    st.floats(-5.0, 5.0),
    st.floats(-5.0, 5.0),
    st.floats(0.01, 100.0),
    st.floats(0.01, 100.0),
    st.floats(0.01, 0.99),
)
@example(0.0, 1e-6, 1.0, 1.0, 0.5)
@example(0.0, 0.0, 1.0, 1.0 + 1e-6, 0.01)
@example(0.0, 0.0, 1.0, 1.0, 0.3)
def test_lemma_s2_limit_is_below_one_for_markers_only(m0, m1, s0, s1, rho):
    assume((m0 == m1 or abs(m0 - m1) > 1e-9) and (s0 == s1 or abs(s0 / s1 - 1) > 1e-9))
    kind = FeatureKind("any", (m0, m1), (s0, s1))
    with mp.workdps(DIGITS):
        limit = limit_of(kind, mp.mpf(rho))
        if kind.is_marker:
            assert limit < 1
        else:
            assert abs(limit - 1) < mp.mpf(10) ** (5 - DIGITS)
        rate = float(-mp.log(limit) / 2)
    size = abs(s1 - s0) / s0 + (m1 - m0) ** 2 / s0
    assert kind.limit_rate(rho) == pytest.approx(rate, rel=1e-9, abs=1e-15 * size + 1e-40)


def gap(t: Any, x: Any) -> Any:
    """Right minus left side of Lemma S3."""
    return 1 + t * (1 - t) * (x - 1) ** 2 - t * x ** (1 - t) - (1 - t) * x ** (-t)


def test_lemma_s3_on_a_fine_grid_and_its_largest_radius():
    """The inequality holds for x >= 0.588, the root of log x - 1 + 1/x = (x - 1)^2, where t -> 1; never below."""
    root = float(mp.findroot(lambda x: mp.log(x) - 1 + 1 / x - (x - 1) ** 2, (0.5, 0.7), solver="anderson"))
    assert root == pytest.approx(0.588, abs=5e-4)
    t = np.concatenate([np.linspace(0.0, 1.0, 402)[1:-1], 10.0 ** -np.arange(3, 7), 1 - 10.0 ** -np.arange(3, 7)])
    x = np.concatenate([np.linspace(root, 1.0, 300), np.geomspace(1.0, 1e3, 300)])
    assert (gap(t[:, None], x) >= -1e-15 * x).all()
    with mp.workdps(DIGITS):
        assert gap(1 - mp.mpf(10) ** -9, mp.mpf(root) - mp.mpf("1e-4")) < 0
        assert gap(mp.mpf("0.5"), mp.mpf(root)) > 0


def test_lemma_s3_radius_of_the_argument_by_curvature():
    """The proof needs g'' > 0, true for x > 0.8351 (2 x^3 + x - 2 = 0, where t = 1): r = 0.1649."""
    root = float(mp.findroot(lambda x: 2 * x**3 + x - 2, 0.8))
    assert 1.0 - root == pytest.approx(0.1649, abs=5e-5)
    t, x = np.linspace(0.0, 1.0, 401), np.linspace(root, 3.0, 1001)[:, None]
    assert (2 + x ** -(t + 2) * (t * (x - 1) - 1) >= -1e-12).all()
    assert 2 + (root - 1e-3) ** -3 * (root - 1e-3 - 2) < 0


@pytest.mark.parametrize("t", [0.01, 0.3, 0.5, 0.99])
def test_lemma_s3_printed_sign_is_a_slip(t):
    """With t(1-t) the function has a minimum 0 at x = 1; with the printed t(t-1) it has a maximum there."""

    def printed(x: Any) -> Any:
        return 1 + t * (t - 1) * (x - 1) ** 2 - t * x ** (1 - t) - (1 - t) * x ** (-t)

    with mp.workdps(DIGITS):
        t = mp.mpf(t)
        assert float(mp.diff(lambda x: gap(t, x), 1, 2) / (t * (1 - t))) == pytest.approx(1.0, rel=1e-10)
        assert float(mp.diff(printed, 1, 2) / (t * (1 - t))) == pytest.approx(-3.0, rel=1e-10)
        for x in (mp.mpf("0.9"), mp.mpf("1.1")):
            slope = t * (1 - t) * (2 * (x - 1) - x**-t * (1 - 1 / x))
            assert float(mp.diff(lambda x: gap(t, x), x) / slope) == pytest.approx(1.0, rel=1e-10)
            assert gap(t, x) > 0 > printed(x)


@given(
    st.lists(st.fractions(-9, 9, max_denominator=50), min_size=2, max_size=6),
    st.lists(st.fractions(-9, 9, max_denominator=50), min_size=2, max_size=6),
)
def test_identity_of_the_pooled_variance_in_exact_fractions(x0, x1):
    def mean_and_unbiased(x: list[Fraction]) -> tuple[Fraction, Fraction]:
        mean = sum(x, Fraction(0)) / len(x)
        return mean, sum(((v - mean) ** 2 for v in x), Fraction(0)) / (len(x) - 1)

    (m0, v0), (m1, v1), (_, pooled) = (mean_and_unbiased(x) for x in (x0, x1, x0 + x1))
    n = len(x0) + len(x1)
    rho = Fraction(len(x0), n)
    upper = rho * v0 + (1 - rho) * v1 + rho * (1 - rho) * Fraction(n, n - 1) * (m0 - m1) ** 2
    assert pooled == upper - (1 - rho) / (n - 1) * v0 - rho / (n - 1) * v1
    assert pooled <= upper


def test_bound_on_the_shares_is_two_and_reached_at_one_half():
    rho = np.linspace(0.0, 1.0, 10_001)[1:-1]
    bound = rho * (1 - rho) * (rho**-0.5 + (1 - rho) ** -0.5) ** 2
    np.testing.assert_allclose(bound, (np.sqrt(rho) + np.sqrt(1 - rho)) ** 2, rtol=1e-13)
    assert bound.max() == pytest.approx(2.0, rel=1e-15)
    assert rho[bound.argmax()] == 0.5


def test_c_over_the_variance_is_one_under_jeffreys_prior_and_more_under_a_proper_one(rng):
    """The strict "1 <" in the proof of Theorem 3 is "1 <=" in truth."""
    moments = bs.Moments.from_matrix(rng.normal(size=(12, 3)), [0] * 12)
    for model, strict in ((bs.GaussianModel.jeffreys(), False), (bs.GaussianModel.proper(), True)):
        ratio = model.pooled_prior.updated_values(moments)[1] / 11 / moments.variance[0]
        assert (ratio > 1.0 + 1e-9).all() if strict else np.allclose(ratio, 1.0, rtol=1e-15)
