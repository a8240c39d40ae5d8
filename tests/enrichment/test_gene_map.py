"""Genes of features: groups, counts, and the collapse of a ranking against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.data import split_genes
from bayesieve.enrichment import collapse


@pytest.mark.parametrize(
    ("cell", "genes"),
    [
        ("DDR1 /// MIR4640", ("DDR1", "MIR4640")),
        ("A///B///A", ("A", "B")),
        ("A; B", ("A", "B")),
        ("A|B,C", ("A", "B", "C")),
        ("---", ()),
        ("  ", ()),
        ("NA", ()),
        ("HLA-A", ("HLA-A",)),
        ("780 /// 100616237", ("780", "100616237")),
    ],
)
def test_a_cell_is_cut_into_genes(cell, genes):
    assert split_genes(cell) == genes


def made_map(seed, n_features=400, n_genes=90):
    rng = np.random.default_rng(seed)
    pairs = []
    for i in range(n_features):
        k = rng.choice([0, 1, 1, 1, 1, 2, 3])
        pairs.append((f"p{i}", " /// ".join(f"G{g}" for g in rng.choice(n_genes, k, replace=False))))
    return bs.GeneMap.from_pairs(pairs), pairs


def test_counts_of_a_map():
    genes, pairs = made_map(1)
    lists = [frozenset(split_genes(cell)) for _, cell in pairs]
    assert genes.n_features == len(genes) == 400
    assert genes.n_without == sum(not each for each in lists)
    assert genes.n_several == sum(len(each) > 1 for each in lists)
    assert genes.n_genes == len(set().union(*lists))
    assert genes.n_gene_lists == len({each for each in lists if each})


@pytest.mark.parametrize("unmapped", ["drop", "keep"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_collapse_keeps_what_a_plain_loop_keeps(seed, unmapped):
    genes, pairs = made_map(seed)
    order = np.random.default_rng(seed + 10).permutation([name for name, _ in pairs]).tolist()
    seen, wanted = set(), []
    for rank, name in enumerate(order, 1):
        key = frozenset(genes[name])
        if not key and unmapped == "drop":
            continue
        key = key or name
        if key not in seen:
            seen.add(key)
            wanted.append((name, rank))
    found = collapse(order, genes, unmapped)
    assert [*zip(found.features, found.feature_rank.tolist(), strict=True)] == wanted
    assert len(found) == found.counts["n_genes"] == len(wanted)
    for label, genes_of, feature, n in zip(
        found.genes, found.gene_lists, found.features, found.n_features.tolist(), strict=True
    ):
        assert set(genes_of) == set(genes[feature])
        assert label == (" /// ".join(genes_of) or feature)
        same = [name for name in order if set(genes[name]) == set(genes_of)] if genes_of else [feature]
        assert n == len(same)
    without = sum(not genes[name] for name in order)
    assert found.counts["n_unmapped"] == without
    assert found.counts["n_dropped"] == (without if unmapped == "drop" else 0)
    assert found.counts["n_several_genes"] == sum(len(genes[name]) > 1 for name in order)


def test_a_posterior_and_scores_collapse_as_their_names_do():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 12)), [0] * 10 + [1] * 10
    names = [f"p{i}" for i in range(12)]
    genes = bs.GeneMap.from_pairs((name, f"G{i // 3}") for i, name in enumerate(names))
    posterior = bs.screen(X, y, feature_names=names, shuffles=0)
    in_order = [posterior.names[i] for i in posterior.ranking]
    assert collapse(posterior, genes).features == collapse(in_order, genes).features
    assert collapse(bs.FixedSize(2).select(posterior), genes).genes == collapse(in_order, genes).genes
    scores = bs.score(X, y, method="welch", feature_names=names)
    assert collapse(scores, genes).features[0] == names[int(np.argmax(scores.score))]


def test_a_feature_kept_under_its_name_does_not_pass_for_a_gene():
    genes = bs.GeneMap.from_pairs([("p1", "TP53"), ("TP53", "")])
    assert collapse(["TP53", "p1"], genes, "keep").genes == ("TP53 (feature)", "TP53")


def test_the_order_of_genes_in_a_list_does_not_matter():
    genes = bs.GeneMap.from_pairs([("p1", "A /// B"), ("p2", "B /// A")])
    assert collapse(["p2", "p1"], genes).genes == ("B /// A",)


def test_mistakes_are_explained():
    genes = bs.GeneMap.from_pairs([("1007_s_at", "DDR1"), ("x_at", "")])
    with pytest.raises(bs.DataError, match=r"knows none of the 2 features.*'1007_s_at'.*'V1'"):
        collapse(["V1", "V2"], genes)
    with pytest.raises(bs.OptionError, match="has a gene"):
        collapse(["x_at"], genes)
    with pytest.raises(bs.OptionError, match="unmapped"):
        collapse(["x_at"], genes, "leave")
    with pytest.raises(bs.DataError, match=r"names every feature once, but '1007_s_at'"):
        collapse(["1007_s_at", "1007_s_at"], genes)
    with pytest.raises(bs.DataError, match="not str"):
        collapse("1007_s_at", genes)
    with pytest.raises(bs.DataError, match="empty"):
        collapse([], genes)
    with pytest.raises(bs.DataError, match="holds no features"):
        bs.GeneMap.from_pairs([])
