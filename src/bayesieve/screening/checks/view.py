"""ListView: a list with the values of its features, for the checks to look at."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.models import Model
from bayesieve.posterior import Check, FeaturePosterior
from bayesieve.screening.second_look import values_of
from bayesieve.selection import Selection
from bayesieve.utils import FloatArray, IntArray, Message, Piece

Compare = Callable[[Model, Any], FloatArray]


@dataclass(frozen=True, eq=False)
class ListView:
    """A list and what is known of its values.

    Parameters
    ----------
    selection
        The list.
    matrix
        All values with their labels; of pairs the differences. None if they are not in memory.
    columns
        What else is known of the samples, by name.
    label_name
        What the column of the labels is called; empty if that is not known.
    sample_names
        Names of the samples, or None.
    scheme
        ``"samples"``, ``"batches"`` or ``"pairs"``.
    transform
        How values of a file were transformed; None of arrays, of which it is not known.
    length_of
        Number of features that pass the cut of the list if the screen is repeated with other values.
    given_factors
        Whether factors were taken out of the values.
    """

    selection: Selection
    matrix: LabelledMatrix | None
    columns: Mapping[str, Any]
    label_name: str = ""
    sample_names: tuple[str, ...] | None = None
    scheme: str = "samples"
    transform: str | None = None
    length_of: Callable[[LabelledMatrix], int] | None = None
    given_factors: bool = False

    @property
    def absence(self) -> str:
        """Why values cannot be looked at."""
        if self.posterior.model.supports("mixed"):
            return "features of several kinds are not looked at again"
        return "the values of the samples are not at hand"

    @property
    def posterior(self) -> FeaturePosterior:
        """The screen."""
        return self.selection.posterior

    @property
    def is_numeric(self) -> bool:
        """Whether values are measurements: neither counts nor categories."""
        return self.posterior.model.supports("moments")

    @functools.cached_property
    def listed(self) -> IntArray:
        """Features of the list, in the order of the table."""
        return np.flatnonzero(self.selection.mask)

    @functools.cached_property
    def values(self) -> FloatArray:
        """Values of the list, samples x features; NaN where one is missing."""
        assert self.matrix is not None
        if not self.listed.size:
            return np.empty((self.matrix.n_samples, 0))
        return values_of(self.matrix, self.listed)[1]

    @property
    def codes(self) -> IntArray:
        """Class of every sample."""
        assert self.matrix is not None
        return self.matrix.labels.codes

    def part(self, which: IntArray) -> LabelledMatrix:
        """Some features of the table."""
        assert self.matrix is not None
        return replace(self.matrix, values=self.matrix.values[:, which], feature_names=None)


NOTHING_LISTED = "nothing is listed"


def not_checked(name: str, title: str, link: str, why: str) -> Check:
    """Say why a check could not be made."""
    return Check(name, title, "unknown", np.nan, "not checked", Message.of(f"Not checked: {why}."), link)


def make(
    name: str,
    title: str,
    link: str,
    state: str,
    number: float,
    shown: str,
    *pieces: Piece,
    hint: Any = (),
    **numbers: Any,
) -> Check:
    """Put a check together."""
    return Check(
        name, title, state, float(number), shown, Message.of(*pieces, hint=hint, kind=name), link, numbers
    )


def percent(share: float) -> str:
    """Return a share for people, which is 0% or 100% only if it is."""
    if 0.0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1.0 else f"{share:.0%}"
