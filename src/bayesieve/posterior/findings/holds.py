"""HoldsWithoutOne: whether a listed feature would be listed without any one sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayesieve.utils import IntArray, Message

COLUMN = "holds_without_one_sample"
_WORDS = {1: "yes", 0: "no", -1: ""}


@dataclass(frozen=True, slots=True, eq=False)
class HoldsWithoutOne:
    """Whether listed features hold without any one sample, as a column.

    Parameters
    ----------
    holds
        See :class:`~bayesieve.posterior.checks.Checks`.
    """

    holds: IntArray

    def columns(self, posterior: Any) -> dict[str, Any]:
        """One column: yes, no, or nothing for features that were not looked at."""
        del posterior
        return {COLUMN: [_WORDS[each] for each in self.holds.tolist()]}

    def take(self, places: Any) -> Self:
        """The same for some of the features."""
        return type(self)(self.holds[np.asarray(places)])

    def notes(self) -> list[Message]:
        """No sentences: the checks have them."""
        return []

    def reweighed(self, prior_log_odds: Any) -> tuple[None, Any]:
        """Nothing is left of it under another prior, whose list is another one."""
        return None, prior_log_odds
