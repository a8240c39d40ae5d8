"""Without labels, every format lists the columns that could hold them, with levels and counts."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest
from made_files import workbook

import bayesieve as bs

N = 40
IDS = [f"s{i}" for i in range(N)]
STAGE = ["early"] * 30 + ["late"] * 10
SITE = ["Oslo", "Bonn", "Graz", "Pisa"] * 10
CODE = [i % 2 for i in range(N)]
VALUES = np.random.default_rng(0).normal(size=(N, 3)).round(5)
HEADS = ["id", "stage", "site", "coded", "g0", "g1", "g2"]
ROWS = [
    [*first, *row] for first, row in zip(zip(IDS, STAGE, SITE, CODE, strict=True), VALUES.tolist(), strict=True)
]
LISTED = r"'stage' \(early 30, late 10\), 'site' \(Bonn 10, Graz 10, Oslo 10, Pisa 10\)"
CODED = rf"{LISTED}, 'coded' \(0 20, 1 20\)"


def series(path):
    def line(key, cells):
        return "\t".join([key, *(f'"{cell}"' for cell in cells)]) + "\n"

    rows = [line(f'"p{j}"', []).strip() + "\t" + "\t".join(map(str, VALUES[:, j])) + "\n" for j in range(3)]
    text = (
        line("!Series_title", ["x"])
        + line("!Sample_title", IDS)
        + line("!Sample_characteristics_ch1", [f"stage: {cell}" for cell in STAGE])
        + line("!Sample_characteristics_ch1", [f"site: {cell}" for cell in SITE])
        + "!series_matrix_table_begin\n"
        + line('"ID_REF"', IDS)
        + "".join(rows)
        + "!series_matrix_table_end\n"
    )
    path.write_bytes(gzip.compress(text.encode()))


def gct(path):
    rows = [["stage", "na", *STAGE], ["site", "na", *SITE]]
    rows += [[f"g{j}", "d", *map(str, VALUES[:, j])] for j in range(3)]
    lines = ["#1.3", f"3\t{N}\t1\t2", "\t".join(["id", "desc", *IDS]), *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


FORMATS = {
    "t.csv": (
        lambda path: path.write_text("\n".join(",".join(map(str, r)) for r in [HEADS, *ROWS]) + "\n"),
        CODED,
    ),
    "t.parquet": (lambda path: pl.DataFrame(ROWS, schema=HEADS, orient="row").write_parquet(path), CODED),
    "t.xlsx": (lambda path: workbook(path, data=[HEADS, *ROWS]), CODED),
    "t.npz": (lambda path: np.savez(path, X=VALUES, stage=STAGE, site=SITE, more=np.zeros(3)), LISTED),
    "t.gct": (gct, LISTED),
    "t_series_matrix.txt.gz": (series, LISTED),
}


@pytest.mark.parametrize("name", FORMATS)
def test_candidates_are_listed_with_levels_and_counts(tmp_path, name):
    write, listed = FORMATS[name]
    write(tmp_path / name)
    with pytest.raises(bs.LabelError, match=rf"was not said.*Columns that take several values: {listed}\.$"):
        bs.read_table(tmp_path / name)
    assert bs.read_table(tmp_path / name, labels="stage").class_counts == {"early": 30, "late": 10}


def test_the_question_comes_before_complaints_about_values(tmp_path):
    FORMATS["t.csv"][0](tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text().replace(f"{VALUES[7, 1]}", "n.d.")
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(bs.LabelError, match="was not said"):
        bs.read_table(tmp_path / "t.csv")


def test_all_samples_are_counted_and_many_levels_are_summed_up(tmp_path):
    lines = ["id,plate,arm,g0,g1"]
    lines += [f"s{i},p{i // 100},{'ab'[i >= 2500]},{i % 97 * 0.5},{i % 89 * 0.25}" for i in range(3000)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(bs.LabelError, match=r"values: 'arm' \(a 2,500, b 500\), 'plate' \(30 values\)\."):
        bs.read_table(tmp_path / "t.csv")


def test_a_table_of_counts_does_not_offer_its_features(tmp_path):
    counts = np.random.default_rng(1).poisson(0.5, size=(N, 30))
    lines = [",".join(["id", "stage", *(f"g{j}" for j in range(30))])]
    lines += [",".join([IDS[i], STAGE[i], *map(str, counts[i])]) for i in range(N)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(bs.LabelError, match=r"values: 'stage' \(early 30, late 10\)\.$"):
        bs.read_table(tmp_path / "t.csv")
