"""The calibrated model: quadrature, what must not matter, and data with little or nothing to say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

import bayesieve as bs
from bayesieve.models import Patterns, compare
from bayesieve.models.gaussian.calibrated import tempering
from bayesieve.models.gaussian.degenerate import Degeneracy

MODEL = bs.CalibratedModel()


def table(n=(14, 10), p=40, seed=0):
    """Heavy tails, some features that differ in mean and some in variance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(6, size=(sum(n), p)) * rng.uniform(0.5, 2.0, p) + rng.normal(size=p)
    y = np.repeat([f"c{k}" for k in range(len(n))], n)
    X[y == "c1", : p // 8] += 2.0
    X[y == "c1", p // 8 : p // 4] *= 3.0
    return X, y


def moments(X, y, **options):
    return bs.Moments.from_matrix(X, y, missing="omit", **options)


def log_bf(statistics, model=MODEL, patterns="any"):
    return compare(model.evidences(statistics), Patterns.of(patterns, statistics.classes))


def fixed(statistics, model=MODEL):
    """Return the model with the constants of these data."""
    return model.estimate([statistics])


SIZES = [(14, 10), (9, 8, 7)]


@pytest.mark.parametrize("prior", [(0.0, 0.0), (5.0, 1.7)])
def test_evidence_of_means_by_quadrature(prior):
    """Effect and log standard deviation on a grid; the common location is flat, the standardised effect normal."""
    X, y = table((7, 5), p=3)
    found = moments(X, y)
    dof, scale = prior
    tau = 1.3
    model = bs.CalibratedModel(0.0, dof, scale, mean_sizes=(tau,), ratio_sizes=())
    u, delta = np.linspace(-6, 6, 1501)[:, None], np.linspace(-9, 9, 1501) * tau
    size, n = 7 * 5 / 12, 12
    within, d = found.centred_squares.sum(axis=0), found.mean[1] - found.mean[0]
    for j in range(3):

        def log_likelihood(effect, j=j):
            distance = size * (d[j] - effect * np.exp(u)) ** 2
            return -(n - 1 + dof) * u - 0.5 * (within[j] + dof * scale + distance) * np.exp(-2 * u)

        weight = -0.5 * (delta / tau) ** 2 - math.log(tau * math.sqrt(2 * math.pi)) + math.log(delta[1] - delta[0])
        expected = logsumexp(log_likelihood(delta) + weight) - logsumexp(log_likelihood(np.zeros(1)))
        assert log_bf(found, model)[j] == pytest.approx(expected, abs=1e-6)


def test_evidence_of_variances_by_quadrature():
    """Log variance ratio and log of the common variance on a grid, means integrated out in each class."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [12, 8])
    X = np.where(np.arange(20) % 2, 1.0, -1.0)[:, None] * rng.uniform(0.8, 1.2, size=(20, 3))
    X[y == 1] *= 2.5
    found = moments(X, y)
    assert tempering(found) == pytest.approx(1.0)  # light tails leave all of the evidence
    omega = 0.9
    model = bs.CalibratedModel(0.5, 0.0, 0.0, mean_sizes=(1.0,), ratio_sizes=(omega,))
    ratio = model.evidences(found).kinds([(0,), (1,)])[1]
    v, t = np.linspace(-12, 10, 2001)[:, None], np.linspace(-9, 9, 1501) * omega
    for j, (first, second) in enumerate(found.centred_squares.T):

        def log_likelihood(t, first=first, second=second):
            one, two = v - t / 2, v + t / 2
            return -0.5 * (11 * one + first * np.exp(-one) + 7 * two + second * np.exp(-two))

        weight = -0.5 * (t / omega) ** 2 - math.log(omega * math.sqrt(2 * math.pi)) + math.log(t[1] - t[0])
        expected = logsumexp(log_likelihood(t) + weight) - logsumexp(log_likelihood(np.zeros(1)))
        assert ratio[j] == pytest.approx(expected, abs=1e-6)


def test_kinds_of_difference_are_weighed():
    X, y = table()
    found = moments(X, y)
    for both in (0.0, 0.4):
        model = fixed(found, bs.CalibratedModel(variance_weight=0.3, both_share=both))
        mean, ratio = np.exp(model.evidences(found).kinds([(0,), (1,)]))
        expected = np.log(0.7 * mean + 0.3 * (1 - both) * ratio + 0.3 * both * mean * ratio)
        np.testing.assert_allclose(log_bf(found, model), expected, rtol=1e-12)


def test_the_product_for_both_at_once_is_a_bayes_factor():
    """Its expectation under the null is 1, as for each of its parts: what they depend on is independent then."""
    rng, n, p = np.random.default_rng(11), (9, 14), 400_000
    squares = np.array([rng.chisquare(each - 1, size=p) for each in n])
    mean = np.array([rng.normal(size=p) / math.sqrt(each) for each in n])
    fourths = np.array([s**2 / each for s, each in zip(squares, n, strict=True)])  # too light to temper
    found = bs.Moments((0, 1), n, mean, squares, None, np.zeros((2, p)), fourths)
    model = bs.CalibratedModel(0.3, 0.0, 0.0, (0.3,), (0.4,), 0.4, 0.0)
    of_mean, of_ratio = np.exp(model.evidences(found).kinds([(0,), (1,)]))
    for each in (of_mean, of_ratio, of_mean * of_ratio):
        assert each.mean() == pytest.approx(1.0, abs=4 * each.std() / math.sqrt(p))
    assert np.corrcoef(of_mean, of_ratio)[0, 1] == pytest.approx(0.0, abs=4 / math.sqrt(p))


def test_weights_follow_what_strong_features_differ_in():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 40)
    plain = rng.normal(size=(80, 400))
    shifted, stretched, both = plain.copy(), plain.copy(), plain.copy()
    shifted[40:, :60] += 3.0
    stretched[40:, :60] *= 4.0
    both[40:, :60] = 4.0 * both[40:, :60] + 6.0
    means, variances, either = (bs.screen(X, y).model for X in (shifted, stretched, both))
    assert means.variance_weight < 0.2
    assert variances.variance_weight > 0.4
    assert variances.both_share < 0.2
    assert either.variance_weight > 0.4
    assert either.both_share > 0.8
    assert bs.screen(both, y, model=bs.CalibratedModel(both_share=0.3)).model.both_share == 0.3


def test_tails_of_all_features_temper_each():
    """Excess kurtosis of the median feature: few values of t5 rarely show their tails, all features do."""
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], 15)
    heavy, light = (bs.screen(X, y) for X in (rng.standard_t(3, size=(30, 500)), rng.uniform(size=(30, 500))))
    own = tempering(heavy.moments)
    kurtosis = heavy.model.kurtosis
    assert kurtosis > 0.2
    assert light.model.kurtosis == 0.0  # lighter than Gaussian: nothing to add
    ideal, weight = 4 / 14, 2 / 15
    np.testing.assert_allclose(
        tempering(heavy.moments, kurtosis), np.minimum(own, ideal / (ideal + kurtosis * weight)), rtol=1e-12
    )
    assert np.mean(own > tempering(heavy.moments, kurtosis)) == pytest.approx(0.5, abs=0.01)  # it is the median


@pytest.mark.parametrize("n", SIZES)
def test_order_of_features_and_samples_does_not_matter(n):
    X, y = table(n)
    expected = bs.screen(X, y).log_odds
    rng = np.random.default_rng(1)
    features, samples = rng.permutation(X.shape[1]), rng.permutation(len(y))
    np.testing.assert_allclose(bs.screen(X[:, features], y).log_odds, expected[features], rtol=1e-9)
    np.testing.assert_allclose(bs.screen(X[samples], y[samples]).log_odds, expected, rtol=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_origin_and_unit_do_not_matter(n):
    """The origin of each feature; the unit of all, as they learn from each other, or of each if they do not."""
    X, y = table(n)
    rng = np.random.default_rng(2)
    origins, units = rng.normal(0, 100, X.shape[1]), 10.0 ** rng.uniform(-6, 6, X.shape[1])
    np.testing.assert_allclose(bs.screen(X + origins, y).log_odds, bs.screen(X, y).log_odds, rtol=1e-8)
    np.testing.assert_allclose(bs.screen(X * -1e5, y).log_odds, bs.screen(X, y).log_odds, rtol=1e-8)
    alone = bs.CalibratedModel(variance_dof=0.0, variance_scale=0.0)
    np.testing.assert_allclose(
        bs.screen(X * units + origins, y, model=alone).log_odds, bs.screen(X, y, model=alone).log_odds, rtol=1e-7
    )


@pytest.mark.parametrize("scale", [1e-70, 1e70])
def test_powers_of_extreme_values_stay_in_range(scale):
    X, y = table()
    np.testing.assert_allclose(bs.screen(X * scale, y).log_odds, bs.screen(X, y).log_odds, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_fourth_powers_out_of_range_leave_the_means(scale):
    X, y = table()
    posterior = bs.screen(X * scale, y)
    assert posterior.model.variance_weight == 0.0
    plain = bs.screen(moments(X, y, shape=False))
    np.testing.assert_allclose(posterior.log_odds, plain.log_odds, rtol=1e-8)


@pytest.mark.parametrize("n", SIZES)
def test_values_out_of_range_are_refused(n):
    X, y = table(n)
    with pytest.raises(bs.DataError, match="overflow"):
        bs.screen(X * 1e160, y)
    with pytest.raises(bs.DataError, match="64-bit"):  # spread fits, the difference does not
        bs.screen(X * 1e148 + np.where(y == "c0", 1e160, -1e160)[:, None], y)
    with pytest.raises(bs.DataError, match="vanish"):
        bs.screen(X * 1e-200, y)


@pytest.mark.parametrize("n", SIZES)
def test_names_and_order_of_classes_do_not_matter(n):
    X, y = table(n)
    expected = bs.screen(X, y).log_odds
    classes = sorted(set(y))
    np.testing.assert_allclose(bs.screen(X, y, classes=classes[::-1]).log_odds, expected, rtol=1e-11)
    renamed = np.array([classes[(classes.index(label) + 1) % len(classes)] for label in y])
    np.testing.assert_allclose(bs.screen(X, renamed).log_odds, expected, rtol=1e-11)


def test_two_of_three_classes_are_a_screen_of_two():
    X, y = table((9, 8, 7))
    found = moments(X, y)
    two = moments(X, np.where(y == "c2", "c0", y))
    model = fixed(found)
    got = model.evidences(found).kinds([(0, 2), (1,)])
    alone = model.evidences(two).kinds([(0,), (1,)])
    np.testing.assert_allclose(got[0], alone[0], rtol=1e-10)
    share = model.evidences(found).share  # tails are judged within each class
    tempered = model.evidences(two)
    tempered._share = share
    np.testing.assert_allclose(got[1], tempered.kinds([(0,), (1,)])[1], rtol=1e-10)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("missing", [False, True])
def test_parts_merge_to_the_whole(n, missing):
    X, y = table(n)
    if missing:
        X[np.random.default_rng(5).random(X.shape) < 0.15] = np.nan
    mixed = np.random.default_rng(4).permutation(len(y))
    X, y = X[mixed], y[mixed]
    whole = moments(X, y)
    for cut in (1, 7, 13):
        merged = moments(X[:cut], y[:cut], classes=sorted(set(y))).merge(moments(X[cut:], y[cut:]))
        assert merged.has_shape
        np.testing.assert_allclose(log_bf(merged), log_bf(whole), rtol=1e-9)
    np.testing.assert_allclose(bs.screen(merged).log_odds, bs.screen(X, y, missing="omit").log_odds, rtol=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_missing_values_are_as_if_never_measured(n):
    X, y = table(n)
    X[np.random.default_rng(5).random(X.shape) < 0.2] = np.nan
    found = moments(X, y)
    model = fixed(found)
    together = log_bf(found, model)
    for j in range(X.shape[1]):
        there = ~np.isnan(X[:, j])
        assert log_bf(moments(X[there, j : j + 1], y[there]), model)[0] == pytest.approx(together[j], rel=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_features_can_be_taken_apart_once_constants_are_known(n):
    found = moments(*table(n))
    model = fixed(found)
    np.testing.assert_allclose(log_bf(found.take([30, 2]), model), log_bf(found, model)[[30, 2]], rtol=1e-12)


def test_constants_come_from_the_data_once():
    found = moments(*table())
    model = fixed(found)
    assert fixed(moments(*table(seed=9)), model) is model
    assert 0.1 <= model.variance_weight <= 0.5
    assert model.variance_dof > 0
    assert bs.screen(*table()).model.variance_dof == model.variance_dof


def test_quick_nodes_are_right_to_a_millionth():
    found = moments(*table())
    model = fixed(found)
    np.testing.assert_allclose(log_bf(found, model.quick()), log_bf(found, model), atol=1e-6)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_sparse_matrices_are_the_dense_table(n, kind):
    X, y = table(n)
    X[np.abs(X) < 0.5] = 0.0
    np.testing.assert_allclose(bs.screen(kind(X), y).log_odds, bs.screen(X, y).log_odds, rtol=1e-9)


def test_number_types_and_layouts():
    X, y = table()
    single = X.astype(np.float32)
    expected = bs.screen(single.astype(np.float64), y).log_odds
    np.testing.assert_allclose(bs.screen(single, y).log_odds, expected, rtol=1e-10)
    np.testing.assert_allclose(
        bs.screen(np.asfortranarray(single.astype(np.float64)), y).log_odds, expected, rtol=1e-10
    )
    whole = np.round(X * 100).astype(np.int32)
    np.testing.assert_allclose(
        bs.screen(whole, y).log_odds, bs.screen(whole.astype(float), y).log_odds, rtol=1e-10
    )


@pytest.mark.parametrize("n", SIZES)
def test_threads_change_nothing(n):
    X, y = table(n, p=5000)
    one, two = (bs.screen(X, y, n_threads=k).log_odds for k in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n", [(3, 3), (2, 2), (2, 1), (1, 5), (3, 2, 1)])
def test_tiny_classes(n):
    """Variances of other features stand in; a clear difference is still one, and noise is not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(sum(n), 200)), np.repeat([f"c{k}" for k in range(len(n))], n)
    X[y == "c1", 0] += 12.0
    posterior = bs.screen(X, y)
    assert np.isfinite(posterior.log_odds).all()
    assert posterior.ranking[0] == 0
    assert posterior.log_odds[0] > 0
    assert (posterior.log_odds[1:] > 0).sum() <= 2


def test_single_samples_of_every_class_say_nothing():
    with pytest.warns(bs.DegenerateFeatureWarning, match="20 of 20 features have no usable variance"):
        posterior = bs.screen(np.random.default_rng(0).normal(size=(3, 20)), ["a", "b", "c"])
    assert (posterior.log_bayes_factor == 0).all()


def test_a_class_of_one_sample_says_nothing_about_variances():
    X, y = table((1, 12))
    found = moments(X, y)
    model = fixed(found)
    assert model.variance_weight == 0.0
    assert (tempering(found) == 0).all()


def test_few_features_say_nothing_about_the_variance_of_another():
    X, y = table(p=9)
    posterior = bs.screen(X, y)
    assert posterior.model.variance_dof == 0.0
    model = fixed(moments(X, y))
    for j in range(9):
        assert log_bf(moments(X[:, [j]], y), model)[0] == pytest.approx(posterior.log_bayes_factor[j], rel=1e-11)
    assert bs.screen(*table(p=10)).model.variance_dof > 0.0


@pytest.mark.parametrize("n", SIZES)
def test_constant_features_stay_at_the_prior(n):
    X, y = table(n)
    X[:, 3] = 1.5
    with pytest.warns(bs.DegenerateFeatureWarning, match="1 of 40 features have no usable variance"):
        posterior = bs.screen(X, y, prior_probability=0.2)
    assert posterior.degenerate_codes[3] == Degeneracy.CONSTANT
    assert posterior.probability[3] == pytest.approx(0.2)
    others = np.arange(40) != 3
    np.testing.assert_allclose(
        posterior.log_odds[others], bs.screen(X[:, others], y, prior_probability=0.2).log_odds, rtol=1e-9
    )


@pytest.mark.parametrize("n", SIZES)
def test_a_feature_constant_in_a_class_is_judged_by_its_means(n):
    X, y = table(n)
    X[y == "c0", 3] = 0.0
    posterior = bs.screen(X, y)
    assert posterior.degenerate_codes[3] == Degeneracy.CONSTANT_IN_A_CLASS
    found = moments(X, y)
    evidences = fixed(found).evidences(found)
    groups = [(k,) for k in range(len(n))]
    assert evidences.share[3] == 0.0
    assert evidences.kinds(groups)[1][3] == 0.0
    assert np.isfinite(posterior.log_odds).all()
    with pytest.warns(bs.DegenerateFeatureWarning, match="left at the prior"):
        left_out = bs.screen(X, y, degenerate="exclude")
    assert left_out.log_bayes_factor[3] == 0.0
    with pytest.raises(bs.DegenerateFeatureError, match="1 constant"):
        bs.screen(X, y, degenerate="raise")


def test_two_constants_that_differ_are_a_difference_where_others_tell_the_variance():
    X, y = table()
    X[:, 3] = np.where(y == "c0", 0.0, 50.0)
    assert bs.screen(X, y).log_odds[3] > 10
    with pytest.warns(bs.DegenerateFeatureWarning, match="left at the prior"):
        few = bs.screen(X[:, 1:8], y)
    assert few.log_bayes_factor[2] == 0.0
    assert few.degenerate_codes[2] == Degeneracy.CONSTANT_IN_A_CLASS


def test_without_fourth_powers_variances_have_no_say():
    X, y = table()
    plain = moments(X, y, shape=False)
    assert not plain.has_shape
    posterior = bs.screen(plain)
    assert posterior.model.variance_weight == 0.0
    mean, ratio = posterior.model.evidences(plain).kinds([(0,), (1,)])
    np.testing.assert_array_equal(posterior.log_bayes_factor, mean)
    assert (ratio == 0).all()


def test_blocks_add_up_under_one_set_of_constants():
    X, y = table((20, 20), p=60)
    batch = np.resize(["p", "q"], 40)
    parts = [moments(X[batch == b], y[batch == b]) for b in "pq"]
    model = MODEL.estimate(parts)
    expected = sum(log_bf(part, model) for part in parts)
    np.testing.assert_allclose(bs.screen(X, y, blocks=batch).log_bayes_factor, expected, rtol=1e-10)


def test_statistics_of_a_file_are_those_of_the_array(tmp_path):
    X, y = table()
    X[2, 5] = np.nan
    rows = [",".join(["label", *(f"g{j}" for j in range(40))])]
    rows += [
        ",".join([label, *("" if np.isnan(v) else repr(float(v)) for v in row)])
        for label, row in zip(y, X, strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    read = bs.read_table(tmp_path / "t.csv", labels="label", missing="omit")
    np.testing.assert_allclose(bs.screen(read).log_odds, bs.screen(X, y, missing="omit").log_odds, rtol=1e-9)


def test_options_that_make_no_sense():
    for options in (
        {"variance_weight": 1.0},
        {"both_share": 1.0},
        {"kurtosis": -1.0},
        {"variance_dof": 3.0},
        {"mean_sizes": ()},
        {"ratio_sizes": (0.0,)},
    ):
        with pytest.raises(bs.PriorError):
            bs.CalibratedModel(**options)
    with pytest.raises(bs.DataError, match="a group alone has no evidence"):
        MODEL.log_evidence(MODEL.statistic(np.ones((3, 1))))


# ---- third and fourth powers of moments, against sums of fractions


def direct(values):
    """Sums of the third and fourth powers about the mean, exact."""
    exact = [Fraction(float(v)) for v in values if not np.isnan(v)]
    if not exact:
        return 0.0, 0.0
    mean = sum(exact, Fraction(0)) / len(exact)
    return tuple(float(sum((v - mean) ** k for v in exact)) for k in (3, 4))


def check_powers(found, X, y, rtol=1e-11, removed_from=0.0):
    for k, label in enumerate(found.classes):
        rows = np.isin(y, label) if isinstance(label, tuple) else y == label
        for j in range(X.shape[1]):
            cubes, fourths = direct(X[rows, j])
            size = max(fourths, removed_from)
            assert found.centred_cubes[k, j] == pytest.approx(cubes, rel=rtol, abs=rtol * size**0.75)
            assert found.centred_fourths[k, j] == pytest.approx(fourths, rel=rtol, abs=rtol * size)


@pytest.fixture(params=["complete", "missing", "far from zero"])
def powers_of(request):
    X, y = table((9, 8, 7), p=6)
    if request.param == "missing":
        X[np.random.default_rng(5).random(X.shape) < 0.3] = np.nan
        X[y == "c2", 4] = np.nan
    elif request.param == "far from zero":
        X += 1e6
    return X, y, 1e-9 if request.param == "far from zero" else 1e-11


def test_powers_of_a_table(powers_of):
    X, y, rtol = powers_of
    check_powers(moments(X, y), X, y, rtol)
    check_powers(moments(sp.csr_array(X), y), X, y, rtol)
    check_powers(moments(sp.csc_array(X), y), X, y, rtol)


def test_powers_of_parts(powers_of):
    X, y, rtol = powers_of
    found = moments(X, y)
    check_powers(found.pool(), X, y, rtol)
    check_powers(found.pool(["c2", "c0"]), X, y, rtol)
    check_powers(found.pick(["c2", "c0"]), X, y, rtol)
    check_powers(found.take([4, 1]), X[:, [4, 1]], y, rtol)
    check_powers(bs.Moments.join([found.take([4]), found.take([0, 1])]), X[:, [4, 0, 1]], y, rtol)
    odd = np.arange(len(y)) % 2 == 1
    part, rest = moments(X[odd], y[odd]), moments(X[~odd], y[~odd])
    check_powers(part.merge(rest), X, y, rtol)
    check_powers(found.remove(part), X[~odd], y[~odd], rtol, removed_from=found.centred_fourths.max())
    one = moments(X[y == "c1"], y[y == "c1"])
    check_powers(found.pick(["c0", "c2"]).merge(one), X, y, rtol)


def test_nothing_is_left_of_what_is_removed_altogether():
    X, y = table(p=3)
    found = moments(X, y)
    gone = found.remove(found)
    assert (gone.centred_cubes == 0).all()
    assert (gone.centred_fourths == 0).all()
    but_one = found.remove(moments(X[1:], y[1:]))
    assert (but_one.centred_fourths == 0).all()


def test_powers_go_where_a_part_lacks_them():
    X, y = table(p=3)
    found, plain = moments(X, y), moments(X, y, shape=False)
    assert not found.merge(plain).has_shape
    assert not plain.merge(found).has_shape
    assert not found.remove(moments(X[:3], y[:3], shape=False)).has_shape
    assert not bs.Moments.join([found, plain]).has_shape
    assert not plain.pool().has_shape
    assert not plain.with_resolution(1.0).has_shape


def test_powers_out_of_range_do_not_disturb_the_moments():
    X, y = table(p=3)
    far = X * 1e120
    whole = moments(far, y).pool()
    np.testing.assert_allclose(whole.centred_squares, 1e240 * moments(X, y).pool().centred_squares, rtol=1e-12)
    left = moments(far, y).remove(moments(far[:3], y[:3]))
    np.testing.assert_allclose(left.mean, moments(far[3:], y[3:]).mean, rtol=1e-12)


def test_rounding_error_adds_its_own_powers():
    """A value and an independent error, uniform over a step: all pairs of values and a fine grid of errors."""
    X, y = table((5, 4), p=2)
    step = np.array([0.7, 1.9])
    found = moments(X, y).with_resolution(step)
    number = 2000
    for j in range(2):
        errors = ((np.arange(number) + 0.5) / number - 0.5) * step[j]
        for k, label in enumerate(found.classes):
            sums = X[y == label, j][:, None] + errors
            centred = sums - sums.mean()
            assert found.centred_squares[k, j] == pytest.approx((centred**2).sum() / number, rel=1e-6)
            assert found.centred_cubes[k, j] == pytest.approx((centred**3).sum() / number, rel=1e-6)
            assert found.centred_fourths[k, j] == pytest.approx((centred**4).sum() / number, rel=1e-6)


def test_powers_that_cannot_be():
    count, mean = np.array([3, 3]), np.zeros((2, 2))
    with pytest.raises(bs.DataError, match="both"):
        bs.Moments(("a", "b"), count, mean, mean, centred_fourths=mean)
    with pytest.raises(bs.DataError, match="fourths not negative"):
        bs.Moments(("a", "b"), count, mean, mean, centred_cubes=mean, centred_fourths=mean - 1.0)
    with pytest.raises(bs.DataError, match="of shape"):
        bs.Moments(("a", "b"), count, mean, mean, centred_cubes=mean[:, :1], centred_fourths=mean[:, :1])
