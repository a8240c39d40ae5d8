"""Penalised regressions as rivals: LASSO and elastic net at a penalty, and stability selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.regression.cross_validation import CrossValidation, check_penalty, cross_validate
from bayesieve.rivals.regression.links import residual
from bayesieve.rivals.regression.path import Design, Regression, columns_of, fit_path, warn_unfinished
from bayesieve.rivals.regression.stability import check_threshold, stability_selection
from bayesieve.rivals.regression.units import Progress, Running
from bayesieve.utils import FloatArray, OptionError, one_blas_thread


@dataclass(frozen=True, slots=True)
class PenalisedRegression:
    """Regress the class on all features together, and select those whose coefficient is not 0.

    Parameters
    ----------
    name
        Name of the method.
    link
        ``"linear"``, ``"logit"`` or ``"probit"``.
    alpha
        Share of the L1 norm in the penalty.
    """

    name: str
    link: str
    alpha: float

    def __call__(  # noqa: PLR0913 - each is an option of the method
        self,
        matrix: LabelledMatrix,
        *,
        penalty: float | str = "cv",
        alpha: float | None = None,
        lambda_scale: str = "glmnet",
        standardise: bool = True,
        max_iterations: int = 100_000,
        solver: str = "descent",
        penalties: Any = "path",
        criterion: str = "accuracy",
        one_standard_error: bool = False,
        folds: int = 10,
        repeats: int = 10,
        seed: int = 0,
        store: Any = None,
        progress: Progress | None = None,
        n_threads: int | None = None,
    ) -> FeatureScores:
        """Fit the regression at one penalty.

        Parameters
        ----------
        matrix
            A table of two classes without missing values.
        penalty
            A number, or ``"cv"``: the best of ``penalties`` by cross-validation.
        alpha
            Share of the L1 norm in the penalty, if another than that of the method.
        lambda_scale, standardise, max_iterations, solver
            As in :class:`bayesieve.rivals.regression.path.Regression`.
        penalties, criterion, folds, repeats, seed
            As in :func:`bayesieve.rivals.regression.cross_validation.cross_validate`.
        one_standard_error
            Take the largest penalty within one standard error of the best.
        store, progress
            File that keeps finished folds, and a function called with the number of folds done and to be done.
        n_threads
            Processes for cross-validation.

        Returns
        -------
        FeatureScores
            The score is the size of the coefficient of the standardised feature, and 0 for most. Features with the
            same score are ordered by how much the loss would fall with their coefficient: how near they are to
            being selected. A feature that does not vary has no score.
        """
        regression = Regression(
            self.link, self.alpha if alpha is None else alpha, lambda_scale, standardise, max_iterations, solver
        )
        if penalty != "cv":
            return self._fit(matrix, regression, check_penalty(penalty))
        tried = cross_validate(
            matrix,
            regression,
            penalties,
            criterion=criterion,
            folds=folds,
            repeats=repeats,
            seed=seed,
            running=Running(n_threads, store, progress),
            method=self.name,
        )
        place = tried.within_one_standard_error if one_standard_error else tried.best
        found = self._fit(matrix, regression, tried.penalties[: place + 1])
        return replace(
            found,
            caveat="" if tried.beats_baseline else _no_better(tried),
            diagnostics={**found.diagnostics, **_told(tried, matrix, place)},
        )

    def _fit(self, matrix: LabelledMatrix, regression: Regression, penalties: FloatArray) -> FeatureScores:
        """Return the scores at the last of falling penalties, each of which starts from the one before."""
        values, y = columns_of(matrix, self.name)
        design = Design.of(values, y, standardise=regression.standardise)
        with one_blas_thread():
            path = fit_path(design, regression, penalties)
        warn_unfinished(self.name, path.penalties[-1:], ~path.converged[-1:])
        coefficients = path.coefficients[[-1]].toarray().ravel()
        eta = design.X @ coefficients[design.varies] + path.intercepts[-1]
        gradient = np.abs(residual(self.link, design.y, eta) @ design.X) / design.y.size
        return FeatureScores(
            self.name.replace("-", "_"),
            np.where(design.varies, np.abs(coefficients), np.nan),
            matrix.feature_names,
            details={"coefficient": coefficients},
            selected=coefficients != 0.0,
            tie_break=design.spread(gradient, 0.0),
            diagnostics={
                "penalty": float(path.penalties[-1]),
                "largest_penalty": path.largest,
                "lambda_scale": regression.lambda_scale,
                "alpha": regression.alpha,
                "intercept": float(path.intercepts[-1]),
                "converged": bool(path.converged[-1]),
            },
        )


def _told(tried: CrossValidation, matrix: LabelledMatrix, place: int) -> Mapping[str, Any]:
    """What cross-validation found, for the result."""
    larger = int(np.argmax(matrix.labels.counts))
    return {
        "criterion": tried.criterion,
        "n_fits": tried.n_fits,
        **{name: float(scores[place]) for name, scores in tried.scores.items()},
        "standard_error": float(tried.standard_errors[tried.criterion][place]),
        "baseline": tried.baselines[tried.criterion],
        "majority_class": matrix.labels.classes[larger],
        "majority_share": tried.baselines["accuracy"],
        "beats_baseline": tried.beats_baseline,
        "smallest_penalty_tried": float(tried.penalties[-1]),
    }


def _no_better(tried: CrossValidation) -> str:
    best, base = tried.scores[tried.criterion][tried.best], tried.baselines[tried.criterion]
    return (
        f"Cross-validation finds no penalty that predicts better than no feature at all ({tried.criterion} "
        f"{best:.3g} against {base:.3g})."
    )


def stability(  # noqa: PLR0913 - each is an option of the method
    matrix: LabelledMatrix,
    *,
    link: str = "logit",
    alpha: float = 1.0,
    threshold: float | None = None,
    pfer: float | None = None,
    n_subsamples: int = 100,
    share: float = 0.5,
    pairs: bool = False,
    most: int | None = None,
    penalties: Any = "supplement",
    lambda_scale: str = "glmnet",
    standardise: bool = True,
    max_iterations: int = 100_000,
    solver: str = "descent",
    seed: int = 0,
    store: Any = None,
    progress: Progress | None = None,
    n_threads: int | None = None,
) -> FeatureScores:
    """Select the features that a penalised regression selects in most subsamples.

    Parameters
    ----------
    matrix
        A table of two classes without missing values.
    link, alpha, lambda_scale, standardise, max_iterations, solver
        As in :class:`bayesieve.rivals.regression.path.Regression`.
    threshold
        Share of the subsamples in which a feature must be selected; 0.6 by default.
    pfer
        Expected number of false features (per-family error rate) from which the threshold is computed instead.
    n_subsamples, share, pairs, most, penalties, seed
        As in :func:`bayesieve.rivals.regression.stability.stability_selection`.
    store, progress
        File that keeps finished subsamples, and a function called with the number done and to be done.
    n_threads
        Processes.

    Returns
    -------
    FeatureScores
        The score is the largest share of subsamples, over the penalties, that select the feature. Equal ones are
        ordered by the mean share over the penalties, then by how much the loss would fall with the coefficient in
        the model without features. A feature that does not vary has no score.
    """
    if threshold is not None and pfer is not None:
        raise OptionError("Give a threshold, or the pfer from which to compute it, and not both.")
    if threshold is not None:
        check_threshold(threshold)
    regression = Regression(link, alpha, lambda_scale, standardise, max_iterations, solver)
    found = stability_selection(
        matrix,
        regression,
        penalties,
        n_subsamples=n_subsamples,
        share=share,
        pairs=pairs,
        most=most,
        seed=seed,
        running=Running(n_threads, store, progress),
        method="stability",
    )
    level = found.threshold_for(pfer) if pfer is not None else 0.6 if threshold is None else threshold
    values, y = columns_of(matrix, "stability")
    design = Design.of(values, y, standardise=standardise)
    gradient = design.spread(np.abs(design.null_gradient(link)), 0.0)
    diagnostics = {
        "threshold": level,
        "q": found.q,
        "expected_false": found.expected_false(level),
        "false_share": found.false_share(level),
        "conditions": found.conditions(level),
        "n_subsamples": found.n_subsamples,
        "share": found.share,
        "pairs": found.pairs,
        "n_penalties": int(found.penalties.size),
        "converged": bool(found.converged.all()),
    }
    return FeatureScores(
        "stability",
        np.where(design.varies, found.probability, np.nan),
        matrix.feature_names,
        details={"mean_probability": found.mean_probability},
        caveat=found.conditions(level),
        selected=found.selected(level),
        tie_break=_order(found.mean_probability, gradient),
        diagnostics=diagnostics,
    )


def _order(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return places in the order of two criteria, larger for larger ones; the same for the same."""
    pairs = np.stack([first, second])
    _, place = np.unique(pairs, axis=1, return_inverse=True)
    return place.ravel().astype(np.float64)


def _rival(name: str, title: str, link: str, alpha: float) -> Rival:
    return Rival(name, title, "values", PenalisedRegression(name, link, alpha))


LASSO_LINEAR = _rival("lasso-linear", "LASSO (linear)", "linear", 1.0)
LASSO_LOGIT = _rival("lasso-logit", "LASSO (logit)", "logit", 1.0)
LASSO_PROBIT = _rival("lasso-probit", "LASSO (probit)", "probit", 1.0)
ELASTIC_NET_LINEAR = _rival("elastic-net-linear", "Elastic net (linear)", "linear", 0.5)
ELASTIC_NET_LOGIT = _rival("elastic-net-logit", "Elastic net (logit)", "logit", 0.5)
ELASTIC_NET_PROBIT = _rival("elastic-net-probit", "Elastic net (probit)", "probit", 0.5)
STABILITY = Rival("stability", "Stability selection", "values", stability)
