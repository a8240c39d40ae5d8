"""``bayesieve stats``, ``merge``, ``remove`` and ``screen``: many sites, one study, no patients."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import check_list, in_columns, in_rows, inside, label_file, numbers, read_list, sample_names

import bayesieve as bs

N_FEATURES = 30
CUTS = (0, 16, 40, 60)
SITES = ("Oslo", "Bonn", "Lyon")
RNG = np.random.default_rng(11)
VALUES = numbers(60, N_FEATURES, seed=12)
LABELS = RNG.permutation(["case"] * 28 + ["control"] * 32).tolist()
GENES = [f"g{j}" for j in range(N_FEATURES)]


@pytest.fixture
def bayesieve(tmp_path, monkeypatch, capfd):
    """Run commands in an empty folder; they must work."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        result = inside(capfd, monkeypatch, *arguments)
        assert result.code == 0, result.err
        return result

    return run


def part(k):
    rows = slice(CUTS[k], CUTS[k + 1])
    return VALUES[rows], LABELS[rows]


def name_of(site):
    return f"{site}.stats.parquet"


def write_sites(bayesieve, *options):
    """Write and summarise the table of each site."""
    for k, site in enumerate(SITES):
        Path(f"{site}.csv").write_text(in_rows(*part(k)))
        bayesieve("stats", f"{site}.csv", "--labels", "stage", "--out", name_of(site), *options)


def list_names(result):
    return read_list(io.StringIO(result.out))


@pytest.mark.parametrize("transform", ["none", "log2", "log1p"])
def test_merged_sites_give_the_screen_of_the_pooled_table(transform, bayesieve):
    write_sites(bayesieve, "--transform", transform)
    merged = bayesieve("merge", *map(name_of, SITES), "--out", "all.stats.parquet")
    assert "Merged 3 sites: Oslo, Bonn, Lyon." in merged.said
    assert f"{N_FEATURES} features are common to all; 0 of the longest list are not." in merged.said
    Path("pooled.csv").write_text(in_rows(VALUES, LABELS))
    federated = bayesieve("screen", "all.stats.parquet")
    pooled = bayesieve("screen", "pooled.csv", "--labels", "stage", "--transform", transform)
    values = {"none": VALUES, "log2": np.log2(VALUES), "log1p": np.log1p(VALUES)}[transform]
    check_list(list_names(federated), bs.screen(values, LABELS, feature_names=GENES))
    one, other = list_names(federated), list_names(pooled)
    assert one["n_sites"].tolist() == [3] * N_FEATURES
    assert one["feature"].tolist() == other["feature"].tolist()
    assert one["selected"].tolist() == other["selected"].tolist()
    for column in ("log_odds", "mean_case", "sd_control", "mean_difference", "log_variance_ratio"):
        np.testing.assert_allclose(one[column], other[column], rtol=1e-9, atol=1e-12)
    assert "statistics of 3 sites (Oslo, Bonn, Lyon), pooled; 60 samples x 30 features" in federated.said


def test_the_order_of_the_sites_does_not_matter(bayesieve):
    write_sites(bayesieve)
    bayesieve("merge", *map(name_of, SITES), "--out", "one.stats.parquet")
    bayesieve("merge", *map(name_of, SITES[::-1]), "--out", "other.stats.parquet")
    one, other = (bayesieve("screen", f"{name}.stats.parquet").out for name in ("one", "other"))
    assert one == other


def test_small_cells_are_suppressed_and_counted(bayesieve):
    """Features with too few values are not in the file under any name."""
    values = numbers(20, 6, seed=13)
    labels = ["case"] * 10 + ["control"] * 10
    values[:6, 2] = np.nan  # 4 cases left
    values[10:15, 4] = np.nan  # 5 controls left: enough
    values[:, 5] = np.nan
    Path("t.csv").write_text(in_rows(values, labels))
    command = ("stats", "t.csv", "--labels", "stage", "--missing", "omit")
    result = bayesieve(*command, "--out", "t.stats.parquet")
    assert "Suppressed 2 features in which a class has fewer than 5 values (--min-cell)." in result.said
    assert "of 4 features to t.stats.parquet" in result.said
    assert pl.read_parquet("t.stats.parquet")["feature"].to_list() == ["g0", "g1", "g3", "g4"]
    content = Path("t.stats.parquet").read_bytes()
    assert b"g2" not in content
    assert b"s0" not in content  # nor is any patient
    logged = bayesieve(*command, "--out", "u.stats.parquet", "--min-cell", "6", "--json-log")
    (line,) = (json.loads(text) for text in logged.err.splitlines() if '"statistics"' in text)
    assert (line["n_suppressed"], line["n_features"]) == (3, 3)
    everything = bayesieve(*command, "--out", "v.stats.parquet", "--min-cell", "0")
    assert "Suppressed" not in everything.err
    assert pl.read_parquet("v.stats.parquet").height == 6


def test_outer_join_counts_the_sites_of_each_feature(bayesieve):
    lacking = {"Oslo": [0, 7], "Bonn": [7, 29], "Lyon": []}
    for k, site in enumerate(SITES):
        values, labels = part(k)
        table = in_rows(values, labels)
        Path(f"{site}.csv").write_text(table)
        ignored = [option for j in lacking[site] for option in ("--ignore", f"g{j}")]
        bayesieve("stats", f"{site}.csv", "--labels", "stage", "--out", name_of(site), *ignored, "--min-cell", "0")
    outer = bayesieve("merge", *map(name_of, SITES), "--join", "outer", "--out", "outer.stats.parquet")
    assert "Features by number of sites: 3: 27, 2: 2, 1: 1." in outer.said
    found = list_names(bayesieve("screen", "outer.stats.parquet")).set_index("feature")
    assert found["n_sites"][["g0", "g7", "g29", "g1"]].tolist() == [2, 1, 2, 3]
    gaps = VALUES.copy()
    for k, site in enumerate(SITES):
        gaps[CUTS[k] : CUTS[k + 1], lacking[site]] = np.nan
    pooled = bs.screen(gaps, LABELS, feature_names=GENES, missing="omit")
    np.testing.assert_allclose(found["log_odds"][GENES], pooled.log_odds, rtol=1e-10)
    bayesieve("merge", *map(name_of, SITES), "--out", "inner.stats.parquet")
    inner = list_names(bayesieve("screen", "inner.stats.parquet"))
    assert set(inner["feature"]) == set(GENES) - {"g0", "g7", "g29"}


def test_a_site_can_withdraw(bayesieve):
    write_sites(bayesieve)
    bayesieve("merge", *map(name_of, SITES), "--out", "all.stats.parquet")
    before = Path("all.stats.parquet").read_bytes()
    result = bayesieve("remove", "all.stats.parquet", "Bonn", "--out", "two.stats.parquet")
    assert "Removed 'Bonn'; 2 sites" in result.said
    assert Path("all.stats.parquet").read_bytes() == before
    kept = [*range(16), *range(40, 60)]
    expected = bs.screen(VALUES[kept], [LABELS[i] for i in kept], feature_names=GENES)
    check_list(list_names(bayesieve("screen", "two.stats.parquet")), expected)
    bayesieve("remove", "all.stats.parquet", "Bonn")  # in place
    assert Path("all.stats.parquet").read_bytes() != before
    check_list(list_names(bayesieve("screen", "all.stats.parquet")), expected)
    assert b"Bonn" not in Path("all.stats.parquet").read_bytes()


def test_merging_in_two_steps_is_merging_at_once(bayesieve):
    write_sites(bayesieve)
    bayesieve("merge", name_of("Oslo"), name_of("Bonn"), "--out", "two.stats.parquet")
    bayesieve("merge", "two.stats.parquet", name_of("Lyon"), "--out", "three.stats.parquet")
    bayesieve("merge", *map(name_of, SITES), "--out", "once.stats.parquet")
    assert pl.read_parquet("three.stats.parquet").equals(pl.read_parquet("once.stats.parquet"))


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
def test_statistics_from_rows_and_from_columns_are_the_same(gaps, bayesieve):
    values = VALUES.copy()
    if gaps:
        values[np.random.default_rng(14).random(values.shape) < 0.1] = np.nan
    Path("rows.csv").write_text(in_rows(values))
    Path("columns.tsv").write_text(in_columns(values))
    Path("p.csv").write_text(label_file(LABELS, sample_names(60)))
    for name in ("rows.csv", "columns.tsv"):
        stem = name.partition(".")[0]
        bayesieve(
            "stats", name, "--labels", "p.csv:stage", "--out", name_of(stem), "--site", "Oslo", "--missing", "omit"
        )
    one, other = (pl.read_parquet(name_of(stem)) for stem in ("rows", "columns"))
    assert one.columns == other.columns
    moments = bs.Moments.from_matrix(values, LABELS, missing="omit")
    for k in range(2):
        assert one[f"count_{k}"].equals(other[f"count_{k}"])
        for column, mine in ((f"mean_{k}", moments.mean[k]), (f"centred_squares_{k}", moments.centred_squares[k])):
            np.testing.assert_allclose(one[column], other[column], rtol=1e-12)
            np.testing.assert_allclose(one[column], mine, rtol=1e-12)


def test_the_site_is_named_after_its_file_or_as_said(bayesieve):
    Path("oslo.2024.csv").write_text(in_rows(*part(0)))
    command = ("stats", "oslo.2024.csv", "--labels", "stage", "--min-cell", "0", "--out", "a.stats.parquet")
    assert "Site 'oslo', classes: case" in bayesieve(*command).said
    assert pl.read_parquet("a.stats.parquet")["site"].unique().to_list() == ["oslo"]
    bayesieve(*command, "--site", "Rikshospitalet, Oslo")
    assert pl.read_parquet("a.stats.parquet")["site"].unique().to_list() == ["Rikshospitalet, Oslo"]


def test_classes_of_statistics_can_be_ordered(bayesieve):
    Path("t.csv").write_text(in_rows(*part(1)))
    bayesieve("stats", "t.csv", "--labels", "stage", "--min-cell", "0", "--out", "a.stats.parquet")
    plain = list_names(bayesieve("screen", "a.stats.parquet")).set_index("feature")
    turned = bayesieve("screen", "a.stats.parquet", "--classes", "control, case")
    assert "differences are case minus control" in turned.said
    found = list_names(turned).set_index("feature")
    np.testing.assert_allclose(
        found.loc[GENES, "mean_difference"], -plain.loc[GENES, "mean_difference"], rtol=1e-12
    )


def test_statistics_of_three_classes_are_screened_in_pairs(bayesieve):
    values = numbers(30, 4, seed=15)
    labels = ["x", "y", "z"] * 10
    Path("t.csv").write_text(in_rows(values, labels))
    bayesieve("stats", "t.csv", "--labels", "stage", "--out", "a.stats.parquet")
    kept = [i for i, label in enumerate(labels) if label != "y"]
    expected = bs.screen(values[kept], [labels[i] for i in kept], feature_names=GENES[:4])
    check_list(list_names(bayesieve("screen", "a.stats.parquet", "--classes", "x, z")), expected)


@pytest.mark.parametrize(
    "across",
    [
        pytest.param(
            False,
            id="rows",
        ),
        pytest.param(True, id="columns"),
    ],
)
def test_squares_that_overflow_are_refused_before_anything_is_written(across, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    values = numbers(12, 3)
    values[:, 1] *= 1e160
    Path("t.csv").write_text(in_columns(values, ",") if across else in_rows(values))
    Path("p.csv").write_text(label_file(["case"] * 6 + ["control"] * 6))
    result = inside(capfd, monkeypatch, "stats", "t.csv", "--labels", "p.csv:stage", "--out", "a.stats.parquet")
    assert result.code == 2
    assert "'g1'" in result.said
    assert not Path("a.stats.parquet").exists()
