"""Log tails of Student's t: against mpmath (series and quadrature), SciPy and closed forms."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from bayesieve.rivals.log_tails import log_normal_tails, log_student_tails

STATISTICS = [1e-12, 1e-3, 0.0099, 0.0101, 0.1, 0.7, 1.0, 2.0, 5.0, 15.0, 31.6, 200.0, 1e3, 1e5, 1e100, 1e160]
DEGREES = [0.05, 0.5, 0.9, 1.0, 2.5, 8.0, 20.0, 29.99, 30.0, 60.0, 300.0, 998.0, 5e3, 1e5, 1e6, 1e9]


def exact(t: float, dof: float) -> mp.mpf:
    """Log of the tail with 40 digits: hypergeometric series far out, quadrature of the density elsewhere."""
    t, d = mp.mpf(t), mp.mpf(dof)
    x, log_front = d / (d + t * t), mp.loggamma((d + 1) / 2) - mp.loggamma(d / 2) - mp.log(mp.pi) / 2
    if x < 0.9:
        total = term = mp.mpf(1)
        k = 0
        while term > mp.mpf(10) ** -38 * total:
            term *= x * (d + 2 * k + 1) / (d + 2 * k + 2)
            total, k = total + term, k + 1
        return d / 2 * mp.log(x) + mp.log(1 - x) / 2 + log_front - mp.log(d / 2) + mp.log(total)
    if t < 1 or dof < 50:
        inside = mp.quad(lambda s: (1 + s * s / d) ** (-(d + 1) / 2), [0, t])
        return mp.log(1 - 2 * mp.exp(log_front) / mp.sqrt(d) * inside)

    def relative(v):
        return mp.exp(-(d + 1) / 2 * mp.log1p((v / t) * (2 * t + v / t) / (d + t * t)))

    outside = mp.quad(relative, [0, 1, 4, 16, 64, 256]) / t
    return mp.log(2) + log_front - mp.log(d) / 2 - (d + 1) / 2 * mp.log1p(t * t / d) + mp.log(outside)


@pytest.mark.parametrize("dof", DEGREES)
def test_by_mpmath(dof):
    got = log_student_tails(STATISTICS, dof)
    with mp.workdps(40):
        expected = [exact(t, dof) for t in STATISTICS]
        error = [float(abs(mp.mpf(float(g)) / e - 1)) for g, e in zip(got, expected, strict=True)]
    assert max(error) < 1e-12


def test_number_of_the_specification():
    assert log_student_tails(200.0, 998.0) == pytest.approx(-1857.714, abs=5e-4)


def test_moderate_tails_by_scipy(rng):
    t, dof = rng.normal(scale=4, size=2000), rng.uniform(0.5, 400, size=2000)
    got = log_student_tails(t, dof)
    np.testing.assert_allclose(np.exp(got), special.betainc(dof / 2, 0.5, dof / (dof + t * t)), rtol=1e-9)
    np.testing.assert_allclose(got, np.log(2 * stats.t.sf(np.abs(t), dof)), rtol=1e-9)


def test_one_and_two_degrees_of_freedom_in_closed_form():
    t = np.array([1e-6, 0.3, 2.0, 50.0])
    np.testing.assert_allclose(log_student_tails(t, 1), np.log1p(-2 / np.pi * np.arctan(t)), rtol=1e-12)
    np.testing.assert_allclose(log_student_tails(t, 2), np.log1p(-t / np.sqrt(2 + t * t)), rtol=1e-9)


def test_normal_limit_by_mpmath():
    z = [1e-9, 0.1, 0.7, 0.8, 5.0, 37.0, 40.0, 500.0, 1e5]
    with mp.workdps(40):
        expected = [float(mp.log(mp.erfc(mp.mpf(x) / mp.sqrt(2)))) for x in z]
    np.testing.assert_allclose(log_normal_tails(z), expected, rtol=1e-13)
    np.testing.assert_allclose(log_student_tails(z[:7], 1e15), expected[:7], rtol=1e-9)
    np.testing.assert_array_equal(log_student_tails(z, np.inf), log_normal_tails(z))


@pytest.mark.parametrize("dof", [0.7, 12.0, 30.0, 400.0])
def test_falls_without_steps_where_one_expansion_takes_over_from_another(dof):
    t = np.sort(np.concatenate([np.geomspace(1e-4, 1e4, 4000), np.sqrt(dof) * np.linspace(0.5, 1.5, 4000)]))
    assert (np.diff(log_student_tails(t, dof)) <= 0).all()


def test_ends_and_what_has_no_answer():
    got = log_student_tails(
        [0.0, 0.0, np.inf, -np.inf, np.nan, 1.0, 1.0, 1.0], [3, np.inf, 3, 900, 5, 0, -1, np.nan]
    )
    np.testing.assert_array_equal(got, [0.0, 0.0, -np.inf, -np.inf, np.nan, np.nan, np.nan, np.nan])
    assert not np.signbit(got[:2]).any()
    assert log_student_tails(1e-300, 3.0) == pytest.approx(-1e-300 * 2 * stats.t.pdf(0, 3), rel=1e-12)


def test_sign_and_shape_do_not_matter(rng):
    t, dof = rng.normal(size=(3, 4)), rng.uniform(1, 90, size=4)
    got = log_student_tails(t, dof)
    assert got.shape == (3, 4)
    np.testing.assert_array_equal(got, log_student_tails(-t, dof))
    one = [[float(log_student_tails(t[i, j], dof[j])) for j in range(4)] for i in range(3)]
    np.testing.assert_allclose(got, one, rtol=1e-15)
