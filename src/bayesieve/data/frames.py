"""Data frames: pandas and polars (and what behaves like them) by what they offer, others as a stream of Arrow."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from bayesieve.utils import DataError, list_names

_MOST_COLUMNS = 5
_NUMBERS = re.compile(r"(float|u?int|bool|double|decimal)(\d|ean|$|\W)")  # not "interval[int64]"


def is_frame(X: Any) -> bool:
    """Tell whether ``X`` is a data frame that gives its values away as an array."""
    return hasattr(X, "to_numpy") and hasattr(X, "columns") and hasattr(X, "dtypes")


def as_frame(X: Any) -> Any:
    """Turn a table that only streams Arrow (pyarrow, DuckDB, ibis) into a frame; anything else stays as it is."""
    if is_frame(X) or not all(hasattr(type(X), name) for name in ("__arrow_c_stream__", "columns")):
        return X
    import polars as pl  # noqa: PLC0415 - slow to import

    return pl.DataFrame(X)


def as_series(y: Any) -> Any:
    """Turn a table of one column that only streams Arrow into a series; anything else stays as it is."""
    made = as_frame(y)
    return made.to_series() if made is not y and made.shape[1] == 1 else made


def check_frame(frame: Any) -> None:
    """Raise if columns of a data frame hold no numbers."""
    names = [str(name) for name in frame.columns]
    kinds = [str(dtype).lower() for dtype in frame.dtypes]
    text = [name for name, kind in zip(names, kinds, strict=True) if not _is_number(kind)]
    if text:
        raise DataError(
            f"{len(text)} of {len(names)} columns do not hold numbers: {list_names(text, _MOST_COLUMNS)}. "
            "Drop them (labels and sample ids do not belong in X) or convert them to numbers."
        )


def frame_values(frame: Any) -> Any:
    """Return the numbers of a frame: an array, or a sparse matrix where all of its columns are sparse."""
    check_frame(frame)
    dtypes = list(frame.dtypes)
    kinds = [str(dtype).lower() for dtype in dtypes]
    if all(kind.startswith("sparse") and dtype.fill_value == 0 for kind, dtype in zip(kinds, dtypes, strict=True)):
        return frame.sparse.to_coo()
    if hasattr(frame, "iloc"):
        masked = any(hasattr(dtype, "na_value") and type(dtype).__name__ != "SparseDtype" for dtype in dtypes)
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan) if masked else frame.to_numpy()
    else:
        values = frame.to_numpy()
    return values if values.dtype.kind != "O" else values.astype(np.float64)


def _is_number(kind: str) -> bool:
    return _NUMBERS.match(kind.removeprefix("sparse[")) is not None
