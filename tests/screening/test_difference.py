"""Screens for differences of means, or of variances, alone: lists, designs, files, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commands import inside

import bayesieve as bs
from bayesieve.io import read_result
from bayesieve.models import KindModel
from bayesieve.screening import ScreenSpec
from bayesieve.screening.difference import keep_variances
from bayesieve.screening.record_parts import decode_model, encode_model
from bayesieve.screening.screen_input import screen_input

N, P = 24, 160
MEANS, VARIANCES, BOTH = range(6), range(6, 12), range(12, 16)
JEFFREYS, JP = bs.GaussianModel.jeffreys(), bs.NormalInverseGamma()


def made(seed=3, n0=N, n1=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n0 + n1, P))
    X[n0:, 6:16] *= 7.0
    X[n0:, :6] += 2.5
    X[n0:, 12:16] += 25.0
    return X, ["a"] * n0 + ["b"] * n1


@pytest.fixture(scope="module")
def table():
    return made()


def listed(posterior):
    return sorted(int(name[1:]) for name in bs.MinimalRisk(0.5).select(posterior).names)


@pytest.mark.parametrize("model", [None, JEFFREYS], ids=["calibrated", "jeffreys"])
def test_each_question_lists_its_own_markers(table, model):
    found = {each: bs.screen(*table, model=model, difference=each, shuffles=8) for each in ("mean", "variance")}
    assert listed(found["mean"]) == [*MEANS, *BOTH]
    assert listed(found["variance"]) == [*VARIANCES, *BOTH]
    assert found["mean"].probability[list(VARIANCES)].max() < 0.05
    assert found["variance"].probability[list(MEANS)].max() < 0.05
    for question, posterior in found.items():
        assert posterior.model.difference == question
        assert f"whose {question}s differ" in bs.MinimalRisk(0.5).select(posterior).summary()
    with pytest.raises(bs.OptionError, match="asks about the mean only"):
        bs.kinds(found["mean"])


def test_variances_alone_are_the_part_of_variances_of_any_difference(table):
    """Means are free under both hypotheses: a shift of a class changes nothing."""
    X, y = table
    one = bs.screen(X, y, difference="variance", shuffles=0)
    moved = X + 5.0 * (np.array(y) == "b")[:, None]
    assert np.allclose(
        one.log_bayes_factor, bs.screen(moved, y, difference="variance", shuffles=0).log_bayes_factor
    )
    parts = bs.kinds(bs.screen(X, y, shuffles=0))
    assert np.allclose(one.log_bayes_factor, parts.log_evidence[2])


def test_equal_variances_make_the_mean_part_and_few_values_cannot_doubt_them(table):
    X, y = table
    sure = bs.screen(X, y, model=bs.CalibratedModel(variance_weight=0.0), difference="mean", shuffles=0)
    assert np.allclose(sure.log_bayes_factor, bs.kinds(bs.screen(X, y, shuffles=0)).log_evidence[1])
    few = bs.screen(X[[0, 1, N, N + 1]], ["a", "a", "b", "b"], difference="mean", shuffles=0)
    assert "taken to be equal" in bs.MinimalRisk(0.5).select(few).summary()


@pytest.mark.parametrize("difference", ["mean", "variance"])
@pytest.mark.parametrize("model", [None, JEFFREYS], ids=["calibrated", "jeffreys"])
def test_leaving_one_sample_out_is_screening_again_without_it(difference, model):
    X, y = made(n0=7, n1=9)
    X = X[:, :24]
    posterior = bs.screen(X, y, model=model, difference=difference, shuffles=0)
    found = bs.fragility(X, y, posterior=posterior)
    again = [
        bs.screen(np.delete(X, i, axis=0), np.delete(y, i), model=posterior.model, shuffles=0).log_bayes_factor
        for i in range(len(y))
    ]
    assert np.allclose(found.least_log_bayes_factor, np.min(again, axis=0), atol=1e-8)
    assert (found.culprit == np.argmin(again, axis=0)).all()


def test_blocks_add_up_share_a_shift_and_one_block_is_none(table):
    X, y = table
    options = {"difference": "mean", "shuffles": 0}
    plain = bs.screen(X, y, **options)
    model = plain.model  # its constants, so that blocks have the same
    one = bs.screen(X, y, model=model, blocks=["x"] * len(y), block_model="shift", **options)
    assert np.allclose(one.log_bayes_factor, plain.log_bayes_factor, atol=1e-9)
    blocks = np.array(["x", "y"] * N)
    own = bs.screen(X, y, model=model, blocks=blocks, **options)
    alone = [bs.screen(X[blocks == b], np.array(y)[blocks == b], model=model, **options) for b in "xy"]
    assert np.allclose(own.log_bayes_factor, sum(each.log_bayes_factor for each in alone))
    moved = X + 100.0 * (blocks == "y")[:, None]
    shift = bs.screen(moved, y, blocks=blocks, block_model="shift", **options)
    assert listed(shift) == [*MEANS, *BOTH]


def test_shuffled_labels_keep_variances_where_means_are_asked_about():
    """The ratio of variances goes with the labels, however they are dealt."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 400))
    X[:8, :200] *= 4.0
    X[:, 398:] = np.maximum(X[:, 398:], 0.5)  # a floor
    X[:8, 398:] *= 4.0
    y = np.array(["a"] * 8 + ["b"] * 32)
    model = bs.CalibratedModel(difference="mean")
    found = screen_input(X, y, model, None, None, "raise", None)
    ready = model.estimate([found.statistics])
    samples = keep_variances(found, ready)
    ratios = []
    for seed in range(3):
        codes = np.random.default_rng(seed).permutation(samples.matrix.labels.codes)
        moments = samples.relabelled(codes, model).statistics
        ratios.append(np.log(moments.variance[0] / moments.variance[1]))
        plain = found.shufflable.relabelled(codes, model).statistics
        same = samples.spread.log_ratio == 0.0
        assert same[398:].all()
        assert np.array_equal(moments.mean[:, same], plain.mean[:, same])
    assert np.median(np.array(ratios)[:, :200]) == pytest.approx(2 * np.log(4.0), abs=0.5)
    assert np.median(np.array(ratios)[:, 200:]) == pytest.approx(0.0, abs=0.2)
    batches = np.array(["x", "y"] * 20)
    blocked = screen_input(X + 50.0 * (batches == "y")[:, None], y, model, None, None, "raise", None, batches)
    samples = keep_variances(blocked, model.estimate(list(blocked.blocked.values())))
    parts = samples.relabelled(rng.permutation(samples.matrix.labels.codes), model).blocked.values()
    first, second = (sum(part.centred_squares[k] for part in parts) for k in (0, 1))
    assert np.median(np.log(first / 6 / (second / 30))[:200]) == pytest.approx(2 * np.log(4.0), abs=0.6)
    other = bs.CalibratedModel(difference="variance")
    assert keep_variances(found, other.estimate([found.statistics])) is found.shufflable


@pytest.mark.parametrize("model", [bs.CalibratedModel(difference="mean"), KindModel((JP,), JP, 0.2, "variance")])
def test_models_are_recorded_with_their_question(model):
    again = decode_model(json.loads(json.dumps(encode_model(model))))
    assert type(again) is type(model)
    assert again.difference == model.difference


def test_moments_estimators_and_missing_values(table):
    X, y = table
    posterior = bs.screen(X, y, difference="mean", shuffles=0)
    moments = bs.Moments.from_matrix(X, y)
    assert np.allclose(bs.screen(moments, difference="mean").log_odds, posterior.log_odds)
    flat = bs.Moments.from_matrix(X, y, shape=False)  # without fourth powers: no tempering, but still a ratio
    assert listed(bs.screen(flat, difference="mean")) == [*MEANS, *BOTH]
    with pytest.raises(bs.OptionError, match="needs fourth powers"):
        bs.screen(flat, difference="variance")
    selector = bs.OBFSelector(difference="mean", shuffles=0).fit(X, y)
    assert np.allclose(selector.scores_, posterior.log_odds)
    holes = X.copy()
    holes[3, 40:80] = np.nan
    some = bs.screen(holes, y, difference="mean", missing="omit", model=posterior.model, shuffles=0)
    rest = bs.screen(
        np.delete(X, 3, axis=0), np.delete(y, 3), difference="mean", model=posterior.model, shuffles=0
    )
    assert np.allclose(some.log_odds[40:80], rest.log_odds[40:80])
    assert np.allclose(some.log_odds[80:], posterior.log_odds[80:])


def test_what_cannot_be_asked_is_refused(table):
    X, y = table
    pairs = [*range(N), *range(N)]
    means = bs.screen(X, y, pairs=pairs, difference="mean", shuffles=0)
    assert np.array_equal(means.log_odds, bs.screen(X, y, pairs=pairs, shuffles=0).log_odds)
    for reason, options in (
        ("see the mean only", {"pairs": pairs, "difference": "variance"}),
        ("calibrated or Jeffreys' prior", {"model": bs.GaussianModel.proper(), "difference": "mean"}),
        ("not about PoissonModel", {"model": bs.PoissonModel(), "difference": "mean"}),
        ("must be 'any', 'mean' or 'variance'", {"difference": "median"}),
        ("calibrated prior only", {"model": JEFFREYS, "difference": "mean", "blocks": ["x", "y"] * N,
                                   "block_model": "shift"}),
    ):  # fmt: skip
        with pytest.raises(bs.BayesieveError, match=reason):
            bs.screen(X, y, shuffles=0, **options)
    with pytest.raises(bs.OptionError, match="compares two classes; with 3"):
        bs.screen(X, ["a", "b", "c"] * (2 * N // 3), difference="mean", shuffles=0)
    with pytest.raises(bs.OptionError, match="by any difference"):
        bs.screen_groups(X, y, model=bs.CalibratedModel(difference="mean"))


def test_permutations_ask_the_same_question(table):
    X, y = table
    posterior = bs.screen(X, y, model=JEFFREYS, difference="mean", shuffles=0)
    found = bs.permutations(X, y, posterior=posterior, n_permutations=20)
    assert (found.feature_p_value[list(MEANS)] == 1 / 21).all()
    assert found.feature_p_value[list(VARIANCES)].mean() > 0.2


@pytest.fixture
def run(table, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["state," + ",".join(f"x{i}" for i in range(P))]
    rows += [f"{label}," + ",".join(f"{value:.6f}" for value in row) for row, label in zip(*table, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    return lambda *words: inside(capfd, monkeypatch, "screen", "t.csv", "--labels", "state", *words)


@pytest.mark.parametrize(("prior", "ending"), [("calibrated", "csv"), ("jeffreys", "parquet")])
def test_the_command_line_and_what_it_stores(run, tmp_path, prior, ending):
    done = run(
        "--difference", "mean", "--prior", prior, "--shuffles", "5", "--out", f"r.{ending}", "--report", "r.html"
    )
    assert done.code == 0
    assert "whose means differ" in done.said
    stored = read_result(tmp_path / f"r.{ending}")
    assert stored.posterior.model.difference == "mean"
    assert sorted(int(name[1:]) for name in stored.selection.names) == [*MEANS, *BOTH]
    page = (tmp_path / "r.html").read_text()
    assert "differences of the mean alone" in page
    assert ("Only the means make a marker" if prior == "calibrated" else "BF = (E_mean + E_both)") in page
    assert "--difference mean" in " ".join(page.split())


def test_the_command_line_refuses_what_cannot_be_asked(run):
    for words, reason in (
        (("--kinds",), "parts of a screen for any difference"),
        (("--model", "poisson"), "Gaussian data"),
        (("--groups", "rest"), "--groups does not go with --difference"),
    ):
        done = run("--difference", "mean", *words)
        assert done.code == 2
        assert reason in done.said
    spec = ScreenSpec(table="t.csv", labels="state", difference="variance")
    assert "--difference variance" in spec.command_line()
    assert "difference='variance'" in spec.python(("a", "b"))
