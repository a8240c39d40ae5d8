"""Tables of categories: texts, booleans and numbers, brought to a form that can be counted.

Numbers and booleans stay as they are. Everything else becomes small integer codes that stand for
levels. Neither pandas nor polars is imported: their frames are recognised by what they offer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesieve.data.annotated import annotated, is_annotated
from bayesieve.data.frames import as_frame, is_frame
from bayesieve.data.labels import Label, aligned, sorted_labels
from bayesieve.data.matrix import LabelledMatrix, Values, as_values, is_sparse
from bayesieve.data.missing import is_missing
from bayesieve.utils import DataError, Wording, list_names, option

Levels: TypeAlias = tuple[Any, ...]
Factor: TypeAlias = tuple[list[Any], npt.NDArray[Any]]  # distinct values, and for each sample which one it has

MOST_LEVELS = 64  # more distinct values than this look like measurements, or like names of samples
_MOST_CODES = 2**15 - 1
_MOST_SHOWN = 5
_NUMBERS = re.compile(r"(sparse\[)?(float|u?int(?!erval)|bool|double|decimal)")
_TEXT = "OUST"  # NumPy's kinds: objects, texts, bytes, texts of any length


def labelled_categories(
    X: Any,
    y: Any,
    *,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    levels: Sequence[Any] | None = None,
) -> LabelledMatrix:
    """Check a table of categories and its labels and put them together; see :func:`encode_categories`."""
    values, names, found = encode_categories(X, levels)
    chosen = names if feature_names is None else feature_names
    return replace(
        LabelledMatrix.from_arrays(values, aligned(X, y), classes=classes, feature_names=chosen), levels=found
    )


def encode_categories(
    X: Any, levels: Sequence[Any] | None = None
) -> tuple[Values, list[str] | None, Levels | None]:
    """Bring a table of categories to numbers that can be counted.

    Parameters
    ----------
    X
        Samples x features: array, nested list, data frame, SciPy sparse matrix of numbers, AnnData object.
        None, NaN, ``pandas.NA``, masked entries and polars' null are missing.
    levels
        The categories there can be, in the order wanted; the sorted distinct values when not given.

    Returns
    -------
    values, names, levels
        Numbers and booleans as they are, with ``levels`` None: theirs are found while counting. Otherwise
        codes of 8 or 16 bits (-1 is missing) and the levels that they stand for. ``names`` are those of
        a frame's columns.
    """
    declared = None if levels is None else check_levels(levels)
    if is_annotated(X):
        held = annotated(X)
        values, _, found = encode_categories(held.values, levels)
        return values, list(held.feature_names), found
    X = as_frame(X)
    if is_frame(X) and 0 not in X.shape:
        names = [str(name) for name in X.columns]
        kinds = [_NUMBERS.match(str(dtype).lower()) for dtype in X.dtypes]
        if all(kinds):
            values, _ = as_values(X)
            gaps = all(kind and kind[2] == "bool" for kind in kinds) and values.dtype.kind == "f"
            if not gaps:  # booleans with gaps have become 0, 1 and NaN
                return values, names, None
        return _encode(_columns(X), X.shape, names, declared)
    table = _as_array(X)
    if table.dtype.kind not in _TEXT or table.ndim != 2:
        return *as_values(table), None
    if not table.size:
        return *as_values(np.empty(table.shape)), None
    return _encode((_factor(table[:, j].tolist()) for j in range(table.shape[1])), table.shape, None, declared)


def check_levels(levels: Sequence[Any]) -> Levels:
    """Check that declared levels are a list of distinct values."""
    try:
        if isinstance(levels, (str, bytes)):
            raise TypeError(f"{levels!r} is a single text")
        wanted = tuple(plain(level) for level in levels)
        n_distinct = len(set(wanted))
    except TypeError as error:
        raise DataError(f"levels must be a list of categories, for example [0, 1, 2]; {error}.") from None
    if not wanted or n_distinct != len(wanted) or any(is_missing(level) for level in wanted):
        raise DataError(
            Wording(f"levels={list(wanted)!r}", f"--levels {list(wanted)!r}"),
            " must name at least one category, every one once, and none that is missing.",
            kind="levels",
        )
    if len(wanted) > _MOST_CODES:
        raise DataError(f"There are {len(wanted)} levels; at most {_MOST_CODES} can be told apart.")
    return wanted


def plain(value: Any) -> Any:
    """Show a category as a plain Python value: whole numbers as integers, bytes as text."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def place(matrix: LabelledMatrix, sample: int, feature: int) -> str:
    """Name one cell of a table for a message."""
    row = repr(matrix.sample_names[sample]) if matrix.sample_names else str(sample)
    name = f"{matrix.feature_names[feature]!r} (column {feature})" if matrix.feature_names else f"column {feature}"
    return f"sample {row}, feature {name}"


def _as_array(X: Any) -> Any:
    """Return an array, or what :func:`as_values` is to judge."""
    if is_sparse(X):
        return X
    try:
        table = np.ma.asarray(X) if np.ma.isMaskedArray(X) else np.asarray(X)
    except ValueError:  # ragged: the error is raised there
        table = as_values(X)[0]
    if table.dtype.kind not in _TEXT:
        return table
    if np.ma.isMaskedArray(table):
        hidden, table = np.ma.getmaskarray(table), np.ma.getdata(table).astype(object)
        table[hidden] = None
    return np.asarray(X, dtype=object) if isinstance(X, (list, tuple)) else table  # NaN would be the text 'nan'


def _columns(frame: Any) -> Iterator[Factor]:
    """Take a pandas or polars frame apart, column by column."""
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j] if hasattr(frame, "iloc") else frame.to_series(j)
        if hasattr(column, "cat") and hasattr(column.cat, "codes"):
            codes, categories = column.cat.codes.to_numpy(), column.cat.categories.tolist()
            used = np.bincount(codes[codes >= 0], minlength=len(categories)) > 0
            yield [value if use else None for value, use in zip(categories, used, strict=True)], codes
        else:
            yield _factor(column.to_list())


def _factor(values: list[Any]) -> Factor:
    seen: dict[Any, int] = {}
    try:
        inverse = np.fromiter((seen.setdefault(value, len(seen)) for value in values), np.int64, len(values))
    except TypeError as error:
        raise DataError(
            f"Categories must be texts, numbers or booleans; {error}. Convert them first, for example to text."
        ) from None
    return list(seen), inverse


def _encode(
    factors: Iterator[Factor], shape: tuple[int, ...], names: list[str] | None, declared: Levels | None
) -> tuple[Values, list[str] | None, Levels]:
    """Give every distinct value a code, then the codes the order of the levels."""
    seen: dict[Any, int] = {level: i for i, level in enumerate(declared or ())}
    codes = np.empty((shape[1], shape[0]), dtype=np.int16)
    for j, (values, inverse) in enumerate(factors):
        kept = [-1 if is_missing(value) else seen.setdefault(plain(value), len(seen)) for value in values]
        if declared is None:
            _check_number(sum(k >= 0 for k in kept), len(seen), j, names)
        codes[j] = np.array([*kept, -1], dtype=np.int64).clip(-1, _MOST_CODES)[inverse]
    if declared is not None:
        _check_declared(codes, seen, declared, names)
        return _narrow(codes, len(declared)), names, declared
    order = {level: i for i, level in enumerate(sorted_labels(seen))}
    lookup = np.array([*(order[level] for level in seen), -1], dtype=np.int16)
    return _narrow(lookup[codes], len(order)), names, tuple(order)


def _narrow(codes: npt.NDArray[np.int16], n_levels: int) -> npt.NDArray[Any]:
    return codes.T.astype(np.int8) if n_levels <= 127 else codes.T


def _check_number(n_here: int, n_all: int, j: int, names: list[str] | None) -> None:
    if n_here > MOST_LEVELS:
        which = f"Feature {names[j]!r}" if names else f"Column {j}"
        raise DataError(
            f"{which} holds {n_here} different values, more than {MOST_LEVELS}: it looks like measurements or "
            "names of samples, not like categories. Leave it out, put its values into classes, or declare levels."
        )
    if n_all > _MOST_CODES:
        raise DataError(f"The table holds more than {_MOST_CODES} different values; so many are no categories.")


def _check_declared(
    codes: npt.NDArray[np.int16], seen: dict[Any, int], declared: Levels, names: list[str] | None
) -> None:
    outside = codes >= len(declared)
    if not outside.any():
        return
    feature, sample = (int(places[0]) for places in np.nonzero(outside))
    which = [list(seen)[i] for i in np.unique(codes[outside])]
    where = f"sample {sample}, feature {repr(names[feature]) if names else feature}"
    raise outside_levels(int(outside.sum()), which, where, declared)


def outside_levels(count: int, which: Sequence[Any], where: str, declared: Levels) -> DataError:
    """Make the error about values that are not among the declared levels."""
    return DataError(
        f"{count} value(s) are not among the declared levels {list(declared)!r}: "
        f"{list_names(which, _MOST_SHOWN)}, the first at {where}. "
        "Add them to levels, or make them missing (NaN, None) and pass ",
        option("missing", "omit"),
        ".",
        kind="unknown-level",
    )
