"""Screens under a prior on the number of markers, against all sets, quadrature and the independent case."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from posteriors import posterior_of
from scipy import stats
from scipy.special import logsumexp

import bayesieve as bs
from bayesieve.posterior import expit, log_expit

PRIORS = {
    "uniform": bs.SizePrior.uniform(),
    "beta-binomial": bs.SizePrior.beta_binomial(0.7, 4.2),
    "binomial": bs.SizePrior.binomial(0.2),
    "fixed": bs.SizePrior.fixed(3),
    "at most": bs.SizePrior.at_most(4),
    "table": bs.SizePrior([1.0, 0.0, 2.0, 0.5, 0.0, 0.0, 0.0, 4.0]),
    "function": bs.SizePrior(lambda k: 1.0 / (1 + k) ** 2),
}
MANY = 20_000


def all_sets(log_factor, prior, markers=(), non_markers=()):
    """Probability of every set as a row of 0 and 1, by brute force: prior of the set times its Bayes factors."""
    n = log_factor.size
    sets = np.array(list(itertools.product([0, 1], repeat=n)))[:, ::-1]  # row g has the bits of g
    log_weight = prior.given(markers=markers, non_markers=non_markers).log_probability(n) + sets @ log_factor
    return sets, np.exp(log_weight - logsumexp(log_weight))


def many_factors(seed=5):
    """Bayes factors as a screen of 20,000 features with 300 markers gives them."""
    rng = np.random.default_rng(seed)
    log_factor = rng.chisquare(2, MANY) / 2 - 2.9
    log_factor[:300] += rng.exponential(20.0, 300)
    return log_factor


@pytest.fixture(scope="module")
def many():
    return many_factors()


@pytest.mark.parametrize("name", PRIORS)
def test_marginals_sizes_and_sets_by_enumeration(rng, name):
    b, prior = rng.normal(0.0, 2.0, 9), PRIORS[name]
    sets, probability = all_sets(b, prior)
    found = bs.with_size_prior(posterior_of(b), prior)
    np.testing.assert_allclose(found.posterior.probability, probability @ sets, rtol=1e-11)
    np.testing.assert_allclose(found.posterior.null_probability, probability @ (1 - sets), rtol=1e-11)
    sizes = np.bincount(sets.sum(axis=1), weights=probability)
    np.testing.assert_allclose(found.size_probability, sizes, rtol=1e-11, atol=1e-300)
    assert found.expected_markers == pytest.approx(sizes @ np.arange(10), rel=1e-12)
    assert found.expected_markers == pytest.approx(found.posterior.expected_markers, rel=1e-12)
    assert found.mode == sizes.argmax()
    for g in (0, 5, 128, 511):
        with np.errstate(divide="ignore"):
            assert found.log_probability_of(sets[g] == 1) == pytest.approx(np.log(probability[g]), abs=1e-11)


@pytest.mark.parametrize("name", PRIORS)
def test_known_markers_and_non_markers_by_enumeration(rng, name):
    b, prior = rng.normal(0.0, 2.0, 8), PRIORS[name]
    sets, probability = all_sets(b, prior, markers=[2, 6], non_markers=[5])
    believed = np.full(8, 0.123)
    believed[[2, 6]], believed[5] = 1.0, 0.0
    found = bs.with_size_prior(posterior_of(b).with_prior(believed), prior)
    np.testing.assert_allclose(found.posterior.probability, probability @ sets, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(
        found.size_probability, np.bincount(sets.sum(axis=1), weights=probability), rtol=1e-11, atol=1e-300
    )
    chosen = np.array([1, 1, 1, 0, 0, 1, 0, 0], dtype=bool)
    false = np.bincount((sets[:, chosen] == 0).sum(axis=1), weights=probability, minlength=5)
    distribution = found.false_positives(chosen)
    np.testing.assert_allclose(distribution.pmf, false[distribution.support], rtol=1e-11, atol=1e-18)
    assert distribution.mean == pytest.approx(false @ np.arange(5), rel=1e-11)
    best = sets[probability.argmax()] == 1
    np.testing.assert_array_equal(found.most_probable_set().mask, best)
    assert found.log_probability_of(best) == pytest.approx(np.log(probability.max()), abs=1e-11)
    assert found.log_probability_of(~best) == -np.inf


@pytest.mark.parametrize("name", PRIORS)
def test_most_probable_sets_by_enumeration(rng, name):
    prior = PRIORS[name]
    for _ in range(10):
        b = rng.normal(-0.5, 2.0, 8)
        sets, probability = all_sets(b, prior)
        found = bs.with_size_prior(posterior_of(b), prior)
        np.testing.assert_array_equal(found.most_probable_set().mask, sets[probability.argmax()] == 1)
        np.testing.assert_array_equal(found.select("MAP").mask, found.most_probable_set().mask)
        for size in range(9):
            right = sets.sum(axis=1) == size
            if probability[right].max() == 0.0:
                with pytest.raises(bs.RuleError, match=f"Sets of {size} features are impossible"):
                    found.most_probable_set(size)
                continue
            best = sets[right][probability[right].argmax()] == 1
            np.testing.assert_array_equal(found.most_probable_set(size).mask, best)
            np.testing.assert_array_equal(found.select(bs.MostProbable(size)).mask, best)


def test_the_most_probable_set_need_not_hold_the_probable_features():
    """Each of many weak features is improbable alone, and the empty set improbable too."""
    found = bs.with_size_prior(posterior_of(np.full(10, 0.2)), bs.SizePrior.fixed(3))
    assert found.most_probable_set().n_selected == 3
    assert found.select("MNC").n_selected == 0
    np.testing.assert_allclose(found.posterior.probability, 0.3, rtol=1e-13)


@pytest.mark.parametrize("name", PRIORS)
def test_distribution_of_false_positives_by_enumeration(rng, name):
    b = rng.normal(0.0, 2.0, 9)
    sets, probability = all_sets(b, PRIORS[name])
    found = bs.with_size_prior(posterior_of(b), PRIORS[name])
    for chosen in (np.arange(9) < 4, b > 0, np.ones(9, dtype=bool), np.zeros(9, dtype=bool)):
        number = (sets[:, chosen] == 0).sum(axis=1)
        expected = np.bincount(number, weights=probability, minlength=chosen.sum() + 1)
        distribution = found.false_positives(chosen)
        got = np.zeros(expected.size)
        got[distribution.support] = distribution.pmf
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-18)
    selection = found.select(bs.FixedSize(4))
    distribution = found.false_positives(selection)
    assert distribution.mean == pytest.approx(selection.expected_false_positives, rel=1e-11)
    assert found.false_positives(["x1", "x3"]).mean == found.false_positives([1, 3]).mean


def test_false_positives_of_a_real_sized_list_by_simulation(many):
    """Draw the prevalence from its posterior, then features independently: the beta-binomial distribution."""
    found = bs.with_size_prior(posterior_of(many), bs.SizePrior.beta_binomial(1, 1))
    selection = found.select(bs.FixedSize(400))
    distribution = found.false_positives(selection)
    assert distribution.mean == pytest.approx(selection.expected_false_positives, rel=1e-11)
    rng = np.random.default_rng(0)
    logit, weight = prevalence_posterior(many, 1.0, 1.0)
    draws = rng.choice(logit, size=3000, p=np.exp(weight - logsumexp(weight)))
    q = expit(-(many[selection.mask] + draws[:, None]))
    number = (rng.random(q.shape) < q).sum(axis=1)
    assert number.mean() == pytest.approx(distribution.mean, abs=4 * distribution.sd / np.sqrt(3000))
    assert number.std() == pytest.approx(distribution.sd, rel=0.06)
    assert distribution.sd > 1.05 * selection.false_positives.sd  # features are not independent


def prevalence_posterior(log_factor, a, b):
    """Log posterior of the prevalence on a grid of its logit, from the likelihood of a mixture."""
    logit = np.linspace(-12.0, 5.0, 1501)
    like = np.array([np.logaddexp(log_expit(-t), log_expit(t) + log_factor).sum() for t in logit])
    return logit, like + a * log_expit(logit) + b * log_expit(-logit)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.5, 0.5), (2.0, 300.0)])
def test_beta_binomial_by_quadrature_over_the_prevalence(many, a, b):
    """Features are independent given the prevalence; a trapezoidal rule over its logit is all it takes."""
    log_factor = many[::10].copy()
    found = bs.with_size_prior(posterior_of(log_factor), bs.SizePrior.beta_binomial(a, b))
    logit, weight = prevalence_posterior(log_factor, a, b)
    some = np.r_[np.argsort(-log_factor)[:40], np.arange(1000, 2000, 37)]
    for f in some:
        expected = logsumexp(weight + log_expit(logit + log_factor[f])) - logsumexp(
            weight + log_expit(-logit - log_factor[f])
        )
        assert found.posterior.log_odds[f] == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_binomial_prior_is_the_independent_screen(many):
    """20,000 features: log-odds, and the distribution of the number of markers."""
    plain = posterior_of(many).with_prior(0.013)
    found = bs.with_size_prior(posterior_of(many), bs.SizePrior.binomial(0.013))
    np.testing.assert_allclose(found.posterior.log_odds, plain.log_odds, rtol=1e-12, atol=1e-12)
    distribution = bs.PoissonBinomial.of(plain.probability, plain.null_probability)
    bulk = distribution.support[distribution.pmf > 1e-14]
    np.testing.assert_allclose(
        found.size_probability[bulk], distribution.pmf[distribution.pmf > 1e-14], rtol=1e-10
    )
    assert found.interval(0.9) == distribution.interval(0.9)
    assert found.expected_markers == pytest.approx(distribution.mean, rel=1e-12)
    assert found.number_of_markers.variance == pytest.approx(distribution.variance, rel=1e-10)
    chosen = plain.log_odds > 0
    errors = bs.ErrorAnalysis.of(plain, chosen).false_positives
    np.testing.assert_allclose(found.false_positives(chosen).pmf[:30], errors.pmf[:30], rtol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 100, 5000, 19_999])
def test_marginals_of_a_fixed_size_add_up_to_it(many, size):
    found = bs.with_size_prior(posterior_of(many), bs.SizePrior.fixed(size))
    assert found.posterior.probability.sum() == pytest.approx(size, abs=1e-10 * max(1, size / 100))
    assert found.posterior.null_probability.sum() == pytest.approx(MANY - size, rel=1e-12)
    assert found.size_probability[size] == 1.0
    assert found.interval(0.9) == (size, size)


@pytest.mark.parametrize("name", PRIORS)
def test_ranking_is_that_of_bayes_factors(many, name):
    log_factor = many[:2000]
    found = bs.with_size_prior(posterior_of(log_factor), PRIORS[name])
    np.testing.assert_array_equal(found.posterior.ranking, np.argsort(-log_factor, kind="stable"))


def test_a_features_own_data_do_not_enter_its_prior_log_odds(many):
    """Why a cut on marginal log-odds is a cut on a feature's Bayes factor, as numbers under the null suppose."""
    log_factor = many[:500].copy()
    before = bs.with_size_prior(posterior_of(log_factor), bs.SizePrior.uniform()).posterior
    np.testing.assert_array_equal(before.log_bayes_factor, log_factor)
    for f in (0, 400):
        changed = log_factor.copy()
        changed[f] = -11.0
        after = bs.with_size_prior(posterior_of(changed), bs.SizePrior.uniform()).posterior
        assert after.prior_log_odds[f] == pytest.approx(before.prior_log_odds[f], abs=1e-11)
        assert after.prior_log_odds[450] != before.prior_log_odds[450]


def test_numbers_expected_by_chance_by_simulation():
    """Replace features by noise, a hundred at a time out of 2,000, and count those over the cut."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2000)), np.repeat([0, 1], 20)
    X[20:, :200] += 1.5
    model = bs.GaussianModel.jeffreys()
    posterior = bs.screen(X, y, model=model)
    selection = bs.with_size_prior(posterior, bs.SizePrior.uniform()).select("MNC")
    expected = selection.expected_under_null
    prior = selection.posterior.prior_log_odds
    noise = bs.screen(rng.normal(size=(40, 40_000)), y, model=model, shuffles=0).log_bayes_factor.reshape(20, 2000)
    number = (noise + prior > 0).sum(axis=1)
    assert number.mean() == pytest.approx(expected, abs=5 * np.sqrt(expected / 20))
    assert expected > 2 * bs.MinimalRisk(0.5).select(posterior).expected_under_null  # its prior is 0.01


def test_a_screen_from_start_to_end():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 400))
    X[30:, :30] += 2.0
    posterior = bs.screen(X, np.repeat([0, 1], 30), model=bs.GaussianModel.proper(), prior_probability=0.01)
    found = bs.with_size_prior(posterior, bs.SizePrior.uniform())
    selection = found.select(bs.MinimalRisk(0.5))
    text = selection.summary()
    assert "every number of markers equally probable. Given the data" in text
    assert "features are not independent" in text
    assert found.posterior.to_dict()["log_odds"].tolist() == found.posterior.log_odds.tolist()
    assert not found.log_size_probability.flags.writeable
    assert not np.asarray(found.posterior.prior_log_odds).flags.writeable
    again = bs.with_size_prior(posterior, bs.SizePrior.uniform(), n_threads=3)
    np.testing.assert_array_equal(again.posterior.log_odds, found.posterior.log_odds)
    np.testing.assert_allclose(found.posterior.with_prior(0.01).log_odds, posterior.log_odds)
    low, high = found.interval(0.95)
    assert found.size_probability[low : high + 1].sum() >= 0.95
    assert found.number_of_markers.quantile(0.5) in range(low, high + 1)


def test_numbers_and_probabilities_are_calibrated_by_simulation():
    """Draw numbers of markers, sets and data from the model: sizes and probabilities hold what they say."""
    rng, n, rounds = np.random.default_rng(99), 150, 300
    levels, expected, happened = [], np.zeros(10), np.zeros(10)
    for _ in range(rounds):
        number = int(rng.integers(0, n + 1))
        markers = rng.permutation(n) < number
        x = rng.normal(size=n) + 2.0 * markers  # log N(x; 2, 1) / N(x; 0, 1) = 2 x - 2
        found = bs.with_size_prior(posterior_of(2.0 * x - 2.0), bs.SizePrior.uniform())
        sizes, probability = found.size_probability, found.posterior.probability
        levels.append(sizes[:number].sum() + rng.random() * sizes[number])
        place = np.minimum((10 * probability).astype(int), 9)
        expected += np.bincount(place, weights=probability, minlength=10)
        happened += np.bincount(place, weights=markers, minlength=10)
    assert stats.kstest(levels, "uniform").pvalue > 1e-3
    np.testing.assert_allclose(happened, expected, rtol=0.03, atol=100)


def test_nothing_left_to_learn():
    """Features that are all known, and a prior that leaves one set only."""
    known = posterior_of([1.0, 2.0, 3.0]).with_prior([1.0, 0.0, 1.0])
    found = bs.with_size_prior(known, bs.SizePrior.uniform())
    assert found.size_probability.tolist() == [0.0, 0.0, 1.0, 0.0]
    assert found.log_probability_of([0, 2]) == 0.0
    assert found.log_probability_of([0]) == -np.inf
    assert found.false_positives([0, 1, 2]).support.tolist() == [1]
    assert found.most_probable_set().indices.tolist() == [0, 2]
    every = bs.with_size_prior(posterior_of([-5.0, 5.0]), bs.SizePrior.fixed(2))
    assert every.posterior.probability.tolist() == [1.0, 1.0]
    none = bs.with_size_prior(posterior_of([-5.0, 5.0]), bs.SizePrior.fixed(0))
    assert none.posterior.probability.tolist() == [0.0, 0.0]
    assert none.most_probable_set().n_selected == 0


def test_one_vocabulary_with_a_screen(rng):
    """Answers about features are those of the marginal posterior; a set is as probable as all sets say."""
    b, prior = rng.normal(0.0, 2.0, 8), bs.SizePrior.beta_binomial(1, 3)
    found = bs.with_size_prior(posterior_of(b, tuple("abcdefgh")), prior)
    together = bs.SetPosterior.of_features(posterior_of(b, tuple("abcdefgh")), prior)
    for name in ("log_odds", "probability", "null_probability", "expected_markers"):
        np.testing.assert_allclose(getattr(found, name), getattr(together, name), rtol=1e-11)
    for name in ("ranking", "rank", "names", "n_features"):
        np.testing.assert_array_equal(getattr(found, name), getattr(together, name))
    for features in ([], ["a", "h"], found.select("MNC")):
        assert found.log_probability_of(features) == pytest.approx(
            together.log_probability_of(features), abs=1e-11
        )
    np.testing.assert_allclose(found.number_of_markers.masses(8), together.number_of_markers.masses(8), rtol=1e-11)
    assert found.to_dict().keys() == found.posterior.to_dict().keys()
    assert found.to_pandas()["feature"].tolist() == found.to_polars()["feature"].to_list() == list("abcdefgh")
    curve, expected = bs.expected_roc(found), bs.expected_roc(together)
    np.testing.assert_allclose(curve.true_positives, expected.true_positives, rtol=1e-11)
    number = int((found.probability > 0.5).sum())
    assert str(found) == found.summary()
    assert found.summary().startswith(
        f"8 features, {number} with a probability over 0.5; the most probable set has "
    )


def test_errors_for_people():
    posterior = posterior_of([0.0, 1.0, 2.0])
    with pytest.raises(bs.DataError, match=r"as screen\(\) returns it, not list"):
        bs.with_size_prior([1.0], bs.SizePrior.uniform())
    with pytest.raises(bs.PriorError, match=r"for example SizePrior.uniform\(\), not 0.1"):
        bs.with_size_prior(posterior, 0.1)
    with pytest.raises(bs.PriorError, match="only 3 features"):
        bs.with_size_prior(posterior, bs.SizePrior.fixed(4))
    with pytest.raises(bs.PriorError, match="contradicts the 2 features known to be markers and the 1 known"):
        bs.with_size_prior(posterior.with_prior([1.0, 1.0, 0.0]), bs.SizePrior.fixed(1))
    with pytest.raises(bs.DataError, match="1 features have an infinite or undefined Bayes factor"):
        bs.with_size_prior(posterior_of([0.0, np.inf]), bs.SizePrior.uniform())
    found = bs.with_size_prior(posterior, bs.SizePrior.at_most(1))
    with pytest.raises(bs.RuleError, match=r"supposes independent features.*false_positives\(\)"):
        found.select(bs.FalseDiscovery(0.1, confidence=0.9))
    assert found.select(bs.FalseDiscovery(0.1)).n_selected <= 3
    with pytest.raises(bs.RuleError, match="whole number"):
        found.most_probable_set(1.5)
    with pytest.raises(bs.RuleError, match="level lies between 0 and 1"):
        found.interval(1.5)


def test_remarks_on_the_size_do_not_outlive_their_prior(rng):
    posterior = bs.screen(rng.normal(size=(20, 30)), [0, 1] * 10, model=bs.GaussianModel.jeffreys())
    once = bs.with_size_prior(posterior, bs.SizePrior.fixed(2))
    twice = bs.with_size_prior(once.posterior, bs.SizePrior.at_most(5))
    said = [str(note) for finding in twice.posterior.findings for note in finding.notes()]
    assert sum("The prior is on the number of markers" in note for note in said) == 1
    assert any("given its prior_ratio" in note for note in said)
    assert once.posterior.with_prior(0.1).findings == ()
