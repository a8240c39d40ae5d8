"""Counts and categories looked at again: permuted labels, left-out samples, Poisson counts that vary too much."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.screening.dispersion_advice import variance_over_mean
from bayesieve.screening.spec import ScreenSpec
from bayesieve.stats import Relabellings

N = 8
LABELS = np.array(["a"] * N + ["b"] * N)
TREND = (0.3, 0.5, 0.4)


def table(rng, kind):
    if kind == "categorical":
        X = rng.integers(0, 3, size=(2 * N, 30))
        X[N:, 0], X[3, 5] = 2, 7  # a marker, and a level that one sample has
        return X
    mean = np.exp(rng.normal(3.0, 1.0, 30)) * np.where(
        np.arange(2 * N)[:, None] < N, 1.0, np.where(np.arange(30) < 3, 5, 1)
    )
    return rng.poisson(rng.gamma(3.0, mean / 3.0)) if kind == "negative binomial" else rng.poisson(mean)


MODELS = {
    "poisson": bs.PoissonModel(),
    "negative binomial": bs.NegativeBinomialModel(trend=TREND),
    "categorical": bs.CategoricalModel(),
}
CASES = [
    ("poisson", False),
    ("poisson", True),
    ("negative binomial", False),
    ("negative binomial", True),
    ("categorical", False),
]


@pytest.mark.parametrize(("kind", "exposed"), CASES)
def test_leaving_out_is_screening_without(rng, kind, exposed):
    X, model = table(rng, kind), MODELS[kind]
    exposures = rng.uniform(0.7, 1.5, 2 * N) if exposed else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DataWarning)
        found = bs.fragility(X, LABELS, model, exposures=exposures)
        odds = []
        for i in range(2 * N):
            rest = np.arange(2 * N) != i
            fewer = None if exposures is None else exposures[rest]
            odds.append(bs.screen(X[rest], LABELS[rest], model=model, exposures=fewer, shuffles=0).log_odds)
    np.testing.assert_allclose(found.least_log_odds, np.min(odds, axis=0), rtol=1e-9, atol=1e-9)
    at_culprit = np.array(odds)[found.culprit, np.arange(30)]
    np.testing.assert_allclose(at_culprit, np.min(odds, axis=0), atol=1e-3)  # equal counts are equal culprits


@pytest.mark.parametrize(("kind", "exposed"), CASES)
def test_permutations_are_screens_of_permuted_labels(rng, kind, exposed):
    X, model, n = table(rng, kind), MODELS[kind], 12
    exposures = rng.uniform(0.7, 1.5, 2 * N) if exposed else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DataWarning)
        found = bs.permutations(X, LABELS, model=model, n_permutations=n, exposures=exposures, seed=4, cut=-3.0)
        own = bs.screen(X, LABELS, model=model, exposures=exposures, shuffles=0)
        codes = Relabellings.draw(np.repeat([0, 1], N), 2, n, 4).codes
        others = np.array([
            bs.screen(X, each, model=model.quick(), exposures=exposures, shuffles=0).log_bayes_factor
            for each in codes
        ])  # fmt: skip
    usable = ~own.degenerate
    assert found.passing.tolist() == (others[:, usable] + own.prior_log_odds > -3.0).sum(axis=1).tolist()
    reaching = (others >= own.log_bayes_factor - 1e-9 * (1 + abs(own.log_bayes_factor))).sum(axis=0)
    assert found.n_reaching[usable].tolist() == reaching[usable].tolist()
    assert "Gaussian" not in str(found.notes()[0])


def test_what_goes_with_counts_and_what_does_not():
    for model in ("poisson", "negative-binomial", "categorical"):
        ScreenSpec(table="t.csv", labels="l", model=model, permutations=9)
        ScreenSpec(table="t.csv", labels="l", model=model, robust=True, fragility=True)
        with pytest.raises(bs.OptionError, match="for counts and categories ask for permutations"):
            ScreenSpec(table="t.csv", labels="l", model=model, p_values=True)


def test_counts_in_files_are_looked_at_again(rng, tmp_path):
    path = tmp_path / "t.csv"
    X = table(rng, "poisson")
    rows = [",".join(map(str, (label, *values))) for label, values in zip(LABELS, X.tolist(), strict=True)]
    path.write_text("label," + ",".join(f"g{j}" for j in range(30)) + "\n" + "\n".join(rows) + "\n")
    read = bs.read_table(path, labels="label", model=bs.PoissonModel(), keep_values=True)
    posterior = bs.screen(read, model=bs.PoissonModel(), shuffles=0)
    found = bs.fragility(read, posterior=posterior)
    expected = bs.fragility(X, LABELS, bs.PoissonModel())
    np.testing.assert_allclose(found.least_log_odds, expected.least_log_odds, rtol=1e-12)
    permuted = bs.permutations(read, posterior=posterior, n_permutations=20)
    assert permuted.p_value[0] < 0.05


def test_overdispersed_counts_are_named_to_who_takes_them_for_poisson(rng):
    y, mean = np.repeat([0, 1], 20), np.exp(rng.normal(3.0, 1.0, 100))
    with pytest.warns(bs.DataWarning, match=r"variance is .* times the mean .* of the features"):
        bs.screen(rng.negative_binomial(2, 2 / (2 + mean), (40, 100)), y, model=bs.PoissonModel(), shuffles=0)
    plain = rng.poisson(mean * rng.uniform(0.5, 2.0, 40)[:, None])
    with pytest.warns(bs.DataWarning, match="more than a Poisson model allows"):
        bs.screen(plain, y, model=bs.PoissonModel(), shuffles=0)
    bs.screen(plain, y, model=bs.PoissonModel(), exposures=bs.size_factors(plain), shuffles=0)  # no warning
    bs.screen(rng.poisson(0.2, (40, 300)), y, model=bs.PoissonModel(), shuffles=0)


def test_variance_over_mean_is_one_of_poisson_counts(rng):
    codes, exposures = np.arange(60) % 2, rng.uniform(0.5, 2.0, 60)
    values = rng.poisson(np.array([0.5, 3.0, 40.0] * 200) * exposures[:, None]).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    ratio, known, sure = variance_over_mean(values, codes, exposures)
    assert known.all()
    assert ratio.mean() == pytest.approx(1.0, abs=0.03)
    assert sure.mean() < 0.01
