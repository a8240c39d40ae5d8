"""Other people's machines, as far as they can be had here: paths, consoles, encodings, read-only places."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesieve
from bayesieve.io.tables.columns import split_reference
from bayesieve.screening.spec_text import _file_and_column

PACKAGE = Path(bayesieve.__file__).parent


@pytest.mark.parametrize(
    ("reference", "file", "column"),
    [
        (r"C:\My Data\pheno.csv:stage", r"C:\My Data\pheno.csv", "stage"),
        (r"C:\My Data\pheno.csv", r"C:\My Data\pheno.csv", None),
        ("d:/trial/pheno.csv:a:b", "d:/trial/pheno.csv", "a:b"),
        (r"C:\book.xlsx:Sheet2:stage", r"C:\book.xlsx", "Sheet2:stage"),
        (r"\\server\share\pheno.csv:stage", r"\\server\share\pheno.csv", "stage"),
        ("c:stage", "c", "stage"),
    ],
)
def test_the_colon_of_a_drive_ends_no_file_name(reference, file, column):
    assert split_reference(reference) == (file, column)
    if column is None or ":" not in column:
        assert _file_and_column(reference) == (file, column or "")


CLI = "from bayesieve.cli import command; command()"


def run(*words: str, folder: Path, code: str = CLI, **variables: str) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    settled = {"PYTHONPATH": str(PACKAGE.parent), "COLUMNS": "80"} | variables
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder, env=kept | settled, capture_output=True, check=False, timeout=300,
    )  # fmt: skip


def write_table(folder: Path, *, marker: str = "größe µ", classes: tuple[str, str] = ("früh", "spät")) -> Path:
    rng = np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "table.csv"
    rows = [["sample", "class", marker, *(f"x{j}" for j in range(30))]]
    for i in range(24):
        values = rng.normal(size=31)
        values[0] += 4.0 * (i % 2)
        rows.append([f"S{i}", classes[i % 2], *(f"{value:.4f}" for value in values)])
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("encoding", "shown"), [("cp1252", "größe µ".encode("cp1252")), ("ascii", b"gr\\xf6\\xdfe \\xb5")]
)
def test_consoles_without_utf_8(tmp_path, encoding, shown):
    """Letters that the console has are shown, others are spelled; files are UTF-8 wherever they are written."""
    place = tmp_path / "Müller's data (1)"
    write_table(place)
    done = run(
        "screen", "table.csv", "--labels", "class", "--shuffles", "3", "--out", "ranked.csv", "--report",
        "page.html", folder=place, PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert shown in done.stderr
    assert "größe µ" in (place / "ranked.csv").read_text(encoding="utf-8")
    assert "früh" in (place / "page.html").read_text(encoding="utf-8")
    assert b"\r" not in (place / "ranked.csv").read_bytes()


COMMANDS = """
import sys
from bayesieve.cli import main
for words in (
    "screen table.csv --labels class --shuffles 2 --out r.csv --report p.html --config-out c.toml --quiet",
    "report r.csv --out q.html",
    "screen --config c.toml --out s.csv",
):
    sys.argv = ["bayesieve", *words.split()]
    try:
        main()
    except SystemExit as ending:
        assert not ending.code, words
"""


def test_encodings_of_files_are_always_named(tmp_path):
    """A text file without a stated encoding is read in that of the machine: UTF-8 here, cp1252 in Windows."""
    write_table(tmp_path)
    done = run(
        folder=tmp_path, code=COMMANDS, PYTHONWARNDEFAULTENCODING="1", PYTHONWARNINGS="always::EncodingWarning"
    )
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.decode().splitlines() if "EncodingWarning" in line]
    assert any("lazy_loader" in line for line in told)  # warnings come through
    assert not [line for line in told if f"{os.sep}bayesieve{os.sep}" in line]


def test_stubs_are_ascii():
    """They are read in the encoding of the machine."""
    stubs = list(PACKAGE.rglob("*.pyi"))
    assert len(stubs) > 10
    assert all(path.read_bytes().isascii() for path in stubs)


@pytest.mark.skipif(os.name == "nt", reason="folders are made read-only in another way there")
def test_nothing_is_written_beside_the_program(tmp_path):
    """Site-packages may belong to somebody else, and the home be closed: compiled code goes elsewhere."""
    write_table(tmp_path / "work")
    place = tmp_path / "site"
    place.mkdir()
    (place / "bayesieve").symlink_to(PACKAGE)
    before = {path for path in PACKAGE.rglob("*") if "__pycache__" not in path.parts}
    closed = tmp_path / "closed"
    closed.mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    done = run(
        "screen", "table.csv", "--labels", "class", "--shuffles", "2", "--out", "ranked.csv",
        folder=tmp_path / "work", PYTHONPATH=str(place), HOME=str(closed), XDG_CACHE_HOME=str(tmp_path / "cache"),
        PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {path for path in PACKAGE.rglob("*") if "__pycache__" not in path.parts} == before
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == [
        "ranked.csv",
        "ranked.csv.json",
        "table.csv",
    ]


def test_names_that_differ_in_case_alone_are_not_two_files(tmp_path):
    """On Windows and macOS A.csv and a.csv are one file: outputs of contrasts must not overwrite each other."""
    write_table(tmp_path, classes=("a", "b"))
    (tmp_path / "contrasts.csv").write_text(
        "id,variable,reference,target\nTreated,class,a,b\ntreated,class,b,a\n", encoding="utf-8"
    )
    done = run("screen", "table.csv", "--contrasts", "contrasts.csv", "--out", "results", folder=tmp_path)
    assert done.returncode == 2
    assert b"the id 'treated' stands twice" in done.stderr
