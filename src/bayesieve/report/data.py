"""Data of a report: everything it shows, gathered before a word is written."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesieve.data import disambiguate
from bayesieve.enrichment import Enrichment
from bayesieve.io import annotation_columns
from bayesieve.models import EffectPairs, PairedComparison
from bayesieve.posterior import (
    Check,
    Checks,
    Effect,
    FeaturePosterior,
    TrendSlopes,
    effect_of,
    least_log_odds,
    null_curve,
    null_resolution,
)
from bayesieve.report.commands import Commands
from bayesieve.report.controls import RuleState, start_of_controls
from bayesieve.report.pairs import PairSection, describe_pairs
from bayesieve.report.raw_values import RawValues, check_n_values, check_sample_columns, raw_values, sample_counts
from bayesieve.rivals import PairScreen
from bayesieve.screening import RunRecord, SiteView, sample_columns_of, with_checks
from bayesieve.selection import Rule, Selection, results_hash
from bayesieve.stats import largest_counts
from bayesieve.utils import DataError, FloatArray, Message, OptionError

_POINTS, _MOST_KINKS, _BELOW, _ABOVE, _BEND, _NEAREST = 140, 120, 2.0, 25.0, 8.0, 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class NullGrid:
    """Logs of the numbers expected under the global null, at cuts between which they are nearly straight.

    Parameters
    ----------
    cuts
        Cuts on the log-odds, increasing.
    log_expected
        Log of the number of features expected over each.
    at_cut
        The number at the cut of the list.
    resolution
        The number that one event of a simulation stands for; 0 if the curve is exact.
    """

    cuts: FloatArray
    log_expected: FloatArray
    at_cut: float
    resolution: float = 0.0


def make_null_grid(posterior: FeaturePosterior, cut: float) -> NullGrid | None:
    """Work out the curve from below the lowest log-odds to beyond the highest; None if it is not known.

    Points lie densely where the curve bends: at its kinks or, where these are not known, on both sides of the
    lowest log-odds, near which the curve of pairs falls like a square root. At the cut of the list there is one.
    """
    log_odds = posterior.log_odds[np.isfinite(posterior.log_odds) & ~posterior.degenerate]
    kinks = least_log_odds(posterior)
    lowest = float(log_odds.min(initial=0.0))
    low = float(kinks[0]) if kinks.size else lowest - _BELOW
    high = max(low, float(log_odds.max(initial=0.0))) + _ABOVE
    near = np.geomspace(_NEAREST, 1.0, _POINTS)
    bent = np.expm1(_BEND * np.linspace(0.0, 1.0, _POINTS)) / np.expm1(_BEND)
    chosen = np.unique(np.linspace(0, max(kinks.size - 1, 0), _MOST_KINKS).astype(int))
    cuts = np.unique(np.concatenate([
        low + (high - low) * bent,
        np.linspace(low, min(high, low + _ABOVE), _POINTS),
        np.linspace(low, high, _POINTS),
        kinks[chosen] if kinks.size else [*(lowest - near), lowest, *(lowest + near)],
        [cut] if np.isfinite(cut) else [],
    ]))  # fmt: skip
    expected = null_curve(posterior, cuts)
    if np.isnan(expected).any():
        return None
    with np.errstate(divide="ignore"):
        log_expected = np.log(expected)
    return NullGrid(cuts, log_expected, _at(posterior, cut, cuts, expected), null_resolution(posterior))


def _at(posterior: FeaturePosterior, cut: float, cuts: FloatArray, expected: FloatArray) -> float:
    if np.isfinite(cut):
        return float(expected[np.searchsorted(cuts, cut)])
    return float(null_curve(posterior, [cut])[0])


MOST_DETAILED = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class ReportData:
    """What the page is about; made by :meth:`of`.

    Parameters
    ----------
    selection, rule
        The list the report is written for, and the state of the controls that gives it.
    record
        What is known of the run; without ids of samples if the page is to name none.
    title, subtitle, created
        Texts for the head of the page.
    class_counts
        Number of samples of every class, or of pairs.
    counted
        Whether they were counted; otherwise they are numbers of values, of the feature that has most.
    null_grid
        Numbers expected under the global null at every cut; None where they are not known or mean nothing.
    effect
        Where features lie on the map of effects.
    annotation
        Columns that came with the features, in feature order.
    values
        Values of the strongest features.
    sites
        Site by site, see :mod:`bayesieve.screening.sites`.
    pairs
        What is told about pairs of features; None if they were not compared.
    plan
        What a further study would list, as the plan tells it; None if none was made.
    commands
        How to get the same result again.
    command
        Whether sentences are put in the words of the command line.
    discreet
        Whether sentences name no sample.
    sets
        Gene sets of the list, if there are any.
    checks
        What speaks for and against the list.
    sample_columns
        Other columns about the samples, by name, in the order of the samples; empty if the page is to tell nothing
        about single samples.
    """

    selection: Selection
    rule: RuleState
    record: RunRecord
    title: str
    subtitle: str
    created: str
    class_counts: dict[str, int]
    counted: bool
    null_grid: NullGrid | None
    effect: Effect | None
    annotation: dict[str, list[Any]]
    values: RawValues | None
    sites: Any
    commands: Commands
    pairs: PairSection | None = None
    plan: Mapping[str, Any] | None = None
    command: bool = False
    discreet: bool = False
    sets: Enrichment | None = None
    checks: Checks = field(default_factory=Checks)
    sample_columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @classmethod
    def of(  # noqa: PLR0913 - everything that may be known
        cls,
        found: FeaturePosterior | Selection,
        *,
        rule: Rule | str | None = None,
        data: Any = None,
        labels: Any = None,
        n_values: int = 500,
        annotation: Any = None,
        title: str | None = None,
        subtitle: str = "",
        created: str | None = None,
        record: RunRecord | None = None,
        sites: Any = None,
        pairs: PairScreen | None = None,
        plan: Any = None,
        commands: Commands | None = None,
        command: bool = False,
        sets: Enrichment | None = None,
        sample_columns: Mapping[str, Sequence[Any]] | None = None,
    ) -> ReportData:
        """Gather the data of a report of a screen or of a selection.

        Parameters
        ----------
        found
            What :func:`bayesieve.screen` returned, or a rule's selection from it.
        rule
            The rule of the list; MNC if there is none.
        data, labels, n_values
            See :func:`bayesieve.report.raw_values.raw_values`.
        annotation
            See :func:`bayesieve.write_result`.
        pairs
            What :func:`bayesieve.screen_pairs` found in the same data.
        plan
            What :func:`bayesieve.plan` returned for a further study.
        title, subtitle, created, record, sites, commands, command, sets
            See the class.
        sample_columns
            See :func:`bayesieve.report.raw_values.check_sample_columns`.
        """
        if not isinstance(found, (FeaturePosterior, Selection)):
            raise DataError(
                "A report is written of what screen() returns, or of a selection from it, not of "
                f"{type(found).__name__}."
            )
        selection, state = start_of_controls(found, rule)
        record = (record or RunRecord(transform="none")).without_folders()
        selection = with_checks(selection)
        checks = selection.checks or _recorded_checks(selection, record)
        if n_values == 0:  # nothing about single samples
            selection, record = without_samples(selection), record.redacted()
        posterior = selection.posterior
        n_shown = check_n_values(n_values)
        told = None if pairs is None else describe_pairs(pairs, selection, data, labels, show_values=n_shown > 0)
        values = None if data is None else raw_values(posterior, data, labels, n_shown)
        counts, counted = _samples(posterior, sample_counts(posterior, data, labels), record.class_counts)
        return cls(
            selection=selection,
            rule=state,
            record=record,
            title=title or trend_title(posterior) or _title(list(counts), paired=is_paired(posterior)),
            subtitle=subtitle,
            created=created or _now(),
            class_counts=counts,
            counted=counted,
            null_grid=_null_grid(selection),
            effect=effect_of(posterior),
            annotation=annotation_columns(annotation, posterior),
            values=values,
            sites=sites or SiteView.of_blocks(posterior),
            pairs=told,
            plan=None if plan is None else plan.content(),
            commands=commands or Commands.of_arrays(posterior, record.transform),
            command=command,
            discreet=n_values == 0,
            sets=sets,
            checks=checks,
            sample_columns=check_sample_columns(
                values, sample_columns, getattr(data, "sample_columns", None) or sample_columns_of(posterior)
            ),
        )

    def say(self, message: Message | str) -> str:
        """Render a message in the words of the reader, without ids of samples where none may be named."""
        return Message.of(message).render(command=self.command, ids=not self.discreet)

    @property
    def posterior(self) -> FeaturePosterior:
        """The screen."""
        return self.selection.posterior

    @property
    def n_detailed(self) -> int:
        """Features about which the page tells more than their evidence."""
        return min(self.posterior.n_features, MOST_DETAILED)

    @property
    def under_null(self) -> float:
        """False positives expected under the global null; NaN if the number is not known."""
        if self.null_grid is None:
            known = self.posterior.calibrated and self.posterior.shuffled is None
            return self.selection.expected_under_null if known else np.nan
        return self.null_grid.at_cut


def _recorded_checks(selection: Selection, record: RunRecord) -> Checks:
    """Return the checks that a record holds of the same list; none if it is another one."""
    stored = record.results.get("checks")
    if not stored or record.results_hash != results_hash(selection):
        return Checks()
    try:
        return Checks(tuple(map(Check.from_dict, stored)))
    except (AttributeError, KeyError, TypeError, ValueError):  # the file was changed
        return Checks()


def _null_grid(selection: Selection) -> NullGrid | None:
    """Numbers under the global null, unless shuffled labels tell what comes without markers."""
    posterior = selection.posterior
    wanted = posterior.calibrated and posterior.shuffled is None
    return make_null_grid(posterior, selection.cut) if wanted else None


def without_samples(selection: Selection) -> Selection:
    """Return a selection whose findings have no column of samples; :class:`ReportData` renders sentences so."""
    posterior = selection.posterior
    findings = tuple(
        finding.without_samples() if hasattr(finding, "without_samples") else finding
        for finding in posterior.findings
    )
    return replace(selection, posterior=replace(posterior, findings=findings))


def _now() -> str:
    """Return the time, or the one of SOURCE_DATE_EPOCH, so that the same input can give the same file."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = time.gmtime(None if seconds is None else int(seconds))
    except (ValueError, OverflowError, OSError):
        raise OptionError(
            f"The environment variable SOURCE_DATE_EPOCH is {seconds!r}, but it gives the date of the report in "
            "whole seconds since 1970, for example 1700000000. Correct it, or unset it to use the clock."
        ) from None
    return time.strftime("%Y-%m-%d %H:%M UTC", moment)


def is_paired(posterior: FeaturePosterior) -> bool:
    """Whether differences within pairs were screened."""
    return isinstance(posterior.comparison, PairedComparison | EffectPairs) or len(posterior.classes) == 1


def _samples(
    posterior: FeaturePosterior, counts: Sequence[int] | None, counts_by_label: Mapping[str, int]
) -> tuple[dict[str, int], bool]:
    """Number of samples by class, and whether it is more than the number of values that some feature has."""
    every = posterior.statistics.counts
    most = dict(zip(disambiguate(posterior.classes), largest_counts(posterior.statistics), strict=True))
    if counts is not None:
        return dict(zip(most, map(int, counts), strict=True)), True
    stated = {str(label): int(n) for label, n in counts_by_label.items()}
    if list(stated) == list(most) and stated != most:
        return stated, True
    return most, bool((every == every[:, :1]).all())


def trend_title(posterior: FeaturePosterior) -> str:
    """Return what a trend is along; empty if classes were compared."""
    found = next((each for each in posterior.findings if isinstance(each, TrendSlopes)), None)
    return "" if found is None else f"Trend along {found.outcome}"


def _title(classes: list[str], *, paired: bool) -> str:
    if paired:
        return f"{classes[0]}, pair by pair"
    if len(classes) == 2:
        return f"{classes[0]} against {classes[1]}"
    shown = ", ".join(classes[:4]) + (", ..." if len(classes) > 4 else "")
    return f"{len(classes)} classes: {shown}"
