"""Figures as methods: ``posterior.plot.effect_map()``, each of which returns axes and takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesieve.posterior import FeaturePosterior
from bayesieve.report.figures.effects import effect_map
from bayesieve.report.figures.evidence import composition
from bayesieve.report.figures.features import feature
from bayesieve.report.figures.lists import (
    expected_roc,
    false_discovery,
    false_positives,
    log_odds_by_rank,
    probabilities,
)
from bayesieve.selection import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Plots:
    """Figures of a screen or of a list; the functions of :mod:`bayesieve.report.figures` as methods.

    Parameters
    ----------
    found
        A posterior (then features that are more probably markers than not are selected) or a selection.
    """

    def __init__(self, found: FeaturePosterior | Selection) -> None:
        self._found = found

    def __repr__(self) -> str:
        names = [name for name in dir(self) if not name.startswith("_")]
        return f"figures of {type(self._found).__name__}: {', '.join(names)}"

    def effect_map(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw every feature by how much the classes differ; see :func:`bayesieve.report.figures.effect_map`."""
        return effect_map(self._found, ax, **options)

    def log_odds_by_rank(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the log-odds by rank; see :func:`bayesieve.report.figures.log_odds_by_rank`."""
        return log_odds_by_rank(self._found, ax, **options)

    def expected_roc(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw expected true against false positives; see :func:`bayesieve.report.figures.expected_roc`."""
        return expected_roc(self._found, ax, **options)

    def false_discovery(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw expected errors by list length; see :func:`bayesieve.report.figures.false_discovery`."""
        return false_discovery(self._found, ax, **options)

    def false_positives(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw how many false positives there may be; see :func:`bayesieve.report.figures.false_positives`."""
        return false_positives(self._found, ax, **options)

    def probabilities(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw how probabilities are spread; see :func:`bayesieve.report.figures.probabilities`."""
        return probabilities(self._found, ax, **options)

    def feature(self, name: str | int, *args: Any, **options: Any) -> Axes:
        """Draw the values of one feature; see :func:`bayesieve.report.figures.feature`."""
        return feature(self._found, name, *args, **options)

    def composition(self, name: str | int, ax: Axes | None = None) -> Axes:
        """Draw what the log-odds of a feature are made of; see :func:`bayesieve.report.figures.composition`."""
        return composition(self._found, name, ax)
