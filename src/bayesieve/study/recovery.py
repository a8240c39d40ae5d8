"""Which method finds what: shares of markers found over a grid of scenarios, and supplement S4's statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesieve.study.grid_view import GridView
from bayesieve.study.results_view import FEWEST, Estimate
from bayesieve.study.verdicts import NOTHING, Finding, Row, Verdict

S4 = "supplement S4 of the paper"
OURS = "our own expectation"
_SEEN, _UNSEEN = 0.8, 0.2
_LEVEL = 0.05
_ERRORS = 3.0  # standard errors within which nothing is told apart


class RecoveryView(GridView):
    """Results of a grid about what is found; parameters as for :class:`GridView`."""

    def share_found(self, scenario: str, method: str, n: int) -> Estimate:
        """Share of the markers in a method's list; of no data sets where there are no markers."""
        found = self.mean("true_positives", scenario, method, n)
        markers = self.views[scenario].n_markers
        if not found.iterations or markers < 0.5:
            return Estimate(np.nan, np.nan, 0)
        return Estimate(found.mean / markers, found.standard_error / markers, found.iterations)

    def of_effect(self, effect: str, **constants: Any) -> list[str]:
        """Scenarios of the model ``shapes`` with markers that differ in one way, and with constants as given."""
        wanted = {"data": "shapes", "effect": effect, **constants}
        return self.pick(
            lambda each: (
                each.get("marker_share") != 0.0
                and all(
                    each.get(name, "mean" if name == "effect" else None) == value for name, value in wanted.items()
                )
            )
        )

    @property
    def without_markers(self) -> list[str]:
        """Scenarios without a marker."""
        return self.pick(lambda each: each.get("marker_share") == 0.0)


def _judge(rows: Sequence[Row], holds: Sequence[bool], fails: Sequence[bool]) -> Finding:
    """Holds if every row does, fails if one fails beyond error; undecided between, and with too few data sets."""
    if not rows:
        return NOTHING
    few = min(row.value.iterations for row in rows) < FEWEST
    verdict = Verdict.FAILS if any(fails) else Verdict.HOLDS if all(holds) else Verdict.UNDECIDED
    words = tuple(
        f"{row.label}, n = {row.n:,}: {row.value.mean:.0%} ({row.value.standard_error:.0%})."
        for row in rows
    )  # fmt: skip
    return Finding(Verdict.UNDECIDED if few else verdict, words, tuple(rows))


def check_shares(
    view: RecoveryView, scenarios: Sequence[str], methods: Sequence[str | None], n: int, *, seen: bool
) -> Finding:
    """Methods find most markers of some scenarios (``seen``), or hardly any."""
    rows = []
    for method in (each for each in methods if each is not None):
        for name in scenarios:
            share = view.share_found(name, method, n)
            if share.iterations:
                rows.append(Row(f"{view.methods[method]}, {view.titles[name]}", n, share))
    found = [row.value for row in rows]
    if seen:
        fails = [each.mean + _ERRORS * each.standard_error < _SEEN for each in found]
        return _judge(rows, [each.mean >= _SEEN for each in found], fails)
    fails = [each.mean - _ERRORS * each.standard_error > _UNSEEN for each in found]
    return _judge(rows, [each.mean <= _UNSEEN for each in found], fails)


def check_misses(
    view: RecoveryView, scenarios: Sequence[str], fewer: str | None, more: Sequence[str | None], n: int
) -> Finding:
    """One method finds fewer markers than each of some others, in the same data."""
    rows = []
    for other in (each for each in more if each is not None and fewer is not None):
        for name in scenarios:
            own, theirs = (view.values("true_positives", name, str(each), n) for each in (fewer, other))
            if own is None or theirs is None:
                continue
            gap = Estimate.of((theirs - own) / view.views[name].n_markers)
            label = f"{view.methods[other]} over {view.methods[str(fewer)]}, {view.titles[name]}"
            rows.append(Row(label, n, gap))
    lead = [row.value.mean > _ERRORS * row.value.standard_error for row in rows]
    return _judge(rows, lead, [row.value.mean < -_ERRORS * row.value.standard_error for row in rows])


def check_empty(view: RecoveryView, methods: Sequence[str | None]) -> Finding:
    """Without markers a list is empty in 95% of the data sets, at every size."""
    rows = []
    for method in (each for each in methods if each is not None):
        for name, n in view.cells(view.without_markers):
            lists = view.values("n_selected", name, method, n)
            if lists is not None:
                rows.append(
                    Row(f"{view.methods[method]}: a list, {view.titles[name]}", n, Estimate.share(lists > 0))
                )
    over = [row.value.mean > _LEVEL + _ERRORS * row.value.standard_error for row in rows]
    return _judge(rows, [not each for each in over], over)


def check_recovery(view: RecoveryView) -> list[tuple[str, str, Finding]]:
    """Check the statements of supplement S4, and what one would expect besides: claim, source, finding."""
    n = view.sizes[-1] if view.sizes else 0
    t, obf, jp, lasso = (view.find(name) for name in ("welch", "obf", "obf-jp", "lasso-logit"))
    pairs = view.find("2mnc-robust"), view.find("pofac")
    a, b, c = ([name] if name in view.views else [] for name in "abc")
    blocks = [name for name in ("blocks-mean", "blocks-variance", "blocks-covariance") if name in view.views]
    at = f"at n = {n:,}"
    return [
        (f"The t-test cannot detect differences of variances, S4 (a), {at}", S4,
         check_shares(view, a, [t], n, seen=False)),
        (f"OBF detects differences of variances, S4 (a), {at}", S4,
         check_shares(view, a, [jp, obf], n, seen=True)),
        (f"Neither t-test nor OBF can detect features whose covariances alone differ, S4 (b), {at}", S4,
         check_shares(view, b, [t, jp, obf], n, seen=False)),
        (f"2MNC-Robust and POFAC find features whose covariances alone differ, S4 (b), {at}", S4,
         check_shares(view, b, pairs, n, seen=True)),
        (f"t-test and OBF detect both of two correlated features that differ in mean, S4 (c), {at}", S4,
         check_shares(view, c, [t, jp, obf], n, seen=True)),
        (f"A regression misses more of two correlated features that differ in mean than filters do, S4 (c), {at}",
         S4, check_misses(view, c, lasso, [t, jp], n)),
        (f"2MNC-Robust and POFAC find what OBF finds, too: variances, S4 (a), and means, S4 (c), {at}", OURS,
         check_shares(view, [*a, *c], pairs, n, seen=True)),
        (f"2MNC-Robust and POFAC find covariances that differ where values have heavy tails and where other "
         f"features are correlated, {at}", OURS,
         check_shares(view, [name for name in ("b-t5", "b-among-pairs", "b-many") if name in view.views], pairs, n,
                      seen=True)),
        (f"The blocks of SPM hold most markers of two blocks of five, {at}", OURS,
         check_shares(view, blocks, [view.find("spm")], n, seen=True)),
        ("Without markers the lists of REMAIN are empty in 95% of the data sets", OURS,
         check_empty(view, [view.find("remain")])),
        ("Without markers the lists of SPM are empty in 95% of the data sets", OURS,
         check_empty(view, [view.find("spm")])),
    ]  # fmt: skip


def describe_recovery(view: RecoveryView) -> list[str]:
    """Return the shares of markers found as lines of a table, at the largest number of samples."""
    n = view.sizes[-1]
    width = max(len(title) for title in view.titles.values())
    heads = {method: title.partition(",")[0] for method, title in view.methods.items()}
    lines = [f"Share of the markers found at n = {n:,}.", "  ".join([" " * width, *heads.values()])]
    for name, title in view.titles.items():
        cells: Mapping[str, Estimate] = {method: view.share_found(name, method, n) for method in heads}
        if any(each.iterations for each in cells.values()):
            texts = [
                ("" if not cells[method].iterations else f"{cells[method].mean:.0%}").rjust(len(head))
                for method, head in heads.items()
            ]
            lines.append("  ".join([title.ljust(width), *texts]))
    return lines
