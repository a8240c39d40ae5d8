"""All 84 regressions of the paper on one table: three links, two kinds of penalty, 14 penalties (spec D6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.regression.links import LINKS
from bayesieve.rivals.regression.path import Design, Regression, columns_of, fit_path
from bayesieve.rivals.regression.penalties import PAPER_NAMES, paper_penalties
from bayesieve.utils import BoolArray, FloatArray, IntArray, n_threads_for, one_blas_thread, run

_KINDS = (("lasso", 1.0), ("elastic-net", 0.5))

ALL_REGRESSIONS = tuple(
    f"{kind}-{link}@{penalty}" for link in LINKS for kind, _ in _KINDS for penalty in PAPER_NAMES
)
"""Names of the 84 regressions: ``lasso-logit@0.1``, ``elastic-net-probit@log(n)^1.5/n``."""


@dataclass(frozen=True, slots=True, eq=False)
class RegressionSets:
    """The features that each of the 84 regressions selects.

    Parameters
    ----------
    selected
        Regressions x features, in the order of :data:`ALL_REGRESSIONS`.
    penalties
        Penalty of every regression.
    converged
        False where the solver gave up.
    """

    selected: BoolArray
    penalties: FloatArray
    converged: BoolArray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the regressions."""
        return ALL_REGRESSIONS

    @property
    def n_selected(self) -> IntArray:
        """Number of features that each selects."""
        return np.asarray(self.selected.sum(axis=1), dtype=np.int64)

    def n_correct(self, truth: npt.ArrayLike) -> IntArray:
        """Number of features that each labels correctly, true markers being given.

        Its mean over iterations has the paper's Regularized-best as its maximum; its own maximum is the best of
        one iteration.
        """
        return np.asarray((self.selected == np.asarray(truth, dtype=np.bool_)).sum(axis=1), dtype=np.int64)


def all_regressions(
    matrix: LabelledMatrix,
    *,
    lambda_scale: str = "glmnet",
    solver: str = "descent",
    n_threads: int | None = None,
) -> RegressionSets:
    """Fit the 84 regressions of section 6.

    Parameters
    ----------
    matrix
        A table of two classes without missing values.
    lambda_scale, solver
        As in :class:`bayesieve.rivals.regression.path.Regression`.
    n_threads
        Threads; one per core by default.
    """
    values, y = columns_of(matrix, "The 84 regressions")
    design = Design.of(values, y)
    penalties = paper_penalties(y.size)
    regressions = [Regression(link, alpha, lambda_scale, solver=solver) for link in LINKS for _, alpha in _KINDS]
    threads = n_threads_for(n_threads, values.size)
    with one_blas_thread():  # threads of our own do more
        paths = list(run(lambda each: fit_path(design, each, penalties), regressions, threads))
    return RegressionSets(
        np.concatenate([path.selected for path in paths]),
        np.concatenate([path.penalties for path in paths]),
        np.concatenate([path.converged for path in paths]),
    )


def score_by_regressions(
    matrix: LabelledMatrix, *, lambda_scale: str = "glmnet", solver: str = "descent", n_threads: int | None = None
) -> FeatureScores:
    """Score features by the share of the 84 regressions that select them; a study may choose among their lists."""
    found = all_regressions(matrix, lambda_scale=lambda_scale, solver=solver, n_threads=n_threads)
    return FeatureScores(
        "regressions",
        found.selected.mean(axis=0),
        matrix.feature_names,
        diagnostics={
            "list_names": found.names,
            "lists": found.selected,
            "penalties": found.penalties,
            "converged": found.converged,
        },
    )


RIVAL = Rival("regressions", "84 regressions", "values", score_by_regressions)
