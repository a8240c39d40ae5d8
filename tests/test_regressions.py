"""Mistakes that a review found: each of these once gave a wrong answer or a bare exception."""

from __future__ import annotations

import json

import jeffreys
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from posteriors import posterior_of

import bayesieve as bs
from bayesieve.io import write_results

LAYOUTS = {
    "C": np.asarray,
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "float16": lambda X: X.astype(np.float16),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("place", [10, 5000])
def test_an_infinity_among_missing_values_is_found(rng, layout, place):
    """The only value of its class in a block of rows: it must not pass for missing."""
    X = rng.normal(size=(9000, 3))
    y = np.repeat([0, 1], 4500)[rng.permutation(9000)]
    X[: place + 1, 1] = np.nan
    X[place, 1] = np.inf
    X[place + 1 : 8500, 1] = np.nan
    with pytest.raises(bs.DataError, match="1 infinite value"):
        bs.screen(LAYOUTS[layout](X), y, missing="omit")
    with pytest.raises(bs.DataError, match="1 infinite value"):
        bs.Moments.from_matrix(LAYOUTS[layout](X), y, missing="omit")


def test_the_number_by_chance_knows_the_resolution(rng):
    X = np.round(rng.normal(size=(16, 40_000)))
    posterior = jeffreys.screen(X, [0] * 8 + [1] * 8, prior_probability=0.1, resolution=1.0)
    selection = bs.MinimalRisk(0.5).select(posterior)
    assert selection.n_selected == pytest.approx(selection.expected_under_null, rel=0.3)


def test_many_degenerate_features_of_a_sparse_table(rng):
    """About 24,000 columns that are constant in a class; a sample of them against the dense route."""
    places = (rng.integers(0, 500, 50_000), rng.integers(0, 50_000, 50_000))
    X = sp.coo_array((rng.random(50_000), places), shape=(500, 50_000)).tocsr()
    y = np.repeat([0, 1], 250)
    with pytest.warns(bs.DegenerateFeatureWarning), pytest.warns(bs.errors.DataWarning, match="floor"):
        posterior = jeffreys.screen(X, y)
    assert posterior.degenerate.sum() > 20_000
    with pytest.warns(bs.DegenerateFeatureWarning), pytest.warns(bs.errors.DataWarning, match="floor"):
        dense = jeffreys.screen(X[:, :300].toarray(), y)
    np.testing.assert_allclose(posterior.log_odds[:300], dense.log_odds, rtol=1e-9)


@pytest.mark.parametrize("layout", ["C", "Fortran", "csr", "csc"])
def test_floors_do_not_depend_on_the_layout(rng, layout):
    X = rng.poisson(0.15, size=(30, 200)).astype(float)
    y = np.repeat([0, 1], 15)
    with pytest.warns(bs.DegenerateFeatureWarning), pytest.warns(bs.errors.DataWarning, match="rare events"):
        expected = bs.screen(X, y).log_odds
    with pytest.warns(bs.DegenerateFeatureWarning), pytest.warns(bs.errors.DataWarning, match="rare events"):
        got = bs.screen(LAYOUTS[layout](X), y).log_odds
    np.testing.assert_allclose(got, expected, rtol=1e-9)


def test_no_false_positive_allowed_means_none():
    posterior = posterior_of([30.0, 29.0, 800.0])
    assert bs.NeymanPearson(0.0).select(posterior).names == ("x2",)


def test_confidence_zero_takes_everything():
    assert bs.FalseDiscovery(0.0, confidence=0.0).select(posterior_of([-900.0, -900.0])).n_selected == 2


@pytest.mark.parametrize("fill", [np.nan, 1.0])
def test_sparse_frames_with_another_fill_value(rng, fill):
    dense = pd.DataFrame(rng.normal(size=(20, 3)))
    dense.iloc[::4, 1] = fill
    y = np.repeat([0, 1], 10)
    sparse = dense.astype(pd.SparseDtype(float, fill))
    np.testing.assert_allclose(
        bs.screen(sparse, y, missing="omit").log_odds, bs.screen(dense, y, missing="omit").log_odds
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: bs.Moments(("a", "b"), [3, 5], np.zeros((2, 0)), np.zeros((2, 0))),
        lambda: bs.Moments(("a", "b"), [1, 5], [[0.0], [1.0]], [[3.0], [2.0]]),
        lambda: bs.OBFSelector().fit([[1.0], [2.0], [3.0]], np.array(["a", "b", None], dtype=object)),
        lambda: bs.screen([[1.0], [2.0], [4.0], [9.0]] * 3, [0, 0, 1, 1] * 3,
                          model=bs.GaussianModel.jeffreys(lambda a, b: 1 / (a - b))),
        lambda: bs.Moments.from_matrix([[1.0], [2.0]], [0, 1]).pool(5),
        lambda: bs.Moments.from_matrix([[1.0], [2.0]], [0, 1]).pool([0, 0]),
        lambda: bs.Moments.from_matrix([[1.0], [2.0]], [0, 1]).pick([]),
    ],
)  # fmt: skip
def test_mistakes_that_raised_bare_exceptions(call):
    with pytest.raises(bs.BayesieveError):
        call()


def test_later_batches_with_senseless_classes(rng):
    X, y = rng.normal(size=(20, 3)), [0, 1] * 10
    selector = bs.OBFSelector().partial_fit(X, y)
    for classes in (5, [[0], [1]], [0, 2]):
        with pytest.raises(bs.LabelError):
            selector.partial_fit(X, y, classes=classes)


def test_tuples_are_labels(rng):
    y = [("site", 1)] * 10 + [("site", 2)] * 10
    assert bs.screen(rng.normal(size=(20, 2)), y).classes == (("site", 1), ("site", 2))


@pytest.mark.parametrize("ratio", ["bic", "n_decay"])
@pytest.mark.filterwarnings("ignore:1 of 30 features")
def test_a_summary_with_a_feature_that_has_no_values(rng, ratio):
    X = rng.normal(size=(20, 30))
    X[:, 4] = np.nan
    X[10:, 0] += 9.0
    posterior = bs.screen(X, [0] * 10 + [1] * 10, missing="omit", model=bs.GaussianModel.jeffreys(ratio))
    assert "under the global null" in bs.MinimalRisk(0.5).select(posterior).summary()
    varied = posterior.with_prior(np.linspace(0.01, 0.3, 30))
    assert np.isfinite(bs.MinimalRisk(0.5).select(varied).expected_under_null)


@pytest.mark.filterwarnings("ignore:1 of 100 features")
def test_drawing_with_unusable_features_warns_of_nothing(rng):
    X = rng.normal(size=(20, 100))
    X[1:, 3] = np.nan
    prior = np.linspace(0.001, 0.5, 100)
    posterior = jeffreys.screen(X, [0, 1] * 10, missing="omit", prior_probability=prior)
    assert 0 < bs.expected_under_null(posterior, 0.0) < 20


def test_certain_features_do_not_pass_under_null():
    posterior = posterior_of(np.zeros(6)).with_prior([1.0, 1.0, 0.01, 0.01, 0.0, 0.0])
    assert bs.FixedSize(2).select(posterior).expected_under_null == 0.0
    assert bs.expected_under_null(posterior, -np.inf) == 2.0


def test_recall_without_markers_is_not_a_number():
    assert np.isnan(bs.expected_roc(posterior_of([0.0, 0.0]).with_prior(0.0)).recall).all()


def test_json_results_may_end_in_an_object(tmp_path):
    path = tmp_path / "x.json"
    about = {"classes": {"p": 3, "q": {"r": 4}}}
    write_results(path, lambda rows: {"feature": ["a", "b"]}, lambda: about, np.arange(2))
    found = json.loads(path.read_text())
    assert found["classes"] == about["classes"]
    assert [row["feature"] for row in found["features"]] == ["a", "b"]
