"""Scatter: centred sums of products, checked against NumPy's covariance and exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import bayesieve as bs
from bayesieve.stats import Scatter, cross_products


def exact_products(X):
    """Centred sums of products by rational arithmetic."""
    rows = [[Fraction(float(value)) for value in row] for row in X]
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    centred = [[value - mean for value, mean in zip(row, means, strict=True)] for row in rows]
    d = len(means)
    return np.array([[float(sum(row[a] * row[b] for row in centred)) for b in range(d)] for a in range(d)])


def test_products_equal_those_of_numpys_covariance(rng):
    X, y = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4)), rng.integers(3, size=50)
    scatter = Scatter.from_matrix(X, y)
    for k in range(3):
        part = X[y == k]
        np.testing.assert_allclose(scatter.products[k], np.cov(part.T) * (len(part) - 1), rtol=1e-12)
        np.testing.assert_allclose(scatter.mean[k], part.mean(axis=0), rtol=1e-13)
    assert scatter.n_features == 4
    assert scatter.count.tolist() == np.bincount(y).tolist()


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e12])
def test_products_of_shifted_values_by_exact_fractions(rng, offset):
    X = offset + rng.normal(size=(30, 3)) * [1e-2, 1.0, 1e3]
    found = Scatter.from_matrix(X, [0] * 30).products[0]
    root = np.sqrt(np.diagonal(exact_products(X)))
    np.testing.assert_allclose(found / root / root[:, None], exact_products(X) / root / root[:, None], atol=1e-13)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_pooling_and_merging_equal_the_whole_by_exact_fractions(rng, offset):
    X, y = offset + rng.normal(size=(40, 3)), np.array(["a"] * 15 + ["b"] * 25)
    scatter = Scatter.from_matrix(X, y)
    pooled = scatter.pool()
    assert pooled.classes == (("a", "b"),)
    np.testing.assert_allclose(pooled.products[0], exact_products(X), rtol=1e-11, atol=1e-12)
    halves = [
        Scatter.from_matrix(X[part], y[part]) for part in (slice(0, 20), slice(20, 40))
    ]  # the second lacks "a"
    for merged in (halves[0].merge(halves[1]), halves[1].merge(halves[0])):
        assert merged.classes == ("a", "b")
        assert merged.count.tolist() == [15, 25]
        np.testing.assert_allclose(merged.products, scatter.products, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(merged.mean, scatter.mean, rtol=1e-15)


def test_features_one_by_one_are_moments(rng):
    X, y = 5.0 + rng.normal(size=(30, 4)), rng.integers(2, size=30)
    scatter, moments = Scatter.from_matrix(X, y), bs.Moments.from_matrix(X, y)
    np.testing.assert_array_equal(scatter.moments().mean, moments.mean)
    np.testing.assert_allclose(scatter.moments().centred_squares, moments.centred_squares, rtol=1e-13)
    some = scatter.take([2, 0])
    np.testing.assert_array_equal(some.products, scatter.products[:, [2, 0]][:, :, [2, 0]])
    np.testing.assert_array_equal(some.mean, scatter.mean[:, [2, 0]])
    np.testing.assert_array_equal(scatter.take(1).products, scatter.products[:, 1:2, 1:2])
    assert scatter.group(1).count.tolist() == [int((y == 1).sum())]


def test_any_table_gives_the_same(rng):
    pandas = pytest.importorskip("pandas")
    X, y = rng.integers(0, 3, size=(30, 4)).astype(np.float64), [0, 1] * 15
    expected = Scatter.from_matrix(X, y).products
    frame = pandas.DataFrame(X, columns=list("abcd"))
    for table in (sp.csr_matrix(X), np.asfortranarray(X), frame):
        np.testing.assert_allclose(Scatter.from_matrix(table, y).products, expected, rtol=1e-13, atol=1e-13)


def test_copies_and_constants_are_exact(rng):
    X = rng.normal(size=(5000, 3))
    X[:, 1], X[:, 2] = X[:, 0], 0.1
    products = Scatter.from_matrix(X, [0] * 5000).products[0]
    assert products[0, 0] == products[0, 1] == products[1, 1]
    assert not products[2].any()


def test_a_class_without_samples():
    scatter = Scatter.from_matrix([[1.0, 2.0], [3.0, 3.0]], ["a", "a"], classes=["a", "b"])
    assert scatter.count.tolist() == [2, 0]
    assert not scatter.products[1].any()
    np.testing.assert_array_equal(scatter.pool().products[0], scatter.products[0])
    with pytest.raises(ValueError, match="read-only"):
        scatter.products[0, 0, 0] = 1.0


def test_missing_and_infinite_values():
    with pytest.raises(bs.MissingValueError, match=r"1 missing value.*fill them in first\.$"):
        Scatter.from_matrix([[1.0, np.nan], [2.0, 3.0]], ["a", "a"])
    with pytest.raises(bs.DataError, match="infinite"):
        Scatter.from_matrix([[1.0, np.inf], [2.0, 3.0]], ["a", "a"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], [3], [[0.0, 0.0]], [[[1.0, 0.5], [0.4, 1.0]]]), "symmetric"),
        ((["a"], [3], [[0.0, 0.0]], [[[1.0, 2.0], [2.0, 1.0]]]), "2 of the products"),
        ((["a"], [3], [[0.0, 0.0]], [[1.0, 2.0]]), r"\(n_classes, n_features, n_features\)"),
        ((["a"], [[3, 3]], [[0.0, 0.0]], [np.eye(2)]), "share their samples"),
        ((["a"], [3], [[0.0, 0.0]], "products"), "finite numbers"),
        ((["a"], [1], [[0.0, 0.0]], [np.eye(2)]), "no spread"),
    ],
)
def test_statistics_that_cannot_be(arguments, message):
    with pytest.raises(bs.DataError, match=message):
        Scatter(*arguments)


def test_too_many_features():
    with pytest.raises(bs.DataError, match="All pairs of 5,000 features"):
        Scatter.from_matrix(np.zeros((2, 5000)), ["a", "a"])


def test_what_does_not_fit_together(rng):
    scatter = Scatter.from_matrix(rng.normal(size=(6, 2)), ["a", "b"] * 3)
    with pytest.raises(bs.LabelError, match="no class 'c'"):
        scatter.group("c")
    with pytest.raises(bs.LabelError, match="no class 'c'"):
        scatter.pool(["a", "c"])
    with pytest.raises(bs.DataError, match="not with Moments"):
        scatter.merge(scatter.moments())
    with pytest.raises(bs.DataError, match="2 features and the others 1"):
        scatter.merge(scatter.take([0]))


@pytest.mark.parametrize("kind", ["C", "F", "float32", "int", "csc"])
def test_cross_products_equal_matrix_products(rng, kind):
    X = np.round(8 * rng.normal(size=(23, 40)))
    table = {"C": X, "F": np.asfortranarray(X), "float32": X.astype(np.float32), "int": X.astype(np.int16),
             "csc": sp.csc_matrix(X)}[kind]  # fmt: skip
    rows = np.flatnonzero(rng.random(23) < 0.7)
    centred = X[rows] - X[rows].mean(axis=0)
    found = cross_products(table, rows, 5, 31, centred[:, :3], X[rows, 5:31].mean(axis=0))
    np.testing.assert_allclose(found, centred[:, :3].T @ centred[:, 5:31], rtol=1e-12, atol=1e-11)
