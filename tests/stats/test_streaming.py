"""Moments that grow piece by piece equal those of the whole table."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bayesieve.data import LabelledMatrix, Labels
from bayesieve.stats import FeatureStream, MomentStream


def expected(values, codes, n_classes):
    groups = [values[codes == k] for k in range(n_classes)]
    count = np.array([np.isfinite(group).sum(axis=0) for group in groups])
    mean = np.array([np.nanmean(group, axis=0) for group in groups])
    squares = np.array([np.nansum((group - np.nanmean(group, axis=0)) ** 2, axis=0) for group in groups])
    return count, mean, squares


def assert_moments(moments, values, codes, n_classes):
    count, mean, squares = expected(values, codes, n_classes)
    np.testing.assert_array_equal(np.broadcast_to(moments.counts, mean.shape), count)
    np.testing.assert_allclose(moments.mean, mean, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(moments.centred_squares, squares, rtol=1e-11)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    values = rng.normal(5, 2, size=(300, 40))
    values[rng.random(values.shape) < 0.1] = np.nan
    return values, rng.integers(0, 3, 300)


@pytest.mark.parametrize("size", [1, 7, 64, 300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_samples_in_pieces(table, size, dtype):
    values, codes = table[0].astype(dtype), table[1]
    stream = MomentStream(40)
    for lo in range(0, 300, size):
        stream.add(values[lo : lo + size], codes[lo : lo + size], 3)
    assert_moments(stream.moments("abc"), values.astype(np.float64), codes, 3)


def test_classes_may_appear_late_and_samples_be_left_out(table):
    values, codes = table
    codes = np.where(np.arange(300) < 100, np.minimum(codes, 0), codes)
    codes[::10] = -1
    stream = MomentStream(40)
    stream.add(values[:100], codes[:100], 1)
    stream.add(values[100:], codes[100:], 3)
    kept = codes >= 0
    assert_moments(stream.moments("abc"), values[kept], codes[kept], 3)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix])
def test_sparse_pieces(form):
    rng = np.random.default_rng(1)
    values = rng.poisson(0.5, size=(200, 30)).astype(float)
    codes = rng.integers(0, 2, 200)
    codes[3] = -1
    stream = MomentStream(30)
    for lo in range(0, 200, 50):
        stream.add(form(values[lo : lo + 50]), codes[lo : lo + 50], 2)
    kept = codes >= 0
    assert_moments(stream.moments("ab"), values[kept], codes[kept], 2)


def test_threads_do_not_change_a_bit(table):
    found = []
    for threads in (1, 2, 5):
        stream = MomentStream(40, threads)
        for lo in range(0, 300, 64):
            stream.add(table[0][lo : lo + 64], table[1][lo : lo + 64], 3)
        moments = stream.moments("abc")
        found.append(moments.mean.tobytes() + moments.centred_squares.tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("size", [1, 3, 40])
def test_features_in_pieces_give_the_same_bits(table, size):
    values, codes = table
    labels = Labels(("a", "b", "c"), codes)
    stream = FeatureStream()
    for lo in range(0, 40, size):
        stream.add(LabelledMatrix(np.asfortranarray(values[:, lo : lo + size]), labels, None))
    moments = stream.moments()
    assert_moments(moments, values, codes, 3)
    whole = FeatureStream()
    whole.add(LabelledMatrix(np.asfortranarray(values), labels, None))
    assert whole.moments().centred_squares.tobytes() == moments.centred_squares.tobytes()
