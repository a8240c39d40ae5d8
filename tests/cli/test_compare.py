"""``bayesieve compare``: the same numbers as the library, tables that can be read, mistakes that are explained."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import gene_names, halves, in_columns, in_rows, inside, label_file, numbers, outside, read_exactly

import bayesieve as bs

VALUES = numbers(n_samples=24, n_features=30, seed=4)
VALUES[12:, 1] = (10.0 + 9.0 * (VALUES[12:, 1] - 10.0)).round(4)
LABELS = halves(24)
NAMES = gene_names(30)
TABLE = in_rows(VALUES, LABELS)
ALL = "obf-jp,welch,limma,bd,mi,nmc"


@pytest.fixture
def bayesieve(tmp_path, monkeypatch, capfd):
    """Run commands in an empty folder that holds a table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    Path("table.csv").write_text(TABLE, encoding="utf-8")

    def run(*arguments):
        return inside(capfd, monkeypatch, *arguments)

    return run


def expected(methods=ALL, values=VALUES, **settings):
    return bs.compare_methods(values, LABELS, methods, feature_names=NAMES, **settings)


def assert_table(found, comparison):
    """Compare a table that was written with the library, in the order of the first method."""
    table, order = comparison.to_dict(), comparison.ranking(comparison.methods[0])
    assert list(found.columns) == list(table)
    assert found["feature"].tolist() == [comparison.names[i] for i in order]
    for name, column in table.items():
        if name != "feature":
            np.testing.assert_allclose(found[name], np.asarray(column)[order], rtol=1e-9, atol=1e-9)


def below(lines, heading):
    """Rows of the text table below a heading, split at spaces, up to an empty line."""
    rows = lines[lines.index(heading) + 1 :]
    return [row.split() for row in rows[: rows.index("") if "" in rows else None]]


def test_a_table_is_ranked_as_the_library_does(bayesieve):
    result = bayesieve("compare", "table.csv", "--labels", "stage", "--methods", ALL, "--out", "ranks.csv")
    assert result.code == 0, result.err
    assert result.out == ""
    assert_table(read_exactly("ranks.csv"), expected())
    assert result.err.splitlines()[-1] == "Wrote 30 rows to ranks.csv."


def test_without_out_the_table_goes_to_standard_output(bayesieve):
    result = bayesieve("compare", "table.csv", "-l", "stage", "--quiet")
    assert (result.code, result.err) == (0, "")
    assert_table(read_exactly(io.StringIO(result.out)), expected("obf,obf-jp,welch,limma,bd"))


def test_ranks_and_overlaps_are_printed(bayesieve):
    result = bayesieve("compare", "table.csv", "-l", "stage", "-m", ALL, "--top", "3,6", "-o", "ranks.csv")
    comparison, lines = expected(top=[3, 6]), result.err.splitlines()
    head, *rows = below(lines, "Ranks of the features among the 6 strongest of any method:")
    assert head == ["feature", *comparison.methods, "mean", "z", "variance", "z"]
    assert [row[0] for row in rows] == [comparison.names[i] for i in comparison.union(6)]
    assert [[int(cell) for cell in row[1:7]] for row in rows] == comparison.ranks[
        :, comparison.union(6)
    ].T.tolist()
    head, *rows = below(lines, "Features that two methods share among their 6 strongest:")
    assert head == list(comparison.methods)
    assert [row[0] for row in rows] == list(comparison.methods)
    assert [[int(cell) for cell in row[1:]] for row in rows] == comparison.overlap(6).tolist()
    assert "Classes: a (12) and b (12); differences are b minus a." in lines
    assert "On all 6 lists: " in result.said
    assert "table.csv: CSV, samples in rows; 24 samples x 30 features, transform none." in lines


def test_samples_in_columns_classes_and_a_transform(bayesieve):
    Path("wide.tsv").write_text(in_columns(VALUES + 40.0), encoding="utf-8")
    Path("pheno.csv").write_text(label_file(LABELS), encoding="utf-8")
    result = bayesieve(
        "compare", "wide.tsv", "-l", "pheno.csv:stage", "--classes", "b; a", "--transform", "log2", "-q", "-m",
        "welch,mi",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert_table(
        read_exactly(io.StringIO(result.out)),
        expected("welch,mi", values=np.log2(VALUES + 40.0), classes=("b", "a")),
    )


def test_missing_values(bayesieve):
    holes = VALUES.copy()
    holes[[3, 15], [2, 7]] = np.nan
    Path("holes.csv").write_text(in_rows(holes, LABELS), encoding="utf-8")
    refused = bayesieve("compare", "holes.csv", "-l", "stage", "-m", ALL)
    assert refused.code == 2
    assert "--missing omit" in refused.said
    result = bayesieve("compare", "holes.csv", "-l", "stage", "-m", ALL, "--missing", "omit", "-q")
    assert_table(read_exactly(io.StringIO(result.out)), expected(values=holes, missing="omit"))


def test_a_statistics_file_serves_methods_that_use_moments(bayesieve):
    bayesieve("stats", "table.csv", "-l", "stage", "--out", "site.stats.parquet", "-q")
    result = bayesieve("compare", "site.stats.parquet", "-m", "obf-jp,welch,limma,bd", "-o", "ranks.csv")
    assert result.code == 0, result.err
    assert_table(read_exactly("ranks.csv"), expected("obf-jp,welch,limma,bd"))
    refused = bayesieve("compare", "site.stats.parquet", "-m", "welch,mi,nmc")
    assert refused.code == 2
    assert "holds sums and no values, which mi, nmc need. Leave them out of --methods" in refused.said


def test_json_and_parquet_say_what_was_compared(bayesieve):
    for ending in ("json", "parquet"):
        assert bayesieve("compare", "table.csv", "-l", "stage", "--top", "5", "-o", f"r.{ending}", "-q").code == 0
    comparison = expected("obf,obf-jp,welch,limma,bd", top=5)
    said = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert said["methods"] == ["obf", "obf-jp", "welch", "limma", "bd"]
    assert said["overlap"] == {"5": comparison.overlap(5).tolist()}
    assert said["classes"] == {"a": 12, "b": 12}
    assert len(said["features"]) == 30
    assert_table(pl.read_parquet("r.parquet").to_pandas(), comparison)


def test_the_json_log_holds_the_overlaps(bayesieve):
    result = bayesieve("compare", "table.csv", "-l", "stage", "--top", "4", "-o", "r.csv", "--json-log")
    said = [json.loads(line) for line in result.err.splitlines()]
    found = next(line for line in said if line["event"] == "result")
    assert found["overlap"] == {"4": expected("obf,obf-jp,welch,limma,bd", top=4).overlap().tolist()}
    assert found["n_features"] == 30


def test_settings_can_be_kept_and_used_again(bayesieve):
    first = bayesieve(
        "compare", "table.csv", "-l", "stage", "-m", "welch,bd", "--top", "7", "-q", "--config-out", "kept.toml"
    )
    again = bayesieve("compare", "table.csv", "--config", "kept.toml", "-q")
    assert (first.code, again.code) == (0, 0)
    assert first.out == again.out
    assert 'methods = "welch,bd"' in Path("kept.toml").read_text(encoding="utf-8")


def test_a_method_of_ones_own_from_a_file(bayesieve):
    Path("median_gap.py").write_text(
        "import numpy as np\nimport bayesieve as bs\n\n"
        "def run(matrix, n_threads=None):\n"
        "    first, second = (np.median(matrix.values[matrix.labels.codes == k], axis=0) for k in (0, 1))\n"
        "    return bs.FeatureScores('median_gap', np.abs(second - first))\n\n"
        "RIVAL = bs.Rival('median-gap', 'Difference of medians', 'values', run)\n",
        encoding="utf-8",
    )
    result = bayesieve("compare", "table.csv", "-l", "stage", "-m", "welch,median_gap.py:RIVAL", "-o", "r.csv")
    assert result.code == 0, result.err
    found = read_exactly("r.csv").set_index("feature")
    gap = np.abs(np.median(VALUES[12:], axis=0) - np.median(VALUES[:12], axis=0))
    np.testing.assert_allclose(found.loc[NAMES, "score_median_gap"], gap, rtol=1e-12)
    assert "Difference of medians" in result.said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-m", "welch,foo"], "There is no method 'foo'. Methods are obf, obf-jp"),
        (["-m", "welch,t"], "'welch' is asked for twice"),
        (["-m", ","], "at least one method"),
        (["--top", "ten"], "--top takes whole numbers of at least 1"),
        (["--top", "0"], "--top takes whole numbers of at least 1"),
        (["--top", "31"], "from 1 to the number of features (30), not 31"),
        (["--out", "ranks.xls"], "Cannot tell the format"),
        (["--out", "table.csv"], "would overwrite table.csv"),
        (["--classes", "a"], "A screen compares at least two classes"),
        (["-m", "nowhere.py:RIVAL"], "There is no file nowhere.py"),
    ],
)
def test_mistakes_are_explained(bayesieve, arguments, said):
    result = bayesieve("compare", "table.csv", "-l", "stage", *arguments)
    assert result.code == 2
    assert said in result.said
    assert result.out == ""
    assert Path("table.csv").read_text(encoding="utf-8") == TABLE


def test_three_classes_have_to_be_picked_from(bayesieve):
    labels = ["a", "b", "c"] * 8
    Path("three.csv").write_text(in_rows(VALUES, labels), encoding="utf-8")
    result = bayesieve("compare", "three.csv", "-l", "stage")
    assert result.code == 2
    assert 'three.csv has 3. Pick or merge some, for example --classes "a; b".' in result.said
    assert bayesieve("compare", "three.csv", "-l", "stage", "--classes", "a; b", "-q").code == 0


def test_long_names_are_cut_in_the_printed_table_only(bayesieve):
    name = "a" * 50
    Path("long.csv").write_text(TABLE.replace("g0,", f"{name},", 1), encoding="utf-8")
    result = bayesieve("compare", "long.csv", "-l", "stage", "-o", "r.csv")
    assert f"{'a' * 27}... " in result.err
    assert read_exactly("r.csv")["feature"].tolist()[:2].count(name) == 1


def test_the_command_as_users_run_it(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    result = outside("compare", "table.csv", "-l", "stage", "-m", ALL, "-o", "ranks.csv", folder=tmp_path)
    assert result.code == 0, result.err
    assert_table(read_exactly(tmp_path / "ranks.csv"), expected())
    assert max(map(len, result.messages)) < 80


OWN = """
import bayesieve as bs

def run(matrix, n_threads=None, *, screen=None, draws=3, shift=0.0):
    values = matrix.values[matrix.labels.codes == 1].mean(axis=0) + shift
    return bs.FeatureScores("mine", values, selected=values > 10 + draws, caveat="It is made up.")

RIVAL = bs.Rival("mine", "My method", "values", run)
"""


def test_options_reach_the_methods_that_have_them_and_lists_of_their_own_are_told(bayesieve):
    Path("mine.py").write_text(OWN, encoding="utf-8")
    command = ("compare", "table.csv", "--labels", "stage", "-m", "welch,mine.py:RIVAL", "--out", "ranks.csv")
    result = bayesieve(*command, "--draws", "1", "--method-option", "mine.shift=2.5")
    assert result.code == 0, result.err
    expected_list = VALUES[12:].mean(axis=0) + 2.5 > 11
    found = pl.read_csv("ranks.csv")
    assert found["selected_mine"].sum() == expected_list.sum() > 0
    n = int(expected_list.sum())
    assert f"My method chooses {n} feature{'' if n == 1 else 's'} by itself. It is made up." in result.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--draws", "3"), "has the option --draws"),
        (("--method-option", "welch"), "METHOD.OPTION=VALUE"),
        (("--method-option", "welch.nothing=1"), "has no option 'nothing'"),
        (("--method-option", "bd.p=1"), "not among the methods"),
        (("--method-option", "nobody.p=1"), "There is no method"),
    ],
)
def test_options_that_no_method_has_are_refused(bayesieve, options, words):
    result = bayesieve("compare", "table.csv", "--labels", "stage", "--methods", "welch", *options)
    assert result.code == 2
    assert words in " ".join(result.err.split())
