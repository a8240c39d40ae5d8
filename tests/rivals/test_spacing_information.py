"""Mutual information from spacings: the numbers of the specification, definitions in plain Python, invariances."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.rivals.sorted_values import SortedTile, score_sorted
from bayesieve.rivals.spacing_information import (
    literal_method,
    spacing_information,
    spacing_information_literal,
    spacing_method,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*hold many equal values")  # wanted here


def information(X, y, **options):
    return spacing_information(LabelledMatrix.from_arrays(X, y), **options).score


def by_definition(column, y, variant="invariant", m=1, ties="floor"):
    """The formulas of the specification in mpmath, one value at a time."""
    samples = [sorted(x for x, label in zip(column, y, strict=True) if label in kept and not math.isnan(x))
               for kept in ((0, 1), (0,), (1,))]  # fmt: skip
    whole = samples[0]
    if min(len(samples[1]), len(samples[2])) <= m:
        return math.nan
    if whole[0] == whole[-1]:
        return 0.0
    positive = [whole[i + m] - whole[i] for i in range(len(whole) - m) if whole[i + m] > whole[i]]
    delta = max(min(positive) / 2, 4 * 2.0**-52 * max(abs(x) for x in whole))

    def entropy(z):
        n = len(z)
        gaps = [z[i + m] - z[i] for i in range(n - m)]
        gaps = [mpmath.mpf(max(gap, delta)) for gap in gaps] if ties == "floor" else [g for g in gaps if g > 0]
        if not gaps:
            return mpmath.nan
        if variant == "literal":
            return (
                mpmath.fsum(mpmath.log(mpmath.mpf(n) / m * g) for g in gaps) / n - mpmath.psi(0, m) + mpmath.log(m)
            )
        return mpmath.fsum(mpmath.log(g) for g in gaps) / len(gaps) + mpmath.psi(0, n + 1) - mpmath.psi(0, m)

    with mpmath.workdps(50):
        parts = [len(z) * entropy(z) for z in samples[1:]]
        return float(entropy(whole) - sum(parts) / len(whole))


def test_numbers_of_the_specification_on_r1(r1):
    X, y = r1
    np.testing.assert_allclose(information(X, y, variant="literal"), [0.4180317845], atol=5e-11)
    np.testing.assert_allclose(information(X, y), [0.3644017796], atol=5e-11)
    gain = information(10 * X, y, variant="literal") - information(X, y, variant="literal")
    np.testing.assert_allclose(gain, [0.25584], atol=5e-6)
    np.testing.assert_allclose(gain, [math.log(10) / 9], rtol=1e-12)


@pytest.mark.parametrize("variant", ["invariant", "literal"])
def test_r1_by_mpmath(r1, variant):
    X, y = r1
    got = information(X, y, variant=variant)
    np.testing.assert_allclose(got, [by_definition(X[:, 0], y, variant)], rtol=1e-13)


@pytest.mark.filterwarnings("ignore::bayesieve.DegenerateFeatureWarning")
@pytest.mark.parametrize("ties", ["floor", "drop"])
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("variant", ["invariant", "literal"])
def test_random_tables_with_ties_and_gaps_by_mpmath(rng, variant, m, ties):
    y = rng.permutation([0] * 9 + [1] * 14)
    X = rng.normal(size=(23, 40)) * 10.0 ** rng.integers(-200, 140, 40)
    X[:, 10:20] = rng.integers(0, 8, (23, 10)) * 0.1
    X[:, 20:25] = 1e8 + rng.integers(0, 3, (23, 5)) * 2.0**-26  # a step of one unit in the last place
    X[:, 25] = 3.0
    X[y == 1, 26] = 0.5
    X[:, 27] = y
    X[rng.random(X.shape) < 0.2] = np.nan
    X[np.flatnonzero(y == 0)[m:], 28] = np.nan
    X[:, 29] = np.nan
    got = information(X, y, variant=variant, order=m, ties=ties)
    expected = [by_definition(column, y.tolist(), variant, m, ties) for column in X.T.tolist()]
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-13)
    assert got[25] == 0.0
    assert np.isnan(got[28:30]).all()
    assert np.isnan(got[27]) == (ties == "drop")


def test_products_of_very_small_and_very_large_spacings_by_mpmath():
    """Spacings from 1e-300 to 1e149, whose products leave the range of floats."""
    rng = np.random.default_rng(3)
    x = np.concatenate([10.0 ** rng.uniform(-300, -50, 40), 10.0 ** rng.uniform(20, 149, 40)])
    y = rng.permutation(np.repeat([0, 1], 40))
    got = information(x[:, None], y, ties="drop")
    np.testing.assert_allclose(got, [by_definition(x.tolist(), y.tolist(), ties="drop")], rtol=1e-12)


@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize("m", [1, 2])
def test_mean_log_spacing_of_uniform_data_is_psi_m_minus_psi_n_plus_1(n, m):
    """Monte Carlo: the invariant form has no bias for uniform data."""
    rng = np.random.default_rng(5)
    rows = [np.sort(rng.random((20_000, n)), axis=1) for _ in range(2)]
    tile = SortedTile(0, rows[0], rows[1], np.full((2, 20_000), n))
    sums = spacing_method(order=m).look(tile)
    means = sums[2] / sums[3]
    expected = float(mpmath.psi(0, m) - mpmath.psi(0, n + 1))
    assert abs(means.mean() - expected) < 4 * means.std() / math.sqrt(means.size)


NOISE = {50: (0.024, 0.095), 200: (0.012, 0.046), 1000: (0.004, 0.020)}
SIGNAL = {50: (0.223, 0.11), 200: (0.203, 0.05), 1000: (0.192, 0.023)}


@pytest.mark.parametrize(("n", "n_features"), [(50, 6000), (200, 3000), (1000, 1000)])
@pytest.mark.parametrize("what", ["noise", "signal"])
def test_noise_and_signal_levels_of_the_specification_by_monte_carlo(what, n, n_features):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, n_features)), np.repeat([0, 1], n // 2)
    if what == "signal":
        X[y == 0] *= 0.3
        X[y == 1] = 0.5 + 0.5 * X[y == 1]
    mean, sd = {"noise": NOISE, "signal": SIGNAL}[what][n]
    digit = 0.0005 if (what, n) in {("noise", 50), ("noise", 200), ("noise", 1000), ("signal", 1000)} else 0.005
    got = information(X, y)
    assert abs(got.mean() - mean) < 4 * sd / math.sqrt(n_features) + 0.0005
    assert abs(got.std() - sd) < 4 * sd / math.sqrt(2 * n_features) + digit


def test_true_information_of_the_signal_by_quadrature():
    """The estimates above approach .18847 nats from above."""
    distributions = stats.norm(0, 0.3), stats.norm(0.5, 0.5)

    def integrand(x):
        densities = np.array([distribution.pdf(x) for distribution in distributions])
        mixture = densities.mean()
        return sum(d * math.log(d / mixture) for d in densities if d > 0) / 2

    found, _ = integrate.quad(integrand, -5, 6, limit=200)
    assert round(found, 5) == 0.18847
    assert found < SIGNAL[1000][0] < SIGNAL[200][0] < SIGNAL[50][0]


def test_invariances(rng):
    X, y = rng.normal(size=(40, 30)), np.repeat([0, 1], [15, 25])
    plain = information(X, y)
    np.testing.assert_allclose(information(3.0 - 0.3 * X, y), plain, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(information(X, 1 - y), plain, rtol=1e-12, atol=1e-14)
    mixed = rng.permutation(40)
    np.testing.assert_array_equal(information(X[mixed], y[mixed]), plain)
    for m in (1, 3):
        literal = information(X, y, variant="literal", order=m)
        wide = information(250.0 * X, y, variant="literal", order=m)
        np.testing.assert_allclose(wide - literal, math.log(250.0) * m / 40, rtol=1e-10)
        np.testing.assert_allclose(information(X + 5.0, y, variant="literal", order=m), literal, atol=1e-11)


def test_classes_far_apart_tell_what_the_labels_hold(rng):
    """The information is then the entropy of the labels; one spacing across the gap adds log(20 n) / n or so."""
    X, y = rng.normal(size=(4000, 40)), np.repeat([0, 1], [1000, 3000])
    X[y == 1] += 20.0
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert abs(information(X, y).mean() - entropy) < 0.01


def test_jitter_leaves_features_without_ties_alone_and_repeats_itself(rng):
    X, y = rng.normal(size=(60, 300)), np.repeat([0, 1], 30)
    X[:, ::2] = X[:, ::2].round(1)
    X[:, 4] = 2.5
    floor, jitter = information(X, y), information(X, y, ties="jitter")
    np.testing.assert_array_equal(jitter[1::2], floor[1::2])
    assert (np.delete(jitter[::2], 2) != np.delete(floor[::2], 2)).all()
    assert jitter[4] == 0.0
    np.testing.assert_array_equal(information(X, y, ties="jitter", n_threads=2), jitter)
    other = information(X, y, ties="jitter", seed=1)
    assert (other[::2] != jitter[::2]).sum() == 149


def test_jittered_information_is_that_of_the_values_with_noise_by_mpmath():
    rng = np.random.default_rng(8)
    rows = [np.sort(rng.integers(0, 6, (5, n)) / 4.0, axis=1) for n in (8, 11)]
    rows[0][2, 6:] = np.nan
    counts = np.array([[8, 8, 6, 8, 8], [11] * 5])
    tile = SortedTile(0, rows[0], rows[1], counts)
    noisy = tile.jitter(3)
    labels = [0] * 8 + [1] * 11
    for f in range(5):
        for before, after in ((tile.first, noisy.first), (tile.second, noisy.second)):
            moved = after[f] - before[f]  # order between steps is kept, so the sorted rows still correspond
            assert np.nanmax(np.abs(moved)) <= 0.125
            assert np.nanmin(np.diff(after[f])) > 0
    got = spacing_method(ties="jitter", seed=3)
    score = got.scores(got.look(tile), counts, None).score
    values = np.hstack([noisy.first, noisy.second])
    np.testing.assert_allclose(score, [by_definition(row, labels) for row in values.tolist()], rtol=1e-11)


def test_jitter_undoes_rounding_in_the_mean():
    """Monte Carlo: rounding to a tenth of a standard deviation costs little once ties are broken."""
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(200, 1500)), np.repeat([0, 1], 100)
    fine, jitter = information(X, y), information(X.round(1), y, ties="jitter")
    error = math.hypot(fine.std(), jitter.std()) / math.sqrt(1500)
    assert abs(jitter.mean() - fine.mean()) < 4 * error


def test_the_literal_rival_is_the_literal_variant(rng):
    matrix = LabelledMatrix.from_arrays(rng.normal(size=(20, 7)).round(1), np.repeat([0, 1], 10))
    for options in ({}, {"order": 2, "ties": "drop"}, {"ties": "jitter", "seed": 4}):
        one, other = spacing_information_literal(matrix, **options), spacing_information(
            matrix, variant="literal", **options
        )  # fmt: skip
        np.testing.assert_array_equal(one.score, other.score)
        assert one.method == other.method == "mi_literal"
    both = score_sorted(matrix, [spacing_method(), literal_method()])
    assert [scores.method for scores in both] == ["mi", "mi_literal"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"variant": "other"}, "variant must be 'invariant' or 'literal'"),
        ({"ties": "none"}, "ties must be 'floor', 'jitter' or 'drop'"),
        ({"order": 0}, "order must be a whole number of at least 1"),
        ({"order": 1.5}, "order must be a whole number"),
        ({"order": True}, "order must be a whole number"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
    ],
)
def test_wrong_options(r1, options, said):
    with pytest.raises(bs.OptionError, match=said):
        information(*r1, **options)


@pytest.mark.parametrize(("ties", "said"), [("floor", "too few values"), ("drop", "too few different values")])
def test_a_warning_counts_features_without_a_score(ties, said):
    X = np.array([[0.0, 1.0], [1.0, np.nan], [2.0, 3.0], [3.0, 4.0]])
    with pytest.warns(
        bs.DegenerateFeatureWarning, match=rf"1 of 2 features have no score \(mi\): {said} in a class"
    ):
        assert np.isnan(information(X, [0, 0, 1, 1], ties=ties)).tolist() == [False, True]


def test_an_order_too_high_for_the_smaller_class(r1):
    with pytest.raises(bs.LabelError, match="mi needs at least 5 samples of each class, but class 0 has 4"):
        information(*r1, order=4)


@pytest.mark.filterwarnings("error")
def test_features_whose_ties_decide_are_announced_and_the_others_are_not():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 5, 60), np.ones(60)])
    y = [0] * 30 + [1] * 30
    with pytest.warns(bs.DataWarning, match=r"^1 of 3 features hold many equal values") as said:
        bs.score(X, y, method="mi")
    assert len(said) == 1
    for ties in ("jitter", "drop"):
        bs.score(X[:, :2], y, method="mi", ties=ties)
    bs.score(X[:, :1], y, method="mi")
