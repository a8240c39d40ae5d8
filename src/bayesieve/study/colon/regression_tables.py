"""Tables of the penalised regressions: probes and genes by penalty and by threshold, and cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesieve.study.colon.published import least_bound, published
from bayesieve.study.colon.run import ColonResults
from bayesieve.study.colon.section import Section
from bayesieve.study.colon.work import REGRESSIONS
from bayesieve.utils import IntArray

_MISSED = ("TTN", "TP53", "FBXW7", "CCNE1")  # by all regressions of the paper, but for TP53 in one case


def regressions_section(results: ColonResults) -> Section:
    """Counts of probes and genes by rule, with the bound on false ones."""
    rows: list[tuple[Any, ...]] = []
    for method in REGRESSIONS:
        if method in results.regressions:
            rows += _rule_rows(results, method)
    lead = (
        "Probes with a coefficient other than 0, and their genes. The bound is that of Meinshausen and "
        "Buhlmann's equation (9) as a share of the list, with q, the mean number of probes that a subsample "
        "selects at any penalty. It is proved for halves of the samples and thresholds above 0.5; the paper "
        "takes 90%, where it guarantees nothing. 'Least possible' is what the paper's own counts imply: the "
        f"printed bounds are impossible. The last column: which of {', '.join(_MISSED)} are selected; in the "
        "paper none, but TP53 by the elastic net at 0.1."
    )
    head = ("regression", "rule", "probes, paper", "genes, paper", "bound, paper", "least possible",
            "probes, here", "genes, here", "bound, here", "of the four, here")  # fmt: skip
    return Section("regressions", "Penalised regressions", lead, head, rows)


def _rule_rows(results: ColonResults, method: str) -> Iterator[tuple[Any, ...]]:
    paper, found = published()["regressions"][method], results.regressions[method]
    title = paper["title"]

    def at(penalty: float) -> IntArray:
        place = int(np.argmin(np.abs(found["penalties"] - penalty)))
        return np.unique(found["probe"][found["place"] == place])

    best = found["best"]
    told = f"cross-validation: {paper['cv_penalty']:g} in the paper, {best:g} here"
    yield title, told, *paper["cv"], None, None, *_list_cells(results, at(best)), None, _of_four(results, at(best))
    fixed = at(paper["fixed_penalty"])
    words = f"penalty {paper['fixed_penalty']:g}"
    yield title, words, *paper["fixed"], None, None, *_list_cells(results, fixed), None, _of_four(results, fixed)
    printed = {t: [a, b] for t, a, b in zip(paper["thresholds"], paper["probes"], paper["genes"], strict=True)}
    printed[paper["bound_threshold"]] = paper["at_bound"]
    for threshold in sorted(printed):
        chosen = np.flatnonzero(found["stability"] >= threshold - 1e-12)
        is_bound = threshold == paper["bound_threshold"]
        yield (
            title, f"stability, threshold {threshold:g}", *printed[threshold],
            paper["false_share_printed"] if is_bound else None, least_bound(method) if is_bound else None,
            *_list_cells(results, chosen), _bound(results, found, threshold, chosen.size),
            _of_four(results, chosen),
        )  # fmt: skip


def _list_cells(results: ColonResults, probes: IntArray) -> tuple[int, int]:
    return int(probes.size), len(results.genes_of(probes))


def _bound(results: ColonResults, found: Any, threshold: float, n_selected: int) -> float | None:
    """Equation (9) as a share of the list."""
    if threshold <= 0.5 or not n_selected:
        return None
    return float(found["q"] ** 2 / ((2 * threshold - 1) * len(results.table.features)) / n_selected)


def _of_four(results: ColonResults, probes: IntArray) -> str:
    genes = {gene for each in results.genes_of(probes) for gene in each}
    return ", ".join(name for name in _MISSED if results.known_names.get(name, "") in genes) or "none"


def penalties_section(results: ColonResults) -> Section:
    """Cross-validation by penalty: accuracy and number of probes."""
    rows = []
    for method, found in results.regressions.items():
        counts = np.bincount(found["place"], minlength=found["penalties"].size)
        rows += [
            (
                published()["regressions"][method]["title"], float(found["penalties"][k]), int(counts[k]),
                float(found["accuracy"][k]), float(found["balanced_accuracy"][k]), float(found["baseline"]),
            )
            for k in _some(found)
        ]  # fmt: skip
    lead = (
        "Accuracy on samples left out, 10 folds, mean over repetitions. Guessing the larger class every time is "
        "the baseline; accuracy rewards it, so that the penalty with the highest accuracy may select little. "
        "Balanced accuracy of guessing is 0.5."
    )
    head = ("regression", "penalty", "probes", "accuracy", "balanced accuracy", "baseline")
    return Section("penalties", "Cross-validation by penalty", lead, head, rows)


def _some(found: Any) -> list[int]:
    """Every fifth penalty, and the best."""
    every = range(found["penalties"].size)
    best = int(np.argmin(np.abs(found["penalties"] - found["best"])))
    return sorted({*every[1::5], 0, best, every[-1]})
