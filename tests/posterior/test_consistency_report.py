"""What the report on Theorem 3 says about models, prior probabilities and priors over sets."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import bayesieve as bs
from bayesieve.models import NAMED_LOG_RATIOS, power_of_n


def with_ratio(function):
    return bs.GaussianModel.jeffreys(lambda n0, n1: function(float(n0), float(n1)))


class OfSets:
    """A prior over sets as far as the report needs it, written for the test."""

    def __init__(self, *possible: int) -> None:
        self.possible = possible

    def log_weights(self, n_features: int) -> np.ndarray:
        """Log weight 0 for the sets that are possible."""
        weights = np.full(2**n_features, -np.inf)
        weights[list(self.possible)] = 0.0
        return weights

    log_probability = log_weights


class OfSizes(OfSets):
    """The same for the number of markers."""

    def log_sizes(self, n_features: int) -> np.ndarray:
        """Log weight 0 for the numbers that are possible."""
        logs = np.full(n_features + 1, -np.inf)
        logs[list(self.possible)] = 0.0
        return logs


def log_named(name: str, n0: mp.mpf, n1: mp.mpf) -> mp.mpf:
    """The named ratios that depend on the sizes, written out."""
    n = n0 + n1
    if name == "n_decay":
        return -mp.log(mp.sqrt(2 * mp.pi) * n)
    constant = (
        mp.log(2 * mp.pi * n / (n0 * n1)) / 2 + mp.loggamma(n0 / 2) + mp.loggamma(n1 / 2) - mp.loggamma(n / 2)
    )
    constant += (n * mp.log(n) - n0 * mp.log(n0) - n1 * mp.log(n1)) / 2
    return -mp.log(n) - constant


@pytest.mark.parametrize("name", ["n_decay", "bic"])
def test_powers_of_named_ratios_by_mpmath_at_huge_n(name):
    report = bs.consistency_report(bs.GaussianModel.jeffreys(name))
    assert report.holds
    for share in ("0.1", "0.5", "0.9"):
        with mp.workdps(60):
            logs = [
                log_named(name, mp.mpf(share) * n, (1 - mp.mpf(share)) * n)
                for n in (mp.mpf(10) ** k for k in (14, 15))
            ]
            power = float((logs[1] - logs[0]) / mp.log(10))
        assert report.exponent == pytest.approx(power, abs=1e-5)


def test_every_named_ratio_is_semi_proper():
    powers = {name: bs.consistency_report(bs.GaussianModel.jeffreys(name)).exponent for name in NAMED_LOG_RATIOS}
    assert powers == {"paper": 0, "sqrt2pi": 0, "half_sqrt2pi": 0, "n_decay": -1, "bic": 0}


@pytest.mark.parametrize(
    ("model", "power", "summable"),
    [
        pytest.param(None, 0.0, False, id="default"),
        pytest.param(bs.GaussianModel.proper(), 0.0, False, id="proper"),
        pytest.param(bs.GaussianModel.jeffreys(7.0), 0.0, False, id="number"),
        pytest.param(bs.GaussianModel.jeffreys([0.1, 2.0]), 0.0, False, id="per feature"),
        pytest.param(with_ratio(lambda a, b: 3.0 * (a + b) ** 0.9), 0.9, False, id="0.9"),
        pytest.param(with_ratio(lambda a, b: (a * b) ** -0.25), -0.5, True, id="-0.5"),
        pytest.param(with_ratio(lambda a, b: 1.0 + 5.0 / (a + b)), 0.0, False, id="to a constant"),
        pytest.param(with_ratio(lambda a, b: a / (a + b)), 0.0, False, id="share"),
    ],
)
def test_semi_proper_ratios(model, power, summable):
    report = bs.consistency_report(model)
    assert report.holds
    assert report.condition_v.verdict
    assert report.exponent == pytest.approx(power, abs=1e-5)
    assert report.summable is summable
    assert f"p = {power:g}" in report.condition_v.sentence
    assert f"n ** {power - 1:.4g}" in report.rates[1]
    assert "grow exponentially" in report.rates[0]
    assert ("a finite number" in report.rates[1]) is summable


@pytest.mark.parametrize(
    ("function", "power", "words"),
    [
        pytest.param(lambda a, b: a + b, 1.0, "grows like n ** 1,", id="n"),
        pytest.param(lambda a, b: a * b, 2.0, "grows like n ** 2,", id="n0 n1"),
        pytest.param(lambda a, b: math.log(a + b), None, "does not settle", id="log n"),
        pytest.param(lambda a, b: (a + b) / math.log(a + b), None, "does not settle", id="n / log n"),
        pytest.param(lambda a, b: math.exp(-a), None, "could not be evaluated", id="exp"),
        pytest.param(lambda a, b: (a + b) ** (2 * a / (a + b)), 1.8, "grows like n ** 1,", id="with the share"),
    ],
)
def test_ratios_that_are_not_semi_proper(function, power, words):
    report = bs.consistency_report(with_ratio(function))
    assert report.holds is False
    assert report.condition_v.verdict is False
    assert words in report.condition_v.sentence
    assert report.exponent == (None if power is None else pytest.approx(power, abs=1e-5))
    assert report.rates == (
        () if power is None else ("The odds of non-markers are not bound to fall as samples are added.",)
    )
    assert report.summable is (None if power is None else False)
    assert "Not assured" in str(report)


def test_a_power_that_depends_on_the_share_of_the_classes_is_said_to_do_so():
    report = bs.consistency_report(with_ratio(lambda a, b: (a + b) ** (a / (a + b))))
    assert report.holds
    assert report.exponent == pytest.approx(0.9, abs=1e-5)
    assert "falls to 0.1 in other proportions" in report.condition_v.sentence


def test_features_with_proper_and_improper_priors_side_by_side():
    prior = bs.NormalInverseGamma([3.0, 0.0], [0.5, 0.0], [0.1, 0.0])
    report = bs.consistency_report(bs.GaussianModel((prior,), prior, "n_decay"), [0.1, 0.2])
    assert report.holds
    assert report.exponent == 0.0
    assert "p = -1. Features whose priors are proper have p = 0." in report.condition_v.sentence
    with pytest.raises(bs.PriorError, match="given for \\[2\\] features"):
        bs.consistency_report(bs.GaussianModel((prior,), prior, "n_decay"), n_features=3)


def test_prior_probabilities_of_0_and_1_are_counted_and_named():
    prior = np.full(30, 0.1)
    prior[[4, 9]] = 1.0
    prior[[1, 2, 3, 5, 6, 7, 8]] = 0.0
    report = bs.consistency_report(prior_probability=prior)
    assert report.holds is None
    assert report.never.tolist() == [1, 2, 3, 5, 6, 7, 8]
    assert report.always.tolist() == [4, 9]
    assert "7 of 30 features have the prior probability 0 (positions 1, 2, 3, 5, 6 and 2 more) and can never" in (
        sentence := report.condition_iv.sentence
    )
    assert "2 have the prior probability 1 (positions 4, 9) and will always be selected." in sentence
    assert sentence.endswith("only if this is true of them.")
    assert not report.never.flags.writeable
    assert "cannot be told" in str(report)


def test_one_prior_probability_for_all():
    assert bs.consistency_report(prior_probability=1e-300).condition_iv.verdict
    none = bs.consistency_report(prior_probability=0.0, n_features=3)
    assert (none.never.tolist(), none.always.tolist()) == ([0, 1, 2], [])
    assert "only if there are no markers" in none.condition_iv.sentence
    every = bs.consistency_report(prior_probability=1.0, n_features=2)
    assert (every.never.tolist(), every.always.tolist()) == ([], [0, 1])
    assert "only if all features are markers" in every.condition_iv.sentence
    assert bs.consistency_report(prior_probability=0.0).never.size == 0


def test_priors_over_sets():
    every = bs.consistency_report(prior_probability=OfSets(*range(8)), n_features=3)
    assert every.holds
    some = bs.consistency_report(prior_probability=OfSets(0b001, 0b011), n_features=3)
    assert some.holds is None
    assert (some.never.tolist(), some.always.tolist()) == ([2], [0])
    assert "6 of 8 sets of features the probability 0" in some.condition_iv.sentence
    assert "(position 2) and can never be selected; 1 has the prior probability 1" in some.condition_iv.sentence


def test_priors_over_the_number_of_markers():
    every = bs.consistency_report(prior_probability=OfSizes(*range(20_001)), n_features=20_000)
    assert every.holds
    few = bs.consistency_report(prior_probability=OfSizes(0, 1, 2), n_features=20_000)
    assert "19,998 of 20,001 numbers of markers the probability 0" in few.condition_iv.sentence
    assert few.never.size == few.always.size == 0
    assert bs.consistency_report(prior_probability=OfSizes(0), n_features=3).never.tolist() == [0, 1, 2]
    assert bs.consistency_report(prior_probability=OfSizes(3), n_features=3).always.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "model", [bs.PoissonModel(), bs.CategoricalModel()], ids=lambda model: type(model).__name__
)
def test_other_models_are_not_covered_by_the_theorem(model):
    report = bs.consistency_report(model, 0.1)
    assert report.holds is None
    assert report.condition_iv.verdict
    assert report.condition_v.sentence.endswith(f"{type(model).__name__} is not one.")
    assert report.exponent is None
    assert report.summable is None
    assert report.rates == report.caveats == ()


def test_positive_variances_are_asked_for_where_the_prior_has_no_scale():
    words = "variances must be positive"
    assert words in str(bs.consistency_report())
    assert words not in str(bs.consistency_report(bs.GaussianModel.proper()))
    assert "fourth moments" in str(bs.consistency_report(bs.GaussianModel.proper()))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": "jeffreys"}, "model must be a Model"),
        ({"prior_probability": 1.5}, "between 0 and 1"),
        ({"prior_probability": [0.1, 0.2], "n_features": 3}, "one for each of the 3 features"),
        ({"prior_probability": [[0.1]]}, "one number, or one for each"),
        ({"prior_probability": [[0.1], [0.1, 0.2]]}, "must be a number"),
        ({"prior_probability": "few"}, "must be a number"),
        ({"n_features": 0}, "whole number of at least 1"),
        ({"n_features": 2.0}, "whole number of at least 1"),
        ({"prior_probability": OfSets(0)}, "needs n_features"),
        ({"prior_probability": OfSets(0), "n_features": 21}, "too many to list"),
    ],
)
def test_wrong_requests_are_explained(arguments, words):
    with pytest.raises(bs.PriorError, match=words):
        bs.consistency_report(**arguments)


def test_power_of_a_function_that_cannot_be_evaluated_is_not_a_number():
    power, reason = power_of_n(lambda n0, n1: 1.0 / 0.0)
    assert math.isnan(power)
    assert "division" in reason
