"""P-values of many tests together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def benjamini_hochberg(p_value: npt.ArrayLike) -> FloatArray:
    """P-values adjusted by the method of Benjamini and Hochberg (1995); NaN stays NaN and is no test.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.posterior.multiple_testing import benjamini_hochberg
    >>> benjamini_hochberg([0.01, np.nan, 0.03, 0.5]).round(6).tolist()
    [0.03, nan, 0.045, 0.5]
    """
    from scipy.stats import false_discovery_control  # noqa: PLC0415 - SciPy is slow to import

    p = np.array(p_value, dtype=np.float64)
    tested = ~np.isnan(p)
    if tested.any():
        p[tested] = false_discovery_control(p[tested], method="bh")
    return p
