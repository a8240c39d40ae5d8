"""What counts as within a bound: sums of probabilities carry rounding errors, bounds do not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

ROUNDING = 1e-12  # objectives and sums that agree to this are equal
_TINY = 1e-300


def within_number(expected: FloatArray, allowed: float) -> BoolArray:
    """Whether expected numbers of errors are within a bound on that number, as in (3.13).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.selection.bounds import within_number
    >>> within_number(np.array([0.1 + 0.2, 0.31]), 0.3).tolist()
    [True, False]
    """
    return np.less_equal(expected, allowed + (ROUNDING * max(1.0, allowed) if allowed else 0.0))


def within_share(expected: FloatArray, number: npt.NDArray[np.int64], proportion: float) -> BoolArray:
    """Whether expected numbers of errors are within a bound on their share of a number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.selection.bounds import within_share
    >>> within_share(np.array([0.1 + 0.2, 0.31]), np.array([3, 3]), 0.1).tolist()
    [True, False]
    """
    return np.less_equal(expected, np.asarray(proportion * number * (1.0 + ROUNDING) + _TINY))
