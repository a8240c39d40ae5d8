"""Leave-one-out influence (fragility): the least log-odds over leaving any one sample out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix, ValueBlocks, aligned
from bayesieve.models import Model
from bayesieve.posterior import FeaturePosterior, Fragility
from bayesieve.screening.covariates import adjusted_statistics
from bayesieve.screening.genes import view_ids
from bayesieve.screening.influence import check_comparison, influence
from bayesieve.screening.obf import rescreen
from bayesieve.screening.second_look import check_same_data
from bayesieve.screening.summarised_table import SummarisedTable
from bayesieve.stats import ClassStatistics, exposures_of
from bayesieve.utils import DataError, IntArray, LabelError, OptionError


def fragility(  # noqa: PLR0913 - what screen() takes
    X: Any,
    y: Any = None,
    model: Model | None = None,
    *,
    prior_probability: npt.ArrayLike = 0.01,
    cut: float = 0.0,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    patterns: Any = "any",
    covariates: Any = None,
    exposures: Any = None,
    missing: str = "raise",
    degenerate: str = "floor",
    resolution: npt.ArrayLike | None = None,
    n_threads: int | None = None,
    posterior: FeaturePosterior | None = None,
) -> Fragility:
    r"""Leave-one-out influence: the least log-odds of every feature without any one sample, and the culprit.

    Exact: equal to screening again without each sample in turn, with what the model took from all features
    together (the constants of a :class:`CalibratedModel`, the trend of dispersions) held fixed. For two Gaussian
    classes it costs a few reads of the table; for counts and categories every sample is taken off the sums; for
    others and for more classes the table is summed again for every sample. Only
    samples that hold a value of the feature count. A removal that would leave a class undefined under the prior
    (too few values, or values that are all equal under a prior with ``variance_scale`` 0) is skipped and
    counted.

    Parameters
    ----------
    X
        Samples x features (array, frame, CSR or CSC matrix), or what :func:`read_table` returns (more than two
        classes, counts and categories are held in memory). Ready statistics hold no samples and cannot be used.
    y, model, prior_probability, classes, feature_names, patterns, exposures, missing, degenerate, resolution
        As for :func:`screen`. Blocks, subjects, pairs and outcomes are not covered.
    covariates
        As for :func:`screen`. The table is summed again without each sample; of a large one only features that
        pass are looked at.
    cut
        Log-odds over which features pass, held fixed: the ``cut`` of a selection, or 0 for a probability of
        0.5.
    n_threads
        Threads, all cores by default; the result does not depend on it.
    posterior
        The result of :func:`screen` on the same data, if it is there already. What it was told is used, and
        not what is given here (except ``y``, ``exposures`` and ``cut``).

    Returns
    -------
    Fragility
        Its ``posterior()`` can be handed to any rule.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).normal(size=(40, 100))
    >>> X[20:, 0] += 3.0        # feature 0 differs in mean
    >>> X[7, 1] = 20.0          # feature 1 has an outlier in sample 7
    >>> found = bs.fragility(X, ["control"] * 20 + ["case"] * 20, bs.GaussianModel.jeffreys())
    >>> (found.full.log_odds[:2] > 0).tolist(), (found.least_log_odds[:2] > 0).tolist()
    ([True, True], [True, False])
    >>> int(found.culprit[1])
    7
    """
    limit = _check_cut(cut)
    if isinstance(X, ClassStatistics):
        raise DataError(
            f"{type(X).__name__} hold sums, not samples, so none can be left out. Give the table: fragility(X, y)."
        )
    ready = posterior is not None
    if posterior is None:
        posterior = rescreen(
            X, y, model=model, prior_probability=prior_probability, classes=classes, feature_names=feature_names,
            patterns=patterns, covariates=covariates, exposures=exposures, missing=missing, degenerate=degenerate,
            resolution=resolution, n_threads=n_threads,
        )  # fmt: skip
    check_comparison(posterior)
    X = view_ids(X, posterior)
    table = _table(X, y, posterior, exposures)
    if ready and isinstance(table, LabelledMatrix):
        check_same_data(_statistics_of(table, posterior, n_threads), posterior)
    names = _sample_names(X, table)
    return influence(table, posterior, limit, names, n_threads)


def _statistics_of(table: LabelledMatrix, posterior: FeaturePosterior, n_threads: int | None) -> ClassStatistics:
    """Sum a table as its screen did."""
    given = posterior.adjustment
    if given is None or given.samples is None:
        return posterior.model.summarise(table, missing="omit", n_threads=n_threads)
    if len(given.samples) != table.n_samples:
        raise DataError(
            f"The table has {table.n_samples:,} samples, but covariates of {len(given.samples):,} are known. Give "
            "the table that was screened."
        )
    return adjusted_statistics(table, given.samples, posterior.model)


def _check_cut(cut: Any) -> float:
    try:
        value = float(cut)
    except (TypeError, ValueError):
        value = np.nan
    if np.isnan(value):
        raise OptionError(
            f"cut must be a number, the log-odds over which features pass (0: probability 0.5), not {cut!r}."
        )
    return value


def _table(X: Any, y: Any, posterior: FeaturePosterior, exposures: Any) -> ValueBlocks:
    """Return the table of a screen, checked to be the one as far as its size tells."""
    if isinstance(X, SummarisedTable):
        if X.n_pairs:
            raise OptionError("Fragility is found for plain classes, not for pairs.")
        _check_size(X.statistics.n_features, X.statistics.counts.max(axis=1), posterior)
        return X
    if y is None:
        raise LabelError("The class of every sample is needed: fragility(X, y), also with a ready posterior.")
    matrix = posterior.model.matrix(X, y, classes=posterior.classes)
    if exposures is not None:
        exposures = exposures_of(matrix.values, aligned(X, exposures, "exposures"))
        matrix = replace(matrix, exposures=exposures)
    _check_size(matrix.n_features, matrix.labels.counts, posterior)
    return matrix


def _check_size(n_features: int, counts: IntArray, posterior: FeaturePosterior) -> None:
    screened = posterior.statistics.counts.max(axis=1)
    if n_features != posterior.n_features or len(counts) != len(screened) or (counts < screened).any():
        raise DataError(
            f"The table has {n_features} features and {counts.tolist()} samples in the classes, but "
            f"{posterior.n_features} features and {screened.tolist()} samples were screened. Give the table that "
            "was screened."
        )


def _sample_names(X: Any, table: ValueBlocks) -> tuple[str, ...] | None:
    """Names of the samples, from the table or from the row index of a pandas frame, if it holds names."""
    names = getattr(table, "sample_names", None)
    if not names and hasattr(X, "iloc") and X.index.dtype.kind not in "iuf":
        names = [str(name) for name in X.index]
    return tuple(names) if names else None
