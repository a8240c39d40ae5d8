"""The categorical model: closed form, integrals, predictive probabilities, and what stays the same."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import integrate
from scipy.special import betaln

import bayesieve as bs
from bayesieve.errors import DataError, LabelError, PriorError
from bayesieve.models import CategoricalModel
from bayesieve.stats import CategoryCounts, Moments

SPEC = CategoryCounts([0, 1], [0, 1, 2], [[[4], [1], [0]], [[1], [3], [2]]])


def log_bayes_factor(model, counts):
    fitted = model.fitted(counts)
    first, second = (fitted.log_evidence(counts.pick([label])) for label in counts.classes)
    return first + second - fitted.log_evidence(counts.pool())


def exact_evidence(counts, alphas):
    """Logarithm of B(a + n) / B(a) with 50 digits."""
    with mpmath.workdps(50):
        a = [mpmath.mpf(float(alpha)) for alpha in alphas]
        n = [int(count) for count in counts]
        total = mpmath.loggamma(mpmath.fsum(a)) - mpmath.loggamma(mpmath.fsum(a) + sum(n))
        return total + mpmath.fsum(mpmath.loggamma(x + k) - mpmath.loggamma(x) for x, k in zip(a, n, strict=True))


def exact_factor(first, second, alphas):
    """Log Bayes factor with 50 digits."""
    with mpmath.workdps(50):
        classes = exact_evidence(first, alphas) + exact_evidence(second, alphas)
        return float(classes - exact_evidence(np.add(first, second), alphas))


@pytest.fixture
def counts(rng):
    """Counts of 40 features with one to five levels."""
    table = rng.integers(0, 30, (2, 5, 40)) * (rng.random((1, 5, 40)) < 0.6)
    return CategoryCounts(["a", "b"], range(5), table)


def test_the_number_of_the_specification():
    assert log_bayes_factor(CategoricalModel(), SPEC)[0] == pytest.approx(1.2735042513, abs=5e-11)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 0.1, 7.3, 1e5])
def test_observed_levels_against_mpmath(counts, alpha):
    model = CategoricalModel(alpha).fitted(counts)
    pooled = counts.pool()
    for group in (counts.pick(["a"]), counts.pick(["b"]), pooled):
        evidence = model.log_evidence(group)
        for j in range(counts.n_features):
            occur = pooled.table[0, :, j] > 0
            exact = exact_evidence(group.table[0, occur, j], [alpha] * occur.sum()) if occur.any() else 0.0
            assert evidence[j] == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.5, [0.5, 1.0, 2.0, 0.25, 3.5, 9.0]], ids=["a number", "one per level"])
def test_declared_levels_against_mpmath(counts, alpha):
    """A level that nobody has counts all the same; the order of the levels is the declared one."""
    levels = [4, 0, 1, 7, 2, 3]
    factor = log_bayes_factor(CategoricalModel(alpha, levels), counts)
    alphas = np.broadcast_to(alpha, 6)
    for j in range(counts.n_features):
        first, second = ([*counts.table[k, [4, 0, 1], j], 0, *counts.table[k, [2, 3], j]] for k in range(2))
        assert factor[j] == pytest.approx(exact_factor(first, second, alphas), rel=1e-10, abs=1e-11)


def test_one_concentration_per_feature_against_mpmath(counts, rng):
    alpha = rng.uniform(0.2, 5.0, counts.n_features)
    factor = log_bayes_factor(CategoricalModel(alpha), counts)
    for j in range(counts.n_features):
        occur = counts.table[:, :, j].sum(axis=0) > 0
        exact = exact_factor(*counts.table[:, occur, j], [alpha[j]] * occur.sum()) if occur.any() else 0.0
        assert factor[j] == pytest.approx(exact, rel=1e-10, abs=1e-11)


def test_large_counts_against_mpmath():
    """Beyond the table of terms, with the same result."""
    table = np.array([[[300_000], [200_000]], [[301_500], [199_000]]])
    for size in (1, 1000):
        small = CategoryCounts(["a", "b"], [0, 1], table // size)
        factor = log_bayes_factor(CategoricalModel(), small)[0]
        assert factor == pytest.approx(exact_factor(*small.table[:, :, 0], [0.5, 0.5]), rel=1e-8)


def test_two_levels_by_quadrature():
    """The likelihood integrated over the share of the second level, with share = sin(t) ** 2."""
    n = (3, 5)
    group = CategoryCounts(["a"], [0, 1], [[[n[0]], [n[1]]]])
    for alpha in (0.5, 1.0, 2.5):
        value, _ = integrate.quad(
            lambda t, a=alpha: 2.0 * np.cos(t) ** (2 * (n[0] + a) - 1) * np.sin(t) ** (2 * (n[1] + a) - 1),
            0.0,
            np.pi / 2,
            epsabs=0.0,
            epsrel=1e-12,
        )
        expected = np.log(value) - betaln(alpha, alpha)
        assert CategoricalModel(alpha).log_evidence(group)[0] == pytest.approx(expected, rel=1e-10)


def test_three_levels_by_quadrature_over_the_simplex():
    n, a = (2, 4, 1), 1.5
    group = CategoryCounts(["a"], [0, 1, 2], [[[k] for k in n]])

    def integrand(s, t, first, second, third):  # shares cos(s)^2, sin(s)^2 cos(t)^2, sin(s)^2 sin(t)^2
        return (
            4.0
            * np.cos(s) ** (2 * first - 1)
            * np.sin(s) ** (2 * (second + third) - 1)
            * np.cos(t) ** (2 * second - 1)
            * np.sin(t) ** (2 * third - 1)
        )

    nodes, weights = np.polynomial.legendre.leggauss(60)
    angle, weight = 0.25 * np.pi * (nodes + 1.0), 0.25 * np.pi * weights
    s, t = np.meshgrid(angle, angle)
    area = weight[:, None] * weight[None, :]
    top, bottom = (np.sum(area * integrand(s, t, *(a + k for k in ks))) for ks in (n, (0, 0, 0)))
    assert CategoricalModel(a).log_evidence(group)[0] == pytest.approx(np.log(top / bottom), rel=1e-10)


def test_the_number_of_the_specification_by_monte_carlo(rng):
    """Mean likelihood over 400,000 draws of the shares, for each class and for the pool."""
    shares = np.log(rng.dirichlet([0.5, 0.5, 0.5], 400_000))
    groups = [SPEC.table[0, :, 0], SPEC.table[1, :, 0], SPEC.table[:, :, 0].sum(axis=0)]
    first, second, both = (np.log(np.mean(np.exp(shares @ group))) for group in groups)
    assert log_bayes_factor(CategoricalModel(), SPEC)[0] == pytest.approx(first + second - both, abs=0.05)


@pytest.mark.parametrize("levels", [None, [0, 1, 2, 3, 4]])
def test_chain_rule_of_predictive_probabilities(rng, levels):
    """Sample by sample: the probability of level k is (a_k + n_k) / sum(a + n)."""
    X = rng.integers(0, 4, (25, 3)).astype(np.float64)
    X[:, 2] = rng.integers(1, 3, 25)
    model = CategoricalModel(0.7, levels)
    model = model.fitted(model.statistic(X))
    for j in range(3):
        k_levels = 5 if levels else len(np.unique(X[:, j]))
        seen: dict[float, int] = {}
        chain = 0.0
        for i, value in enumerate(X[:, j]):
            chain += np.log((0.7 + seen.get(value, 0)) / (0.7 * k_levels + i))
            seen[value] = seen.get(value, 0) + 1
            assert model.log_evidence(model.statistic(X[: i + 1]))[j] == pytest.approx(chain, rel=1e-12, abs=1e-13)


def test_all_samples_of_four_values_add_up_to_one():
    """Enumeration: the probabilities of all 81 sequences of length 4 are 1 in total."""
    model = CategoricalModel(0.5, [0, 1, 2])
    sequences = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=4))).T
    assert np.exp(model.log_evidence(model.statistic(sequences))).sum() == pytest.approx(1.0, rel=1e-13)


def test_two_levels_are_beta_bernoulli(rng):
    table = rng.integers(1, 50, (2, 2, 30))
    counts = CategoryCounts(["a", "b"], [False, True], table)
    both = table.sum(axis=0)
    expected = sum(betaln(1 + t[0], 1 + t[1]) for t in table) - betaln(1 + both[0], 1 + both[1])
    np.testing.assert_allclose(
        log_bayes_factor(CategoricalModel.uniform(), counts), expected, rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("alpha", [0.5, 0.3, np.array([0.3, 1.7, 0.1])], ids=["1/2", "0.3", "per feature"])
@pytest.mark.parametrize("size", [1, 100_000])
def test_features_without_a_choice_say_exactly_nothing(alpha, size):
    """One level in both classes, one level in one class, no value at all."""
    table = size * np.array([[[3, 0, 0], [0, 0, 0]], [[4, 0, 0], [0, 5, 0]]])
    assert (
        log_bayes_factor(CategoricalModel(alpha), CategoryCounts(["a", "b"], [0, 1], table)).tolist() == [0.0] * 3
    )


def test_swapping_classes_and_levels_changes_nothing(counts):
    factor = log_bayes_factor(CategoricalModel(), counts)
    np.testing.assert_array_equal(log_bayes_factor(CategoricalModel(), counts.pick(["b", "a"])), factor)
    shuffled = log_bayes_factor(CategoricalModel(), counts.with_levels([3, 0, 4, 9, 1, 2]))
    np.testing.assert_allclose(shuffled, factor, rtol=1e-12, atol=1e-12)


def test_features_do_not_depend_on_each_other(counts):
    model = CategoricalModel()
    whole = log_bayes_factor(model, counts)
    parts = [log_bayes_factor(model, counts.take(slice(lo, lo + 10))) for lo in range(0, 40, 10)]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-13, atol=1e-13)


def test_statistics_merge(rng):
    X = rng.integers(0, 3, (30, 4)).astype(np.float64)
    X[3, 1] = np.nan
    model = CategoricalModel()
    parts = model.merge(model.statistic(X[:11]), model.statistic(X[11:]))
    np.testing.assert_array_equal(parts.table, model.statistic(X).table)
    empty = model.statistic(X[:0])
    np.testing.assert_array_equal(model.merge(empty, model.statistic(X)).table, model.statistic(X).table)
    assert model.log_evidence(empty).tolist() == [0.0] * 4
    assert CategoricalModel(levels=[0, 1]).statistic(X[:0]).table.shape == (1, 2, 4)


def test_evidences_use_the_levels_of_all_classes(counts):
    model = CategoricalModel()
    evidences = model.evidences(counts)
    factor = evidences.group((0,), 0) + evidences.group((1,), 1) - evidences.pooled()
    np.testing.assert_array_equal(factor, log_bayes_factor(model, counts))
    assert evidences.log_constant(2) == 0.0


def test_tables_of_every_kind_give_the_same_answer(rng):
    codes = rng.integers(0, 3, (60, 12))
    y = rng.integers(0, 2, 60)
    model = CategoricalModel()
    expected = log_bayes_factor(model, model.summarise(model.matrix(codes, y)))
    names = np.array(["AA", "AG", "GG"])[codes]
    for X in (codes.astype(np.int8), sp.csr_array(codes), names, names.astype(object)):
        np.testing.assert_array_equal(log_bayes_factor(model, model.summarise(model.matrix(X, y))), expected)
    declared = CategoricalModel.jeffreys(["GG", "AG", "AA"])
    counts = declared.summarise(declared.matrix(names, y, feature_names=[f"s{j}" for j in range(12)]), n_threads=2)
    assert counts.levels == ("GG", "AG", "AA")
    np.testing.assert_allclose(log_bayes_factor(declared, counts), expected, rtol=1e-12)


def test_a_real_difference_is_seen_and_none_is_not(rng):
    y = np.repeat([0, 1], 100)
    X = rng.integers(0, 3, (200, 300), dtype=np.int8)
    X[:, 0] = np.where(rng.random(200) < 0.8, 2 * y, X[:, 0])
    factor = log_bayes_factor(CategoricalModel(), CategoryCounts.from_matrix(X, y))
    assert factor[0] > 20.0
    assert np.mean(factor[1:] < 0.0) > 0.9


def test_null_draws_keep_class_sizes_and_pooled_shares(rng):
    """Every class gets its own number of values; shares agree with the pool to 5 standard errors."""
    table = np.repeat([[[30], [10], [0]], [[50], [100], [0]]], 4000, axis=2)
    table[:, :, 0] = 0
    counts = CategoryCounts(["a", "b"], [0, 1, 2], table)
    drawn = CategoricalModel().draw_null(counts, rng)
    assert (drawn.classes, drawn.levels) == (counts.classes, counts.levels)
    np.testing.assert_array_equal(drawn.counts, counts.counts)
    assert not drawn.table[:, 2].any()
    share = 80 / 190
    for k, n in enumerate((40, 150)):
        error = np.sqrt(share * (1 - share) / n / 3999)
        assert drawn.table[k, 0, 1:].mean() / n == pytest.approx(share, abs=5 * error)
        spread = drawn.table[k, 0, 1:].var() / (n * share * (1 - share))
        assert spread == pytest.approx(1.0, abs=5 * np.sqrt(2 / 3999))
    again = CategoricalModel().draw_null(counts, np.random.default_rng(3))
    np.testing.assert_array_equal(
        again.table, CategoricalModel().draw_null(counts, np.random.default_rng(3)).table
    )


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan, np.inf, "x", [], [[1.0]], [1.0, 0.0], None])
def test_concentrations_must_be_positive(alpha):
    with pytest.raises(PriorError, match="concentration must be a positive number"):
        CategoricalModel(alpha)


def test_the_model_keeps_its_own_read_only_concentrations():
    given = np.array([1.0, 2.0])
    model = CategoricalModel(given)
    given[0] = 9.0
    assert model.concentration.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        model.concentration[0] = 3.0


def test_what_does_not_fit_the_model(counts):
    model = CategoricalModel()
    with pytest.raises(LabelError, match=r"one group, but there are 2 classes: \['a', 'b'\]"):
        model.log_evidence(counts)
    with pytest.raises(PriorError, match=r"numbers for \[3\] features, but the data have 40"):
        log_bayes_factor(CategoricalModel([1.0, 2.0, 3.0]), counts)
    with pytest.raises(PriorError, match=r"numbers for \[40\] features, but the data have 2"):
        model.fitted(counts).log_evidence(counts.take([0, 1]).pool())
    with pytest.raises(DataError, match="Level 0 occurs"):
        log_bayes_factor(CategoricalModel(levels=[1, 2, 3, 4]), counts)
    with pytest.raises(DataError, match=r"needs CategoryCounts, not Moments"):
        model.fitted(Moments.from_matrix([[1.0], [2.0]], [0, 1]))
    narrow = model.fitted(SPEC.pick([0]))
    with pytest.raises(DataError, match=r"1 feature.* more categories than .* the first is column 0"):
        narrow.log_evidence(SPEC.pool())


def test_ids_and_dates_are_left_at_the_prior():
    y = ["a"] * 20 + ["b"] * 20
    frame = pd.DataFrame({"id": [f"u{i}" for i in range(40)], "snp": ["AA", "AG"] * 20})
    with pytest.warns(bs.DegenerateFeatureWarning, match="1 of 2 features have so many levels.*'id'"):
        posterior = bs.screen(frame, y, model=CategoricalModel())
    assert posterior.log_bayes_factor[0] == 0.0
    assert posterior.degenerate_reason == ("nearly every value is a level of its own", "")
    declared = CategoricalModel(levels=[f"u{i}" for i in range(40)])
    assert bs.screen(frame[["id"]], y, model=declared).log_bayes_factor[0] != 0.0
