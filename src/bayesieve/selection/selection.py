"""Selection: a list of features, its summary in words, and a hash of its content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models import SubjectComparison
from bayesieve.posterior import (
    Checks,
    ErrorAnalysis,
    FeaturePosterior,
    Tabular,
    expected_under_null,
    expit,
    logit,
    null_resolution,
    table_head,
)
from bayesieve.selection.count_test import LADDER, CountTest
from bayesieve.selection.false_positives import FalsePositiveEstimate
from bayesieve.stats import largest_counts
from bayesieve.utils import (
    Glimpse,
    Glimpsed,
    Late,
    LateMethod,
    Message,
    RuleError,
    Wording,
    expectation,
    join_words,
    plural,
)

_FAR_SHARE = 2.0  # times what was believed, or less than its inverse
_FAR = 1.5  # the model is contradicted by shuffled labels
_ADVICE = Message.of(
    "To get a list all the same: ",
    Wording("FixedSize(n) takes the n best", "--n-selected 20 takes the 20 best"),
    ", ",
    Wording("MinimalRisk with a lower threshold", "--threshold 0.2"),
    " accepts more false positives, and ",
    Wording("with_prior()", "a larger --prior-probability"),
    " re-weighs if more markers are believed in.",
    kind="nothing-selected",
)


def summary_lines(selection: Selection, *, classes: bool = True) -> list[Message]:
    """Sentences of :meth:`Selection.summary`, with the classes in the first or without them."""
    posterior = selection.posterior
    noun = "classes" if len(posterior.classes) > 1 else "pairs"
    groups = f"; {noun} {describe_groups(selection)}" if classes else ""
    first = f"{selection.n_selected:,} of {posterior.n_features:,} features selected ({selection.rule}){groups}."
    lines: list[str | Message] = [first, *error_lines(selection), *flag_lines(selection)]
    lines += [note for finding in posterior.findings for note in finding.notes()]
    return [Message.of(line) for line in (*lines, posterior.model.caveat) if line]


def describe_groups(selection: Selection) -> str:
    """Classes with their numbers of samples."""
    posterior = selection.posterior
    groups = [f"{c} ({n})" for c, n in zip(posterior.classes, largest_counts(posterior.statistics), strict=True)]
    return join_words(groups)


def error_lines(
    selection: Selection, under_null: float | None = None, *, if_nothing: Message = _ADVICE
) -> list[str | Message]:
    """Errors that are expected of the list, or why there is none, and markers expected among all features."""
    lines: list[str | Message] = [_nothing(selection), if_nothing]
    if selection.n_selected:
        lines = [*_errors(selection, under_null), *count_lines(selection)]
    elif selection.was_cut:
        lines = [*count_lines(selection)]
    expected = f"Expected markers among all features: {expectation(selection.posterior.expected_markers)}."
    return [*lines, expected, *_share_lines(selection.posterior)]


def _share_lines(posterior: FeaturePosterior) -> list[str]:
    """What the data suggest about the share of markers, where it is far from what was believed."""
    share, believed = posterior.estimated_share, 1.0 - posterior.null_share
    if share is None or posterior.shuffled is None or posterior.needs_own_evidence or not posterior.calibrated:
        return []
    if believed <= 0.0 or believed / _FAR_SHARE < share < believed * _FAR_SHARE:
        return []
    aside = f"({_percent(believed)} was believed)"
    if share <= posterior.shuffled.least_share:
        return [f"The share of markers among all cannot be told from none {aside}."]
    least = "at least " if posterior.shuffled.excess_share > share else ""
    return [f"The data suggest that {least}{_percent(share)} of the features are markers {aside}."]


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g}%"


def count_lines(selection: Selection) -> list[str]:
    """What the count test says of the list."""
    test = selection.count_test
    if test is None or not test.lengths[0]:
        return []
    shuffles, at = _shuffles(selection), test.stands_at
    as_long = f"{test.n_as_long[0]:,} of {shuffles}" if test.n_as_long[0] else f"none of {shuffles}"
    gives = "gives" if test.n_as_long[0] <= 1 else "give"
    if not test.can_stand:
        shuffled = selection.posterior.shuffled
        few = (
            f"There are only {test.n_shuffles:,} other ways to deal these labels"
            if shuffled is None or shuffled.complete
            else f"Labels were shuffled only {test.n_shuffles:,} times"
        )
        return [f"{few}, too few to test the list: {as_long} {gives} one as long."]
    if at == 0:
        return [f"The list stands: {as_long} {gives} one as long (p = {test.p_values[0]:.2g})."]
    one = test.lengths[0] == 1
    first = (
        f"{plural(int(test.lengths[0]), 'feature')} {'passes' if one else 'pass'} the cut of the rule, but "
        f"{as_long} {gives} at least as many: {'it may be chance, or ' if one else ''}samples have "
        "something in common, or values do not follow the model."
    )
    if not selection.was_cut:
        return [f"The list does not stand: {first[0].lower()}{first[1:]}"]
    if at is None:
        least = float(test.p_values.min())
        left = "Only features that were certain are listed." if selection.n_selected else "Nothing is listed."
        return [f"{left} {first} No stricter cut stands either (least p = {least:.2g})."]
    cut = float(expit(test.cuts[at]))
    p_value = f"p = {test.p_values[at]:.2g}"
    return [f"{first} The list is that of the first cut which stands, probability over {cut:.4g} ({p_value})."]


def _shuffles(selection: Selection) -> str:
    shuffled = selection.posterior.shuffled
    assert shuffled is not None
    among = {"samples": "", "batches": " within batches", "pairs": " within pairs",
             "residuals": " given the covariates", "subjects": " within subjects"}[shuffled.scheme]  # fmt: skip
    return f"{shuffled.n_shuffles:,} shuffles of the labels{among}"


def flag_lines(selection: Selection) -> list[str]:
    """Features that are degenerate, or left out although they lie at the cut; variances that were not compared."""
    posterior = selection.posterior
    lines, n_degenerate = [], int(posterior.degenerate.sum())
    model: Any = posterior.model
    within = isinstance(posterior.comparison, SubjectComparison)  # says so itself
    if model.supports("effect-sizes") and len(posterior.classes) > 1 and not model.variance_weight and not within:
        lines.append(
            "Variances are taken to be equal: with fewer than three values in a class they cannot be compared."
            if model.difference == "mean"
            else "Only means were compared: without fourth powers of the values, or with fewer than three values "
            "in a class, heavy tails cannot be told from a difference in variance."
        )
    if n_degenerate:
        features = "feature" if n_degenerate == 1 else "features"
        are = "is" if n_degenerate == 1 else "are"
        lines.append(f"{n_degenerate:,} {features} without usable variance {are} flagged as degenerate.")
    if selection.n_tied_out:
        features_lie = "feature lies" if selection.n_tied_out == 1 else "features lie"
        left = "is" if selection.n_tied_out == 1 else "are"
        lines.append(f"{selection.n_tied_out:,} {features_lie} exactly at the cut and {left} left out.")
    return lines


def _errors(selection: Selection, under_null: float | None) -> list[str]:
    missed = f"Markers missed: {expectation(selection.expected_false_negatives)} expected under the model."
    estimate = selection.false_positive_estimate
    if estimate.source == "shuffles":
        return [f"False positives: {estimate.describe()}, from {_shuffles(selection)}.{_aside(selection)}", missed]
    low, high = selection.false_positives.interval(0.9)
    model = f"False positives: {expectation(selection.expected_false_positives)} expected under the model"
    interval = f"(90% interval {low:,} to {high:,} if features are independent)"
    return [f"{model} {interval}{_under_null(selection, under_null)}", missed]


def _aside(selection: Selection) -> str:
    """Say so where the model by itself would expect far fewer false positives."""
    believed, found = selection.expected_false_positives, selection.false_positive_estimate.expected
    if found < _FAR * believed + 0.5:
        return ""
    return f" (The model by itself would expect {expectation(believed)}: the values do not follow it.)"


def _under_null(selection: Selection, under_null: float | None) -> str:
    if not selection.posterior.calibrated:
        return ". These log-odds are the least over several looks, so these numbers are not calibrated."
    under_null = selection.expected_under_null if under_null is None else under_null
    if np.isnan(under_null) and selection.posterior.model.supports("effect-sizes"):
        return ". No labels were shuffled, so that neither this number nor the list has been tested."
    if np.isnan(under_null):
        return f"; the number expected under the global null is {explain_unknown_null(selection.posterior)}."
    family = selection.posterior.model.family
    values = f", {family} values" if family else ""
    number = describe_null(selection.posterior, under_null)
    return f"; {number} expected under the global null (no feature differs{values})."


def describe_null(posterior: FeaturePosterior, under_null: float, digits: str = ",.1f") -> str:
    """Format a number expected under the global null; below what a simulation can resolve, that bound."""
    return expectation(under_null, null_resolution(posterior), digits)


def explain_unknown_null(posterior: FeaturePosterior) -> str:
    """Say why the number expected under the global null is not known, where it is not."""
    nobody = posterior.model.supports("effect-sizes")  # knows it, however much is at hand
    why = "" if nobody else getattr(posterior.comparison, "unknown_because", "")
    return f"not known: {why}" if why else "not known for this model"


def _nothing(selection: Selection) -> str:
    posterior = selection.posterior
    best = int(posterior.ranking[0])
    log_odds = float(posterior.log_odds[best])
    distance = selection.cut - log_odds
    alone = f"; alone it would hold {float(posterior.null_probability[best]):.3g} expected false positives"
    gap = f", {distance:.3g} below the cut in log-odds" if np.isfinite(distance) else alone
    return (
        f"Nothing passes the cut: the best feature, {posterior.names[best]!r}, has probability "
        f"{float(posterior.probability[best]):.3g} (log-odds {log_odds:.3g}{gap})."
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Selection(Glimpsed, ErrorAnalysis, Tabular):
    """Features picked by a rule; every question of :class:`ErrorAnalysis` can be asked of it.

    Parameters
    ----------
    posterior, mask
        The screen, and True for the selected features.
    rule
        The rule in words.
    cut
        Features pass with log-odds over this value (for rules that count, at least this value).
    n_tied_out
        Features left out although their log-odds equal the cut.
    count_test, was_cut
        The length of the list against shuffled labels, if they were shuffled, and whether the list was shortened
        or emptied because of it.
    estimate
        The number of false positives, where it is known from elsewhere than the posterior.
    under_null
        Number expected under the global null, where it is known from elsewhere than the posterior.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, ["a"] * 3 + ["b"] * 3, model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> selection = bs.MinimalRisk(0.5).select(posterior)
    >>> selection.names, round(selection.expected_false_positives, 4)
    (('x0',), 0.0001)
    """

    rule: str
    cut: float
    n_tied_out: int = 0
    under_null: float | None = None
    count_test: CountTest | None = None
    was_cut: bool = False
    estimate: FalsePositiveEstimate | None = None

    plot = Late("bayesieve.report.figures.plots", "Plots", "Figures as methods, such as ``plot.effect_map()``.")
    report = LateMethod("bayesieve.report", "write", "Write an HTML report; see :func:`bayesieve.report.write`.")

    def _glimpse(self) -> Glimpse:
        """Return the head of the list and the number of false positives in it."""
        title = f"Selection of {self.n_selected:,} of {self.posterior.n_features:,} features ({self.rule})"
        estimate = self.false_positive_estimate
        source = "from shuffled labels" if estimate.source == "shuffles" else "by the model"
        lines = (f"false positives: {estimate.describe()}, {source}",) if self.n_selected else ("nothing passes",)
        return Glimpse(title, lines, table_head(self.posterior, self.indices[:5]))

    @property
    def false_positive_estimate(self) -> FalsePositiveEstimate:
        """The number of false positives to believe: from shuffled labels if there are any, else from the model."""
        if self.estimate is not None:
            return self.estimate
        posterior, shuffled = self.posterior, self.posterior.shuffled
        if shuffled is None:
            low, high = self.false_positives.interval(0.9)
            return FalsePositiveEstimate(self.expected_false_positives, low, high, "model")
        if not self.n_selected:  # whatever passes with shuffled labels, nothing is listed
            return FalsePositiveEstimate(0.0, 0.0, 0.0, "shuffles")
        share, prior = posterior.null_share, posterior.prior_log_odds
        least, most = shuffled.interval(self.cut, prior)
        expected, step = share * shuffled.expected(self.cut, prior), share / shuffled.n_shuffles
        if self.n_selected and shuffled.weaker_than_kept(self.cut, prior):
            expected = share * float(shuffled.reaching[self.mask].max())  # the interval ends with what was kept
            return FalsePositiveEstimate(expected, share * least, max(expected, share * most), "shuffles", step)
        return FalsePositiveEstimate(expected, share * least, share * most, "shuffles", step)

    @property
    def checks(self) -> Checks:
        """What speaks for and against the list; empty if the values are not at hand."""
        return self.posterior.checks_of(self)

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """Selected features from the strongest to the weakest."""
        ranking = self.posterior.ranking
        return ranking[self.mask[ranking]]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the selected features from the strongest to the weakest."""
        names = self.posterior.names
        return tuple(names[i] for i in self.indices.tolist())

    @property
    def threshold(self) -> float:
        """The cut as a probability."""
        return float(expit(self.cut))

    @property
    def expected_under_null(self) -> float:
        """False positives expected under the global null: how many would pass this cut if no feature differed."""
        return expected_under_null(self.posterior, self.cut) if self.under_null is None else self.under_null

    expected_by_chance = expected_under_null  # the former name

    def summary(self) -> str:
        """Tell the result in a few lines of plain text.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, ["a"] * 3 + ["b"] * 3, model=bs.GaussianModel.proper(),
        ...                       prior_probability=0.1)
        >>> print(bs.MinimalRisk(0.5).select(posterior).summary().splitlines()[0])
        1 of 2 features selected (probability over 0.5); classes a (3) and b (3).
        """
        return "\n".join(map(str, summary_lines(self)))

    def __str__(self) -> str:
        return self.summary()

    def take(self, indices: npt.ArrayLike | slice) -> Selection:
        """Some of the features, in the order given, selected or not as before.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.FixedSize(1).select(posterior).take([1, 0]).mask.tolist()
        [False, True]
        """
        mask = self.mask[indices if isinstance(indices, slice) else np.asarray(indices)].copy()
        mask.flags.writeable = False
        return replace(
            self, posterior=self.posterior.take(indices), mask=mask, under_null=None,
            estimate=self.false_positive_estimate if self.posterior.shuffled is not None else None,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Table of all features, selected or not, in feature order; ``selected`` is a column.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.FixedSize(1).select(posterior).to_dict()["selected"].tolist()
        [True, False]
        """
        table = self.posterior.to_dict()
        head = {key: table[key] for key in ("rank", "feature", "log_odds", "probability")}
        return head | {"selected": self.mask} | {k: v for k, v in table.items() if k not in head}


def check_posterior(posterior: Any) -> FeaturePosterior:
    """Check that a rule was given what :func:`bayesieve.screen` returns."""
    if not isinstance(posterior, FeaturePosterior):
        instead = " Call posterior.select(rule) instead." if hasattr(posterior, "select") else ""
        raise RuleError(
            f"A rule selects from a FeaturePosterior, which screen() returns, not from {type(posterior).__name__}."
            + instead
        )
    return posterior


def prefix(posterior: FeaturePosterior, size: int, rule: str) -> Selection:
    """Select the first ``size`` features of the ranking and report ties at the cut."""
    ranking, log_odds = posterior.ranking, posterior.log_odds
    mask = np.zeros(posterior.n_features, dtype=bool)
    mask[ranking[:size]] = True
    mask.flags.writeable = False
    cut = float(log_odds[ranking[size - 1]]) if size else float("inf")
    tied = int((log_odds[ranking[size:]] == cut).sum()) if size else 0
    return Selection(posterior, mask, rule, cut, tied)


def judge(selection: Selection, *, shorten: bool = True) -> Selection:
    """Test the length of a list against shuffled labels, and shorten it to the first cut that stands.

    Parameters
    ----------
    selection
        The list of a rule.
    shorten
        False for a rule that promises a length: its list is tested, but stays as it is.
    """
    posterior = selection.posterior
    shuffled = posterior.shuffled
    if shuffled is None or not posterior.calibrated:
        return selection
    log_odds, prior = posterior.log_odds, posterior.prior_log_odds
    if shorten and posterior.needs_own_evidence:
        selection = _with_own_evidence(selection)
    stricter = [cut for cut in (float(logit(p)) for p in LADDER) if cut > selection.cut]
    cuts = [float(np.nextafter(selection.cut, -np.inf)), *stricter]  # some rules take what lies at the cut
    free = np.isfinite(np.broadcast_to(prior, log_odds.shape))  # others are certain
    kept = selection.mask & free & shuffled.kept(log_odds, prior)  # of the shuffles weaker ones are not known
    lengths = [int(kept.sum()), *(int((free & (log_odds > cut)).sum()) for cut in stricter)]
    test = CountTest.of(cuts, lengths, np.array([shuffled.counts(cut, prior) for cut in cuts]))
    tested = replace(selection, count_test=test)
    if not shorten or not test.can_stand or test.stands_at == 0 or not lengths[0]:
        return tested
    cut = float("inf") if test.stands_at is None else cuts[test.stands_at]
    mask = selection.mask & ((log_odds > cut) | ~free)
    mask.flags.writeable = False
    return replace(tested, mask=mask, cut=cut, n_tied_out=0, was_cut=True)


def read_at_limit(selection: Selection, limit: float) -> Selection:
    """Let a list that ends at a limit of false positives claim what passes at that limit, not at its last feature.

    Where such a list ends is chosen by looking at the features, and between its last one and the next the number
    that passes with shuffled labels goes on rising, up to the limit: the number at the last feature is too small.
    """
    posterior, size = selection.posterior, selection.n_selected
    if posterior.shuffled is None or selection.was_cut or not 0 < size < posterior.n_features:
        return selection
    ranking = posterior.ranking
    if not selection.mask[ranking[:size]].all():  # shortened to features with evidence of their own
        return selection
    now = selection.false_positive_estimate
    beyond = posterior.null_share * float(posterior.shuffled.reaching[ranking[size]])
    expected = max(now.expected, min(limit, beyond))
    if expected == now.expected:
        return selection
    return replace(selection, estimate=replace(now, expected=expected, high=max(now.high, expected)))


def _with_own_evidence(selection: Selection) -> Selection:
    """Take features off the list whose log Bayes factor is not over 0; features share a prior probability."""
    posterior, prior = selection.posterior, float(np.asarray(selection.posterior.prior_log_odds))
    mask = selection.mask & (posterior.log_bayes_factor > 0)
    if mask.sum() == selection.n_selected:
        return selection
    mask.flags.writeable = False
    return replace(selection, mask=mask, cut=max(selection.cut, prior), n_tied_out=0)
