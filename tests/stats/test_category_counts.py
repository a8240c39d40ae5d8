"""CategoryCounts from every kind of table, against comparing and adding with plain NumPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from bayesieve.data import LabelledMatrix, labelled_categories
from bayesieve.data.categories import encode_categories
from bayesieve.errors import DataError, LabelError, MissingValueError
from bayesieve.stats import CategoryCounts
from bayesieve.stats.categories import tables as category_tables


def brute(X, y, levels):
    """Count by comparing every cell with every level."""
    X, y = np.asarray(X), np.asarray(y)
    return np.array([[(X[y == c] == level).sum(axis=0) for level in levels] for c in np.unique(y)])


def assert_counts(counts, X, y, levels):
    assert counts.levels == tuple(levels)
    np.testing.assert_array_equal(counts.table, brute(X, y, levels))
    np.testing.assert_array_equal(counts.counts, counts.table.sum(axis=1))


def as_dict(counts):
    """Counts by class and level, levels that nobody has left out: what two statistics must share."""
    return {
        (label, level): counts.table[k, m].tolist()
        for k, label in enumerate(counts.classes)
        for m, level in enumerate(counts.levels)
        if counts.table[:, m].any()
    }


@pytest.fixture(params=[(1100, 1300, 2), (50, 7, 3), (600, 3, 1), (9, 1, 2), (300, 70, 5)], ids=str)
def table(request, rng):
    n, p, k = request.param
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    return np.vstack([np.arange(p) % 3, rng.integers(0, 3, (n - 1, p))]), y


LAYOUTS = {
    "int8": lambda X: X.astype(np.int8),
    "int8 Fortran": lambda X: np.asfortranarray(X.astype(np.int8)),
    "uint8": lambda X: X.astype(np.uint8),
    "int64": lambda X: X,
    "int64 Fortran": np.asfortranarray,
    "int16": lambda X: X.astype(np.int16),
    "float64": lambda X: X.astype(np.float64),
    "float32 Fortran": lambda X: np.asfortranarray(X.astype(np.float32)),
    "float16": lambda X: X.astype(np.float16),
    "big-endian": lambda X: X.astype(">i8"),
    "big-endian Fortran": lambda X: np.asfortranarray(X.astype(">f8")),
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "nested list": lambda X: X.tolist(),
    "read-only": lambda X: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dense_tables(table, layout):
    X, y = table
    made = LAYOUTS[layout](X)
    assert_counts(CategoryCounts.from_matrix(made, y), X, y, np.unique(X).tolist())


@pytest.mark.parametrize("layout", ["C", "F"])
def test_booleans(table, layout):
    X, y = table
    made = np.array(X > 0, order=layout)
    counts = CategoryCounts.from_matrix(made, y)
    assert [type(level) for level in counts.levels] == [bool] * len(counts.levels)
    assert_counts(counts, made, y, np.unique(made).tolist())


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.int8, np.float64, np.float32, bool])
def test_sparse_tables_count_their_zeros(rng, form, dtype):
    X = (rng.integers(-1, 3, (200, 30)) * (rng.random((200, 30)) < 0.4)).astype(np.float64).astype(dtype)
    y = np.repeat([0, 1, 2, 3], 50)
    made = sp.csr_array(X).asformat(form)
    for threads in (1, 3):
        assert_counts(CategoryCounts.from_matrix(made, y, n_threads=threads), X, y, np.unique(X).tolist())


def test_a_sparse_table_without_zeros_has_no_level_zero():
    counts = CategoryCounts.from_matrix(sp.csr_array(np.array([[1, 2], [2, 2]])), [0, 1])
    assert counts.levels == (1, 2)


@pytest.mark.parametrize("layout", ["float64", "float32 Fortran", "float16", "csr", "csc"])
def test_missing_numbers_are_left_out(table, rng, layout):
    X, y = table
    X = X.astype(np.float64)
    X[1:][rng.random(X[1:].shape) < 0.2] = np.nan
    made = sp.csr_array(X).asformat(layout) if layout in ("csr", "csc") else LAYOUTS[layout](X)
    levels = np.unique(X[~np.isnan(X)]).tolist()
    assert_counts(CategoryCounts.from_matrix(made, y, missing="omit"), X, y, levels)
    declared = CategoryCounts.from_matrix(made, y, missing="omit", levels=[2, 1, 0])
    assert_counts(declared, X, y, [2, 1, 0])
    if np.isnan(X).any():
        with pytest.raises(MissingValueError, match=f"X holds {np.isnan(X).sum()} missing value"):
            CategoryCounts.from_matrix(made, y)


def test_rare_levels_are_found_wherever_they_are(rng):
    """Levels that the first sample of the table does not see are counted all the same."""
    X = rng.integers(0, 2, (400, 3000), dtype=np.int8)
    places = rng.integers(0, 400, 5), rng.integers(0, 3000, 5)
    X[places] = [-9, 3, 77, -9, 5]
    y = rng.integers(0, 2, 400)
    for made in (X, np.asfortranarray(X), X.astype(np.float32)):
        assert_counts(CategoryCounts.from_matrix(made, y), X, y, [-9, 0, 1, 3, 5, 77])


def test_rare_levels_are_found_in_small_pieces(rng, monkeypatch):
    monkeypatch.setattr(category_tables, "_AT_ONCE", 1000)
    monkeypatch.setattr(category_tables, "_SAMPLE", (1, 1))
    X, y = rng.integers(0, 9, (300, 40)), rng.integers(0, 3, 300)
    assert_counts(CategoryCounts.from_matrix(X, y), X, y, range(9))


def test_numbers_that_are_not_whole_and_wide_apart():
    X = np.array([[0.5, -1e300], [2.0, 1e300], [0.5, 3.0]])
    counts = CategoryCounts.from_matrix(X, [0, 0, 1])
    assert_counts(counts, X, [0, 0, 1], [-1e300, 0.5, 2, 3, 1e300])
    assert isinstance(counts.levels[2], int)


TEXTS = np.array([["AA", "yes"], ["AG", "no"], ["GG", "yes"], ["AG", "no"], ["AA", "no"]])
HOLES = np.array([[False, True], [False, False], [False, False], [False, False], [True, False]])
Y = [0, 1, 0, 1, 1]


def with_holes(hole):
    made = TEXTS.astype(object)
    made[HOLES] = hole
    return made


TEXT_TABLES = {
    "objects with None": with_holes(None),
    "objects with NaN": with_holes(np.nan),
    "nested list with NaN": with_holes(float("nan")).tolist(),
    "masked": np.ma.masked_array(TEXTS, HOLES),
    "pandas objects": pd.DataFrame(with_holes(None), columns=["snp", "smokes"]),
    "pandas string": pd.DataFrame(with_holes(pd.NA), columns=["snp", "smokes"]).astype("string"),
    "pandas category": pd.DataFrame(with_holes(None), columns=["snp", "smokes"]).astype("category"),
    "pandas category, one unused": pd.DataFrame(with_holes(None), columns=["snp", "smokes"]).astype(
        pd.CategoricalDtype(["yes", "never", "no", "GG", "AG", "AA"])
    ),
    "polars string": pl.DataFrame(with_holes(None).tolist(), schema=["snp", "smokes"], orient="row"),
    "polars categorical": pl.DataFrame(
        with_holes(None).tolist(), schema={"snp": pl.Categorical, "smokes": pl.Categorical}, orient="row"
    ),
    "polars enum": pl.DataFrame(
        with_holes(None).tolist(),
        schema={"snp": pl.Enum(["AA", "AG", "GG"]), "smokes": pl.Enum(["no", "yes"])},
        orient="row",
    ),
}


@pytest.mark.parametrize("kind", TEXT_TABLES)
def test_texts(kind):
    made = TEXT_TABLES[kind]
    expected = np.where(HOLES, "", TEXTS)
    levels = ("AA", "AG", "GG", "no", "yes")
    assert_counts(CategoryCounts.from_matrix(made, Y, missing="omit"), expected, Y, levels)
    declared = ("GG", "AG", "AA", "yes", "no", "never")
    assert_counts(CategoryCounts.from_matrix(made, Y, missing="omit", levels=declared), expected, Y, declared)
    with pytest.raises(MissingValueError, match=r"2 missing value.* in 2 of 2 features, the first at sample 4"):
        CategoryCounts.from_matrix(made, Y)
    matrix = labelled_categories(made, Y)
    assert matrix.values.dtype == np.int8
    assert matrix.feature_names == (("snp", "smokes") if hasattr(made, "columns") else None)


def test_arrays_of_texts_and_of_bytes():
    assert_counts(CategoryCounts.from_matrix(TEXTS, Y), TEXTS, Y, ("AA", "AG", "GG", "no", "yes"))
    assert as_dict(CategoryCounts.from_matrix(TEXTS.astype("S"), Y)) == as_dict(
        CategoryCounts.from_matrix(TEXTS, Y)
    )


MIXED = {"colour": ["red", "blue", "red"], "dose": [1.0, 2.0, None], "ill": [True, False, True]}


@pytest.mark.parametrize("frame", [pd.DataFrame(MIXED), pl.DataFrame(MIXED)], ids=["pandas", "polars"])
def test_frames_of_mixed_columns(frame):
    counts = CategoryCounts.from_matrix(frame, [0, 0, 0], missing="omit")
    assert set(counts.levels) == {"red", "blue", 1, 2, False}  # True and 1 are equal, as everywhere in Python
    by_level = {level: counts.table[0, m].tolist() for m, level in enumerate(counts.levels)}
    assert by_level == {"red": [2, 0, 0], "blue": [1, 0, 0], 1: [0, 1, 2], 2: [0, 1, 0], False: [0, 0, 1]}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [True, None, False]}, dtype="boolean"),
        pl.DataFrame({"a": [True, None, False]}),
        pd.DataFrame({"a": [True, None, False]}, dtype=object),
    ],
    ids=["pandas", "polars", "objects"],
)
def test_booleans_with_gaps(frame):
    counts = CategoryCounts.from_matrix(frame, [0, 0, 1], missing="omit")
    assert counts.levels == (False, True)
    assert isinstance(counts.levels[0], bool)
    assert counts.table[:, :, 0].tolist() == [[0, 1], [1, 0]]


def test_numbers_of_frames_stay_as_they_are():
    values, names, levels = encode_categories(
        pl.DataFrame({"a": [0, 1], "b": [2, 0]}, schema_overrides={"a": pl.Int64})
    )
    assert (values.tolist(), names, levels) == ([[0, 2], [1, 0]], ["a", "b"], None)
    nullable = pd.DataFrame({"a": [0, None, 2]}, dtype="Int8")
    assert CategoryCounts.from_matrix(nullable, [0, 0, 0], missing="omit").levels == (0, 2)


def test_many_levels_of_text(rng):
    """More levels than a byte holds, each feature with few: codes of 16 bits."""
    X = np.array([[f"{j}-{k}" for j in range(60)] for k in rng.integers(0, 4, 90)])
    y = rng.integers(0, 2, 90)
    matrix = labelled_categories(X, y)
    assert matrix.values.dtype == np.int16
    assert_counts(CategoryCounts.from_labelled(matrix), X, y, sorted(set(X.ravel().tolist())))


def test_threads_chunks_and_permutations_give_identical_counts(table, rng):
    X, y = table
    whole = CategoryCounts.from_matrix(X, y, n_threads=1)
    for made in (X, np.asfortranarray(X), X.astype(np.int8), X[:, ::-1][:, ::-1]):
        for threads in (2, 5):
            np.testing.assert_array_equal(
                CategoryCounts.from_matrix(made, y, n_threads=threads).table, whole.table
            )
    order = rng.permutation(len(y))
    np.testing.assert_array_equal(CategoryCounts.from_matrix(X[order], y[order]).table, whole.table)
    cut = len(y) // 3
    first, second = CategoryCounts.from_matrix(X[:cut], y[:cut]), CategoryCounts.from_matrix(X[cut:], y[cut:])
    assert as_dict(first.merge(second)) == as_dict(second.merge(first)) == as_dict(whole)
    assert as_dict(first.merge(second).remove(second)) == as_dict(first.merge(second.remove(second)))
    half = X.shape[1] // 2
    if half:
        parts = [CategoryCounts.from_matrix(part, y) for part in (X[:, :half], X[:, half:])]
        assert as_dict(CategoryCounts.join(parts)) == as_dict(whole)
    assert (
        whole.take([0]).table.tolist() == whole.take(slice(0, 1)).table.tolist() == whole.table[:, :, :1].tolist()
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_split_merges_to_the_whole(data):
    n, p = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 4))
    cells = st.lists(
        st.lists(st.sampled_from([-1.0, 0.0, 2.0, np.nan]), min_size=p, max_size=p), min_size=n, max_size=n
    )
    X = np.array(data.draw(cells))
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    cut = data.draw(st.integers(1, n - 1))
    parts = [CategoryCounts.from_matrix(X[s], y[s], missing="omit") for s in (slice(cut), slice(cut, n))]
    whole = CategoryCounts.from_matrix(X, y, missing="omit")
    merged = parts[0].merge(parts[1])
    assert as_dict(merged) == as_dict(whole)
    assert merged.levels == whole.levels
    assert as_dict(merged.remove(parts[1]).pick(parts[0].classes)) == as_dict(parts[0])


def test_pool_pick_and_renamed(rng):
    X, y = rng.integers(0, 4, (60, 5)), np.repeat(["a", "b", "c"], 20)
    counts = CategoryCounts.from_matrix(X, y)
    pooled = counts.pool(["c", "a"])
    assert pooled.classes == (("c", "a"),)
    np.testing.assert_array_equal(pooled.table[0], brute(X[y != "b"], np.zeros(40), range(4))[0])
    np.testing.assert_array_equal(counts.pool().table[0], brute(X, np.zeros(60), range(4))[0])
    np.testing.assert_array_equal(counts.pick(["c", "a"]).table, brute(X, y, range(4))[[2, 0]])
    assert counts.renamed([1, 2, 3]).classes == (1, 2, 3)
    assert counts.n_features == 5


def test_a_class_without_samples_is_kept():
    counts = CategoryCounts.from_matrix([[0], [1]], ["a", "a"], classes=["b", "a"])
    assert counts.table[:, :, 0].tolist() == [[0, 0], [1, 1]]


def test_merge_keeps_a_declared_order_and_sorts_a_new_one():
    declared = CategoryCounts.from_matrix([["lo"], ["hi"]], [0, 0], levels=["lo", "mid", "hi"])
    assert declared.merge(CategoryCounts.from_matrix([["mid"]], [0])).levels == ("lo", "mid", "hi")
    assert declared.merge(CategoryCounts.from_matrix([["all"]], [0])).levels == ("all", "hi", "lo", "mid")


def test_declared_levels_of_numbers():
    X = np.array([[0, 1], [2, 2], [0, 0]], dtype=np.int8)
    counts = CategoryCounts.from_matrix(X, [0, 0, 0], levels=[2, 1, 0, 300, 0.5])
    assert counts.levels == (2, 1, 0, 300, 0.5)
    assert counts.table[0].tolist() == [[1, 1], [0, 1], [2, 1], [0, 0], [0, 0]]


def test_describe_gives_counts_and_shares():
    X = np.array([[0, np.nan], [1, np.nan], [1, 1], [np.nan, 1]])
    columns = CategoryCounts.from_matrix(X, [0, 0, 0, 1], missing="omit").describe(["a", "b"])
    assert list(columns) == ["n_a", "share_0_a", "share_1_a", "n_b", "share_0_b", "share_1_b"]
    assert columns["n_a"].tolist() == [3, 1]
    np.testing.assert_allclose(columns["share_1_a"], [2 / 3, 1.0], rtol=1e-15)
    np.testing.assert_array_equal(columns["share_0_b"], [np.nan, 0.0])
    both = CategoryCounts(["a"], [1, "1"], [[[1], [2]]]).describe(["a"])
    assert set(both) == {"n_a", "share_1_a", "share_'1'_a"}


def test_the_table_is_read_only_and_the_input_is_not_changed(rng):
    X = rng.integers(0, 3, (20, 4))
    before = X.copy()
    counts = CategoryCounts.from_matrix(X, np.zeros(20))
    with pytest.raises(ValueError, match="read-only"):
        counts.table[0, 0, 0] = 1
    np.testing.assert_array_equal(X, before)
    assert X.flags.writeable
    own = np.ones((1, 1, 1), dtype=np.int64)
    CategoryCounts(["a"], [0], own)
    assert own.flags.writeable


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_values_outside_the_declared_levels(make):
    X = np.array([[0, 1], [9, 2], [0, -9], [7, 1]])
    with pytest.raises(
        DataError, match=r"4 value.* \[1, 0\]: -9, 2, 7, 9, the first at sample 1, feature column 0"
    ):
        CategoryCounts.from_matrix(make(X), [0, 0, 1, 1], levels=[1, 0])
    if sp.issparse(make(X)):
        with pytest.raises(DataError, match=r"2 value.*: 0, the first at sample 0"):
            CategoryCounts.from_matrix(make(X), [0, 0, 1, 1], levels=[1, 2, 7, 9, -9])


def test_texts_outside_the_declared_levels():
    frame = pl.DataFrame({"a": ["x", "y"], "b": ["z", "x"]})
    with pytest.raises(DataError, match=r"2 value.* \['x'\]: 'y', 'z', the first at sample 1, feature 'a'"):
        CategoryCounts.from_matrix(frame, [0, 1], levels=["x"])
    with pytest.raises(DataError, match=r"declared levels .* are no numbers, but X holds nothing else"):
        CategoryCounts.from_matrix([[0], [1]], [0, 1], levels=["x"])


def test_measurements_are_refused(rng):
    X = rng.standard_normal((40, 30))
    for made in (X, np.asfortranarray(X), sp.csr_array(X), (1000 * X).astype(int)):
        with pytest.raises(DataError, match=r"more than 64 different values.*looks like measurements"):
            CategoryCounts.from_matrix(made, np.zeros(40))
    late = np.zeros((300, 3000))
    late[7, 1:200] = np.arange(1, 200)
    with pytest.raises(DataError, match="looks like measurements"):
        CategoryCounts.from_matrix(late, np.zeros(300))
    names = pd.DataFrame({"ok": ["a"] * 80, "id": [f"s{i}" for i in range(80)]})
    with pytest.raises(DataError, match=r"Feature 'id' holds 80 different values.*names of samples"):
        CategoryCounts.from_matrix(names, np.zeros(80))


def test_sixty_four_levels_are_accepted_and_more_if_declared():
    X = np.arange(64)[:, None]
    assert len(CategoryCounts.from_matrix(X, np.zeros(64)).levels) == 64
    X = np.arange(400)[:, None]
    assert CategoryCounts.from_matrix(X, np.zeros(400), levels=range(400)).table.sum() == 400


def test_infinities_are_no_category():
    with pytest.raises(DataError, match=r"1 infinite value.*sample 1, feature column 0"):
        CategoryCounts.from_matrix([[0.0], [np.inf], [np.nan]], [0, 0, 1], missing="omit")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["a", "b"], ["a"]], "not a rectangular table"),
        (["a", "b"], "1 dimension"),
        (np.empty((0, 2), dtype=object), "X is empty: 0 samples x 2 features"),
        (np.array([[{"a": 1}], [None]], dtype=object), "Categories must be texts"),
    ],
)
def test_tables_that_cannot_be_counted(X, message):
    with pytest.raises(DataError, match=message):
        CategoryCounts.from_matrix(X, [0, 1])


@pytest.mark.parametrize("levels", ["abc", [], [1, 1.0], [None], [["a"]], 3])
def test_levels_that_are_no_list_of_categories(levels):
    with pytest.raises(DataError, match="levels"):
        CategoryCounts.from_matrix([[0], [1]], [0, 1], levels=levels)


def test_levels_are_declared_once():
    matrix = labelled_categories([["a"], ["b"]], [0, 1])
    with pytest.raises(DataError, match="Declare the levels once"):
        CategoryCounts.from_labelled(matrix, levels=["b", "a"])


def test_codes_beyond_the_levels_are_refused():
    matrix = LabelledMatrix.from_arrays(np.array([[0], [5]]), [0, 1])
    broken = LabelledMatrix(matrix.values, matrix.labels, None, levels=("a", "b"))
    with pytest.raises(DataError, match=r"1 value.* not among the declared levels"):
        CategoryCounts.from_labelled(broken)


def test_missing_must_be_a_known_word():
    with pytest.raises(DataError, match="missing must be 'raise' or 'omit', not 'drop'"):
        CategoryCounts.from_matrix([[0]], [0], missing="drop")


def test_what_does_not_fit_together():
    counts = CategoryCounts.from_matrix([[0], [1]], ["a", "b"])
    with pytest.raises(DataError, match="1 features and the others 2"):
        counts.merge(CategoryCounts.from_matrix([[0, 1]], ["a"]))
    with pytest.raises(DataError, match="merge with CategoryCounts, not with int"):
        counts.merge(3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"level 1 of feature 0 more often in class 'a' \(1 too many\)"):
        counts.remove(CategoryCounts.from_matrix([[1]], ["a"]))
    with pytest.raises(LabelError, match="no class 'z'"):
        counts.remove(CategoryCounts.from_matrix([[1]], ["z"]))
    with pytest.raises(LabelError, match="no class 'z'"):
        counts.pool(["a", "z"])
    with pytest.raises(LabelError, match="The parts have the classes"):
        CategoryCounts.join([counts, counts.renamed(["a", "c"])])
    with pytest.raises(DataError, match="Level 1 occurs 1 times but is not among"):
        counts.with_levels([0])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[[1.5]]], "whole numbers"),
        ([[[-1]]], "whole numbers"),
        ([[["x"]]], "whole numbers"),
        ([[1, 2]], "has shape"),
        (np.zeros((1, 1, 0), int), "at least one feature"),
        (np.zeros((2, 1, 3), int), "n_classes = 1"),
    ],
)
def test_ready_made_tables_are_checked(table, message):
    with pytest.raises(DataError, match=message):
        CategoryCounts(["a"], [0], table)
