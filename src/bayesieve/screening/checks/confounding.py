"""Confounding: columns about the samples that go with the classes, and what of the list they explain as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, Labels
from bayesieve.models import Patterns, compare
from bayesieve.posterior import Check
from bayesieve.screening.checks.sample_columns import SampleColumn
from bayesieve.screening.checks.view import ListView, make, not_checked, percent
from bayesieve.screening.degenerate import DegeneratePolicy, prepare
from bayesieve.utils import BoolArray, FloatArray, IntArray, PriorError, Wording, join_words, list_names, plural

NAME, TITLE, LINK = "confounding", "Confounding", "sample-columns"
LEVEL = 0.01  # of all columns together
STRONG = 0.3  # Cramer's V, or the correlation ratio
EXPLAINED, ALL_BUT_THE_CLASS = 0.25, 0.95  # share of the list, and strength, from which it is an alarm
_MOST_FEATURES, _MOST_COLUMNS = 1000, 5


@dataclass(frozen=True, slots=True)
class Association:
    """How a column goes with the classes.

    Parameters
    ----------
    column
        The column.
    strength, p_value
        See :meth:`SampleColumn.association`.
    share
        Share of the list that it explains at least as well as the classes do; NaN if that was not looked at.
    """

    column: SampleColumn
    strength: float
    p_value: float
    share: float = np.nan


def check_confounding(view: ListView) -> Check:
    """Compare every column with the classes, and those that go with them with the list."""
    if view.matrix is None:
        return not_checked(NAME, TITLE, LINK, view.absence)
    if view.scheme == "pairs":
        return not_checked(NAME, TITLE, LINK, "both samples of a pair share what is known of them")
    columns = [
        found for name, cells in view.columns.items() if (found := SampleColumn.of(name, cells)) is not None
    ]
    if not columns:
        given = "no column that could be compared is known of the samples"
        return not_checked(NAME, TITLE, LINK, f"{given} (batch, sex, age, site)")
    tested = sorted((_test(view, column) for column in columns), key=lambda each: (each.p_value, -each.strength))
    going = [each for each in tested if each.p_value * len(tested) < LEVEL and each.strength >= STRONG]
    going = [_explain(view, each) for each in going[:_MOST_COLUMNS]]
    if not going:
        return _nothing(tested)
    worst = max(going, key=lambda each: (np.nan_to_num(each.share), each.strength))
    heavy = worst.share >= EXPLAINED or worst.strength >= ALL_BUT_THE_CLASS
    return _tell(view, tested, going, worst, "alarm" if heavy else "attention")


def _test(view: ListView, column: SampleColumn) -> Association:
    return Association(column, *column.association(view.codes))


def _numbers(tested: Sequence[Association]) -> dict[str, object]:
    return {
        "columns": {
            each.column.name: {"strength": each.strength, "p_value": each.p_value,
                               "share_explained": None if np.isnan(each.share) else each.share}
            for each in tested
        }
    }  # fmt: skip


def _nothing(tested: Sequence[Association]) -> Check:
    names, least = [each.column.name for each in tested], tested[0]
    what = f"None of {len(names)} columns ({list_names(names, 4)}) goes"
    what = f"{names[0]!r} does not go" if len(names) == 1 else what
    whose = f", {least.column.name}" if len(names) > 1 else ""
    return make(
        NAME, TITLE, LINK, "good", 0, f"0 of {len(names)}",
        f"{what} with the classes (least p = {least.p_value:.2g}{whose}).", **_numbers(tested),
    )  # fmt: skip


def _tell(
    view: ListView, tested: Sequence[Association], going: Sequence[Association], worst: Association, state: str
) -> Check:
    name, n = worst.column.name, view.selection.n_selected
    others = [each.column.name for each in going if each is not worst]
    more = f" So {'does' if len(others) == 1 else 'do'} {join_words(map(repr, others))}." if others else ""
    whole = {each.column.name: each for each in going}
    told = [whole.get(each.column.name, each) for each in tested]
    explains = "" if np.isnan(worst.share) else (
        f", and explains {percent(worst.share)} of {plural(n, 'listed feature')} as well as the classes do"
    )  # fmt: skip
    return make(
        NAME, TITLE, LINK, state, 0.0 if np.isnan(worst.share) else worst.share,
        f"{name}" + ("" if np.isnan(worst.share) else f": {percent(worst.share)}"),
        f"{name!r} goes with the classes (strength {worst.strength:.2f} of 1, p {_p(worst.p_value)}){explains}."
        f"{more}",
        hint=("Unless it is part of what the classes are, compare ", *_remedy(worst.column), "."),
        column=name, **_numbers(told),
    )  # fmt: skip


def _remedy(column: SampleColumn) -> tuple[Any, ...]:
    """What to do about a column: a number has a slope, levels are blocks."""
    if column.numbers is not None:
        return "at equal values of it (", Wording("covariates=", f"--covariates {_quoted(column.name)}"), ")"
    return "within its levels (", Wording("blocks=", f"--blocks {_quoted(column.name)}"), ")"


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _p(p_value: float) -> str:
    return "under 1e-12" if p_value < 1e-12 else f"= {p_value:.2g}"


def _explain(view: ListView, found: Association) -> Association:
    """Compare the groups of a column with the classes, feature by feature of the list, in the same samples."""
    listed = view.selection.indices
    if not listed.size:
        return found
    if listed.size > _MOST_FEATURES:
        listed = listed[np.unique(np.linspace(0, listed.size - 1, _MOST_FEATURES).astype(np.int64))]
    listed = np.sort(listed)
    groups = found.column.groups
    there = groups >= 0
    try:
        by_column = evidence(view, listed, there, groups[there])
        by_class = evidence(view, listed, there, view.codes[there])
    except PriorError:  # a group is too small for its prior
        return found
    return replace(found, share=float((by_column >= by_class).mean()))


def evidence(view: ListView, which: IntArray, samples: BoolArray, groups: IntArray) -> FloatArray:
    """Log Bayes factors of "all groups differ" for some features and samples, under the model of the screen."""
    assert view.matrix is not None
    codes = np.unique(groups, return_inverse=True)[1]
    labels = Labels(tuple(range(int(codes.max(initial=0)) + 1)), codes)
    posterior, exposures = view.posterior, view.matrix.exposures
    part = LabelledMatrix(
        view.matrix.values[:, which][samples], labels, None, None,
        None if exposures is None else exposures[samples], view.matrix.levels,
    )  # fmt: skip
    model = posterior.model.take(which, posterior.n_features)
    patterns = Patterns.of("distinct", labels.classes)
    handling = DegeneratePolicy("floor", None, part, None, warns=False)
    ready = prepare(model, model.summarise(part, missing="omit"), patterns, handling)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = compare(ready.evidences, patterns)
    return np.where(ready.excluded | np.isnan(found), 0.0, found)
