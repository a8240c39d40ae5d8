"""Known markers: as prior probabilities, and as partners of features yet to be found (section 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix, check_names
from bayesieve.models import GaussianModel, check_family, check_proper
from bayesieve.posterior import FeaturePosterior, check_log_odds, expit
from bayesieve.screening import check_model, screen
from bayesieve.sets.known_comparison import BesideKnown, KnownComparison, in_units_of, log_mean
from bayesieve.sets.tables import TwoClasses
from bayesieve.stats import Moments, Scatter, cross_products
from bayesieve.utils import (
    DataError,
    FloatArray,
    IntArray,
    LabelError,
    OptionError,
    PriorError,
    PriorWarning,
    check_between,
    check_choice,
    is_whole,
    list_names,
    n_threads_for,
    run,
    warn,
)

_SHOWN = 5


def named_features(feature_names: Any) -> tuple[str, ...]:
    """Return the names of all features."""
    names = None if isinstance(feature_names, str) else _as_list(feature_names)
    if not names:
        raise DataError(
            f"feature_names must be a sequence with the names of all features, in order, not {feature_names!r}."
        )
    return check_names(names, len(names)) or ()


def known_places(names: tuple[str, ...] | None, n_features: int, known: Any) -> IntArray:
    """Columns of the known markers, given by name or number."""
    entries = as_names([known] if is_whole(known) else known, "known", " or of column numbers")
    numbers = [is_whole(each) for each in entries]
    if not entries:
        raise OptionError("No known marker was given. Name at least one, or call screen().")
    if not any(numbers):
        places = places_of(names or tuple(f"x{i}" for i in range(n_features)), entries, "known")
    elif not all(numbers):
        raise OptionError("Give known markers all by name, or all by column number.")
    else:
        places = np.array([int(each) for each in entries], dtype=np.int64)
        outside = places[(places < 0) | (places >= n_features)]
        if outside.size:
            raise OptionError(
                f"{outside.size} of {places.size} known markers are not among the {n_features:,} columns, "
                f"counted from 0: {', '.join(map(str, outside[:_SHOWN].tolist()))}."
            )
    if np.unique(places).size < places.size:
        raise OptionError("A known marker was given more than once. Name each once.")
    return places


def places_of(names: tuple[str, ...], wanted: Sequence[Any], option: str) -> IntArray:
    """Columns of some names; unknown ones are an error that lists them."""
    where = dict(zip(names, range(len(names)), strict=True))
    absent = [name for name in wanted if str(name) not in where]
    if absent:
        raise OptionError(
            f"{option}: {len(absent)} of {len(wanted)} names are not among the {len(names):,} features: "
            f"{list_names(list(map(str, absent)), _SHOWN)}. Names must match to the letter; leave out "
            "what was not measured."
        )
    return np.array([where[str(name)] for name in wanted], dtype=np.int64)


def as_names(names_or_name: Any, option: str, also: str = "") -> list[Any]:
    """Return names, or one alone, as a list; ``also`` says what else may be in it."""
    names = _as_list(names_or_name)
    if names is None:
        raise OptionError(
            f"{option} must be a name or a list of names{also}, such as ['TP53'], not {names_or_name!r}."
        )
    return names


def check_weights(weights: Any) -> dict[Any, float]:
    """Return what is to be added to the log-odds, by name."""
    if weights is not None and not isinstance(weights, Mapping):
        raise OptionError(
            f"weights must be a mapping from names to numbers, such as {{'TP53': 2.3}}, not {weights!r}."
        )
    return {name: _number(name, value) for name, value in (weights or {}).items()}


def check_weight(weight: Any) -> float:
    """Return a probability, or raise."""
    return check_between("weight", weight, error=PriorError)


def _as_list(values: Any) -> list[Any] | None:
    """Return what was given as a list; None if it cannot be one."""
    if isinstance(values, str):
        return [values]
    try:
        return list(values)
    except TypeError:
        return None


def _number(name: Any, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise PriorError(f"The weight of {name!r} must be a finite number to add to its log-odds, not {value!r}.")
    return number


_COLUMNS = 2048  # looked at together
_FAR = 5.0  # standard deviations of the prior of a mean


def known_markers(
    feature_names: Sequence[str],
    prior_probability: npt.ArrayLike = 0.01,
    *,
    certain: Iterable[str] = (),
    weights: Mapping[str, float] | None = None,
) -> FloatArray:
    r"""Prior probability of every feature, from what is known about some of them.

    A certain marker has probability 1. A weight :math:`w` shifts the prior log-odds,
    :math:`\operatorname{logit} \pi(f) = \operatorname{logit} \pi_0 + w`: with :math:`w = 2.3` a marker is
    believed ten times as likely, in odds, as other features. Hand the result to
    ``screen(prior_probability=...)``. Features are independent there, so that no other feature is touched.

    Parameters
    ----------
    feature_names
        Names of all features, in the order of the columns.
    prior_probability
        :math:`\pi_0`: one number, or one per feature.
    certain
        Names of features that are markers beyond doubt; a weight of theirs is of no account.
    weights
        What to add to the prior log-odds, by name.

    Examples
    --------
    >>> import bayesieve as bs
    >>> bs.known_markers(["a", "b", "c"], 0.1, certain=["a"], weights={"c": 2.0}).round(3).tolist()
    [1.0, 0.1, 0.451]
    """
    names = named_features(feature_names)
    log_odds = np.array(np.broadcast_to(check_log_odds(prior_probability, len(names)), (len(names),)))
    added = check_weights(weights)
    log_odds[places_of(names, list(added), "weights")] += np.array(list(added.values()))
    log_odds[places_of(names, as_names(certain, "certain"), "certain")] = np.inf
    return expit(log_odds)


def screen_with_known(
    X: Any,
    y: Any,
    known: Iterable[str | int] | str | int,
    *,
    model: GaussianModel | None = None,
    prior_probability: npt.ArrayLike = 0.01,
    weight: float = 0.5,
    partners: str = "all",
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    n_threads: int | None = None,
) -> FeaturePosterior:
    r"""Screen features given known markers: a feature correlated with them is a marker, too.

    A marker either belongs to one block with the known markers, correlated with them in each class in a way of
    its own, or it stands by itself as in :func:`bayesieve.screen`. Non-markers are independent of all markers.

    .. math::
        \log BF = \log\Big( w\, e^{\sum_y [\ell_y(K \cup f) - \ell_y(K)]} + (1 - w)\, e^{\sum_y \ell_y(f)} \Big)
        - \ell(f)

    Parameters
    ----------
    X, y
        Samples x features and one class label per sample: two classes, no value missing; or what
        :func:`bayesieve.read_table` returns, and None.
    known
        The known markers :math:`K`, by name or by column number.
    model
        A Gaussian model with proper priors; ``variance_dof`` and ``mean_strength`` must be common to all
        features. By default the priors of the paper, with each feature's pooled mean as location and its pooled
        variance as scale, so that units do not matter.
    prior_probability
        As for :func:`bayesieve.screen`; that of the known markers is 1.
    weight
        :math:`w`, the probability that a marker belongs to the block; at 0 the result is that of a plain screen.
    partners
        ``"all"``: all known markers are one block, of which there may be at most three fewer than samples in the
        smaller class. ``"pairs"``: a feature has one of them as its partner, each as likely as the other.
    classes, feature_names, n_threads
        As for :func:`bayesieve.screen`.

    Returns
    -------
    FeaturePosterior
        Its table has ``log_bayes_factor_alone`` (at :math:`w = 0`), ``probability_in_block`` (of a feature that
        is a marker) and, for pairs, ``best_partner``.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 100))
    >>> X[30:, 0] += 1.5                                   # x0 is known
    >>> X[:, 1] = X[:, 0] + rng.normal(0, 0.5, 60)
    >>> X[30:, 1] -= 1.5                                   # x1 does not differ, but goes with x0
    >>> posterior = bs.screen_with_known(X, [0] * 30 + [1] * 30, known=["x0"])
    >>> bs.MinimalRisk(0.5).select(posterior).names
    ('x0', 'x1')
    """
    stated, weight = None if model is None else _check_model(model), check_weight(weight)
    table = TwoClasses.of(X, y, what="A block with known markers", classes=classes, feature_names=feature_names)
    names, n_features = table.feature_names, table.n_features
    places = known_places(names, n_features, known)
    _check_sizes(table, places.size, partners)
    statistics = table.moments(n_threads)
    model = stated or in_units_of(statistics)
    _warn_if_far(model, statistics)
    plain = screen(statistics, model=model, prior_probability=prior_probability, feature_names=names)
    columns, known_model = table.columns(places), model.take(places, n_features)
    scatter = Scatter.from_labelled(columns)
    comparison = KnownComparison.of(model, statistics, known_model, scatter, weight, partners)
    comparison = replace(comparison, own_units=stated is None)
    gains = _gains(table, comparison, columns, n_threads)
    log_gain = log_mean(gains)
    log_bf = comparison.combined(plain.log_bayes_factor, log_gain)
    log_gain[places], log_bf[places] = np.nan, plain.log_bayes_factor[places]  # no marker is its own partner
    prior = np.array(np.broadcast_to(plain.prior_log_odds, log_bf.shape))
    prior[places] = np.inf
    prior.flags.writeable = False
    best = gains.argmax(axis=0) if partners == "pairs" else None
    listed = tuple(names[i] if names else f"x{i}" for i in places.tolist())
    companions = int(((prior + log_bf > 0) & (plain.log_bayes_factor <= 0) & (prior < np.inf)).sum())
    finding = BesideKnown(listed, plain.log_bayes_factor, log_gain, weight, best, companions)
    return replace(
        plain, log_bayes_factor=log_bf, prior_log_odds=prior, comparison=comparison, findings=(finding,)
    )


def _gains(
    table: TwoClasses, comparison: KnownComparison, columns: LabelledMatrix, n_threads: int | None
) -> FloatArray:
    """Gains of every block or pair, partnerships x features; ``columns`` are those of the known markers."""
    known = comparison.known
    rows = [np.flatnonzero(columns.labels.codes == y) for y in range(2)]
    partners = [(columns.values[rows[y]] - known.mean[y]) - np.asarray(known.residual)[y] for y in range(2)]
    gains = []
    for first, values in table.slabs():
        part = comparison.take(slice(first, first + values.shape[1]))
        gains += _gains_of(values, part, rows, partners, n_threads)
    return np.concatenate(gains, axis=1)


def _gains_of(
    values: Any,
    comparison: KnownComparison,
    rows: list[IntArray],
    partners: list[FloatArray],
    n_threads: int | None,
) -> list[FloatArray]:
    """Gains of some features, a few columns at a time."""

    def work(lo: int) -> FloatArray:
        hi = min(lo + _COLUMNS, values.shape[1])
        part = comparison.take(slice(lo, hi))
        means = part.statistics.mean
        return part.log_gains([cross_products(values, rows[y], lo, hi, partners[y], means[y]) for y in range(2)])

    threads = n_threads_for(n_threads, values.shape[0] * values.shape[1])
    return list(run(work, range(0, values.shape[1], _COLUMNS), threads))


def _warn_if_far(model: GaussianModel, statistics: Moments) -> None:
    """Warn where means lie far from the prior's: known markers and others alike, that looks like correlation."""
    pooled = statistics.pool()
    variance = pooled.centred_squares[0] / max(int(pooled.count[0]) - 1, 1)
    prior = model.class_priors[0]
    distance = np.abs(pooled.mean[0] - prior.mean_location)
    far = distance > _FAR * np.sqrt(variance / np.asarray(prior.mean_strength))
    if far.any():
        warn(
            PriorWarning,
            f"{int(far.sum())} of {far.size} features have means far from the mean_location of the prior. "
            "Features that are far together look correlated, and all of them may be called markers. Leave the "
            "model out, centre the values, or give every feature a mean_location of its own.",
        )


def _check_model(model: Any) -> GaussianModel:
    check_model(model).require(
        "joint",
        f"Correlation with known markers needs a GaussianModel with proper priors, not {type(model).__name__}.",
        hint="Leave the model out, or give GaussianModel.proper(...).",
    )
    for prior in (*model.class_priors, model.pooled_prior):
        check_proper(prior)
    for prior in model.class_priors:
        check_family(prior, prior.n_features or 1)
    return cast("GaussianModel", model)


def _check_sizes(table: TwoClasses, n_known: int, partners: str) -> None:
    check_choice("partners", partners, ("all", "pairs"))
    smallest = int(table.counts.min())
    if partners == "all" and n_known > smallest - 3:
        raise OptionError(
            f"{n_known} known markers as one block need at least {n_known + 3} samples in each class, but the "
            f"smaller one has {smallest}. Name fewer, or use partners='pairs'."
        )
    if smallest < 1:
        raise LabelError("A class has no sample at all. Check classes, or leave it out.")
