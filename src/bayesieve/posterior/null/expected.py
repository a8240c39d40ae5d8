"""False positives expected under the global null: how many features would pass if none differed.

Under an improper prior the expectation of the model is not calibrated even on ideal data, so this
number stands beside it. Under Jeffreys' prior it follows from the exact distribution of lambda; otherwise
non-markers are drawn from each feature's own pooled distribution (the statistics only, no raw data).
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from bayesieve.models import Comparison, GaussianModel, Part, Patterns, jeffreys_constant
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.utils import FloatArray

_SEED = 20_191_105
_DRAWS, _FEW, _AT_ONCE, _MOST_ROUNDS = 400_000, 20_000, 8_192, 300
_AT_ONCE_EXACT, _NODES = 2**20, 20_000


def expected_under_null(posterior: FeaturePosterior, cut: float) -> float:
    """False positives expected under the global null (no feature differs): features with log-odds over ``cut``.

    Parameters
    ----------
    posterior
        A screen; its class sizes, model and prior probabilities are used, not its log-odds.
    cut
        Cut on the posterior log-odds, 0 for a probability of one half.

    Notes
    -----
    Degenerate features are left out: they carry no evidence that the null could imitate. So are features
    with a prior probability of 1: they are markers by assumption.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.posterior.null.expected import expected_under_null
    >>> X = np.random.default_rng(0).normal(size=(50, 20_000))
    >>> model = bs.GaussianModel.jeffreys()
    >>> posterior = bs.screen(X, [0] * 25 + [1] * 25, model=model, prior_probability=0.005, shuffles=0)
    >>> round(expected_under_null(posterior, 0.0), 1)
    11.1
    """
    return float(null_curve(posterior, [cut])[0])


expected_by_chance = expected_under_null
"""The former name of :func:`expected_under_null`."""


def null_curve(posterior: FeaturePosterior, cuts: npt.ArrayLike) -> FloatArray:
    """:func:`expected_under_null` at many cuts, for little more than the cost of one.

    Returns
    -------
    numpy.ndarray
        One number per cut; NaN if the model does not know how to draw non-markers.
    """
    at = np.asarray(cuts, dtype=np.float64).ravel()
    prior = np.broadcast_to(posterior.prior_log_odds, (posterior.n_features,))
    usable = np.flatnonzero(can_be_null(posterior))
    finite = np.isfinite(at)  # nothing reaches the one end, only a prior probability of 0 misses the other
    found = np.where(at > 0, 0.0, float((prior[usable] > -np.inf).sum()))
    if finite.any():
        work = _exactly if follows_lambda(posterior) else _by_drawing
        found[finite] = work(posterior, usable, prior[usable], at[finite])
    return found


def null_resolution(posterior: FeaturePosterior) -> float:
    """Return the number that one event of the simulation behind :func:`null_curve` stands for; 0 if exact."""
    if follows_lambda(posterior):
        return 0.0
    copies, rounds = _repetitions(posterior)
    return 1.0 / (copies * rounds)


def least_log_odds(posterior: FeaturePosterior) -> FloatArray:
    """Log-odds that some features cannot fall below, where these follow from lambda; none for other screens.

    :func:`null_curve` has a kink at each.
    """
    if not follows_lambda(posterior):
        return np.empty(0)
    usable = np.flatnonzero(can_be_null(posterior))
    prior = np.broadcast_to(posterior.prior_log_odds, (posterior.n_features,))[usable]
    n0, n1, offset, _ = _distinct(posterior, usable, prior)
    least = np.unique(jeffreys_constant(n0, n1) + offset)
    return np.asarray(least[np.isfinite(least)])


def can_be_null(posterior: FeaturePosterior) -> npt.NDArray[np.bool_]:
    """Which features could be null: neither degenerate nor markers by assumption."""
    return np.equal(posterior.degenerate_codes, 0) & (np.asarray(posterior.prior_log_odds) < np.inf)


def follows_lambda(posterior: FeaturePosterior) -> bool:
    """Whether log-odds are a function of one two-class Pearson-Neyman statistic."""
    plain = posterior.comparison is None or (
        isinstance(posterior.comparison, Comparison) and len(posterior.comparison.parts) == 1
    )
    two = len(posterior.classes) == 2
    return plain and two and posterior.model.is_jeffreys and not np.any(posterior.resolution)


def _exactly(
    posterior: FeaturePosterior, usable: npt.NDArray[np.int64], prior: FloatArray, cuts: FloatArray
) -> FloatArray:
    """Add up the null size of every distinct (class sizes, prior odds times prior ratio)."""
    from bayesieve.posterior.null.distribution import tabulated_log_null_probability  # noqa: PLC0415 - SciPy is slow

    n0, n1, offset, number = _distinct(posterior, usable, prior)
    highest = jeffreys_constant(n0, n1) + offset  # log-odds where lambda is 1
    found = np.zeros(cuts.size)
    step = max(1, _AT_ONCE_EXACT // max(n0.size, 1))
    for rows in _of_equal_sizes(n0, n1) if n0.size * cuts.size > _AT_ONCE_EXACT else [slice(None)]:
        small, large = n0[rows].astype(int), n1[rows].astype(int)
        table = None
        if highest[rows].size * cuts.size > 4 * _NODES:
            most = np.max(cuts.max() - highest[rows], initial=1.0, where=np.isfinite(highest[rows]))
            nodes = -np.expm1(np.linspace(np.log1p(most), 0.0, _NODES))
            table = nodes, tabulated_log_null_probability(nodes, small[0], large[0])
        for lo in range(0, cuts.size, step):
            log_lambda = highest[rows] - cuts[lo : lo + step, None]
            log_p = (
                tabulated_log_null_probability(log_lambda, small, large)
                if table is None
                else np.where(log_lambda > -np.inf, np.interp(log_lambda, *table), -np.inf)
            )
            found[lo : lo + step] += np.exp(log_p) @ number[rows]
    return found


def _of_equal_sizes(n0: FloatArray, n1: FloatArray) -> list[npt.NDArray[np.int64]]:
    _, which, counts = np.unique(np.stack([n0, n1]), axis=1, return_inverse=True, return_counts=True)
    return np.split(np.argsort(which.ravel(), kind="stable"), np.cumsum(counts)[:-1])


def _distinct(
    posterior: FeaturePosterior, usable: npt.NDArray[np.int64], prior: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Class sizes, and log of prior odds times prior ratio, that occur, and how many features have them."""
    moments, model = posterior.moments, cast("GaussianModel", posterior.model)  # under Jeffreys' prior
    with np.errstate(divide="ignore", invalid="ignore"):  # features that are not usable
        log_ratio = np.asarray(model.log_prior_ratio(moments))
    if moments.count.ndim == 1 and not log_ratio.ndim and prior.size and (prior == prior[0]).all():
        distinct, number = np.array([[*moments.count, prior[0] + log_ratio]]).T, np.array([usable.size])
    else:
        sizes = np.broadcast_to(moments.counts, moments.mean.shape)[:, usable]
        log_ratio = np.broadcast_to(log_ratio, (posterior.n_features,))[usable]
        cases = np.stack([*sizes.astype(np.float64), prior + log_ratio])
        distinct, number = np.unique(cases, axis=1, return_counts=True)
    n0, n1, offset = distinct
    return n0, n1, offset, number.astype(np.float64)


def _by_drawing(
    posterior: FeaturePosterior, usable: npt.NDArray[np.int64], prior: FloatArray, cuts: FloatArray
) -> FloatArray:
    """Draw non-markers, once for all cuts; NaN for a model that does not know how to."""
    comparison = posterior.comparison or _plain(posterior)
    rng, n = np.random.default_rng(_SEED), posterior.n_features
    copies, rounds = _repetitions(posterior)
    many = comparison if copies == 1 else comparison.take(np.tile(np.arange(n), copies))
    passed = np.zeros(cuts.size)
    for _ in range(rounds):
        log_bf = many.null_log_bayes_factor(rng)
        if log_bf is None:
            return np.full(cuts.size, np.nan)
        log_odds = prior + log_bf.reshape(copies, n)[:, usable]
        passed += _number_over(log_odds.ravel(), cuts)
    return np.asarray(passed / (rounds * copies))


def _repetitions(posterior: FeaturePosterior) -> tuple[int, int]:
    """How often every feature is drawn: at once, and how many times over."""
    n, comparison = posterior.n_features, posterior.comparison or _plain(posterior)
    draws = max(_DRAWS // comparison.cost, _FEW)
    copies = max(1, min(draws, _AT_ONCE) // n)  # few features are drawn many times at once
    return copies, int(np.clip(-(-draws // (n * copies)), 1, _MOST_ROUNDS))


def _number_over(values: FloatArray, cuts: FloatArray) -> npt.NDArray[np.int64]:
    """How many values, of those that are numbers, lie over each cut."""
    if cuts.size == 1:
        return np.array([np.count_nonzero(values > cuts[0])])
    ordered = np.sort(values[~np.isnan(values)])
    return np.asarray(ordered.size - np.searchsorted(ordered, cuts, side="right"))


def _plain(posterior: FeaturePosterior) -> Comparison:
    part = Part(posterior.model, posterior.statistics)
    if np.any(posterior.resolution):
        part = Part(posterior.model, posterior.statistics, None, posterior.resolution, posterior.statistics)
    return Comparison(Patterns.of("any", posterior.classes), (part,))
