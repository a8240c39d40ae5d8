"""More than two classes: posteriors over partitions, checked by enumeration with mpmath from raw data."""

from __future__ import annotations

import functools
import itertools
import math

import jeffreys
import mpmath as mp
import numpy as np
import pytest
from exact import JEFFREYS, Hyper, log_marginal, log_odds

import bayesieve as bs
from bayesieve.models import Patterns
from bayesieve.models.patterns import growths_of

BELL = {2: 2, 3: 5, 4: 15, 5: 52, 6: 203, 7: 877, 8: 4140}


def partitions(n):
    """All partitions of range(n), built by adding one element at a time: independent of growth strings."""
    found = [[[0]]]
    for k in range(1, n):
        found = [
            [*part[:i], [*part[i], k], *part[i + 1 :]] if i < len(part) else [*part, [k]]
            for part in found
            for i in range(len(part) + 1)
        ]
    return found


def enumerated(groups, prior_probability, *, hyper=JEFFREYS, ratio=0.1, weights=None):
    """Posterior over all partitions of the classes of one feature, at 50 digits.

    ``weights(part)`` is the prior weight of a non-trivial partition given a marker; by default uniform over the
    number of groups, then within.
    """
    n = len(groups)

    @functools.cache
    def marginal(block):
        return log_marginal(np.concatenate([groups[c] for c in block]), hyper, constant=hyper.proper)

    with mp.workdps(50):
        every = partitions(n)
        sizes = [len(part) for part in every]
        terms = {}
        for part in every:
            k = len(part)
            log_ml = mp.fsum(marginal(tuple(block)) for block in part)
            if not hyper.proper:
                log_ml += (k - 1) * mp.log(mp.mpf(ratio))
            if k == 1:
                prior = 1 - mp.mpf(prior_probability)
            else:
                share = mp.mpf(1) / ((n - 1) * sizes.count(k)) if weights is None else mp.mpf(weights(part))
                prior = mp.mpf(prior_probability) * share
            if prior:
                terms[tuple(map(tuple, part))] = mp.exp(log_ml) * prior
        total = mp.fsum(terms.values())
        return {part: term / total for part, term in terms.items()}


def data(n_classes, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 7, n_classes)
    y = np.repeat([f"c{k}" for k in range(n_classes)], sizes)
    X = rng.normal(size=(y.size, n_features)) + 1.5 * rng.integers(0, 2, (n_classes, n_features)).repeat(
        sizes, axis=0
    )
    return X, y


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
@pytest.mark.parametrize("n_classes", [3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("hyper", [JEFFREYS, Hyper(3.0, 0.5, 0.1, 0.0)], ids=["jeffreys", "proper"])
def test_posterior_over_partitions_by_enumeration(n_classes, hyper):
    X, y = data(n_classes, n_features=4 if n_classes < 6 else 1, seed=n_classes)
    model = bs.GaussianModel.proper(mean_locations=(0.0,)) if hyper.proper else bs.GaussianModel.jeffreys()
    posterior = bs.screen(X, y, model=model, prior_probability=0.3)
    classes = posterior.classes
    equal = posterior.differences.equal(posterior)
    for j in range(X.shape[1]):
        exact = enumerated([X[y == label, j] for label in classes], 0.3, hyper=hyper)
        trivial = exact[(tuple(range(n_classes)),)]
        assert posterior.log_odds[j] == pytest.approx(float(mp.log((1 - trivial) / trivial)), rel=1e-10, abs=1e-10)
        best = max((part for part in exact if len(part) > 1), key=exact.get)
        if posterior.log_odds[j] > 0:
            said = posterior.to_dict()["pattern"][j]
            assert all("{" + ", ".join(classes[k] for k in block) + "}" in said for block in best)
            assert posterior.to_dict()["pattern_probability"][j] == pytest.approx(float(exact[best]), rel=1e-10)
        for k, (a, b) in enumerate(itertools.combinations(range(n_classes), 2)):
            together = [p for part, p in exact.items() if any(a in block and b in block for block in part)]
            assert equal[k, j] == pytest.approx(float(mp.fsum(together)), rel=1e-9)


@pytest.mark.parametrize("n", BELL)
def test_number_of_partitions(n):
    growths = list(growths_of(n))
    assert len(growths) == len(set(growths)) == BELL[n]
    patterns = Patterns.of("any", tuple(range(n)))
    assert len(patterns.growths) == BELL[n] - 1
    assert math.fsum(patterns.weights) == pytest.approx(1.0, abs=1e-12)
    by_size = {k: math.fsum(w for g, w in zip(patterns.growths, patterns.weights, strict=True) if max(g) == k)
               for k in range(1, n)}  # fmt: skip
    assert all(weight == pytest.approx(1 / (n - 1)) for weight in by_size.values())


def test_two_classes_are_the_paper_s():
    """The same routine with one pattern: log h of equation (2.18), by mpmath."""
    X, y = data(2, seed=3)
    with pytest.warns(bs.CalibrationWarning):
        posterior = jeffreys.screen(X, y, prior_probability=0.05)
    for j in range(X.shape[1]):
        exact = log_odds(X[y == "c0", j], X[y == "c1", j], prior_probability=0.05)
        assert posterior.log_odds[j] == pytest.approx(float(exact), rel=1e-11)
    assert posterior.differences is None
    assert "pattern" not in posterior.to_dict()


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
@pytest.mark.parametrize(
    ("patterns", "weights"),
    [
        ("distinct", lambda part: len(part) == 4),
        ("one-versus-rest", lambda part: 0.25 * (sorted(map(len, part)) == [1, 3])),
        ("c0 | *; c0, c1 | c2, c3", lambda part: 0.5 * (part in ([[0], [1, 2, 3]], [[0, 1], [2, 3]]))),
        ({"c0 | c1 | *": 3.0, (0, 0, 0, 1): 1.0},
         lambda part: 0.75 * (part == [[0], [1], [2, 3]]) + 0.25 * (part == [[0, 1, 2], [3]])),
        ([[["c0"], ["c1", "c2", "c3"]], [["c0", "c1"], ["*"]]],
         lambda part: 0.5 * (part in ([[0], [1, 2, 3]], [[0, 1], [2, 3]]))),
        (np.array([[0, 1, 1, 1], [0, 0, 1, 1]]),
         lambda part: 0.5 * (part in ([[0], [1, 2, 3]], [[0, 1], [2, 3]]))),
    ],
)  # fmt: skip
def test_given_patterns_by_enumeration(patterns, weights):
    X, y = data(4, seed=1)
    posterior = jeffreys.screen(X, y, patterns=patterns, prior_probability=0.2)
    for j in range(X.shape[1]):
        groups = [X[y == label, j] for label in posterior.classes]
        exact = enumerated(groups, 0.2, weights=lambda part: float(weights([list(block) for block in part])))
        trivial = exact[((0, 1, 2, 3),)]
        assert posterior.log_odds[j] == pytest.approx(float(mp.log((1 - trivial) / trivial)), rel=1e-10, abs=1e-10)


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_distributions_of_given_patterns_have_their_own_priors():
    """Structured multi-class: the first group of a pattern has the first prior, the second the second."""
    X, y = data(3, n_features=2, seed=4)
    first, second, pooled = Hyper(3, 0.5, 0.1, 0.0), Hyper(4, 0.7, 0.2, 0.3), Hyper(3, 0.5, 0.1, 0.1)
    priors = [bs.NormalInverseGamma(h.kappa, h.s, h.nu, h.m) for h in (first, second, pooled)]
    model = bs.GaussianModel(tuple(priors[:2]), priors[2])
    got = bs.screen(X, y, model=model, patterns="c0, c2 | c1", prior_probability=0.5).log_odds
    for j in range(2):
        one, two = X[y != "c1", j], X[y == "c1", j]
        exact = (
            log_marginal(one, first, constant=True) + log_marginal(two, second, constant=True)
            - log_marginal(X[:, j], pooled, constant=True)
        )  # fmt: skip
        assert got[j] == pytest.approx(float(exact), rel=1e-10)
    with pytest.raises(bs.PriorError, match="every group of a partition has the same prior"):
        bs.screen(X, y, model=model)
    three = bs.GaussianModel((priors[0],) * 3, priors[2])
    with pytest.raises(bs.PriorError, match="up to 2 groups, but the model has 3 class priors"):
        bs.screen(X, y, model=three, patterns="c0, c2 | c1")


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_names_of_classes_do_not_matter():
    X, y = data(5, seed=2)
    renamed = np.array([{"c0": "z", "c1": "a", "c2": "q", "c3": "b", "c4": "m"}[label] for label in y])
    np.testing.assert_allclose(bs.screen(X, renamed).log_odds, bs.screen(X, y).log_odds, rtol=1e-11)


def test_equal_classes_fall_below_the_prior_and_a_shifted_class_stands_out():
    rng = np.random.default_rng(0)
    y = np.repeat(list("abc"), 40)
    X = rng.normal(size=(120, 50))
    X[:, 0] += 3.0 * (y == "b")
    posterior = jeffreys.screen(X, y, prior_probability=0.1)
    assert np.median(posterior.probability[1:]) < 0.02
    table = posterior.to_dict()
    assert table["pattern"][0] == "{b} differs from {a, c}"
    assert table["equal_a_c"][0] > 0.8
    assert table["equal_a_b"][0] < 1e-6
    assert set(table["pattern"][1:]) == {"no difference"}


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_a_new_prior_moves_patterns_with_it():
    X, y = data(3, seed=5)
    once = bs.screen(X, y, prior_probability=0.4)
    moved = bs.screen(X, y, prior_probability=0.01).with_prior(0.4)
    for name in ("pattern", "pattern_probability", "equal_c0_c2"):
        assert list(moved.to_dict()[name]) == list(once.to_dict()[name])
    assert once.take(slice(1, 3)).names == ("x1", "x2")
    part = once.take([3, 2])
    assert part.to_dict()["pattern"] == [once.to_dict()["pattern"][k] for k in (3, 2)]


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_ratios_and_priors_per_feature_with_many_classes_and_some_features():
    """Each feature with its own ratio, or prior, against a screen of that feature alone."""
    X, y = data(3, seed=6)
    ratios = np.array([0.05, 0.1, 0.2, 0.4])
    strengths = np.array([0.1, 0.2, 0.3, 0.4])

    def proper(strength):
        return bs.GaussianModel(*[bs.NormalInverseGamma(3.0, 0.5, strength)] * 2)

    for model, alone in (
        (bs.GaussianModel.jeffreys(ratios), lambda j: bs.GaussianModel.jeffreys(ratios[j])),
        (proper(strengths), lambda j: proper(strengths[j])),
    ):
        posterior = bs.screen(X, y, model=model)
        for j in range(4):
            expected = bs.screen(X[:, [j]], y, model=alone(j)).log_odds[0]
            assert posterior.log_odds[j] == pytest.approx(expected, rel=1e-11)
        assert bs.expected_under_null(posterior.take([2, 1]), 0.0) >= 0.0


def test_features_are_compared_in_pieces_of_bounded_memory(monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 9000)), list("abcd") * 10
    ratios = rng.uniform(0.05, 0.2, 9000)
    whole = bs.screen(X, y, model=bs.GaussianModel.jeffreys(ratios))
    monkeypatch.setattr("bayesieve.models.comparison._NUMBERS_HELD", 1)
    pieces = bs.screen(X, y, model=bs.GaussianModel.jeffreys(ratios))
    np.testing.assert_array_equal(pieces.log_odds, whole.log_odds)
    for name in ("pattern", "pattern_probability", "equal_b_d"):
        assert list(pieces.to_dict()[name]) == list(whole.to_dict()[name])


def test_columns_stay_apart_whatever_the_classes_are_called():
    X = np.random.default_rng(0).normal(size=(40, 3))
    table = bs.screen(X, ["a", "a_b", "b_c", "c"] * 10).to_dict()
    assert sum(name.startswith("equal_") for name in table) == 6
    assert "equal_a|b_c" in table


def test_partitions_are_streamed_in_tiles():
    """More features than a tile: the same as feature by feature."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 9000)), list("abcd") * 10
    whole = jeffreys.screen(X, y)
    some = jeffreys.screen(X[:, 4090:4100], y)
    np.testing.assert_array_equal(whole.log_odds[4090:4100], some.log_odds)


def test_chance_of_many_classes_is_what_null_data_show():
    """Monte Carlo: the number under the global null against fresh Gaussian null data."""
    rng = np.random.default_rng(2)
    y = list("abc") * 12
    posterior = jeffreys.screen(rng.normal(size=(36, 20_000)), y, prior_probability=0.05)
    seen = int((posterior.log_odds > 0).sum())
    expected = bs.expected_under_null(posterior, 0.0)
    assert abs(seen - expected) < 5 * math.sqrt(expected * 1.5)


def test_constant_features_in_many_classes():
    X, y = np.zeros((12, 3)), list("abc") * 4
    X[:, 1] = np.arange(12)
    X[::3, 2] = 1.0  # class a is constant at 1, the others at 0
    with pytest.warns(bs.BayesieveWarning):
        posterior = jeffreys.screen(X, y, prior_probability=0.5)
    assert posterior.degenerate_reason[0] == "constant in all samples"
    assert posterior.log_odds[0] < 0
    assert np.isfinite(posterior.log_odds).all()


@pytest.mark.parametrize(
    ("patterns", "words"),
    [
        ("a | b", ["leaves out c", "*"]),
        ("a | b, x; c | *", ["'x'", "no class", "'a', 'b', 'c'"]),
        ("a, b | a, c", ["names 'a' twice"]),
        ("a, b, c", ["one group"]),
        ("a | *; b, c | a", ["same pattern twice"]),
        ({"a | *": -1.0}, ["weights", "positive"]),
        ({"a | *": "x"}, ["weights", "positive"]),
        ([[0, 1]], ["group number", "3 classes"]),
        ([[["a"], ["b", "x"]]], ["'x'", "no class", "lists of labels"]),
        (7, ["'any'", "'distinct'", "'one-versus-rest'"]),
        ([], ["'any'"]),
    ],
)
def test_patterns_that_make_no_sense(patterns, words):
    X, y = np.random.default_rng(0).normal(size=(12, 2)), list("abc") * 4
    with pytest.raises(bs.PriorError) as caught:
        bs.screen(X, y, patterns=patterns)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_too_many_classes_and_ratios_of_two_sizes():
    X, y = np.random.default_rng(0).normal(size=(36, 2)), list("abcdefghi") * 4
    with pytest.raises(bs.LabelError, match=r"9 classes.*more than 8.*one-versus-rest"):
        jeffreys.screen(X, y)
    with pytest.warns(bs.CalibrationWarning):
        assert jeffreys.screen(X, y, patterns="one-versus-rest").n_features == 2
    for ratio in ("bic", lambda n0, n1: 0.1):
        with pytest.raises(bs.PriorError, match="must be a number"):
            jeffreys.screen(X, list("abc") * 12, model=bs.GaussianModel.jeffreys(ratio))
