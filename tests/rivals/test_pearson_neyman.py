"""The Pearson-Neyman test: its statistic from raw data, its p-values, and the bridge to the screen."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats

import bayesieve as bs
from bayesieve.models import jeffreys_constant
from bayesieve.posterior import null_mean
from bayesieve.posterior.null.distribution import log_null_probability, null_quantile
from bayesieve.rivals.pearson_neyman import log_lambda


def exact_log_lambda(x0, x1):
    """From raw data by the definition, in mpmath."""

    def log_variance(x):
        values = [mp.mpf(float(v)) for v in x]
        mean = mp.fsum(values) / len(values)
        return mp.log(mp.fsum([(v - mean) ** 2 for v in values]) / len(values))

    x = [*x0, *x1]
    return (len(x0) * log_variance(x0) + len(x1) * log_variance(x1) - len(x) * log_variance(x)) / 2


def halves(n0, n1):
    return np.repeat([0, 1], [n0, n1])


def test_reference_data_set(r1):
    scores = bs.pearson_neyman(*r1)
    assert scores.details["log_lambda"][0] == pytest.approx(-3.8466393963, abs=5e-11)
    assert np.exp(scores.details["log_lambda"][0]) == pytest.approx(0.0213513695, abs=5e-11)
    assert scores.score[0] == -scores.details["log_lambda"][0]
    assert scores.p_value[0] == pytest.approx(0.0676054451, abs=5e-11)
    assert scores.log_p_value[0] == pytest.approx(-2.694066750, abs=5e-10)
    bartlett = bs.pearson_neyman(*r1, method="bartlett")
    assert bartlett.log_p_value[0] == pytest.approx(-3.8466393963 / 1.43126163, rel=1e-8)
    assert bs.pearson_neyman(*r1, method="chi2").p_value[0] == pytest.approx(0.0213513695, abs=5e-11)


def test_reference_p_value_by_raw_gaussian_data(rng):
    """Share of Gaussian data sets of 4 + 5 with a smaller lambda than R1."""
    X = rng.normal(2.0, 3.0, size=(9, 200_000))
    smaller = bs.pearson_neyman(X, halves(4, 5)).details["log_lambda"] <= -3.8466393963
    assert smaller.mean() == pytest.approx(0.0676054451, abs=4 * np.sqrt(0.0676 * 0.9324 / 200_000))


@pytest.mark.parametrize(
    ("shift", "ratio", "offset", "scale"),
    [
        (0.0, 1.0, 0.0, 1.0),
        (1.0, 0.7, 5.0, 1.0),
        (0.5, 1.0, 1e8, 1.0),
        (30.0, 1e-3, 0.0, 1e-100),
        (3.0, 9.0, 0.0, 1e140),
    ],
)
def test_statistic_by_mpmath_from_raw_data(rng, shift, ratio, offset, scale):
    X = rng.normal(size=(19, 20))
    X[8:] = X[8:] * ratio + shift
    X = offset + scale * X
    got = bs.pearson_neyman(X, halves(8, 11)).details["log_lambda"]
    with mp.workdps(50):
        expected = [float(exact_log_lambda(x[:8], x[8:])) for x in X.T]
    np.testing.assert_allclose(got, expected, rtol=2e-14, atol=1e-14 if offset == 1e8 else 0)


def test_statistic_near_one_by_mpmath(rng):
    """Two samples that are nearly the same: -log lambda down to 1e-20 keeps its digits as far as the sums do."""
    x = rng.normal(size=6)
    x = np.round(x - x.mean(), 6)
    steps = 10.0 ** -np.arange(1, 10)
    X = np.concatenate([np.tile(x[:, None], 9), x[:, None] * (1 + steps) + steps])
    got = bs.pearson_neyman(X, halves(6, 6)).details["log_lambda"]
    with mp.workdps(60):
        expected = np.array([float(exact_log_lambda(column[:6], column[6:])) for column in X.T])
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    np.testing.assert_allclose(got[:4], expected[:4], rtol=1e-10)
    np.testing.assert_array_less(np.abs(got - expected), 2e-15 * np.sqrt(np.abs(expected)))
    np.testing.assert_array_equal(bs.pearson_neyman(np.tile(x[:, None], (2, 1)), halves(6, 6)).score, [0.0])


@pytest.mark.parametrize(("n0", "n1"), [(2, 2), (2, 9), (5, 7), (30, 4), (25, 25)])
def test_p_values_of_gaussian_data_are_uniform(rng, n0, n1):
    X = rng.normal(-3.0, 0.2, size=(n0 + n1, 20_000))
    p = bs.pearson_neyman(X, halves(n0, n1)).p_value
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_p_values_with_missing_values_are_uniform(rng):
    X = rng.normal(size=(12, 20_000))
    X[rng.random(X.shape) < 0.3] = np.nan
    with pytest.warns(bs.DegenerateFeatureWarning, match="too few values"):
        scores = bs.pearson_neyman(X, halves(6, 6), missing="omit")
    p = scores.p_value[~np.isnan(scores.p_value)]
    assert p.size > 19_000
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_heavy_tails_break_the_p_values(rng):
    """Why the caveat is there: t with 5 degrees of freedom, 20 + 20 samples."""
    scores = bs.pearson_neyman(rng.standard_t(5, size=(40, 20_000)), halves(20, 20))
    assert (scores.p_value < 0.01).mean() > 0.02
    assert "Gaussian data only" in str(scores.notes()[0])


def test_features_with_missing_values_are_tested_as_if_alone(rng):
    X = rng.normal(size=(20, 400)) * np.where(np.arange(20) < 9, 1.0, 3.0)[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    scores = bs.pearson_neyman(X, halves(9, 11), missing="omit")
    for f in range(0, 400, 7):
        kept = ~np.isnan(X[:, f])
        alone = bs.pearson_neyman(X[kept, f : f + 1], halves(9, 11)[kept])
        assert scores.log_p_value[f] == pytest.approx(alone.log_p_value[0], rel=1e-12)


def test_same_ranking_as_the_screen_under_jeffreys_prior_with_ties(rng):
    X = rng.normal(size=(30, 600))
    X[12:, :100] *= 2.0
    X[:, 300:400] = X[:, :100]
    posterior = bs.screen(X, halves(12, 18), model=bs.GaussianModel.jeffreys(), shuffles=0)
    scores = bs.pearson_neyman(X, halves(12, 18))
    np.testing.assert_array_equal(scores.ranking, posterior.ranking)
    np.testing.assert_array_equal(scores.score[300:400], scores.score[:100])
    expected = np.log(0.1) + jeffreys_constant(12, 18) + scores.score
    np.testing.assert_allclose(posterior.log_bayes_factor, expected, rtol=0, atol=1e-12)
    order = np.argsort(scores.log_p_value, kind="stable")
    np.testing.assert_array_equal(order, scores.ranking)


@pytest.mark.parametrize(("prior", "ratio"), [(0.005, 0.1), (0.1, 0.4), (0.01, "bic")])
def test_mnc_is_a_cut_of_p_values(rng, prior, ratio):
    """B5: log-odds over 0 under Jeffreys' prior are p-values below that of lambda = L pi / (1 - pi) e^K."""
    X = rng.normal(size=(40, 3000))
    X[15:, :200] += 1.5
    model = bs.GaussianModel.jeffreys(ratio)
    posterior = bs.screen(X, halves(15, 25), model=model, prior_probability=prior)
    log_ratio = float(np.squeeze(model.log_prior_ratio(posterior.moments)))
    cut = log_ratio + np.log(prior / (1 - prior)) + jeffreys_constant(15, 25)
    passed = bs.pearson_neyman(posterior).log_p_value < log_null_probability(cut, 15, 25)
    np.testing.assert_array_equal(passed, posterior.log_odds > 0)
    assert 100 < passed.sum() < 500
    expected = 3000 * np.exp(log_null_probability(cut, 15, 25))
    assert bs.expected_under_null(posterior, 0.0) == pytest.approx(float(expected), rel=1e-12)


def test_prior_ratio_of_a_given_size(rng):
    """M3, 'alpha': the ratio that lets a share alpha of Gaussian non-markers pass."""
    alpha, prior = 0.02, 0.01
    ratio = np.exp(null_quantile(np.log(alpha), 10, 14) - jeffreys_constant(10, 14)) * (1 - prior) / prior
    X = rng.normal(size=(24, 20_000))
    model = bs.GaussianModel.jeffreys(float(ratio))
    posterior = bs.screen(X, halves(10, 14), model=model, prior_probability=prior)
    assert bs.expected_under_null(posterior, 0.0) == pytest.approx(alpha * 20_000, rel=1e-10)
    assert (posterior.log_odds > 0).mean() == pytest.approx(alpha, abs=4 * np.sqrt(alpha / 20_000))


def test_affine_maps_order_of_samples_and_of_classes_change_nothing(rng):
    X, y = rng.normal(size=(17, 50)), halves(7, 10)
    X[7:, :9] *= 4.0
    log_p = bs.pearson_neyman(X, y).log_p_value
    for other in (
        bs.pearson_neyman(-3.7 * X + 11.0, y),
        bs.pearson_neyman(X, 1 - y),
        bs.pearson_neyman(X, y, classes=(1, 0)),
        bs.pearson_neyman(X[::-1], y[::-1]),
    ):
        np.testing.assert_allclose(other.log_p_value, log_p, rtol=1e-11, atol=1e-13)
    order = rng.permutation(50)
    np.testing.assert_allclose(bs.pearson_neyman(X[:, order], y).log_p_value, log_p[order], rtol=1e-12)


def test_result_does_not_depend_on_how_many_features_there_are(rng):
    """The table (many features) and the direct route (few) agree."""
    X, y = rng.normal(size=(15, 2000)), halves(6, 9)
    X[6:] *= np.geomspace(1e-3, 1e3, 2000)
    whole = bs.pearson_neyman(X, y).log_p_value
    parts = [bs.pearson_neyman(X[:, i : i + 50], y).log_p_value for i in range(0, 2000, 50)]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-12, atol=0)


def test_all_kinds_of_input_give_the_same(rng, tmp_path):
    X, y = rng.normal(size=(14, 30)).round(3), np.repeat(["b", "a"], [8, 6])
    X[8:, 0] += 4.0
    names = [f"gene{i}" for i in range(30)]
    frame = pd.DataFrame(X, columns=names)
    plain = bs.pearson_neyman(X, y, feature_names=names)
    path = tmp_path / "table.csv"
    frame.assign(label=y).to_csv(path, index=False)
    table = bs.read_table(path, labels="label")
    moments = bs.Moments.from_matrix(X, y)
    others = {
        "frame": bs.pearson_neyman(frame, y),
        "sparse": bs.pearson_neyman(sp.csr_matrix(X), y, feature_names=names),
        "moments": bs.pearson_neyman(moments, feature_names=names),
        "file": bs.pearson_neyman(table),
        "posterior": bs.pearson_neyman(bs.screen(frame, y)),
        "proper": bs.pearson_neyman(bs.screen(frame, y, model=bs.GaussianModel.proper())),
        "threads": bs.pearson_neyman(X, y, feature_names=names, n_threads=2),
    }
    for name, scores in others.items():
        assert scores.names == plain.names, name
        np.testing.assert_allclose(scores.log_p_value, plain.log_p_value, rtol=1e-11, atol=1e-13, err_msg=name)
    assert plain.significant() == ("gene0",)
    np.testing.assert_array_equal(log_lambda(moments), plain.details["log_lambda"])


@pytest.mark.parametrize("method", ["exact", "bartlett", "chi2"])
def test_features_without_variance(method):
    X = np.array(
        [
            [1.0, 1.0, 1.0, 5.0, 0.3, 1.0],
            [1.0, 1.0, 1.0, 5.0, 0.1, np.nan],
            [1.0, 1.0, 1.0, 5.0, 0.7, np.nan],
            [1.0, 2.0, 3.0, 5.0, 0.6, 2.0],
            [1.0, 2.5, 3.0, 5.0, 0.2, 2.0],
            [1.0, 1.0, 3.0, 5.0, 0.9, 2.5],
        ]
    )
    with pytest.warns(bs.DegenerateFeatureWarning) as caught:
        scores = bs.pearson_neyman(X, halves(3, 3), missing="omit", method=method)
    assert str(caught[0].message) == (
        "5 of 6 features have no usable variance (2 not tested: constant in all samples; 1 not tested: too few "
        "values in a class; 2 with a p-value of 0 that counts as no test: constant in a class)."
    )
    assert np.isnan(scores.log_p_value).tolist() == [True, False, False, True, False, True]
    assert scores.log_p_value[[1, 2]].tolist() == [-np.inf, -np.inf]
    assert scores.p_value[[1, 2]].tolist() == [0.0, 0.0]
    assert scores.ranking.tolist() == [1, 2, 4, 0, 3, 5]
    assert np.isfinite(scores.log_p_value[4])
    assert caught[0].filename == __file__


def test_approximations(rng):
    X, y = rng.normal(size=(11, 40)), halves(5, 6)
    exact, bartlett, chi2 = (bs.pearson_neyman(X, y, method=method) for method in ("exact", "bartlett", "chi2"))
    np.testing.assert_allclose(bartlett.log_p_value, -exact.score / -float(null_mean(5, 6)), rtol=1e-13)
    np.testing.assert_array_equal(chi2.log_p_value, exact.details["log_lambda"])
    assert (exact.method, bartlett.method, chi2.method) == (
        "pearson_neyman", "pearson_neyman_bartlett", "pearson_neyman_chi2",
    )  # fmt: skip
    assert np.abs(bartlett.log_p_value - exact.log_p_value).max() < 0.1
    X[3, :] = np.nan
    with_holes = bs.pearson_neyman(X, y, method="bartlett", missing="omit")
    assert with_holes.log_p_value[0] == pytest.approx(
        with_holes.details["log_lambda"][0] / -float(null_mean(4, 6))
    )


def test_beside_the_log_odds(rng):
    X = rng.normal(size=(30, 100))
    X[15:, 0] += 3.0
    posterior = bs.screen(X, halves(15, 15))
    told = posterior.with_finding(bs.pearson_neyman(posterior))
    table = told.to_dict()
    assert table["adjusted_p_value"][0] < 0.05
    np.testing.assert_array_equal(table["log_p_value"], bs.pearson_neyman(X, halves(15, 15)).log_p_value)
    assert "hold for Gaussian data only" in bs.MinimalRisk(0.5).select(told).summary()


FAR_APART = bs.Moments((0, 1), np.array([3, 3]), np.array([[0.0], [1e200]]), np.ones((2, 1)))
X4 = [[0.1, 1.0], [0.5, 2.0], [0.2, 4.0], [0.9, 3.0]]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: bs.pearson_neyman(X4, [0, 0, 1, 1], method="welch"),
            bs.OptionError,
            "'exact', 'bartlett' or 'chi2'",
        ),
        (lambda: bs.pearson_neyman(X4, ["a", "b", "c", "c"]), bs.LabelError, r"two classes, not 3 \(a, b, c\)"),
        (lambda: bs.pearson_neyman(X4, ["a", "b", "b", "b"]), bs.LabelError, "class 'a' has 1"),
        (lambda: bs.pearson_neyman(X4, [0, 0, 1, 1], missing="guess"), bs.DataError, "missing"),
        (lambda: bs.pearson_neyman([[np.nan, 1.0], *X4[1:]], [0, 0, 1, 1]), bs.MissingValueError, "missing"),
        (lambda: bs.pearson_neyman(np.array(X4) * 1e200, [0, 0, 1, 1]), bs.DataError, "overflow"),
        (lambda: bs.pearson_neyman(FAR_APART), bs.DataError, "range of 64-bit"),
        (lambda: bs.pearson_neyman(np.array(X4) * 1e-200, [0, 0, 1, 1]), bs.DataError, "squares vanish"),
        (
            lambda: bs.pearson_neyman(bs.Moments.from_matrix(X4, [0, 0, 1, 1]), [0, 0, 1, 1]),
            bs.LabelError,
            "without y",
        ),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_errors_about_posteriors(rng):
    X, y = rng.normal(size=(24, 5)), [0, 1] * 12
    posterior = bs.screen(X, y)
    with pytest.raises(bs.LabelError, match=r"call pearson_neyman\(posterior\)"):
        bs.pearson_neyman(posterior, y)
    with pytest.raises(bs.OptionError, match="knows no blocks"):
        bs.pearson_neyman(bs.screen(X, y, blocks=["a"] * 12 + ["b"] * 12))
    with pytest.raises(bs.LabelError, match="two classes, not 1"):
        bs.pearson_neyman(bs.screen(X, y, pairs=np.arange(24) // 2))
    counts = bs.screen(rng.poisson(4.0, size=(24, 5)), y, model=bs.PoissonModel())
    with pytest.raises(bs.DataError, match="not of Gaussian data"):
        bs.pearson_neyman(counts)


def test_features_constant_in_a_class_do_not_count_among_the_tests(rng):
    """Rare events without a single marker: their zeros must not make other features significant."""
    X = rng.poisson(0.1, size=(20, 1000)).astype(float)
    with pytest.warns(bs.DegenerateFeatureWarning, match="counts as no test"):
        scores = bs.pearson_neyman(X, [0] * 10 + [1] * 10)
    flat = scores.log_p_value == -np.inf
    assert flat.sum() > 100
    assert np.isnan(scores.adjusted_p_value[flat]).all()
    tested = ~np.isnan(scores.adjusted_p_value)
    alone = bs.FeatureScores("alone", scores.score[tested], log_p_value=scores.log_p_value[tested])
    np.testing.assert_array_equal(scores.adjusted_p_value[tested], alone.adjusted_p_value)
    assert not set(scores.significant(0.05)) & {scores.names[i] for i in np.flatnonzero(flat)}
