"""How often a file is opened, what is kept of it, and what is said about it."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesieve as bs
from bayesieve.io import read_table
from bayesieve.models import CategoricalModel, PoissonModel

N, P = 30, 9
RNG = np.random.default_rng(11)
VALUES = np.round(RNG.normal(5.0, 2.0, size=(N, P)), 3)
GENES = [f"g{j}" for j in range(P)]
FRAME = pd.DataFrame(
    {
        "id": [f"S{i}" for i in range(N)],
        "stage": ["early", "late"] * (N // 2),
        "batch": [f"b{i % 3}" for i in range(N)],
        "patient": [f"p{i // 2}" for i in range(N)],
        **{gene: VALUES[:, j] for j, gene in enumerate(GENES)},
    }
)


def csv_rows(folder, frame=FRAME):
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def csv_columns(folder, frame=FRAME):
    frame.set_index("id").T.to_csv(folder / "columns.csv", index_label="name")
    return folder / "columns.csv"


def parquet(folder, frame=FRAME):
    pl.DataFrame({name: frame[name].tolist() for name in frame}).write_parquet(folder / "a.parquet")
    return folder / "a.parquet"


def h5ad(folder, frame=FRAME):
    anndata = pytest.importorskip("anndata")
    obs = frame.drop(columns=["id", *GENES]).set_axis(frame["id"], axis=0)
    obs.index.name = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata.AnnData(frame[GENES].to_numpy(), obs=obs, var=pd.DataFrame(index=GENES)).write_h5ad(
            folder / "a.h5ad"
        )
    return folder / "a.h5ad"


FORMATS = [csv_rows, csv_columns, parquet, h5ad]


class Openings:
    """Counts how often Python, polars or h5py open one file."""

    def __init__(self, path, monkeypatch):
        self.path, self.n = Path(path), 0
        monkeypatch.setattr(Path, "open", self.counted(Path.open))
        monkeypatch.setattr("builtins.open", self.counted(open))
        for name in ("scan_parquet", "read_parquet", "read_parquet_metadata"):
            monkeypatch.setattr(pl, name, self.counted(getattr(pl, name)))
        if self.path.suffix == ".h5ad":
            h5py = pytest.importorskip("h5py")
            monkeypatch.setattr(h5py, "File", self.counted(h5py.File))

    def counted(self, opener):
        """Return an opener that counts."""

        def opening(path, *args, **options):
            if isinstance(path, (str, os.PathLike)) and Path(path) == self.path:
                self.n += 1
            return opener(path, *args, **options)

        return opening


@pytest.mark.parametrize("write", FORMATS)
@pytest.mark.parametrize("role", ["blocks", "pairs"])
def test_a_further_column_needs_no_further_opening(tmp_path, monkeypatch, write, role):
    column = {"blocks": "batch", "pairs": "patient"}[role]
    counts = []
    for options in ({}, {role: column}):
        frame = FRAME[["id", "stage", *options.values(), *GENES]]
        path = write(tmp_path, frame)
        with monkeypatch.context() as patch:
            seen = Openings(path, patch)
            found = read_table(path, labels="stage", **options)
            found.chunks.table.close()
            counts.append(seen.n)
        assert found.feature_names == tuple(GENES)
    walks = int(role == "pairs" and write is csv_rows)  # whole features: ids first, then values
    assert counts[1] == counts[0] + walks
    assert 0 < counts[0] <= 4


@pytest.mark.parametrize("write", FORMATS)
@pytest.mark.parametrize("options", [{}, {"blocks": "batch"}, {"pairs": "patient"}, {"transform": "rank-normal"}])
def test_values_that_are_kept_are_those_of_a_second_reading(tmp_path, write, options):
    further = [name for name in options.values() if name in FRAME]
    path = write(tmp_path, FRAME[["id", "stage", *further, *GENES]])
    again = read_table(path, labels="stage", keep_values=False, **options)
    kept = read_table(path, labels="stage", **options)
    assert again.kept is None
    assert kept.kept is not None
    for which in (np.arange(P), np.array([2, 5])):
        for one, two in zip(kept.blocks(which), again.blocks(which), strict=True):
            assert one.first == two.first
            np.testing.assert_array_equal(one.codes, two.codes)
            np.testing.assert_array_equal(one.values, two.values)
    again.chunks.table.close()
    kept.chunks.table.close()


def test_kept_values_need_no_file_and_fit_the_memory(tmp_path):
    path = csv_rows(tmp_path, FRAME.drop(columns=["batch", "patient"]))
    kept = read_table(path, labels="stage", keep_values=True)
    small = read_table(path, labels="stage", keep_values=True, memory=VALUES.nbytes)  # half of it is for values
    path.unlink()
    (block,) = kept.blocks(np.arange(P))
    np.testing.assert_array_equal(block.values, VALUES)
    assert small.kept is None
    with pytest.raises(bs.FileError):
        list(small.blocks(np.arange(P)))


def test_the_record_says_what_was_read(tmp_path):
    frame = FRAME.assign(stage=["early", "late", "other", None] + ["early", "late"] * (N // 2 - 2), note="x")
    frame = frame.drop(columns="patient")
    frame.loc[4, "g1"] = np.nan
    pheno = frame[["id", "stage"]].drop(index=5)
    pd.concat([pheno, pd.DataFrame({"id": ["X1", "X2"], "stage": "late"})]).to_csv(
        tmp_path / "ph.csv", index=False
    )
    path = csv_rows(tmp_path, frame.drop(columns="stage"))
    labels = f"{tmp_path / 'ph.csv'}:stage"
    found = read_table(path, labels=labels, classes="early; late", blocks="batch", missing="omit")
    record = found.record
    assert (record.samples_in, record.form, record.transform) == ("rows", "CSV", "none")
    assert (record.n_samples, record.n_features, record.n_missing) == (N - 3, P, 1)
    assert record.unmatched == ("X1", "X2")
    groups = {(group.n, group.what): (group.sample_ids, group.names) for group in record.left_out}
    assert len(record.left_out) == 4  # without a label, of another class, not in the label file, a column of text
    assert [(group.n, group.what) for group in record.left_out] == [
        (1, "sample"), (1, "sample"), (1, "sample"), (1, "column"),
    ]  # fmt: skip
    assert record.left_out[2].sample_ids == ("S5",)
    assert groups[1, "column"] == ((), ("note",))
    whole = [message.render() for message in record.messages()]
    discreet = [message.render(ids=False) for message in record.messages()]
    assert len(whole) == len(discreet) == 4
    for name in ("S5", "X1", "note"):
        assert any(name in text for text in whole)
        assert not any(name in text for text in discreet)
    assert all("()" not in text and "( " not in text and ": ;" not in text for text in discreet)


MISTAKES = {
    "missing values": ("id,y,g\na,x,1\nb,z,\n", {"labels": "y"}),
    "no labels": ("id,y,g\na,x,1\nb,z,2\n", {}),
    "text": ("id,y,g\na,x,1\nb,z,oops\nc,z,1\n", {"labels": "y"}),
    "decimal comma": ("id;y;g;h\na;x;1,500;2\nb;z;2,500;3\n", {"labels": "y"}),
    "ragged": ("id,y,g\na,x,1\nb,z\nc,x,1\n", {"labels": "y"}),
    "one column": ("id\na\nb\n", {"labels": "y"}),
    "infinite": ("id,y,g\na,x,1\nb,z,inf\n", {"labels": "y"}),
    "no numbers": ("id,y,g\na,x,u\nb,z,v\n", {"labels": "y"}),
    "classes": ("id,y,g\na,x,1\nb,z,2\n", {"labels": "y", "classes": "x; w"}),
    "both": ("id,y,g\na,x,1\nb,z,2\n", {"labels": "y", "blocks": "y"}),
    "contradiction": ("id,y,g\na,x,1\nb,z,2\n", {"labels": "y", "samples_in": "columns"}),
    "pairs": ("id,y,p,g\na,x,1,1\nb,z,1,2\n", {"labels": "y", "pairs": "p", "model": PoissonModel()}),
    "exposures": ("id,y,p,g\na,x,1,1\nb,z,1,2\n", {"labels": "y", "exposures": "p"}),
    "categories": ("id,y,g\na,x,1\nb,z,2\n", {"labels": "y", "model": CategoricalModel(), "transform": "log2"}),
    "total": ("id,y,g\na,x,1\nb,z,0\n", {"labels": "y", "exposures": "total", "model": PoissonModel()}),
    "encoding": ("id,y,g\na,\xe9,1\nb,z,2\n", {"labels": "y"}),
    "three classes": ("id,y,p,g\na,x,1,1\nb,z,1,2\nc,w,1,2\n", {"labels": "y", "pairs": "p"}),
    "row": ("name,a,b\ny,x,z\ng,1,2\n", {"labels": "y", "blocks": "batch"}),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_advice_is_in_the_words_of_the_one_who_reads_it(tmp_path, mistake):
    text, options = MISTAKES[mistake]
    (tmp_path / "t.csv").write_text(text, encoding="latin-1")
    with pytest.raises(bs.BayesieveError) as caught:
        read_table(tmp_path / "t.csv", **options)
    message = caught.value.message
    assert str(caught.value) == message.render()
    assert not re.search(r"(^|[ (])--[a-z]", message.render())
    assert re.search(r"(^|[ (])--[a-z]", message.render(command=True))
    for name in (
        "missing=",
        "labels=",
        "na_values=",
        "ignore=",
        "samples_in=",
        "id_column=",
        "encoding=",
        "blocks=",
    ):
        assert name not in message.render(command=True)
