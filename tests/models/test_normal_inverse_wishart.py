"""Blocks of correlated features: 50-digit determinants, predictive densities, quadrature, one-feature evidence."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from exact_blocks import block_log_marginal
from scipy import integrate, stats

import bayesieve as bs
from bayesieve.models import KnownBlock, subset_log_evidence
from bayesieve.models.normal_inverse_wishart import block_log_evidence
from bayesieve.stats import Scatter

PRIOR = bs.NormalInverseGamma(variance_dof=3.0, variance_scale=0.5, mean_strength=0.1, mean_location=0.2)
JEFFREYS = bs.NormalInverseGamma()


def scatter_of(X):
    return Scatter.from_matrix(X, [0] * len(X))


def members(mask, d):
    return [f for f in range(d) if mask >> f & 1]


def exact(X, prior):
    s, m = (np.broadcast_to(value, (X.shape[1],)) for value in (prior.variance_scale, prior.mean_location))
    return float(block_log_marginal(X, float(prior.variance_dof), s, float(prior.mean_strength), m))


@pytest.mark.parametrize("prior", [PRIOR, JEFFREYS])
@pytest.mark.parametrize("n", [2, 9, 60])
def test_one_feature_equals_the_normal_inverse_gamma_evidence(rng, prior, n):
    group = scatter_of(rng.normal(3.0, 2.0, size=(n, 1)))
    expected = bs.log_evidence(prior, group.moments())[0]
    assert block_log_evidence(prior, group) == pytest.approx(expected, rel=1e-13, abs=1e-12)
    np.testing.assert_allclose(subset_log_evidence(prior, group), [0.0, expected], rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_chain_of_predictive_multivariate_t_densities_by_scipy(rng, d):
    """p(x_1) p(x_2 | x_1) ...: t with kappa - d + 1 degrees of freedom and scale S (nu + 1) / (nu dof)."""
    X = rng.normal(size=(7, d)) @ rng.normal(size=(d, d))
    kappa, nu = 3.0 + d - 1, 0.1
    S, m, total = 0.5 * np.eye(d), np.full(d, 0.2), 0.0
    for x in X:
        dof = kappa - d + 1
        total += stats.multivariate_t(m, S * (nu + 1) / (nu * dof), dof).logpdf(x)
        S = S + nu / (nu + 1) * np.outer(x - m, x - m)
        m, kappa, nu = (nu * m + x) / (nu + 1), kappa + 1, nu + 1
    assert block_log_evidence(PRIOR, scatter_of(X)) == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("prior", [PRIOR, JEFFREYS])
@pytest.mark.parametrize(("n", "d"), [(6, 3), (12, 5), (40, 8)])
def test_fifty_digit_determinants_by_mpmath(rng, prior, n, d):
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    assert block_log_evidence(prior, scatter_of(X)) == pytest.approx(exact(X, prior), rel=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_ill_scaled_features_by_mpmath(rng, offset):
    """Units between 1e-6 and 1e6, and means 1e8 units away from the prior's."""
    unit = 10.0 ** np.array([-6, -2, 0, 3, 6])
    X = (rng.normal(size=(20, 5)) @ rng.normal(size=(5, 5)) + offset) * unit
    prior = bs.NormalInverseGamma(3.0, 0.5 * unit**2, 0.1, unit)
    expected = exact(X, prior)
    assert block_log_evidence(prior, scatter_of(X)) == pytest.approx(expected, rel=1e-10)
    assert subset_log_evidence(prior, scatter_of(X))[-1] == pytest.approx(expected, rel=1e-10)
    assert block_log_evidence(JEFFREYS, scatter_of(X)) == pytest.approx(exact(X, JEFFREYS), rel=1e-10)


def test_a_copied_feature_by_mpmath(rng):
    """The prior alone keeps the determinant above zero."""
    X = rng.normal(size=(15, 3))
    X[:, 2] = X[:, 0]
    prior = bs.NormalInverseGamma(3.0, 1e-6, 0.1)
    assert block_log_evidence(prior, scatter_of(X)) == pytest.approx(exact(X, prior), abs=1e-6)
    tiny = bs.NormalInverseGamma(3.0, 1e-25, 0.1)  # beyond float64, but finite and a large gain
    lone, both = block_log_evidence(tiny, scatter_of(X[:, :1])), block_log_evidence(tiny, scatter_of(X[:, [0, 2]]))
    assert np.isfinite(both)
    assert both > 2 * lone + 200


@pytest.mark.parametrize("prior", [
    PRIOR, JEFFREYS, bs.NormalInverseGamma(3.0, [0.1, 0.5, 2.0, 1.0, 0.7], 0.1, [0.0, 1.0, -1.0, 0.5, 0.2]),
])  # fmt: skip
def test_subsets_by_bit_mask_equal_blocks_one_by_one_by_mpmath(rng, prior):
    X = rng.normal(size=(9, 5)) @ rng.normal(size=(5, 5))
    found = subset_log_evidence(prior, scatter_of(X))
    assert found.shape == (32,)
    assert found[0] == 0.0
    for mask in range(1, 32):
        places = members(mask, 5)
        some = bs.NormalInverseGamma(
            prior.variance_dof, np.broadcast_to(prior.variance_scale, 5)[places], prior.mean_strength,
            np.broadcast_to(prior.mean_location, 5)[places],
        )  # fmt: skip
        assert found[mask] == pytest.approx(exact(X[:, places], some), rel=1e-11)
        assert found[mask] == pytest.approx(block_log_evidence(some, scatter_of(X).take(places)), rel=1e-12)


def test_many_subsets_at_the_edge_of_the_walk_by_slogdet(rng):
    """Twelve features: the log determinant of some random subsets by NumPy."""
    X, n, d = rng.normal(size=(30, 12)), 30, 12
    found = subset_log_evidence(JEFFREYS, scatter_of(X))
    W = np.cov(X.T) * (n - 1)
    for size in (1, 5, 12):
        constants = []
        for places in itertools.islice(itertools.combinations(range(d), size), 0, 800, 50):
            log_det = np.linalg.slogdet(W[np.ix_(places, places)])[1]
            constants.append(found[sum(1 << f for f in places)] + n / 2 * log_det)
        np.testing.assert_allclose(constants, constants[0], rtol=1e-12)  # what is left depends on the size alone


def test_the_distribution_of_a_part_of_a_block_by_quadrature():
    """Integrating the second feature out of one sample, and out of two, leaves the distribution of the first."""

    def joint(x, *z):
        return np.exp(block_log_evidence(PRIOR, scatter_of(np.column_stack([x, z]))))

    alone = np.exp(block_log_evidence(PRIOR, scatter_of(np.array([[0.7]]))))
    found = integrate.quad(lambda z: joint([0.7], z), -np.inf, np.inf, epsrel=1e-10)[0]
    assert found == pytest.approx(alone, rel=1e-8)
    steps = np.arange(-20, 21) * 0.35  # trapezoidal rule in arsinh of the mean and of the half difference
    nodes = list(zip(np.sinh(steps), 0.35 * np.cosh(steps), strict=True))
    both = sum(2 * u * v * joint([0.7, -0.4], 0.2 + a + b, 0.2 + a - b) for a, u in nodes for b, v in nodes)
    alone = np.exp(block_log_evidence(PRIOR, scatter_of(np.array([[0.7], [-0.4]]))))
    assert both == pytest.approx(alone, rel=1e-4)


def test_order_and_units_of_features_do_not_matter(rng):
    X = rng.normal(size=(10, 4)) @ rng.normal(size=(4, 4))
    scale, location, unit = (
        np.array([0.1, 0.5, 2.0, 1.0]),
        np.array([0.0, 1.0, -1.0, 0.5]),
        np.array([1e-3, 1, 7, 1e4]),
    )
    expected = block_log_evidence(bs.NormalInverseGamma(3.0, scale, 0.1, location), scatter_of(X))
    order = [2, 0, 3, 1]
    turned = bs.NormalInverseGamma(3.0, scale[order], 0.1, location[order])
    assert block_log_evidence(turned, scatter_of(X[:, order])) == pytest.approx(expected, rel=1e-12)
    in_units = bs.NormalInverseGamma(3.0, scale * unit**2, 0.1, location * unit)
    jacobian = 10 * np.log(unit).sum()
    assert block_log_evidence(in_units, scatter_of(X * unit)) == pytest.approx(expected - jacobian, rel=1e-12)


def test_no_samples_say_nothing():
    group = Scatter.from_matrix([[1.0, 2.0, 0.0]], ["a"], classes=["a", "b"]).group("b")
    np.testing.assert_allclose(subset_log_evidence(PRIOR, group), np.zeros(8), atol=1e-14)


def test_worked_example_of_three_features_at_six_digits():
    """Joint blocks for the markers of each class and for the non-markers of the pool, all eight sets alike."""
    X0 = [-11, -7, -10, 3, 4, -7, 5, 1, -3, 11, 4, -1, -8, -2, -1, -2, 6, -3]
    X1 = [-15, 20, 3, 6, -9, 4, 6, -9, 3, 6, 5, 5, 6, 2, -1, -2, 0, -4]
    scatter = Scatter.from_matrix(np.reshape(X0 + X1, (12, 3)) / 10, [0] * 6 + [1] * 6)
    prior = bs.NormalInverseGamma(3.0, 0.5, 0.1)
    of_class = [subset_log_evidence(prior, scatter.group(label)) for label in (0, 1)]
    log_weight = of_class[0] + of_class[1] + subset_log_evidence(prior, scatter.pool())[::-1]
    posterior = np.exp(log_weight - log_weight.max())
    posterior /= posterior.sum()
    expected = [0.016161, 0.006715, 0.058245, 0.230461, 0.356808, 0.025926, 0.187164, 0.118519]
    np.testing.assert_allclose(posterior, expected, atol=6e-7)


@pytest.mark.parametrize("n_known", [1, 3, 6])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_gain_beside_known_features_equals_a_difference_of_blocks_by_mpmath(rng, n_known, offset):
    d = n_known + 3
    X = rng.normal(size=(14, d)) @ rng.normal(size=(d, d)) + offset
    scale, location = rng.uniform(0.2, 2.0, d), rng.normal(size=d)
    scatter, known = scatter_of(X), slice(0, n_known)

    def prior_of(places):
        return bs.NormalInverseGamma(3.0, scale[places], 0.1, location[places])

    block = KnownBlock.of(prior_of(known), scatter.take(known))
    rest = slice(n_known, d)
    arguments = (prior_of(rest), scatter.take(rest).moments(), scatter.products[0, known, rest])
    gain = block.log_gain(*arguments)
    base = exact(X[:, known], prior_of(known))
    for j in range(3):
        f = n_known + j
        joint = exact(X[:, [*range(n_known), f]], prior_of([*range(n_known), f]))
        assert gain[j] == pytest.approx(joint - base - exact(X[:, [f]], prior_of([f])), rel=1e-8, abs=1e-8)


def test_priors_that_make_no_block(rng):
    group = scatter_of(rng.normal(size=(5, 3)))
    cases = [
        (bs.NormalInverseGamma([3.0, 3.0, 4.0], 0.5, 0.1), "common variance_dof, but it is between 3 and 4"),
        (bs.NormalInverseGamma(3.0, 0.5, [0.1, 0.2, 0.1]), "common mean_strength"),
        (bs.NormalInverseGamma(3.0, 0.5, 0.0), "must be proper"),
        (bs.NormalInverseGamma(3.0, [0.5, 0.5, 0.0], 0.1), "must be proper"),
        (bs.NormalInverseGamma(3.0, [0.5, 0.5], 0.1), "given for 2 features, the data have 3"),
    ]
    for prior, message in cases:
        for function in (block_log_evidence, subset_log_evidence):
            with pytest.raises(bs.PriorError, match=message):
                function(prior, group)
    assert block_log_evidence(bs.NormalInverseGamma([3.0] * 3, [0.5] * 3, [0.1] * 3), group) == pytest.approx(
        block_log_evidence(bs.NormalInverseGamma(3.0, 0.5, 0.1), group), rel=1e-14
    )


def test_what_an_improper_prior_cannot_do(rng):
    X = rng.normal(size=(5, 4))
    assert np.isfinite(block_log_evidence(JEFFREYS, scatter_of(X)))
    with pytest.raises(bs.PriorError, match="4 features in 4 samples"):
        subset_log_evidence(JEFFREYS, scatter_of(X[:4]))
    X[:, 2] = X[:, 0] + X[:, 1]
    with pytest.raises(bs.PriorError, match="Feature 2 of the 4 in the block is a linear combination"):
        subset_log_evidence(JEFFREYS, scatter_of(X))
    X[:, 2] = 1.0
    with pytest.raises(bs.PriorError, match="no constant feature"):
        block_log_evidence(JEFFREYS, scatter_of(X))
    assert np.isfinite(subset_log_evidence(PRIOR, scatter_of(X))).all()
    with pytest.raises(bs.PriorError, match="leaves open"):
        KnownBlock.of(JEFFREYS, scatter_of(rng.normal(size=(5, 2))))


def test_groups_that_do_not_fit(rng):
    X = rng.normal(size=(6, 3))
    with pytest.raises(bs.PriorError, match=r"holds 2 classes\. Use scatter.group"):
        block_log_evidence(PRIOR, Scatter.from_matrix(X, [0, 1] * 3))
    with pytest.raises(bs.DataError, match="25 features have 33,554,432 subsets"):
        subset_log_evidence(PRIOR, scatter_of(rng.normal(size=(3, 25))))
    scatter = scatter_of(X)
    block, candidates = KnownBlock.of(PRIOR, scatter.take([0])), scatter.take([1, 2]).moments()
    cross = scatter.products[0, :1, 1:]
    with pytest.raises(bs.PriorError, match="need the same variance_dof"):
        block.log_gain(bs.NormalInverseGamma(4.0, 0.5, 0.1), candidates, cross)
    with pytest.raises(bs.DataError, match="all of the 6 values"):
        block.log_gain(PRIOR, scatter_of(X[:5]).take([1, 2]).moments(), cross)


def test_which_priors_are_jeffreys():
    """All zeros, whatever the location of the means; one feature that is not is enough to spoil it."""
    assert JEFFREYS.is_jeffreys
    assert bs.NormalInverseGamma(0.0, [0.0, 0.0], 0.0, [3.0, 4.0]).is_jeffreys
    for changed in ((3.0, 0.0, 0.0), (0.0, [0.0, 0.5], 0.0), (0.0, 0.0, 0.1)):
        assert not bs.NormalInverseGamma(*changed).is_jeffreys
