r"""Families of penalties: those of the paper, those of its supplement, and a path that fits the data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from bayesieve.utils import OptionError, is_number

FAMILIES = ("paper", "supplement", "path")
LAMBDA_SCALES = ("glmnet", "deviance")
PAPER_NAMES = (
    *("0.1", "0.2", "0.5"),
    *(f"{gamma}/sqrt(n)" for gamma in ("0.1", "0.2", "0.5", "1", "2", "5", "10")),
    *(f"log(n)^{power}/n" for power in ("0.5", "1", "1.5", "2")),
)
"""The 14 penalties of section 6, in the order of :func:`paper_penalties`."""

_PATH_LENGTH, _PATH_END = 50, 0.01


def paper_penalties(n: int) -> tuple[float, ...]:
    """Return the 14 penalties of section 6 for n samples; some may be equal."""
    return (
        *(0.1, 0.2, 0.5),
        *(gamma / math.sqrt(n) for gamma in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)),
        *(math.log(n) ** power / n for power in (0.5, 1.0, 1.5, 2.0)),
    )


def penalties_of(penalties: Any, n: int, largest: float) -> tuple[float, ...]:
    """Return the penalties meant.

    Parameters
    ----------
    penalties
        A number, several, or the name of a family: ``"paper"``, the 14 of section 6; ``"supplement"``, 0.005 to
        0.2 in steps of 0.005; ``"path"``, 50 in equal ratios from the largest that matters to a hundredth of it.
    n
        Number of samples.
    largest
        Smallest penalty that leaves no feature in the model.
    """
    if isinstance(penalties, str):
        if penalties == "paper":
            return paper_penalties(n)
        if penalties == "supplement":
            return tuple(round(0.005 * k, 3) for k in range(1, 41))
        if penalties == "path":
            top = largest if largest > 0 else 1.0  # no feature varies with the class: any penalty does
            return tuple((top * np.geomspace(1.0, _PATH_END, _PATH_LENGTH)).tolist())
    asked = [penalties] if is_number(penalties) else penalties
    if isinstance(asked, str) or not isinstance(asked, Iterable) or not (asked := list(asked)):
        raise OptionError(
            f"penalties must be numbers above 0, or one of {', '.join(map(repr, FAMILIES))}, not {penalties!r}."
        )
    odd = [each for each in asked if not is_number(each) or not 0 < each < math.inf]
    if odd:
        raise OptionError(
            f"{len(odd)} of {len(asked)} penalties are no numbers above 0, the first is {odd[0]!r}. Without a "
            "penalty a regression on more features than samples has no solution."
        )
    return tuple(map(float, asked))
