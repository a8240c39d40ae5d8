"""One contract for all models: whatever the likelihood, statistics merge and evidences are what they claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gammaln

import bayesieve as bs
from bayesieve.models import Patterns, compare


class ExponentialModel(bs.Model):
    """The example of the how-to: exponential waiting times with a gamma prior on the rate."""

    def __init__(self, shape: float = 2.0, rate: float = 1.5) -> None:
        self.shape, self.rate = shape, rate

    def statistic(self, values: Any) -> Any:  # noqa: D102
        return np.array([np.isfinite(values).sum(axis=0), np.nansum(values, axis=0)])

    def merge(self, first: Any, second: Any) -> Any:  # noqa: D102
        return first + second

    def log_evidence(self, group: Any) -> Any:  # noqa: D102
        n, total = group
        a, b = self.shape, self.rate
        return a * np.log(b) - gammaln(a) + gammaln(a + n) - (a + n) * np.log(b + total)


@dataclass(frozen=True)
class Case:
    """A model, data for it, and two routes to its evidence that do not touch it.

    ``predictive(x, past)`` is the log density of a value after others; ``integral(x)`` the log of prior times
    likelihood, integrated numerically; ``left_out(x)`` the log factor that the model leaves out of its evidence.
    """

    model: bs.Model
    draw: Callable[[np.random.Generator, int], np.ndarray]
    predictive: Callable[[float, np.ndarray], float]
    integral: Callable[[np.ndarray], float]
    left_out: Callable[[np.ndarray], float] = lambda x: 0.0


def _gaussian() -> Case:
    dof, scale, strength, location = 3.0, 0.5, 0.1, 0.0

    def predictive(x: float, past: np.ndarray) -> float:
        n = past.size
        kappa, nu = dof + n, strength + n
        m = (strength * location + past.sum()) / nu
        s = scale + ((past - past.mean()) ** 2).sum() if n else scale
        s = s + strength * n / nu * (past.mean() - location) ** 2 if n else s
        return float(stats.t.logpdf(x, kappa, m, math.sqrt(s * (nu + 1) / (kappa * nu))))

    def integral(x: np.ndarray) -> float:
        u, v = np.linspace(-9, 7, 801), np.linspace(-12, 12, 801)  # log variance; mean in standard errors
        variance = np.exp(u)[:, None]
        mean = x.mean() + v * np.sqrt(variance / x.size)
        log_p = stats.invgamma.logpdf(variance, dof / 2, scale=scale / 2) + u[:, None]
        log_p = log_p + stats.norm.logpdf(mean, location, np.sqrt(variance / strength))
        log_p = log_p + 0.5 * np.log(variance / x.size)  # the step of the mean
        for value in x:
            log_p = log_p + stats.norm.logpdf(value, mean, np.sqrt(variance))
        return math.log(integrate.trapezoid(integrate.trapezoid(np.exp(log_p), v, axis=1), u))

    return Case(
        bs.GaussianModel.proper(mean_locations=(location,)),
        lambda rng, n: rng.normal(0.5, 0.8, n),
        predictive,
        integral,
    )


def _categorical() -> Case:
    def predictive(x: float, past: np.ndarray) -> float:
        return math.log((0.5 + (past == x).sum()) / (1.5 + past.size))

    def integral(x: np.ndarray) -> float:
        k = [(x == level).sum() for level in range(3)]

        def density(t: float, p: float) -> float:  # p, then t of the rest; u = sqrt takes the poles away
            shares = np.array([p, (1 - p) * t, (1 - p) * (1 - t)])
            return float(np.prod(shares ** (np.array(k) - 0.5)) * (1 - p)) * math.gamma(1.5) / math.gamma(0.5) ** 3

        def smooth(v: float, u: float) -> float:
            p, t = math.sin(u) ** 2, math.sin(v) ** 2
            return density(t, p) * math.sin(2 * u) * math.sin(2 * v)

        total, _ = integrate.dblquad(smooth, 1e-9, math.pi / 2 - 1e-9, 1e-9, math.pi / 2 - 1e-9, epsrel=1e-9)
        return math.log(total)

    model = bs.CategoricalModel(0.5, levels=(0, 1, 2))
    return Case(model, lambda rng, n: rng.integers(0, 3, n).astype(float), predictive, integral)


def _poisson() -> Case:
    a, b = 1.7, 0.6

    def predictive(x: float, past: np.ndarray) -> float:
        return float(stats.nbinom.logpmf(x, a + past.sum(), (b + past.size) / (b + past.size + 1)))

    def integral(x: np.ndarray) -> float:
        def density(rate: float) -> float:
            return math.exp(stats.gamma.logpdf(rate, a, scale=1 / b) + stats.poisson.logpmf(x, rate).sum())

        total, _ = integrate.quad(density, 0, 60, epsabs=0, epsrel=1e-11, limit=500, points=[x.mean()])
        return math.log(total)

    model = bs.PoissonModel(shape=a, rate=b)
    return Case(
        model,
        lambda rng, n: rng.poisson(4.0, n).astype(float),
        predictive,
        integral,
        lambda x: -gammaln(x + 1).sum(),
    )


def _negative_binomial() -> Case:
    r, a, b = 3.5, 1.2, 0.8

    def factor(x: np.ndarray) -> float:
        return float((gammaln(x + r) - gammaln(r) - gammaln(x + 1)).sum())

    def predictive(x: float, past: np.ndarray) -> float:
        pa, pb = a + past.size * r, b + past.sum()
        beta = gammaln(pa + r) + gammaln(pb + x) - gammaln(pa + pb + r + x)
        return factor(np.array([x])) + beta - (gammaln(pa) + gammaln(pb) - gammaln(pa + pb))

    def integral(x: np.ndarray) -> float:
        def density(p: float) -> float:
            return math.exp(stats.beta.logpdf(p, a, b) + stats.nbinom.logpmf(x, r, p).sum())

        total, _ = integrate.quad(density, 0, 1, epsabs=0, epsrel=1e-11, limit=500)
        return math.log(total)

    model = bs.NegativeBinomialModel(size=r, success_prior=(a, b))
    return Case(model, lambda rng, n: rng.negative_binomial(3, 0.4, n).astype(float), predictive, integral, factor)


def _exponential() -> Case:
    a, b = 2.0, 1.5

    def predictive(x: float, past: np.ndarray) -> float:
        return float(stats.lomax.logpdf(x, a + past.size, scale=b + past.sum()))

    def integral(x: np.ndarray) -> float:
        def density(rate: float) -> float:
            return math.exp(stats.gamma.logpdf(rate, a, scale=1 / b) + stats.expon.logpdf(x, scale=1 / rate).sum())

        total, _ = integrate.quad(density, 1e-12, 60, epsabs=0, epsrel=1e-11, limit=500)
        return math.log(total)

    return Case(ExponentialModel(a, b), lambda rng, n: rng.exponential(0.7, n), predictive, integral)


CASES = {
    "gaussian": _gaussian,
    "categorical": _categorical,
    "poisson": _poisson,
    "negative binomial": _negative_binomial,
    "a user's own": _exponential,
}


@pytest.fixture(params=CASES, scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


WITH_CONSTANTS_FROM_THE_DATA = {
    "jeffreys": ("gaussian", bs.GaussianModel.jeffreys()),
    "observed levels": ("categorical", bs.CategoricalModel()),
    "poisson, rate of the data": ("poisson", bs.PoissonModel()),
    "negative binomial, size of the data": ("negative binomial", bs.NegativeBinomialModel(trend=(0.4, 0.2, 0.5))),
}


@pytest.fixture(params=[*CASES, *WITH_CONSTANTS_FROM_THE_DATA], scope="module")
def any_case(request: pytest.FixtureRequest) -> Case:
    """Also models that take constants from all classes together, for what does not need a known prior."""
    if request.param in CASES:
        return CASES[request.param]()
    like, model = WITH_CONSTANTS_FROM_THE_DATA[request.param]
    return replace(CASES[like](), model=model)


def summed(model: bs.Model, X: np.ndarray, y: Any) -> Any:
    return model.summarise(model.matrix(X, y), missing="omit")


def log_bf(model: bs.Model, statistics: Any, patterns: Any = "any") -> np.ndarray:
    return compare(model.evidences(statistics), Patterns.of(patterns, statistics.classes))


def table(case: Case, n: int = 24, p: int = 5, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.stack([case.draw(rng, n) for _ in range(p)], axis=1)
    return X, np.array(["a", "b", "c"])[rng.permutation(np.arange(n) % 3)]


def test_parts_merge_to_the_whole(any_case):
    X, y = table(any_case)
    whole = summed(any_case.model, X, y)
    for cut in (5, 11, 20):
        parts = summed(any_case.model, X[:cut], y[:cut]).merge(summed(any_case.model, X[cut:], y[cut:]))
        assert parts.classes == whole.classes
        np.testing.assert_allclose(log_bf(any_case.model, parts), log_bf(any_case.model, whole), rtol=1e-11)


def test_the_three_methods_agree_with_the_whole_table(case):
    X, y = table(case)
    whole, model = summed(case.model, X, y), case.model
    parts = [model.statistic(X[y == label]) for label in "ab"]
    direct = model.log_evidence(model.merge(*parts))
    got = model.evidences(whole).group((0, 1), 0)
    alone = model.evidences(whole).group((0,), 0)
    np.testing.assert_allclose(
        direct - model.log_evidence(parts[0]),
        got - alone + shift(case, whole, X[y == "b"]),
        rtol=1e-10,
        atol=1e-10,
    )


def shift(case: Case, whole: Any, values: np.ndarray) -> np.ndarray | float:
    """What evidences leave out because it cancels between groupings: the unit of the data."""
    if not isinstance(case.model, bs.GaussianModel):
        fitted = case.model.fitted(whole)
        direct, relative = case.model.statistic(values), fitted.log_evidence(case.model.statistic(values))
        return case.model.log_evidence(direct) - relative
    dof, scale, *_ = case.model.pooled_prior.updated_values(whole.pool())
    squares = ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    return -0.5 * values.shape[0] * np.log(2.0 * np.pi * scale / dof) - 0.5 * dof * squares / scale


def test_order_of_samples_and_names_of_classes_do_not_matter(any_case):
    X, y = table(any_case)
    reference = log_bf(any_case.model, summed(any_case.model, X, y))
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(
        log_bf(any_case.model, summed(any_case.model, X[order], y[order])), reference, rtol=1e-11
    )
    renamed = np.array(["c", "a", "b"])[np.searchsorted(["a", "b", "c"], y)]
    np.testing.assert_allclose(log_bf(any_case.model, summed(any_case.model, X, renamed)), reference, rtol=1e-11)


def test_missing_values_are_as_if_never_measured(any_case):
    X, y = table(any_case)
    holes = np.random.default_rng(1).random(X.shape) < 0.2
    got = log_bf(any_case.model, summed(any_case.model, np.where(holes, np.nan, X), y))
    for j in range(X.shape[1]):
        kept = ~holes[:, j]
        alone = log_bf(any_case.model, summed(any_case.model, X[kept, j : j + 1], y[kept]))
        np.testing.assert_allclose(got[j], alone[0], rtol=1e-10)


def test_features_can_be_taken_apart(any_case):
    X, y = table(any_case)
    whole = summed(any_case.model, X, y)
    np.testing.assert_allclose(
        log_bf(any_case.model, whole.take([3, 1])), log_bf(any_case.model, whole)[[3, 1]], rtol=1e-12
    )


def test_chain_rule_against_predictive_densities(case):
    """Log p(x_1..x_n) is the sum of one-step-ahead log densities from SciPy's distributions."""
    x = case.draw(np.random.default_rng(5), 12)
    by_steps = sum(case.predictive(x[i], x[:i]) for i in range(x.size))
    got = float(case.model.log_evidence(case.model.statistic(x[:, None]))[0]) + case.left_out(x)
    assert got == pytest.approx(by_steps, rel=1e-10)


def test_evidence_against_quadrature(case):
    """Prior times likelihood, integrated numerically over the parameters."""
    x = case.draw(np.random.default_rng(6), 6)
    got = float(case.model.log_evidence(case.model.statistic(x[:, None]))[0]) + case.left_out(x)
    assert got == pytest.approx(case.integral(x), rel=1e-7)


def test_a_screen_with_any_model(case):
    """Two classes: prior log-odds plus evidences of the classes minus that of the pool, by the three methods."""
    X, y = table(case)
    keep = y != "c"
    posterior = bs.screen(X[keep], y[keep], model=case.model, prior_probability=0.2)
    model = case.model.fitted(summed(case.model, X[keep], y[keep]))
    a, b = (model.statistic(X[y == label]) for label in "ab")
    expected = model.log_evidence(a) + model.log_evidence(b) - model.log_evidence(model.merge(a, b))
    np.testing.assert_allclose(posterior.log_odds, math.log(0.25) + expected, rtol=1e-10)
    assert bs.MinimalRisk(0.5).select(posterior).summary()


def test_one_class_cannot_be_taken_out_of_a_users_statistics():
    model = ExponentialModel()
    whole = summed(model, np.ones((4, 1)), list("aabb"))
    with pytest.raises(bs.DataError, match="merged but not taken apart"):
        whole.remove(whole)
