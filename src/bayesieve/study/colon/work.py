"""The work on the probes: rankings by every method, penalised regressions, and rankings under shuffled stages."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, Labels
from bayesieve.rivals import rival
from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.regression.cross_validation import cross_validate
from bayesieve.rivals.regression.path import Design, Regression, columns_of, fit_path
from bayesieve.rivals.regression.penalties import penalties_of
from bayesieve.rivals.regression.stability import stability_selection
from bayesieve.rivals.regression.units import Running
from bayesieve.stats import Moments
from bayesieve.study.colon.published import TITLES, published
from bayesieve.study.colon.steps import Result, Steps
from bayesieve.utils import BayesieveWarning, IntArray, one_blas_thread

QUICK = ("obf-jp", "obf", "bd", "welch")
"""Methods that use moments only; they are run for every reading and under shuffled stages."""
SAMPLERS = ("bpm", "bayesreg-logit-l1")
"""Methods that take long."""
REGRESSIONS = {"lasso-logit": 1.0, "elastic-net-logit": 0.5}
"""Penalised regressions, with the share of the L1 norm in their penalty."""

PRIOR_PROBABILITY = 0.01
N_SHUFFLES = 20
LEVELS = (0.5, 0.999)
"""Posterior probabilities at which features are counted."""

Progress = Callable[[int, int], None]


def options_of(method: str) -> dict[str, Any]:
    """Return the options of a method as the supplement states them."""
    if method == "obf-jp":
        return {"prior_probability": PRIOR_PROBABILITY, "prior_ratio": 0.1}
    if method == "obf":
        return {"prior_probability": PRIOR_PROBABILITY}
    if method in QUICK:
        return {}
    first = {"screen": f"bd:{published()['data']['prescreened_probes']}"}
    return {**first, "n_kernels": 2} if method == "skbs" else first


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What there is to do on one table of probes.

    Parameters
    ----------
    steps
        Where finished steps are kept.
    seed
        Of folds, subsamples, chains and shuffles.
    repeats
        Repetitions of the cross-validation; stability selection takes ten times as many subsamples.
    workers
        Processes of regressions; None for one per core.
    progress
        Called with the number of fits done and to be done.
    """

    steps: Steps
    seed: int = 0
    repeats: int = 10
    workers: int | None = None
    progress: Progress | None = None

    def rank(self, matrix: LabelledMatrix, method: str, reading: str) -> Result:
        """Rank the probes by one method: scores, and the order of those that have one."""
        options = options_of(method)
        if "seed" in rival(method).options:
            options["seed"] = self.seed
        title = f"{TITLES[method]} on {matrix.n_features:,} features, {_sizes(matrix)}"
        settings = {"method": method, "reading": reading, **options}
        run = functools.partial(_ranked, matrix, method, options)
        return self.steps.run(f"{method}-{reading}", title, settings, run, slow=method in SAMPLERS)

    def regress(self, matrix: LabelledMatrix, method: str, reading: str) -> Result:
        """Choose probes by a penalised regression: cross-validation, fixed penalties, stability selection."""
        settings = {"method": method, "reading": reading, "seed": self.seed, "repeats": self.repeats}
        title = (
            f"{rival(method).title} on {matrix.n_features:,} features: cross-validation and stability selection"
        )
        key = self.steps.key(settings)
        stores = {part: self.steps.folder / f"{method}-{part}-{key[:8]}.sqlite" for part in ("cv", "stability")}
        run = functools.partial(self._regressed, matrix, REGRESSIONS[method], stores)
        found = self.steps.run(f"{method}-{reading}", title, settings, run, slow=True)
        for store in stores.values():  # what they hold is in the step now
            store.unlink(missing_ok=True)
        return found

    def _regressed(self, matrix: LabelledMatrix, alpha: float, stores: Mapping[str, Path]) -> Result:
        regression = Regression("logit", alpha)
        running = {part: Running(self.workers, store, self.progress) for part, store in stores.items()}
        tried = cross_validate(
            matrix, regression, "supplement", repeats=self.repeats, seed=self.seed, running=running["cv"]
        )
        values, y = columns_of(matrix, "colon")
        penalties = penalties_of("supplement", y.size, 1.0)
        with one_blas_thread():
            path = fit_path(Design.of(values, y), regression, penalties)
        chosen = path.coefficients.tocoo()
        stable = stability_selection(
            matrix, regression, "supplement", n_subsamples=10 * self.repeats, share=0.9, seed=self.seed,
            running=running["stability"],
        )  # fmt: skip
        best = float(tried.penalties[tried.best])
        return {
            "penalties": np.array(penalties),
            "place": chosen.row.astype(np.int32),
            "probe": chosen.col.astype(np.int32),
            "accuracy": tried.scores["accuracy"][::-1],
            "balanced_accuracy": tried.scores["balanced_accuracy"][::-1],
            "best": best,
            "error": float(tried.standard_errors["accuracy"][tried.best]),
            "baseline": tried.baselines["accuracy"],
            "stability": stable.probability,
            "q": stable.q,
            "n_subsamples": stable.n_subsamples,
            "largest_penalty": path.largest,
        }

    def shuffle(
        self, matrix: LabelledMatrix, reading: str, methods: Sequence[str], count: Callable[[IntArray], Any]
    ) -> Result:
        """Rank the probes under shuffled stages.

        Parameters
        ----------
        matrix
            The probes with their classes.
        reading
            Name of the classes.
        methods
            Which of :data:`QUICK`.
        count
            Called with an order of the probes, the strongest first; returns numbers.

        Returns
        -------
        dict
            By method: what ``count`` returned, shuffles x numbers; and how many probes reach :data:`LEVELS`.
        """
        settings = {"reading": reading, "seed": self.seed, "methods": list(methods), "n": N_SHUFFLES}
        title = f"Rankings under {N_SHUFFLES} shuffles of the stages"
        run = functools.partial(self._shuffled, matrix, methods, count)
        return self.steps.run(f"shuffles-{reading}", title, settings, run)

    def _shuffled(
        self, matrix: LabelledMatrix, methods: Sequence[str], count: Callable[[IntArray], Any]
    ) -> Result:
        found: dict[str, list[Any]] = {}
        labels = matrix.labels
        for child in np.random.SeedSequence([self.seed, 17538]).spawn(N_SHUFFLES):
            codes = np.random.default_rng(child).permutation(labels.codes)
            moments = Moments.from_labelled(LabelledMatrix(matrix.values, Labels(labels.classes, codes), None))
            for method in methods:
                scores = rival(method).run(moments, **options_of(method))
                found.setdefault(method, []).append(count(scores.ranking))
                if method.startswith("obf"):
                    found.setdefault(f"{method}-levels", []).append(counts_at_levels(scores.score))
        return {name: np.array(numbers) for name, numbers in found.items()}


def _sizes(matrix: LabelledMatrix) -> str:
    return " v ".join(f"{count}" for count in matrix.labels.counts.tolist())


def _ranked(matrix: LabelledMatrix, method: str, options: Mapping[str, Any]) -> Result:
    chosen = rival(method)
    with warnings.catch_warnings(
        record=True
    ) as caught:  # they go onto the page, also when a run is taken up again
        warnings.simplefilter("always")
        scores: FeatureScores = (
            chosen.run(Moments.from_labelled(matrix), **options)
            if chosen.uses == "moments"
            else chosen.run(matrix, **options)
        )
    order = scores.ranking
    found: Result = {"order": order[~np.isnan(scores.score[order])], "score": scores.score}
    if method.startswith("obf"):
        found["probability"] = probability_of(scores.score)
    if "probability" in scores.details:
        found["probability"] = scores.details["probability"]
    if scores.p_value is not None:
        found["p_value"] = scores.p_value
    kept = ("kernel_mean", "kernel_sd", "seconds", "sweeps", "chains", "r_hat_top", "ess_top", "n_screened")
    found["told"] = {key: value for key, value in scores.diagnostics.items() if key in kept}
    found["warnings"] = [str(each.message) for each in caught if isinstance(each.message, BayesieveWarning)]
    return found


def probability_of(log_odds: Any) -> Any:
    """Return probabilities of log-odds, however large."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-log_odds))


def counts_at_levels(log_odds: Any) -> list[int]:
    """Return how many features have a posterior probability above each of :data:`LEVELS`."""
    probability = probability_of(log_odds)
    return [int((probability > level).sum()) for level in LEVELS]
