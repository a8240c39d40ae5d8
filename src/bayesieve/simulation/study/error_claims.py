"""Claims about the errors that OBF expects, about its probabilities, and about what methods cost."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from bayesieve.simulation.study.claims import ahead, alike, differences, never_behind
from bayesieve.simulation.study.estimates import Estimate
from bayesieve.simulation.study.findings import NOTHING, Finding, Row, Rows, Verdict, signed, together
from bayesieve.simulation.study.measures import CONFIDENCE, EDGES, SECONDS, bin_names
from bayesieve.simulation.study.scene import Scene

_AGREE = 0.1
_FEWEST = 5.0  # markers that a bin must be expected to hold


def expected_errors(scene: Scene) -> Finding:
    """Expected false positives agree with true ones, as a share of the latter (or of one feature).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.error_claims import expected_errors
    >>> from bayesieve.simulation.study.scene import Scene
    >>> design = built_in("calibration").changed(sizes=[50], iterations=5, methods=["np-5"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> expected_errors(Scene(results)).rows[0].label
    'Expected minus true, as a share of the true, NP 5'
    """
    expected, false = scene.measured("expected_false_positives"), scene.measured("false_positives")
    findings = []
    for method in expected.methods:
        rows = []
        for n in expected.sizes(method):
            unit = max(false.mean(method, n).mean, 1.0)
            gap = scene.expected_minus_true(method, n)
            share = Estimate(gap.mean / unit, gap.standard_error / unit, gap.iterations)
            rows.append(Row(f"Expected minus true, as a share of the true, {expected.titles[method]}", n, share))
        findings.append(alike(tuple(rows), _AGREE))
    return together(findings) if findings else NOTHING


def intervals(scene: Scene) -> Finding:
    """Intervals hold the truth as often as they say, or more often.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.error_claims import intervals
    >>> from bayesieve.simulation.study.scene import Scene
    >>> design = built_in("calibration").changed(sizes=[50], iterations=5, methods=["np-5"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> intervals(Scene(results)).verdict.value
    'holds'
    """
    found = scene.measured("interval_low")
    findings = []
    for method in found.methods:
        label = f"Coverage minus {CONFIDENCE:.0%}, {found.titles[method]}"
        shares = ((n, scene.coverage(method, n)) for n in found.sizes(method))
        findings.append(never_behind(tuple(Row(label, n, _less(share)) for n, share in shares), digits=2))
    return together(findings) if findings else NOTHING


def reliable(scene: Scene) -> Finding:
    """In every bin of probability there are as many markers as the probabilities add up to.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.error_claims import reliable
    >>> from bayesieve.simulation.study.scene import Scene
    >>> design = built_in("calibration").changed(sizes=[50], iterations=5, methods=["mnc"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> reliable(Scene(results)).verdict.value
    'holds'
    """
    methods = scene.measured(bin_names(0)[0]).methods
    rows: list[Row] = []
    for method in methods[:1]:  # methods of such a study share their probabilities
        for k in range(len(EDGES) - 1):
            rows += _bin(scene, method, k)
    if not rows:
        return NOTHING
    off = [row for row in rows if row.value.direction]
    widest = max(rows, key=lambda row: abs(row.value.mean) / row.value.standard_error)
    words = (
        f"{len(off)} of {len(rows)} bins are off by more than four standard errors.",
        f"{widest.label}: at most {signed(widest.value, 2)}, at n = {widest.n:,}.",
    )
    return Finding(Verdict.FAILS if off else Verdict.HOLDS, words, tuple(rows))


def _bin(scene: Scene, method: str, k: int) -> list[Row]:
    """Markers minus expected ones in a bin where five of each kind are expected; errors as the model has them."""
    features, probability, markers = map(scene.measured, bin_names(k))
    label = f"Markers minus their expected number, probability {EDGES[k]:g} to {EDGES[k + 1]:g}"
    rows = []
    for n in markers.sizes(method):
        expected, number = probability.values(method, n), features.values(method, n)
        variance = float((expected * (1.0 - expected / np.maximum(number, 1.0))).sum())
        if variance >= _FEWEST:
            gaps = markers.minus(probability, method, n)
            rows.append(Row(label, n, Estimate(float(gaps.mean()), math.sqrt(variance) / gaps.size, gaps.size)))
    return rows


def larger_lists(scene: Scene) -> Finding:
    """Each larger prior probability, and each larger number L, selects more features than the one before.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.error_claims import larger_lists
    >>> from bayesieve.simulation.study.scene import Scene
    >>> design = built_in("sensitivity").changed(sizes=[100], iterations=5, methods=["L=0.01", "L=0.1", "L=0.4"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> larger_lists(Scene(results)).verdict.value
    'holds'
    """
    findings = []
    for option, methods in scene.varied.items():
        numbers = [method for method in methods if not isinstance(method.options[option], str)]
        order = sorted(numbers, key=lambda method: float(method.options[option]))
        for smaller, larger in itertools.pairwise(order):
            findings.append(ahead(differences(scene.measured("n_selected"), larger.name, smaller.name)))
    return together(findings) if findings else NOTHING


def costs_as(scores: Sequence[str], low: float, high: float) -> Callable[[Scene], Finding]:
    """Time of methods, in units of that of CMNC-OBF-JP, lies between two numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.error_claims import costs_as
    >>> from bayesieve.simulation.study.scene import Scene
    >>> design = built_in("table-1").changed(sizes=[20], iterations=1, methods=["cmnc-obf-jp", "bd"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> costs_as(["bd"], 0.0, 1000.0)(Scene(results)).verdict.value
    'holds'
    """

    def check(scene: Scene) -> Finding:
        unit = scene.named("obf-jp")
        seconds = scene.measured(SECONDS)
        names = [name for each in scores if (name := scene.named(each)) is not None]
        if unit is None or not names:
            return NOTHING
        return together(_cost(_ratios(scene, name, unit), low, high) for name in names if name in seconds.titles)

    return check


def _ratios(scene: Scene, name: str, unit: str) -> Rows:
    seconds = scene.measured(SECONDS)
    label = f"{seconds.titles[name]}, times {seconds.titles[unit]}"
    return tuple(
        Row(label, n, Estimate.of(np.divide(*seconds.paired(name, unit, n)))) for n in seconds.sizes(name, unit)
    )


def _cost(rows: Rows, low: float, high: float) -> Finding:
    """Times vary more than their standard error says, so that the verdict looks at the mean alone."""
    inside = all(low <= row.value.mean <= high for row in rows)
    words = ", ".join(f"{row.value.mean:.2g} ({row.value.standard_error:.2g}) at n = {row.n:,}" for row in rows)
    return Finding(Verdict.HOLDS if inside else Verdict.FAILS, (f"{rows[0].label}: {words}.",), rows)


def _less(share: Estimate) -> Estimate:
    return Estimate(share.mean - CONFIDENCE, share.standard_error, share.iterations)
