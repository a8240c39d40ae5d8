"""One sample: how much of the list hangs on a single sample, and on which."""

from __future__ import annotations

import numpy as np

from bayesieve.posterior import Check, Fragility
from bayesieve.screening.checks.view import ListView, make, not_checked, percent
from bayesieve.screening.influence import check_comparison, influence
from bayesieve.utils import IntArray, OptionError, SampleIds, plural

NAME, TITLE, LINK = "one-sample", "One sample", "table"
FAR = 3.0  # log-odds over the cut: a feature so far over it is not there by the skin of its teeth
ATTENTION, ALARM = 0.1, 0.25  # share of the features far over the cut that one sample takes below it
LEAST = 5  # features, fewer say little about the list
ONE, LEAST_OF_ONE = 0.5, 10  # share of those that fall, and features, that hang on the same sample
_QUICK_WORK, _SLOW_WORK = 1_000_000, 40_000_000  # removals worked out one by one, or values summed again
_SHOWN = 3


def check_one_sample(view: ListView) -> tuple[Check, Fragility | None, IntArray | None]:
    """Leave every sample out in turn; also return what became of the features, see :class:`Checks`."""
    selection, listed = view.selection, view.listed
    why = _why_not(view)
    if why:
        return not_checked(NAME, TITLE, LINK, why), None, None
    if not listed.size:
        nothing = "Nothing is listed, so that nothing hangs on one sample."
        numbers = {"n_listed": 0, "n_looked_at": 0, "n_fallen": 0}
        return make(NAME, TITLE, LINK, "good", 0, "none listed", nothing, **numbers), None, None
    looked = _sample(view)
    known = next((each for each in view.posterior.findings if isinstance(each, Fragility)), None)
    if known is not None and known.cut == selection.cut and not known.discreet and view.posterior.calibrated:
        found, looked = known.take(listed), listed
    else:
        found = influence(view.part(looked), view.posterior.take(looked), selection.cut, view.sample_names)
    holds = np.full(view.posterior.n_features, -1, np.int64)
    holds[looked] = ~found.fragile
    return _judge(view, found, looked), found, holds


def _why_not(view: ListView) -> str:
    if view.matrix is None:
        return view.absence
    if not view.posterior.calibrated:
        return "the log-odds are the least over leaving any one sample out already"
    if view.given_factors:
        return (
            "samples were compared given factors or covariates, or along an outcome, to which every one of them "
            "contributes"
        )
    try:
        check_comparison(view.posterior)
    except OptionError:
        return "samples are left out one by one of plain classes only, not of batches or pairs"
    return "" if view.scheme == "samples" else "samples are left out one by one of plain classes only"


def _sample(view: ListView) -> IntArray:
    """Features of the list that are looked at: all, or as many as can be afforded, from all of its ranks."""
    assert view.matrix is not None
    n, model = view.matrix.n_samples, view.posterior.model
    quick = len(view.posterior.classes) == 2 and model.supports("moments")
    exact = quick and model.supports("leave-one-out")
    most = view.listed.size if exact else _QUICK_WORK // n if quick else _SLOW_WORK // (n * n)
    most = max(most, 20)
    if view.listed.size <= most:
        return view.listed
    ranked = view.selection.indices
    chosen = ranked[np.unique(np.linspace(0, ranked.size - 1, most).astype(np.int64))]
    return np.sort(chosen)


def _judge(view: ListView, found: Fragility, looked: IntArray) -> Check:
    fallen, n = found.fragile, looked.size
    number, all_listed = int(fallen.sum()), int(view.listed.size)
    over = view.posterior.log_odds[looked] - view.selection.cut
    far = over > FAR
    n_far, far_fallen = int(far.sum()), int((fallen & far).sum())
    share = far_fallen / n_far if n_far >= LEAST else 0.0
    culprits, times = np.unique(found.culprit[fallen], return_counts=True)
    one = times.max(initial=0) >= max(LEAST_OF_ONE, ONE * number)
    share = max(share, number / n if one else 0.0)
    state = "alarm" if share >= ALARM else "attention" if share >= ATTENTION else "good"
    order = np.argsort(-times, kind="stable")[:_SHOWN]
    carrying = tuple(f"{_name(found, int(culprits[k]))} ({int(times[k]):,})" for k in order)
    what = f"{number:,} of {plural(n, 'listed feature')}"
    if n < all_listed:
        what = f"{number:,} of {n:,} features looked at, from all ranks of the {all_listed:,} listed,"
    far_over = f"; {far_fallen:,} of the {n_far:,} far over the cut" if far_fallen else ""
    share_of_list = f" ({percent(number / n)}{far_over})" if number else ""
    hang, they = ("hangs", "it falls") if number == 1 else ("hang", "they fall")
    so = f": {they} below the cut without it" if number else ""
    counted = "" if found.sample_names else ", counting from 0"
    most = SampleIds((", ".join(carrying) + counted,) if number else (), ", most often sample ")
    pieces = (f"{what}{share_of_list} {hang} on a single sample{so}", most)
    hint = (
        "Look at these samples first: a bad array, a swapped tube or one wild value may carry the list; use what "
        "holds without any one sample."
    )
    return make(
        NAME, TITLE, LINK, state, number, f"{number:,} of {n:,}", *pieces, ".",
        hint=() if state == "good" else hint,
        n_listed=all_listed, n_looked_at=n, n_fallen=number, n_far_over_the_cut=n_far, n_far_fallen=far_fallen,
        samples={_name(found, int(culprits[k])): int(times[k]) for k in order},
    )  # fmt: skip


def _name(found: Fragility, number: int) -> str:
    return found.sample_names[number] if found.sample_names else str(number)
