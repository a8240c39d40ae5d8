"""What lists claim about their false positives, held against the truth over a grid of scenarios."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.study.grid_view import GridView
from bayesieve.study.measures import CLAIM_HOLDS, CLAIMED, CONFIDENCE, FOUND_AT
from bayesieve.study.results_view import FEWEST, Estimate
from bayesieve.study.verdicts import NOTHING, Finding, Row, Verdict

AGREE = (0.8, 1.25)
"""Quotients of claimed and true false positives between which a claim holds."""
NEAR = 2.0 / 20_000
"""Difference of claimed and true false positives, as a share of all features, within which it holds, too."""
_ERRORS = 3.0  # standard errors within which nothing is told apart
_LEAST_POWER = 0.95
_LEVEL = 0.05
_LEAST_SAMPLES = 20
_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Claim:
    """Claimed and true false positives of a list, as means over the data sets of a scenario and size.

    Parameters
    ----------
    claimed, true
        The numbers.
    gap, ratio
        Claimed minus true, and claimed over true (NaN where there is no false positive), with errors of their own.
    n_features
        Number of features.
    """

    claimed: Estimate
    true: Estimate
    gap: Estimate
    ratio: Estimate
    n_features: int

    @property
    def agrees_by(self) -> str:
        """Why the claim holds: ``"ratio"``, ``"difference"``, ``"error"`` (not told apart); empty if it fails."""
        if AGREE[0] <= self.ratio.mean <= AGREE[1]:
            return "ratio"
        if abs(self.gap.mean) <= NEAR * self.n_features:
            return "difference"
        return "error" if abs(self.gap.mean) <= _ERRORS * self.gap.standard_error else ""


class TrustView(GridView):
    """Results of a grid about claims; parameters as for :class:`GridView`."""

    def claim(self, scenario: str, method: str, n: int) -> Claim | None:
        """Claimed and true false positives; None where nothing is claimed."""
        claimed, true = (self.values(name, scenario, method, n) for name in (CLAIMED, "false_positives"))
        if claimed is None or true is None:
            return None
        ratio = Estimate.ratio(claimed, true) if true.sum() else Estimate(math.nan, math.nan, true.size)
        features = self.views[scenario].n_features
        return Claim(Estimate.of(claimed), Estimate.of(true), Estimate.of(claimed - true), ratio, features)


def _is_promised(constants: Mapping[str, Any]) -> bool:
    """Shapes for which the model's own claims should hold: independent features, no strong skew."""
    return (
        constants["data"] == "shapes"
        and constants.get("noise") != "lognormal"
        and not constants.get("correlation")
    )


def _has_markers(constants: Mapping[str, Any]) -> bool:
    return constants.get("marker_share") != 0.0


def _is_gaussian(constants: Mapping[str, Any]) -> bool:
    return _is_promised(constants) and constants.get("noise", "gaussian") == "gaussian"


def _of_means(constants: Mapping[str, Any]) -> bool:
    return constants["data"] == "shapes" and constants.get("effect", "mean") == "mean" and _has_markers(constants)


def _elsewhere(constants: Mapping[str, Any]) -> bool:
    return not _is_promised(constants)


def _verdict(rows: Sequence[Row], fails: bool, words: Sequence[str]) -> Finding:
    """Sum up: nothing without numbers, undecided with too few data sets."""
    if not rows:
        return NOTHING
    few = min(row.value.iterations for row in rows) < FEWEST
    verdict = Verdict.UNDECIDED if few else Verdict.FAILS if fails else Verdict.HOLDS
    return Finding(verdict, tuple(words), tuple(rows))


def check_claims(view: TrustView, method: str | None, test: Callable[[Mapping[str, Any]], bool]) -> Finding:
    """Claimed and true false positives agree in every scenario of a kind and at every size."""
    if method is None:
        return NOTHING
    found = [(name, n, view.claim(name, method, n)) for name, n in view.cells(view.pick(test), _LEAST_SAMPLES)]
    cells = [(name, n, claim) for name, n, claim in found if claim is not None]
    rows = [Row(f"Claimed minus true, {view.titles[name]}", n, claim.gap) for name, n, claim in cells]
    why = [claim.agrees_by for _, _, claim in cells]
    words = [
        f"{sum(map(bool, why))} of {len(cells)} agree: {why.count('ratio')} by the quotient, "
        f"{why.count('difference')} by the difference, {why.count('error')} within error only."
    ]
    failing = [cell for cell, reason in zip(cells, why, strict=True) if not reason]
    failing.sort(key=lambda cell: -abs(cell[2].gap.mean) / cell[2].gap.standard_error)
    for name, n, claim in failing[:_MOST_SHOWN]:
        words.append(
            f"{view.place(name, n)}: {claim.claimed.mean:.2f} ({claim.claimed.standard_error:.2f}) claimed, "
            f"{claim.true.mean:.2f} ({claim.true.standard_error:.2f}) true."
        )
    words += [f"And {len(failing) - _MOST_SHOWN} more."] if len(failing) > _MOST_SHOWN else []
    return _verdict(rows, bool(failing), words)


def check_totals(view: TrustView, method: str | None, test: Callable[[Mapping[str, Any]], bool]) -> Finding:
    """Over all scenarios of a kind together, claimed and true false positives agree at every size."""
    if method is None:
        return NOTHING
    rows, verdicts = [], []
    for n in view.sizes:
        claims = [view.claim(name, method, n) for name in view.pick(test) if n >= _LEAST_SAMPLES]
        known = [claim for claim in claims if claim is not None]
        true = sum(claim.true.mean for claim in known)
        if not true:
            continue
        ratio = sum(claim.claimed.mean for claim in known) / true
        spread = math.sqrt(
            sum((claim.claimed.standard_error**2 + (ratio * claim.true.standard_error) ** 2) for claim in known)
        )
        rows.append(
            Row("Claimed over true, all together", n, Estimate(ratio, spread / true, known[0].true.iterations))
        )
        verdicts.append(AGREE[0] <= ratio <= AGREE[1] or abs(ratio - 1.0) <= _ERRORS * spread / true)
    words = tuple(f"n = {row.n:,}: {row.value.mean:.2f} ({row.value.standard_error:.2f})." for row in rows)
    return _verdict(rows, not all(verdicts), words)


def check_intervals(view: TrustView, method: str | None, test: Callable[[Mapping[str, Any]], bool]) -> Finding:
    """90% intervals hold the true number in 90% of the data sets, scenarios of a kind together, at each size."""
    rows = []
    for n in view.sizes if method is not None else ():
        parts = [view.values(CLAIM_HOLDS, name, str(method), n) for name in view.pick(test) if n >= _LEAST_SAMPLES]
        parts = [part for part in parts if part is not None]
        if parts:
            rows.append(
                Row("Share of intervals that hold the true number", n, Estimate.share(np.concatenate(parts)))
            )
    short = [row for row in rows if row.value.mean + _ERRORS * row.value.standard_error < CONFIDENCE]
    words = tuple(f"n = {row.n:,}: {row.value.mean:.1%} ({row.value.standard_error:.1%})." for row in rows)
    return _verdict(rows, bool(short), words)


def check_level(view: TrustView, method: str | None) -> Finding:
    """Without markers a list is empty in 95% of the data sets, all scenarios and sizes together."""
    cells = list(view.cells(view.pick(lambda each: not _has_markers(each)))) if method is not None else []
    parts = {cell: view.values("n_selected", cell[0], str(method), cell[1]) for cell in cells}
    known = {cell: part > 0 for cell, part in parts.items() if part is not None}
    if not known:
        return NOTHING
    share = Estimate.share(np.concatenate(list(known.values())))
    words = [f"A list in {share.mean:.1%} ({share.standard_error:.1%}) of {share.iterations:,} data sets."]
    worst = max(known, key=lambda cell: float(known[cell].mean()))
    words.append(f"Most often in {view.place(*worst)}: {known[worst].mean():.0%} of {known[worst].size}.")
    fails = share.mean > _LEVEL + _ERRORS * share.standard_error
    return _verdict([Row("Share of lists that are not empty", worst[1], share)], fails, words)


def check_power(
    view: TrustView, method: str | None, other: str | None, test: Callable[[Mapping[str, Any]], bool], least: float
) -> Finding:
    """At equal false positives a ranking finds at least a share of the markers that another finds."""
    if method is None or other is None:
        return NOTHING
    rows, failing, unsure = [], [], 0
    for name, n in view.cells(view.pick(lambda each: test(each) and _has_markers(each)), _LEAST_SAMPLES):
        for measure in FOUND_AT:
            own, theirs = (view.values(measure, name, each, n) for each in (method, other))
            if own is None or theirs is None or not theirs.sum():
                continue
            gap = Estimate.of(own - least * theirs)
            label = f"{view.titles[name]}, at {measure.rpartition('_')[2]} false positives of 20,000"
            rows.append(Row(label, n, gap))
            if gap.mean < -_ERRORS * gap.standard_error:
                failing.append(f"{label}, n = {n:,}: {own.mean():.2f} found against {theirs.mean():.2f}.")
            unsure += -_ERRORS * gap.standard_error <= gap.mean < 0
    words = [
        f"{len(rows) - len(failing)} of {len(rows)} comparisons hold, {unsure} of them within error only.",
        *failing[:_MOST_SHOWN],
    ]
    words += [f"And {len(failing) - _MOST_SHOWN} more."] if len(failing) > _MOST_SHOWN else []
    return _verdict(rows, bool(failing), words)


def check_lists(view: TrustView, method: str | None, other: str | None) -> Finding:
    """For differences of means a list holds at least as many markers as another."""
    if method is None or other is None:
        return NOTHING
    rows, words = [], []
    for name, n in view.cells(view.pick(_of_means), _LEAST_SAMPLES):
        own, theirs = (view.values("true_positives", name, each, n) for each in (method, other))
        if own is None or theirs is None:
            continue
        gap = Estimate.of(own - theirs)
        rows.append(Row(view.titles[name], n, gap))
        if gap.mean < -_ERRORS * gap.standard_error:
            words.append(f"{view.place(name, n)}: {own.mean():.2f} found against {theirs.mean():.2f}.")
    head = f"{len(rows) - len(words)} of {len(rows)} comparisons hold."
    return _verdict(rows, bool(words), (head, *words[:_MOST_SHOWN]))


def check_trust(view: TrustView) -> list[tuple[str, Finding]]:
    """Check what the package promises, one statement after the other."""
    mnc, fdr = view.find("obf", "mnc"), view.find("obf", "fdr:0.1")
    jeffreys, moderated = view.find("obf-jp"), view.find("limma")
    near = "quotient 0.8 to 1.25, or a difference of at most 2 in 20,000 features, or within 3 standard errors"
    shapes = "Gaussian, t, outlier and contaminated scenarios from 10 + 10 samples on"
    claims = "Claimed and true false positives of the calibrated"
    return [
        (f"{claims} MNC list agree in all {shapes} ({near})", check_claims(view, mnc, _is_promised)),
        (f"{claims} FDR 0.1 list agree in all {shapes} ({near})", check_claims(view, fdr, _is_promised)),
        (f"{claims} MNC list agree in all these scenarios together (0.8 to 1.25, or within 3 standard errors)",
         check_totals(view, mnc, _is_promised)),
        (f"{claims} FDR 0.1 list agree in all these scenarios together (0.8 to 1.25, or within 3 standard errors)",
         check_totals(view, fdr, _is_promised)),
        (f"{claims} MNC list agree for skewed values, blocks and the paper's data ({near})",
         check_claims(view, mnc, _elsewhere)),
        (f"{claims} FDR 0.1 list agree for skewed values, blocks and the paper's data ({near})",
         check_claims(view, fdr, _elsewhere)),
        (f"Claimed and true false positives of the JP list (MNC) agree in all {shapes} ({near})",
         check_claims(view, view.find("obf-jp", "mnc"), _is_promised)),
        ("90% intervals of the calibrated MNC list hold the true number in 90% of the data sets, in all scenarios "
         "together", check_intervals(view, mnc, lambda _: True)),
        ("90% intervals of the calibrated FDR 0.1 list hold the true number in 90% of the data sets, in all "
         "scenarios together", check_intervals(view, fdr, lambda _: True)),
        ("Without markers the calibrated MNC list is empty in 95% of the data sets", check_level(view, mnc)),
        ("Without markers the calibrated FDR 0.1 list is empty in 95% of the data sets", check_level(view, fdr)),
        ("At equal false positives the calibrated ranking finds at least 0.95 of what JP's finds, in Gaussian "
         "scenarios (within 3 standard errors)", check_power(view, mnc, jeffreys, _is_gaussian, _LEAST_POWER)),
        ("At equal false positives the calibrated ranking finds at least what moderated t finds, where means "
         "differ (within 3 standard errors)", check_power(view, mnc, moderated, _of_means, 1.0)),
        ("The calibrated FDR 0.1 list holds at least as many markers as moderated t with BH 0.1, where means "
         "differ (within 3 standard errors)", check_lists(view, fdr, moderated)),
    ]  # fmt: skip
