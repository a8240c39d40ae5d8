"""Kinds of difference: the evidences against mpmath and against sums over all parameters."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import bayesieve as bs
from bayesieve.models import MEAN_CONSTANT, VARIANCE_CONSTANT, log_evidence_of_kinds
from bayesieve.posterior import Kinds, kinds

X0, X1 = [0.1, -0.4, 0.3, 0.8], [1.2, 0.7, 2.1, 1.5, 0.9]
GAUSS = np.arange(-8.5, 8.6, 0.5)  # a trapezoidal sum over a normal density on this grid is exact to 1e-15


def moments_of(x0, x1):
    columns = np.concatenate([np.asarray(x0, float), np.asarray(x1, float)])
    return bs.Moments.from_matrix(columns[:, None], [0] * len(x0) + [1] * len(x1))


def log_likelihood(x, mean, variance, power=1.0):
    x = np.asarray(x)[(...,) + (None,) * np.ndim(mean)] if np.ndim(mean) else np.asarray(x)
    return power * (-0.5 * np.log(2 * np.pi * variance) - 0.5 * (x - mean) ** 2 / variance).sum(axis=0)


def integrate_mean(samples, variances, log_prior, power):
    """Integrate the likelihood over a common mean on a grid of normal quadrature, in every variance cell."""
    precision = sum(power * len(x) / v for x, v in zip(samples, variances, strict=True))
    centre = sum(power * np.sum(x) / v for x, v in zip(samples, variances, strict=True)) / precision
    mean = centre[..., None] + GAUSS / np.sqrt(precision)[..., None]
    total = log_prior[..., None] + sum(
        log_likelihood(x, mean, v[..., None], power) for x, v in zip(samples, variances, strict=True)
    )
    return np.exp(total).sum(axis=-1) * (GAUSS[1] - GAUSS[0]) / np.sqrt(precision)


def brute_evidences(x0, x1, power=1.0):
    """Evidences (constants 1) by trapezoidal sums over means and log variances, from the raw values."""
    step = 0.25
    v = np.exp(np.arange(-9.0, 34.0 / min(1.0, power * min(len(x0), len(x1)) / 2), step))
    n = len(x0) + len(x1)
    own = [integrate_mean([x], [v], -0.5 * np.log(v), power) for x in (x0, x1)]
    pooled = integrate_mean([x0, x1], [v, v], -0.5 * np.log(v), power)
    v0, v1 = np.meshgrid(v, v, indexing="ij")
    common = integrate_mean([x0, x1], [v0, v1], 0.5 * np.log((len(x0) / v0 + len(x1) / v1) / n), power)
    same = pooled.sum() * step
    return np.array(
        [same, (own[0] * own[1]).sum() * step, common.sum() * step**2, own[0].sum() * own[1].sum() * step**2]
    )


@pytest.mark.parametrize(
    ("x0", "x1"), [(X0, X1), ([0.0, 1.0, 0.4, 0.2], [3.0, 3.5, 9.0, 1.0]), (X1, [0.9, 1.0, 1.1, 1.3, 1.2])]
)
def test_evidences_against_brute_force_over_means_and_variances(x0, x1):
    brute = brute_evidences(x0, x1)
    found = log_evidence_of_kinds(moments_of(x0, x1), mean_constant=1.0, variance_constant=1.0)[:, 0]
    assert found == pytest.approx(np.log(brute / brute[0]), abs=1e-10)


def test_evidence_of_mean_only_against_mpmath():
    with mp.workdps(40):
        x0, x1 = ([mp.mpf(str(v)) for v in x] for x in (X0, X1))
        n0, n1 = len(x0), len(x1)
        n = n0 + n1

        def squares(x):
            return mp.fsum([(v - mp.fsum(x) / len(x)) ** 2 for v in x])

        def over_variance(means, spread):
            """Integrate variance^(-n/2 - 1) exp(-spread / 2 variance) numerically, in log variance."""
            return (2 * mp.pi) ** (mp.mpf(means - n) / 2) * mp.quad(
                lambda t: mp.exp(-n * t / 2 - spread / 2 * mp.exp(-t)), [-8, -4, -2, 0, 2, 4, 8, 16, 32, 64]
            )

        mean = over_variance(2, squares(x0) + squares(x1)) / mp.sqrt(n0 * n1) / mp.sqrt(2 * mp.pi)
        exact = float(mp.log(mean / (over_variance(1, squares([*x0, *x1])) / mp.sqrt(n))))
    assert log_evidence_of_kinds(moments_of(X0, X1))[1, 0] == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("half", [2, 5])
def test_the_constants_are_those_of_the_balanced_fractional_bayes_factor(half):
    """With a fraction 4/n of the likelihood of equal, balanced classes: 4 per variance, sqrt(2 pi) per mean."""
    x = np.linspace(-1.0, 1.0, half)
    same, mean, variance, both = brute_evidences(x, x, power=2.0 / half)
    assert variance / same == pytest.approx(1.0 / VARIANCE_CONSTANT, rel=1e-9)
    assert both / mean == pytest.approx(1.0 / VARIANCE_CONSTANT, rel=1e-9)
    assert mean / same == pytest.approx(1.0 / MEAN_CONSTANT, rel=1e-9)
    assert VARIANCE_CONSTANT == 0.25
    assert pytest.approx(math.sqrt(1 / (2 * math.pi))) == MEAN_CONSTANT


def test_both_is_the_two_class_bayes_factor():
    found = log_evidence_of_kinds(moments_of(X0, X1), mean_constant=1.0, variance_constant=1.0)
    assert found[3, 0] == pytest.approx(5.2885974758, abs=1e-9)  # reference number R1 with L = 1


def test_shift_and_scale_change_nothing(rng):
    x = rng.normal(size=(17, 40)) * rng.lognormal(size=40)
    x[9:] += rng.normal(size=40)
    y = [0] * 9 + [1] * 8
    plain = log_evidence_of_kinds(bs.Moments.from_matrix(x, y))
    for factor, shift in ((1e-6, 0.0), (1e6, -3.0), (-2.5, 40.0)):
        moved = log_evidence_of_kinds(bs.Moments.from_matrix(factor * x + shift, y))
        assert moved == pytest.approx(plain, rel=1e-10, abs=1e-10)


def test_swapping_the_classes_changes_nothing(rng):
    x = rng.normal(size=(15, 40)) * rng.lognormal(size=(1, 40))
    x[9:] = 3.0 * x[9:] + 1.0
    moments = bs.Moments.from_matrix(x, ["a"] * 9 + ["b"] * 6)
    swapped = log_evidence_of_kinds(moments.pick(["b", "a"]))
    assert swapped == pytest.approx(log_evidence_of_kinds(moments), rel=1e-11, abs=1e-11)


def test_probabilities_follow_bayes_rule(rng):
    moments = bs.Moments.from_matrix(rng.normal(size=(20, 30)), [0] * 10 + [1] * 10)
    prior = np.linspace(0.01, 0.9, 30)
    found = kinds(moments, prior_probability=prior, weights=(0.5, 0.3, 0.2))
    weighed = np.exp(log_evidence_of_kinds(moments)) * np.array([1 - prior, 0.5 * prior, 0.3 * prior, 0.2 * prior])
    assert found.probability == pytest.approx(weighed / weighed.sum(axis=0), rel=1e-12)
    assert found.probability.sum(axis=0) == pytest.approx(1.0, rel=1e-14)
    assert found.means_differ + found.variances_differ - found.both + found.same == pytest.approx(1.0, rel=1e-14)


def test_simulated_differences_are_named(rng):
    x = rng.normal(size=(200, 40))
    x[100:, 10:20] += 1.5
    x[100:, 20:30] *= 3.0
    x[100:, 30:] = 3.0 * x[100:, 30:] + 4.0
    model = bs.GaussianModel.jeffreys()
    posterior = bs.screen(x, [0] * 100 + [1] * 100, model=model, prior_probability=0.2)
    expected = ("same",) * 10 + ("mean",) * 10 + ("variance",) * 10 + ("mean and variance",) * 10
    found = kinds(posterior)
    assert sum(a == b for a, b in zip(found.kind, expected, strict=True)) >= 38
    assert found.mean_only[10:20].min() > 0.5
    assert found.variance_only[20:30].min() > 0.5


def test_a_posterior_brings_its_prior_and_its_resolution(rng):
    x = np.round(rng.normal(size=(20, 6)))
    prior = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 1.0])
    model = bs.GaussianModel.jeffreys()
    posterior = bs.screen(x, [0] * 10 + [1] * 10, model=model, prior_probability=prior, resolution=1.0)
    found = kinds(posterior)
    direct = kinds(posterior.moments.with_resolution(1.0), prior_probability=prior)
    assert np.array_equal(found.probability, direct.probability)
    assert found.same[0] == 1.0
    assert found.same[-1] == 0.0
    assert kinds(posterior, prior_probability=0.5).log_prior.shape == (4, 1)


def test_features_that_cannot_be_judged_are_undefined():
    x = np.array([[1.0, 5.0], [1.0, 6.0], [1.0, 5.5], [2.0, 7.0], [3.0, 8.0], [4.0, 9.0]])
    with pytest.warns(bs.BayesieveWarning):
        posterior = bs.screen(x, [0] * 3 + [1] * 3, model=bs.GaussianModel.jeffreys())
    found = kinds(posterior)
    assert found.kind[0] == "undefined"
    assert np.isnan(found.probability[:, 0]).all()
    assert np.isfinite(found.probability[:, 1]).all()
    assert "1 of 2 features" in str(found.notes()[1])


def test_missing_values_give_the_result_of_each_feature_alone(rng):
    x = rng.normal(size=(20, 8))
    x[rng.random(x.shape) < 0.2] = np.nan
    y = np.repeat([0, 1], 10)
    moments = bs.Moments.from_matrix(x, y, missing="omit")
    together = log_evidence_of_kinds(moments)
    for j in range(8):
        there = ~np.isnan(x[:, j])
        alone = log_evidence_of_kinds(bs.Moments.from_matrix(x[there, j : j + 1], y[there]))
        assert together[:, j] == pytest.approx(alone[:, 0], rel=1e-11, abs=1e-11)


def test_kinds_as_columns(rng):
    posterior = bs.screen(rng.normal(size=(40, 5)), [0] * 20 + [1] * 20)
    found = kinds(posterior)
    columns = found.columns(posterior)
    assert next(iter(columns)) == "kind"
    assert np.array_equal(found.take([3, 1]).probability, found.probability[:, [3, 1]])
    assert np.array_equal(columns["probability_both"], found.both)
    assert "probability" not in columns
    assert not found.log_evidence.flags.writeable


def test_per_feature_priors_are_taken_along():
    found = Kinds(np.zeros((4, 2)), np.log([1.0, 1 / 9]), (0.4, 0.4, 0.2))
    assert found.same == pytest.approx([0.5, 0.9])
    assert found.take([1]).probability[:, 0] == pytest.approx([0.9, 0.04, 0.04, 0.02])


def test_columns_follow_the_prior_of_the_screen_unless_it_was_fixed(rng):
    posterior = bs.screen(rng.normal(size=(40, 5)), [0] * 20 + [1] * 20, prior_probability=0.1)
    other = posterior.with_prior(0.7)
    follows, fixed = kinds(posterior), kinds(posterior, prior_probability=0.1)
    assert follows.columns(posterior)["probability_same"] == pytest.approx(fixed.same, rel=1e-14)
    assert follows.columns(other)["probability_same"] == pytest.approx(kinds(other).same, rel=1e-14)
    assert fixed.columns(other)["probability_same"] == pytest.approx(fixed.same, rel=1e-14)


@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.5, 0.6, 0.2), (-0.1, 0.6, 0.5), "abc", (math.nan, 0.5, 0.5)])
def test_weights_that_are_no_shares_are_refused(weights):
    with pytest.raises(bs.PriorError, match="three shares"):
        kinds(moments_of(X0, X1), prior_probability=0.5, weights=weights)


def test_unusable_arguments_are_refused():
    moments = moments_of(X0, X1)
    with pytest.raises(bs.PriorError, match="must be given"):
        kinds(moments)
    for wrong in (0.0, -1.0, math.inf, "x"):
        with pytest.raises(bs.PriorError, match="mean_constant"):
            kinds(moments, prior_probability=0.5, mean_constant=wrong)
    with pytest.raises(bs.LabelError, match="two classes"):
        kinds(moments.pick([0]), prior_probability=0.5)
