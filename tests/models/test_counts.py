"""Models of counts: evidences against quadrature, predictive distributions, 50 digits of mpmath, and limits."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.errors import DataError, PriorError
from bayesieve.models import NegativeBinomialModel, PoissonModel
from bayesieve.models.counts.negative_binomial import estimate_size
from bayesieve.models.log_terms import log_gamma_rest
from bayesieve.stats import EventTotals

SMALL = np.array([3.0, 0.0, 4.0, 7.0, 11.0, 5.0, 9.0])
GROUPS = np.array(["a"] * 3 + ["b"] * 4)
EXPOSURES = np.array([1.0, 0.4, 1.7, 0.9, 1.1, 0.6, 2.0])


def log_bf(model, totals):
    """Evidence of both classes against that of the pool, constants fixed by all."""
    fitted = model.fitted(totals)
    parts = [fitted.log_evidence(totals.pick([label])) for label in totals.classes]
    result = sum(parts) - fitted.log_evidence(totals.pool())
    return result if fitted.prior_ratio is None else result + math.log(fitted.prior_ratio)


def totals_of(n, total, exposure=None):
    """Two classes of one feature from plain numbers."""
    exposure = n if exposure is None else exposure
    return EventTotals(("a", "b"), n, np.array(total, dtype=float)[:, None], exposure)


def poisson_by_mpmath(X, E, a, b):
    """Definition at 50 digits; a = b = 0 leaves the constant out."""
    X, E, a, b = (mp.mpf(float(v)) for v in (X, E, a, b))
    constant = a * mp.log(b) - mp.loggamma(a) if a and b else 0
    return constant + mp.loggamma(a + X) - (a + X) * mp.log(b + E)


def binomial_by_mpmath(n, X, r, a, b):
    n, X, r, a, b = (mp.mpf(float(v)) for v in (n, X, r, a, b))

    def log_beta(p, q):
        return mp.loggamma(p) + mp.loggamma(q) - mp.loggamma(p + q)

    return log_beta(a + n * r, b + X) - log_beta(a, b)


def difference(distribution, cells):
    """Log Bayes factor of two cells by a 50-digit distribution."""
    with mp.workdps(50):
        pooled = [mp.fsum(mp.mpf(float(v)) for v in pair) for pair in zip(*cells, strict=True)]
        return float(distribution(*cells[0]) + distribution(*cells[1]) - distribution(*pooled))


# Poisson ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.1), (3.0, 2.0)])
def test_poisson_evidence_is_prior_times_likelihood_integrated(a, b):
    """Quadrature of mpmath; the left-out factor is the product of e**x / x!."""
    group = EventTotals.from_matrix(SMALL[:, None], ["g"] * 7, exposures=EXPOSURES)
    with mp.workdps(30):

        def integrand(theta):
            prior = mp.mpf(b) ** a * theta ** (mp.mpf(a) - 1) * mp.exp(-b * theta) / mp.gamma(a)
            for x, e in zip(SMALL, EXPOSURES, strict=True):
                prior *= (e * theta) ** int(x) * mp.exp(-e * theta) / mp.factorial(int(x))
            return prior

        whole = mp.log(mp.quad(integrand, [0, 1, 3, 5, 8, 15, 40, mp.inf]))
        left_out = mp.fsum(int(x) * mp.log(e) - mp.loggamma(x + 1) for x, e in zip(SMALL, EXPOSURES, strict=True))
        expected = float(whole - left_out)
    assert PoissonModel(a, b).log_evidence(group)[0] == pytest.approx(expected, rel=1e-10)


def test_poisson_evidence_is_the_product_of_predictive_distributions():
    """Chain rule: given the samples before, a count is negative binomial (scipy.stats.nbinom)."""
    a, b, log_product = 0.7, 0.3, 0.0
    shape, rate = a, b
    for x, e in zip(SMALL, EXPOSURES, strict=True):
        log_product += stats.nbinom.logpmf(x, shape, rate / (rate + e)) - x * math.log(e) + math.lgamma(x + 1)
        shape, rate = shape + x, rate + e
    group = EventTotals.from_matrix(SMALL[:, None], ["g"] * 7, exposures=EXPOSURES)
    assert PoissonModel(a, b).log_evidence(group)[0] == pytest.approx(log_product, rel=1e-12)


POISSON_CELLS = [
    ((7, 3.0), (20, 4.0)),
    ((0, 3.0), (2, 4.0)),
    ((0, 1.5), (900, 2.5)),
    ((1_000_300, 100.0), (2_004_000, 200.0)),
    ((4e9 + 90_000, 1e5), (8e9, 2e5)),
    ((0.25, 3.0), (17.5, 4.0)),
    ((10**13, 50.0), (3 * 10**13, 150.0)),
]


GAMMA_PRIORS = [(0.5, None), (2.0, None), (0.5, 0.01), (4.0, 3.0), (0.0, 0.0), (0.5, 0.0), (0.0, 0.7)]


@pytest.mark.parametrize(
    ("cells", "prior"),
    [(c, p) for c in POISSON_CELLS for p in GAMMA_PRIORS if p[0] + min(c[0][0], c[1][0]) > 0],  # else undefined
)
def test_poisson_bayes_factor_to_fifty_digits(cells, prior):
    (x0, e0), (x1, e1) = cells
    a, b = prior
    improper = 0.0 in prior
    given = a / ((x0 + x1) / (e0 + e1)) if b is None else b
    expected = difference(lambda X, E: poisson_by_mpmath(X, E, a, given), cells)
    model = PoissonModel(a, b, prior_ratio=1.0 if improper else None)
    assert log_bf(model, totals_of([1, 1], [x0, x1], [e0, e1]))[0] == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_poisson_prior_ratio_enters_once():
    totals = totals_of([3, 4], [7, 20])
    one, tenth = (log_bf(PoissonModel(0.0, 0.0, prior_ratio=L), totals)[0] for L in (1.0, 0.1))
    assert tenth - one == pytest.approx(math.log(0.1), rel=1e-12)


def test_poisson_reference_changes_no_comparison():
    totals = EventTotals.from_matrix(SMALL[:, None], GROUPS, exposures=EXPOSURES)
    model = PoissonModel(0.5, 0.2)
    plain = [model.log_evidence(totals.pool(group))[0] for group in (["a"], ["b"], ["a", "b"])]
    assert log_bf(model, totals)[0] == pytest.approx(plain[0] + plain[1] - plain[2], rel=1e-12)


def test_poisson_units_of_exposure_do_not_matter(rng):
    X = rng.poisson(5.0, (7, 40))
    once, twice = (
        log_bf(PoissonModel(), EventTotals.from_matrix(X, GROUPS, exposures=c * EXPOSURES)) for c in (1, 2)
    )
    np.testing.assert_allclose(once, twice, rtol=1e-12, atol=1e-13)


def test_exposures_matter_only_through_their_sums():
    """Counts in proportion to the exposures look alike; without exposures they look different."""
    X = np.array([[20], [24], [210], [190]])
    y = ["a", "a", "b", "b"]
    assert log_bf(PoissonModel(), EventTotals.from_matrix(X, y))[0] > 50
    assert log_bf(PoissonModel(), EventTotals.from_matrix(X, y, exposures=[1, 1.2, 10, 10]))[0] < 0


@pytest.mark.parametrize("model", [PoissonModel(), NegativeBinomialModel(size=2.0), NegativeBinomialModel()])
def test_a_feature_without_events_says_nothing(model):
    totals = EventTotals.from_matrix([[0, 1], [0, 0], [0, 2], [0, 4]], ["a", "a", "b", "b"], spread=True)
    result = log_bf(model, totals)
    assert result[0] == 0.0
    assert np.isfinite(result[1])


def test_poisson_limit_of_a_vanishing_rate_of_the_prior():
    """For b -> 0 the evidence less the constant tends to that of the improper prior."""
    group = totals_of([3, 4], [7, 20]).pool()
    a = 0.5
    improper = PoissonModel(a, 0.0, prior_ratio=1.0).log_evidence(group)[0]
    proper = PoissonModel(a, 1e-12).log_evidence(group)[0]
    assert proper - (a * math.log(1e-12) - math.lgamma(a)) == pytest.approx(improper, rel=1e-10)


def test_poisson_improper_evidence_without_events_is_undefined():
    totals = totals_of([3, 4], [0, 20])
    model = PoissonModel(0.0, 0.0, prior_ratio=0.1).fitted(totals)
    assert np.isnan(model.log_evidence(totals.pick(["a"])))[0]
    assert np.isfinite(model.log_evidence(totals.pool()))[0]


# Negative binomial --------------------------------------------------------------------------------


@pytest.mark.parametrize(("r", "a", "b"), [(0.7, 0.5, 0.5), (4.0, 2.0, 3.5)])
def test_negative_binomial_evidence_is_prior_times_likelihood_integrated(r, a, b):
    """Quadrature of mpmath; the left-out factor is the product of the binomial coefficients."""
    group = EventTotals.from_matrix(SMALL[:, None], ["g"] * 7)
    with mp.workdps(30):

        def integrand(p):
            value = p ** (mp.mpf(a) - 1) * (1 - p) ** (mp.mpf(b) - 1) / mp.beta(a, b)
            for x in SMALL:
                value *= mp.binomial(x + r - 1, int(x)) * p**r * (1 - p) ** int(x)
            return value

        left_out = mp.fsum(mp.log(mp.binomial(x + r - 1, int(x))) for x in SMALL)
        expected = float(mp.log(mp.quad(integrand, [0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1])) - left_out)
    model = NegativeBinomialModel(r, (a, b))
    assert model.log_evidence(group)[0] == pytest.approx(expected, rel=1e-10)


def test_negative_binomial_evidence_is_the_product_of_predictive_distributions():
    """Chain rule: given the samples before, a count is beta-negative-binomial (binomial coefficients left out)."""
    r, a, b = 3, 0.8, 1.3
    log_product, p, q = 0.0, a, b
    for x in SMALL:
        log_product += betaln(p + r, q + x) - betaln(p, q)
        p, q = p + r, q + x
    group = EventTotals.from_matrix(SMALL[:, None], ["g"] * 7)
    assert NegativeBinomialModel(r, (a, b)).log_evidence(group)[0] == pytest.approx(log_product, rel=1e-11)


BINOMIAL_CELLS = [
    ((3, 7), (4, 20)),
    ((3, 0), (4, 2)),
    ((100_000, 1_000_300), (100_000, 1_004_000)),
    ((100_000, 3e9), (50_000, 1.5e9 + 70_000)),
    ((5, 1e12), (7, 1.6e12)),
    ((100_000, 12), (100_000, 31)),
]


@pytest.mark.parametrize("cells", BINOMIAL_CELLS)
@pytest.mark.parametrize("r", [1e-3, 0.8, 50.0, 1e6])
@pytest.mark.parametrize("prior", [None, (0.5, 0.5), (3.0, 1.0)])
def test_negative_binomial_bayes_factor_to_fifty_digits(cells, r, prior):
    """Includes r = 1e6 with n = 1e5, where differences of log gamma functions would leave three digits."""
    (n0, x0), (n1, x1) = cells
    odds = r * (n0 + n1) / (x0 + x1)
    a, b = (0.5 * max(1.0, odds), 0.5 * max(1.0, 1.0 / odds)) if prior is None else prior
    expected = difference(lambda n, X: binomial_by_mpmath(n, X, r, a, b), cells)
    found = log_bf(NegativeBinomialModel(r, prior), totals_of([n0, n1], [x0, x1]))[0]
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(("n", "total", "r"), [(7, 39, 2.5), (10**5, 10**7, 1e6), (10**5, 0, 1e6), (0, 0, 3.0)])
def test_negative_binomial_evidence_to_fifty_digits(n, total, r):
    with mp.workdps(50):
        expected = float(binomial_by_mpmath(n, total, r, 0.5, 1.5))
    group = EventTotals(("g",), [n], [[total]], [n])
    found = NegativeBinomialModel(r, (0.5, 1.5)).log_evidence(group)[0]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_negative_binomial_of_infinite_size_is_poisson(rng):
    """The default priors agree in the limit, so the Bayes factors do."""
    totals = EventTotals.from_matrix(rng.poisson(rng.uniform(0.2, 20.0, 60), (7, 60)), GROUPS)
    np.testing.assert_allclose(
        log_bf(NegativeBinomialModel(size=1e10), totals), log_bf(PoissonModel(), totals), rtol=1e-7, atol=1e-7
    )


def test_extra_variation_is_not_mistaken_for_a_difference(rng):
    X = rng.negative_binomial(1.0, 1.0 / 101.0, (40, 300))
    totals = EventTotals.from_matrix(X, np.arange(40) % 2, spread=True)
    assert (log_bf(PoissonModel(), totals) > 0).mean() > 0.7
    assert (log_bf(NegativeBinomialModel(), totals) > 0).mean() < 0.1


def test_estimated_size_is_the_ratio_of_weighted_moments(rng):
    X = rng.negative_binomial(2.0, 0.1, (30, 5)).astype(float)
    y = np.arange(30) % 3
    X[0, 0] = np.nan
    found = estimate_size(EventTotals.from_matrix(X, y, missing="omit", spread=True))
    for j in range(5):
        top = bottom = 0.0
        for k in range(3):
            x = X[y == k, j][~np.isnan(X[y == k, j])]
            top += (x.size - 1) * x.mean() ** 2
            bottom += (x.size - 1) * (x.var(ddof=1) - x.mean())
        assert found[j] == pytest.approx(np.clip(top / bottom, 1e-3, 1e6) if bottom > 0 else 1e6, rel=1e-10)


def test_estimated_size_finds_the_truth_though_the_means_differ():
    """Monte Carlo: size 3, means 5 and 50, 40,000 values per class."""
    rng, r = np.random.default_rng(5), 3.0
    X = np.concatenate([rng.negative_binomial(r, r / (r + m), (40_000, 2)) for m in (5.0, 50.0)])
    totals = EventTotals.from_matrix(X, np.repeat([0, 1], 40_000), spread=True)
    np.testing.assert_allclose(estimate_size(totals), 3.0, rtol=0.03)


def test_estimated_size_stays_within_its_bounds():
    X = np.array([[3, 0, 0], [3, 0, 0], [3, 0, 10**7], [3, 0, 0]])
    totals = EventTotals.from_matrix(X, ["a", "a", "a", "b"], spread=True)
    assert estimate_size(totals)[:2].tolist() == [1e6, 1e6]
    single = EventTotals.from_matrix([[3], [9]], ["a", "b"], spread=True)
    assert estimate_size(single).tolist() == [1e6]
    rare = np.zeros((4000, 1))
    rare[0] = 1e9
    assert estimate_size(EventTotals.from_matrix(rare, [0] * 4000, spread=True)).tolist() == [1e-3]


# Both ---------------------------------------------------------------------------------------------

MODELS = {
    "poisson": PoissonModel(),
    "poisson fixed": PoissonModel(2.0, 0.3),
    "poisson improper": PoissonModel(0.5, 0.0, prior_ratio=0.2),
    "negative binomial": NegativeBinomialModel(trend=(0.4, 0.2, 0.5)),
    "negative binomial fixed": NegativeBinomialModel(1.7, (0.5, 2.0)),
}
both = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@both
def test_parts_merge_and_labels_swap(model, rng):
    X, y = rng.negative_binomial(2, 0.2, (30, 25)), np.arange(30) % 2
    whole = model.summarise(model.matrix(X, y))
    expected = log_bf(model, whole)
    parts = [model.summarise(model.matrix(X[i], y[i])) for i in (slice(11), slice(11, None))]
    np.testing.assert_allclose(log_bf(model, parts[1].merge(parts[0])), expected, rtol=1e-10)
    np.testing.assert_allclose(log_bf(model, whole.pick([1, 0])), expected, rtol=1e-12)
    np.testing.assert_allclose(log_bf(model, whole.take([3, 1])), expected[[3, 1]], rtol=1e-14)
    one = model.statistic(X[:11].astype(float))
    merged = model.merge(one, model.statistic(X[11:].astype(float)))
    np.testing.assert_array_equal(merged.total[0], X.sum(axis=0))
    empty = model.merge(one, model.statistic(np.empty((0, 25))))
    np.testing.assert_array_equal(empty.total, one.total)
    assert empty.counts[0, 0] == 11


@both
def test_missing_values_are_as_if_never_measured(model, rng):
    X, y = rng.negative_binomial(2, 0.2, (30, 4)).astype(float), np.arange(30) % 2
    X[rng.random(X.shape) < 0.3] = np.nan
    found = log_bf(model, model.summarise(model.matrix(X, y), missing="omit"))
    for j in range(4):
        there = ~np.isnan(X[:, j])
        alone = log_bf(model, model.summarise(model.matrix(X[there, j : j + 1], y[there])))
        assert found[j] == pytest.approx(alone[0], rel=1e-10, abs=1e-12)


@both
def test_one_value_per_feature_is_as_many_screens(model, rng):
    totals = EventTotals.from_matrix(rng.poisson(5.0, (20, 3)), np.arange(20) % 2, spread=True)
    found = log_bf(model, totals)
    per_feature = model.fitted(totals)
    for j in range(3):
        alone = totals.take([j])
        assert log_bf(model, alone)[0] == pytest.approx(found[j], rel=1e-12)
    np.testing.assert_allclose(log_bf(per_feature, totals), found, rtol=1e-12)


def test_null_draws_have_the_pooled_distribution():
    """Monte Carlo: mean and variance of 40,000 drawn totals; exposures 2 and 6, 2 and 4 values."""
    n = 40_000
    totals = EventTotals(("a", "b"), [2, 4], np.repeat([[30.0], [10.0]], n, axis=1), [2.0, 6.0])
    rng = np.random.default_rng(3)
    poisson = PoissonModel().draw_null(totals, rng)
    np.testing.assert_allclose(poisson.total.mean(axis=1), [10.0, 30.0], rtol=0.01)
    np.testing.assert_allclose(poisson.total.var(axis=1), [10.0, 30.0], rtol=0.03)
    equal = replace(totals, total=np.repeat([[30.0], [12.0]], n, axis=1), exposure=[2.0, 4.0])
    binomial = NegativeBinomialModel(size=1.5).draw_null(equal, rng)
    mean, size = 7.0 * np.array([2, 4]), 1.5 * np.array([2, 4])
    np.testing.assert_allclose(binomial.total.mean(axis=1), mean, rtol=0.02)
    np.testing.assert_allclose(binomial.total.var(axis=1), mean + mean**2 / size, rtol=0.05)
    assert (binomial.exposure == equal.exposure).all()


def test_null_draws_can_be_screened_again(rng):
    totals = EventTotals.from_matrix(rng.poisson(2.0, (10, 30)), np.arange(10) % 2, spread=True)
    for model in (PoissonModel(), NegativeBinomialModel()):
        assert np.isfinite(log_bf(model, model.draw_null(totals, rng))).all()


@pytest.mark.parametrize("x", [1e-8, 0.3, 1.0, 9.999, 10.0, 10.5, 37.0, 1e5, 1e12])
def test_rest_of_log_gamma_to_fifty_digits(x):
    with mp.workdps(50):
        expected = float(mp.loggamma(mp.mpf(x)) - mp.mpf(x) * mp.log(mp.mpf(x)) + mp.mpf(x))
    assert float(log_gamma_rest(x)) == pytest.approx(expected, rel=1e-13, abs=1e-14)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: PoissonModel(-1.0), "shape must be at least 0"),
        (lambda: PoissonModel([0.5, np.nan]), "1 of 2 value"),
        (lambda: PoissonModel("x"), "shape must be a number or one"),
        (lambda: PoissonModel(0.0), "needs a shape above 0"),
        (lambda: PoissonModel(0.0, 0.0), "prior ratio must be given"),
        (lambda: PoissonModel(0.5, 1.0, prior_ratio=0.1), "do not give it"),
        (lambda: PoissonModel(0.0, 0.0, prior_ratio=-2.0), "prior_ratio must be above 0"),
        (lambda: PoissonModel(0.0, 0.0, prior_ratio=[0.1, 0.2]), "one positive and finite number"),
        (lambda: PoissonModel([0.0, 1.0], 1.0), "for some features only"),
        (lambda: NegativeBinomialModel(0.0), "size must be above 0"),
        (lambda: NegativeBinomialModel(np.inf), "PoissonModel"),
        (lambda: NegativeBinomialModel(1.0, 0.5), "pair of numbers"),
        (lambda: NegativeBinomialModel(1.0, (0.5, 0.0)), "success_prior must be above 0"),
    ],
)
def test_priors_that_make_no_sense_are_refused(make, said):
    with pytest.raises(PriorError, match=said):
        make()


def test_use_that_makes_no_sense_is_refused():
    totals = totals_of([3, 4], [7, 20])
    with pytest.raises(PriorError, match=r"model\.fitted"):
        PoissonModel().log_evidence(totals.pool())
    with pytest.raises(PriorError, match=r"model\.fitted"):
        NegativeBinomialModel(2.0).log_evidence(totals.pool())
    with pytest.raises(PriorError, match="One group"):
        PoissonModel(1.0, 1.0).log_evidence(totals)
    with pytest.raises(PriorError, match="shape is given for 2 features, but the data have 1"):
        PoissonModel([0.5, 0.5]).fitted(totals)
    with pytest.raises(DataError, match="spread=True"):
        NegativeBinomialModel().fitted(totals)
    with pytest.raises(DataError, match="equal exposures only"):
        NegativeBinomialModel(2.0).fitted(totals_of([3, 4], [7, 20], [3.0, 5.0]))
    made = LabelledMatrix.from_arrays([[1], [2]], ["a", "b"])
    uneven = LabelledMatrix(made.values, made.labels, None, exposures=np.array([1.0, 2.0]))
    assert NegativeBinomialModel(2.0).summarise(uneven).total.tolist() == [[1.0], [1.0]]
    even = LabelledMatrix(made.values, made.labels, None, exposures=np.array([2.0, 2.0]))
    assert np.isfinite(log_bf(NegativeBinomialModel(2.0), NegativeBinomialModel(2.0).summarise(even)))


def test_chance_acts_on_the_estimated_size_too():
    """Monte Carlo: fresh negative binomial nulls of 5 + 5 samples, whose sizes are estimated."""
    rng = np.random.default_rng(12)
    X = rng.negative_binomial(3, 0.2, size=(10, 6000))
    posterior = bs.screen(X, ["a", "b"] * 5, model=NegativeBinomialModel(), prior_probability=0.2, shuffles=0)
    seen, expected = int((posterior.log_odds > 0).sum()), bs.expected_under_null(posterior, 0.0)
    assert seen > 60
    assert 0.5 * seen < expected < 2.0 * seen
    with pytest.raises(bs.LabelError, match="No sample is of class z"):
        bs.screen(X, ["a", "b"] * 5, model=NegativeBinomialModel(), classes=("a", "b", "z"))
