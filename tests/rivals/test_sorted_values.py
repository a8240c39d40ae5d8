"""The pass over sorted values: any form of table, any number of threads, several methods at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.rivals import SORTED_RIVALS, rival, score, sorted_scores

pytestmark = pytest.mark.filterwarnings("ignore:.*hold many equal values")  # wanted here


def columns(scores):
    return [scores.score, *scores.details.values()] + ([] if scores.log_p_value is None else [scores.log_p_value])


def assert_same(one, other):
    assert list(one) == list(other)
    for name in one:
        for mine, theirs in zip(columns(one[name]), columns(other[name]), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(30, 500)).astype(np.float32)
    X[:, 100:300] *= rng.random((30, 200)) < 0.3
    return X, rng.permutation(np.repeat([0, 1], [13, 17]))


def scores_of(X, y, **options):
    return sorted_scores(LabelledMatrix.from_arrays(X, y), SORTED_RIVALS, **options)


def test_the_form_of_the_table_does_not_matter(data):
    X, y = data
    expected = scores_of(X.astype(np.float64), y)
    doubled = np.empty((60, 1000), np.float32)
    doubled[::2, ::2] = X
    forms = [
        X,
        np.asfortranarray(X),
        doubled[::2, ::2],
        X.astype(">f4"),
        sparse.csr_matrix(X),
        sparse.csc_array(X),
    ]
    for form in forms:
        assert_same(scores_of(form, y), expected)


def test_whole_numbers_and_halves(rng):
    X, y = rng.integers(-9, 9, (20, 30)), np.repeat([0, 1], 10)
    expected = scores_of(X.astype(np.float64), y)
    for dtype in (np.int8, np.int64, np.float16):
        assert_same(scores_of(X.astype(dtype), y), expected)


@pytest.mark.parametrize("ties", ["floor", "jitter"])
def test_threads_do_not_matter(data, ties):
    X, y = data
    options = {"mi": {"ties": ties}}
    X = X.astype(np.float64)
    X[3, 5] = np.nan
    expected = scores_of(X, y, options=options, n_threads=1)
    for n_threads in (2, 5, None):
        assert_same(scores_of(X, y, options=options, n_threads=n_threads), expected)


def test_features_are_scored_one_by_one(data):
    X, y = data
    whole = scores_of(X, y)
    part = scores_of(X[:, 90:110], y)
    for name, scores in part.items():
        np.testing.assert_array_equal(scores.score, whole[name].score[90:110])


def test_together_as_alone(data):
    X, y = data
    names = [f"g{i}" for i in range(500)]
    together = sorted_scores(
        LabelledMatrix.from_arrays(X, y, feature_names=names), ["nmc", "wilcoxon", "mi", "nmc"]
    )
    assert list(together) == ["nmc", "wilcoxon", "mi"]
    alone = {name: score(X, y, method=name, feature_names=names) for name in together}
    assert_same(alone, together)
    assert all(scores.feature_names == tuple(names) for scores in together.values())
    assert all(rival(name).uses == "values" and rival(name).name == name for name in SORTED_RIVALS)


def test_the_table_is_not_changed(data):
    X, y = data
    X = np.asfortranarray(X, dtype=np.float64)
    before = X.copy()
    scores_of(X, y, options={"mi": {"ties": "jitter"}})
    np.testing.assert_array_equal(X, before)


def test_missing_values_are_left_out(data):
    """A feature with gaps scores as the table of the samples that have it."""
    X, y = data[0].astype(np.float64), data[1]
    X[[2, 7, 11], 40] = np.nan
    there = ~np.isnan(X[:, 40])
    whole, alone = scores_of(X, y), scores_of(X[there][:, [40]], y[there])
    for name in whole:
        np.testing.assert_array_equal(whole[name].score[40], alone[name].score[0])
    with pytest.raises(bs.MissingValueError, match="3 missing value"):
        score(X, y, method="mi")
    np.testing.assert_array_equal(score(X, y, method="mi", missing="omit").score, whole["mi"].score)


def test_values_that_cannot_be_used(data):
    X, y = data[0].astype(np.float64), data[1]
    X[4, 300] = -np.inf
    X[5, 301] = np.nan
    with pytest.raises(
        bs.DataError, match=r"1 infinite value\(s\) \(inf\), the first at sample 4, feature column 300"
    ):
        scores_of(X, y)
    X[4, 300] = 1e200
    with pytest.raises(bs.DataError, match=r"overflow, the first is column 300"):
        scores_of(X, y)


def test_classes_that_cannot_be_compared(r1):
    X, y = r1
    with pytest.raises(bs.LabelError, match="mi compares two classes, not 3"):
        scores_of(X, [0, 1, 2] * 3)
    with pytest.raises(bs.LabelError, match="mi needs at least 2 samples of each class, but class 1 has 1"):
        scores_of(X, [0] * 8 + [1])
    matrix = LabelledMatrix.from_arrays(X, [0] * 8 + [1])
    assert np.isfinite(sorted_scores(matrix, ["wilcoxon"])["wilcoxon"].score).all()
    with pytest.raises(
        bs.OptionError, match=r"'welch' does not look at sorted values; mi, mi-literal, nmc, wilcoxon"
    ):
        sorted_scores(matrix, ["wilcoxon", "welch"])
    with pytest.raises(bs.OptionError, match="'nmc' has no option 'order'; it has alpha"):
        sorted_scores(matrix, ["nmc"], options={"nmc": {"order": 2}})
    assert sorted_scores(LabelledMatrix.from_arrays(X, y), []) == {}
