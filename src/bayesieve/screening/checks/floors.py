"""Floors and ties: listed features of which a class is mostly one value."""

from __future__ import annotations

import numpy as np

from bayesieve.data import is_sparse
from bayesieve.posterior import Check
from bayesieve.screening.checks.view import ListView, make, not_checked, percent
from bayesieve.utils import BoolArray, FloatArray, IntArray, option, plural

NAME, TITLE, LINK = "floors", "Floors and ties", "look"
MOSTLY = 0.5  # share of the values of a class that equal each other
ATTENTION, ALARM = 0.05, 0.2  # share of the list
_TOP, _LEAST_VALUES = 10, 4


def check_floors(view: ListView) -> Check:
    """Look for detection limits, zeros and clipped values."""
    if view.matrix is None:
        return not_checked(NAME, TITLE, LINK, view.absence)
    if not view.is_numeric:
        return not_checked(NAME, TITLE, LINK, "equal values are part of a model of counts or categories")
    n = int(view.listed.size)
    tied = mostly_one_value(view.values, view.codes, len(view.posterior.classes))
    tied |= at_the_ends(view)
    number, share = int(tied.sum()), float(tied.mean()) if n else 0.0
    ranked = view.selection.indices[:_TOP]
    top = int(tied[np.searchsorted(view.listed, ranked)].sum())
    state = "alarm" if share >= ALARM else "attention" if share >= ATTENTION or top else "good"
    if not number:
        text = "No listed feature has a class that is mostly one value." if n else "Nothing is listed."
        shown = f"0 of {n:,}" if n else "none listed"
        return make(NAME, TITLE, LINK, "good", 0, shown, text, n_listed=n, n_tied=0, n_tied_of_top=0)
    best = f"; {top:,} of the first {ranked.size}" if top else ""
    have = "has" if number == 1 else "have"
    return make(
        NAME, TITLE, LINK, state, number, f"{number:,} of {n:,}",
        f"{number:,} of {plural(n, 'listed feature')} ({percent(share)}{best}) {have} a class that is mostly one "
        "value: a detection limit, zeros or clipping.",
        hint=() if state == "good" else (
            "Such a class seems to vary next to nothing: state the step to which values are known (",
            option("resolution"), "), or leave such features out."),
        n_listed=n, n_tied=number, n_tied_of_top=top,
    )  # fmt: skip


def mostly_one_value(values: FloatArray, codes: IntArray, n_classes: int) -> BoolArray:
    """Features of which at least half of the values of some class equal each other."""
    found = np.zeros(values.shape[1], bool)
    for k in range(n_classes):
        own = np.sort(values[codes == k], axis=0)  # missing values come last
        there = (~np.isnan(own)).sum(axis=0)
        need = np.maximum(np.ceil(MOSTLY * there).astype(np.int64), 2)
        for size in np.unique(need[there >= _LEAST_VALUES]).tolist():  # a run so long begins and ends alike
            if size <= own.shape[0]:
                runs = (own[size - 1 :] == own[: own.shape[0] - size + 1]).any(axis=0)
                found |= runs & (need == size) & (there >= _LEAST_VALUES)
    return found


def at_the_ends(view: ListView) -> BoolArray:
    """Features of which at least half of the values of a class are the least, or the largest, of their sample.

    Only ends that several features of a sample share are limits: after a normalisation every sample has its own.
    """
    assert view.matrix is not None
    values, codes = view.matrix.values, view.codes
    found = np.zeros(view.listed.size, bool)
    if is_sparse(values) or values.shape[1] < 2:  # zeros of all samples are found as ties
        return found
    with np.errstate(invalid="ignore"):
        for extreme in (np.fmin, np.fmax):
            end = extreme.reduce(values, axis=1)[:, None]
            shared = (values == end).sum(axis=1, keepdims=True) > 1
            hit = (view.values == end) & shared
            for k in range(len(view.posterior.classes)):
                there = (~np.isnan(view.values[codes == k])).sum(axis=0)
                enough = np.maximum(MOSTLY * there, 2)
                found |= (hit[codes == k].sum(axis=0) >= enough) & (there >= _LEAST_VALUES)
    return found
