"""Tables whose columns are of several kinds: measurements, counts and categories, told apart column by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.categories import MOST_LEVELS, encode_categories, plain
from bayesieve.data.labels import Label, aligned
from bayesieve.data.matrix import LabelledMatrix, as_values, is_sparse
from bayesieve.data.missing import is_missing
from bayesieve.utils import FloatArray, IntArray, OptionError, did_you_mean

KINDS = ("measurement", "count", "category", "none")
MEASUREMENT, COUNT, CATEGORY, NONE = range(4)
FEW_LEVELS = 5  # whole numbers with at most so many different values are categories: genotypes, grades, 0 and 1
LEAST_REACH = 10.0  # counts reach from near 0 to far: their largest is so many times their smallest
_FEW_OF_TEXT, _EACH = 8, 2  # more levels than this, each less than twice: ids, dates and comments


@dataclass(frozen=True, slots=True, eq=False)
class MixedMatrix(LabelledMatrix):
    """A labelled matrix whose features are of several kinds.

    Parameters
    ----------
    kinds
        For every feature a position in :data:`KINDS`.
    category_levels
        What the codes of features that are categories stand for; ``values`` holds NaN where one is missing.
    """

    kinds: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8))
    category_levels: tuple[Any, ...] = ()

    def part(self, kind: int) -> LabelledMatrix | None:
        """Return the features of one kind, as models of that kind take them; None if there are none."""
        places = np.flatnonzero(self.kinds == kind)
        if not places.size:
            return None
        values: Any = self.values[:, places]
        if kind == CATEGORY:
            values = np.where(np.isnan(values), -1, values).astype(np.int16)
        names = None if self.feature_names is None else tuple(self.feature_names[j] for j in places.tolist())
        exposures = self.exposures if kind == COUNT else None
        levels = self.category_levels if kind == CATEGORY else None
        return LabelledMatrix(values, self.labels, names, self.sample_names, exposures, levels)


def labelled_mixture(
    X: Any,
    y: Any,
    *,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    likelihoods: Mapping[str, str] | None = None,
) -> MixedMatrix:
    """Check a table of several kinds of features and its labels; see :func:`kind_of`.

    Parameters
    ----------
    X
        Samples x features: a pandas or polars frame, an array of numbers or objects, nested lists.
    y, classes, feature_names
        As for :meth:`LabelledMatrix.from_arrays`.
    likelihoods
        Kinds that are known better, by the name of the feature.
    """
    columns, names = _columns(X)
    return mixture(
        columns, names if feature_names is None else list(feature_names), aligned(X, y), classes, likelihoods
    )


def mixture(
    columns: Sequence[Any],
    names: Sequence[str] | None,
    y: Any,
    classes: Any,
    likelihoods: Mapping[str, str] | None,
) -> MixedMatrix:
    """Put columns of numbers (float arrays) and of anything else (lists) together."""
    n_samples = len(columns[0]) if columns else 0
    asked = check_likelihoods(likelihoods, names or [f"x{j}" for j in range(len(columns))])
    kinds = np.array([kind_of(column) for column in columns], np.int8)
    for place, kind in asked.items():
        kinds[place] = kind
    values = np.full((n_samples, len(columns)), np.nan)
    for j, column in enumerate(columns):
        if kinds[j] in (MEASUREMENT, COUNT):
            values[:, j] = _numbers(column, names[j] if names else f"x{j}")
    categories = np.flatnonzero(kinds == CATEGORY)
    levels: tuple[Any, ...] = ()
    if categories.size:
        held = np.empty((n_samples, categories.size), dtype=object)
        for k, j in enumerate(categories.tolist()):
            held[:, k] = [None if is_missing(value) else plain(value) for value in columns[j]]
        codes, _, found = encode_categories(held)
        levels = found or ()
        values[:, categories] = np.where(codes < 0, np.nan, codes)
    made = LabelledMatrix.from_arrays(values, y, classes=classes, feature_names=names)
    return MixedMatrix(made.values, made.labels, made.feature_names, kinds=kinds, category_levels=levels)


def check_likelihoods(likelihoods: Mapping[str, str] | None, names: Sequence[str]) -> dict[int, int]:
    """Return kinds that the user states, by the place of the feature."""
    found = {}
    for name, kind in (likelihoods or {}).items():
        if kind not in KINDS[:3]:
            raise OptionError(f"A feature is a measurement, a count or a category; {name!r} cannot be {kind!r}.")
        if name not in names:
            raise OptionError(f"There is no feature {name!r}, which is to be a {kind}.{did_you_mean(name, names)}")
        found[list(names).index(name)] = KINDS.index(kind)
    return found


def kind_of(column: Any) -> int:
    """Tell what the values of a feature are.

    Texts and booleans are categories, and so are whole numbers with at most 5 different values. Whole numbers from
    0 upwards are counts if the largest is 10 times the smallest or more and their variance is at least their mean,
    as that of events is. All other numbers are measurements. Texts of which nearly every sample has its own (ids,
    dates, comments) are of no kind.
    """
    if not isinstance(column, np.ndarray):
        levels = {plain(value) for value in column if not is_missing(value)}
        n = sum(not is_missing(value) for value in column)
        odd = len(levels) > MOST_LEVELS or (len(levels) > _FEW_OF_TEXT and n < _EACH * len(levels))
        return NONE if odd else CATEGORY
    there = column[~np.isnan(column)]
    if not there.size or not np.isfinite(there).all() or (there != np.rint(there)).any():
        return MEASUREMENT
    if np.unique(there).size <= FEW_LEVELS:
        return CATEGORY
    spread = there.size > 1 and there.var(ddof=1) >= there.mean()
    return COUNT if there.min() >= 0 and spread and there.max() >= LEAST_REACH * there.min() else MEASUREMENT


def _numbers(column: Any, name: str) -> FloatArray:
    if isinstance(column, np.ndarray):
        return column
    try:
        return np.array([np.nan if is_missing(value) else float(value) for value in column])
    except (TypeError, ValueError):
        raise OptionError(f"{name!r} holds texts, which are neither measurements nor counts.") from None


def _columns(X: Any) -> tuple[list[Any], list[str] | None]:
    """Take a table apart: a float array for every column of numbers, a list for every other one."""
    if hasattr(X, "to_numpy") and hasattr(X, "columns") and hasattr(X, "dtypes") and 0 not in X.shape:
        return [*_of_frame(X)], [str(name) for name in X.columns]
    table = X if is_sparse(X) or not isinstance(X, (list, tuple)) else np.array(X, dtype=object)
    if not is_sparse(table):
        table = np.asarray(table)
    if is_sparse(table) or table.dtype.kind in "bifuc" or table.ndim != 2 or not table.size:
        values, _ = as_values(table)  # says what is wrong with it
        dense = values.toarray() if is_sparse(values) else values
        if dense.dtype.kind == "b":
            return [dense[:, j].tolist() for j in range(dense.shape[1])], None
        return [*np.asarray(dense, dtype=np.float64).T], None
    return [_of_objects(table[:, j].tolist()) for j in range(table.shape[1])], None


def _of_frame(frame: Any) -> Iterator[Any]:
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j] if hasattr(frame, "iloc") else frame.to_series(j)
        kind = str(column.dtype).lower()
        listed = column.to_list()
        if kind.startswith(("category", "categorical", "enum", "bool")):
            yield listed
        else:
            yield _of_objects(listed)


def _of_objects(values: list[Any]) -> Any:
    """Return numbers as an array, everything else as it is."""
    there = [value for value in values if not is_missing(value)]
    numbers = all(isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) for value in there)
    if not numbers or not there:
        return values
    return np.array([np.nan if is_missing(value) else float(value) for value in values])


def count_kinds(kinds: npt.NDArray[np.int8]) -> IntArray:
    """Return how many features there are of each kind."""
    return np.bincount(kinds, minlength=len(KINDS))
