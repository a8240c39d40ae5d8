"""Moments of a design, checked against NumPy's sums over the samples that are there."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bayesieve.stats import ClassStatistics, DesignMoments, DesignStream
from bayesieve.utils import DataError

CLASSES = ("a", "b", "c")


def made(rng, n=60, n_features=7, p=3, share_missing=0.0):
    X, Z = rng.normal(3.0, 2.0, size=(n, n_features)), rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 1e3
    X[rng.random(X.shape) < share_missing] = np.nan
    return X, np.array(CLASSES)[rng.integers(3, size=n)], Z


def by_hand(X, y, Z, k, j):
    """Mean and centred products of covariates, and cross-products with a feature, over the samples it has."""
    kept = (y == CLASSES[k]) & ~np.isnan(X[:, j])
    z, x = Z[kept], X[kept, j]
    centred = z - z.mean(axis=0)
    return z.mean(axis=0), centred.T @ centred, centred.T @ (x - x.mean())


def check(found, X, y, Z):
    wide = found.spread()
    for k in range(3):
        for j in range(X.shape[1]):
            location, scatter, cross = by_hand(X, y, Z, k, j)
            np.testing.assert_allclose(wide.location[k, :, j], location, rtol=1e-12)
            np.testing.assert_allclose(wide.scatter[k, :, :, j], scatter, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(wide.cross[k, :, j], cross, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["rows", "features", "csr", "csc"])
def test_sums_are_those_of_the_samples_that_are_there(rng, missing, kind):
    X, y, Z = made(rng, share_missing=missing)
    given = {"rows": X, "features": np.asfortranarray(X), "csr": sp.csr_array(X), "csc": sp.csc_array(X)}[kind]
    found = DesignMoments.from_matrix(given, y, Z, classes=CLASSES, missing="omit")
    assert isinstance(found, ClassStatistics)
    assert found.by_feature == (missing > 0)
    check(found, X, y, Z)


@pytest.mark.parametrize("missing", [(0.0, 0.0), (0.0, 0.2), (0.2, 0.2)])
def test_parts_merge_and_come_apart(rng, missing):
    X, y, Z = made(rng)
    left = np.arange(60) < 25
    for part, share in zip((left, ~left), missing, strict=True):
        X[np.ix_(part, np.arange(7))] = np.where(rng.random((part.sum(), 7)) < share, np.nan, X[part])
    one, two = (DesignMoments.from_matrix(X[part], y[part], Z[part], missing="omit") for part in (left, ~left))
    whole = one.merge(two)
    check(whole.pick(CLASSES), X, y, Z)
    rest = whole.remove(two).spread()
    np.testing.assert_allclose(rest.cross, one.cross, atol=1e-8)
    np.testing.assert_allclose(rest.scatter, one.spread().scatter, atol=1e-7)
    np.testing.assert_allclose(rest.location, one.spread().location, rtol=1e-12)
    halves = [whole.take(slice(0, 3)), whole.take([3, 4, 5, 6])]
    check(DesignMoments.join(halves).pick(CLASSES), X, y, Z)


def test_a_class_may_be_absent_from_a_part(rng):
    X, y, Z = made(rng)
    first = y == "a"
    whole = DesignMoments.from_matrix(X[first], y[first], Z[first]).merge(
        DesignMoments.from_matrix(X[~first], y[~first], Z[~first])
    )
    check(whole.pick(CLASSES), X, y, Z)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_pooled_classes_are_one_sample(rng, missing):
    X, y, Z = made(rng, share_missing=missing)
    pooled = DesignMoments.from_matrix(X, y, Z, classes=CLASSES, missing="omit").pool().spread()
    for j in range(7):
        location, scatter, cross = by_hand(X, np.full(60, "a"), Z, 0, j)
        np.testing.assert_allclose(pooled.location[0, :, j], location, rtol=1e-12)
        np.testing.assert_allclose(pooled.scatter[0, :, :, j], scatter, rtol=1e-9)
        np.testing.assert_allclose(pooled.cross[0, :, j], cross, rtol=1e-9, atol=1e-9)


def test_far_from_zero_nothing_is_lost(rng):
    X, y, Z = made(rng)
    near = DesignMoments.from_matrix(X, y, Z - 1e3).pool()
    halves = [DesignMoments.from_matrix(X[k::2] + 1e8, y[k::2], Z[k::2] + 1e6) for k in (0, 1)]
    far = halves[0].merge(halves[1]).pool()
    np.testing.assert_allclose(far.cross, near.cross, atol=1e-5)


def test_chunks_give_the_whole_whatever_the_threads(rng):
    X, y, Z = made(rng, share_missing=0.1)
    codes = np.array([CLASSES.index(label) for label in y])
    codes[3] = -1
    found = []
    for n_threads in (1, 2):
        stream = DesignStream(("age", "dose", "sex"), n_threads)
        for lo in range(0, 60, 17):
            part = slice(lo, lo + 17)
            stream.add(X[part], codes[part], 3, Z[part])
        found.append(stream.statistics(CLASSES))
    kept = codes >= 0
    check(found[0], X[kept], y[kept], Z[kept])
    assert found[0].covariates == ("age", "dose", "sex")
    for name in ("location", "scatter", "cross"):
        assert getattr(found[0], name).tobytes() == getattr(found[1], name).tobytes()


def test_other_covariates_do_not_go_together(rng):
    X, y, Z = made(rng)
    one = DesignMoments.from_matrix(X, y, Z, names=("age", "sex", "dose"))
    with pytest.raises(DataError, match="same covariates"):
        one.merge(DesignMoments.from_matrix(X, y, Z))
    with pytest.raises(DataError, match="one row for each of 60"):
        DesignMoments.from_matrix(X, y, Z[:5])
    Z[0, 0] = np.nan
    with pytest.raises(DataError, match="1 values of the covariates"):
        DesignMoments.from_matrix(X, y, Z)
