"""Null distribution of lambda, and the false positives expected under the global null."""

from __future__ import annotations

import itertools

import jeffreys
import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

import bayesieve as bs
from bayesieve.models import jeffreys_constant
from bayesieve.posterior import null_mean, tabulated_log_null_probability
from bayesieve.posterior.null.distribution import log_null_moment, log_null_probability, null_quantile

SIZES = [
    (2, 2),
    (2, 3),
    (2, 30),
    (3, 10_000),
    (4, 5),
    (25, 26),
    (28, 210),
    (100, 100),
    (2, 100_000),
    (50_000, 50_000),
]

# -log lambda and log p, by log_p_by_quadrature at 34 digits (50 digits for the smallest)
BY_QUADRATURE = [
    (2, 2, 1e-12, -3.53553390593281012e-13),
    (2, 2, 5.0, -1.92539572895765909),
    (2, 2, 5000.0, -2493.31945285639085),
    (2, 2, 100_000.0, -49990.3248900145048),
    (2, 30, 1e-6, -5.19231321617320668e-7),
    (2, 30, 1.0, -0.514629036427514798),
    (2, 30, 40.0, -20.0305154073524593),
    (3, 3, 2500.0, -1660.91897164831101),
    (3, 10_000, 1e-12, -6.85005137850746861e-13),
    (3, 10_000, 5.0, -3.37369090951476862),
    (3, 10_000, 400.0, -266.711895359216945),
    (4, 5, 0.3, -0.208362956310288525),
    (25, 26, 0.01, -0.00946166016733288394),
    (25, 26, 400.0, -382.221405019110617),
    (28, 210, 1e-12, -9.66660047053879904e-13),
    (28, 210, 2500.0, -2410.76754692550698),
    (1000, 1000, 1.0, -0.998625105585078198),
    (1000, 1000, 2500.0, -2496.77593153868153),
    (50_000, 50_000, 1e-6, -9.99972500028125836e-7),
    (50_000, 50_000, 1.0, -0.99997250004218843),
    (50_000, 50_000, 40.0, -39.9989000236261092),
    (2, 100_000, 1.0, -0.515448944781149093),
    (2, 100_000, 40.0, -20.032644171900661),
    (300, 99_700, 5.0, -4.98470661531007363),
    (300, 99_700, 1e-12, -9.96943528757028616e-13),
]


def log_p_by_quadrature(n0, n1, x, digits=30, pieces=4):
    """Log P(Lambda <= exp(-x)) as an integral over V of the distribution of T given V, in mpmath.

    No moments and no path in the complex plane: beta distributions only. The range splits where T would exceed 1.
    """
    with mp.workdps(digits):
        n0, n1, x, half = mp.mpf(n0), mp.mpf(n1), mp.mpf(x), mp.mpf(1) / 2
        n, a0, a1 = n0 + n1, (n0 - 1) / 2, (n1 - 1) / 2
        centre, log_beta = mp.log(n0 / n1), mp.log(mp.beta(a0, a1))
        a, log_beta_t = (n - 2) / 2, mp.log(mp.beta((n - 2) / 2, half))

        def softplus(u):
            return mp.log1p(mp.exp(u)) if u < 0 else u + mp.log1p(mp.exp(-u))

        def minus_log_t(d):  # at logit(v) = centre + d
            u = centre + d
            drop = n0 * (softplus(-u) - softplus(-centre)) + n1 * (softplus(u) - softplus(centre))
            return (2 * x - drop) / n

        def edge(side):
            low, high = mp.mpf(0), mp.sqrt(x / n) + x / n
            while minus_log_t(side * high) > 0:
                high *= 2
            for _ in range(4 * digits):
                middle = (low + high) / 2
                low, high = (middle, high) if minus_log_t(side * middle) > 0 else (low, middle)
            return side * low

        def log_distribution_of_t(log_t):
            rest = -mp.expm1(log_t)
            above = (
                2 * mp.sqrt(rest) * mp.exp(-log_beta_t) * mp.hyp2f1(half, 1 - a, 3 * half, rest)
                if rest < 0.3
                else 1
            )
            if above < 0.999999:
                return mp.log1p(-above)
            series = mp.hyp2f1(a + half, 1, a + 1, mp.exp(log_t))
            return a * log_t + mp.log(rest) / 2 - mp.log(a) - log_beta_t + mp.log(series)

        def log_integrand(d):
            u = centre + d
            return (
                log_distribution_of_t(min(-minus_log_t(d), -mp.eps))
                - a0 * softplus(-u)
                - a1 * softplus(u)
                - log_beta
            )

        def log_outside(a, b, u):  # V below sigmoid(u)
            series = mp.hyp2f1(a + b, 1, a + 1, 1 / (1 + mp.exp(-u)))
            return -a * softplus(-u) - b * softplus(u) - mp.log(a) - log_beta + mp.log(series)

        left, right = edge(-1), edge(1)
        top = max(log_integrand(left + (right - left) * i / 9) for i in range(1, 9))
        points = [left * i / pieces for i in range(pieces, 0, -1)] + [
            right * i / pieces for i in range(pieces + 1)
        ]
        inside = mp.quad(lambda d: mp.exp(log_integrand(d) - top), points)
        outside = [log_outside(a0, a1, centre + left), log_outside(a1, a0, -centre - right)]
        return top + mp.log(inside + sum(mp.exp(each - top) for each in outside))


@pytest.mark.parametrize(
    "case", [(4, 5, 3.8466393963), (28, 210, 12.0), (2, 30, 40.0), (25, 25, 30.0), (100, 100, 3.0)]
)
def test_log_p_by_mpmath_quadrature_on_the_spot(case):
    n0, n1, x = case
    expected = float(log_p_by_quadrature(*case, digits=20, pieces=2))
    assert float(log_null_probability(-x, n0, n1)) == pytest.approx(expected, rel=1e-13)


def test_reference_p_value_by_two_million_dirichlet_draws(rng):
    """Shares of sums of squares within and between classes of 4 and 5; another such run gave 0.06780."""
    within0, within1, between = rng.standard_gamma([[1.5], [2.0], [0.5]], size=(3, 2_000_000))
    total = within0 + within1 + between
    log_lambda = 2.0 * np.log(within0 / total / 4.0) + 2.5 * np.log(within1 / total / 5.0) + 4.5 * np.log(9.0)
    share, expected = np.mean(log_lambda <= -3.8466393963), 0.0676054451
    error = np.sqrt(expected * (1.0 - expected) / 2_000_000)
    assert share == pytest.approx(expected, abs=4 * error)
    assert expected == pytest.approx(0.06780, abs=4 * error)


@pytest.mark.parametrize("distribution", [log_null_probability, tabulated_log_null_probability])
def test_log_p_by_mpmath_quadrature_for_all_sizes_and_depths(distribution):
    n0, n1, x, expected = np.array(BY_QUADRATURE).T
    np.testing.assert_allclose(distribution(-x, n0, n1), expected, rtol=1e-13, atol=0)
    copies = np.tile(np.arange(x.size), 150)  # so many that each pair of sizes is worth a table
    np.testing.assert_allclose(
        distribution(-x[copies], n1[copies], n0[copies]), expected[copies], rtol=2e-13, atol=0
    )


@pytest.mark.parametrize(("n0", "n1"), [(4, 5), (6, 15), (40, 11)])
def test_log_p_by_scipy_quadrature_over_the_two_beta_distributions(n0, n1):
    n, a0, a1 = n0 + n1, (n0 - 1) / 2, (n1 - 1) / 2
    log_c = 0.5 * (n * np.log(n) - n0 * np.log(n0) - n1 * np.log(n1))
    for log_lambda in (-0.2, -2.0, -9.0):

        def log_t(v, log_lambda=log_lambda):
            return (2 * (log_lambda - log_c) - n0 * np.log(v) - n1 * np.log1p(-v)) / n

        def given_v(v, log_t=log_t):
            below = special.betainc((n - 2) / 2, 0.5, min(1.0, np.exp(log_t(v))))
            return v ** (a0 - 1) * (1 - v) ** (a1 - 1) * below

        ends = [optimize.brentq(log_t, *bracket, xtol=1e-15) for bracket in ((1e-9, n0 / n), (n0 / n, 1 - 1e-9))]
        pieces = itertools.pairwise([0.0, ends[0], n0 / n, ends[1], 1.0])
        total = sum(integrate.quad(given_v, *piece, epsabs=0, epsrel=1e-11)[0] for piece in pieces)
        expected = np.log(total / special.beta(a0, a1))
        assert float(log_null_probability(log_lambda, n0, n1)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("n0", "n1", "log_lambda", "expected"),
    [
        (4, 5, -3.8466393963, -2.694066750),
        (28, 210, -12.0, -11.594348725),
        (25, 25, -30.0, -28.405368436),
        (100, 100, -3.0, -2.958803166),
    ],
)
def test_values_checked_by_thirty_digit_quadrature(n0, n1, log_lambda, expected):
    assert float(log_null_probability(log_lambda, n0, n1)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("n0", "n1", "log_lambda", "expected"), [(500, 500, -500, -498.661166), (25, 25, -200, -190.499155)]
)
def test_far_tails(n0, n1, log_lambda, expected):
    assert float(log_null_probability(log_lambda, n0, n1)) == pytest.approx(expected, abs=1e-6)
    assert float(log_null_probability(10 * log_lambda, n0, n1)) < 9 * expected


@pytest.mark.parametrize(("n0", "n1", "slope"), [(28, 210, 0.96429), (4, 5, 0.75)])
def test_slope_of_the_far_tail(n0, n1, slope):
    """The first pole of the moments, 1 - 1/min(n0, n1), whatever the route to a single value."""
    values = log_null_probability([-10_000.0, -11_000.0], n0, n1)
    assert (values[0] - values[1]) / 1000 == pytest.approx(slope, abs=5e-6)


@pytest.mark.parametrize("distribution", [log_null_probability, tabulated_log_null_probability])
@pytest.mark.parametrize(("n0", "n1"), SIZES)
def test_monotone_symmetric_and_steady_over_three_hundred_orders(distribution, n0, n1):
    x = np.unique(
        np.concatenate([np.geomspace(1e-299, 1e299, 200), np.linspace(0.9, 1.1, 50), np.geomspace(0.1, 6000, 300)])
    )
    values = distribution(-x, n0, n1)
    assert (np.diff(values) < 0).all()
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(values, distribution(-x, n1, n0))
    ratio = -values / x
    assert ((ratio > 0.35) & (ratio < 1.0)).all()
    assert np.abs(np.diff(ratio)[np.diff(np.log(x)) < 0.05]).max() < 0.01


@pytest.mark.parametrize("distribution", [log_null_probability, tabulated_log_null_probability])
def test_ends_shapes_and_errors(distribution):
    np.testing.assert_array_equal(distribution([0.0, 1.0, -np.inf, np.nan], 4, 6), [0.0, 0.0, -np.inf, np.nan])
    assert distribution(-1.0, 4, 6).shape == ()
    assert distribution([], 4, 6).shape == (0,)
    extremes = distribution([-5e-324, -1e-290, -1e300], 4, 6)
    assert ((extremes < 0) & np.isfinite(extremes)).all()
    assert distribution(-np.ones((3, 1)), 4, [5, 6]).shape == (3, 2)
    with pytest.raises(bs.DataError, match="at least 2"):
        distribution(-1.0, 1, 5)
    with pytest.raises(bs.DataError, match="at least 2"):
        distribution(-np.ones(1000), 4, np.where(np.arange(1000) < 500, 1, 5))


def test_sizes_by_feature_give_what_each_gives_alone(rng):
    """Also across the boundaries of pieces, and for the table."""
    x = -rng.exponential(3.0, size=700)
    n0, n1 = rng.integers(2, 9, size=700), rng.integers(2, 500, size=700)
    alone = [float(log_null_probability(*each)) for each in zip(x, n0, n1, strict=True)]
    np.testing.assert_allclose(log_null_probability(x, n0, n1), alone, rtol=1e-14, atol=0)
    np.testing.assert_allclose(tabulated_log_null_probability(x, n0, n1), alone, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("n0", "n1"), SIZES)
def test_table_keeps_twelve_digits(n0, n1):
    x = -np.concatenate([np.geomspace(1e-14, 1, 100), np.linspace(1, 60, 100), np.geomspace(60, 5000, 100)])
    np.testing.assert_allclose(
        tabulated_log_null_probability(x, n0, n1), log_null_probability(x, n0, n1), rtol=5e-13, atol=0
    )


@pytest.mark.parametrize(("n0", "n1"), [(2, 5), (4, 5), (12, 30)])
def test_distribution_and_moments_by_drawing_from_the_dirichlet_distribution(rng, n0, n1):
    n, draws = n0 + n1, 400_000
    shares = rng.dirichlet([(n0 - 1) / 2, (n1 - 1) / 2, 0.5], size=draws)
    log_lambda = 0.5 * (n0 * np.log(shares[:, 0] * n / n0) + n1 * np.log(shares[:, 1] * n / n1))
    for cut in (-0.5, -2.0, -5.0):
        p, share = float(np.exp(log_null_probability(cut, n0, n1))), (log_lambda <= cut).mean()
        assert share == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / draws))
    for order in (0.5, 1.0, 3.0):
        drawn = np.exp(order * log_lambda)
        mean = float(np.exp(log_null_moment(order, n0, n1)))
        assert drawn.mean() == pytest.approx(mean, abs=4 * drawn.std() / np.sqrt(draws))
    assert log_lambda.mean() == pytest.approx(float(null_mean(n0, n1)), abs=4 * log_lambda.std() / np.sqrt(draws))
    quantile = float(null_quantile(np.log(0.1), n0, n1))
    assert (log_lambda <= quantile).mean() == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / draws))


def exact_log_moment(h, n0, n1):
    n, h = n0 + n1, mp.mpf(h)
    log_c = (n * mp.log(n) - n0 * mp.log(n0) - n1 * mp.log(n1)) / 2
    gammas = [(n0, 1), (n1, 1), (n, -1)]
    return h * log_c + sum(
        s * (mp.loggamma((k * (1 + h) - 1) / 2) - mp.loggamma(mp.mpf(k - 1) / 2)) for k, s in gammas
    )


@pytest.mark.parametrize(("n0", "n1"), SIZES)
def test_moments_by_mpmath_gamma_functions(n0, n1):
    with mp.workdps(50):
        for h in (-0.4, -0.01, 0.0, 0.3, 1.0, 20.0, 1e6):
            expected = exact_log_moment(h, n0, n1)
            assert float(log_null_moment(h, n0, n1)) == pytest.approx(float(expected), rel=1e-12, abs=5e-15)
        mean = mp.diff(lambda h: exact_log_moment(h, n0, n1), 0)
        assert float(null_mean(n0, n1)) == pytest.approx(float(mean), rel=1e-13)
    assert log_null_moment(1 / min(n0, n1) - 1, n0, n1) == np.inf


@pytest.mark.parametrize(
    ("n0", "n1", "b"),
    [(4, 5, 1.4313), (2, 2, 2.6137), (2, 30, 1.9656), (10, 10, 1.1572), (28, 210, 1.0346), (100, 100, 1.0139)],
)
def test_mean_is_that_of_the_distribution_by_quadrature(n0, n1, b):
    """The mean of x = -log lambda is the integral of P(X > x)."""
    assert float(-null_mean(n0, n1)) == pytest.approx(b, abs=5e-5)
    mean = integrate.quad(
        lambda x: float(np.exp(log_null_probability(-x, n0, n1))), 0, 120, epsrel=1e-10, limit=100
    )[0]
    assert mean == pytest.approx(float(-null_mean(n0, n1)), rel=1e-9)


def test_bartlett_and_chi2_are_as_near_as_the_specification_says():
    def at(p, n0, n1):
        x = null_quantile(np.log(p), n0, n1)
        return float(np.exp(x / -null_mean(n0, n1))), float(np.exp(x))

    assert at(0.00997, 4, 5)[0] == pytest.approx(0.0104, abs=5e-5)
    assert at(0.01, 4, 5)[1] == pytest.approx(0.0014, abs=6e-5)
    assert at(0.00095, 10, 10)[0] == pytest.approx(0.0010, abs=5e-5)
    for n0, n1 in ((28, 210), (100, 100)):
        for p in (0.1, 0.01, 0.001):
            assert at(p, n0, n1)[0] == pytest.approx(p, rel=0.01)
    assert at(0.01, 2, 2)[0] > 0.013  # poor for classes of two and three


@pytest.mark.parametrize(("n0", "n1"), SIZES)
def test_quantile_inverts_the_distribution(n0, n1):
    log_p = -np.concatenate([np.geomspace(1e-12, 1e5, 60), [0.0, np.inf, np.nan]])
    x = null_quantile(log_p, n0, n1)
    np.testing.assert_allclose(log_null_probability(x, n0, n1), log_p, rtol=1e-12, atol=0)
    with pytest.raises(bs.DataError, match="at most 0"):
        null_quantile(0.1, n0, n1)


@pytest.mark.parametrize(
    ("n", "needed", "rates"),
    [
        (50, (2.634, 1.943, 1.250, 5.162, 3.912), (5.6e-4, 1.1e-3, 2.1e-3, 5.1e-5, 1.7e-4)),
        (200, (4.028, 3.337, 2.644, 7.942, 5.298), (1.0e-4, 2.0e-4, 4.0e-4, 2.1e-6, 2.9e-5)),
        (1000, (5.639, 4.949, 4.255, 11.163, 6.908), (1.8e-5, 3.7e-5, 7.3e-5, 7e-8, 5e-6)),
    ],
)
def test_null_rates_of_the_named_prior_ratios(n, needed, rates):
    """Minus log lambda at a Bayes factor of 1, and the rate of MNC at prior probability 0.005 (table M3)."""
    names = ("paper", "half_sqrt2pi", "sqrt2pi", "n_decay", "bic")
    half = n // 2
    moments = bs.Moments((0, 1), np.array([half, half]), np.zeros((2, 1)), np.full((2, 1), half - 1.0))
    for name, x, rate in zip(names, needed, rates, strict=True):
        log_ratio = float(np.squeeze(bs.GaussianModel.jeffreys(name).log_prior_ratio(moments)))
        log_lambda = log_ratio + float(jeffreys_constant(half, half))
        assert -log_lambda == pytest.approx(x, abs=5e-4)
        log_p = log_null_probability(log_lambda + np.log(0.005 / 0.995), half, half)
        assert float(np.exp(log_p)) == pytest.approx(rate, rel=0.08)


def test_null_rate_of_the_fractional_bayes_factor():
    """Its constant at b = 4/n, balanced, is that of Jeffreys' prior with ratio (2 pi) ** -0.5 / 4 (M3, M4)."""
    for n, x, rate in ((50, 2.866, 2.9e-4), (200, 4.113, 8.4e-5), (1000, 5.664, 1.8e-5)):
        constant = float(jeffreys_constant(n // 2, n // 2)) + np.log(0.25 / np.sqrt(2 * np.pi))
        assert -constant / (1 - 4 / n) == pytest.approx(x, abs=5e-4)
        log_lambda = (constant + np.log(0.005 / 0.995)) / (1 - 4 / n)
        assert float(np.exp(log_null_probability(log_lambda, n // 2, n // 2))) == pytest.approx(rate, rel=0.03)


@pytest.mark.parametrize(("n0", "n1"), [(2, 2), (3, 8), (10, 12)])
def test_p_values_of_gaussian_data_are_uniform(rng, n0, n1):
    X = rng.normal(3.0, 2.0, size=(n0 + n1, 20_000))
    parts = [(X[:n0], n0), (X[n0:], n1)]
    log_lambda = sum(n / 2 * np.log(x.var(axis=0)) for x, n in parts) - (n0 + n1) / 2 * np.log(X.var(axis=0))
    p = np.exp(log_null_probability(log_lambda, n0, n1))
    assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(("n", "rate"), [(50, 5.6e-4), (200, 1.0e-4), (1000, 1.8e-5)])
def test_null_size_of_mnc_under_jeffreys(n, rate):
    """Share of Gaussian non-markers that pass at prior ratio 0.1, prior probability 0.005."""
    half = n // 2
    moments = bs.Moments((0, 1), np.array([half, half]), np.zeros((2, 1000)), np.full((2, 1000), half - 1.0))
    posterior = jeffreys.screen(moments, prior_probability=0.005)
    assert bs.expected_under_null(posterior, 0.0) / 1000 == pytest.approx(rate, rel=0.04)


@pytest.mark.parametrize(("n", "share"), [(2, 0.129), (5, 0.010)])
@pytest.mark.filterwarnings("ignore:Class 0 has only")
def test_tiny_classes_by_simulation(rng, n, share):
    X = rng.normal(size=(2 * n, 40_000))
    posterior = jeffreys.screen(X, np.repeat([0, 1], n), prior_probability=0.005)
    observed = (posterior.log_odds > 0).mean()
    predicted = bs.expected_under_null(posterior, 0.0) / 40_000
    assert predicted == pytest.approx(share, rel=0.05)
    assert observed == pytest.approx(predicted, abs=4 * np.sqrt(share / 40_000))


def test_drawing_agrees_with_quadrature_and_with_data(rng):
    """A nearly flat prior goes the drawing way; it must give what quadrature gives for the flat one."""
    X = rng.normal(2.0, 1.5, size=(16, 30_000))
    y = np.repeat([0, 1], 8)
    flat = jeffreys.screen(X, y)
    almost = bs.NormalInverseGamma(0.0, 0.0, 1e-12, 2.0)
    nearly = jeffreys.screen(X, y, model=bs.GaussianModel((almost,), almost, 0.1))
    by_quadrature, by_drawing = bs.expected_under_null(flat, 0.0), bs.expected_under_null(nearly, 0.0)
    assert by_drawing == pytest.approx(by_quadrature, rel=0.1)
    assert int((flat.log_odds > 0).sum()) == pytest.approx(by_quadrature, abs=4 * np.sqrt(by_quadrature))
    assert bs.expected_under_null(nearly, 0.0) == by_drawing  # seeded


def test_per_feature_priors_and_counts_by_simulation(rng):
    X = rng.normal(size=(30, 20_000))
    X[rng.random(X.shape) < 0.1] = np.nan
    prior = np.where(np.arange(20_000) % 2, 0.2, 0.02)
    posterior = jeffreys.screen(X, np.repeat([0, 1], 15), missing="omit", prior_probability=prior)
    expected = bs.expected_under_null(posterior, 0.0)
    assert int((posterior.log_odds > 0).sum()) == pytest.approx(expected, abs=4 * np.sqrt(expected))


def test_infinite_cuts():
    posterior = jeffreys.screen(np.random.default_rng(0).normal(size=(20, 7)), [0, 1] * 10)
    assert bs.expected_under_null(posterior, np.inf) == 0.0
    assert bs.expected_under_null(posterior, -np.inf) == 7.0
