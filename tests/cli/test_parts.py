"""``bayesieve stats --part`` and ``merge``: array jobs give the statistics of the whole table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from commands import inside

import bayesieve as bs
from bayesieve.io import read_statistics
from bayesieve.io.formats.numpy_files import MatrixSamples
from bayesieve.io.tables.parts import Part

N, P, PARTS = 610, 12, 4
CLASSES = ["B", "NK", "T"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same cells in several formats, sorted by type, so that no part has all types."""
    rng = np.random.default_rng(2)
    y = np.sort(rng.choice(CLASSES, N))
    values = rng.poisson(1.5, size=(N, P)).astype(float)
    values[y == "B", :3] += 1.0
    made = tmp_path_factory.mktemp("cells")
    cells, genes = [f"c{i}" for i in range(N)], [f"g{j}" for j in range(P)]
    obs = pd.DataFrame({"type": y}, index=cells)
    for name, form in (("rows", sp.csr_matrix), ("columns", sp.csc_matrix)):
        anndata.AnnData(form(values), obs=obs, var=pd.DataFrame(index=genes)).write_h5ad(made / f"{name}.h5ad")
    frame = pd.DataFrame(values, columns=genes)
    frame.insert(0, "type", y)
    frame.insert(0, "id", cells)
    frame.to_csv(made / "cells.csv", index=False)
    frame.to_parquet(made / "cells.parquet")
    frame[["id", "type"]].to_csv(made / "types.csv", index=False)
    frame.drop(columns="type").set_index("id").T.rename_axis("gene").to_csv(made / "genes.csv")
    np.save(made / "values.npy", values)
    return made


@pytest.fixture
def bayesieve(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Any:
    """Run commands in the folder of the results."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: inside(capfd, monkeypatch, *arguments)


def write_parts(bayesieve: Any, table: Path, labels: str, *options: str, parts: int = PARTS) -> list[str]:
    """Do what an array of jobs does; return the files."""
    names = [f"{k}.stats.parquet" for k in range(1, parts + 1)]
    for k, name in enumerate(names, start=1):
        found = bayesieve("stats", str(table), "-l", labels, "--part", f"{k}/{parts}", "-o", name, *options)
        assert found.code == 0, found.err
    return names


@pytest.mark.filterwarnings("ignore::bayesieve.BayesieveWarning")
@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("rows.h5ad", "type"),
        ("columns.h5ad", "type"),
        ("cells.csv", "type"),
        ("cells.parquet", "type"),
        ("genes.csv", "types.csv:type"),
    ],
)
def test_merged_parts_are_the_whole(name: str, labels: str, folder: Path, bayesieve: Any) -> None:
    labels = labels.replace("types.csv", str(folder / "types.csv"))
    files = write_parts(bayesieve, folder / name, labels, "--transform", "log1p", "--site", "atlas")
    assert bayesieve("merge", *files, "-o", "whole.stats.parquet").code == 0
    assert bayesieve("merge", *reversed(files), "-o", "again.stats.parquet").code == 0
    assert Path("whole.stats.parquet").read_bytes() == Path("again.stats.parquet").read_bytes()
    found = read_statistics("whole.stats.parquet").pooled()
    values, y = np.log1p(np.load(folder / "values.npy")), pd.read_csv(folder / "types.csv")["type"]
    assert found.classes == tuple(CLASSES)
    for k, label in enumerate(CLASSES):
        own = values[y == label]
        assert found.counts[k, 0] == len(own)
        np.testing.assert_allclose(found.mean[k], own.mean(axis=0), rtol=1e-13)
        np.testing.assert_allclose(found.centred_squares[k], own.var(axis=0) * len(own), rtol=1e-12)
        np.testing.assert_allclose(
            found.centred_fourths[k], ((own - own.mean(axis=0)) ** 4).sum(axis=0), rtol=1e-12
        )
    whole = bs.read_table(folder / name, labels=labels, transform="log1p")
    screens = [bs.screen(each, shuffles=0).log_odds for each in (found, whole)]
    np.testing.assert_allclose(*screens, rtol=1e-12, atol=1e-12)


def test_a_part_reads_its_own_rows_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    plain = Part.of_table

    def watched(part: Part, table: Any) -> Any:
        assert isinstance(table, MatrixSamples)
        read = table.read
        table.read = lambda rows, features: (asked.append((rows.start, rows.stop)), read(rows, features))[1]
        return plain(part, table)

    monkeypatch.setattr(Part, "of_table", watched)
    found = bs.read_table(folder / "rows.h5ad", labels="type", part="2/4")
    assert sum(found.class_counts.values()) == 305 - 152
    assert (min(lo for lo, _ in asked), max(hi for _, hi in asked)) == (152, 305)


@pytest.mark.parametrize(("n", "of"), [(1, 1), (7, 3), (100, 100), (101, 7), (5, 4)])
def test_every_sample_is_in_one_part(n: int, of: int) -> None:
    bounds = [Part(k, of).bounds(n, "x") for k in range(1, of + 1)]
    assert [i for lo, hi in bounds for i in range(lo, hi)] == list(range(n))
    sizes = [hi - lo for lo, hi in bounds]
    assert max(sizes) - min(sizes) <= 1


def test_small_cells_are_held_back_in_the_whole(folder: Path, bayesieve: Any) -> None:
    rng = np.random.default_rng(0)
    for rare in (6, 4):  # spread over three parts, each of which has less than five
        y = ["a"] * 30
        for k in range(rare):
            y[5 * k] = "b"
        rows = [f"s{i},{label},{rng.normal():.3f},{rng.normal():.3f}" for i, label in enumerate(y)]
        Path("t.csv").write_text("\n".join(["id,y,g0,g1", *rows]))
        files = write_parts(bayesieve, Path("t.csv"), "y", parts=3)
        found = bayesieve("merge", *files, "-o", "whole.stats.parquet")
        if rare == 6:
            assert found.code == 0
            site = read_statistics("whole.stats.parquet").sites[0]
            assert (site.min_cell, site.part, site.moments.has_shape) == (5, None, True)
        else:
            assert found.code == 2
            assert "fewer than 5 values in some class" in found.said


def test_what_cannot_be_merged_is_named(folder: Path, bayesieve: Any) -> None:
    table = folder / "rows.h5ad"
    files = write_parts(bayesieve, table, "type")

    def refused(*arguments: str) -> str:
        found = bayesieve(*arguments)
        assert found.code == 2
        assert "Traceback" not in found.err
        return str(found.said)

    out = ("-o", "whole.stats.parquet")
    assert "2 of the 4 parts of 'rows' are not among the files: 2/4, 4/4" in refused(
        "merge", files[0], files[2], *out
    )
    Path("copy.stats.parquet").write_bytes(Path(files[1]).read_bytes())
    assert "more than once: 2/4" in refused("merge", *files, "copy.stats.parquet", *out)
    assert "holds part 1 of 4 of rows" in refused("screen", files[0])
    bayesieve(
        "stats", str(table), "-l", "type", "--part", "4/4", "--transform", "log1p", "-o", "copy.stats.parquet"
    )
    assert "differ in their transform" in refused("merge", *files[:3], "copy.stats.parquet", *out)
    bayesieve("stats", str(table), "-l", "type", "--part", "1/2", "-o", "copy.stats.parquet")
    assert "was cut into 2 and 4 parts" in refused("merge", *files, "copy.stats.parquet", *out)
    for wrong in ("0/4", "5/4", "4", "a/b", "1/0", "-1/4"):
        assert "takes the number of the part" in refused(
            "stats", str(table), "-l", "type", f"--part={wrong}", *out
        )
    assert "holds 610 samples, too few for 1,000 parts" in refused(
        "stats", str(table), "-l", "type", "--part", "3/1000", *out
    )
    assert "--covariates looks at the levels of all samples" in refused(
        "stats", str(table), "-l", "type", "--covariates", "age", "--part", "1/4", *out
    )
    assert not Path("whole.stats.parquet").exists()
