"""Whether counts vary within classes as a Poisson model supposes, and what to do if they do not."""

from __future__ import annotations

import numpy as np

from bayesieve.screening.inputs import ScreenInput
from bayesieve.screening.second_look import values_of
from bayesieve.utils import BoolArray, DataWarning, FloatArray, IntArray, Wording, warn

_MOST_FEATURES, _MOST_VALUES = 1000, 2**22  # looked at
_LEAST_TOTAL = 10.0  # events of a feature that is looked at
_LEAST_RATIO, _DEVIATIONS = (
    1.5,
    4.0,
)  # variance over mean, and standard errors over 1, of a feature that varies more
_LEAST_SHARE, _LEAST_FEATURES = 0.1, 5  # of features that do, from which it is said


def warn_about_dispersion(found: ScreenInput) -> None:
    """Warn if counts of many features vary within classes more than their means allow.

    The variance over the mean of a feature is that of Pearson: squared differences from what class and exposure
    let expect, over that, summed and divided by the degrees of freedom.
    """
    if found.shufflable is None:
        return
    matrix, strata = found.shufflable.matrix, found.shufflable.strata
    codes = matrix.labels.codes
    if strata is not None:
        blocks = np.unique(np.array([str(each) for each in strata]), return_inverse=True)[1]
        codes = blocks * len(matrix.labels.classes) + codes
    n_looked = min(_MOST_FEATURES, max(1, _MOST_VALUES // max(matrix.n_samples, 1)), matrix.n_features)
    chosen = np.linspace(0, matrix.n_features - 1, n_looked).astype(np.int64)
    exposures = np.ones(codes.size) if matrix.exposures is None else matrix.exposures
    ratio, known, sure = variance_over_mean(values_of(matrix, chosen)[1], codes, exposures)
    if not known.any():
        return
    more = known & (ratio > _LEAST_RATIO) & sure
    share = more.sum() / known.sum()
    if share < _LEAST_SHARE or more.sum() < _LEAST_FEATURES:
        return
    warn(
        DataWarning,
        "The counts vary more than a Poisson model allows: within classes the variance is "
        f"{np.median(ratio[more]):.3g} times the mean (median) in {share:.0%} of the features. Such features pass "
        "for markers.",
        hint=("Use ", Wording("model=NegativeBinomialModel()", "--model negative-binomial"), "."),
        kind="overdispersed",
    )


def variance_over_mean(
    values: FloatArray, codes: IntArray, exposures: FloatArray
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return variance over mean of every feature, where it is known, and where it is over 1 beyond doubt."""
    there = ~np.isnan(values)
    filled, weight = np.where(there, values, 0.0), there * exposures[:, None]
    squares, dof, inverse = (np.zeros(values.shape[1]) for _ in range(3))
    for code in np.unique(codes):
        rows = codes == code
        exposed, n = weight[rows].sum(axis=0), there[rows].sum(axis=0)
        rate = np.divide(filled[rows].sum(axis=0), exposed, out=np.zeros(n.size), where=exposed > 0)
        expected = weight[rows] * rate
        usable = expected > 0
        away = np.where(usable, filled[rows] - expected, 0.0)
        squares += np.divide(away**2, expected, out=np.zeros(away.shape), where=usable).sum(axis=0)
        inverse += np.divide(1.0, expected, out=np.zeros(away.shape), where=usable).sum(axis=0)
        dof += np.where(rate > 0, np.maximum(n - 1, 0), 0)
    known = (dof > 0) & (filled.sum(axis=0) >= _LEAST_TOTAL)
    free = np.maximum(dof, 1.0)
    ratio = squares / free
    error = np.sqrt((2.0 + inverse / np.maximum(there.sum(axis=0), 1)) / free)  # of Poisson counts
    return ratio, known, ratio > 1.0 + _DEVIATIONS * error
