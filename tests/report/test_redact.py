"""Reports without single samples: no id of a sample is anywhere in the page."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.errors import DataWarning, Message, SampleIds
from bayesieve.io import StoredColumns
from bayesieve.report import Story, manifest_without_samples
from bayesieve.report.page import page
from bayesieve.report.payload import payload

N = 24
IDS = [f"Patient, most {i} (Oslo)" for i in range(N)]


@pytest.fixture
def fragile():
    values = np.random.default_rng(2).normal(size=(N, 30))
    values[5, 0] = 60.0
    values[N // 2 :, 1] += 4.0
    labels = ["a"] * (N // 2) + ["b"] * (N // 2)
    posterior = bs.screen(values, labels, prior_probability=0.2)
    found = bs.fragility(values, labels, posterior=posterior)
    named = bs.Fragility(
        found.full, found.least_log_bayes_factor, found.culprit, found.n_below, found.n_skipped, found.n_removals,
        found.cut, tuple(IDS),
    )  # fmt: skip
    return posterior.with_finding(named), values, labels


def test_culprits_are_named_unless_no_sample_is_wanted(fragile):
    posterior, *_ = fragile
    manifest = {"results": {"notes": [{"kind": "fragility", "text": str(posterior.findings[-1].notes()[0])}]}}
    loud, quiet = (page(Story.of(posterior, n_values=n, manifest=manifest)).decode() for n in (500, 0))
    assert "Patient, most 5" in loud
    assert "Patient" not in quiet
    assert "would not pass without a certain sample." in quiet
    content = payload(Story.of(posterior, n_values=0))
    keys = [column["key"] for column in content["columns"]]
    assert "culprit" not in keys
    assert {"least_log_odds", "n_fragile_removals"} <= set(keys)
    assert content["fragile"] == payload(Story.of(posterior))["fragile"]


def test_values_and_names_are_left_out_together(fragile):
    posterior, values, labels = fragile
    quiet = page(Story.of(posterior, data=values, labels=labels, n_values=0)).decode()
    assert "Patient" not in quiet
    assert payload(Story.of(posterior, data=values, labels=labels, n_values=0))["values"] is None


def test_sentences_lose_their_ids_and_nothing_else(fragile):
    posterior, *_ = fragile
    (note,) = posterior.findings[-1].notes()
    assert "Patient, most 5" in str(note)
    assert note.render(ids=False).endswith(" without a certain sample.")
    warned = DataWarning(
        "2 samples are left out", SampleIds(("P1", "p1"), ", for example "), ". Write them alike."
    )
    for n, words in ((500, "for example P1, p1"), (0, "2 samples are left out. Write them alike.")):
        text = page(Story.of(posterior, n_values=n, warned=[warned.message])).decode()
        assert words in text
    manifest = {"described": ["t.csv: 3 x 4.", "Left out: 1 sample (P7)."], "warnings": ["P1."], "inputs": []}
    assert manifest_without_samples(manifest) == {"described": ["t.csv: 3 x 4."], "inputs": []}


def test_stored_columns_lose_a_culprit_that_stands_alone():
    notes = Message.of("1 of 2, most often sample P1."), Message.of("3 blocks.", kind="blocks")
    found = StoredColumns({"culprit": ["P1"], "kind": ["mean"]}, notes).without_samples()
    assert found.columns(None) == {"kind": ["mean"]}
    assert found.notes() == [notes[1]]
