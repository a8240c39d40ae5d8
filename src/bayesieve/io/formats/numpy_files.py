"""NumPy arrays and archives, sparse matrices of SciPy, and tables over any matrix in memory."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.distributed import BlockReader
from bayesieve.io.tables.roles import (
    asks_for_labels,
    check_distinct,
    check_features,
    check_ignored,
    count_levels,
    matches,
    no_match,
    no_such_column,
)
from bayesieve.io.tables.table import (
    FeatureChunk,
    FeatureTable,
    ReadOptions,
    SampleChunk,
    SampleTable,
    cut,
    exact_ids,
    features_per_chunk,
    label_text,
    samples_per_chunk,
    take_samples,
    without_words,
)
from bayesieve.utils import (
    FileError,
    IntArray,
    LabelError,
    OptionError,
    array_names,
    check_file,
    list_names,
    option,
    wrap_read_errors,
)

SPARSE_ROWS = 8192
_BYTES_PER_ENTRY = 16  # of a sparse matrix: a value and its place


@dataclass(slots=True)
class MatrixSamples(SampleTable):
    """Samples of a matrix, some at a time.

    Parameters
    ----------
    read
        Returns the block of some samples and a range of the features.
    size
        Samples in a chunk.
    kept
        Places of the features that are not ignored, None for all.
    stored
        The same table in blocks that can be read in any order; None if it is in memory.
    """

    read: Callable[[slice, slice], Any] = field(kw_only=True)
    n_samples: int = field(kw_only=True)
    size: int = field(kw_only=True)
    ids: list[str] | None = field(default=None, kw_only=True)
    columns: Mapping[str, list[str | None]] = field(default_factory=dict, kw_only=True)
    kept: IntArray | None = field(default=None, kw_only=True)
    stored: BlockReader | None = field(default=None, kw_only=True)
    options: ReadOptions = field(default_factory=ReadOptions, kw_only=True)
    closing: Callable[[], None] | None = field(default=None, kw_only=True)

    def chunks(self, features: slice = slice(None)) -> Iterator[SampleChunk]:
        """Yield all samples in order."""
        for part in cut(self.n_samples, self.size, self.options):
            if self.kept is None:
                values = self.read(part, features)
            else:
                values = self.read(part, slice(None))[:, self.kept[features]]
            yield SampleChunk(
                None if self.ids is None else self.ids[part],
                {role: texts[part] for role, texts in self.columns.items()},
                without_words(native(values), self.options),
            )

    def close(self) -> None:
        """Close the file."""
        if self.closing is not None:
            self.closing()


@dataclass(slots=True)
class MatrixFeatures(FeatureTable):
    """Features of a matrix, some at a time.

    Parameters
    ----------
    feature_ids
        All features of the matrix.
    read
        Returns the features x samples block of a range of features.
    size
        Features in a chunk.
    ignored
        Features to leave out.
    stored
        The same table in blocks that can be read in any order; None if it is in memory.
    """

    feature_ids: list[str] = field(kw_only=True)
    read: Callable[[slice], Any] = field(kw_only=True)
    size: int = field(kw_only=True)
    ignored: frozenset[str] = field(default=frozenset(), kw_only=True)
    stored: BlockReader | None = field(default=None, kw_only=True)
    options: ReadOptions = field(default_factory=ReadOptions, kw_only=True)
    closing: Callable[[], None] | None = field(default=None, kw_only=True)

    def chunks(self, samples: IntArray) -> Iterator[FeatureChunk]:
        """Yield all features in order."""
        for part in cut(len(self.feature_ids), self.size, self.options):
            names, values = self.feature_ids[part], self.read(part)
            if not self.ignored.isdisjoint(names):
                kept = [place for place, name in enumerate(names) if name not in self.ignored]
                names, values = [names[place] for place in kept], values[kept]
            if names:
                yield FeatureChunk(names, without_words(native(take_samples(values, samples)), self.options))

    def close(self) -> None:
        """Close the file."""
        if self.closing is not None:
            self.closing()


def check_names(
    path: str,
    features: Sequence[str],
    ids: Sequence[str] | None,
    options: ReadOptions,
    hints: tuple[str, str] = ("", ""),
) -> None:
    """Raise unless names are distinct, ignored features exist, and others remain with known samples."""
    check_features(path, features, options, hints[0])
    check_ignored(path, options.ignore, features)
    if len(set(options.ignore)) == len(features):
        raise FileError(f"{path}: all {len(features):,} features are ignored. Keep at least one.")
    if ids is not None:
        check_distinct(path, ids, "sample", hints[1])
        if options.known_ids is not None and not matches(options.known_ids, ids):
            raise no_match(path, options.known_ids, ids)


def sparse_features_per_chunk(n_entries: int, n_features: int, options: ReadOptions) -> int:
    """Return how many features of a sparse matrix make a chunk of at most 64 MB on average."""
    return max(1, int(min(2**26, options.memory // 4) / (_BYTES_PER_ENTRY * max(1.0, n_entries / n_features))))


def native(values: Any) -> Any:
    """Return values the kernels read: in C order, native bytes, at most 64 bits; sparse ones as CSR."""
    dtype = values.dtype
    usual = dtype.isnative and dtype.itemsize <= 8 and dtype != np.float16
    if is_sparse(values):
        return values.tocsr() if usual else values.tocsr().astype(np.float64)
    return np.ascontiguousarray(values, dtype=None if usual else np.float64)


SUFFIXES = (".npy", ".npz")

_LABELS = ("y", "labels")
_FEATURES = ("feature_names", "features")
_SAMPLES = ("sample_names", "samples", "ids")
_KINDS = {"O": "Python objects", "U": "text", "S": "bytes", "V": "records", "c": "complex numbers", "M": "dates"}


def open_numpy(path: str | os.PathLike[str], options: ReadOptions) -> SampleTable | FeatureTable:
    """Open a ``.npy`` or ``.npz`` file."""
    name = os.fspath(path)
    with _reading(name), check_file(path).open("rb") as stream:
        magic = stream.read(6)
    if options.samples_in not in (None, "rows", "columns"):
        raise OptionError(f"Samples are in 'rows' or in 'columns', not in {options.samples_in!r}.")
    if magic == b"\x93NUMPY":
        return _from_array(name, options)
    if magic.startswith(b"PK"):
        return _from_archive(name, options)
    raise FileError(
        f"{name} is no NumPy file: it begins with {magic!r}. Save the values with numpy.save or numpy.savez."
    )


@contextmanager
def _reading(path: str) -> Iterator[None]:
    with wrap_read_errors(path, "a NumPy file"):
        try:
            yield
        except Exception as error:
            if "allow_pickle" not in str(error) and "Python objects" not in str(error):
                raise
            raise FileError(
                f"{path} holds Python objects (a pickle), which are not read because they can run any program. "
                "Save numbers as a float array and names as text: numpy.asarray(names, dtype=str)."
            ) from None


def _from_array(path: str, options: ReadOptions) -> SampleTable | FeatureTable:
    with _reading(path):
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    return _alone(path, "NumPy array", X, options)


def _alone(path: str, form: str, X: Any, options: ReadOptions) -> SampleTable | FeatureTable:
    """Values without labels and names."""
    for role, name in options.columns.items():
        raise LabelError(
            f"{path} is one array and holds no {role} {name!r}.",
            hint=f"Give the {role} in a file of their own, or save values and labels together: numpy.savez(file, "
            "X=X, y=y).",
        )
    if options.id_column is not None:
        raise OptionError(
            f"{path} is one array and holds no sample ids {options.id_column!r}. Save them together: "
            "numpy.savez(file, X=X, y=y, ids=ids)."
        )
    return _table(path, form, X, {}, options)


def _from_archive(path: str, options: ReadOptions) -> SampleTable | FeatureTable:
    with _reading(path), open(path, "rb") as stream, zipfile.ZipFile(stream) as whole:
        names = array_names(path, whole)
    with _reading(path), open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
        sparse = _sparse(path, stream) if {"format", "shape", "data"} <= set(names) else None
        if sparse is None:
            roles = _roles(path, names, options)
            roles = (
                roles if "X" in roles else {"X": _only_table(path, archive, names, set(roles.values())), **roles}
            )
            parts = {role: archive[name] for role, name in roles.items()}
            asked = [name for name in names if name not in roles.values()] if asks_for_labels(options) else []
            others = _plain_arrays(archive, asked)
    if sparse is not None:
        return _alone(path, "SciPy sparse matrix", sparse, options)
    table = _table(path, "NumPy archive", parts["X"], parts, options)
    n_samples = parts["X"].shape[1 if table.samples_in == "columns" else 0]
    table.candidates = {
        name: count_levels(values, options.missing_words)
        for name, values in others.items()
        if values.shape == (n_samples,)
    }
    other = [name for name in names if name not in roles.values()]
    if other:
        table.left_out["other arrays"] = other
    return table


def _plain_arrays(archive: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Those arrays that hold no Python objects."""
    found = {}
    for name in names:
        with suppress(ValueError):
            found[name] = archive[name]
    return found


def _roles(path: str, names: Sequence[str], options: ReadOptions) -> dict[str, str]:
    """Names of the arrays by what they are."""
    roles = {"X": "X"} if "X" in names else {}
    for role, usual in (("labels", _LABELS), ("features", _FEATURES), ("ids", _SAMPLES)):
        found = next((name for name in usual if name in names), None)
        if found is not None:
            roles[role] = found
    if options.known_ids is not None:
        roles.pop("labels", None)
    named = options.columns if options.id_column is None else {**options.columns, "ids": options.id_column}
    for role, wanted in named.items():
        if wanted not in names:
            raise no_such_column(path, wanted, names, "array")
        roles[role] = wanted
    return roles


def _only_table(path: str, archive: Mapping[str, Any], names: Sequence[str], taken: set[str]) -> str:
    tables = [name for name in names if name not in taken and archive[name].ndim == 2]
    if len(tables) != 1:
        raise FileError(
            f"{path} has no array 'X', and {len(tables)} of its other arrays are tables; it holds "
            f"{list_names(names)}. Save the values as X: numpy.savez(file, X=X, y=y)."
        )
    return tables[0]


def _sparse(path: str, stream: Any) -> Any:
    import scipy.sparse  # noqa: PLC0415 - slow to import

    stream.seek(0)
    matrix: Any = scipy.sparse.load_npz(stream)
    check_extent(path, matrix.shape, matrix.nnz)
    matrix = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
    matrix.check_format(full_check=True)
    return matrix


_MANY = 10**7


def check_extent(path: str, shape: tuple[int, ...], n_entries: int) -> None:
    """Raise if a sparse matrix says that it is so large that its rows and columns alone would fill a memory."""
    if max(shape) > _MANY and max(shape) > 100 * n_entries:
        raise FileError(
            f"{path} says that its shape is {shape}, and holds {n_entries:,} entries, which cannot be meant. "
            "Fetch it again, or write it anew."
        )


def _check_values(path: str, X: Any) -> None:
    if X.ndim != 2:
        raise FileError(
            f"{path}: the values have {X.ndim} dimension(s) (shape {X.shape}), not 2. Save a table of samples x "
            "features."
        )
    if X.dtype.kind not in "biuf":
        what = _KINDS.get(X.dtype.kind, f"values of type {X.dtype}")
        raise FileError(f"{path} holds {what}, not numbers. Save the values as a table of floats.")
    if 0 in X.shape:
        raise FileError(f"{path} holds no values: its shape is {X.shape}. Check how it was made.")


def _table(
    path: str, form: str, X: Any, parts: Mapping[str, Any], options: ReadOptions
) -> SampleTable | FeatureTable:
    _check_values(path, X)
    samples_in = options.samples_in or "rows"
    X = X.T if samples_in == "columns" else X
    columns = {
        role: [label_text(value, options.missing_words) for value in _names(path, parts, role, X.shape[0]) or ()]
        for role in parts
        if role not in ("X", "ids", "features")
    }
    ids = _texts(path, _names(path, parts, "ids", X.shape[0]))
    features = _texts(path, _names(path, parts, "features", X.shape[1])) or [f"x{j}" for j in range(X.shape[1])]
    check_names(path, features, ids, options)
    left_out = {"ignored": list(options.ignore)} if options.ignore else {}
    by_sample = X.format == "csr" if is_sparse(X) else X.flags.c_contiguous
    if by_sample:
        kept = [place for place, name in enumerate(features) if name not in options.ignore]
        return MatrixSamples(
            path, form, samples_in, left_out, tuple(features[place] for place in kept),
            read=lambda rows, columns: X[rows, columns], n_samples=X.shape[0], ids=ids, columns=columns,
            size=SPARSE_ROWS if is_sparse(X) else samples_per_chunk(X.shape[1]), options=options,
            kept=np.array(kept) if options.ignore else None,
        )  # fmt: skip
    return MatrixFeatures(
        path, form, samples_in, left_out, None if ids is None else tuple(ids), X.shape[0], columns,
        feature_ids=features, read=lambda part: X[:, part].T, size=_features_per_chunk(X, options),
        ignored=frozenset(options.ignore), options=options,
    )  # fmt: skip


def _features_per_chunk(X: Any, options: ReadOptions) -> int:
    if is_sparse(X):
        return sparse_features_per_chunk(X.nnz, X.shape[1], options)
    return features_per_chunk(X.shape[0], options)


def _texts(path: str, names: list[Any] | None) -> list[str] | None:
    return None if names is None else exact_ids(path, names)


def _names(path: str, parts: Mapping[str, Any], role: str, size: int) -> list[Any] | None:
    """Labels or names, if the file has them, one for each sample or feature."""
    if role not in parts:
        return None
    values = parts[role]
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.shape != (size,):
        kind = FileError if role in ("features", "ids") else LabelError
        unit = "feature" if role == "features" else "sample"
        raise kind(
            f"{path} has {role} of shape {values.shape}, but {size:,} {unit}s. There must be one for each {unit}.",
            hint=("If the values are the other way round, say ", option("samples_in", "columns"), "."),
        )
    if values.dtype.kind == "U" and (np.ascontiguousarray(values).view(np.uint32) > sys.maxunicode).any():
        raise FileError(f"{path} is damaged: its {role} hold characters that do not exist. Write it anew.")
    return list(values)
