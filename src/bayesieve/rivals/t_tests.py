"""Student's and Welch's t-tests, and what two-sample statistics have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import benjamini_hochberg
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.log_tails import log_student_tails
from bayesieve.stats import Moments, as_moments
from bayesieve.utils import DataError, DegenerateFeatureWarning, FloatArray, LabelError, check_choice, warn

RANKS_BY = ("p_value", "abs_t")
_TINY = 1e-150
_CAVEAT = "These p-values hold for Gaussian data."


@dataclass(frozen=True, slots=True, eq=False)
class TwoSamples:
    """Moments of two classes as the formulas of tests want them.

    Parameters
    ----------
    n0, n1
        Values per feature, or one number for all features.
    difference
        Mean of the second class minus that of the first.
    squares0, squares1
        Sums of squares about the class means.
    """

    n0: FloatArray
    n1: FloatArray
    difference: FloatArray
    squares0: FloatArray
    squares1: FloatArray

    @classmethod
    def of(cls, moments: Moments, test: str, *, smallest: int = 2) -> TwoSamples:
        """Check moments and take them apart."""
        if as_moments(moments) is None:
            name = type(moments).__name__
            raise DataError(f"{test} takes Moments, not {name}; score() takes tables.", kind="capability")
        _check_classes(moments, test, smallest)
        _check_tiny(moments)
        n0, n1 = moments.counts.astype(np.float64)
        squares0, squares1 = moments.centred_squares
        few = (n0 < smallest) | (n1 < smallest)
        difference = moments.mean_difference
        return cls(n0, n1, np.where(few, np.nan, difference) if few.any() else difference, squares0, squares1)

    @property
    def variances(self) -> tuple[FloatArray, FloatArray]:
        """Unbiased variance of each class; NaN where a class has fewer than two values."""
        freedom = (np.where(n > 1, n - 1.0, np.nan) for n in (self.n0, self.n1))
        first, second = (x / d for x, d in zip((self.squares0, self.squares1), freedom, strict=True))
        return first, second

    @property
    def pooled_dof(self) -> FloatArray:
        """Degrees of freedom of the pooled variance: values less the classes that have any."""
        return (self.n0 + self.n1) - ((self.n0 > 0).astype(np.float64) + (self.n1 > 0))

    @property
    def scale(self) -> FloatArray:
        """Standard error of the difference in units of the common standard deviation."""
        with np.errstate(divide="ignore"):
            return np.sqrt(1.0 / self.n0 + 1.0 / self.n1)


def unequal_variances(
    difference: Any, variance0: Any, variance1: Any, n0: Any, n1: Any
) -> tuple[FloatArray, FloatArray]:
    r"""Return Welch's t and its degrees of freedom.

    .. math::
        t = \frac{m_1 - m_0}{\sqrt{a + b}}, \qquad
        d = \frac{(a + b)^2}{a^2 / (n_0 - 1) + b^2 / (n_1 - 1)}, \qquad a = v_0/n_0,\; b = v_1/n_1
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # features without variance or without values
        a, b = variance0 / n0, variance1 / n1
        first, second = a / (a + b), b / (a + b)
        dof = 1.0 / (first * first / (n0 - 1.0) + second * second / (n1 - 1.0))
        return np.asarray(difference / np.sqrt(a + b)), np.asarray(dof)


def t_scores(
    method: str,
    t: FloatArray,
    dof: FloatArray,
    difference: FloatArray,
    *,
    score: str = "p_value",
    p_values: bool = True,
    details: dict[str, Any] | None = None,
) -> FeatureScores:
    """Make scores of t statistics: p-values, ranks and the features without variance."""
    check_choice("score", score, RANKS_BY)
    alike = dof.size == 1 or bool((dof == dof[0]).all())
    same = np.isnan(t) & (difference == 0)  # no variance and no difference: nothing speaks against equality
    plain = np.where(same, 0.0, np.abs(t))
    columns = {"t": t, "dof": np.broadcast_to(dof, t.shape), **(details or {})}
    if not p_values and (score == "abs_t" or alike):
        return FeatureScores(method, plain, details=columns)
    log_p = log_student_tails(plain, np.where(np.isnan(dof) & np.isfinite(difference), 1.0, dof))
    sure = plain == np.inf
    adjusted = benjamini_hochberg(np.where(sure, np.nan, np.exp(log_p))) if sure.any() else None
    ranked = plain if score == "abs_t" else 0.0 - log_p
    return FeatureScores(method, ranked, None, log_p, columns, _CAVEAT, adjusted)


def warn_degenerate(n_features: int, *parts: tuple[npt.NDArray[np.bool_], str]) -> None:
    """Warn once of all features that a method could not treat like the others.

    Parameters
    ----------
    n_features
        Number of features.
    parts
        Masks of features (shapes that broadcast), each with what is said of them.
    """
    found = [(int(np.broadcast_to(mask, (n_features,)).sum()), words) for mask, words in parts if mask.any()]
    if found:
        warn(
            DegenerateFeatureWarning,
            f"{sum(number for number, _ in found)} of {n_features} features have no usable variance "
            f"({'; '.join(f'{number} {words}' for number, words in found)}).",
        )


def _check_classes(moments: Moments, test: str, smallest: int) -> None:
    classes, counts = moments.classes, moments.counts
    if len(classes) != 2:
        raise LabelError(
            f"{test} compares two classes, not {len(classes)} ({', '.join(map(str, classes[:5]))}). Take the "
            "samples of two of them; screen() compares more."
        )
    for label, n in zip(classes, counts, strict=True):
        if np.max(n) < smallest:
            raise LabelError(
                f"{test} needs at least {smallest} sample{'s' if smallest > 1 else ''} of each class, but class "
                f"{label!r} has {int(np.max(n))}. Merge classes, or add samples."
            )
    if np.max(counts.sum(axis=0)) < 3:
        raise LabelError(f"{test} needs at least 3 samples to see a variance. Add samples.")


def _check_tiny(moments: Moments) -> None:
    """Raise if values only seem constant because they are so small that their squares are 0."""
    flat = moments.centred_squares == 0
    if not flat.any():
        return
    vanished = flat & (moments.mean != 0) & (np.abs(moments.mean) < _TINY)
    if vanished.any():
        raise DataError(
            f"The values of {int(vanished.any(axis=0).sum())} feature(s) are so small that their squares vanish. "
            "Multiply the table by a constant so that values stay above 1e-150."
        )


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


STUDENT = Rival("student", "Student t", "moments", student_t)


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


WELCH = Rival("welch", "Welch t", "moments", welch_t)
