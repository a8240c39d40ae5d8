"""The page of many groups: one group at a time, a search over all of them, and axe's rules."""

from __future__ import annotations

import numpy as np
import pytest
from browser.handling import settle

import bayesieve as bs


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(8)
    groups = np.repeat(["B<b>", "NK", "T", "Mono"], 15)
    values = rng.normal(size=(60, 40))
    for k, group in enumerate(dict.fromkeys(groups.tolist())):
        values[groups == group, 3 * k : 3 * k + 3] += 3.0
    names = [f"G{j}" for j in range(40)]
    lists = bs.screen_groups(values, groups, feature_names=names, shuffles=0).select()
    return bs.report.write_groups(lists, tmp_path_factory.mktemp("groups") / "groups.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_feature_leads_to_its_group(opened, path, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install '.[browser]'").Axe()
    page = opened(path, color_scheme=scheme)
    assert page.locator("section:visible").count() == 1
    page.locator("#groups-search").fill("G4, TP53")
    settle(page)
    assert "Not among the rows of this page: TP53" in page.inner_text("#groups-count")
    assert "G4: a marker, rank" in page.inner_text("#groups-found")
    response = axe.run(page, options={"resultTypes": ["violations"]}).response
    page.locator("#groups-found a").first.click()
    assert page.locator("section:visible h1").inner_text() in ("B<b>", "NK", "T", "Mono")
    assert page.locator("section:visible tr.found").count() == 1
    more = axe.run(page, options={"resultTypes": ["violations"]}).response
    grave = [rule["id"] for each in (response, more) for rule in each["violations"]
             if rule["impact"] in ("serious", "critical")]  # fmt: skip
    assert grave == []
