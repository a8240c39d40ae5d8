"""Views of samples and features: heatmap, zoom, lasso, pinned features, charts as files, a pasted list."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from browser.handling import row_names, settle, until

from bayesieve.report.sample_view import clustered, sample_order, standardise

PNG = b"\x89PNG\r\n\x1a\n"


def strongest(study, n):
    places = [study.posterior.names.index(name) for name in study.ranking[:n]]
    return study.values[:, places].T


def saved(page, name):
    with page.expect_download() as coming:
        page.locator(f'[data-save="{name}"]').click()
    return coming.value.suggested_filename, Path(coming.value.path()).read_bytes()


def box_of(page):
    canvas = page.locator("#chart-effect canvas")
    canvas.scroll_into_view_if_needed()
    return canvas.bounding_box()


def left_third(page):
    """Edges of the left third of the map, in the pixels of the window."""
    frame = box_of(page)
    left, right = frame["x"] + 5, frame["x"] + frame["width"] - 5
    return left, frame["y"] + 30, left + (right - left) / 3, frame["y"] + frame["height"] - 20


def drag(page, places):
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=4)
    page.mouse.up()
    settle(page)


def test_the_heatmap_shows_the_values_in_the_order_of_python(opened, made):
    study = made("two classes")
    page = opened(study.path)
    canvas = page.locator("#chart-heatmap canvas")
    canvas.scroll_into_view_if_needed()
    canvas.focus()
    scaled = standardise(strongest(study, 60))[:50]
    rows = clustered(scaled)
    samples = sample_order(scaled, (np.array(study.labels) == "case").astype(int))
    for k in range(4):
        canvas.press("ArrowRight" if k == 3 else "ArrowDown")
    settle(page)
    told = page.locator("#announcer").inner_text()
    row, column = 2, 1  # the first key goes to the first cell
    feature, sample = study.ranking[rows[row]], samples[column]
    value = study.values[sample, study.posterior.names.index(feature)]
    assert told.startswith(f"{feature}, sample {sample}, value ")
    number = float(re.search(r"value ([\d.\u2212]+)", told)[1].replace("\u2212", "-"))
    assert number == pytest.approx(value, rel=1e-3)
    assert f"class: {study.labels[sample]}" in told
    canvas.press("Enter")
    settle(page)
    assert page.locator("#feature").get_attribute("data-feature") == feature


def test_the_map_zooms_and_goes_back(opened, made):
    page = opened(made("two classes").path)
    frame = box_of(page)
    middle = (frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    label = "() => document.querySelector('#chart-effect canvas').getAttribute('aria-label')"
    page.mouse.move(*middle)
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 40)  # the page scrolls as long as the map is not meant
    until(page, "(y) => scrollY !== y", before)
    assert "a part of it" not in page.evaluate(label)
    page.locator("#chart-effect canvas").focus()
    frame = box_of(page)
    page.mouse.move(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    page.mouse.wheel(0, -300)
    until(page, f"() => ({label})().includes('a part of it')")
    page.locator("#map-reset").click()
    until(page, f"() => !({label})().includes('a part of it')")
    page.locator("#chart-effect canvas").press("+")
    until(page, f"() => ({label})().includes('a part of it')")
    page.locator("#map-axes").select_option("welch")
    until(page, f"() => ({label})().startsWith('Map of ranks')")
    until(page, "() => location.hash.includes('axes=welch')")


def test_a_lasso_and_a_box_pick_features_for_the_table(opened, made):
    study = made("two classes")
    page = opened(study.path)
    page.locator("[data-tool=box]").click()
    left, top, third, bottom = left_third(page)
    drag(page, [(left, top), (third, bottom)])
    names = page.locator("#map-picked-names").inner_text().split("\n")
    case = np.array(study.labels) == "case"
    first, second = study.values[~case], study.values[case]
    spread = np.sqrt((first.var(axis=0, ddof=1) + second.var(axis=0, ddof=1)) / 2)
    x = dict(zip(study.posterior.names, (second.mean(axis=0) - first.mean(axis=0)) / spread, strict=True))
    inside, outside = [x[name] for name in names], [value for name, value in x.items() if name not in names]
    assert len(names) > 3
    assert max(inside) < min(outside) + 0.02
    page.locator("#map-picked-table").click()
    settle(page)
    assert row_names(page)
    assert set(row_names(page)) <= set(names)
    assert f"{len(names)} of 2,000 features match" in page.locator("#table-count").inner_text()
    page.locator("#map-picked-clear").click()
    settle(page)
    page.locator("[data-tool=lasso]").click()
    left, top, third, bottom = left_third(page)
    drag(page, [(left, top), (third, top), (third, bottom), (left, bottom), (left, top + 2)])
    assert page.locator("#map-picked-names").inner_text().split("\n") == names
    until(page, "() => location.hash.includes('picked=')")
    again = opened(study.path, page.evaluate("location.hash"))
    assert again.locator("#map-picked-names").inner_text().split("\n") == names


def test_two_features_stand_side_by_side(opened, made):
    study = made("two classes")
    page = opened(study.path)
    page.locator("#feature-pin").click()
    page.locator("#feature-next").click()
    settle(page)
    table = [row.split("\t") for row in page.locator("#pinned-table tr").all_inner_texts()]
    numbers = {row[0]: row[1:] for row in table}
    assert table[0][1:] == [study.ranking[1], study.ranking[0]]
    assert numbers["Rank"] == ["2", "1"]
    case = np.array(study.labels) == "case"
    for k, name in enumerate(table[0][1:]):
        column = study.values[:, study.posterior.names.index(name)]
        wins = (column[case][:, None] > column[~case]) + 0.5 * (column[case][:, None] == column[~case])
        area = max(wins.mean(), 1 - wins.mean())
        assert float(numbers["AUC"][k]) == pytest.approx(area, abs=6e-4)
        higher = "case" if column[case].mean() > column[~case].mean() else "control"
        assert numbers["Direction"][k] == f"higher in {higher}"
        i = study.posterior.names.index(name)
        least = 1 / (1 + np.exp(study.posterior.log_bayes_factor[i]))
        shown = float(numbers["Listed from prior probability"][k])
        assert shown == pytest.approx(least, rel=0.06)
    until(page, "() => ['pinned=', 'feature='].every((each) => location.hash.includes(each))")
    again = opened(study.path, page.evaluate("location.hash"))
    assert again.locator("#pinned-name").inner_text() == study.ranking[0]
    assert again.locator("#feature").evaluate("(each) => each.getBoundingClientRect().top") < 300
    again.locator("#pinned-close").click()
    settle(again)
    assert again.locator("#pinned").is_hidden()


def test_charts_become_files(opened, made):
    study = made("two classes")
    page = opened(study.path, color_scheme="dark")
    for name in ("effect", "rank", "heatmap", "components", "sensitivity", "feature"):
        file, content = saved(page, f"{name}.png")
        assert file.endswith(f"-{name}.png")
        assert content.startswith(PNG)
    corner = page.evaluate(
        """async (bytes) => { const picture = await createImageBitmap(new Blob([Uint8Array.from(bytes)]));
        const canvas = new OffscreenCanvas(picture.width, picture.height); const draw = canvas.getContext("2d");
        draw.drawImage(picture, 0, 0); return [...draw.getImageData(0, 0, 1, 1).data]; }""",
        list(content),
    )
    assert corner == [255, 255, 255, 255]
    file, content = saved(page, "feature.svg")
    root = ElementTree.fromstring(content)
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert f"value of {study.ranking[0]}" in texts
    dots = [each for each in root.iter("{http://www.w3.org/2000/svg}path") if each.get("d", "").count("a") == 2]
    assert len(dots) >= 60
    _, content = saved(page, "effect.svg")
    root = ElementTree.fromstring(content)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) >= 20
    with page.expect_download() as coming:
        page.locator("#save-sheet").click()
    assert Path(coming.value.path()).read_bytes().startswith(PNG)
    assert page.evaluate("document.documentElement.dataset.saving") is None


def test_a_pasted_list_is_found_and_a_row_keeps_its_place(opened, made):
    study = made("two classes")
    page = opened(study.path)
    wanted = [study.ranking[k] for k in (0, 5, 900)]
    page.locator("#table-search").focus()
    page.evaluate(
        """(text) => { const data = new DataTransfer(); data.setData("text/plain", text);
        document.getElementById("table-search").dispatchEvent(
          new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })); }""",
        "\n".join([*wanted, "NOSUCH"]) + "\n",
    )
    settle(page)
    assert row_names(page) == wanted
    assert "Not found: NOSUCH." in page.locator("#table-count").inner_text()
    page.locator("#table-grid").scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    page.locator("#table-grid [role=row][data-position]").nth(1).click()
    settle(page)
    assert page.locator("#feature").get_attribute("data-feature") == wanted[1]
    page.locator("#feature-back").click()
    until(page, "(y) => Math.abs(scrollY - y) < 2", before)
    assert page.locator("#feature").get_attribute("data-feature") == wanted[1]
