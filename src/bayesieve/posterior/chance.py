"""How many features would pass a cut by chance, were all of them Gaussian non-markers.

Under an improper prior the expectation of the model is not calibrated even on ideal data, so this
number stands beside it. Under Jeffreys' prior it is one quadrature; otherwise non-markers are drawn
at each feature's own pooled mean and variance (the statistics only, no raw data).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve.models import GaussianModel
from bayesieve.models.prior_ratio import jeffreys_constant
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.stats import Moments

FloatArray = npt.NDArray[np.float64]

_SEED = 20_191_105
_DRAWS = 400_000
_MOST_QUADRATURES = 30


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
    Degenerate features are left out: they carry no evidence that chance could imitate.

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
    usable = np.flatnonzero(posterior.degenerate_codes == 0)
    prior = np.broadcast_to(posterior.prior_log_odds, (posterior.n_features,))[usable]
    if np.isinf(cut):  # only a prior probability of 1 reaches the one end, only one of 0 misses the other
        return float((prior == np.inf).sum() if cut > 0 else (prior > -np.inf).sum())
    cuts = cut - prior
    if is_jeffreys(posterior.model) and not np.any(posterior.resolution):
        expected = _by_quadrature(posterior, usable, cuts)
        if expected is not None:
            return expected
    return _by_drawing(posterior, usable, cuts)


def is_jeffreys(model: GaussianModel) -> bool:
    """Whether every hyper-parameter is 0, so that log-odds depend on the data through lambda alone.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.posterior.chance import is_jeffreys
    >>> is_jeffreys(bs.GaussianModel.jeffreys()), is_jeffreys(bs.GaussianModel.proper())
    (True, False)
    """
    return not any(
        np.any(value)
        for prior in (*model.class_priors, model.pooled_prior)
        for value in (prior.variance_dof, prior.variance_scale, prior.mean_strength)
    )


def _by_quadrature(posterior: FeaturePosterior, usable: npt.NDArray[np.int64], cuts: FloatArray) -> float | None:
    """Add up the null size of every distinct (class sizes, cut); None if there are too many."""
    from bayesieve.posterior.null_law import log_null_probability  # noqa: PLC0415 - SciPy is slow to import

    moments = posterior.moments
    n = posterior.n_features
    with np.errstate(divide="ignore", invalid="ignore"):  # features that are not usable
        log_ratio = np.asarray(posterior.model.log_prior_ratio(moments))
    if moments.count.ndim == 1 and not log_ratio.ndim and cuts.size and (cuts == cuts[0]).all():
        distinct, number = np.array([[*moments.count, cuts[0] - log_ratio]]).T, np.array([usable.size])
    else:
        sizes = np.broadcast_to(moments.counts, moments.mean.shape)[:, usable]
        log_ratio = np.broadcast_to(log_ratio, (n,))[usable]
        cases = np.stack([*sizes.astype(np.float64), cuts - log_ratio])
        distinct, number = np.unique(cases, axis=1, return_counts=True)
    if distinct.shape[1] > _MOST_QUADRATURES:
        return None
    total = 0.0
    for (n0, n1, threshold), features in zip(distinct.T, number, strict=True):
        log_lambda = jeffreys_constant(n0, n1) - threshold
        total += float(features * np.exp(log_null_probability(log_lambda, int(n0), int(n1))))
    return total


def _by_drawing(posterior: FeaturePosterior, usable: npt.NDArray[np.int64], cuts: FloatArray) -> float:
    moments, rng = posterior.moments, np.random.default_rng(_SEED)
    pooled = moments.pool()
    counts = np.broadcast_to(moments.counts, moments.mean.shape)
    variance = np.zeros(posterior.n_features)
    freedom = np.maximum(np.broadcast_to(pooled.counts, pooled.mean.shape)[0] - 1, 1)
    variance[usable] = (pooled.centred_squares[0] / freedom)[usable]
    extra = counts * (np.asarray(posterior.resolution) ** 2 / 12.0)
    rounds = int(np.clip(_DRAWS // posterior.n_features, 8, 300))
    passed = 0
    for _ in range(rounds):
        drawn = _null_moments(moments, counts, pooled.mean[0], variance, extra, rng)
        with np.errstate(divide="ignore", invalid="ignore"):  # features that are not usable
            log_bf = posterior.model.log_bayes_factor(drawn)
        passed += int((log_bf[usable] > cuts).sum())
    return passed / rounds


def _null_moments(
    moments: Moments,
    counts: npt.NDArray[np.int64],
    mean: FloatArray,
    variance: FloatArray,
    extra: FloatArray,
    rng: np.random.Generator,
) -> Moments:
    """Draw class means and centred squares of Gaussian samples that share mean and variance.

    ``extra`` is what the screen adds to the squares for the resolution of the instrument.
    """
    number = np.maximum(counts, 1)
    means = mean + np.sqrt(variance / number) * rng.standard_normal(counts.shape)
    squares = variance * rng.chisquare(np.maximum(number - 1, 1e-9))
    flat = variance == 0  # degenerate features: any positive number, they are not counted
    squares[:, flat] = 1.0
    return Moments.trusted(moments.classes, moments.count, means, squares + extra, np.zeros_like(means))
