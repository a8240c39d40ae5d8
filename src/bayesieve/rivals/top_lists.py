"""How far rankings of the same features agree: shared features of top lists, and correlation of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import OptionError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def shared_features(ranks: IntArray, n: int) -> IntArray:
    """Count the features that the top lists of two methods share, for every two methods.

    Parameters
    ----------
    ranks
        Methods x features, 1 for the strongest; a rank above the number of features for one without a score.
    n
        Length of the lists.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rivals.top_lists import shared_features
    >>> shared_features(np.array([[1, 2, 3, 4], [4, 1, 2, 3]]), 2).tolist()
    [[2, 1], [1, 2]]
    """
    member = ranks <= n
    member = member[:, member.any(axis=0)].astype(np.int64)
    return np.asarray(member @ member.T)


def jaccard_index(ranks: IntArray, n: int) -> FloatArray:
    """Shared features of two top lists as a share of those on either; NaN if both are empty.

    Parameters
    ----------
    ranks, n
        See :func:`shared_features`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rivals.top_lists import jaccard_index
    >>> jaccard_index(np.array([[1, 2, 3, 4], [4, 1, 2, 3]]), 2).round(4).tolist()
    [[1.0, 0.3333], [0.3333, 1.0]]
    """
    shared = shared_features(ranks, n)
    size = shared.diagonal()
    either = size[:, None] + size - shared
    result = np.full(shared.shape, np.nan)
    np.divide(shared, either, out=result, where=either > 0)
    return result


def average_overlap(ranks: IntArray, n: int) -> FloatArray:
    r"""Mean over :math:`d = 1, \dots, n` of the share of features common to the first :math:`d` of two lists.

    It is 1 for lists in the same order and 0 for lists without a common feature, and weighs the first places
    more than the last (Fagin, Kumar and Sivakumar 2003). Depths beyond the last feature that has a score in
    either list do not count; NaN if there is none.

    Parameters
    ----------
    ranks, n
        See :func:`shared_features`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rivals.top_lists import average_overlap
    >>> average_overlap(np.array([[1, 2, 3, 4], [4, 1, 2, 3]]), 2).tolist()
    [[1.0, 0.25], [0.25, 1.0]]
    """
    lengths = (ranks <= n).sum(axis=1)
    ranks = ranks[:, (ranks <= n).any(axis=0)]
    result = np.full((len(ranks), len(ranks)), np.nan)
    for a, b in np.ndindex(result.shape):
        depth = int(max(lengths[a], lengths[b]))
        if depth:
            both = np.maximum(ranks[a], ranks[b])  # the depth from which on both lists hold the feature
            common = np.bincount(both[both <= depth], minlength=depth + 1)[1:].cumsum()
            result[a, b] = np.mean(common / np.arange(1, depth + 1))
    return result


def rank_correlation(scores: Sequence[FloatArray]) -> FloatArray:
    """Spearman's correlation of every two scores, over the features that all methods score; ties share a rank.

    NaN where all scores of a method are the same, or there are fewer than two features.

    Parameters
    ----------
    scores
        One array per method.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.rivals.top_lists import rank_correlation
    >>> rank_correlation([np.array([1.0, 2.0, 3.0]), np.array([9.0, 4.0, 2.0])]).round(12).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    table = np.array(scores)
    table = table[:, ~np.isnan(table).any(axis=0)]
    centred = np.array([_average_ranks(row) for row in table]).reshape(table.shape) - (table.shape[1] + 1) / 2
    length = np.sqrt((centred * centred).sum(axis=1))
    with np.errstate(invalid="ignore"):
        products = np.einsum("if,jf->ij", centred, centred)  # one order of summation, unlike BLAS
        return np.asarray(np.clip(products / np.multiply.outer(length, length), -1.0, 1.0))


def _average_ranks(values: FloatArray) -> FloatArray:
    """Ranks from the smallest, equal values sharing the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: FloatArray = (count.cumsum() - (count - 1) / 2)[place.reshape(-1)]
    return ranks


def checked_lengths(top: Any, n_features: int) -> tuple[int, ...]:
    """Return the lengths of lists in order; 10, 50 and 100 as far as half of the features allows by default.

    Examples
    --------
    >>> from bayesieve.rivals.top_lists import checked_lengths
    >>> checked_lengths([50, 20], 60), checked_lengths(None, 120)
    ((20, 50), (10, 50))
    """
    if top is None:
        return tuple(n for n in (10, 50, 100) if 2 * n <= n_features) or (max(1, n_features // 2),)
    lengths: list[Any] = [top] if np.ndim(top) == 0 else list(top)
    whole = [isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in lengths]
    if not lengths or not all(whole) or not all(1 <= n <= n_features for n in lengths):
        raise OptionError(
            f"The length of a top list is a whole number from 1 to the number of features ({n_features:,}), not "
            f"{', '.join(repr(n) for n in lengths) or 'nothing'}."
        )
    return tuple(sorted({int(n) for n in lengths}))
