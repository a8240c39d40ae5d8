"""Tables of results as text: whatever is written reads back as the same numbers and names."""

from __future__ import annotations

import csv
import io
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from bayesieve.io import number_bytes, text_chunks, write_results
from bayesieve.io.results import write

WRITERS = {"python": 10**9, "polars": -1}  # up to how many rows Python writes
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
ROW = st.tuples(st.floats(allow_nan=True), st.integers(-(2**63), 2**63 - 1), NAMES)


def read(columns, writer, delimiter=","):
    """Write with one of the writers and read with Python's own reader."""
    with mock.patch.object(write, "_FEW", WRITERS[writer]):
        text = b"".join(text_chunks(columns, delimiter)).decode("utf-8", "surrogatepass")
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    assert header == list(columns)
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]


def bits(values):
    return np.array(values, dtype=np.float64).view(np.uint64).tolist()


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("delimiter", [",", "\t"])
@settings(deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=20))
@example(rows=[(5e-324, 0, 'say "hi", you'), (-0.0, -1, "two\r\nlines\tor\rthree"), (float("inf"), 7, "")])
@example(rows=[(2.2250738585072014e-308, 0, "'"), (float("-inf"), 1, " blank "), (float("nan"), 2, "a;b")])
def test_any_row_reads_back(writer, delimiter, rows):
    numbers, whole, names = zip(*rows, strict=True)
    columns = {
        "feature": list(names), "x": np.array(numbers), "a, b": np.array(whole, np.int64),
        "chosen": np.array(whole) % 2 == 0,
    }  # fmt: skip
    found = read(columns, writer, delimiter)
    assert found[0] == list(names)
    known = ~np.isnan(numbers)
    assert bits([float(text) for text in found[1] if text]) == bits(np.array(numbers)[known])
    assert [text == "" for text in found[1]] == (~known).tolist()
    assert found[2] == [str(number) for number in whole]
    assert found[3] == ["true" if number % 2 == 0 else "false" for number in whole]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(1).integers(0, 2**64, 50_000, dtype=np.uint64).view(np.float64),
        np.random.default_rng(2).normal(size=50_000) * 10.0 ** np.random.default_rng(3).integers(-8, 8, 50_000),
        10.0 ** np.arange(-323, 309),
        2.0 ** np.arange(-1074, 1024),
        np.nextafter(10.0 ** np.arange(-300, 300), 0),
    ],
    ids=["bits", "normal", "tens", "twos", "below tens"],
)
def test_many_numbers_read_back_and_are_short(writer, values):
    values = values[np.isfinite(values)]
    (found,) = read({"x": values}, writer)
    assert bits([float(text) for text in found]) == bits(values)
    assert max(map(len, found)) <= 25
    assert number_bytes(values[:1000], b"\t").count(b"\t") == min(values.size, 1000) - 1
    assert bits([float(text) for text in number_bytes(values, b",").split(b",")]) == bits(values)


@pytest.mark.parametrize("writer", WRITERS)
def test_half_characters_and_absent_names(writer):
    assert read({"feature": ["\ud800", None, "x"], "n": [1, 2, 3]}, writer) == [
        ["\ud800", "", "x"],
        ["1", "2", "3"],
    ]


@pytest.mark.parametrize("n_rows", [0, 1, write._FEW, write._FEW + 1, 32_768, 70_000])
def test_tables_of_any_length_are_written_whole(tmp_path, n_rows):
    order = np.random.default_rng(0).permutation(n_rows)
    values = np.random.default_rng(1).normal(size=n_rows)
    write_results(tmp_path / "a.csv", {"i": np.arange(n_rows), "x": values}, dict, order)
    header, *lines, end = (tmp_path / "a.csv").read_text().split("\n")
    assert (header, end) == ("i,x", "")
    assert [line.split(",")[0] for line in lines] == [str(i) for i in order.tolist()]
    assert [float(line.split(",")[1]) for line in lines] == values[order].tolist()


def test_a_table_made_part_by_part_is_the_same(tmp_path):
    values = np.random.default_rng(1).normal(size=50_000)
    order = np.argsort(values)
    write_results(tmp_path / "a.csv", {"x": values}, dict, order)
    write_results(tmp_path / "b.csv", lambda rows: {"x": values[rows]}, dict, order)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
