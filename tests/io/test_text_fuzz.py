"""Text tables under fire: every number exactly as Python reads it, and no bytes that do worse than an error."""

from __future__ import annotations

import bz2
import faulthandler
import gzip
import lzma
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest
import zstandard
from commands import gene_names, halves, in_columns, in_rows, label_file, numbers, sample_names
from hypothesis import HealthCheck, given, settings, strategies as st

import bayesieve as bs
from bayesieve.io.tables.table import ReadOptions
from bayesieve.io.text.reader import open_text

QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}


@pytest.fixture(autouse=True)
def watchdog():
    """A hang in compiled code cannot be interrupted; it ends the process with a traceback."""
    faulthandler.dump_traceback_later(240, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


# Numbers


DIGITS = st.text("0123456789", min_size=0, max_size=30)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def decimals(draw):
    """Any spelling of a decimal number: signs, leading zeros, bare points, exponents small and huge."""
    sign = draw(st.sampled_from(["", "-", "+"]))
    whole, part = draw(DIGITS), draw(DIGITS)
    if not whole and not part:
        whole = "0"
    point = "." if part else draw(st.sampled_from(["", "."]))
    power = draw(
        st.none()
        | st.integers(-30, 30)
        | st.integers(-400, 400)
        | st.sampled_from([-(10**12), 10**12, -324, -323, -308, 308, 309])
    )
    mark = draw(st.sampled_from(["e", "E"]))
    plus = draw(st.sampled_from(["", "+"])) if power is not None and power >= 0 else ""
    return f"{sign}{whole}{point}{part}" + ("" if power is None else f"{mark}{plus}{power}")


@st.composite
def half_way(draw):
    """Half-way between two neighbours, exactly or off by one in a digit far behind."""
    bits, power = draw(st.integers(2**52, 2**53 - 1)), draw(st.integers(-90, 90))
    middle = Fraction(2 * bits + 1) * Fraction(2) ** power
    n_decimals = max(0, -power)  # a binary fraction of n places has n decimals
    scaled = middle * 10**n_decimals
    assert scaled.denominator == 1
    more = draw(st.integers(0, 3))
    digits = str(int(scaled) * 10**more + (draw(st.sampled_from([-1, 0, 1])) if more else 0))
    return f"{digits}e-{n_decimals + more}"


WRITTEN = st.one_of(
    FINITE.map(repr),
    FINITE.map(lambda x: f"{x:.3g}"),
    FINITE.map(lambda x: f"{x:.17g}"),
    FINITE.map(lambda x: f"{x:.25e}"),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.4f}"),
    st.integers(-(10**25), 10**25).map(str),
    st.integers(1, 2**52).map(lambda n: repr(n * 5e-324)),  # subnormal numbers
    st.integers(1, 9999).map(lambda n: f"{n}e-326"),
    decimals(),
    half_way(),
)


def read_all(path, **options):
    return np.concatenate([chunk.values for chunk in open_text(path, ReadOptions(labels="y", **options)).chunks()])


@settings(max_examples=120, **QUIET)
@given(rows=st.lists(st.lists(WRITTEN, min_size=7, max_size=7), min_size=1, max_size=12))
def test_random_tables_are_read_as_python_reads_them(rows, tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"s{i},ab,{','.join(row)}" for i, row in enumerate(rows)]
    path.write_text("\n".join(["id,y,c0,c1,c2,c3,c4,c5,c6", *lines]) + "\n")
    expected = np.array([[float(cell) for cell in row] for row in rows])
    assert read_all(path).tobytes() == expected.tobytes()


@settings(max_examples=40, **QUIET)
@given(
    rows=st.lists(st.lists(WRITTEN, min_size=5, max_size=5), min_size=1, max_size=6),
    delimiter=st.sampled_from([";", "\t", "|"]),
    dress=st.sampled_from(["{}", '"{}"', " {} ", '" {} "']),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_dressed_numbers_with_decimal_commas(rows, delimiter, dress, newline, tmp_path):
    path = tmp_path / "t.csv"
    lines = [
        delimiter.join([f"s{i}", "ab", *(dress.format(cell.replace(".", ",")) for cell in row)])
        for i, row in enumerate(rows)
    ]
    path.write_bytes(newline.join([delimiter.join(["id", "y", *gene_names(5)]), *lines, ""]).encode())
    expected = np.array([[float(cell) for cell in row] for row in rows])
    found = read_all(path, decimal=",", delimiter=delimiter)
    assert found.tobytes() == expected.tobytes()


def spellings(strategy):
    """Put two hundred numbers into one example, so that a file serves many."""
    return st.lists(strategy, min_size=200, max_size=200)


@settings(max_examples=15, **QUIET)
@given(texts=st.one_of(spellings(half_way()), spellings(decimals()), spellings(FINITE.map(repr))))
def test_number_parser_is_exact(texts, tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("y\tx\n" + "".join(f"ab\t{text}\n" for text in texts))
    expected = np.array([[float(text)] for text in texts])
    wrong = np.flatnonzero(read_all(path).view(np.int64)[:, 0] != expected.view(np.int64)[:, 0])
    assert [texts[i] for i in wrong] == []


HALF_OF_THE_SMALLEST = f"0.{5**1075}e-{1075 - len(str(5**1075))}"  # 2**-1075, which is 0 by the rule of ties


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740993", "9007199254740993.0000000000000000000000000001", "1e23", "8.5e22", "1e22", "1e-22",
        "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308",
        "2.2250738585072014e-308", "1.7976931348623157e308", "1.7976931348623159e308", "-0", "-0.0",
        "0e999999999999",
        "1e-999999999999", "1e999999999999", "18446744073709551615", "18446744073709551616", "9999999999999999999",
        "0." + "0" * 400 + "1e401", "1" + "0" * 400 + "e-400", "179769313486231580793728971405301e276",
        "6929495644600919.5", HALF_OF_THE_SMALLEST, HALF_OF_THE_SMALLEST.replace("e", "1e", 1),
    ],
    ids=lambda text: text[:24],
)  # fmt: skip
def test_numbers_that_parsers_got_wrong(text, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"y,x,z\nab,{text},1\nab,-{text.lstrip('-')},2\n")
    expected = np.array([float(text), float(f"-{text.lstrip('-')}")])
    assert read_all(path)[:, 0].tobytes() == expected.tobytes()


@pytest.mark.parametrize("text", ["1_000", "0x10", "1e", "e5", "+", "--1", "1.2.3", "1 2", "1d5", "1e5.5"])
def test_texts_that_are_no_numbers(text, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"y,x\nab,1\nab,{text}\nab,3\n")
    with pytest.raises(bs.FileError, match=r"line 3, column 'x' \(field 2\).* is not a number"):
        read_all(path)


# Bytes


VALUES = numbers(12, 4)
LABELS = halves(12)
HEADS = "\n".join(
    [
        '!Series_title\t"A study"',
        "!Sample_geo_accession\t" + "\t".join(f'"s{i}"' for i in range(12)),
        "!Sample_characteristics_ch1\t" + "\t".join(f'"stage: {label}"' for label in LABELS),
    ]
)
BODY = in_columns(VALUES).replace("gene", "ID_REF")
SERIES = f"{HEADS}\n!series_matrix_table_begin\n{BODY}!series_matrix_table_end\n"
GCT = "\n".join(
    [
        "#1.3",
        "4\t12\t1\t1",
        "\t".join(["id", "symbol", *sample_names(12)]),
        "\t".join(["stage", "na", *LABELS]),
        *(
            "\t".join([name, "x", *map(repr, column)])
            for name, column in zip(gene_names(4), VALUES.T.tolist(), strict=True)
        ),
        "",
    ]
)
PLAIN = in_rows(VALUES, LABELS)
QUOTED = "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in PLAIN.splitlines()) + "\r\n"
SOURCES = {
    "t.csv": PLAIN.encode(),
    "quoted.csv": QUOTED.encode(),
    "marked.csv": PLAIN.encode("utf-16"),
    "t.tsv": ("\n".join([in_columns(VALUES).split("\n")[0], "\t".join(["stage", *LABELS])]) + "\n"
              + in_columns(VALUES).split("\n", 1)[1]).encode(),
    "t.gct": GCT.encode(),
    "GSE1_series_matrix.txt": SERIES.encode(),
    "t.csv.gz": gzip.compress(PLAIN.encode(), mtime=0),
    "t.csv.bz2": bz2.compress(PLAIN.encode()),
    "t.csv.xz": lzma.compress(PLAIN.encode()),
    "t.csv.zst": zstandard.compress(PLAIN.encode()),
}  # fmt: skip


def attempt(path, **options):
    """Read and screen; return what went wrong, which must be an error for users."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = bs.read_table(path, memory=2**20, n_threads=1, **{"labels": "stage", **options})
            bs.screen(table)
        except bs.BayesieveError as error:
            said = str(error)
        else:
            return None
    assert said.strip()
    assert len(said) < 3000  # a paragraph, and not the file itself
    return said


@pytest.mark.parametrize("name", list(SOURCES))
def test_what_is_mutated_works_unchanged(name, tmp_path):
    (tmp_path / name).write_bytes(SOURCES[name])
    assert attempt(tmp_path / name) is None


@settings(max_examples=60, **QUIET)
@given(
    name=st.sampled_from(
        ["t.csv", "t.tsv", "t.gct", "GSE1_series_matrix.txt", "t", "t.csv.gz", "t.npy", "t.parquet"]
    ),
    content=st.binary(min_size=0, max_size=300)
    | st.text('0123456789.,;\t\n\r"- +eEnaNstage#!', max_size=300).map(str.encode),
)
def test_random_bytes_raise_errors_for_users_only(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    attempt(tmp_path / name)
    attempt(tmp_path / name, samples_in="columns", missing="omit")


@st.composite
def mutated(draw, content):
    """Change a valid file in a few places: other bytes, bytes too many, bytes lost, the end cut off."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        kind = draw(st.sampled_from(["change", "insert", "delete", "cut", "repeat"]))
        some = draw(
            st.binary(min_size=1, max_size=4) | st.sampled_from([b",", b'"', b"\n", b"\t", b"\r", b"\0", b"NA"])
        )
        if kind == "change":
            data[place : place + len(some)] = some
        elif kind == "insert":
            data[place:place] = some
        elif kind == "delete":
            del data[place : place + draw(st.integers(1, 60))]
        elif kind == "cut":
            del data[place:]
        else:
            data[place:place] = data[place : place + draw(st.integers(1, 60))]
    return bytes(data)


@settings(max_examples=300, **QUIET)
@given(data=st.data())
def test_mutated_files_raise_errors_for_users_only(data, tmp_path):
    names = [name for name in SOURCES if name != "t.gct"]  # which has a test of its own
    name = data.draw(st.sampled_from(names), label="file")
    content = data.draw(mutated(SOURCES[name]), label="content")
    (tmp_path / name).write_bytes(content)
    attempt(tmp_path / name, **data.draw(st.sampled_from([{}, {"missing": "omit"}, {"transform": "rank-normal"}])))


@settings(max_examples=300, **QUIET)
@given(content=mutated(SOURCES["t.gct"]))
def test_mutated_gct_files_raise_errors_for_users_only(content, tmp_path):
    (tmp_path / "t.gct").write_bytes(content)
    attempt(tmp_path / "t.gct", missing="omit")


@settings(max_examples=80, **QUIET)
@given(content=mutated(label_file(LABELS).encode()))
def test_mutated_label_files_raise_errors_for_users_only(content, tmp_path):
    (tmp_path / "t.csv").write_text(in_rows(VALUES))
    (tmp_path / "p.csv").write_bytes(content)
    attempt(tmp_path / "t.csv", labels=f"{tmp_path / 'p.csv'}:stage")
    attempt(tmp_path / "t.csv", labels=f"{tmp_path / 'p.csv'}")


@settings(max_examples=80, **QUIET)
@given(
    delimiter=st.none() | st.text(max_size=2) | st.sampled_from([",", "comma", "tab"]),
    decimal=st.sampled_from([".", ","]),
    encoding=st.sampled_from([None, "latin-1", "utf-16", "utf-8", "ascii", "cp1252", "utf-7", "hex", "nonsense"]),
    ignore=st.lists(st.sampled_from(["g0", "stage", "id", "", "x"]), max_size=2),
    id_column=st.sampled_from([None, "id", "g1", "stage", ""]),
    na_values=st.lists(st.text(max_size=3) | st.sampled_from(["a", "1e3", "-999"]), max_size=2),
    labels=st.sampled_from(["stage", "id", "g0", "", ":", "t.csv:stage"]),
    classes=st.none() | st.text("ab=;,* ", max_size=8),
    samples_in=st.sampled_from([None, "rows", "columns"]),
)
def test_random_options_raise_errors_for_users_only(tmp_path, **options):
    (tmp_path / "t.csv").write_bytes(SOURCES["t.csv"])
    attempt(tmp_path / "t.csv", **options)


@pytest.mark.parametrize("delimiter", [":", ";", "tab", "|"])
def test_delimiters_that_the_file_does_not_have(delimiter, tmp_path):
    (tmp_path / "t.csv").write_bytes(SOURCES["t.csv"])
    assert "with delimiter" in attempt(tmp_path / "t.csv", delimiter=delimiter)
