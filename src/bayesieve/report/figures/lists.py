"""What is drawn: the list of a rule, and log-odds that fit on an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import RuleError
from bayesieve.posterior import FeaturePosterior
from bayesieve.selection import MinimalRisk, Selection

FloatArray = npt.NDArray[np.float64]


def selected(found: Any) -> Selection:
    """Take a selection as it is; from a posterior select what is more probably a marker than not.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.figures.lists import selected
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [6.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> selected(posterior).rule
    'probability over 0.5'
    """
    if isinstance(found, Selection):
        return found
    if isinstance(found, FeaturePosterior):
        return MinimalRisk(0.5).select(found)
    raise RuleError(
        f"A figure shows what screen() or a rule returned, not {type(found).__name__}. Screen the data first, for "
        "example: posterior = bs.screen(X, y)."
    )


def drawable(log_odds: FloatArray) -> FloatArray:
    """Put infinite log-odds (prior probabilities of 0 and 1) a little beyond the others.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.report.figures.lists import drawable
    >>> drawable(np.array([0.0, 10.0, np.inf])).tolist()
    [0.0, 10.0, 11.0]
    """
    finite = log_odds[np.isfinite(log_odds)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    margin = max(0.1 * (high - low), 1.0)
    return np.clip(log_odds, low - margin, high + margin)
