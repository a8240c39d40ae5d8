"""What an error costs: the loss of section 3.2."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from bayesieve.errors import RuleError


@dataclass(frozen=True, slots=True)
class Loss:
    r"""Loss per feature for each of the four outcomes.

    Parameters
    ----------
    true_positive, false_positive, false_negative, true_negative
        The paper's :math:`\lambda_{GG}, \lambda_{GB}, \lambda_{BG}, \lambda_{BB}`. A false positive
        must cost at least as much as a true negative, a false negative as much as a true positive.

    Examples
    --------
    >>> import bayesieve as bs
    >>> bs.Loss(false_positive=4.0).threshold
    0.8
    """

    true_positive: float = 0.0
    false_positive: float = 1.0
    false_negative: float = 1.0
    true_negative: float = 0.0

    def __post_init__(self) -> None:
        values = [getattr(self, field.name) for field in fields(self)]
        if not all(isinstance(value, (int, float, np.number)) and math.isfinite(value) for value in values):
            raise RuleError(f"Losses must be finite numbers, not {values}.")
        if self.false_positive < self.true_negative or self.false_negative < self.true_positive:
            raise RuleError(
                "An error must not cost less than the right decision: false_positive >= true_negative "
                "and false_negative >= true_positive are needed."
            )

    @property
    def threshold(self) -> float:
        r"""Probability above which a feature is worth selecting, :math:`T` of equation (3.8)."""
        cost = self.false_positive - self.true_negative
        total = cost + self.false_negative - self.true_positive
        if total == 0:
            raise RuleError(
                "With these losses every selection costs the same, so no threshold follows from them. "
                "Let an error cost more than the right decision."
            )
        return cost / total
