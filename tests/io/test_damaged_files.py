"""Files of all formats, cut short and garbled: they are read, or refused in one paragraph."""

from __future__ import annotations

import faulthandler
import shutil
import sys
import warnings

import made_files as made
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings, strategies as st
from made_xlsb import write_xlsb

import bayesieve as bs

ROWS = [["id", "grp", "a", "b"], *([f"s{i}", "xy"[i % 2], i * 1.5, i * i] for i in range(12))]
HUGE = (10**12).to_bytes(8, "little")
NUMBERS = [b"999999999999", b"-1", b"nan", b"", b"1e400", b"inf", b"0"]


@pytest.fixture(autouse=True)
def watchdog():
    """A hang in compiled code cannot be interrupted; it ends the process with a traceback."""
    faulthandler.dump_traceback_later(240, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


def write(folder, kind):  # noqa: PLR0911 - one for each format
    """Write a file; return it and its labels."""
    labels = folder / "labels.csv"
    labels.write_text("id,y\n" + "".join(f"{cell},{'ab'[i % 2]}\n" for i, cell in enumerate(made.BARCODES)))
    if kind in ("10x folder", "packed 10x folder"):
        return made.tenx_folder(folder / "t", packed=kind.startswith("packed")), f"{labels}:y"
    if kind == "10x file":
        return made.tenx_file(folder / "t.h5"), f"{labels}:y"
    if kind == "soft":
        return made.soft_family(folder / "t_family.soft", *map(made.soft_sample, range(10))), "tissue"
    if kind == "xlsx":
        return made.workbook(folder / "t.xlsx", data=ROWS), "grp"
    if kind == "xlsb":
        write_xlsb(folder / "t.xlsb", {"data": ROWS})
        return folder / "t.xlsb", "grp"
    if kind == "ods":
        return made.ods(folder / "t.ods", ROWS), "grp"
    if kind == "loom":
        return made.loom(folder / "t.loom"), "state"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "zarr":
            made.annotated().write_zarr(folder / "t.zarr")
            return folder / "t.zarr", "state"
        mudata = pytest.importorskip("mudata")
        mudata.MuData({"rna": made.annotated()}).write(folder / "t.h5mu")
    return folder / "t.h5mu", "state"


@st.composite
def damaged(draw, content):
    """Cut, overwrite, drop, repeat, or change a number."""
    at = draw(st.integers(0, len(content)))
    how = draw(st.sampled_from(["cut", "bytes", "huge", "drop", "repeat", "number"]))
    if how == "cut":
        return content[:at]
    if how == "bytes":
        new = draw(st.binary(min_size=1, max_size=8))
        return content[:at] + new + content[at + len(new) :]
    if how == "huge":
        return content[:at] + draw(st.sampled_from([HUGE, b"\xff" * 8, b"\0" * 8])) + content[at + 8 :]
    if how == "drop":
        return content[:at] + content[at + draw(st.integers(1, 50)) :]
    if how == "repeat":
        return content[:at] + content[at // 2 :]
    digits = [k for k, byte in enumerate(content) if 48 <= byte <= 57] or [0]
    k = digits[at % len(digits)]
    return content[:k] + draw(st.sampled_from(NUMBERS)) + content[k + 1 :]


# Text and archives are read in a few milliseconds; a file of HDF5 is looked through in another process first.
KINDS = {
    "10x folder": 40, "packed 10x folder": 10, "soft": 25, "xlsx": 10, "xlsb": 10, "ods": 10, "zarr": 8,
    "10x file": 2, "loom": 2, "h5mu": 2,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_told_in_one_paragraph(tmp_path_factory, kind):
    folder = tmp_path_factory.mktemp("damaged")
    path, labels = write(folder, kind)
    assert len(bs.read_table(path, labels=labels).class_counts) == 2
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    whole = {file: file.read_bytes() for file in files}

    @settings(max_examples=KINDS[kind], deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def look(data):
        file = data.draw(st.sampled_from(files))
        file.write_bytes(data.draw(damaged(whole[file])))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bs.read_table(path, labels=labels)
        except bs.BayesieveError as error:
            assert "\n" not in str(error)  # noqa: PT017 - it may be read as well
        finally:
            file.write_bytes(whole[file])

    look()
    shutil.rmtree(folder)


HEAD = "%%MatrixMarket matrix coordinate {} general\n%\n{}\n1 1 1\n2 2 2\n"


@pytest.mark.parametrize("sizes", ["3 3 1000000000000", "1000000000000 1000000000000 2", "3 3 -5", "3 3"])
@pytest.mark.parametrize("kind", ["integer", "real"])
def test_a_header_that_promises_too_much_is_refused(tmp_path, kind, sizes):
    (tmp_path / "t.mtx").write_text(HEAD.format(kind, sizes))
    (tmp_path / "labels.csv").write_text("id,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(3)))
    with pytest.raises(bs.BayesieveError):
        bs.read_table(tmp_path / "t.mtx", labels=f"{tmp_path}/labels.csv:y", samples_in="rows")


def test_zero_bytes_in_a_matrix_are_told(tmp_path):
    path = made.tenx_folder(tmp_path / "t", packed=False)
    matrix = path / "matrix.mtx"
    matrix.write_bytes(matrix.read_bytes().replace(b"\n", b"\0\n", 20))
    with pytest.raises(bs.FileError, match="zero bytes"):
        bs.read_table(path, labels="x")


def test_a_cell_far_from_the_table_is_told(tmp_path):
    with xlsxwriter.Workbook(str(tmp_path / "far.xlsx")) as book:
        sheet = book.add_worksheet("data")
        for i, row in enumerate(ROWS):
            sheet.write_row(i, 0, row)
        sheet.write(1_048_575, 16_383, "x")
    with pytest.raises(bs.FileError, match=r"stretches to cell XFD1048576.*Delete the rows and columns"):
        bs.read_table(tmp_path / "far.xlsx", labels="grp")
