"""The same moments in another shape."""

from __future__ import annotations

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
