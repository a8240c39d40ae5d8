"""Shuffled labels in stored results: whatever is asked of them, the answer is that of the run."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bayesieve as bs
from bayesieve.io import read_result, write_result
from bayesieve.selection import results_hash

ENDINGS = ("csv", "parquet", "json")
RULES = (
    bs.MinimalRisk(0.5), bs.MinimalRisk(0.9), bs.FalseDiscovery(0.1), bs.FalseDiscovery(0.3),
    bs.NeymanPearson(2.0), bs.NeymanPearson(400.0), bs.FalseDiscovery(0.3, confidence=0.8), bs.FixedSize(12),
    bs.MostProbable(),
)  # fmt: skip


def study(seed=1, n=24, p=300, markers=12, shift=2.2, **options):
    rng = np.random.default_rng(seed)
    values = rng.standard_t(4, size=(n, p))
    labels = np.arange(n) % 2
    values[labels == 1, :markers] += shift
    options.setdefault("prior_probability", 0.03)
    return bs.screen(values, ["a" if k == 0 else "b" for k in labels], shuffles=30, **options)


DESIGNS = {
    "samples": {}, "batches": {"blocks": ["p", "q", "q", "p"] * 6},
    "pairs": {"pairs": [i // 2 for i in range(24)]},
    "own priors": {"prior_probability": np.linspace(0.01, 0.3, 300)},
    "jeffreys": {"model": bs.GaussianModel.jeffreys()},
}  # fmt: skip


def check_answers(found, wanted):
    """Compare a stored posterior, in rank order, with the one of the run."""
    order = wanted.ranking
    np.testing.assert_array_equal(found.expected_fdr, wanted.expected_fdr[order])
    np.testing.assert_array_equal(found.local_fdr, wanted.local_fdr[order])
    np.testing.assert_array_equal(found.shuffled.reaching, wanted.shuffled.reaching[order])
    assert all(map(np.array_equal, found.shuffled.values, wanted.shuffled.values))
    np.testing.assert_array_equal(found.shuffled.shares, wanted.shuffled.shares)
    np.testing.assert_equal(found.shuffled.own_share, wanted.shuffled.own_share)
    assert (found.shuffled.scheme, found.shuffled.complete) == (wanted.shuffled.scheme, wanted.shuffled.complete)
    for rule in RULES:
        one, other = (rule.select(posterior) for posterior in (found, wanted))
        assert one.names == other.names
        assert one.false_positive_estimate == other.false_positive_estimate
        assert one.was_cut == other.was_cut


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_answer_is_that_of_the_run(design, ending, tmp_path):
    posterior = study(**DESIGNS[design])
    for rule in RULES[::4]:
        selection = rule.select(posterior)
        stored = read_result(write_result(tmp_path / f"r.{ending}", selection))
        assert stored.selection.summary() == selection.summary()
        assert stored.selection.false_positive_estimate == selection.false_positive_estimate
        mine, theirs = stored.selection.count_test, selection.count_test
        for name in ("cuts", "lengths", "p_values", "n_as_long"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
        assert (mine.n_shuffles, mine.level) == (theirs.n_shuffles, theirs.level)
    check_answers(stored.posterior, posterior)
    if design != "own priors":
        check_answers(stored.posterior.with_prior(0.2), posterior.with_prior(0.2))
    assert stored.posterior.shuffled.scheme == (design if design in ("batches", "pairs") else "samples")


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 3.0), st.sampled_from(ENDINGS))
def test_lists_cut_or_whole_come_back(seed, shift, ending):
    selection = bs.MinimalRisk(0.3).select(study(seed, n=14, p=40, markers=6, shift=shift, prior_probability=0.2))
    with tempfile.TemporaryDirectory() as folder:
        stored = read_result(write_result(Path(folder) / f"r.{ending}", selection))
    assert stored.selection.summary() == selection.summary()
    assert stored.selection.was_cut == selection.was_cut
    assert stored.record.results_hash == results_hash(selection)


def test_a_list_that_was_cut_says_so_again(tmp_path):
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(24, 1)) * 2.0  # all features share it, so that many shuffles list many
    values = factor + rng.normal(size=(24, 200))
    labels = np.where(factor[:, 0] > np.median(factor), "b", "a")
    posterior = bs.screen(values, rng.permutation(labels), shuffles=40, prior_probability=0.3)
    selection = bs.MinimalRisk(0.02).select(posterior)
    assert selection.was_cut
    stored = read_result(write_result(tmp_path / "r.csv", selection))
    assert stored.selection.was_cut
    assert stored.selection.n_selected == selection.n_selected
    assert stored.selection.summary() == selection.summary()
    assert "pass the cut of the rule" in stored.selection.summary()


def test_numbers_of_the_list_stand_in_plain_sight(tmp_path):
    posterior = study()
    selection = bs.MinimalRisk(0.5).select(posterior)
    write_result(tmp_path / "r.csv", selection)
    results = json.loads((tmp_path / "r.csv.json").read_text(encoding="utf-8"))["results"]
    counts = posterior.shuffled.counts(
        selection.cut, posterior.prior_log_odds
    )  # by the log Bayes factors themselves
    over = selection.cut - posterior.prior_log_odds
    assert counts.tolist() == [int((values > over).sum()) for values in posterior.shuffled.values]
    low, high = np.sort(counts)[[1, 28]]  # 5% and 95% of 30
    assert results["false_positives"] == {
        "expected": pytest.approx(0.97 * counts.mean()), "low": pytest.approx(0.97 * low),
        "high": pytest.approx(0.97 * high), "source": "shuffles", "n_shuffles": 30, "scheme": "samples",
    }  # fmt: skip
    assert results["count_test"]["lengths"][0] == selection.n_selected
    assert results["count_test"]["n_as_long"][0] == int((counts >= selection.n_selected).sum())
    assert results["was_cut"] is False
    plain = bs.MinimalRisk(0.5).select(replace(posterior, shuffled=None))
    write_result(tmp_path / "p.csv", plain)
    results = json.loads((tmp_path / "p.csv.json").read_text(encoding="utf-8"))["results"]
    assert results["false_positives"]["source"] == "model"
    assert results["false_positives"]["n_shuffles"] is None
    assert "count_test" not in results


def test_a_part_of_the_features_keeps_the_rates_of_all(tmp_path):
    posterior = study()
    part = bs.MinimalRisk(0.5).select(posterior).take(np.arange(0, 300, 3))
    stored = read_result(write_result(tmp_path / "r.parquet", part))
    np.testing.assert_array_equal(
        stored.posterior.expected_fdr, part.posterior.expected_fdr[part.posterior.ranking]
    )
    assert stored.selection.false_positive_estimate == part.false_positive_estimate


@pytest.mark.parametrize("damage", ["cut", "longer", "letters", "number", "lengths"])
def test_damaged_shuffles_are_refused(damage, tmp_path):
    path = write_result(tmp_path / "r.csv", bs.MinimalRisk(0.5).select(study(n=12, p=30)))
    beside = tmp_path / "r.csv.json"
    content = json.loads(beside.read_text(encoding="utf-8"))
    held = content["shuffled"]
    if damage == "cut":
        held["values"] = held["values"][:-8]
    elif damage == "longer":
        held["lengths"][0] += 1
    elif damage == "letters":
        held["reached"] = "?" + held["reached"]
    elif damage == "number":
        held["values"] = 3
    else:
        held["lengths"] = [-1, 1]
    beside.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(bs.FileError, match="damaged"):
        read_result(path)


def test_records_from_before_the_shuffles_are_read(tmp_path):
    selection = bs.MinimalRisk(0.5).select(replace(study(), shuffled=None))
    path = write_result(tmp_path / "r.csv", selection)
    beside = tmp_path / "r.csv.json"
    content = json.loads(beside.read_text(encoding="utf-8"))
    content.pop("shuffled", None)
    for name in ("false_positives", "was_cut", "count_test"):
        content["results"].pop(name, None)
    beside.write_text(json.dumps(content), encoding="utf-8")
    assert read_result(path).selection.summary() == selection.summary()


def test_the_calibrated_model_comes_back(tmp_path):
    posterior = study(model=bs.CalibratedModel(variance_weight=0.2))
    stored = read_result(write_result(tmp_path / "r.csv", bs.FixedSize(3).select(posterior)))
    assert repr(stored.posterior.model) == repr(posterior.model)
    assert stored.posterior.model.variance_weight == 0.2
    assert stored.posterior.model.variance_dof == posterior.model.variance_dof > 0


def test_expected_fdr_of_a_long_table_without_shuffles_goes_on_from_chunk_to_chunk(tmp_path):
    rng = np.random.default_rng(4)
    selection = bs.FixedSize(3).select(bs.screen(rng.normal(size=(8, 70_000)), [0, 1] * 4, shuffles=0))
    path = write_result(tmp_path / "r.csv", selection)
    lines = path.read_text(encoding="utf-8").splitlines()
    place = lines[0].split(",").index("expected_fdr")
    found = np.array([float(line.split(",")[place]) for line in lines[1:]])
    order = selection.posterior.ranking
    np.testing.assert_array_equal(found, selection.posterior.expected_fdr[order])
    assert (np.diff(found) >= 0).all()
