"""LabelledMatrix: a table of samples x features with a class per sample, checked once.

Arrays, data frames, sparse matrices and AnnData objects are brought to a form the kernels read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesieve.data.annotated import annotated, in_memory, is_annotated
from bayesieve.data.frames import as_frame, frame_values, is_frame
from bayesieve.data.labels import Label, Labels, aligned, encode_labels
from bayesieve.data.rounded import Rounded
from bayesieve.utils import TABLE, DataError, LabelError, MissingValueError, Piece, list_names, option

_MOST_SHOWN = 3
USE_WHAT_IS_THERE: tuple[Piece, ...] = (
    "Pass ",
    option("missing", "omit"),
    " to use the values that are there (exact if values are missing at random)",
)
_LOOK = 256  # columns looked at together when a problem has to be found


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some samples of some columns.

    Parameters
    ----------
    codes
        Class of each sample.
    first
        Position, among the columns asked for, of the first one here.
    values
        Samples x columns: an array, or a CSC matrix.
    """

    codes: npt.NDArray[np.int64]
    first: int
    values: Values


class ValueBlocks(Protocol):
    """A table that can be looked at again: chosen columns, in blocks that together hold every sample."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features."""
        ...

    def blocks(self, which: npt.NDArray[np.int64]) -> Iterator[Block]:
        """Yield the values of some columns."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class LabelledMatrix:
    """Values, labels and names that belong together.

    Parameters
    ----------
    values
        Samples x features: a numeric array, or a CSR or CSC matrix. Never changed.
    labels
        Class of every sample.
    feature_names
        Names, or None for ``x0``, ``x1``, ... made when somebody asks.
    sample_names
        Names, or None: samples are then told by their number.
    exposures
        For counts: how long, or how deeply, each sample was looked at; None if all alike.
    levels
        For categories: what the integer codes in ``values`` stand for (-1 is missing); None if the values
        stand for themselves.

    Examples
    --------
    >>> from bayesieve.data import LabelledMatrix
    >>> matrix = LabelledMatrix.from_arrays([[1.0, 2.0], [3.0, 5.0]], ["a", "b"])
    >>> matrix.n_samples, matrix.n_features, matrix.labels.classes
    (2, 2, ('a', 'b'))
    """

    values: Values
    labels: Labels
    feature_names: tuple[str, ...] | None
    sample_names: tuple[str, ...] | None = None
    exposures: npt.NDArray[np.float64] | None = None
    levels: tuple[Any, ...] | None = None

    @classmethod
    def from_arrays(
        cls, X: Any, y: Any, *, classes: Sequence[Label] | None = None, feature_names: Sequence[str] | None = None
    ) -> LabelledMatrix:
        """Check a table and its labels and put them together.

        Examples
        --------
        >>> from bayesieve.data import LabelledMatrix
        >>> LabelledMatrix.from_arrays([[1.0], [3.0]], [0, 1], feature_names=["gene"]).feature_names
        ('gene',)
        """
        values, frame_names = as_values(X)
        labels = encode_labels(aligned(X, y), classes)
        if labels.codes.size != values.shape[0]:
            raise LabelError(
                f"X has {values.shape[0]} samples (rows) but there are {labels.codes.size} labels. "
                "They must match; if samples are in columns, pass X.T."
            )
        names = check_names(frame_names if feature_names is None else feature_names, values.shape[1])
        _warn_of_rounded(values, names)
        samples = tuple(map(str, X.obs.index)) if is_annotated(X) else None
        return cls(values, labels, names, samples)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def columns(self, which: npt.NDArray[np.int64]) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
        """Yield (column, its values as float64) for the columns asked for, a few at a time."""
        values = self.values
        if is_sparse(values):  # only what is asked for is brought into column order
            values, which, names = values[:, which].tocsc(), np.arange(which.size), which
        else:
            names = which
        for start in range(0, which.size, _LOOK):
            part = which[start : start + _LOOK]
            block = values[:, part]
            block = block.toarray() if is_sparse(block) else block
            yield from zip(names[start : start + _LOOK].tolist(), block.T.astype(np.float64), strict=True)

    def blocks(self, which: npt.NDArray[np.int64]) -> Iterator[Block]:
        """Yield the values of some columns, dense a few columns at a time, sparse all at once.

        Parameters
        ----------
        which
            Columns.
        """
        if is_sparse(self.values):
            yield Block(self.labels.codes, 0, self.values[:, which].tocsc())
            return
        for lo in range(0, which.size, _LOOK):
            yield Block(self.labels.codes, lo, self.values[:, which[lo : lo + _LOOK]])

    def explain_non_finite(self, suspects: npt.NDArray[np.int64], missing: str) -> None:
        """Raise the error that says where NaN or infinite values are.

        Parameters
        ----------
        suspects
            Columns whose moments are not finite.
        missing
            The policy in force: "raise" complains about NaN, "omit" only about infinities.
        """
        infinite: list[tuple[int, int]] = []
        absent: list[tuple[int, int]] = []
        n_infinite = n_absent = n_columns = 0
        for j, column in self.columns(suspects):
            inf, nan = np.flatnonzero(np.isinf(column)), np.flatnonzero(np.isnan(column))
            n_infinite, n_absent = n_infinite + inf.size, n_absent + nan.size
            n_columns += bool(inf.size or nan.size)
            infinite += [(int(i), j) for i in inf[: _MOST_SHOWN - len(infinite)]]
            absent += [(int(i), j) for i in nan[: _MOST_SHOWN - len(absent)]]
        if n_infinite:
            raise DataError(
                TABLE,
                f" holds {n_infinite} infinite value(s) (inf), the first at {self._places(infinite)}. "
                "An infinity is no measurement: find out where it comes from (log of 0? division by 0?) "
                "and replace it, by NaN with ",
                option("missing", "omit"),
                " if the value is unknown.",
                kind="infinite-values",
            )
        if n_absent and missing == "raise":
            raise MissingValueError(
                TABLE,
                f" holds {n_absent} missing value(s) (NaN) in {n_columns} of {self.n_features} features, "
                f"the first at {self._places(absent)}.",
                hint=(*USE_WHAT_IS_THERE, ", or fill them in first."),
                kind="missing-values",
            )
        raise DataError(
            f"The squares of the values of {suspects.size} feature(s) overflow, the first is "
            f"{self._name(int(suspects[0]))}. Divide the table by a constant so that values stay below 1e150."
        )

    def _places(self, places: list[tuple[int, int]]) -> str:
        return ", ".join(f"sample {self._sample(i)}, feature {self._name(j)}" for i, j in places)

    def _sample(self, i: int) -> str:
        return repr(self.sample_names[i]) if self.sample_names else str(i)

    def _name(self, j: int) -> str:
        if self.feature_names is None:
            return f"column {j}"
        return f"{self.feature_names[j]!r}" + ("" if self.sample_names else f" (column {j})")


def check_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
    """Check that there is one distinct name per feature."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise DataError(f"feature_names must be a sequence with one name per feature, not {names!r}.")
    checked = tuple(str(name) for name in names)
    if len(checked) != n_features:
        raise DataError(f"There are {len(checked)} feature names for {n_features} features. Give one name each.")
    if len(set(checked)) != len(checked):
        counts: dict[str, int] = {}
        for name in checked:
            counts[name] = counts.get(name, 0) + 1
        twice = [name for name, count in counts.items() if count > 1]
        raise DataError(
            f"{len(twice)} feature name(s) occur more than once: {list_names(twice, _MOST_SHOWN)}. "
            "Make them distinct, for example by appending a number (adata.var_names_make_unique() does), so that "
            "results can be told apart."
        )
    return checked


Values: TypeAlias = Any  # a 2-D numpy array of numbers, or a CSR or CSC matrix of SciPy


def as_values(X: Any) -> tuple[Values, list[str] | None]:
    """Bring a table to a 2-D numeric array or a CSR/CSC matrix, without copying where possible.

    Parameters
    ----------
    X
        Samples x features: array, nested list, data frame, SciPy sparse matrix, AnnData object.

    Returns
    -------
    values, names
        The values and, from a frame or an AnnData object, the names of its columns.
    """
    if is_annotated(X):
        held = annotated(X)
        return as_values(held.values)[0], list(held.feature_names)
    X = as_frame(X)
    if is_frame(X):
        names = [str(name) for name in X.columns]
        return as_values(np.empty(X.shape) if 0 in X.shape else frame_values(X))[0], names
    if hasattr(X, "tocsr") or hasattr(X, "to_memory"):  # also of a class derived from SciPy's, or in a file
        X = in_memory(X)
    return _check_values(_compress(X) if is_sparse(X) else _dense(X), X), None


def is_sparse(X: Any) -> bool:
    """Tell whether ``X`` is a sparse matrix or array of SciPy, without importing SciPy."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz") and type(X).__module__.startswith("scipy.sparse")


def _compress(X: Any) -> Any:
    matrix = X if X.format in ("csr", "csc") else X.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _dense(X: Any) -> npt.NDArray[Any]:
    if np.ma.isMaskedArray(X):
        X = np.ma.filled(np.ma.asarray(X).astype(np.float64), np.nan)
    try:
        values = np.asarray(X)
    except ValueError as error:
        raise DataError(
            f"X is not a rectangular table ({str(error).rstrip('.')}). Every sample needs the same number of "
            "features."
        ) from None
    return values


def _check_values(values: Any, original: Any) -> Any:
    if values.ndim == 0:
        hint = " Call collect() first." if type(original).__name__ == "LazyFrame" else ""
        raise DataError(
            f"X must be a table of samples x features, not of type {type(original).__name__}. Pass a 2-D array, a "
            f"nested list, a pandas or polars frame or a SciPy sparse matrix.{hint}"
        )
    if values.ndim != 2:
        how = "A single feature is X.reshape(-1, 1)." if values.ndim == 1 else (
            "Make every sample one row of numbers: X.reshape(len(X), -1)."
        )  # fmt: skip
        raise DataError(
            f"X must be a table of samples x features, but it has {values.ndim} dimension(s) "
            f"(shape {values.shape}). {how}"
        )
    if values.dtype.kind == "c":
        raise DataError(
            TABLE,
            " holds complex numbers, and only real ones can be screened. Pass the part that is meant, for "
            "example X.real or abs(X).",
        )
    if values.dtype.kind not in "bifu":
        what = {"O": "Python objects", "U": "text", "S": "bytes"}.get(
            values.dtype.kind, f"values of type {values.dtype}"
        )
        raise DataError(
            TABLE,
            f" holds {what}, not numbers. Convert it first, for example X.astype(float), "
            "and leave labels and ids out of it.",
        )
    if 0 in values.shape:
        raise DataError(
            f"X is empty: {values.shape[0]} samples x {values.shape[1]} features. Both numbers must be at least 1."
        )
    return values.astype(np.float64) if values.dtype.itemsize > 8 else values  # kernels stop at 64 bits


def _warn_of_rounded(values: Any, names: Sequence[str] | None) -> None:
    """Warn of whole numbers that are rounded when sums are taken."""
    rounded, sparse = Rounded(), is_sparse(values)
    if values.dtype.kind == "f":  # what was rounded was so before
        return

    def where(place: int) -> tuple[Piece, ...]:
        if sparse:
            entries = values.tocoo()
            sample, feature = int(entries.row[place]), int(entries.col[place])
        else:
            sample, feature = divmod(place, values.shape[1])
        return (f"sample {sample}, feature {feature if names is None else repr(names[feature])}",)

    rounded.add(values.data if sparse else values, where)
    rounded.warn(TABLE, "those columns")


def dense_values(matrix: LabelledMatrix) -> npt.NDArray[np.float64]:
    """Values as a dense array of 64-bit numbers."""
    values: Any = matrix.values
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
