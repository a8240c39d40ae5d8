r"""The evidence of counts under a Dirichlet prior.

.. math:: \ln B(\alpha + n) - \ln B(\alpha), \qquad
          \ln B(\alpha) = \sum_k \ln\Gamma(\alpha_k) - \ln\Gamma(\textstyle\sum_k \alpha_k)

is summed from terms :math:`\ln\Gamma(a + n) - \ln\Gamma(a)`, which vanish where :math:`n = 0`: a
category that does not occur matters only through :math:`\sum_k \alpha_k`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]

_LARGEST_TABLE = 2**18  # terms made in advance; beyond that each is computed where it is needed


def dirichlet_evidence(counts: CountArray, alpha: Any, n_levels: Any) -> FloatArray:
    """Log probability of samples with these counts of categories, in the order they were seen.

    Parameters
    ----------
    counts
        ``(n_levels, n_features)``.
    alpha
        Concentration: a number, one per level ``(n_levels, 1)``, or one per feature ``(n_features,)``.
    n_levels
        How many categories there are: a number, or one per feature, at least 1.

    Returns
    -------
    ndarray
        One number per feature, exactly 0 where there is one category or no value.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.dirichlet import dirichlet_evidence
    >>> float(np.exp(dirichlet_evidence(np.array([[1], [2]]), 1.0, 2))[0].round(10)) == round(1 / 12, 10)
    True
    """
    per_level = np.ndim(alpha) == 2
    total: tuple[Any, Any] = (float(alpha.sum()), 1) if per_level else (alpha, n_levels)
    sums = counts.sum(axis=0)
    most, widest = int(sums.max(initial=0)), int(np.max(total[1], initial=1))
    rising = _log_rising if np.ndim(alpha) == 1 or (most + 1) * widest > _LARGEST_TABLE else _looked_up
    result = np.zeros(counts.shape[1])
    for m, count in enumerate(counts):
        result += rising(float(alpha[m, 0]) if per_level else alpha, 1, count)
    result -= rising(*total, sums)
    return result


def _log_rising(a: Any, k: Any, n: CountArray) -> FloatArray:
    r"""Return :math:`\ln\Gamma(ka + n) - \ln\Gamma(ka)`."""
    from scipy.special import gammaln  # noqa: PLC0415 - SciPy is slow to import

    return np.asarray(gammaln(k * a + n) - gammaln(k * a))


def _looked_up(a: float, k: Any, n: CountArray) -> FloatArray:
    """Do the same by making the terms of every ``k`` up to the largest count once."""
    length = int(n.max(initial=0)) + 1
    if np.ndim(k) == 0:
        return _rising_table(k * a, length)[n]
    table = np.concatenate([_rising_table(i * a, length) for i in range(1, int(k.max(initial=1)) + 1)])
    return np.asarray(table[(k - 1) * length + n])


def _rising_table(a: float, length: int) -> FloatArray:
    r"""Return :math:`\sum_{i < n} \ln(a + i)` for :math:`n` below ``length``, summed in extended precision."""
    terms = np.zeros(length, dtype=np.longdouble)
    np.cumsum(np.log(a + np.arange(length - 1, dtype=np.longdouble)), out=terms[1:])
    return terms.astype(np.float64)
