"""Exposures: how long, or how deeply, each sample was looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.values import as_values
from bayesieve.errors import DataError, OptionError

FloatArray = npt.NDArray[np.float64]


def checked_exposures(exposures: Any, n_samples: int) -> FloatArray:
    """Check that there is one positive and finite exposure per sample.

    Examples
    --------
    >>> from bayesieve.stats.exposures import checked_exposures
    >>> checked_exposures([1, 2.5], 2).tolist()
    [1.0, 2.5]
    """
    try:
        array = np.asarray(exposures, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("Exposures must be numbers, one per sample.") from None
    if array.shape != (n_samples,):
        raise DataError(
            f"There are {n_samples} samples, but exposures have shape {array.shape}. Give one number per sample."
        )
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise DataError(
            f"{bad.size} of {n_samples} exposures are not positive and finite, the first at sample {bad[0]}: "
            f"{array[bad[0]]:g}. Leave samples without exposure out."
        )
    return array


def size_factors(X: Any, kind: str = "total") -> FloatArray:
    r"""Return exposures proportional to the total of each sample, with mean 1.

    .. math:: e_i = \frac{t_i}{\bar t}, \quad t_i = \sum_f x_{if}

    Parameters
    ----------
    X
        Samples x features: an array, a frame, a CSR or CSC matrix of counts, without missing values.
    kind
        ``"total"``; there is no other.

    Examples
    --------
    >>> from bayesieve.stats.exposures import size_factors
    >>> size_factors([[1, 3], [6, 6]]).tolist()
    [0.5, 1.5]
    """
    if kind != "total":
        raise OptionError(f"There is no kind {kind!r} of size factors; the one there is is 'total'.")
    values, _ = as_values(X)
    totals = np.asarray(values.sum(axis=1, dtype=np.float64), dtype=np.float64).reshape(-1)
    bad = np.flatnonzero(~(np.isfinite(totals) & (totals > 0)))
    if bad.size:
        raise DataError(
            f"{bad.size} of {totals.size} samples have no total above 0 (no event at all, or a value that is "
            f"missing, infinite or negative), the first is sample {bad[0]} with {totals[bad[0]]:g}. "
            "Leave these samples out, or give exposures of your own."
        )
    return np.asarray(totals / totals.mean())
