"""Welch's t-test: do two classes share their mean, whatever their variances (section 6)."""

from __future__ import annotations

import numpy as np

from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.rival import Rival
from bayesieve.rivals.two_samples import TwoSamples, t_scores, unequal_variances, warn_degenerate
from bayesieve.stats import Moments


def welch_t(moments: Moments, *, score: str = "p_value", p_values: bool = True) -> FeatureScores:
    r"""Welch's t-test of every feature, from moments alone.

    .. math::
        t = \frac{\bar x_1 - \bar x_0}{\sqrt{a + b}}, \qquad
        \nu = \frac{(a + b)^2}{a^2/(n_0 - 1) + b^2/(n_1 - 1)}, \qquad a = v_0/n_0,\ b = v_1/n_1

    Parameters
    ----------
    moments
        Moments of two classes, with at least two values each.
    score
        ``"p_value"``: rank by p-value, the score is :math:`-\log p`. ``"abs_t"``: rank by :math:`|t|`, another
        order since degrees of freedom differ from feature to feature.
    p_values
        False leaves out the p-values if ``score="abs_t"``, which is quicker.

    Returns
    -------
    FeatureScores
        With ``t`` and ``dof`` in ``details``. A feature without variance in either class has a p-value of 1 if its
        means are equal, and otherwise one of 0, which is left out of the adjusted p-values; a feature with fewer
        than two values in a class is not tested (NaN).

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.rivals.welch import welch_t
    >>> X = [[0.1], [-0.4], [0.3], [0.8], [1.2], [0.7], [2.1], [1.5], [0.9]]
    >>> scores = welch_t(bs.Moments.from_matrix(X, [0] * 4 + [1] * 5))
    >>> {name: column.round(7).tolist() for name, column in scores.details.items()}
    {'t': [3.0911865], 'dof': [6.8361389]}
    >>> scores.p_value.round(7).tolist()
    [0.0180698]
    """
    pair = TwoSamples.of(moments, "Welch's t-test")
    variance0, variance1 = pair.variances
    t, dof = unequal_variances(pair.difference, variance0, variance1, pair.n0, pair.n1)
    flat = variance0 + variance1 == 0
    untested = np.isnan(pair.difference)
    warn_degenerate(
        t.size,
        (flat & (pair.difference != 0), "constant in each class, with a p-value of 0"),
        (flat & (pair.difference == 0), "constant in all samples, with a p-value of 1"),
        (untested, "not tested: too few values in a class"),
    )
    return t_scores("welch", t, dof, pair.difference, score=score, p_values=p_values)


RIVAL = Rival("welch", "Welch t", "moments", welch_t)
