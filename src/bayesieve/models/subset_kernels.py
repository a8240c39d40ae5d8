"""Arithmetic over all sets of a few features: array entry ``g`` belongs to the set with the bits of ``g``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.stats.compiled import compiled

FloatArray = npt.NDArray[np.float64]


def sums_over_sets(inside: npt.ArrayLike, outside: npt.ArrayLike = 0.0) -> FloatArray:
    r"""Return :math:`\sum_{f \in G} a_f + \sum_{f \notin G} b_f` for every set, by doubling.

    Parameters
    ----------
    inside
        One number per feature, for the sets that hold it.
    outside
        The same for the sets without it; 0 by default.

    Examples
    --------
    >>> from bayesieve.models.subset_kernels import sums_over_sets
    >>> sums_over_sets([1.0, 10.0], [0.0, 5.0]).tolist()
    [5.0, 6.0, 10.0, 11.0]
    """
    a = np.asarray(inside, dtype=np.float64)
    b = np.broadcast_to(np.asarray(outside, dtype=np.float64), a.shape)
    sums = np.zeros(1)
    for with_it, without in zip(a.tolist(), b.tolist(), strict=True):
        sums = np.concatenate((sums + without, sums + with_it))
    return sums


def set_sizes(n_features: int) -> npt.NDArray[np.int64]:
    """Return the number of features in every set.

    Examples
    --------
    >>> from bayesieve.models.subset_kernels import set_sizes
    >>> set_sizes(2).tolist()
    [0, 1, 1, 2]
    """
    sizes = np.zeros(1, np.int64)
    for _ in range(n_features):
        sizes = np.concatenate((sizes, sizes + 1))
    return sizes


@compiled()
def walk_subsets(matrix: Any, vector: Any, least: Any, log_det: Any, form: Any) -> None:
    r"""Fill in :math:`\log|M_A|` and :math:`v_A^T M_A^{-1} v_A` for all subsets ``A``, by bit mask.

    The walk is depth-first; a subset grows by features after its last one. Every step eliminates one feature
    from what is left of the matrix, the Schur complement of the features taken so far. Half of the subsets
    leave nothing, a quarter one feature and so on, so that the whole walk takes :math:`O(2^d)` operations.

    Parameters
    ----------
    matrix, vector
        :math:`M`, positive definite with a unit diagonal, and :math:`v`.
    least
        A pivot cannot be below this, by theory: rounding is cut off there.
    log_det, form
        Filled in, :math:`2^d` numbers each.
    """
    d = matrix.shape[0]
    left, rest = np.empty((d + 1, d, d)), np.empty((d + 1, d))
    left[0], rest[0] = matrix, vector
    taken = np.empty(d + 1, np.int64)
    log_det[0] = form[0] = 0.0
    level, subset, f = 0, 0, 0
    while level > 0 or f < d:
        if f == d:  # nothing to add: go on with the feature after the last one taken
            level -= 1
            f = taken[level]
            subset ^= 1 << f
            f += 1
            continue
        now, after = left[level], left[level + 1]
        pivot = max(now[f, f], least[f])
        grown = subset | (1 << f)
        log_det[grown] = log_det[subset] + (math.log(pivot) if pivot > 0.0 else -math.inf)
        form[grown] = form[subset] + rest[level, f] ** 2 / pivot
        for a in range(f + 1, d):
            share = now[a, f] / pivot
            rest[level + 1, a] = rest[level, a] - share * rest[level, f]
            for b in range(f + 1, a + 1):
                after[a, b] = now[a, b] - share * now[b, f]
        taken[level] = f
        level, subset, f = level + 1, grown, f + 1
