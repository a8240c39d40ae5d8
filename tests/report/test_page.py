"""One file that asks for nothing: policy, escaping, sizes, and that every part is in it."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from pathlib import Path

import numpy as np
import pytest
from jeffreys import screen

import bayesieve as bs
from bayesieve.errors import Message
from bayesieve.report import ReportData, page as pages
from bayesieve.report.page import STYLES, page
from bayesieve.screening import RunRecord, ScreenSpec

ROOM = Path(pages.__file__).parent
HOSTILE = "</script><img src=x onerror=alert(1)>"


class Reader(html.parser.HTMLParser):
    """Collects tags, attributes, and the text of scripts, styles and everything else."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.inside, self.texts = [], [], {"script": [], "style": [], "": []}

    def handle_starttag(self, tag, attrs):
        """Note a tag."""
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inside.append(tag)
            self.texts[tag].append("")

    def handle_endtag(self, tag):
        """Leave a script or a style."""
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data):
        """Add text to where it stands."""
        if self.inside:
            self.texts[self.inside[-1]][-1] += data
        else:
            self.texts[""].append(data)


def read(content):
    reader = Reader()
    reader.feed(content.decode())
    reader.close()
    return reader


@pytest.fixture(scope="module")
def posterior():
    rng = np.random.default_rng(5)
    values, labels = rng.normal(size=(40, 50)), np.arange(40) % 2
    values[labels == 1, :4] += 2.0
    return screen(values, labels, shuffles=0)


@pytest.fixture(scope="module")
def whole(posterior):
    return read(page(ReportData.of(posterior, title="Practice")))


def test_all_files_are_in_the_page_once():
    for path in (ROOM / "scripts").glob("*.js"):
        names = re.findall(r"^export (?:function|const) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        for name in names:
            declared = re.findall(rf"^(?:function|const) {name}\b", pages.script(), re.MULTILINE)
            assert len(declared) == 1, (path, name)
    of_others = ("comparison", "groups", "plan")  # the styles of other pages
    assert sorted([*STYLES, *of_others]) == sorted(path.stem for path in (ROOM / "styles").glob("*.css"))


def test_the_policy_allows_the_script_and_the_style_of_the_page_only(whole):
    metas = [attrs for tag, attrs in whole.tags if tag == "meta"]
    policy = next(meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy")
    rules = dict(part.split(" ", 1) for part in policy.split("; "))
    (code,) = (text for text in whole.texts["script"] if '"schema"' not in text[:20])
    (style,) = whole.texts["style"]

    def digest(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules == {
        "default-src": "'none'", "script-src": digest(code), "style-src": digest(style), "img-src": "data:",
        "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip


def test_every_word_that_is_explained_is_in_the_glossary(whole):
    known = {attrs["id"] for _, attrs in whole.tags if attrs.get("id", "").startswith("term-")}
    used = [attrs["data-term"] for _, attrs in whole.tags if "data-term" in attrs]
    assert len(used) > 15
    assert {f"term-{key}" for key in used} <= known
    words = [attrs for _, attrs in whole.tags if "term" in attrs.get("class", "")]
    assert all(attrs["aria-describedby"] in known for attrs in words)


def test_the_page_loads_nothing_and_runs_nothing_inline(whole):
    for tag, attrs in whole.tags:
        assert tag not in ("iframe", "object", "embed", "base"), tag
        assert "style" not in attrs, (tag, attrs)
        assert not [name for name in attrs if name.startswith("on")], (tag, attrs)
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            assert attrs.get(name, "#").startswith(("#", "data:")), (tag, attrs)
    scripts = [attrs for tag, attrs in whole.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "payload"}, {}]


def test_nothing_dangerous_is_in_the_sources():
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOM / "scripts").glob("*.js"))
    words = (
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(",
        "XMLHttpRequest", "localStorage", "sessionStorage", "import(",
    )  # fmt: skip
    for word in words:
        assert word not in sources, word
    assert not re.search(r"https?://(?!www\.w3\.org/)", sources)
    assert "url(" not in "".join((ROOM / "styles" / f"{name}.css").read_text(encoding="utf-8") for name in STYLES)


def test_hostile_texts_stay_texts(rng):
    values, labels = rng.normal(size=(20, 4)), [HOSTILE, "b"] * 10
    names = [HOSTILE, "'\"\u2028", "\ud800", "\u202ex" * 500]
    said = (Message.of(HOSTILE),)
    record = RunRecord(
        spec=ScreenSpec(table=HOSTILE), described=said * 2, warnings=said, inputs=({"path": HOSTILE},)
    )
    report = ReportData.of(
        screen(values, labels, feature_names=names), title=HOSTILE, subtitle=HOSTILE,
        annotation={HOSTILE: [HOSTILE] * 4}, record=record,
    )  # fmt: skip
    content = page(report)
    reader = read(content)
    assert b"<img" not in content
    assert "img" not in [tag for tag, _ in reader.tags]
    assert len([tag for tag, _ in reader.tags if tag == "script"]) == 2
    told = "".join(reader.texts[""])
    assert told.count(HOSTILE) >= 8
    assert set(json.loads(reader.texts["script"][0])["names"]) == set(names)


def test_the_page_tells_its_story_without_script(whole, posterior):
    told = " ".join(" ".join(whole.texts[""]).split())
    selection = bs.MinimalRisk(0.5).select(posterior)
    assert f"{selection.n_selected} of 50 features are selected" in told
    for words in (
        "Jeffreys' prior", "Poisson-binomial", "equation 3.9", "Theory of Optimal Bayesian Feature Filtering",
        "Intervals assume that features are independent", bs.__version__, *selection.names,
    ):  # fmt: skip
        assert words in told, words


def test_sizes_and_values_of_twenty_thousand_features():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=(200, 20_000)), np.arange(200) % 2
    names = [f"ENSG{j:011d}" for j in range(20_000)]
    posterior = screen(values, labels, feature_names=names)
    assert len(page(ReportData.of(posterior))) <= 3.5e6
    assert len(page(ReportData.of(posterior, data=values, labels=labels))) <= 6e6


def test_sizes_with_everything_there_is():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=(60, 20_000)), np.arange(60) % 2
    posterior = screen(values, labels)
    for finding in (bs.kinds(posterior), bs.effects(posterior), bs.pearson_neyman(posterior)):
        posterior = posterior.with_finding(finding)
    report = ReportData.of(posterior, annotation={"chromosome": [str(j % 23) for j in range(20_000)]})
    assert len(page(report)) <= 3.9e6
