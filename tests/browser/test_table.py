"""The table: searching, sorting, filtering, keys, and few rows for many features."""

from __future__ import annotations

import numpy as np
import pytest
from browser.handling import downloaded, results, row_names, set_to, settle

ROWS = "#table-grid [role=row][data-position]"


def test_the_file_holds_every_feature_with_its_numbers(opened, made):
    study = made("two classes")
    page = opened(study.path)
    rows = downloaded(page)
    assert [row["feature"] for row in rows] == study.ranking
    assert [int(row["rank"]) for row in rows] == list(range(1, 2001))
    place = {name: i for i, name in enumerate(study.posterior.names)}
    order = [place[row["feature"]] for row in rows]
    log_odds = np.array([float(row["log_odds"]) for row in rows])
    assert log_odds == pytest.approx(study.posterior.log_odds[order], rel=1e-12)
    probability = np.array([float(row["probability"]) for row in rows])
    assert probability == pytest.approx(study.posterior.probability[order], rel=1e-9)
    case = np.array(study.labels) == "case"
    means = np.array([float(row["mean_case"]) for row in rows])
    assert means == pytest.approx(study.values[case].mean(axis=0)[order], rel=1e-6)


def test_search_keeps_what_holds_the_words(opened, made):
    study = made("command line")
    page = opened(study.path)
    page.locator("#table-search").fill("CHR1 gene")
    settle(page)
    wanted = [name for name in study.ranking if int(name.split()[1]) % 5 == 1]
    assert [row["feature"] for row in downloaded(page)] == wanted
    assert str(len(wanted)) in page.locator("#table-count").inner_text()
    page.locator("#table-search").fill("no such gene")
    settle(page)
    assert downloaded(page) == []
    assert row_names(page) == []


@pytest.mark.parametrize("key", ["feature", "log_odds", "mean_case"])
def test_headings_sort_both_ways(opened, made, key):
    study = made("two classes")
    page = opened(study.path)
    button = page.locator(f"#table-grid button[data-sort={key}]")
    orders = []
    for _ in range(2):
        button.click()
        settle(page)
        rows = downloaded(page)
        values = [row[key] for row in rows]
        found = [int(value[1:]) for value in values] if key == "feature" else [float(value) for value in values]
        direction = button.locator("xpath=..").get_attribute("aria-sort")
        assert found == sorted(found, reverse=direction == "descending")
        assert row_names(page)[:5] == [row["feature"] for row in rows[:5]]
        orders.append(direction)
    assert sorted(orders) == ["ascending", "descending"]


def test_filters_for_the_list_degenerate_and_fragile_features(opened, made):
    study = made("three classes")
    page = opened(study.path)
    page.locator("#table-filter").select_option("degenerate")
    settle(page)
    degenerate = {name for name, odd in zip(study.posterior.names, study.posterior.degenerate, strict=True) if odd}
    assert degenerate
    assert {row["feature"] for row in downloaded(page)} == degenerate
    page.locator("#table-filter").select_option("selected")
    settle(page)
    assert len(downloaded(page)) == results(page)["n_selected"]
    page = opened(made("command line").path, "#filter=fragile")
    rows = downloaded(page)
    assert rows
    assert all(float(row["log_odds"]) > 0 > float(row["least_log_odds"]) for row in rows)


def test_few_rows_exist_and_the_last_of_100_000_can_be_reached(opened, made):
    study = made("many")
    page = opened(study.path)
    assert page.locator("#table-grid").get_attribute("aria-rowcount") == "100001"
    assert row_names(page)[:3] == study.ranking[:3]
    grid = page.locator("#table-grid")
    grid.focus()
    for key, first in (("End", -1), ("Home", 0)):
        grid.press(key)
        settle(page)
        assert study.ranking[first] in row_names(page)
        assert page.locator(ROWS).count() < 80
    for share in (0.25, 0.5, 0.999):
        grid.evaluate("(grid, share) => { grid.scrollTop = share * grid.scrollHeight; }", share)
        settle(page)
        names = row_names(page)
        start = study.ranking.index(names[0])
        assert abs(start / 100_000 - share) < 0.01
        assert names == study.ranking[start : start + len(names)]
        assert page.locator(ROWS).count() < 80


def test_keys_walk_through_the_table_and_open_a_feature(opened, made):
    study = made("two classes")
    page = opened(study.path)
    grid = page.locator("#table-grid")
    grid.focus()
    for _ in range(4):
        grid.press("ArrowDown")
    grid.press("ArrowUp")
    grid.press("Enter")
    settle(page)
    assert page.locator("#feature").get_attribute("data-feature") == study.ranking[3]
    grid.focus()
    grid.press("PageDown")
    settle(page)
    active = page.locator(f"#{grid.get_attribute('aria-activedescendant')}")
    assert int(active.get_attribute("aria-rowindex")) > 8


def test_a_click_on_a_row_opens_its_feature(opened, made):
    study = made("two classes")
    page = opened(study.path)
    page.locator(f"{ROWS}[data-position='5']").click()
    settle(page)
    assert page.locator("#feature").get_attribute("data-feature") == study.ranking[5]


def test_columns_can_be_chosen(opened, made):
    page = opened(made("two classes").path)
    page.locator("#table-columns summary").click()
    box, heading = page.get_by_label("SD case", exact=True), page.locator("button[data-sort=sd_case]")
    box.check()
    settle(page)
    assert heading.count() == 1
    box.uncheck()
    settle(page)
    assert heading.count() == 0


def test_the_marks_of_the_list_follow_the_controls(opened, made):
    study = made("two classes")
    page = opened(study.path)
    set_to(page, {"rule": "cmnc", "n_selected": 3})
    marks = page.evaluate("""() => Array.from(document.querySelectorAll("#table-grid [role=row][data-position]"))
      .sort((a, b) => a.dataset.position - b.dataset.position)
      .map((row) => row.querySelector(".mark").textContent !== "")""")
    assert sum(marks) == 3
    assert all(marks[:3])
    assert [row["feature"] for row in downloaded(page) if row["selected"] == "true"] == study.ranking[:3]
