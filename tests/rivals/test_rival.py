"""The registry of rivals and score(): every way in, names, options, errors."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.errors import DataError, LabelError, MissingValueError, OptionError
from bayesieve.rivals import Rival, register, registry, rival, rival_names, score

MOMENT_METHODS = ["obf", "obf-jp", "obf-pp", "welch", "student", "limma", "bd", "pearson-neyman"]
VALUE_METHODS = ["mi", "mi-literal", "nmc", "wilcoxon", "f-classif", "mutual-info"]
REGRESSIONS = [f"{kind}-{link}" for kind in ("lasso", "elastic-net") for link in ("linear", "logit", "probit")]
BAYESREG = [f"bayesreg-{link}-{prior}" for link in ("linear", "logit") for prior in ("l1", "hs")]
COSTLY = [*REGRESSIONS, "regressions", "stability", "skbs", "bpm", "bayesreg", *BAYESREG]
PAIRS = ["2mnc-robust", "pofac", "remain", "spm"]


@pytest.fixture
def own(monkeypatch):
    """Rivals registered in a test are forgotten after it."""
    monkeypatch.setattr(registry, "_own", {})


@pytest.fixture
def data(rng):
    X = np.round(rng.normal(size=(30, 12)), 3)
    X[15:, 3] += 4.0
    return X, ["a"] * 15 + ["b"] * 15


def widest(moments, *, power=1.0):
    return bs.FeatureScores("widest", np.abs(moments.mean_difference) ** power)


def highest(matrix, n_threads=None):
    del n_threads
    return bs.FeatureScores("highest", matrix.values.max(axis=0))


def test_every_name_is_a_rival_of_that_name(monkeypatch):
    monkeypatch.setattr("bayesieve.rivals.registry._own", {})  # other tests register rivals of their own
    others = (*VALUE_METHODS[3:], *COSTLY, *PAIRS)
    assert rival_names() == (*MOMENT_METHODS[:7], *VALUE_METHODS[:3], "pearson-neyman", *others)
    for name in rival_names():
        found = rival(name)
        assert (found.name, found.uses) == (name, "moments" if name in MOMENT_METHODS else "values")


@pytest.mark.parametrize(
    ("alias", "name"),
    [("t", "welch"), ("moderated-t", "limma"), ("moderated_t", "limma"), ("bhattacharyya", "bd"), ("BD", "bd"),
     ("pn", "pearson-neyman"), ("pearson_neyman", "pearson-neyman"), ("calibrated", "obf"), (" welch ", "welch")],
)  # fmt: skip
def test_aliases(alias, name):
    assert rival(alias) is rival(name)


def test_one_rival_loads_one_module():
    code = (
        "import sys; from bayesieve.rivals.registry import rival; rival('welch'); "
        "print([m for m in ('student', 'moderated_t', 'obf', 'scikit', 'wilcoxon') "
        "if f'bayesieve.rivals.{m}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("method", MOMENT_METHODS + VALUE_METHODS + PAIRS)
def test_every_method_finds_the_shifted_feature(data, method):
    scores = score(*data, method=method)
    assert scores.top(1) == ("x3",)
    assert scores.method.replace("_", "").isalnum()


@pytest.mark.parametrize("method", ["welch", "mi"])
def test_every_form_of_data_gives_the_same_scores(data, tmp_path, method):
    X, y = data
    names = [f"gene{i}" for i in range(X.shape[1])]
    expected = score(X, y, method=method, feature_names=names)
    path = tmp_path / "table.csv"
    pl.DataFrame({"class": y, **dict(zip(names, X.T, strict=True))}).write_csv(path)
    forms = [
        score(pd.DataFrame(X, columns=names), y, method=method),
        score(pl.DataFrame(dict(zip(names, X.T, strict=True))), y, method=method),
        score(sparse.csr_matrix(X), y, method=method, feature_names=names),
        score(LabelledMatrix.from_arrays(X, y, feature_names=names), method=method),
        score(bs.read_table(path, labels="class"), method=method),
    ]
    for got in forms:
        np.testing.assert_allclose(got.score, expected.score, rtol=1e-12)
        assert got.names == tuple(names)


def test_files_with_features_in_rows_are_read_again(data, tmp_path):
    X, y = data
    path, labels = tmp_path / "table.csv", tmp_path / "labels.csv"
    samples = [f"s{i}" for i in range(len(y))]
    pl.DataFrame({"gene": [f"g{j}" for j in range(12)], **dict(zip(samples, X, strict=True))}).write_csv(path)
    pl.DataFrame({"sample": samples, "class": y}).write_csv(labels)
    table = bs.read_table(path, labels=str(labels), samples_in="columns")
    np.testing.assert_allclose(score(table, method="nmc").score, score(X, y, method="nmc").score, rtol=1e-12)


def test_moments_and_posteriors_do_for_moment_methods(data):
    X, y = data
    expected = score(X, y)
    moments = bs.Moments.from_matrix(X, y)
    np.testing.assert_array_equal(score(moments).score, expected.score)
    np.testing.assert_array_equal(score(bs.screen(X, y)).score, expected.score)
    assert score(moments, feature_names=[f"g{i}" for i in range(12)]).names[0] == "g0"
    swapped = score(moments, classes=["b", "a"])
    np.testing.assert_array_equal(swapped.details["t"], -expected.details["t"])
    for given in (moments, bs.screen(X, y)):
        with pytest.raises(DataError, match="mi needs the values, but was given"):
            score(given, method="mi")


def test_missing_values(data):
    X, y = data
    X[2, 5] = np.nan
    for method in ("welch", "mi"):
        with pytest.raises(MissingValueError, match=r"1 missing value\(s\)"):
            score(X, y, method=method)
    assert score(X, y, missing="omit").details["dof"][5] < 28
    with pytest.raises(DataError, match="missing must be"):
        score(X, y, method="mi", missing="drop")
    X[2, 5] = np.inf
    with pytest.raises(DataError, match=r"1 infinite value\(s\)"):
        score(X, y, method="mi", missing="omit")


def test_two_classes_are_needed(data):
    X, _ = data
    for method in ("welch", "nmc"):
        with pytest.raises(LabelError, match="compares two classes, not 3"):
            score(X, ["a", "b", "c"] * 10, method=method)
        with pytest.raises(LabelError):
            score(X, ["a"] * 30, method=method)
    with pytest.raises(LabelError, match="already holds its classes"):
        score(LabelledMatrix.from_arrays(X, [0, 1] * 15), [0, 1] * 15)


def test_blocks_and_pairs_are_refused(data, tmp_path):
    X, y = data
    path = tmp_path / "table.csv"
    pl.DataFrame({"class": y, "site": ["p", "q", "r"] * 10, "x": X[:, 0], "z": X[:, 1]}).write_csv(path)
    table = bs.read_table(path, labels="class", blocks="site")
    for method in ("welch", "nmc"):
        with pytest.raises(OptionError, match="knows no blocks"):
            score(table, method=method)
    pl.DataFrame({"class": y, "patient": [*range(15), *range(15)], "x": X[:, 0]}).write_csv(path)
    table = bs.read_table(path, labels="class", pairs="patient")
    with pytest.raises(LabelError, match="pairs are compared by screen"):
        score(table)
    with pytest.raises(OptionError, match="knows no pairs"):
        score(table, method="nmc")


def test_obf_is_the_screen(data):
    X, y = data
    for name, model in (
        ("obf-jp", bs.GaussianModel.jeffreys(prior_ratio=0.4)),
        ("obf-pp", bs.GaussianModel.proper()),
    ):
        options = {"prior_ratio": 0.4} if name == "obf-jp" else {}
        posterior = bs.screen(X, y, model=model, prior_probability=0.03)
        got = score(X, y, method=name, prior_probability=0.03, **options)
        np.testing.assert_array_equal(got.score, posterior.log_odds)
        np.testing.assert_array_equal(got.details["log_bayes_factor"], posterior.log_bayes_factor)
    default = score(X, y, method="obf-jp")
    np.testing.assert_allclose(default.score - default.details["log_bayes_factor"], np.log(0.005 / 0.995))


def test_pearson_neyman_without_p_values_ranks_alike(data):
    full, quick = (score(*data, method="pn", p_values=flag) for flag in (True, False))
    np.testing.assert_array_equal(quick.score, full.score)
    assert quick.log_p_value is None
    assert score(*data, method="pn", law="bartlett").method == "pearson_neyman_bartlett"


def test_unknown_names_and_options_list_what_there_is(data):
    with pytest.raises(
        OptionError, match=r"There is no method 'anova'. Methods are obf, obf-jp, obf-pp, welch, .*mutual"
    ):
        score(*data, method="anova")
    with pytest.raises(OptionError, match=r"'welch' has no option 'alpha'; it has score, p_values"):
        score(*data, alpha=0.1)
    with pytest.raises(OptionError, match=r"'bd' has no option 'alpha'; it has no options"):
        score(*data, method="bd", alpha=0.1)


@pytest.mark.usefixtures("own")
def test_a_rival_of_ones_own(data):
    X, y = data
    mine, other = Rival("widest", "Widest gap", "moments", widest), Rival("highest", "Highest", "values", highest)
    register(mine)
    register(other)
    assert rival_names()[-2:] == ("widest", "highest")
    assert rival("widest") is mine
    expected = np.abs(X[15:].mean(axis=0) - X[:15].mean(axis=0)) ** 2
    np.testing.assert_allclose(score(X, y, method="widest", power=2.0).score, expected, rtol=1e-12)
    np.testing.assert_array_equal(score(X, y, method=other).score, X.max(axis=0))
    again = Rival("widest", "Again", "moments", widest)
    register(again)
    assert rival("widest") is again


@pytest.mark.usefixtures("own")
def test_names_of_the_package_cannot_be_taken():
    for name in ("welch", "t"):
        with pytest.raises(OptionError, match="has a method called"):
            register(Rival(name, "Mine", "moments", widest))
    with pytest.raises(OptionError, match="register takes a Rival, not str"):
        register("welch")


def test_a_rival_from_a_file_or_a_module(data, tmp_path, monkeypatch):
    (tmp_path / "gap_rival.py").write_text(
        "import bayesieve as bs\n"
        "from bayesieve.rivals.registry import Rival\n"
        "def gap(moments):\n"
        "    return bs.FeatureScores('gap', abs(moments.mean_difference))\n"
        "RIVAL = GAP = Rival('gap', 'Gap', 'moments', gap)\n",
        encoding="utf-8",
    )
    file = str(tmp_path / "gap_rival.py")
    monkeypatch.syspath_prepend(tmp_path)
    for place in (file, f"{file}:RIVAL", f"{file}:GAP", "gap_rival:GAP"):
        assert rival(place).name == "gap"
        assert score(*data, method=place).top(1) == ("x3",)
    for place, said in ((f"{file}:NOTHING", "is not a Rival"), ("nothing.py", "no file nothing.py"),
                        ("no_such_module:RIVAL", "no module 'no_such_module'")):  # fmt: skip
        with pytest.raises(OptionError, match=said):
            rival(place)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Two Words", "T", "moments", widest), "lower case letters"),
        (("a", "T", "rows", widest), "'moments' or 'values'"),
        (("a", "T", "moments", None), "must be a function"),
    ],
)
def test_a_rival_is_checked(arguments, said):
    with pytest.raises(OptionError, match=said):
        Rival(*arguments)


@pytest.mark.parametrize("text", ["import nothing_of_that_name\n", "x = = 3\n", "1 / 0\n"])
def test_a_file_that_cannot_be_loaded_is_named(tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(bs.OptionError, match=r"mine\.py cannot be loaded"):
        rival(f"{path}:RIVAL")


@pytest.mark.parametrize("place", [":x", ".x:Y"])
def test_a_place_that_is_none(place):
    with pytest.raises(bs.OptionError):
        rival(place)


def test_a_method_must_return_scores(rng):
    mine = bs.Rival("mine", "Mine", "moments", lambda moments: [1.0])
    with pytest.raises(bs.OptionError, match="mine returned list"):
        bs.score(rng.normal(size=(8, 2)), [0, 1] * 4, method=mine)


def test_a_method_of_ones_own_that_fails_names_its_file(tmp_path, rng):
    path = tmp_path / "mine.py"
    path.write_text(
        "import bayesieve as bs\n\n\ndef run(moments):\n    return 1 / 0\n\n\n"
        'RIVAL = bs.Rival("mine", "Mine", "moments", run)\n'
    )
    with pytest.raises(bs.OptionError, match=r"mine of .*mine\.py failed: ZeroDivisionError"):
        bs.score(rng.normal(size=(8, 2)), [0, 1] * 4, method=f"{path}:RIVAL")
