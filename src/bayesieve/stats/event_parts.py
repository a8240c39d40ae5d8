"""Event totals as plain arrays: checked, laid out for other classes, taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.data.labels import checked_classes
from bayesieve.errors import DataError, LabelError

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]


def checked_totals(
    classes: Sequence[Label], count: Any, total: Any, exposure: Any
) -> tuple[tuple[Label, ...], CountArray, FloatArray, FloatArray]:
    """Bring classes, counts, totals and exposures to their form, or say what is wrong.

    Examples
    --------
    >>> from bayesieve.stats.event_parts import checked_totals
    >>> checked_totals(["a"], [2], [[7, 0]], [2])[3].tolist()
    [2.0]
    """
    names = tuple(checked_classes(classes))
    try:
        n, totals, exposures = (np.array(array, dtype=np.float64) for array in (count, total, exposure))
    except (TypeError, ValueError):
        raise DataError("count, total and exposure must hold numbers.") from None
    shape = totals.shape
    if len(shape) != 2 or shape[0] != len(names) or not shape[1]:
        raise DataError(f"total must be ({len(names)}, n_features) for these classes, not {shape}.")
    if not {n.shape, exposures.shape} <= {shape, shape[:1]}:
        raise DataError(f"count {n.shape} and exposure {exposures.shape} must be {shape[:1]} or {shape}.")
    if not all((np.isfinite(array) & (array >= 0)).all() for array in (n, totals, exposures)):
        raise DataError("count, total and exposure must be finite and not negative.")
    if (n != np.rint(n)).any():
        raise DataError("count must hold whole numbers: it is the number of values, not of events.")
    return names, n.astype(np.int64), totals, exposures


def wide(array: Any) -> Any:
    """Return an array per class in a shape that broadcasts against one per class and feature.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.stats.event_parts import wide
    >>> wide(np.ones(3)).shape
    (3, 1)
    """
    return array if array.ndim == 2 else array[:, None]


def narrow(array: Any) -> Any:
    """Undo :func:`wide`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.stats.event_parts import narrow
    >>> narrow(np.ones((3, 1))).shape
    (3,)
    """
    return array[:, 0] if array.shape[1] == 1 else array


def positions(classes: Sequence[Label], mine: tuple[Label, ...]) -> Any:
    """Return where some classes are among ``mine``: a slice for one, which takes without a copy, else a list.

    Examples
    --------
    >>> from bayesieve.stats.event_parts import positions
    >>> positions(("c", "a"), ("a", "b", "c"))
    [2, 0]
    """
    absent = [label for label in classes if label not in mine]
    if absent:
        raise LabelError(f"There is no class {absent[0]!r}; the classes are {list(mine)!r}.")
    places = [mine.index(label) for label in classes]
    return slice(places[0], places[0] + 1) if len(places) == 1 else places


def laid_out(array: Any, mine: tuple[Label, ...], classes: tuple[Label, ...]) -> Any:
    """Return the rows of an array in the order of ``classes``, zeros for a class that it lacks.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.stats.event_parts import laid_out
    >>> laid_out(np.array([1, 2]), ("b", "a"), ("a", "b", "c")).tolist()
    [[2], [1], [0]]
    """
    rows = wide(array)
    out = np.zeros((len(classes), rows.shape[1]), rows.dtype)
    out[[classes.index(label) for label in mine]] = rows
    return out


def rest_of(whole: Sequence[Any], part: Sequence[Any]) -> list[Any]:
    """Count, total and exposure of ``whole`` without ``part``; nothing is left where no value is.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.stats.event_parts import rest_of
    >>> [a.tolist() for a in rest_of([np.array([3]), np.array([7.0])], [np.array([2]), np.array([4.0])])]
    [[1], [3.0]]
    """
    left = [a - b for a, b in zip(whole, part, strict=True)]
    if any((rest < -1e-9 * np.abs(a)).any() for rest, a in zip(left, whole, strict=True)):
        raise DataError(
            "What would be removed is not part of these totals: more values, events or exposure would go than "
            "there are. Remove only what was merged before."
        )
    count, *sums = left
    return [count, *(np.where(count > 0, np.maximum(rest, 0.0), 0.0) for rest in sums)]
