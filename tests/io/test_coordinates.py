"""Matrix Market files of whole numbers, against SciPy's own reader."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import bayesieve as bs
from bayesieve.io.formats import coordinates
from bayesieve.io.formats.coordinates import is_ascending, read_coordinates
from bayesieve.io.formats.matrix_market import _by_sample, _read

HEAD = "%%MatrixMarket matrix coordinate integer general\n"
RNG = np.random.default_rng(4)


def counts(n_rows=90, n_columns=50, density=0.3):
    values = np.random.default_rng(4).poisson(5, size=round(n_rows * n_columns * density)) + 1
    X = sp.random(n_rows, n_columns, density, random_state=2, data_rvs=lambda n: values[:n])
    return X.astype(np.int64).tocsc()


def text_of(matrix, head=HEAD):
    entries = matrix.tocoo()
    lines = [f"{i + 1} {j + 1} {v}\n" for i, j, v in zip(entries.row, entries.col, entries.data, strict=True)]
    return f"{head}{matrix.shape[0]} {matrix.shape[1]} {matrix.nnz}\n{''.join(lines)}"


def read(text):
    return read_coordinates(io.BytesIO(text.encode()).read)


def old_way(matrix, samples_in):
    """As SciPy has it: transposed if need be, to CSR, in 32 bits."""
    X = (matrix.T if samples_in == "columns" else matrix).tocsr()
    X.sum_duplicates()
    return X.astype(np.int32)


@pytest.mark.parametrize("block", [7, 64, 2**22])
@pytest.mark.parametrize("change", [
    lambda text: text,
    lambda text: text.replace(" ", "\t"),
    lambda text: text.replace(" ", "   "),
    lambda text: text.rstrip("\n"),
    lambda text: text.replace(HEAD, HEAD + "% made by hand\n%\n"),
    lambda text: text.replace(HEAD, HEAD.upper().replace("%%MATRIXMARKET", "%%MatrixMarket")),
    lambda text: text.replace(" 6\n", " -6\n"),
    lambda text: "\n".join([*text.split("\n")[:2], *sorted(text.split("\n")[2:-1]), ""]),
], ids=range(8))  # fmt: skip
def test_entries_are_those_of_scipy(monkeypatch, change, block):
    monkeypatch.setattr(coordinates, "_BLOCK", block)
    text = change(text_of(counts()))
    found, wanted = read(text), scipy.io.mmread(io.BytesIO(text.encode()))
    assert found.shape == wanted.shape
    for name in ("row", "col", "data"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name))
    for samples_in in ("rows", "columns"):
        X, Y = _by_sample(found, samples_in), old_way(wanted, samples_in)
        assert X.dtype == Y.dtype
        assert (X != Y).nnz == 0
        assert X.has_canonical_format


@pytest.mark.parametrize("text", [
    HEAD.replace("integer", "real") + "2 2 1\n1 1 0.5\n",
    HEAD.replace("integer", "pattern") + "2 2 1\n1 1\n",
    HEAD.replace("general", "symmetric") + "2 2 1\n2 1 3\n",
    HEAD + "2 2 1\n1 1 3000000000\n",
    HEAD + "2 2 1\n1 1 12345678901234567890\n",
    HEAD + "2 2 2\n1 1 3\n",
    HEAD + "2 2 1\n1 1 3\n2 2 4\n",
    HEAD + "2 2 1\n3 1 3\n",
    HEAD + "2 2 1\n1 0 3\n",
    HEAD + "2 2 1\n1 1 3 4\n",
    HEAD + "2 2 1\n1 1\n",
    HEAD + "2 2 1\n1 1 x\n",
    HEAD + "2 2 1\n1 1 -\n",
    HEAD + "2 2 1\n1 1 3\n\n",
    HEAD + "2 2\n1 1 3\n",
    HEAD + "99999999999999999999 2 1\n1 1 3\n",
    HEAD,
    "",
    "1 1 1\n",
], ids=range(19))  # fmt: skip
def test_whatever_is_odd_is_left_to_scipy(text):
    assert read(text) is None


def test_carriage_returns_and_no_entries():
    text = text_of(counts()).replace("\n", "\r\n")
    assert np.array_equal(read(text).data, counts().tocoo().data)
    assert read(f"{HEAD}3 2 0\n").data.size == 0


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("order", ["columns", "rows", "none"])
def test_the_summary_is_that_of_the_matrix(tmp_path, packed, order):
    X = counts(60, 40)
    entries = X.tocoo() if order == "columns" else X.tocsr().tocoo()
    if order == "none":
        mixed = RNG.permutation(entries.nnz)
        entries = sp.coo_matrix((entries.data[mixed], (entries.row[mixed], entries.col[mixed])), X.shape)
    path = tmp_path / ("matrix.mtx.gz" if packed else "matrix.mtx")
    data = text_of(entries).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    (tmp_path / "features.tsv").write_text("".join(f"G{j}\tS{j}\tGene Expression\n" for j in range(60)))
    (tmp_path / "barcodes.tsv").write_text("".join(f"B{i}\n" for i in range(40)))
    (tmp_path / "y.csv").write_text("id,y\n" + "".join(f"B{i},{'ab'[i % 2]}\n" for i in range(40)))
    table = bs.read_table(tmp_path, labels=f"{tmp_path / 'y.csv'}:y")
    dense = X.toarray().T.astype(float)
    for k in (0, 1):
        part = dense[k::2]
        assert table.moments.mean[k] == pytest.approx(part.mean(axis=0), abs=1e-12)
        assert table.moments.centred_squares[k] == pytest.approx(((part - part.mean(axis=0)) ** 2).sum(axis=0))


def test_damaged_files_say_what_they_said(tmp_path):
    path = tmp_path / "matrix.mtx"
    path.write_text(HEAD + "2 2 2\n1 1 3\n")
    with pytest.raises(bs.FileError, match="cannot be read as a Matrix Market file"):
        _read(path)
    packed = tmp_path / "matrix.mtx.gz"
    packed.write_bytes(gzip.compress(text_of(counts()).encode())[:-40])
    with pytest.raises(bs.FileError, match="damaged"):
        _read(packed)


def test_order_of_entries():
    assert is_ascending(np.array([0, 0, 1]), np.array([1, 2, 0]))
    assert not is_ascending(np.array([0, 0, 1]), np.array([2, 2, 0]))
    assert not is_ascending(np.array([1, 0]), np.array([0, 1]))
    assert is_ascending(np.array([], np.int32), np.array([], np.int32))
