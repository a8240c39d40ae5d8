"""What rivals work on: the moments of two classes, or their values."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, Labels, is_sparse
from bayesieve.models import CalibratedModel
from bayesieve.posterior import FeaturePosterior
from bayesieve.screening import SummarisedTable, screen_input
from bayesieve.stats import ClassStatistics, Moments
from bayesieve.utils import DataError, LabelError, OptionError, check_missing

_VALUES_AT_ONCE = 1 << 22


def two_class_moments(
    X: Any,
    y: Any = None,
    method: str = "this method",
    classes: Any = None,
    feature_names: Any = None,
    missing: str = "raise",
    n_threads: int | None = None,
) -> tuple[Moments, tuple[str, ...] | None]:
    """Reduce whatever was given to the moments of two classes, and the names of the features."""
    if isinstance(X, (FeaturePosterior, LabelledMatrix)):
        _check_bare(X, y, classes, feature_names)
    if isinstance(X, LabelledMatrix):
        moments, names, blocked = (
            Moments.from_labelled(X, missing=missing, n_threads=n_threads),
            X.feature_names,
            False,
        )
    elif isinstance(X, FeaturePosterior):
        if not X.has_moments:
            name = type(X.statistics).__name__
            raise DataError(f"{method} works on moments, not on {name}. Hand over the table.", kind="capability")
        moments, names = X.moments, X.feature_names
        blocked = X.block_evidence is not None or X.adjustment is not None
    else:
        found = screen_input(X, y, CalibratedModel(), classes, feature_names, missing, n_threads)
        moments, names, blocked = cast("Moments", found.statistics), found.names, bool(found.blocked)
    if blocked:
        raise OptionError(f"{method} knows no blocks. Score each block by itself, or screen with blocks.")
    _check_two(moments.classes, method)
    return moments, names


def two_class_values(
    X: Any,
    y: Any = None,
    method: str = "this method",
    classes: Any = None,
    feature_names: Any = None,
    missing: str = "raise",
) -> LabelledMatrix:
    """Check a table of two classes for methods that need its values; a file is read again.

    Parameters
    ----------
    X
        A samples x features table, a :class:`bayesieve.data.LabelledMatrix`, or what
        :func:`bayesieve.read_table` returns.
    y, classes, feature_names, missing
        As for :func:`bayesieve.screen`.
    method
        Who asks, for messages.
    """
    if isinstance(X, (ClassStatistics, FeaturePosterior)):
        raise DataError(
            f"{method} needs the values, but was given {type(X).__name__}, which hold them no longer. Hand over "
            "the table itself, or choose a method that uses moments, such as 'welch' or 'bd'."
        )
    check_missing(missing)
    if isinstance(X, (SummarisedTable, LabelledMatrix)):
        _check_bare(X, y, classes, feature_names)
        matrix = X if isinstance(X, LabelledMatrix) else _read_again(X, method)
    else:
        matrix = LabelledMatrix.from_arrays(X, y, classes=classes, feature_names=feature_names)
    _check_two(matrix.labels.classes, method)
    if not isinstance(X, SummarisedTable):  # a file has been checked when it was read
        _check_finite(matrix, missing)
    return matrix


def _check_bare(X: Any, *others: Any) -> None:
    if any(other is not None for other in others):
        raise LabelError(f"{type(X).__name__} already holds its classes and features; hand it over alone.")


def _check_two(classes: tuple[Any, ...], method: str) -> None:
    if len(classes) == 1:
        raise LabelError(
            f"{method} compares two classes of independent samples, but there is only {classes[0]!r}. Check the "
            "label column; pairs are compared by screen()."
        )
    if len(classes) != 2:
        raise LabelError(
            f"{method} compares two classes, not {len(classes)} ({', '.join(map(str, classes[:5]))}). Take the "
            "samples of two of them; screen() compares more."
        )


def _check_finite(matrix: LabelledMatrix, missing: str) -> None:
    """Raise if a value is infinite, or missing where that is not allowed; integers are never either."""
    if matrix.values.dtype.kind != "f":
        return
    width = max(1, _VALUES_AT_ONCE // max(matrix.n_samples, 1))
    suspects: list[npt.NDArray[np.int64]] = []
    for lo in range(0, matrix.n_features, width):
        part = matrix.values[:, lo : lo + width]
        part = part.toarray() if is_sparse(part) else part
        odd = np.isinf(part) if missing == "omit" else ~np.isfinite(part)
        suspects.append(lo + np.flatnonzero(odd.any(axis=0)))
    found = np.concatenate(suspects) if suspects else np.empty(0, np.int64)
    if found.size:
        matrix.explain_non_finite(found, missing)


def _read_again(table: SummarisedTable, method: str) -> LabelledMatrix:
    """Bring the values of a file together in memory."""
    if table.blocked or table.n_pairs:
        what = "pairs" if table.n_pairs else "blocks"
        raise OptionError(f"{method} knows no {what}. Read the table without them, or screen with {what}.")
    statistics = table.statistics
    parts: dict[int, list[Any]] = {}
    codes: dict[int, list[npt.NDArray[np.int64]]] = {}
    for block in table.blocks(np.arange(statistics.n_features)):
        values = block.values.toarray() if is_sparse(block.values) else np.asarray(block.values)
        parts.setdefault(block.first, []).append(values)
        codes.setdefault(block.first, []).append(block.codes)
    values = np.concatenate([np.concatenate(parts.pop(first)) for first in sorted(parts)], axis=1)
    labels = Labels(statistics.classes, np.concatenate(codes[0]))
    return LabelledMatrix(values, labels, table.feature_names)
