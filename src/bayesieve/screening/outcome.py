"""Trends: features that change with an outcome (dose, age, stage), instead of differing between classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np

from bayesieve.data import Covariates, LabelledMatrix, Labels, covariate_columns
from bayesieve.models import Model
from bayesieve.posterior import TrendSlopes
from bayesieve.screening.covariates import ResidualRows, covariates_of, with_blocks
from bayesieve.screening.inputs import ScreenInput
from bayesieve.screening.lazy_table import Columns, Plan
from bayesieve.screening.second_look import AdjustedBlocks
from bayesieve.stats import DesignMoments, Moments, Slopes, TrendMoments, adjusted_values, full_rank, shared_slopes
from bayesieve.utils import FloatArray, IntArray, LabelError, OptionError, Wording, list_names, option

_MOST_LEVELS = 8  # that are shown, and whose variances are compared, as they are
_GROUPS = 3  # of samples, where there are more
_LEAST_VALUES = 3
_PLAINLY, _SHARED = 10, 5  # different numbers, each of few samples: a quantity rather than classes


@dataclass(frozen=True, slots=True, eq=False)
class TrendRows(ResidualRows):
    """Samples whose values, or residuals given covariates, can be dealt anew along an outcome.

    Parameters
    ----------
    outcome
        One number per sample.
    levels
        Whether the samples of a group have the same outcome.
    """

    outcome: FloatArray | None = None
    levels: bool = False

    @property
    def scheme(self) -> str:
        """What is shuffled."""
        given = bool(self.covariates.shape[1])
        return "residuals" if given else "batches" if self.strata is not None else "samples"

    def relabelled(self, codes: IntArray, model: Model) -> ScreenInput:
        """Return the data of a screen whose outcomes meet other values."""
        del model
        assert self.outcome is not None
        labels = Labels(self.matrix.labels.classes, self.matrix.labels.codes[codes])
        matrix = replace(self.matrix, labels=labels)
        moments = TrendMoments.along(matrix, self.outcome[codes], self.covariates[codes], levels=self.levels)
        return ScreenInput(matrix, moments, matrix.feature_names, samples={None: labels.counts})


def outcome_or_labels(y: Any, outcome: Any, pairs: Any) -> Any:
    """Return what the samples are compared by: classes, or an outcome in their place."""
    if outcome is None:
        return y
    if pairs is not None:
        raise OptionError(
            option("outcome"), " does not go with ", option("pairs"), ", whose samples are of two classes.",
            hint=("Give every subject a location of its own: ", option("covariates"), "."), kind="options",
        )  # fmt: skip
    if y is not None:
        raise OptionError(
            "Give either classes or an outcome: ", option("outcome"), " takes the place of the labels.",
            kind="options",
        )  # fmt: skip
    return outcome


def along_outcome(
    found: ScreenInput,
    model: Model,
    given: Any,
    X: Any,
    asked: Mapping[str, Any],
    *,
    ordered: bool,
    n_threads: int | None = None,
) -> ScreenInput:
    """Return the data of a screen along an outcome, whose values are the labels of the samples.

    Parameters
    ----------
    found
        The data, with their values.
    model
        The model: the calibrated one.
    given, X
        Covariates and table as they were given.
    asked
        Other options that do not go with an outcome.
    ordered
        Whether the order of the classes was given.
    n_threads
        Threads.
    """
    for name, value in (*asked.items(), ("pairs", found.n_pairs)):
        if value is not None and value is not False and not (isinstance(value, int) and value == 0):
            raise OptionError(
                option("outcome"), " does not go with ", option(name), ".", hint="Leave one of them out.",
                kind="options",
            )  # fmt: skip
    model.require(
        "effect-sizes",
        option("outcome"),
        " belongs to the calibrated prior of Gaussian data.",
        hint=("Leave ", Wording("the model", "--model and --prior"), " out, or compare classes."),
    )
    samples = found.shufflable or found.summed
    if samples is None:
        raise OptionError(
            option("outcome"),
            " needs the samples: their values in memory, or a table in blocks.",
            hint=("Give the table itself, with more ", Wording("memory", "--memory"), " if it is large."),
            kind="capability",
        )
    covariates = None
    if given is not None or getattr(found.table, "covariates", None) or samples.strata is not None:
        covariates = covariates_of(found, given, X)
    along = _Along.of(samples.labels, covariates, ordered=ordered)
    values, groups, outcome, levels = along.values, along.groups, along.outcome, along.levels
    if found.shufflable is None:
        return _of_sums(found, along, covariates)
    samples = found.shufflable
    matrix = replace(samples.matrix, labels=groups)
    Z = np.empty((values.size, 0)) if covariates is None else covariates.values
    moments = TrendMoments.along(matrix, outcome, Z, levels=levels, n_threads=n_threads)
    table, residuals = matrix, matrix
    if covariates is not None:
        table = replace(matrix, values=adjusted_values(matrix, Z, shared_slopes(_design(moments))[1:]))
        reduced = TrendMoments.along(matrix, Z[:, 0], Z[:, 1:], n_threads=n_threads)
        residuals = replace(matrix, values=adjusted_values(matrix, Z, shared_slopes(_design(reduced))))
        moments = TrendMoments.along(matrix, outcome, Z, shown=table, levels=levels, n_threads=n_threads)
    rows = TrendRows(residuals, samples.strata, covariates=Z, outcome=outcome, levels=levels)
    return replace(
        found,
        blocked={},
        samples={None: groups.counts},
        table=table,
        statistics=moments,
        shufflable=rows,
        covariates=covariates,
        outcome=values,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Along:
    """The samples along an outcome.

    Parameters
    ----------
    values, outcome
        The outcome of every sample: as given, and about its mean in units of two standard deviations.
    groups
        Groups of samples to look at.
    scores
        Outcome of every group, if its samples have the same; else None.
    """

    values: FloatArray
    outcome: FloatArray
    groups: Labels
    scores: FloatArray | None

    @classmethod
    def of(cls, labels: Labels, covariates: Covariates | None, *, ordered: bool) -> _Along:
        """Read the outcome from the labels of the samples, and check that covariates do not tell it."""
        of_classes = _scores(labels, ordered=ordered)
        values = of_classes[labels.codes]
        groups = _groups(labels, of_classes)
        outcome = (values - values.mean()) / (2.0 * float(values.std()))
        if covariates is not None:
            _check_regression(covariates, outcome)
        scores = None
        if len(groups.classes) == len(labels.classes):
            scores = np.array([outcome[groups.codes == k].mean() for k in range(len(groups.classes))])
        return cls(values, outcome, groups, scores)

    @property
    def levels(self) -> bool:
        """Whether the samples of a group have the same outcome."""
        return self.scores is not None


def plan_outcome(given: Any, X: Any, *, ordered: bool) -> Plan:
    """Say what a table in blocks is summed with: the outcome and covariates, in groups along the outcome."""

    def plan(labels: Labels, strata: tuple[Any, ...] | None) -> Columns:
        columns = {} if given is None else covariate_columns(given, X, labels.codes.size)
        columns = with_blocks(columns, strata)
        covariates = Covariates.of(columns) if columns else None
        along = _Along.of(labels, covariates, ordered=ordered)
        if covariates is None:
            return Columns(along.groups, ("outcome",), along.outcome[:, None])
        values = np.column_stack([along.outcome, covariates.values])
        return Columns(along.groups, ("outcome", *(f"z{k}" for k in range(1, values.shape[1]))), values)

    return plan


def _of_sums(found: ScreenInput, along: _Along, covariates: Covariates | None) -> ScreenInput:
    """Return the data of a screen along an outcome that the samples were summed with."""
    assert found.summed is not None
    assert found.table is not None
    sums = found.summed.along(along.groups, along.outcome, covariates)
    moments = TrendMoments.of_groups(sums, along.scores)
    slopes = shared_slopes(_design(moments))[1:]
    Z = np.empty((along.values.size, 0)) if covariates is None else covariates.values
    table = AdjustedBlocks(found.table, along.groups, Z, slopes)
    if covariates is not None:
        moments = TrendMoments.of_groups(sums, along.scores, slopes, table.powers())
    return replace(
        found, blocked={}, samples={None: along.groups.counts}, table=table, statistics=moments,
        covariates=covariates, outcome=along.values,
    )  # fmt: skip


def trend_finding(found: ScreenInput, name: str) -> tuple[TrendSlopes, ...]:
    """Return slopes per unit of the outcome, if there is one."""
    if found.outcome is None:
        return ()
    moments, values = cast("TrendMoments", found.statistics), found.outcome
    design = _design(moments)
    fit, unit = Slopes.of(design), 2.0 * float(values.std())
    covariates = found.covariates
    of_covariates, about = np.empty((0, moments.n_features)), np.empty((values.size, 0))
    if covariates is not None:
        of_covariates = shared_slopes(design)[1:]
        about = covariates.values - covariates.values.mean(axis=0)
    groups = cast("LabelledMatrix | AdjustedBlocks", found.table).labels
    shape = fit.slope.shape
    return (
        TrendSlopes(
            name or "the outcome",
            (float(values.min()), float(values.max()), values.size),
            tuple(map(str, moments.classes)),
            fit.slope / unit,
            np.broadcast_to(fit.size, shape) * unit * unit,
            fit.left,
            np.broadcast_to(fit.freedom, shape),
            covariates.describe() if covariates is not None else "",
            of_covariates,
            about,
            groups.codes,
            variances=moments.scores is not None and covariates is None,
        ),
    )


def refuse_quantity(classes: Sequence[Any], n_samples: int, name: str = "") -> None:
    """Raise if labels are plainly a quantity: more different numbers than there could be classes."""
    if len(classes) <= _PLAINLY or not are_measured(classes) or _SHARED * len(classes) < n_samples:
        return
    column = name or "COLUMN"
    raise LabelError(
        f"The labels{f' ({name})' if name else ''} are {len(classes):,} different numbers in {n_samples:,} "
        "samples: a quantity, not classes.",
        hint=(
            "For features that change with it say ",
            Wording("screen(X, outcome=y)", f"--outcome {column}"),
            "; to compare groups, make a column of them first, such as ",
            Wording("y = y > 50", f"low and high, and say --labels {column}_group"),
            ".",
        ),
        kind="quantity",
    )


def are_measured(labels: Sequence[Any]) -> bool:
    """Whether labels are numbers, and not those of clusters, which count from 0 or 1."""
    numbers = _numbers(labels)
    return numbers is not None and (min(numbers) not in (0.0, 1.0) or bool((numbers % 1 != 0).any()))


def _check_regression(covariates: Covariates, outcome: FloatArray) -> None:
    """Raise if covariates tell each other, or the outcome."""
    n, p = covariates.values.shape
    centred = covariates.values - covariates.values.mean(axis=0)
    named = list_names(list(covariates.covariates), 6)
    if n - 2 - p < 1:
        raise OptionError(
            f"{n} samples are too few for a trend given {p} columns of covariates ({named}). Leave some out.",
            kind="covariates",
        )
    both = np.column_stack([outcome, centred])
    for columns, what in ((centred, "Covariates tell each other"), (both, "Covariates tell the outcome")):
        if not full_rank(columns.T @ columns).all():
            raise OptionError(
                f"{what} ({named}): one is a sum of the others, so that their effects cannot be told apart. Leave "
                "one out of ",
                option("covariates"),
                ".",
                kind="covariates",
            )


def _design(moments: Moments) -> DesignMoments:
    trend = cast("TrendMoments", moments).trend
    assert trend is not None
    return trend


def _numbers(labels: Sequence[Any]) -> FloatArray | None:
    try:
        numbers = np.array([float(label) for label in labels if not isinstance(label, (bool, np.bool_))])
    except (TypeError, ValueError):
        return None
    return numbers if numbers.size == len(labels) and np.isfinite(numbers).all() else None


def _scores(labels: Labels, *, ordered: bool) -> FloatArray:
    """Outcome of every class: its number, or its place in the order that was given."""
    numbers = _numbers(labels.classes)
    if numbers is None and not ordered:
        shown = list_names([str(label) for label in labels.classes], 4)
        raise LabelError(
            f"The outcome holds no numbers ({shown}), and their order was not given.",
            hint=(
                "Say it: ",
                Wording("classes=('low', 'middle', 'high')", '--classes "low; middle; high"'),
                ".",
            ),
            kind="outcome",
        )
    scores = np.arange(float(len(labels.classes))) if numbers is None else numbers
    values = np.unique(scores[labels.codes])
    if values.size < 2 or labels.codes.size < _LEAST_VALUES:
        raise LabelError(
            f"The outcome takes {values.size} value{'s' * (values.size != 1)} in {labels.codes.size} samples; a "
            "trend needs two values and three samples at least."
        )
    return scores


def _groups(labels: Labels, scores: FloatArray) -> Labels:
    """Samples in groups to look at: the levels of the outcome, or thirds of the samples if there are many."""
    used = np.unique(labels.codes)
    if used.size <= _MOST_LEVELS:
        order = used[np.argsort(scores[used], kind="stable")]
        place = np.full(len(labels.classes), -1)
        place[order] = np.arange(order.size)
        return Labels(tuple(labels.classes[k] for k in order.tolist()), place[labels.codes])
    values = scores[labels.codes]
    edges = np.unique(np.quantile(values, np.arange(1, _GROUPS) / _GROUPS, method="inverted_cdf"))
    edges = edges[edges < values.max()]
    names = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges)]
    classes = (f"up to {edges[0]:.4g}", *(f"over {each}" for each in names), f"over {edges[-1]:.4g}")
    return Labels(classes, np.searchsorted(edges, values, side="left"))
