"""Moments of tables without gaps, for what cannot be done with some of the values."""

from __future__ import annotations

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.data.categories import place
from bayesieve.errors import MissingValueError
from bayesieve.stats.moments import Moments


def complete_moments(matrix: LabelledMatrix, why: str, *, n_threads: int | None = None) -> Moments:
    """Moments of a matrix in which no value is missing.

    Parameters
    ----------
    matrix
        Checked values and labels.
    why
        Why all values are needed, for the message if they are not there.
    n_threads
        Threads, all cores by default.

    Examples
    --------
    >>> from bayesieve.data import LabelledMatrix
    >>> from bayesieve.stats.complete import complete_moments
    >>> complete_moments(LabelledMatrix.from_arrays([[1.0], [3.0]], ["a", "a"]), "Of course").mean.tolist()
    [[2.0]]
    """
    try:
        return Moments.from_labelled(matrix, n_threads=n_threads)
    except MissingValueError:
        present = Moments.from_labelled(matrix, missing="omit", n_threads=n_threads)
    absent = matrix.n_samples - np.broadcast_to(present.counts, present.mean.shape).sum(axis=0)
    short = np.flatnonzero(absent)
    j, column = next(matrix.columns(short[:1]))
    first = place(matrix, int(np.flatnonzero(np.isnan(column))[0]), j)
    raise MissingValueError(
        f"X holds {int(absent.sum())} missing value(s) (NaN) in {short.size} of {matrix.n_features} features, the "
        f"first at {first}. {why}: fill them in first."
    )
