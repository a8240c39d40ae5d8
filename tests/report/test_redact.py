"""Reports without single samples: no id of a sample is anywhere in the page."""

from __future__ import annotations

import json

import numpy as np
import pytest
from jeffreys import screen

import bayesieve as bs
from bayesieve.errors import DataWarning, Message, SampleIds
from bayesieve.io.results.read import StoredColumns
from bayesieve.report import ReportData
from bayesieve.report.page import page
from bayesieve.report.payload import payload
from bayesieve.screening import RunRecord, ScreenSpec

N = 24
IDS = [f"Patient, most {i} (Oslo)" for i in range(N)]


@pytest.fixture
def fragile():
    values = np.random.default_rng(2).normal(size=(N, 30))
    values[5, 0] = 60.0
    values[N // 2 :, 1] += 4.0
    labels = ["a"] * (N // 2) + ["b"] * (N // 2)
    posterior = screen(values, labels, prior_probability=0.2)
    found = bs.fragility(values, labels, posterior=posterior)
    named = bs.Fragility(
        found.full, found.least_log_bayes_factor, found.culprit, found.n_below, found.n_skipped, found.n_removals,
        found.cut, tuple(IDS),
    )  # fmt: skip
    return posterior.with_finding(named), values, labels


def test_culprits_are_named_unless_no_sample_is_wanted(fragile):
    posterior, *_ = fragile
    record = RunRecord(spec=ScreenSpec(table="t.csv")).with_result(bs.MinimalRisk(0.5).select(posterior))
    loud, quiet = (page(ReportData.of(posterior, n_values=n, record=record)).decode() for n in (500, 0))
    assert "Patient, most 5" in loud
    assert "Patient" not in quiet
    assert "would not pass without a certain sample." in quiet
    content = payload(ReportData.of(posterior, n_values=0))
    keys = [column["key"] for column in content["columns"]]
    assert "culprit" not in keys
    assert {"least_log_odds", "n_fragile_removals"} <= set(keys)
    assert content["fragile"] == payload(ReportData.of(posterior))["fragile"]


def test_values_and_names_are_left_out_together(fragile):
    posterior, values, labels = fragile
    quiet = page(ReportData.of(posterior, data=values, labels=labels, n_values=0)).decode()
    assert "Patient" not in quiet
    assert payload(ReportData.of(posterior, data=values, labels=labels, n_values=0))["values"] is None


def test_sentences_lose_their_ids_and_nothing_else(fragile):
    posterior, *_ = fragile
    (note,) = posterior.findings[-1].notes()
    assert "Patient, most 5" in str(note)
    assert note.render(ids=False).endswith(" without a certain sample.")
    warned = DataWarning(
        "2 samples are left out", SampleIds(("P1", "p1"), ", for example "), ". Write them alike."
    )
    record = RunRecord(warnings=(warned.message,))
    for n, words in ((500, "for example P1, p1"), (0, "2 samples are left out. Write them alike.")):
        text = page(ReportData.of(posterior, n_values=n, record=record)).decode()
        assert words in text


def test_a_redacted_record_names_no_sample_and_says_what_it_hides():
    said = Message.of("2 samples are left out", SampleIds(("P1",), ", for example "), ".")
    spec = ScreenSpec(table="t.csv", ignore=("P1", "P2"), classes="a=P3,P4; b=*")
    record = RunRecord(
        spec=spec, described=(said,), warnings=(said,), label_map={"P3": "a", "P4": "a", "*": "b"},
        ids_in=("ignore", "classes"),
    )  # fmt: skip
    public = record.redacted()
    assert not any(who in json.dumps(public.to_dict()) for who in ("P1", "P2", "P3", "P4"))
    assert {name: each["n"] for name, each in public.hidden.items()} == {"ignore": 2, "classes": 2}
    assert public.described[0].render() == "2 samples are left out."
    assert public.redacted() == public


def test_stored_columns_lose_a_culprit_that_stands_alone():
    found = StoredColumns({"culprit": ["P1"], "kind": ["mean"]}).without_samples()
    assert found.columns(None) == {"kind": ["mean"]}
