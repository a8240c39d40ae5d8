"""The cut as a contour of the effect map: what the page needs to draw it for any cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.posterior import evidence_surface
from bayesieve.report.data import ReportData
from bayesieve.report.encoding import encode_array

_ACROSS, _ALONG = 61, 81
_WIDER = 1.15  # than the features lie


def surface(report: ReportData) -> dict[str, Any] | None:
    """Return the formula's constants where it is exact, else log Bayes factors of the median feature on a grid."""
    found, effect = evidence_surface(report.posterior), report.effect
    if found is None or effect is None or effect.y is None:
        return None
    if found.exact:
        return {"kind": "jeffreys", "n": [found.n0, found.n1], "constant": found.constant}
    largest = [float(np.nanmax(np.abs(each), initial=0.1)) * _WIDER for each in (effect.x, effect.y)]
    x, y = np.linspace(0.0, largest[0], _ACROSS), np.linspace(-largest[1], largest[1], _ALONG)
    heights = found.log_bayes_factor(x[None, :], y[:, None])
    return {
        "kind": "grid",
        "x": encode_array(x, "f8"),
        "y": encode_array(y, "f8"),
        "log_bayes_factor": encode_array(heights, "f8"),
    }
