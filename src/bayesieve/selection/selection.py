"""Selection: a list of features, and what is expected of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import (
    Checks,
    ErrorAnalysis,
    FeaturePosterior,
    Tabular,
    expected_under_null,
    expit,
    logit,
    table_head,
)
from bayesieve.selection.count_test import LADDER, CountTest
from bayesieve.selection.false_positives import FalsePositiveEstimate
from bayesieve.selection.sentences import summary_lines
from bayesieve.utils import (
    Glimpse,
    Glimpsed,
    Late,
    LateMethod,
    RuleError,
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
