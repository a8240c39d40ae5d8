"""The site without building it: its menus, its names, its executed pages, and its check of links."""

from __future__ import annotations

import sys

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from test_docs import HOW_TO, ROOT

DOCS = ROOT / "docs"
if not (DOCS / "_site").is_dir():
    pytest.skip("an installed package holds no docs", allow_module_level=True)
sys.path[:0] = [str(DOCS), str(DOCS / "_site"), str(DOCS / "experiments")]

import check_links  # noqa: E402 - the folders come first
import differences  # noqa: E402
import links  # noqa: E402
import names  # noqa: E402

from bayesieve.report.glossary import SYNONYMS, all_terms  # noqa: E402

PAGES = {
    path.relative_to(DOCS).with_suffix("").as_posix(): path
    for ending in ("md", "ipynb")
    for path in DOCS.rglob(f"*.{ending}")
}
EXECUTED = {
    page: path for page, path in PAGES.items() if path.suffix == ".md" and "{code-cell}" in path.read_text("utf-8")
}


def test_every_public_name_is_in_one_group_of_the_reference():
    public, _ = names.names_of_face()
    grouped = [name for group in names.GROUPS.values() for name in group]
    assert sorted(grouped) == sorted(public)
    assert len(grouped) > 100


def test_every_room_of_the_package_has_a_page():
    found = names.rooms()
    assert {"stats", "models", "report.figures", "tl", "errors"} <= set(found)
    assert [room for room in found if not names.names_of_face(room)[0]] == []


def test_every_page_is_in_exactly_one_menu():
    entries = [
        page
        for hub in links.MENUS
        for _, page in links.menu(links.relink(PAGES[hub].read_text("utf-8"), f"docs/{hub}.md", hub), hub)
    ]
    assert sorted(entries) == sorted(set(PAGES) - {"index"})


def test_the_menu_has_the_labels_and_the_order_of_the_folder():
    found = links.menu((HOW_TO / "README.md").read_text("utf-8"), "how-to/README")
    assert found[0] == ("A first screen, step by step", "how-to/first-screen")
    assert ("My Excel file", "how-to/excel") in found
    assert links.menu("| [`a` b](x.md) | see [y](y.md) |\n| [z](../z.md) |", "how-to/README") == [
        ("a b", "how-to/x"),
        ("y", "how-to/y"),
    ]


def test_a_menu_has_the_headings_of_the_how_tos_and_every_page_once():
    found = links.sections(
        "[a](a.md)\n## One\n[b](b.md) [a](a.md)\n## Two\nx\n## Three\n[c](c.md)\n", "how-to/README"
    )
    assert found == [
        ("", [("a", "how-to/a")]),
        ("One", [("b", "how-to/b")]),
        ("Three", [("c", "how-to/c")]),
    ]


def test_links_that_leave_the_docs_lead_to_what_stands_for_them():
    text = "[a](../../README.md#start) [b](../../src/x.py) [`c`](../../src/x.py) ![d](p.png) [e](https://e.org/x)"
    shown = "[a](../project/overview.md#start) `b` `c` ![d](p.png) [e](https://e.org/x)"
    assert links.relink(text, "docs/theory/a.md", "theory/a") == shown
    assert links.relink("[a](docs/a.md)", "README.md", "project/overview") == "[a](../a.md)"


@pytest.mark.parametrize("page", EXECUTED)
def test_executed_pages_are_python(page):
    text = EXECUTED[page].read_text("utf-8")
    assert text.startswith("---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n")
    cells = text.split("```{code-cell} python3\n")[1:]
    for cell in cells:
        code = cell.partition("\n```")[0]
        if code.startswith("---\n"):
            code = code.split("---\n", 2)[2]
        lines = [line for line in code.splitlines() if not line.startswith(":tags:")]
        compile(TransformerManager().transform_cell("\n".join(lines)), page, "exec")
    assert cells


def test_pictures_of_executed_pages_have_words():
    for page, path in EXECUTED.items():
        text = path.read_text("utf-8")
        drawn = (
            text.count(".plot.")
            + text.count("figures.set_dots(")
            + text.count("figures.forest(")
            + text.count("figures.recovery(")
        )
        assert text.count("    alt: ") == drawn, page


def test_five_tutorials():
    assert len([page for page in EXECUTED if page.startswith("tutorials/")]) == 5


def test_synonyms_are_those_of_terms():
    keys = [key for key, _, _ in all_terms()]
    assert len(keys) == len(set(keys))
    assert set(SYNONYMS) <= set(keys)
    assert set(keys) - set(SYNONYMS) <= {"least-prior"}


@pytest.mark.parametrize(("name", "made"), [("limma", "arrays"), ("deseq2", "reads"), ("scanpy", "cells")])
def test_stored_results_of_others_fit_the_data_and_say_what_made_them(name, made):
    columns, said = differences.stored(name)
    values, labels, _ = getattr(differences, made)()
    assert {column.size for column in columns.values()} == {values.shape[1]}
    assert len(labels) == values.shape[0]
    assert name in said.casefold()
    assert f"seed {differences.SEED}" in said


def test_the_stored_statistic_is_of_these_data():
    """A difference of means, computed here, must follow limma's t closely."""
    values, labels, _ = differences.arrays()
    difference = values[labels == "case"].mean(axis=0) - values[labels == "control"].mean(axis=0)
    t = differences.stored("limma")[0]["statistic"]
    assert ((difference > 0) == (t > 0)).all()


def test_the_check_of_links_finds_what_is_wrong(tmp_path):
    (tmp_path / "b.html").write_text("<h1 id='here'>b</h1>", "utf-8")
    (tmp_path / "s.css").write_text("@import 'https://e.org/f.css'; a { background: url(data:x) }", "utf-8")
    good = "<a href='b.html#here'>b</a><a href='https://e.org/x'>e</a><a href='#c'>c</a><p id='c'></p>"
    (tmp_path / "a.html").write_text(good, "utf-8")
    assert check_links.check(tmp_path) == ["https://e.org/f.css is fetched from elsewhere: s.css (1)"]
    wrong = "<a href='c.html'></a><a href='b.html#no'></a><a href='http://e'></a><img src='//e.org/i.png'>"
    (tmp_path / "a.html").write_text(wrong, "utf-8")
    assert [line.partition(":")[0] for line in check_links.check(tmp_path)] == [
        "//e.org/i.png is fetched from elsewhere",
        "b.html#no leads to no anchor",
        "c.html leads to no file",
        "http",
        "https",
    ]
