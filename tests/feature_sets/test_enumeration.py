"""The general model by enumeration, against literal sums over sets and independent evidences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

import bayesieve as bs
from bayesieve.feature_sets.structures import Average, partition_sums

PROPER = bs.GaussianModel.proper()


def correlated(rng, n=14, p=4):
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p)))
    return X, np.repeat([0, 1], [n // 2, n - n // 2])


def parts(g, p):
    """Members of a set and of its complement."""
    return [f for f in range(p) if g >> f & 1], [f for f in range(p) if not g >> f & 1]


def normalised(log_weights):
    return np.asarray(log_weights) - special.logsumexp(log_weights)


def student_chain(values, features, kappa, s, nu, m):
    """Log evidence of a block as a product of multivariate t predictives, sample by sample (SciPy)."""
    if not features:
        return 0.0
    d = len(features)
    dof, scale, location = kappa + d - 1.0, np.diag(np.broadcast_to(s, values.shape[1])[features]), m[features]
    total = 0.0
    for x in values[:, features]:
        df = dof - d + 1.0
        total += stats.multivariate_t(location, scale * (nu + 1) / (nu * df), df).logpdf(x)
        scale = scale + nu / (nu + 1) * np.outer(x - location, x - location)
        location = (nu * location + x) / (nu + 1)
        dof, nu = dof + 1, nu + 1
    return float(total)


def test_joint_structure_by_the_chain_rule_of_student_predictives(rng):
    X, y = correlated(rng)
    s, m = rng.uniform(0.3, 2.0, 4), rng.normal(0, 0.5, (3, 4))
    priors = [
        bs.NormalInverseGamma(k, s, nu, each) for k, nu, each in zip((2, 3, 4), (0.3, 0.5, 0.2), m, strict=True)
    ]
    pi = np.array([0.1, 0.3, 0.5, 0.7])
    expected = []
    for g in range(16):
        good, bad = parts(g, 4)
        weight = np.log(pi[good]).sum() + np.log1p(-pi[bad]).sum()
        weight += student_chain(X[y == 0], good, 2, s, 0.3, m[0]) + student_chain(X[y == 1], good, 3, s, 0.5, m[1])
        expected.append(weight + student_chain(X, bad, 4, s, 0.2, m[2]))
    posterior = bs.enumerate_sets(
        X, y, model=bs.GaussianModel(tuple(priors[:2]), priors[2]), prior=pi, structure="joint"
    )
    np.testing.assert_allclose(posterior.log_probability, normalised(expected), rtol=1e-10, atol=1e-11)


def jeffreys_block(values, features):
    """The improper form from determinants: no constants of the prior."""
    d, n = len(features), len(values)
    if not d:
        return 0.0
    centred = values[:, features] - values[:, features].mean(axis=0)
    log_det = np.linalg.slogdet(centred.T @ centred)[1]
    return (
        0.5 * d * math.log(2 * math.pi / n)
        - 0.5 * n * (d * math.log(math.pi) + log_det)
        + special.multigammaln(n / 2, d)
    )


@pytest.mark.parametrize("ratio", [0.1, [0.1, 0.2, 0.5, 1.0], "n_decay"])
def test_jeffreys_joint_structure_from_determinants(rng, ratio):
    """The prior ratio enters once for every marker; block sizes are weighed by convention."""
    X, y = correlated(rng, n=24)
    log_ratio = -0.5 * math.log(2 * math.pi) - math.log(24) if ratio == "n_decay" else np.log(ratio)
    log_ratio = np.broadcast_to(log_ratio, 4)
    expected = []
    for g in range(16):
        good, bad = parts(g, 4)
        evidence = jeffreys_block(X[y == 0], good) + jeffreys_block(X[y == 1], good) + jeffreys_block(X, bad)
        expected.append(evidence + log_ratio[good].sum())
    posterior = bs.enumerate_sets(X, y, model=bs.GaussianModel.jeffreys(ratio), prior=0.5, structure="joint")
    np.testing.assert_allclose(posterior.log_probability, normalised(expected), rtol=1e-10, atol=1e-11)
    assert "convention" in str(posterior)


@pytest.mark.parametrize("model", [PROPER, bs.GaussianModel.jeffreys([0.1, 0.3, 0.1, 0.2, 1.0, 0.1])])
def test_singleton_blocks_agree_with_screen(rng, model):
    """Normal-inverse-Wishart blocks of one feature against the one-feature formulas: two routes."""
    X, y = correlated(rng, n=40, p=6)
    X[20:, 2] += 1.0
    pi = rng.uniform(0.01, 0.9, 6)
    screened = bs.screen(X, y, model=model, prior_probability=pi)
    for structure in ([[f] for f in range(6)], ("diagonal", [[0]]), ([], "diagonal"), "diagonal"):
        posterior = bs.enumerate_sets(X, y, model=model, prior=pi, structure=structure)
        np.testing.assert_allclose(posterior.log_odds, screened.log_odds, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(posterior.marginal_probability, screened.probability, rtol=1e-12)


def test_sixteen_independent_features_agree_with_screen(rng):
    X, y = correlated(rng, n=60, p=16)
    X[30:, :4] += 0.7
    screened = bs.screen(X, y, prior_probability=0.05)
    posterior = bs.enumerate_sets(X, y, prior=0.05, structure=[[f] for f in range(16)])
    np.testing.assert_allclose(posterior.log_odds, screened.log_odds, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        posterior.log_probability_of(range(3)), bs.ErrorAnalysis.of(screened, range(3)).log_probability, rtol=1e-11
    )


def set_partitions(features):
    """All partitions of a list into blocks."""
    if not features:
        yield []
        return
    first, *rest = features
    for smaller in set_partitions(rest):
        yield [[first], *smaller]
        for i, block in enumerate(smaller):
            yield [*smaller[:i], [first, *block], *smaller[i + 1 :]]


def literal_part(structure, values, features):
    """Log evidence of a part under PP with m = 0, from Student predictives and literal partitions."""

    def blocks(each):
        return sum(student_chain(values, block, 3.0, 0.5, 0.1, np.zeros(values.shape[1])) for block in each)

    if structure == "joint":
        return blocks([features])
    if structure == "diagonal":
        return blocks([[f] for f in features])
    if structure == "average":
        every = [blocks(each) for each in set_partitions(features)]
        return special.logsumexp(every) - math.log(len(every))
    return blocks([[f for f in block if f in features] for block in structure])


@pytest.mark.parametrize(
    "structure",
    ["average", [[0, 2], [1, 3]], ("joint", "diagonal"), ("average", [[0, 1, 2], [3]]), ([[3, 1]], "joint")],
    ids=str,
)
def test_structures_by_literal_enumeration(rng, structure):
    X, y = correlated(rng, n=10)
    model = bs.GaussianModel.proper(mean_locations=(0.0,))
    good, bad = structure if isinstance(structure, tuple) else (structure, structure)
    good, bad = ([*each, [0], [2]] if each == [[3, 1]] else each for each in (good, bad))
    expected = []
    for g in range(16):
        inside, outside = parts(g, 4)
        classes = sum(literal_part(good, X[y == k], inside) for k in (0, 1))
        expected.append(classes + literal_part(bad, X, outside))
    posterior = bs.enumerate_sets(X, y, model=model, prior=0.5, structure=structure)
    np.testing.assert_allclose(posterior.log_probability, normalised(expected), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(
    "cohesion", [None, lambda size: 2.0 * math.factorial(size - 1)], ids=["uniform", "chinese"]
)
def test_average_over_partitions_of_random_weights(rng, cohesion):
    """Bell(6) = 203 partitions one by one; with the Chinese restaurant's weights, too."""
    blocks = np.concatenate(([0.0], rng.normal(0, 40, 63)))
    found = Average(cohesion).log_evidence(blocks)
    of_size = cohesion or (lambda size: 1.0)
    for g in (0b1, 0b1010, 0b110101, 0b111111):
        every = list(set_partitions(parts(g, 6)[0]))
        logs = [sum(blocks[sum(1 << f for f in block)] for block in each) for each in every]
        weights = [math.prod(of_size(len(block)) for block in each) for each in every]
        expected = special.logsumexp(logs, b=weights) - math.log(sum(weights))
        assert found[g] == pytest.approx(expected, rel=1e-12)
    assert partition_sums(np.array([0.0, -np.inf, 0.0, -np.inf])).tolist() == [0.0, -np.inf, 0.0, -np.inf]
    counts = np.exp(partition_sums(np.zeros(2**8)))
    assert counts[-1] == pytest.approx(4140, rel=1e-12)  # the Bell number of 8


def test_units_and_places_do_not_matter(rng):
    """Jeffreys' prior knows no scale: factors between 1e-6 and 1e6, and places a million spreads away."""
    X, y = correlated(rng, n=30, p=5)
    X = np.round(X * 2**20) / 2**20  # so that moving and scaling rounds nothing
    plain = bs.enumerate_sets(X, y, prior=0.3, structure="joint")
    moved = bs.enumerate_sets((X + 1e6) * 2.0 ** np.array([-20, -10, 0, 10, 20]), y, prior=0.3, structure="joint")
    np.testing.assert_allclose(moved.log_odds, plain.log_odds, rtol=1e-11)
    scaled = bs.enumerate_sets(X * 2.0**40, y, prior=0.3, structure="joint")
    np.testing.assert_array_equal(scaled.log_probability, plain.log_probability)


def test_order_of_features_and_samples_does_not_matter(rng):
    X, y = correlated(rng, n=20, p=5)
    order, rows = rng.permutation(5), rng.permutation(20)
    plain = bs.enumerate_sets(X, y, model=PROPER, prior=0.3, structure="joint")
    mixed = bs.enumerate_sets(X[rows][:, order], y[rows], model=PROPER, prior=0.3, structure="joint")
    np.testing.assert_allclose(mixed.log_odds, plain.log_odds[order], rtol=1e-11, atol=1e-12)


def test_probabilities_come_true_when_data_are_drawn_from_the_model(rng):
    """Monte Carlo: sets, covariances, means and data drawn from the prior; marginals against the truth."""
    model = bs.GaussianModel.proper(mean_strength=0.5, mean_locations=(0.0,))
    expected, variance, true = 0.0, 0.0, 0
    for _ in range(150):
        g = int(rng.integers(0, 8))
        good, bad = parts(g, 3)
        X = np.empty((12, 3))
        for rows, features in ((slice(0, 6), good), (slice(6, 12), good), (slice(0, 12), bad)):
            if features:
                X[rows, features] = _drawn(rng, X[rows].shape[0], len(features))
        q = bs.enumerate_sets(
            X, np.repeat([0, 1], 6), model=model, prior=0.5, structure="joint"
        ).marginal_probability
        expected, variance, true = expected + q, variance + q * (1 - q), true + np.isin(np.arange(3), good)
    assert (np.abs(true - expected) < 3.5 * np.sqrt(variance)).all()


def _drawn(rng, n, d):
    covariance = np.atleast_2d(stats.invwishart(3 + d - 1, 0.5 * np.eye(d)).rvs(random_state=rng))
    mean = rng.multivariate_normal(np.zeros(d), covariance / 0.5)
    return rng.multivariate_normal(mean, covariance, size=n)


def test_other_models_and_more_classes_when_features_are_independent(rng):
    X, y = rng.integers(0, 3, (30, 4)), np.arange(30) % 3
    model = bs.CategoricalModel(0.5, levels=(0, 1, 2))
    screened = bs.screen(X, y, model=model, prior_probability=0.2)
    posterior = bs.enumerate_sets(X, y, model=model, prior=0.2)
    np.testing.assert_allclose(posterior.log_odds, screened.log_odds, rtol=1e-12, atol=1e-13)
    moments = bs.Moments.from_matrix(X.astype(float), y)
    np.testing.assert_allclose(
        bs.enumerate_sets(moments, prior=0.2).log_odds,
        bs.screen(moments, prior_probability=0.2).log_odds,
        rtol=1e-12,
    )


def test_missing_values_are_left_out_when_features_are_independent(rng):
    X, y = correlated(rng)
    X[0, 1] = np.nan
    posterior = bs.enumerate_sets(X, y, model=PROPER, prior=0.2, missing="omit")
    screened = bs.screen(X, y, model=PROPER, prior_probability=0.2, missing="omit")
    np.testing.assert_allclose(posterior.log_odds, screened.log_odds, rtol=1e-12)
    for structure in ("diagonal", "joint"):
        with pytest.raises(bs.MissingValueError, match="feature column 1"):
            bs.enumerate_sets(X, y, model=PROPER, structure=structure)
    with pytest.raises(bs.OptionError, match="complete samples"):
        bs.enumerate_sets(X, y, model=PROPER, structure="joint", missing="omit")


def test_small_blocks_need_few_samples(rng):
    """Four samples per class cannot carry 5 features at once under Jeffreys' prior, but blocks of two."""
    X, y = correlated(rng, n=8, p=5)
    with pytest.raises(bs.PriorError, match="improper"):
        bs.enumerate_sets(X, y, structure="joint")
    posterior = bs.enumerate_sets(X, y, structure=[[0, 1], [2, 3], [4]])
    assert np.isfinite(posterior.log_odds).all()


def test_tables_and_words(rng):
    X, y = correlated(rng, p=3)
    posterior = bs.enumerate_sets(X, y, model=PROPER, prior=0.3, structure="joint", feature_names=["a", "b", "c"])
    table = posterior.to_pandas()
    assert list(table.columns) == ["set", "size", "log_probability", "probability"]
    assert table["probability"].is_monotonic_decreasing
    assert table["probability"].sum() == pytest.approx(1.0, abs=1e-14)
    assert table["size"].tolist() == [len(named.split(", ")) if named else 0 for named in table["set"]]
    assert posterior.to_polars(3)["set"].to_list() == table["set"].tolist()[:3]
    assert [", ".join(names) for names, _ in posterior.top(3)] == table["set"].tolist()[:3]
    features = posterior.features()
    assert features["feature"] == ["a", "b", "c"]
    np.testing.assert_allclose(features["prior_probability"], 0.3, rtol=1e-14)
    assert str(posterior).startswith("8 sets of 3 features; ")
    for array in (posterior.log_probability, posterior.log_odds, posterior.log_likelihood, posterior.log_prior):
        assert not array.flags.writeable
    again = posterior.with_prior(bs.SetTable({(0, 1): 1.0, (2,): 1.0}))
    fresh = bs.enumerate_sets(X, y, model=PROPER, prior=bs.SetTable({(0, 1): 1.0, (2,): 1.0}), structure="joint")
    np.testing.assert_array_equal(again.log_probability, fresh.log_probability)


def test_frames_and_sparse_matrices_are_read_as_screen_reads_them(rng):
    import pandas as pd  # noqa: PLC0415
    from scipy import sparse  # noqa: PLC0415

    X, y = correlated(rng, p=3)
    plain = bs.enumerate_sets(X, y, model=PROPER, structure="joint", classes=(1, 0))
    frame = bs.enumerate_sets(
        pd.DataFrame(X, columns=list("abc")), y, model=PROPER, structure="joint", classes=(1, 0)
    )
    assert frame.names == ("a", "b", "c")
    np.testing.assert_array_equal(frame.log_probability, plain.log_probability)
    thin = bs.enumerate_sets(sparse.csr_array(X), y, model=PROPER, structure="joint", classes=(1, 0))
    np.testing.assert_allclose(thin.log_probability, plain.log_probability, rtol=1e-12)


def test_too_many_features_are_refused_with_a_way_out(rng):
    X, y = rng.normal(size=(10, 25)), np.repeat([0, 1], 5)
    for structure in ("diagonal", "joint"):
        with pytest.raises(bs.OptionError, match=r"25 features have 33,554,432 sets.*with_size_prior"):
            bs.enumerate_sets(X, y, model=PROPER, structure=structure)
    with pytest.raises(bs.OptionError, match="17 features have 131,072 sets"):
        bs.enumerate_sets(X[:, :17], y, model=PROPER, structure="average")
    with pytest.raises(bs.OptionError, match=r"2\^20,000 sets"):
        bs.enumerate_sets(rng.normal(size=(4, 20_000)), [0, 0, 1, 1], model=PROPER, structure="joint")


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"structure": "blocks"}, bs.OptionError, "structure must be one of"),
        ({"structure": 3}, bs.OptionError, "structure must be one of"),
        ({"structure": [[0, 9]]}, bs.OptionError, "feature 9"),
        ({"structure": [[0, 1], [1]]}, bs.OptionError, "more than once"),
        ({"structure": Average(lambda size: 0.0)}, bs.OptionError, "cohesion"),
        ({"structure": "joint", "model": bs.CategoricalModel(0.5, levels=(0, 1))}, bs.OptionError, "one by one"),
        ({"structure": "joint", "prior": 2.0}, bs.PriorError, "between 0 and 1"),
        ({"structure": "joint", "y": np.arange(14) % 3}, bs.LabelError, "two classes, not 3"),
        ({"structure": "joint", "model": bs.GaussianModel.jeffreys([0.1, 0.2])}, bs.PriorError, "2"),
        (
            {
                "structure": "joint",
                "model": bs.GaussianModel((bs.NormalInverseGamma(3.0, 0.5, 0.1),), bs.NormalInverseGamma(), 0.1),
            },
            bs.PriorError,
            "lies between",
        ),
    ],
)
def test_errors_say_what_is_wrong(rng, options, error, match):
    X, y = correlated(rng)
    given = {"y": y, "model": PROPER} | options
    with pytest.raises(error, match=match):
        bs.enumerate_sets(X, **given)


def test_moments_hold_no_correlations(rng):
    X, y = correlated(rng)
    with pytest.raises(bs.DataError, match="no correlations"):
        bs.enumerate_sets(bs.Moments.from_matrix(X, y), model=PROPER, structure="joint")


def test_likelihoods_of_ones_own_are_checked():
    with pytest.raises(bs.DataError, match="2\\^p"):
        bs.SetPosterior.of_log_likelihood(np.zeros(3), 0.5)
    with pytest.raises(bs.OptionError, match="not clear"):
        bs.SetPosterior.of_log_likelihood(lambda s: 0.0, 0.5)
    with pytest.raises(bs.OptionError, match="not clear"):
        bs.SetPosterior.of_log_likelihood(np.zeros(4), 0.5, n_features=3)
    with pytest.raises(bs.DataError, match="not a number"):
        bs.SetPosterior.of_log_likelihood([0.0, np.nan], 0.5)
    with pytest.raises(bs.PriorError, match="possible given the data"):
        bs.SetPosterior.of_log_likelihood([-np.inf, 0.0], 0.0)
