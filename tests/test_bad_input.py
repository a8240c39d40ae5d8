"""Every kind of bad input is refused by an error of ours that says what is wrong and what to do."""

from __future__ import annotations

import decimal

import jeffreys
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import bayesieve as bs
from bayesieve.selection import as_rule
from bayesieve.simulation import SynergeticModel

X = np.random.default_rng(5).normal(size=(12, 4))
Y = ["a"] * 6 + ["b"] * 6
NAMES = ["w", "x", "y", "z"]
MODEL = bs.GaussianModel
PRIOR = bs.NormalInverseGamma


def complaint(error, call):
    """Return the message of the error that ``call`` must raise."""
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert isinstance(caught.value, bs.BayesieveError)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def assert_refused(error, call, *words):
    message = complaint(error, call)
    lacking = [word for word in words if word not in message]
    assert not lacking, f"{lacking} not in: {message}"
    assert "Traceback" not in message
    assert message.endswith((".", ".)"))


def case(name, call, *words):
    return pytest.param(call, words, id=name)


def altered(*changes, dtype=np.float64):
    """Return a copy of X with values put in: (row, column, value), ..."""
    values = X.astype(dtype)
    for row, column, value in changes:
        values[row, column] = value
    return values


def objects(*items):
    """Return a vector of Python objects, whatever they are."""
    vector = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        vector[i] = item
    return vector


@pytest.fixture(scope="module")
def posterior():
    return bs.screen(X, Y, feature_names=NAMES)


@pytest.fixture(scope="module")
def moments():
    return bs.Moments.from_matrix(X, Y)


# --- the table of values ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "words"),
    [
        case("1-D", X[:, 0], "samples x features", "1 dimension", "(12,)", "X.reshape(-1, 1)"),
        case("series", pd.Series(X[:, 0]), "1 dimension", "X.reshape(-1, 1)"),
        case("polars series", pl.Series(X[:, 0]), "1 dimension", "X.reshape(-1, 1)"),
        case("3-D", X[None], "samples x features", "3 dimension", "(1, 12, 4)", "X.reshape(len(X), -1)"),
        case("ragged", [[1.0, 2.0], [3.0]], "rectangular", "same number of features"),
        case("None", None, "samples x features", "NoneType", "2-D array"),
        case("path", "table.csv", "samples x features", "str", "pandas or polars frame"),
        case("dict", {"a": [1.0, 2.0]}, "dict", "pandas or polars frame"),
        case("lazy frame", pl.DataFrame(X).lazy(), "LazyFrame", "collect()"),
        case("objects", X.astype(object), "Python objects", "X.astype(float)"),
        case("text", X.astype(str), "text", "X.astype(float)"),
        case("bytes", X.astype(bytes), "bytes", "X.astype(float)"),
        case("dates", np.full(X.shape, np.datetime64("2020-01-01")), "datetime64", "Convert it"),
        case("complex", X + 1j, "complex numbers", "X.real"),
        case("sparse complex", sp.csr_array(X + 1j), "complex numbers", "X.real"),
        case("no samples", np.empty((0, 3)), "empty", "0 samples x 3 features", "at least 1"),
        case("no features", np.empty((12, 0)), "empty", "12 samples x 0 features", "at least 1"),
        case("no sparse samples", sp.csr_array((0, 3)), "empty", "0 samples x 3 features"),
        case("empty pandas", pd.DataFrame({"a": []}), "empty", "0 samples x 1 features"),
        case("empty polars", pl.DataFrame(), "empty", "0 samples x 0 features"),
    ],
)
def test_tables_that_are_none(table, words):
    assert_refused(bs.DataError, lambda: bs.screen(table, Y), *words)


TEXT = {"id": ["s"] * 12, "w": X[:, 0], "sex": ["f"] * 12}


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        case("pandas text", pd.DataFrame(TEXT), "2 of 3 columns", "'id', 'sex'", "Drop them", "convert"),
        case("polars text", pl.DataFrame(TEXT), "2 of 3 columns", "'id', 'sex'", "Drop them", "convert"),
        case("pandas objects", pd.DataFrame(X, columns=NAMES).astype(object), "4 of 4", "'w', 'x', 'y', 'z'"),
        case("pandas categories", pd.DataFrame({"w": pd.Categorical(Y)}), "1 of 1", "'w'", "Drop them"),
        case("pandas complex", pd.DataFrame({"w": X[:, 0] + 1j}), "1 of 1", "'w'"),
        case("pandas intervals", pd.DataFrame({"w": pd.interval_range(0, 12)}), "1 of 1", "'w'"),
        case("polars lists", pl.DataFrame({"w": [[1.0, 2.0]] * 12}), "1 of 1", "'w'"),
        case(
            "many",
            pd.DataFrame({f"t{i}": ["s"] * 12 for i in range(8)}),
            "8 of 8",
            "'t0', 't1', 't2', 't3', 't4' and 3 more",
        ),
    ],
)
def test_frames_with_columns_that_are_no_numbers(frame, words):
    assert_refused(bs.DataError, lambda: bs.screen(frame, Y), *words)


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "float32 C": lambda values: values.astype(np.float32),
    "float32 F": lambda values: np.asfortranarray(values.astype(np.float32)),
    "strided": lambda values: np.repeat(values, 2, axis=1)[:, ::2],
    "CSR": sp.csr_array,
    "CSC": sp.csc_array,
}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())


@layouts
def test_missing_values_are_counted_and_located(layout):
    table = layout(altered((2, 1, np.nan), (7, 3, np.nan), (8, 3, np.nan)))
    assert_refused(
        bs.MissingValueError,
        lambda: bs.screen(table, Y),
        "3 missing value(s)",
        "2 of 4 features",
        "sample 2, feature column 1, sample 7, feature column 3",
        "missing='omit'",
        "fill them in",
    )


def test_missing_values_are_located_by_name_in_frames():
    frame = pd.DataFrame(altered((2, 1, np.nan)), columns=NAMES)
    assert_refused(
        bs.MissingValueError, lambda: bs.screen(frame, Y), "1 missing", "sample 2, feature 'x' (column 1)"
    )
    holes = pl.DataFrame({"w": [1, None, *range(10)], "x": range(12)})
    assert_refused(bs.MissingValueError, lambda: bs.screen(holes, Y), "1 missing", "sample 1, feature 'w'")
    masked = pd.DataFrame({"w": pd.array([1, None, *range(10)], dtype="Int64")})
    assert_refused(bs.MissingValueError, lambda: bs.screen(masked, Y), "1 missing", "sample 1, feature 'w'")
    covered = np.ma.array(X, mask=np.eye(12, 4) > 0)
    assert_refused(bs.MissingValueError, lambda: bs.screen(covered, Y), "4 missing", "4 of 4 features")


@layouts
@pytest.mark.parametrize("missing", ["raise", "omit"])
def test_infinities_are_refused_under_either_policy(layout, missing):
    table = layout(altered((2, 1, np.inf), (3, 1, -np.inf), (4, 0, np.nan)))
    assert_refused(
        bs.DataError,
        lambda: bs.screen(table, Y, missing=missing),
        "2 infinite value(s)",
        "sample 2, feature column 1, sample 3, feature column 1",
        "missing='omit'",
        "log of 0?",
    )


@pytest.mark.parametrize(
    "layout", [LAYOUTS[name] for name in ("C", "F", "CSR", "CSC")], ids=["C", "F", "CSR", "CSC"]
)
@pytest.mark.parametrize("missing", ["raise", "omit"])
def test_values_whose_squares_overflow(layout, missing):
    table = layout(altered((2, 1, 1e200)))
    assert_refused(
        bs.DataError, lambda: bs.screen(table, Y, missing=missing), "squares", "1 feature(s)", "column 1", "1e150"
    )


@pytest.mark.parametrize("model", [MODEL.jeffreys(), MODEL.proper()], ids=["Jeffreys", "proper"])
def test_classes_so_far_apart_that_their_difference_overflows(model):
    table = X * 1e140 + np.where(np.array(Y) == "a", 1e160, -1e160)[:, None]
    words = ("squares of 4 of 4 feature(s)", "64-bit", "1e150")
    assert_refused(bs.DataError, lambda: bs.screen(table, Y, model=model), *words, "x0")
    summed = bs.Moments.from_matrix(table, Y)
    assert_refused(bs.DataError, lambda: bs.screen(summed, model=model, feature_names=NAMES), *words, "'w'")


def test_values_so_small_that_their_squares_vanish():
    table = X * [1.0, 1e-200, 1.0, 1e-200]
    words = ("2 feature(s)", "vanish", "'x'", "Multiply")
    for screen in (bs.screen, jeffreys.screen):
        assert_refused(bs.DataError, lambda: screen(table, Y, feature_names=NAMES), *words)  # noqa: B023


@pytest.mark.parametrize(
    ("names", "words"),
    [
        case("duplicates", ["w", "w", "y", "y"], "2 feature name(s)", "'w', 'y'", "Make them distinct"),
        case("too few", ["w", "x", "y"], "3 feature names for 4 features", "one name each"),
        case("a text", "wxyz", "one name per feature", "'wxyz'"),
        case("a number", 4, "one name per feature", "4"),
    ],
)
def test_feature_names(names, words, moments):
    assert_refused(bs.DataError, lambda: bs.screen(X, Y, feature_names=names), *words)
    assert_refused(bs.DataError, lambda: bs.screen(moments, feature_names=names), *words)


def test_frames_with_duplicate_columns():
    frame = pd.DataFrame(X, columns=["w", "w", "y", "z"])
    assert_refused(bs.DataError, lambda: bs.screen(frame, Y), "1 feature name(s)", "'w'", "Make them distinct")


# --- labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        case("None", None, "No labels", "y is None", "one class label per sample"),
        case("too few", Y[:-1], "12 samples", "11 labels", "must match", "X.T"),
        case("one class", ["a"] * 12, "All 12 samples", "'a'", "two classes", "check the label column"),
        case("a measurement", X[:, 0], "12 different numbers", "a quantity, not classes", "outcome=y"),
        case("two columns", np.array([Y, Y]).T, "2 dimensions", "(12, 2)", "single column"),
        case("ragged", [["a"], ["b", "c"]] * 6, "ragged", "one label per sample"),
        case("a text", "abababababab", "type str", "single column"),
        case("a set", {"a", "b"}, "type set", "single column"),
        case("lists", objects(*[["a"]] * 12), "hashable", "'list'", "str(label)"),
        case("dicts", [{"a": 1}] * 12, "hashable", "'dict'", "str(label)"),
        case("complex", np.arange(12) % 2 + 1j, "Complex", "strings, integers or booleans"),
        case("complex objects", objects(*[1j, 2j] * 6), "Complex", "strings, integers or booleans"),
    ],
)
def test_labels_that_cannot_be_used(labels, words):
    assert_refused(bs.LabelError, lambda: bs.screen(X, labels), *words)


MISSING = {
    "None": None,
    "nan": float("nan"),
    "np.nan": np.float32("nan"),
    "pd.NA": pd.NA,
    "pd.NaT": pd.NaT,
    "Decimal nan": decimal.Decimal("nan"),
}


@pytest.mark.parametrize("absent", MISSING.values(), ids=MISSING.keys())
@pytest.mark.parametrize("container", [list, tuple, lambda y: objects(*y)], ids=["list", "tuple", "array"])
def test_missing_labels_among_texts(absent, container):
    """Also where only one text is left, so that two classes would seem to be there."""
    words = ("of 12 samples have no label", "Leave these samples out")
    some = container([*Y[:7], absent, absent, *Y[9:]])
    assert_refused(bs.LabelError, lambda: bs.screen(X, some), "2 " + words[0], "position 7, 8", *words)
    half = container(["a"] * 6 + [absent] * 6)
    assert_refused(bs.LabelError, lambda: bs.screen(X, half), "6 " + words[0], "position 6", *words)


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(np.array([0.0] * 6 + [1.0] * 5 + [np.nan]), id="floats"),
        pytest.param([0] * 6 + [1] * 5 + [None], id="integers and None"),
        pytest.param(np.array(["2020"] * 6 + ["2021"] * 5 + ["NaT"], dtype="M8[Y]"), id="NaT"),
        pytest.param(np.ma.array(Y, mask=[0] * 11 + [1]), id="masked array"),
        pytest.param(pd.Series([*Y[:11], None], dtype="string"), id="pandas string"),
        pytest.param(pd.Series([0] * 6 + [1] * 5 + [None], dtype="Int64"), id="pandas Int64"),
        pytest.param(pd.Series([*Y[:11], None], dtype="category"), id="pandas category"),
        pytest.param(pl.Series([*Y[:11], None]), id="polars text"),
        pytest.param(pl.Series([0] * 6 + [1] * 5 + [None]), id="polars integers"),
    ],
)
def test_missing_labels_in_typed_containers(labels):
    assert_refused(bs.LabelError, lambda: bs.screen(X, labels), "1 of 12 samples have no label", "position 11")


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        case("one left out", ["a"], "6 of 12 samples", "classes=['a']", "'b'", "Add the label", "np.isin"),
        case("other labels", ["c", "d"], "12 of 12 samples", "'a', 'b'", "leave these samples out"),
        case("named twice", ["a", "b", "a"], "['a', 'b', 'a']", "twice", "once"),
        case("a number", 2, "sequence of labels", "['control', 'case']"),
        case("unhashable", [["a"], ["b"]], "sequence of labels", "unhashable"),
    ],
)
def test_classes(classes, words):
    assert_refused(bs.LabelError, lambda: bs.screen(X, Y, classes=classes), *words)


def test_a_class_without_samples():
    classes = ["a", "b", "c"]
    for screen in (bs.screen, jeffreys.screen):
        assert_refused(
            bs.LabelError,
            lambda screen=screen: screen(X, Y, classes=classes),
            "No sample is of class c",
            "leave it out",
        )


@pytest.mark.parametrize("n", [1])
@pytest.mark.parametrize("resolution", [None, 0.1])
def test_a_class_too_small_for_the_prior(n, resolution):
    labels = ["a"] * (12 - n) + ["b"] * n
    assert_refused(
        bs.PriorError,
        lambda: jeffreys.screen(X, labels, classes=["a", "b"], resolution=resolution),
        f"Class 'b' has {n} sample",
        "at least 2",
        "add samples",
        "GaussianModel.proper",
    )


@pytest.mark.parametrize(
    ("table", "labels"),
    [
        pytest.param(X.astype(np.longdouble), Y, id="long double"),
        pytest.param(sp.csr_array(X.astype(np.longdouble)), Y, id="sparse long double"),
        pytest.param(X.astype(">f8"), Y, id="foreign byte order"),
        pytest.param(X.tolist(), tuple(Y), id="lists"),
        pytest.param(np.ma.array(X), np.ma.array(Y), id="masked arrays without masks"),
        pytest.param(X, np.array(Y)[:, None], id="one column of labels"),
        pytest.param(X, ["a"] * 6 + [1] * 6, id="labels of two types"),
        pytest.param(pl.DataFrame(X, schema=NAMES), pl.Series(Y), id="polars"),
        pytest.param(pd.DataFrame(X).astype("Float64"), pd.Series(Y, dtype="category"), id="pandas"),
    ],
)
def test_unusual_but_sound_input_is_accepted(table, labels):
    """The counterpart of all refusals above."""
    posterior = bs.screen(table, labels)
    np.testing.assert_allclose(posterior.log_odds, bs.screen(X, Y).log_odds, rtol=1e-12)


# --- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        case("missing", {"missing": "drop"}, "missing", "'raise' or 'omit'", "'drop'"),
        case("missing None", {"missing": None}, "missing", "'raise' or 'omit'", "None"),
        case("degenerate", {"degenerate": "drop"}, "degenerate", "'floor', 'exclude' or 'raise'", "'drop'"),
        case("resolution negative", {"resolution": -1.0}, "resolution", "at least 0", "per feature"),
        case("resolution nan", {"resolution": np.nan}, "resolution", "at least 0"),
        case("resolution inf", {"resolution": np.inf}, "resolution", "at least 0"),
        case("resolution too few", {"resolution": [1.0, 2.0]}, "resolution", "one such number per feature"),
        case("threads 0", {"n_threads": 0}, "n_threads", "at least 1", "not 0"),
        case("threads 1.5", {"n_threads": 1.5}, "n_threads", "whole number", "not 1.5"),
        case("threads True", {"n_threads": True}, "n_threads", "whole number", "not True"),
        case("threads text", {"n_threads": "2"}, "n_threads", "whole number", "not '2'"),
    ],
)
def test_options(options, words):
    assert_refused(bs.DataError, lambda: bs.screen(X, Y, **options), *words)


def test_a_bad_policy_is_refused_with_and_without_degenerate_features():
    for table in (X, altered((slice(None), 0, 1.0))):
        assert_refused(bs.DataError, lambda table=table: bs.screen(table, Y, degenerate="drop"), "degenerate")


def test_degenerate_features_under_raise():
    table = altered((slice(None), 0, 1.0), (slice(0, 6), 1, 2.0))
    assert_refused(
        bs.DegenerateFeatureError,
        lambda: bs.screen(table, Y, degenerate="raise", feature_names=NAMES),
        "2 of 4 features",
        "1 constant in all samples, 1 constant in a class",
        "'w', 'x'",
        "Drop them",
        "resolution",
    )


# --- priors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["variance_dof", "variance_scale", "mean_strength"])
def test_negative_hyper_parameters_need_the_flag(name):
    for value in (-1.0, [1.0, -1.0]):
        assert_refused(
            bs.PriorError, lambda value=value: PRIOR(**{name: value}), name, "negative", "allow_negative=True"
        )


@pytest.mark.parametrize(
    ("hyper", "words"),
    [
        case("kappa* < 0", {"variance_dof": -20.0}, "Class 'a' has 6 samples", "variance_dof -20.0", "positive"),
        case("kappa* = 0", {"variance_dof": -6.0}, "Class 'a' has 6 samples", "variance_dof -6.0", "positive"),
        case("nu* < 0", {"mean_strength": -20.0}, "Class 'a' has 6", "mean_strength -20.0", "positive"),
        case("nu* = 0", {"mean_strength": -6.0}, "Class 'a' has 6", "mean_strength -6.0", "positive"),
        case("s* < 0", {"variance_scale": -1e6}, "class 'a'", "variance_scale", "at least 0"),
    ],
)
def test_negative_hyper_parameters_that_the_data_do_not_make_up_for(hyper, words):
    with pytest.warns(bs.PriorWarning, match="is negative.*updated values are positive"):
        prior = PRIOR(**hyper, allow_negative=True)
    model = MODEL((prior,), PRIOR(), 0.1)
    assert_refused(bs.PriorError, lambda: bs.screen(X, Y, model=model), *words)
    pooled = MODEL((PRIOR(),), prior, 0.1)
    if hyper in ({"variance_dof": -20.0}, {"mean_strength": -20.0}, {"variance_scale": -1e6}):
        assert "pooled sample" in complaint(bs.PriorError, lambda: bs.screen(X, Y, model=pooled)).lower()


def test_negative_hyper_parameters_that_the_data_make_up_for():
    """The counterpart: with enough samples such a prior is legal."""
    with pytest.warns(bs.PriorWarning, match="variance_dof is negative"):
        prior = PRIOR(variance_dof=-1.0, allow_negative=True)
    assert np.isfinite(bs.screen(X, Y, model=MODEL((prior,), PRIOR(), 0.1)).log_odds).all()


@pytest.mark.parametrize("name", ["variance_dof", "variance_scale", "mean_strength", "mean_location"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        case("nan", np.nan, "not finite"),
        case("inf", np.inf, "not finite"),
        case("one nan", [1.0, np.nan], "not finite"),
        case("text", "x", "a number or one number per feature", "'x'"),
        case("complex", 1j, "a number or one number per feature", "1j"),
        case("matrix", [[1.0, 2.0]], "a number or one number per feature", "(1, 2)"),
    ],
)
def test_hyper_parameters_that_are_no_numbers(name, value, words):
    assert_refused(bs.PriorError, lambda: PRIOR(**{name: value}), name, *words)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        case("scales", MODEL((PRIOR(3.0, [0.5] * 3, 0.1),), PRIOR(3.0, 0.5, 0.1)), "[3] features", "data have 4"),
        case("locations", MODEL((PRIOR(mean_location=[0.0] * 5),), PRIOR(), 0.1), "[5] features", "data have 4"),
        case("ratios", MODEL.jeffreys([0.1] * 3), "[3] features", "data have 4"),
        case("classes", MODEL((PRIOR(),) * 3, PRIOR(), 0.1), "3 classes", "data have 2"),
        case("a name", "jeffreys", "GaussianModel.jeffreys()", "'jeffreys'"),
        case("a class", MODEL, "must be a Model", "GaussianModel.jeffreys()"),
        case("a prior", PRIOR(), "must be a Model", "GaussianModel.jeffreys()"),
    ],
)
def test_models_that_do_not_fit_the_data(model, words):
    assert_refused(bs.PriorError, lambda: bs.screen(X, Y, model=model), *words)


@pytest.mark.parametrize("priors", [(), "ab", (PRIOR(), None)], ids=["none", "text", "None among them"])
def test_models_need_priors(priors):
    assert_refused(bs.PriorError, lambda: MODEL(priors, PRIOR(), 0.1), "NormalInverseGamma", "at least one")


def test_prior_ratio_is_needed_exactly_where_a_prior_is_improper():
    assert_refused(
        bs.PriorError, lambda: MODEL((PRIOR(),), PRIOR()), "improper", "must be given", "prior_ratio=0.1"
    )
    proper = PRIOR(3.0, 0.5, 0.1)
    assert_refused(bs.PriorError, lambda: MODEL((proper,), proper, 0.1), "proper", "do not give it")
    assert_refused(bs.PriorError, lambda: MODEL((proper,), PRIOR()), "At least one prior is improper")


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        case("zero", 0.0, "positive and finite", "0.0"),
        case("negative", -1.0, "positive and finite", "-1.0"),
        case("nan", np.nan, "positive and finite", "nan"),
        case("inf", np.inf, "positive and finite", "inf"),
        case("one negative", [0.1, -1.0], "positive and finite", "-1.0"),
        case("matrix", [[0.1]], "one per feature", "[[0.1]]"),
        case("no number", {}, "positive and finite", "{}"),
        case("unknown name", "flat", "'flat'", "'paper', 'sqrt2pi'", "a positive number works too"),
    ],
)
def test_prior_ratio(ratio, words):
    assert_refused(bs.PriorError, lambda: MODEL.jeffreys(ratio), *words)


@pytest.mark.parametrize("value", [0.0, -2.0, np.nan, np.inf])
def test_prior_ratio_functions(value):
    model = MODEL.jeffreys(lambda n0, n1: value)
    words = (f"gave {value!r}", "6 and 6", "positive and finite")
    assert_refused(bs.PriorError, lambda: bs.screen(X, Y, model=model), *words)


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        case("below", -0.1, "between 0 and 1", "-0.1", "for example 0.01"),
        case("above", 1.5, "between 0 and 1", "1.5", "for example 0.01"),
        case("nan", np.nan, "between 0 and 1", "nan"),
        case("one above", [0.1, 0.2, 0.3, 2.0], "between 0 and 1", "2.0"),
        case("too few", [0.1] * 3, "(3,)", "each of the 4 features"),
        case("matrix", [[0.1] * 4], "(1, 4)", "each of the 4 features"),
        case("text", "rare", "must be a number", "'rare'"),
        case("complex", 0.5j, "must be a number", "0.5j"),
    ],
)
def test_prior_probability(probability, words, posterior):
    assert_refused(bs.PriorError, lambda: bs.screen(X, Y, prior_probability=probability), *words)
    assert_refused(bs.PriorError, lambda: posterior.with_prior(probability), *words)


# --- moments ---------------------------------------------------------------------------------------

Z = np.zeros((2, 3))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        case("1-D mean", ([2, 2], Z[0], Z), "mean", "(n_classes, n_features)", "(3,)"),
        case("1-D squares", ([2, 2], Z, Z[0]), "centred_squares", "(n_classes, n_features)", "(3,)"),
        case("other squares", ([2, 2], Z, Z[:, :2]), "mean (2, 3)", "centred_squares (2, 2)"),
        case("other residual", ([2, 2], Z, Z, Z[:, :2]), "residual (2, 2)", "n_classes = 2"),
        case("too many rows", ([2, 2], np.zeros((3, 3)), np.zeros((3, 3))), "(3, 3)", "n_classes = 2"),
        case("too many counts", ([2, 2, 2], Z, Z), "count", "(3,)", "(2,) or (2, 3)"),
        case("other counts", (np.ones((2, 4), int), Z, Z), "count", "(2, 4)", "(2,) or (2, 3)"),
        case("fractions", ([1.5, 2.0], Z, Z), "whole numbers"),
        case("nan counts", ([np.nan, 2.0], Z, Z), "whole numbers"),
        case("negative counts", ([-1, 2], Z, Z), "whole numbers", "at least 0"),
        case("negative squares", ([2, 2], Z, Z - 1.0), "centred squares", "not negative"),
        case("nan squares", ([2, 2], Z, Z + np.nan), "centred squares", "finite"),
        case("nan means", ([2, 2], Z + np.nan, Z), "Means must be finite"),
    ],
)
def test_moments_that_contradict_themselves(arrays, words):
    assert_refused(bs.DataError, lambda: bs.Moments(("a", "b"), *arrays), *words)


def test_moments_hold_the_classes_already(moments):
    assert_refused(bs.LabelError, lambda: bs.screen(moments, Y), "already hold the classes", "without y")


def test_moments_of_one_class():
    summed = bs.Moments.from_matrix(X, ["a"] * 12)
    assert_refused(bs.LabelError, lambda: bs.screen(summed), "at least two classes", "only 'a'")


def test_merging_what_does_not_belong_together(moments):
    other = bs.Moments.from_matrix(X[:, :2], Y)
    for join in (moments.merge, moments.remove):
        assert_refused(bs.DataError, lambda join=join: join(other), "4 features", "the others 2", "same order")
        assert_refused(bs.DataError, lambda join=join: join(X), "with Moments", "ndarray")


def test_removing_what_is_not_there(moments):
    twice = bs.Moments.from_matrix(np.vstack([X, X]), Y + Y)
    words = ("'a' holds 6", "12 would be removed", "only what was merged")
    assert_refused(bs.DataError, lambda: moments.remove(twice), *words)
    strange = bs.Moments.from_matrix(100.0 * X[::3], Y[::3])
    assert_refused(bs.DataError, lambda: moments.remove(strange), "'a'", "not part of it", "only what was merged")
    unknown = bs.Moments.from_matrix(X[:2], ["c", "c"])
    assert_refused(bs.LabelError, lambda: moments.remove(unknown), "'c'", "['a', 'b']")


def test_classes_that_moments_do_not_hold(moments):
    assert_refused(bs.LabelError, lambda: moments.group("c"), "'c'", "['a', 'b']")
    assert_refused(bs.LabelError, lambda: moments.pool(["a", "c"]), "'c'", "['a', 'b']")
    assert_refused(bs.LabelError, lambda: moments.pool([]), "at least one class")
    assert_refused(bs.LabelError, lambda: moments.pick(["a", "c"]), "'c'", "['a', 'b']")
    assert_refused(bs.LabelError, lambda: bs.screen(moments, classes=["a", "c"]), "'c'", "['a', 'b']")
    assert_refused(bs.LabelError, lambda: bs.screen(moments, classes=["a"]), "at least two classes", "only 'a'")


# --- rules, losses and sets of features -----------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        case("MR above", lambda: bs.MinimalRisk(2), "threshold", "between 0 and 1", "not 2"),
        case("MR below", lambda: bs.MinimalRisk(-0.1), "threshold", "between 0 and 1", "not -0.1"),
        case("MR nan", lambda: bs.MinimalRisk(np.nan), "threshold", "between 0 and 1", "nan"),
        case("MR text", lambda: bs.MinimalRisk("0.5"), "threshold", "number", "'0.5'"),
        case("CMNC negative", lambda: bs.FixedSize(-1), "n must be", "whole number", "at least 0", "-1"),
        case("CMNC fraction", lambda: bs.FixedSize(1.5), "whole number", "1.5"),
        case("CMNC True", lambda: bs.FixedSize(True), "whole number", "True"),
        case("CMAP negative", lambda: bs.MostProbable(-1), "size", "whole number", "-1"),
        case("NP negative", lambda: bs.NeymanPearson(-1), "expected_false_positives", "at least 0", "-1"),
        case("NP nan", lambda: bs.NeymanPearson(np.nan), "expected_false_positives", "at least 0", "nan"),
        case("FDR above", lambda: bs.FalseDiscovery(2), "proportion", "between 0 and 1", "2"),
        case("FDR None", lambda: bs.FalseDiscovery(None), "proportion", "between 0 and 1", "None"),
        case("confidence", lambda: bs.FalseDiscovery(0.1, confidence=2), "confidence", "between 0 and 1", "2"),
        case("false positive", lambda: bs.Loss(false_positive=-1.0), "must not cost less", "false_positive >="),
        case("false negative", lambda: bs.Loss(true_positive=2.0), "must not cost less", "false_negative >="),
        case("loss nan", lambda: bs.Loss(true_positive=np.nan), "finite numbers", "nan"),
        case("loss text", lambda: bs.Loss(true_positive="x"), "finite numbers", "'x'"),
        case(
            "no threshold",
            lambda: bs.MinimalRisk.from_loss(false_positive=0.0, false_negative=0.0),
            "costs the same",
            "no threshold",
            "Let an error cost more",
        ),
        case("inverted", lambda: bs.MinimalRisk.from_loss(true_negative=2.0), "must not cost less"),
        case("unknown name", lambda: as_rule("BH"), "'BH'", "'MNC' and 'MAP'", "FixedSize(100)", "FalseDiscovery"),
        case("needs a number", lambda: as_rule("CMNC"), "'CMNC'", "FixedSize(100) for CMNC"),
        case("no rule", lambda: as_rule(3), "select(posterior)", "3 has none", "MinimalRisk(0.5)"),
        case("a class", lambda: as_rule(bs.MinimalRisk), "select(posterior)", "MinimalRisk(0.5)"),
    ],
)
def test_rules_and_losses(make, words):
    assert_refused(bs.RuleError, make, *words)


@pytest.mark.parametrize("rule", [bs.FixedSize(5), bs.MostProbable(size=5)], ids=["CMNC", "CMAP"])
def test_rules_that_ask_for_too_many_features(rule, posterior):
    assert_refused(bs.RuleError, lambda: rule.select(posterior), "5 features", "only 4")


@pytest.mark.parametrize(
    "ranking",
    [[0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 4], [-1, 0, 1, 2], NAMES, [[0, 1, 2, 3]], [np.nan] * 4],
    ids=["too short", "repeated", "too large", "negative", "names", "matrix", "nan"],
)
def test_rankings_that_are_no_permutation(ranking, posterior):
    assert_refused(bs.RuleError, lambda: bs.expected_roc(posterior, ranking), "from 0 to 3", "exactly once")


@pytest.mark.parametrize(
    ("features", "words"),
    [
        case("short mask", [True, False], "mask", "(2,)", "4 features"),
        case("2-D mask", [[True] * 4], "mask", "(1, 4)", "4 features"),
        case("unknown names", ["w", "p", "q"], "no features called 'p', 'q'"),
        case("too large", [0, 4], "from 0 to 3"),
        case("negative", [-1], "from 0 to 3"),
        case("fractions", [0.5], "a mask of True and False, as indices or as names"),
        case("None", None, "a mask of True and False, as indices or as names"),
    ],
)
def test_sets_of_features(features, words, posterior):
    assert_refused(bs.RuleError, lambda: bs.ErrorAnalysis.of(posterior, features), *words)


def test_distributions_and_levels(posterior):
    distribution = bs.PoissonBinomial.of([0.5, 0.5])
    chosen = bs.ErrorAnalysis.of(posterior, [0])
    assert_refused(bs.RuleError, lambda: bs.PoissonBinomial.of([0.5, 2.0]), "between 0 and 1")
    assert_refused(bs.RuleError, lambda: bs.PoissonBinomial.of([np.nan]), "between 0 and 1")
    assert_refused(bs.RuleError, lambda: distribution.quantile(2.0), "between 0 and 1", "2.0")
    assert_refused(bs.RuleError, lambda: distribution.interval(1.0), "between 0 and 1", "for example 0.9", "1.0")
    assert_refused(bs.RuleError, lambda: distribution.highest_density(0.0), "between 0 and 1", "for example 0.9")
    assert_refused(bs.RuleError, lambda: chosen.hit_rate_probability(2.0), "between 0 and 1", "2.0")


@pytest.mark.parametrize("n_samples", [7, 0, -2])
def test_synthetic_data_need_an_even_number_of_samples(n_samples):
    assert_refused(bs.DataError, lambda: SynergeticModel().draw(n_samples), "even", "at least 2", str(n_samples))


@pytest.mark.parametrize(
    ("constants", "words"),
    [
        case("correlation", {"correlation": 1.0}, "correlation", "[0, 1)", "1.0"),
        case("block", {"block_size": 0}, "Block size", "at least 1"),
        case("variance", {"class_variances": ((0.0, 1.0),)}, "Variances", "positive"),
    ],
)
def test_synthetic_models(constants, words):
    assert_refused(bs.DataError, lambda: SynergeticModel(**constants), *words)


# --- rarer mistakes --------------------------------------------------------------------------------


def rare(name, error, call, *words):
    return pytest.param(error, call, words, id=name)


def zero_scale():
    """Return a model that makes the updated scale of class a exactly 0 for the values 0 and 2."""
    with pytest.warns(bs.PriorWarning):
        prior = PRIOR(variance_scale=-2.0, allow_negative=True)
    return MODEL((prior, PRIOR()), PRIOR(), 0.1)


def screened():
    return bs.screen(X, Y)


@pytest.mark.parametrize(
    ("error", "call", "words"),
    [
        rare(
            "s* = 0",
            bs.PriorError,
            lambda: bs.screen([[0.0], [2.0], [5.0], [9.0]], ["a", "a", "b", "b"], model=zero_scale()),
            "variance_scale",
        ),
        rare(
            "uneven hyper-parameters",
            bs.PriorError,
            lambda: PRIOR([3.0] * 3, [0.5] * 4, 0.1),
            "[3, 4]",
        ),
        rare("priors None", bs.PriorError, lambda: MODEL(None, PRIOR(), 0.1), "at least one"),
        rare(
            "prior ratio function gives text",
            bs.PriorError,
            lambda: bs.screen(X, Y, model=MODEL.jeffreys(lambda n0, n1: "x")),
            "positive and finite",
        ),
        rare(
            "resolution text",
            bs.DataError,
            lambda: bs.screen(X, Y, resolution="x"),
            "resolution",
        ),
        rare("threads text", bs.DataError, lambda: bs.screen(X, Y, n_threads="x"), "n_threads"),
        rare("threads nan", bs.DataError, lambda: bs.screen(X, Y, n_threads=np.nan), "n_threads"),
        rare("infinite squares", bs.DataError, lambda: bs.Moments("ab", [2, 2], Z, Z + np.inf)),
        rare("nan residual", bs.DataError, lambda: bs.Moments("ab", [2, 2], Z, Z, Z + np.nan)),
        rare("a class twice", bs.LabelError, lambda: bs.Moments("aa", [2, 2], Z, Z), "twice"),
        rare(
            "a class picked twice",
            bs.LabelError,
            lambda: bs.screen(bs.Moments.from_matrix(X, Y), classes=["a", "a"]),
            "twice",
        ),
        rare("text counts", bs.DataError, lambda: bs.Moments("ab", ["2", "x"], Z, Z), "whole"),
        rare(
            "ranking of floats",
            bs.RuleError,
            lambda: bs.expected_roc(screened(), [0.0, 1.0, 2.0, 3.0]),
            "exactly once",
        ),
        rare(
            "ragged features",
            bs.RuleError,
            lambda: bs.ErrorAnalysis.of(screened(), [["x0"], ["x1", "x2"]]),
            "names",
        ),
        rare("no posterior", bs.RuleError, lambda: bs.MinimalRisk(0.5).select(X)),
    ],
)
def test_rarer_mistakes(error, call, words):
    assert_refused(error, call, *words)


def test_a_negative_hyper_parameter_is_not_blamed_on_the_number_of_samples():
    with pytest.warns(bs.PriorWarning):
        prior = PRIOR(variance_dof=-20.0, allow_negative=True)
    model = MODEL((prior,), PRIOR(), 0.1)
    assert "at least 2" not in complaint(bs.PriorError, lambda: bs.screen(X, Y, model=model))
