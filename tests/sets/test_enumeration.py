"""The general model by enumeration, against literal sums over sets and independent evidences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

import bayesieve as bs
from bayesieve.sets.enumeration import Average, Diagonal, partition_sums

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
    np.testing.assert_allclose(posterior.set_log_probability, normalised(expected), rtol=1e-10, atol=1e-11)


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
    np.testing.assert_allclose(posterior.set_log_probability, normalised(expected), rtol=1e-10, atol=1e-11)
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
        np.testing.assert_allclose(posterior.probability, screened.probability, rtol=1e-12)


def test_eighteen_independent_features_agree_with_screen(rng):
    X, y = correlated(rng, n=60, p=18)
    X[30:, :4] += 0.7
    screened = bs.screen(X, y, model=bs.GaussianModel.jeffreys(), prior_probability=0.05)
    posterior = bs.enumerate_sets(X, y, prior=0.05, structure=[[f] for f in range(18)])
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
    np.testing.assert_allclose(posterior.set_log_probability, normalised(expected), rtol=1e-10, atol=1e-11)


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
    np.testing.assert_array_equal(scaled.set_log_probability, plain.set_log_probability)


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
                X[rows, features] = _draw(rng, X[rows].shape[0], len(features))
        q = bs.enumerate_sets(X, np.repeat([0, 1], 6), model=model, prior=0.5, structure="joint").probability
        expected, variance, true = expected + q, variance + q * (1 - q), true + np.isin(np.arange(3), good)
    assert (np.abs(true - expected) < 3.5 * np.sqrt(variance)).all()


def _draw(rng, n, d):
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


@pytest.mark.parametrize("structure", ["diagonal", ("diagonal", "diagonal"), Diagonal(), (Diagonal(), "diagonal")])
def test_however_independence_is_said_any_model_will_do(rng, structure):
    X, y = rng.integers(0, 2, (30, 4)), np.arange(30) % 3
    model = bs.CategoricalModel(0.5, levels=(0, 1))
    screened = bs.screen(X, y, model=model, prior_probability=0.2)
    posterior = bs.enumerate_sets(X, y, model=model, prior=0.2, structure=structure)
    np.testing.assert_allclose(posterior.log_odds, screened.log_odds, rtol=1e-12, atol=1e-13)
    moments = bs.Moments.from_matrix(X.astype(float), y)
    assert bs.enumerate_sets(moments, structure=structure).n_features == 4


def test_one_block_of_independent_non_markers_loses_to_sets_with_markers_as_samples_are_added(rng):
    """No feature is a marker. Counting parameters: six in one block have 27, with one marker beside five 24."""
    model, logs = bs.GaussianModel.proper(mean_locations=(0.0,)), []
    for n in (200, 200_000):
        X, y = rng.normal(size=(n, 6)), np.arange(n) % 2
        joint = bs.enumerate_sets(X, y, model=model, prior=0.1, structure="joint")
        logs.append(joint.log_probability_of([]))
        lone = bs.enumerate_sets(X, y, model=model, prior=0.1, structure=("joint", "diagonal"))
        assert np.exp(lone.log_probability_of([])) > 1 - 2 / np.sqrt(n)
    assert logs[0] < -10
    assert logs[1] - logs[0] == pytest.approx(-1.5 * np.log(1000), abs=6.0)  # n to the power of (24 - 27) / 2


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
    sets = posterior.sets()
    assert list(sets) == ["set", "size", "log_probability", "probability"]
    assert (np.diff(sets["probability"]) <= 0).all()
    assert sets["probability"].sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(np.log(sets["probability"]), sets["log_probability"], rtol=1e-13)
    assert sets["size"].tolist() == [len(named.split(", ")) if named else 0 for named in sets["set"]]
    assert posterior.sets(3)["set"] == sets["set"][:3]
    assert [", ".join(names) for names, _ in posterior.top_sets(3)] == sets["set"][:3]
    assert len(posterior.top_sets(100)) == 8
    assert posterior.top_sets(0) == []
    features = posterior.to_pandas()
    assert features["feature"].tolist() == list(posterior.names) == ["a", "b", "c"]
    np.testing.assert_allclose(features["prior_probability"], 0.3, rtol=1e-14)
    assert posterior.to_polars()["rank"].to_list() == posterior.rank.tolist()
    assert str(posterior) == posterior.summary()
    assert str(posterior).startswith("8 sets of 3 features; ")
    held = (posterior.set_log_probability, posterior.log_odds, posterior.log_likelihood, posterior.log_prior)
    assert not any(array.flags.writeable for array in held)
    again = posterior.with_prior(bs.SetTable({(0, 1): 1.0, (2,): 1.0}))
    fresh = bs.enumerate_sets(X, y, model=PROPER, prior=bs.SetTable({(0, 1): 1.0, (2,): 1.0}), structure="joint")
    np.testing.assert_array_equal(again.set_log_probability, fresh.set_log_probability)


def test_frames_and_sparse_matrices_are_read_as_screen_reads_them(rng):
    import pandas as pd  # noqa: PLC0415
    from scipy import sparse  # noqa: PLC0415

    X, y = correlated(rng, p=3)
    plain = bs.enumerate_sets(X, y, model=PROPER, structure="joint", classes=(1, 0))
    frame = bs.enumerate_sets(
        pd.DataFrame(X, columns=list("abc")), y, model=PROPER, structure="joint", classes=(1, 0)
    )
    assert frame.names == ("a", "b", "c")
    np.testing.assert_array_equal(frame.set_log_probability, plain.set_log_probability)
    thin = bs.enumerate_sets(sparse.csr_array(X), y, model=PROPER, structure="joint", classes=(1, 0))
    np.testing.assert_allclose(thin.set_log_probability, plain.set_log_probability, rtol=1e-12)


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


@pytest.mark.parametrize("in_columns", [False, True], ids=["samples in rows", "samples in columns"])
def test_files_are_enumerated_as_tables_are(rng, tmp_path, in_columns):
    X, y = correlated(rng, n=24, p=5)
    names, labels = list("abcde"), np.array(["early", "late"])[y]
    rows = [["id", "stage", *names]]
    rows += [[f"s{i}", labels[i], *map(repr, map(float, row))] for i, row in enumerate(X)]
    rows = list(zip(*rows, strict=True)) if in_columns else rows
    path = tmp_path / "table.csv"
    path.write_text("\n".join(",".join(row) for row in rows) + "\n")
    table = bs.read_table(path, labels="stage")
    for structure in ("joint", "diagonal", ("joint", "diagonal")):
        expected = bs.enumerate_sets(X, labels, prior=0.2, structure=structure, feature_names=names)
        found = bs.enumerate_sets(table, prior=0.2, structure=structure)
        assert found.names == tuple(names)
        np.testing.assert_allclose(found.set_log_probability, expected.set_log_probability, rtol=1e-11, atol=1e-11)
    path.write_text(path.read_text().replace(repr(float(X[3, 2])), "NA"))
    gaps = bs.read_table(path, labels="stage", missing="omit")
    with pytest.raises(bs.MissingValueError, match=r"sample 's3', feature 'c' .*fill them in first"):
        bs.enumerate_sets(gaps, structure="joint")
    assert np.isfinite(bs.enumerate_sets(gaps).log_odds).all()


def test_moments_hold_no_correlations(rng):
    X, y = correlated(rng)
    with pytest.raises(bs.DataError, match="no correlations"):
        bs.enumerate_sets(bs.Moments.from_matrix(X, y), model=PROPER, structure="joint")


def of(log_likelihood, prior=0.5, **options):
    return bs.SetPosterior.of_log_likelihood(log_likelihood, prior, **options)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: of(np.zeros(3)), bs.DataError, r"3 numbers; 2\^p are needed"),
        (lambda: of(np.zeros((2, 2))), bs.DataError, r"shape \(2, 2\); 2\^p"),
        (lambda: of(["a", "b"]), bs.DataError, "log likelihood must be numbers"),
        (lambda: of([[0.0], [0.0, 1.0]]), bs.DataError, "log likelihood must be numbers"),
        (lambda: of(3), bs.DataError, r"2\^p"),
        (lambda: of([0.0, np.nan]), bs.DataError, r"1 of 2 sets is infinite or not a number, .* of \{0\}"),
        (lambda: of([-np.inf, -np.inf]), bs.DataError, "likelihood of every set is 0"),
        (lambda: of([-np.inf, 0.0], 0.0), bs.PriorError, "possible given the data"),
        (lambda: of(lambda s: 0.0), bs.OptionError, "not clear"),
        (lambda: of(np.zeros(4), n_features=3), bs.OptionError, r"not clear \(2, 3\)"),
        (lambda: of(np.zeros(4), feature_names="ab"), bs.DataError, "one name per feature"),
        (lambda: of(np.zeros(4), feature_names=7), bs.DataError, "one name per feature"),
        *(
            (lambda n=n: of(lambda s: 0.0, n_features=n), bs.OptionError, "whole number of at least 1")
            for n in (2.5, -1, "3", 0)
        ),
        (lambda: of(lambda s: 0.0, n_features=34), bs.OptionError, "34 features have 17,179,869,184 sets"),
        (lambda: of(lambda s: 1 / (1 - len(s)), n_features=2), bs.DataError, r"failed for the set \{0\} \(ZeroD"),
        (lambda: of(lambda s: "much", n_features=2), bs.DataError, r"gave 'much' for the set \{\}"),
        (lambda: bs.SetPosterior([0, 0, 0], [0, 0, 0]), bs.DataError, r"3 numbers; 2\^p"),
        (lambda: bs.SetPosterior([0, 0], [0, 0, 0]), bs.PriorError, r"log prior was given as 3 numbers; 2\^p"),
        (lambda: bs.SetPosterior([0, 0], [0, 0, 0, 0]), bs.DataError, "2 log likelihoods and 4 log priors"),
        (lambda: bs.SetPosterior([0, 0], ["a", "b"]), bs.PriorError, "log prior must be numbers"),
        (lambda: bs.SetPosterior([0, 0], [0, 0], ("a", "b")), bs.DataError, "2 feature names for 1 feature"),
        (lambda: bs.SetPosterior.of_features([1.0], 0.5), bs.DataError, r"as screen\(\) returns it, not list"),
        *(
            (lambda n=n: of([0.0, 1.0]).top_sets(n), bs.OptionError, "n must be a whole number of at least 0")
            for n in ("a", 2.0, -1, None)
        ),
        (lambda: of([0.0, 1.0]).sets(-1), bs.OptionError, "n must be a whole number"),
    ],
)  # fmt: skip
def test_likelihoods_of_ones_own_are_checked(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_arrays_are_copied():
    likelihood, prior = np.zeros(4), np.log(np.full(4, 0.25))
    posterior = bs.SetPosterior(likelihood, prior)
    likelihood[0], prior[0] = 50.0, -50.0
    np.testing.assert_allclose(posterior.probability, 0.5, rtol=1e-14)
    assert posterior.log_likelihood.tolist() == [0.0] * 4
    given = np.zeros(4)
    assert of(given).n_features == 2
    assert given.flags.writeable


def test_one_joint_block_of_non_markers_prefers_false_markers(rng):
    """Independent noise: the joint structure finds markers at any n, with non-markers one by one it does not."""
    for n in (100, 1000):
        X, y = rng.normal(size=(2 * n, 9)), [0] * n + [1] * n
        joint = bs.enumerate_sets(X, y, model=PROPER, structure="joint")
        mixed = bs.enumerate_sets(X, y, model=PROPER, structure=("joint", "diagonal"))
        assert joint.set_probability[0] < 1e-6
        assert mixed.set_probability[0] > 0.9
        assert any("one joint block" in note for note in joint.notes)
        assert mixed.notes == ()
