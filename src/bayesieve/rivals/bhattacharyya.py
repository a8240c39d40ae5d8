"""The Bhattacharyya distance between two fitted Gaussians (section 6)."""

from __future__ import annotations

import numpy as np

from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.t_tests import TwoSamples, warn_degenerate
from bayesieve.stats import Moments


def bhattacharyya_distance(moments: Moments) -> FeatureScores:
    r"""Distance of two Gaussians with the means and unbiased variances of the classes, from moments alone.

    .. math::
        D = \frac{(\bar x_1 - \bar x_0)^2}{4 (v_0 + v_1)} + \frac12 \log\frac{v_0 + v_1}{2 \sqrt{v_0 v_1}}

    The logarithm is evaluated as :math:`\log(1 + (\sqrt{v_0} - \sqrt{v_1})^2 / (2 \sqrt{v_0 v_1}))`, which keeps
    its digits where the variances are nearly the same.

    Returns
    -------
    FeatureScores
        The distance, and its two terms ``mean_part`` and ``variance_part`` in ``details``; there are no p-values.
        The distance is infinite for a feature without variance in one class, 0 for a constant one, and NaN for
        one with fewer than two values in a class. A warning counts them.
    """
    pair = TwoSamples.of(moments, "The Bhattacharyya distance")
    variance0, variance1 = pair.variances
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # features without variance or values
        scaled = 0.5 * pair.difference / np.sqrt(variance0 + variance1)
        root0, root1 = np.sqrt(variance0), np.sqrt(variance1)
        gap = (variance0 - variance1) / (root0 + root1)
        excess = 0.5 * (gap / root0) * (gap / root1)
        squared = scaled * scaled
    constant = (variance0 == 0) & (variance1 == 0)
    same = constant & (pair.difference == 0)
    partly = ((variance0 == 0) | (variance1 == 0)) & ~same
    mean_part = np.where(same, 0.0, squared)
    variance_part = np.where(constant, 0.0, np.where(partly, np.inf, 0.5 * np.log1p(excess)))
    warn_degenerate(
        mean_part.size,
        (partly, "constant in a class, at an infinite distance"),
        (same, "constant in all samples, at a distance of 0"),
        (np.isnan(pair.difference), "without a distance: too few values in a class"),
    )
    details = {"mean_part": mean_part, "variance_part": variance_part}
    return FeatureScores("bhattacharyya", mean_part + variance_part, details=details)


RIVAL = Rival("bd", "Bhattacharyya", "moments", bhattacharyya_distance)
