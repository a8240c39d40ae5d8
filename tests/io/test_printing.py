"""Numbers as text: whatever is written reads back as the same number, and is as short as Python's repr."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bayesieve.io import number_bytes, text_chunks, write_results
from bayesieve.io.results.printing import side_by_side


def texts(values):
    return number_bytes(np.asarray(values, dtype=np.float64)).decode().split("\n")[:-1]


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(1).integers(0, 2**64, 50_000, dtype=np.uint64).view(np.float64),
        np.random.default_rng(2).normal(size=50_000) * 10.0 ** np.random.default_rng(3).integers(-8, 8, 50_000),
        np.round(np.random.default_rng(4).normal(size=20_000), 3),
        10.0 ** np.arange(-323, 309),
        2.0 ** np.arange(-1074, 1024),
        np.arange(20_000) * 0.1,
        np.random.default_rng(5).integers(0, 10**17, 20_000).astype(float),
        np.nextafter(10.0 ** np.arange(-300, 300), 0),
    ],
    ids=["bits", "normal", "short", "tens", "twos", "tenths", "whole", "below tens"],
)
def test_numbers_read_back_exactly_and_are_about_as_short_as_repr(values):
    values = values[np.isfinite(values)]
    written = texts(values)
    assert [float(text) for text in written] == values.tolist()
    expected = [repr(value) for value in values.tolist()]
    assert max(len(text) for text in written) <= 24
    same = sum(text == other for text, other in zip(written, expected, strict=True))
    assert same / len(written) > 0.97  # an exact half may be rounded the other way; powers of two are odd


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False), max_size=20))
def test_any_number_reads_back(values):
    written = texts(values)
    for text, value in zip(written, values, strict=True):
        assert float(text) == value
        assert math.copysign(1.0, float(text)) == math.copysign(1.0, value)


def test_missing_and_infinite_numbers():
    assert texts([np.nan, np.inf, -np.inf, -0.0, 5e-324]) == ["", "inf", "-inf", "-0.0", "5e-324"]


def test_columns_are_put_side_by_side():
    assert side_by_side([b"1\n\n3\n", b"a\nbb\n\n", b"x\ny\nz\n"], 3, "\t") == b"1\ta\tx\n\tbb\ty\n3\t\tz\n"


def test_texts_are_quoted_where_they_must_be():
    columns = {"feature": ['say "hi"', "a,b", "two\nlines", ""], "x": np.array([1.0, np.nan, 2.5, -1e300])}
    found = b"".join(text_chunks(columns)).decode()
    assert found == 'feature,x\n"say ""hi""",1.0\n"a,b",\n"two\nlines",2.5\n,-1e+300\n'


@pytest.mark.parametrize("n_rows", [0, 1, 32_767, 32_768, 70_000])
def test_tables_of_any_length_are_written_whole(tmp_path, n_rows):
    order = np.random.default_rng(0).permutation(n_rows)
    values = np.random.default_rng(1).normal(size=n_rows)
    write_results(tmp_path / "a.csv", {"i": np.arange(n_rows), "x": values}, dict, order)
    lines = (tmp_path / "a.csv").read_text().split("\n")
    assert lines[0] == "i,x"
    assert lines[-1] == ""
    assert lines[1:-1] == [f"{i},{float(values[i])!r}" for i in order.tolist()]


def test_a_table_made_part_by_part_is_the_same(tmp_path):
    values = np.random.default_rng(1).normal(size=50_000)
    order = np.argsort(values)
    write_results(tmp_path / "a.csv", {"x": values}, dict, order)
    write_results(tmp_path / "b.csv", lambda rows: {"x": values[rows]}, dict, order)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
