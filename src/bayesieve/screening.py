"""screen(): the whole method, from a table to the log-odds of every feature."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix
from bayesieve.data.matrix import checked_names
from bayesieve.errors import (
    CalibrationWarning,
    DataError,
    DegenerateFeatureError,
    DegenerateFeatureWarning,
    LabelError,
    PriorError,
    PriorWarning,
)
from bayesieve.models import GaussianModel
from bayesieve.models.degenerate import Degeneracy, find_degenerate, nearest_values, repair
from bayesieve.models.prior_ratio import warn_unless_semi_proper
from bayesieve.posterior import FeaturePosterior, expected_by_chance
from bayesieve.posterior.feature_posterior import checked_log_odds
from bayesieve.stats import Moments

_FEW_SAMPLES = 5
_TINY = 1e-150
_FITTING_SCALE = (0.02, 200.0)  # pooled variance over the prior's, beyond which PP-like priors mislead


def screen(
    X: Any,
    y: Any = None,
    *,
    model: GaussianModel | None = None,
    prior_probability: npt.ArrayLike = 0.01,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    missing: str = "raise",
    degenerate: str = "floor",
    resolution: npt.ArrayLike | None = None,
    n_threads: int | None = None,
) -> FeaturePosterior:
    r"""Find, for every feature, how probable it is that the classes differ in mean or variance.

    The data are read once. Log-odds are exact, equation (2.18): prior log-odds plus the log Bayes
    factor of "each class has its own mean and variance" against "all classes share them".

    Parameters
    ----------
    X
        Samples x features (array, pandas or polars frame, CSR or CSC matrix), or ready
        :class:`Moments`, in which case ``y``, ``missing`` and ``n_threads`` do not apply.
    y
        One class label per sample; two classes.
    model
        Priors; ``GaussianModel.jeffreys(prior_ratio=0.1)`` by default.
    prior_probability
        Share of features believed to be markers beforehand, or one probability per feature.
    classes
        Order of the two classes; sorted by default. Differences are second minus first.
    feature_names
        Names; taken from a data frame, otherwise ``x0``, ``x1``, ...
    missing
        ``"raise"``: NaN is an error. ``"omit"``: every feature uses the values it has, which is
        exact if values are missing at random.
    degenerate
        What to do with features without variance where the prior needs it: ``"floor"`` puts in the
        rounding variance of the data, ``"exclude"`` leaves their log Bayes factor at 0, ``"raise"``
        is an error.
    resolution
        Step to which values are rounded, in the units of the data (a number or one per feature).
        Adds the rounding variance ``resolution**2 / 12`` to every group, after which no feature is
        degenerate.
    n_threads
        Threads, all cores by default; the result does not depend on it.

    Returns
    -------
    FeaturePosterior
        Log-odds and all that follows from them; hand it to a rule such as ``MinimalRisk(0.5)``.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 1000))
    >>> X[20:, 0] += 3.0        # feature 0 differs in mean
    >>> X[20:, 1] *= 5.0        # feature 1 differs in variance
    >>> y = ["control"] * 20 + ["case"] * 20
    >>> posterior = bs.screen(X, y, classes=("control", "case"), prior_probability=0.002)
    >>> bs.MinimalRisk(0.5).select(posterior).names
    ('x1', 'x0')
    """
    model = _checked_model(model)
    matrix, moments, names = _statistics(X, y, classes, feature_names, missing, n_threads)
    prior_log_odds = checked_log_odds(prior_probability, moments.n_features)
    used = moments if resolution is None else moments.with_resolution(resolution)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found and named below
        cells = model.cells(used)
        _check_range(names, *(np.isfinite(cell.scale) for cell in cells))
    flags = find_degenerate(cells, moments.n_features)
    if resolution is not None:  # a step between values makes up for equal ones, not for absent ones
        bare = find_degenerate(model.cells(moments), moments.n_features)
        flags = np.where(bare == Degeneracy.TOO_FEW_VALUES, bare, flags)
    if flags.any():
        log_bf = _degenerate_bayes_factor(model, used, matrix, flags, degenerate, names)
    else:
        _check_policy(degenerate)
        with np.errstate(divide="ignore"):
            log_bf = model.combine(cells, used)
    _check_range(names, np.isfinite(log_bf))
    posterior = FeaturePosterior(log_bf, prior_log_odds, names, flags, moments, model)
    _warn(posterior)
    return posterior


@functools.cache
def _default_model() -> GaussianModel:
    return GaussianModel.jeffreys(prior_ratio=0.1)


def _checked_model(model: Any) -> GaussianModel:
    if model is None:
        return _default_model()
    if not isinstance(model, GaussianModel):
        raise PriorError(f"model must be a GaussianModel, for example GaussianModel.jeffreys(), not {model!r}.")
    return model


def _statistics(
    X: Any, y: Any, classes: Any, feature_names: Any, missing: str, n_threads: int | None
) -> tuple[LabelledMatrix | None, Moments, tuple[str, ...] | None]:
    if isinstance(X, Moments):
        if y is not None:
            raise LabelError("Moments already hold the classes; call screen(moments) without y.")
        moments = X if classes is None else X.pick(classes)
        return None, moments, checked_names(feature_names, X.n_features)
    matrix = LabelledMatrix.from_arrays(X, y, classes=classes, feature_names=feature_names)
    _check_labels(matrix)
    return matrix, Moments.from_labelled(matrix, missing=missing, n_threads=n_threads), matrix.feature_names


def _check_labels(matrix: LabelledMatrix) -> None:
    found = matrix.labels.classes
    if len(found) == 1:
        raise LabelError(
            f"All {matrix.n_samples} samples are of class {found[0]!r}. A screen compares two classes: "
            "check the label column."
        )
    if len(found) > 2:
        shown = ", ".join(repr(label) for label in found[:8]) + (", ..." if len(found) > 8 else "")
        raise LabelError(
            f"There are {len(found)} classes ({shown}), and a screen compares two. Keep the samples of two "
            "classes, or merge classes by giving them the same label. If the labels are measurements, "
            "turn them into two groups first."
        )


def _check_range(names: tuple[str, ...] | None, *defined: npt.NDArray[np.bool_]) -> None:
    """Raise if squares of the values, or their ratios, have left the range of 64-bit numbers."""
    if all(mask.all() for mask in defined):
        return
    beyond = np.flatnonzero(~np.logical_and.reduce(defined))
    raise DataError(
        f"The squares of {beyond.size} of {defined[0].size} feature(s) leave the range of 64-bit numbers, the "
        f"first is {_name(names, int(beyond[0]))}. Divide the table by a constant, or subtract one, so that "
        "values stay between 1e-150 and 1e150."
    )


def _check_underflow(matrix: LabelledMatrix, moments: Moments, flags: npt.NDArray[np.int8]) -> None:
    """Raise if values only seem constant because they are so small that their squares are 0."""
    tiny = (moments.centred_squares == 0) & (moments.mean != 0) & (np.abs(moments.mean) < _TINY)
    suspects = np.flatnonzero(tiny.any(axis=0) & (flags != Degeneracy.NONE))
    vanished = [j for j, column in matrix.columns(suspects) if _varies_in_a_class(column, matrix, tiny[:, j])]
    if vanished:
        raise DataError(
            f"The values of {len(vanished)} feature(s) are so small that their squares vanish, the first is "
            f"{_name(matrix.feature_names, vanished[0])}. Multiply the table by a constant so that values stay "
            "above 1e-150."
        )


def _varies_in_a_class(
    column: npt.NDArray[np.float64], matrix: LabelledMatrix, classes: npt.NDArray[np.bool_]
) -> bool:
    groups = (column[(matrix.labels.codes == k) & ~np.isnan(column)] for k in np.flatnonzero(classes))
    return any(np.unique(group).size > 1 for group in groups)


def _name(names: tuple[str, ...] | None, j: int) -> str:
    return repr(names[j]) if names else f"x{j}"


def _check_policy(policy: str) -> None:
    if policy not in ("floor", "exclude", "raise"):
        raise DataError(f"degenerate must be 'floor', 'exclude' or 'raise', not {policy!r}.")


def _degenerate_bayes_factor(
    model: GaussianModel,
    moments: Moments,
    matrix: LabelledMatrix | None,
    flags: npt.NDArray[np.int8],
    policy: str,
    names: tuple[str, ...] | None,
) -> npt.NDArray[np.float64]:
    """Log Bayes factors where some features have no usable variance; one warning counts them."""
    _check_policy(policy)
    if matrix is not None:
        _check_underflow(matrix, moments, flags)
    found = f"{int((flags != 0).sum())} of {flags.size} features have no usable variance ({_reasons(flags)})"
    if policy == "raise":
        shown = ", ".join(_name(names, i) for i in np.flatnonzero(flags)[:5].tolist())
        raise DegenerateFeatureError(
            f"{found}, for example {shown}. Drop them, use degenerate='floor' or 'exclude', or state the "
            "instrument's resolution."
        )
    repaired = repair(model, moments, flags, policy, None if matrix is None else nearest_values(matrix))
    what = "left at the prior" if repaired.excluded[flags != 0].all() else "given a floor or left at the prior"
    warnings.warn(f"{found}; they are flagged in .degenerate and {what}.", DegenerateFeatureWarning, stacklevel=3)
    return np.where(repaired.excluded, 0.0, model.log_bayes_factor(repaired.moments))


def _reasons(flags: npt.NDArray[np.int8]) -> str:
    counts = {flag: int((flags == flag).sum()) for flag in Degeneracy if flag}
    return ", ".join(f"{count} {flag.reason}" for flag, count in counts.items() if count)


def _warn(posterior: FeaturePosterior) -> None:
    """Say where the numbers deserve doubt: tiny classes, odd prior ratios, a scale the prior does not fit."""
    model, moments = posterior.model, posterior.moments
    sizes = [int(np.max(count)) for count in moments.count]
    smallest = min(sizes)
    if model.is_proper:
        _warn_about_scale(model, moments)
        return
    if model.prior_ratio is not None and callable(model.prior_ratio):
        warn_unless_semi_proper(model.prior_ratio, *sizes)
    if smallest < _FEW_SAMPLES:
        by_chance = expected_by_chance(posterior, 0.0)
        label = moments.classes[sizes.index(smallest)]
        warnings.warn(
            f"Class {label!r} has only {smallest} samples. With an improper prior, about {by_chance:,.0f} of "
            f"{posterior.n_features:,} features would exceed a probability of 0.5 by chance alone if all were "
            "Gaussian non-markers. Prefer FixedSize(n), a proper prior, or more samples.",
            CalibrationWarning,
            stacklevel=3,
        )


def _warn_about_scale(model: GaussianModel, moments: Moments) -> None:
    prior = model.pooled_prior
    if np.ndim(prior.variance_scale) or np.ndim(prior.variance_dof):
        return
    dof = float(np.asarray(prior.variance_dof))
    typical = float(np.asarray(prior.variance_scale)) / (dof - 2.0 if dof > 2.0 else dof)
    variance = moments.pool().variance[0]
    median = float(np.nanmedian(variance)) if np.isfinite(variance).any() else typical
    if not _FITTING_SCALE[0] * typical <= median <= _FITTING_SCALE[1] * typical:
        warnings.warn(
            f"The median variance of the features is {median:.3g}, but this proper prior expects about "
            f"{typical:.3g}. Probabilities will mislead: rescale the data, set variance_scale (and "
            "mean_strength) to fit, or use GaussianModel.jeffreys(), which has no scale.",
            PriorWarning,
            stacklevel=4,
        )
