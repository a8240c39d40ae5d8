"""Known markers: prior probabilities, and candidates beside them by the literal formula at 50 digits."""

from __future__ import annotations

import itertools

import jeffreys
import mpmath as mp
import numpy as np
import pytest
import scipy.sparse as sp
from exact_blocks import block_log_marginal
from scipy import special, stats

import bayesieve as bs
from bayesieve.models.normal_inverse_wishart import block_log_evidence
from bayesieve.stats import Scatter

LOCATIONS = (0.0, 0.2)

PAPER = bs.GaussianModel.proper()


def study(rng, n=(14, 11), p=8):
    """Correlated features of two classes."""
    X = 0.7 * rng.normal(size=(sum(n), p)) @ rng.normal(size=(p, p)) / np.sqrt(p)
    return X, np.repeat([0, 1], n)


def literal_log_bayes_factor(X, y, known, f, weight, partners, scale=0.5):
    """The definition word for word, from raw data: a sum over the ways of being a marker against being none."""

    def evidence(rows, columns, location):
        return block_log_marginal(
            rows[:, columns], 3.0, np.broadcast_to(scale, X.shape[1])[columns], 0.1, location
        )

    with mp.workdps(50):
        groups = list(zip((X[y == 0], X[y == 1]), LOCATIONS, strict=True))
        none = evidence(X, [f], 0.0)
        alone = mp.fsum(evidence(rows, [f], location) for rows, location in groups)
        blocks = [list(known)] if partners == "all" else [[k] for k in known]
        ways = [(1 - mp.mpf(weight)) * mp.exp(alone - none)]
        for block in blocks:
            joint = [evidence(rows, [*block, f], m) - evidence(rows, block, m) for rows, m in groups]
            ways.append(mp.mpf(weight) / len(blocks) * mp.exp(mp.fsum(joint) - none))
        return float(mp.log(mp.fsum(ways)))


@pytest.mark.parametrize("partners", ["all", "pairs"])
@pytest.mark.parametrize("weight", [0.5, 0.03, 1.0])
def test_log_bayes_factors_by_the_literal_formula_in_mpmath(rng, partners, weight):
    X, y = study(rng)
    known = [6, 1, 3]
    found = bs.screen_with_known(X, y, known, partners=partners, weight=weight, prior_probability=0.2, model=PAPER)
    for f in (0, 2, 4, 5, 7):
        expected = literal_log_bayes_factor(X, y, known, f, weight, partners)
        assert found.log_bayes_factor[f] == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert found.log_odds[f] == pytest.approx(expected + np.log(0.2 / 0.8), rel=1e-10, abs=1e-10)
    assert (found.probability[known] == 1.0).all()


def test_probability_by_enumeration_of_every_way_to_be(rng):
    """A known marker and a candidate that is none, a marker by itself or in the block: Bayes' rule by hand."""
    X, y = study(rng, p=2)
    scatter = Scatter.from_matrix(X, y)
    prior = [bs.NormalInverseGamma(3.0, 0.5, 0.1, m) for m in LOCATIONS]
    lone = [sum(block_log_evidence(prior[k], scatter.group(k).take([f])) for k in (0, 1)) for f in (0, 1)]
    joint = sum(block_log_evidence(prior[k], scatter.group(k)) for k in (0, 1))
    pooled = block_log_evidence(prior[0], scatter.pool().take([1]))
    evidence = np.array([lone[0] + pooled, lone[0] + lone[1], joint])
    posterior = special.softmax(evidence + np.log([0.9, 0.1 * 0.6, 0.1 * 0.4]))
    found = bs.screen_with_known(X, y, 0, prior_probability=0.1, weight=0.4, model=PAPER)
    assert found.probability[1] == pytest.approx(posterior[1:].sum(), rel=1e-11)
    share = found.to_dict()["probability_in_block"]
    assert share[1] == pytest.approx(posterior[2] / posterior[1:].sum(), rel=1e-11)
    assert np.isnan(share[0])


@pytest.mark.parametrize("partners", ["all", "pairs"])
def test_without_weight_it_is_a_plain_screen(rng, partners):
    X, y = study(rng, p=30)
    model = bs.GaussianModel.proper(variance_scale=0.3, mean_locations=(0.1, -0.1))
    found = bs.screen_with_known(X, y, [3, 4], model=model, weight=0.0, partners=partners)
    plain = bs.screen(X, y, model=model)
    np.testing.assert_allclose(found.log_bayes_factor, plain.log_bayes_factor, rtol=1e-12)
    others = np.delete(np.arange(30), [3, 4])
    np.testing.assert_allclose(found.log_odds[others], plain.log_odds[others], rtol=1e-12)
    assert (found.to_dict()["probability_in_block"][others] == 0).all()


def test_hyper_parameters_of_every_feature_by_the_literal_formula(rng):
    X, y = study(rng)
    scale = rng.uniform(0.2, 1.0, 8)
    priors = [bs.NormalInverseGamma(3.0, scale, 0.1, m) for m in LOCATIONS]
    model = bs.GaussianModel(tuple(priors), bs.NormalInverseGamma(3.0, scale, 0.1))
    for partners in ("all", "pairs"):
        found = bs.screen_with_known(X, y, [5, 2], model=model, partners=partners)
        for f in (0, 7):
            expected = literal_log_bayes_factor(X, y, [5, 2], f, 0.5, partners, scale)
            assert found.log_bayes_factor[f] == pytest.approx(expected, rel=1e-10)


def test_a_feature_that_goes_with_a_known_marker_is_found(rng):
    """Feature 1 has no difference of its own: a plain screen cannot find it, the correlation can."""
    X, y = rng.normal(size=(80, 400)), np.repeat([0, 1], 40)
    X[40:, 0] += 1.5
    shared = X[:, 0] - 1.5 * y
    X[:, 1] = 0.8 * shared + 0.6 * rng.normal(size=80)
    model = bs.GaussianModel.proper(variance_scale=1.0)
    plain = bs.screen(X, y, model=model)
    assert plain.probability[1] < 0.02
    for partners in ("all", "pairs"):
        found = bs.screen_with_known(X, y, [0, 5], model=model, partners=partners)
        assert found.probability[1] > 0.999
        assert found.rank[1] == 3
        assert found.probability[2:5].max() < 0.1
    assert found.to_dict()["best_partner"][1] == "x0"
    assert found.to_dict()["best_partner"][5] == ""


def test_a_correlation_that_changes_sign_is_found(rng):
    X, y = rng.normal(size=(80, 50)), np.repeat([0, 1], 40)
    X[:, 1] = 0.7 * np.where(y, 1, -1) * X[:, 0] + 0.7 * rng.normal(size=80)
    found = bs.screen_with_known(X, y, ["x0"], model=bs.GaussianModel.proper(variance_scale=1.0))
    assert found.ranking[:2].tolist() == [0, 1]
    assert found.probability[1] > 0.99


def test_any_table_and_any_number_of_threads_give_the_same(rng):
    pandas = pytest.importorskip("pandas")
    X, y = np.round(study(rng, p=5000)[0], 2), np.array(["a"] * 14 + ["b"] * 11)
    names = [f"g{i}" for i in range(5000)]
    frame = pandas.DataFrame(X, columns=names)
    expected = bs.screen_with_known(frame, y, ["g7", "g9"], n_threads=1, model=PAPER)
    for threads in (2, 3):
        found = bs.screen_with_known(X, y, [7, 9], feature_names=names, n_threads=threads, model=PAPER)
        np.testing.assert_array_equal(found.log_bayes_factor, expected.log_bayes_factor)
        assert found.names == expected.names
    order = rng.permutation(25)
    tables = [(np.asfortranarray(X), y), (sp.csr_matrix(X), y), (sp.csc_matrix(X), y), (X[order], y[order])]
    for table, labels in tables:
        found = bs.screen_with_known(table, labels, [7, 9], model=PAPER)
        np.testing.assert_allclose(found.log_bayes_factor, expected.log_bayes_factor, rtol=1e-9, atol=1e-9)
    part = bs.screen_with_known(X[:, :40], y, [7, 9], model=PAPER)
    np.testing.assert_allclose(part.log_bayes_factor, expected.log_bayes_factor[:40], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("partners", "n_known"), [("all", 4), ("pairs", 4), ("pairs", 30)])
def test_draws_under_the_null_have_the_distribution_of_raw_non_markers_by_simulation(rng, partners, n_known):
    """Columns drawn independently of the known markers from a pooled distribution, against drawn statistics."""
    X, y = 0.7 * rng.normal(size=(30, n_known + 1)), np.repeat([0, 1], [12, 18])
    X[:, :4] = X[:, :4] @ rng.normal(size=(4, 4))
    one = bs.screen_with_known(X, y, range(n_known), partners=partners, model=PAPER).take([n_known])
    many = one.comparison.take(np.zeros(20_000, dtype=int))
    drawn = many.null_log_bayes_factor(np.random.default_rng(1))
    raw = rng.normal(X[:, -1].mean(), X[:, -1].std(ddof=1), size=(30, 20_000))
    found = bs.screen_with_known(np.hstack([X[:, :-1], raw]), y, range(n_known), partners=partners, model=PAPER)
    assert stats.ks_2samp(found.log_bayes_factor[n_known:], drawn).pvalue > 1e-3
    passed = (found.log_odds[n_known:] > -6.0).mean()
    assert bs.expected_under_null(one, -6.0) == pytest.approx(passed, rel=0.1)


def test_it_is_a_posterior_like_others(rng):
    X, y = study(rng, p=20)
    found = bs.screen_with_known(X, y, ["x3", "x4"], partners="pairs", model=PAPER)
    table = found.to_dict()
    assert {"log_bayes_factor_alone", "probability_in_block", "best_partner"} <= set(table)
    np.testing.assert_array_equal(
        table["log_bayes_factor_alone"], bs.screen(X, y, model=found.model).log_bayes_factor
    )
    assert bs.MinimalRisk(0.5).select(found).names[:2] == ("x3", "x4")
    assert (
        "Known: x3, x4. Other markers are paired with one of them" in bs.MinimalRisk(0.5).select(found).summary()
    )
    part = found.take([4, 0])
    assert part.to_dict()["best_partner"] == ["", table["best_partner"][0]]
    assert part.comparison.null_log_bayes_factor(rng).shape == (2,)
    assert found.with_prior(0.5).probability[3] == 1.0
    many = bs.screen_with_known(X, y, range(7), model=PAPER)
    assert "Known: x0, x1, x2, x3, x4 and 2 more. Other markers are in one block with them" in str(
        many.findings[0].notes()[0]
    )
    one = bs.screen_with_known(X, y, 0, model=PAPER).findings[0].notes()
    assert str(one[0]).startswith("Known: x0. Other markers are in one block with it with prior probability 0.5")
    with pytest.raises(bs.OptionError, match="for classes, also given covariates"):
        bs.fragility(X, y, posterior=found)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"known": []}, bs.OptionError, "No known marker"),
        ({"known": ["x1", "y2", "y3"]}, bs.OptionError, "known: 2 of 3 names.* 8 features: 'y2', 'y3'"),
        ({"known": [1, 8, -1]}, bs.OptionError, "2 of 3 known markers are not among the 8 columns.*8, -1"),
        ({"known": [1, "x2"]}, bs.OptionError, "all by name, or all by column number"),
        ({"known": [1, 2, 1]}, bs.OptionError, "more than once"),
        ({"known": [0, 1, 2, 3]}, bs.OptionError, "4 known markers as one block need at least 7 samples.*has 6"),
        ({"weight": 1.5}, bs.PriorError, "weight must be a number between 0 and 1"),
        ({"weight": True}, bs.PriorError, "weight must be a number between 0 and 1"),
        ({"partners": "best"}, bs.OptionError, "'all' or 'pairs'"),
        ({"model": bs.GaussianModel.jeffreys()}, bs.PriorError, "improper prior leaves open"),
        ({"model": bs.PoissonModel()}, bs.OptionError, "needs a GaussianModel"),
        ({"y": [0, 1, 2, 0] * 3}, bs.LabelError, "two classes, not 3"),
        ({"classes": [0, 1, 2]}, bs.LabelError, "two classes, not 3"),
        ({"known": 5.5}, bs.OptionError, "known must be a name or a list of names.*not 5.5"),
        ({"known": None}, bs.OptionError, "known must be a name.*not None"),
        ({"known": [5.5]}, bs.OptionError, "1 of 1 names are not among"),
        ({"prior_probability": 2.0}, bs.PriorError, "between 0 and 1"),
    ],
)  # fmt: skip
def test_requests_that_make_no_sense(rng, change, error, message):
    given = {"X": rng.normal(size=(12, 8)), "y": [0, 1] * 6, "known": [0], **change}
    with pytest.raises(error, match=message):
        bs.screen_with_known(**given)


def test_tables_that_cannot_be_used(rng):
    X, y = rng.normal(size=(12, 8)), [0, 1] * 6
    with pytest.raises(bs.DataError, match=r"Moments hold no correlations.*needs the values themselves"):
        bs.screen_with_known(bs.Moments.from_matrix(X, y), None, [0], model=PAPER)
    with pytest.raises(bs.LabelError, match="no sample at all"):
        bs.screen_with_known(X, [0] * 12, [0], classes=[0, 1], partners="pairs", model=PAPER)
    X[3, 2] = np.nan
    match = (
        r"1 missing value\(s\) \(NaN\) in 1 of 8 features, the first at sample 3, feature column 2.*fill them in"
    )
    with pytest.raises(bs.MissingValueError, match=match):
        bs.screen_with_known(X, y, [0], model=PAPER)
    priors = bs.NormalInverseGamma([3.0] * 7 + [4.0], 0.5, 0.1)
    with pytest.raises(bs.PriorError, match="common variance_dof"):
        bs.screen_with_known(X, y, [0], model=bs.GaussianModel((priors,), priors))


def test_prior_probabilities_by_odds():
    names = ["a", "b", "c", "d"]
    found = bs.known_markers(names, 0.1, certain=["d"], weights={"b": np.log(9.0), "c": -1.0, "d": -5.0})
    odds = np.array([1 / 9, 1.0, np.exp(-1.0) / 9])
    np.testing.assert_allclose(found[:3], odds / (1 + odds), rtol=1e-14)
    assert found[3] == 1.0
    np.testing.assert_allclose(
        bs.known_markers(names, [0.1, 0.2, 0.3, 0.4], weights={"b": 0.0}), [0.1, 0.2, 0.3, 0.4]
    )
    assert bs.known_markers(names, certain="a").tolist() == [1.0, *[pytest.approx(0.01, rel=1e-14)] * 3]


def test_prior_knowledge_of_one_feature_does_not_touch_others(rng):
    """Theorem 1: features are independent in a plain screen."""
    X, y = study(rng, p=20)
    plain = bs.screen(X, y, prior_probability=0.05)
    prior = bs.known_markers(plain.names, 0.05, certain=["x3"], weights={"x5": 2.0})
    found = bs.screen(X, y, prior_probability=prior)
    untouched = np.delete(np.arange(20), [3, 5])
    np.testing.assert_allclose(found.log_odds[untouched], plain.log_odds[untouched], rtol=1e-13)
    assert found.log_odds[3] == np.inf
    assert found.log_odds[5] == pytest.approx(plain.log_odds[5] + 2.0, rel=1e-12)


def test_dependent_knowledge_does_touch_others(rng):
    """Against the same table, other known markers give other probabilities to the rest."""
    X, y = study(rng, p=6)
    found = [bs.screen_with_known(X, y, [k], model=PAPER).log_odds for k in range(6)]
    for a, b in itertools.combinations(range(6), 2):
        others = [f for f in range(6) if f not in (a, b)]
        assert (np.abs(found[a][others] - found[b][others]) > 1e-6).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"certain": ["a", "x", "y"]}, bs.OptionError, "certain: 2 of 3 names.* 2 features: 'x', 'y'"),
        ({"certain": [f"n{i}" for i in range(9)]}, bs.OptionError, "'n4' and 4 more"),
        ({"weights": {"z": 1.0}}, bs.OptionError, "weights: 1 of 1 names"),
        ({"weights": {"a": "much"}}, bs.PriorError, "weight of 'a' must be a finite number"),
        ({"weights": {"a": np.inf}}, bs.PriorError, "must be a finite number"),
        ({"prior_probability": [0.1] * 3}, bs.PriorError, "each of the 2 features"),
        ({"feature_names": ["a", "a"]}, bs.DataError, "more than once"),
        ({"feature_names": 5}, bs.DataError, "names of all features, in order, not 5"),
        ({"feature_names": None}, bs.DataError, "names of all features, in order, not None"),
        ({"feature_names": "ab"}, bs.DataError, "names of all features, in order, not 'ab'"),
        ({"weights": [1.0, 2.0]}, bs.OptionError, "mapping from names to numbers"),
        ({"certain": 5.5}, bs.OptionError, "certain must be a name or a list"),
    ],
)  # fmt: skip
def test_prior_knowledge_that_makes_no_sense(change, error, message):
    with pytest.raises(error, match=message):
        bs.known_markers(**{"feature_names": ["a", "b"], **change})


def test_known_markers_do_not_count_as_passing_under_null(rng):
    X, y = rng.normal(size=(40, 300)), [0, 1] * 20
    plain = jeffreys.screen(X, y)
    known = plain.with_prior(np.where(np.arange(300) < 30, 1.0, 0.01))
    assert bs.expected_under_null(known, 0.0) == pytest.approx(0.9 * bs.expected_under_null(plain, 0.0))
    assert bs.expected_under_null(known, -np.inf) == 270.0


def _written(path, X, y, *, columns):
    """The same table with samples in rows or in columns."""
    names = [f"g{j}" for j in range(X.shape[1])]
    rows = [[f"s{i}", label, *map(repr, map(float, row))] for i, (label, row) in enumerate(zip(y, X, strict=True))]
    table = [["id", "stage", *names], *rows]
    table = list(map(list, zip(*table, strict=True))) if columns else table
    path.write_text("\n".join(",".join(line) for line in table) + "\n")
    return path


@pytest.mark.parametrize("columns", [False, True], ids=["samples in rows", "samples in columns"])
@pytest.mark.parametrize("partners", ["all", "pairs"])
def test_files_are_read_again_in_any_number_of_slabs(rng, tmp_path, monkeypatch, columns, partners):
    X, y = study(rng, p=30)
    labels = np.array(["early", "late"])[y]
    expected = bs.screen_with_known(X, labels, ["g20", "g4"], feature_names=[f"g{j}" for j in range(30)],
                                    partners=partners, model=PAPER)  # fmt: skip
    table = bs.read_table(_written(tmp_path / "genes.csv", X, labels, columns=columns), labels="stage")
    for at_once in (2**25, 7 * 25):
        monkeypatch.setattr("bayesieve.sets.tables._VALUES_OF_A_FILE", at_once)
        found = bs.screen_with_known(table, None, ["g20", "g4"], partners=partners, model=PAPER)
        assert found.names == expected.names
        np.testing.assert_allclose(found.log_odds, expected.log_odds, rtol=1e-11, atol=1e-11)


def test_files_that_cannot_be_used_beside_known_markers(rng, tmp_path):
    X, y = rng.normal(size=(12, 4)), np.array(["a", "b"] * 6)
    path = _written(tmp_path / "genes.csv", X, y, columns=False)
    table = bs.read_table(path, labels="stage")
    with pytest.raises(bs.LabelError, match="Say them to read_table only"):
        bs.screen_with_known(table, y, ["g0"], model=PAPER)
    with pytest.raises(bs.OptionError, match="knows no blocks"):
        bs.screen_with_known(bs.read_table(path, labels="stage", blocks="g3"), None, ["g0"], model=PAPER)
    path.write_text(path.read_text().replace(repr(float(X[3, 2])), "NA"))
    with pytest.raises(bs.MissingValueError, match=r"1 value\(s\) of 1 of 4 features are missing, most of 'g2'"):
        bs.screen_with_known(bs.read_table(path, labels="stage", missing="omit"), None, ["g0"], model=PAPER)


@pytest.mark.filterwarnings("ignore:The median mean")
def test_the_default_prior_has_the_units_of_every_feature(rng):
    """Shifted and scaled features give the same answer; with one location for all, all would be markers."""
    X, y = rng.normal(size=(40, 60)), [0] * 20 + [1] * 20
    X[20:, 0] += 1.5
    plain = bs.screen_with_known(X, y, ["x0"])
    moved = bs.screen_with_known(100.0 + 5.0 * X, y, ["x0"])
    np.testing.assert_allclose(moved.log_bayes_factor, plain.log_bayes_factor, rtol=1e-9, atol=1e-9)
    assert (plain.probability > 0.5).sum() <= 3
    with pytest.warns(bs.PriorWarning, match="60 of 60 features have means far"):
        bs.screen_with_known(100.0 + X, y, ["x0"], model=PAPER)


def test_chance_under_the_default_prior_is_that_of_raw_data(rng):
    """Candidates drawn as values beside the same known marker: Kolmogorov and Smirnov."""
    X, y = rng.normal(size=(24, 4001)), np.repeat([0, 1], 12)
    found = bs.screen_with_known(X, y, [0])
    drawn = found.comparison.null_log_bayes_factor(np.random.default_rng(1))
    assert stats.ks_2samp(drawn[1:], found.log_bayes_factor[1:]).pvalue > 1e-3


def test_known_markers_stay_certain_under_another_prior(rng):
    X, y = rng.normal(size=(30, 20)), [0, 1] * 15
    found = bs.screen_with_known(X, y, [3]).with_prior(0.2)
    assert found.log_odds[3] == np.inf
    assert str(found.findings[0].notes()[0]).startswith("Known: x3.")
