"""screen_groups(): markers of each of many groups, against the rest or against each other, from one reading."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Block, Label, ValueBlocks, aligned
from bayesieve.models import Model, Patterns, compare
from bayesieve.posterior import (
    ESTIMATE,
    FeaturePosterior,
    ShuffledLabels,
    check_log_odds,
    estimate_share,
    no_shuffles,
)
from bayesieve.screening.degenerate import DegeneratePolicy, prepare, settle
from bayesieve.screening.group_markers import EACH, LOG_SCALES, REST, GroupMarkers
from bayesieve.screening.inputs import ScreenInput, Shufflable, check_model
from bayesieve.screening.shuffles import Progress, believe_estimate, number_of_shuffles, times_to_shuffle
from bayesieve.screening.table_input import screen_input
from bayesieve.screening.value_advice import warn_about_values
from bayesieve.stats import ClassStatistics, Moments, as_moments, largest_counts
from bayesieve.utils import (
    FLAGGED,
    BayesieveWarning,
    CalibrationWarning,
    DegenerateFeatureWarning,
    FloatArray,
    LabelError,
    OptionError,
    check_choice,
    list_names,
    option,
    warn,
)

_MOST = 5e7  # log-odds held together
_UNTIL_ESTIMATED = 0.01  # prior probability before it is estimated
Pairing = tuple[int, int | None]  # positions of a group and of its reference; None for the rest


def screen_groups(  # noqa: PLR0913 - all that can be said about a study
    X: Any,
    groups: Any = None,
    *,
    reference: Label = REST,
    only: Sequence[Label] | None = None,
    model: Model | None = None,
    prior_probability: npt.ArrayLike | str = 0.01,
    feature_names: Sequence[str] | None = None,
    exposures: Any = None,
    missing: str = "raise",
    log_scale: str | None = None,
    log_base: float | None = None,
    n_threads: int | None = None,
    shuffles: int | str | None = "auto",
    seed: Any = 0,
    progress: Progress | None = None,
) -> GroupMarkers:
    r"""Find the markers of each of many groups (clusters, cell types) of samples, with one budget for all of them.

    The values are read once, however many groups there are: statistics of the groups merge into those of the
    rest. Every comparison is that of :func:`screen` with two classes, to rounding. A rule is applied once to the
    log-odds of all groups and features together.

    Groups that were found by clustering the same values differ in these values by construction. Neither these
    probabilities nor shuffled labels see that: they order the features that make up a cluster, and do not say that
    there is one.

    Parameters
    ----------
    X
        Samples x features, as for :func:`screen`: an array, a frame, a CSR or CSC matrix, what :func:`read_table`
        returns, or ready statistics of the groups.
    groups
        Group of every sample; two or more. A table that was read knows them already.
    reference
        ``"rest"``: each group is compared with all other samples. ``"each"``: with each other group. Or the name
        of one group, with which all others are compared.
    only
        Groups whose markers are wanted; all by default. The rest is always all other samples.
    model
        Likelihood and priors, :class:`CalibratedModel` by default; what it takes from the data it takes from
        each comparison.
    prior_probability
        Share of features believed to be markers of a group: a number, one per feature, or ``"estimate"``.
    feature_names
        Names; taken from a data frame, otherwise ``x0``, ``x1``, ...
    exposures
        For counts: a positive number per sample.
    missing
        ``"raise"`` or ``"omit"``, as for :func:`screen`.
    log_scale
        Declares that values are logarithms, so that fold changes can be told: ``"log1p"`` (of 1 + value),
        ``"log2"``, ``"ln"`` or ``"log10"``. A table read with ``transform="log1p"`` or ``"log2"`` says so itself.
    log_base
        Base of ``"log1p"``, e by default.
    n_threads
        Threads, all cores by default; the result does not depend on it.
    shuffles
        How often everything is repeated with the groups of the samples shuffled: 20 to 100 times by the size of
        the table, or a number, 0 for never.
    seed, progress
        Of the shuffles, as for :func:`screen`.

    Returns
    -------
    GroupMarkers
        Log-odds, directions and differences of all groups; ``select(rule)`` makes the lists.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> X, clusters = rng.normal(size=(300, 200)), np.repeat(["B", "NK", "T"], 100)
    >>> X[clusters == "B", 0] += 2.0
    >>> X[clusters == "T", 1] -= 2.0
    >>> found = bs.screen_groups(X, clusters).select(bs.MinimalRisk(0.9))
    >>> found.names("B"), found.names("T")
    (('x0', 'x1'), ('x1', 'x0'))
    """
    model = check_model(model)
    if model.difference != "any":
        raise OptionError(
            f"Groups are compared by any difference, not by that of the {model.difference}: each against the rest "
            "is uneven, and shuffles of all groups at once would not keep their variances.",
            hint=f"Compare two classes: screen(X, y, difference={model.difference!r}).", kind="capability",
        )  # fmt: skip
    found = screen_input(
        X,
        groups,
        model,
        None,
        feature_names,
        missing,
        n_threads,
        None,
        None,
        aligned(X, exposures, "exposures"),
        progress=progress,
    )
    if found.blocked or found.n_pairs:
        raise OptionError(
            "Groups are compared without blocks and pairs.",
            hint="Leave them out, or compare two classes with screen().",
            kind="capability",
        )
    plan = ComparisonPlan.of(found, reference, only)
    scale, base = _log_scale(found, log_scale, log_base)
    estimated = isinstance(prior_probability, str) and prior_probability == ESTIMATE
    samples = found.samples_to_shuffle(shuffles)
    n_shuffles = 0 if samples is None else number_of_shuffles(shuffles, samples.matrix.n_samples, plan.n_features)
    if estimated and not n_shuffles:
        raise no_shuffles()
    prior = check_log_odds(_UNTIL_ESTIMATED if estimated else prior_probability, plan.n_features)
    prior = prior if isinstance(prior, float) else np.tile(prior, len(plan.pairings))
    warn_about_values(found, model, stepped=True)  # values of cells rest on 0 by nature
    compared = plan.compare(model, found, detail=True)
    _tell(compared, plan)
    posterior = FeaturePosterior(
        compared.log_bayes_factor.reshape(-1), prior, None, compared.flags.reshape(-1), found.statistics, model
    )
    if n_shuffles and samples is not None:
        shuffled = _shuffle(samples, model, plan, posterior, n_shuffles, seed, progress)
        posterior = replace(posterior, shuffled=shuffled)
        posterior = believe_estimate(posterior) if estimated else posterior
    elif samples is None and shuffles not in (0, None, False):
        _say_unshuffled(found) if found.relabels is None else times_to_shuffle(found, model, shuffles)
    return GroupMarkers(
        plan.names, reference, posterior, found.names or tuple(f"x{i}" for i in range(plan.n_features)),
        found.statistics, compared.difference, compared.reference_mean, scale, base,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ComparedGroups:
    """What all comparisons give, each ``(n_comparisons, n_features)``.

    Parameters
    ----------
    log_bayes_factor, flags
        Evidence, and a :class:`~bayesieve.models.gaussian.degenerate.Degeneracy`.
    difference, reference_mean
        Group minus reference, and the mean of the reference; None where the statistics are no means.
    """

    log_bayes_factor: FloatArray
    flags: npt.NDArray[np.int8]
    difference: FloatArray | None = None
    reference_mean: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonPlan:
    """Which groups are compared with what.

    Parameters
    ----------
    classes, n_features
        Of the data.
    pairings
        Positions of groups and references.
    rest
        What the rest is called: no group has this name.
    """

    classes: tuple[Label, ...]
    n_features: int
    pairings: tuple[Pairing, ...]
    rest: str

    @classmethod
    def of(cls, found: ScreenInput, reference: Label, only: Sequence[Label] | None) -> ComparisonPlan:
        """Plan what a user asks for."""
        classes, n_features = found.statistics.classes, found.statistics.n_features
        places = range(len(classes))
        n_single = sum(n < 2 for n in largest_counts(found.statistics))
        if 2 * n_single > len(classes) > 2:
            raise LabelError(
                f"{n_single:,} of the {len(classes):,} groups hold one sample. If the labels are measurements or "
                "ids, they are no groups: turn them into some first, or name another column.",
                kind="no-groups",
            )
        wanted = set(places) if only is None else {_position(classes, label, "only") for label in only}
        if isinstance(reference, str) and reference == REST:
            pairings: list[Pairing] = [(k, None) for k in sorted(wanted)]
        elif isinstance(reference, str) and reference == EACH:
            pairings = [(k, j) for k in places for j in places if k < j and (k in wanted or j in wanted)]
        else:
            other = _position(classes, reference, "reference")
            pairings = [(k, other) for k in sorted(wanted - {other})]
        if not pairings:
            raise LabelError("No group is left to compare with the reference. Name other groups.", kind="groups")
        if len(pairings) * n_features > _MOST:
            raise OptionError(
                f"{len(pairings):,} comparisons of {n_features:,} features are too many to hold in memory. "
                "Compare with ",
                option("reference", REST),
                ", with one group, or name fewer groups.",
                kind="too-many",
            )
        rest = REST
        while rest in map(str, classes):
            rest = f"the {rest}"
        return cls(classes, n_features, tuple(pairings), rest)

    @property
    def names(self) -> tuple[tuple[Label, Label], ...]:
        """Labels of every group and its reference."""
        return tuple((self.classes[k], self.rest if j is None else self.classes[j]) for k, j in self.pairings)

    def two_classes(self, statistics: ClassStatistics) -> Iterator[Any]:
        """Statistics of every comparison: first those of the reference, then those of the group."""
        single = [statistics.pick([label]) for label in self.classes]
        if self.pairings[0][1] is not None:
            yield from (_side_by_side(single[j], single[k]) for k, j in self.pairings if j is not None)
            return
        parts, wanted = [each.renamed([self.rest]) for each in single], {k for k, _ in self.pairings}
        after: list[Any] = [None] * len(parts)
        for k in range(len(parts) - 2, -1, -1):
            after[k] = _merged(parts[k + 1], after[k + 1])
        before = None
        for k, part in enumerate(parts):  # the rest is merged from both sides: nothing is subtracted
            if k in wanted:
                yield _side_by_side(_merged(before, after[k]), single[k])
            after[k], before = None, _merged(before, part)

    def compare(self, model: Model, data: ScreenInput, *, detail: bool = False) -> ComparedGroups:
        """Compare every group with its reference, by the way of a screen of two classes."""
        shape = (len(self.pairings), self.n_features)
        log_bf, flags = np.empty(shape), np.zeros(shape, np.int8)
        gaussian = detail and as_moments(data.statistics) is not None
        difference, means = (np.empty(shape), np.empty(shape)) if gaussian else (None, None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesieveWarning)  # one for all is said in the end
            pairs = self.two_classes(data.statistics)
            for i, (pairing, pair) in enumerate(zip(self.pairings, pairs, strict=True)):
                table = None
                if data.table is not None and model.supports("floors"):
                    table = _Regrouped.of(data.table, pairing, len(self.classes))
                log_bf[i], flags[i] = _evidence(model, pair, table, data.names)
                if difference is not None and means is not None:
                    difference[i], means[i] = pair.mean_difference, pair.mean[0]
        if difference is None and detail:
            difference = self._rate_ratios(data.statistics)
        return ComparedGroups(log_bf, flags, difference, means)

    def _rate_ratios(self, statistics: ClassStatistics) -> FloatArray | None:
        """Log rate ratios of counts; None for categories."""
        columns = [pair.describe(["0", "1"]).get("log_rate_ratio") for pair in self.two_classes(statistics)]
        return None if any(column is None for column in columns) else np.array(columns)


def _merged(first: Any, second: Any) -> Any:
    return second if first is None else first if second is None else first.merge(second)


def _side_by_side(first: Any, second: Any) -> Any:
    """Statistics of two classes, in this order."""
    classes = (first.classes[0], second.classes[0])
    if not isinstance(first, Moments):
        return first.merge(second).pick(classes)
    names = ("count", "mean", "centred_squares", "residual")
    arrays = (np.concatenate([getattr(first, name), getattr(second, name)]) for name in names)
    one, two = first.shape(), second.shape()
    shape = None
    if one is not None and two is not None:
        shape = tuple(np.concatenate(each) for each in zip(one, two, strict=True))
    return Moments.trusted(classes, *arrays, shape=shape)


def _evidence(
    model: Model, pair: Any, table: ValueBlocks | None, names: tuple[str, ...] | None
) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Log Bayes factors of two classes, and which features are degenerate."""
    patterns = Patterns.of("any", pair.classes)
    handling = DegeneratePolicy(table=table, names=names, warns=False)
    ready = prepare(model.holding().estimate([pair]), pair, patterns, handling)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_bf = compare(ready.evidences, patterns)
    return settle(log_bf, ready, names)


@dataclass(frozen=True, slots=True, eq=False)
class _Regrouped:
    """A table of which two groups are looked at; the reference is class 0."""

    table: ValueBlocks
    lookup: npt.NDArray[np.int64]

    @classmethod
    def of(cls, table: ValueBlocks, pairing: Pairing, n_classes: int) -> _Regrouped:
        lookup = np.full(n_classes, 0 if pairing[1] is None else -1, np.int64)
        lookup[pairing[0]] = 1
        if pairing[1] is not None:
            lookup[pairing[1]] = 0
        return cls(table, lookup)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.table.feature_names

    def blocks(self, which: npt.NDArray[np.int64]) -> Iterator[Block]:
        for block in self.table.blocks(which):
            codes = self.lookup[block.codes]
            yield Block(codes[codes >= 0], block.first, block.values[codes >= 0])


def _shuffle(
    samples: Shufflable,
    model: Model,
    plan: ComparisonPlan,
    posterior: FeaturePosterior,
    n_shuffles: int,
    seed: Any,
    progress: Progress | None,
) -> ShuffledLabels | None:
    """Compare again with shuffled groups: one more reading of the values for each shuffle."""
    quick, (labellings, complete) = model.quick(), samples.draw(n_shuffles, seed)
    if not labellings:
        return None
    prior: Any = posterior.prior_log_odds
    by_feature, shares = isinstance(prior, np.ndarray), []

    def evidence() -> Iterator[FloatArray]:
        for done, data in enumerate(samples.relabel(labellings, quick)):
            values = plan.compare(quick, data).log_bayes_factor.reshape(-1)
            shares.append(estimate_share(values))
            yield values + prior if by_feature else values
            if progress is not None:
                progress(done + 1, len(labellings))

    own = posterior.log_bayes_factor
    least = float(np.min(prior, where=np.isfinite(prior), initial=np.inf)) if by_feature else 0.0
    made = ShuffledLabels.collect(
        own + prior if by_feature else own, evidence(), complete=complete, by_feature=by_feature, least=least
    )
    return made.with_shares(estimate_share(own), shares, own.size)


def _position(classes: tuple[Label, ...], label: Label, what: str) -> int:
    """Position of a group, told by its label or by the text of it."""
    if label in classes:
        return classes.index(label)
    texts = [str(each) for each in classes]
    if str(label) in texts and texts.count(str(label)) == 1:
        return texts.index(str(label))
    known = f"'{REST}', '{EACH}' or a group" if what == "reference" else "a group"
    raise LabelError(
        option(what, label), f" names no group: it is {known}, and the groups are {list_names(classes)}.",
        kind="unknown-label",
    )  # fmt: skip


def _log_scale(found: ScreenInput, scale: str | None, base: float | None) -> tuple[str | None, float | None]:
    """What the values are logarithms of, as declared; a transformation of a file declares it, too."""
    if scale is None:
        known = {"log2": "log2", "log1p": "log1p"}
        return known.get(found.transform or ""), None
    check_choice("log_scale", scale, LOG_SCALES)
    if base is not None and (scale != "log1p" or not base > 1.0):
        raise OptionError("log_base is the base of log1p, a number over 1.", kind="options")
    return scale, base


def _tell(compared: ComparedGroups, plan: ComparisonPlan) -> None:
    """Warn once of features about which no comparison can say anything."""
    silent = ((compared.flags != 0) & (compared.log_bayes_factor == 0.0)).all(axis=0)
    if silent.any():
        warn(
            DegenerateFeatureWarning,
            f"{int(silent.sum()):,} of {plan.n_features:,} features have no usable variance (they are constant, "
            "or have too few values); they are ",
            FLAGGED,
            " and left at the prior.",
            kind="degenerate",
        )


def _say_unshuffled(found: ScreenInput) -> None:
    """Say so where there were samples to shuffle, but their values are not at hand any more."""
    if not sum(getattr(found.table, "class_counts", {}).values()):
        return
    warn(
        CalibrationWarning,
        "The values of the table were not kept in memory, so that groups could not be shuffled: numbers of false "
        "positives are those of the model alone.",
        hint=("Read the table with more memory, or say ", option("shuffles", 0), "."),
        kind="not-shuffled",
    )
