"""The table of values: arrays, data frames and sparse matrices, brought to a form the kernels read.

Neither pandas nor polars is imported: their frames are recognised by what they offer.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesieve.errors import TABLE, DataError
from bayesieve.utils import listed

Values: TypeAlias = Any  # a 2-D numpy array of numbers, or a CSR or CSC matrix of SciPy

_MOST_SHOWN = 5
_NUMBERS = re.compile(r"(float|u?int|bool|double|decimal)(\d|ean|$|\W)")  # not "interval[int64]"


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
    """
    if is_sparse(X):
        return _checked(_compressed(X), X), None
    if hasattr(X, "to_numpy") and hasattr(X, "columns") and hasattr(X, "dtypes"):
        names = [str(name) for name in X.columns]
        if 0 in X.shape:
            return _checked(np.empty(X.shape), X), names
        return _checked(_frame_values(X, names), X), names
    return _checked(_dense(X), X), None


def is_sparse(X: Any) -> bool:
    """Tell whether ``X`` is a sparse matrix or array of SciPy, without importing SciPy."""
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
            f"X is not a rectangular table ({str(error).rstrip('.')}). Every sample needs the same number of "
            "features."
        ) from None
    return values


def _frame_values(frame: Any, names: list[str]) -> Any:
    dtypes = list(frame.dtypes)
    kinds = [str(dtype).lower() for dtype in dtypes]
    text = [name for name, kind in zip(names, kinds, strict=True) if not _is_number(kind)]
    if text:
        raise DataError(
            f"{len(text)} of {len(names)} columns do not hold numbers: {listed(text, _MOST_SHOWN)}. "
            "Drop them (labels and sample ids do not belong in X) or convert them to numbers."
        )
    if all(kind.startswith("sparse") and dtype.fill_value == 0 for kind, dtype in zip(kinds, dtypes, strict=True)):
        return _compressed(frame.sparse.to_coo())
    if hasattr(frame, "iloc"):
        masked = any(hasattr(dtype, "na_value") and type(dtype).__name__ != "SparseDtype" for dtype in dtypes)
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan) if masked else frame.to_numpy()
    else:
        values = frame.to_numpy()
    return values if values.dtype.kind != "O" else values.astype(np.float64)


def _is_number(kind: str) -> bool:
    return _NUMBERS.match(kind.removeprefix("sparse[")) is not None


def _checked(values: Any, given: Any) -> Any:
    if values.ndim == 0:
        hint = " Call collect() first." if type(given).__name__ == "LazyFrame" else ""
        raise DataError(
            f"X must be a table of samples x features, not of type {type(given).__name__}. Pass a 2-D array, a "
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
