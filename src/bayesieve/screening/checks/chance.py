"""Chance: what shuffled labels list, beside what the model expects."""

from __future__ import annotations

import numpy as np

from bayesieve.posterior import Check
from bayesieve.screening.checks.view import ListView, make
from bayesieve.utils import expectation, plural

NAME, TITLE, LINK = "chance", "Chance", "decide"
ATTENTION, ALARM = 0.4, 0.5  # share of the list that comes without any difference
FAR, FAR_SHARE = 2.0, 0.1  # times what the model expects, and share of the list that is more
LEAST = 5  # features, fewer are chance of chance
MANY_CUT = 20  # features that pass the cut of the rule, but are not listed because shuffled labels give as many


def check_chance(view: ListView) -> Check:
    """Compare the model's number of false positives with that of shuffled labels."""
    selection, shuffled = view.selection, view.posterior.shuffled
    n, model = selection.n_selected, float(selection.expected_false_positives)
    by_model = f"the model by itself expects {expectation(model)}"
    if shuffled is None:
        under = selection.expected_under_null
        known = f", and {expectation(under)} if no feature differed" if not np.isnan(under) else ""
        return make(
            NAME, TITLE, LINK, "unknown", model, expectation(model),
            f"Labels were not shuffled: {by_model} false positives among {n:,}{known}.",
            n_listed=n, by_model=model,
        )  # fmt: skip
    test, estimate = selection.count_test, selection.false_positive_estimate
    expected = float(estimate.expected)
    numbers = {
        "n_listed": n, "by_model": model, "by_shuffles": expected, "n_shuffles": shuffled.n_shuffles,
        "was_cut": selection.was_cut, "p_value": None if test is None else float(test.p_values[0]),
    }  # fmt: skip
    passing = 0 if test is None else int(test.lengths[0])
    if not n:
        state, ways = "good", f"{shuffled.n_shuffles:,} shuffles of the labels"
        why = f"Nothing is listed, and nothing is claimed: {ways} were looked at."
        if selection.was_cut:
            state = "attention" if passing >= MANY_CUT else "good"
            why = (
                f"{plural(passing, 'feature')} {'passes' if passing == 1 else 'pass'} the cut, but shuffled "
                "labels give as many too often "
                f"({int(test.n_as_long[0]) if test else 0:,} of {shuffled.n_shuffles:,}), and nothing is listed."
            )
        return make(NAME, TITLE, LINK, state, 0.0, "0", why, **numbers)
    share = expected / n
    cut = passing - n if selection.was_cut else 0
    far = expected > FAR * model and expected - model >= max(LEAST, FAR_SHARE * n)
    many = share >= ATTENTION and expected >= LEAST
    state = "attention" if many or far or cut >= MANY_CUT else "good"
    state = "alarm" if share >= ALARM and expected >= LEAST else state
    said = f"{expectation(expected, estimate.step)} of {plural(n, 'listed feature')} expected by chance"
    doubt = f"; {cut:,} more were cut off, because shuffled labels give as many too often" if cut > 0 else ""
    return make(
        NAME, TITLE, LINK, state, expected, expectation(expected, estimate.step),
        f"{said[0].upper()}{said[1:]}, from {shuffled.n_shuffles:,} shuffles of the labels; {by_model}{doubt}.",
        hint=() if state == "good" else "Believe the shuffled labels: they keep what features have in common.",
        **numbers,
    )  # fmt: skip
