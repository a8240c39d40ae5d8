"""Columns of numbers that describe the samples: left out where that is certain, doubted where it is probable."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.io.tables.roles import ID_NAMES
from bayesieve.io.tables.summary import Summary
from bayesieve.io.tables.table import Table
from bayesieve.io.text.parsing import number
from bayesieve.stats import as_moments
from bayesieve.utils import DataWarning, FloatArray, Message, Wording, list_names, plural, warn

_ABOUT = frozenset({
    "age", "sex", "gender", "bmi", "batch", "height", "weight", "race", "ethnicity", "plate", "well", "lane",
    "run", "centre", "center", "site", "date", "year", "month", "visit", "timepoint", "stage", "grade",
    "survival", "followup", "smoker", "smoking", "dose", "treatment", "arm", "rin", "passage", "group",
    "class", "label", "status", "outcome",
})  # fmt: skip
_QUALIFIERS = frozenset({
    "at", "of", "in", "and", "the", "diagnosis", "years", "year", "yrs", "baseline", "patient", "sample",
    "subject", "kg", "m2", "cm", "kgm2", "code", "number", "no", "time", "days", "months", "os", "pfs", "dfs",
    "rna", "tumor", "tumour", "entry", "inclusion", "surgery",
})  # fmt: skip
_LABELS = frozenset({
    "case", "control", "disease", "diagnosis", "response", "target", "y", "phenotype", "condition", "code", "type",
    "cancer", "tumor", "tumour", "dead", "alive", "event",
})  # fmt: skip
_COUNTERS = frozenset({  # lines of htseq-count and STAR below the genes
    "__no_feature", "__ambiguous", "__too_low_aqual", "__not_aligned", "__alignment_not_unique", "n_unmapped",
    "n_multimapping", "n_nofeature", "n_ambiguous",
})  # fmt: skip
_TOTALS = frozenset({"total", "totals", "sum", "grand total", "column total", "average", "summe", "gesamt"})
_NUMBERED = frozenset({"id", "ids", "number", "no", "nr", "num", "index", "barcode"})
_MAYBE = re.compile(rf"(?<![^\W_])(?:{'|'.join(sorted(_ABOUT | _NUMBERED))})(?![^\W_])", re.IGNORECASE)
_TOKENS = re.compile(r"[\s._\-/()\[\],:]+")
_MOST_REPEATS, _LEAST_SAMPLES, _FEW_VALUES = 3, 8, 10


@dataclass(frozen=True, slots=True)
class Metadata:
    """Features that describe the samples.

    Parameters
    ----------
    certain
        Names by reason: those that repeat the labels, number the samples, or are columns of the label file.
    probable
        Names that say so.
    """

    certain: dict[str, list[str]] = field(default_factory=dict)
    probable: list[str] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """All names that are certain."""
        return tuple(name for names in self.certain.values() for name in names)

    def note(self, what: str = "column") -> Message:
        """Say what was left out, and how it is brought back."""
        parts = [f"{list_names(names, 5)} ({reason})" for reason, names in self.certain.items()]
        n = len(self.names)
        return Message.of(
            f"{plural(n, what)} of numbers {'is' if n == 1 else 'are'} about the samples and no "
            f"{'feature' if n == 1 else 'features'}: {', '.join(parts)}.",
            hint=("To screen one all the same, say ", _option("keep", self.names[:1]), "."),
            kind="metadata",
        )

    def tell(self, table: Table) -> None:
        """Note what was left out, in place of having been ignored."""
        kept = {reason: [n for n in each if n not in self.names] for reason, each in table.left_out.items()}
        table.left_out = {reason: each for reason, each in kept.items() if each}
        table.notes.append(self.note("row" if table.samples_in == "columns" else "column"))

    def doubt(self, path: str, what: str = "column") -> None:
        """Warn of features whose names say that they describe the samples."""
        if self.probable:
            n = len(self.probable)
            warn(
                DataWarning,
                f"{path}: {plural(n, what)} of numbers {'is' if n == 1 else 'are'} screened as "
                f"{'a feature' if n == 1 else 'features'} but {'seems' if n == 1 else 'seem'} to describe the "
                f"samples: {list_names(self.probable, 5)}.",
                hint=(
                    "If so, leave them out: ",
                    _option("ignore", self.probable),
                    "; if not, say ",
                    _option("keep", self.probable),
                    ".",
                ),
                kind="metadata",
            )


def _option(name: str, values: Collection[str]) -> Wording:
    shown = list(values)[:5]
    quoted = [value if re.fullmatch(r"[\w.-]+", value) else repr(value) for value in shown]
    return Wording(f"{name}={shown!r}", " ".join(f"--{name} {value}" for value in quoted))


def find_metadata(summary: Summary, keep: Collection[str], files: Collection[Any]) -> Metadata:
    """Look for features that describe the samples; ``files`` are the label files, ``keep`` names features."""
    if hasattr(summary.statistics, "levels"):  # of categories, answers about the samples are what is compared
        return Metadata()
    numbered = {name for name in summary.feature_names if name.rpartition(".")[0] in summary.repeated}
    names = {n: k for k, n in enumerate(summary.feature_names) if n not in keep and n not in numbered}
    telling = list(names) if _MAYBE.search("\n".join(names)) else []
    certain: dict[str, list[str]] = {}
    discrete = summary.profile is None or summary.profile.most_distinct <= _FEW_VALUES
    repeats = [name for name in _repeats_of_labels(summary) if name in names]
    named = [name for name in repeats if _describes(name) or _LABELS.intersection(_tokens(name))]
    if named and not discrete:
        certain["the labels again"] = named
    counters = [name for name in names if name.casefold() in _COUNTERS]
    if counters:
        certain["reads that were not counted for a gene"] = counters
    ids = [name for name in telling if _numbers_samples(name)]
    known = {name: file for file in files for name in file.names if name in names and name not in ids}
    plain = summary.transform == "none" and summary.normalise == "none"
    if plain and summary.profile is not None and not summary.n_pairs:
        values = _values(summary, [names[name] for name in (*ids, *known)])
        for name in ids:
            if _are_distinct_whole(values[names[name]]):
                certain.setdefault("numbers of the samples", []).append(name)
        for name, file in known.items():
            if _are_same(summary, values[names[name]], file, name):
                certain.setdefault(f"also in {file.path}", []).append(name)
    gone = {name for group in certain.values() for name in group}
    probable = [name for name in telling if name not in gone and name not in repeats and _describes(name)]
    probable += [name for name in repeats if name not in gone]
    probable += [name for name in names if name.casefold() in _TOTALS and name not in probable]
    return (
        Metadata(certain, probable) if len(gone) < len(summary.feature_names) else Metadata({}, [*gone, *probable])
    )


def _repeats_of_labels(summary: Summary) -> list[str]:
    """Names of the few features that take one whole number in each class, another one in each."""
    moments = as_moments(summary.statistics)
    if moments is None or summary.n_pairs or moments.n_features < 2:
        return []
    counts = np.broadcast_to(moments.counts, moments.mean.shape)
    if sum(summary.class_counts.values()) < _LEAST_SAMPLES or min(summary.class_counts.values()) < 2:
        return []
    alike = (moments.centred_squares == 0).all(axis=0) & (counts == counts.max(axis=1, keepdims=True)).all(axis=0)
    for k in range(1, len(moments.classes)):
        alike &= (moments.mean[:k] != moments.mean[k]).all(axis=0)
    if summary.transform == "none" and summary.normalise == "none":
        whole = (moments.mean == np.round(moments.mean)) & (np.abs(moments.mean) < 1000)
        alike &= whole.all(axis=0)
    places = np.flatnonzero(alike)
    return [summary.feature_names[k] for k in places.tolist()] if places.size <= _MOST_REPEATS else []


def _tokens(name: str) -> list[str]:
    return [token for token in _TOKENS.split(name.casefold()) if token]


def _numbers_samples(name: str) -> bool:
    tokens = _tokens(name)
    return (bool(name) and name.casefold() in ID_NAMES) or (0 < len(tokens) < 4 and tokens[-1] in _NUMBERED)


def _describes(name: str) -> bool:
    tokens = _tokens(name)
    about = [token for token in tokens if token in _ABOUT]
    return bool(about) and len(tokens) <= 4 and all(t in _ABOUT or t in _QUALIFIERS for t in tokens)


def _values(summary: Summary, places: list[int]) -> dict[int, FloatArray]:
    """Values of some features, of all samples in their order."""
    if not places:
        return {}
    which = np.unique(np.array(places, np.int64))
    parts: dict[int, list[FloatArray]] = {}
    for block in summary.blocks(which):
        values: Any = block.values
        dense = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
        for k in range(dense.shape[1]):
            parts.setdefault(int(which[block.first + k]), []).append(dense[:, k])
    return {place: np.concatenate(columns) for place, columns in parts.items()}


def _are_distinct_whole(values: FloatArray) -> bool:
    return values.size > 3 and bool((values == np.round(values)).all()) and np.unique(values).size == values.size


def _are_same(summary: Summary, values: FloatArray, file: Any, name: str) -> bool:
    """Tell whether a label file gives the samples these values in the column of that name."""
    labeller = summary.samples.labeller
    keys = [labeller.by_match.get(sample, sample) for sample in summary.sample_names]
    key, n_known = file.id_column(keys)
    if not n_known or key == name or len(keys) != values.size:
        return False
    theirs: Mapping[str, str | None] = dict(zip(file.column(key), file.column(name), strict=True))
    given = np.array([number(theirs.get(each) or "") for each in keys])
    there = np.isfinite(given)
    return bool(there.sum() > 3 and np.allclose(given[there], values[there], rtol=1e-6))
