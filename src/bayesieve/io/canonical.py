"""One form for moments of the same content, so that files and merges of them are the same to the last bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve.stats import Moments


def canonical(moments: Moments) -> Moments:
    """Hold counts alike in all features once, and zeros where there is no value.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.io.canonical import canonical
    >>> canonical(bs.Moments(["a"], [[2, 2]], [[0.0, 1.0]], [[1.0, 2.0]])).count.tolist()
    [2]
    """
    counts, values = moments.counts, (moments.mean, moments.centred_squares, np.asarray(moments.residual))
    count = (counts[:, 0] if (counts == counts[:, :1]).all() else counts).copy()
    return Moments.trusted(moments.classes, count, *(np.where(counts > 0, each, 0.0).copy("C") for each in values))


def taken(moments: Moments, places: npt.NDArray[np.int64]) -> Moments:
    """Take features by position; -1 is a feature without values.

    Examples
    --------
    >>> import bayesieve as bs, numpy as np
    >>> from bayesieve.io.canonical import taken
    >>> taken(bs.Moments.from_matrix([[1.0], [3.0]], ["a", "b"]), np.array([-1, 0])).count.tolist()
    [[0, 1], [0, 1]]
    """
    count = np.broadcast_to(moments.counts, moments.mean.shape)
    arrays = (count, moments.mean, moments.centred_squares, np.asarray(moments.residual))
    return canonical(Moments.trusted(moments.classes, *(np.where(places >= 0, a[:, places], 0) for a in arrays)))
