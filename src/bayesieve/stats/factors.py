r"""Factors that samples share beyond their classes: how many, which, and the data given them.

With standardised values :math:`x = \mu + y \beta + F \gamma + e` the factors :math:`F` (quality, mixture of cells,
batch) may agree with the classes :math:`y` by chance or by design, :math:`F = U + c\,\alpha'` with the class
contrast :math:`c`. The part :math:`U` within classes is estimated by principal components of the residuals, the
loadings :math:`\gamma` with it. The naive class differences are then :math:`\beta + \gamma \alpha`, and since most
:math:`\beta` are 0, :math:`\alpha` is a robust regression of the differences on the loadings (Wang, Zhao, Hastie
and Owen 2017). The number of factors follows by parallel analysis (Horn 1965; Buja and Eyuboglu 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.utils import FloatArray, IntArray

_REPEATS, _LEVEL, _MOST_FEATURES = 20, 0.95, 4000  # of the parallel analysis
_CLEARLY = 1.5  # times what permuted residuals give: weak factors cost more degrees of freedom than they explain
_HUBER, _STEPS = 1.345, 50
_MOST_SHARE = 0.5  # of the degrees of freedom that factors may take


@dataclass(frozen=True, slots=True, eq=False)
class FactorFit:
    r"""Factors of a table, and what is left of it given them.

    Parameters
    ----------
    scores
        Samples x factors: orthonormal, within classes.
    values
        The table with the factors taken out: class differences corrected, residuals without them.
    agreement
        How much each factor agrees with the classes, :math:`\alpha`.
    shares
        Share of the variation within classes that each factor carries.
    """

    scores: FloatArray
    values: FloatArray
    agreement: FloatArray
    shares: FloatArray

    @property
    def n_factors(self) -> int:
        """Number of factors."""
        return int(self.scores.shape[1])

    @property
    def penalty(self) -> float:
        r"""What knowing the factors costs: :math:`\alpha'\alpha`, added to the variance factor of a difference."""
        return float(self.agreement @ self.agreement)


def residuals_within(values: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Residuals within two classes in units of their standard deviation, that unit, and the class means."""
    means = np.array([values[codes == k].mean(axis=0) for k in (0, 1)])
    rest = values - means[codes]
    unit = np.sqrt((rest**2).sum(axis=0) / max(values.shape[0] - 2, 1))
    unit = np.where(unit > 0, unit, 1.0)
    return rest / unit, unit, means


def number_of_factors(values: FloatArray, codes: IntArray, seed: Any = 0) -> int:
    """Principal components of the residuals beyond those of residuals permuted feature by feature."""
    rng = np.random.default_rng(seed)
    rest, _, _ = residuals_within(values, codes)
    if rest.shape[1] > _MOST_FEATURES:
        rest = rest[:, np.sort(rng.choice(rest.shape[1], _MOST_FEATURES, replace=False))]
    found = _eigenvalues(rest)
    null = []
    for _ in range(_REPEATS):
        mixed = rng.permuted(rest, axis=0)
        null.append(_eigenvalues(mixed - np.array([mixed[codes == k].mean(axis=0) for k in (0, 1)])[codes]))
    over = found > _CLEARLY * np.quantile(null, _LEVEL, axis=0)
    number = int(np.argmin(over)) if not over.all() else over.size
    return min(number, int(_MOST_SHARE * (values.shape[0] - 2)))


def _eigenvalues(rest: FloatArray) -> FloatArray:
    found = np.linalg.eigvalsh(rest @ rest.T)[::-1][: rest.shape[0] - 2]
    return np.asarray(found / found.sum())


def fit_factors(values: FloatArray, codes: IntArray, n_factors: int) -> FactorFit:
    """Take factors out of a table of two classes.

    Parameters
    ----------
    values
        Samples x features, without missing values.
    codes
        Class of every sample, 0 or 1.
    n_factors
        How many.
    """
    rest, unit, means = residuals_within(values, codes)
    spectrum, vectors = np.linalg.eigh(rest @ rest.T)
    scores = vectors[:, ::-1][:, :n_factors]
    loadings = rest.T @ scores
    difference = (means[1] - means[0]) / unit
    agreement = _robust_regression(loadings, difference)
    corrected = (difference - loadings @ agreement) * unit
    left = (rest - scores @ loadings.T) * unit
    n = np.bincount(codes, minlength=2)
    centre = (n[0] * means[0] + n[1] * means[1]) / n.sum()
    sides = np.array([-n[1] / n.sum(), n[0] / n.sum()])
    adjusted = centre + sides[codes][:, None] * corrected + left
    shares = spectrum[::-1][:n_factors] / max(spectrum.sum(), np.finfo(float).tiny)
    return FactorFit(scores, adjusted, agreement, shares)


def _robust_regression(X: FloatArray, y: FloatArray) -> FloatArray:
    """Huber's M-estimate without an intercept, by iterated weights; the scale is the median absolute deviation."""
    if not X.shape[1]:
        return np.zeros(0)
    weights: Any = np.ones(y.size)
    found = np.zeros(X.shape[1])
    for _ in range(_STEPS):
        weighted = X * weights[:, None]
        new = np.linalg.lstsq(weighted.T @ X, weighted.T @ y, rcond=None)[0]
        rest = np.abs(y - X @ new)
        scale = 1.4826 * float(np.median(rest))
        if scale == 0.0 or np.allclose(new, found, rtol=1e-10, atol=1e-14):
            return np.asarray(new)
        weights = np.minimum(1.0, _HUBER * scale / np.maximum(rest, np.finfo(float).tiny))
        found = new
    return np.asarray(found)


def first_factor_share(values: FloatArray, codes: IntArray) -> float:
    """Share of the variation within classes that one factor of some features carries; 0 for a single feature."""
    if values.shape[1] < 2 or values.shape[0] < 4:
        return 0.0
    rest = values - np.array([values[codes == k].mean(axis=0) for k in range(int(codes.max()) + 1)])[codes]
    norms = np.sqrt((rest**2).sum(axis=0))
    rest = rest[:, norms > 0] / norms[norms > 0]
    if rest.shape[1] < 2:
        return 0.0
    small = rest @ rest.T if rest.shape[0] <= rest.shape[1] else rest.T @ rest
    return float(np.linalg.eigvalsh(small)[-1] / rest.shape[1])
