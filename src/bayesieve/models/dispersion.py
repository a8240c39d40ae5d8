"""How much counts vary beyond Poisson: the size of a negative binomial, and values drawn with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.errors import DataError
from bayesieve.stats.event_totals import EventTotals

FloatArray = npt.NDArray[np.float64]

SMALLEST_SIZE, LARGEST_SIZE = 1e-3, 1e6


def estimated_size(statistics: EventTotals) -> FloatArray:
    r"""Moment estimate of the size of a negative binomial, per feature, from within the classes.

    .. math::
        r = \frac{\sum_y w_y \bar x_y^2}{\sum_y w_y (s_y^2 - \bar x_y)}, \quad
        w_y = \frac{n_y - 1}{\sum_z (n_z - 1)}

    with the mean and the unbiased variance of each class: within a class the variance is
    :math:`\mu_y + \mu_y^2 / r`, so that classes of different means are no extra variation. Kept within
    [1e-3, 1e6]; 1e6, where counts are all but Poisson, if the denominator is not positive or no class has two
    values. With few samples it is a rough estimate: give ``size`` where it is known better.

    Examples
    --------
    >>> from bayesieve.models.dispersion import estimated_size
    >>> from bayesieve.stats.event_totals import EventTotals
    >>> totals = EventTotals.from_matrix([[0], [8], [4], [20]], ["a", "a", "b", "b"], spread=True)
    >>> estimated_size(totals).round(6).tolist()
    [1.111111]
    """
    moments = statistics.moments
    if moments is None:
        raise DataError(
            "The size is estimated from the spread of the counts, which these totals do not hold. Make them with "
            "EventTotals.from_matrix(..., spread=True), or give size to the model."
        )
    freedom = np.maximum(moments.counts - 1, 0)
    top = (freedom * moments.mean**2).sum(axis=0)
    bottom = (moments.centred_squares - freedom * moments.mean).sum(axis=0)
    estimate = np.divide(top, bottom, out=np.full(top.shape, LARGEST_SIZE), where=bottom > 0)
    return np.asarray(np.clip(estimate, SMALLEST_SIZE, LARGEST_SIZE))


def drawn_values(statistics: EventTotals, mean: Any, size: Any, rng: np.random.Generator) -> EventTotals:
    """Draw values one by one and sum them.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.dispersion import drawn_values
    >>> from bayesieve.stats.event_totals import EventTotals
    >>> totals = EventTotals.from_matrix([[3], [5]], ["a", "b"])
    >>> drawn_values(totals, np.array([4.0]), np.array([2.0]), np.random.default_rng(0)).counts.tolist()
    [[1], [1]]
    """
    counts = np.broadcast_to(statistics.counts, statistics.total.shape)
    labels = np.repeat(np.arange(len(counts)), counts.max(axis=1))
    values = rng.poisson(rng.gamma(np.broadcast_to(size, mean.shape), mean / size, (labels.size, mean.size))) * 1.0
    places = np.concatenate([np.arange(n) for n in counts.max(axis=1)])
    values[places[:, None] >= counts[labels]] = np.nan  # as many values are absent as in the data
    made = EventTotals.from_matrix(values, labels, classes=range(len(counts)), missing="omit", spread=True)
    return made.renamed(statistics.classes)


def per_exposure(matrix: LabelledMatrix) -> Any:
    """Counts as if every sample had been looked at equally deeply.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.data import LabelledMatrix, encode_labels
    >>> from bayesieve.models.dispersion import per_exposure
    >>> counts, labels = np.array([[2.0], [3.0]]), encode_labels(["a", "b"])
    >>> matrix = LabelledMatrix(counts, labels, None, exposures=np.array([0.5, 1.5]))
    >>> per_exposure(matrix).tolist()
    [[4.0], [2.0]]
    """
    assert matrix.exposures is not None
    scale = (1.0 / matrix.exposures)[:, None]
    values: Any = matrix.values
    return values.multiply(scale).tocsr() if is_sparse(values) else values * scale
