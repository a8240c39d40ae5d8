"""The share of markers that the data suggest, and how far shuffled labels let it be believed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import bayesieve as bs
from bayesieve.posterior import ShuffledLabels, estimate_share
from bayesieve.screening import ScreenSpec


def penalised(share, log_bf):
    return np.logaddexp(np.log1p(-share), np.log(share) + log_bf).sum() + np.log1p(-share)


def climb(log_bf, steps):
    """EM from one half, with all the values it passes through."""
    shares = [0.5]
    for _ in range(steps):
        log_odds = np.log(shares[-1]) - np.log1p(-shares[-1]) + log_bf
        shares.append(float((1 / (1 + np.exp(-log_odds))).sum() / (log_bf.size + 1)))
    return shares


@pytest.mark.parametrize("truth", [0.002, 0.05, 0.4, 0.9])
def test_the_share_is_where_em_climbs_to(rng, truth):
    """Log Bayes factors of normal effects under the model: N(0, 1) against N(0, 5)."""
    z = rng.normal(size=4000) * np.where(rng.random(4000) < truth, np.sqrt(5.0), 1.0)
    log_bf = 0.4 * z**2 - 0.5 * np.log(5.0)
    share = estimate_share(log_bf)
    path = climb(log_bf, 4000)
    likelihood = [penalised(each, log_bf) for each in path[:400]]
    assert (np.diff(likelihood) > -1e-9).all()  # EM never steps down
    if share > 1e-3:
        assert share == pytest.approx(path[-1], rel=1e-5)
    assert share == pytest.approx(truth, abs=0.06)
    grid = np.linspace(1e-6, 1 - 1e-6, 5001)
    best = max(penalised(each, log_bf) for each in grid)
    assert penalised(max(share, 1e-12), log_bf) >= best - 1e-9


def test_the_ends_of_the_share(rng):
    assert estimate_share(np.full(50, -2.0)) == 0.0
    assert estimate_share(np.zeros(50)) == 0.0
    assert estimate_share(np.full(50, 1e5)) == pytest.approx(50 / 51)  # one non-marker was seen beforehand
    one = np.full(1000, -3.0)
    one[7] = 2000.0  # its Bayes factor leaves the range of numbers
    found = optimize.minimize_scalar(lambda s: -penalised(s, one), bounds=(1e-9, 0.5), method="bounded",
                                     options={"xatol": 1e-12})  # fmt: skip
    assert estimate_share(one) == pytest.approx(found.x, rel=1e-4)
    log_bf = rng.normal(-1.0, 2.0, size=300)
    assert estimate_share(log_bf) == pytest.approx(estimate_share(log_bf[::-1]), rel=1e-9)


def test_what_is_believed_is_the_excess_over_shuffled_labels():
    made = ShuffledLabels.collect(np.zeros(200), [np.ones(200)] * 19)
    shares = np.linspace(0.0, 0.18, 19)
    assert made.with_shares(0.5, shares, 200).suggested_share == pytest.approx(0.5 - 0.18)
    assert made.with_shares(0.1, shares, 200).suggested_share == 1 / 200
    assert made.with_shares(0.99, shares, 200).suggested_share == 0.5
    many = made.with_shares(0.5, np.arange(99) / 1000, 200)  # the 95th of 100 labellings, the true one among them
    assert many.chance_share == pytest.approx(0.094)
    assert np.isnan(made.suggested_share)


def study(seed, n_markers=80, n=30, p=800, shift=1.6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, p))
    X[n:, :n_markers] += shift
    return X, np.repeat(["a", "b"], n)


def test_the_estimate_takes_the_place_of_the_prior():
    X, y = study(1)
    believed = bs.screen(X, y, shuffles=40)
    found = bs.screen(X, y, shuffles=40, prior_probability="estimate")
    assert 0.06 < found.estimated_share < 0.25
    assert found.shuffled.own_share == pytest.approx(estimate_share(believed.log_bayes_factor), rel=1e-9)
    np.testing.assert_array_equal(found.log_bayes_factor, believed.log_bayes_factor)
    assert found.probability.mean() > believed.probability.mean()
    assert 1 / (1 + np.exp(-found.prior_log_odds)) == pytest.approx(found.estimated_share)
    wide = bs.NeymanPearson(400.0)
    assert (believed.log_bayes_factor[wide.select(believed).mask] <= 0).any()
    listed = wide.select(found)
    assert (found.log_bayes_factor[listed.mask] > 0).all()
    assert listed.mask.sum() == (found.log_bayes_factor > 0).sum()
    assert bs.FixedSize(700).select(found).n_selected == 700  # a promised length is kept
    assert "The prior probability is estimated" in bs.MinimalRisk(0.5).select(found).summary()
    other = found.with_prior(0.02)
    assert not other.needs_own_evidence
    assert other.findings == ()
    assert other.shuffled is found.shuffled


def test_the_summary_tells_a_share_that_is_far_from_the_belief():
    X, y = study(2)
    posterior = bs.screen(X, y, shuffles=40)
    said = bs.MinimalRisk(0.5).select(posterior).summary()
    assert (
        f"The data suggest that {100 * posterior.estimated_share:.2g}% of the features are markers (1% was" in said
    )
    near = posterior.with_prior(posterior.estimated_share / 1.5)
    assert "The data suggest" not in bs.MinimalRisk(0.5).select(near).summary()
    X, y = study(3, n_markers=0)
    nothing = bs.MinimalRisk(0.5).select(bs.screen(X, y, shuffles=40)).summary()
    assert "The share of markers among all cannot be told from none (1% was believed)." in nothing
    X, y = study(4, n_markers=700)
    most = bs.screen(X, y, shuffles=40)
    assert most.estimated_share == 0.5
    assert most.shuffled.own_share > 0.7
    assert "at least 50% of the features are markers" in bs.MinimalRisk(0.5).select(most).summary()


def test_a_common_factor_does_not_make_the_estimate_run_away():
    """All features share a factor: labels that happen to agree with it move all of them, in shuffles as well."""
    rng = np.random.default_rng(5)
    factor = rng.normal(size=40)
    X = rng.normal(size=(40, 300)) + 2.0 * np.outer(factor, rng.normal(size=300))
    own, believed, listed = [], [], []
    for seed in range(40):
        y = np.random.default_rng(seed).permutation(np.repeat([0, 1], 20))
        posterior = bs.screen(X, y, shuffles=39, seed=seed, prior_probability="estimate")
        own.append(posterior.shuffled.own_share)
        believed.append(posterior.estimated_share)
        listed.append(bs.MinimalRisk(0.5).select(posterior).n_selected)
    assert max(own) > 0.2  # it does run away, taken by itself
    assert np.mean(np.array(believed) > 1 / 300) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)
    assert np.mean(np.array(listed) > 0) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)
    assert np.median(listed) == 0
    aligned = bs.screen(X, (factor > np.median(factor)).astype(int), shuffles=39, prior_probability="estimate")
    assert 0.3 < aligned.estimated_share <= 0.5  # these labels do mean something
    assert (aligned.log_bayes_factor[bs.MinimalRisk(0.5).select(aligned).mask] > 0).all()


@pytest.mark.parametrize("options", [{"shuffles": 0}, {"shuffles": None}])
def test_without_shuffles_there_is_no_estimate(options):
    X, y = study(6, p=40, n_markers=4)
    with pytest.raises(bs.OptionError, match="against that of shuffled labels, and there are none"):
        bs.screen(X, y, prior_probability="estimate", **options)
    with pytest.raises(bs.OptionError, match="Give a table of samples"):
        bs.screen(bs.Moments.from_matrix(X, y), prior_probability="estimate")
    with pytest.raises(bs.PriorError, match="must be a number"):
        bs.screen(X, y, prior_probability="guess")
    assert bs.screen(X, y, shuffles=0).estimated_share is None


def test_every_model_and_design_has_an_estimate(rng):
    X, y = study(7, p=200, n_markers=30)
    batch = np.tile(["p", "q"], 30)
    for options in ({"model": bs.GaussianModel.jeffreys()}, {"blocks": batch},
                    {"blocks": batch, "block_model": "shift"}):  # fmt: skip
        found = bs.screen(X, y, shuffles=25, prior_probability="estimate", **options)
        assert found.estimated_share > 0.03
    counts = rng.poisson(5.0, size=(40, 100)).astype(float)
    counts[20:, :20] += 6.0
    labels = np.repeat([0, 1], 20)
    found = bs.screen(counts, labels, model=bs.PoissonModel(), shuffles=25, prior_probability="estimate")
    assert 0.1 < found.estimated_share < 0.35
    by_feature = bs.screen(X, y, shuffles=25, prior_probability=np.full(200, 0.1))
    assert by_feature.estimated_share == pytest.approx(bs.screen(X, y, shuffles=25).estimated_share)


def test_a_specification_knows_the_estimate():
    spec = ScreenSpec(table="t.csv", labels="y", prior_probability="estimate")
    assert spec.make_prior((), load=lambda *_: pytest.fail("there is no file")) == "estimate"
    assert "prior_probability='estimate'" in spec.python()
    assert "--prior-probability estimate" in spec.command_line()
    assert ScreenSpec.from_dict(spec.to_dict()) == spec
    with pytest.raises(bs.OptionError) as caught:
        spec.replace(shuffles=0)
    assert caught.value.message.render(command=True).startswith("--prior-probability estimate holds the data's")
