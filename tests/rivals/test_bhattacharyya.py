"""Bhattacharyya distance: against quadrature of its integral, mpmath, and the numbers of the specification."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

import bayesieve as bs
from bayesieve.errors import DegenerateFeatureWarning, LabelError
from bayesieve.rivals.bhattacharyya import bhattacharyya_distance

NAN = float("nan")


def halves(n0, n1):
    return [0] * n0 + [1] * n1


def distance(X, y, **options):
    return bhattacharyya_distance(bs.Moments.from_matrix(X, y, **options))


def test_number_of_the_specification(r1):
    assert distance(*r1).score[0] == pytest.approx(0.5340259581, abs=5e-11)


def test_by_quadrature_of_its_definition(rng):
    """Minus the log of the integral of the root of the product of the densities."""
    X = rng.normal(size=(11, 8))
    X[5:] = X[5:] * 2 + 1
    got = distance(X, halves(5, 6)).score
    for x, value in zip(X.T, got, strict=True):
        distributions = [stats.norm(part.mean(), part.std(ddof=1)) for part in (x[:5], x[5:])]
        options = {"limit": 400, "epsabs": 1e-13, "points": [x.mean()]}
        overlap, _ = integrate.quad(
            lambda z, p=distributions: np.sqrt(p[0].pdf(z) * p[1].pdf(z)), -40, 40, **options
        )
        assert value == pytest.approx(-np.log(overlap), rel=1e-10)


@pytest.mark.parametrize(
    ("ratio", "shift"), [(1.0, 0.0), (1 + 1e-6, 0.0), (1 + 1e-6, 1e-7), (1e-5, 3.0), (40.0, 1e3)]
)
@pytest.mark.parametrize("scale", [1.0, 1e-90, 1e140])
def test_by_mpmath_from_raw_data(rng, ratio, shift, scale):
    """Also where the classes are nearly the same, and the two logarithms of the textbook formula would cancel."""
    x = rng.normal(size=7)
    X = scale * np.concatenate([x, x * ratio + shift])[:, None]
    with mp.workdps(50):
        parts = []
        for part in (X[:7, 0], X[7:, 0]):
            values = [mp.mpf(float(v)) for v in part]
            mean = mp.fsum(values) / 7
            parts.append((mean, mp.fsum([(v - mean) ** 2 for v in values]) / 6))
        (m0, v0), (m1, v1) = parts
        expected = float((m1 - m0) ** 2 / (4 * (v0 + v1)) + mp.log((v0 + v1) / (2 * mp.sqrt(v0 * v1))) / 2)
    assert distance(X, halves(7, 7)).score[0] == pytest.approx(expected, rel=1e-8 if ratio == 1 + 1e-6 else 1e-12)


def test_affine_and_swap_invariant(rng):
    X = rng.normal(size=(20, 30))
    plain = distance(X, halves(8, 12))
    np.testing.assert_allclose(distance(3 - 7 * X, halves(8, 12)).score, plain.score, rtol=1e-10)
    np.testing.assert_allclose(distance(X, [1] * 8 + [0] * 12).score, plain.score, rtol=1e-14)
    assert (plain.score >= 0).all()
    np.testing.assert_array_equal(plain.score, plain.details["mean_part"] + plain.details["variance_part"])
    assert plain.log_p_value is None


def test_orders_nearly_as_the_pearson_neyman_statistic_for_balanced_classes(rng):
    X = rng.normal(size=(200, 1000)) * 1.0
    X[100:, :300] *= rng.uniform(0.7, 1.4, size=300)
    X[100:, 300:600] += rng.normal(size=300) * 0.3
    moments = bs.Moments.from_matrix(X, halves(100, 100))
    assert stats.spearmanr(bhattacharyya_distance(moments).score, bs.pearson_neyman(moments).score)[0] > 0.999


def test_features_without_variance():
    X = np.array([[1, 1, 1, 3, 1], [1, 1, 1, 4, NAN], [1, 2, 5, 5, 3], [1, 2, 6, 9, 4.0]])
    with pytest.warns(DegenerateFeatureWarning, match="4 of 5 features have no usable variance") as caught:
        got = distance(X, halves(2, 2), missing="omit")
    np.testing.assert_array_equal(got.score[[0, 1, 2, 4]], [0.0, np.inf, np.inf, NAN])
    for part in ("2 constant in a class, at an infinite", "1 constant in all", "1 without a distance: too few"):
        assert part in str(caught[0].message)
    with pytest.raises(LabelError, match="at least 2 samples of each class"):
        distance(X[:3], halves(2, 1), missing="omit")
