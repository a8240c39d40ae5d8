"""What the Python rules say, as JSON for the tests of the report's scripts.

``PYTHONPATH=src:tests python -m scripts.make_fixtures FOLDER`` writes the files by hand.
"""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import math
import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from browser.studies import HOSTILE, measured
from jeffreys import screen
from report.engine_cases import expected, selected, settings
from scipy import special, stats

import bayesieve as bs
from bayesieve.posterior import PoissonBinomial
from bayesieve.report import ReportData
from bayesieve.report.encoding import script_json
from bayesieve.report.figures.label_places import place_labels
from bayesieve.report.payload import payload

unshuffled = functools.partial(screen, shuffles=0)
_PRIOR = ("prior", "odds_factor", "ratio")


def write(folder: Path) -> None:
    """Write all fixtures into a folder."""
    for name, content in (
        ("studies", studies()),
        ("numbers", numbers()),
        ("distributions", distributions()),
        ("texts", texts()),
        ("labels", labels()),
        ("contours", contours()),
        ("priors", priors()),
        ("components", components()),
    ):
        (folder / f"{name}.json").write_text(script_json(_plain(content)), encoding="utf-8")


def priors() -> dict[str, Any]:
    """Lists of a screen under other prior probabilities."""
    posterior = unshuffled(*measured(40, 300, 30, seed=31), prior_probability=0.05)
    known = []
    for prior in np.geomspace(1e-5, 0.5, 31).tolist():
        selection = bs.MinimalRisk(0.5).select(posterior.with_prior(prior))
        wrong = selection.expected_false_positives
        known.append({"prior": prior, "size": selection.n_selected, "wrong": wrong})
    return {"payload": payload(ReportData.of(posterior)), "known": known}


def components() -> list[dict[str, Any]]:
    """Principal components of samples by a singular value decomposition, the largest weight positive."""
    found = []
    for n, width in ((40, 30), (6, 50), (3, 5)):
        rng = np.random.default_rng(n)
        rows = rng.normal(size=(n, width))
        rows[:, : width // 2] += rng.normal(size=(n, 1))
        rows -= rows.mean(axis=1, keepdims=True)
        left, sizes, right = np.linalg.svd(rows, full_matrices=False)
        sign = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
        x, y = ((sign * sizes)[:, None] * right)[:2].tolist()
        share = (sizes**2 / (sizes**2).sum())[:2].tolist()
        found.append({"rows": rows.ravel().tolist(), "n": n, "width": width, "x": x, "y": y, "share": share})
    return found


def contours() -> list[dict[str, Any]]:
    """Where on the effect map a feature is cut, by bisection of the evidence of samples made to lie there."""
    return [_contour(*case) for case in ((9, 14, 1.0, 2.0), (30, 30, 0.05, 4.6), (5, 60, 3.0, 9.0))]


def _contour(n0: int, n1: int, ratio: float, level: float) -> dict[str, Any]:
    rng, y = np.random.default_rng(n0), np.linspace(-0.6, 0.6, 7)
    first, second = (stats.zscore(rng.normal(size=n), ddof=1)[:, None] for n in (n0, n1))
    v1 = 2.0 * special.expit(y)  # the mean variance is 1
    low, high = np.zeros(y.size), np.full(y.size, 50.0)
    for _ in range(90):
        x = (low + high) / 2
        values = np.vstack([first * np.sqrt(2.0 - v1), x + second * np.sqrt(v1)])
        posterior = unshuffled(values, [0] * n0 + [1] * n1, model=bs.GaussianModel.jeffreys(ratio))
        over = posterior.log_bayes_factor > level
        low, high = np.where(over, low, x), np.where(over, x, high)
    content = payload(ReportData.of(posterior))
    return {"surface": content["surface"], "level": level, "y": y.tolist(), "x": x.tolist()}


def studies() -> list[dict[str, Any]]:
    """Screens of several kinds: payload, states of the controls and what the rules give under each."""
    return [
        {"name": name, "payload": payload(ReportData.of(found)), "cases": [_case(found, each) for each in states]}
        for name, found, states in _screens()
    ]


def _screens() -> Iterator[tuple[str, bs.FeaturePosterior, list[dict[str, Any]]]]:
    values, labels = measured(60, 2000, 60, seed=1)
    posterior = unshuffled(values, labels, classes=["control", "case"], prior_probability=0.03)
    yield "two classes", posterior, settings(posterior)
    posterior = unshuffled(*measured(40, 250, 30, seed=21), prior_probability=0.1)
    yield "every rule under every prior", posterior, crossed(posterior)
    posterior = unshuffled(*measured(40, 200, 20, seed=4), prior_probability=np.linspace(0.01, 0.4, 200))
    yield "own priors", posterior, crossed(posterior)
    values, labels = measured(30, 60, 12, seed=22)
    posterior = unshuffled(np.repeat(values, 5, axis=1), labels, prior_probability=0.2)
    yield "ties", posterior, crossed(posterior)
    values, labels = measured(20, 6000, 2500, seed=23)
    posterior = unshuffled(values, labels, prior_probability=0.6)
    yield "long lists", posterior, [state for state in settings(posterior) if state["rule"] != "cmnc"][::2]
    values, labels = measured(60, 100, 10, seed=5)
    posterior = unshuffled(values, ["low", "middle", "high"] * 20)
    yield "three classes", posterior, settings(posterior)
    values, labels = measured(40, 80, 8, seed=6)
    posterior = unshuffled(values, labels, pairs=[f"p{i % 20}" for i in range(40)])
    yield "pairs", posterior, settings(posterior)
    values, labels = measured(20, 50, 0, seed=11)
    posterior = unshuffled(values, labels, prior_probability=0.001)
    yield "nothing selected", posterior, settings(posterior)
    posterior = unshuffled(*measured(12, 1, 1, seed=12), prior_probability=0.3)
    yield "one feature", posterior, settings(posterior)
    for prior in (0.0, 1.0):
        posterior = unshuffled(*measured(20, 40, 4, seed=24), prior_probability=prior)
        yield f"a prior of {prior:g}", posterior, settings(posterior)
    values, labels = measured(40, 600, 40, seed=25)
    posterior = bs.screen(values, labels, prior_probability=0.05, shuffles=40)
    yield "shuffled labels", posterior, crossed(posterior)
    posterior = screen(values, labels, prior_probability=0.05, shuffles=25)
    yield "shuffled labels under Jeffreys' prior", posterior, crossed(posterior)
    posterior = bs.screen(values, labels, prior_probability=np.linspace(0.01, 0.4, 600), shuffles=25)
    yield "shuffled labels and own priors", posterior, crossed(posterior)


def crossed(posterior: bs.FeaturePosterior) -> list[dict[str, Any]]:
    """Every rule of the settings under every prior and prior ratio of them, and under all pairs of these."""
    states = settings(posterior)
    rules = [state for state in states if not any(key in state for key in _PRIOR)]
    moved = [{key: state[key] for key in _PRIOR if key in state} for state in states]
    priors = {json.dumps({k: v for k, v in each.items() if k != "ratio"}) for each in moved}
    ratios = {json.dumps({k: v for k, v in each.items() if k == "ratio"}) for each in moved}
    pairs = itertools.product(sorted(priors), sorted(ratios))
    return [rule | json.loads(prior) | json.loads(ratio) for prior, ratio in pairs for rule in rules]


def _case(posterior: bs.FeaturePosterior, state: dict[str, Any]) -> dict[str, Any]:
    selection = selected(posterior, state)
    known = expected(posterior, state)
    names = posterior.names
    ranked = [names[i] for i in np.argsort(-posterior.log_odds, kind="stable")]
    kept = set(selection.names)
    return {
        "state": state,
        "known": known,
        "words": selection.rule,
        "tied_out": selection.n_tied_out,
        "listed": [name for name in ranked if name in kept][:50],
        "cdf": [selection.false_positives.cdf(end) for end in selection.false_positives.interval(0.9)],
        "by_model": selection.false_positives.interval(0.9),
    }


def distributions() -> list[dict[str, Any]]:
    """Numbers of successes of coins, few and many, near certainty and not."""
    rng = np.random.default_rng(31)
    found = []
    for size in (0, 1, 2, 30, 700, 5000):
        for odds in (rng.normal(0, 1, size), rng.normal(-6, 3, size), rng.normal(0, 40, size)):
            distribution = PoissonBinomial.of(special.expit(odds), special.expit(-odds))
            low, high = distribution.interval(0.9)
            seen = {"lowest": distribution.lowest, "masses": distribution.pmf.tolist(), "low": low, "high": high}
            found.append({"odds": odds.tolist(), **seen, "half": distribution.cdf(size // 2)})
    return found


def labels() -> list[dict[str, Any]]:
    """Names beside points: few and many, in the middle and at the edges."""
    found: list[dict[str, Any]] = []
    for seed, (n, n_marks) in enumerate([(1, 1), (6, 20), (12, 60), (16, 400), (10, 2000), (8, 8)]):
        rng = np.random.default_rng(40 + seed)
        marks = rng.uniform(20, 480, (n_marks, 2)) if seed % 2 else rng.normal(250, 60, (n_marks, 2))
        marks = np.clip(np.vstack([marks[: n // 2], marks]), 5, 495)  # some points twice
        size = {"points": marks[:n], "widths": rng.uniform(20, 90, n).tolist(), "height": 14.0, "marks": marks}
        how = {"radius": 2.0 + seed, "always": seed % 3}
        places = place_labels(*size.values(), (10.0, 4.0, 490.0, 480.0), **how)  # type: ignore[arg-type]
        known = [None if each is None else {"box": each.box, "leader": each.leader} for each in places]
        found.append({**size, "points": marks[:n].tolist(), "marks": marks.tolist(), "how": how, "known": known})
    return found


def numbers() -> dict[str, Any]:
    """Single functions of numbers."""
    rng = np.random.default_rng(32)
    some = [0.0, -0.0, 1.0, 0.1, 0.05, 1e-5, 123456.0, 1234567.0, 1e100, -2.5e-7, math.inf, -math.inf, math.nan]
    some += (10.0 ** rng.uniform(-12, 12, 300) * rng.choice([-1, 1], 300)).tolist()
    odds = [*rng.normal(0, 30, 200).tolist(), 0.0, 700.0, -700.0, math.inf, -math.inf]
    chances = [*rng.uniform(0, 1, 100).tolist(), 1e-300, 1e-12, 1 - 1e-12, 0.5, 0.0, 1.0]
    with np.errstate(divide="ignore"):
        return {
            "general": [[x, format(x, "g") if x else "0"] for x in some],
            "expit": [[x, float(special.expit(x))] for x in odds],
            "logit": [[p, float(np.log(p) - np.log1p(-p))] for p in chances],
            "student": [
                [dof, location, scale, x, float(stats.t.pdf(x, dof, location, scale))]
                for dof in (0.7, 3.0, 25.5, 4000.0)
                for location, scale in ((0.0, 1.0), (8.2, 0.3))
                for x in (-3.0, 0.0, 7.9, 30.0)
            ],
        }


def texts() -> dict[str, Any]:
    """Words quoted for a shell and for CSV, and texts in the order in which people count."""
    words = ["", "plain", "a b", "it's", "x;y", "$HOME", "a,b", 'say "so"', "line\nbreak", *HOSTILE]
    rows = []
    for word in words:
        line = io.StringIO(newline="")
        csv.writer(line).writerow([word, "x"])
        rows.append([word, line.getvalue().removesuffix(",x\r\n")])
    seen = [word for word in words if word.isprintable()]
    return {"shell": [[word, shlex.quote(word)] for word in seen], "csv": rows}


def _plain(part: Any) -> Any:
    """Write numbers that JSON does not know as texts."""
    if isinstance(part, dict):
        return {key: _plain(value) for key, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_plain(value) for value in part]
    if isinstance(part, np.generic):
        part = part.item()
    if isinstance(part, float) and not math.isfinite(part):
        return {"number": "NaN" if math.isnan(part) else "Infinity" if part > 0 else "-Infinity"}
    return part


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(Path(sys.argv[1]))
