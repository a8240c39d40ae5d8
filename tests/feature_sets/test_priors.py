"""Priors over sets of features, against literal sums over frozensets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.feature_sets.priors import CallablePrior
from bayesieve.feature_sets.set_prior import SetPrior


def sets(n):
    """All sets of positions, in the order of their bit masks."""
    return [frozenset(f for f in range(n) if mask >> f & 1) for mask in range(2**n)]


def normalised(weights):
    return np.array(weights) / math.fsum(weights)


@pytest.mark.parametrize("pi", [0.3, [0.1, 0.9, 0.5, 0.2], [0.0, 1.0, 0.5, 0.2]])
def test_product_prior_is_a_literal_product(pi):
    each = np.broadcast_to(pi, 4).tolist()
    expected = [math.prod(p if f in s else 1 - p for f, p in enumerate(each)) for s in sets(4)]
    np.testing.assert_allclose(np.exp(bs.ProductPrior(pi).log_probability(4)), expected, rtol=1e-13)


def test_ising_prior_counts_edges(rng):
    field, edges = rng.normal(size=5), [(0, 1), (3, 1), (4, 2), (0, 4)]
    coupling = rng.normal(size=4)
    weights = [
        math.exp(sum(field[f] for f in s) + sum(c for c, e in zip(coupling, edges, strict=True) if s >= set(e)))
        for s in sets(5)
    ]
    prior = bs.IsingPrior(field, coupling, edges)
    np.testing.assert_allclose(np.exp(prior.log_probability(5)), normalised(weights), rtol=1e-13)


def test_ising_prior_without_coupling_is_a_product():
    pi = 1 / (1 + math.exp(1.5))
    free = bs.IsingPrior(-1.5, 0.0, [(0, 1), (1, 2)])
    np.testing.assert_allclose(free.log_probability(3), bs.ProductPrior(pi).log_probability(3), rtol=1e-13)


def test_attraction_makes_neighbours_of_markers_likelier(rng):
    del rng
    prior = bs.IsingPrior(-2.0, 3.0, [(0, 1)]).given(markers=[0])
    probability = np.exp(prior.log_probability(3))
    with_1, with_2 = (sum(probability[g] for g in range(8) if g >> f & 1) for f in (1, 2))
    assert with_1 == pytest.approx(1 / (1 + math.exp(-1.0)), rel=1e-13)
    assert with_2 == pytest.approx(1 / (1 + math.exp(2.0)), rel=1e-13)


def test_table_and_function_agree():
    table = {(): 2.0, (0,): 1.0, (2, 1): 4.0, frozenset({0, 1, 2}): 0.0, (3,): 1.0}
    by_set = {frozenset(key): weight for key, weight in table.items()}
    expected = normalised([by_set.get(s, 0.0) for s in sets(4)])
    np.testing.assert_allclose(np.exp(bs.SetTable(table).log_probability(4)), expected, rtol=1e-14)
    asked = CallablePrior(lambda s: by_set.get(s, 0.0))
    np.testing.assert_allclose(np.exp(asked.log_probability(4)), expected, rtol=1e-14)
    logs = CallablePrior(lambda s: math.log(by_set[s]) if by_set.get(s) else -math.inf, log=True)
    np.testing.assert_allclose(np.exp(logs.log_probability(4)), expected, rtol=1e-14)


def test_given_conditions_literally(rng):
    prior = bs.IsingPrior(rng.normal(size=4), 0.7, [(0, 1), (1, 2)])
    plain = np.exp(prior.log_probability(4))
    known = [p if 2 in s and 0 not in s else 0.0 for p, s in zip(plain, sets(4), strict=True)]
    found = np.exp(prior.given(markers=[2], non_markers=[0]).log_probability(4))
    np.testing.assert_allclose(found, normalised(known), rtol=1e-13)


@pytest.mark.parametrize(
    "prior",
    [
        bs.IsingPrior(-1.0, 0.8, [(0, 1), (1, 2), (3, 4)]),
        bs.SetTable({c: 1.0 + sum(c) for k in (1, 2) for c in itertools.combinations(range(5), k)}),
        bs.SizePrior.fixed(2),
        bs.SizePrior.beta_binomial(1.0, 3.0),
    ],
    ids=["ising", "table", "fixed size", "beta-binomial"],
)
def test_dependent_prior_with_independent_likelihoods_by_literal_enumeration(rng, prior):
    """Products of Bayes factors over frozensets, summed feature by feature."""
    X, y = rng.normal(size=(16, 5)), np.repeat([0, 1], 8)
    X[8:, 1] += 1.5
    model = bs.GaussianModel.proper()
    factors = np.exp(bs.screen(X, y, model=model).log_bayes_factor)
    weights = np.exp(prior.log_probability(5)) * [math.prod(factors[f] for f in s) for s in sets(5)]
    posterior = bs.enumerate_sets(X, y, model=model, prior=prior)
    np.testing.assert_allclose(posterior.probability, normalised(weights), rtol=1e-12)
    inside = [math.fsum(w for w, s in zip(weights, sets(5), strict=True) if f in s) for f in range(5)]
    outside = [math.fsum(w for w, s in zip(weights, sets(5), strict=True) if f not in s) for f in range(5)]
    np.testing.assert_allclose(posterior.log_odds, np.log(inside) - np.log(outside), rtol=1e-11, atol=1e-12)
    if isinstance(prior, bs.SizePrior):
        np.testing.assert_array_equal(np.argsort(posterior.log_odds), np.argsort(factors))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: bs.ProductPrior(1.5), "between 0 and 1"),
        (lambda: bs.ProductPrior([0.1, 0.2]).log_probability(3), "3 features"),
        (lambda: bs.IsingPrior(0.0, 1.0, [(0, 0)]), "two different features"),
        (lambda: bs.IsingPrior(0.0, 1.0, [(0, 1), (1, 0)]), "more than once"),
        (lambda: bs.IsingPrior(0.0, 1.0, ["ab"]), "positions"),
        (lambda: bs.IsingPrior(0.0, [1.0, 2.0], [(0, 1)]), "coupling"),
        (lambda: bs.IsingPrior([0.0], 1.0, [(0, 1)]).log_weights(2), "field"),
        (lambda: bs.IsingPrior(0.0, 1.0, [(0, 5)]).log_weights(2), "feature 5"),
        (lambda: bs.SetTable({(0, 1): 1.0, (1, 0): 1.0}), "more than once"),
        (lambda: bs.SetTable({(0,): -1.0}), "at least 0"),
        (lambda: bs.SetTable({("a",): 1.0}), "positions"),
        (lambda: bs.SetTable({(7,): 1.0}).log_weights(3), "feature 7"),
        (lambda: bs.SetTable({(0,): 0.0}).log_probability(1), "probability 0"),
        (lambda: CallablePrior(lambda s: -1.0).log_weights(1), "log=True"),
        (lambda: CallablePrior(lambda s: "x").log_weights(1), "not a number"),
        (lambda: CallablePrior(lambda s: math.nan).log_weights(1), "not a number"),
    ],
)
def test_errors_say_what_is_wrong(make, match):
    with pytest.raises(bs.PriorError, match=match):
        make()


def test_a_prior_of_ones_own_is_a_short_class():
    class Even(SetPrior):
        """Sets with an even number of features."""

        def log_weights(self, n_features):
            return np.array([0.0 if len(s) % 2 == 0 else -np.inf for s in sets(n_features)])

    posterior = bs.SetPosterior.of_log_likelihood(np.zeros(8), Even())
    np.testing.assert_allclose(posterior.number_of_markers.masses(3), [0.25, 0.0, 0.75, 0.0], atol=1e-15)
