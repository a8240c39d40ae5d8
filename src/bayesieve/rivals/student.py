"""Student's t-test: do two classes share their mean, if they share their variance."""

from __future__ import annotations

import numpy as np

from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.rival import Rival
from bayesieve.rivals.two_samples import TwoSamples, t_scores, warn_degenerate
from bayesieve.stats import Moments


def student_t(moments: Moments, *, score: str = "p_value", p_values: bool = True) -> FeatureScores:
    r"""Student's t-test of every feature with the pooled variance, from moments alone.

    .. math::
        t = \frac{\bar x_1 - \bar x_0}{s \sqrt{1/n_0 + 1/n_1}}, \qquad
        s^2 = \frac{SS_0 + SS_1}{\nu}, \qquad \nu = n_0 + n_1 - 2

    Parameters
    ----------
    moments
        Moments of two classes, with at least one value each and three together.
    score
        ``"p_value"``: rank by p-value, the score is :math:`-\log p`. ``"abs_t"``: rank by :math:`|t|`, the same
        order unless values are missing.
    p_values
        False leaves out the p-values where ranks do not need them, which is quicker; the score is then
        :math:`|t|`.

    Returns
    -------
    FeatureScores
        With ``t`` and ``dof`` in ``details``. A feature without variance in either class has a p-value of 1 if its
        means are equal, and otherwise one of 0, which is left out of the adjusted p-values; a feature with too
        few values is not tested (NaN).

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.rivals.student import student_t
    >>> X = [[0.1], [-0.4], [0.3], [0.8], [1.2], [0.7], [2.1], [1.5], [0.9]]
    >>> scores = student_t(bs.Moments.from_matrix(X, [0] * 4 + [1] * 5))
    >>> scores.details["t"].round(4).tolist(), scores.details["dof"].tolist(), scores.p_value.round(4).tolist()
    ([3.0519], [7.0], [0.0185])
    """
    pair = TwoSamples.of(moments, "Student's t-test", smallest=1)
    dof = np.where(pair.pooled_dof > 0, pair.pooled_dof, np.nan)
    squares = pair.squares0 + pair.squares1
    difference = np.where(np.isnan(dof), np.nan, pair.difference)
    with np.errstate(divide="ignore", invalid="ignore"):  # features without variance or without values
        t = difference / (pair.scale * np.sqrt(squares / dof))
    flat = squares == 0
    warn_degenerate(
        t.size,
        (flat & (difference != 0) & ~np.isnan(difference), "constant in each class, with a p-value of 0"),
        (flat & (difference == 0), "constant in all samples, with a p-value of 1"),
        (np.isnan(difference), "not tested: too few values"),
    )
    return t_scores("student", t, dof, difference, score=score, p_values=p_values)


RIVAL = Rival("student", "Student t", "moments", student_t)
