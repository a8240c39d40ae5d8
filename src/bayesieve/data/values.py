"""The table of values: arrays, data frames and sparse matrices, brought to a form the kernels read.

Neither pandas nor polars is imported: their frames are recognised by what they offer.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError

Values: TypeAlias = Any  # a 2-D numpy array of numbers, or a CSR or CSC matrix of SciPy

_MOST_SHOWN = 5


def as_values(X: Any) -> tuple[Values, list[str] | None]:
    """Bring a table to a 2-D numeric array or a CSR/CSC matrix, without copying where possible.

    Parameters
    ----------
    X
        Samples x features: array, nested list, pandas or polars frame, SciPy sparse matrix.

    Returns
    -------
    values, names
        The values and, from a frame, its column names.

    Examples
    --------
    >>> from bayesieve.data.values import as_values
    >>> values, names = as_values([[1, 2], [3, 4]])
    >>> values.shape, names
    ((2, 2), None)
    """
    if is_sparse(X):
        return _checked(_compressed(X)), None
    if hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "to_numpy"):
        names = [str(name) for name in X.columns]
        return _checked(_frame_values(X, names)), names
    return _checked(_dense(X)), None


def is_sparse(X: Any) -> bool:
    """Tell whether ``X`` is a sparse matrix or array of SciPy, without importing SciPy.

    Examples
    --------
    >>> from bayesieve.data import is_sparse
    >>> is_sparse([[0.0]])
    False
    """
    return hasattr(X, "tocsr") and hasattr(X, "nnz") and type(X).__module__.startswith("scipy.sparse")


def _compressed(X: Any) -> Any:
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
            f"X is not a rectangular table: {error}. Every sample needs the same number of features."
        ) from None
    return values


def _frame_values(frame: Any, names: list[str]) -> Any:
    dtypes = list(frame.dtypes)
    kinds = [str(dtype).lower() for dtype in dtypes]
    text = [name for name, kind in zip(names, kinds, strict=True) if not _is_number(kind)]
    if text:
        shown = ", ".join(repr(name) for name in text[:_MOST_SHOWN])
        more = f" and {len(text) - _MOST_SHOWN} more" if len(text) > _MOST_SHOWN else ""
        raise DataError(
            f"{len(text)} of {len(names)} columns do not hold numbers: {shown}{more}. "
            "Drop them (labels and sample ids do not belong in X) or convert them to numbers."
        )
    if all(kind.startswith("sparse") for kind in kinds) and kinds:
        return _compressed(frame.sparse.to_coo())
    if hasattr(frame, "iloc"):
        masked = any(hasattr(dtype, "na_value") and type(dtype).__name__ != "SparseDtype" for dtype in dtypes)
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan) if masked else frame.to_numpy()
    else:
        values = frame.to_numpy()
    return values if values.dtype.kind != "O" else values.astype(np.float64)


def _is_number(kind: str) -> bool:
    inner = kind.removeprefix("sparse[")
    return inner.startswith(("float", "int", "uint", "bool", "double", "decimal"))


def _checked(values: Any) -> Any:
    if values.ndim != 2:
        raise DataError(
            f"X must be a table of samples x features, but it has {values.ndim} dimension(s) "
            f"(shape {values.shape}). A single feature is X.reshape(-1, 1)."
        )
    if values.dtype.kind not in "bifu":
        what = {"O": "Python objects", "U": "text", "S": "bytes", "c": "complex numbers"}.get(
            values.dtype.kind, f"values of type {values.dtype}"
        )
        raise DataError(
            f"X holds {what}, not numbers. Convert it first, for example X.astype(float), "
            "and leave labels and ids out of it."
        )
    if 0 in values.shape:
        raise DataError(
            f"X is empty: {values.shape[0]} samples x {values.shape[1]} features. Both numbers must be at least 1."
        )
    return values
