"""Label leak: a listed feature that may be the label under another name."""

from __future__ import annotations

import difflib
import re

import numpy as np

from bayesieve.posterior import Check
from bayesieve.screening.checks.view import ListView, make
from bayesieve.utils import BoolArray, FloatArray, IntArray, Wording, list_names, plural

NAME, TITLE, LINK = "leak", "Label leak", "table"
_LEAST_SAMPLES, _ALIKE, _LEAST_LETTERS = 8, 0.8, 3


def check_leak(view: ListView) -> Check | None:
    """Ask about features that separate the classes without error and look like labels; None if there are none."""
    if view.matrix is None or view.scheme == "pairs" or view.matrix.n_samples < _LEAST_SAMPLES:
        return None
    n_classes = len(view.posterior.classes)
    apart = separates(view.values, view.codes, n_classes)
    if not apart.any():
        return None
    names, found = view.posterior.names, []
    for k, i in zip(np.flatnonzero(apart).tolist(), view.listed[apart].tolist(), strict=True):
        coded = _n_distinct(view.values[:, k]) == n_classes
        if coded or is_named_like(names[i], view.label_name):
            found.append((names[i], coded))
    return _ask(found, view.label_name) if found else None


def _ask(found: list[tuple[str, bool]], label: str) -> Check:
    n, suspects = len(found), [name for name, _ in found]
    one, coded = n == 1, sum(is_coded for _, is_coded in found)
    why = [f"{'takes' if one else 'take'} one value in each class"] if coded else []
    why += [f"{'is' if one else 'are'} named like the label column {label!r}"] if coded < n else []
    start, go = ("Is this", "separates") if one else ("Are these", "separate")
    made, them = ("it holds", "it") if one else ("they hold", "them")
    return make(
        NAME, TITLE, LINK, "alarm", n, f"{n:,}",
        f"{start} the label under another name? {plural(n, 'listed feature')} ({list_names(suspects, 3)}) {go} "
        f"the classes without error and {' or '.join(why)}.",
        hint=(f"If {made} what the classes were made from, leave {them} out: ",
              Wording(f"ignore={suspects[:1]!r}", f"--ignore {suspects[0]}"), "."),
        n_suspects=n, suspects=suspects[:20],
    )  # fmt: skip


def separates(values: FloatArray, codes: IntArray, n_classes: int) -> BoolArray:
    """Features whose classes lie apart, each with all its values on one side of those of every other."""
    lows, highs = [], []
    with np.errstate(invalid="ignore"):
        for k in range(n_classes):
            own = values[codes == k]
            there = ~np.isnan(own)
            lows.append(np.where(there, own, np.inf).min(axis=0, initial=np.inf))
            highs.append(np.where(there, own, -np.inf).max(axis=0, initial=-np.inf))
    low, high = np.array(lows), np.array(highs)
    order = np.argsort(low, axis=0, kind="stable")
    low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
    return np.asarray((high[:-1] < low[1:]).all(axis=0) & np.isfinite(low).all(axis=0))


def _n_distinct(values: FloatArray) -> int:
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
