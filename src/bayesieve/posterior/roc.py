"""The expected ROC curve of section 3: false against true positives along a ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.errors import RuleError
from bayesieve.posterior.marginals import Marginals
from bayesieve.utils import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedROC:
    """Expected false and true positives of the first k features of a ranking, k = 0, 1, ...

    Parameters
    ----------
    false_positives, true_positives
        The curve; both start at 0.
    true_positives_sd
        Posterior standard deviation of the true positives, were features independent given the data.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
    >>> curve = bs.expected_roc(posterior)
    >>> curve.true_positives.size, curve.precision.size, 0.5 < curve.area < 1.0
    (3, 2, True)
    """

    false_positives: FloatArray
    true_positives: FloatArray
    true_positives_sd: FloatArray

    @property
    def area(self) -> float:
        """Normalised area under the curve, between 0 and 1; NaN if one kind of feature is impossible."""
        box = self.false_positives[-1] * self.true_positives[-1]
        under = np.sum(np.diff(self.false_positives) * 0.5 * (self.true_positives[1:] + self.true_positives[:-1]))
        return float(under / box) if box > 0 else float("nan")

    @property
    def precision(self) -> FloatArray:
        """Expected share of markers among the first k features, k = 1, 2, ..."""
        return np.asarray(self.true_positives[1:] / np.arange(1, self.true_positives.size))

    @property
    def recall(self) -> FloatArray:
        """Expected markers among the first k = 1, 2, ... features over all expected; NaN if there are none."""
        total = self.true_positives[-1]
        return np.asarray(self.true_positives[1:] / (total if total > 0 else np.nan))


def expected_roc(posterior: Marginals, ranking: npt.ArrayLike | None = None) -> ExpectedROC:
    """Expected ROC curve, equation (3.14), of the posterior's own ranking or of any other.

    Parameters
    ----------
    posterior
        Where the probabilities come from: a screen, or a posterior over sets.
    ranking
        Feature indices from best to worst; the posterior's ranking, which no other beats, by default.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
    >>> bs.expected_roc(posterior).area > bs.expected_roc(posterior, [1, 0]).area
    True
    """
    n = posterior.n_features
    order = posterior.ranking if ranking is None else np.asarray(ranking)
    if order.shape != (n,) or order.dtype.kind not in "iu" or not np.array_equal(np.sort(order), np.arange(n)):
        raise RuleError(f"A ranking lists every feature index from 0 to {n - 1} exactly once.")
    p, q = posterior.probability[order], posterior.null_probability[order]
    curves = [np.concatenate(([0.0], np.cumsum(steps))) for steps in (q, p, p * q)]
    return ExpectedROC(curves[0], curves[1], np.sqrt(curves[2]))
