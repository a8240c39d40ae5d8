"""Options of shared-kernel screening, checked, and the rules that make a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.posterior import ESTIMATE
from bayesieve.rivals.skbs.evidence import MOST_KERNELS
from bayesieve.utils import BoolArray, FloatArray, OptionError, check_whole, is_number, is_whole

AUTO = "auto"
EVIDENCES = (AUTO, "exact", "gibbs", "averaged")
ESTIMATIONS = ("em", "gibbs")


@dataclass(frozen=True, slots=True)
class Rule:
    """How the list is made."""

    name: str
    number: float

    @classmethod
    def parse(cls, text: Any) -> Rule:
        """Read a text such as ``cmnc:100`` or ``mr:0.9``."""
        name, _, number = str(text).strip().lower().partition(":")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if (name == "cmnc" and value >= 1 and value.is_integer()) or (name == "mr" and 0.0 <= value < 1.0):
            return cls(name, value)
        raise OptionError(
            "rule must be 'cmnc:100' for the 100 strongest features, or 'mr:0.9' for those with a posterior "
            f"probability over 0.9, not {text!r}."
        )

    def select(self, score: FloatArray, probability: FloatArray) -> BoolArray:
        """Return the list; features of the same score in their order, which is that of the screen."""
        if self.name == "mr":
            return np.asarray(probability > self.number)
        chosen = np.zeros(score.size, dtype=bool)
        chosen[np.argsort(-score, kind="stable")[: int(self.number)]] = True
        return chosen & ~np.isnan(score)


@dataclass(frozen=True, slots=True)
class Options:
    """Checked options."""

    n_kernels: int | str
    rule: Rule
    prior_probability: Any
    standardise: bool
    support: tuple[float, float] | None
    evidence: str
    estimation: str
    draws: int
    burn_in: int
    seed: int

    def __post_init__(self) -> None:
        if not isinstance(self.standardise, (bool, np.bool_)):
            raise OptionError(f"standardise must be True or False, not {self.standardise!r}.")
        if self.standardise and self.support is not None:
            raise OptionError("support belongs to values as they are. Leave it out, or do not standardise.")
        share = self.prior_probability
        if isinstance(share, str) and share == ESTIMATE:
            if self.evidence == "averaged":
                raise OptionError(
                    "The averaged sampler has no Bayes factors that a prior probability could be estimated from. "
                    "Give a probability, or choose evidence='exact' or 'gibbs'."
                )
        elif not is_number(share) or not 0.0 < share < 1.0:
            raise OptionError(
                "prior_probability must be a number between 0 and 1, without the ends, or 'estimate', not "
                f"{share!r}."
            )
        if self.evidence == "exact" and is_whole(self.n_kernels) and int(self.n_kernels) > MOST_KERNELS:
            raise OptionError(
                f"Exact evidence is for up to {MOST_KERNELS} kernels, not {self.n_kernels}. Choose "
                "evidence='gibbs'."
            )

    def route(self, n_kernels: int) -> str:
        """How evidence is found for so many kernels."""
        exact = n_kernels <= MOST_KERNELS and (self.evidence in (AUTO, "exact") or n_kernels == 1)
        return "exact" if exact else "averaged" if self.evidence == "averaged" else "gibbs"


def check_n_kernels(n_kernels: Any) -> int | str:
    """Return a number of kernels, or the word for its choice, or raise."""
    if isinstance(n_kernels, str) and n_kernels == "cv":
        return n_kernels
    return check_whole("n_kernels", n_kernels, 1, instead=" or 'cv'")
