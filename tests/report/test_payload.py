"""The payload holds the screen: decoded here without any code of the package, compared with the posterior."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from jeffreys import screen

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.report import ReportData, ratio_state
from bayesieve.report.encoding import encode_array, encode_numbers, encode_texts, script_json
from bayesieve.report.payload import payload
from bayesieve.report.sentences import facts

HOSTILE = [
    "</script><img src=x onerror=alert(1)>", "<!--<script>", "'\"\\", "a\u2028b\u2029c", "\ud800", "x" * 10_000,
    "\u202eesrever", "&amp;", "\x00\x1f", "=1+1", "", "\N{PILE OF POO}",
]  # fmt: skip


def array(content):
    """Decode a typed array as the page does."""
    kinds = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u2": "<u2", "u1": "u1"}
    return np.frombuffer(base64.b64decode(content["data"]), kinds[content["type"]])


def through_json(report):
    """Payload as it comes out of the page's JSON."""
    return json.loads(script_json(payload(report)))


def drawn(rng, n_samples=40, n_features=60, n_classes=2):
    values = rng.normal(size=(n_samples, n_features))
    labels = np.arange(n_samples) % n_classes
    values[labels == 1, :5] += 2.0
    return values, labels


def test_bayes_factors_come_back_bit_for_bit(rng):
    values, labels = drawn(rng)
    posterior = screen(values, labels, prior_probability=0.005)
    content = through_json(ReportData.of(posterior))
    order = np.argsort(-posterior.log_odds, kind="stable")
    assert array(content["log_bayes_factor"]).tobytes() == posterior.log_bayes_factor[order].tobytes()
    assert content["names"] == [posterior.names[i] for i in order]
    assert content["prior"] == {"log_odds": float(posterior.prior_log_odds), "probability": 0.005}
    assert content["prior_log_odds"] is None
    assert content["ratio"] == {"value": 0.1, "power": 1}


def test_statistics_and_effects_are_in_rank_order(rng):
    values, labels = drawn(rng)
    posterior = screen(values, labels)
    content, order = through_json(ReportData.of(posterior)), posterior.ranking
    for k in (0, 1):
        group = values[labels == k][:, order]
        assert content["statistics"]["count"][k] == 20
        mean, sd = (array(content["statistics"][key][k]) for key in ("mean", "sd"))
        np.testing.assert_allclose(mean, group.mean(axis=0), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(sd, group.std(axis=0, ddof=1), rtol=1e-6)
    first, second = values[labels == 0][:, order], values[labels == 1][:, order]
    pooled = np.sqrt((first.var(axis=0, ddof=1) + second.var(axis=0, ddof=1)) / 2)
    shift = (second.mean(axis=0) - first.mean(axis=0)) / pooled
    np.testing.assert_allclose(array(content["effect"]["x"]), shift, rtol=1e-5, atol=1e-6)
    columns = {column["key"]: column for column in content["columns"]}
    difference = second.mean(axis=0) - first.mean(axis=0)
    np.testing.assert_allclose(array(columns["mean_difference"]["values"]), difference, rtol=1e-5, atol=1e-6)


def test_composition_adds_up(rng):
    """The formula of the page, put together from the payload alone, gives the log Bayes factor."""
    values, labels = drawn(rng, 41)
    content = through_json(ReportData.of(screen(values, labels, model=bs.GaussianModel.jeffreys(0.3))))
    n = np.array(content["statistics"]["count"], dtype=float)
    mean, sd = (np.array([array(row) for row in content["statistics"][key]], float) for key in ("mean", "sd"))
    squares = (n[:, None] - 1) * sd**2
    within, d, total = squares.sum(axis=0), mean[1] - mean[0], n.sum()
    of_mean = total / 2 * np.log(1 + n.prod() * d**2 / (total * within))
    of_variance = total / 2 * np.log(within / total) - (n[:, None] / 2 * np.log(squares / n[:, None])).sum(axis=0)
    composition = content["composition"]
    added = composition["log_ratio"] + composition["constant"] + of_mean + of_variance
    np.testing.assert_allclose(added, array(content["log_bayes_factor"]), rtol=1e-4, atol=1e-4)
    assert composition["log_ratio"] == pytest.approx(np.log(0.3))


def test_one_prior_per_feature(rng):
    values, labels = drawn(rng)
    prior = rng.uniform(0.0, 0.2, 60)
    prior[3], prior[4] = 0.0, 1.0
    posterior = screen(values, labels, prior_probability=prior)
    content = through_json(ReportData.of(posterior))
    assert content["prior"] == {"log_odds": None, "probability": None}
    stored = array(content["prior_log_odds"]) + array(content["log_bayes_factor"])
    np.testing.assert_array_equal(stored, np.sort(posterior.log_odds)[::-1])
    assert np.isposinf(stored[0])
    assert np.isneginf(stored[-1])


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_a_prior_without_odds_is_shared_all_the_same(rng, prior):
    values, labels = drawn(rng)
    report = ReportData.of(screen(values, labels, prior_probability=prior))
    content = through_json(report)
    assert content["prior"] == {"log_odds": None, "probability": prior}  # JSON knows no infinity
    assert content["prior_log_odds"] is None
    assert f"prior_probability={prior!r}, " in content["commands"]["python"][-1]
    assert dict(facts(report))["Prior probability"] == f"{prior:g}"


def test_hostile_names_come_back_and_cannot_leave_the_script(rng):
    values, labels = drawn(rng, n_features=len(HOSTILE))
    posterior = screen(values, labels, feature_names=HOSTILE)
    report = ReportData.of(posterior, annotation={"<b>": HOSTILE}, title="</script>")
    text = script_json(payload(report))
    assert not set("<>&\u2028\u2029") & set(text)
    assert text.isascii()
    content = json.loads(text)
    assert content["names"] == [HOSTILE[i] for i in posterior.ranking]
    noted = content["columns"][0]
    assert noted["annotation"]
    assert noted["title"] == "<b>"
    assert noted["values"] == content["names"]


def test_numbers_that_are_not_finite_stay_out_of_json():
    with pytest.raises(ValueError, match="JSON"):
        script_json({"x": float("nan")})
    kept = array(encode_array([np.nan, np.inf, -np.inf, -0.0], "f8"))
    assert kept.tobytes() == np.array([np.nan, np.inf, -np.inf, -0.0]).tobytes()


def test_columns_are_packed_by_what_they_hold():
    assert encode_numbers(np.array([1, 255]))["type"] == "u1"
    assert encode_numbers(np.array([-1, 255]))["type"] == "i4"
    assert encode_numbers(np.array([2**40]))["type"] == "f8"
    assert encode_numbers(np.array([1e-300, 1.0]), exact=True)["type"] == "f8"
    assert encode_numbers(np.array([0.0, 0.5]), exact=True)["type"] == "f4"
    many = [f"t{i % 300}" for i in range(3000)]
    packed = encode_texts(many)
    assert [packed["levels"][code] for code in array(packed["codes"])] == many
    assert encode_texts([f"t{i}" for i in range(50)])["values"][49] == "t49"


def test_findings_become_columns(rng):
    values, labels = drawn(rng)
    posterior = screen(values, labels)
    found = bs.fragility(values, labels, posterior=posterior)
    full = posterior
    for finding in (bs.kinds(posterior), found, bs.pearson_neyman(posterior)):
        full = full.with_finding(finding)
    content, order = through_json(ReportData.of(full)), full.ranking
    columns = {column["key"]: column for column in content["columns"]}
    kinds = columns["kind"]
    assert [kinds["levels"][k] for k in array(kinds["codes"])] == [bs.kinds(posterior).kind[i] for i in order]
    assert kinds["of_prior"]
    assert "of_prior" not in columns["p_value"]
    np.testing.assert_array_equal(array(content["fragile"]), found.fragile[order])
    np.testing.assert_allclose(array(columns["least_log_odds"]["values"]), found.least_log_odds[order], rtol=1e-6)


@pytest.mark.filterwarnings("ignore::bayesieve.DegenerateFeatureWarning")
def test_degenerate_features_have_their_reasons(rng):
    values, labels = drawn(rng)
    values[:, 7] = 1.0
    values[labels == 0, 8] = 2.0
    posterior = screen(values, labels)
    content = through_json(ReportData.of(posterior))
    said = [content["degenerate_reasons"][code] for code in array(content["degenerate"])]
    assert said == [posterior.degenerate_reason[i] for i in posterior.ranking]
    assert sum(map(bool, said)) == 2


@pytest.mark.parametrize("kind", ["array", "sparse", "frame", "matrix"])
def test_raw_values_are_those_of_the_strongest(rng, kind):
    import pandas as pd  # noqa: PLC0415

    values, labels = drawn(rng)
    values[3, 2] = 0.0
    names = [f"g{j}" for j in range(60)]
    posterior = screen(values, labels, feature_names=names)
    shuffled = rng.permutation(60)
    data = {
        "array": values,
        "sparse": sp.csr_matrix(values),
        "frame": pd.DataFrame(values[:, shuffled], list(map(str, range(40))), [names[j] for j in shuffled]),
        "matrix": bs.GaussianModel.jeffreys().matrix(values, labels, feature_names=names),
    }[kind]  # fmt: skip
    content = through_json(ReportData.of(posterior, data=data, labels=labels, n_values=7))
    shown = array(content["values"]["data"]).reshape(7, 40)
    np.testing.assert_array_equal(shown, values.T[posterior.ranking[:7]].astype(np.float32))
    np.testing.assert_array_equal(array(content["values"]["class"]), labels)
    assert content["values"]["samples"][39] == "39"


def test_raw_values_keep_the_names_of_samples_whatever_the_order_of_the_classes(rng):
    values, labels = drawn(rng)
    letters = ["ab"[k] for k in labels]
    names = tuple(f"patient {i}" for i in range(40))
    matrix = replace(LabelledMatrix.from_arrays(values, letters), sample_names=names)
    for classes in (("a", "b"), ("b", "a")):
        posterior = screen(values, letters, classes=classes)
        content = through_json(ReportData.of(posterior, data=matrix, n_values=3))
        assert content["values"]["samples"] == list(names)
        assert [classes[k] for k in array(content["values"]["class"])] == letters
        shown = array(content["values"]["data"]).reshape(3, 40)
        np.testing.assert_array_equal(shown, values.T[posterior.ranking[:3]].astype(np.float32))


def test_raw_values_of_a_file_in_either_direction_and_with_gaps(rng, tmp_path):
    from commands import in_columns, in_rows, label_file  # noqa: PLC0415

    values, labels = drawn(rng, 12, 30)
    values[2, 4] = np.nan
    letters = ["ab"[k] for k in labels]
    (tmp_path / "rows.csv").write_text(in_rows(values, letters))
    (tmp_path / "columns.tsv").write_text(in_columns(values))
    (tmp_path / "pheno.csv").write_text(label_file(letters))
    for name, labelled in (("rows.csv", "stage"), ("columns.tsv", f"{tmp_path / 'pheno.csv'}:stage")):
        table = bs.read_table(tmp_path / name, labels=labelled, missing="omit")
        posterior = screen(table)
        content = through_json(ReportData.of(posterior, data=table, n_values=30))
        shown = array(content["values"]["data"]).reshape(30, 12)
        np.testing.assert_array_equal(shown, values.T[posterior.ranking].astype(np.float32))
        assert content["values"]["samples"] == [f"s{i}" for i in range(12)]
        np.testing.assert_array_equal(array(content["values"]["class"]), labels)


def test_data_that_do_not_fit_are_refused(rng):
    values, labels = drawn(rng)
    posterior = screen(values, labels, feature_names=[f"g{j}" for j in range(60)])
    with pytest.raises(bs.LabelError, match="labels=y"):
        ReportData.of(posterior, data=values)
    with pytest.raises(bs.DataError, match="59 features, but 60"):
        ReportData.of(posterior, data=values[:, 1:], labels=labels)
    other = bs.GaussianModel.jeffreys().matrix(values, labels, feature_names=[f"h{j}" for j in range(60)])
    with pytest.raises(bs.DataError, match="do not hold 60 of the 60 strongest"):
        ReportData.of(posterior, data=other)
    with pytest.raises(bs.DataError, match="not of list"):
        ReportData.of([1, 2])
    with pytest.raises(bs.DataError, match="59 values for 60"):
        ReportData.of(posterior, annotation={"x": ["a"] * 59})
    with pytest.raises(bs.DataError, match="names none of the features"):
        ReportData.of(posterior, annotation={"x": {"TP53": 1}})


def test_data_that_were_not_screened_are_refused(rng):
    values, labels = drawn(rng)
    values = np.exp(values)
    posterior = screen(np.log2(values), labels)
    for same in (np.log2(values), np.log2(values).astype(np.float32), sp.csr_matrix(np.log2(values))):
        assert ReportData.of(posterior, data=same, labels=labels).values is not None
    with pytest.raises(bs.DataError, match=r"not those that were screened: feature 'x\d+' has mean .* in class 0"):
        ReportData.of(posterior, data=values, labels=labels)
    with pytest.raises(bs.DataError, match="the same transform, samples and labels"):
        ReportData.of(posterior, data=np.log2(values), labels=np.roll(labels, 1))
    with pytest.raises(bs.DataError, match=r"has 19 values in class 0, the screen 20 values \(60 of 60"):
        ReportData.of(posterior, data=np.log2(values)[1:], labels=labels[1:])
    spread = np.log2(values)
    best = posterior.ranking[0]
    middle = spread[labels == 0, best].mean()
    spread[labels == 0, best] = middle + 1.001 * (spread[labels == 0, best] - middle)
    with pytest.raises(bs.DataError, match=f"feature 'x{best}' has standard deviation"):
        ReportData.of(posterior, data=spread, labels=labels)
    far = screen(np.log2(values) + 1e7, labels)
    assert ReportData.of(far, data=np.log2(values) + 1e7, labels=labels).values is not None


def test_counts_that_were_not_screened_are_refused(rng):
    events, labels = rng.poisson(5.0, size=(30, 5)), np.arange(30) % 2
    posterior = screen(events, labels, model=bs.PoissonModel())
    assert ReportData.of(posterior, data=events, labels=labels).values is not None
    with pytest.raises(bs.DataError, match=r"has [\d.]+ events in class 0, the screen \d+ events"):
        ReportData.of(posterior, data=np.log1p(events), labels=labels)


def test_a_number_by_chance_that_was_drawn_says_how_finely(rng):
    values, labels = drawn(rng)
    exact = through_json(ReportData.of(screen(values, labels)))
    assert "resolution" not in exact["under_null"]
    proper = screen(values, labels, model=bs.GaussianModel.proper())
    content = through_json(ReportData.of(proper))
    step = content["under_null"]["resolution"]
    expected = np.exp(array(content["under_null"]["log_expected"]))
    np.testing.assert_allclose(expected / step, np.round(expected / step), atol=1e-6)
    assert expected[expected > 0].min() >= step * (1 - 1e-9)


def test_other_models_and_designs_have_a_payload(rng):
    labels = np.arange(30) % 3
    three = screen(rng.normal(size=(30, 5)), labels)
    content = through_json(ReportData.of(three))
    assert content["ratio"] is None
    assert "more groups" in content["ratio_reason"]
    assert len(content["predictive"]["location"]) == 4
    events = rng.poisson(5, size=(30, 5))
    counts = screen(events, labels % 2, model=bs.PoissonModel())
    content = through_json(ReportData.of(counts, data=events, labels=labels % 2))
    assert content["statistics"] is None
    assert content["effect"]["kind"] == "volcano"
    assert content["predictive"] is None
    categories = rng.integers(0, 3, size=(30, 5))
    content = through_json(ReportData.of(screen(categories, labels, model=bs.CategoricalModel()), data=categories))
    assert content["values"] is None
    paired = screen(rng.normal(size=(30, 5)), np.arange(30) % 2, pairs=np.arange(30) // 2)
    content = through_json(ReportData.of(paired))
    assert content["paired"]
    assert len(content["classes"]) == 1
    assert content["class_counts"] == [15]


def test_the_prior_ratio_of_blocks_enters_once_per_block(rng):
    values, labels = drawn(rng, 60)
    blocks = np.arange(60) // 20
    posterior = screen(values, labels, blocks=blocks, model=bs.GaussianModel.jeffreys(0.1))
    moved = screen(values, labels, blocks=blocks, model=bs.GaussianModel.jeffreys(0.02))
    content = through_json(ReportData.of(posterior))
    shift = content["ratio"]["power"] * np.log(0.02 / content["ratio"]["value"])
    np.testing.assert_allclose(posterior.log_bayes_factor + shift, moved.log_bayes_factor, atol=1e-9)
    assert content["composition"]["kind"] == "blocks"
    keys = {column["key"]: column for column in content["columns"]}
    parts = sum(array(keys[key]["values"]).astype(float) for key in content["composition"]["keys"])
    np.testing.assert_allclose(parts, array(content["log_bayes_factor"]), rtol=1e-4, atol=1e-4)
    assert content["sites"]["names"] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "model",
    [bs.GaussianModel.proper(), bs.GaussianModel.jeffreys("bic"), bs.GaussianModel.jeffreys(np.full(60, 0.1))],
    ids=["proper", "bic", "own"],
)
def test_ratios_that_cannot_be_moved_say_why(rng, model):
    values, labels = drawn(rng)
    content = through_json(ReportData.of(screen(values, labels, model=model)))
    assert content["ratio"] is None
    assert content["ratio_reason"]


def test_only_the_strongest_have_details(rng, monkeypatch):
    monkeypatch.setattr("bayesieve.report.data.MOST_DETAILED", 10)
    values, labels = drawn(rng)
    posterior = screen(values, labels)
    content = through_json(ReportData.of(posterior, annotation={"number": np.arange(60)}))
    assert (content["n_features"], content["n_detailed"], len(content["names"])) == (60, 10, 10)
    assert array(content["log_bayes_factor"]).size == 60
    np.testing.assert_array_equal(array(content["columns"][0]["values"]), posterior.ranking[:10])
    assert array(content["statistics"]["mean"][0]).size == 10


def test_features_without_evidence_hold_the_prior_ratio_where_it_is():
    """They stay at the prior whatever the ratio, so that lists would no longer be the top of one ranking."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), [0, 1] * 10
    assert ratio_state(screen(X, y)).value == 0.1
    X[:, 3] = 5.0
    with pytest.warns(bs.DegenerateFeatureWarning):
        narrow = screen(X, y, degenerate="exclude")
    with pytest.warns(bs.DegenerateFeatureWarning):
        wide = screen(X, y, model=bs.GaussianModel.jeffreys(0.01), degenerate="exclude")
    moved = wide.log_odds - narrow.log_odds
    assert moved[3] == 0.0
    np.testing.assert_allclose(np.delete(moved, 3), np.log(0.1))
    assert ratio_state(narrow).value is None
    assert "a feature without evidence stays" in ratio_state(narrow).reason
