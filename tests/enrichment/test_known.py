"""Known markers: the paper's Table S2 by its convention, ours beside; tails against SciPy and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import hypergeom

import bayesieve as bs
from bayesieve.enrichment import known_markers, recovery_curve
from bayesieve.enrichment.hypergeometric import log_upper_tail
from bayesieve.enrichment.known import counted, recovery_table

POPULATION, KNOWN = 21_049, 36
TABLE_S2 = [  # N, known markers in the top N, printed p-value with its digits
    *((1000, k, p) for k, p in [(6, "1.3e-3"), (6, "1.3e-3"), (3, "0.09"), (3, "0.09"), (1, "0.52"),
                                (6, "1.3e-3")]),
    *((2000, k, p) for k, p in [(9, "1.5e-3"), (9, "1.5e-3"), (5, "0.1216"), (6, "0.05"), (8, "5.5e-3"),
                                (7, "0.018")]),
    *((5000, k, p) for k, p in [(17, "5.5e-4"), (16, "1.8e-3"), (16, "1.8e-3"), (15, "5e-3"), (15, "5e-3"),
                                (15, "5e-3")]),
]  # fmt: skip
RANKS = {  # of the 36 known markers, Table S1
    "obf": [21, 255, 440, 804, 807, 956, 1274, 1474, 1765, 2166, 2345, 2432, 2716, 3312, 3614, 4650, 4720, 6130,
            6159, 6945, 6951, 7919, 7999, 8054, 8454, 8877, 8939, 9056, 9130, 10163, 11637, 14408, 15606, 16641,
            17890, 18664],
    "t-test": [6983, 304, 3934, 2607, 341, 4845, 13081, 14636, 760, 4250, 1908, 6529, 11094, 1735, 8587, 17900,
               2166, 6804, 2680, 14361, 8829, 17026, 3834, 8141, 4790, 3823, 4847, 4631, 14557, 10360, 10526, 8321,
               17573, 13170, 13725, 16361],
}  # fmt: skip


def half_a_digit(printed):
    digits = len(printed.partition("e")[0].partition(".")[2])
    return 0.5 * 10.0 ** (int(printed.partition("e")[2] or 0) - digits)


@pytest.mark.parametrize(("top", "k", "printed"), TABLE_S2)
def test_table_s2_is_reproduced_by_the_papers_convention(top, k, printed):
    ranks = [*range(1, k + 1), *range(5001, 5001 + KNOWN - k)]
    found = counted(ranks, POPULATION, [top])
    assert found.count.tolist() == [k]
    assert found.n_known == KNOWN
    paper = float(found.p_value_paper[0])
    assert abs(paper - float(printed)) <= half_a_digit(printed) * (1 + 1e-9)
    assert np.isclose(paper, hypergeom.sf(k, POPULATION, KNOWN, top), rtol=1e-10)
    assert np.isclose(found.p_value[0], hypergeom.sf(k - 1, POPULATION, KNOWN, top), rtol=1e-10)
    assert found.p_value[0] > 1.5 * paper
    assert np.isclose(found.expected[0], top * KNOWN / POPULATION)


@pytest.mark.parametrize(("method", "counts"), [("obf", [6, 9, 17]), ("t-test", [3, 5, 16])])
def test_ranks_of_table_s1_give_the_counts_of_table_s2(method, counts):
    assert counted(RANKS[method], POPULATION, [1000, 2000, 5000]).count.tolist() == counts


def exact_tail(k, population, good, n):
    ways = sum(comb(good, j) * comb(population - good, n - j) for j in range(max(k, 0), min(good, n) + 1))
    return Fraction(ways, comb(population, n))


def test_tails_are_exact_on_small_populations():
    for population in (1, 2, 5, 9):
        for good in range(population + 1):
            for n in range(population + 1):
                for k in range(-1, population + 2):
                    wanted = float(exact_tail(k, population, good, n))
                    assert np.exp(log_upper_tail(k, population, good, n)) == pytest.approx(wanted, abs=1e-13)


def test_tails_agree_with_scipy_and_stay_exact_where_it_underflows():
    rng = np.random.default_rng(0)
    population = rng.integers(50, 30_000, 300)
    good = (population * rng.uniform(0.001, 0.6, 300)).astype(int) + 1
    n = (population * rng.uniform(0.001, 0.6, 300)).astype(int) + 1
    k = (good * n / population + 3 * rng.normal(size=300) * np.sqrt(good * n / population)).round().astype(int)
    k = np.clip(k, 0, np.minimum(good, n))
    found = log_upper_tail(k, population, good, n)
    wanted = np.log(hypergeom.sf(k - 1, population, good, n))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    tiny = log_upper_tail(400, 20_000, 450, 2_000)
    ways = exact_tail(400, 20_000, 450, 2_000)
    exact = (np.log(float(Fraction(ways.numerator, 10 ** (len(str(ways.numerator)) - 1))))
             - np.log(float(Fraction(ways.denominator, 10 ** (len(str(ways.denominator)) - 1))))
             + np.log(10) * (len(str(ways.numerator)) - len(str(ways.denominator))))  # fmt: skip
    assert tiny < -700
    assert float(tiny) == pytest.approx(exact, rel=1e-11)
    assert hypergeom.sf(399, 20_000, 450, 2_000) == 0.0 or np.exp(tiny) < 1e-300


def test_impossible_numbers_are_refused():
    with pytest.raises(bs.DataError, match="cannot hold more items"):
        log_upper_tail(1, 10, 11, 5)


def test_rows_of_several_genes_count_for_known_genes_without_a_row_of_their_own():
    ranked = ["A", "B /// C", "D", "C /// E", "E", "F", "G", "H"]
    found = known_markers(ranked, ["C", "E", "B", "X", "C"], tops=[1, 2, 5, 8, 99])
    assert found.ranks() == {"gene": ["B", "C", "E", "X"], "rank": [2, 2, 5, None]}
    assert found.tops.tolist() == [1, 2, 5, 8]
    assert found.count.tolist() == [0, 1, 2, 2]  # B and C are one row
    assert found.n_known == 2
    assert found.p_value[-1] == 1.0
    assert "3 of 4 known markers among 8 genes ranked; not ranked: 'X'" in found.describe()


def test_a_ranking_of_the_best_only_is_held_against_the_population_it_was_picked_from():
    found = known_markers(["A", "B", "C"], ["B"], tops=[2, 50], n_ranked=100)
    assert found.p_value.tolist() == pytest.approx([0.02, 0.5])
    with pytest.raises(bs.DataError, match="population"):
        known_markers(["A", "B", "C"], ["B"], n_ranked=2)


def test_known_markers_that_nobody_ranked_are_an_error():
    with pytest.raises(bs.DataError, match="Use the same kind of ids"):
        known_markers(["1", "2"], ["TP53"])
    with pytest.raises(bs.DataError, match="no known markers"):
        known_markers(["1", "2"], [])
    with pytest.raises(bs.OptionError, match="tops"):
        known_markers(["1", "2"], ["1"], tops=[0])


def test_recovery_is_the_share_among_the_first():
    rng = np.random.default_rng(5)
    names = rng.permutation([f"G{i}" for i in range(200)]).tolist()
    known = [f"G{i}" for i in range(17)] + ["absent"]
    curve = recovery_curve(names, known, "some")
    naive = [len(set(names[:n]).intersection(known)) / 18 for n in range(201)]
    np.testing.assert_allclose(curve.at(np.arange(201)), naive)
    assert curve.area == pytest.approx(np.mean((np.array(naive[1:]) + naive[:-1]) / 2), abs=1e-12)
    sizes, heights = curve.points
    assert sizes[0] == 0
    assert sizes[-1] == 200
    np.testing.assert_allclose(heights, np.array(naive)[sizes])
    short = recovery_curve(names[:50], known, "short")
    table = recovery_table([curve, short], [10, 100])
    assert table["some"].tolist() == [naive[10], naive[100]]
    assert np.isnan(table["short"][1])
