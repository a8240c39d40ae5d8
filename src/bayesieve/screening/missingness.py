"""Absent values that say something: their share may itself differ between the classes (spec I2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError
from bayesieve.models.comparison import Part
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
