"""FeaturePosterior: the posterior inclusion probability of every feature (section 2.2), and its table."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import disambiguate
from bayesieve.models import Compared, Degeneracy, Model
from bayesieve.posterior.checks import Checker, Checks
from bayesieve.posterior.findings.adjustment import Adjustment
from bayesieve.posterior.findings.finding import (
    BlockEvidence,
    Differences,
    EstimatedShare,
    Finding,
    OfThePrior,
)
from bayesieve.posterior.marginals import Marginals, check_log_odds, expit, log_expit
from bayesieve.posterior.null.shuffled import ShuffledLabels
from bayesieve.stats import ClassStatistics, Moments, as_moments, largest_counts
from bayesieve.utils import (
    BoolArray,
    DataError,
    FloatArray,
    Glimpse,
    Glimpsed,
    IntArray,
    Late,
    LateMethod,
    classes_in_words,
    numbers,
)

_ROUNDING = 1e-12
_HEAD = ("rank", "feature", "log_odds", "probability", "local_fdr", "expected_fdr", "log_bayes_factor")


def posterior_table(posterior: FeaturePosterior) -> dict[str, Any]:
    """Columns of the result table, in feature order."""
    table: dict[str, Any] = {
        "rank": posterior.rank,
        "feature": list(posterior.names),
        "log_odds": posterior.log_odds,
        "probability": posterior.probability,
        "local_fdr": posterior.local_fdr,
        "expected_fdr": posterior.expected_fdr,
        "log_bayes_factor": posterior.log_bayes_factor,
        "degenerate": posterior.degenerate,
        "degenerate_reason": list(posterior.degenerate_reason),
    }
    for columns in (*(finding.columns(posterior) for finding in posterior.findings), class_statistics(posterior)):
        for name, column in columns.items():
            table[_free(name, table)] = column
    return table


def table_head(posterior: FeaturePosterior, places: IntArray) -> dict[str, list[str]]:
    """Columns of a small table of some features, as texts."""
    return {
        "rank": [f"{rank:,}" for rank in posterior.rank[places].tolist()],
        "feature": [posterior.names[i] for i in places.tolist()],
        "log-odds": numbers(posterior.log_odds[places], ".2f"),
        "probability": numbers(posterior.probability[places], ".4f"),
    }


def finding_columns(posterior: FeaturePosterior) -> list[tuple[str, ...]]:
    """Names that the columns of each finding have in the table of results."""
    few = posterior.take([0])
    taken = {*_HEAD, "degenerate", "degenerate_reason"}
    found = []
    for finding in few.findings:
        names = tuple(_free(name, taken) for name in finding.columns(few))
        taken |= {*names}
        found.append(names)
    return found


def _free(name: str, table: Collection[str]) -> str:
    return name if name not in table else f"{name} (2)"  # odd names of classes and blocks


def class_statistics(posterior: FeaturePosterior) -> dict[str, Any]:
    """Statistics of every class, for Gaussian data count, mean and standard deviation, and their difference."""
    return posterior.statistics.describe(disambiguate(posterior.classes, "difference"))


@dataclass(frozen=True, eq=False, repr=False)
class FeaturePosterior(Glimpsed, Marginals):
    r"""Posterior inclusion probability of every feature, as log-odds of being a marker, and what it came from.

    Log-odds are the primary quantity: probabilities saturate at 1, log-odds never do.

    Parameters
    ----------
    log_bayes_factor
        What the data say, :math:`\log p(S_0) p(S_1) / p(S)`.
    prior_log_odds
        What was believed before: a number or one per feature; infinite for a prior probability of 0 or 1.
    feature_names
        Names, or None for ``x0``, ``x1``, ...
    degenerate_codes
        A :class:`~bayesieve.models.gaussian.degenerate.Degeneracy` per feature.
    statistics
        Statistics of the classes: :class:`Moments` for Gaussian data.
    model
        The model that gave the Bayes factors.
    resolution
        Step to which values are rounded, as far as it was stated; see :func:`bayesieve.screen`.
    comparison
        The data and patterns compared, as far as they are not just ``statistics``.
    findings
        What else is known about every feature; each adds columns to the table.
    shuffled
        The same screen under shuffled labels; None if labels were not shuffled.
    checker
        Who can look at the values again, for :attr:`checks`; None if they are not at hand. Not pickled.
    calibrated
        Whether expected numbers of errors mean what they say under the model; False for log-odds that
        are the least of several.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, ["a"] * 3 + ["b"] * 3, model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> posterior.probability.round(3).tolist()
    [1.0, 0.002]
    >>> posterior.ranking.tolist()
    [0, 1]
    """

    log_bayes_factor: FloatArray
    prior_log_odds: float | FloatArray
    feature_names: tuple[str, ...] | None
    degenerate_codes: npt.NDArray[np.int8]
    statistics: ClassStatistics
    model: Model
    resolution: float | FloatArray = 0.0
    comparison: Compared | None = None
    findings: tuple[Finding, ...] = ()
    calibrated: bool = True
    shuffled: ShuffledLabels | None = None
    checker: Checker | None = field(default=None, repr=False)

    plot = Late("bayesieve.report.figures.plots", "Plots", "Figures as methods, such as ``plot.effect_map()``.")
    report = LateMethod("bayesieve.report", "write", "Write an HTML report; see :func:`bayesieve.report.write`.")

    def __post_init__(self) -> None:
        for array in (self.log_bayes_factor, self.degenerate_codes):
            array.flags.writeable = False

    def _glimpse(self) -> Glimpse:
        """Return the strongest features, and what they rest on."""
        classes = classes_in_words(disambiguate(self.classes), largest_counts(self.statistics))
        shuffles = "labels not shuffled" if self.shuffled is None else f"{self.shuffled.n_shuffles:,} shuffles"
        lines = (
            f"classes {classes}",
            f"{type(self.model).__name__}; {self.expected_markers:,.1f} markers expected; {shuffles}",
        )
        return Glimpse(
            f"FeaturePosterior of {self.n_features:,} features", lines, table_head(self, self.ranking[:5])
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.log_bayes_factor.size)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Feature names; made up as ``x0``, ``x1``, ... when none were given."""
        return self.feature_names or tuple(f"x{i}" for i in range(self.n_features))

    @functools.cached_property
    def ranking(self) -> IntArray:
        """Feature indices from the strongest to the weakest; ties in feature order."""
        return _read_only(super().ranking)

    @functools.cached_property
    def rank(self) -> IntArray:
        """Rank of every feature, 1 for the strongest."""
        return _read_only(super().rank)

    @property
    def log_odds(self) -> FloatArray:
        r"""Posterior log-odds :math:`\log h(f)`, equation (2.13)."""
        return self.prior_log_odds + self.log_bayes_factor

    @property
    def log_probability(self) -> FloatArray:
        r""":math:`\log \pi^*(f)`, accurate at both ends."""
        return log_expit(self.log_odds)

    @property
    def log_null_probability(self) -> FloatArray:
        r""":math:`\log(1 - \pi^*(f))`, accurate at both ends."""
        return log_expit(-self.log_odds)

    @property
    def local_fdr(self) -> FloatArray:
        """Local false discovery rate: the probability that a feature is no marker."""
        return self.null_probability

    @property
    def expected_fdr(self) -> FloatArray:
        """Expected share of non-markers among the features that are at least as strong as each.

        From shuffled labels where there are any, else the mean local false discovery rate under the model.
        """
        if self.shuffled is not None:
            return np.asarray(self.null_share * self.shuffled.share)
        order, rate = self.ranking, np.empty(self.n_features)
        rate[order] = np.cumsum(self.null_probability[order]) / np.arange(1, self.n_features + 1)
        return rate

    @property
    def null_share(self) -> float:
        """Share of non-markers believed in beforehand."""
        return float(np.mean(expit(-np.asarray(self.prior_log_odds, dtype=np.float64))))

    @property
    def estimated_share(self) -> float | None:
        """Share of markers that the data suggest, as far as it exceeds what shuffled labels do; None without any.

        The estimate with the true labels less its 95% point over the shuffles, one feature at least and half of
        them at most.
        """
        share = np.nan if self.shuffled is None else self.shuffled.suggested_share
        return None if np.isnan(share) else share

    @property
    def needs_own_evidence(self) -> bool:
        """Whether a list holds no feature whose own evidence speaks against it: the prior was estimated."""
        return any(isinstance(finding, EstimatedShare) for finding in self.findings)

    @property
    def degenerate(self) -> BoolArray:
        """Features whose evidence was undefined and has been given a floor or left at 0."""
        return np.not_equal(self.degenerate_codes, 0)

    @property
    def degenerate_reason(self) -> tuple[str, ...]:
        """Why a feature is degenerate, in words; empty where it is not."""
        reasons = [flag.reason for flag in Degeneracy]
        return tuple(reasons[code] for code in self.degenerate_codes.tolist())

    @property
    def classes(self) -> tuple[Any, ...]:
        """Class labels; differences are second minus first."""
        return self.statistics.classes

    @property
    def moments(self) -> Moments:
        """Statistics of the classes, where they are moments."""
        moments = as_moments(self.statistics)
        if moments is None:
            raise DataError(
                f"This screen is not of Gaussian data: its statistics are {type(self.statistics).__name__}, to be "
                "found in .statistics.",
                kind="capability",
            )
        return moments

    @property
    def has_moments(self) -> bool:
        """Whether the statistics are means and variances of the classes."""
        return as_moments(self.statistics) is not None

    @functools.cached_property
    def checks(self) -> Checks:
        """What speaks for and against the list of features whose probability is over one half.

        Worked out when first asked for; empty if the values are not at hand. :attr:`Selection.checks` is the same
        for the list of another rule.
        """
        return Checks() if self.checker is None else self.checker.of_posterior(self)

    @functools.cached_property
    def _checked(self) -> dict[bytes, Checks]:
        return {}

    def checks_of(self, selection: Any) -> Checks:
        """Check the list of a rule, once for every list; :attr:`Selection.checks` calls it.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [1.2], [0.7], [2.1]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> posterior.checks_of(bs.FixedSize(1).select(posterior))["floors"].shown
        '0 of 1'
        """
        key = np.packbits(selection.mask).tobytes()
        if key not in self._checked:
            self._checked[key] = Checks() if self.checker is None else self.checker.of_selection(selection)
        return self._checked[key]

    @property
    def differences(self) -> Differences | None:
        """Which of more than two classes differ; None for two."""
        return next((finding for finding in self.findings if isinstance(finding, Differences)), None)

    @property
    def block_evidence(self) -> BlockEvidence | None:
        """What every block says; None without blocks."""
        return next((finding for finding in self.findings if isinstance(finding, BlockEvidence)), None)

    @property
    def adjustment(self) -> Adjustment | None:
        """What the classes were compared at equal values of, or within; None if they are plain."""
        return next((finding for finding in self.findings if isinstance(finding, Adjustment)), None)

    def with_finding(self, finding: Finding) -> FeaturePosterior:
        """Return the posterior with further columns, for example from :func:`bayesieve.kinds`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [1.2], [0.7], [2.1]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> "kind" in posterior.with_finding(bs.kinds(posterior)).to_dict()
        True
        """
        made = replace(self, findings=(*self.findings, finding))
        made.__dict__["_checked"] = self._checked  # the lists are the same
        return made

    def with_prior(self, prior_probability: npt.ArrayLike) -> FeaturePosterior:
        """Re-weigh with another prior probability, without looking at the data again.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [1.2], [0.7], [2.1]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bool(posterior.with_prior(0.5).probability[0] > posterior.probability[0])
        True
        """
        prior: Any = check_log_odds(prior_probability, self.n_features)
        findings: list[Finding | None] = []
        for finding in self.findings:
            if isinstance(finding, OfThePrior):
                kept, prior = finding.reweighed(prior)
                findings.append(kept)
            else:
                findings.append(finding)
        shuffled = self.shuffled
        if shuffled is not None and (shuffled.by_feature or np.ndim(prior)):
            with np.errstate(invalid="ignore"):
                moved = np.broadcast_to(prior - np.asarray(self.prior_log_odds), (self.n_features,))
            alike = bool(np.ptp(moved) <= _ROUNDING * (1.0 + abs(moved[0])))
            # otherwise features change places, with the true labels and with shuffled ones
            shuffled = shuffled.moved(float(moved[0])) if alike and shuffled.by_feature else None
        kept_findings = tuple(f for f in findings if f is not None)
        return replace(self, prior_log_odds=prior, findings=kept_findings, shuffled=shuffled)

    def take(self, indices: npt.ArrayLike | slice) -> FeaturePosterior:
        """Some of the features, in the order given.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> posterior.take([1]).names
        ('x1',)
        """
        chosen = indices if isinstance(indices, slice) else np.asarray(indices)  # also masks and negative numbers
        places = np.arange(self.n_features)[chosen]
        names = self.names
        return replace(
            self,
            log_bayes_factor=self.log_bayes_factor[places],
            prior_log_odds=_take(self.prior_log_odds, places),
            feature_names=tuple(names[i] for i in places.tolist()),
            degenerate_codes=self.degenerate_codes[places],
            statistics=self.statistics.take(places),
            model=self.model.take(places, self.n_features),
            resolution=_take(self.resolution, places),
            comparison=None if self.comparison is None else self.comparison.take(places),
            findings=tuple(finding.take(places) for finding in self.findings),
            shuffled=None if self.shuffled is None else self.shuffled.take(places),
            checker=None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Table of all features as columns, in feature order: ranks, log-odds and class statistics.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [1.2], [0.7], [2.1]]
        >>> table = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper()).to_dict()
        >>> list(table)[:5]
        ['rank', 'feature', 'log_odds', 'probability', 'local_fdr']
        """
        return posterior_table(self)


def _read_only(array: IntArray) -> IntArray:
    array.flags.writeable = False
    return array


def _take(value: float | FloatArray, places: npt.NDArray[np.int64]) -> float | FloatArray:
    return value[places] if isinstance(value, np.ndarray) and value.ndim else value
