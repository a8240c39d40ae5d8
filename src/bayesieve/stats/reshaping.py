"""The same moments in another shape."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve.stats.moments import Moments


def plain_counts(moments: Moments) -> Moments:
    """Hold one count per class where all features have the same.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.stats.reshaping import plain_counts
    >>> moments = bs.Moments(["a"], [[2, 2]], [[0.0, 1.0]], [[1.0, 2.0]])
    >>> plain_counts(moments).count.tolist()
    [2]
    """
    count = moments.count
    if count.ndim == 2 and (count == count[:, :1]).all():
        count = count[:, 0].copy()
    return Moments.trusted(moments.classes, count, moments.mean, moments.centred_squares, moments.residual)


def take_features(moments: Moments, places: npt.NDArray[np.int64]) -> Moments:
    """Moments of some features, in the order given.

    Examples
    --------
    >>> import bayesieve as bs, numpy as np
    >>> from bayesieve.stats.reshaping import take_features
    >>> moments = bs.Moments.from_matrix([[1.0, 2.0], [3.0, 5.0]], ["a", "b"])
    >>> take_features(moments, np.array([1])).mean.tolist()
    [[2.0], [5.0]]
    """
    count = moments.count if moments.count.ndim == 1 else moments.count[:, places]
    arrays = (array[:, places] for array in (moments.mean, moments.centred_squares, np.asarray(moments.residual)))
    return Moments.trusted(moments.classes, count, *arrays)
