"""Whole numbers beyond 2**53, which numbers of 64 bits with a point cannot tell from their neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.utils import DataWarning, Piece, warn

EXACT = 2**53
"""The first whole number of which digits may be lost."""
_LARGEST = 2.0**64  # numbers with a point beyond are measurements in a unit of their own


@dataclass(slots=True)
class Rounded:
    """Whole numbers of at least 2**53 met so far, and where the first one was.

    Parameters
    ----------
    total
        How many there are.
    first
        Where the first was, in words.
    """

    total: int = 0
    first: tuple[Piece, ...] = ()

    def add(self, stored: Any, where: Callable[[int], tuple[Piece, ...]]) -> None:
        """Count among values (of a sparse matrix those stored); ``where`` names the place of one of them."""
        kind = stored.dtype.kind
        if not stored.size or kind not in "fiu" or stored.dtype.itemsize < 8:
            return
        low, high = stored.min(), stored.max()
        if low > -EXACT and high < EXACT:  # false if one of them is not a number
            return
        flat = stored.reshape(-1)
        large = (flat >= EXACT) | (flat <= -EXACT)
        if kind == "f":
            large &= np.abs(flat) < _LARGEST
        places = np.flatnonzero(large)
        if places.size:
            self.first = self.first if self.total else where(int(places[0]))
            self.total += int(places.size)

    def warn(self, source: Piece, ignore: Piece) -> None:
        """Say it once."""
        if self.total:
            warn(
                DataWarning,
                source,
                f" holds {self.total:,} whole number{'s' * (self.total > 1)} beyond 2**53 (9.007e15), the first "
                "at ",
                *self.first,
                ". Numbers are kept with 53 binary digits, so that neighbours of that size become the same.",
                hint=(
                    "If they are ids or codes, leave them out: ",
                    ignore,
                    "; otherwise divide by a larger unit.",
                ),
                kind="rounded",
                n=self.total,
            )
