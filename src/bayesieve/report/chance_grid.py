"""ChanceGrid: the number of features by chance at every cut, as a curve that the page can interpolate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import FeaturePosterior
from bayesieve.posterior.chance import chance_curve, chance_resolution, least_log_odds

FloatArray = npt.NDArray[np.float64]

_POINTS, _MOST_KINKS, _BELOW, _ABOVE, _BEND = 140, 120, 2.0, 25.0, 8.0


@dataclass(frozen=True, slots=True, eq=False)
class ChanceGrid:
    """Logs of expected numbers at increasing cuts, between which they are nearly straight.

    Parameters
    ----------
    cuts
        Cuts on the log-odds, increasing.
    log_expected
        Log of the number of features expected over each if none were a marker.
    at_cut
        The number at the cut of the list.
    resolution
        The number that one event of a simulation stands for; 0 if the curve is exact.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.report.chance_grid import chance_grid
    >>> X = np.random.default_rng(0).normal(size=(10, 2)) + np.outer([0] * 5 + [1] * 5, [9, 0])
    >>> grid = chance_grid(bs.screen(X, [0] * 5 + [1] * 5), 0.0)
    >>> round(grid.at_cut, 4)
    0.0328
    """

    cuts: FloatArray
    log_expected: FloatArray
    at_cut: float
    resolution: float = 0.0


def chance_grid(posterior: FeaturePosterior, cut: float) -> ChanceGrid | None:
    """Work out the curve from below the lowest log-odds to beyond the highest; None if it is not known.

    Points lie densely where the curve bends, at the low end, and at the cut of the list there is one.

    Parameters
    ----------
    posterior
        The screen.
    cut
        Cut of the list.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.report.chance_grid import chance_grid
    >>> X = np.random.default_rng(0).normal(size=(10, 2)) + np.outer([0] * 5 + [1] * 5, [9, 0])
    >>> grid = chance_grid(bs.screen(X, [0] * 5 + [1] * 5), 0.0)
    >>> bool((grid.cuts[1:] > grid.cuts[:-1]).all() and (grid.log_expected[1:] <= grid.log_expected[:-1]).all())
    True
    """
    log_odds = posterior.log_odds[np.isfinite(posterior.log_odds) & ~posterior.degenerate]
    kinks = least_log_odds(posterior)
    low = float(kinks[0]) if kinks.size else float(log_odds.min(initial=0.0)) - _BELOW
    high = max(low, float(log_odds.max(initial=0.0))) + _ABOVE
    bent = np.expm1(_BEND * np.linspace(0.0, 1.0, _POINTS)) / np.expm1(_BEND)
    chosen = np.unique(np.linspace(0, max(kinks.size - 1, 0), _MOST_KINKS).astype(int))
    cuts = np.unique(np.concatenate([
        low + (high - low) * bent,
        np.linspace(low, min(high, low + _ABOVE), _POINTS),
        np.linspace(low, high, _POINTS),
        kinks[chosen] if kinks.size else [],
        [cut] if np.isfinite(cut) else [],
    ]))  # fmt: skip
    expected = chance_curve(posterior, cuts)
    if np.isnan(expected).any():
        return None
    with np.errstate(divide="ignore"):
        log_expected = np.log(expected)
    return ChanceGrid(cuts, log_expected, _at(posterior, cut, cuts, expected), chance_resolution(posterior))


def _at(posterior: FeaturePosterior, cut: float, cuts: FloatArray, expected: FloatArray) -> float:
    if np.isfinite(cut):
        return float(expected[np.searchsorted(cuts, cut)])
    return float(chance_curve(posterior, [cut])[0])
