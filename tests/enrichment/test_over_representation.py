"""Gene sets: counts by hand, corrections against SciPy, numbers of markers by enumeration, ids that differ."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import false_discovery_control, hypergeom

import bayesieve as bs
from bayesieve.enrichment import GeneSets, RankedGenes, enrich, marker_probability
from bayesieve.enrichment.identifiers import id_kind, without_version
from bayesieve.enrichment.over_representation import COLUMNS, adjust

NAMES = tuple(f"G{i}" for i in range(300))


def made_sets(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return GeneSets.from_dict(
        {f"S{k}": rng.choice(NAMES, rng.integers(3, 80), replace=False).tolist() for k in range(n)}
    )


def test_counts_p_values_and_correction_by_hand():
    sets, listed = made_sets(), 40
    found = enrich(NAMES, sets, selected=listed, min_size=10, max_size=60)
    chosen = {name: set(genes) for name, genes in sets if 10 <= len(genes) <= 60}
    assert set(found.names) == set(chosen)
    assert found.n_outside == len(sets) - len(chosen)
    for k, name in enumerate(found.names):
        hits = [gene for gene in NAMES[:listed] if gene in chosen[name]]
        assert found.features[k] == tuple(hits)
        assert found.selected[k] == len(hits)
        assert found.in_universe[k] == found.size[k] == len(chosen[name])
        assert found.expected[k] == pytest.approx(listed * len(chosen[name]) / 300)
        assert found.fold[k] == pytest.approx(len(hits) / found.expected[k])
        assert found.p_value[k] == pytest.approx(hypergeom.sf(len(hits) - 1, 300, len(chosen[name]), listed))
    np.testing.assert_allclose(found.q_value, false_discovery_control(found.p_value), rtol=1e-10)
    assert (np.diff(found.log_p_value) >= 0).all()
    table = found.to_dict()
    assert tuple(table) == COLUMNS
    assert len(table["set"]) == len(found)


def test_the_correction_keeps_digits_that_p_values_lose():
    log_p = np.array([-2000.0, -1999.0, -1.0, 0.0, -3.0])
    adjusted = adjust(log_p)
    assert adjusted[0] == pytest.approx(-2000 + np.log(5))
    assert adjusted[1] == pytest.approx(-1999 + np.log(5 / 2))
    np.testing.assert_allclose(np.exp(adjusted[2:]), false_discovery_control(np.exp(log_p))[2:], rtol=1e-12)


def test_genes_outside_the_universe_do_not_count():
    sets = GeneSets.from_dict({"half": [*NAMES[:5], "X1", "X2", "X3", "X4", "X5"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DataWarning)
        found = enrich(NAMES[:50], sets, selected=5, min_size=5)
        assert found.in_universe.tolist() == [5]
        assert found.size.tolist() == [10]
        assert found.p_value[0] == pytest.approx(hypergeom.sf(4, 50, 5, 5))
        with pytest.raises(bs.DataError, match=r"None of the 1 gene set.*largest has 5"):
            enrich(NAMES[:50], sets, selected=5)


def test_a_row_of_several_genes_is_one_item():
    sets = GeneSets.from_dict({"s": ["A", "B", "C"]})
    found = enrich(["A /// B", "C", "D", "A", "E /// F"], sets, selected=2, min_size=1, min_share=0)
    assert found.in_universe.tolist() == [3]
    assert found.selected.tolist() == [2]
    assert found.features == (("A /// B", "C"),)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_number_of_markers_has_its_exact_distribution(seed):
    rng = np.random.default_rng(seed)
    p = np.sort(rng.beta(0.4, 0.4, 11))[::-1]
    sets = GeneSets.from_dict({"s": NAMES[:9], "t": NAMES[2:11]})
    found = enrich(NAMES[:11], sets, probability=p, selected=3, min_size=1)
    for name, law in zip(found.names, found.markers, strict=True):
        mine = p[:9] if name == "s" else p[2:11]
        masses = np.zeros(10)
        for outcome in itertools.product((0, 1), repeat=9):
            masses[sum(outcome)] += np.prod(np.where(outcome, mine, 1 - mine))
        np.testing.assert_allclose(law.masses(9), masses, atol=1e-12)
        assert law.mean == pytest.approx(mine.sum())
        low, high = law.interval(0.9)
        below = np.concatenate([[0.0], np.cumsum(masses)])
        assert below[low] <= 0.05 + 1e-12
        assert below[high + 1] >= 0.95 - 1e-12
    assert found.to_dict()["interval"][0] == "{} to {}".format(*found.intervals()[0])


def test_without_shuffles_markers_are_expected_as_the_posterior_says():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 300))
    X[15:, :20] += 1.5
    posterior = bs.screen(X, [0] * 15 + [1] * 15, feature_names=NAMES, shuffles=0)
    genes = RankedGenes.of(bs.MinimalRisk(0.5).select(posterior))
    np.testing.assert_allclose(genes.probability, posterior.probability[posterior.ranking], atol=1e-9)
    found = enrich(posterior, made_sets(), min_size=1)
    k = found.names.index("S1")
    wanted = sum(posterior.probability[NAMES.index(gene)] for gene in made_sets().genes[1])
    assert found.expected_markers[k] == pytest.approx(wanted, abs=1e-8)


def test_shuffled_labels_put_a_limit_to_probabilities():
    p = np.array([1.0, 1.0, 0.9, 0.8, 0.5])
    fdr = np.array([0.0, 0.0, 0.2, 0.5, 0.6])
    false = np.arange(1, 6) * fdr
    rising = isotonic_regression(np.diff(false, prepend=0.0)).x
    np.testing.assert_allclose(marker_probability(p, fdr), np.minimum(p, 1 - np.clip(rising, 0, 1)), atol=1e-12)
    rng = np.random.default_rng(1)
    steps = rng.normal(size=500).cumsum()
    rate = steps / np.arange(1, 501)
    wanted = 1 - np.clip(isotonic_regression(np.diff(steps, prepend=0.0)).x, 0, 1)
    np.testing.assert_allclose(marker_probability(np.ones(500), rate), wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (["7157", "3845", "1"], "Entrez ids"),
        (["TP53", "KRAS", "HLA-A", "C1orf112"], "gene symbols"),
        (["ENSG00000141510", "ENSG00000133703.14"], "Ensembl ids"),
        (["ENSMUSG00000059552"], "Ensembl ids"),
        (["1007_s_at", "1053_at", "AFFX-BioB-5_at"], "Affymetrix probe sets"),
        (["P04637", "Q9Y6K9", "A0A024R1R8"], "UniProt accessions"),
        (["NM_000546", "XM_011.2", "NM_004985.5"], "RefSeq ids"),
        (["ILMN_1343291"], "Illumina probes"),
        (["§1", "§2"], "ids of no known kind"),
        ([], "ids of no known kind"),
    ],
)
def test_kinds_of_ids_are_recognised(ids, kind):
    assert id_kind(ids) == kind


def test_versions_go_from_ensembl_and_refseq_ids_only():
    assert without_version("ENSG00000141510.16") == "ENSG00000141510"
    assert without_version("NM_000546.6") == "NM_000546"
    assert without_version("RP11-34P13.7") == "RP11-34P13.7"


def test_other_kinds_of_ids_are_warned_of():
    sets = GeneSets.from_dict({"s": [str(i) for i in range(20)]}, "pathways.gmt")
    pattern = r"0 of 300 ids of the result \(0%\).*gene symbols, pathways.gmt Entrez ids"
    with pytest.warns(bs.DataWarning, match=pattern), pytest.raises(bs.DataError, match="hold Entrez ids"):
        enrich(NAMES, sets, selected=10)


def test_other_case_and_versions_are_offered_and_ignored_on_demand():
    sets = GeneSets.from_dict({"s": [name.lower() for name in NAMES[:30]]})
    with pytest.warns(bs.DataWarning, match="30 more match with ignore_case=True"), pytest.raises(bs.DataError):
        enrich(NAMES[:40], sets, selected=10)
    assert enrich(NAMES[:40], sets, selected=10, ignore_case=True).in_universe.tolist() == [30]
    ensembl = [f"ENSG{i:011d}" for i in range(40)]
    sets = GeneSets.from_dict({"s": [f"{name}.7" for name in ensembl[:30]]})
    with pytest.warns(bs.DataWarning, match="30 more match with ignore_version=True"), pytest.raises(bs.DataError):
        enrich(ensembl, sets, selected=10)
    assert enrich(ensembl, sets, selected=10, ignore_version=True).in_universe.tolist() == [30]


def test_few_matches_of_the_same_kind_are_told_apart():
    sets = GeneSets.from_dict({"s": NAMES[:30]})
    with pytest.warns(bs.DataWarning, match="Both seem to hold gene symbols"):
        enrich(NAMES, sets, selected=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enrich(NAMES, sets, selected=10, min_share=0.05)


def test_an_empty_list_finds_no_set():
    found = enrich(NAMES, made_sets())
    assert found.n_selected == 0
    assert (found.p_value == 1).all()
    assert (found.q_value == 1).all()


def test_collections_are_corrected_together():
    one, other = made_sets(0, 20), made_sets(1, 25)
    found = enrich(NAMES, [one, other], selected=30, min_size=3, max_size=100)
    assert len(found) == 45
    np.testing.assert_allclose(found.q_value, false_discovery_control(found.p_value), rtol=1e-10)


def test_lists_that_do_not_fit_are_refused():
    sets = made_sets()
    with pytest.raises(bs.OptionError, match="only 300 genes"):
        enrich(NAMES, sets, selected=301)
    with pytest.raises(bs.DataError, match="not screened: 'nobody'"):
        enrich(NAMES, sets, selected=["G1", "nobody"])
    with pytest.raises(bs.DataError, match="in rank order"):
        enrich(NAMES, sets, probability=[0.5])
    with pytest.raises(bs.OptionError, match="smaller first"):
        enrich(NAMES, sets, min_size=20, max_size=10)
    with pytest.raises(bs.DataError, match="no gene sets"):
        enrich(NAMES, [])
    assert enrich(NAMES, sets, selected=["G5", "G7"]).n_selected == 2
