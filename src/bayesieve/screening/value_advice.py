"""What follows from the look of the values: whether they suit a Gaussian model, and which option does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Repeats, is_annotated, looks_like_donor, obs_column, warn_of_donors
from bayesieve.models import Model
from bayesieve.screening.dispersion_advice import warn_about_dispersion
from bayesieve.screening.inputs import ScreenInput
from bayesieve.stats import ValueProfile
from bayesieve.utils import DataWarning, Message, Piece, Wording, option, warn

LEAST_SAMPLES, LEAST_FEATURES, LEAST_VALUES = 10, 20, 500  # fewer say too little about where they come from
ALL_WHOLE = 0.999  # share of whole numbers; a few values may have been filled in by a mean
MOST_CATEGORIES = 10  # different whole numbers: genotypes have 3, copy number calls 5, ratings up to 10
LEAST_ZEROS = 0.01  # share of zeros from which whole numbers look like counts; ranks from 0 have one in a sample
COUNT_TAIL = 10.0  # largest over median, the same without many zeros
COUNT_SKEWNESS = 0.3  # counts are skewed, ranks and ratings hardly
RAW_TAIL = 30.0  # largest over median: over 100 for raw intensities, below 10 for their logarithms
RAW_SKEWNESS = 0.5  # of a typical feature: about 1 for raw intensities; the Gaussian model bears less
SUBTRACTED_TAIL = 100.0  # largest over median with negative values; log ratios with heavy tails reach 40
SUBTRACTED_ENDS = 5.0  # largest over the size of the smallest: log ratios and z-scores reach both ways alike
SUBTRACTED_NEGATIVE = 0.4  # share below 0: half of log ratios and z-scores, a quarter after background subtraction
SUBTRACTED_KURTOSIS = 1.0  # of a typical feature: 4 after background subtraction, 0 for features in other units
SUBTRACTED_LEVEL_SPREAD = 0.3  # spread grows with the level: 0.5 after background subtraction, 0.2 for log ratios
BETA_ENDS, BETA_OUTER = 0.03, (0.2, 0.8)  # share of features near 0 and near 1, and how far values must reach
SCALED_SPANNING = 0.5  # share of features from 0 to 1 exactly: values were scaled feature by feature
LEAST_LOGARITHM, MOST_LOGARITHM = 1.5, 30.0  # largest value: shares stay below 1, logarithms of counts below 30
LEAST_FLOORED = 0.05  # share of features on a floor: below, a list can be checked feature by feature
MOST_FINDINGS = 2  # said about one table
_SHARE_FACTOR, _SHARE_SELECTED, _SHARE_LEAST = 10.0, 0.2, 50  # over the prior, of all features, features at least

_judged: ContextVar[bool] = ContextVar("values_judged", default=True)

_LOG2 = Wording("np.log2(X)", "--transform log2")
_LOG1P = Wording("np.log1p(X)", "--transform log1p")
_LOGIT = Wording("np.log2(X / (1 - X))", "--transform logit")
_RANKS = Wording("normal scores of the ranks, as read_table(transform='rank-normal')", "--transform rank-normal")
_COUNTS = Wording(
    "model=NegativeBinomialModel(), exposures=size_factors(X)", "--model negative-binomial --exposures total"
)
_LOG_COUNTS = Wording("transform(normalise(X), 'log1p')", "--normalise total --transform log1p")
_LOG_COUNTS_OF_FILE = Wording("normalise='total', transform='log1p'", _LOG_COUNTS.command)
_COUNTS_OF_FILE = Wording("model=NegativeBinomialModel(), exposures='total'", _COUNTS.command)
_CATEGORIES = Wording("model=CategoricalModel()", "--model categorical")


@contextlib.contextmanager
def values_unjudged() -> Iterator[None]:
    """Screen inside without a word about the values: they are those of another screen."""
    token = _judged.set(False)
    try:
        yield
    finally:
        _judged.reset(token)


def is_judged() -> bool:
    """Whether this screen is one of its own, not one inside another analysis."""
    return _judged.get()


def warn_about_values(found: ScreenInput, model: Model, stepped: bool) -> None:
    """Look at the values of a screen and warn if they do not suit its model.

    Parameters
    ----------
    found
        The data of the screen; ready statistics have no values to look at.
    model
        The model; those with means and variances and Poisson's are judged.
    stepped
        Whether the user stated the resolution of the values.
    """
    if _judged.get() and model.family == "Poisson":
        warn_about_dispersion(found)
    if not (_judged.get() and model.supports("moments")):
        return
    for extremes in (False, True):  # the extremes of all values take as long as a screen: only where they matter
        profile = found.profile(extremes=extremes)
        if profile is None:
            return
        messages = advise_on_values(
            profile, "gaussian", found.transform, stepped=stepped, normalise=found.normalise
        )
        if not messages:
            return
    for message in messages:
        warn(DataWarning, *message.text, hint=message.hint, kind=message.kind, **message.numbers)


def ask_about_donors(X: Any, y: Any, found: ScreenInput, *said: Any) -> None:
    """Warn if the cells of an AnnData object come from the same donors, as a column of ``obs`` says."""
    if not (_judged.get() and is_annotated(X)) or found.whole is None or found.n_pairs:
        return
    codes = found.shufflable.matrix.labels.codes if found.shufflable is not None else ()
    named = [each for each in said if isinstance(each, str)]
    for name in map(str, X.obs.columns):
        if looks_like_donor(name) and name not in named:
            repeats = Repeats.of(obs_column(X, name).tolist(), codes)
            if repeats.are_no_replicates:
                label = repr(y) if isinstance(y, str) else "y"
                call = f"bs.aggregate(adata, {name!r}, {label})"
                paired = f", and compare within donors with pairs={name!r}"
                warn_of_donors("obs", name, repeats, (call,), (paired,))
                return


def advise_on_values(
    profile: ValueProfile,
    model_name: str = "gaussian",
    transform: str | None = None,
    *,
    stepped: bool = False,
    normalise: str = "none",
) -> list[Message]:
    """Say what the values of a Gaussian screen look like if it is something else, and what would suit them.

    Parameters
    ----------
    profile
        Of the values before any transformation.
    model_name
        The model; nothing is said about others than ``"gaussian"``.
    transform
        How the values of a file are transformed; None for arrays. Nothing is said about the scale of values that
        are transformed.
    stepped
        Whether the resolution of the values is stated, which takes care of floors.
    normalise
        How samples are normalised, which is for counts.

    Returns
    -------
    list of Message
        The most important first, at most two; empty if the values suit, or are too few to tell.
    """
    few = (
        profile.n_samples < LEAST_SAMPLES or profile.n_features < LEAST_FEATURES or profile.n_values < LEAST_VALUES
    )
    if few or model_name != "gaussian":
        return []
    of_file = transform is not None
    plain = transform in (None, "none")
    found: list[Message | None] = [_about_normalised(profile) if normalise != "none" else None]
    if plain:
        found.append(
            _about_categories(profile, of_file)
            or _about_counts(profile, of_file)
            or _about_shares(profile, of_file)
            or _about_intensities(profile, of_file)
        )
    counted = [message for message in found if message and message.kind in ("values-categories", "values-counts")]
    if not (stepped or counted):
        found.append(_about_floors(profile))
    return [message for message in found if message is not None][:MOST_FINDINGS]


def advise_on_share(n_selected: int, n_features: int, prior_probability: npt.ArrayLike) -> Message | None:
    """Say so if implausibly many features are selected: a fifth of all, and ten times what the prior expects.

    Parameters
    ----------
    n_selected, n_features
        Length of the list, and of the ranking.
    prior_probability
        Prior probability, a number or one per feature.
    """
    expected = float(np.mean(np.asarray(prior_probability, dtype=np.float64))) * n_features
    if (
        n_features < _SHARE_LEAST
        or n_selected <= _SHARE_SELECTED * n_features
        or n_selected <= _SHARE_FACTOR * expected
    ):
        return None
    return Message.of(
        f"{n_selected:,} of {n_features:,} features are selected ({n_selected / n_features:.0%}), where the prior "
        f"expects {expected:,.0f}: either most features differ between the classes, or the values do not suit the "
        "model (scale, outliers, floors), or the classes differ in something else (batch, quality, mixture of "
        "cells).",
        hint=("See what shuffled labels give: ", option("shuffles", 100), "."),
        kind="share-selected",
        n_selected=n_selected,
        n_features=n_features,
        expected=expected,
    )


def _whole(profile: ValueProfile) -> bool:
    return profile.share_whole >= ALL_WHOLE


def _about_categories(profile: ValueProfile, of_file: bool) -> Message | None:
    reach = profile.largest - profile.smallest
    if not (_whole(profile) and 1 <= reach < MOST_CATEGORIES and 1 < profile.n_distinct <= MOST_CATEGORIES):
        return None
    counts = _COUNTS_OF_FILE if of_file else _COUNTS
    rare = (", for rare events ", counts) if profile.smallest == 0 and profile.largest > 2 else ()
    return Message.of(
        f"Every value is a whole number from {profile.smallest:.0f} to {profile.largest:.0f}: they look like "
        "genotypes or other categories, and were screened as Gaussian.",
        hint=("For categories use ", _CATEGORIES, *rare, "."),
        kind="values-categories",
        smallest=profile.smallest,
        largest=profile.largest,
        n_distinct=profile.n_distinct,
    )


def _about_counts(profile: ValueProfile, of_file: bool) -> Message | None:
    many = profile.share_zero >= LEAST_ZEROS or profile.largest_over_median >= COUNT_TAIL
    if not (_whole(profile) and profile.smallest == 0 and many and profile.skewness >= COUNT_SKEWNESS):
        return None
    zeros = f", {profile.share_zero:.0%} of them 0" if profile.share_zero >= LEAST_ZEROS else ""
    return Message.of(
        f"The values are whole numbers from 0 to {profile.largest:,.0f}{zeros}: they look like counts, and were "
        "screened as Gaussian.",
        hint=("Use ", _COUNTS_OF_FILE if of_file else _COUNTS, ", or normalise and take logarithms first: ",
              _LOG_COUNTS_OF_FILE if of_file else _LOG_COUNTS, "."),
        kind="values-counts",
        largest=profile.largest,
        share_zero=profile.share_zero,
    )  # fmt: skip


def _about_normalised(profile: ValueProfile) -> Message | None:
    """Logarithms that are normalised as if they were counts."""
    if profile.share_whole >= 0.5 or not LEAST_LOGARITHM < profile.largest < MOST_LOGARITHM:
        return None
    return Message.of(
        f"Samples are normalised as counts are, but most values are no whole numbers and none is over "
        f"{profile.largest:.3g}: they look like logarithms, whose totals say nothing about how deeply a sample "
        "was looked at.",
        hint=("Leave ", option("normalise"), " out, or go back to the table as it was counted."),
        kind="values-normalised",
        largest=profile.largest,
        share_whole=profile.share_whole,
    )


def _about_shares(profile: ValueProfile, of_file: bool) -> Message | None:
    low, high = BETA_OUTER
    both_ends = min(profile.share_near_zero, profile.share_near_one) >= BETA_ENDS
    within = 0 <= profile.smallest <= low and high <= profile.largest <= 1
    if not (within and both_ends and profile.share_spanning < SCALED_SPANNING):
        return None
    at_end = profile.smallest == 0 or profile.largest == 1
    inwards = " Move values of exactly 0 and 1 inwards before." if at_end else ""
    return Message.of(
        "All values lie between 0 and 1, many features near either end: they look like methylation levels (beta "
        "values) or other shares, whose variance depends on their mean, and were screened as Gaussian.",
        hint=("Their logit (the M-value) is usual: ", option("transform", "logit") if of_file else _LOGIT,
              f".{inwards}"),
        kind="values-shares",
        share_near_zero=profile.share_near_zero,
        share_near_one=profile.share_near_one,
    )  # fmt: skip


def _about_intensities(profile: ValueProfile, of_file: bool) -> Message | None:
    tail = profile.largest_over_median
    if profile.smallest < 0:
        return _about_subtracted(profile, of_file)
    straighter = abs(profile.log_skewness) < profile.skewness
    if not (tail >= RAW_TAIL and profile.skewness >= RAW_SKEWNESS and straighter):
        return None
    hint: tuple[Piece, ...]
    if profile.smallest > 0:
        hint = ("Take logarithms first: ", option("transform", "log2") if of_file else _LOG2, ".")
    elif profile.median_positive >= 1:
        hint = ("Take logarithms first; there are zeros, hence: ",
                option("transform", "log1p") if of_file else _LOG1P, ".")  # fmt: skip
    else:
        hint = ("There are zeros, of which no logarithm can be taken: use ", _ranks(of_file), ".")
    if _whole(profile):
        hint = (*hint, " If they are counts: ", _COUNTS_OF_FILE if of_file else _COUNTS, ".")
    return Message.of(
        f"No value is negative, the largest is {tail:,.0f} times the median, and features are skewed: they look "
        "like raw intensities, and were screened as Gaussian.",
        hint=hint,
        kind="values-intensities",
        largest_over_median=tail,
        skewness=profile.skewness,
    )


def _about_subtracted(profile: ValueProfile, of_file: bool) -> Message | None:
    """Raw intensities of which a background was subtracted, so that some are negative."""
    tail = profile.largest_over_median
    if not (
        tail >= SUBTRACTED_TAIL
        and profile.largest >= SUBTRACTED_ENDS * -profile.smallest
        and profile.share_negative <= SUBTRACTED_NEGATIVE
        and profile.level_spread >= SUBTRACTED_LEVEL_SPREAD
        and (profile.skewness >= RAW_SKEWNESS or profile.kurtosis >= SUBTRACTED_KURTOSIS)
    ):
        return None
    return Message.of(
        f"The largest value is {tail:,.0f} times the median of the positive ones, and "
        f"{profile.share_negative:.0%} are negative: they look like raw intensities less a background, and were "
        "screened as Gaussian.",
        hint=("Negative values have no logarithm: use ", _ranks(of_file),
              " (which sees differences in location only), or stabilise the variance before, for example by a "
              "generalised logarithm."),
        kind="values-intensities",
        largest_over_median=tail,
        share_negative=profile.share_negative,
    )  # fmt: skip


def _ranks(of_file: bool) -> Wording:
    return option("transform", "rank-normal") if of_file else _RANKS


def _about_floors(profile: ValueProfile) -> Message | None:
    if profile.share_floored < LEAST_FLOORED:
        return None
    n = round(profile.share_floored * profile.n_features_seen)
    sampled = profile.n_features_seen < profile.n_features
    about = f" looked at, about {profile.share_floored:.0%} of all," if sampled else ""
    value = "" if np.isnan(profile.floor) else f" ({profile.floor:,.6g})"
    return Message.of(
        f"{n:,} of {profile.n_features_seen:,} features{about} rest on a floor: in some class at least half "
        f"of the values equal the smallest value of the feature{value}. Such a class seems to vary next to "
        "nothing, so that differences in variance are not to be trusted there.",
        hint=("Leave such features out, or state the step to which values are known: ", option("resolution"), "."),
        kind="values-floors",
        share_floored=profile.share_floored,
    )
