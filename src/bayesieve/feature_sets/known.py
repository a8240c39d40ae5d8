"""Known markers: as prior probabilities, and as partners of features yet to be found (section 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix, is_sparse
from bayesieve.data.matrix import checked_names
from bayesieve.errors import DataError, LabelError, MissingValueError, OptionError, PriorError
from bayesieve.feature_sets.known_comparison import BesideKnown, KnownComparison, log_mean
from bayesieve.models import GaussianModel
from bayesieve.models.normal_inverse_wishart import checked_family
from bayesieve.posterior import FeaturePosterior
from bayesieve.posterior.logistic import checked_log_odds, expit
from bayesieve.screening import screen
from bayesieve.stats import Moments
from bayesieve.stats.cross_products import cross_products
from bayesieve.stats.scatter import Scatter
from bayesieve.stats.threads import n_threads_for, run

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_SHOWN = 5
_COLUMNS = 2048  # looked at together


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
    names = checked_names(feature_names, len(feature_names)) or ()
    log_odds = np.array(np.broadcast_to(checked_log_odds(prior_probability, len(names)), (len(names),)))
    weights = weights or {}
    added = np.array([_number(name, value) for name, value in weights.items()])
    log_odds[_places(names, list(weights), "weights")] += added
    log_odds[_places(names, _listed(certain), "certain")] = np.inf
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
        Samples x features and one class label per sample: two classes, no value missing.
    known
        The known markers :math:`K`, by name or by column number.
    model
        A Gaussian model with proper priors, ``GaussianModel.proper()`` by default; ``variance_dof`` and
        ``mean_strength`` must be common to all features.
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
    model, weight = _checked_model(model), _checked_weight(weight)
    matrix = _checked_matrix(X, y, classes, feature_names)
    names, n_features = matrix.feature_names, matrix.n_features
    places = _known_places(names, n_features, known)
    _check_sizes(matrix, places.size, partners)
    statistics = _moments(model, matrix, n_threads)
    plain = screen(statistics, model=model, prior_probability=prior_probability, feature_names=names)
    scatter = Scatter.from_labelled(replace(matrix, values=matrix.values[:, places], feature_names=None))
    known_model = model.take(places, n_features)
    comparison = KnownComparison.of(model, statistics, known_model, scatter, weight, partners)
    gains = _gains(matrix, comparison, places, n_threads)
    log_gain = log_mean(gains)
    log_bf = comparison.combined(plain.log_bayes_factor, log_gain)
    log_gain[places], log_bf[places] = np.nan, plain.log_bayes_factor[places]  # no marker is its own partner
    prior = np.array(np.broadcast_to(plain.prior_log_odds, log_bf.shape))
    prior[places] = np.inf
    prior.flags.writeable = False
    best = gains.argmax(axis=0) if partners == "pairs" else None
    listed = tuple(names[i] if names else f"x{i}" for i in places.tolist())
    finding = BesideKnown(listed, plain.log_bayes_factor, log_gain, weight, best)
    return replace(
        plain, log_bayes_factor=log_bf, prior_log_odds=prior, comparison=comparison, findings=(finding,)
    )


def _gains(
    matrix: LabelledMatrix, comparison: KnownComparison, places: IntArray, n_threads: int | None
) -> FloatArray:
    """Gains of every block or pair, partnerships x features, a few columns at a time."""
    values, codes, known = matrix.values, matrix.labels.codes, comparison.known
    values = values.tocsc() if is_sparse(values) else values
    rows = [np.flatnonzero(codes == y) for y in range(2)]
    columns = values[:, places].toarray() if is_sparse(values) else values[:, places]
    partners = [(columns[rows[y]] - known.mean[y]) - np.asarray(known.residual)[y] for y in range(2)]

    def work(lo: int) -> FloatArray:
        hi = min(lo + _COLUMNS, matrix.n_features)
        part = comparison.take(slice(lo, hi))
        means = part.statistics.mean
        return part.log_gains([cross_products(values, rows[y], lo, hi, partners[y], means[y]) for y in range(2)])

    threads = n_threads_for(n_threads, matrix.n_samples * matrix.n_features)
    return np.concatenate(list(run(work, range(0, matrix.n_features, _COLUMNS), threads)), axis=1)


def _checked_model(model: Any) -> GaussianModel:
    model = GaussianModel.proper() if model is None else model
    if not isinstance(model, GaussianModel):
        raise OptionError(f"Correlation with known markers needs a GaussianModel, not {type(model).__name__}.")
    if not model.is_proper:
        raise PriorError(
            "An improper prior leaves open what blocks of different sizes weigh against each other, and so it has "
            "no say about who belongs with the known markers. Use a proper one, such as GaussianModel.proper()."
        )
    for prior in model.class_priors:
        checked_family(prior, prior.n_features or 1)
    return model


def _checked_matrix(X: Any, y: Any, classes: Any, feature_names: Any) -> LabelledMatrix:
    if hasattr(X, "statistics") or isinstance(X, Moments):
        raise DataError("The values themselves are needed, not statistics: hand over the table and its labels.")
    matrix = LabelledMatrix.from_arrays(X, y, classes=classes, feature_names=feature_names)
    if len(matrix.labels.classes) != 2:
        raise LabelError(f"Two classes are compared beside known markers, not {len(matrix.labels.classes)}.")
    return matrix


def _check_sizes(matrix: LabelledMatrix, n_known: int, partners: str) -> None:
    if partners not in ("all", "pairs"):
        raise OptionError(f"partners must be 'all' or 'pairs', not {partners!r}.")
    smallest = int(matrix.labels.counts.min())
    if partners == "all" and n_known > smallest - 3:
        raise OptionError(
            f"{n_known} known markers as one block need at least {n_known + 3} samples in each class, but the "
            f"smaller one has {smallest}. Name fewer, or use partners='pairs'."
        )
    if smallest < 1:
        raise LabelError("A class has no sample at all. Check classes, or leave it out.")


def _moments(model: GaussianModel, matrix: LabelledMatrix, n_threads: int | None) -> Moments:
    try:
        return model.summarise(matrix, n_threads=n_threads)
    except MissingValueError as error:
        where = str(error).partition(" Pass ")[0]
        raise MissingValueError(
            f"{where} Beside known markers all values are needed: fill them in first."
        ) from None


def _known_places(names: tuple[str, ...] | None, n_features: int, known: Any) -> IntArray:
    """Columns of the known markers, given by name or number."""
    listed = _listed(known)
    numbers = [isinstance(each, (int, np.integer)) and not isinstance(each, bool) for each in listed]
    if not listed:
        raise OptionError("No known marker was given. Name at least one, or call screen().")
    if not any(numbers):
        places = _places(names or tuple(f"x{i}" for i in range(n_features)), listed, "known")
    elif not all(numbers):
        raise OptionError("Give known markers all by name, or all by column number.")
    else:
        places = np.array([int(each) for each in listed], dtype=np.int64)
        outside = places[(places < 0) | (places >= n_features)]
        if outside.size:
            raise OptionError(
                f"{outside.size} of {places.size} known markers are not among the {n_features:,} columns, "
                f"counted from 0: {', '.join(map(str, outside[:_SHOWN].tolist()))}."
            )
    if np.unique(places).size < places.size:
        raise OptionError("A known marker was given more than once. Name each once.")
    return places


def _places(names: tuple[str, ...], wanted: Sequence[Any], option: str) -> IntArray:
    """Columns of some names; unknown ones are an error that lists them."""
    where = dict(zip(names, range(len(names)), strict=True))
    absent = [name for name in wanted if str(name) not in where]
    if absent:
        shown = ", ".join(repr(str(name)) for name in absent[:_SHOWN])
        more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
        raise OptionError(
            f"{option}: {len(absent)} of {len(wanted)} names are not among the {len(names):,} features: "
            f"{shown}{more}. Names must match to the letter; leave out what was not measured."
        )
    return np.array([where[str(name)] for name in wanted], dtype=np.int64)


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, (str, int, np.integer)) else list(given)


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise PriorError(f"The weight of {name!r} must be a finite number to add to its log-odds, not {value!r}.")
    return number


def _checked_weight(weight: Any) -> float:
    if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)) or not 0.0 <= weight <= 1.0:
        raise PriorError(f"weight must lie between 0 and 1, for example 0.5, not {weight!r}.")
    return float(weight)
