"""Evidence of trends, against quadrature of the likelihood itself and against two groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from bayesieve.data import LabelledMatrix
from bayesieve.models.gaussian.effect_mixture import two_group_evidence
from bayesieve.models.gaussian.trend import kinds_of_trend, trend_sizes
from bayesieve.stats import Moments, Slopes, TrendMoments


def along(X, t, Z=None, *, levels=False, groups=None):
    Z = np.empty((len(t), 0)) if Z is None else Z
    groups = np.digitize(t, np.quantile(t, [0.5])) if groups is None else groups
    matrix = LabelledMatrix.from_arrays(X, groups)
    return TrendMoments.along(matrix, np.asarray(t, float), Z, levels=levels)


def by_quadrature(x, t, Z, tau, dof, scale):
    """Log Bayes factor of a slope: location and slopes projected out, the variance integrated numerically."""
    n = len(x)
    basis = np.column_stack([np.ones(n), Z])
    left = np.linalg.svd(basis, full_matrices=True)[0][:, basis.shape[1] :]  # what the nuisance leaves
    y, s = left.T @ x, left.T @ t
    shapes = np.eye(len(y)), np.eye(len(y)) + tau**2 * np.outer(s, s)

    def evidence(shape):
        inverse, log_det = np.linalg.inv(shape), np.linalg.slogdet(shape)[1]
        form = y @ inverse @ y

        def density(u):  # u = log of the variance, under 1/variance times what other features say of it
            known = -0.5 * dof * u - 0.5 * dof * scale * np.exp(-u)
            return np.exp(-0.5 * len(y) * u - 0.5 * form * np.exp(-u) - 0.5 * log_det + known - top)

        grid = np.linspace(-30, 30, 60001)
        top = 0.0
        with np.errstate(over="ignore"):
            top = float(np.log(np.maximum(density(grid), 1e-300)).max())
        centre = grid[density(grid).argmax()]
        ends = centre - 12, centre + 12
        return top + np.log(integrate.quad(density, *ends, epsabs=0, epsrel=1e-12, limit=400)[0])

    return evidence(shapes[1]) - evidence(shapes[0])


@pytest.mark.parametrize("p", [0, 2])
def test_a_slope_is_what_quadrature_finds(p):
    rng = np.random.default_rng(p)
    t, Z = rng.normal(size=9), rng.normal(size=(9, p))
    X = rng.normal(size=(9, 3)) + np.outer(t, [0.0, 0.8, -2.0])
    taus = np.array([0.4, 1.5])
    mean, ratio = kinds_of_trend(along(X, t, Z), (3.0, 0.7), np.ones(3), (taus, np.empty(0)))
    for j in range(3):
        each = [by_quadrature(X[:, j], t, Z, tau, 3.0, 0.7) for tau in taus]
        assert mean[j] == pytest.approx(np.logaddexp(*each) - np.log(2.0), rel=1e-9, abs=1e-9)
    assert (ratio == 0).all()


def test_two_levels_are_two_groups():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 8)
    X = rng.normal(size=(16, 20)) * np.where(y[:, None] == 1, 1.7, 1.0) + 0.6 * y[:, None]
    moments = Moments.from_matrix(X, y)
    grids = np.array([0.5, 1.0, 2.0]), np.array([0.7, 1.4])
    share = np.linspace(0.2, 1.0, 20)
    expected = two_group_evidence(
        (4.0 * moments.mean_difference**2, moments.centred_squares.sum(axis=0), 4.0, 8.5, 2.0 * 0.9),
        (*moments.centred_squares, 7.0, 7.0, share),
        grids,
    )
    found = kinds_of_trend(along(X, y, levels=True, groups=y), (2.0, 0.9), share, grids)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_variances_along_levels_are_what_quadrature_finds():
    rng = np.random.default_rng(2)
    y, omega = np.repeat([0.0, 1.0, 3.0], [4, 5, 6]), 1.1
    X = rng.normal(size=(15, 2)) * np.exp(0.4 * y)[:, None]
    moments = along(X, y, levels=True, groups=y)
    _, ratio = kinds_of_trend(moments, (0.0, 0.0), np.ones(2), (np.ones(1), np.array([omega])))
    freedom = np.array([3.0, 4.0, 5.0])
    scores = np.array([0.0, 1.0, 3.0]) - (freedom * [0.0, 1.0, 3.0]).sum() / 12.0
    u, theta = np.linspace(-25.0, 30.0, 1101), np.linspace(-8.0, 8.0, 641)  # log variance under 1/variance
    for j in range(2):
        squares = [((X[y == k, j] - X[y == k, j].mean()) ** 2).sum() for k in (0.0, 1.0, 3.0)]
        scale = np.exp(u[:, None, None] + theta[:, None] * scores)
        evidence = (stats.chi2.pdf(squares / scale, freedom) / scale).prod(axis=-1).sum(axis=0)
        area = (evidence * stats.norm.pdf(theta, scale=omega)).sum() * (theta[1] - theta[0])
        assert ratio[j] == pytest.approx(np.log(area / evidence[320]), rel=1e-8, abs=1e-8)


def test_slopes_are_least_squares_with_missing_values():
    rng = np.random.default_rng(3)
    t, Z = rng.normal(size=30), rng.normal(size=(30, 2))
    X = rng.normal(size=(30, 4)) + t[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    found = Slopes.of(along(X, t, Z).trend)
    for j in range(4):
        here = ~np.isnan(X[:, j])
        columns = np.column_stack([np.ones(30), t, Z])[here]
        fit, left = np.linalg.lstsq(columns, X[here, j], rcond=None)[:2]
        assert found.slope[j] == pytest.approx(fit[1], rel=1e-10)
        assert found.left[j] == pytest.approx(left[0], rel=1e-10)
        assert found.freedom[j] == here.sum() - 4


def test_sizes_of_two_equal_groups_are_theirs():
    y = np.repeat([0, 1], 10)
    X = np.random.default_rng(4).normal(size=(20, 3))
    means, ratios = trend_sizes(along(X, y, levels=True, groups=y))
    assert means[0] == pytest.approx(np.sqrt(4.0 / 5.0))
    assert ratios[0] == pytest.approx(np.sqrt(4.0 * (2.0 / 9.0 + 2.0 / 9.0)))
