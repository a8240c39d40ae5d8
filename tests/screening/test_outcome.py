"""Trends: features along a number or ordered classes."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from commands import inside

import bayesieve as bs


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 60)
    X = rng.normal(size=(60, 300))
    X[:, :6] += 0.06 * age[:, None]
    return X, age


def listed(posterior):
    return set(bs.MinimalRisk(0.5).select(posterior).indices.tolist())


def test_slopes_are_found_with_their_numbers(data):
    X, age = data
    posterior = bs.screen(X, outcome=age, shuffles=20)
    assert set(range(6)) <= listed(posterior) <= {*range(6), *np.argsort(posterior.log_odds)[-7:].tolist()}
    table = bs.MinimalRisk(0.5).select(posterior).posterior.findings[-1].columns(posterior)
    for j in (0, 50):
        assert table["slope"][j] == pytest.approx(np.polyfit(age, X[:, j], 1)[0], rel=1e-9)
        assert table["correlation"][j] == pytest.approx(np.corrcoef(age, X[:, j])[0, 1], rel=1e-9)
    assert (table["slope_low"] < table["slope"]).all()


def test_units_of_the_outcome_do_not_matter(data):
    X, age = data
    years, days = (bs.screen(X, outcome=each, shuffles=0).log_odds for each in (age, 365.25 * age - 7e3))
    np.testing.assert_allclose(years, days, rtol=1e-9, atol=1e-9)


def test_two_levels_of_equal_size_are_two_classes():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 15)
    X = rng.standard_t(6, size=(30, 200)) * np.where((y[:, None] == 1) & (np.arange(200) < 10), 2.5, 1.0)
    X[15:, 10:20] += 1.5
    expected, found = bs.screen(X, y, shuffles=0), bs.screen(X, outcome=y, shuffles=0)
    np.testing.assert_allclose(found.log_odds, expected.log_odds, rtol=1e-8, atol=1e-8)


def test_a_covariate_takes_its_share(data):
    X, age = data
    rng = np.random.default_rng(2)
    sick = (age + rng.normal(0, 8, 60)) > 50
    X = X.copy()
    X[:, 100:140] += 2.0 * sick[:, None]
    alone = bs.screen(X, outcome=age, shuffles=0)
    given = bs.screen(X, outcome=age, covariates={"sick": np.where(sick, "yes", "no")}, shuffles=20)
    assert len(listed(alone) & set(range(100, 140))) > 20
    assert len(listed(given) & set(range(100, 140))) <= 2
    assert given.shuffled.scheme == "residuals"
    columns = np.column_stack([np.ones(60), age, sick])
    expected = np.linalg.lstsq(columns, X[:, 3], rcond=None)[0][1]
    assert given.findings[-1].columns(given)["slope"][3] == pytest.approx(expected, rel=1e-9)


def test_classes_have_an_order_of_their_own(data):
    X, age = data
    stage = np.array(["low", "middle", "high"])[np.digitize(age, [40, 60])]
    with pytest.raises(bs.LabelError, match=r"holds no numbers .* order was not given"):
        bs.screen(X, outcome=stage)
    named = bs.screen(X, outcome=stage, classes=("low", "middle", "high"), shuffles=0)
    numbered = bs.screen(X, outcome=np.digitize(age, [40, 60]), shuffles=0)
    np.testing.assert_allclose(named.log_odds, numbered.log_odds, rtol=1e-12)


def test_a_quantity_is_no_class(data):
    X, age = data
    with pytest.raises(bs.LabelError, match=r"60 different numbers in 60 samples: a quantity.*outcome=y"):
        bs.screen(X, age)
    with pytest.raises(bs.OptionError, match="either classes or an outcome"):
        bs.screen(X, np.arange(60) % 2, outcome=age)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": bs.GaussianModel.jeffreys()}, "calibrated prior"),
        ({"pairs": np.repeat(np.arange(30), 2)}, r"outcome.*does not go with.*pairs"),
        ({"covariates": {"a": np.arange(60.0), "b": 2 * np.arange(60.0)}}, "tell each other"),
    ],
)
def test_what_does_not_go_with_an_outcome_is_refused(data, options, words):
    X, age = data
    with pytest.raises((bs.OptionError, bs.LabelError), match=words):
        bs.screen(X, outcome=age, **options)
    with pytest.raises(bs.OptionError, match="tell the outcome"):
        bs.screen(X, outcome=age, covariates={"months": 12 * age})


def test_missing_values_are_left_out(data):
    X, age = data
    holes = X.copy()
    holes[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
    posterior = bs.screen(holes, outcome=age, missing="omit", shuffles=0)
    here = ~np.isnan(holes[:, 2])
    slope = posterior.findings[-1].columns(posterior)["slope"][2]
    assert slope == pytest.approx(np.polyfit(age[here], holes[here, 2], 1)[0], rel=1e-9)


def test_the_command_writes_slopes_and_a_page(data, tmp_path, capfd, monkeypatch):
    X, age = data
    path, out, page = tmp_path / "t.csv", tmp_path / "o.csv", tmp_path / "r.html"
    head = ",".join(["id", "age", "sex", *(f"g{j}" for j in range(40))])
    rows = [",".join([f"s{i}", f"{age[i]:.3f}", "mf"[i % 2], *(f"{x:.4f}" for x in X[i, :40])]) for i in range(60)]
    path.write_text("\n".join([head, *rows]))
    run = functools.partial(inside, capfd, monkeypatch)
    done = run("screen", path, "--outcome", "age", "--covariates", "sex", "-o", out, "--report", page)
    assert done.code == 0, done.err
    assert "Trend along age" in done.err
    assert "slope_low" in out.read_text().splitlines()[0]
    assert "Trend along age" in page.read_text()
    again = run("report", out, "--out", tmp_path / "again.html")
    assert again.code == 0, again.err
    wrong = run("screen", path, "--labels", "age", "-o", out)
    assert wrong.code == 2
    assert "--outcome age" in " ".join(wrong.err.split())


def test_the_selector_follows_an_outcome(data):
    X, age = data
    selector = bs.OBFSelector(outcome=True, shuffles=0).fit(X, age)
    assert set(selector.get_support(indices=True)) == listed(bs.screen(X, outcome=age, shuffles=0))
    assert selector.transform(X).shape[1] == selector.get_support().sum()
    with pytest.raises(bs.OptionError, match="need all samples at once"):
        selector.partial_fit(X, age)
