"""GEO SOFT families: one table per sample brought together, characteristics as labels."""

from __future__ import annotations

import numpy as np
import pytest
from made_files import PROBES, SIGNALS, soft_family, soft_sample

import bayesieve as bs


def means(table):
    return np.array([table.moments.mean[table.moments.classes.index(name)] for name in ("normal", "tumour")])


EXPECTED = np.array([SIGNALS[:5].mean(axis=0), SIGNALS[5:].mean(axis=0)])


@pytest.mark.parametrize("name", ["GSE1_family.soft.gz", "GSE1_family.soft", "GSE1.txt"])
def test_values_and_characteristics(tmp_path, name):
    table = bs.read_table(soft_family(tmp_path / name, *map(soft_sample, range(10))), labels="Tissue")
    assert table.feature_names == tuple(PROBES)
    assert table.sample_names == tuple(f"GSM{i}" for i in range(10))
    assert (table.record.form, table.record.samples_in) == ("GEO SOFT family", "columns")
    np.testing.assert_allclose(means(table), EXPECTED, rtol=1e-14)


def test_tables_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesieve.io.formats.soft._BLOCK", 50)
    table = bs.read_table(soft_family(tmp_path / "a.soft", *map(soft_sample, range(10))), labels="tissue")
    np.testing.assert_allclose(means(table), EXPECTED, rtol=1e-14)


def test_probes_in_another_order_and_absent_ones(tmp_path):
    turned = soft_sample(3, probes=PROBES[::-1], values=SIGNALS[3, ::-1])
    short = soft_sample(4, probes=PROBES[:-1], values=SIGNALS[4, :-1])
    path = soft_family(
        tmp_path / "a.soft", *map(soft_sample, range(3)), turned, short, *map(soft_sample, range(5, 10))
    )
    table = bs.read_table(path, labels="tissue", missing="omit")
    expected = EXPECTED.copy()
    expected[0, -1] = SIGNALS[:4, -1].mean()
    np.testing.assert_allclose(means(table), expected, rtol=1e-14)
    assert table.record.n_missing == 1
    nulls = soft_sample(4, values=["null", *SIGNALS[4, 1:]])
    path = soft_family(tmp_path / "b.soft", *map(soft_sample, range(4)), nulls, *map(soft_sample, range(5, 10)))
    assert bs.read_table(path, labels="tissue", missing="omit").record.n_missing == 1


def test_platforms_are_asked_about(tmp_path):
    path = soft_family(tmp_path / "a.soft", *(soft_sample(i, ["GPL96", "GPL97"][i % 2]) for i in range(10)))
    with pytest.raises(bs.OptionError, match=r"GPL96 \(5 samples\), GPL97 \(5 samples\).*modality='GPL96'"):
        bs.read_table(path, labels="tissue")
    table = bs.read_table(path, labels="tissue", modality="GPL97")
    np.testing.assert_allclose(means(table)[1], SIGNALS[5::2].mean(axis=0), rtol=1e-14)


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        (
            [soft_sample(i, header="ID_REF\tSIGNAL\tCALL") for i in range(4)],
            "4 samples but holds no values.*supplementary",
        ),
        ([], "without samples"),
        ([soft_sample(0, values=["high"] * 6)], "6 values of sample GSM0 are no numbers, for example 'high'"),
        ([soft_sample(0).partition("!sample_table_end")[0]], "cut short"),
    ],
)
def test_what_is_no_table(tmp_path, samples, words):
    with pytest.raises(bs.FileError, match=words):
        bs.read_table(soft_family(tmp_path / "a.soft", *samples), labels="tissue")


def test_labels_are_asked_for_with_levels_and_counts(tmp_path):
    path = soft_family(tmp_path / "a.soft", *map(soft_sample, range(10)))
    listed = r"'tissue' \(normal 5, tumour 5\), 'sex' \(f 5, m 5\)"
    with pytest.raises(bs.LabelError, match=f"was not said.*{listed}"):
        bs.read_table(path)
    with pytest.raises(bs.LabelError, match=f"no sample characteristic 'stage'.*{listed}"):
        bs.read_table(path, labels="stage")
