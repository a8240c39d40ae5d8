"""Repeated measures: several samples of each subject, compared within subjects; any number of samples each."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesieve.data import Covariates, LabelledMatrix, Labels, aligned, dense_values, one_each
from bayesieve.models import CalibratedModel, Model, Patterns, SubjectComparison, WithinSubjects, within
from bayesieve.posterior import Adjustment, Remark
from bayesieve.screening.covariates import covariates_of, refuse_others
from bayesieve.screening.inputs import ScreenInput, Shufflable
from bayesieve.stats import Moments
from bayesieve.utils import (
    BayesieveWarning,
    FloatArray,
    IntArray,
    LabelError,
    OptionError,
    Wording,
    option,
    plural,
)


@dataclass(frozen=True, slots=True, eq=False)
class SubjectRows(Shufflable):
    """Samples whose residuals are dealt anew within subjects.

    Parameters
    ----------
    subjects, covariates
        Subject of every sample, as a position, and its covariates.
    """

    subjects: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    covariates: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def scheme(self) -> str:
        """What is shuffled."""
        return "subjects"

    def draw(self, n: int, seed: Any) -> tuple[list[IntArray], bool]:
        """Draw orders of the samples, within subjects."""
        rng = np.random.default_rng(seed)
        parts = [np.flatnonzero(self.subjects == k) for k in range(int(self.subjects.max()) + 1)]
        found = []
        for _ in range(n):
            order = np.arange(self.subjects.size)
            for part in parts:
                order[part] = rng.permutation(part)
            found.append(order)
        return found, False

    def relabelled(self, codes: IntArray, model: Model) -> ScreenInput:
        """Return the data of a screen whose labels and covariates meet other residuals."""
        del model
        labels = Labels(self.matrix.labels.classes, self.matrix.labels.codes[codes])
        return _summed(replace(self.matrix, labels=labels), self.subjects, self.covariates[codes])


def _summed(matrix: LabelledMatrix, subjects: IntArray, Z: FloatArray) -> ScreenInput:
    """Adjust values for subjects and covariates, given the classes, and sum them."""
    labels, values = matrix.labels, dense_values(matrix)
    sums = WithinSubjects.of(values, labels.codes, labels.classes, subjects, Z)
    indicators = (labels.codes[:, None] == np.arange(1, len(labels.classes))).astype(np.float64)
    design = within(np.column_stack([indicators, Z]), subjects)
    fit = np.linalg.lstsq(design, within(values, subjects), rcond=None)[0]
    left = within(values, subjects) - design @ fit
    effects = indicators @ fit[: indicators.shape[1]]
    adjusted = replace(matrix, values=left + (effects - effects.mean(axis=0)) + values.mean(axis=0))
    moments = Moments.from_labelled(adjusted, shape=True)
    return ScreenInput(adjusted, moments, matrix.feature_names, samples={None: labels.counts}, within=sums)


def given_subjects(
    found: ScreenInput, model: Model, subject: Any, given: Any, X: Any, asked: dict[str, Any]
) -> ScreenInput:
    """Return the data of a screen within subjects; as they are if nobody said whose samples they are.

    Parameters
    ----------
    found, model
        The data, with their values, and the model.
    subject
        Subject of each sample.
    given, X
        Covariates and table as they were given.
    asked
        Other options that do not go with subjects.
    """
    subject = getattr(found.table, "subject", None) if subject is None else aligned(X, subject, "subject")
    if subject is None:
        return found
    refuse_others("subject", found, {**asked, "blocks": found.blocked or None})
    model.require(
        "effect-sizes", option("subject"), " compares within subjects under the calibrated prior.",
        hint=("Leave ", Wording("the model", "--prior"), " out."),
    )  # fmt: skip
    if found.shufflable is None:
        raise OptionError(option("subject"), " needs the values of the samples in memory.", kind="capability")
    matrix = found.shufflable.matrix
    encoded = one_each("subject", subject, matrix.n_samples)
    _check_subjects(encoded, matrix)
    covariates = None
    if given is not None or getattr(found.table, "covariates", None):
        covariates = covariates_of(found, given, X)
        _check_within(covariates, encoded.codes)
    Z = np.empty((matrix.n_samples, 0)) if covariates is None else covariates.values
    made = _summed(matrix, encoded.codes, Z)
    values = dense_values(matrix)
    null = np.linalg.lstsq(within(Z, encoded.codes), within(values, encoded.codes), rcond=None)[0]
    residuals = replace(matrix, values=within(values, encoded.codes) - within(Z, encoded.codes) @ null)
    rows = SubjectRows(residuals, subjects=encoded.codes, covariates=Z)
    return replace(
        made, shufflable=rows, whole=found.whole, names=found.names, covariates=covariates, subjects=encoded
    )


def _check_subjects(subjects: Labels, matrix: LabelledMatrix) -> None:
    table = np.zeros((len(subjects.classes), len(matrix.labels.classes)), np.int64)
    np.add.at(table, (subjects.codes, matrix.labels.codes), 1)
    n_both = int(((table > 0).sum(axis=1) > 1).sum())
    if not n_both:
        raise LabelError(
            f"None of the {len(subjects.classes):,} subjects has samples of two classes, so that nothing can be "
            "compared "
            "within subjects. Leave ",
            option("subject"),
            " out, and put the samples of a subject together: ",
            option("aggregate"),
            ".",
            kind="subjects",
        )
    if np.isnan(dense_values(matrix)).any():
        raise OptionError(option("subject"), " needs a table without missing values.", hint="Fill them in first.")


def _check_within(covariates: Covariates, subjects: IntArray) -> None:
    centred = within(covariates.values, subjects)
    for k, name in enumerate(covariates.sources):
        if (centred[:, k] ** 2).sum() < 1e-9 * (covariates.values[:, k] ** 2).sum():
            raise OptionError(
                f"Covariate {name!r} is the same in all samples of a subject, and a comparison within subjects "
                "is at equal "
                f"{name} anyway. Leave it out of ",
                option("covariates"),
                ".",
                kind="covariates",
            )
    if np.linalg.matrix_rank(centred) < centred.shape[1]:
        raise OptionError(
            "Within subjects covariates determine each other. Leave one of them out.", kind="covariates"
        )


def screen_subjects(model: Model, found: ScreenInput, patterns: Any) -> tuple[Any, FloatArray, Any]:
    """Compare classes within subjects: comparison, log Bayes factors and flags."""
    assert found.within is not None
    chosen = Patterns.of(patterns, found.statistics.classes)
    comparison = SubjectComparison(chosen, found.within, model)
    flags, excluded = model.flag(found.statistics)
    return comparison, np.where(excluded, 0.0, comparison.log_bayes_factor()), flags


def knowing_subjects(model: Model, found: ScreenInput) -> Model:
    """Return the model that knows how many degrees of freedom subjects and covariates take."""
    if found.within is None or not isinstance(model, CalibratedModel):
        return model
    counts = np.asarray(found.samples[None])
    taken = int(counts.sum()) - 1 - found.within.freedom
    return replace(model, n_factors=taken, variance_weight=0.0, both_share=0.0)


def of_subjects(found: ScreenInput, unadjusted: Callable[[], FloatArray]) -> tuple[Adjustment | Remark, ...]:
    """Say what was compared within, with intervals of differences."""
    if found.within is None or found.subjects is None:
        return ()
    labels, sums = found.shufflable.matrix.labels, found.within  # type: ignore[union-attr]
    codes, n = found.subjects.codes, len(found.subjects.classes)
    table = np.zeros((n, len(labels.classes)), np.int64)
    np.add.at(table, (codes, labels.codes), 1)
    alone = int(((table > 0).sum(axis=1) == 1).sum())
    sizes = np.full(sums.squares.size, sums.products[0, 0]) if len(labels.classes) == 2 else np.empty(0)
    freedom = np.full(sums.squares.size, sums.freedom - len(labels.classes) + 1)
    what = f"{n:,} subjects" + ("" if found.covariates is None else f", at equal {found.covariates.describe()}")
    slopes = np.empty((0, sums.squares.size))
    shown = found.table.values if isinstance(found.table, LabelledMatrix) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesieveWarning)  # they would be about another comparison
        before = unadjusted()
    names = () if found.covariates is None else found.covariates.names
    told = Adjustment(what, names, slopes, before, sizes, freedom, shown=shown, how="within")
    both = f"{n - alone:,} of {n:,} subjects have samples of several classes"
    note = f"Differences within subjects see the mean only. {both}"
    left = f"; the other {plural(alone, 'subject')} say nothing about a difference" if alone else ""
    return told, Remark((f"{note}{left}.",))
