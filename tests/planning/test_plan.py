"""plan(): predicted against realised numbers, goals, looks half way, threads, words and refusals."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.planning import Goal
from bayesieve.planning.designs import parse_designs

EFFECTS = bs.StatedEffects(n_features=600, n_markers=30, differences=(0.6, 1.2), variance_share=0.2)


def study(rng, n, means, deviations):
    X = rng.normal(size=(2 * n, deviations.size))
    X[n:, : means.size] += means
    return X * deviations, np.repeat(["a", "b"], n)


@pytest.fixture(scope="module")
def pilot():
    rng = np.random.default_rng(4)
    return study(rng, 10, rng.normal(0.0, 1.2, 40), rng.uniform(0.5, 2.0, 600))


@pytest.fixture(scope="module")
def found(pilot):
    return bs.plan(*pilot, per_class="15,40", rules=("mnc", "fdr:0.1"), futures=80, interim=True, shuffles=10,
                   cost_per_sample=100, cost_per_follow_up=10, goal="8 markers at 80% right")  # fmt: skip


def test_intervals_hold_what_studies_find():
    """A small version of docs/experiments/plan_coverage.py: 12 pilots of 8 + 8, studies of 30 + 30."""
    held, told, real = [], [], []
    for i in range(12):
        rng = np.random.default_rng((11, i))
        means, deviations = rng.normal(0.0, 1.2, 40), 1.0 / np.sqrt(rng.gamma(2.0, 0.5, 500))
        plan = bs.plan(*study(rng, 8, means, deviations), per_class=30, futures=60, shuffles=8, seed=i)
        mask = bs.MinimalRisk(0.5).select(bs.screen(*study(rng, 30, means, deviations), shuffles=0)).mask
        low, high = plan.expected[0].interval(plan.expected[0].counts.true)
        real.append(int(mask[:40].sum()))
        told.append(plan.expected[0].counts.true.mean())
        held.append(low <= real[-1] <= high)
    assert sum(held) >= 9
    assert np.mean(told) == pytest.approx(np.mean(real), rel=0.25)


def test_numbers_grow_with_samples(found):
    table = found.to_frame()
    assert table.height == 2 * len({*table["n0"]})
    for rule in found.rules:
        true = [each.counts.true.mean() for each in found.of_rule(rule)]
        assert true == sorted(true)
    assert (table["true_low"] <= table["true"]).all()
    assert (table["true"] <= table["true_high"]).all()
    assert (table["true_error"] > 0).all()
    assert table["probability_right"].is_between(0, 1).all()
    power = [each for each in zip(*found.power().values(), strict=True) if each[0] == "mnc" and each[3] == "mean"]
    last = [each[5] for each in power if each[1] == 40]
    assert last == sorted(last)
    assert last[-1] > 0.95


def test_the_answer_is_the_cheapest_that_reaches_the_goal(found):
    table = found.to_frame()
    good = table.filter(table["goal_probability"] >= 0.8)
    assert found.answer.cost <= good["cost"].min()
    reached = found.answer.reaches(0.8, 8)
    assert reached.mean() > 0.8 - 2.0 * found.answer.counts.error(reached)
    assert any(line.startswith("The cheapest study with 8 true markers") for line in found.sentences())
    costs = [100 * (n0 + n1) + 10 * listed for n0, n1, listed in table.select("n0", "n1", "listed").iter_rows()]
    assert table["cost"].to_list() == pytest.approx(costs)


def test_looks_half_way(found):
    for each in found.expected:
        look, final = each.interim, each.counts.listed.mean()
        assert 0 < look.listed < final
        assert look.found * final == pytest.approx(look.holds * look.listed)  # features of both lists
        assert look.design.n0 == max(each.design.n0 // 2, 2)


def test_a_goal_out_of_reach_is_said_to_be(pilot):
    plan = bs.plan(*pilot, per_class=10, futures=10, goal="500 markers at 90% right", shuffles=0)
    assert plan.answer is None
    assert "is not reached by any study of up to 2000 + 2000 samples" in " ".join(plan.sentences())


def test_the_pilot_adds_to_what_is_found(pilot):
    alone, both = (bs.plan(*pilot, per_class=12, futures=60, shuffles=0, combined=c) for c in (False, True))
    assert both.to_dict()["true"][0] > 1.2 * alone.to_dict()["true"][0]
    assert "together with the pilot" in both.summary()
    assert "without the pilot" in alone.summary()


def test_statistics_and_screens_are_pilots_too(pilot):
    X, y = pilot
    moments = bs.Moments.from_matrix(X, y, shape=True)
    plans = [bs.plan(data, futures=20, per_class=20) for data in (moments, bs.screen(X, y, shuffles=0))]
    assert plans[0].to_dict() == plans[1].to_dict()
    assert "labels were not shuffled" in plans[0].summary()


def test_seeds_and_threads():
    plans = [
        bs.plan(effects=EFFECTS, per_class=(10, 20), futures=30, seed=seed, n_threads=n).to_dict()
        for seed, n in ((3, 1), (3, 2), (4, 1))
    ]
    assert plans[0] == plans[1] != plans[2]
    assert bs.plan(effects=EFFECTS, per_class=20, futures=30, seed=3).to_dict()["true"][0] == plans[0]["true"][1]


def test_batches_cost_locations_and_ratios_samples():
    def true(**options):
        return bs.plan(effects=EFFECTS, futures=60, **options).to_dict()["true"][0]

    assert true(per_class=12, batches=6) < true(per_class=12)
    assert true(per_class=12) < true(per_class=12, ratio="1:3") < true(per_class=24)


def test_shuffled_labels_promise_little():
    """Features share factors; labels mean nothing."""
    rng = np.random.default_rng(0)
    promised = []
    for _ in range(4):
        X = rng.normal(size=(40, 600)) + rng.normal(size=(40, 2)) @ rng.normal(size=(2, 600))
        plan = bs.plan(X, rng.permutation([0, 1] * 20), per_class=80, futures=30, shuffles=20)
        promised.append(plan.to_dict()["true"][0])
    assert np.median(promised) < 5
    assert "Features vary together" in plan.summary()


def test_a_pilot_of_nothing_says_so():
    rng = np.random.default_rng(1)
    plan = bs.plan(rng.normal(size=(30, 500)), [0, 1] * 15, per_class=20, futures=40, shuffles=10)
    assert plan.to_dict()["true"][0] < 3
    assert "The pilot shows nothing reliable" in plan.summary()


def test_shuffles_say_whether_a_pilot_is_to_be_relied_on(pilot):
    """Samples share a factor; what the labels do is weighed against what labels dealt by chance do."""
    X, y = pilot
    rng = np.random.default_rng(5)
    shared = X + 0.7 * np.outer(rng.normal(size=20), rng.normal(size=600))
    real = bs.plan(shared, y, per_class=20, futures=4, shuffles=19)
    assert real.source.by_chance == (0, 19)
    assert "nothing reliable" not in real.summary()
    luck = bs.plan(shared, rng.permutation(y), per_class=20, futures=4, shuffles=19)
    as_much, shuffles = luck.source.by_chance
    assert as_much > 0
    assert f"{as_much} of {shuffles} shuffles of its labels show as much" in luck.summary()


def test_at_a_glance_and_as_files(found, tmp_path):
    assert len(repr(found)) < 600
    assert repr(found).startswith("Plan of 6 lists")
    assert "<table" in found._repr_html_()
    whole = json.loads(found.to_json())
    assert whole["columns"]["rule"] == found.to_dict()["rule"]
    page = found.report(tmp_path / "p.html", title="<script>alert(1)</script>").read_text()
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page
    assert page.count("<polyline") == 2 * 2 + 4 * 3
    assert not re.search(r"(src|href)=.https?:", page)


def test_figures(found):
    pytest.importorskip("matplotlib")
    assert [axes.get_title(loc="left") for axes in found.plot.numbers().axes] == ["mnc", "fdr:0.1"]
    assert len(found.plot.power().axes) == 4


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("50 markers at 90% right", Goal(50, 0.9, 0.8)),
        ("1 marker", Goal(1, 0.9, 0.8)),
        ("20 true markers at 75.5% right with probability 95%", Goal(20, 0.755, 0.95)),
    ],
)
def test_goals_are_read(text, goal):
    read = Goal.parse(text)
    assert (read.markers, read.right, read.assurance) == pytest.approx((goal.markers, goal.right, goal.assurance))


def test_designs_are_read():
    assert [str(each) for each in parse_designs("20, 40,20")] == ["20 + 20", "40 + 40"]
    assert [str(each) for each in parse_designs([10, (5, 8)], "2:1")] == ["20 + 10", "5 + 8"]
    assert str(parse_designs("7+9")[0]) == "7 + 9"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"per_class": 1}, "no spread"),
        ({"per_class": "ten"}, "whole numbers"),
        ({"per_class": ""}, "whole numbers"),
        ({"per_class": ()}, "names no size"),
        ({"ratio": "1:0"}, "such as 1:2"),
        ({"ratio": "a:b"}, "such as 1:2"),
        ({"batches": 20}, "more than 20 samples"),
        ({"batches": 2, "interim": True}, "half way"),
        ({"goal": "many"}, "is written like"),
        ({"rules": ()}, "at least one rule"),
        ({"rules": "cmnc:5000"}, "more features than"),
        ({"futures": 1}, "at least 2"),
        ({"right": 2}, "between 0 and 1"),
        ({"prior_probability": "estimate"}, "between 0 and 1"),
        ({"cost_per_sample": -1}, "at least 0"),
        ({"combined": True}, "no samples to combine"),
        ({"effects": None}, "give one of them"),
    ],
)
def test_what_cannot_be_planned(options, words):
    with pytest.raises(bs.BayesieveError, match=re.escape(words)):
        bs.plan(**{"effects": EFFECTS, "futures": 4, "per_class": 20, **options})


def test_pilots_that_cannot_be_used():
    X = np.random.default_rng(0).normal(size=(9, 30))
    with pytest.raises(bs.LabelError, match="two classes"):
        bs.plan(X, [0, 1, 2] * 3)
    with pytest.raises(bs.LabelError, match="of class 0"):
        bs.plan(X, [0] * 9)
    with pytest.raises(bs.DataError, match="at least two samples"):
        bs.plan(X, [0] * 8 + [1])
    with pytest.raises(bs.DataError, match="varies"):
        bs.plan(np.ones((8, 3)), [0, 1] * 4)
    counts = bs.screen(
        np.random.default_rng(0).poisson(5, (12, 20)), [0, 1] * 6, model=bs.PoissonModel(), shuffles=0
    )
    with pytest.raises(bs.DataError, match="Counts and categories"):
        bs.plan(counts)


@pytest.mark.parametrize(
    "wrong", [{"n_markers": 30, "n_features": 30}, {"differences": ()}, {"differences": (-1,)},
              {"variance_ratios": (0.5,)}, {"variance_share": 2}, {"kurtosis": -1}, {"n_markers": 0}],
)  # fmt: skip
def test_effects_that_cannot_be(wrong):
    with pytest.raises(bs.OptionError):
        bs.StatedEffects(**wrong)


def test_an_interruption_gets_through(pilot):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bs.plan(*pilot, per_class=20, futures=20, shuffles=0, n_threads=2, progress=stop)


def test_errors_come_from_the_chains():
    plan = bs.plan(effects=EFFECTS, per_class=20, futures=200)
    counts = plan.expected[0].counts
    naive = counts.true.std(ddof=1) / math.sqrt(counts.true.size)
    assert counts.error(counts.true) == pytest.approx(naive, rel=0.6)  # stated effects: futures are independent
