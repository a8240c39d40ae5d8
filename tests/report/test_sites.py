"""Site by site: intervals by numerical integration and by drawing, evidence by screens of their own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from jeffreys import screen
from scipy import integrate, stats

import bayesieve as bs
from bayesieve.report.encoding import decode_array
from bayesieve.report.payload import sites_payload
from bayesieve.screening import SiteView
from bayesieve.stats import merge_statistics

SITES = {"Oslo": 24, "Bonn": 16, "Lyon": 30}
NAMES = tuple(f"g{j}" for j in range(70))

pytestmark = pytest.mark.filterwarnings("ignore:The median mean")  # far from the location of the proper prior


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(4)
    found = {}
    for k, (site, n) in enumerate(SITES.items()):
        values = rng.normal(5.0 + k, 1.0 + 0.3 * k, size=(n, 70))
        labels = ["well"] * (n // 2 - k) + ["sick"] * (n - n // 2 + k)
        values[n // 2 - k :, :6] += 1.5
        found[site] = values, labels
    return found


def moments_of(tables, classes=("well", "sick")):
    return {site: bs.Moments.from_matrix(*table, classes=classes) for site, table in tables.items()}


def pooled_screen(tables, **options):
    values = np.vstack([values for values, _ in tables.values()])
    labels = [label for _, labels in tables.values() for label in labels]
    return screen(values, labels, classes=("well", "sick"), feature_names=NAMES, **options)


def tail(first, second, distance):
    """P(second mean - first mean > distance): one integral.

    Under the prior ``sigma ** -3 dmu dsigma ** 2`` of the paper every mean is Student's t around its sample
    mean with n degrees of freedom and squared scale ``sum of squares / n ** 2``.
    """
    distributions = [
        stats.t(len(values), values.mean(), values.std() / np.sqrt(len(values))) for values in (first, second)
    ]
    reach = distributions[0].interval(1 - 1e-13)
    return integrate.quad(
        lambda x: distributions[0].pdf(x) * distributions[1].sf(x + distance),
        *reach,
        epsabs=1e-12,
        epsrel=1e-10,
        limit=400,
    )[0]


def test_intervals_leave_out_equal_tails_of_the_difference_of_two_student_variables(tables):
    posterior = pooled_screen(tables)
    view = SiteView.of(posterior, moments_of(tables), n_features=5)
    for site, (values, labels) in zip(view.sites, tables.values(), strict=True):
        sick = np.array(labels) == "sick"
        for k, place in enumerate(view.places.tolist()):
            first, second = values[~sick, place], values[sick, place]
            assert site.difference[k] == pytest.approx(second.mean() - first.mean(), rel=1e-12)
            assert tail(first, second, site.high[k]) == pytest.approx(0.025, rel=1e-6)
            assert tail(first, second, site.low[k]) == pytest.approx(0.975, rel=1e-6)


def test_the_pooled_interval_holds_its_share_of_draws(tables):
    view = SiteView.of(pooled_screen(tables), moments_of(tables), n_features=1, level=0.9)
    everything = np.vstack([values for values, _ in tables.values()])[:, view.places[0]]
    sick = np.array([label for _, labels in tables.values() for label in labels]) == "sick"
    rng = np.random.default_rng(0)
    draws = [
        part.mean() + part.std() / np.sqrt(part.size) * rng.standard_t(part.size, 400_000)
        for part in (everything[~sick], everything[sick])
    ]
    low, high = np.quantile(draws[1] - draws[0], [0.05, 0.95])
    assert [view.pooled.low[0], view.pooled.high[0]] == pytest.approx([low, high], abs=0.005)


@pytest.mark.parametrize("model", [bs.GaussianModel.jeffreys(0.3), bs.GaussianModel.proper()], ids=["JP", "PP"])
def test_evidence_of_a_site_is_its_own_screen_and_all_of_it_adds_up_to_that_of_blocks(model, tables):
    parts = moments_of(tables)
    posterior = pooled_screen(tables, model=model)
    view = SiteView.of(posterior, parts)
    assert view.places.tolist() == posterior.ranking[:50].tolist()
    assert view.features == tuple(NAMES[i] for i in view.places)
    for site, (values, labels) in zip(view.sites, tables.values(), strict=True):
        alone = screen(values, labels, classes=("well", "sick"), model=model)
        np.testing.assert_allclose(site.log_bayes_factor, alone.log_bayes_factor[view.places], rtol=1e-9)
    np.testing.assert_allclose(
        view.pooled.log_bayes_factor, posterior.log_bayes_factor[view.places], rtol=1e-8, atol=1e-9
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.CalibrationWarning)  # small blocks
        blocked = pooled_screen(tables, model=model, blocks=np.repeat(list(SITES), list(SITES.values())))
    np.testing.assert_allclose(view.combined, blocked.log_bayes_factor[view.places], rtol=1e-8, atol=1e-9)
    assert view.counts.tolist() == [[12, 12], [7, 9], [13, 17]]


def test_blocks_of_a_screen_are_sites(tables):
    names = np.repeat(list(SITES), list(SITES.values()))
    for block_model in ("own", "shift"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.CalibrationWarning)  # small blocks
            posterior = pooled_screen(tables, blocks=names, block_model=block_model)
        view = SiteView.of_blocks(posterior)
        assert sorted(view.names) == sorted(SITES)
        by_name = dict(zip(view.names, view.sites, strict=True))
        values, labels = tables["Bonn"]
        alone = bs.effects(screen(values, labels, classes=("well", "sick")))
        np.testing.assert_allclose(by_name["Bonn"].low, alone.mean_difference_low[view.places], rtol=1e-8)
    assert SiteView.of_blocks(pooled_screen(tables)) is None


def test_a_site_that_lacks_a_feature_or_a_class_says_nothing_of_it(tables):
    values, labels = tables["Bonn"]
    gaps = values.copy()
    gaps[:, 0] = np.nan
    gaps[np.array(labels) == "sick", 1] = np.nan
    gaps[np.flatnonzero(np.array(labels) == "sick")[1:], 2] = np.nan
    parts = moments_of(tables) | {
        "Bonn": bs.Moments.from_matrix(gaps, labels, classes=("well", "sick"), missing="omit")
    }
    view = SiteView.of(pooled_screen(tables), parts, n_features=70)
    at = [view.features.index(f"g{j}") for j in range(3)]
    bonn = view.sites[1]
    assert np.isnan(bonn.log_bayes_factor[at]).all()
    assert np.isnan(bonn.low[at]).all()
    assert np.isnan(bonn.high[at]).all()
    assert np.isnan(bonn.difference[at[:2]]).all()
    assert not np.isnan(np.delete(bonn.low, at)).any()
    others = view.sites[0].log_bayes_factor[at] + view.sites[2].log_bayes_factor[at]
    np.testing.assert_allclose(view.combined[at], others, rtol=1e-12)


def test_a_site_too_small_for_the_prior_leaves_a_gap_and_the_others_stand(tables):
    parts = moments_of(tables)
    tiny = bs.Moments.from_matrix(tables["Oslo"][0][[0, -1]], ["well", "sick"], classes=("well", "sick"))
    view = SiteView.of(pooled_screen(tables), {"Tiny": tiny, **parts}, n_features=3)
    assert np.isnan(view.sites[0].log_bayes_factor).all()
    assert np.isnan(view.sites[0].low).all()
    assert np.isfinite(view.sites[1].low).all()
    assert np.isfinite(view.combined).all()


def test_three_classes_have_evidence_and_no_difference():
    rng = np.random.default_rng(1)
    labels = ["a", "b", "c"] * 8
    parts = {site: bs.Moments.from_matrix(rng.normal(size=(24, 4)), labels) for site in ("p", "q")}
    posterior = screen(parts["p"].merge(parts["q"]))
    view = SiteView.of(posterior, parts)
    assert view.sites[0].difference is None
    alone = screen(parts["q"])
    np.testing.assert_allclose(view.sites[1].log_bayes_factor, alone.log_bayes_factor[view.places], rtol=1e-9)
    content = sites_payload(view)
    assert content["difference"] is None
    assert content["pooled"]["low"] is None
    assert content["title"] == ""


def test_the_payload_holds_the_numbers_as_the_page_reads_them(tables):
    sites = [
        bs.StatisticsSet((bs.SiteStatistics(site, moments, NAMES),))
        for site, moments in moments_of(tables).items()
    ]
    merged = merge_statistics(sites)
    view = SiteView.of(screen(merged.pooled(), feature_names=NAMES), merged.by_site())
    content = sites_payload(view)
    assert (content["n"], content["names"], content["level"]) == (50, list(SITES), 0.95)
    assert content["title"] == "difference of means (sick minus well)"
    for k, site in enumerate(view.sites):
        for key in ("difference", "low", "high", "log_bayes_factor"):
            np.testing.assert_allclose(decode_array(content[key][k]), getattr(site, key), rtol=1e-6)
    np.testing.assert_allclose(decode_array(content["combined"]), view.combined, rtol=1e-6)
    np.testing.assert_allclose(decode_array(content["pooled"]["low"]), view.pooled.low, rtol=1e-6)


def test_sites_of_other_features_or_classes_are_refused(tables):
    posterior = pooled_screen(tables)
    with pytest.raises(bs.DataError, match="at least one site"):
        SiteView.of(posterior, {})
    with pytest.raises(bs.DataError, match="3 features and classes well, sick, the screen 70 features"):
        SiteView.of(posterior, {"Oslo": moments_of(tables)["Oslo"].take([0, 1, 2])})


def test_sites_whose_classes_stand_in_another_order_are_turned(tables):
    posterior, by_site = pooled_screen(tables), moments_of(tables)
    turned = {name: moments.pick(["sick", "well"]) for name, moments in by_site.items()}
    straight, view = SiteView.of(posterior, by_site), SiteView.of(posterior, turned)
    assert view.title == straight.title == "difference of means (sick minus well)"
    np.testing.assert_array_equal(view.counts, straight.counts)
    np.testing.assert_array_equal(view.sites[0].difference, straight.sites[0].difference)
