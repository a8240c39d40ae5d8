"""Binary Excel workbooks, written after their public description."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from made_xlsb import write_xlsb

import bayesieve as bs

VALUES = np.random.default_rng(4).normal(8.0, 1.0, size=(16, 4))
LABELS = ["ctl"] * 8 + ["case"] * 8
GENES = ["TP53", "a gene with a rather long name", "µ-opioid", "COUNT"]


@pytest.fixture
def book(tmp_path):
    rows = [["sample", "grp", *GENES]]
    rows += [[f"s{i}", LABELS[i], *VALUES[i, :3].tolist(), 40 + i * i] for i in range(16)]
    rows[3][2], rows[5][3] = None, "#N/A"
    sheet = [["sample", "sex"], *([f"s{i}", "mf"[i % 2]] for i in range(16))]
    write_xlsb(tmp_path / "t.xlsb", {"About": [["written by hand"]], "Data": rows, "Samples": sheet})
    return tmp_path / "t.xlsb"


def test_a_binary_workbook_is_read_exactly(book):
    table = bs.read_table(book, labels="grp", missing="omit")
    assert table.feature_names == tuple(GENES)
    assert table.class_counts == {"case": 8, "ctl": 8}
    assert table.missing.total == 2
    assert "Excel, sheet 'Data'" in str(table.record.messages()[0])
    wanted = np.column_stack([VALUES[:, :3], [40 + i * i for i in range(16)]])
    wanted[2, 0] = wanted[4, 1] = np.nan
    np.testing.assert_allclose(table.moments.mean[1], np.nanmean(wanted[:8], axis=0), rtol=1e-14)


def test_labels_and_sheets_by_name(book):
    table = bs.read_table(f"{book}:Data", labels=f"{book}:Samples:sex", missing="omit")
    assert table.class_counts == {"f": 8, "m": 8}
    with pytest.raises(bs.OptionError, match=r"no sheet 'data2'.*'About', 'Data', 'Samples'"):
        bs.read_table(f"{book}:data2", labels="grp")


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_one_that_is_cut_short_is_refused(book, share):
    data = book.read_bytes()
    book.write_bytes(data[: int(share * len(data))])
    with pytest.raises(bs.FileError, match="damaged or cut short"):
        bs.read_table(book, labels="grp")


def test_a_part_whose_checksum_does_not_match_is_refused(book, tmp_path):
    """What calamine makes of damaged records may end the process: it does not get to see them."""
    with zipfile.ZipFile(book) as archive:
        part = archive.getinfo("xl/worksheets/sheet1.bin")
    content = bytearray(book.read_bytes())
    central = content.rindex(b"PK\x01\x02", 0, content.rindex(b"xl/worksheets/sheet1.bin"))
    content[central + 16 : central + 20] = (part.CRC ^ 1).to_bytes(4, "little")
    (tmp_path / "damaged.xlsb").write_bytes(content)
    with pytest.raises(bs.FileError, match=r"damaged.*sheet1\.bin|sheet1\.bin.*damaged|CRC|checksum"):
        bs.read_table(tmp_path / "damaged.xlsb", labels="grp")
