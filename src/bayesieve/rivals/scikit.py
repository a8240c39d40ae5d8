"""Habits of users of scikit-learn as baselines: ``f_classif`` and ``mutual_info_classif``, called as they are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.log_tails import log_student_tails
from bayesieve.rivals.t_tests import warn_degenerate
from bayesieve.utils import LabelError, MissingValueError, check_whole

_CAVEAT = "These p-values hold for Gaussian data of one variance in both classes."


def f_classif(matrix: LabelledMatrix, *, n_threads: int | None = None) -> FeatureScores:
    r"""Score features by scikit-learn's analysis of variance, the default of its ``SelectKBest``.

    With two classes F is the square of Student's t, so its p-value is that of t with :math:`n - 2` degrees of
    freedom. It is computed here as a logarithm: scikit-learn's own is 0 when it is smaller than any float.

    Returns
    -------
    FeatureScores
        The score is F as scikit-learn computes it: from sums of squares about 0, which lose digits where the mean
        is large beside the spread, and in single precision if the table is. A feature that is constant in all
        samples has no score; one that is constant in each class has a p-value of 0. A warning counts
        both.
    """
    from sklearn.feature_selection import f_classif as theirs  # noqa: PLC0415 - slow to import

    del n_threads
    _check(matrix, "f-classif", 3)
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore")  # constant features, of which we warn below
        statistic = np.asarray(theirs(matrix.values, matrix.labels.codes)[0], dtype=np.float64)
    warn_degenerate(
        statistic.size,
        (np.isinf(statistic), "constant in each class, with a p-value of 0"),
        (np.isnan(statistic), "not tested: constant in all samples"),
    )
    root = np.sqrt(np.maximum(statistic, 0.0))  # rounding can make F negative
    log_p = log_student_tails(root, matrix.n_samples - 2.0)
    return FeatureScores("f_classif", statistic, matrix.feature_names, log_p, caveat=_CAVEAT)


def mutual_info_classif(
    matrix: LabelledMatrix, *, n_neighbors: int = 3, seed: int = 0, n_threads: int | None = None
) -> FeatureScores:
    """Score features by scikit-learn's mutual information, which looks for nearest neighbours.

    Returns
    -------
    FeatureScores
        The score is the estimate in nats, cut at 0.
    """
    from sklearn.feature_selection import mutual_info_classif as theirs  # noqa: PLC0415 - slow to import

    del n_threads
    n_neighbors, seed = check_whole("n_neighbors", n_neighbors, 1), check_whole("seed", seed)
    _check(matrix, "mutual-info", 2)
    estimate = theirs(matrix.values, matrix.labels.codes, n_neighbors=n_neighbors, random_state=seed)
    same = _constant(matrix.values)
    return FeatureScores("mutual_info", np.where(same, np.nan, estimate), matrix.feature_names)


def _constant(values: Any) -> npt.NDArray[np.bool_]:
    """Which features have one value only; the noise that scikit-learn adds would make something of them."""
    least, most = values.min(axis=0), values.max(axis=0)
    if hasattr(least, "toarray"):
        least, most = least.toarray(), most.toarray()
    return np.equal(np.ravel(least), np.ravel(most))


def _check(matrix: LabelledMatrix, method: str, fewest: int) -> None:
    """Raise unless scikit-learn can use the table."""
    classes, sizes = matrix.labels.classes, matrix.labels.counts
    if len(classes) != 2:
        raise LabelError(f"{method} compares two classes, not {len(classes)}.")
    if sizes.min() < 1 or matrix.n_samples < fewest:
        raise LabelError(
            f"{method} needs samples of both classes and at least {fewest} in all, but there are {sizes[0]} of "
            f"class {classes[0]!r} and {sizes[1]} of class {classes[1]!r}."
        )
    absent = _n_missing(matrix.values)
    if absent:
        raise MissingValueError(
            f"{method} of scikit-learn takes no missing values, and X holds {absent} (NaN). Fill them in first, "
            "or choose a method that leaves them out, such as 'student' or 'mi'."
        )


def _n_missing(values: Any) -> int:
    stored = values.data if is_sparse(values) else values
    return int(np.isnan(stored).sum()) if stored.dtype.kind == "f" else 0


F_CLASSIF = Rival("f-classif", "F test (scikit-learn)", "values", f_classif)
MUTUAL_INFO = Rival("mutual-info", "MI (scikit-learn)", "values", mutual_info_classif)
