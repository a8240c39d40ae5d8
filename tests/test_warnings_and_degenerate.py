"""Features without variance, and the warnings that tell where a result deserves doubt.

Expected values are worked out here from the closed form under Jeffreys' prior,
log BF = log L + K(n0, n1) - log(lambda), and never by the package.
"""

from __future__ import annotations

import math
import re
import warnings

import jeffreys
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import bayesieve as bs

LAYOUTS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "CSR": sp.csr_array, "CSC": sp.csc_array}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())

N0, N1 = 7, 5
Y = np.array(["a"] * N0 + ["b"] * N1)
CONSTANT, IN_A_CLASS, TOO_FEW = "constant in all samples", "constant in a class", "too few values in a class"


def log_k(n0, n1):
    n = n0 + n1
    gammas = math.lgamma(n0 / 2) + math.lgamma(n1 / 2) - math.lgamma(n / 2)
    powers = n * math.log(n) - n0 * math.log(n0) - n1 * math.log(n1)
    return 0.5 * math.log(2 * math.pi * n / (n0 * n1)) + gammas + 0.5 * powers


def squares(x):
    return math.fsum((np.asarray(x) - math.fsum(x) / len(x)) ** 2)


def log_bf(x0, x1, squares0=None, squares1=None, ratio=0.1):
    """Log Bayes factor of two groups, with centred squares other than their own where given."""
    n0, n1 = len(x0), len(x1)
    n = n0 + n1
    ss0 = squares(x0) if squares0 is None else squares0
    ss1 = squares(x1) if squares1 is None else squares1
    ss = ss0 + ss1 + n0 * n1 / n * (math.fsum(x0) / n0 - math.fsum(x1) / n1) ** 2
    log_lambda = (n0 * math.log(ss0 / n0) + n1 * math.log(ss1 / n1) - n * math.log(ss / n)) / 2
    return math.log(ratio) + log_k(n0, n1) - log_lambda


def column(x0, x1):
    return np.concatenate([x0, x1])


SPREAD0 = np.array([0.3, -1.2, 0.8, 2.0, -0.4, 0.1, 1.1])
SPREAD1 = np.array([1.5, 0.2, 3.1, -0.6, 0.9])
TABLE = np.column_stack(
    [
        column(SPREAD0, SPREAD1),  # ordinary
        np.full(12, 0.1),  # constant; 0.1 has no exact binary form
        np.zeros(12),  # constant, and empty in a sparse table
        column([2.0] * N0, SPREAD1),  # first class constant; 1.5 is nearest
        column(SPREAD0, [0.0] * N1),  # second class constant; 0.1 is nearest
        column([-1.0] * N0, [3.0] * N1),  # both constant
    ]
)
EXPECTED = [
    log_bf(SPREAD0, SPREAD1),
    math.log(0.1) + log_k(N0, N1),
    math.log(0.1) + log_k(N0, N1),
    log_bf([2.0] * N0, SPREAD1, squares0=N0 * 0.5**2 / 12),
    log_bf(SPREAD0, [0.0] * N1, squares1=N1 * 0.1**2 / 12),
    log_bf([-1.0] * N0, [3.0] * N1, N0 * 4.0**2 / 12, N1 * 4.0**2 / 12),
]
REASONS = ("", CONSTANT, CONSTANT, IN_A_CLASS, IN_A_CLASS, IN_A_CLASS)


def screen_with_warnings(*args, **options):
    """Return the posterior and all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        options.setdefault("model", bs.GaussianModel.jeffreys())  # warnings name the caller
        return bs.screen(*args, **options), caught


# --- the floor -------------------------------------------------------------------------------------


@layouts
def test_floor(layout):
    posterior, caught = screen_with_warnings(layout(TABLE), Y)
    np.testing.assert_allclose(posterior.log_bayes_factor, EXPECTED, rtol=1e-11)
    assert posterior.degenerate_reason == REASONS
    assert posterior.degenerate.tolist() == [bool(reason) for reason in REASONS]
    assert [warning.category for warning in caught] == [bs.DegenerateFeatureWarning]
    message = str(caught[0].message)
    assert "5 of 6 features" in message
    assert "2 constant in all samples, 3 constant in a class" in message
    assert ".degenerate" in message


def test_the_warning_points_at_the_caller():
    _, caught = screen_with_warnings(TABLE, Y)
    assert caught[0].filename == __file__


@layouts
def test_constant_features_get_the_least_value_there_is(layout):
    rng = np.random.default_rng(2)
    table = rng.normal(size=(12, 3000))
    table[:, 0] = -7.0
    posterior, _ = screen_with_warnings(layout(table), Y)
    assert posterior.log_bayes_factor[0] == pytest.approx(math.log(0.1) + log_k(N0, N1), abs=1e-12)
    assert (posterior.log_bayes_factor[1:] > posterior.log_bayes_factor[0]).all()
    assert posterior.ranking[-1] == 0


def test_other_features_do_not_notice():
    alone = jeffreys.screen(TABLE[:, :1], Y).log_bayes_factor
    together, _ = screen_with_warnings(TABLE, Y)
    assert together.log_bayes_factor[0] == alone[0]


@layouts
def test_floor_with_missing_values(layout):
    """Only values that are there count: for the size of the group and for the nearest other value."""
    table = TABLE.copy()
    table[0, 3] = table[N0, 3] = np.nan  # the value 1.5, the nearest, goes; 0.9 and 3.1 are left
    posterior, _ = screen_with_warnings(layout(table), Y, missing="omit")
    expected = log_bf([2.0] * (N0 - 1), SPREAD1[1:], squares0=(N0 - 1) * 1.1**2 / 12)
    assert posterior.log_bayes_factor[3] == pytest.approx(expected, rel=1e-11)
    np.testing.assert_allclose(np.delete(posterior.log_bayes_factor, 3), np.delete(EXPECTED, 3), rtol=1e-11)
    assert posterior.degenerate_reason == REASONS


@layouts
def test_the_floor_is_bounded_by_the_spread_of_the_other_class(layout):
    """A class that never varies must not pass for more variable than one that does."""
    n0, n1, step = 20, 30, math.log(2.0)
    odd = np.zeros(n1)
    odd[4] = step
    spread = squares(odd) / n1
    assert spread < step**2 / 12
    expected = log_bf(np.zeros(n0), odd, squares0=n0 * spread)
    first, _ = screen_with_warnings(layout(column(np.zeros(n0), odd)[:, None]), ["a"] * n0 + ["b"] * n1)
    second, _ = screen_with_warnings(layout(column(odd, np.zeros(n0))[:, None]), ["a"] * n1 + ["b"] * n0)
    assert first.log_bayes_factor[0] == pytest.approx(expected, rel=1e-11)
    assert second.log_bayes_factor[0] == pytest.approx(expected, rel=1e-11)
    assert expected < 0.0


@layouts
def test_too_few_values(layout):
    table = TABLE.copy()
    table[1:N0, 0] = np.nan  # one value left in class a
    table[N0:, 1] = np.nan  # none in class b
    table[:, 2] = np.nan  # none at all
    posterior, caught = screen_with_warnings(layout(table), Y, missing="omit")
    assert posterior.log_bayes_factor[:3].tolist() == [0.0, 0.0, 0.0]
    assert posterior.degenerate_reason == (TOO_FEW,) * 3 + REASONS[3:]
    np.testing.assert_allclose(posterior.log_bayes_factor[3:], EXPECTED[3:], rtol=1e-11)
    np.testing.assert_allclose(posterior.probability[:3], 0.01, rtol=1e-12)
    assert [warning.category for warning in caught] == [bs.DegenerateFeatureWarning]
    assert "6 of 6 features" in str(caught[0].message)
    assert "3 constant in a class, 3 too few values in a class" in str(caught[0].message)


def test_bare_moments_cannot_give_a_floor():
    """Without the values nobody knows the step; a constant feature needs none."""
    posterior, caught = screen_with_warnings(bs.Moments.from_matrix(TABLE, Y))
    np.testing.assert_allclose(posterior.log_bayes_factor, [*EXPECTED[:3], 0.0, 0.0, 0.0], rtol=1e-11)
    assert posterior.degenerate_reason == REASONS
    assert [warning.category for warning in caught] == [bs.DegenerateFeatureWarning]


@layouts
def test_exclude(layout):
    posterior, caught = screen_with_warnings(layout(TABLE), Y, degenerate="exclude", prior_probability=0.2)
    np.testing.assert_allclose(posterior.log_bayes_factor, [EXPECTED[0], 0, 0, 0, 0, 0], rtol=1e-11)
    np.testing.assert_allclose(posterior.probability[1:], 0.2, rtol=1e-12)
    assert posterior.degenerate_reason == REASONS
    assert [warning.category for warning in caught] == [bs.DegenerateFeatureWarning]
    assert "left at the prior" in str(caught[0].message)


@layouts
@pytest.mark.parametrize("step", [0.01, np.array([0.5, 0.1, 2.0, 0.3, 1.0, 0.25])], ids=["number", "per feature"])
def test_resolution_leaves_nothing_degenerate(layout, step):
    posterior = jeffreys.screen(layout(TABLE), Y, resolution=step)
    rounding = np.broadcast_to(np.asarray(step) ** 2 / 12, 6)
    expected = [
        log_bf(x[:N0], x[N0:], squares(x[:N0]) + N0 * extra, squares(x[N0:]) + N1 * extra)
        for x, extra in zip(TABLE.T, rounding, strict=True)
    ]
    np.testing.assert_allclose(posterior.log_bayes_factor, expected, rtol=1e-10)
    assert not posterior.degenerate.any()
    assert posterior.degenerate_reason == ("",) * 6
    from_moments = jeffreys.screen(bs.Moments.from_matrix(TABLE, Y), resolution=step)
    np.testing.assert_allclose(from_moments.log_bayes_factor, expected, rtol=1e-10)


def test_resolution_does_not_make_up_for_absent_values():
    table = TABLE.copy()
    table[1:N0, 0] = np.nan
    posterior, _ = screen_with_warnings(table, Y, missing="omit", resolution=0.1)
    assert posterior.degenerate_reason == (TOO_FEW, "", "", "", "", "")
    assert posterior.log_bayes_factor[0] == 0.0
    assert "without usable variance" in bs.MinimalRisk(0.5).select(posterior).summary()


def test_a_constant_feature_without_a_scale_free_prior_stays_at_its_prior():
    """With a location in the prior, no limit exists that a constant could be given."""
    prior = bs.NormalInverseGamma(mean_strength=0.1)
    posterior, caught = screen_with_warnings(np.zeros((12, 1)), Y, model=bs.GaussianModel((prior,), prior, 0.1))
    assert posterior.log_bayes_factor.tolist() == [0.0]
    assert posterior.degenerate_reason == (CONSTANT,)
    assert len(caught) == 1


@layouts
def test_nothing_is_degenerate_under_a_proper_prior(layout):
    table = TABLE.copy()
    table[1:N0, 0] = np.nan
    posterior = jeffreys.screen(layout(table), Y, model=bs.GaussianModel.proper(), missing="omit")
    assert not posterior.degenerate.any()
    assert np.isfinite(posterior.log_bayes_factor).all()


def reason_of(values, codes):
    groups = [values[(codes == k) & ~np.isnan(values)] for k in (0, 1)]
    if min(group.size for group in groups) < 2:
        return TOO_FEW
    if np.unique(np.concatenate(groups)).size == 1:
        return CONSTANT
    return IN_A_CLASS if min(np.unique(group).size for group in groups) == 1 else ""


@given(
    table=st.tuples(st.integers(4, 9), st.integers(1, 4)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 1.0, -3.0, 1e8, np.nan]))
    ),
    turn=st.integers(0, 3),
    policy=st.sampled_from(["floor", "exclude"]),
)
@example(table=np.full((4, 2), np.nan), turn=0, policy="floor")
@settings(max_examples=100, deadline=None)
def test_no_table_gives_nan_or_infinity(table, turn, policy):
    """Any mixture of constants, ties and holes, in any layout."""
    codes = np.roll(np.arange(table.shape[0]) % 2, turn)
    results = [
        screen_with_warnings(layout(table), codes, missing="omit", degenerate=policy)[0]
        for layout in LAYOUTS.values()
    ]
    for posterior in results:
        assert np.isfinite(posterior.log_bayes_factor).all()
        assert posterior.degenerate_reason == tuple(reason_of(values, codes) for values in table.T)
        np.testing.assert_allclose(posterior.log_bayes_factor, results[0].log_bayes_factor, rtol=1e-9, atol=1e-9)


# --- warnings --------------------------------------------------------------------------------------


def share_under_null(n0, n1, prior, n_draws=200_000):
    """Share of Gaussian non-markers with a probability over one half, by simulation."""
    rng = np.random.default_rng(n0 * 100 + n1)
    x0, x1 = rng.normal(size=(n0, n_draws)), rng.normal(size=(n1, n_draws))
    both = np.concatenate([x0, x1])
    n = n0 + n1
    log_lambda = (n0 * np.log(x0.var(axis=0)) + n1 * np.log(x1.var(axis=0)) - n * np.log(both.var(axis=0))) / 2
    log_odds = math.log(prior / (1 - prior)) + math.log(0.1) + log_k(n0, n1) - log_lambda
    return (log_odds > 0).mean()


@pytest.mark.parametrize(("n0", "n1"), [(2, 2), (4, 3), (4, 30)])
def test_small_classes_under_jeffreys_prior(n0, n1):
    table = np.random.default_rng(1).normal(size=(n0 + n1, 10_000))
    _, caught = screen_with_warnings(table, ["a"] * n0 + ["b"] * n1, prior_probability=0.005)
    assert [warning.category for warning in caught] == [bs.CalibrationWarning]
    message = str(caught[0].message)
    smallest, label = min((n0, "a"), (n1, "b"))
    assert f"Class '{label}' has only {smallest} samples" in message
    assert "FixedSize(n), a proper prior, or more samples" in message
    found = re.search(r"about ([\d,]+) of 10,000 features", message)
    assert found is not None
    share = share_under_null(n0, n1, 0.005)
    tolerance = 1.0 + 5 * 10_000 * math.sqrt(share * (1 - share) / 200_000)
    assert abs(int(found[1].replace(",", "")) - 10_000 * share) < tolerance
    assert caught[0].filename == __file__


def test_two_against_two_is_hopeless_under_jeffreys_prior():
    """A number to remember: at a prior of 0.005 every eighth non-marker passes."""
    assert share_under_null(2, 2, 0.005) == pytest.approx(0.129, abs=0.004)


def test_no_warning_where_none_is_due():
    table = np.random.default_rng(1).normal(size=(10, 50))
    labels = ["a"] * 5 + ["b"] * 5
    assert screen_with_warnings(table, labels)[1] == []
    assert screen_with_warnings(table[:4], ["a", "a", "b", "b"], model=bs.GaussianModel.proper())[1] == []


@pytest.mark.parametrize("variance", [1e6, 1e-3])
def test_a_proper_prior_that_does_not_fit_the_scale(variance):
    table = np.random.default_rng(3).normal(scale=math.sqrt(variance), size=(30, 40))
    _, caught = screen_with_warnings(table, [0, 1] * 15, model=bs.GaussianModel.proper())
    assert [warning.category for warning in caught] == [bs.PriorWarning]
    message = str(caught[0].message)
    found = re.search(
        r"median variance of the features is (\S+), but this proper prior expects about 0\.5\.", message
    )
    assert found is not None
    assert float(found[1]) == pytest.approx(np.median(table.var(axis=0, ddof=1)), rel=0.01)
    assert "rescale the data" in message
    assert "GaussianModel.jeffreys()" in message
    assert caught[0].filename == __file__


@pytest.mark.parametrize("variance", [1.0, 0.1])
def test_a_proper_prior_that_fits_the_scale(variance):
    table = np.random.default_rng(3).normal(scale=math.sqrt(variance), size=(30, 40))
    assert screen_with_warnings(table, [0, 1] * 15, model=bs.GaussianModel.proper())[1] == []


def screen_with_ratio(function):
    table = np.random.default_rng(4).normal(size=(20, 3))
    model = bs.GaussianModel.jeffreys(lambda n0, n1: function(n0 + n1))
    return screen_with_warnings(table, [0, 1] * 10, model=model)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        pytest.param(float, "grows like n ** 1,", id="n"),
        pytest.param(lambda n: n * math.log(n), "grows like n ** 1.0", id="n log n"),
        pytest.param(math.log, "does not settle", id="log n"),
        pytest.param(math.exp, "could not be evaluated at larger samples", id="exp n"),
    ],
)
def test_prior_ratios_that_are_not_semi_proper(function, words):
    posterior, caught = screen_with_ratio(function)
    assert [warning.category for warning in caught] == [bs.PriorWarning]
    assert "not semi-proper in the sense of Definition 3" in str(caught[0].message)
    assert words in str(caught[0].message)
    assert caught[0].filename == __file__
    assert np.isfinite(posterior.log_odds).all()


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda n: 1.0 / n, id="1/n"),
        pytest.param(lambda n: 0.1, id="constant"),
        pytest.param(lambda n: n**0.5, id="square root"),
    ],
)
def test_prior_ratios_that_are_semi_proper(function):
    posterior, caught = screen_with_ratio(function)
    assert not caught
    given_number, _ = screen_with_ratio(lambda n: function(20))
    np.testing.assert_array_equal(posterior.log_odds, given_number.log_odds)
