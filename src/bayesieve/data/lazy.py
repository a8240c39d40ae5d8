"""Tables that are not in memory: told by what they offer, so that neither Dask nor zarr has to be there."""

from __future__ import annotations

import sys
from typing import Any

from bayesieve.data.annotated import AnnotatedValues, is_annotated


def is_lazy(X: Any) -> bool:
    """Tell whether ``X`` is a Dask array or data frame, a zarr array, or an AnnData object that holds one.

    Nothing is read. A table that is lazy is summed block by block and never brought into memory as a whole.
    """
    if isinstance(X, AnnotatedValues):
        return is_lazy(X.values)
    if is_lazy_array(X):
        return True
    return "dask" in sys.modules and is_annotated(X) and is_lazy_array(X.X)


def is_lazy_array(X: Any) -> bool:
    """Tell whether ``X`` is a collection of Dask or an array of zarr."""
    return hasattr(type(X), "__dask_graph__") or (
        "zarr" in sys.modules and isinstance(X, getattr(sys.modules["zarr"], "Array", ()))
    )
