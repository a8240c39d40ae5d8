"""Priors over sets of features, against literal sums over frozensets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.sets import CallablePrior, SetPrior
from bayesieve.sets.priors import as_prior


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
    np.testing.assert_allclose(posterior.set_probability, normalised(weights), rtol=1e-12)
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
        (
            lambda: CallablePrior(lambda s: 1 / (2 - len(s))).log_weights(3),
            r"set \{0, 1\} \(ZeroDivisionError: div",
        ),
        (lambda: CallablePrior(7).log_weights(1), "failed for the set"),
        (lambda: bs.ProductPrior("few"), "a number, or one per feature, not 'few'"),
        (lambda: bs.ProductPrior([[0.1], [0.1, 0.2]]), "a number, or one per feature"),
        (lambda: bs.SetTable(3), r"mapping, such as \{\(0, 2\): 1.0\}, not 3"),
        (lambda: bs.SetTable([1, 2]), "mapping"),
        (lambda: bs.IsingPrior(0, 1, 3), r"pairs of positions, such as \[\(0, 1\), \(1, 3\)\], not 3"),
        (lambda: bs.IsingPrior(0, 1, [3]), "positions"),
        (lambda: bs.IsingPrior("much", 1, [(0, 1)]).log_weights(2), "field must be a finite number"),
        (lambda: bs.ProductPrior(0.5).given(markers=1), "positions, such as .* not by 1"),
        (lambda: bs.ProductPrior(0.5).given(markers="ab"), "not by 'ab'"),
        (lambda: bs.ProductPrior(0.5).given(non_markers=[1.5]), r"not by \[1.5\]"),
        (lambda: bs.ProductPrior(0.5).given(markers=[-1]), "positions"),
        (lambda: bs.ProductPrior(0.5).given(markers=[5]).log_weights(2), "no feature at position 5"),
        (
            lambda: bs.ProductPrior(0.5).given(markers=[1], non_markers=[1]).log_weights(2),
            "as a marker and as none",
        ),
        (lambda: as_prior(bs.SizePrior), "SizePrior is the class of one"),
        (lambda: as_prior(bs.SizePrior.uniform).log_weights(2), "failed for the set"),
    ],
)
def test_errors_say_what_is_wrong(make, match):
    with pytest.raises(bs.PriorError, match=match):
        make()


@pytest.mark.parametrize(
    "prior",
    [
        bs.ProductPrior(0.1),
        bs.IsingPrior(0.0, 1.0, [(0, 1)]),
        bs.SetTable({(0,): 1.0}),
        CallablePrior(len),
        bs.SizePrior.fixed(1),
        bs.ProductPrior(0.1).given(markers=[0]),
    ],
    ids=lambda prior: type(prior).__name__,
)
def test_too_many_features_are_refused_before_memory_is_taken(prior):
    for ask in (prior.log_weights, prior.log_probability):
        with pytest.raises(bs.OptionError, match="34 features have 17,179,869,184 sets"):
            ask(34)
        for wrong in (2.5, -1, "3"):
            with pytest.raises(bs.OptionError, match="n_features must be a whole number"):
                ask(wrong)


def test_mappings_and_functions_are_priors():
    """The same weights as a table, a mapping, a function and a class, in every place that takes a prior."""
    weights = {(): 2.0, (0, 1): 3.0}

    def function(features):
        return weights.get(tuple(sorted(features)), 0.0)

    expected = np.array([0.4, 0.0, 0.0, 0.6])
    for prior in (weights, function, bs.SetTable(weights), CallablePrior(function)):
        made = bs.SetPosterior.of_log_likelihood(np.zeros(4), prior)
        np.testing.assert_allclose(made.set_probability, expected, rtol=1e-14)
        other = bs.SetPosterior.of_log_likelihood(np.zeros(4), 0.5).with_prior(prior)
        np.testing.assert_allclose(other.set_probability, expected, rtol=1e-14)
        X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]], [0, 0, 1, 1]
        found = bs.enumerate_sets(X, y, model=bs.GaussianModel.proper(), prior=prior, structure="joint")
        assert found.set_probability[[1, 2]].tolist() == [0.0, 0.0]


def test_weights_of_ones_own_are_checked():
    class Wrong(SetPrior):
        """Whatever it is told."""

        def __init__(self, weights):
            self.weights = weights

        def log_weights(self, n_features):
            return self.weights

    for weights, match in (
        ([0.0], r"needs 4 log weights, by bit mask; Wrong gave an array of shape \(1,\)"),
        (None, "shape"),
        (["a", "b", "c", "d"], "log weight must be numbers"),
        ([0.0, np.inf, np.nan, 0.0], r"log weight of 2 of 4 sets is infinite or not a number, .* of \{0\}"),
        ([-np.inf] * 4, "every set of features the probability 0"),
    ):
        with pytest.raises(bs.PriorError, match=match):
            Wrong(weights).log_probability(2)


def test_a_prior_of_ones_own_is_a_short_class():
    class Even(SetPrior):
        """Sets with an even number of features."""

        def log_weights(self, n_features):
            return np.array([0.0 if len(s) % 2 == 0 else -np.inf for s in sets(n_features)])

    posterior = bs.SetPosterior.of_log_likelihood(np.zeros(8), Even())
    np.testing.assert_allclose(posterior.number_of_markers.masses(3), [0.25, 0.0, 0.75, 0.0], atol=1e-15)
