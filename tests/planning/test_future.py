"""Futures: evidence against the model's own, moments against raw values, rules against those of a screen."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.models import tempering
from bayesieve.planning.future import Design, Evidence, Future, State, _merged
from bayesieve.planning.lists import NullPool, check_rules, length_of
from bayesieve.planning.truth import Truth
from bayesieve.posterior import FeaturePosterior, ShuffledLabels

PRIOR = float(np.log(0.01 / 0.99))


class InOrder:
    """Takes the shares of the features as they are."""

    def integers(self, low, high, n):
        """Return all places."""
        assert (low, high) == (0, n)
        return np.arange(n)


@pytest.mark.parametrize(("n0", "n1"), [(40, 40), (12, 30), (5, 4), (150, 200)])
def test_evidence_is_that_of_the_default_model(n0, n1):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n0 + n1, 400)) * np.sqrt(1.0 / rng.gamma(2.0, 0.5, 400))
    X[n0:, :20] += 1.5
    X[n0:, 20:40] *= 2.0
    moments = bs.Moments.from_matrix(X, [0] * n0 + [1] * n1, shape=True)
    model = bs.CalibratedModel().estimate([moments])
    own = bs.screen(moments, model=bs.CalibratedModel()).log_bayes_factor
    tables = Evidence(n0, n1, 1, model.variance_dof, 0.0, 0)
    tables.shares = tempering(moments, model.kurtosis)
    tables.typical_share = float(np.median(tables.shares))
    scale = np.full(400, model.variance_scale)
    state = State(n0, n1, *moments.mean, *moments.centred_squares)
    found = tables.log_bayes_factor(state, scale, 0.0, 400, InOrder())
    shown = found > -np.inf
    assert (shown == (own > 0)).mean() > 0.995
    both, sure = shown & (own > 0), own > 50.0  # where the table ends, and no rule cares
    assert found[both & ~sure] == pytest.approx(own[both & ~sure], abs=5e-3)
    assert found[both & sure] == pytest.approx(own[both & sure], rel=5e-3)


def test_two_parts_of_a_study_are_put_together():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4))
    y = np.tile([0, 0, 1], 10)
    states = []
    for part in (slice(0, 12), slice(12, 30), slice(0, 30)):
        moments = bs.Moments.from_matrix(X[part], y[part])
        states.append(State(*moments.counts[:, 0].tolist(), *moments.mean, *moments.centred_squares))
    both = _merged(states[0], states[1])
    for name in ("n0", "n1", "mean0", "mean1", "squares0", "squares1"):
        assert getattr(both, name) == pytest.approx(getattr(states[2], name))


def test_futures_list_what_tables_of_values_do():
    """Means over repetitions of true and false positives, drawn moments against screens of raw values."""
    rng = np.random.default_rng(5)
    p, m, n = 800, 60, 30
    tables = Evidence(n, n, 1, 4.0, 0.0, 0)
    told, found = [], []
    for _ in range(14):
        difference, log_ratio = rng.normal(0.0, 1.2, m), np.zeros(m)
        log_ratio[:20] = rng.choice([-1.6, 1.6], 20)
        precision = rng.gamma(2.0, 0.5, p)
        truth = Truth(np.arange(m), difference, log_ratio, precision, np.empty(0))
        future = Future(truth, 1.0, 0.0, rng)
        listed = future.listed(*future.study(Design(n, n)), tables, 0)
        size = length_of(bs.MinimalRisk(0.5), listed.log_bayes_factor, PRIOR, None)
        told.append((listed.true[:size].sum(), size))
        X = rng.normal(size=(2 * n, p))
        X[:n, :m] *= np.exp(-0.25 * log_ratio)
        X[n:, :m] = X[n:, :m] * np.exp(0.25 * log_ratio) + difference
        mask = bs.MinimalRisk(0.5).select(bs.screen(X / np.sqrt(precision), [0] * n + [1] * n, shuffles=0)).mask
        found.append((mask[:m].sum(), mask.sum()))
    gap = np.array(told, float) - np.array(found, float)
    error = gap.std(axis=0, ddof=1) / np.sqrt(len(gap))
    assert (np.abs(gap.mean(axis=0)) < 3.5 * error + 0.3).all()


@pytest.fixture(scope="module")
def lists():
    rng = np.random.default_rng(2)
    own = np.sort(np.concatenate([rng.normal(7.0, 3.0, 40), rng.normal(-2.0, 2.0, 460)]))[::-1].copy()
    shuffled = [np.sort(rng.normal(-2.0, 2.0, 500))[::-1].copy() for _ in range(30)]
    return own, shuffled


@pytest.mark.parametrize("name", ["mnc", "mr:0.9", "cmnc:30", "np:5", "fdr:0.1", "fdp:0.2:0.8", "map", "cmap:7"])
def test_rules_list_as_many_as_those_of_a_screen(lists, name):
    own, shuffled = lists
    (rule,) = check_rules(name).values()
    moments = bs.Moments.from_matrix(np.random.default_rng(0).normal(size=(8, 500)), [0] * 4 + [1] * 4)
    flags = np.zeros(500, np.int8)
    posterior = FeaturePosterior(
        own, PRIOR, None, flags, moments, bs.CalibratedModel(), 0.0, None, (),
        shuffled=ShuffledLabels.collect(own, shuffled),
    )  # fmt: skip
    pool = NullPool(tuple(each[each > 0] for each in shuffled), 500, posterior.null_share)
    kept = own if name.startswith("c") else own[own > 0]
    assert length_of(rule, kept, PRIOR, pool) == rule.select(posterior).n_selected > 3


def test_own_rules_are_refused():
    class Mine:
        def select(self, posterior):
            return posterior

    with pytest.raises(bs.RuleError, match="rules of the package only"):
        check_rules(Mine())
    with pytest.raises(bs.RuleError, match="Unknown rule"):
        check_rules("best")
