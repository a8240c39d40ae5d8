"""Label leak: a listed feature that may be the label under another name."""

from __future__ import annotations

import difflib
import re
from typing import Any

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.posterior import Check
from bayesieve.screening.checks.view import ListView, make
from bayesieve.utils import BoolArray, IntArray, Wording, list_names, plural

NAME, TITLE, LINK = "leak", "Label leak", "table"
_LEAST_SAMPLES, _ALIKE, _LEAST_LETTERS, _SHOWN, _SIEVE = 8, 0.8, 3, 3, 32


def check_leak(view: ListView) -> Check | None:
    """Ask about features that separate the classes without error and look like labels; None if there are none."""
    if view.matrix is None or view.scheme == "pairs" or view.matrix.n_samples < _LEAST_SAMPLES:
        return None
    classes, names, found = view.posterior.classes, view.posterior.names, []
    which, values = (view.listed, view.values) if is_sparse(view.matrix.values) else (None, view.matrix.values)
    for k in np.flatnonzero(separates(values, view.codes, len(classes))).tolist():
        i = k if which is None else int(which[k])
        coded = _n_distinct(values[:, k]) == len(classes)
        if coded or is_named_like(names[i], view.label_name):
            found.append((i, coded))
    return _ask(view, found) if found else None


def _ask(view: ListView, found: list[tuple[int, bool]]) -> Check:
    n, label = len(found), view.label_name
    suspects = [f"{view.posterior.names[i]}" for i, _ in found]
    ranks = ", ".join(f"{view.posterior.rank[i]:,}" for i, _ in found[:_SHOWN])
    one, coded = n == 1, sum(is_coded for _, is_coded in found)
    why = [f"{'takes' if one else 'take'} one value in each class"] if coded else []
    why += [f"{'is' if one else 'are'} named like the label column {label!r}"] if coded < n else []
    what = f"{plural(n, 'feature')} ({list_names(suspects, _SHOWN)}; rank {ranks})"
    start, go = ("Is this", "separates") if one else ("Are these", "separate")
    made, them = ("it holds", "it") if one else ("they hold", "them")
    return make(
        NAME, TITLE, LINK, "alarm", n, list_names(suspects, 2, quote=False),
        f"{start} the label under another name? {what} {go} the classes without error and {' or '.join(why)}.",
        hint=(f"If {made} what the classes were made from, leave {them} out: ",
              Wording(f"ignore={suspects[:1]!r}", f"--ignore {suspects[0]}"), "."),
        n_suspects=n, suspects=suspects[:20],
    )  # fmt: skip


def separates(values: Any, codes: IntArray, n_classes: int) -> BoolArray:
    """Features whose classes lie apart, each with all its values on one side of those of every other."""
    rows = [np.flatnonzero(codes == k) for k in range(n_classes)]
    few = [each[:_SIEVE] for each in rows]  # a few samples of each class rule most features out
    apart, known = _lie_apart(values, few)
    left = np.flatnonzero(apart | ~known)
    found = np.zeros(apart.size, bool)
    if left.size:
        whole, known = _lie_apart(values[:, left], rows)
        found[left] = whole & known
    return found


def _lie_apart(values: Any, rows: list[IntArray]) -> tuple[BoolArray, BoolArray]:
    """Whether the classes lie apart on these samples, and whether each has a value at all."""
    lows, highs = [], []
    with np.errstate(invalid="ignore"):
        for each in rows:
            own = np.asarray(values[each], dtype=np.float64)
            lows.append(np.fmin.reduce(own, axis=0, initial=np.inf))  # missing values are passed over
            highs.append(np.fmax.reduce(own, axis=0, initial=-np.inf))
    low, high = np.array(lows), np.array(highs)
    order = np.argsort(low, axis=0, kind="stable")
    low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
    return np.asarray((high[:-1] < low[1:]).all(axis=0)), np.asarray(np.isfinite(low).all(axis=0))


def _n_distinct(values: Any) -> int:
    return int(np.unique(values[~np.isnan(values)]).size)


def is_named_like(name: str, label: str) -> bool:
    """Tell whether a feature is named like the column of the labels."""
    one, two = (re.sub(r"[^a-z0-9]+", "", text.casefold()) for text in (name, label))
    if not one or not two:
        return False
    if one == two:
        return True
    if min(len(one), len(two)) < _LEAST_LETTERS:
        return False
    words = {word for word in re.split(r"[^a-z0-9]+", name.casefold()) if word}
    return two in words or one.startswith(two) or difflib.SequenceMatcher(None, one, two).ratio() >= _ALIKE
