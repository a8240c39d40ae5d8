"""In what two classes differ: the mean and the variance, in standard errors, or the variance alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import fdtr, fdtrc, polygamma, psi, stdtr

from bayesieve.rivals.two_samples import unequal_variances
from bayesieve.stats import Moments

FloatArray = npt.NDArray[np.float64]

VARIANCES_DIFFER = 1e-4  # p-values of the F test below it
MEANS_MAY_NOT = 0.05  # p-values of Welch's t test above it


def mean_z(moments: Moments) -> FloatArray:
    r"""Difference of the means in its standard errors, :math:`(m_1 - m_0) / \sqrt{v_0/n_0 + v_1/n_1}`.

    Parameters
    ----------
    moments
        Moments of two classes.

    Returns
    -------
    ndarray
        Infinite where no class varies but the means differ; NaN where the means are equal too, or a class has
        fewer than two values.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.rivals.standard_errors import mean_z
    >>> X = [[0.1], [-0.4], [0.3], [0.8], [1.2], [0.7], [2.1], [1.5], [0.9]]
    >>> mean_z(bs.Moments.from_matrix(X, [0] * 4 + [1] * 5)).round(7).tolist()
    [3.0911865]
    """
    return unequal_variances(moments.mean_difference, *moments.variance, *moments.counts)[0]


def variance_z(moments: Moments) -> FloatArray:
    r"""Log ratio of the variances, less its expectation, in its standard errors.

    Of Gaussian data with equal variances, :math:`\log v_y` has the expectation
    :math:`\log\sigma^2 + \psi(d_y/2) - \log(d_y/2)` and the variance :math:`\psi'(d_y/2)`, where
    :math:`d_y = n_y - 1`. Heavier tails than the Gaussian make the standard error too small.

    Parameters
    ----------
    moments
        Moments of two classes.

    Returns
    -------
    ndarray
        Infinite where one class does not vary; NaN where none does, or a class has fewer than two values.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.rivals.standard_errors import variance_z
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> X[20:, 1] *= 5.0        # feature 1 differs in variance
    >>> (np.abs(variance_z(bs.Moments.from_matrix(X, [0] * 20 + [1] * 20))) > 4).tolist()
    [False, True, False]
    """
    half = np.maximum(moments.counts - 1, 1) / 2  # features with fewer values are NaN already
    bias = psi(half) - np.log(half)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(moments.variance[1]) - np.log(moments.variance[0])
        return np.asarray((ratio - (bias[1] - bias[0])) / np.sqrt(polygamma(1, half).sum(axis=0)))


def variance_alone(moments: Moments) -> npt.NDArray[np.bool_]:
    """Mark features whose variances surely differ and whose means may be the same.

    They have a two-sided p-value below 0.0001 in the F test of equal variances and above 0.05 in Welch's t test.
    The F test is that of Gaussian data; heavier tails make its p-values too small. A feature that does not vary in
    a class is not marked.

    Parameters
    ----------
    moments
        Moments of two classes.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.rivals.standard_errors import variance_alone
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> X[20:, 0] += 3.0        # feature 0 differs in mean
    >>> X[20:, 1] *= 5.0        # feature 1 differs in variance
    >>> variance_alone(bs.Moments.from_matrix(X, [0] * 20 + [1] * 20)).tolist()
    [False, True, False]
    """
    freedom = np.maximum(moments.counts - 1, 1).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = moments.variance[1] / moments.variance[0]
        of_variance = 2 * np.minimum(*(law(freedom[1], freedom[0], ratio) for law in (fdtr, fdtrc)))
        t, dof = unequal_variances(moments.mean_difference, *moments.variance, *moments.counts)
        of_mean = 2 * stdtr(dof, -np.abs(t))
        varies = (ratio > 0) & (ratio < np.inf)
    return np.asarray(varies & (of_variance < VARIANCES_DIFFER) & (of_mean > MEANS_MAY_NOT))
