"""What follows from a screen under priors on differences: kinds, effects, densities, consistency, other priors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

import bayesieve as bs
from bayesieve.models import model_of_classes
from bayesieve.posterior import composition_of, effect_of, predictive

MODEL = bs.CalibratedModel(0.3, 4.0, 0.9, (0.4, 0.8, 1.6), (0.5, 1.0), 0.4, 0.0)


def study(rng, n=(14, 17), p=24):
    X, y = rng.normal(size=(sum(n), p)), np.repeat(["a", "b"], n)
    X[n[0] :, : p // 4] += 1.5
    X[n[0] :, p // 4 : p // 2] *= 3.0
    return X, y


def by_quadrature(x, labels, model):
    """Bayes factors of a mean and of a variance difference by integrals over the effects, one size at a time."""
    groups = [x[labels == label] for label in "ab"]
    n = np.array([len(group) for group in groups])
    squares = [np.sum((group - group.mean()) ** 2) for group in groups]
    d, size = groups[1].mean() - groups[0].mean(), n[0] * n[1] / n.sum()
    dof, scale = n.sum() - 1 + model.variance_dof, sum(squares) + model.variance_dof * model.variance_scale

    def of_mean(delta):  # the variance integrated: a multivariate Student density, the difference delta * sigma
        def given(log_sigma):
            sigma = np.exp(log_sigma)
            exponent = -0.5 * (scale + size * (d - delta * sigma) ** 2) / sigma**2
            return np.exp(exponent - dof * log_sigma)

        return integrate.quad(given, np.log(scale / dof) / 2 - 3, np.log(scale / dof) / 2 + 3, epsabs=0)[0]

    alike = of_mean(0.0)
    mean = np.mean([
        integrate.quad(lambda t, s=s: of_mean(t) / alike * stats.norm.pdf(t, scale=s), -12 * s, 12 * s,
                       points=[d / np.sqrt(scale / dof)], epsabs=0, limit=200)[0]
        for s in model.mean_sizes
    ])  # fmt: skip
    fourths = [np.sum((group - group.mean()) ** 4) for group in groups]
    ideal = 2 / (n[0] - 1) + 2 / (n[1] - 1)
    excess = sum((m * f / s**2 * (m + 1) / (m - 1) - 3) / m for m, f, s in zip(n, fourths, squares, strict=True))
    share = ideal / (ideal + max(excess, 0.0))

    def likelihood(t):
        whole = sum(squares)
        log = np.log((squares[0] * np.exp(t / 2) + squares[1] * np.exp(-t / 2)) / whole)
        return np.exp(share * ((n[0] - n[1]) * t / 4 - (n.sum() - 2) / 2 * log))

    variance = np.mean([
        integrate.quad(lambda t, s=s: likelihood(t) * stats.norm.pdf(t, scale=s), -12 * s, 12 * s, limit=200)[0]
        for s in model.ratio_sizes
    ])  # fmt: skip
    return mean, variance


def test_kinds_are_the_parts_of_the_bayes_factor(rng):
    X, y = study(rng)
    posterior = bs.screen(X, y, model=MODEL, prior_probability=0.2, shuffles=0)
    found = bs.kinds(posterior)
    for j in (0, 7, 20):
        mean, variance = by_quadrature(X[:, j], y, MODEL)
        parts = np.array([0.8, 0.2 * 0.7 * mean, 0.2 * 0.3 * 0.6 * variance, 0.2 * 0.3 * 0.4 * mean * variance])
        np.testing.assert_allclose(found.probability[:, j], parts / parts.sum(), rtol=1e-6)
    np.testing.assert_allclose(found.same, posterior.null_probability, rtol=1e-12)
    assert found.kind[0] == "mean"
    assert found.kind[7] == "variance"
    assert "or both at once" in str(found.notes()[0])
    again = posterior.with_finding(found).with_prior(0.6)
    np.testing.assert_allclose(again.to_dict()["probability_same"], again.null_probability, rtol=1e-12)


def test_kinds_go_with_rounding_missing_values_and_informative_absence(rng):
    X, y = study(rng)
    X = np.round(X, 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    options = {"model": MODEL, "missing": "omit", "shuffles": 0}
    for more in ({"resolution": 0.1}, {"informative_missing": True}):
        posterior = bs.screen(X, y, **options, **more)
        np.testing.assert_allclose(bs.kinds(posterior).same, posterior.null_probability, rtol=1e-9)
    alone = bs.kinds(bs.screen(X, y, **options))
    given = np.isin(np.arange(X.shape[1]), [3, 4])
    np.testing.assert_array_equal(alone.take(given).probability, alone.probability[:, given])


def test_kinds_that_have_no_answer_say_so(rng):
    X, y = study(rng)
    posterior = bs.screen(X, y, model=MODEL, shuffles=0)
    with pytest.raises(bs.OptionError, match="four-way model") as caught:
        bs.kinds(posterior, weights=(0.4, 0.4, 0.2))
    assert caught.value.message.kind == "capability"
    assert bs.kinds(posterior.moments, prior_probability=0.1, weights=(0.4, 0.4, 0.2)).both.max() > 0
    with pytest.raises(bs.OptionError, match="blocks"):
        bs.kinds(bs.screen(X, y, blocks=np.arange(31) % 2, shuffles=0))
    with pytest.raises(bs.OptionError, match="pairs"):
        bs.kinds(bs.screen(X[:28], ["a", "b"] * 14, pairs=np.repeat(np.arange(14), 2), shuffles=0))
    X[y == "a", 2] = 1.0
    assert bs.kinds(bs.screen(X, y, shuffles=0)).kind[2] == "undefined"
    few = bs.kinds(bs.screen(X[[0, 1, 2, -1, -2]], y[[0, 1, 2, -1, -2]], shuffles=0))
    assert (few.variance_only[few.defined] == 0).all()  # a class of two says nothing about its variance


def test_effects_are_those_under_jeffreys_prior(rng):
    X, y = study(rng)
    ours = bs.effects(bs.screen(X, y, shuffles=0))
    paper = bs.effects(bs.screen(X, y, model=bs.GaussianModel.jeffreys(), shuffles=0))
    for name, column in paper.columns().items():
        np.testing.assert_array_equal(ours.columns()[name], column)
    assert "Jeffreys' prior" in str(ours.notes()[0])
    assert "Jeffreys" not in str(paper.notes()[0])
    assert ours.take([1]).under_jeffreys
    a, b = X[y == "a", 0], X[y == "b", 0]  # the variance ratio by its F distribution
    low = np.log(b.var(ddof=0) / a.var(ddof=0) * len(b) / len(a)) + np.log(
        stats.f.ppf(0.025, len(a), len(b)) * len(a) / len(b)
    )
    assert ours.log_variance_ratio_low[0] == pytest.approx(low, rel=1e-9)


def test_densities_and_maps_of_classes_blocks_and_pairs(rng):
    X, y = study(rng)
    paper = bs.GaussianModel.jeffreys()
    assert model_of_classes(paper) is paper
    ours, theirs = (predictive(bs.screen(X, y, model=m, shuffles=0), [0, 3]) for m in (None, paper))
    for name in ("dof", "location", "scale"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    pairs = {"pairs": np.repeat(np.arange(14), 2), "shuffles": 0}
    ours, theirs = (predictive(bs.screen(X[:28], ["a", "b"] * 14, model=m, **pairs), [1]) for m in (None, paper))
    np.testing.assert_allclose(ours.scale, theirs.scale, rtol=1e-12)
    shift = {"blocks": np.arange(31) % 2, "block_model": "shift", "shuffles": 0}
    ours, theirs = (effect_of(bs.screen(X, y, model=m, **shift)) for m in (None, paper))
    np.testing.assert_allclose(ours.x, theirs.x, rtol=1e-12)
    np.testing.assert_allclose(ours.y, theirs.y, rtol=1e-12)
    posterior = bs.screen(X, y, shuffles=0)
    terms = composition_of(posterior).of(posterior, 2)
    assert [name for name, _ in terms] == ["prior odds", "means differ", "or variances differ"]
    assert sum(value for _, value in terms) == pytest.approx(posterior.log_odds[2])


@pytest.mark.parametrize("fixed", [False, True])
def test_odds_of_non_markers_fall_as_the_report_says(fixed):
    """Median log Bayes factors of exact draws of the statistics, up to ten million samples."""
    rng, sizes = np.random.default_rng(0), (10**3, 10**5, 10**7)
    grids = {"mean_sizes": (0.5, 1.0, 2.0), "ratio_sizes": (0.5, 1.0, 2.0)} if fixed else {}
    model = bs.CalibratedModel(0.5, 0.0, 0.0, both_share=0.2, **grids)
    medians = []
    for n in sizes:
        half, p = n // 2, 20_000
        squares = rng.chisquare(half - 1, size=(2, p))
        fourths = 3.0 * squares**2 / half * (half - 1) / (half + 1)  # of Gaussian values
        mean = rng.normal(size=(2, p)) / np.sqrt(half)
        moments = bs.Moments(("a", "b"), [half, half], mean, squares, None, np.zeros((2, p)), fourths)
        medians.append(np.median(bs.screen(moments, model=model.quick()).log_bayes_factor))
    rate = 0.5 * np.log(sizes) if fixed else np.log(np.log(sizes))
    assert medians + rate == pytest.approx(np.mean(medians + rate), abs=0.06)
    assert medians[0] - medians[-1] > 0.7
    report = bs.consistency_report(model, 0.01)
    assert report.holds is None
    assert report.exponent is None
    assert ("n ** -0.5, in probability" if fixed else "1 / log n, in probability") in " ".join(report.caveats)
    assert "priors on differences only" in str(report).replace("\n  ", " ")


def test_other_priors_keep_shuffles_only_where_they_still_hold(rng):
    X, y = study(rng, p=60)
    posterior = bs.screen(X, y, shuffles=20)
    assert posterior.shuffled is not None
    other = posterior.with_prior(0.3)
    assert other.shuffled is posterior.shuffled
    counts = [posterior.with_prior(0.3).shuffled.counts(0.0, special.logit(share)).sum() for share in (0.01, 0.3)]
    assert counts[1] > counts[0]
    assert posterior.with_prior(np.full(60, 0.3)).shuffled is None
    by_feature = bs.screen(X, y, prior_probability=np.full(60, 0.3), shuffles=20)
    assert by_feature.shuffled.by_feature
    assert by_feature.with_prior(0.3).shuffled is not None  # the same for all: nothing changes places
    assert by_feature.with_prior(rng.uniform(0.1, 0.4, 60)).shuffled is None
    assert bs.FalseDiscovery(0.1).select(posterior.with_prior(np.full(60, 0.3))).count_test is None
    sized = bs.with_size_prior(posterior, bs.SizePrior.uniform())
    assert sized.posterior.shuffled is None
    assert sized.select("MNC").false_positive_estimate.source == "model"


def test_size_priors_and_sets_work_on_the_bayes_factors(rng):
    """The marginal probabilities by adding up all sets."""
    X, y = study(rng, p=8)
    posterior = bs.screen(X, y)
    sized = bs.with_size_prior(posterior, bs.SizePrior.uniform())
    masks = np.array([[m >> f & 1 for f in range(8)] for m in range(256)], dtype=bool)
    sizes = masks.sum(axis=1)
    log = masks @ posterior.log_bayes_factor - np.log(9) - np.log(special.comb(8, sizes))
    weights = np.exp(log - special.logsumexp(log))
    np.testing.assert_allclose(sized.posterior.probability, weights @ masks, rtol=1e-9)
    together = bs.enumerate_sets(X, y, model=bs.CalibratedModel(), prior=bs.SizePrior.uniform())
    np.testing.assert_allclose(np.exp(-np.logaddexp(0, -together.log_odds)), weights @ masks, rtol=1e-9)
    with pytest.raises(bs.OptionError, match="structure='diagonal'"):
        bs.enumerate_sets(X, y, model=bs.CalibratedModel(), structure="joint")
    with pytest.raises(bs.OptionError, match=r"GaussianModel\.proper"):
        bs.screen_with_known(X, y, known=["x0"], model=bs.CalibratedModel())
    known = bs.screen(X, y, prior_probability=bs.known_markers([f"x{j}" for j in range(8)], certain=["x3"]))
    assert known.probability[3] == 1.0


def test_p_values_and_permutations(rng):
    X, y = study(rng)
    posterior = bs.screen(X, y)
    plain = bs.pearson_neyman(X, y)
    np.testing.assert_allclose(bs.pearson_neyman(posterior).log_p_value, plain.log_p_value, rtol=1e-10)
    with pytest.raises(
        bs.OptionError, match=r"paper's priors.*GaussianModel\.jeffreys\(\).*posterior\.shuffled"
    ) as e:
        bs.permutations(X, y, posterior=posterior)
    assert e.value.message.kind == "capability"
    with pytest.raises(bs.OptionError, match="CalibratedModel"):
        bs.permutations(X, y, posterior=posterior)
