"""The design of a study beyond classes: an outcome, subjects with several samples, covariates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bayesieve.models import Model
from bayesieve.posterior import Finding, Remark
from bayesieve.screening.covariates import adjustment, given_covariates, plan_covariates
from bayesieve.screening.inputs import ScreenInput
from bayesieve.screening.lazy_table import Plan
from bayesieve.screening.outcome import along_outcome, plan_outcome, refuse_quantity, trend_finding
from bayesieve.screening.subjects import given_subjects, of_subjects
from bayesieve.utils import FloatArray, join_words


def planned(X: Any, given: Mapping[str, Any]) -> Plan | None:
    """Say what a table in blocks is summed with; nothing if classes are all that there is to know.

    Parameters
    ----------
    X
        The table as it was given.
    given
        ``outcome``, ``classes`` and ``covariates`` as they were given.
    """
    if given["outcome"] is not None:
        return plan_outcome(given["covariates"], X, ordered=given["classes"] is not None)
    return plan_covariates(given["covariates"], X)


def designed(
    found: ScreenInput,
    model: Model,
    X: Any,
    given: Mapping[str, Any],
    others: dict[str, Any],
    n_threads: int | None = None,
) -> ScreenInput:
    """Return the data of a screen in the design that was given.

    Parameters
    ----------
    found, model, X
        The data, the model, and the table as it was given.
    given
        ``outcome``, ``classes``, ``subject`` and ``covariates`` as they were given.
    others
        Other options, which may not go with these.
    n_threads
        Threads.
    """
    covariates = given["covariates"]
    if given["outcome"] is not None or getattr(found.table, "is_outcome", False):
        ordered = given["classes"] is not None or getattr(found.table, "is_ordered", False)
        return along_outcome(found, model, covariates, X, others, ordered=ordered, n_threads=n_threads)
    if found.shufflable is not None:
        refuse_quantity(found.statistics.classes, found.shufflable.matrix.n_samples)
    found = given_subjects(found, model, given["subject"], covariates, X, others)
    return given_covariates(found, model, covariates, X, others, n_threads)


def of_design(found: ScreenInput, unadjusted: Callable[[], FloatArray], label: str) -> tuple[Finding, ...]:
    """Say what the design adds: adjusted differences, subjects, slopes on the outcome.

    Parameters
    ----------
    found
        The data in their design.
    unadjusted
        Gives log Bayes factors without it.
    label
        What the labels, or the outcome, are called.
    """
    told = (*adjustment(found, unadjusted), *of_subjects(found, unadjusted), *trend_finding(found, label))
    return told or _of_statistics(found)


def _of_statistics(found: ScreenInput) -> tuple[Finding, ...]:
    """Say what ready statistics were adjusted for."""
    design = getattr(found.statistics, "design", None)
    if design is None:
        return ()
    return (
        Remark((
            f"Compared at equal {join_words(design.covariates)}, as the statistics hold them: means and "
            "differences are adjusted.",
        )),
    )  # fmt: skip
