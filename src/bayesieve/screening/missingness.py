"""Absent values that say something: their share may itself differ between the classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError, DataWarning
from bayesieve.models.comparison import Part
from bayesieve.posterior.finding import Remark
from bayesieve.stats.statistics import ClassStatistics

_LEVELS = ("absent", "present")


def absence(samples: npt.NDArray[np.int64] | None, statistics: ClassStatistics) -> Part:
    r"""Count absent and present values of every class, under a uniform prior for their share.

    Absent counts :math:`u_y` of :math:`n_y` multiply the Bayes factor by

    .. math:: \frac{B(1 + u_0, 1 + n_0 - u_0)\, B(1 + u_1, 1 + n_1 - u_1)}{B(1, 1)\, B(1 + u, 1 + n - u)}

    Parameters
    ----------
    samples
        Number of samples per class.
    statistics
        Their statistics, with a count of values per feature where some are missing.
    """
    from bayesieve.models.categorical import CategoricalModel  # noqa: PLC0415 - most screens do without
    from bayesieve.stats.category_counts import CategoryCounts  # noqa: PLC0415

    if samples is None:
        raise DataError(
            "informative_missing needs the number of samples per class, which ready statistics do not tell. Hand "
            "over the table itself."
        )
    shape = (len(statistics.classes), statistics.n_features)
    present: Any = np.broadcast_to(statistics.counts, shape)
    table = np.stack([samples[:, None] - present, present], axis=1)
    counts = CategoryCounts(statistics.classes, _LEVELS, table)
    return Part(CategoricalModel(1.0, levels=_LEVELS), counts)


def of_absence(statistics: ClassStatistics, part: Part) -> Remark:
    """Say what counting absent values did; warn if there are none, when it can only count against a difference."""
    absent: Any = part.statistics
    n_features = int((absent.table[:, 0].sum(axis=0) > 0).sum())
    if not n_features:
        warnings.warn(
            "informative_missing was asked for, but no value is missing: every feature then pays for classes that "
            "are alike in this. Leave it out.",
            DataWarning,
            stacklevel=5,
        )
    said = f"Missing values of {n_features:,} of {statistics.n_features:,} features count as evidence, too"
    return Remark((f"{said}; features that lack none pay for classes that are alike in this.",))
