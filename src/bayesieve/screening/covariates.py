"""Comparisons given covariates: the design checked, values adjusted, and residuals dealt anew instead of labels.

Labels that go with a covariate must not be shuffled alone: that would take the covariate's effect for noise.
Freedman
and Lane (1983) deal the residuals of a regression on the covariates, without the classes, among the samples, whose
labels and covariates stay together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from bayesieve.data import (
    Covariates,
    LabelledMatrix,
    Labels,
    covariate_columns,
    named_columns,
    plain_name,
)
from bayesieve.models import Model, size_of_difference
from bayesieve.posterior import Adjustment
from bayesieve.screening.inputs import BLOCK, ScreenInput, Shufflable
from bayesieve.screening.lazy_table import Columns, Plan
from bayesieve.screening.second_look import AdjustedBlocks
from bayesieve.screening.summarised_table import SummarisedTable
from bayesieve.stats import (
    AdjustedMoments,
    DesignMoments,
    Moments,
    Shape,
    adjusted_values,
    full_rank,
    shared_slopes,
)
from bayesieve.utils import (
    BayesieveWarning,
    CalibrationWarning,
    FloatArray,
    IntArray,
    OptionError,
    Wording,
    did_you_mean,
    join_words,
    list_names,
    option,
    warn,
)

_LITTLE = 0.2  # of the comparison that covariates leave: below, say so
_SAME = 1e-9  # of the variation of a column that others leave: it is their sum
_LEAST_LEFT = 2  # degrees of freedom


@dataclass(frozen=True, slots=True, eq=False)
class ResidualRows(Shufflable):
    """Samples whose residuals, given their covariates, can be dealt anew.

    Parameters
    ----------
    covariates
        Samples x columns, in the order of the labels.
    slopes
        Slopes without the classes, columns x features.
    held
        The residuals, once they are needed.
    """

    covariates: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    slopes: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    held: list[LabelledMatrix] = field(default_factory=list)

    @property
    def scheme(self) -> str:
        """What is shuffled."""
        return "residuals"

    def draw(self, n: int, seed: Any) -> tuple[list[IntArray], bool]:
        """Draw orders of the samples, within strata."""
        rng = np.random.default_rng(seed)
        found = []
        for _ in range(n):
            order = np.arange(self.matrix.n_samples)
            for part in self._strata():
                order[part] = rng.permutation(part)
            found.append(order)
        return found, False

    def relabelled(self, codes: IntArray, model: Model) -> ScreenInput:
        """Return the data of a screen whose labels and covariates meet other residuals."""
        labels = Labels(self.matrix.labels.classes, self.matrix.labels.codes[codes])
        if not self.held:
            values = adjusted_values(self.matrix, self.covariates, self.slopes)
            self.held.append(replace(self.matrix, values=values))
        matrix = replace(self.held[0], labels=labels)
        shape = model.supports("effect-sizes")
        design = DesignMoments.from_labelled(matrix, self.covariates[codes], missing="omit", shape=shape)
        return ScreenInput(matrix, AdjustedMoments.of(design), matrix.feature_names, samples={None: labels.counts})


def plan_covariates(given: Any, X: Any) -> Plan | None:
    """Say what a table in blocks is summed with, if there are covariates."""
    if given is None:
        return None

    def plan(labels: Labels, strata: tuple[Any, ...] | None) -> Columns:
        covariates = Covariates.of(with_blocks(covariate_columns(given, X, labels.codes.size), strata))
        check_design(covariates, labels)
        return Columns(labels, covariates.names, covariates.values)

    return plan


def with_blocks(columns: dict[str, Any], strata: Sequence[Any] | None) -> dict[str, Any]:
    """Return columns of covariates with one for the blocks."""
    return columns if strata is None else {**columns, f"C({BLOCK})": list(map(str, strata))}


def covariates_of(found: ScreenInput, given: Any, X: Any) -> Covariates:
    """Return the covariates of a screen, given or of the table that was read with them."""
    samples = found.shufflable or found.summed
    n = 0 if samples is None else samples.labels.codes.size
    columns = getattr(found.table, "covariates", None)
    if given is not None and isinstance(X, SummarisedTable):
        if columns or found.shufflable is None or (names := named_columns(given)) is None:
            raise OptionError(
                "The table already holds its covariates; name columns of the table or its label file in "
                "read_table.",
                kind="covariates",
            )
        known = getattr(X, "sample_columns", {})
        absent = [name for name in names if plain_name(name) not in known]
        if absent:
            raise OptionError(
                f"The table has no column {absent[0]!r} about its samples."
                f"{did_you_mean(absent[0], known)} It has: {list_names(list(known))}.",
                kind="covariates",
            )
        columns = {name: [cell or None for cell in known[plain_name(name)]] for name in names}
    elif given is not None:
        columns = covariate_columns(given, X, n)
    return Covariates.of(with_blocks(dict(columns or {}), None if samples is None else samples.strata))


def to_be_checked(found: ScreenInput) -> ScreenInput:
    """Return the data whose values are looked at again: adjusted ones, not residuals."""
    given = 0 if found.covariates is None else len(found.covariates)
    given += found.outcome is not None
    if not given or not isinstance(found.table, LabelledMatrix):
        return found
    return replace(found, shufflable=Shufflable(found.table, n_factors=given))


def adjustment(found: ScreenInput, unadjusted: Callable[[], FloatArray]) -> tuple[Adjustment, ...]:
    """Say what was adjusted for, and what came of it; nothing without covariates.

    Parameters
    ----------
    found
        The data, adjusted.
    unadjusted
        Gives log Bayes factors without covariates.
    """
    covariates = found.covariates
    if covariates is None or found.outcome is not None or found.within is not None:
        return ()
    moments = cast("AdjustedMoments", found.statistics)
    design = cast("DesignMoments", moments.design)
    slopes = shared_slopes(design) / covariates.units[:, None]
    sizes = np.empty(0)
    if len(moments.classes) == 2:
        sizes = np.broadcast_to(size_of_difference(design), (moments.n_features,))
    counts = np.broadcast_to(moments.counts, moments.mean.shape).sum(axis=0)
    alone = one_class_levels(covariates, cast("LabelledMatrix | AdjustedBlocks", found.table).labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesieveWarning)  # they would be about another comparison
        before = unadjusted()
    freedom = counts - len(moments.classes) - len(covariates)
    about = covariates.values * covariates.units
    told = (covariates.describe(), covariates.names, slopes, before, sizes, freedom, tuple(alone), about)
    return (Adjustment(*told),)


def refuse_others(own: str, found: ScreenInput, asked: Mapping[str, Any]) -> None:
    """Raise if something is asked for that does not go with an option."""
    for name, value in (*asked.items(), ("pairs", found.n_pairs)):
        if value is not None and value is not False and not (isinstance(value, int) and value == 0):
            raise OptionError(
                option(own), " does not go with ", option(name), ".", hint="Leave one of them out.", kind="options"
            )


def given_covariates(
    found: ScreenInput, model: Model, given: Any, X: Any, asked: Mapping[str, Any], n_threads: int | None = None
) -> ScreenInput:
    """Return the data of a screen given covariates of the samples; as they are without any.

    Parameters
    ----------
    found
        The data, with their values.
    model
        The model, of Gaussian data.
    given, X
        Covariates and table as they were given.
    asked
        Other options that do not go with covariates.
    n_threads
        Threads.
    """
    if found.within is not None or (given is None and not getattr(found.table, "covariates", None)):
        return found
    refuse_others("covariates", found, asked)
    if not (model.supports("effect-sizes") or model.supports("floors")):
        raise OptionError(
            option("covariates"),
            f" adjusts the means of Gaussian data by slopes; {type(model).__name__} has none.",
            hint=("Compare within groups of samples that are alike: ", option("blocks"), "."),
            kind="capability",
        )
    samples = found.shufflable
    if samples is None and found.summed is None:
        raise OptionError(
            option("covariates"),
            " needs the samples; a statistics file holds the covariates that bayesieve stats was given.",
            hint=("Give the table itself, with more ", Wording("memory", "--memory"), " if it is large."),
            kind="capability",
        )
    covariates = covariates_of(found, given, X)
    if samples is None:
        return _of_sums(found, model, covariates)
    matrix = samples.matrix
    check_design(covariates, matrix.labels)
    Z, names = covariates.values, covariates.names
    design = DesignMoments.from_labelled(matrix, Z, names=names, missing="omit", n_threads=n_threads, shape=False)
    slopes = shared_slopes(design)
    adjusted = replace(matrix, values=adjusted_values(matrix, Z, slopes))
    powers = Shape.of(adjusted, n_threads) if model.supports("effect-sizes") else None
    moments = AdjustedMoments.of(design, powers, np.zeros(len(covariates)), slopes)
    return replace(
        found,
        blocked={},
        table=adjusted,
        statistics=moments,
        shufflable=ResidualRows(matrix, samples.strata, covariates=Z, slopes=shared_slopes(design.pool())),
        covariates=covariates,
    )


def adjusted_statistics(matrix: LabelledMatrix, covariates: FloatArray, model: Model) -> Moments:
    """Moments of a table adjusted for covariates of its samples, as a screen has them."""
    design = DesignMoments.from_labelled(matrix, covariates, missing="omit", shape=False)
    slopes, powers = shared_slopes(design), None
    if model.supports("effect-sizes"):
        powers = Shape.of(replace(matrix, values=adjusted_values(matrix, covariates, slopes)))
    return AdjustedMoments.of(design, powers, covariates.mean(axis=0), slopes)


def _of_sums(found: ScreenInput, model: Model, covariates: Covariates) -> ScreenInput:
    """Return the data of a screen given covariates that the samples were summed with."""
    summed = found.summed
    assert summed is not None
    assert found.table is not None
    check_design(covariates, summed.labels)
    design = summed.design(covariates)
    adjusted = AdjustedBlocks(found.table, summed.labels, covariates.values, shared_slopes(design))
    powers = adjusted.powers() if model.supports("effect-sizes") else None
    moments = AdjustedMoments.of(design, powers, np.zeros(len(covariates)), adjusted.slopes)
    return replace(found, blocked={}, table=adjusted, statistics=moments, covariates=covariates)


def check_design(covariates: Covariates, labels: Labels) -> None:
    """Raise if covariates tell the classes or each other; warn if little of the comparison is left."""
    Z, codes = covariates.values, labels.codes
    n, p = Z.shape
    twice = _explained(np.column_stack([np.ones(n), Z]))
    if twice is not None:
        _raise_collinear(covariates, twice - 1)
    taken = len(labels.classes) + p
    if n - taken < _LEAST_LEFT:
        raise OptionError(
            f"{n} samples are too few for {len(labels.classes)} classes and {p} columns of covariates "
            f"({list_names(covariates.names, 6)}): {max(n - taken, 0)} degrees of freedom would be left. Leave "
            "covariates "
            "out, or merge levels.",
            kind="covariates",
        )
    classes = (codes[:, None] == np.arange(1, len(labels.classes))).astype(np.float64)
    left = (
        classes
        - np.column_stack([np.ones(n), Z])
        @ np.linalg.lstsq(np.column_stack([np.ones(n), Z]), classes, rcond=None)[0]
    )
    centred = classes - classes.mean(axis=0)
    share = (left**2).sum(axis=0) / (centred**2).sum(axis=0)
    confounded = not bool(full_rank(left.T @ left).all()) or bool((share < _SAME).any())
    if confounded:
        _raise_confounded(covariates, labels)
    worst = int(share.argmin())
    if share[worst] < _LITTLE:
        label = labels.classes[worst + 1]
        what = "the classes" if len(labels.classes) == 2 else f"class {label!r}"
        warn(
            CalibrationWarning,
            f"Covariates ({join_words(covariates.covariates)}) go so closely with {what} that "
            f"{share[worst]:.0%} of the "
            "comparison is left: what differs at equal covariates can hardly be told.",
            hint="Leave out what is part of what the classes are.",
            kind="confounded",
        )


def one_class_levels(covariates: Covariates, labels: Labels) -> list[str]:
    """Levels of covariates whose samples are all of one class: they say nothing about a difference."""
    found = []
    for name, levels in covariates.levels.items():
        columns = {covariates.names[k]: covariates.values[:, k] > 0 for k in range(len(covariates))}
        rest = np.ones(labels.codes.size, np.bool_)
        for level in levels[1:]:
            rest &= ~columns[f"{name}={level}"]
        for level in levels:
            rows = columns.get(f"{name}={level}", rest) if level != levels[0] else rest
            classes = np.unique(labels.codes[rows])
            if classes.size == 1:
                found.append(f"{name} {level} ({int(rows.sum())} of {labels.classes[int(classes[0])]})")
    return found


def _explained(columns: FloatArray) -> int | None:
    """Return the first column that is a sum of those before it."""
    basis = np.empty((columns.shape[0], 0))
    for k in range(columns.shape[1]):
        column = columns[:, k] / np.linalg.norm(columns[:, k])
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size < _SAME**0.5:
            return k
        basis = np.column_stack([basis, rest / size])
    return None


def _raise_collinear(covariates: Covariates, k: int) -> None:
    name = covariates.sources[k]
    earlier = covariates.covariates[: covariates.covariates.index(name)]
    told = f"by {join_words(map(repr, earlier))}" if earlier else "by its other levels"
    raise OptionError(
        f"Covariate {name!r} is determined {told} (column {covariates.names[k]!r} is a sum of theirs), so that "
        "their "
        "effects cannot be told apart. Leave one of them out of ",
        option("covariates"),
        ".",
        kind="covariates",
    )


def _raise_confounded(covariates: Covariates, labels: Labels) -> None:
    """Name the covariate that tells the classes; all of them if none does so alone."""
    guilty = []
    for name in covariates.covariates:
        own = [k for k, source in enumerate(covariates.sources) if source == name]
        flat = np.column_stack([np.ones(labels.codes.size), covariates.values[:, own]])
        classes = (labels.codes[:, None] == np.arange(1, len(labels.classes))).astype(np.float64)
        left = classes - flat @ np.linalg.lstsq(flat, classes, rcond=None)[0]
        if not full_rank(left.T @ left).all() or ((left**2).sum(axis=0) < _SAME * len(left)).any():
            guilty.append(name)
    named = join_words(map(repr, guilty or covariates.covariates))
    many = len(guilty) > 1 or not guilty
    raise OptionError(
        f"Covariate{'s' * many} {named} {'determine' if many else 'determines'}{'' if guilty else ' together'} "
        "the class of "
        "every sample: a difference between the classes cannot be told from one between its levels, whatever "
        "the method. "
        "Leave it out of ",
        option("covariates"),
        " and say so, or get samples that break the tie.",
        kind="confounded",
    )
