"""The charts: points open features, by mouse and by keyboard, and every chart says what it shows."""

from __future__ import annotations

import numpy as np
from browser.handling import results, set_to, settle, tooltip, until

CHARTS = ("effect", "rank", "roc", "discovery", "false", "probability", "feature", "composition")


def effects(study):
    """Return the standardised difference of means and the log variance ratio of each feature, by name."""
    case = np.array(study.labels) == "case"
    first, second = study.values[~case], study.values[case]
    spread, other = first.var(axis=0, ddof=1), second.var(axis=0, ddof=1)
    x = (second.mean(axis=0) - first.mean(axis=0)) / np.sqrt((spread + other) / 2)
    return {name: (x[i], np.log(other[i] / spread[i])) for i, name in enumerate(study.posterior.names)}


def named(page, box, place):
    """Move the mouse to a place in a box; return the name of the point there, or None."""
    page.mouse.move(box["x"] + place[0], box["y"] + place[1])
    told = tooltip(page, "chart-effect")
    return told.locator("div").first.inner_text() if told.is_visible() else None


def hovered(page, canvas, grid):
    """Move the mouse over a grid of places; return those where a point is named, and the name."""
    box = canvas.bounding_box()
    steps = [k / grid for k in range(1, grid)]
    places = [(box["width"] * column, box["height"] * row) for row in steps for column in steps]
    found = [(place, named(page, box, place)) for place in places]
    return [(place, name) for place, name in found if name is not None]


def steady(page, canvas, found):
    """Keep the places from which the mouse may slip by two pixels without losing the point."""
    box, slips = canvas.bounding_box(), [(-2, -2), (-2, 2), (2, -2), (2, 2)]
    return [
        (place, name)
        for place, name in found
        if all(named(page, box, (place[0] + dx, place[1] + dy)) == name for dx, dy in slips)
    ]


def test_the_mouse_finds_points_where_they_belong_and_opens_them(opened, made):
    study = made("two classes")
    page = opened(study.path)
    canvas = page.locator("#chart-effect canvas")
    canvas.scroll_into_view_if_needed()
    found = hovered(page, canvas, 12)
    known = effects(study)
    assert len({name for _, name in found}) > 8
    places = np.array([place for place, _ in found])
    values = np.array([known[name] for _, name in found])
    for axis, sign in ((0, 1), (1, -1)):
        slope, start = np.polyfit(values[:, axis], places[:, axis], 1)
        assert np.sign(slope) == sign
        assert np.abs(start + slope * values[:, axis] - places[:, axis]).max() < 25  # a point within 12 px answers
    sure = steady(page, canvas, found)
    assert len(sure) > 1
    for place, name in (sure[0], sure[-1]):
        canvas.click(position={"x": place[0], "y": place[1]})
        settle(page)
        assert page.locator("#feature").get_attribute("data-feature") == name
        assert name in page.locator("#feature-name").inner_text()
        until(page, "(name) => location.hash.includes(`feature=${name}`)", name)


def test_keys_walk_through_the_points_by_rank_and_open_one(opened, made):
    study = made("two classes")
    page = opened(study.path)
    for chart in ("chart-effect", "chart-rank"):
        canvas = page.locator(f"#{chart} canvas")
        canvas.focus()
        canvas.press("Home")
        for _ in range(3):
            canvas.press("ArrowRight")
        settle(page)
        assert study.ranking[3] in tooltip(page, chart).inner_text()
        until(page, "(name) => document.getElementById('announcer').textContent.includes(name)", study.ranking[3])
        canvas.press("Enter")
        settle(page)
        assert page.locator("#feature").get_attribute("data-feature") == study.ranking[3]
        canvas.press("Home")
        canvas.press("Enter")
        settle(page)
        assert page.locator("#feature").get_attribute("data-feature") == study.ranking[0]


def test_the_panel_goes_through_the_ranking_and_closes(opened, made):
    study = made("two classes")
    page = opened(study.path)
    panel = page.locator("#feature")
    assert panel.get_attribute("data-feature") == study.ranking[0]
    assert "feature=" not in page.url
    page.locator("#feature-next").click()
    page.locator("#feature-next").click()
    settle(page)
    assert panel.get_attribute("data-feature") == study.ranking[2]
    page.locator("#feature-previous").click()
    settle(page)
    assert panel.get_attribute("data-feature") == study.ranking[1]
    page.keyboard.press("Escape")
    settle(page)
    assert panel.get_attribute("data-feature") == study.ranking[0]


def test_the_panel_tells_the_statistics_of_the_classes(opened, made):
    study = made("two classes")
    page = opened(study.path, f"#feature={study.ranking[7]}")
    column = study.values[:, study.posterior.names.index(study.ranking[7])]
    case = np.array(study.labels) == "case"
    texts = page.locator("#feature-statistics tbody tr").all_inner_texts()
    for text, part in zip(texts, (column[~case], column[case]), strict=True):
        cells = [cell.replace("\u2212", "-") for cell in text.split("\t")]
        assert int(cells[1]) == part.size
        assert abs(float(cells[2]) - part.mean()) < 0.01
        assert abs(float(cells[3]) - part.std(ddof=1)) < 0.01


def test_every_chart_is_drawn_and_says_what_it_shows(opened, made):
    page = opened(made("two classes").path)
    for chart in CHARTS:
        plot = page.locator(f"#chart-{chart} .plot")
        plot.scroll_into_view_if_needed()
        named = plot.locator("[aria-label]").first
        assert len(named.get_attribute("aria-label")) > 20, chart
        drawing = plot.locator("canvas, svg").first
        assert drawing.bounding_box()["height"] > 60, chart


def test_charts_follow_the_controls(opened, made):
    page = opened(made("two classes").path)

    said = "(id) => document.querySelector(`#chart-${id} .plot [aria-label]`).getAttribute('aria-label')"
    settle(page)
    before = {chart: page.evaluate(said, chart) for chart in ("effect", "rank", "roc", "discovery", "false")}
    set_to(page, {"rule": "cmnc", "n_selected": 17})
    assert results(page)["n_selected"] == 17
    for chart, words in before.items():  # those out of sight follow a moment later
        until(page, f"([id, words]) => ({said})(id) !== words", [chart, words])
    assert "17" in page.evaluate(said, "effect")


def test_pairs_are_drawn_and_named(opened, made):
    study = made("together")
    page = opened(study.path)
    section = page.locator("#pairs")
    section.scroll_into_view_if_needed()
    first = section.locator(".pair-panels figure").first
    assert "g10" in first.locator("figcaption").inner_text()
    assert "reversed" in first.locator("figcaption").inner_text()
    assert first.locator("svg circle").count() == 80
    colours = [
        first.locator(f".pair-{k} circle").first.evaluate("dot => getComputedStyle(dot).fill") for k in (0, 1)
    ]
    assert len(set(colours)) == 2
    dot, frame = (first.locator(each).first.bounding_box() for each in ("circle", "svg"))
    assert frame["x"] <= dot["x"]
    assert dot["x"] + dot["width"] <= frame["x"] + frame["width"]
    assert section.locator(".pair-network line").count() == 30
    section.locator("summary").click()
    assert section.locator("tbody tr").first.is_visible()
    assert section.locator("tbody tr").count() == 30
