"""NumPy arrays and archives, and sparse matrices of SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from tables import whole

import bayesieve as bs
from bayesieve.io.formats.numpy_files import open_numpy
from bayesieve.io.tables.table import FeatureTable, ReadOptions, SampleTable, samples_per_chunk

X = np.random.default_rng(5).normal(size=(7, 4))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", ">f8", "i2", "u1", "?"])
@pytest.mark.parametrize("samples_in", [None, "columns"])
def test_arrays(tmp_path, order, dtype, samples_in):
    values = (X * 10).clip(0).astype(dtype)
    np.save(tmp_path / "x.npy", np.array(values.T if samples_in else values, order=order))
    table = open_numpy(tmp_path / "x.npy", ReadOptions(samples_in=samples_in))
    assert isinstance(table, SampleTable if (order == "C") == (samples_in is None) else FeatureTable)
    assert table.samples_in == (samples_in or "rows")
    np.testing.assert_array_equal(whole(table), values)
    assert bs.Moments.from_matrix(whole(table), [0, 1] * 3 + [0]).n_features == 4


def test_pieces_depend_on_the_number_of_features_alone(tmp_path):
    values = np.random.default_rng(1).normal(size=(100, 20_000))
    np.save(tmp_path / "x.npy", values)
    seen = []
    for memory in (1, 2**40):
        options = ReadOptions(memory=memory, progress=lambda done, total: seen.append((done, total)))
        chunks = list(open_numpy(tmp_path / "x.npy", options).chunks(slice(5, 9)))
        assert [len(chunk.values) for chunk in chunks[:-1]] == [samples_per_chunk(20_000)] * (len(chunks) - 1)
        np.testing.assert_array_equal(np.vstack([chunk.values for chunk in chunks]), values[:, 5:9])
        assert chunks[0].values.flags.c_contiguous
        assert chunks[0].ids is None
        assert seen[-1] == (100, 100)


def test_archive_with_names(tmp_path):
    np.savez(
        tmp_path / "x.npz", X=X, labels=list("aabb a "), feature_names=list("pqrs"), ids=np.arange(7), other=[1]
    )
    table = open_numpy(tmp_path / "x.npz", ReadOptions(ignore=("q",), missing_words=("b",)))
    (chunk,) = table.chunks(slice(1, 3))
    assert table.feature_ids == ("p", "r", "s")
    assert chunk.ids == [str(i) for i in range(7)]
    assert chunk.columns["labels"] == ["a", "a", None, None, None, "a", None]
    np.testing.assert_array_equal(chunk.values, X[:, [2, 3]])
    assert table.left_out == {"ignored": ["q"], "other arrays": ["other"]}


def test_the_only_table_of_an_archive(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", data=np.asfortranarray(X), group=[1.0, 2, 1, 2, 1, 2, np.nan])
    table = open_numpy(tmp_path / "x.npz", ReadOptions(labels="group"))
    assert table.columns["labels"] == ["1", "2", "1", "2", "1", "2", None]
    np.testing.assert_array_equal(whole(table), X)
    (chunk,) = table.chunks(np.array([6, 0]))
    np.testing.assert_array_equal(chunk.values, X[[6, 0]].T)


def test_a_label_file_wins_over_labels_in_the_archive(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, y=np.arange(7), ids=list("abcdefg"))
    (chunk,) = open_numpy(tmp_path / "x.npz", ReadOptions(known_ids=frozenset("a"))).chunks()
    assert "labels" not in chunk.columns
    with pytest.raises(bs.LabelError, match=r"'z'.*'a', 'b', 'c'"):
        open_numpy(tmp_path / "x.npz", ReadOptions(known_ids=frozenset("z")))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("samples_in", [None, "columns"])
def test_sparse_matrices(tmp_path, form, samples_in):
    values = np.where(X > 0, X, 0)
    sp.save_npz(tmp_path / "x.npz", sp.coo_matrix(values.T if samples_in else values).asformat(form))
    table = open_numpy(tmp_path / "x.npz", ReadOptions(samples_in=samples_in, memory=600))
    np.testing.assert_array_equal(whole(table), values)
    assert isinstance(table, FeatureTable if (form == "csc") == (samples_in is None) else SampleTable)
    ignored = open_numpy(tmp_path / "x.npz", ReadOptions(samples_in=samples_in, ignore=("x1",)))
    np.testing.assert_array_equal(whole(ignored), values[:, [0, 2, 3]])


@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_that_mean_missing(tmp_path, order):
    np.save(tmp_path / "x.npy", np.array([[1, -999], [0, 3]], order=order))
    table = open_numpy(tmp_path / "x.npy", ReadOptions(missing_words=("-999.0",)))
    np.testing.assert_array_equal(whole(table), [[1, np.nan], [0, 3]])
    sp.save_npz(tmp_path / "s.npz", sp.csr_matrix([[1, -999], [0, 3]]))
    table = open_numpy(tmp_path / "s.npz", ReadOptions(missing_words=("-999.0",)))
    np.testing.assert_array_equal(whole(table), [[1, np.nan], [0, 3]])
    with pytest.raises(bs.OptionError, match="does not store its zeros"):
        whole(open_numpy(tmp_path / "s.npz", ReadOptions(missing_words=("0",))))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(3), "1 dimension"),
        (np.zeros((2, 2, 2)), "3 dimension"),
        (np.array([["a", "b"]]), "text, not numbers"),
        (np.zeros((2, 2), dtype=[("a", "f8")]), "records, not numbers"),
        (np.zeros((2, 2), dtype=complex), "complex"),
        (np.zeros((0, 2)), "no values"),
        (np.array([[1, None]], dtype=object), "pickle"),
    ],
)
@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_arrays_that_are_no_tables(tmp_path, array, words, name):
    if name == "x.npy":
        np.save(tmp_path / name, array)
    else:
        np.savez(tmp_path / name, X=array)
    with pytest.raises(bs.FileError, match=words) as caught:
        open_numpy(tmp_path / name, ReadOptions())
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "options", "kind", "words"),
    [
        ({"X": X, "y": [1, 2]}, {}, bs.LabelError, "labels of shape"),
        ({"X": X, "features": ["a"]}, {}, bs.FileError, "4 features"),
        ({"X": X, "ids": ["a"] * 7}, {}, bs.FileError, "sample ids must be distinct"),
        ({"X": X, "features": ["a"] * 4}, {"duplicates": "error"}, bs.FileError, "feature ids must be distinct"),
        ({"X": X, "stage": np.arange(7)}, {"labels": "stages"}, bs.LabelError, "Did you mean 'stage'"),
        ({"X": X}, {"ignore": ("x9",)}, bs.OptionError, "'x9'"),
        ({"X": X}, {"ignore": ("x0", "x1", "x2", "x3")}, bs.FileError, "all 4 features are ignored"),
        ({"X": X}, {"samples_in": "row"}, bs.OptionError, "not in 'row'"),
        ({"a": X, "b": X}, {}, bs.FileError, "2 of its other arrays are tables"),
        ({"X": X, "features": np.array(list("abcd"), dtype=object)}, {}, bs.FileError, "dtype=str"),
    ],
)
def test_errors_say_what_to_do(tmp_path, arrays, options, kind, words):
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(kind, match=words):
        open_numpy(tmp_path / "x.npz", ReadOptions(**options))


def test_an_array_holds_no_labels(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(bs.LabelError, match="holds no labels 'y'"):
        open_numpy(tmp_path / "x.npy", ReadOptions(labels="y"))
    with pytest.raises(bs.OptionError, match="holds no sample ids"):
        open_numpy(tmp_path / "x.npy", ReadOptions(id_column="id"))
    (tmp_path / "x.npy").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(bs.FileError, match="no NumPy file"):
        open_numpy(tmp_path / "x.npy", ReadOptions())


def refusal(path):
    """Return why a file was refused, None if it was read; anything but an error for users passes through."""
    try:
        whole(open_numpy(path, ReadOptions()))
    except bs.BayesieveError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "c.npz", "s.npz"])
def test_damaged_files_read_or_raise(tmp_path, name):
    rng = np.random.default_rng(3)
    path = tmp_path / name
    if name == "x.npy":
        np.save(path, X)
    elif name == "s.npz":
        sp.save_npz(path, sp.csr_matrix(X))
    else:
        (np.savez if name == "x.npz" else np.savez_compressed)(path, X=X, y=np.arange(7), ids=list("abcdefg"))
    good, n_refused = path.read_bytes(), 0
    for _ in range(200):
        bad = bytearray(good)
        if rng.random() < 0.3:
            bad = bad[: rng.integers(1, len(bad))]
        for place in rng.integers(0, len(bad), rng.integers(1, 20)):
            bad[place] = rng.integers(256)
        path.unlink()
        path.write_bytes(bad)
        said = refusal(path)
        assert said is None or name in said
        n_refused += said is not None
    assert n_refused > 20
