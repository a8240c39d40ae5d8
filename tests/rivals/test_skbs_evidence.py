"""Evidence of shared kernels: against every allocation of small samples, mpmath, and closed forms."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln, logsumexp

import bayesieve as bs
from bayesieve.models.categorical import dirichlet_evidence
from bayesieve.rivals.skbs.evidence import exact_log_bayes_factor
from bayesieve.rivals.skbs.quadrature import quadrature, quadrature_error
from bayesieve.rivals.skbs.shared_kernels import SharedKernels


def log_beta(a):
    return gammaln(a).sum(axis=-1) - gammaln(a.sum(axis=-1))


def by_allocations(values, kernels):
    """Evidence as the sum over all allocations of values to kernels: exact."""
    n, k = values.size, kernels.n_kernels
    density = stats.norm.logpdf(values[:, None], kernels.mean, kernels.sd)
    allocations = np.array(list(itertools.product(range(k), repeat=n)))
    counts = (allocations[:, :, None] == np.arange(k)).sum(axis=1)
    terms = density[np.arange(n), allocations].sum(axis=1) + log_beta(kernels.alpha + counts)
    return logsumexp(terms) - log_beta(kernels.alpha)


def log_bayes_factor(rows, n_first, kernels):
    return exact_log_bayes_factor(np.atleast_2d(rows), n_first, kernels)[0]


@pytest.mark.parametrize("alpha", [(0.5, 0.5), (2.0, 1.0), (0.003, 0.02), (7.3, 40.0)])
def test_two_kernels_against_every_allocation(rng, alpha):
    kernels = SharedKernels([0.0, 1.0], [0.4, 0.7], alpha)
    rows = rng.normal(0.5, 0.8, size=(5, 9))
    expected = [
        by_allocations(x[:4], kernels) + by_allocations(x[4:], kernels) - by_allocations(x, kernels) for x in rows
    ]
    np.testing.assert_allclose(log_bayes_factor(rows, 4, kernels), expected, rtol=0, atol=2e-10)


@pytest.mark.parametrize("alpha", [(0.5, 0.5, 0.5), (2.0, 0.1, 1.3), (0.02, 6.0, 15.0)])
def test_three_kernels_against_every_allocation(rng, alpha):
    kernels = SharedKernels([-1.0, 0.2, 1.0], [0.4, 0.7, 1.5], alpha)
    rows = rng.normal(0.5, 0.8, size=(4, 8))
    expected = [
        by_allocations(x[:3], kernels) + by_allocations(x[3:], kernels) - by_allocations(x, kernels) for x in rows
    ]
    np.testing.assert_allclose(log_bayes_factor(rows, 3, kernels), expected, rtol=0, atol=1e-10)


def test_two_kernels_against_mpmath_on_a_larger_sample(rng):
    kernels = SharedKernels([0.0, 1.2], [0.5, 0.6], [0.7, 1.4])
    values = np.concatenate([rng.normal(0.0, 0.5, 25), rng.normal(1.2, 0.6, 30)])
    density = np.exp(kernels.log_density(values))
    with mpmath.workdps(30):

        def evidence(part):
            factors = [(mpmath.mpf(f), mpmath.mpf(g)) for f, g in part.tolist()]

            def integrand(p):
                return (
                    p ** mpmath.mpf("-0.3")
                    * (1 - p) ** mpmath.mpf("0.4")
                    * mpmath.fprod(p * f + (1 - p) * g for f, g in factors)
                )

            return mpmath.log(mpmath.quad(integrand, mpmath.linspace(0, 1, 9)) / mpmath.beta(0.7, 1.4))

        expected = float(evidence(density[:30]) + evidence(density[30:]) - evidence(density))
    assert log_bayes_factor(values, 30, kernels)[0] == pytest.approx(expected, abs=1e-9)


def test_truncated_kernels_are_densities_of_scipy(rng):
    kernels = SharedKernels([0.1, 0.9, -2.0], [0.2, 0.4, 0.5], [1.0, 1.0, 1.0], (0.0, 1.0))
    values = rng.random(20)
    low, high = (0.0 - kernels.mean) / kernels.sd, (1.0 - kernels.mean) / kernels.sd
    expected = stats.truncnorm.logpdf(values[:, None], low, high, kernels.mean, kernels.sd)
    np.testing.assert_allclose(kernels.log_density(values), expected, rtol=1e-9)


@pytest.mark.parametrize("n", [3, 30, 200, 1000])
@pytest.mark.parametrize("alpha", [(0.5, 0.5), (2.0, 1.0), (1e-3, 1e-3), (1e-3, 1e3), (300.0, 1.0), (1e3, 1e3)])
def test_the_error_is_bounded_for_every_set_of_values(alpha, n):
    """Terms p^i (1 - p)^(n - i), of which every integrand is a positive sum, have Beta functions for integrals."""
    bound = quadrature_error(alpha, n)
    assert bound < 2e-9
    rule, i = quadrature(alpha, n), np.arange(n + 1.0)[:, None]
    found = logsumexp(rule.log_weights + i * np.log(rule.nodes[0]) + (n - i) * np.log(rule.nodes[1]), axis=1)
    i = i[:, 0]
    errors = np.expm1(found - betaln(alpha[0] + i, alpha[1] + n - i) + betaln(*alpha))
    assert np.abs(errors).max() <= bound + 1e-12


def test_few_nodes_would_not_do():
    """The bound tells: half the nodes lose many digits where kernels lie far apart."""
    assert quadrature_error((0.5, 0.5), 1000, 2.0) > 1e-5
    assert quadrature_error((0.5, 0.5), 1000) < 1e-10


def test_three_kernels_far_apart_have_the_dirichlet_multinomial_evidence(rng):
    kernels = SharedKernels([-100.0, 0.0, 100.0], [1.0, 1.0, 1.0], [0.5, 0.5, 0.5])
    counts = np.array([[4, 1, 0], [1, 3, 2]])
    values = np.concatenate([np.repeat(kernels.mean, each) for each in counts])
    found = log_bayes_factor(values + 0.1 * rng.normal(size=11), 5, kernels)
    assert found[0] == pytest.approx(1.2735042513, abs=1e-10)  # the categorical model's verified number
    parts = [dirichlet_evidence(each[:, None], 0.5, 3)[0] for each in (*counts, counts.sum(axis=0))]
    assert found[0] == pytest.approx(parts[0] + parts[1] - parts[2], abs=1e-10)


def test_two_kernels_far_apart_on_a_large_sample():
    kernels = SharedKernels([0.0, 100.0], [1.0, 1.0], [0.3, 1.7])
    values = np.concatenate([np.repeat(kernels.mean, each) for each in ([150, 250], [270, 330])])
    parts = [betaln(0.3 + a, 1.7 + b) - betaln(0.3, 1.7) for a, b in ([150, 250], [270, 330], [420, 580])]
    assert log_bayes_factor(values, 400, kernels)[0] == pytest.approx(parts[0] + parts[1] - parts[2], abs=1e-9)


def test_nothing_is_learnt_from_kernels_that_are_the_same_or_alone(rng):
    rows = rng.normal(size=(6, 40))
    same = SharedKernels([0.3, 0.3], [0.8, 0.8], [0.4, 1.1])
    np.testing.assert_allclose(log_bayes_factor(rows, 15, same), 0.0, atol=1e-12)
    assert log_bayes_factor(rows, 15, SharedKernels([0.3], [0.8], [0.4])).tolist() == [0.0] * 6


def test_large_concentrations_leave_nothing_to_differ(rng):
    rows = rng.normal(size=(6, 40))
    kernels = [SharedKernels([-1.0, 1.0], [0.8, 0.8], [a, a]) for a in (1.0, 1e2, 1e3)]
    strengths = [np.abs(log_bayes_factor(rows, 15, each)).max() for each in kernels]
    assert strengths[0] > 10 * strengths[1] > 50 * strengths[2]
    assert strengths[2] < 0.02


def test_invariances(rng):
    rows = rng.normal(size=(8, 30))
    kernels = SharedKernels([-1.0, 0.5, 1.0], [0.8, 0.6, 1.2], [0.4, 1.5, 0.9])
    found = log_bayes_factor(rows, 12, kernels)
    swapped = log_bayes_factor(np.concatenate([rows[:, 12:], rows[:, :12]], axis=1), 18, kernels)
    np.testing.assert_allclose(swapped, found, atol=1e-11)  # classes
    order = [2, 0, 1]
    renamed = SharedKernels(kernels.mean[order], kernels.sd[order], kernels.alpha[order])
    np.testing.assert_allclose(log_bayes_factor(rows, 12, renamed), found, atol=1e-10)  # kernels
    moved = SharedKernels(7.0 - 3.0 * kernels.mean, 3.0 * kernels.sd, kernels.alpha)
    np.testing.assert_allclose(log_bayes_factor(7.0 - 3.0 * rows, 12, moved), found, atol=1e-10)  # units
    mixed = np.concatenate([rng.permuted(rows[:, :12], axis=1), rng.permuted(rows[:, 12:], axis=1)], axis=1)
    np.testing.assert_allclose(log_bayes_factor(mixed, 12, kernels), found, atol=1e-11)  # samples of a class


def test_two_kernels_merge_from_three_by_adding_concentrations(rng):
    """A kernel split in two equal ones with its concentration shared between them changes nothing."""
    rows = rng.normal(size=(5, 24))
    two = SharedKernels([0.0, 1.0], [0.5, 0.9], [0.8, 1.5])
    three = SharedKernels([0.0, 1.0, 1.0], [0.5, 0.9, 0.9], [0.8, 0.6, 0.9])
    np.testing.assert_allclose(log_bayes_factor(rows, 10, three), log_bayes_factor(rows, 10, two), atol=1e-10)


def test_values_far_from_every_kernel_do_no_harm():
    kernels = SharedKernels([0.0, 1.0], [0.5, 0.5], [1.0, 1.0])
    values = np.array([0.1, 1e4, -1e4, 0.9, 1.1, -0.2])
    assert np.isfinite(log_bayes_factor(values, 3, kernels)).all()


def test_missing_values_and_threads(rng):
    rows = rng.normal(size=(300, 20))
    kernels = SharedKernels([-0.5, 1.0], [0.8, 0.6], [0.4, 1.5])
    holes = np.insert(rows, [3, 14], np.nan, axis=1)
    found = exact_log_bayes_factor(rows, 8, kernels, n_threads=1)[0]
    np.testing.assert_allclose(exact_log_bayes_factor(holes, 9, kernels, n_threads=3)[0], found, atol=1e-12)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0.0, 1.0], [1.0], [1.0, 1.0]), "a mean, a standard deviation and a concentration each"),
        (([0.0, 1.0], [1.0, 0.0], [1.0, 1.0]), "must be positive"),
        (([0.0, np.nan], [1.0, 1.0], [1.0, 1.0]), "must be positive and finite"),
        (([0.0], [1.0], [1.0], (1, 0)), "support must be two ends"),
    ],
)
def test_kernels_that_are_none(columns, message):
    with pytest.raises(bs.OptionError, match=message):
        SharedKernels(*columns)
