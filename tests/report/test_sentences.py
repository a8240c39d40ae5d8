"""What the page says: numbers as in the selection, warnings where they belong and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from jeffreys import screen

import bayesieve as bs
from bayesieve.errors import Message
from bayesieve.report import ReportData
from bayesieve.report.context import make_context, method
from bayesieve.report.sentences import describe_warnings, facts, figures_of_merit, headline
from bayesieve.screening import RunRecord


def drawn(rng, shift=1.5, n_samples=40):
    values, labels = rng.normal(size=(n_samples, 300)), np.arange(n_samples) % 2
    values[labels == 1, :20] += shift
    return values, labels


def kinds(report):
    return [each["kind"] for each in describe_warnings(report)]


def test_headline_has_the_numbers_of_the_selection(rng):
    posterior = screen(*drawn(rng))
    selection = bs.NeymanPearson(2.0).select(posterior)
    said = " ".join(headline(ReportData.of(posterior, rule=bs.NeymanPearson(2.0))))
    low, high = selection.false_positives.interval(0.9)
    for words in (
        f"{selection.n_selected} of 300 features are selected (at most 2 false positives expected)",
        "0 (20 samples) with 1 (20 samples)",
        f"{selection.expected_false_positives:.1f} expected under the model",
        f"90% interval {low} to {high}",
        f"{selection.expected_under_null:,.1f} expected under the global null",
        f"Markers missed: {selection.expected_false_negatives:.1f}",
        f"among all features: {posterior.expected_markers:.1f}",
    ):
        assert words in said, words
    merit = figures_of_merit(ReportData.of(posterior, rule=bs.NeymanPearson(2.0)))
    assert merit["Expected markers in it"] == f"{selection.expected_true_positives:.1f}"


def test_an_empty_list_says_what_to_do(rng):
    posterior = screen(*drawn(rng, 0.0), prior_probability=1e-6)
    best = posterior.names[posterior.ranking[0]]
    said = " ".join(headline(ReportData.of(posterior)))
    assert "0 of 300 features are selected" in said
    assert f"Nothing passes the cut: the best feature, {best!r}" in said
    assert "below the cut in log-odds" in said
    shell = " ".join(headline(ReportData.of(posterior, command=True)))
    for page in (said, shell):
        assert "move the controls below" in page
        assert not any(name in page for name in ("FixedSize", "with_prior", "--n-selected"))
    assert "FixedSize(n)" in bs.MinimalRisk(0.5).select(posterior).summary()


def test_plain_data_are_warned_of_little(rng):
    assert kinds(ReportData.of(screen(*drawn(rng)))) == ["calibration", "dependence", "ratio"]
    values, labels = drawn(rng)
    model = bs.GaussianModel.proper(variance_scale=3.0)
    assert kinds(ReportData.of(screen(values, labels, model=model))) == ["calibration", "dependence"]


@pytest.mark.filterwarnings("ignore::bayesieve.DegenerateFeatureWarning")
def test_warnings_are_there_where_they_belong(rng):
    values, labels = drawn(rng, n_samples=16)
    values[:, 3] = 1.0
    values[2, 5] = np.nan
    posterior = screen(values, labels, missing="omit")
    found = posterior.with_finding(bs.fragility(values, labels, posterior=posterior, missing="omit"))
    said = [*map(Message.of, ("the table", "Left out: 2 samples.", "A warning.", "A warning."))]
    record = RunRecord(described=said[:2], warnings=said[2:])
    report = ReportData.of(found, record=record)
    said = describe_warnings(report)
    by_kind = {each["kind"]: each["text"] for each in said}
    assert by_kind["data"] == "Left out: 2 samples."
    assert [each["text"] for each in said].count("A warning.") == 1
    assert by_kind["degenerate"].startswith("1 feature without usable variance")
    assert by_kind["missing"].startswith("1 feature of 300 lacks values")
    assert by_kind["small"].startswith("Fewer than 10 values in 0 (8) and 1 (8)")
    counted = describe_warnings(ReportData.of(posterior, data=values, labels=labels))
    assert any(each["text"].startswith("Fewer than 10 samples in 0 (8)") for each in counted)
    assert "would not pass without a certain sample" in by_kind["fragile"]
    robust = bs.fragility(values, labels, posterior=posterior, missing="omit").posterior()
    texts = {each["kind"]: each["text"] for each in describe_warnings(ReportData.of(robust))}
    assert "not calibrated" in texts["calibration"]
    assert "under the global null" not in " ".join(headline(ReportData.of(robust)))


def test_samples_are_counted_where_they_can_be(rng):
    values, labels = drawn(rng, n_samples=60)
    values[rng.random(values.shape) < 0.5] = np.nan
    posterior = screen(values, labels, missing="omit")
    most = int(posterior.statistics.counts[0].max())
    assert most < 30
    said = headline(ReportData.of(posterior))[0]
    assert f"0 (up to {most} values) with 1" in said
    assert facts(ReportData.of(posterior))[0][1].startswith(f"0: up to {most};")
    for n_values in (0, 5):
        report = ReportData.of(posterior, data=values, labels=labels, n_values=n_values)
        assert "0 (30 samples) with 1 (30 samples)" in headline(report)[0]
        assert report.class_counts == {"0": 30, "1": 30}
    assert (
        "0 (30 samples)"
        in headline(ReportData.of(posterior, record=RunRecord(class_counts={"0": 30, "1": 30})))[0]
    )


def test_a_simulation_without_an_event_does_not_say_nothing(rng):
    values, labels = drawn(rng, 6.0)
    posterior = screen(values, labels, model=bs.GaussianModel.proper())
    strict = ReportData.of(posterior, rule=bs.FixedSize(1))
    assert strict.under_null == 0.0
    assert strict.null_grid.resolution < 0.01
    step = "under 0.01"
    assert f"{step} expected under the global null" in headline(strict)[1]
    assert figures_of_merit(strict)["Expected under the global null"] == step
    assert step in method(strict)[-1]["paragraphs"][0]
    assert step in strict.selection.summary()
    loose = ReportData.of(posterior, rule=bs.FixedSize(300))
    assert "fewer than" not in " ".join(headline(loose))
    exact = ReportData.of(screen(values, labels), rule=bs.FixedSize(1))
    assert "fewer than" not in " ".join(headline(exact))


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
def test_what_is_said_of_the_prior_ratio_is_so(rng):
    values, labels = drawn(rng, 0.7, n_samples=60)
    blocks, three, gaps = np.arange(60) // 20, np.arange(60) % 3, values.copy()
    gaps[:20, ::2] = np.nan
    cases = {
        "all log-odds move with log L, and ranks do not": (values, labels, {}),
        "all log-odds move with 3 log L, once per block, and ranks do not": (values, labels, {"blocks": blocks}),
        "patterns with more groups further": (values, three, {}),
        "only if features are known from equally many": (gaps, labels, {"blocks": blocks, "missing": "omit"}),
    }
    for words, (table, classes, options) in cases.items():
        first, second = (
            screen(table, classes, model=bs.GaussianModel.jeffreys(ratio), **options) for ratio in (0.1, 0.001)
        )
        said = next(each["text"] for each in describe_warnings(ReportData.of(first)) if each["kind"] == "ratio")
        assert words in said
        moved = (second.log_bayes_factor - first.log_bayes_factor) / np.log(0.01)
        wanted = 3.0 if "3 log L" in words else 1.0
        assert ("ranks do not" in said) == np.allclose(moved, wanted)


def test_the_method_has_the_numbers_used(rng):
    report = ReportData.of(screen(*drawn(rng), prior_probability=0.03), rule=bs.MinimalRisk(0.9))
    told_all = " ".join(
        " ".join(part["paragraphs"]) + " " + part["formula"] for part in method(report)
    )  # fmt: skip
    numbers = ("0.03", "here 0.1.", "K(20, 20)", "T = 0.9", "costs 9 times as much", "equation 3.8")
    for words in numbers:
        assert words in told_all, words
    proper = ReportData.of(screen(*drawn(rng), model=bs.GaussianModel.proper(variance_scale=3.0)))
    text = " ".join(method(proper)[1]["paragraphs"])
    assert "0: kappa = 3, s = 3, nu = 0.1, m = 0; 1: kappa = 3, s = 3, nu = 0.1, m = 0.2" in text


def test_every_rule_and_design_has_its_method(rng):
    values, labels = drawn(rng)
    posterior = screen(values, labels)
    rules = [bs.MinimalRisk(1.0), bs.FixedSize(0), bs.FixedSize(3), bs.NeymanPearson(1), bs.FalseDiscovery(0.1),
             bs.FalseDiscovery(0.1, confidence=0.5)]  # fmt: skip
    stories = [ReportData.of(posterior, rule=rule) for rule in rules]
    stories += [
        ReportData.of(screen(values, np.arange(40) % 3)),
        ReportData.of(screen(values, labels, pairs=np.arange(40) // 2)),
        ReportData.of(screen(rng.poisson(4.0, values.shape), labels, model=bs.PoissonModel())),
        ReportData.of(screen(values > 0, labels, model=bs.CategoricalModel())),
        ReportData.of(screen(values, labels, prior_probability=np.linspace(0, 1, 300))),
        ReportData.of(screen(values, labels, model=bs.GaussianModel.jeffreys(np.linspace(0.1, 1, 300)))),
        ReportData.of(screen(values, labels, blocks=np.arange(40) // 20, block_model="shift")),
    ]
    for report in stories:
        texts = make_context(report)
        assert all(part["paragraphs"] and all(part["paragraphs"]) for part in texts["method"])
        assert "nan" not in " ".join(texts["headline"])
        assert len(texts["top"]) == 50
        assert texts["top"][0]["rank"] == "1"
