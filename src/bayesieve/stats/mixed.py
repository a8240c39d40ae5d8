"""MixedStatistics: statistics of features of several kinds, each kind in its own form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import KINDS, NONE, Label

_MOST_SHARES = 3  # levels named in a cell of the table


@dataclass(frozen=True, slots=True, eq=False)
class MixedStatistics:
    """Statistics of the classes, feature by feature, in the form of each feature's kind.

    Parameters
    ----------
    classes
        Class labels.
    kinds
        For every feature a position in :data:`bayesieve.data.mixed.KINDS`.
    parts
        For every kind that occurs the statistics of its features, in the order of the table.
    """

    classes: tuple[Label, ...]
    kinds: npt.NDArray[np.int8]
    parts: Mapping[int, Any]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.kinds.size)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Values present per class and feature."""
        found = np.zeros((len(self.classes), self.n_features), np.int64)
        for kind, part in self.parts.items():
            found[:, self.kinds == kind] = part.counts
        return found

    def pool(self, classes: Sequence[Label] | None = None) -> MixedStatistics:
        """Several classes as one."""
        chosen = self.classes if classes is None else tuple(classes)
        return self._each(lambda part: part.pool(chosen), (chosen,))

    def pick(self, classes: Sequence[Label]) -> MixedStatistics:
        """Some classes, in the order given."""
        return self._each(lambda part: part.pick(classes), tuple(classes))

    def renamed(self, classes: Sequence[Label]) -> MixedStatistics:
        """The same under other labels."""
        return self._each(lambda part: part.renamed(classes), tuple(classes))

    def merge(self, other: MixedStatistics) -> MixedStatistics:
        """Both samples together."""
        made = {kind: part.merge(other.parts[kind]) for kind, part in self.parts.items()}
        classes = next((part.classes for part in made.values()), self.classes)
        return MixedStatistics(classes, self.kinds, made)

    def remove(self, other: MixedStatistics) -> MixedStatistics:
        """What is left when a part of the samples is withdrawn."""
        made = {kind: part.remove(other.parts[kind]) for kind, part in self.parts.items()}
        return MixedStatistics(self.classes, self.kinds, made)

    def take(self, places: Any) -> MixedStatistics:
        """Some features, by position or as a slice."""
        wanted = np.arange(self.n_features)[places]
        inside = places_within(self.kinds)
        kinds = self.kinds[wanted]
        parts = {kind: part.take(inside[wanted[kinds == kind]]) for kind, part in self.parts.items()}
        return MixedStatistics(self.classes, kinds, {k: part for k, part in parts.items() if (kinds == k).any()})

    @staticmethod
    def join(parts: Sequence[MixedStatistics]) -> MixedStatistics:
        """Features side by side."""
        held = sorted({kind for each in parts for kind in each.parts})
        joined = {}
        for kind in held:
            mine: list[Any] = [each.parts[kind] for each in parts if kind in each.parts]
            joined[kind] = type(mine[0]).join(mine)
        return MixedStatistics(parts[0].classes, np.concatenate([each.kinds for each in parts]), joined)

    def describe(self, labels: Sequence[str]) -> dict[str, Any]:
        """Columns of every kind, empty for features of another one; shares of categories in words."""
        table: dict[str, Any] = {}
        for label, row in zip(labels, self.counts, strict=True):
            table[f"n_{label}"] = row
        for kind, part in self.parts.items():
            places = np.flatnonzero(self.kinds == kind)
            columns = part.describe(labels) if not hasattr(part, "levels") else _shares(part, labels)
            for name, column in columns.items():
                if name.startswith("n_") and name in table:
                    continue
                numbers = isinstance(column, np.ndarray) and column.dtype.kind in "fiu"
                if name not in table:
                    table[name] = np.full(self.n_features, np.nan) if numbers else [""] * self.n_features
                if numbers:
                    table[name][places] = column
                else:
                    for place, value in zip(places.tolist(), column, strict=True):
                        table[name][place] = value
        return table

    def words(self) -> list[str]:
        """The kind of every feature."""
        return [KINDS[kind] for kind in self.kinds.tolist()]

    def _each(self, change: Callable[[Any], Any], classes: tuple[Any, ...]) -> MixedStatistics:
        return MixedStatistics(classes, self.kinds, {kind: change(part) for kind, part in self.parts.items()})


def places_within(kinds: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """For every feature its place among those of its kind."""
    inside = np.zeros(kinds.size, np.int64)
    for kind in range(NONE + 1):
        mine = kinds == kind
        inside[mine] = np.arange(int(mine.sum()))
    return inside


def _shares(part: Any, labels: Sequence[str]) -> dict[str, list[str]]:
    """Shares of the levels of every class in words: ``yes 0.60, no 0.40``."""
    found = {}
    for k, label in enumerate(labels):
        table, total = part.table[k], np.maximum(part.counts[k], 1)
        cells = []
        for j in range(part.n_features):
            used = [m for m in np.argsort(-table[:, j], kind="stable").tolist() if table[m, j]]
            texts = [f"{part.levels[m]} {table[m, j] / total[j]:.2f}" for m in used[:_MOST_SHARES]]
            cells.append(", ".join([*texts, *(["..."] if len(used) > _MOST_SHARES else [])]))
        found[f"shares_{label}"] = cells
    return found
