"""What samplers work on: the columns of a table centred and scaled, without those that do not vary."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.registry import rival
from bayesieve.stats import Moments
from bayesieve.utils import (
    BoolArray,
    DataError,
    DegenerateFeatureWarning,
    FloatArray,
    IntArray,
    LabelError,
    MissingValueError,
    plural,
    warn,
)

FEWEST = 4  # samples


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """A table ready for regression.

    Parameters
    ----------
    columns
        Features x samples: of mean 0 and mean square 1, the features that vary only.
    is_second
        Which samples are of the second class.
    spread
        Standard deviation that each feature had, with n in the denominator.
    places
        Where the features stand in the table.
    distance
        Bhattacharyya distance of each, which breaks ties.
    n_all
        Features of the table.
    """

    columns: FloatArray
    is_second: BoolArray
    spread: FloatArray
    places: IntArray
    distance: FloatArray
    n_all: int

    @classmethod
    def of(cls, matrix: LabelledMatrix, method: str) -> Design:
        """Check a table, centre and scale it."""
        _check(matrix, method)
        values = matrix.values.toarray() if is_sparse(matrix.values) else matrix.values
        columns = np.array(values.T, dtype=np.float64, order="C")
        largest = np.abs(columns).max(axis=1, keepdims=True)
        largest[largest == 0] = 1.0
        columns /= largest  # so that no square overflows or vanishes
        columns -= columns.mean(axis=1, keepdims=True)
        columns -= columns.mean(axis=1, keepdims=True)
        deviation = np.sqrt((columns * columns).mean(axis=1, keepdims=True))
        places = np.flatnonzero(deviation[:, 0] > 1e-14)  # below is rounding
        constant = matrix.n_features - places.size
        if not places.size:
            raise DataError(
                f"{method} finds nothing to work on: {plural(constant, 'feature')} in all, each with one value "
                "in all samples."
            )
        if constant:
            warn(
                DegenerateFeatureWarning,
                f"{method} has no score for {constant:,} of {plural(matrix.n_features, 'feature')}: constant in "
                "all samples.",
            )
        columns = columns[places] / deviation[places]
        spread = (deviation * largest)[places, 0]
        distance = _distance(matrix)[places]
        return cls(columns, matrix.labels.codes == 1, spread, places, distance, matrix.n_features)

    def scores(
        self,
        method: str,
        score: FloatArray,
        details: Mapping[str, FloatArray],
        diagnostics: Mapping[str, Any],
        names: tuple[str, ...] | None,
    ) -> FeatureScores:
        """Put what was found among all features of the table, NaN for those that do not vary."""

        def among(column: FloatArray) -> FloatArray:
            whole = np.full(self.n_all, np.nan)
            whole[self.places] = column
            return whole

        return FeatureScores(
            method,
            among(score),
            names,
            details={name: among(column) for name, column in details.items()},
            tie_break=among(self.distance),
            diagnostics=diagnostics,
        )


def _distance(matrix: LabelledMatrix) -> FloatArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateFeatureWarning)  # what does not vary is said above
        return rival("bd").run(Moments.from_labelled(matrix, n_threads=1)).score


def _check(matrix: LabelledMatrix, method: str) -> None:
    """Raise unless the table can be used."""
    classes, sizes = matrix.labels.classes, matrix.labels.counts
    if len(classes) != 2:
        raise LabelError(f"{method} compares two classes, not {len(classes)}.")
    if sizes.min() < 2 or matrix.n_samples < FEWEST:
        raise LabelError(
            f"{method} needs at least two samples of each class, but there are {sizes[0]} of class {classes[0]!r} "
            f"and {sizes[1]} of class {classes[1]!r}."
        )
    if matrix.n_features == 0:
        raise DataError(f"{method} needs at least one feature, but the table has none.")
    stored = matrix.values.data if is_sparse(matrix.values) else matrix.values
    absent = int(np.isnan(stored).sum()) if stored.dtype.kind == "f" else 0
    if absent:
        raise MissingValueError(
            f"{method} takes no missing values, and {absent:,} of the values are missing (NaN). Fill them in, "
            "or choose a method that leaves them out, such as 'student' or 'mi'."
        )
    infinite = int(np.isinf(stored).sum()) if stored.dtype.kind == "f" else 0
    if infinite:
        raise DataError(f"{method} takes no infinite values, and there are {infinite:,}.")
