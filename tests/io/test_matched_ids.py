"""Sample ids that the table and its label file write differently."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bayesieve as bs
from bayesieve.io.tables.matching import find_match

RNG = np.random.default_rng(5)
N = 12
VALUES = RNG.normal(5, 1, size=(N, 4)).round(3)
LABELS = ["ctl"] * 6 + ["case"] * 6
GENES = [f"g{j}" for j in range(4)]


def write(folder, table_ids, file_ids, across):
    (folder / "ph.csv").write_text(
        "id,grp\n" + "".join(f"{a},{b}\n" for a, b in zip(file_ids, LABELS, strict=True)), encoding="utf-8"
    )
    grid = [["id", *GENES]] + [[s, *map(str, v)] for s, v in zip(table_ids, VALUES.tolist(), strict=True)]
    grid = [list(row) for row in zip(*grid, strict=True)] if across else grid
    (folder / "t.tsv").write_text("\n".join("\t".join(row) for row in grid) + "\n", encoding="utf-8")
    return folder / "t.tsv", f"{folder / 'ph.csv'}:grp"


def numbered(form):
    return [form.format(i) for i in range(1, N + 1)]


CASES = {
    "CEL files": (numbered("GSM{}.CEL.gz"), numbered("GSM{}"), "the ending '.CEL.gz'"),
    "CEL files of GEO": (
        [f"GSM{i}_{'ab'[i % 2]}{i * 7}.CEL.gz" for i in range(1, N + 1)],
        numbered("GSM{}"),
        "endings",
    ),
    "the other way round": (numbered("GSM{}"), numbered("gsm{}"), "case"),
    "points of R": (numbered("TCGA.AB.{}"), numbered("TCGA-AB-{}"), "signs"),
    "X of R": (numbered("X{}.a"), numbered("{}-a"), "X that R puts"),
    "plain X of R": (numbered("X{}"), numbered("{}"), "X that R puts"),
    "spaces": (numbered("Patient  {} "), numbered("patient {}"), "case of letters or spaces"),
    "zeros": (numbered("P{}"), [f"P{i:03}" for i in range(1, N + 1)], "leading zeros"),
    "zeros of numbers": (numbered("{}"), [f"{i:04}" for i in range(1, N + 1)], "leading zeros"),
    "paths": (numbered("/data/run 7/S{}.sorted.bam"), numbered("S{}"), "the beginning '/data/run 7/'"),
    "files in the sheet": (numbered("GSM{}"), numbered("GSM{}.CEL.gz"), "the ending '.CEL.gz'"),
    "paths in the sheet": (numbered("S{}"), numbered("/data/S{}.bam"), "the beginning '/data/'"),
    "barcodes in the sheet": (
        numbered("TCGA.AB.{}"),
        [f"TCGA-AB-{i}-{i % 3}1A-{i * 7}R" for i in range(1, N + 1)],
        "endings",
    ),
    "signs and ending": (numbered("TCGA.AB.{}_counts"), numbered("tcga-ab-{}"), "ending"),
}


@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("case", CASES)
def test_ids_that_differ_in_one_way_are_matched_and_said(tmp_path, case, across):
    table_ids, file_ids, words = CASES[case]
    path, labels = write(tmp_path, table_ids, file_ids, across)
    table = bs.read_table(path, labels=labels)
    assert table.class_counts == {"case": 6, "ctl": 6}
    np.testing.assert_allclose(table.moments.mean[1], VALUES[:6].mean(axis=0), rtol=1e-12)
    said = [str(message) for message in table.record.messages() if message.kind == "matched-ids"]
    assert len(said) == 1
    assert f"{N} samples are known to {tmp_path / 'ph.csv'} by ids that differ in" in said[0]
    assert words in said[0]
    assert repr(table_ids[0].strip()) in said[0]
    hidden = [message.render(ids=False) for message in table.record.messages() if message.kind == "matched-ids"]
    assert repr(table_ids[0]) not in hidden[0]


@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
def test_a_few_that_differ_are_matched_beside_those_that_do_not(tmp_path, across):
    table_ids = numbered("S{}")
    table_ids[3:6] = [name.lower() for name in table_ids[3:6]]
    path, labels = write(tmp_path, table_ids, numbered("S{}"), across)
    table = bs.read_table(path, labels=labels)
    assert table.class_counts == {"case": 6, "ctl": 6}
    assert "3 samples are known" in " ".join(map(str, table.record.messages()))


@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
def test_what_is_not_one_to_one_is_not_matched(tmp_path, across):
    """Tumour and normal tissue of six patients, and a file with the patients."""
    table_ids = [f"TCGA-{i}-{k}" for k in ("01A", "11A") for i in range(1, 7)]
    path, labels = write(tmp_path, table_ids, [f"TCGA-{i}" for i in range(1, 7)] + numbered("x{}")[:6], across)
    wanted = (
        r"t\.tsv: samples could be found in .*ph\.csv if endings were left aside, but then several samples of "
        r"the table would be one: 'TCGA-1' there would be 'TCGA-1-01A' and 'TCGA-1-11A', and so for 5 ids more\."
    )
    with pytest.raises(bs.LabelError, match=wanted) as caught:
        bs.read_table(path, labels=labels)
    assert "TCGA-1" not in caught.value.message.render(ids=False)


def test_a_sample_that_could_be_several_of_the_file(tmp_path):
    file_ids = [f"TCGA-{i}-{k}" for i in range(1, 7) for k in ("01A", "11A")]
    path, labels = write(tmp_path, numbered("TCGA-{}"), file_ids, across=True)
    with pytest.raises(
        bs.LabelError, match=r"'TCGA-1' could be 'TCGA-1-01A' and 'TCGA-1-11A', and so for 5 samples"
    ):
        bs.read_table(path, labels=labels)


def test_a_single_sample_that_could_be_another_one_is_enough_to_ask(tmp_path):
    table_ids = [*(f"TCGA-{i}-01A" for i in range(1, N)), "TCGA-3-11A"]
    path, labels = write(tmp_path, table_ids, numbered("TCGA-{}"), across=True)
    with pytest.raises(bs.LabelError, match=r"'TCGA-3' there would be 'TCGA-3-01A' and 'TCGA-3-11A'\."):
        bs.read_table(path, labels=labels)


def test_two_rows_that_become_one_sample_are_refused(tmp_path):
    """The second of them stands too far down to be seen when the table is opened."""
    ids = [f"S{i}" for i in range(9000)]
    lines = [f"{name.lower()},{i % 7}.5" for i, name in enumerate(ids)]
    (tmp_path / "t.csv").write_text("\n".join(["id,g", *lines, "s5 ,1.0"]) + "\n")
    (tmp_path / "ph.csv").write_text("id,y\n" + "".join(f"{name},{i % 2}\n" for i, name in enumerate(ids)))
    with pytest.raises(bs.BayesieveError, match=r"two samples are the same one|must be distinct"):
        bs.read_table(tmp_path / "t.csv", labels=f"{tmp_path / 'ph.csv'}:y")


def test_blocks_of_another_file_are_matched_too(tmp_path):
    path, labels = write(tmp_path, numbered("S{}"), numbered("S{}"), across=False)
    (tmp_path / "b.csv").write_text("id,batch\n" + "".join(f"s{i},{i % 2}\n" for i in range(1, N + 1)))
    table = bs.read_table(path, labels=labels, blocks=f"{tmp_path / 'b.csv'}:batch")
    assert list(table.blocked) == ["0", "1"]
    assert "b.csv by ids that differ in the case" in " ".join(map(str, table.record.messages()))


NAME = st.text("aAbB01.-_ xX", min_size=1, max_size=5)


@given(st.lists(NAME, max_size=8), st.lists(NAME, max_size=8))
def test_a_match_is_one_to_one_whatever_the_ids(mine, theirs):
    match = find_match(mine, theirs)
    if match is not None:
        assert len(match.pairs) >= 1
        assert len(set(match.pairs.values())) == len(match.pairs)
        assert set(match.pairs.values()) <= set(theirs)
        assert set(match.pairs) <= set(mine)
        assert all(match.key(name) == key for name, key in match.pairs.items())
