"""A screen of genes: what is kept, shuffles collapsed by hand, designs, files that come back, contradictions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import bayesieve as bs
from bayesieve.posterior import GeneFeatures
from bayesieve.screening import ScreenSpec
from bayesieve.screening.inputs import Shufflable
from bayesieve.screening.shuffles import shuffle_labels

N_FEATURES = 120
NAMES = [f"p{i}" for i in range(N_FEATURES)]


def made(seed=0, n=24):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES)) + rng.normal(size=N_FEATURES)
    y = np.array([0, 1] * (n // 2))
    X[y == 1, :6] += 2.5
    pairs = [(name, f"G{rng.integers(30)}" if rng.random() > 0.1 else "") for name in NAMES]
    pairs[0], pairs[1] = ("p0", "A /// B"), ("p1", "B /// A")
    return X, y, bs.GeneMap.from_pairs(pairs)


def groups_of(genes, unmapped="drop"):
    """Features by gene list, in plain Python."""
    found = {}
    for i, name in enumerate(NAMES):
        key = frozenset(genes[name]) or (name if unmapped == "keep" else None)
        if key is not None:
            found.setdefault(key, []).append(i)
    return list(found.values())


@pytest.mark.parametrize("unmapped", ["drop", "keep"])
def test_the_best_feature_stands_for_its_gene(unmapped):
    X, y, genes = made()
    posterior = bs.screen(X, y, feature_names=NAMES, gene_map=genes, unmapped=unmapped, shuffles=0)
    used = sorted(i for group in groups_of(genes, unmapped) for i in group)
    alone = bs.screen(X[:, used], y, feature_names=[NAMES[i] for i in used], shuffles=0)
    odds = dict(zip(alone.names, alone.log_odds.tolist(), strict=True))
    wanted = {}
    for group in groups_of(genes, unmapped):
        best = max(group, key=lambda i: odds[NAMES[i]])
        wanted[" /// ".join(genes[NAMES[group[0]]]) or NAMES[best]] = (NAMES[best], len(group), odds[NAMES[best]])
    table = posterior.to_dict()
    found = {
        name: (kept, int(n), value)
        for name, kept, n, value in zip(
            table["feature"], table["kept_feature"], table["n_gene_features"], table["log_odds"], strict=True
        )
    }
    assert {name: each[:2] for name, each in found.items()} == {name: each[:2] for name, each in wanted.items()}
    assert all(found[name][2] == pytest.approx(wanted[name][2], rel=1e-9) for name in found)
    (feature,) = [each for each in posterior.findings if isinstance(each, GeneFeatures)]
    assert tuple(NAMES[i] for i in feature.places) == feature.kept
    assert (np.diff(feature.places) > 0).all()
    note = str(feature.notes()[0])
    assert f"120 features collapsed to {posterior.n_features} genes" in note
    assert any("best of several" in str(each) for each in feature.notes())


def test_max_mean_keeps_the_largest_mean_before_the_screen():
    X, y, genes = made()
    X[2, 5] = np.nan
    posterior = bs.screen(
        X, y, feature_names=NAMES, gene_map=genes, collapse="max-mean", missing="omit", shuffles=7
    )
    means = np.nanmean(X, axis=0)
    kept = sorted(max(group, key=lambda i: means[i]) for group in groups_of(genes))
    alone = bs.screen(X[:, kept], y, feature_names=[NAMES[i] for i in kept], missing="omit", shuffles=7)
    np.testing.assert_allclose(posterior.log_odds, alone.log_odds, rtol=1e-9)
    assert posterior.to_dict()["kept_feature"] == list(alone.names)
    np.testing.assert_array_equal(posterior.shuffled.reaching, alone.shuffled.reaching)
    for mine, theirs in zip(posterior.shuffled.values, alone.shuffled.values, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("by_feature", [False, True])
def test_every_shuffle_is_collapsed_anew(by_feature):
    """Shuffles by hand: screen all features with the labels dealt, take the best of every gene, and count."""
    X, y, genes = made(3)
    used = sorted(i for group in groups_of(genes) for i in group)
    where = {i: k for k, i in enumerate(used)}
    groups = [[where[i] for i in group] for group in groups_of(genes)]
    rng = np.random.default_rng(5)
    prior = rng.uniform(0.001, 0.2, N_FEATURES) if by_feature else 0.02
    posterior = bs.screen(X, y, feature_names=NAMES, gene_map=genes, prior_probability=prior, shuffles=15, seed=4)
    mine = prior[used] if by_feature else prior
    odds = np.log(mine / (1 - mine)) if by_feature else 0.0
    matrix = bs.LabelledMatrix.from_arrays(X[:, used], y)
    labellings, _ = Shufflable(matrix).draw(15, 4)
    best = []
    for codes in labellings:
        each = bs.screen(X[:, used], codes, prior_probability=mine, shuffles=0).log_bayes_factor + odds
        best.append(np.array([max(each[i] for i in group) for group in groups]))
    least = float(np.min(odds)) if by_feature else 0.0
    for found, wanted in zip(posterior.shuffled.values, best, strict=True):
        np.testing.assert_allclose(found, np.sort(wanted[wanted > least])[::-1], rtol=1e-6, atol=1e-6)
    own = posterior.log_odds if by_feature else posterior.log_bayes_factor
    reaching = [np.mean([(each >= value - 1e-9).sum() for each in best]) for value in own]
    np.testing.assert_allclose(posterior.shuffled.reaching, reaching, atol=0.07)  # rounding may move a tie
    assert posterior.shuffled.least_share == 1 / posterior.n_features


def test_more_features_per_gene_mean_more_false_positives_by_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 800)), [0, 1] * 15
    names = [f"p{i}" for i in range(800)]
    genes = bs.GeneMap.from_pairs((name, f"G{i // 8}") for i, name in enumerate(names))
    collapsed = bs.screen(X, y, feature_names=names, gene_map=genes, shuffles=40)
    mean = bs.screen(X, y, feature_names=names, gene_map=genes, collapse="max-mean", shuffles=40)
    cut = np.log(0.01 / 0.99) + 1.0
    prior = collapsed.prior_log_odds
    assert collapsed.shuffled.expected(cut, prior) > 3 * mean.shuffled.expected(cut, prior) > 0


def test_estimated_prior_blocks_pairs_sparse_and_moments():
    X, y, genes = made(1)
    plain = bs.screen(X, y, feature_names=NAMES, gene_map=genes, shuffles=9)
    sparse = bs.screen(sp.csc_matrix(X), y, feature_names=NAMES, gene_map=genes, shuffles=9)
    np.testing.assert_allclose(sparse.log_odds, plain.log_odds, rtol=1e-9, atol=1e-9)
    share = bs.screen(X, y, feature_names=NAMES, gene_map=genes, prior_probability="estimate", shuffles=9)
    assert share.n_features == plain.n_features
    assert share.estimated_share == plain.estimated_share
    blocks = bs.screen(X, y, feature_names=NAMES, gene_map=genes, blocks=["a", "b", "b", "a"] * 6, shuffles=5)
    assert blocks.block_evidence.contributions.shape[1] == blocks.n_features == plain.n_features
    pairs = bs.screen(X, y, feature_names=NAMES, gene_map=genes, pairs=np.repeat(range(12), 2), shuffles=5)
    assert pairs.n_features == plain.n_features
    moments = bs.Moments.from_matrix(X, y)
    ready = bs.screen(moments, feature_names=NAMES, gene_map=genes, model=bs.GaussianModel.jeffreys())
    again = bs.screen(
        X, y, feature_names=NAMES, gene_map=genes, model=bs.GaussianModel.jeffreys(), resolution=[0.01] * 120
    )
    assert ready.names == again.names
    with pytest.raises(bs.OptionError, match="of pairs their differences"):
        bs.screen(X, y, feature_names=NAMES, gene_map=genes, collapse="max-mean", pairs=np.repeat(range(12), 2))


def test_counts_and_categories():
    rng = np.random.default_rng(2)
    _, y, genes = made()
    X = rng.poisson(5.0, size=(24, N_FEATURES))
    counts = bs.screen(
        X, y, feature_names=NAMES, gene_map=genes, collapse="max-mean", model=bs.PoissonModel(), shuffles=3
    )
    sums = X.sum(axis=0)
    kept = sorted(max(group, key=lambda i: sums[i]) for group in groups_of(genes))
    assert counts.to_dict()["kept_feature"] == [NAMES[i] for i in kept]
    with pytest.raises(bs.DataError, match="categories have no mean"):
        bs.screen(X % 3, y, feature_names=NAMES, gene_map=genes, collapse="max-mean", model=bs.CategoricalModel())
    levels = bs.screen(X % 3, y, feature_names=NAMES, gene_map=genes, model=bs.CategoricalModel(), shuffles=3)
    assert levels.n_features == counts.n_features


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_result_of_genes_comes_back(tmp_path, ending):
    X, y, genes = made()
    posterior = bs.screen(X, y, feature_names=NAMES, gene_map=genes, shuffles=9)
    selection = bs.MinimalRisk(0.5).select(posterior)
    stored = bs.read_result(bs.write_result(tmp_path / f"genes.{ending}", selection))
    assert stored.selection.names == selection.names
    table, order = stored.posterior.to_dict(), posterior.ranking
    assert table["kept_feature"] == [posterior.to_dict()["kept_feature"][i] for i in order]
    assert stored.selection.summary() == selection.summary()
    np.testing.assert_array_equal(stored.posterior.expected_fdr, posterior.expected_fdr[order])


def test_wrong_maps_and_words_are_refused():
    X, y, genes = made()
    with pytest.raises(bs.OptionError, match="read_gene_map"):
        bs.screen(X, y, feature_names=NAMES, gene_map={"p0": "A"})
    with pytest.raises(bs.OptionError, match="collapse"):
        bs.screen(X, y, feature_names=NAMES, gene_map=genes, collapse="median")
    with pytest.raises(bs.DataError, match="knows none of the 120 features"):
        bs.screen(X, y, gene_map=genes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"collapse": "max-mean"}, "there is no table that names them"),
        ({"unmapped": "keep"}, "there is no table that names them"),
        ({"gene_map": "m.txt", "p_values": True}, "looks at one feature"),
        ({"gene_map": "m.txt", "permutations": 9, "prior": "jeffreys"}, "collapse='max-mean'"),
        ({"gene_map": "m.txt", "robust": True, "collapse": "max-mean"}, "robust looks at one feature"),
    ],
)
def test_contradictions_are_refused(options, message):
    with pytest.raises(bs.OptionError, match=message):
        ScreenSpec(table="t.csv", **options)


def test_python_lines_repeat_a_screen_of_genes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, genes = made()
    rows = [
        ",".join(["class", *NAMES]),
        *(",".join([f"c{c}", *map(repr, row)]) for c, row in zip(y, X.tolist(), strict=True)),
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    lines = [f"{name}\t{'x'}\t{' /// '.join(genes[name])}" for name in NAMES]
    (tmp_path / "m.txt").write_text("ID\tother\tmy genes\n" + "\n".join(lines) + "\n")
    spec = ScreenSpec(table="t.csv", labels="class", gene_map="m.txt:my genes", unmapped="keep", shuffles=5)
    scope = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesieveWarning)
        exec(spec.python(("c0", "c1")), scope)
    wanted = bs.screen(X, y, feature_names=NAMES, gene_map=genes, unmapped="keep", shuffles=5)
    assert scope["posterior"].names == wanted.names
    np.testing.assert_allclose(scope["posterior"].log_odds, wanted.log_odds, rtol=1e-9)


def test_shuffles_without_genes_are_as_before():
    """The hook for genes changes nothing where there are none."""
    X, y, _ = made()
    matrix = bs.LabelledMatrix.from_arrays(X, y)
    values = np.arange(N_FEATURES, dtype=float)

    def compare(model, data):
        return values

    both = [
        shuffle_labels(Shufflable(matrix), bs.CalibratedModel(), compare, values, 0.0, 3, best=best)
        for best in (None, lambda odds: np.arange(odds.size))
    ]
    np.testing.assert_array_equal(both[0].reaching, both[1].reaching)
    assert len(both[0].values) == 3
