"""Pairs on the page: ellipses, scatter plots, the network, and what is left out where no values are shown."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import bayesieve as bs
from bayesieve.report.pairs import MARGIN, SIDE, WIDTH, draw_network, draw_panel


def made(seed=0, n=60, p=30):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2 * n, p)), np.repeat(["early", "late"], n)
    X[:, 1] = np.where(y == "early", 0.8, -0.8) * X[:, 0] + 0.6 * X[:, 1]
    return X, y


def corners(path):
    return np.array([[float(part) for part in place.split()] for place in path.strip("MZ").split(" L")])


def test_ellipses_hold_95_percent_of_a_gaussian():
    rng = np.random.default_rng(1)
    x, y = rng.multivariate_normal([2.0, -1.0], [[4.0, -1.2], [-1.2, 1.0]], size=4000).T
    panel = draw_panel(("a", "b"), "", x, y, np.zeros(x.size, dtype=int), 1)
    ring = corners(panel.ellipses[0])
    points = np.array([[float(a), float(b)] for a, b in panel.points[0]])
    assert points.shape[0] <= 400
    middle = ring[:-1].mean(axis=0)

    def inside(point):  # by the angle under which the ring is seen
        angles = np.unwrap(np.arctan2(*(ring - point).T[::-1]))
        return abs(angles[-1] - angles[0]) > np.pi

    assert inside(middle)
    assert np.mean([inside(point) for point in points]) == pytest.approx(0.95, abs=0.04)
    assert np.cov((ring[:-1] - middle).T)[0, 1] > 0  # down on the page is up in the plot: the slope is turned over


def test_points_lie_where_values_are():
    x, y = np.array([0.0, 1.0, 4.0]), np.array([5.0, 3.0, np.nan])
    panel = draw_panel(("a", "b"), "", x, y, np.zeros(3, dtype=int), 1)
    ((first, second),) = (panel.points[0],)
    assert len(panel.points[0]) == 2  # what is missing is not drawn
    assert float(first[0]) < float(second[0])
    assert float(first[1]) < float(second[1])  # larger values higher up
    for a, b in panel.points[0]:
        assert MARGIN <= float(a) <= SIDE - MARGIN
        assert MARGIN <= float(b) <= SIDE - MARGIN
    assert panel.ellipses == ("",)  # two points have none


@pytest.mark.parametrize("seed", range(8))
def test_the_network_keeps_parts_apart(seed):
    rng = np.random.default_rng(seed)
    p, k = 40, int(rng.integers(1, 40))
    first = rng.integers(0, p - 1, k)
    second = first + 1 + (rng.random(k) * (p - 1 - first)).astype(int)
    network = draw_network(first, second, np.ones(k), ["s"] * k, ["w"] * k, [f"f{i}" for i in range(p)],
                           np.arange(p) == first[0])  # fmt: skip
    members = np.unique([first, second])
    assert [node["name"] for node in network.nodes] == [f"f{i}" for i in members]
    assert [node["listed"] for node in network.nodes] == [i == first[0] for i in members]
    place = {node["name"]: (float(node["x"]), float(node["y"])) for node in network.nodes}
    assert len(set(place.values())) == members.size
    assert all(0 < x < WIDTH and 0 < y < float(network.height) for x, y in place.values())
    for edge, a, b in zip(network.edges, first, second, strict=True):
        assert (float(edge["x1"]), float(edge["y1"])) == place[f"f{a}"]
        assert (float(edge["x2"]), float(edge["y2"])) == place[f"f{b}"]
    part = connected_components(coo_array((np.ones(k), (first, second)), shape=(p, p)), directed=False)[1]
    boxes = {}
    for i in members:
        boxes.setdefault(part[i], []).append(place[f"f{i}"])
    boxes = [(np.min(points, axis=0), np.max(points, axis=0)) for points in boxes.values()]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (low > other_high).any() or (other_low > high).any()


def test_the_page_tells_of_pairs(tmp_path):
    X, y = made()
    names = ["<script>alert(1)</script>", "b&c", *(f"x{i}" for i in range(2, 30))]
    posterior, pairs = bs.screen(X, y, feature_names=names), bs.screen_pairs(X, y, feature_names=names, top=9)
    page = bs.report.write(posterior, tmp_path / "r.html", data=X, labels=y, pairs=pairs).read_text()
    section = page[page.index('<section id="pairs"') : page.index('<section id="table"')]
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;</strong> (across) and <strong>b&amp;c</strong>" in section
    assert section.count("<circle cx=") == 8 * 120
    assert section.count("<line ") == 9
    shown = re.findall(r"correlation (-?0\.\d\d) in early, (-?0\.\d\d) in late", section)[0]
    of_class = [np.corrcoef(X[y == label, 0], X[y == label, 1])[0, 1] for label in ("early", "late")]
    assert [float(each) for each in shown] == pytest.approx(of_class, abs=0.006)
    assert pairs.summary().splitlines()[0] in section


def test_a_page_without_values_draws_no_samples(tmp_path):
    X, y = made()
    posterior, pairs = bs.screen(X, y), bs.screen_pairs(X, y, top=5)
    page = bs.report.write(posterior, tmp_path / "r.html", data=X, labels=y, pairs=pairs, n_values=0).read_text()
    section = page[page.index('<section id="pairs"') : page.index('<section id="table"')]
    assert "<circle cx=" not in section
    assert "<line " in section
    plain = bs.report.write(posterior, tmp_path / "p.html", data=X, labels=y).read_text()
    assert 'id="pairs"' not in plain
