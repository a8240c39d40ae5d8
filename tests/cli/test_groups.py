"""``bayesieve screen`` with many classes: markers of each group, in long form, on the console and as a report."""

from __future__ import annotations

import base64
import hashlib
import html
import re

import numpy as np
import pandas as pd
import pytest
from commands import inside, read_exactly

import bayesieve as bs
from bayesieve.report.groups import LARGEST


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *words: inside(capfd, monkeypatch, *words)


@pytest.fixture
def cells(rng, tmp_path):
    """Ten clusters of 12 cells, whose names need care, with one marker each."""
    labels = np.repeat([f"c{k}<b>&,\"'" if k == 9 else f"c{k}" for k in range(10)], 12)
    values = rng.normal(5.0, 1.0, (120, 25))
    for k in range(10):
        values[12 * k : 12 * k + 12, k] += 4.0 * (-1) ** k
    frame = pd.DataFrame(values, columns=[f"g{j}" for j in range(25)])
    frame.insert(0, "cluster", labels)
    frame.to_csv(tmp_path / "cells.csv", index=False)
    return values, labels


def test_many_classes_are_compared_with_the_rest(run, cells):
    found = run("screen", "cells.csv", "--labels", "cluster", "--out", "m.csv", "--shuffles", "20")
    assert found.code == 0
    assert "There are 10 classes" in found.said
    assert "(--groups rest)" in found.said
    assert "by construction" in found.said
    assert max(map(len, found.messages)) <= 80
    assert re.search(r"^c0 +12 +\d+ +g0\+", found.err, re.MULTILINE)
    assert re.search(r"^c1 +12 +\d+ +g1-", found.err, re.MULTILINE)
    table = read_exactly("m.csv")
    values, labels = cells
    lists = bs.screen_groups(values, labels, shuffles=20, feature_names=[f"g{j}" for j in range(25)]).select()
    pd.testing.assert_frame_equal(table, lists.to_pandas(), check_dtype=False, rtol=1e-9)


def test_named_reference_other_formats_and_standard_output(run, cells):
    found = run(
        "screen", "cells.csv", "--labels", "cluster", "--groups", "c3", "--out", "m.parquet", "--only-selected",
        "--shuffles", "0", "--log-scale", "log2", "--threshold", "0.9",
    )  # fmt: skip
    assert found.code == 0
    assert "Markers of 9 groups, each against c3" in found.said
    table = pd.read_parquet("m.parquet")
    assert set(table.reference) == {"c3"}
    assert table.selected.all()
    assert (table.log2_fold_change == table.difference).all()
    assert (table.probability > 0.9).all()
    found = run("screen", "cells.csv", "--labels", "cluster", "--groups", "each", "--shuffles", "0", "-q")
    assert len(found.out.splitlines()) == 1 + 90 * 25
    found = run(
        "screen", "cells.csv", "--labels", "cluster", "--out", "m.xlsx", "--only-selected", "--shuffles", "0"
    )
    assert found.code == 0


def test_two_classes_can_be_asked_for(run, cells):
    found = run(
        "screen",
        "cells.csv",
        "--labels",
        "cluster",
        "--classes",
        "c0, c1",
        "--groups",
        "rest",
        "--shuffles",
        "0",
        "-q",
    )
    lines = found.out.splitlines()
    assert lines[0].startswith("group,reference,rank,feature,log_odds")
    assert len(lines) == 51


def test_annotations_name_features(run, cells, tmp_path):
    rows = ["id,symbol,chromosome", *(f"g{j},GENE{j},{j}" for j in range(25))]
    (tmp_path / "genes.csv").write_text("\n".join(rows) + "\n")
    found = run(
        "screen", "cells.csv", "--labels", "cluster", "--features", "genes.csv", "--label-column", "symbol",
        "--out", "m.csv", "--shuffles", "0",
    )  # fmt: skip
    assert found.code == 0
    table = read_exactly("m.csv")
    assert (table.feature.str.replace("GENE", "g") == table.feature_id).all()
    assert (table.feature_id.str[1:].astype(int) == table.chromosome).all()


def test_report(run, cells):
    found = run("screen", "cells.csv", "--labels", "cluster", "--report", "m.html", "--shuffles", "0")
    assert found.code == 0
    assert found.out == ""
    with open("m.html", encoding="utf-8") as file:
        page = file.read()
    assert "<b>&," not in page
    assert "c9&lt;b&gt;&amp;,&#34;&#39;" in page
    assert page.count("<section") == 11
    assert page.count("<script") == 1, "the page's own, whose hash is in its policy"
    script = page[page.index("<script>") + 8 : page.index("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html.unescape(page)
    assert set(re.findall(r'href="#([^"]*)"', page)) <= set(re.findall(r'id="([^"]*)"', page))


def test_the_page_names_no_folder(run, cells, tmp_path):
    run("screen", str(tmp_path / "cells.csv"), "--labels", "cluster", "--report", "m.html", "--shuffles", "0")
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert str(tmp_path) not in page
    assert "cells.csv" in page


def test_mistakes(run, cells):
    base = ("screen", "cells.csv", "--labels", "cluster")
    for words, message in (
        (("--groups", "c77"), "names no group"),
        (("--groups", "rest", "--kinds"), "--groups does not go with --kinds"),
        (("--groups", "rest", "--manifest", "m.json"), "--groups does not go with --manifest"),
        (("--classes", "c0,c1", "--log-scale", "log2"), "Add --groups rest"),
        (("--groups", "rest", "--log-scale", "log2", "--transform", "log2"), "logarithms already"),
        (("--effects",), "For the markers of each class use --groups rest"),
    ):
        found = run(*base, *words)
        assert found.code == 2, words
        assert message in found.said


def test_measurements_are_still_no_classes(run, cells):
    frame = read_exactly("cells.csv")
    frame["cluster"] = 40 + np.arange(120) % 12
    frame.to_csv("ages.csv", index=False)
    found = run("screen", "ages.csv", "--labels", "cluster")
    assert found.code == 2
    assert "If the labels are measurements" in found.said
    frame["cluster"] = np.arange(120) % 12
    frame.to_csv("clusters.csv", index=False)
    assert run("screen", "clusters.csv", "--labels", "cluster", "--shuffles", "0", "-q").code == 0


def test_a_report_of_two_hundred_groups_stays_small(rng, tmp_path):
    labels = np.repeat(np.arange(200), 3)
    names = [
        f"a very long name of a feature, as transcripts and peptides have them, number {j:04d}" * 3
        for j in range(400)
    ]
    markers = bs.screen_groups(rng.normal(size=(600, 400)), labels, shuffles=0, feature_names=names)
    path = bs.report.write_groups(markers.select(), tmp_path / "many.html")
    assert path.stat().st_size < LARGEST
    with pytest.raises(bs.OptionError, match=r"let .*many\.txt end in \.html"):
        bs.report.write_groups(markers.select(), tmp_path / "many.txt")
