"""Variances so far apart that the normal approximation of their log ratio misleads, against quadrature."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate, optimize

from bayesieve.models.gaussian.effect_mixture import EXACT, QUICK, effect_sizes, two_group_evidence


def by_quadrature(squares, dof, share, omega):
    log_squares, whole = np.log(squares), np.log(sum(squares))

    def log_integrand(t):
        log_sum = np.logaddexp(log_squares[0] + t / 2, log_squares[1] - t / 2) - whole
        return share * ((dof[0] - dof[1]) * t / 4 - sum(dof) / 2 * log_sum) - 0.5 * (t / omega) ** 2

    top = optimize.minimize_scalar(lambda t: -log_integrand(t), bounds=(-60, 60), method="bounded",
                                   options={"xatol": 1e-10})  # fmt: skip
    edges = [0.0, 0.01, 0.1, 1.0, 10.0, 80.0]
    area = sum(
        integrate.quad(lambda t, s=side: np.exp(log_integrand(top.x + s * t) + top.fun), a, b, epsabs=0,
                       limit=400)[0]
        for side in (-1, 1) for a, b in itertools.pairwise(edges)
    )  # fmt: skip
    return -top.fun + np.log(area) - np.log(omega * np.sqrt(2 * np.pi))


@pytest.mark.parametrize("share", [1.0, 0.3, 0.02])
@pytest.mark.parametrize("sizes", [(1000, 1000), (1000, 8), (12, 20), (3, 60)])
@pytest.mark.parametrize("log_ratio", [-32.0, -12.0, 0.5, 6.0, 25.0])
def test_evidence_of_variances_that_are_far_apart(log_ratio, sizes, share):
    dof = np.array(sizes) - 1.0
    squares = (float(dof[0]), float(dof[1] * np.exp(log_ratio)))
    _, omegas = effect_sizes(1.0, 2 / dof[0] + 2 / dof[1])
    expected = np.logaddexp.reduce([by_quadrature(squares, dof, share, omega) for omega in omegas])
    for nodes, close in ((EXACT, 1e-7), (QUICK, 3e-4)):
        columns = (*(np.array([each]) for each in squares), *dof, share)
        found = two_group_evidence((np.zeros(1), np.ones(1), 1.0, 1.0, 0.0), columns, (np.ones(1), omegas), nodes)
        assert found[1][0] == pytest.approx(expected - np.log(omegas.size), rel=1e-9, abs=close)
