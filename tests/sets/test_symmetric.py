"""Sums over all sets by tilted distributions, against 50-digit polynomials and sums without a subtraction."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import bayesieve as bs
from bayesieve.posterior import expit
from bayesieve.sets.symmetric import SymmetricSums, cover, tilt_to

P = 40
_DRAW = np.random.default_rng(1)
FACTORS = {
    "far apart": _DRAW.uniform(-700, 700, P),
    "equal": np.full(P, 1.3),
    "ties": np.repeat([-3.0, 0.0, 2.0, 9.0], 10),
    "two clusters": np.repeat([800.0, -800.0], 20),
    "two soft clusters": np.repeat([60.0, -60.0], 20) + _DRAW.normal(size=P),
    "spaced": np.linspace(-2000.0, 2000.0, P),
    "common": _DRAW.normal(-2.0, 2.0, P),
    "all large": _DRAW.uniform(500, 900, P),
    "one marker": np.r_[900.0, _DRAW.normal(-3.0, 1.0, P - 1)],
    "nearly equal": -1.0 + np.arange(P) * 1e-9,
}
PRIORS = {
    "uniform": bs.SizePrior.uniform(),
    "U-shaped": bs.SizePrior.beta_binomial(0.5, 0.5),
    "few": bs.SizePrior.beta_binomial(1, 1000),
    "binomial": bs.SizePrior.binomial(0.01),
    "none": bs.SizePrior.fixed(0),
    "one": bs.SizePrior.fixed(1),
    "half": bs.SizePrior.fixed(20),
    "all but one": bs.SizePrior.fixed(P - 1),
    "all": bs.SizePrior.fixed(P),
    "at most 5": bs.SizePrior.at_most(5),
    "two sizes": bs.SizePrior([0, 1] + [0] * 30 + [1e-30]),
    "steep": bs.SizePrior([10.0 ** (-7 * k) for k in range(P + 1)]),
    "three sizes": bs.SizePrior([1] + [0] * 19 + [1e-150] + [0] * 19 + [1e-300]),
}


def polynomials(x):
    """Return elementary symmetric polynomials as the coefficients of a product of (1 + x t), at 50 digits."""
    e = [mp.mpf(1)]
    for value in x:
        e = [(e[i] if i < len(e) else 0) + (value * e[i - 1] if i else 0) for i in range(len(e) + 1)]
    return e


def ratio(marker, none):
    """Log of a ratio that may be 0 or infinite."""
    if not (marker and none):
        return np.inf if marker else -np.inf
    return float(mp.log(marker / none))


@pytest.mark.parametrize("factors", FACTORS)
def test_hard_cases_by_fifty_digit_polynomials(factors):
    """Sizes and log-odds from the definition, every feature left out of a product of its own."""
    b = FACTORS[factors]
    with mp.workdps(50):
        x = [mp.exp(mp.mpf(float(value))) for value in b]
        every, others = polynomials(x), [polynomials(x[:f] + x[f + 1 :]) for f in range(P)]
        for prior in PRIORS.values():
            log_c = prior.log_per_set(P)
            c = [mp.exp(mp.mpf(float(value))) if np.isfinite(value) else mp.mpf(0) for value in log_c]
            markers = [value * mp.fdot(c[1:], rest) for value, rest in zip(x, others, strict=True)]
            nones = [mp.fdot(c[:-1], rest) for rest in others]
            log_odds = [ratio(*pair) for pair in zip(markers, nones, strict=True)]
            sums = SymmetricSums.of(b, log_c)
            np.testing.assert_allclose(b + sums.log_odds_before(), log_odds, rtol=2e-12, atol=2e-12)
            sizes = [float(a * e / mp.fdot(c, every)) for a, e in zip(c, every, strict=True)]
            np.testing.assert_allclose(np.exp(sums.log_size_probability), sizes, rtol=1e-11, atol=1e-18)


@pytest.mark.parametrize("b", [-800.0, 0.0, 3.0])
def test_one_feature_by_hand(b):
    sums = SymmetricSums.of(np.array([b]), np.log([0.75, 0.25]))
    assert sums.log_odds_before()[0] == pytest.approx(np.log(1 / 3), abs=1e-14)
    assert sums.log_size_probability[0] == pytest.approx(-np.logaddexp(0.0, b - np.log(3.0)), abs=1e-14)


def forward_backward(b, c):
    """Log-odds of all features by sums of positive terms only, in logarithms: O(n^2), nothing is taken out.

    ``after[j]`` is the weight of all ways to go on when ``j`` of the features up to here are markers.
    """
    n = b.size
    after = [c]
    for value in b[:0:-1]:
        after.append(np.logaddexp(after[-1][:-1], after[-1][1:] + value))
    before, log_odds = np.zeros(1), np.empty(n)
    for f in range(n):
        onward = after[n - 1 - f]
        marker = np.logaddexp.reduce(before + onward[1 : f + 2])
        log_odds[f] = b[f] + marker - np.logaddexp.reduce(before + onward[: f + 1])
        padded = np.concatenate([before, [-np.inf]])
        before = np.logaddexp(padded, np.concatenate([[-np.inf], before]) + b[f])
    return log_odds


@pytest.mark.parametrize("prior", ["uniform", "U-shaped", "half"])
@pytest.mark.parametrize("scale", [0.0, 3.0, 200.0])
def test_a_thousand_features_by_positive_sums(rng, prior, scale):
    b = rng.normal(-1.0, 1.0, 1000) * 0.3 + scale * rng.normal(size=1000)
    c = PRIORS[prior].log_per_set(1000)
    got = b + SymmetricSums.of(b, c).log_odds_before()
    np.testing.assert_allclose(got, forward_backward(b, c), rtol=1e-10, atol=1e-10)


def test_the_naive_way_to_leave_one_out_explodes_and_this_does_not(rng):
    """Take every coin out of the distribution from the left, as is right for odds below 1 only."""
    b = np.concatenate([rng.normal(-4.0, 1.0, 900), rng.normal(6.0, 2.0, 100)])
    prior = bs.SizePrior.binomial(0.3)
    sums = SymmetricSums.of(b, prior.log_per_set(1000))
    independent = expit(b + np.log(0.3 / 0.7))
    np.testing.assert_allclose(expit(b + sums.log_odds_before()), independent, rtol=1e-12)

    window = sums.windows[0]
    q = expit(b + window.tilt)
    strongest = int(q.argmax())
    rest = 0.0
    with np.errstate(all="ignore"):
        for mass in window.distribution.pmf:
            rest = (mass - q[strongest] * rest) / (1.0 - q[strongest])
    assert not abs(rest) <= 1.0  # a probability


def test_several_windows_agree_where_they_overlap(rng):
    """Polynomials of neighbouring tilts, each computed on its own, are the same numbers."""
    b = rng.normal(0.0, 0.01, 3000)
    windows, _, polynomial = cover(b, bs.SizePrior.uniform().log_per_set(3000), 0.0)
    assert len(windows) > 10
    assert not np.isnan(polynomial).any()
    for window in windows:
        np.testing.assert_allclose(
            window.log_polynomial(), polynomial[window.first : window.last + 1], rtol=0, atol=1e-10
        )
    served = np.concatenate([np.arange(w.first, w.last)[w.fresh] for w in windows])
    np.testing.assert_array_equal(np.sort(served), np.arange(3000))  # each number by one window


def test_what_is_left_out_is_negligible(rng):
    """Numbers that were not computed have a probability below 1e-18, as independent features have it."""
    b = rng.normal(-3.0, 3.0, 5000)
    sums = SymmetricSums.of(b, bs.SizePrior.binomial(0.2).log_per_set(5000))
    distribution = bs.PoissonBinomial.of(expit(b + np.log(0.25)), expit(-b - np.log(0.25)))
    skipped = np.isnan(sums.log_polynomial)
    assert 3000 < skipped.sum() < 5000
    assert distribution.pmf[skipped[distribution.support]].sum() < 1e-18


@pytest.mark.parametrize("mean", [0.5, 1.5, 20.5, 39.5])
@pytest.mark.parametrize("factors", FACTORS)
def test_tilts_reach_their_mean_whatever_the_start(factors, mean):
    for start in (-1e4, 0.0, 30.0):
        tilt = tilt_to(FACTORS[factors], mean, start)
        assert expit(FACTORS[factors] + tilt).sum() == pytest.approx(mean, abs=0.06)


def test_threads_do_not_change_a_bit(rng):
    b = rng.normal(-2.0, 3.0, 3001)
    sums = SymmetricSums.of(b, bs.SizePrior.uniform().log_per_set(3001))
    one = sums.log_odds_before(n_threads=1)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(sums.log_odds_before(n_threads=n_threads), one)


def test_number_of_markers_in_a_part_by_positive_sums(rng):
    """Against the double sum over both parts of fifty-digit polynomials."""
    b, mask = rng.normal(0.0, 3.0, 30), np.arange(30) < 12
    with mp.workdps(50):
        inside, outside = (polynomials([mp.exp(mp.mpf(float(v))) for v in part]) for part in (b[mask], b[~mask]))
        for prior in (bs.SizePrior.uniform(), bs.SizePrior.fixed(9), bs.SizePrior([1, 0, 0, 1] + [0] * 20 + [5])):
            c = [mp.exp(mp.mpf(float(v))) if np.isfinite(v) else mp.mpf(0) for v in prior.log_per_set(30)]
            distribution = [i * mp.fsum(o * c[t + m] for m, o in enumerate(outside)) for t, i in enumerate(inside)]
            expected = np.array([float(v / mp.fsum(distribution)) for v in distribution])
            got = SymmetricSums.of(b, prior.log_per_set(30)).number_in(mask)
            np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-18)
