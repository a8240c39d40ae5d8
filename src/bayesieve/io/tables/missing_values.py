"""Values of a table that are missing, infinite or rounded, counted while it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data import Rounded, is_sparse
from bayesieve.io.tables.samples import SampleRoles
from bayesieve.utils import DataError, SampleIds, option


@dataclass(slots=True)
class Missing:
    """Missing values met so far, and where the first one was."""

    total: int = 0
    first: tuple[str | SampleIds, ...] = ()
    rounded: Rounded = field(default_factory=Rounded)

    def count(self, values: Any, roles: SampleRoles, features: Sequence[str], path: str) -> None:
        """Count the missing values; an infinity is an error."""
        stored = values.data if is_sparse(values) else values
        self.rounded.add(stored, lambda k: _where(values, k, roles, features))
        if stored.dtype.kind != "f" or np.isfinite(stored).all():
            return
        if is_sparse(values):
            entries = values.tocoo()
            odd = ~np.isfinite(entries.data)
            places, found = np.stack([entries.row[odd], entries.col[odd]], axis=1), entries.data[odd]
        else:
            odd = ~np.isfinite(values)
            places, found = np.argwhere(odd), values[odd]

        infinite = places[np.isinf(found)]
        if infinite.size:
            raise DataError(
                f"{path}: there is an infinite value (inf) at ",
                *_named(infinite[0], roles, features),
                ". An infinity is no measurement.",
                hint=(
                    "Find out where it comes from (log of 0? division by 0?) and correct it, or name its spelling "
                    "with ",
                    option("na_values"),
                    " if the value is unknown.",
                ),
            )
        self.first = self.first if self.total else _named(places[0], roles, features)
        self.total += len(places)


def _where(values: Any, place: int, roles: SampleRoles, features: Sequence[str]) -> tuple[str | SampleIds, ...]:
    """Name the sample and the feature of a stored value."""
    if is_sparse(values):
        entries = values.tocoo()
        i, j = int(entries.row[place]), int(entries.col[place])
    else:
        i, j = divmod(place, values.shape[1])
    return _named((i, j), roles, features)


def _named(place: Any, roles: SampleRoles, features: Sequence[str]) -> tuple[str | SampleIds, ...]:
    i, j = map(int, place)
    return SampleIds((f"{roles.name(i)}, ",), "sample "), f"feature {features[j]!r}"
