"""What the charts of samples, the contour and the comparison with other methods are made of."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata, ttest_ind

import bayesieve as bs
from bayesieve.models import tempering
from bayesieve.posterior import evidence_surface
from bayesieve.report import ReportData
from bayesieve.report.encoding import decode_array
from bayesieve.report.payload import payload
from bayesieve.report.sample_view import components, sample_order, standardise

RNG = np.random.default_rng(4)
LABELS = ["control"] * 14 + ["case"] * 11
CASE = np.array(LABELS) == "case"


def made(n_features: int = 80) -> np.ndarray:
    values = RNG.standard_t(6, size=(25, n_features)) * RNG.uniform(0.5, 3.0, n_features) + 5.0
    values[np.ix_(CASE, np.arange(12))] += 2.5
    return values


VALUES = made()


def screened(**options):
    return bs.screen(VALUES, LABELS, classes=("control", "case"), shuffles=0, **options)


def content(posterior, **options):
    return payload(ReportData.of(posterior, data=VALUES, labels=LABELS, **options))


@pytest.mark.parametrize(
    "model", [bs.GaussianModel.jeffreys(), bs.GaussianModel.jeffreys(0.3), bs.CalibratedModel()]
)
def test_the_surface_is_the_log_bayes_factor_of_every_feature_at_its_place(model):
    posterior = screened(model=model)
    surface = evidence_surface(posterior)
    first, second = VALUES[~CASE], VALUES[CASE]
    v0, v1 = first.var(axis=0, ddof=1), second.var(axis=0, ddof=1)
    x = (second.mean(axis=0) - first.mean(axis=0)) / np.sqrt((v0 + v1) / 2)
    within = 13 * v0 + 10 * v1
    share = tempering(posterior.moments, getattr(posterior.model, "kurtosis", 0.0) or 0.0)
    found = surface.log_bayes_factor(x, np.log(v1 / v0), within, share)
    assert surface.exact == (not isinstance(model, bs.CalibratedModel))
    np.testing.assert_allclose(found, posterior.log_bayes_factor, rtol=1e-9, atol=1e-9)


def test_the_grid_of_the_contour_is_the_surface_of_the_median_feature():
    posterior = screened()
    found = content(posterior)["surface"]
    x, y, heights = (decode_array(found[key]) for key in ("x", "y", "log_bayes_factor"))
    surface = evidence_surface(posterior)
    known = surface.log_bayes_factor(*np.meshgrid(x, y))
    np.testing.assert_allclose(heights.reshape(y.size, x.size), known, rtol=1e-12)
    assert np.all(np.diff(known, axis=1) > -1e-9)  # a larger difference is more evidence


@pytest.mark.parametrize("kind", ["missing", "blocks", "three"])
def test_without_two_plain_classes_there_is_no_contour(kind):
    values, labels, options = VALUES.copy(), LABELS, {}
    if kind == "missing":
        values[3, 5] = np.nan
        options = {"missing": "omit"}
    elif kind == "blocks":
        options = {"blocks": ["a", "b"] * 12 + ["a"]}
    else:
        labels = ["a", "b", "c"] * 8 + ["a"]
    assert evidence_surface(bs.screen(values, labels, shuffles=0, **options)) is None


def test_ranks_of_other_methods_are_those_of_all_features():
    posterior = screened()
    found = {each["key"]: decode_array(each["rank"]) for each in content(posterior)["agreement"]}
    assert set(found) == {"welch", "limma"}
    p = ttest_ind(VALUES[CASE], VALUES[~CASE], equal_var=False).pvalue
    assert found["welch"].tolist() == rankdata(p, method="ordinal")[posterior.ranking].tolist()


def test_p_values_are_those_of_welch():
    posterior = screened()
    found = {each["key"]: decode_array(each["minus_log10_p"]) for each in content(posterior)["agreement"]}
    p = ttest_ind(VALUES[CASE], VALUES[~CASE], equal_var=False).pvalue
    np.testing.assert_allclose(found["welch"], -np.log10(p)[posterior.ranking], rtol=1e-6)
    assert found["limma"].size == 80


def test_heatmaps_of_every_size_are_arranged_as_far_as_there_are_values():
    sizes = content(screened())["sample_view"]["sizes"]
    assert [each["n"] for each in sizes] == [50, 20, 80]
    for each in sizes:
        assert sorted(decode_array(each["features"]).tolist()) == list(range(each["n"]))
    few = content(screened(), n_values=7)["sample_view"]["sizes"]
    assert [each["n"] for each in few] == [7]


def test_columns_of_the_screen_come_along_by_themselves():
    columns = {"batch": ["b1", "b2"] * 12 + ["b1"], "age": np.arange(25) + 40.0}
    found = content(screened(sample_columns=columns))["sample_view"]["columns"]
    assert [each["title"] for each in found] == ["batch", "age"]
    other = content(screened(sample_columns=columns), sample_columns={"site": ["x", "y"] * 12 + ["x"]})
    assert [each["title"] for each in other["sample_view"]["columns"]] == ["site"]
    assert content(screened(sample_columns=columns), n_values=0)["sample_view"] is None


def test_samples_stay_in_their_class_and_the_nearest_are_side_by_side():
    scaled = standardise(VALUES.T[:12])
    codes = CASE.astype(np.int64)
    order = sample_order(scaled, codes)
    assert sorted(order.tolist()) == list(range(25))
    assert codes[order].tolist() == [0] * 14 + [1] * 11
    distances = squareform(pdist(scaled.T))
    walk = sum(distances[a, b] for a, b in pairwise(order[:14].tolist()))
    others = [RNG.permutation(14) for _ in range(200)]
    assert all(walk < sum(distances[a, b] for a, b in pairwise(o)) for o in others)


@pytest.mark.parametrize("n_features", [6, 60])
def test_principal_components_are_those_of_a_singular_value_decomposition(n_features):
    scaled = standardise(VALUES.T[:n_features])
    found = components(scaled)
    u, s, _ = np.linalg.svd(scaled.T, full_matrices=False)
    for k, key in enumerate(("x", "y")):
        known = u[:, k] * s[k]
        place = decode_array(found[key]).astype(np.float64)
        np.testing.assert_allclose(place * np.sign(place @ known), known, atol=2e-6 * np.abs(known).max())
        assert found["share"][k] == pytest.approx(s[k] ** 2 / (s**2).sum(), abs=1e-6)


def test_standardised_values_keep_gaps_and_constants_at_the_mean():
    rows = np.array([[1.0, 2.0, np.nan, 3.0], [5.0, 5.0, 5.0, 5.0], [1e200, -1e200, 1e200, -1e200]])
    found = standardise(rows)
    np.testing.assert_allclose(found[0], [-1.0, 0.0, 0.0, 1.0], atol=1e-12)
    assert found[1].tolist() == [0.0] * 4
    assert np.isfinite(found).all()


def test_columns_of_samples_are_shown_unless_they_name_samples():
    columns = {
        "batch": ["b1", "b2"] * 12 + ["b1"], "age": np.arange(25) + 40.0, "id": [f"s{i}" for i in range(25)],
        "same": ["x"] * 25,
    }  # fmt: skip
    found = content(screened(), sample_columns=columns)["sample_view"]["columns"]
    assert [(each["title"], each["kind"]) for each in found] == [("batch", "text"), ("age", "number")]
    with pytest.raises(bs.DataError, match="24 entries"):
        content(screened(), sample_columns={"batch": ["b1"] * 24})


def test_a_page_without_values_tells_nothing_about_samples():
    columns = {"batch": ["secret-1", "secret-2"] * 12 + ["secret-1"]}
    found = content(screened(), sample_columns=columns, n_values=0)
    assert found["sample_view"] is None
    assert "secret" not in repr(found)
