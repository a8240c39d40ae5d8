"""Event totals from every kind of table, against sums of Python's exact integers and of NumPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from bayesieve.data import LabelledMatrix, size_factors
from bayesieve.errors import DataError, LabelError, MissingValueError, OptionError
from bayesieve.stats import EventTotals

Y = np.array(["b", "a", "c", "a", "b", "a", "b", "c", "a", "a", "b"])


@pytest.fixture
def counts(rng):
    return rng.poisson(4.0, (Y.size, 1300))


@pytest.fixture
def exposures(rng):
    return rng.uniform(0.5, 2.0, Y.size)


def plain(X, y, exposures=None):
    """Count, total and exposure by brute force; NaN is left out."""
    X, e = np.asarray(X, dtype=np.float64), np.ones(len(y)) if exposures is None else exposures
    out = []
    for label in sorted(set(y)):
        part, there = X[y == label], ~np.isnan(X[y == label])
        out.append((there.sum(0), np.nansum(part, 0), (there * e[y == label][:, None]).sum(0)))
    return [np.array(each) for each in zip(*out, strict=True)]


def assert_same(totals, expected, exact=True):
    count, total, exposure = expected
    np.testing.assert_array_equal(np.broadcast_to(totals.counts, total.shape), count)
    np.testing.assert_allclose(totals.total, total, rtol=0 if exact else 1e-14)
    held = totals.exposure if totals.exposure.ndim == 2 else totals.exposure[:, None]
    np.testing.assert_allclose(np.broadcast_to(held, total.shape), exposure, rtol=1e-13)


LAYOUTS = {
    "C": lambda X: X.astype(float),
    "Fortran": lambda X: np.asfortranarray(X, dtype=float),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "float16 Fortran": lambda X: np.asfortranarray(X.astype(np.float16)),
    "big-endian": lambda X: X.astype(">f8"),
    "int8": lambda X: X.astype(np.int8),
    "int64 Fortran": np.asfortranarray,
    "uint16": lambda X: X.astype(np.uint16),
    "bool": lambda X: X > 4,
    "strided": lambda X: np.repeat(X.astype(float), 2, axis=1)[:, ::2],
    "CSR": lambda X: sp.csr_array(X.astype(float)),
    "CSC": sp.csc_matrix,
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X[:, :40]),
    "list": lambda X: X.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("missing", ["raise", "omit"])
def test_every_table_gives_the_sums_of_numpy(counts, exposures, layout, missing):
    table = LAYOUTS[layout](counts)
    dense = table.toarray() if sp.issparse(table) else np.asarray(table)
    totals = EventTotals.from_matrix(table, Y, exposures=exposures, missing=missing)
    assert totals.classes == ("a", "b", "c")
    assert totals.count.ndim == 1
    assert_same(totals, plain(dense, Y, exposures))
    assert not any(array.flags.writeable for array in (totals.count, totals.total, totals.exposure))


@pytest.mark.parametrize("make", [np.array, np.asfortranarray, sp.csr_matrix, sp.csc_matrix, np.float32])
def test_missing_values_are_left_out_with_their_exposure(counts, exposures, rng, make):
    X = np.where(rng.random(counts.shape) < 0.3, np.nan, counts)
    X[:, 0] = np.nan
    X[Y == "c", 1] = np.nan
    totals = EventTotals.from_matrix(make(X), Y, exposures=exposures, missing="omit")
    assert_same(totals, plain(X, Y, exposures))
    shortened = EventTotals.from_matrix(X[~np.isnan(X[:, 7]), 7:8], Y[~np.isnan(X[:, 7])],
                                        exposures=exposures[~np.isnan(X[:, 7])])  # fmt: skip
    np.testing.assert_array_equal(totals.take([7]).total, shortened.total)
    with pytest.raises(MissingValueError, match="missing value"):
        EventTotals.from_matrix(make(X), Y)


def test_one_thread_and_many_agree_to_the_last_bit(rng):
    X, y = rng.gamma(2.0, size=(300, 1500)), rng.integers(0, 2, 300)
    for table in (X, np.asfortranarray(X)):
        one, two = (EventTotals.from_matrix(table, y, n_threads=k) for k in (1, 3))
        np.testing.assert_array_equal(one.total, two.total)
        np.testing.assert_allclose(one.total, plain(X, y)[1], rtol=1e-14)


def test_whole_numbers_add_up_exactly():
    X = np.array([[2**52, 3], [2**52 - 1, 5], [0, 7]])
    whole = [sum(int(v) for v in column) for column in X.T]  # Python's integers
    for table in (X, X.astype(float), np.asfortranarray(X), sp.csr_matrix(X)):
        assert EventTotals.from_matrix(table, [0, 0, 0]).total[0].tolist() == whole


def test_fractions_are_accepted():
    assert EventTotals.from_matrix([[0.25], [1.5]], [0, 0]).total.tolist() == [[1.75]]


def parts_of(counts, exposures, **options):
    X = counts[:, :9].astype(float)
    X[3, 2] = np.nan
    options = {"missing": "omit", "spread": True, **options}
    whole = EventTotals.from_matrix(X, Y, exposures=exposures, **options)
    cut = 6
    halves = [EventTotals.from_matrix(X[rows], Y[rows], exposures=exposures[rows], **options)
              for rows in (slice(cut), slice(cut, None))]  # fmt: skip
    return X, whole, halves


def test_merge_and_remove_are_the_sums_of_all_and_of_the_rest(counts, exposures):
    X, whole, (first, second) = parts_of(counts, exposures)
    for merged in (first.merge(second), second.merge(first)):
        assert_same(merged, plain(X, Y, exposures))
        np.testing.assert_allclose(merged.moments.centred_squares, whole.moments.centred_squares, rtol=1e-12)
    left = whole.remove(first)
    assert_same(left, plain(X[6:], Y[6:], exposures[6:]))
    nothing = whole.remove(whole)
    assert not nothing.count.any()
    assert not nothing.exposure.any()


def test_a_part_may_lack_a_class_or_have_plain_counts():
    a = EventTotals.from_matrix([[1, 2], [3, 4]], ["x", "y"])
    b = EventTotals.from_matrix([[5, np.nan]], ["z"], missing="omit")
    merged = b.merge(a)
    assert merged.classes == ("x", "y", "z")
    assert merged.total.tolist() == [[1, 2], [3, 4], [5, 0]]
    assert merged.count.tolist() == [[1, 1], [1, 1], [1, 0]]
    assert a.merge(a).count.tolist() == [2, 2]
    one = EventTotals.from_matrix([[1], [3]], ["x", "y"])
    assert one.merge(one).total.tolist() == [[2], [6]]


def test_pool_pick_take_rename_and_join(counts, exposures):
    X, whole, _ = parts_of(counts, exposures)
    together = np.where(np.isin(Y, ["c", "a"]), "ac", "b")
    expected = [each[:1] for each in plain(X, together, exposures)]
    pooled = whole.pool(["c", "a"])
    assert pooled.classes == (("c", "a"),)
    assert_same(pooled, expected)
    assert whole.pool().total.tolist() == [np.nansum(X, axis=0).tolist()]
    picked = whole.pick(["c", "a"])
    np.testing.assert_array_equal(picked.total, whole.total[[2, 0]])
    assert picked.moments.classes == ("c", "a")
    joined = EventTotals.join([whole.take(slice(0, 4)), whole.take([4, 5, 6, 7, 8])])
    assert_same(joined, plain(X, Y, exposures))
    np.testing.assert_array_equal(joined.moments.mean, whole.moments.mean)
    assert whole.renamed(["p", "q", "r"]).pick(["q"]).total.tolist() == whole.pick(["b"]).total.tolist()


def test_the_order_of_samples_and_features_does_not_matter(counts, rng):
    rows, columns = rng.permutation(Y.size), rng.permutation(50)
    totals = EventTotals.from_matrix(counts[:, :50], Y)
    shuffled = EventTotals.from_matrix(counts[rows][:, columns], Y[rows])
    np.testing.assert_array_equal(shuffled.total, totals.take(columns).total)


def test_columns_for_the_table_of_results():
    totals = EventTotals.from_matrix([[4, 0, 0, 2], [8, 0, 3, 0]], ["a", "b"], exposures=[2.0, 1.0])
    columns = totals.describe(["a", "b"])
    assert list(columns) == ["n_a", "rate_a", "n_b", "rate_b", "log_rate_ratio"]
    assert columns["rate_a"].tolist() == [2.0, 0.0, 0.0, 1.0]
    np.testing.assert_allclose(columns["log_rate_ratio"], [np.log(4.0), np.nan, np.inf, -np.inf])
    empty = EventTotals.from_matrix([[4]], ["a"], classes=["a", "b"]).describe(["a", "b"])
    assert np.isnan(empty["rate_b"][0])
    assert np.isnan(empty["log_rate_ratio"][0])
    assert "log_rate_ratio" not in EventTotals.from_matrix([[4]], ["a"]).describe(["a"])


def test_exposures_come_with_the_matrix(counts, exposures):
    made = LabelledMatrix.from_arrays(counts, Y)
    matrix = LabelledMatrix(made.values, made.labels, None, exposures=exposures)
    assert_same(EventTotals.from_labelled(matrix), plain(counts, Y, exposures))


@pytest.mark.parametrize("make", [np.array, sp.csr_matrix, pd.DataFrame, sp.csc_array, np.asfortranarray])
def test_size_factors_are_the_samples_totals_over_their_mean(counts, make):
    totals = np.array([sum(int(v) for v in row) for row in counts])
    np.testing.assert_allclose(size_factors(make(counts)), totals / totals.mean(), rtol=1e-14)


@pytest.mark.parametrize("make", [np.array, np.asfortranarray, sp.csr_matrix, sp.csc_matrix])
def test_negative_values_are_told_with_their_place(make):
    X = np.array([[1.0, 2.0, 0.0], [3.0, -2.5, -1.0]])
    with pytest.raises(
        DataError, match=r"2 negative value\(s\) in 2 of 3 features, .*sample 1, feature column 1: -2.5"
    ):
        EventTotals.from_matrix(make(X), ["a", "b"])
    with pytest.raises(DataError, match="1 infinite"):
        EventTotals.from_matrix(make(np.array([[1.0, np.inf]])), ["a"], missing="omit")


@pytest.mark.parametrize(
    ("exposures", "said"),
    [
        ([1.0], "2 samples, but exposures have shape"),
        ([1.0, 0.0], "1 of 2 exposures are not positive and finite, the first at sample 1: 0"),
        ([np.nan, 1.0], "first at sample 0: nan"),
        (["x", 1.0], "must be numbers"),
    ],
)
def test_exposures_must_be_positive_one_per_sample(exposures, said):
    with pytest.raises(DataError, match=said):
        EventTotals.from_matrix([[1], [2]], ["a", "b"], exposures=exposures)


def test_other_mistakes_are_named():
    totals = EventTotals.from_matrix([[1], [2]], ["a", "b"])
    more = EventTotals.from_matrix([[5]], ["a"])
    with pytest.raises(DataError, match="not part of these totals"):
        totals.remove(more)
    with pytest.raises(LabelError, match="no class 'c'"):
        totals.pool(["c"])
    with pytest.raises(DataError, match="not with list"):
        totals.merge([1])
    with pytest.raises(DataError, match="describe 1 features and the others 2"):
        totals.merge(EventTotals.from_matrix([[1, 2]], ["a"]))
    with pytest.raises(DataError, match="missing must be"):
        EventTotals.from_matrix([[1]], ["a"], missing="drop")
    with pytest.raises(OptionError, match="no kind 'median'"):
        size_factors([[1]], kind="median")
    with pytest.raises(DataError, match="1 of 2 samples have no total above 0"):
        size_factors([[1], [0]])


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        (([1], [1.0], [1.0]), "total must be"),
        (([1, 2], [[1.0]], [1.0]), "must be"),
        (([1], [[-1.0]], [1.0]), "not negative"),
        (([1.5], [[1.0]], [1.0]), "number of values"),
        ((["x"], [[1.0]], [1.0]), "must hold numbers"),
    ],
)
def test_ready_made_totals_are_checked(arrays, said):
    with pytest.raises(DataError, match=said):
        EventTotals(("a",), *arrays)


def test_ready_made_totals_are_copies():
    total = np.array([[3.0]])
    made = EventTotals(("a",), [2], total, [2.0])
    total[:] = 9.0
    assert made.total.tolist() == [[3.0]]
