"""EventTotals: the sufficient statistics of counts with exposures (offsets), per class and feature."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix, check_classes, is_lazy, size_factors, union_of_classes
from bayesieve.distributed import sum_labelled
from bayesieve.stats.events.kernels import event_sums
from bayesieve.stats.moments.checks import check_same_features
from bayesieve.stats.moments.moments import Moments
from bayesieve.utils import (
    CountArray,
    DataError,
    FloatArray,
    Glimpse,
    Glimpsed,
    LabelError,
    glimpse_of_classes,
)


def check_exposures(exposures: Any, n_samples: int) -> FloatArray:
    """Check that there is one positive and finite exposure per sample."""
    try:
        array = np.asarray(exposures, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("Exposures must be numbers, one per sample.") from None
    if array.shape != (n_samples,):
        raise DataError(
            f"There are {n_samples} samples, but exposures have shape {array.shape}. Give one number per sample."
        )
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise DataError(
            f"{bad.size} of {n_samples} exposures are not positive and finite, the first at sample {bad[0]}: "
            f"{array[bad[0]]:g}. Leave samples without exposure out."
        )
    return array


def exposures_of(values: Any, exposures: Any) -> FloatArray:
    """Check exposures, one per sample, or compute them: ``"total"`` is the values of each sample added up."""
    if isinstance(exposures, str) and exposures == "total":
        return size_factors(values)
    return check_exposures(exposures, int(values.shape[0]))


def check_totals(
    classes: Sequence[Label], count: Any, total: Any, exposure: Any
) -> tuple[tuple[Label, ...], CountArray, FloatArray, FloatArray]:
    """Bring classes, counts, totals and exposures to their form, or say what is wrong."""
    names = tuple(check_classes(classes))
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
    """Return an array per class in a shape that broadcasts against one per class and feature."""
    return array if array.ndim == 2 else array[:, None]


def narrow(array: Any) -> Any:
    """Undo :func:`wide`."""
    return array[:, 0] if array.shape[1] == 1 else array


def positions(classes: Sequence[Label], mine: tuple[Label, ...]) -> Any:
    """Return where some classes are among ``mine``: a slice for one, which takes without a copy, else a list."""
    absent = [label for label in classes if label not in mine]
    if absent:
        raise LabelError(f"There is no class {absent[0]!r}; the classes are {list(mine)!r}.")
    places = [mine.index(label) for label in classes]
    return slice(places[0], places[0] + 1) if len(places) == 1 else places


def laid_out(array: Any, mine: tuple[Label, ...], classes: tuple[Label, ...]) -> Any:
    """Return the rows of an array in the order of ``classes``, zeros for a class that it lacks."""
    rows = wide(array)
    out = np.zeros((len(classes), rows.shape[1]), rows.dtype)
    out[[classes.index(label) for label in mine]] = rows
    return out


def rest_of(whole: Sequence[Any], part: Sequence[Any]) -> list[Any]:
    """Count, total and exposure of ``whole`` without ``part``; nothing is left where no value is."""
    left = [a - b for a, b in zip(whole, part, strict=True)]
    if any((rest < -1e-9 * np.abs(a)).any() for rest, a in zip(left, whole, strict=True)):
        raise DataError(
            "What would be removed is not part of these totals: more values, events or exposure would go than "
            "there are. Remove only what was merged before."
        )
    count, *sums = left
    return [count, *(np.where(count > 0, np.maximum(rest, 0.0), 0.0) for rest in sums)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EventTotals(Glimpsed):
    """Sufficient statistics of counts: how many events each class saw, and at what exposure (offset).

    Totals merge by addition, in any order and however the samples were split.

    Parameters
    ----------
    classes
        Class labels, in order.
    count
        Number of values: ``(n_classes,)``, or ``(n_classes, n_features)`` when values are missing.
    total
        Sum of the counts, ``(n_classes, n_features)``. Whole numbers add up exactly to 2**53 (9e15);
        beyond, a sum is the nearest float64. Fractions, such as expected counts, are accepted.
    exposure
        Sum of the exposures of the samples whose value is present, in the shape of ``count``.
    moments
        Moments of the counts, from which the size of a negative binomial is estimated; or None.

    Examples
    --------
    >>> from bayesieve.stats.events.event_totals import EventTotals
    >>> totals = EventTotals.from_matrix([[3, 0], [5, 1], [2, 9]], ["a", "a", "b"])
    >>> totals.total.tolist(), totals.exposure.tolist()
    ([[8.0, 1.0], [2.0, 9.0]], [2.0, 1.0])
    """

    classes: tuple[Label, ...]
    count: CountArray
    total: FloatArray
    exposure: FloatArray
    moments: Moments | None = None

    def __post_init__(self) -> None:
        self._hold(*check_totals(self.classes, self.count, self.total, self.exposure), self.moments)

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        y: Any,
        *,
        classes: Sequence[Label] | None = None,
        exposures: npt.ArrayLike | None = None,
        missing: str = "raise",
        spread: bool = False,
        n_threads: int | None = None,
    ) -> EventTotals:
        """Add up a samples x features table of counts class by class.

        Parameters
        ----------
        X
            Dense array, pandas or polars frame, CSR or CSC matrix. Implicit zeros count.
        y
            One label per sample.
        classes
            Order of the classes; sorted when not given. A class without samples is kept.
        exposures
            One positive number per sample (time, volume, size factor); 1 each when not given.
        missing
            ``"raise"`` (default) or ``"omit"``: use the values that are there.
        spread
            Hold the moments as well.
        n_threads
            Threads to use, all cores by default; the result is the same to the last bit.

        Examples
        --------
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> EventTotals.from_matrix([[4], [6]], ["a", "b"], exposures=[2.0, 1.5]).rate.tolist()
        [[2.0], [4.0]]
        """
        if is_lazy(X):
            function = functools.partial(cls.from_exposed, spread=spread)
            numbers = None if exposures is None else check_exposures(exposures, np.size(exposures))
            found: EventTotals = sum_labelled(X, y, function, classes=classes, missing=missing, numbers=numbers)
            return found
        matrix = LabelledMatrix.from_arrays(X, y, classes=classes)
        return cls.from_labelled(matrix, exposures=exposures, missing=missing, spread=spread, n_threads=n_threads)

    @classmethod
    def from_exposed(
        cls, matrix: LabelledMatrix, exposures: FloatArray | None = None, **options: Any
    ) -> EventTotals:
        """Add up a matrix with the exposures of its samples, handed over by position; see :meth:`from_labelled`.

        Examples
        --------
        >>> from bayesieve.data import LabelledMatrix
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> matrix = LabelledMatrix.from_arrays([[4], [6]], ["a", "b"])
        >>> EventTotals.from_exposed(matrix, [2.0, 3.0]).rate.tolist()
        [[2.0], [2.0]]
        """
        return cls.from_labelled(matrix, exposures=exposures, **options)

    @classmethod
    def from_labelled(
        cls,
        matrix: LabelledMatrix,
        *,
        exposures: npt.ArrayLike | None = None,
        missing: str = "raise",
        spread: bool = False,
        n_threads: int | None = None,
    ) -> EventTotals:
        """Add up a matrix that has been checked already, with its own exposures; see :meth:`from_matrix`.

        Examples
        --------
        >>> from bayesieve.data import LabelledMatrix
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> matrix = LabelledMatrix.from_arrays([[4], [6]], ["a", "b"])
        >>> EventTotals.from_labelled(matrix).total.tolist()
        [[4.0], [6.0]]
        """
        exposure = matrix.exposures if exposures is None else exposures
        weights = np.ones(matrix.n_samples) if exposure is None else check_exposures(exposure, matrix.n_samples)
        sums = event_sums(matrix, weights, missing, n_threads)
        moments = (
            Moments.from_labelled(matrix, missing=missing, n_threads=n_threads, shape=False) if spread else None
        )
        return cls.trusted(matrix.labels.classes, *sums, moments)

    def _glimpse(self) -> Glimpse:
        """Return the classes with their numbers of values."""
        return glimpse_of_classes(self)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.total.shape[1])

    @property
    def counts(self) -> CountArray:
        """Counts in a shape that broadcasts against ``total``."""
        return self.count if self.count.ndim == 2 else self.count[:, None]

    @property
    def rate(self) -> FloatArray:
        """Events per unit of exposure, NaN where there is no exposure."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.total / wide(self.exposure))

    def pick(self, classes: Sequence[Label]) -> EventTotals:
        """Totals of some classes, in the order given.

        Examples
        --------
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> EventTotals.from_matrix([[4], [6]], ["a", "b"]).pick(["b"]).total.tolist()
        [[6.0]]
        """
        chosen = tuple(check_classes(classes))
        places = positions(chosen, self.classes)
        rows = (array[places] for array in (self.count, self.total, self.exposure))
        return self.trusted(chosen, *rows, self._moments("pick", chosen))

    def pool(self, classes: Sequence[Label] | None = None) -> EventTotals:
        """Totals of several classes (all if not given) as one class whose label is the tuple of theirs.

        Examples
        --------
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> pooled = EventTotals.from_matrix([[4], [6]], ["a", "b"]).pool()
        >>> pooled.classes, pooled.total.tolist()
        ((('a', 'b'),), [[10.0]])
        """
        chosen = self.classes if classes is None else tuple(check_classes(classes))
        places = positions(chosen, self.classes)
        sums = (array[places].sum(axis=0, keepdims=True) for array in (self.count, self.total, self.exposure))
        return self.trusted((chosen,), *sums, self._moments("pool", chosen))

    def merge(self, other: EventTotals) -> EventTotals:
        """Totals of both samples together; a part may lack a class.

        Examples
        --------
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> a = EventTotals.from_matrix([[4], [6]], ["well", "sick"])
        >>> a.merge(EventTotals.from_matrix([[1]], ["sick"])).total.tolist()
        [[7.0], [4.0]]
        """
        self._check(other)
        classes = union_of_classes(self.classes, other.classes)
        count, total, exposure = (a + b for a, b in zip(self._laid(classes), other._laid(classes), strict=True))
        return self.trusted(classes, narrow(count), total, narrow(exposure), self._moments("merge", other.moments))

    def remove(self, other: EventTotals) -> EventTotals:
        """Totals of what is left when ``other``, a part of these samples, is withdrawn.

        Examples
        --------
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> whole = EventTotals.from_matrix([[4], [6]], ["a", "a"])
        >>> whole.remove(EventTotals.from_matrix([[4]], ["a"])).total.tolist()
        [[6.0]]
        """
        self._check(other)
        positions(other.classes, self.classes)
        count, total, exposure = rest_of(self._laid(self.classes), other._laid(self.classes))
        moments = None
        if self.moments is not None and other.moments is not None:
            moments = self.moments.remove(other.moments, warns=False)
        return self.trusted(self.classes, narrow(count), total, narrow(exposure), moments)

    def take(self, places: Any) -> EventTotals:
        """Totals of some features, by position or as a slice.

        Examples
        --------
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> EventTotals.from_matrix([[4, 7]], ["a"]).take([1]).total.tolist()
        [[7.0]]
        """
        count, exposure = (a if a.ndim == 1 else a[:, places] for a in (self.count, self.exposure))
        return self.trusted(self.classes, count, self.total[:, places], exposure, self._moments("take", places))

    def renamed(self, classes: Sequence[Label]) -> EventTotals:
        """Return the same totals under other class labels.

        Examples
        --------
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> EventTotals.from_matrix([[4]], ["a"]).renamed(["x"]).classes
        ('x',)
        """
        return self.trusted(
            tuple(classes), self.count, self.total, self.exposure, self._moments("renamed", classes)
        )

    @staticmethod
    def join(parts: Sequence[EventTotals]) -> EventTotals:
        """Put the features of several totals of the same classes side by side.

        Examples
        --------
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> EventTotals.join([EventTotals.from_matrix([[4]], ["a"])] * 2).total.tolist()
        [[4.0, 4.0]]
        """
        count, total, exposure = (
            np.concatenate(
                [np.broadcast_to(wide(getattr(part, name)), part.total.shape) for part in parts], axis=1
            )
            for name in ("count", "total", "exposure")
        )
        held = [part.moments for part in parts if part.moments is not None]
        moments = Moments.join(held) if len(held) == len(parts) else None
        return EventTotals.trusted(parts[0].classes, count, total, exposure, moments)

    def describe(self, labels: Sequence[str]) -> dict[str, Any]:
        """Count and rate of every class and, of two, the log of the second rate over the first.

        Examples
        --------
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> EventTotals.from_matrix([[4], [8]], ["a", "b"]).describe(["a", "b"])["rate_b"].tolist()
        [8.0]
        """
        counts, rate = np.broadcast_to(self.counts, self.total.shape), self.rate
        columns: dict[str, Any] = {}
        for k, label in enumerate(labels):
            columns[f"n_{label}"], columns[f"rate_{label}"] = counts[k], rate[k]
        if len(labels) == 2:
            with np.errstate(divide="ignore", invalid="ignore"):
                columns["log_rate_ratio"] = np.log(rate[1]) - np.log(rate[0])
        return columns

    def _laid(self, classes: tuple[Label, ...]) -> list[Any]:
        """Count, total and exposure in the order of ``classes``, zeros for a class that is not here."""
        return [laid_out(array, self.classes, classes) for array in (self.count, self.total, self.exposure)]

    def _moments(self, method: str, *statistics: Any) -> Moments | None:
        if self.moments is None or any(each is None for each in statistics):
            return None
        return getattr(self.moments, method)(*statistics)  # type: ignore[no-any-return]

    def _check(self, other: EventTotals) -> None:
        if not isinstance(other, EventTotals):
            raise DataError(f"Event totals merge with event totals, not with {type(other).__name__}.")
        check_same_features(self.n_features, other.n_features)

    def _hold(self, classes: Any, count: Any, total: Any, exposure: Any, moments: Any) -> None:
        for array in (count, total, exposure):
            array.flags.writeable = False
        for name, value in zip(self.__slots__, (classes, count, total, exposure, moments), strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def trusted(cls, classes: tuple[Label, ...], *held: Any) -> EventTotals:
        """Build from what is known to be right: count, total, exposure and moments or None.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.stats.events.event_totals import EventTotals
        >>> EventTotals.trusted(("a",), np.array([2]), np.zeros((1, 3)), np.ones(1), None).n_features
        3
        """
        made = object.__new__(cls)
        made._hold(classes, *held)
        return made
