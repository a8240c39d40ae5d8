"""permutations(): screen again under many permuted labels, in chunks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix, ValueBlocks, aligned
from bayesieve.models import Comparison, GaussianModel, Model
from bayesieve.posterior import FeaturePosterior, PermutationNull
from bayesieve.screening.genes import collapses_ids
from bayesieve.screening.inputs import check_model
from bayesieve.screening.obf import rescreen
from bayesieve.screening.relabelled import Counts, PermutationChunk, Question
from bayesieve.screening.second_look import check_same_data, held_matrix, values_of
from bayesieve.screening.summarised_table import SummarisedTable
from bayesieve.stats import ClassStatistics, Relabellings, exposures_of
from bayesieve.utils import (
    JEFFREYS,
    CalibrationWarning,
    DataError,
    LabelError,
    OptionError,
    Wording,
    check_whole,
    n_threads_for,
    option,
    warn,
)

Progress = Callable[[int, int], None]

_VALUES_AT_ONCE, _VALUES_OF_A_FILE = 2**22, 2**25  # held in memory; a file is read again for each slab
_CELLS_AT_ONCE = 2**20  # features x permutations whose sums are held
_MOST_AT_ONCE = 1024  # permutations in a lot
_LEAST_TARGET = 20.0


def permutations(  # noqa: PLR0913 - what screen() takes
    X: Any,
    y: Any = None,
    *,
    model: Model | None = None,
    n_permutations: int = 1000,
    prior_probability: npt.ArrayLike = 0.01,
    cut: float = 0.0,
    seed: Any = 0,
    target: float = 1.0,
    leave_out: Any = None,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    patterns: Any = "any",
    exposures: Any = None,
    missing: str = "raise",
    degenerate: str = "floor",
    resolution: npt.ArrayLike | None = None,
    n_threads: int | None = None,
    posterior: FeaturePosterior | None = None,
    progress: Progress | None = None,
) -> PermutationNull:
    r"""Screen again with the labels permuted, and count what passes under the global null.

    Supposes no distribution: heavy tails, outliers and correlated features are kept as they are. Samples must
    be exchangeable if the labels mean nothing (no batches, no pairs). All features see the same permutations,
    and the result is that of calling :func:`screen` for each of them.

    Parameters
    ----------
    X
        Samples x features (array, frame, CSR or CSC matrix), or what :func:`read_table` returns. Ready
        statistics hold no samples and cannot be used.
    y, prior_probability, classes, feature_names, patterns, exposures, missing, degenerate, resolution
        As for :func:`screen`; ``degenerate="raise"`` looks at the labels as they are only.
    model
        A :class:`GaussianModel`, the paper's ``GaussianModel.jeffreys(prior_ratio=0.1)`` by default, or a model of
        counts or categories, for which the table is summed anew under every permutation and what the model took
        from all features together is held fixed. :class:`CalibratedModel` is judged by the ``shuffles`` of
        :func:`screen`.
    n_permutations
        How many; if fewer exist, all of them are taken, with a warning. Class sizes are kept, no permutation comes
        twice, and the labels as they are count among none.
    cut
        Log-odds over which features pass; 0 for a probability of 0.5.
    seed
        Of NumPy's generator, or a generator.
    target
        The largest number under the global null that the result will be asked to calibrate for; 20 at least.
    leave_out
        Features whose permuted values are not to enter the pool, as a mask or by name: strong markers make
        the pool too heavy, and a second pass without those of the first is less cautious.
    n_threads
        Threads, all cores by default; matrix products use those of BLAS. The result does not depend on it.
    posterior
        The result of :func:`screen` on the same data, if it is there already. What it was told is used, and
        not what is given here (except ``y``, ``cut``, ``degenerate`` and what concerns permutations).
    progress
        Called with the number of features (of counts and categories: of permutations) done, and their total.

    Returns
    -------
    PermutationNull
        p-values, the number expected under the global null, false discovery rates, and the cut or prior ratio
        for a given number.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(1).standard_t(5, size=(40, 1000))
    >>> X[20:, 0] += 4.0
    >>> model = bs.GaussianModel.jeffreys()
    >>> found = bs.permutations(X, ["control"] * 20 + ["case"] * 20, model=model, n_permutations=200)
    >>> float(found.p_value[0]) == 1 / 200_001
    True
    """
    if isinstance(X, ClassStatistics):
        raise DataError(
            f"{type(X).__name__} hold sums, not samples, so that labels cannot be permuted. Give the table: "
            "permutations(X, y)."
        )
    ready = posterior is not None
    if posterior is not None and not isinstance(posterior, FeaturePosterior):
        raise OptionError(f"posterior is what screen() returns, not {type(posterior).__name__}.")
    model = GaussianModel.jeffreys(prior_ratio=0.1) if model is None else check_model(model)
    _check_options(model if posterior is None else posterior.model, n_permutations, cut, target, seed)
    if collapses_ids(X):
        raise OptionError(
            "Permutations look at one feature, not at the best of several with the same id.",
            hint=("Read the table with ", option("duplicates", "mean"), "."),
        )
    if posterior is None:
        posterior = rescreen(
            X, y, model=model, prior_probability=prior_probability, classes=classes, feature_names=feature_names,
            patterns=patterns, exposures=exposures, missing=missing, degenerate=degenerate, resolution=resolution,
            n_threads=n_threads,
        )  # fmt: skip
    table = _table(X, y, posterior, ready, exposures)
    question = Question.of(posterior, cut, "floor" if degenerate == "raise" else degenerate)
    question = question.without(_left_out(leave_out, posterior))
    if posterior.model.supports("moments"):
        found = _count_all(table, question, n_permutations, seed, max(target, _LEAST_TARGET), n_threads, progress)
    else:
        matrix = held_matrix(table)
        found = _count_by_screens(matrix, question, n_permutations, seed, max(target, _LEAST_TARGET), progress)
    if found.complete and found.n_permutations < n_permutations:
        least = _ways_to_swap(posterior) / (1 + found.n_permutations)
        warn(
            CalibrationWarning,
            f"There are only {found.n_permutations:,} other ways to deal the samples to classes of these sizes, "
            f"and all were taken. A feature's own p-value cannot be below {least:.3g}.",
        )
    return found


def _ways_to_swap(posterior: FeaturePosterior) -> int:
    """In how many ways classes of equal size can change places, which changes no evidence if priors are equal."""
    _, number = np.unique(posterior.statistics.counts.max(axis=1), return_counts=True)
    model: Any = posterior.model
    alike = not model.supports("moments") or len(set(map(id, model.class_priors))) == 1
    return math.prod(map(math.factorial, number.tolist())) if alike else 1


def _count_all(
    table: ValueBlocks,
    question: Question,
    n_permutations: int,
    seed: Any,
    target: float,
    n_threads: int | None,
    progress: Progress | None,
) -> PermutationNull:
    """Go through all features and permutations in lots of bounded size, the same for any kind of table."""
    posterior, features, counts = question.posterior, question.features, None
    n_samples = int(posterior.statistics.counts.max(axis=1).sum())
    batch = min(n_permutations, _MOST_AT_ONCE, max(1, _VALUES_AT_ONCE // n_samples))
    width = max(1, min(_CELLS_AT_ONCE // batch, _VALUES_AT_ONCE // n_samples))
    held = _VALUES_AT_ONCE if isinstance(table, LabelledMatrix) else _VALUES_OF_A_FILE
    slab = max(1, held // (n_samples * width)) * width
    for start in range(0, features.size, slab):
        codes, values = values_of(table, features[start : start + slab])
        if counts is None:
            others = Relabellings.draw(codes, len(posterior.classes), n_permutations, seed)
            kept = int(np.ceil(target * others.n_permutations * question.pool.sum() / question.n_usable)) + 1
            counts = Counts.none(question, others, kept, n_threads_for(n_threads, codes.size * features.size))
        for lo in range(0, values.shape[1], width):
            some = features[start + lo : start + min(lo + width, slab)]
            for first in range(0, others.n_permutations, batch):
                which = slice(first, min(first + batch, others.n_permutations))
                counts.add(PermutationChunk(some, values[:, lo : lo + width], which))
            if progress is not None:
                progress(start + lo + some.size, features.size)
    assert counts is not None
    return counts.result()


def _count_by_screens(
    matrix: LabelledMatrix,
    question: Question,
    n_permutations: int,
    seed: Any,
    target: float,
    progress: Progress | None,
) -> PermutationNull:
    """Screen the table again under every permutation, a few of them at a time."""
    codes = matrix.labels.codes
    others = Relabellings.draw(codes, len(question.posterior.classes), n_permutations, seed)
    kept = int(np.ceil(target * others.n_permutations * question.pool.sum() / question.n_usable)) + 1
    counts = Counts.none(question, others, kept, 1)
    step = max(1, min(_MOST_AT_ONCE, _CELLS_AT_ONCE // max(question.features.size, 1)))
    for first in range(0, others.n_permutations, step):
        last = min(first + step, others.n_permutations)
        counts.add_rescreened(matrix, slice(first, last))
        if progress is not None:
            progress(last, others.n_permutations)
    return counts.result()


def _check_options(model: Model, n_permutations: Any, cut: Any, target: Any, seed: Any) -> None:
    model.require(
        "permutations",
        f"p-values from permuted labels are those of the paper's priors, not of {type(model).__name__}.",
        hint=(
            "Use ",
            JEFFREYS,
            ", or what every screen finds with shuffled labels: ",
            Wording("posterior.shuffled", "--shuffles 100"),
            ".",
        ),
    )
    check_whole("n_permutations", n_permutations, 1)
    for name, value in (("cut", cut), ("target", target)):
        if not isinstance(value, (int, float, np.number)) or np.isnan(value):
            raise OptionError(f"{name} must be a number, not {value!r}.")
    if not 0 < target < np.inf:
        raise OptionError(f"target must be a positive number of features, not {target!r}.")
    try:
        np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise OptionError(f"seed must be a whole number of at least 0, not {seed!r}.") from None


def _table(X: Any, y: Any, posterior: FeaturePosterior, ready: bool, exposures: Any) -> ValueBlocks:
    """Return the values that were screened, after checking that they are."""
    compared = posterior.comparison
    plain = compared is None or (isinstance(compared, Comparison) and len(compared.parts) == 1)
    if not plain or posterior.block_evidence is not None or posterior.adjustment is not None:
        raise OptionError(
            "Labels are permuted among all samples, which are not exchangeable in blocks, pairs or given "
            "covariates; informative "
            "missing values are not covered either. Screen without them."
        )
    if isinstance(X, SummarisedTable):
        check_same_data(X.statistics, posterior)
        return X
    if y is None:
        raise LabelError("The class of every sample is needed: permutations(X, y), also with a ready posterior.")
    matrix = posterior.model.matrix(X, y, classes=posterior.classes)
    if exposures is not None:
        matrix = replace(matrix, exposures=exposures_of(matrix.values, aligned(X, exposures, "exposures")))
    if ready:
        check_same_data(posterior.model.summarise(matrix, missing="omit"), posterior)
    return matrix


def _left_out(leave_out: Any, posterior: FeaturePosterior) -> npt.NDArray[np.bool_]:
    """Return the features to leave out of the pool as a mask."""
    n = posterior.n_features
    if leave_out is None:
        return np.zeros(n, bool)
    features = np.asarray(leave_out)
    if features.dtype == bool and features.shape == (n,):
        return features
    names = {str(name) for name in features.ravel().tolist()}
    unknown = sorted(names - set(posterior.names))
    if features.dtype.kind not in "UOS" or unknown:
        what = f": there is no feature {unknown[0]!r}" if unknown and features.dtype.kind in "UOS" else ""
        raise OptionError(f"leave_out must be a mask of {n:,} features or names of features{what}.")
    return np.array([name in names for name in posterior.names])
