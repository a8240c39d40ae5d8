"""Shared-kernel screening as a rival: what it finds, its lists, its options and its refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.posterior import estimate_share
from bayesieve.rivals.skbs.evidence import exact_log_bayes_factor
from bayesieve.rivals.skbs.shared_kernels import SharedKernels


def table(seed=0, n=40, n_features=120, n_markers=10):
    """Mixtures of two kernels with weights of their own; the first features have other weights in each class."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n // 2)
    share = np.repeat(rng.beta(0.5, 0.5, n_features)[:, None], 2, axis=1)
    share[:n_markers] = [0.05, 0.8]
    places = rng.random((n, n_features)) < share[:, y].T
    return np.where(places, 1.0, 0.0) + 0.3 * rng.normal(size=places.shape), y


@pytest.fixture(scope="module")
def data():
    return table()


@pytest.fixture(scope="module")
def found(data):
    return bs.score(*data, method="skbs")


def test_markers_are_found_and_the_numbers_are_those_of_the_kernels(data, found):
    X, y = data
    assert set(found.ranking[:10]) == set(range(10))
    kept = found.diagnostics
    kernels = SharedKernels(kept["kernel_mean"], kept["kernel_sd"], kept["alpha"])
    np.testing.assert_allclose(kernels.mean, [0.0, 1.0], atol=0.03)
    np.testing.assert_allclose(kernels.sd, 0.3, atol=0.02)
    expected = exact_log_bayes_factor(np.concatenate([X[y == 0], X[y == 1]]).T.copy(), 20, kernels)[0]
    np.testing.assert_allclose(found.score, expected, atol=1e-12)
    np.testing.assert_allclose(found.details["probability"], expit(expected), atol=1e-12)
    assert (kept["n_kernels"], kept["evidence"], kept["prior_probability"], kept["screen"]) == (
        2,
        "exact",
        0.5,
        None,
    )
    assert kept["evidence_error"] < 1e-9


def test_without_markers_probabilities_stay_below_one_half():
    X, y = table(seed=4, n_markers=0)
    assert bs.score(X, y, method="skbs").details["probability"].mean() < 0.5


def test_lists(data, found):
    assert found.selected.sum() == 100
    assert set(found.selection[:10]) == {f"x{i}" for i in range(10)}
    few = bs.score(*data, method="skbs", rule="cmnc:7")
    assert few.selection == found.top(7)
    sure = bs.score(*data, method="skbs", rule="mr:0.9")
    np.testing.assert_array_equal(sure.selected, sure.details["probability"] > 0.9)
    assert 5 <= sure.selected.sum() <= 12


def test_ties_are_broken_by_the_screen(data):
    X, y = data
    copies = np.concatenate([X[:, :1], X[:, :1] + 0.0, X], axis=1)
    scores = bs.score(copies, y, method="skbs", screen="bd:30", rule="cmnc:2")
    assert scores.diagnostics["n_screened"] == 30
    assert np.isnan(scores.score).sum() == 92
    assert scores.score[0] == scores.score[1] == scores.score[2]
    assert scores.selected.sum() == 2
    assert not scores.selected[np.isnan(scores.score)].any()
    np.testing.assert_array_equal(scores.tie_break, bs.score(copies, y, method="bd").score)


def test_the_features_to_start_from_depend_on_the_way_of_working(data, monkeypatch):
    X, y = data
    wide = np.tile(X, 3)
    assert bs.score(wide, y, method="skbs").diagnostics["screen"] is None
    sampled = bs.score(wide, y, method="skbs", evidence="gibbs", draws=20, burn_in=5)
    assert sampled.diagnostics["screen"] == "bd:300"
    assert bs.score(X, y, method="skbs", evidence="gibbs", draws=20, burn_in=5).diagnostics["screen"] is None


def test_the_sampler_ranks_as_the_integral_does(data, found):
    sampled = bs.score(*data, method="skbs", evidence="gibbs", draws=1000, burn_in=100)
    gap = np.abs(sampled.details["probability"] - found.details["probability"])
    assert gap.max() < 0.1
    assert sampled.details["probability_error"].max() < 0.05
    assert set(sampled.ranking[:10]) == set(range(10))
    four = bs.score(*data, method="skbs", n_kernels=4, draws=300, burn_in=50)
    assert four.diagnostics["evidence"] == "gibbs"
    assert set(four.ranking[:10]) == set(range(10))


def test_a_prior_probability_that_is_estimated(data, found):
    scores = bs.score(*data, method="skbs", prior_probability="estimate")
    share = scores.diagnostics["prior_probability"]
    assert share == pytest.approx(estimate_share(found.score))
    np.testing.assert_allclose(scores.details["probability"], expit(found.score + np.log(share / (1 - share))))
    grid = np.linspace(0.001, 0.999, 999)
    likelihood = [np.logaddexp(np.log1p(-p), np.log(p) + found.score).sum() + np.log1p(-p) for p in grid]
    assert share == pytest.approx(grid[np.argmax(likelihood)], abs=1e-3)


def test_classes_and_features_may_change_places(data, found):
    X, y = data
    np.testing.assert_allclose(bs.score(X, 1 - y, method="skbs").score, found.score, atol=1e-9)
    samples = np.random.default_rng(1).permutation(y.size)
    np.testing.assert_allclose(bs.score(X[samples], y[samples], method="skbs").score, found.score, atol=1e-4)


def test_another_unit_changes_nothing(data, found):
    X, y = data
    np.testing.assert_allclose(bs.score(50.0 - 1000.0 * X, y, method="skbs").score, found.score, atol=2e-3)


def test_sparse_single_precision_and_threads(data, found):
    X, y = data
    one = bs.score(X, y, method="skbs", n_threads=3)
    np.testing.assert_array_equal(one.score, found.score)
    for other in (sparse.csr_matrix(X), sparse.csc_matrix(X)):
        np.testing.assert_allclose(bs.score(other, y, method="skbs").score, found.score, atol=1e-12)
    np.testing.assert_allclose(bs.score(X.astype(np.float32), y, method="skbs").score, found.score, atol=1e-3)
    whole = np.round(1000.0 * X).astype(np.int32)
    np.testing.assert_allclose(bs.score(whole, y, method="skbs").score, found.score, atol=0.1)


def test_large_tables_estimate_kernels_from_some_features():
    X, y = table(n=20, n_features=1500)
    scores = bs.score(X, y, method="skbs")
    assert scores.diagnostics["n_dictionary_features"] == 1000
    other = bs.score(X, y, method="skbs", seed=1)
    assert other.diagnostics["kernel_mean"] != scores.diagnostics["kernel_mean"]
    np.testing.assert_allclose(other.score, scores.score, atol=0.5)


def test_the_number_of_kernels_may_be_chosen(data):
    scores = bs.score(*data, method="skbs", n_kernels="cv", draws=50, burn_in=10)
    held_out = scores.diagnostics["held_out_log_density"]
    assert scores.diagnostics["n_kernels"] == max(held_out, key=held_out.get)
    assert max(held_out.values()) - held_out[2] < 0.05


def test_kernels_may_be_cut_off_or_sampled(data):
    X, y = data
    shares = np.clip(X / 3.0 + 0.3, 0.0, 1.0)
    cut = bs.score(shares, y, method="skbs", support=(0, 1))
    assert set(cut.ranking[:10]) == set(range(10))
    sampled = bs.score(X, y, method="skbs", estimation="gibbs")
    np.testing.assert_allclose(sampled.diagnostics["kernel_mean"], [0.0, 1.0], atol=0.03)
    assert set(sampled.ranking[:10]) == set(range(10))


def test_missing_values_are_left_out_when_asked(data):
    X, y = data
    holes = X.copy()
    holes[3, 5] = np.nan
    with pytest.raises(bs.MissingValueError, match="NaN"):
        bs.score(holes, y, method="skbs")
    scores = bs.score(holes, y, method="skbs", missing="omit")
    assert np.isfinite(scores.score).all()
    holes[y == 1, 7] = np.nan
    with pytest.warns(bs.DegenerateFeatureWarning, match="1 without a value in a class"):
        scores = bs.score(holes, y, method="skbs", missing="omit")
    assert np.flatnonzero(np.isnan(scores.score)).tolist() == [7]


def test_constant_features_have_no_score_and_do_not_bend_the_kernels(data, found):
    X, y = data
    wide = np.concatenate([X, np.full((y.size, 30), 0.5)], axis=1)
    with pytest.warns(bs.DegenerateFeatureWarning, match="30 constant in all samples"):
        scores = bs.score(wide, y, method="skbs", rule="cmnc:140")
    np.testing.assert_allclose(scores.score[:120], found.score, atol=0.1)
    assert np.isnan(scores.score[120:]).all()
    assert scores.selected.sum() == 120
    with pytest.raises(bs.DataError, match="All 3 features are constant"):
        bs.score(np.ones((8, 3)), [0, 1] * 4, method="skbs")


def test_features_on_different_scales_are_announced(data):
    X, y = data
    spread = X + np.linspace(0.0, 50.0, X.shape[1])
    with pytest.warns(bs.DataWarning, match=r"on one scale, but here (9\d|100)% of the variance"):
        apart = bs.score(spread, y, method="skbs")
    assert len(set(apart.ranking[:10]) & set(range(10))) < 10  # which is why
    units = X * 10.0 ** np.linspace(0.0, 3.0, X.shape[1])
    with pytest.warns(bs.DataWarning, match="differ by a factor of"):
        bs.score(units, y, method="skbs")
    with pytest.warns(bs.DataWarning, match="No Bayes factor of skbs exceeds"):  # the price of standardising
        one, two = (bs.score(each, y, method="skbs", standardise=True) for each in (spread, units))
    np.testing.assert_allclose(one.score, two.score, atol=1e-3)


def test_kernels_that_say_nothing_are_announced():
    X = np.random.default_rng(3).normal(size=(60, 40))
    with pytest.warns(bs.DataWarning, match="No Bayes factor of skbs exceeds 1"):
        bs.score(X, [0, 1] * 30, method="skbs")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_kernels": 0}, "n_kernels must be a whole number of at least 1 or 'cv'"),
        ({"n_kernels": "many"}, "or 'cv', not 'many'"),
        ({"n_kernels": 2.5}, "n_kernels must be"),
        ({"rule": "best"}, "rule must be 'cmnc:100'"),
        ({"rule": "cmnc:0"}, "rule must be"),
        ({"rule": "cmnc:2.5"}, "rule must be"),
        ({"rule": "cmnc:inf"}, "rule must be"),
        ({"rule": "mr:1.5"}, "rule must be"),
        ({"rule": "mr:nan"}, "rule must be"),
        ({"screen": "bd"}, "for example bd:300"),
        ({"prior_probability": 0.0}, "prior_probability must be a number between 0 and 1"),
        ({"prior_probability": "guess"}, "or 'estimate', not 'guess'"),
        ({"prior_probability": "estimate", "evidence": "averaged"}, "averaged sampler has no Bayes factors"),
        ({"evidence": "mcmc"}, "evidence must be 'auto', 'exact', 'gibbs' or 'averaged'"),
        ({"evidence": "exact", "n_kernels": 4}, "up to 3 kernels, not 4"),
        ({"estimation": "vb"}, "estimation must be 'em' or 'gibbs'"),
        ({"draws": 0}, "draws must be a whole number of at least 1"),
        ({"burn_in": -1}, "burn_in must be"),
        ({"seed": -1}, "seed must be"),
        ({"standardise": "yes"}, "standardise must be True or False"),
        ({"standardise": True, "support": (0, 1)}, "Leave it out, or do not standardise"),
        ({"support": (1, 0)}, "support must be two ends"),
        ({"support": "01"}, "support must be two ends"),
        ({"kernels": 2}, "has no option 'kernels'"),
    ],
)
def test_wrong_options(data, options, message):
    with pytest.raises(bs.OptionError, match=message):
        bs.score(*data, method="skbs", **options)


def test_tables_that_cannot_be_used(data):
    X, y = data
    with pytest.raises(bs.LabelError, match="two classes"):
        bs.score(X, np.arange(40) % 3, method="skbs")
    with pytest.raises(bs.LabelError, match="only"):
        bs.score(X, np.zeros(40), method="skbs")
    with pytest.raises(bs.LabelError, match="at least 2 samples of each class, but class 1 has 1"):
        bs.score(X, [0] * 39 + [1], method="skbs")
    with pytest.raises(bs.LabelError, match="skbs compares two classes, not 3"):
        bs.rivals.rival("skbs").run(LabelledMatrix.from_arrays(X, np.arange(40) % 3))
    outside = int(((X < 0) | (X > 1)).sum())
    with pytest.raises(bs.DataError, match=f"{outside} values lie outside the support from 0 to 1"):
        bs.score(X, y, method="skbs", support=(0, 1))
    large = X.copy()
    large[0, 0] = 1e200
    with pytest.raises(bs.DataError, match=r"beyond 1e\+150"):
        bs.score(large, y, method="skbs")


def test_in_a_comparison(data):
    X, y = data
    compared = bs.compare_methods(X, y, "obf-jp,welch,skbs", top=10)
    assert compared.overlap(10)[0, 2] >= 8
