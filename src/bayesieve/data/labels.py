"""Class labels: any hashable, encoded as small integers in a defined order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesieve.data.annotated import is_annotated, obs_column
from bayesieve.data.frames import as_series
from bayesieve.data.missing import is_missing
from bayesieve.utils import LabelError, SampleIds, Wording, list_names, option

Label: TypeAlias = Hashable

TOTALS = ("exposures", "total")  # not a column, unless there is one: the total of each sample
_MOST_SHOWN = 8
_COMPLEX = "Complex numbers cannot be class labels. Pass strings, integers or booleans."


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The class of every sample.

    Parameters
    ----------
    classes
        The labels in order; differences are later read as second minus first.
    codes
        For every sample the position of its label in ``classes``.
    """

    classes: tuple[Label, ...]
    codes: npt.NDArray[np.int64]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of samples per class."""
        return np.bincount(self.codes, minlength=len(self.classes)).astype(np.int64)


def disambiguate(labels: Sequence[Label], *reserved: str) -> list[str]:
    """Labels as texts, told apart where their plain text would collide with another or with ``reserved``."""
    plain = [str(label) for label in labels]
    return plain if len({*plain, *reserved}) == len(plain) + len(reserved) else [repr(label) for label in labels]


def aligned(X: Any, values: Any, what: str = "y") -> Any:
    """Return what is said of every sample in the order of the table, if both are pandas objects with an index.

    An index with the same entries in another order says who is who; one with other entries contradicts the table.
    Anything without an index is taken by position. Of an AnnData object a text names a column of ``obs``.
    """
    ours: Any = getattr(X.obs if is_annotated(X) else X, "index", None)
    if is_annotated(X) and isinstance(values, str):
        if (what, values) == TOTALS and values not in X.obs:
            return values
        plain = obs_column(X, values)  # names the columns there are if this is none
        return X.obs[values] if values in X.obs and declared_order(X.obs[values]) else plain
    theirs: Any = getattr(values, "index", None)
    if not all(hasattr(index, "get_indexer") for index in (ours, theirs)) or ours.equals(theirs):
        return values
    by_position = f"If their order is the same, pass {what}.to_numpy(), which is taken by position."
    if not (ours.is_unique and theirs.is_unique):
        raise LabelError(
            f"The index of {what} differs from that of X, and entries are repeated, so that it cannot be told "
            f"which value belongs to which sample. {by_position}",
            kind="index",
        )
    places = theirs.get_indexer(ours)
    absent = [str(name) for name, place in zip(ours, places.tolist(), strict=True) if place < 0]
    extra = len(theirs) - (len(ours) - len(absent))
    if absent or extra:
        more = [f"{len(absent):,} of the {len(ours):,} samples of X are not in it"] if absent else []
        more += [f"{extra:,} of its {len(theirs):,} entries are not in X"] if extra else []
        raise LabelError(
            f"The index of {what} is not that of X: {' and '.join(more)}",
            SampleIds(tuple(map(repr, absent)), ", for example "),
            f". Use the same index in both. {by_position}",
            kind="index",
        )
    return values.iloc[places]


def encode_labels(y: Any, classes: Sequence[Label] | None = None, *, noun: str = "label") -> Labels:
    """Turn labels of any hashable type into codes.

    Classes stand in the order that is asked for, else in that which the labels declare (:func:`declared_order`),
    else sorted.

    Returns
    -------
    Labels
        Classes and codes. A class of ``classes`` that no sample carries is kept, with count 0.
    """
    array = _as_vector(y)
    found, inverse = _factorise(array, noun)
    wanted = _in_order(found, declared_order(y)) if classes is None else check_classes(classes)
    position = {label: i for i, label in enumerate(wanted)}
    outside = [label for label in found if label not in position]
    if outside:
        count = int(np.isin(inverse, [i for i, label in enumerate(found) if label not in position]).sum())
        raise LabelError(
            f"{count} of {array.size} samples carry a label that is not in ",
            option("classes", wanted),
            f": {list_names(outside)}.",
            hint=Wording(
                "Add the label to classes, or leave these samples out first: keep = np.isin(y, classes).",
                "Add the label to --classes, or leave these samples out first.",
            ),
            kind="unknown-label",
        )
    lookup = np.array([position[label] for label in found], dtype=np.int64)
    return Labels(tuple(wanted), lookup[inverse] if found else np.empty(0, np.int64))


def declared_order(y: Any) -> tuple[Label, ...]:
    """Return all levels of an ordered categorical (pandas, polars Enum) in their order; empty for anything else.

    Without an order of their own, as in a plain categorical, categories are what came first, or sorted texts.
    """
    dtype = getattr(y, "dtype", None)
    if dtype is None and hasattr(y, "iloc") and np.ndim(y) == 2 and y.shape[1] == 1:  # a frame of one column
        dtype = y.dtypes.iloc[0]
    if type(dtype).__name__ != "Enum" and getattr(dtype, "ordered", None) is not True:
        return ()
    levels: Any = getattr(dtype, "categories", None)
    return () if levels is None else tuple(levels.to_list() if hasattr(levels, "to_list") else levels)


def classes_in_order(y: Any) -> list[Label] | None:
    """Return the classes of labels that declare their order; None for others."""
    found = encode_labels(y)
    return list(found.classes) if declared_order(y) else None


def _in_order(found: list[Label], declared: tuple[Label, ...]) -> list[Label]:
    """Labels that occur in the order of declared levels, of which none is missing, else sorted."""
    occurring = set(found)
    kept = [level for level in declared if level in occurring]
    return kept if len(kept) == len(found) else sorted_labels(found)


def _as_vector(y: Any) -> npt.NDArray[Any]:
    if y is None:
        raise LabelError("No labels were given: y is None. Pass one class label per sample.")
    y = as_series(y)
    if np.ma.isMaskedArray(y):
        hidden, y = np.ma.getmaskarray(y), np.ma.getdata(y).astype(object)
        y[hidden] = None
    try:
        array = _vector_of_tuples(y) if _holds_tuples(y) else np.asarray(y)
        if array.dtype.kind in "US" and isinstance(y, (list, tuple)):  # NumPy turns NaN into the text 'nan'
            array = np.asarray(y, dtype=object)
    except ValueError:
        raise LabelError(
            "Labels must be one value per sample, but y is a ragged list: its entries are sequences of "
            "different lengths. Pass one label per sample."
        ) from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        what = f"{array.ndim} dimensions (shape {array.shape})" if array.ndim else f"the type {type(y).__name__}"
        raise LabelError(
            f"Labels must be one value per sample, but y has {what}. Pass a single column: a list, an array "
            "or a series."
        )
    if array.dtype.kind == "c":
        raise LabelError(_COMPLEX)
    return array


def _holds_tuples(y: Any) -> bool:
    return isinstance(y, (list, tuple)) and len(y) > 0 and all(isinstance(label, tuple) for label in y)


def _vector_of_tuples(y: Sequence[Any]) -> npt.NDArray[Any]:
    """Keep tuples as labels, where NumPy would make a second dimension of them."""
    array = np.empty(len(y), dtype=object)
    for i, label in enumerate(y):
        array[i] = label
    return array


def _factorise(array: npt.NDArray[Any], noun: str) -> tuple[list[Label], npt.NDArray[np.int64]]:
    """Return the distinct labels as Python objects and the position of each sample's label among them."""
    missing = _missing_labels(array)
    if missing.any():
        shown = np.flatnonzero(missing)[:_MOST_SHOWN].tolist()
        raise LabelError(
            f"{int(missing.sum())} of {array.size} samples have no {noun} (None, NaN or NaT), "
            f"the first at position {', '.join(map(str, shown))}.",
            hint=f"Leave these samples out, or give them {'a class' if noun == 'label' else 'one'}.",
            kind="no-label",
        )
    if array.dtype.kind in "bifuUSmM":
        values, inverse = np.unique(array, return_inverse=True)
        return [value.item() for value in values], inverse.astype(np.int64)
    seen: dict[Label, int] = {}
    try:
        codes = np.fromiter((seen.setdefault(label, len(seen)) for label in array), np.int64, array.size)
    except TypeError as error:
        raise LabelError(
            f"Labels must be hashable (strings, numbers, booleans, tuples); {error}. "
            "Convert them first, for example y = [str(label) for label in y]."
        ) from None
    if any(isinstance(label, (complex, np.complexfloating)) for label in seen):
        raise LabelError(_COMPLEX)
    return [label.item() if isinstance(label, np.generic) else label for label in seen], codes


def _missing_labels(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array))
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind != "O":
        return np.zeros(array.shape, dtype=bool)
    return np.fromiter((is_missing(label) for label in array), bool, array.size)


def sorted_labels(found: Iterable[Label]) -> list[Label]:
    """Sort labels; labels of mixed types get a stable order all the same."""
    found = list(found)
    try:
        return sorted(found)  # type: ignore[type-var]
    except TypeError:
        return sorted(found, key=lambda label: (type(label).__name__, repr(label)))


def check_classes(classes: Sequence[Label]) -> list[Label]:
    """Check that classes are hashable and named once."""
    try:
        wanted = [label.item() if isinstance(label, np.generic) else label for label in classes]
        n_distinct = len(set(wanted))
    except TypeError as error:
        raise LabelError(
            f"classes must be a sequence of labels that occur in y, for example ['control', 'case']; {error}."
        ) from None
    if not wanted:
        raise LabelError("No class is named; name at least one class.")
    if n_distinct != len(wanted):
        raise LabelError(option("classes", wanted), " names a class twice. Name every class once.", kind="classes")
    return wanted


def union_of_classes(mine: tuple[Label, ...], theirs: tuple[Label, ...]) -> tuple[Label, ...]:
    """All classes of both: in the order of the list that holds the other, else sorted."""
    if set(theirs) <= set(mine):
        return mine
    if set(mine) <= set(theirs):
        return theirs
    return tuple(sorted_labels({*mine, *theirs}))
