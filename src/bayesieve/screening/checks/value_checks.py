"""ValueChecks: who looks at the values behind a posterior, when somebody asks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.models import Model
from bayesieve.posterior import Checks, FeaturePosterior, Fragility, GeneFeatures, HoldsWithoutOne
from bayesieve.screening.checks.chance import check_chance
from bayesieve.screening.checks.confounding import check_confounding
from bayesieve.screening.checks.floors import check_floors
from bayesieve.screening.checks.leak import check_leak
from bayesieve.screening.checks.one_sample import check_one_sample
from bayesieve.screening.checks.shape import check_shape
from bayesieve.screening.checks.view import Compare, ListView
from bayesieve.screening.genes import view_genes
from bayesieve.screening.inputs import ScreenInput, Shufflable
from bayesieve.selection import MinimalRisk, Selection
from bayesieve.utils import BayesieveWarning


def _gone() -> None:
    """Values do not go with a posterior that is pickled."""


def with_checks(selection: Selection) -> Selection:
    """Return a list whose table says of every listed feature whether it holds without any one sample."""
    holds, findings = selection.checks.holds, selection.posterior.findings
    if holds is None or any(isinstance(each, (Fragility, HoldsWithoutOne)) for each in findings):
        return selection
    return replace(selection, posterior=selection.posterior.with_finding(HoldsWithoutOne(holds)))


def sample_columns_of(posterior: FeaturePosterior) -> Mapping[str, Any]:
    """Return what else is known of the samples of a screen, by name; nothing where their values are gone."""
    checker = posterior.checker
    return checker.columns() if isinstance(checker, ValueChecks) else {}


@dataclass(frozen=True, slots=True, eq=False)
class ValueChecks:
    """Looks at the values of a screen again, held by reference: arrays as they were given, or the table of a file.

    Parameters
    ----------
    found
        The data of the screen.
    believed
        The model as it was given.
    compare
        Log Bayes factors of a model and some data, by the way of the screen.
    columns
        Gives what else is known of the samples, by name.
    label_name
        What the column of the labels is called, as far as that is known.
    """

    found: ScreenInput
    believed: Model
    compare: Compare
    columns: Callable[[], Mapping[str, Any]]
    label_name: str = ""

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return _gone, ()

    def of_posterior(self, posterior: FeaturePosterior) -> Checks:
        """Check the list of features whose probability is over one half."""
        return MinimalRisk(0.5).select(posterior).checks

    def of_selection(self, selection: Selection) -> Checks:
        """Check the list of a rule."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesieveWarning)  # all was said at the screen
            view = self._view(selection)
            first, influence, holds = check_one_sample(view)
            five = (first, check_floors(view), check_shape(view), check_confounding(view), check_chance(view))
            leak = check_leak(view)
        return Checks(five if leak is None else (*five, leak), influence, holds)

    def _view(self, selection: Selection) -> ListView:
        posterior, samples = selection.posterior, self.found.shufflable
        collapsed = any(isinstance(each, GeneFeatures) for each in posterior.findings)
        matrix = None if samples is None or posterior.model.supports("mixed") else samples.matrix
        if matrix is not None and collapsed:
            matrix = view_genes(matrix, posterior)
        plain = samples is not None and samples.scheme == "samples" and not (collapsed or samples.n_factors)
        names = getattr(self.found.table, "sample_names", None)
        return ListView(
            selection,
            matrix,
            self.columns() if matrix is not None else {},
            self.label_name,
            tuple(names) if names else None,
            "samples" if samples is None else samples.scheme,
            self.found.transform,
            (lambda other: self._length(selection, other)) if plain else None,
            samples is not None and samples.n_factors > 0,
        )

    def _length(self, selection: Selection, matrix: LabelledMatrix) -> int:
        """Number of features that pass the cut of a list if other values are screened."""
        quick = self.believed.quick()
        data = Shufflable(matrix).relabelled(matrix.labels.codes, quick)
        found = self.compare(quick, data) + selection.posterior.prior_log_odds
        return int(np.greater(found, selection.cut).sum())
