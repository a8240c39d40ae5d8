"""Statistics from elsewhere: tidy tables of moments, SQL run by DuckDB, groups of an AnnData object."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from commands import inside

import bayesieve as bs

RNG = np.random.default_rng(8)
N, F = 60, 25
X = RNG.normal(100.0, 1.0, size=(N, F))
X[30:, 4] += 3.0
X[30:, 7] *= 1.05
Y = np.repeat(["control", "case"], 30)
SITE = np.array(["Oslo", "Bonn", "Pisa"] * 20)
GENES = [f"g{j:02d}" for j in range(F)]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "sql-moments.md"

LONG = pl.DataFrame(
    {
        "site": np.repeat(SITE, F),
        "class": np.repeat(Y, F),
        "feature": GENES * N,
        "value": X.ravel(),
    }
)


def statements():
    """The SQL of the page, as it stands there."""
    return re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def tidy(**changes):
    """Two sites, two classes, two features; some columns changed."""
    rows = pl.DataFrame(
        {
            "site": np.repeat(["A", "B"], 4),
            "class": ["x", "x", "y", "y"] * 2,
            "feature": ["f", "g"] * 4,
            "count": [5] * 8,
            "mean": np.arange(8.0),
            "centred_squares": np.arange(1.0, 9.0),
        }
    )
    return rows.with_columns(**{name: pl.Series(values, strict=False) for name, values in changes.items()})


def changed(column, row, value):
    values = tidy()[column].to_list()
    values[row] = value
    return tidy(**{column: values})


@pytest.mark.filterwarnings("ignore:3 blocks, some with only 10 samples")
@pytest.mark.skipif(not PAGE.exists(), reason="a source archive may come without its pages")
@pytest.mark.parametrize("k", [0, 1])
def test_the_documented_sql(k):
    """Both statements of the page give what the raw table gives, to 1e-10; the longer one also with variances."""
    connection = duckdb.connect()
    connection.register("measurements", LONG.to_arrow())
    relation = connection.sql(statements()[k])
    found = bs.tidy_statistics(relation)
    assert [site.site for site in found.sites] == ["Bonn", "Oslo", "Pisa"]
    model = bs.GaussianModel.jeffreys() if k == 0 else None
    for options, ours in (({}, {}), ({"blocks": SITE}, {"blocks": "sites"})):
        raw = bs.screen(X, Y, model=model, feature_names=GENES, shuffles=0, **options)
        screened = bs.screen(found, model=model, **ours)
        assert screened.feature_names == raw.feature_names
        np.testing.assert_allclose(screened.log_odds, raw.log_odds, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "csv.gz"])
def test_files(form, tmp_path, capfd, monkeypatch):
    connection = duckdb.connect()
    connection.register("measurements", LONG.to_arrow())
    frame = connection.sql(statements()[1]).pl().rename({"class": "CLASS", "count": "Count"})
    path = tmp_path / f"moments.{form}"
    if form == "parquet":
        frame.write_parquet(path)
    elif form == "csv.gz":
        frame.to_pandas().to_csv(path, index=False)
    else:
        frame.write_csv(path, separator="\t" if form == "tsv" else ",")
    found = bs.read_statistics(path)
    raw = bs.screen(X, Y, feature_names=GENES, shuffles=0)
    np.testing.assert_allclose(bs.screen(found).log_odds, raw.log_odds, rtol=1e-10, atol=1e-10)
    out = tmp_path / "list.csv"
    done = inside(capfd, monkeypatch, "screen", path, "--blocks", "sites", "-o", out)
    assert done.code == 0
    assert "statistics of 3 sites (Bonn, Oslo, Pisa), apart; 60 samples x 25 features" in done.said
    written = pl.read_csv(out).sort("feature")
    expected = bs.screen(X, Y, feature_names=GENES, blocks=SITE, shuffles=0)
    np.testing.assert_allclose(written["log_odds"].to_numpy(), expected.log_odds, rtol=1e-9, atol=1e-9)


def test_one_site_and_other_frames(tmp_path):
    table = tidy().filter(pl.col("site") == "A").drop("site")
    wanted = bs.tidy_statistics(table).pooled()
    assert wanted.classes == ("x", "y")
    assert wanted.mean.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert wanted.centred_squares.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    for frame in (table.to_pandas(), table.to_arrow(), table.to_dict(as_series=False), table.reverse()):
        np.testing.assert_array_equal(bs.tidy_statistics(frame).pooled().mean, wanted.mean)
    table.rename({"centred_squares": "centered_squares"}).write_csv(tmp_path / "bergen.csv")
    assert [site.site for site in bs.read_statistics(tmp_path / "bergen.csv").sites] == ["bergen"]
    numbered = tidy(**{"class": [0.0, 0.0, 1.0, 1.0] * 2})
    assert bs.tidy_statistics(numbered).classes == ("0", "1")


def test_a_site_may_lack_a_class():
    found = bs.tidy_statistics(tidy().filter(~((pl.col("site") == "A") & (pl.col("class") == "x"))))
    assert found.pooled().count.tolist() == [5, 10]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (lambda: tidy().drop("mean"), r"no column 'mean'.*this one has 'site', 'class'"),
        (lambda: tidy().rename({"feature": "features"}), r"no column 'feature'\. Did you mean 'features'"),
        (lambda: tidy().clear(), "holds no rows"),
        (lambda: changed("centred_squares", 5, -1e-9), r"1 of 8 rows have negative centred_squares, the first is "
         r"row 6 \(site 'B', class 'x', feature 'g'\) with -1e-09\. The difference of a sum of squares"),
        (lambda: changed("count", 2, 0), r"row 3 .*with 0\."),
        (lambda: tidy(count=[5.5] + [5.0] * 7), r"no whole number of at least 1, the first is row 1 .* with 5\.5"),
        (lambda: changed("count", 2, 1), r"have one value, but centred_squares over 0"),
        (lambda: changed("mean", 3, None), r"a mean that is missing or not finite, the first is row 4"),
        (lambda: changed("mean", 3, float("inf")), "not finite"),
        (lambda: tidy(mean=["a"] * 8), r"row 1: mean is 'a', which is no number"),
        (lambda: changed("class", 1, None), r"1 rows have no class, the first is row 2"),
        (lambda: pl.concat([tidy(), tidy()[:1]]), r"1 combinations .* occur more than once, for example site 'A', "
         r"class 'x', feature 'f' \(2 times\)"),
        (lambda: tidy()[1:], r"1 combinations .* are not there, for example site 'A', class 'x', feature 'f'"),
        (lambda: tidy(centred_cubes=[0.0] * 8), "centred_cubes alone"),
        (lambda: tidy(centred_cubes=[0.0] * 8, centred_fourths=[-1.0] * 8), "negative centred_fourths"),
        (lambda: 3, "not 3"),
    ],
)  # fmt: skip
def test_bad_tables(frame, words):
    with pytest.raises(bs.DataError, match=words):
        bs.tidy_statistics(frame())


def test_a_bad_file_is_one_paragraph(tmp_path, capfd, monkeypatch):
    changed("centred_squares", 5, -1.0).write_csv(tmp_path / "bad.csv")
    done = inside(capfd, monkeypatch, "screen", tmp_path / "bad.csv")
    assert done.code == 2
    assert done.said.startswith(f"bayesieve: {tmp_path / 'bad.csv'}: 1 of 8 rows have negative centred_squares")
    tidy().write_csv(tmp_path / "good.csv")
    done = inside(capfd, monkeypatch, "screen", tmp_path / "good.csv", "--labels", "class")
    assert done.code == 2
    assert "is a statistics file, to which --labels does not apply" in done.said


def test_sums_of_squares_far_from_zero_lose_their_digits():
    """Why the page warns: the short formula, and the one that is accepted."""
    far = LONG.with_columns(value=pl.col("value") + 1e9)
    connection = duckdb.connect()
    connection.register("measurements", far.to_arrow())
    naive = connection.sql(
        'SELECT "class", feature, count(*) AS count, avg(value) AS mean, '
        'sum(value * value) - count(*) * avg(value) * avg(value) AS centred_squares FROM measurements '
        'GROUP BY "class", feature'
    ).pl()  # fmt: skip
    exact = bs.Moments.from_matrix(X, Y)
    order = naive.sort("class", "feature")["centred_squares"].to_numpy().reshape(2, F)
    assert np.abs(order / exact.centred_squares - 1).max() > 0.5
    for statement in statements():
        good = bs.tidy_statistics(connection.sql(statement)).pooled()
        np.testing.assert_allclose(good.centred_squares, exact.centred_squares, rtol=1e-5)  # what 1e9 leaves of X


def groups(by=("condition",), func=("mean", "var")):
    """What scanpy makes, after its description: layers of means and variances (ddof 1), a row per group."""
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame({"condition": Y, "site": SITE})
    keys = obs.groupby(by[0] if len(by) == 1 else list(by), observed=True).groups
    names = ["_".join(key) if isinstance(key, tuple) else key for key in keys]
    made = {
        "mean": [X[rows].mean(axis=0) for rows in keys.values()],
        "var": [X[rows].var(axis=0, ddof=1) for rows in keys.values()],
        "sum": [X[rows].sum(axis=0) for rows in keys.values()],
    }
    columns = [key if isinstance(key, tuple) else (key,) for key in keys]
    frame = pd.DataFrame(columns, columns=list(by), index=names)
    sizes = [len(rows) for rows in keys.values()]
    layers = {name: np.array(made[name]) for name in func}
    return anndata.AnnData(obs=frame, var=pd.DataFrame(index=GENES), layers=layers), sizes


@pytest.mark.filterwarnings("ignore:3 blocks, some with only 10 samples")
def test_groups_of_an_object():
    model = bs.GaussianModel.jeffreys()
    expected = bs.screen(X, Y, model=model, shuffles=0).log_odds
    adata, sizes = groups()
    cells = pd.Series(Y)
    for counts in (cells.value_counts(), dict(zip(adata.obs_names, sizes, strict=True)), sizes):
        found = bs.aggregated_statistics(adata, "condition", counts=counts)
        np.testing.assert_allclose(bs.screen(found, model=model).log_odds, expected, rtol=1e-10, atol=1e-10)
    adata.obs["n_obs_aggregated"] = sizes
    for source in (adata, groups(func=("sum", "mean", "var"))[0]):
        found = bs.aggregated_statistics(source, "condition")
        np.testing.assert_allclose(bs.screen(found, model=model).log_odds, expected, rtol=1e-10, atol=1e-10)
    both, sizes = groups(by=("condition", "site"))
    found = bs.aggregated_statistics(both, "condition", sites="site", counts=sizes)
    np.testing.assert_allclose(bs.screen(found, model=model).log_odds, expected, rtol=1e-10, atol=1e-10)
    blocked = bs.screen(X, Y, blocks=SITE, model=model, shuffles=0).log_odds
    np.testing.assert_allclose(bs.screen(found, blocks="sites", model=model).log_odds, blocked, rtol=1e-10)


def test_groups_that_do_not_tell_enough():
    adata, sizes = groups()
    with pytest.raises(bs.OptionError, match=r"not said\. Give counts=.*value_counts"):
        bs.aggregated_statistics(adata, "condition")
    with pytest.raises(bs.OptionError, match=r"counts say nothing of the groups 'control'"):
        bs.aggregated_statistics(adata, "condition", counts={"case": 30})
    with pytest.raises(bs.OptionError, match="whole number"):
        bs.aggregated_statistics(adata, "condition", counts=[30, 0])
    with pytest.raises(bs.LabelError, match="no column 'cond'"):
        bs.aggregated_statistics(adata, "cond", counts=sizes)
    with pytest.raises(bs.DataError, match=r"aggregated_statistics\(adata, labels\)"):
        bs.screen(adata, "condition")
    both, sizes = groups(by=("condition", "site"))
    with pytest.raises(bs.LabelError, match="finer than the classes"):
        bs.aggregated_statistics(both, "condition", counts=sizes)
    adata, sizes = groups(func=("mean",))
    with pytest.raises(bs.DataError, match="Layers 'mean' and 'var'"):
        bs.aggregated_statistics(adata, "condition", counts=sizes)
    adata, sizes = groups()
    adata.layers["var"][0, 3] = -1.0
    with pytest.raises(
        bs.DataError, match=r"1 variances are negative or no numbers, the first in row 1, column 4"
    ):
        bs.aggregated_statistics(adata, "condition", counts=sizes)


def test_scanpy_itself():
    scanpy = pytest.importorskip("scanpy")
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame({"condition": pd.Categorical(Y)}, index=[f"c{i}" for i in range(N)])
    cells = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=GENES))
    model = bs.GaussianModel.jeffreys()
    expected = bs.screen(X, Y, model=model, shuffles=0).log_odds
    made = scanpy.get.aggregate(cells, by="condition", func=["sum", "mean", "var", "count_nonzero"])
    found = bs.aggregated_statistics(made, "condition")
    np.testing.assert_allclose(bs.screen(found, model=model).log_odds, expected, rtol=1e-6, atol=1e-6)
