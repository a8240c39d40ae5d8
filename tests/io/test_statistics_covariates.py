"""Statistics files with covariates: what sites share gives the regression of all samples together."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest
from commands import inside

import bayesieve as bs
from bayesieve.io import read_statistics, write_statistics
from bayesieve.stats import DesignMoments, StatisticsSet


@pytest.fixture(scope="module")
def sites():
    rng = np.random.default_rng(0)
    found = {}
    for name, n in (("bonn", 40), ("oslo", 50)):
        age, sex = rng.uniform(20, 80, n).round(1), np.array(["f", "m"])[rng.integers(0, 2, n)]
        y = np.where(age + rng.normal(0, 15, n) > 50, "sick", "well")
        X = rng.normal(size=(n, 30)) + 0.04 * age[:, None] * (np.arange(30) < 10)
        X[:, 10:14] += 1.5 * (y == "sick")[:, None]
        found[name] = X.round(4), y, age, sex
    return found


@pytest.fixture(scope="module")
def files(sites, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sites")
    for name, (X, y, age, sex) in sites.items():
        head = ",".join(["id", "dx", "age", "sex", *(f"g{j}" for j in range(30))])
        rows = [",".join([f"{name}{i}", y[i], f"{age[i]}", sex[i], *map(str, X[i])]) for i in range(len(y))]
        (folder / f"{name}.csv").write_text("\n".join([head, *rows]))
    return folder


def whole(sites):
    return [np.concatenate([site[k] for site in sites.values()]) for k in range(4)]


def test_merged_files_screen_as_all_samples_do(sites, files, capfd, monkeypatch):
    run = functools.partial(inside, capfd, monkeypatch)
    for name in sites:
        done = run("stats", files / f"{name}.csv", "--labels", "dx", "--covariates", "age,sex", "--out",
                   files / f"{name}.stats.parquet")  # fmt: skip
        assert done.code == 0, done.err
        assert "products with covariates (age, sex=m)" in done.err
    merged = files / "both.stats.parquet"
    assert run("merge", *(files / f"{name}.stats.parquet" for name in sites), "--out", merged).code == 0
    done = run("screen", merged, "--prior", "jeffreys", "--out", files / "o.csv")
    assert done.code == 0, done.err
    assert "Compared at equal age and sex=m" in done.err
    X, y, age, sex = whole(sites)
    model = bs.GaussianModel.jeffreys(prior_ratio=0.1)
    found = bs.screen(read_statistics(merged), model=model)
    expected = bs.screen(X, y, covariates={"age": age, "sex": sex}, model=model, shuffles=0)
    np.testing.assert_allclose(found.log_odds, expected.log_odds, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.moments.mean_difference, expected.moments.mean_difference, rtol=1e-10)
    wrong = run("screen", merged, "--blocks", "sites")
    assert wrong.code == 2
    assert "holds covariates" in wrong.err


def test_adjusted_differences_are_those_of_a_regression(sites):
    X, y, age, sex = whole(sites)
    given = np.column_stack([age, sex == "m"])
    parts = [
        DesignMoments.from_matrix(X[rows], y[rows], given[rows], names=("age", "sex=m"))
        for rows in (slice(0, 30), slice(30, None))
    ]
    ids = tuple(f"g{j}" for j in range(30))
    both = StatisticsSet(
        tuple(bs.SiteStatistics(f"s{k}", part.moments, ids, design=part) for k, part in enumerate(parts))
    )
    fit = np.linalg.lstsq(np.column_stack([np.ones(len(y)), y == "well", given]), X, rcond=None)[0]
    np.testing.assert_allclose(both.pooled().mean_difference, fit[1], rtol=1e-9)
    assert both.pooled().pick(["well", "sick"]).mean_difference == pytest.approx(-fit[1], rel=1e-9)


def test_files_come_back_as_they_were_and_are_sealed(sites, tmp_path):
    X, y, age, _ = whole(sites)
    X = X.copy()
    X[3, 2] = np.nan
    design = DesignMoments.from_matrix(X, y, age, names=("age",), missing="omit")
    ids = tuple(f"g{j}" for j in range(30))
    written = StatisticsSet((bs.SiteStatistics("here", design.moments, ids, design=design),))
    write_statistics(written, tmp_path / "s.parquet")
    read = read_statistics(tmp_path / "s.parquet").sites[0].design
    for name in ("location", "scatter", "cross"):
        np.testing.assert_array_equal(getattr(read.spread(), name), getattr(design.spread(), name))
    plain = StatisticsSet((bs.SiteStatistics("here", design.moments, ids),))
    write_statistics(plain, tmp_path / "p.parquet")
    import polars as pl  # noqa: PLC0415

    versions = [
        json.loads(pl.read_parquet_metadata(tmp_path / name)["bayesieve"])["schema_version"]
        for name in ("s.parquet", "p.parquet")
    ]
    assert versions == [3, 2]
    content = bytearray((tmp_path / "s.parquet").read_bytes())
    content[len(content) // 3] ^= 1
    (tmp_path / "d.parquet").write_bytes(content)
    with pytest.raises(bs.FileError, match="changed or damaged"):
        read_statistics(tmp_path / "d.parquet")


def test_sites_need_the_same_covariates(sites):
    X, y, age, _ = whole(sites)
    ids = tuple(f"g{j}" for j in range(30))
    designs = [DesignMoments.from_matrix(X, y, age, names=(name,)) for name in ("age", "years")]
    one, two = (
        StatisticsSet((bs.SiteStatistics(f"s{k}", each.moments, ids, design=each),))
        for k, each in enumerate(designs)
    )
    with pytest.raises(bs.DataError, match="differ in their covariates: site 's0' 'age', site 's1' 'years'"):
        bs.merge_statistics([one, two])
    fewer = StatisticsSet((bs.SiteStatistics("s2", designs[0].take([4, 2]).moments, ("g4", "new"),
                                             design=designs[0].take([4, 2])),))  # fmt: skip
    joined = bs.merge_statistics([one, fewer], "outer").pooled()
    assert joined.n_features == 31
    assert np.isfinite(joined.mean).all()


def test_a_level_of_few_samples_is_not_given_away(files, capfd, monkeypatch, tmp_path):
    text = (files / "oslo.csv").read_text().splitlines()
    text[1] = text[1].replace(",m,", ",x,", 1).replace(",f,", ",x,", 1)
    (tmp_path / "few.csv").write_text("\n".join(text))
    done = inside(capfd, monkeypatch, "stats", tmp_path / "few.csv", "--labels", "dx", "--covariates", "sex",
                  "--out", tmp_path / "s.stats.parquet")  # fmt: skip
    assert done.code == 2
    assert "would give them away" in " ".join(done.err.split())
