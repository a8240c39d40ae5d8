"""The hash of a result, by which a repetition can be told to have given the same."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.selection.selection import Selection
from bayesieve.stats import Moments
from bayesieve.stats.statistics import ClassStatistics


def results_hash(selection: Selection) -> str:
    """SHA-256 of the results: feature ids, then log-odds, moments and the selection as little-endian bytes.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.selection.results_hash import results_hash
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [0.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> one, other = (results_hash(bs.FixedSize(n).select(posterior)) for n in (0, 1))
    >>> len(one), one == other
    (64, False)
    """
    posterior, digest = selection.posterior, hashlib.sha256()
    names = posterior.names
    for lo in range(0, len(names), 2**16):
        digest.update("\0".join((*names[lo : lo + 2**16], "")).encode("utf-8", "surrogatepass"))
    digest.update("\0".join(map(str, posterior.classes)).encode("utf-8", "surrogatepass"))
    arrays = (
        posterior.log_odds, *_of_statistics(posterior.statistics), posterior.degenerate_codes, selection.mask,
    )  # fmt: skip
    for array in arrays:
        for row in np.atleast_2d(array):
            digest.update(np.ascontiguousarray(row, dtype=array.dtype.newbyteorder("<")).data)
    return digest.hexdigest()


def _of_statistics(statistics: ClassStatistics) -> list[npt.NDArray[Any]]:
    if isinstance(statistics, Moments):
        counts = np.broadcast_to(statistics.counts, statistics.mean.shape)
        return [counts, statistics.mean, statistics.centred_squares]
    columns = statistics.describe([str(label) for label in statistics.classes])
    return [np.asarray(column) for column in columns.values()]
