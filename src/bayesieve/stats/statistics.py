"""Sufficient statistics: what a model needs to know of each class of samples, in a form that merges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, union_of_classes
from bayesieve.utils import DataError, LabelError


@runtime_checkable
class ClassStatistics(Protocol):
    """Sufficient statistics of several classes, feature by feature; :class:`bayesieve.Moments` is one."""

    @property
    def classes(self) -> tuple[Label, ...]:
        """Class labels, in order."""
        ...

    @property
    def n_features(self) -> int:
        """Number of features."""
        ...

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Values present: ``(n_classes, 1)`` or, where some are missing, ``(n_classes, n_features)``."""
        ...

    def pool(self, classes: Sequence[Label] | None = None) -> Self:
        """Several classes taken together, as one class whose label is the tuple of theirs."""
        ...

    def pick(self, classes: Sequence[Label]) -> Self:
        """Some classes, in the order given."""
        ...

    def merge(self, other: Self) -> Self:
        """Both samples together; a part may lack a class."""
        ...

    def remove(self, other: Self) -> Self:
        """What is left when ``other``, a part of these samples, is withdrawn."""
        ...

    def take(self, places: Any) -> Self:
        """Some features, by position or as a slice."""
        ...

    def renamed(self, classes: Sequence[Label]) -> Self:
        """The same statistics under other class labels."""
        ...

    def describe(self, labels: Sequence[str]) -> dict[str, Any]:
        """Columns for the table of results; ``labels`` are the classes as text."""
        ...

    @staticmethod
    def join(parts: Sequence[Any]) -> Any:
        """Features of several statistics of the same classes, side by side."""
        ...


def largest_counts(statistics: ClassStatistics) -> list[int]:
    """Number of values of each class, of the feature that has most."""
    return [int(n) for n in np.max(statistics.counts, axis=1)]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Statistics of a model that says itself how they merge: one part per class.

    Parameters
    ----------
    classes, parts
        Labels, and what the model's ``statistic`` returned for each.
    count
        Values present, ``(n_classes, n_features)``.
    combine
        The model's ``merge``.
    """

    classes: tuple[Label, ...]
    parts: tuple[Any, ...]
    count: npt.NDArray[np.int64]
    combine: Callable[[Any, Any], Any]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.count.shape[1])

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Values present per class and feature."""
        return self.count

    def _place(self, label: Label) -> int:
        if label not in self.classes:
            raise LabelError(f"There is no class {label!r}; the classes are {list(self.classes)!r}.")
        return self.classes.index(label)

    def pool(self, classes: Sequence[Label] | None = None) -> Parts:
        """Several classes as one."""
        chosen = self.classes if classes is None else tuple(classes)
        places = [self._place(label) for label in chosen]
        whole = self.parts[places[0]]
        for k in places[1:]:
            whole = self.combine(whole, self.parts[k])
        return Parts((chosen,), (whole,), self.count[places].sum(axis=0, keepdims=True), self.combine)

    def pick(self, classes: Sequence[Label]) -> Parts:
        """Some classes, in the order given."""
        places = [self._place(label) for label in classes]
        return Parts(tuple(classes), tuple(self.parts[k] for k in places), self.count[places], self.combine)

    def merge(self, other: Parts) -> Parts:
        """Both samples together."""
        classes, parts, counts = union_of_classes(self.classes, other.classes), [], []
        for label in classes:
            held = [each for each in (self, other) if label in each.classes]
            mine = [each.parts[each.classes.index(label)] for each in held]
            parts.append(mine[0] if len(mine) == 1 else self.combine(*mine))
            counts.append(sum(each.count[each.classes.index(label)] for each in held))
        return Parts(classes, tuple(parts), np.array(counts), self.combine)

    def remove(self, other: Parts) -> Parts:
        """Not known: a model of three methods says how its statistics merge, not how they part."""
        del other
        raise DataError("Statistics of this model can be merged but not taken apart; sum what is left.")

    def take(self, places: Any) -> Parts:
        """Some features: the last axis of every array that a part holds."""
        return Parts(
            self.classes, tuple(_take(part, places) for part in self.parts), self.count[:, places], self.combine
        )

    def renamed(self, classes: Sequence[Label]) -> Parts:
        """The same under other labels."""
        return Parts(tuple(classes), self.parts, self.count, self.combine)

    @staticmethod
    def join(parts: Sequence[Parts]) -> Parts:
        """Features side by side."""
        first, counts = parts[0], np.concatenate([part.count for part in parts], axis=1)
        joined = tuple(side_by_side([part.parts[k] for part in parts]) for k in range(len(first.classes)))
        return Parts(first.classes, joined, counts, first.combine)

    def describe(self, labels: Sequence[str]) -> dict[str, Any]:
        """Number of values per class."""
        return {f"n_{label}": self.count[k] for k, label in enumerate(labels)}


def _take(part: Any, places: Any) -> Any:
    if isinstance(part, (tuple, list)):
        return type(part)(_take(each, places) for each in part)
    return part[..., places] if isinstance(part, np.ndarray) and part.ndim else part


def side_by_side(parts: Sequence[Any]) -> Any:
    """Join what a model's ``statistic`` returned for consecutive features."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], (tuple, list)):
        return type(parts[0])(side_by_side([part[i] for part in parts]) for i in range(len(parts[0])))
    return np.concatenate(parts, axis=-1)
