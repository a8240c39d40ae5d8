"""The same statistics in another shape."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from bayesieve.data import Label
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


def split_blocks(cells: Any, classes: Sequence[Label]) -> tuple[Any, dict[Any, Any]]:
    """Take statistics of (block, class) apart into those of blocks, and together into those of classes.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.stats.reshaping import split_blocks
    >>> cells = bs.Moments.from_matrix([[1.0], [3.0], [5.0]], [("p", "a"), ("p", "b"), ("q", "a")],
    ...                                classes=[("p", "a"), ("p", "b"), ("q", "a"), ("q", "b")])
    >>> whole, blocks = split_blocks(cells, ["a", "b"])
    >>> whole.mean.tolist(), list(blocks)
    ([[3.0], [3.0]], ['p', 'q'])
    """
    names = dict.fromkeys(label[0] for label in cells.classes)
    blocks = {name: _plain(cells.pick([(name, label) for label in classes]).renamed(classes)) for name in names}
    return _plain(functools.reduce(lambda first, second: first.merge(second), blocks.values())), blocks


def _plain(statistics: Any) -> Any:
    return plain_counts(statistics) if isinstance(statistics, Moments) else statistics
