"""AnnData objects: values, names and what is said of the samples, by what the object offers.

anndata is not imported. Values may be dense or sparse, in memory, a view, in a file (HDF5 or zarr) or yet to be
computed (dask). They are brought into memory; a file that is larger is for ``read_table``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.missing import is_missing
from bayesieve.utils import DataError, LabelError, OptionError, did_you_mean, list_names

RAW = "raw"  # as a layer: the values that were set aside

LevelCounts = Mapping[str, int]  # number of samples by label

_OFFERS = ("X", "obs", "var", "obs_names", "var_names", "layers")
_MOST_LEVELS, _MOST_CANDIDATES = 6, 8


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatedValues:
    """One matrix of an AnnData object with the names of its rows and columns, taken wherever a table is.

    Parameters
    ----------
    values
        Samples x features in memory: an array, or a CSR or CSC matrix.
    feature_names, sample_names
        Names of the features and of the samples.
    obs
        The frame that describes the samples.
    """

    values: Any
    feature_names: tuple[str, ...]
    sample_names: tuple[str, ...]
    obs: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return self.values.shape[0], self.values.shape[1]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of ``obs`` as plain labels or numbers; a missing one is None or NaN."""
        return obs_column(self, name)


def is_annotated(X: Any) -> bool:
    """Tell whether ``X`` is an AnnData object, or a matrix taken from one, without reading its values."""
    return isinstance(X, AnnotatedValues) or all(hasattr(type(X), name) for name in _OFFERS)


def annotated(
    X: Any, *, layer: str | None = None, use_raw: bool | None = None, mask_var: Any = None, lazy: bool = False
) -> AnnotatedValues:
    """Take one matrix of an AnnData object.

    Parameters
    ----------
    X
        The object; what this function returned is taken as it is.
    layer
        A layer, or ``"raw"`` for ``adata.raw``; X when not given.
    use_raw
        True is another way to ask for ``adata.raw``.
    mask_var
        Features to take: a column of ``var`` with truth values, or one truth value per feature.
    lazy
        Leave values that are yet to be computed (Dask) as they are.
    """
    if not is_annotated(X):
        raise DataError(f"Only an AnnData object has layers; {type(X).__name__} is none. Hand over the values.")
    if isinstance(X, AnnotatedValues):
        if layer is not None or use_raw or mask_var is not None:
            raise OptionError("One matrix was taken already; take another from the AnnData object itself.")
        return X
    values, var, names = _matrix(X, layer, use_raw)
    chosen = None if mask_var is None else _mask(var, mask_var, len(names))
    values = values if lazy and hasattr(type(values), "__dask_graph__") else in_memory(values)
    if chosen is not None:
        values, names = values[:, chosen], names[chosen]
    return AnnotatedValues(values, tuple(map(str, names)), tuple(map(str, X.obs_names)), X.obs)


def in_memory(values: Any) -> Any:
    """Bring a matrix from a file, or one that is yet to be computed, into memory; a view becomes plain."""
    if hasattr(values, "compute"):  # dask
        values = values.compute()
    elif hasattr(values, "to_memory"):  # a sparse matrix in a file
        values = values.to_memory()
    if hasattr(values, "tocsr"):
        return _plain_sparse(values)
    return np.asarray(values)


def _plain_sparse(values: Any) -> Any:
    """Return a matrix of SciPy's own class; a view of anndata is of a class derived from one."""
    if type(values).__module__.startswith("scipy.sparse") or values.format not in ("csr", "csc"):
        return values
    from scipy.sparse import csc_matrix, csr_matrix  # noqa: PLC0415 - slow to import

    made: Any = csr_matrix if values.format == "csr" else csc_matrix
    return made((values.data, values.indices, values.indptr), shape=values.shape)


def _matrix(X: Any, layer: str | None, use_raw: bool | None) -> tuple[Any, Any, npt.NDArray[np.object_]]:
    """Return the values as they are held, the frame that describes their features, and its names."""
    if use_raw:
        if layer not in (None, RAW):
            raise OptionError(f"use_raw=True and layer={layer!r} ask for different values. Leave one of them out.")
        layer = RAW
    layers = [str(name) for name in X.layers]
    if layer == RAW and layer not in layers:
        if X.raw is None:
            raise OptionError("The AnnData object has no raw values: adata.raw is None. Name a layer, or X.")
        return X.raw.X, X.raw.var, np.array(X.raw.var_names, dtype=object)
    if layer is None:
        values = X.X
        if values is None:
            if {"mean", "var"} <= set(layers):
                raise DataError(
                    "The AnnData object holds no values but statistics of groups. Screen "
                    "bs.aggregated_statistics(adata, labels)."
                )
            there = f"Name one of its layers: layer={layers[0]!r}" if layers else "It has no layers either"
            raise DataError(f"The AnnData object has no X. {there}.")
    elif layer in layers:
        values = X.layers[layer]
    else:
        known = [*layers, *([] if X.raw is None else [RAW])]
        there = f"It has: {list_names(known)}." if known else "It has only X."
        raise OptionError(f"The AnnData object has no layer {layer!r}.{did_you_mean(layer, known)} {there}")
    return values, X.var, np.array(X.var_names, dtype=object)


def _mask(var: Any, mask: Any, n_features: int) -> npt.NDArray[np.int64]:
    if isinstance(mask, str):
        columns = [str(name) for name in var.columns]
        if mask not in columns:
            raise OptionError(
                f"mask_var={mask!r} is no column of var.{did_you_mean(mask, columns)} It has: "
                f"{list_names(columns) or 'no columns'}."
            )
        mask = var[mask]
    chosen = np.asarray(mask)
    if chosen.shape != (n_features,) or chosen.dtype.kind not in "bO":
        raise OptionError(
            f"mask_var must be one truth value for each of the {n_features:,} features, not an array of shape "
            f"{chosen.shape} and type {chosen.dtype}."
        )
    places = np.flatnonzero([value is True or value is np.True_ for value in chosen.tolist()])
    if not places.size:
        raise OptionError("mask_var leaves no feature. Check the column of var.")
    return places


def obs_column(X: Any, name: str) -> npt.NDArray[Any]:
    """Return a column of ``obs`` as plain labels or numbers; a missing one is None or NaN."""
    columns = {str(column): column for column in X.obs.columns}
    if name not in columns:
        raise _no_column(X.obs, name, list(columns))
    column = X.obs[columns[name]]
    values = np.asarray(column)
    if values.dtype.kind in "biufmM":
        return values
    return np.array([None if is_missing(value) else value for value in values.tolist()], dtype=object)


def _no_column(obs: Any, name: str, columns: Sequence[str]) -> LabelError:
    levels = {column: _levels(obs[column]) for column in columns if column in obs}
    found = describe_candidates(levels)
    if not columns:
        there = "It has no columns at all: the labels can be given as an array, one per sample."
    else:
        there = f"Columns that take several values: {found}." if found else f"It has: {list_names(columns)}."
    return LabelError(f"obs has no column {name!r}.{did_you_mean(name, columns)} {there}", kind="no-column")


def _levels(column: Any) -> LevelCounts:
    values = np.asarray(column)
    if values.dtype.kind == "f":  # measurements are no labels
        return {}
    return Counter(str(value) for value in values.tolist() if not is_missing(value))


def describe_candidates(columns: Mapping[str, LevelCounts]) -> str:
    """Name the columns that could hold labels, with their levels and how many samples have each."""
    useful = {name: levels for name, levels in columns.items() if 1 < len(levels) <= sum(levels.values()) / 2}
    few = sorted(useful, key=lambda name: len(useful[name]) > _MOST_LEVELS)  # else in the order of the file
    shown = [f"{name!r} ({_describe_levels(useful[name])})" for name in few[:_MOST_CANDIDATES]]
    more = f" and {len(few) - _MOST_CANDIDATES:,} more" if len(few) > _MOST_CANDIDATES else ""
    return ", ".join(shown) + more


def _describe_levels(levels: LevelCounts) -> str:
    if len(levels) > _MOST_LEVELS:
        return f"{len(levels):,} values"
    return ", ".join(f"{label} {count:,}" for label, count in sorted(levels.items()))
