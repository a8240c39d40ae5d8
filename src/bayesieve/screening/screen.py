"""screen(): the whole method, from a table to the log-odds of every feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.models import GaussianModel
from bayesieve.posterior import FeaturePosterior
from bayesieve.posterior.feature_posterior import checked_log_odds
from bayesieve.screening.advice import advise
from bayesieve.screening.evidence import bayes_factors
from bayesieve.screening.inputs import checked_model, statistics
from bayesieve.stats.checking import checked_resolution


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
        Samples x features (array, pandas or polars frame, CSR or CSC matrix), what
        :func:`read_table` returns, or ready :class:`Moments`; ``y``, ``missing`` and ``n_threads`` do
        not apply to the latter two.
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
        Adds the rounding variance ``resolution**2 / 12`` to every group, after which equal values are
        no difficulty; too few values still are.
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
    model = checked_model(model)
    table, moments, names = statistics(X, y, classes, feature_names, missing, n_threads)
    prior_log_odds = checked_log_odds(prior_probability, moments.n_features)
    log_bf, flags = bayes_factors(model, moments, table, names, resolution, degenerate)
    step = 0.0 if resolution is None else checked_resolution(resolution, moments.n_features)
    posterior = FeaturePosterior(log_bf, prior_log_odds, names, flags, moments, model, step)
    advise(posterior)
    return posterior
