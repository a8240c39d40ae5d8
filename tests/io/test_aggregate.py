"""Pseudobulk: cells of donors become samples, in Python and while a file is read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from commands import inside

import bayesieve as bs
from bayesieve.data import looks_like_donor

anndata = pytest.importorskip("anndata")

N_DONORS, PER_DONOR, F = 8, 15, 40
DONOR = np.repeat([f"d{i}" for i in range(N_DONORS)], PER_DONOR)
CONDITION = np.where(np.repeat(np.arange(N_DONORS), PER_DONOR) < 4, "well", "sick")


def made(seed=0, effect=0.5):
    """Counts of cells with effects of donors and none of the condition; unequal numbers of cells."""
    rng = np.random.default_rng(seed)
    rate = rng.gamma(4.0, 1.0, F) * np.exp(rng.normal(0, effect, (N_DONORS, F)))
    counts = rng.poisson(np.repeat(rate, PER_DONOR, axis=0)).astype(np.float64)
    keep = rng.permutation(DONOR.size)[:100]
    obs = pd.DataFrame(
        {
            "donor": DONOR[keep],
            "condition": CONDITION[keep],
            "cluster": rng.choice(["T", "B"], 100),
            "depth": rng.uniform(0.5, 2, 100),
            "half": np.where(np.arange(100) % 2, "late", "early"),
        },
        index=[f"cell{i}" for i in range(100)],
    )
    return counts[keep], obs


COUNTS, OBS = made()
GENES = [f"g{j}" for j in range(F)]
ADATA = anndata.AnnData(sp.csr_matrix(COUNTS), obs=OBS, var=pd.DataFrame(index=GENES))
FRAME = pd.DataFrame(COUNTS, columns=GENES, index=OBS.index)
MEANS = FRAME.groupby(OBS["donor"].to_numpy()).mean()
SUMS = FRAME.groupby(OBS["donor"].to_numpy()).sum()
CLASSES = np.where(MEANS.index < "d4", "well", "sick")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same cells as AnnData by row and by column, as CSV both ways round, and with a label file."""
    place = tmp_path_factory.mktemp("cells")
    ADATA.write_h5ad(place / "cells.h5ad")
    by_feature = ADATA.copy()
    by_feature.X = sp.csc_matrix(COUNTS)
    by_feature.write_h5ad(place / "csc.h5ad")
    FRAME.join(OBS).rename_axis("cell").to_csv(place / "cells.csv")
    FRAME.T.rename_axis("gene").to_csv(place / "genes.csv")
    OBS.rename_axis("cell").to_csv(place / "pheno.csv")
    return place


SOURCES = [
    ("cells.h5ad", "{}"),
    ("csc.h5ad", "{}"),
    ("cells.csv", "{}"),
    ("genes.csv", "pheno.csv:{}"),
]


def read(folder, source, **columns):
    name, form = source
    named = {
        role: ",".join(str(folder / form.format(part)) if ":" in form else part for part in column.split(","))
        if role in ("labels", "aggregate", "pairs", "blocks", "exposures") and column != "total"
        else column
        for role, column in columns.items()
    }
    ignored = {"ignore": ["depth"]} if name == "cells.csv" and columns.get("exposures") != "depth" else {}
    return bs.read_table(folder / name, **named, **ignored)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source[0])
def test_means_and_sums_are_those_of_pandas(folder, source):
    table = read(folder, source, labels="condition", aggregate="donor")
    matrix, _ = table.in_memory()
    order = [table.sample_names.index(name) for name in MEANS.index]
    np.testing.assert_allclose(matrix.values[order], MEANS.to_numpy(), rtol=1e-12)
    assert table.class_counts == {"sick": 4, "well": 4}
    assert np.array(table.moments.classes)[matrix.labels.codes[order]].tolist() == CLASSES.tolist()
    expected = bs.screen(MEANS.to_numpy(), CLASSES, shuffles=0).log_odds
    np.testing.assert_allclose(bs.screen(table, shuffles=0).log_odds, expected, rtol=1e-9)
    logs = read(folder, source, labels="condition", aggregate="donor", transform="log1p")
    expected = bs.screen(np.log1p(MEANS.to_numpy()), CLASSES, shuffles=0).log_odds
    np.testing.assert_allclose(bs.screen(logs, shuffles=0).log_odds, expected, rtol=1e-9)
    said = "\n".join(map(str, table.record.messages()))
    assert "100 samples of the file are put together by" in said
    assert f"to 8 samples of {OBS['donor'].value_counts().min()} to {OBS['donor'].value_counts().max()}" in said
    model = bs.NegativeBinomialModel()
    counts = read(folder, source, labels="condition", aggregate="donor", model=model, exposures="total")
    matrix, _ = counts.in_memory()
    np.testing.assert_array_equal(matrix.values[order], SUMS.to_numpy())
    np.testing.assert_allclose(matrix.exposures[order], bs.size_factors(SUMS.to_numpy()), rtol=1e-12)
    assert any("values are sums" in str(message) for message in counts.record.messages())


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source[0])
def test_exposures_are_added_up(folder, source):
    model = bs.PoissonModel()
    table = read(folder, source, labels="condition", aggregate="donor", model=model, exposures="depth")
    matrix, _ = table.in_memory()
    by_donor = OBS.groupby("donor")["depth"].sum()
    order = [table.sample_names.index(name) for name in by_donor.index]
    np.testing.assert_allclose(matrix.exposures[order], by_donor.to_numpy(), rtol=1e-12)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source[0])
def test_donors_in_both_classes_are_pairs(folder, source):
    means = FRAME.groupby([OBS["donor"], OBS["half"]]).mean()
    with pytest.warns(bs.DataWarning, match=r"8 of 8 values of .*donor'.* occur in both classes.*pairs="):
        apart = read(folder, source, labels="half", aggregate="donor")
    assert apart.class_counts == {"early": 8, "late": 8}
    assert "d3:early" in apart.sample_names
    table = read(folder, source, labels="half", aggregate="donor", pairs="donor")
    assert table.n_pairs == 8
    wanted = means.xs("late", level=1).to_numpy() - means.xs("early", level=1).to_numpy()
    np.testing.assert_allclose(table.moments.mean[0], wanted.mean(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table.moments.variance[0], wanted.var(axis=0, ddof=1), rtol=1e-9)
    # the other way: in Python
    donors = bs.aggregate(ADATA, "donor", "half")
    ours = bs.screen(donors, "half", pairs="donor", shuffles=0).log_odds
    np.testing.assert_allclose(bs.screen(table, shuffles=0).log_odds, ours, rtol=1e-9)


def test_several_columns(folder):
    with pytest.warns(bs.DataWarning, match=r"16 samples are of 8 values of 'donor'.*because of 'cluster'"):
        table = read(folder, SOURCES[0], labels="condition", aggregate="donor,cluster")
    assert sum(table.class_counts.values()) == 16
    means = FRAME.groupby([OBS["donor"], OBS["cluster"]]).mean()
    matrix, _ = table.in_memory()
    order = [table.sample_names.index(":".join(name)) for name in means.index]
    np.testing.assert_allclose(matrix.values[order], means.to_numpy(), rtol=1e-12)
    ours = bs.aggregate(ADATA, ["donor", "cluster"], "condition")
    np.testing.assert_allclose(ours.values, means.to_numpy(), rtol=1e-12)
    assert ours.obs["n_aggregated"].tolist() == FRAME.groupby([OBS["donor"], OBS["cluster"]]).size().tolist()


def test_missing_values(folder, tmp_path):
    gaps = FRAME.copy()
    gaps.iloc[3, 2] = gaps.iloc[9, 2] = np.nan
    gaps.join(OBS[["donor", "condition"]]).rename_axis("cell").to_csv(tmp_path / "gaps.csv")
    with pytest.raises(bs.MissingValueError, match=r"missing value\(s\) in 1 of 40 features"):
        bs.read_table(tmp_path / "gaps.csv", labels="condition", aggregate="donor")
    table = bs.read_table(tmp_path / "gaps.csv", labels="condition", aggregate="donor", missing="omit")
    wanted = gaps.groupby(OBS["donor"]).mean()
    ours = bs.aggregate(gaps, OBS["donor"], OBS["condition"], missing="omit")
    np.testing.assert_allclose(ours.values, wanted.to_numpy(), rtol=1e-12)
    np.testing.assert_allclose(
        bs.screen(table, shuffles=0).log_odds, bs.screen(ours, "condition", shuffles=0).log_odds, rtol=1e-9
    )
    assert np.isnan(bs.aggregate(gaps, OBS["donor"]).values).sum() in (1, 2)
    alone = sp.csr_matrix(gaps.to_numpy())
    np.testing.assert_allclose(bs.aggregate(alone, OBS["donor"], missing="omit").values, wanted.to_numpy())


def test_tables_of_python():
    frame = bs.aggregate(FRAME, {"who": OBS["donor"].to_numpy()}, OBS["condition"], how="sum")
    assert frame.feature_names == tuple(GENES)
    assert frame.sample_names == tuple(SUMS.index)
    np.testing.assert_array_equal(frame.values, SUMS.to_numpy())
    assert frame.column("who").tolist() == SUMS.index.tolist()
    assert frame.column("condition").tolist() == CLASSES.tolist()
    shuffled = np.random.default_rng(1).permutation(100)
    again = bs.aggregate(FRAME, OBS["donor"].iloc[shuffled], OBS["condition"].iloc[shuffled], how="sum")
    np.testing.assert_array_equal(again.values, frame.values)
    array = bs.aggregate(COUNTS, OBS["donor"].tolist(), OBS["condition"].tolist())
    assert array.feature_names[:2] == ("x0", "x1")
    model = bs.NegativeBinomialModel()
    layered = ADATA.copy()
    layered.layers["counts"], layered.X = layered.X.copy(), np.log1p(COUNTS)
    donors = bs.aggregate(layered, "donor", "condition", how="sum", layer="counts")
    np.testing.assert_allclose(
        bs.screen(donors, "condition", model=model, exposures="total", shuffles=0).log_odds,
        bs.screen(SUMS, CLASSES, model=model, exposures=bs.size_factors(SUMS), shuffles=0).log_odds,
        rtol=1e-9,
    )
    for X, by, y, options, words in (
        (ADATA, "donr", "condition", {}, "Did you mean 'donor'"),
        (COUNTS, DONOR[:5], None, {}, "by holds 5 values for 100 samples"),
        (ADATA, "donor", "donor", {}, "two things"),
        (ADATA, [], "condition", {}, "names no column"),
        (ADATA, "donor", "condition", {"how": "median"}, "how"),
        (ADATA, "donor", "condition", {"how": "sum", "missing": "omit"}, "does not go with"),
    ):
        with pytest.raises(bs.BayesieveError, match=words):
            bs.aggregate(X, by, y, **options)


def test_what_does_not_go_together(folder):
    h5ad = SOURCES[0]
    with pytest.raises(bs.LabelError, match=r"differ in blocks: '(T|B)' and '(T|B)'.*add its column to aggregate"):
        read(folder, h5ad, labels="condition", aggregate="donor", blocks="cluster")
    with pytest.raises(bs.OptionError, match="takes the names of one to 3 different columns"):
        read(folder, h5ad, labels="condition", aggregate="donor,donor")
    with pytest.raises(bs.LabelError, match="no obs column 'doner'"):
        read(folder, h5ad, labels="condition", aggregate="doner")
    with pytest.raises(bs.OptionError, match="both name 'condition'"):
        read(folder, h5ad, labels="condition", aggregate="condition")
    with pytest.raises(bs.OptionError, match="CategoricalModel takes neither"):
        read(folder, h5ad, labels="condition", aggregate="donor", model=bs.CategoricalModel())
    with pytest.raises(bs.LabelError, match="nothing to put together"):
        read(folder, ("genes.csv", "pheno.csv:{}"), labels="condition", aggregate="depth")


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source[0])
def test_a_loud_question(folder, source):
    """Where cells count as replicates although a column says that they are those of few donors."""
    with pytest.warns(bs.DataWarning, match=r"100 samples come from 8 values of .*donor'.*aggregate='.*donor'\.$"):
        read(folder, source, labels="condition")
    with pytest.warns(bs.DataWarning, match=r"aggregate='.*donor' with pairs='.*donor'\.$"):
        read(folder, source, labels="half")


@pytest.mark.filterwarnings("ignore:The values are whole numbers")
def test_a_loud_question_about_an_object():
    with pytest.warns(
        bs.DataWarning, match=r"100 samples come from 8 .*bs\.aggregate\(adata, 'donor', 'condition'\)"
    ):
        bs.screen(ADATA, "condition", shuffles=0)
    bs.screen(bs.aggregate(ADATA, "donor", "condition"), "condition", shuffles=0)  # and no warning
    bs.screen(ADATA[~OBS["donor"].duplicated().to_numpy()], "condition", shuffles=0)


@pytest.mark.parametrize(
    "name", ["donor", "Donor ID", "donor_id", "patient", "PatientNumber", "subject.id", "mouse", "sample_id",
             "orig.ident", "individual", "mouse_no", "human donor"],
)  # fmt: skip
def test_names_of_donors(name):
    assert looks_like_donor(name)


@pytest.mark.parametrize(
    "name", ["donor_age", "patient age", "condition", "sample", "batch", "Mousey", "inpatient", "TP53", "rate"]
)
def test_names_of_something_else(name):
    assert not looks_like_donor(name)


def test_donors_without_a_class_effect_are_not_listed(folder, tmp_path, capfd, monkeypatch):
    """The honest check: cells from donors that differ, classes that do not."""
    with pytest.warns(bs.DataWarning) as said:
        cells = bs.screen(ADATA, "condition", shuffles=0)
    assert "donors" in [warning.message.message.kind for warning in said]
    assert len(bs.MinimalRisk(0.5).select(cells).names) >= 5
    options = ("--labels", "condition", "--aggregate", "donor", "-o", tmp_path / "o.csv")
    done = inside(capfd, monkeypatch, "screen", folder / "cells.h5ad", *options)
    assert done.code == 0
    assert "0 of 40 features selected" in done.said
    assert "put together by 'donor' and class to 8 samples" in done.said
