"""The same screen under shuffled labels: what it would list if the classes meant nothing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.data import dense_values
from bayesieve.models import Model
from bayesieve.posterior import (
    EstimatedShare,
    FeaturePosterior,
    Finding,
    Remark,
    ShuffledLabels,
    estimate_share,
    no_shuffles,
)
from bayesieve.screening.inputs import ScreenInput, Shufflable
from bayesieve.screening.lazy_table import LazyTable
from bayesieve.stats import number_of_factors
from bayesieve.utils import (
    BayesieveWarning,
    CalibrationWarning,
    Message,
    OptionError,
    Wording,
    check_choice,
    check_whole,
    option,
    plural,
    warn,
)

Progress = Callable[[int, int], None]
Compare = Callable[[Model, ScreenInput], Any]

FEWEST, MOST = 20, 100
_WORK = 4e8  # values summed in all shuffles together, as far as there are more than the fewest
_DEAR = 250  # values that could be summed while the evidence of a feature is drawn, where that is dear


def number_of_shuffles(shuffles: Any, n_samples: int, n_features: int, cost: int = 1) -> int:
    """Return how many shuffles are meant: by the size of the table and the model for ``"auto"``, else as said.

    Parameters
    ----------
    shuffles
        ``"auto"``, a number, or nothing.
    n_samples, n_features
        Size of the table.
    cost
        Of the evidence of a feature: :meth:`Model.draw_cost`.
    """
    if shuffles is None or shuffles is False:
        return 0
    if isinstance(shuffles, str):
        if shuffles != "auto":
            raise OptionError(f"shuffles is a whole number, 0 for none, or 'auto', not {shuffles!r}.")
        return int(min(max(_WORK / max((n_samples + _DEAR * (cost - 1)) * n_features, 1), FEWEST), MOST))
    check_whole("shuffles", shuffles, 0)
    return int(shuffles)


def times_to_shuffle(found: ScreenInput, model: Model, shuffles: Any) -> int:
    """Return how often labels are shuffled; say so where the values for that are not at hand any more."""
    if found.relabels is not None:
        return _times_to_shuffle_blocks(found, model, shuffles)
    if found.shufflable is None:
        _say_unshuffled(found, shuffles)
        return 0
    n_features = found.statistics.n_features
    return number_of_shuffles(
        shuffles, found.shufflable.matrix.n_samples, n_features, model.draw_cost(found.statistics)
    )


def _times_to_shuffle_blocks(found: ScreenInput, model: Model, shuffles: Any) -> int:
    """How often labels of a table in blocks are shuffled: as said; of ``"auto"`` say what it would take."""
    samples = found.relabels
    assert samples is not None
    assert samples.lazy is not None
    if not isinstance(shuffles, str):
        n_shuffles = number_of_shuffles(shuffles, 1, 1)
        if n_shuffles and model.difference == "mean":
            raise OptionError(
                "Shuffles of a screen for means keep variances with the labels, which takes values in memory.",
                hint=("Say ", option("shuffles", 0), ", or give more memory."),
                kind="capability",
            )
        return n_shuffles
    if number_of_shuffles(shuffles, samples.matrix.n_samples, found.statistics.n_features):
        n_passes = samples.lazy.n_passes(FEWEST)
        passes = "one more pass" if n_passes == 1 else f"{n_passes:,} more passes"
        warn(
            CalibrationWarning,
            "Labels were not shuffled: numbers of false positives are those of the model alone.",
            hint=(
                option("shuffles", FEWEST),
                f" takes {passes} over the {samples.lazy.n_blocks:,} blocks of the table; say ",
                option("shuffles", 0),
                " to do without.",
            ),
            kind="not-shuffled",
        )
    return 0


def _say_unshuffled(found: ScreenInput, shuffles: Any) -> None:
    """Say so where there were samples to shuffle, but their values are not at hand any more."""
    if found.table is None:
        return
    counted = sum(getattr(found.table, "class_counts", {}).values())
    n_samples = counted or int(np.sum(found.samples.get(None, 0))) or found.n_pairs
    if not n_samples or not number_of_shuffles(shuffles, n_samples, found.statistics.n_features):
        return
    size = 8 * n_samples * found.statistics.n_features / 1e6
    if isinstance(getattr(found.table, "table", None), LazyTable):
        what = "differences within pairs" if found.n_pairs else "residuals given covariates or along an outcome"
        warn(
            CalibrationWarning,
            f"The {what} of a table in blocks are not shuffled: numbers of false positives are those of the model "
            "alone.",
            hint=(
                "Shuffle a part that fits into memory, X[:, some].compute(), or say ",
                option("shuffles", 0),
                ".",
            ),
            kind="not-shuffled",
        )
        return
    warn(
        CalibrationWarning,
        f"The values of the table (about {size:,.0f} MB) were not kept in memory, so that labels could not be "
        "shuffled: numbers of false positives are those of the model alone.",
        hint=(
            Wording("Read the table with keep_values=True and ", "Give "),
            Wording(f"memory={4 * size:.0f}_000_000", f"--memory {4 * size:.0f}MB"),
            " or more, or say ",
            option("shuffles", 0),
            ".",
        ),
        kind="not-shuffled",
    )


def given_factors(found: ScreenInput, model: Model, factors: Any, seed: Any) -> ScreenInput:
    """Take factors that samples share out of the data: as many as parallel analysis finds, or a given number."""
    model.require(
        "effect-sizes",
        option("factors"),
        " belongs to the calibrated prior.",
        hint=("Leave ", Wording("the model", "--prior"), " out."),
    )
    samples = found.shufflable
    if samples is None:
        raise OptionError(option("factors"), " needs the values of the samples in memory.", kind="capability")
    if samples.scheme != "samples" or len(found.statistics.classes) != 2:
        raise OptionError(
            option("factors"), " compares two classes, without blocks and pairs.", hint="Leave one of them out.",
            kind="capability",
        )  # fmt: skip
    values, codes = dense_values(samples.matrix), samples.matrix.labels.codes
    if np.isnan(values).any():
        raise OptionError(option("factors"), " needs a table without missing values.", hint="Fill them in first.")
    if isinstance(factors, str):
        check_choice("factors", factors, ("auto",))
        number = number_of_factors(values, codes, seed)
    else:
        check_whole("factors", factors, 0)
        number = int(factors)
        if number > codes.size - 4:
            raise OptionError(f"{number} factors are too many for {codes.size} samples. Ask for fewer.")
    shufflable = replace(samples, n_factors=number)
    return replace(shufflable.relabelled(codes, model), shufflable=shufflable, whole=found.whole)


def of_factors(found: ScreenInput) -> tuple[Finding, ...]:
    """Say what was taken out of the values."""
    if found.factors is None:
        return ()
    number, share = found.factors.n_factors, float(found.factors.shares.sum())
    if not number:
        return (Remark(("Samples share no factor beyond their classes that parallel analysis could find.",)),)
    what = f"Given {plural(number, 'factor')} that samples share beyond their classes ({share:.0%} of the"
    return (Remark((f"{what} variation within them); means and differences are given them.",)),)


def shuffle_labels(
    samples: Shufflable,
    model: Model,
    compare: Compare,
    own: Any,
    prior_log_odds: Any,
    n_shuffles: int,
    seed: Any = 0,
    progress: Progress | None = None,
    best: Callable[[Any], Any] | None = None,
) -> ShuffledLabels | None:
    """Screen again under shuffled labels; None if there is no other way to deal them.

    Parameters
    ----------
    samples
        The samples.
    model
        The model as it was given: what it takes from the data it takes from every shuffle anew.
    compare
        Log Bayes factors of a model and some data, by the way of the screen.
    own, prior_log_odds
        Log Bayes factors with the true labels, and prior log-odds.
    n_shuffles, seed, progress
        How many, the seed of NumPy's generator, and a function called with the number done and their total.
    best
        Where features stand for genes: which ones do so, given their log-odds; chosen anew in every shuffle.
    """
    labellings, complete = samples.draw(n_shuffles, seed)
    if not labellings:
        return None
    prior: Any = np.asarray(prior_log_odds)
    by_feature = bool(prior.ndim)
    quick, found = model.quick(), []
    shares = []

    def reduced(values: Any) -> tuple[Any, Any]:
        """Log Bayes factors and what is compared of them, of the features that stand for genes."""
        odds = values + prior if by_feature else values
        kept = slice(None) if best is None else best(odds)
        return values[kept], odds[kept]

    for done, data in enumerate(samples.relabel(labellings, quick)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesieveWarning)
            values, odds = reduced(compare(quick, data))
        shares.append(estimate_share(values))
        found.append(odds)
        if progress is not None:
            progress(done + 1, len(labellings))
    own, mine = reduced(own)
    least = float(np.min(prior, where=np.isfinite(prior), initial=np.inf)) if by_feature else 0.0
    made = ShuffledLabels.collect(
        mine, found, samples.scheme, complete=complete, by_feature=by_feature, least=least
    )
    return made.with_shares(estimate_share(own), shares, own.size)


def believe_estimate(posterior: FeaturePosterior) -> FeaturePosterior:
    """Put the share of markers that the data suggest in the place of the prior probability."""
    shuffled, share = posterior.shuffled, posterior.estimated_share
    if shuffled is None or share is None:
        raise no_shuffles()
    note = (
        f"The prior probability is estimated: the data suggest that {shuffled.own_share:.2%} of the features are "
        f"markers, shuffled labels suggest up to {shuffled.chance_share:.2%} in 95% of the cases, and {share:.2%} "
        "is believed."
    )
    remark = EstimatedShare((Message.of(note, kind="estimated-share"),))
    return posterior.with_prior(share).with_finding(remark)
