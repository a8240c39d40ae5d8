r"""The Pearson-Neyman test: are mean and variance of two Gaussian samples the same (section S6).

Under Jeffreys' prior the log Bayes factor is :math:`\log L + K(n_0, n_1) - \log\lambda`, so this test ranks
features as the screen does and differs in where it cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from bayesieve.data import Label
from bayesieve.models import Degeneracy, GaussianModel, tangent_gap
from bayesieve.posterior import FeaturePosterior, benjamini_hochberg, null_mean, tabulated_log_null_probability
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.screening import check_range, screen_input
from bayesieve.stats import Moments
from bayesieve.utils import (
    DataError,
    DegenerateFeatureWarning,
    FloatArray,
    LabelError,
    Message,
    OptionError,
    Wording,
    check_choice,
    warn,
)

METHODS = ("exact", "bartlett", "chi2")
_TINY = 1e-150
_CAVEAT = Message.of(
    "These p-values hold for Gaussian data only; for other data compare with ",
    Wording("permutations()", "--permutations 1000"),
    ".",
)


def pearson_neyman(
    X: Any,
    y: Any = None,
    *,
    method: str = "exact",
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    missing: str = "raise",
    n_threads: int | None = None,
) -> FeatureScores:
    r"""Test, feature by feature, whether two classes share their mean and variance.

    The statistic is the likelihood ratio :math:`\lambda \in [0, 1]` of :func:`log_lambda`; small values speak
    for a difference.

    Parameters
    ----------
    X
        What :func:`bayesieve.screen` takes, with two classes, or its result (whose statistics are used as they
        were summed, without floors or resolution).
    y, classes, feature_names, missing, n_threads
        As for :func:`bayesieve.screen`.
    method
        How p-values are found: ``"exact"``, from the distribution of :math:`\lambda` under Gaussian data;
        ``"bartlett"``, :math:`\lambda^{1/b}` with :math:`b = -E[\log\Lambda]`, close unless a class has only two
        or three values; ``"chi2"``, :math:`\lambda` itself, the limit for large samples.

    Returns
    -------
    FeatureScores
        The score is :math:`-\log\lambda`, and ``log_lambda`` stands in ``details``. A feature that is constant in
        a class has :math:`\lambda = 0` and a p-value of 0, which Gaussian data never show: it is a matter of
        rounding or of rare events, so it has no adjusted p-value and does not count among the tests. A feature
        that is constant in all samples, or has fewer than two values in a class, is not tested (NaN). A
        warning counts both.

    Notes
    -----
    The p-values assume Gaussian data. They depend on the fourth moment through the variances: heavier tails
    than the Gaussian make them too small, also in large samples. See :func:`bayesieve.permutations`.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).normal(size=(40, 1000))
    >>> X[20:, 0] += 3.0        # feature 0 differs in mean
    >>> X[20:, 1] *= 5.0        # feature 1 differs in variance
    >>> scores = bs.pearson_neyman(X, ["control"] * 20 + ["case"] * 20)
    >>> scores.significant(0.05)
    ('x1', 'x0')
    >>> scores.log_p_value[:2].round(1).tolist()
    [-23.1, -23.5]
    """
    check_choice("method", method, METHODS)
    moments, names = _moments(X, y, classes, feature_names, missing, n_threads)
    _check(moments, names)
    statistic = log_lambda(moments)
    _warn(moments, statistic)
    log_p = _log_p_value(moments, statistic, method)
    name = "pearson_neyman" if method == "exact" else f"pearson_neyman_{method}"
    adjusted = benjamini_hochberg(np.where(statistic > -np.inf, np.exp(log_p), np.nan))
    return FeatureScores(name, 0.0 - statistic, names, log_p, {"log_lambda": statistic}, _CAVEAT, adjusted)


def log_lambda(moments: Moments) -> FloatArray:
    r"""Log of the Pearson-Neyman statistic from the moments of two classes.

    .. math:: \log\lambda = \sum_y \tfrac{n_y}2 \log\frac{SS_y}{n_y} - \tfrac n2 \log\frac{SS}{n}

    With :math:`r_y = \frac{SS_y/n_y}{SS/n}` and the sum of squares between the classes, :math:`SS_B`, this is
    :math:`\sum_y \tfrac{n_y}2 (\log r_y - r_y + 1) - \tfrac n2 SS_B/SS`, in which no term is above 0, so that
    nothing cancels near :math:`\lambda = 1`.

    Returns
    -------
    ndarray
        At most 0; minus infinity for a feature without variance in a class, NaN for a feature without any
        variance or with fewer than two values in a class.
    """
    counts = moments.counts.astype(np.float64)
    n = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # features without variance or without values
        between, total = _between_and_total(moments)
        result = -0.5 * n * (between / total)
        for size, squares in zip(counts, moments.centred_squares, strict=True):
            result -= 0.5 * size * tangent_gap(squares / total * (n / size))
    defined = (counts.min(axis=0) >= 2) & (total > 0)
    return np.where(defined, np.minimum(result, 0.0), np.nan)


def _between_and_total(moments: Moments) -> tuple[FloatArray, FloatArray]:
    """Sums of squares between the classes and in all."""
    between = moments.between_squares(moments.classes)
    return between, moments.centred_squares[0] + moments.centred_squares[1] + between


def _log_p_value(moments: Moments, statistic: FloatArray, method: str) -> FloatArray:
    if method == "chi2":
        return statistic
    n0, n1 = np.maximum(moments.counts, 2)  # features with fewer values are NaN already
    if method == "bartlett":
        return np.asarray(statistic / -null_mean(n0, n1))
    return tabulated_log_null_probability(statistic, n0, n1)


def _moments(
    X: Any, y: Any, classes: Any, feature_names: Any, missing: str, n_threads: int | None
) -> tuple[Moments, tuple[str, ...] | None]:
    """Reduce whatever was given to the moments of two classes."""
    if isinstance(X, FeaturePosterior):
        if any(value is not None for value in (y, classes, feature_names)):
            raise LabelError("A posterior already holds its classes and features; call pearson_neyman(posterior).")
        moments, names = X.moments, X.feature_names
        blocked = X.block_evidence is not None or X.adjustment is not None
    else:
        found = screen_input(X, y, GaussianModel.jeffreys(), classes, feature_names, missing, n_threads)
        moments, names, blocked = cast("Moments", found.statistics), found.names, bool(found.blocked)
    if blocked:
        raise OptionError("The Pearson-Neyman test knows no blocks. Test each block, or screen with blocks.")
    return moments, names


def _check(moments: Moments, names: tuple[str, ...] | None) -> None:
    """Raise if there is nothing to test, or squares have left the range of 64-bit numbers."""
    classes = moments.classes
    if len(classes) != 2:
        raise LabelError(
            f"The Pearson-Neyman test compares two classes, not {len(classes)} "
            f"({', '.join(map(str, classes[:5]))}). Take the samples of two of them; screen() compares more."
        )
    small = [(label, int(np.max(n))) for label, n in zip(classes, moments.counts, strict=True) if np.max(n) < 2]
    if small:
        raise LabelError(
            f"The Pearson-Neyman test needs at least 2 samples of each class, but class {small[0][0]!r} has "
            f"{small[0][1]}. Merge classes, add samples, or screen with a proper prior."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        check_range(names, np.isfinite(_between_and_total(moments)[1]))
    vanished = (moments.centred_squares == 0) & (moments.mean != 0) & (np.abs(moments.mean) < _TINY)
    if vanished.any():
        raise DataError(
            f"The values of {int(vanished.any(axis=0).sum())} feature(s) are so small that their squares vanish. "
            "Multiply the table by a constant so that values stay above 1e-150."
        )


def _warn(moments: Moments, statistic: FloatArray) -> None:
    """Count the features without a test and those whose p-value is 0 for want of variance."""
    untested, flat = np.isnan(statistic), int((statistic == -np.inf).sum())
    if not flat and not untested.any():
        return
    few = int(np.broadcast_to(moments.counts.min(axis=0) < 2, statistic.shape).sum())
    constant = int(untested.sum()) - few
    parts = [
        f"{number} not tested: {flag.reason}"
        for number, flag in ((constant, Degeneracy.CONSTANT), (few, Degeneracy.TOO_FEW_VALUES))
        if number
    ]
    if flat:
        parts.append(f"{flat} with a p-value of 0 that counts as no test: {Degeneracy.CONSTANT_IN_A_CLASS.reason}")
    warn(
        DegenerateFeatureWarning,
        f"{int(untested.sum()) + flat} of {statistic.size} features have no usable variance ({'; '.join(parts)}).",
    )


def _of_moments(moments: Moments, *, law: str = "exact", p_values: bool = True) -> FeatureScores:
    """The test as a rival; ``law`` is the ``method`` of :func:`pearson_neyman`, which ranks do not need."""
    if p_values:
        return pearson_neyman(moments, method=law)
    _check(moments, None)
    statistic = log_lambda(moments)
    _warn(moments, statistic)
    return FeatureScores("pearson_neyman", 0.0 - statistic, details={"log_lambda": statistic})


RIVAL = Rival("pearson-neyman", "Pearson-Neyman", "moments", _of_moments)
