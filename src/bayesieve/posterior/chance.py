"""How many features would pass a cut by chance, were all of them non-markers of the model (Gaussian, say).

Under an improper prior the expectation of the model is not calibrated even on ideal data, so this
number stands beside it. Under Jeffreys' prior it follows from the exact law of lambda; otherwise non-markers
are drawn from each feature's own pooled law (the statistics only, no raw data).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve.models import GaussianModel, Model
from bayesieve.models.comparison import Comparison, Part
from bayesieve.models.patterns import Patterns
from bayesieve.models.prior_ratio import jeffreys_constant
from bayesieve.posterior.feature_posterior import FeaturePosterior

FloatArray = npt.NDArray[np.float64]

_SEED = 20_191_105
_DRAWS, _FEW, _AT_ONCE, _MOST_ROUNDS = 400_000, 20_000, 8_192, 300


def expected_by_chance(posterior: FeaturePosterior, cut: float) -> float:
    """Expected number of features with log-odds over ``cut`` if no feature were a marker.

    Parameters
    ----------
    posterior
        A screen; its class sizes, model and prior probabilities are used, not its log-odds.
    cut
        Cut on the posterior log-odds, 0 for a probability of one half.

    Notes
    -----
    Degenerate features are left out: they carry no evidence that chance could imitate. So are features
    with a prior probability of 1: they are markers by assumption, not by chance.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.posterior.chance import expected_by_chance
    >>> X = np.random.default_rng(0).normal(size=(50, 20_000))
    >>> posterior = bs.screen(X, [0] * 25 + [1] * 25, prior_probability=0.005)
    >>> round(expected_by_chance(posterior, 0.0), 1)
    11.1
    """
    prior = np.broadcast_to(posterior.prior_log_odds, (posterior.n_features,))
    usable = np.flatnonzero(by_chance(posterior))
    if np.isinf(cut):  # nothing reaches the one end, only a prior probability of 0 misses the other
        return 0.0 if cut > 0 else float((prior[usable] > -np.inf).sum())
    cuts = cut - prior[usable]
    if _follows_lambda(posterior):
        return _by_law(posterior, usable, cuts)
    return _by_drawing(posterior, usable, cuts)


def by_chance(posterior: FeaturePosterior) -> npt.NDArray[np.bool_]:
    """Which features could pass a cut by chance: neither degenerate nor markers by assumption.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.posterior.chance import by_chance
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(),
    ...                       prior_probability=[1.0, 0.01])
    >>> by_chance(posterior).tolist()
    [False, True]
    """
    return np.equal(posterior.degenerate_codes, 0) & (np.asarray(posterior.prior_log_odds) < np.inf)


def _follows_lambda(posterior: FeaturePosterior) -> bool:
    """Whether log-odds are a function of one two-class Pearson-Neyman statistic."""
    plain = posterior.comparison is None or (
        isinstance(posterior.comparison, Comparison) and len(posterior.comparison.parts) == 1
    )
    two = len(posterior.classes) == 2
    return plain and two and is_jeffreys(posterior.model) and not np.any(posterior.resolution)


def is_jeffreys(model: Model) -> bool:
    """Whether every hyper-parameter is 0, so that log-odds depend on the data through lambda alone.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.posterior.chance import is_jeffreys
    >>> is_jeffreys(bs.GaussianModel.jeffreys()), is_jeffreys(bs.GaussianModel.proper())
    (True, False)
    """
    return isinstance(model, GaussianModel) and all(
        prior.is_jeffreys for prior in (*model.class_priors, model.pooled_prior)
    )


def _by_law(posterior: FeaturePosterior, usable: npt.NDArray[np.int64], cuts: FloatArray) -> float:
    """Add up the null size of every distinct (class sizes, cut)."""
    from bayesieve.posterior.null_table import tabulated_log_null_probability  # noqa: PLC0415 - SciPy is slow

    moments, model = posterior.moments, posterior.model
    assert isinstance(model, GaussianModel)
    n = posterior.n_features
    with np.errstate(divide="ignore", invalid="ignore"):  # features that are not usable
        log_ratio = np.asarray(model.log_prior_ratio(moments))
    if moments.count.ndim == 1 and not log_ratio.ndim and cuts.size and (cuts == cuts[0]).all():
        distinct, number = np.array([[*moments.count, cuts[0] - log_ratio]]).T, np.array([usable.size])
    else:
        sizes = np.broadcast_to(moments.counts, moments.mean.shape)[:, usable]
        log_ratio = np.broadcast_to(log_ratio, (n,))[usable]
        cases = np.stack([*sizes.astype(np.float64), cuts - log_ratio])
        distinct, number = np.unique(cases, axis=1, return_counts=True)
    n0, n1, threshold = distinct
    log_lambda = jeffreys_constant(n0, n1) - threshold
    return float(number @ np.exp(tabulated_log_null_probability(log_lambda, n0.astype(int), n1.astype(int))))


def _by_drawing(posterior: FeaturePosterior, usable: npt.NDArray[np.int64], cuts: FloatArray) -> float:
    """Draw non-markers; NaN for a model that does not know how to."""
    comparison = posterior.comparison or _plain(posterior)
    rng, n = np.random.default_rng(_SEED), posterior.n_features
    draws = max(_DRAWS // comparison.cost, _FEW)
    copies = max(1, min(draws, _AT_ONCE) // n)  # few features are drawn many times at once
    rounds = int(np.clip(-(-draws // (n * copies)), 1, _MOST_ROUNDS))
    many = comparison if copies == 1 else comparison.take(np.tile(np.arange(n), copies))
    passed = 0
    for _ in range(rounds):
        log_bf = many.null_log_bayes_factor(rng)
        if log_bf is None:
            return float("nan")
        passed += int((log_bf.reshape(copies, n)[:, usable] > cuts).sum())
    return passed / (rounds * copies)


def _plain(posterior: FeaturePosterior) -> Comparison:
    part = Part(posterior.model, posterior.statistics)
    if np.any(posterior.resolution):
        part = Part(posterior.model, posterior.statistics, None, posterior.resolution, posterior.statistics)
    return Comparison(Patterns.of("any", posterior.classes), (part,))
