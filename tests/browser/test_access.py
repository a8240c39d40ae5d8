"""The page for everybody: axe's rules, the keyboard alone, a phone, the dark, and paper."""

from __future__ import annotations

import io

import pytest
from browser.handling import results, set_to, settle
from matplotlib import image

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
DESK = {"viewport": {"width": 1440, "height": 900}}
WIDTH = "() => [document.documentElement.scrollWidth, window.innerWidth]"
FOCUSED = """() => { const element = document.activeElement;
  return { id: element.id, inside: element.closest("section, header, nav, aside, main, body").id,
    name: element.name || "", tag: element.tagName.toLowerCase(), sort: element.dataset.sort || "",
    figure: element.closest("figure")?.id || "" }; }"""


@pytest.mark.parametrize("name", ["two classes", "three classes", "sites", "together"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_serious(opened, made, name, scheme, device):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install '.[browser]'").Axe()
    page = opened(made(name).path, "#rule=fdp&prior=0.02", color_scheme=scheme, **device)
    settle(page)
    response = axe.run(page, options={"resultTypes": ["violations"]}).response
    grave = [rule for rule in response["violations"] if rule["impact"] in ("serious", "critical")]
    assert [(rule["id"], [node["html"][:120] for node in rule["nodes"][:5]]) for rule in grave] == []
    assert len(response["passes"]) > 15


def walk(page, limit=250):
    """Press Tab until the focus is back at the start of the page; return what had it."""
    seen = []
    for _ in range(limit):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused["tag"] == "body":
            break
        seen.append(focused)
    return seen


def test_the_tab_key_reaches_everything_in_the_order_of_the_page(opened, made):
    page = opened(made("two classes").path)
    seen = walk(page)
    ids = [focused["id"] for focused in seen]
    assert seen[0]["tag"] == "a", "the first stop is the link that skips to the results"
    figures = [focused["figure"] for focused in seen]
    stops = [
        figures.index("chart-effect"),
        ids.index("budget-n"),
        next(k for k, focused in enumerate(seen) if focused["name"] == "rule"),
        ids.index("control-prior"),
        ids.index("table-search"),
        ids.index("table-filter"),
        ids.index("download-csv"),
        ids.index("table-grid"),
    ]
    assert stops == sorted(stops)
    assert {"feature-next", "control-ratio", "control-prior-slider"} <= set(ids)
    assert "log_odds" in {focused["sort"] for focused in seen}


def test_the_skip_link_skips(opened, made):
    page = opened(made("two classes").path)
    page.keyboard.press("Tab")
    link = page.locator(":focus")
    assert link.is_visible()
    target = link.get_attribute("href")
    page.keyboard.press("Enter")
    assert page.evaluate("(id) => document.activeElement.matches(id)", target)


def test_everything_can_be_decided_by_keyboard(opened, made):
    page = opened(made("two classes").path)
    before = results(page)["n_selected"]
    page.locator("#control-rule input:checked").focus()
    page.keyboard.press("ArrowRight")  # from MNC to MR
    settle(page)
    assert page.locator("#control-rule input[value=mr]").is_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)["id"] == "control-threshold"
    page.keyboard.press("Control+a")
    page.keyboard.type("0.999")
    page.keyboard.press("Enter")
    settle(page)
    assert results(page)["n_selected"] < before
    assert page.locator("#command-cli").is_visible()


def test_the_focus_can_be_seen(opened, made):
    page = opened(made("two classes").path)
    for place in (
        "#control-prior",
        "#table-search",
        "#table-grid",
        "#feature-next",
        "#chart-effect canvas",
        "nav a",
    ):
        element = page.locator(place).first
        page.keyboard.press("Tab")  # the browser then shows the focus as for the keyboard
        element.focus()
        style = element.evaluate("""(element) => { const style = getComputedStyle(element);
          return [style.outlineStyle, parseFloat(style.outlineWidth), style.boxShadow]; }""")
        assert (style[0] != "none" and style[1] >= 1) or style[2] != "none", place


@pytest.mark.parametrize("name", ["two classes", "three classes", "sites", "hostile names", "command line"])
def test_the_page_does_not_scroll_sideways_on_a_phone(opened, made, name):
    page = opened(made(name).path, "#rule=fdp", **PHONE)
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        settle(page)
        scroll, window = page.evaluate(WIDTH)
        assert scroll <= window == width


def test_a_finger_opens_a_feature_on_a_phone(opened, made):
    study = made("two classes")
    page = opened(study.path, **PHONE)
    row = page.locator("#table-grid [role=row][data-position='2']")
    row.tap()
    settle(page)
    assert page.locator("#feature").get_attribute("data-feature") == study.ranking[2]


def brightness(element):
    """Return the mean brightness of what is seen of an element, from 0 to 1."""
    return float(image.imread(io.BytesIO(element.screenshot()))[..., :3].mean())


def test_the_dark_is_dark_and_can_come_while_the_page_is_open(opened, made):
    page = opened(made("two classes").path, color_scheme="light")
    places = [page.locator(place) for place in ("#headline", "#chart-effect .plot", "#chart-feature .plot")]
    for place in places:
        place.scroll_into_view_if_needed()
        assert brightness(place) > 0.7
    page.emulate_media(color_scheme="dark")
    settle(page)
    for place in places:
        assert brightness(place) < 0.4


def test_paper_shows_the_list_and_no_controls(opened, made):
    study = made("two classes")
    page = opened(study.path, "#rule=cmnc&n_selected=9")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    settle(page)
    for hidden in ("#controls", "#table-search", "#table-grid", "#download-csv", "nav"):
        assert not page.locator(hidden).is_visible(), hidden
    assert page.locator("#chart-effect .plot").is_visible()
    rows = page.locator("#print-list tbody tr")
    assert rows.count() == 9
    assert study.ranking[8] in rows.nth(8).inner_text()
    assert page.locator("#command-cli").is_visible()
    paper = page.pdf()
    assert paper.startswith(b"%PDF")
    assert paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") + paper.count(b"/Type/Page/") >= 1


def test_motion_is_left_out_for_those_who_ask(opened, made):
    page = opened(made("two classes").path, reduced_motion="reduce")
    moving = page.evaluate("""() => Array.from(document.querySelectorAll("*"))
      .filter((element) => parseFloat(getComputedStyle(element).transitionDuration) > 0.01
        || parseFloat(getComputedStyle(element).animationDuration) > 0.01).length""")
    assert moving == 0
    set_to(page, {"rule": "mnc"})


def test_without_script_the_page_still_tells_the_result(browser, made):
    study = made("two classes")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(study.path.resolve().as_uri())
    text = page.locator("body").inner_text()
    assert study.ranking[0] in text
    assert "expected" in text
    assert not page.locator("#controls").is_visible()
    context.close()
