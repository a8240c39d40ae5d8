"""Summaries hold the numbers of the study, and nothing in them is markup that was not meant."""

from __future__ import annotations

import html.parser
import itertools
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_studies import as_in_the_specification, results_of
from small_studies import CONSTANTS, small_study

from bayesieve.errors import DataError, FileError, MissingExtraError
from bayesieve.study import Method, StudyDesign, run_study, write_report
from bayesieve.study.report import escape_markdown, means_table

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
EVIL = '<script>alert("1")</script> | *x* [a](b) `c`'


class Reader(html.parser.HTMLParser):
    """Collects tags and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):  # noqa: D102
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):  # noqa: D102
        assert self.open.pop() == tag

    def handle_data(self, data):  # noqa: D102
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def specified():
    return as_in_the_specification(iterations=20)


@pytest.fixture(scope="module")
def report(specified, tmp_path_factory):
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("report")
    paths = write_report(specified, folder, command="bayesieve study figure-1b --out <here>", formats=("png",))
    return folder, paths


def test_a_report_is_made_of_figures_numbers_and_words(report):
    folder, paths = report
    names = ["figure-1b.png", "results.csv", "summary.md", "summary.html"]
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_tables_hold_the_means(report, specified):
    """Route: NumPy on the raw values."""
    lines = (report[0] / "summary.md").read_text(encoding="utf-8").splitlines()
    start = lines.index("## Features labelled correctly")
    cells = [
        cell.strip() for cell in next(line for line in lines[start:] if line.startswith("| 1,000")).split("|")
    ]
    values = specified.wide.filter((pl.col("n") == 1000) & (pl.col("method") == "mnc-obf-jp"))[
        "correct"
    ].to_numpy()
    error = np.std(values, ddof=1) / np.sqrt(values.size)
    assert cells[2] == f"{np.mean(values):,.1f} ({error:.2f})" == f"19,969.4 ({error:.2f})"


def test_the_table_of_means_is_the_store_s(report, specified):
    table = pl.read_csv(report[0] / "results.csv")
    assert table.height == 7 * 12
    assert "seconds" not in table.columns
    means = specified.means("false_positives")
    assert table["false_positives"].to_numpy() == pytest.approx(means["mean"].to_numpy(), abs=1e-6)
    assert table["iterations"].unique().to_list() == [20]


def test_the_summary_says_what_was_done(report):
    text = (report[0] / "summary.md").read_text(encoding="utf-8")
    assert "20 data sets at 12 numbers of samples from 50 to 5,000" in text
    assert "20,000 features, of which 100 are markers" in text
    assert "    bayesieve study figure-1b --out <here>\n" in text
    assert "### Does not hold: MNC-OBF-JP is better than selecting nothing, at every n" in text
    assert "](figure-1b.png)" in text
    assert "numpy" in text


def test_html_is_one_file_without_scripts(report):
    reader = read((report[0] / "summary.html").read_text(encoding="utf-8"))
    tags = [tag for tag, _ in reader.tags]
    assert "script" not in tags
    assert "link" not in tags
    sources = [attributes["src"] for tag, attributes in reader.tags if tag == "img"]
    assert sources
    assert all(str(source).startswith("data:image/svg+xml;base64,") for source in sources)
    assert "bayesieve study figure-1b --out <here>" in "".join(reader.text)


def test_reports_are_the_same_every_time(report, specified, tmp_path):
    write_report(specified, tmp_path, command="bayesieve study figure-1b --out <here>", formats=())
    for name in ("results.csv", "summary.html"):  # the HTML file holds the figures
        assert (tmp_path / name).read_bytes() == (report[0] / name).read_bytes()


def texts_of(results, folder, **settings):
    """Markdown and HTML of a report without files of figures."""
    write_report(results, folder, formats=(), **settings)
    return [(folder / f"summary.{ending}").read_text(encoding="utf-8") for ending in ("md", "html")]


def test_names_of_the_user_are_text(tmp_path):
    methods = (Method("a", EVIL, "obf-jp", "mnc", options={"prior_probability": 0.3}), Method("b", "B", "bd"))
    design = StudyDesign("mine", methods, (20, 40), 2, title=EVIL, constants=CONSTANTS)
    markdown, page = texts_of(run_study(design, tmp_path, workers=1), tmp_path, command=EVIL)
    reader = read(page)
    assert "script" not in [tag for tag, _ in reader.tags]
    assert "".join(reader.text).count(EVIL) >= 1 + 1 + 3 + 1  # title, methods, heads of tables, command
    written, command = markdown.split("## How it was made")
    assert f"\n    {EVIL}\n" in command  # indented: nothing in it can end the block
    assert "<script" not in written
    assert "\\[a\\](b)" in written
    rows = [line for line in written.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {3, 4, 6}  # one method, two, and the design
    assert escape_markdown("two\nlines") == "two lines"


def test_a_study_on_other_data_says_so(tmp_path):
    text, _ = texts_of(run_study(small_study(iterations=2, sizes=(20,)), tmp_path, workers=1), tmp_path)
    assert "280 features, of which 100 are markers" in text
    assert "low\\_variance\\_blocks = 5" in text
    assert "section 6" not in text


def test_unequal_iterations_and_gaps_are_shown(specified, tmp_path):
    design = StudyDesign("mine", specified.design.methods[:2], (50, 100), 20)
    wide = specified.wide.filter(
        (pl.col("n") <= 100)
        & ((pl.col("method") == "mnc-obf-jp") | (pl.col("n") == 100) & (pl.col("iteration") < 5))
    ).filter(pl.col("method").is_in(["mnc-obf-jp", "mnc-obf-pp"]))
    text, _ = texts_of(results_of(wide.to_dict(as_series=False), design), tmp_path)
    assert "5 to 20 data sets at 2 numbers of samples" in text
    row = next(line for line in text.splitlines() if line.startswith("| 50 |"))
    assert row.endswith("|  |")


def test_without_matplotlib_all_but_the_figures_is_written(specified, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError):
        write_report(specified, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.csv", "summary.html", "summary.md"]


def test_a_study_without_results_is_refused(specified, tmp_path):
    empty = results_of({"n": [], "iteration": [], "method": [], "correct": []}, specified.design)
    with pytest.raises(DataError, match="no results yet"):
        write_report(empty, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_one_method_at_one_size_makes_a_report(tmp_path):
    results = run_study(small_study().changed(sizes=[20], iterations=1, methods=["welch"]), tmp_path, workers=1)
    names = [path.name for path in write_report(results, tmp_path)]
    assert names == ["results.csv", "summary.md", "summary.html"]
    assert "1 data set at 20 samples" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_is_named(specified, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="Cannot make the folder"):
        write_report(specified, tmp_path / "file" / "report")


def test_costs_have_their_own_table(tmp_path):
    methods = (Method("obf", "OBF", "obf-jp"), Method("bd", "BD", "bd"))
    design = StudyDesign("times", methods, (20,), 2, raw=True, constants=CONSTANTS, measures=("labels", "costs"))
    results = run_study(design, tmp_path, workers=1)
    text, _ = texts_of(results, tmp_path)
    assert "| method | n | milliseconds | standard error | times the first | peak MB | iterations |" in text
    assert "| OBF | 20 |" in text
    assert {"seconds", "peak_bytes"} <= set(means_table(results).columns)


def rows_below(text: str) -> list[list[str]]:
    """Cells of the first table in a text."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    table = itertools.takewhile(
        lambda line: line.startswith("|"), itertools.dropwhile(lambda line: not line.startswith("|"), lines)
    )
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table]


@pytest.mark.parametrize("study", ["figure-1b", "figure-1a", "stopping", "calibration", "sensitivity"])
def test_the_pages_of_results_show_the_numbers_beside_them(study):
    if not (RESULTS / f"{study}.csv").is_file():
        pytest.skip("there are no committed results")
    numbers = pl.read_csv(RESULTS / f"{study}.csv")
    page = (RESULTS / f"{study}.md").read_text(encoding="utf-8")
    tables = [page.partition("## Features labelled correctly\n")[2]]
    readme = re.split(f"<!-- (?:end of )?{study} -->\n?", (RESULTS / "README.md").read_text(encoding="utf-8"))
    tables += readme[1:2]
    for head, _, *rows in map(rows_below, tables):
        assert len(rows) >= 5
        for n, *cells in rows:
            at_n = numbers.filter(pl.col("n") == int(n.replace(",", "")))
            expected = {
                row["title"]: f"{row['correct']:,.1f} ({row['correct_standard_error']:.2f})"
                for row in at_n.iter_rows(named=True)
            }
            shown = dict(zip((title.replace("\\", "") for title in head[1:]), cells, strict=True))
            assert {title: cell for title, cell in shown.items() if cell} == expected
