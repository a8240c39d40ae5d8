"""Likelihoods: which kind each feature of a mixed table is taken for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import KINDS
from bayesieve.utils import Message, join_words, plural

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior


@dataclass(frozen=True, slots=True, eq=False)
class Likelihoods:
    """The kind of every feature.

    Parameters
    ----------
    kinds
        For every feature a position in :data:`bayesieve.data.mixed.KINDS`.
    """

    kinds: npt.NDArray[np.int8]

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """The column ``likelihood``."""
        del posterior
        return {"likelihood": [KINDS[kind] for kind in self.kinds.tolist()]}

    def take(self, places: Any) -> Likelihoods:
        """Some features."""
        return Likelihoods(self.kinds[places])

    def notes(self) -> list[Message]:
        """Say how many features there are of each kind."""
        counts = np.bincount(self.kinds, minlength=len(KINDS)).tolist()
        found = []
        for name, n in zip(KINDS, counts, strict=True):
            if n and name == "none":
                found.append(f"{plural(n, 'feature')} without a likelihood (ids, dates or comments)")
            elif n and name == "category":
                found.append(f"{n:,} categor{'y' if n == 1 else 'ies'}")
            elif n:
                found.append(plural(n, name))
        return [Message.of(f"Likelihoods: {join_words(found)}; see the column likelihood.", kind="likelihoods")]
