"""FalsePositiveEstimate: the number of false positives to believe, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from bayesieve.utils import expectation


@dataclass(frozen=True, slots=True)
class FalsePositiveEstimate:
    """How many false positives a list holds: one number, and where it comes from.

    Parameters
    ----------
    expected, low, high
        The number, and a 90% interval.
    source
        ``"shuffles"``: what passes with shuffled labels, times the share of non-markers believed in. ``"model"``:
        the sum of local false discovery rates, with the interval of independent features.
    step
        The smallest number that the source can tell from 0.
    """

    expected: float
    low: float
    high: float
    source: str
    step: float = 0.0

    def describe(self) -> str:
        """Say it in words."""
        number = expectation(self.expected, self.step)
        return f"{number} expected (90% interval {self.low:,.0f} to {self.high:,.0f})"
