"""Predictive densities against numerical integration over mean and variance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import bayesieve as bs
from bayesieve.posterior import predictive


def by_integration(x, values, dof, scale, strength, location):
    """Integrate the likelihood of old and new values over the prior; the constant of the prior drops out."""

    def joint(new):
        every = np.append(values, new) if new is not None else values
        at = np.mean(values)

        def over_mean(variance):
            # mean integrated in closed form would be the formula under test: do it on a grid
            mean = at + np.linspace(-12, 12, 1201) * np.sqrt(variance)
            log = -0.5 * ((every[:, None] - mean) ** 2).sum(axis=0) / variance
            log += -0.5 * strength * (mean - location) ** 2 / variance
            return integrate.trapezoid(np.exp(log), mean)

        grid = np.exp(np.linspace(-7, 7, 1401))
        power = -0.5 * every.size - 0.5 - 0.5 * dof - 1.0  # likelihood, normal prior of the mean, inverse gamma
        density = np.array([over_mean(v) * np.exp(power * np.log(v) - 0.5 * scale / v) for v in grid])
        return integrate.trapezoid(density * grid, np.log(grid))

    return np.array([joint(new) for new in x]) / joint(None) / np.sqrt(2 * np.pi)


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning", "ignore:The median variance")
@pytest.mark.parametrize(
    "model", [bs.GaussianModel.jeffreys(), bs.GaussianModel.proper()], ids=["jeffreys", "proper"]
)
def test_distributions_are_those_of_the_model(rng, model):
    values, labels = rng.normal(1.0, 0.7, size=(9, 2)), np.array([0] * 4 + [1] * 5)
    posterior = bs.screen(values, labels, model=model)
    found = predictive(posterior, [1])
    x = np.array([-1.0, 0.5, 2.5])
    priors = [model.prior_of(0, 2), model.prior_of(1, 2), model.pooled_prior]
    groups = [values[labels == 0, 1], values[labels == 1, 1], values[:, 1]]
    for k, (prior, group) in enumerate(zip(priors, groups, strict=True)):
        given = prior.variance_dof, prior.variance_scale, prior.mean_strength, prior.mean_location
        distribution = stats.t(found.dof[k, 0], found.location[k, 0], found.scale[k, 0])
        np.testing.assert_allclose(distribution.pdf(x), by_integration(x, group, *given), rtol=2e-4)


def test_distributions_of_pairs(rng):
    values = rng.normal(size=(16, 1))
    values[1::2] += 1.0
    posterior = bs.screen(values, ["a", "b"] * 8, pairs=np.arange(16) // 2)
    found = predictive(posterior, [0])
    d = values[1::2, 0] - values[::2, 0]
    x = np.array([-1.0, 0.5, 2.5])
    # prior sigma^(-1/2) dmu dsigma/sigma is (sigma^2)^(-5/4): in the terms above dof -1/2
    free = by_integration(x, d, -0.5, 0.0, 0.0, 0.0)
    np.testing.assert_allclose(
        stats.t(found.dof[0, 0], found.location[0, 0], found.scale[0, 0]).pdf(x), free, rtol=2e-4
    )
    null = stats.t(8, 0.0, np.sqrt((d**2).mean()))
    np.testing.assert_allclose([found.dof[1, 0], found.location[1, 0], found.scale[1, 0]],
                               [8, 0.0, null.kwds.get("scale", null.args[2])])  # fmt: skip


@pytest.mark.filterwarnings("ignore::bayesieve.DegenerateFeatureWarning")
def test_distributions_without_spread_are_not_defined(rng):
    values = rng.normal(size=(10, 2))
    values[:5, 0] = 3.0
    found = predictive(bs.screen(values, [0] * 5 + [1] * 5), [0, 1])
    assert np.isnan(found.scale[0, 0])
    assert np.isfinite(found.scale[1:, 0]).all()
    assert np.isfinite(found.scale[:, 1]).all()


def test_three_classes_have_four_distributions(rng):
    found = predictive(bs.screen(rng.normal(size=(30, 3)), np.arange(30) % 3), [2, 0])
    assert found.dof.shape == (4, 2)
    assert found.n_features == 2
