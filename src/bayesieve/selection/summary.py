"""The result in words: what was compared, what was found, how wrong it may be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bayesieve.posterior.chance import chance_resolution
from bayesieve.stats.statistics import largest_counts

if TYPE_CHECKING:
    from bayesieve.posterior import FeaturePosterior
    from bayesieve.selection.selection import Selection

_ADVICE = (
    "To get a list all the same: FixedSize(n) takes the n best, MinimalRisk with a lower threshold "
    "accepts more false positives, and with_prior() re-weighs if more markers are believed in."
)


def summary_lines(selection: Selection) -> list[str]:
    """Lines of :meth:`Selection.summary`.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1], [0.4], [0.3], [0.8]]
    >>> posterior = bs.screen(X, [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> print(bs.MinimalRisk(0.5).select(posterior).summary().splitlines()[1].split(",")[0])
    Nothing passes the cut: the best feature
    """
    posterior, groups = selection.posterior, compared_groups(selection)
    said = "classes" if len(posterior.classes) > 1 else "pairs"
    lines = [
        f"{selection.n_selected:,} of {posterior.n_features:,} features selected ({selection.rule}); "
        f"{said} {groups}."
    ]
    lines += found_lines(selection)
    lines += flagged_lines(selection)
    lines += [note for finding in posterior.findings for note in finding.notes()]
    return [*lines, posterior.model.caveat] if posterior.model.caveat else lines


def compared_groups(selection: Selection) -> str:
    """Classes with their numbers of samples.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.selection.summary import compared_groups
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [0.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> compared_groups(bs.MinimalRisk(0.5).select(posterior))
    '0 (2) and 1 (2)'
    """
    posterior = selection.posterior
    said = [f"{c} ({n})" for c, n in zip(posterior.classes, largest_counts(posterior.statistics), strict=True)]
    return listed(said)


def counted(n: int, what: str) -> str:
    """Return a number and what it counts, in the plural where it has to be.

    Examples
    --------
    >>> from bayesieve.selection.summary import counted
    >>> counted(1, "pair"), counted(2000, "pair")
    ('1 pair', '2,000 pairs')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def listed(texts: Iterable[str]) -> str:
    """Join texts in a sentence.

    Examples
    --------
    >>> from bayesieve.selection.summary import listed
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    parts = list(texts)
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def found_lines(selection: Selection, by_chance: float | None = None, *, if_nothing: str = _ADVICE) -> list[str]:
    """Errors that are expected of the list, or why there is none, and markers expected among all features.

    Parameters
    ----------
    selection
        The list.
    by_chance
        Its ``expected_by_chance``, if it has been worked out already.
    if_nothing
        How to get a list where there is none.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.selection.summary import found_lines
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [0.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> found_lines(bs.FixedSize(1).select(posterior))[1]
    'Markers missed: 0.0 expected.'
    """
    lines = _errors(selection, by_chance) if selection.n_selected else [_nothing(selection), if_nothing]
    return [*lines, f"Expected markers among all features: {selection.posterior.expected_markers:,.1f}."]


def flagged_lines(selection: Selection) -> list[str]:
    """Features that are degenerate, or left out although they lie at the cut.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.selection.summary import flagged_lines
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [0.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> flagged_lines(bs.FixedSize(1).select(posterior))
    []
    """
    lines, n_degenerate = [], int(selection.posterior.degenerate.sum())
    if n_degenerate:
        features = "feature" if n_degenerate == 1 else "features"
        are = "is" if n_degenerate == 1 else "are"
        lines.append(f"{n_degenerate:,} {features} without usable variance {are} flagged as degenerate.")
    if selection.n_tied_out:
        said = "feature lies" if selection.n_tied_out == 1 else "features lie"
        left = "is" if selection.n_tied_out == 1 else "are"
        lines.append(f"{selection.n_tied_out:,} {said} exactly at the cut and {left} left out.")
    return lines


def _errors(selection: Selection, by_chance: float | None) -> list[str]:
    low, high = selection.false_positives.interval(0.9)
    return [
        f"False positives: {selection.expected_false_positives:,.1f} expected under the model "
        f"(90% interval {low:,} to {high:,} if features are independent)" + _by_chance(selection, by_chance),
        f"Markers missed: {selection.expected_false_negatives:,.1f} expected.",
    ]


def _by_chance(selection: Selection, by_chance: float | None) -> str:
    if not selection.posterior.calibrated:
        return ". These log-odds are the least over several looks, so these numbers are not calibrated."
    by_chance = selection.expected_by_chance if by_chance is None else by_chance
    if np.isnan(by_chance):
        return f"; how many would pass this cut by chance is {chance_unknown(selection.posterior)}."
    kind = f"{selection.posterior.model.law} non-markers".strip()
    said = by_chance_said(selection.posterior, by_chance)
    return f"; {said} would pass this cut by chance if all features were {kind}."


def by_chance_said(posterior: FeaturePosterior, by_chance: float, digits: str = ",.1f") -> str:
    """Return a number by chance; of a simulation in which nothing passed, what it cannot tell from nothing.

    Parameters
    ----------
    posterior
        The screen.
    by_chance
        The number.
    digits
        How to write it.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.selection.summary import by_chance_said
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [0.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> by_chance_said(posterior, 0.0), by_chance_said(posterior, 0.3)
    ('fewer than 2.5e-06', '0.3')
    """
    step = chance_resolution(posterior)
    return f"fewer than {step:.2g}" if by_chance < step / 2 else format(by_chance, digits)


def chance_unknown(posterior: FeaturePosterior) -> str:
    """Say why numbers by chance are not known, where they are not.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.selection.summary import chance_unknown
    >>> chance_unknown(bs.screen([[0.1], [0.4], [0.3], [0.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper()))
    'not known for this model'
    """
    why = getattr(posterior.comparison, "unknown_because", "")
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
