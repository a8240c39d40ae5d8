"""Permuted labels, against calling screen() for every permutation."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import warnings
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import bayesieve as bs
from bayesieve.posterior.null.distribution import log_null_probability
from bayesieve.stats import Relabellings

SCREEN, ENGINE, TILES = (  # the modules; the package gives the functions
    importlib.import_module(f"bayesieve.screening.{name}") for name in ("obf", "permutation_test", "relabelled")
)
TIE = 1e-8


def screen(*data, **options):
    """Screen under Jeffreys' prior, unless another model is given."""
    return bs.screen(*data, **{"model": bs.GaussianModel.jeffreys(), "shuffles": 0} | options)


def permutations(*data, **options):
    """Permute under Jeffreys' prior, unless another model or a screen is given."""
    return bs.permutations(*data, **{"model": bs.GaussianModel.jeffreys()} | options)


@contextlib.contextmanager
def quietly():
    """Without warnings and the simulations behind them, which take most of the time of a small screen."""
    with warnings.catch_warnings(), mock.patch.object(SCREEN, "advise"):
        warnings.simplefilter("ignore")
        yield


def by_screens(X, y, n_permutations, seed=0, **options):
    """Log Bayes factors of a literal loop: (n_permutations, n_features)."""
    classes, codes = np.unique(y, return_inverse=True)
    labels = Relabellings.draw(codes, len(classes), n_permutations, seed).codes
    with quietly():
        return np.array(
            [screen(X, classes[row], classes=classes.tolist(), **options).log_bayes_factor for row in labels]
        )


def check(X, y, n_permutations=40, cut=0.0, leave_out=None, table=None, **options):
    """Compare with the loop; all that was counted must be equal."""
    given = (X, y) if table is None else (table,)
    told = {} if table is not None else options
    with quietly():
        found = permutations(*given, n_permutations=n_permutations, cut=cut, leave_out=leave_out, **told)
    null = by_screens(X, y, n_permutations, **options)
    full = found.full
    usable, own = ~full.degenerate, full.log_bayes_factor
    pool = usable if leave_out is None else usable & ~np.asarray(leave_out)
    prior = np.broadcast_to(full.prior_log_odds, own.shape)
    assert (found.n_pool, found.n_usable) == (pool.sum(), usable.sum())
    silent = full.degenerate & (own == 0.0)  # the screen says nothing about them: any permutation reaches that
    reaching = np.where(silent, len(null), (null >= own - TIE).sum(axis=0))
    assert found.n_reaching.tolist() == reaching.tolist()
    pooled = [(null[:, pool] >= each - TIE).sum() if use else -1 for each, use in zip(own, usable, strict=True)]
    assert found.n_reaching_pooled.tolist() == pooled
    odds = (prior + null)[:, pool]
    assert found.passing.tolist() == (odds > cut).sum(axis=1).tolist()
    np.testing.assert_allclose(found.largest, null[:, pool].max(axis=1), rtol=1e-10, atol=1e-10)
    expected = np.sort(odds.ravel())[::-1][: found.tail.size]
    np.testing.assert_allclose(found.tail, expected, rtol=1e-10, atol=1e-10)
    return found, null


def table_of(sizes, n_features=60, seed=0):
    """Non-markers, markers, heavy tails and outliers, in mixed order."""
    rng = np.random.default_rng([seed, *sizes])
    y = np.repeat(["a", "b", "c"][: len(sizes)], sizes)
    X = 5.0 + rng.normal(size=(len(y), n_features))
    X[y == "b", :5] += 2.0
    X[y == "a", 5:10] = 5.0 + 4.0 * (X[y == "a", 5:10] - 5.0)
    X[:, 10:20] = rng.standard_t(1.5, size=(len(y), 10))
    X[rng.integers(len(y), size=5), np.arange(20, 25)] += 1e5
    order = rng.permutation(len(y))
    return X[order], y[order]


PER_FEATURE = bs.GaussianModel(
    (bs.NormalInverseGamma(3.0, np.linspace(0.2, 2.0, 60), 0.1, np.linspace(4.0, 6.0, 60)),),
    bs.NormalInverseGamma(2.0, 0.5, np.linspace(0.05, 1.0, 60), 5.0),
)
PRIORS = {
    "jeffreys": {},
    "depends on sizes": {"model": bs.GaussianModel.jeffreys("bic")},
    "one ratio per feature": {"model": bs.GaussianModel.jeffreys(np.linspace(0.01, 1.0, 60))},
    "proper": {"model": bs.GaussianModel.proper(mean_locations=(5.0, 5.2), pooled_location=5.0)},
    "proper, per feature": {"model": PER_FEATURE, "prior_probability": np.linspace(0.001, 0.4, 60)},
    "resolution": {"resolution": 0.5},
    "resolution per feature": {"resolution": np.linspace(0.01, 1.0, 60)},
}


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("sizes", [(12, 12), (5, 20), (4, 3)])
def test_two_classes_equal_a_loop_of_screens(sizes, prior):
    check(*table_of(sizes), n_permutations=30, **PRIORS[prior])


@pytest.mark.parametrize("options", [{}, {"patterns": "distinct"}, {"patterns": "a | *"}, {"model": PER_FEATURE}])
def test_three_classes_equal_a_loop_of_screens(options):
    check(*table_of((8, 12, 6)), n_permutations=30, **options)


@pytest.mark.parametrize("degenerate", ["floor", "exclude"])
@pytest.mark.parametrize("sizes", [(12, 12), (3, 9), (8, 8, 8)])
def test_features_full_of_ties_are_treated_as_in_the_screen(sizes, degenerate):
    rng = np.random.default_rng(3)
    X, y = table_of(sizes, 40)
    X[:, :25] = rng.poisson(np.linspace(0.02, 1.0, 25), size=(len(y), 25))
    X[:, 25] = 7.0  # constant
    X[:, 26] = y == "b"  # constant in every class
    found, _ = check(X, y, degenerate=degenerate)
    assert found.n_degenerate > 0
    assert "treated as the screen treats them" in str(found.notes()[1])
    assert found.full.degenerate[[25, 26]].all()
    assert np.isnan(found.p_value[[25, 26]]).all()
    assert np.isnan(found.adjusted_p_value[25])
    assert np.isnan(found.familywise_p_value[25])
    assert np.isnan(found.false_discovery_rate()[25])
    assert found.feature_p_value[25] == 1.0
    if degenerate == "floor":  # its own permutations know how rare it is
        assert found.feature_p_value[26] == 1 / 41


def test_a_class_of_one_sample_is_permuted_and_one_of_none_is_refused():
    X, y = table_of((1, 12))
    check(X, y, n_permutations=12, model=bs.GaussianModel.proper(mean_locations=(5.0, 5.0), pooled_location=5.0))
    with pytest.raises(bs.LabelError, match="No sample is of class c"):
        permutations(X, y, model=bs.GaussianModel.proper(mean_locations=(5.0,)), classes=["a", "b", "c"])


@pytest.mark.parametrize("sizes", [(12, 12), (4, 12), (7, 8, 9)])
def test_missing_values_equal_a_loop_of_screens(sizes):
    X, y = table_of(sizes)
    X[np.random.default_rng(4).random(X.shape) < 0.25] = np.nan
    check(X, y, missing="omit")


def test_left_out_features_are_not_in_the_pool_but_are_judged_by_it():
    X, y = table_of((12, 12))
    found, null = check(X, y, leave_out=np.arange(60) < 10)
    named = permutations(X, y, n_permutations=40, leave_out=[f"x{i}" for i in range(10)])
    assert (named.n_reaching_pooled == found.n_reaching_pooled).all()
    assert (found.p_value == (1 + found.n_reaching_pooled) / (1 + 40 * 50)).all()
    passing = (null[:, 10:] + found.full.prior_log_odds > 0).sum(axis=1)
    assert found.expected_under_null == pytest.approx(passing.mean() * 60 / 50, rel=1e-14)
    assert found.standard_error == pytest.approx(passing.std(ddof=1) / np.sqrt(40) * 60 / 50, rel=1e-14)


def test_p_values_and_rates_equal_their_definitions():
    X, y = table_of((15, 15))
    found, null = check(X, y, n_permutations=50)
    own = found.full.log_bayes_factor
    assert (found.p_value == [(1 + (null >= each - TIE).sum()) / (1 + 50 * 60) for each in own]).all()
    assert (found.feature_p_value == (1 + (null >= own - TIE).sum(axis=0)) / 51).all()
    most = null.max(axis=1)
    assert (found.familywise_p_value == [(1 + (most >= each - TIE).sum()) / 51 for each in own]).all()
    np.testing.assert_allclose(np.exp(found.log_p_value), found.p_value, rtol=1e-14)

    def rate(t):
        return (null >= t - TIE).sum(axis=1).mean() / max(1, (own >= t - TIE).sum())

    expected = np.array([min(rate(t) for t in own[own <= each]) for each in own])
    np.testing.assert_allclose(found.false_discovery_rate(), np.minimum(expected, 1), rtol=1e-12)
    np.testing.assert_allclose(found.false_discovery_rate(0.6), np.minimum(0.6 * expected, 1), rtol=1e-12)
    for p, by_function in (
        (found.p_value, found.adjusted_p_value),
        (found.feature_p_value, found.adjusted_feature_p_value),
    ):
        order = np.argsort(p)
        steps = p[order] * 60 / np.arange(1, 61)  # Benjamini and Hochberg by hand
        adjusted = np.empty(60)
        adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
        np.testing.assert_allclose(by_function, adjusted, rtol=1e-12)


def test_all_labellings_of_a_tiny_study_by_enumeration():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(7, 20)), np.array([0, 1, 1, 0, 0, 1, 0])
    with mock.patch.object(SCREEN, "advise"), pytest.warns(bs.CalibrationWarning, match="only 34 other ways"):
        found = permutations(X, y, n_permutations=1000)
    assert found.complete
    assert found.standard_error == 0.0
    with quietly():
        every = [screen(X, labels).log_bayes_factor for labels in sorted(set(itertools.permutations(y.tolist())))]
    reaching = (np.array(every) >= found.full.log_bayes_factor - TIE).mean(axis=0)
    np.testing.assert_allclose(found.feature_p_value, reaching, rtol=1e-14)
    assert found.feature_p_value.min() >= 1 / 35


def test_exhaustive_p_values_are_exact_under_the_null():
    """Over all labellings of the same values, the p-value of a feature is at most u in at most a share u."""
    x = np.random.default_rng(2).standard_t(3, size=(7, 1))
    labellings = sorted(set(itertools.permutations([0] * 3 + [1] * 4)))
    with quietly():
        p = [permutations(x, labels, n_permutations=1000).feature_p_value[0] for labels in labellings]
    for k in range(1, 36):
        assert (np.array(p) <= k / 35 + 1e-12).mean() <= k / 35 + 1e-12


@pytest.mark.parametrize("missing", [False, True])
def test_lots_tiles_and_threads_change_nothing(monkeypatch, missing):
    X, y = table_of((15, 12), 150)
    X[:, 60:90] = np.round(X[:, 60:90] / 3)
    if missing:
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    with quietly():
        whole = permutations(X, y, n_permutations=100, missing="omit", n_threads=1)
        threads = permutations(X, y, n_permutations=100, missing="omit", n_threads=3)
        monkeypatch.setattr(ENGINE, "_MOST_AT_ONCE", 17)
        monkeypatch.setattr(ENGINE, "_CELLS_AT_ONCE", 17 * 13)
        monkeypatch.setattr(ENGINE, "_VALUES_AT_ONCE", 27 * 50)
        monkeypatch.setattr(TILES, "_VALUES_AT_ONCE", 27 * 3)
        monkeypatch.setattr(TILES, "_TILE", 40)
        done = []
        chunks = permutations(
            X, y, n_permutations=100, missing="omit", n_threads=2, progress=lambda *each: done.append(each)
        )
    assert done[-1] == (150, 150)
    assert len(done) > 10
    for other in (threads, chunks):
        for name in ("n_reaching", "n_reaching_pooled", "passing"):
            assert (getattr(whole, name) == getattr(other, name)).all()
        assert whole.n_degenerate == other.n_degenerate
        np.testing.assert_allclose(whole.tail, other.tail, rtol=1e-9)
    assert (whole.tail == threads.tail).all()
    assert (whole.largest == threads.largest).all()


@pytest.mark.parametrize("samples_in", ["rows", "columns"])
def test_a_file_gives_what_the_array_gives(tmp_path, samples_in, monkeypatch):
    X, y = table_of((8, 9), 40)
    X = np.round(X, 2)
    np.save(tmp_path / "x.npy", X if samples_in == "rows" else X.T)
    (tmp_path / "labels.csv").write_text("\n".join(["n,stage", *(f"{i},{label}" for i, label in enumerate(y))]))
    monkeypatch.setattr("bayesieve.io.formats.numpy_files.samples_per_chunk", lambda n_features: 8)
    monkeypatch.setattr(ENGINE, "_VALUES_OF_A_FILE", 17 * 15)  # read more than once
    monkeypatch.setattr(ENGINE, "_CELLS_AT_ONCE", 40 * 12)
    labels = f"{tmp_path / 'labels.csv'}:stage"
    check(X, y, table=bs.read_table(tmp_path / "x.npy", labels=labels, samples_in=samples_in))


def test_sparse_matrices_frames_and_ready_posteriors_give_the_same():
    pd = pytest.importorskip("pandas")
    X, y = table_of((10, 10), 30)
    X[np.abs(X - 5.0) < 0.4] = 0.0
    with quietly():
        whole = permutations(X, y, n_permutations=50)
        posterior = screen(X, y)
        others = [
            permutations(sp.csr_matrix(X), y, n_permutations=50),
            permutations(pd.DataFrame(X), pd.Series(y), n_permutations=50),
            permutations(X, y, posterior=posterior, n_permutations=50, prior_probability=0.9),
        ]
    for other in others:
        assert (whole.n_reaching == other.n_reaching).all()
        assert (whole.n_reaching_pooled == other.n_reaching_pooled).all()
        assert (whole.passing == other.passing).all()


def test_calibrated_ratio_and_cut_give_the_number_asked_for():
    X, y = table_of((12, 12), 300)
    options = {"n_permutations": 200, "prior_probability": 0.02}
    for model, again in (
        (bs.GaussianModel.jeffreys(), bs.GaussianModel.jeffreys),
        (bs.GaussianModel.jeffreys("bic"), bs.GaussianModel.jeffreys),
        (bs.GaussianModel.jeffreys(np.full(300, 0.3)), bs.GaussianModel.jeffreys),
    ):
        found = permutations(X, y, model=model, **options)
        for target in (0.5, 1.0, 7.0):
            ratio = found.prior_ratio(target)
            calibrated = permutations(X, y, model=again(prior_ratio=ratio), **options)
            assert calibrated.expected_under_null == pytest.approx(target, abs=1e-12)
            at_cut = permutations(X, y, model=model, cut=found.cut_for(target), **options)
            assert at_cut.expected_under_null == pytest.approx(target, abs=1e-12)


def test_calibrated_ratio_of_three_distinct_classes():
    X, y = table_of((8, 8, 8), 100)
    options = {"n_permutations": 100, "patterns": "distinct"}
    ratio = permutations(X, y, **options).prior_ratio(2.0)
    again = permutations(X, y, model=bs.GaussianModel.jeffreys(ratio), **options)
    assert again.expected_under_null == pytest.approx(2.0, abs=1e-12)
    with pytest.raises(bs.OptionError, match="cut_for"):
        permutations(X, y, n_permutations=20).prior_ratio()


def test_more_can_be_kept_for_a_large_target():
    X, y = table_of((12, 12))
    with pytest.raises(bs.OptionError, match=r"target=30\.0"):
        permutations(X, y, n_permutations=20).cut_for(30.0)
    found = permutations(X, y, n_permutations=20, target=30.0)
    assert permutations(X, y, n_permutations=20, cut=found.cut_for(30.0)).expected_under_null == 30.0


def nulls(kind, rng, shape):
    """Features whose classes are alike, of unit variance except for the outliers."""
    if kind == "gauss":
        return rng.normal(size=shape)
    if kind == "t5":
        return rng.standard_t(5, size=shape)
    if kind == "log-normal":
        return np.exp(rng.normal(size=shape))
    return rng.normal(size=shape) * np.where(rng.random(shape) < 0.02, 8.0, 1.0)


def exact_p(posterior, n0, n1):
    """Exact p-values under the Gaussian distribution, from the maximised likelihoods themselves."""
    moments = posterior.moments
    pooled = moments.pool()
    log_lambda = 0.5 * (
        n0 * np.log(moments.centred_squares[0] / n0)
        + n1 * np.log(moments.centred_squares[1] / n1)
        - (n0 + n1) * np.log(pooled.centred_squares[0] / (n0 + n1))
    )
    return np.exp(log_null_probability(log_lambda, n0, n1))


def test_gaussian_non_markers_permutations_and_exact_distribution_agree():
    X, y = nulls("gauss", np.random.default_rng(5), (40, 2000)), np.repeat([0, 1], 20)
    found = permutations(X, y, n_permutations=300)
    exact = exact_p(found.full, 20, 20)
    for p in (found.p_value, found.feature_p_value, exact):
        assert stats.kstest(p, "uniform").pvalue > 0.01
    assert np.abs(found.p_value - exact).max() < 0.02  # 600,000 values make the pool
    small = exact < 0.05
    assert np.corrcoef(np.log(found.p_value[small]), np.log(exact[small]))[0, 1] > 0.99
    assert found.expected_under_null == pytest.approx(
        found.gaussian_under_null, abs=5 * found.standard_error + 0.1
    )


@pytest.mark.parametrize("kind", ["t5", "log-normal", "outliers"])
def test_other_non_markers_break_the_exact_distribution_and_permutations_mend_it(kind):
    """The Gaussian distribution lets through many times what it says; fresh data agree with the permutations."""
    rng = np.random.default_rng(11)
    y = np.repeat([0, 1], 20)
    with quietly():
        found = permutations(nulls(kind, rng, (40, 4000)), y, n_permutations=200, prior_probability=0.05)
        fresh = screen(nulls(kind, rng, (40, 40_000)), y, prior_probability=0.05)
    realised = (fresh.log_odds > 0).sum() / 10
    assert found.gaussian_under_null < 0.5 * realised
    assert found.expected_under_null == pytest.approx(realised, rel=0.1)
    exact = exact_p(found.full, 20, 20)
    assert (exact < 1e-3).mean() > 4e-3
    assert stats.kstest(exact, "uniform").pvalue < 1e-6
    assert stats.kstest(found.p_value, "uniform").pvalue > 0.01
    assert (found.p_value < 1e-3).mean() < 2.5e-3


def test_own_permutations_find_more_markers_among_heavy_tails_than_the_pool():
    rng = np.random.default_rng(8)
    X, y = rng.standard_t(5, size=(50, 300)), np.repeat([0, 1], 25)
    X[y == 1, :20] += 2.0
    found = permutations(X, y, n_permutations=2000)
    own, pooled = found.adjusted_feature_p_value <= 0.05, found.adjusted_p_value <= 0.05
    assert own[:20].sum() > pooled[:20].sum()
    assert own[20:].sum() <= 3


def test_familywise_errors_are_as_announced():
    rng, n_wrong = np.random.default_rng(8), 0
    for seed in range(60):
        X = rng.standard_t(5, size=(16, 40)) + rng.normal(size=(16, 1))  # correlated, heavy tails
        with quietly():
            found = permutations(X, [0] * 8 + [1] * 8, n_permutations=99, seed=seed)
        n_wrong += found.familywise_p_value.min() <= 0.2
    assert stats.binomtest(n_wrong, 60, 0.2, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize(
    ("sizes", "shift", "scale", "ratio"), [((25, 25), 0, 3**0.5, 2.4), ((25, 25), 2, 1, 0.6), ((42, 8), 3, 1, 2.2)]
)
def test_permuted_markers_are_heavier_or_lighter_than_non_markers(sizes, shift, scale, ratio):
    """Mixed variances, or means of unequal classes, have heavy tails; two clumps of equal size have light ones."""
    y = np.repeat([0, 1], sizes)
    X = np.random.default_rng(12).normal(size=(50, 2000))
    X[y == 1] = shift + scale * X[y == 1]
    found = permutations(X, y, n_permutations=200)
    assert found.expected_under_null / found.gaussian_under_null == pytest.approx(ratio, rel=0.12)


def test_markers_in_the_pool_make_others_less_significant_and_can_be_left_out():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(30, 400)), np.repeat([0, 1], 15)
    X[y == 1, :100] *= 5.0
    X[y == 1, 100:110] += 1.4
    first = permutations(X, y, n_permutations=200)
    second = permutations(X, y, n_permutations=200, leave_out=np.arange(400) < 100)
    assert (second.p_value[100:110] < first.p_value[100:110]).all()
    assert second.n_pool == 300


def test_findings_columns_and_some_of_the_features():
    X, y = table_of((12, 12))
    found = permutations(X, y, n_permutations=40)
    table = found.full.with_finding(found).to_dict()
    assert (table["permutation_p_value"] == found.p_value).all()
    assert (table["permutation_false_discovery_rate"] == found.false_discovery_rate()).all()
    few = found.take(np.array([7, 3]))
    assert few.p_value.tolist() == found.p_value[[7, 3]].tolist()
    assert few.adjusted_p_value.tolist() == found.adjusted_p_value[[7, 3]].tolist()
    assert few.adjusted_feature_p_value.tolist() == found.adjusted_feature_p_value[[7, 3]].tolist()
    assert few.familywise_p_value.tolist() == found.familywise_p_value[[7, 3]].tolist()
    assert few.notes() == found.notes()
    assert found.take(slice(0, 2)).full.names == ("x0", "x1")
    with pytest.raises(bs.DataError, match="do not fit"):
        found.columns(few.full)
    assert not found.tail.flags.writeable


ERRORS = {
    "sums": (lambda X, y: permutations(bs.Moments.from_matrix(X, y)), bs.DataError, "hold sums, not samples"),
    "no labels": (lambda X, y: permutations(X, posterior=screen(X, y)), bs.LabelError, "class of every"),
    "another table": (
        lambda X, y: permutations(X + 1.0, y, posterior=screen(X, y)), bs.DataError, "not the one"
    ),
    "other labels": (
        lambda X, y: permutations(X, y[::-1], posterior=screen(X, y)), bs.DataError, "not the one"
    ),
    "fewer features": (
        lambda X, y: permutations(X[:, :5], y, posterior=screen(X, y)), bs.DataError, "with 60 features"
    ),
    "another model": (
        lambda X, y: permutations(X, y, model=bs.CalibratedModel()),
        bs.OptionError,
        "are those of the paper's priors, not of CalibratedModel",
    ),
    "blocks": (
        lambda X, y: permutations(X, y, posterior=screen(X, y, blocks=["p", "q"] * 12)),
        bs.OptionError, "not exchangeable",
    ),
    "none": (lambda X, y: permutations(X, y, n_permutations=0), bs.OptionError, "whole number"),
    "half": (lambda X, y: permutations(X, y, n_permutations=2.5), bs.OptionError, "whole number"),
    "cut": (lambda X, y: permutations(X, y, cut="high"), bs.OptionError, "cut must be a number"),
    "target": (lambda X, y: permutations(X, y, target=np.nan), bs.OptionError, "target must be a number"),
    "policy": (
        lambda X, y: permutations(X, y, posterior=screen(X, y), degenerate="drop"), bs.DataError, "drop"
    ),
    "endless": (lambda X, y: permutations(X, y, target=np.inf), bs.OptionError, "positive number"),
    "seed": (lambda X, y: permutations(X, y, seed="a"), bs.OptionError, "seed must be a whole number"),
    "seed below 0": (lambda X, y: permutations(X, y, seed=-1), bs.OptionError, "seed must be a whole number"),
    "posterior": (lambda X, y: permutations(X, y, posterior=3), bs.OptionError, "what screen"),
    "mask": (lambda X, y: permutations(X, y, leave_out=[True]), bs.OptionError, "mask of 60"),
    "name": (lambda X, y: permutations(X, y, leave_out=["zz"]), bs.OptionError, "no feature 'zz'"),
    "everything": (
        lambda X, y: permutations(X, y, leave_out=np.ones(60, bool)), bs.OptionError, "No feature is left"
    ),
    "missing": (
        lambda X, y: permutations(np.where(X > 6, np.nan, X), y), bs.MissingValueError, "missing='omit'"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_errors_say_what_to_do(case):
    call, kind, said = ERRORS[case]
    X, y = table_of((12, 12))
    with mock.patch.object(SCREEN, "advise"), pytest.raises(kind, match=said):
        call(X, y)


def test_questions_that_have_no_answer():
    X, y = table_of((12, 12))
    found = permutations(X, y, n_permutations=20)
    for target in (0.0, 0.02, -1.0, 60.0, np.inf, np.nan):
        with pytest.raises(bs.OptionError, match="target is a number of features"):
            found.cut_for(target)
    for pi0 in (0.0, 1.5, np.nan):
        with pytest.raises(bs.OptionError, match="pi0"):
            found.false_discovery_rate(pi0)
    with pytest.raises(bs.OptionError, match="level"):
        found.null_interval(1.0)
    proper = permutations(X, y, model=bs.GaussianModel.proper(), n_permutations=20)
    with pytest.raises(bs.OptionError, match="follows from them"):
        proper.prior_ratio()
    assert np.isfinite(proper.cut_for(1.0))
    assert np.isnan(permutations(X, y, n_permutations=1).standard_error)


def test_certain_features_are_not_in_the_pool(rng):
    """A prior probability of 1 or 0 decides beforehand; the rest is as if these were not there."""
    X, y = rng.normal(size=(30, 200)), [0] * 12 + [1] * 18
    prior = np.full(200, 0.05)
    prior[:10], prior[10:15] = 1.0, 0.0
    options = {"n_permutations": 200, "seed": 1}
    found = permutations(X, y, prior_probability=prior, **options)
    rest = permutations(X[:, 15:], y, prior_probability=0.05, **options)
    assert found.expected_under_null == pytest.approx(rest.expected_under_null)
    assert found.gaussian_under_null == pytest.approx(rest.gaussian_under_null)
    assert found.prior_ratio(1.0) == pytest.approx(rest.prior_ratio(1.0))
    assert np.isfinite(found.p_value).all()


def test_interval_of_the_number_by_chance_is_of_the_permutations(rng):
    """By the definition, from a loop of screens."""
    X, y = rng.standard_t(4, size=(24, 150)), np.repeat([0, 1], 12)
    found = permutations(X, y, n_permutations=60, prior_probability=0.3)
    low, high = found.null_interval(0.8)
    inside = np.mean((found.passing >= low) & (found.passing <= high))
    assert inside >= 0.8
    assert found.passing.min() <= low <= high <= found.passing.max()


def test_the_least_p_value_knows_of_classes_that_can_change_places(rng):
    X = rng.normal(size=(4, 50))
    with pytest.warns(bs.CalibrationWarning, match="only 2 samples"):
        posterior = screen(X, [0, 0, 1, 1])
    with pytest.warns(bs.CalibrationWarning, match=r"cannot be below 0\.333"):
        found = permutations(X, [0, 0, 1, 1], posterior=posterior)
    assert found.feature_p_value.min() == pytest.approx(2 / 6)
