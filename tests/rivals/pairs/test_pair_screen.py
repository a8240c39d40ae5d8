"""screen_pairs(): the list, what changed, and the number by chance."""

from __future__ import annotations

import naive_pairs
import numpy as np
import pytest
import scipy.sparse
from scipy.stats import multivariate_normal

import bayesieve as bs
from bayesieve.stats import Scatter

LABELS = np.repeat(["a", "b"], [30, 40])


def noise(p=25, seed=0):
    return np.random.default_rng(seed).normal(size=(70, p))


def flipped(p=25, seed=0):
    X = noise(p, seed)
    X[:, 1] = np.where(LABELS == "a", 0.8, -0.8) * X[:, 0] + 0.6 * X[:, 1]
    return X


@pytest.mark.parametrize("prior", ["jp", "pp"])
@pytest.mark.parametrize("by", ["together", "evidence"])
def test_the_list_is_that_of_the_definition(by, prior):
    X, y = flipped(12), (LABELS == "b").astype(int)
    known = {"jp": None, "pp": naive_pairs.PP}[prior]
    table, alone = naive_pairs.pair_table(X, y, known), naive_pairs.singles(X, y, known)
    found = bs.screen_pairs(X, LABELS, by=by, prior=prior, top=20, shuffles=0)
    score = table if by == "evidence" else table - alone[:, None] - alone
    order = sorted(zip(*np.triu_indices(12, 1), strict=True), key=lambda pair: -score[pair])[:20]
    assert found.pairs == tuple((f"x{i}", f"x{j}") for i, j in order)
    assert np.allclose(found.evidence, [table[pair] for pair in order], rtol=0, atol=1e-10)
    assert np.allclose(found.score, [score[pair] for pair in order], rtol=0, atol=1e-10)
    assert np.allclose(found.single, alone[np.array(order).T], rtol=0, atol=1e-10)
    for k, (i, j) in enumerate(order):
        for c in (0, 1):
            r = np.corrcoef(X[y == c][:, [i, j]].T)[0, 1]
            assert found.correlation[c, k] == pytest.approx(r, abs=1e-12)
    assert np.isnan(found.by_chance).all()
    assert "by_chance" not in found.to_dict()
    assert "not shuffled" in found.summary()


def test_fisher_z():
    found = bs.screen_pairs(flipped(), LABELS, top=3, shuffles=0)
    r, s = found.correlation[:, 0]
    assert found.fisher_z[0] == pytest.approx(
        (np.arctanh(s) - np.arctanh(r)) / np.sqrt(1 / 27 + 1 / 37), abs=1e-12
    )


def test_the_change_of_correlation_is_a_likelihood_ratio():
    """Against a numerical maximum over the common correlation and all spreads."""
    from scipy.optimize import minimize  # noqa: PLC0415 - only here

    X = flipped()[:, :2] * [1.0, 2.0]
    X[:, 1] += 0.8 * X[:, 0]
    found = bs.screen_pairs(X, LABELS, shuffles=0)
    parts = [X[label == LABELS] - X[label == LABELS].mean(axis=0) for label in "ab"]

    def loss(at):
        total = 0.0
        for part, (s, t) in zip(parts, np.exp(at[1:]).reshape(2, 2), strict=True):
            cov = [[s * s, np.tanh(at[0]) * s * t], [np.tanh(at[0]) * s * t, t * t]]
            total -= multivariate_normal.logpdf(part, cov=cov).sum()
        return total

    common = minimize(loss, np.zeros(5), method="BFGS").fun
    free = -sum(multivariate_normal.logpdf(part, cov=part.T @ part / len(part)).sum() for part in parts)
    assert found._change()[0] == pytest.approx(common - free, rel=0.03)


def test_what_changed_has_a_word():
    assert bs.screen_pairs(flipped(), LABELS, top=1, shuffles=0).kinds == ("reversed",)
    X = noise()
    X[LABELS == "b", 1] = 0.9 * X[LABELS == "b", 0] + 0.4 * X[LABELS == "b", 1]
    assert bs.screen_pairs(X, LABELS, top=1, shuffles=0).kinds == ("stronger in b",)
    X = noise()
    X[:, 1] = 0.95 * X[:, 0] + 0.3 * X[:, 1]
    X[LABELS == "b", 1] += 0.6  # little beside the spread, much beside the width of the cloud
    found = bs.screen_pairs(X, LABELS, top=1, shuffles=0)
    assert found.pairs[0] == ("x0", "x1")
    assert found.kinds == ("joint shift",)
    X = noise()
    X[LABELS == "b", 0] += 4.0
    found = bs.screen_pairs(X, LABELS, by="evidence", top=24, shuffles=0)
    assert all("x0" in pair for pair in found.pairs)  # with every partner
    assert found.kinds.count("margins") > 16
    few = bs.screen_pairs(noise(4)[26:], LABELS[26:][:44], top=6, shuffles=0)
    assert few.counts == (4, 40)
    least = bs.screen_pairs(noise(4)[27:], LABELS[27:], top=6, shuffles=0)
    assert np.isnan(least.fisher_z).all()
    assert set(least.kinds) <= {"unknown", "margins"}


def test_the_number_by_chance_is_counted_in_shuffles():
    X = flipped()
    found = bs.screen_pairs(X, LABELS, top=40, shuffles=7, seed=3)
    again = bs.screen_pairs(X, LABELS, top=40, shuffles=7, seed=3, n_threads=3)
    assert found.null.counts.shape == (7, 40)
    assert again.null.counts.tolist() == found.null.counts.tolist()
    assert again.null.largest.tobytes() == found.null.largest.tobytes()
    assert bs.screen_pairs(X, LABELS, shuffles=7, seed=4).null.largest.tolist() != found.null.largest.tolist()
    assert (np.diff(found.null.counts, axis=1) >= 0).all()
    streams = np.random.SeedSequence(3).spawn(7)
    for k, stream in enumerate(streams):
        labels = np.random.default_rng(stream).permutation((LABELS == "b").astype(int))
        other = bs.screen_pairs(X, labels, top=300, shuffles=0)
        assert other.score[0] == pytest.approx(found.null.largest[k], abs=1e-10)
        expected = (other.score >= found.score[:, None] - 1e-12).sum(axis=1)
        assert found.null.counts[k].tolist() == expected.tolist()
    table = found.to_dict()
    assert table["by_chance"].tolist() == found.null.counts.mean(axis=0).tolist() == found.by_chance.tolist()
    assert table["shuffles_reaching"].tolist() == (found.null.counts > 0).sum(axis=0).tolist()
    assert found.by_chance[0] == 0.0
    assert f"{(found.score > found.null.largest.max()).sum()} pairs listed are stronger" in found.summary()


@pytest.mark.parametrize("by", ["together", "evidence"])
def test_the_claimed_number_agrees_with_relabelled_tables(by):
    """Correlated features with heavy tails, no difference: the claim at rank 10 must be about 10, not 0."""
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, size=(70, 60)) @ (np.eye(60) + 0.3 * rng.normal(size=(60, 60)))
    claims, first = [], 0
    for seed in range(20):
        found = bs.screen_pairs(X, rng.permutation(LABELS), by=by, top=10, shuffles=10, seed=seed)
        claims.append(found.by_chance[-1])
        first += found.score[0] > found.null.largest.max()
    assert 4 < np.median(claims) < 25
    assert first <= 6  # 1.8 expected


def test_pure_noise_is_said_to_be_chance():
    found = bs.screen_pairs(noise(seed=5), LABELS, shuffles=20)
    assert "No pair listed is stronger than all in the shuffles" in found.summary()


def test_every_form_of_table(tmp_path):
    X = np.round(flipped(), 2)
    X[np.abs(X) < 0.3] = 0.0
    names = [f"g{i}" for i in range(25)]
    expected = bs.screen_pairs(X, LABELS, feature_names=names, top=9, shuffles=3)
    path = tmp_path / "table.csv"
    rows = [",".join([label, *map(str, row)]) for label, row in zip(LABELS, X.tolist(), strict=True)]
    path.write_text("\n".join([",".join(["class", *names]), *rows]))
    forms = [
        bs.screen_pairs(scipy.sparse.csr_array(X), LABELS, feature_names=names, top=9, shuffles=3),
        bs.screen_pairs(bs.read_table(path, labels="class"), top=9, shuffles=3),
    ]
    for other in forms:
        assert other.pairs == expected.pairs
        assert other.classes == ("a", "b")
        assert np.allclose(other.score, expected.score, rtol=0, atol=1e-10)
        assert other.null.counts.tolist() == expected.null.counts.tolist()
    merged = Scatter.from_matrix(X[::2], LABELS[::2]).merge(Scatter.from_matrix(X[1::2], LABELS[1::2]))
    other = bs.screen_pairs(merged, feature_names=names, top=9)
    assert other.pairs == expected.pairs
    assert np.allclose(other.correlation, expected.correlation, rtol=0, atol=1e-12)
    assert other.null is None
    assert expected.to_polars().shape == (9, 13)
    assert expected.to_pandas()["correlation_a"].tolist() == expected.correlation[0].tolist()


def test_progress_reaches_the_end():
    steps = []
    bs.screen_pairs(flipped(), LABELS, shuffles=2, progress=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (900, 900)
    assert steps == sorted(steps)


def test_what_cannot_be_compared():
    X = noise()
    for options in ({"by": "z"}, {"top": 0}, {"shuffles": -1}, {"shuffles": "many"}, {"seed": 0.5}):
        with pytest.raises(bs.OptionError):
            bs.screen_pairs(X, LABELS, **options)
    with pytest.raises(bs.DataError, match="at least two features"):
        bs.screen_pairs(X[:, :1], LABELS)
    with pytest.raises(bs.LabelError, match="two classes, not 3"):
        bs.screen_pairs(X, np.arange(70) % 3)
    scatter = Scatter.from_matrix(X, LABELS)
    with pytest.raises(bs.OptionError, match="could be shuffled"):
        bs.screen_pairs(scatter, shuffles=5)
    with pytest.raises(bs.OptionError, match="already holds"):
        bs.screen_pairs(scatter, LABELS)
    with pytest.raises(bs.LabelError, match="not 3"):
        bs.screen_pairs(Scatter.from_matrix(X, np.arange(70) % 3))
    X[3, 4] = np.nan
    with pytest.raises(bs.MissingValueError, match=r"1 missing value\(s\).*Pairs of features need all values"):
        bs.screen_pairs(X, LABELS)
    X[3, 4] = np.inf
    with pytest.raises(bs.DataError, match="infinite"):
        bs.screen_pairs(X, LABELS)


def test_constant_features_are_counted():
    X = noise()
    X[:, 3] = 1.0
    with pytest.warns(bs.DegenerateFeatureWarning, match="1 of 25 features are constant in a class"):
        found = bs.screen_pairs(X, LABELS, top=1000, shuffles=1)
    assert (found.n_left_out, found.n_pairs, found.n_listed) == (1, 276, 276)
    assert bs.screen_pairs(X, LABELS, prior="pp", shuffles=0).n_pairs == 300
    X[:, 1:] = 1.0
    with pytest.warns(bs.DegenerateFeatureWarning):
        found = bs.screen_pairs(X, LABELS, shuffles=2)
    assert found.n_listed == 0
    assert found.to_dict()["rank"].size == 0
    assert found.summary()


def test_spm_seeds_can_be_held_against_shuffled_labels():
    rng = np.random.default_rng(3)
    X = rng.standard_t(3, size=(70, 80)) @ (np.eye(80) + 0.3 * rng.normal(size=(80, 80)))
    plain = bs.score(X, LABELS, method="spm", log_t4=0.0)
    held = bs.score(X, LABELS, method="spm", log_t4=0.0, shuffles=5, seed=1)
    assert plain.selected.sum() > 5
    assert held.diagnostics["log_t4"] > 0.0
    assert held.selected.sum() < plain.selected.sum()
