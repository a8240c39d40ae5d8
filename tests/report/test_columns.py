"""Columns of the page: whose they are, which are annotation, and what annotation from elsewhere becomes."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.io import read_result, write_results
from bayesieve.report import ReportData
from bayesieve.report.encoding import encode_numbers, script_json
from bayesieve.report.payload import column_content, payload


def array(content):
    """Decode a typed array as the page does."""
    kinds = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u2": "<u2", "u1": "u1"}
    return np.frombuffer(base64.b64decode(content["data"]), kinds[content["type"]])


def columns_of(found, **more):
    content = json.loads(script_json(payload(ReportData.of(found, **more))))
    keys = [column["key"] for column in content["columns"]]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, content["columns"], strict=True))


def again(posterior, path):
    """The same as a stored result."""
    selection = bs.MinimalRisk(0.5).select(posterior)
    write_results(path, selection.to_dict(), dict, posterior.ranking)
    return read_result(path).posterior


def texts(column):
    """Texts of a column, however they are packed."""
    return column["values"] if "values" in column else [column["levels"][k] for k in array(column["codes"])]


# ---------------------------------------------------------------------------------------------------------------
# Numbers of an annotation


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        (["1", "10", "9"], [1, 10, 9]),
        (["0", "-3", "+12"], [0, -3, 12]),
        (["0.25", "-1.5", ".5"], [0.25, -1.5, 0.5]),
        (["1e-300", "2.5E+3", "7"], [1e-300, 2500.0, 7.0]),
        (["3.5", None, ""], [3.5, np.nan, np.nan]),
        (["3", None, "4"], [3.0, np.nan, 4.0]),
        (["123456789", None, "16777217"], [123456789.0, np.nan, 16777217.0]),
        (["12", "NA", "nan"], [12.0, np.nan, np.nan]),
    ],
)
def test_decimals_of_an_annotation_are_numbers(given, numbers):
    column = column_content("score", given, annotation=True)
    assert column["kind"] == "number"
    np.testing.assert_array_equal(array(column["values"]), numbers)


@pytest.mark.parametrize(
    "given",
    [
        ["007", "12", "13"],
        ["00", "1"],
        ["-01", "1"],
        ["1,5", "2"],
        ["17", "X"],
        ["1e5000", "1"],
        ["0x10", "1"],
        ["1_000", "2"],
        ["12345678901234567890", "1"],
        ["\N{ARABIC-INDIC DIGIT ONE}", "2"],
        ["inf", "1"],
        [None, ""],
        ["NA", None],
        [],
    ],
)
def test_ids_and_other_texts_of_an_annotation_stay_texts(given):
    column = column_content("id", given, annotation=True)
    assert column["kind"] == "text"
    assert texts(column) == ["" if text is None else text for text in given]


def test_texts_of_the_screen_are_never_numbers():
    assert column_content("culprit", ["1", "2"])["kind"] == "text"


def test_numbers_that_are_exact_keep_all_their_digits():
    positions = [123_456_789.0, np.nan, 16_777_217.0]
    np.testing.assert_array_equal(array(encode_numbers(positions, exact=True)), positions)
    assert encode_numbers([0.1], exact=True)["type"] == "f8"
    assert encode_numbers([0.5, np.nan, np.inf], exact=True)["type"] == "f4"
    assert encode_numbers([1e300, 1.0], exact=True)["type"] == "f8"
    assert encode_numbers([0.1])["type"] == "f4"


# ---------------------------------------------------------------------------------------------------------------
# Whose column it is


@pytest.mark.parametrize("stored", [False, True], ids=["screened", "stored"])
def test_shares_say_their_class_and_level_whatever_the_labels(rng, stored, tmp_path):
    labels = ["t", "old_t", "t_old"] * 12
    values = np.array(["A_B", "B", "C"])[rng.integers(0, 3, size=(36, 4))]
    posterior = bs.screen(values, labels, model=bs.CategoricalModel(), classes=("t", "old_t", "t_old"))
    found = again(posterior, tmp_path / "r.csv") if stored else posterior
    columns = columns_of(found)
    shares = {key: column for key, column in columns.items() if key.startswith("share_")}
    assert len(shares) == 9
    assert {(column["class"], column["level"]) for column in shares.values()} == {
        (k, level) for k in range(3) for level in ("A_B", "B", "C")
    }
    for column in shares.values():
        mine = np.array(labels) == ("t", "old_t", "t_old")[column["class"]]
        wanted = (values[mine] == column["level"]).mean(axis=0)[posterior.ranking]
        np.testing.assert_allclose(array(column["values"]), wanted, rtol=1e-6)
    assert all("class" not in column for key, column in columns.items() if key not in shares)


@pytest.mark.parametrize("stored", [False, True], ids=["screened", "stored"])
def test_rates_say_their_class(rng, stored, tmp_path):
    labels = ["b", "a_b"] * 10
    posterior = bs.screen(rng.poisson(5, size=(20, 3)), labels, model=bs.PoissonModel(), classes=("b", "a_b"))
    columns = columns_of(again(posterior, tmp_path / "r.csv") if stored else posterior)
    assert (columns["rate_b"]["class"], columns["rate_a_b"]["class"]) == (0, 1)
    assert columns["rate_b"]["level"] == ""


@pytest.mark.parametrize("stored", [False, True], ids=["screened", "stored"])
@pytest.mark.parametrize("classes", [("t_0", "t_2", "t"), ("a", "a_b", "b", "b_a_b")], ids=["plain", "alike"])
def test_probabilities_of_equality_say_their_pair(rng, stored, classes, tmp_path):
    labels = [classes[k % len(classes)] for k in range(40)]
    posterior = bs.screen(rng.normal(size=(40, 3)), labels, classes=classes)
    columns = columns_of(again(posterior, tmp_path / "r.csv") if stored else posterior)
    equal = {key: column for key, column in columns.items() if key.startswith("equal_")}
    pairs = [(a, b) for a in range(len(classes)) for b in range(a + 1, len(classes))]
    assert [tuple(column["pair"]) for column in equal.values()] == pairs
    wanted = posterior.differences.equal(posterior)[:, posterior.ranking]
    for column, row in zip(equal.values(), wanted, strict=True):
        np.testing.assert_allclose(array(column["values"]), row, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "name",
    ["kind", "pattern", "culprit", "fragile", "without_block", "least_log_odds", "mean_case", "n_case", "sd_0",
     "equal_a_b", "block_a", "log_odds", "selected"],
)  # fmt: skip
def test_annotation_cannot_take_the_place_of_the_screen_s_own_columns(rng, name):
    posterior = bs.screen(rng.normal(size=(20, 3)), [0, 1] * 10)
    columns = columns_of(posterior, annotation={name: ["x", "y", "z"], f"annotation_{name}": ["u", "v", "w"]})
    assert name not in columns
    (first, second) = [column for column in columns.values() if column.get("annotation")]
    assert (first["title"], second["title"]) == (name, f"annotation_{name}")
    assert first["key"].startswith("annotation_")
    assert [texts(column)[0] for column in (first, second)] == [
        ("x", "y", "z")[posterior.ranking[0]],
        ("u", "v", "w")[posterior.ranking[0]],
    ]


def test_the_number_of_sites_keeps_its_name(rng):
    values = rng.normal(size=(20, 3))
    assert "n_sites" in columns_of(bs.screen(values, [0, 1] * 10), annotation={"n_sites": [1, 2, 3]})
    columns = columns_of(bs.screen(values, ["sites", "b"] * 10), annotation={"n_sites": [1, 2, 3]})
    assert "n_sites" not in columns  # the page makes a column of this name for the class


def without_blocks(table):
    """A table that still says what blocks say together, but not what each of them says."""
    return {name: column for name, column in table.items() if not name.startswith("block_")}


@pytest.mark.parametrize("blocks", [False, True], ids=["plain", "blocks"])
def test_columns_of_the_prior_are_the_same_live_and_stored(rng, blocks, tmp_path):
    values, labels = rng.normal(size=(80, 3)), np.arange(80) % 2
    posterior = bs.screen(values, labels, blocks=np.arange(80) // 40 if blocks else None)
    if not blocks:
        found = bs.fragility(values, labels, posterior=posterior)
        for finding in (bs.kinds(posterior), bs.effects(posterior), found):
            posterior = posterior.with_finding(finding)
    of_prior = {key for key, column in columns_of(posterior).items() if column.get("of_prior")}
    kinds = {"kind", *(f"probability_{each}" for each in ("same", "mean_only", "variance_only", "both"))}
    fragile = {"least_log_odds", "n_fragile_removals"}
    assert of_prior == ({"log_odds_pooled", "log_odds_without_a_block"} if blocks else kinds | fragile)
    table = without_blocks(bs.MinimalRisk(0.5).select(posterior).to_dict())
    write_results(tmp_path / "r.csv", table, dict, posterior.ranking)
    stored = read_result(tmp_path / "r.csv").posterior
    shown = {name for finding in stored.findings for name in finding.columns(stored)}
    left = {name for finding in stored.with_prior(0.3).findings for name in finding.columns(stored)}
    assert shown - left == of_prior
    assert ("mean_difference_within" if blocks else "mean_difference_low") in left


def test_a_probability_that_no_prior_moves_is_not_of_the_prior():
    assert "of_prior" not in column_content("probability_in_block", [0.5])


# ---------------------------------------------------------------------------------------------------------------
# Annotation of Python users


def test_missing_cells_of_a_frame_are_empty(rng):
    pd = pytest.importorskip("pandas")
    posterior = bs.screen(rng.normal(size=(20, 4)), [0, 1] * 10, feature_names=list("abcd"))
    frame = pd.DataFrame(
        {
            "gene": ["TP53", np.nan, "KRAS", None],
            "exon": pd.array([1, None, 3, 4], dtype="Int64"),
            "score": [0.5, np.nan, 2.0, 1.0],
            "arm": pd.array(["p", pd.NA, "q", "q"], dtype="string"),
            "known": pd.array([True, None, False, True], dtype="boolean"),
            "read": pd.to_datetime(["2020-01-01", None, "2020-01-02", "2020-01-02"]),
        },
        index=list("abcd"),
    )
    order = posterior.ranking.tolist()
    for given in (frame, frame.reset_index(drop=True), {name: list(frame[name]) for name in ("gene", "score")}):
        columns = columns_of(posterior, annotation=given)
        assert texts(columns["gene"]) == [["TP53", "", "KRAS", ""][i] for i in order]
        np.testing.assert_array_equal(array(columns["score"]["values"]), [[0.5, np.nan, 2, 1][i] for i in order])
    columns = columns_of(posterior, annotation=frame)
    np.testing.assert_array_equal(array(columns["exon"]["values"]), [[1, np.nan, 3, 4][i] for i in order])
    assert texts(columns["arm"]) == [["p", "", "q", "q"][i] for i in order]
    assert texts(columns["known"]) == [["True", "", "False", "True"][i] for i in order]
    assert texts(columns["read"])[order.index(1)] == ""


def test_ids_that_recur_in_an_annotation_are_refused(rng):
    pd = pytest.importorskip("pandas")
    posterior = bs.screen(rng.normal(size=(20, 4)), [0, 1] * 10, feature_names=list("abcd"))
    frame = pd.DataFrame({"gene": list("wxyz")}, index=["a", "b", "b", "c"])
    with pytest.raises(bs.DataError, match=r"1 id of the annotation stands in more than one row.*'b'"):
        ReportData.of(posterior, annotation=frame)
    with pytest.raises(bs.DataError, match="more than one row"):
        ReportData.of(posterior, annotation=frame["gene"].to_frame().set_axis(["a", "q", "q", "c"]))
