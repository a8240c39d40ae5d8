"""``bayesieve screen`` with more classes, other models, blocks, pairs, kinds, effects and fragility.

Every command is compared with the same screen in Python from arrays, whose numbers other tests prove.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import inside, read_exactly
from jeffreys import screen

import bayesieve as bs

GENES = [f"g{j}" for j in range(12)]
RNG = np.random.default_rng(21)
CLASS = np.array(["mild", "none", "severe"])[RNG.permutation(np.arange(60) % 3)]
BATCH = np.repeat([1, 2], 30)
VALUES = RNG.normal(size=(60, 12)) + 2.0 * (CLASS == "severe")[:, None] * (np.arange(12) < 3) + BATCH[:, None]
COUNTS = RNG.poisson(5.0 + 5.0 * (CLASS == "severe")[:, None] * (np.arange(12) < 3))
PAIR = np.tile(np.arange(30), 2)
VISIT = np.repeat(["after", "before"], 30)


def frame(values, **columns):
    named = {name: pl.Series([str(v) for v in column]) for name, column in columns.items()}
    ids = {"id": [f"s{i}" for i in range(len(values))]}
    return pl.DataFrame(ids | named | {gene: np.asarray(values)[:, j] for j, gene in enumerate(GENES)})


@pytest.fixture
def bayesieve(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    frame(VALUES, grade=CLASS, batch=BATCH, patient=PAIR, visit=VISIT).write_csv("t.csv")
    frame(COUNTS, grade=CLASS, depth=np.repeat([0.5, 1.5], 30)).write_csv("counts.csv")
    frame(np.array(["AA", "AG", "GG"])[COUNTS % 3], grade=CLASS).write_csv("genotypes.csv")
    frame(COUNTS % 3, grade=CLASS).write_parquet("codes.parquet")

    def run(*arguments, code=0):
        result = inside(capfd, monkeypatch, "screen", *arguments)
        assert result.code == code, result.err
        return result

    return run


def columns_of(result):
    table = read_exactly(io.StringIO(result.out)).set_index("feature").loc[GENES]
    return {name: table[name].to_numpy() for name in table.columns}


def assert_same(result, posterior, *names):
    got, expected = columns_of(result), posterior.to_dict()
    for name in ("log_odds", "probability", *names):
        if np.asarray(expected[name]).dtype.kind == "f":
            np.testing.assert_allclose(got[name], expected[name], rtol=1e-9, atol=1e-12)
        else:
            assert got[name].tolist() == list(expected[name])


PAPER = ("--prior", "jeffreys")
BY_GRADE = ("-l", "grade", "--ignore", "batch", "--ignore", "patient")


def test_three_classes(bayesieve):
    result = bayesieve("t.csv", *BY_GRADE)
    posterior = bs.screen(VALUES, CLASS, feature_names=GENES)
    assert_same(result, posterior, "pattern", "pattern_probability", "equal_mild_none", "mean_severe")
    assert "Classes: mild (20), none (20) and severe (20)." in result.said
    assert "{severe} differs from {mild, none}" in result.said
    assert "every difference between the classes (4 patterns)" in result.said


@pytest.mark.parametrize("patterns", ["distinct", "one-versus-rest", "severe | *; none | mild | severe"])
def test_patterns(bayesieve, patterns):
    posterior = bs.screen(VALUES, CLASS, patterns=patterns)
    assert_same(bayesieve("t.csv", *BY_GRADE, "--patterns", patterns), posterior, "pattern")


def test_proper_prior_for_three_classes(bayesieve):
    model = bs.GaussianModel.proper(mean_locations=(0.0,))
    assert_same(bayesieve("t.csv", *BY_GRADE, "--prior", "proper"), bs.screen(VALUES, CLASS, model=model))


@pytest.mark.parametrize("block_model", ["own", "shift"])
def test_blocks(bayesieve, block_model):
    two = CLASS != "mild"
    options = ("-l", "grade", "-c", "none; severe", "-b", "batch", "--ignore", "patient")
    result = bayesieve("t.csv", *options, *PAPER, "--block-model", block_model)
    posterior = screen(VALUES[two], CLASS[two], blocks=BATCH[two], block_model=block_model)
    assert_same(result, posterior, "log_odds_pooled", "block_1", "block_2", "log_odds_without_a_block")
    assert "2 blocks (1, 2)" in result.said
    assert "in all (two groups of classes)" in result.said


def test_sites_of_a_statistics_file_are_blocks(bayesieve, monkeypatch, capfd):
    two = CLASS != "mild"
    sites = []
    for block in (1, 2):
        rows = two & (block == BATCH)
        moments = bs.Moments.from_matrix(VALUES[rows], CLASS[rows].tolist())
        sites.append(bs.SiteStatistics(f"site{block}", moments, tuple(GENES)))
    bs.write_statistics(bs.StatisticsSet(tuple(sites)), "all.stats.parquet")
    result = bayesieve("all.stats.parquet", "--blocks", "sites")
    posterior = bs.screen(VALUES[two], CLASS[two], blocks=BATCH[two])
    got = columns_of(result)
    np.testing.assert_allclose(got["log_odds"], posterior.log_odds, rtol=1e-9)
    np.testing.assert_allclose(got["block_site2"], posterior.to_dict()["block_2"], rtol=1e-9, atol=1e-9)
    assert "write --blocks sites" in bayesieve("all.stats.parquet", "--blocks", "batch", code=2).said
    assert "--pairs does not apply" in bayesieve("all.stats.parquet", "--pairs", "x", code=2).said


def test_pairs(bayesieve):
    result = bayesieve("t.csv", "-l", "visit", "-c", "before; after", "--pairs", "patient", "--ignore", "batch")
    posterior = bs.screen(VALUES, VISIT, classes=("before", "after"), pairs=PAIR)
    assert_same(result, posterior, "mean_after - before")
    assert "see the mean only" in result.said
    assert "30 pairs" in result.said


@pytest.mark.filterwarnings("ignore:The counts vary more than a Poisson model allows")
@pytest.mark.parametrize(
    ("name", "model"), [("poisson", bs.PoissonModel()), ("negative-binomial", bs.NegativeBinomialModel())]
)
def test_counts(bayesieve, name, model):
    plain = bayesieve("counts.csv", "-l", "grade", "--ignore", "depth", "--model", name)
    assert_same(plain, bs.screen(COUNTS, CLASS, model=model), "rate_severe", "pattern")
    total = bayesieve("counts.csv", "-l", "grade", "--ignore", "depth", "--model", name, "--exposures", "total")
    assert_same(total, bs.screen(COUNTS, CLASS, model=model, exposures=bs.size_factors(COUNTS)))
    depth = bayesieve("counts.csv", "-l", "grade", "--model", name, "--exposures", "depth")
    assert_same(depth, bs.screen(COUNTS, CLASS, model=model, exposures=np.repeat([0.5, 1.5], 30)))


def test_categories_as_numbers_and_as_text(bayesieve):
    posterior = bs.screen(COUNTS % 3, CLASS, model=bs.CategoricalModel())
    assert_same(bayesieve("codes.parquet", "-l", "grade", "--model", "categorical"), posterior)
    text = bayesieve("genotypes.csv", "-l", "grade", "--model", "categorical")
    assert_same(text, posterior)
    assert "share_AA_mild" in columns_of(text)
    declared = bs.CategoricalModel(1.0, levels=(0, 1, 2, 3))
    result = bayesieve(
        "codes.parquet", "-l", "grade", "--model", "categorical", "--levels", "0,1,2,3", "--prior", "uniform"
    )
    assert_same(result, bs.screen(COUNTS % 3, CLASS, model=declared))


def test_kinds_effects_and_fragility(bayesieve):
    two = CLASS != "mild"
    options = ("-l", "grade", "-c", "none; severe", "--ignore", "batch", "--ignore", "patient")
    result = bayesieve("t.csv", *options, "--kinds", "--effects", "--fragility", "--manifest", "m.json")
    X, y = VALUES[two], CLASS[two]
    posterior = bs.screen(X, y)
    posterior = posterior.with_finding(bs.kinds(posterior)).with_finding(bs.effects(posterior))
    cut = bs.MinimalRisk(0.5).select(posterior).cut
    posterior = posterior.with_finding(bs.fragility(X, y, posterior=posterior, cut=cut))
    assert_same(result, posterior, "kind", "probability_both", "mean_difference_low", "probability_mean_higher",
                "least_log_odds")  # fmt: skip
    names = [f"s{i}" for i in np.flatnonzero(two)]
    numbered = posterior.to_dict()["culprit"]
    assert columns_of(result)["culprit"].tolist() == [names[int(k)] for k in numbered]
    assert json.loads(Path("m.json").read_text())["settings"]["kinds"] is True
    robust = bayesieve("t.csv", *options, "--robust")
    assert "not calibrated" in robust.said
    np.testing.assert_allclose(columns_of(robust)["log_odds"], posterior.to_dict()["least_log_odds"], rtol=1e-9)


@pytest.mark.parametrize("table", ["t.csv", "t.parquet"])
def test_fragility_of_three_classes(bayesieve, table):
    pl.read_csv("t.csv").write_parquet("t.parquet")
    result = bayesieve(table, "-l", "grade", "--ignore", "batch", "--ignore", "patient", "--fragility")
    posterior = bs.screen(VALUES, CLASS)
    assert_same(result, posterior.with_finding(bs.fragility(VALUES, CLASS, posterior=posterior)), "least_log_odds")


def test_informative_missing(bayesieve):
    holes = np.where(RNG.random(VALUES.shape) < 0.1 + 0.3 * (CLASS == "none")[:, None], np.nan, VALUES)
    frame(holes, grade=CLASS).with_columns(pl.col(pl.Float64).fill_nan(None)).write_csv("holes.csv")
    result = bayesieve("holes.csv", "-l", "grade", "--missing", "omit", "--informative-missing")
    assert_same(result, bs.screen(holes, CLASS, missing="omit", informative_missing=True))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "poisson", "--prior", "proper"), "--model poisson has its own prior"),
        (("--model", "poisson", "--transform", "log2"), "--transform belongs to the Gaussian model"),
        (("--model", "categorical", "--kinds"), "--kinds tells means from variances"),
        (("--levels", "0,1"), "Add --model categorical"),
        (("--prior", "uniform"), "--prior uniform is for categories"),
        (("--patterns", "mild | none"), "leaves out severe"),
        (("--block-model", "shift", "-b", "batch"), "--block-model own"),
        (("--kinds",), "two classes"),
        (("--exposures", "total"), "count"),
        (("--pairs", "patient"), "Pairs compare two classes"),
        (("-b", "nothing"), "'nothing'"),
    ],
)
def test_options_that_contradict(bayesieve, options, words):
    ignored = [name for name in ("batch", "patient") if name not in options]
    more = [part for name in ignored for part in ("--ignore", name)]
    result = bayesieve("t.csv", "-l", "grade", *more, *options, code=2)
    assert words in result.said
    assert "Traceback" not in result.err
    assert not result.out


TWO = ("-l", "grade", "--classes", "none; severe", "--ignore", "batch", "--ignore", "patient", "--ignore", "visit")


def test_p_values_and_permutations(bayesieve):
    chosen = np.isin(CLASS, ["none", "severe"])
    X, y = VALUES[chosen], CLASS[chosen]
    posterior = screen(X, y, feature_names=GENES)
    found = bs.permutations(X, y, posterior=posterior, n_permutations=200, seed=3)
    result = bayesieve("t.csv", *TWO, "--p-values", *PAPER, "--permutations", "200", "--seed", "3")
    both = posterior.with_finding(bs.pearson_neyman(posterior)).with_finding(found)
    assert_same(
        result, both, "log_p_value", "adjusted_p_value", "permutation_p_value", "permutation_feature_p_value"
    )
    assert "compare with --permutations 1000." in result.said
    assert "With permuted labels" in result.said
    again = bayesieve("t.csv", *TWO, *PAPER, "--permutations", "200", "--seed", "4")
    assert columns_of(again)["permutation_p_value"].tolist() != columns_of(result)["permutation_p_value"].tolist()


def test_permutations_count_what_passes_the_cut_of_the_rule(bayesieve):
    result = bayesieve("t.csv", *TWO, *PAPER, "--permutations", "100", "--threshold", "0.0001")
    wide = bayesieve("t.csv", *TWO, *PAPER, "--permutations", "100", "--threshold", "0.9")
    under_null = [float(r.said.split("With permuted labels ")[1].split()[0]) for r in (result, wide)]
    assert under_null[0] > under_null[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*BY_GRADE, "--p-values"), "two classes"),
        ((*TWO[:4], *TWO[6:], "--blocks", "batch", "--permutations", "9"), "block"),
        ((*TWO, "--permutations", "0"), "permutations"),
        ((*TWO, "--permutations", "9", "--robust"), "does not go with --robust"),
        ((*TWO, "--p-values", "--model", "poisson"), "does not go with --model"),
        (("-l", "visit", "--pairs", "patient", "--p-values"), "does not go with --pairs"),
        ((*TWO, "--permutations", "9"), "Add --prior jeffreys"),
    ],
)
def test_p_values_and_permutations_where_they_do_not_apply(bayesieve, arguments, message):
    assert message in bayesieve("t.csv", *arguments, code=2).said


def test_permutations_follow_the_policy_for_features_without_variance(bayesieve):
    """Counts of one event among many zeros: relabelled features often have a class without variance."""
    rng, chosen = np.random.default_rng(5), np.isin(CLASS, ["none", "severe"])
    few = (rng.random((60, 12)) < 0.12).astype(float)
    frame(few, grade=CLASS).write_csv("few.csv")
    said = {}
    for policy in ("floor", "exclude"):
        result = bayesieve(
            "few.csv", *TWO[:4], "-p", "0.5", *PAPER, "--permutations", "50", "--degenerate", policy
        )
        with pytest.warns(bs.DegenerateFeatureWarning):
            found = bs.permutations(
                few[chosen],
                CLASS[chosen],
                model=bs.GaussianModel.jeffreys(),
                n_permutations=50,
                degenerate=policy,
                prior_probability=0.5,
            )
        said[policy] = result.said.split("With permuted labels ")[1].split()[0]
        assert said[policy] == f"{found.expected_under_null:.1f}"
    assert said["floor"] != said["exclude"]
