"""The page of compared methods: overlap, ranks, and nothing that runs."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.report import write_comparison
from bayesieve.report.comparison_page import comparison_content, overlap

RNG = np.random.default_rng(2)
X = RNG.normal(size=(40, 120))
X[20:, :10] += 1.2
LABELS = ["control"] * 20 + ["case"] * 20
NAMES = ["<img src=x onerror=alert(1)>", *(f"g{j}" for j in range(119))]


@pytest.fixture(scope="module")
def found():
    return bs.compare_methods(X, LABELS, ["welch", "limma", "bd"], top=15, feature_names=NAMES)


def test_every_set_of_lists_is_counted_once(found):
    listed = found.listed()
    told = {column["words"]: int(column["count"]) for column in overlap(listed, ["a", "b", "c"])["columns"]}
    known = {}
    for size in (1, 2, 3):
        for members in combinations(range(3), size):
            others = [k for k in range(3) if k not in members]
            n = int((listed[list(members)].all(axis=0) & ~listed[others].any(axis=0)).sum())
            if n:
                known[f"{n} in {', '.join('abc'[k] for k in members)} only"] = n
    assert told == known
    assert sum(told.values()) == found.union().size


def test_points_lie_by_the_logarithms_of_their_ranks(found):
    panel = comparison_content(found)["panels"][0]
    ranks = found.ranks[:2, found.union()]
    places = np.array(panel["points"]).T
    for axis in (0, 1):
        slope, start = np.polyfit(np.log(ranks[axis]), places[axis], 1)
        np.testing.assert_allclose(start + slope * np.log(ranks[axis]), places[axis], atol=0.11)
        assert np.sign(slope) == (1, -1)[axis]


def test_the_page_holds_all_and_runs_nothing(found, tmp_path):
    text = write_comparison(found, tmp_path / "methods.html", title="<b>x</b>").read_text("utf-8")
    assert "<script" not in text
    assert "<img" not in text
    assert "<b>x</b>" not in text
    assert "default-src 'none'" in re.sub("&#39;", "'", text)
    assert all(title in text for title in found.titles.values())
    with pytest.raises(bs.OptionError, match=r"end in \.html"):
        write_comparison(found, tmp_path / "methods.txt")
