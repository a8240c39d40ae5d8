"""Moments from every kind of table, against plain two-pass sums."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import bayesieve as bs
from bayesieve.stats.moments import accumulate


def two_pass(X, y):
    X = np.asarray(X, dtype=np.float64)
    classes = np.unique(y)
    mean = np.array([np.nanmean(X[y == c], axis=0) for c in classes])
    squares = np.array([np.nansum((X[y == c] - m) ** 2, axis=0) for c, m in zip(classes, mean, strict=True)])
    return mean, squares


def assert_moments(moments, X, y, rtol=1e-11):
    mean, squares = two_pass(X, y)
    np.testing.assert_allclose(moments.mean, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments.centred_squares, squares, rtol=rtol, atol=1e-11)


@pytest.fixture(params=[(1100, 1300, 2), (50, 7, 3), (4200, 3, 2), (9, 1, 2), (8300, 2, 5)], ids=str)
def table(request, rng):
    n, p, k = request.param
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    X = 50.0 + 3.0 * rng.standard_normal((n, p))
    return X, y


LAYOUTS = {
    "C": lambda X: X,
    "Fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float32 Fortran": lambda X: np.asfortranarray(X.astype(np.float32)),
    "float16": lambda X: X.astype(np.float16),
    "float16 Fortran": lambda X: np.asfortranarray(X.astype(np.float16)),
    "int8": lambda X: X.astype(np.int8),
    "int8 Fortran": lambda X: np.asfortranarray(X.astype(np.int8)),
    "uint8": lambda X: (4 * X).astype(np.uint8),
    "int64": lambda X: (1000 * X).astype(np.int64),
    "uint16": lambda X: (100 * X).astype(np.uint16),
    "bool": lambda X: X > 50,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed": lambda X: X[::-1, ::-1][::-1, ::-1],
    "big-endian": lambda X: X.astype(">f8"),
    "nested list": lambda X: X[:200].tolist(),
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "memmap-like subclass": lambda X: X.view(type("Sub", (np.ndarray,), {})),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dense_tables(table, layout):
    X, y = table
    made = LAYOUTS[layout](X)
    n = len(made)
    assert_moments(bs.Moments.from_matrix(made, y[:n]), made, y[:n])


def test_input_is_never_changed(table):
    X, y = table
    before = X.copy()
    bs.Moments.from_matrix(X, y)
    np.testing.assert_array_equal(X, before)
    assert X.flags.writeable


@pytest.mark.parametrize("layout", ["C", "Fortran", "float32", "float16"])
def test_missing_values_are_left_out(table, rng, layout):
    X, y = table
    X = X.copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0] = np.where(np.isnan(X[:, 0]), 50.0, X[:, 0])
    made = LAYOUTS[layout](X)
    moments = bs.Moments.from_matrix(made, y, missing="omit")
    present = ~np.isnan(made)
    counts = np.array([present[y == c].sum(axis=0) for c in np.unique(y)])
    np.testing.assert_array_equal(np.broadcast_to(moments.counts, counts.shape), counts)
    if (counts > 0).all():
        assert_moments(moments, made, y)


def test_omitting_nothing_gives_plain_counts(table):
    X, y = table
    plain, omitted = bs.Moments.from_matrix(X, y), bs.Moments.from_matrix(X, y, missing="omit")
    assert omitted.count.ndim == 1
    np.testing.assert_array_equal(plain.count, omitted.count)
    np.testing.assert_allclose(plain.centred_squares, omitted.centred_squares, rtol=1e-12)


def test_a_feature_missing_altogether_in_a_class():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [3.0, 3.0], [4.0, 5.0]])
    moments = bs.Moments.from_matrix(X, [0, 0, 1, 1], missing="omit")
    assert moments.count.tolist() == [[0, 2], [2, 2]]
    assert moments.mean[0, 0] == 0.0


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("density", [0.0, 0.03, 0.6, 1.0])
def test_sparse_tables_count_their_zeros(rng, form, density):
    X = (5.0 + rng.standard_normal((300, 40))) * (rng.random((300, 40)) < density)
    y = np.repeat([0, 1, 2], 100)
    moments = bs.Moments.from_matrix(sp.csr_array(X).asformat(form), y)
    assert_moments(moments, X, y)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_columns_without_zeros_keep_their_digits(rng, form):
    """Sums about zero would lose 12 digits here: the columns are summed again about a pivot."""
    X = 1e6 + rng.standard_normal((20_000, 3))
    X[:, 2] = rng.random(20_000) < 0.1
    y = rng.integers(0, 2, 20_000)
    assert_moments(bs.Moments.from_matrix(sp.csr_array(X).asformat(form), y), X, y, rtol=1e-12)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_missing_values(rng, form):
    X = rng.standard_normal((200, 30)) * (rng.random((200, 30)) < 0.3)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.repeat([0, 1], 100)
    moments = bs.Moments.from_matrix(sp.csr_array(X).asformat(form), y, missing="omit")
    np.testing.assert_array_equal(moments.count, [(~np.isnan(X[y == c])).sum(axis=0) for c in (0, 1)])
    assert_moments(moments, X, y)


def test_sparse_duplicates_are_added_up():
    matrix = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    moments = bs.Moments.from_matrix(matrix, ["a", "a"])
    assert moments.mean.tolist() == [[4.0]]


@pytest.mark.parametrize(
    "make", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, lambda X: X.astype(np.float32)]
)
def test_a_constant_has_no_squares_whatever_is_merged(make):
    X = np.full((9001, 3), [0.1, -7.3, 1e8 + 0.1])
    y = np.arange(9001) % 2
    whole = bs.Moments.from_matrix(make(X), y)
    halves = [bs.Moments.from_matrix(make(X[i::3]), y[i::3]) for i in range(3)]
    merged = halves[0].merge(halves[1]).merge(halves[2])
    for moments in (whole, merged, whole.pool(), merged.pool(), whole.remove(halves[0])):
        assert (moments.centred_squares == 0).all()
    np.testing.assert_array_equal(whole.mean, make(X[:2]).toarray() if sp.issparse(make(X[:2])) else make(X[:2]))


CASES = {
    "C": np.asarray,
    "Fortran": np.asfortranarray,
    "int8": lambda X: (20 * X).astype(np.int8),
    "float16": lambda X: X.astype(np.float16),
    "csr": lambda X: sp.csr_array(X * (np.abs(X) > 1)),
    "csc": lambda X: sp.csc_array(X * (np.abs(X) > 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_any_number_of_threads_gives_the_same_bits(rng, case):
    X = CASES[case](rng.standard_normal((5000, 1500)))
    y = rng.integers(0, 3, 5000)
    one = bs.Moments.from_matrix(X, y, n_threads=1)
    for n_threads in (2, 3, 7, None):
        other = bs.Moments.from_matrix(X, y, n_threads=n_threads)
        for name in ("count", "mean", "residual", "centred_squares"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_calls_from_several_python_threads_at_once(rng):
    tables = [(rng.standard_normal((400, 900)), rng.integers(0, 2, 400)) for _ in range(6)]
    expected = [bs.Moments.from_matrix(*table, n_threads=1).centred_squares for table in tables]
    results: list = [None] * len(tables)

    def work(i):
        results[i] = bs.Moments.from_matrix(*tables[i], n_threads=2).centred_squares

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(tables))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for got, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_an_error_in_a_thread_reaches_the_caller():
    from bayesieve.utils import for_each  # noqa: PLC0415

    def work(i):
        if i == 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        for_each(work, range(8), 3)


def test_tiles_cover_every_column():
    for n_features in (1, 511, 513, 20_000, 54_675, 500_001):
        for itemsize in (1, 4, 8):
            width = accumulate.tile_width(n_features, itemsize)
            assert 512 <= width <= 10_240
            assert width % 64 == 0


def test_frames_keep_their_names_and_values(rng):
    X = rng.standard_normal((20, 3))
    y = np.repeat(["a", "b"], 10)
    names = ["g1", "g2", "g3"]
    expected = bs.screen(X, y).log_odds
    frames = [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]
    frames.append(pd.DataFrame(X, columns=names).astype("Float64"))
    frames.append(pd.DataFrame({n: pd.arrays.SparseArray(X[:, i], fill_value=0) for i, n in enumerate(names)}))
    for frame in frames:
        posterior = bs.screen(frame, y)
        assert posterior.names == ("g1", "g2", "g3")
        np.testing.assert_allclose(posterior.log_odds, expected, rtol=1e-11)


def test_missing_values_of_frames():
    y = ["a", "a", "a", "b", "b", "b"]
    values = [1.0, None, 2.5, 3.0, 4.5, None]
    for frame in (
        pd.DataFrame({"g": values}),
        pd.DataFrame({"g": values}, dtype="Float64"),
        pl.DataFrame({"g": values}),
    ):
        assert bs.Moments.from_matrix(frame, y, missing="omit").count.tolist() == [[2], [2]]
    mixed = pl.DataFrame({"a": [True, False, True], "b": [1, 2, 3]})
    assert bs.Moments.from_matrix(mixed, ["x", "x", "x"]).mean[0] == pytest.approx([2 / 3, 2.0])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["b", "a", "b"], ("a", "b")),
        ([2, 1, 2], (1, 2)),
        ([True, False, True], (False, True)),
        (pd.Categorical(["b", "a", "b"], categories=["b", "a"]), ("a", "b")),
        (pd.Series(["b", "a", "b"]), ("a", "b")),
        (pl.Series(["b", "a", "b"]), ("a", "b")),
        ([("t", 1), ("s", 2), ("t", 1)], (("s", 2), ("t", 1))),
        ([1, "a", 1], (1, "a")),
        (np.array([[1], [0], [1]]), (0, 1)),
    ],
    ids=str,
)
def test_labels_of_any_hashable_type_in_sorted_order(y, classes):
    if isinstance(y, list) and isinstance(y[0], tuple):
        array = np.empty(3, dtype=object)
        array[:] = y
        y = array
    elif isinstance(y, list) and isinstance(y[1], str) and isinstance(y[0], int):
        y = np.array(y, dtype=object)
    assert bs.Moments.from_matrix([[1.0], [2.0], [3.0]], y).classes == classes


def test_classes_give_the_order():
    moments = bs.Moments.from_matrix([[1.0], [2.0]], ["b", "a"], classes=("b", "a", "c"))
    assert moments.classes == ("b", "a", "c")
    assert moments.count.tolist() == [1, 1, 0]


def test_pool_of_some_classes(rng):
    X, y = rng.standard_normal((30, 4)), np.repeat(["a", "b", "c"], 10)
    pooled = bs.Moments.from_matrix(X, y).pool(["a", "c"])
    direct = bs.Moments.from_matrix(X[y != "b"], ["x"] * 20)
    np.testing.assert_allclose(pooled.centred_squares, direct.centred_squares, rtol=1e-13)
    assert pooled.classes == (("a", "c"),)


def test_variance_and_difference(rng):
    X, y = rng.standard_normal((30, 4)), np.repeat([0, 1], 15)
    moments = bs.Moments.from_matrix(X, y)
    np.testing.assert_allclose(moments.variance[1], X[15:].var(axis=0, ddof=1), rtol=1e-13)
    np.testing.assert_allclose(moments.mean_difference, X[15:].mean(axis=0) - X[:15].mean(axis=0), rtol=1e-12)
    assert np.isnan(bs.Moments.from_matrix([[1.0]], ["a"]).variance).all()


@pytest.mark.parametrize("far", [1e4, 1e8, 1e12])
def test_a_removal_that_leaves_no_digits_says_so(far, rng):
    """Next to a value so far away, what is left of squares or of fourth powers is rounding."""
    X = rng.normal(size=(60, 3))
    X[7, 1] = far
    y = np.array(["a", "b"] * 30)
    whole, part = (bs.Moments.from_matrix(X[rows], y[rows], classes=["a", "b"]) for rows in (slice(None), [7, 8]))
    with pytest.warns(bs.errors.DataWarning, match="spread of 1 of 3 features, the first in column 1: squares or"):
        left = whole.remove(part)
    rest = bs.Moments.from_matrix(np.delete(X, [7, 8], axis=0), np.delete(y, [7, 8]), classes=["a", "b"])
    np.testing.assert_allclose(left.centred_squares[:, ::2], rest.centred_squares[:, ::2], rtol=1e-12)
    error = abs(left.centred_fourths / rest.centred_fourths - 1)
    assert error[1, 1] > 1e-7  # the warning was due
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert whole.remove(whole).count.tolist() == [0, 0]
        whole.take([0, 2]).remove(part.take([0, 2]))


@pytest.mark.parametrize("model", [bs.GaussianModel.jeffreys(), bs.CalibratedModel()])
def test_what_leaves_single_samples_out_sums_anew_where_digits_would_be_lost(model, rng):
    X = rng.normal(size=(40, 12))
    X[::2, :4] += 1.5
    X[7, 1] = 1e8
    y = np.array(["a", "b"] * 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.errors.BayesieveWarning)
        posterior = bs.screen(X, y, model=model, shuffles=0)
        found = bs.fragility(X, y, posterior=posterior)
        fixed = posterior.model
        for j in (1, 2):
            each = [
                fixed.evidences(bs.Moments.from_matrix(np.delete(X, i, axis=0), np.delete(y, i))).pattern(
                    ((0,), (1,))
                )
                for i in range(40)
            ]
            expected = min(e[j] for e in each)
            assert found.least_log_bayes_factor[j] == pytest.approx(expected, rel=1e-6, abs=1e-6)
