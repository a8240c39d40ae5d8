"""Story: everything that a report tells, gathered before a word of it is written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data.labels import told_apart
from bayesieve.errors import DataError, OptionError
from bayesieve.models.paired import PairedComparison
from bayesieve.posterior import FeaturePosterior
from bayesieve.report.annotation import annotation_columns
from bayesieve.report.chance_grid import ChanceGrid, chance_grid
from bayesieve.report.commands import Commands
from bayesieve.report.discreet import manifest_without_samples, without_ids, without_samples
from bayesieve.report.effect import Effect, effect_of
from bayesieve.report.raw_values import RawValues, checked_number, raw_values, sample_counts
from bayesieve.report.rule_state import RuleState, chosen
from bayesieve.report.sites import SiteView
from bayesieve.selection import Rule, Selection
from bayesieve.stats.statistics import largest_counts

MOST_DETAILED = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """What the page is about; made by :meth:`of`.

    Parameters
    ----------
    selection, rule
        The list the report is written for, and the state of the controls that gives it.
    title, subtitle, created
        Texts for the head of the page.
    class_counts
        Number of samples of every class, or of pairs.
    counted
        Whether they were counted; otherwise they are numbers of values, of the feature that has most.
    transform
        How values were transformed before the screen.
    chance
        Numbers by chance at every cut; None where they are not known or mean nothing.
    effect
        Where features lie on the map of effects.
    described
        Sentences on what was read and what was left out.
    warned
        Warnings that were given on the way.
    annotation
        Columns that came with the features, in feature order.
    values
        Values of the strongest features.
    sites
        Site by site, see :mod:`bayesieve.report.sites`.
    commands
        How to get the same result again.
    manifest
        The manifest of the run; empty if there is none.
    say
        Puts sentences of the library into other words, those of the command line.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.report.story import Story
    >>> X = np.random.default_rng(0).normal(size=(10, 2)) + np.outer([0] * 5 + [1] * 5, [9, 0])
    >>> story = Story.of(bs.screen(X, list("aaaaabbbbb")), title="Two features")
    >>> story.selection.names, story.rule.name, story.class_counts
    (('x0',), 'mnc', {'a': 5, 'b': 5})
    """

    selection: Selection
    rule: RuleState
    title: str
    subtitle: str
    created: str
    class_counts: dict[str, int]
    counted: bool
    transform: str
    chance: ChanceGrid | None
    effect: Effect | None
    described: tuple[str, ...]
    warned: tuple[str, ...]
    annotation: dict[str, list[Any]]
    values: RawValues | None
    sites: Any
    commands: Commands
    manifest: dict[str, Any]
    say: Callable[[str], str]

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
        class_counts: Mapping[str, int] | None = None,
        transform: str = "none",
        described: Sequence[str] = (),
        warned: Sequence[str] = (),
        sites: Any = None,
        commands: Commands | None = None,
        manifest: Mapping[str, Any] | None = None,
        say: Callable[[str], str] = str,
    ) -> Story:
        """Gather the story of a screen or of a selection.

        Parameters
        ----------
        found
            What :func:`bayesieve.screen` returned, or a rule's selection from it.
        rule
            The rule of the list; MNC if there is none.
        data, labels, n_values
            See :func:`bayesieve.report.raw_values.raw_values`.
        annotation
            See :func:`bayesieve.report.annotation.annotation_columns`.
        title, subtitle, created, class_counts, transform, described, warned, sites, commands, manifest, say
            See the class.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.report.story import Story
        >>> X = [[0.1], [-0.4], [0.3], [0.2], [0.5], [6.8], [7.7], [8.1], [7.0], [6.1]]
        >>> Story.of(bs.screen(X, list("aaaaabbbbb")), rule=bs.FixedSize(1)).rule.name
        'cmnc'
        """
        if not isinstance(found, (FeaturePosterior, Selection)):
            raise DataError(
                "A report is written of what screen() returns, or of a selection from it, not of "
                f"{type(found).__name__}."
            )
        selection, state = chosen(found, rule)
        if n_values == 0:  # nothing about single samples
            selection, warned = without_samples(selection), without_ids(warned)
            manifest = manifest_without_samples(manifest or {})
        posterior = selection.posterior
        n_shown = checked_number(n_values)
        values = None if data is None else raw_values(posterior, data, labels, n_shown)
        named, counted = _samples(posterior, sample_counts(posterior, data, labels), class_counts or {})
        return cls(
            selection=selection,
            rule=state,
            title=title or _title(list(named), paired=is_paired(posterior)),
            subtitle=subtitle,
            created=created or _now(),
            class_counts=named,
            counted=counted,
            transform=transform,
            chance=chance_grid(posterior, selection.cut) if posterior.calibrated else None,
            effect=effect_of(posterior),
            described=tuple(described),
            warned=tuple(warned),
            annotation=annotation_columns(annotation, posterior),
            values=values,
            sites=sites or SiteView.of_blocks(posterior),
            commands=commands or Commands.of_arrays(posterior, transform),
            manifest=dict(manifest or {}),
            say=say,
        )

    @property
    def posterior(self) -> FeaturePosterior:
        """The screen."""
        return self.selection.posterior

    @property
    def n_detailed(self) -> int:
        """Features about which the page tells more than their evidence."""
        return min(self.posterior.n_features, MOST_DETAILED)

    @property
    def by_chance(self) -> float:
        """Number of features over the cut by chance; NaN if it is not known."""
        return np.nan if self.chance is None else self.chance.at_cut


def _now() -> str:
    """Return the time, or the one of SOURCE_DATE_EPOCH, so that the same input can give the same file."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = time.gmtime(None if given is None else int(given))
    except (ValueError, OverflowError, OSError):
        raise OptionError(
            f"The environment variable SOURCE_DATE_EPOCH is {given!r}, but it gives the date of the report in "
            "whole seconds since 1970, for example 1700000000. Correct it, or unset it to use the clock."
        ) from None
    return time.strftime("%Y-%m-%d %H:%M UTC", moment)


def is_paired(posterior: FeaturePosterior) -> bool:
    """Whether differences within pairs were screened.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.story import is_paired
    >>> X = [[0.1], [1.4], [0.3], [1.8], [0.2], [2.1]]
    >>> is_paired(bs.screen(X, ["a", "b"] * 3, pairs=[1, 1, 2, 2, 3, 3]))
    True
    """
    return isinstance(posterior.comparison, PairedComparison) or len(posterior.classes) == 1


def _samples(
    posterior: FeaturePosterior, counts: Sequence[int] | None, said: Mapping[str, int]
) -> tuple[dict[str, int], bool]:
    """Number of samples by class, and whether it is more than the number of values that some feature has."""
    every = posterior.statistics.counts
    most = dict(zip(told_apart(posterior.classes), largest_counts(posterior.statistics), strict=True))
    if counts is not None:
        return dict(zip(most, map(int, counts), strict=True)), True
    given = {str(label): int(n) for label, n in said.items()}
    if list(given) == list(most) and given != most:
        return given, True
    return most, bool((every == every[:, :1]).all())


def _title(classes: list[str], *, paired: bool) -> str:
    if paired:
        return f"{classes[0]}, pair by pair"
    if len(classes) == 2:
        return f"{classes[0]} against {classes[1]}"
    shown = ", ".join(classes[:4]) + (", ..." if len(classes) > 4 else "")
    return f"{len(classes)} classes: {shown}"
