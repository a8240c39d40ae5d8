"""Designs of tables in blocks: covariates, blocks, outcomes and pairs, with the numbers of the table in memory."""

from __future__ import annotations

import warnings

import dask
import dask.array as da
import numpy as np
import pytest

import bayesieve as bs
from bayesieve.screening import lazy_table

N, P = 120, 22


@pytest.fixture(scope="module", params=["complete", "missing"])
def study(request):
    rng = np.random.default_rng(4)
    y = np.array(["b", "a"])[rng.integers(0, 2, N)]
    age = rng.normal(60, 10, N) + 4 * (y == "a")
    values = rng.normal(size=(N, P)) + 0.03 * age[:, None]
    values[y == "a", :3] += 1.0
    if request.param == "missing":
        values[rng.random(values.shape) < 0.05] = np.nan
    return values, y, {"age": age, "sex": rng.choice(["f", "m"], N)}, rng.choice(["u", "v", "w"], N)


def blocks(values, both=True):
    rows = (50, 0, 40, 30)
    return da.from_array(values, chunks=(rows, (12, 10) if both else (P,)))


def same(one, two):
    table, wanted = one.to_dict(), two.to_dict()
    assert list(table) == list(wanted)
    for name, column in wanted.items():
        if np.asarray(column).dtype.kind == "f":
            np.testing.assert_allclose(table[name], column, rtol=1e-10, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("model", [None, bs.GaussianModel.jeffreys()], ids=["calibrated", "jeffreys"])
@pytest.mark.parametrize("with_blocks", [False, True])
def test_covariates(study, model, with_blocks):
    values, y, covariates, batch = study
    options = {"covariates": covariates, "model": model, "missing": "omit", "shuffles": 0}
    options |= {"blocks": batch} if with_blocks else {}
    lazy, whole = bs.screen(blocks(values), y, **options), bs.screen(values, y, **options)
    same(lazy, whole)
    assert bs.screen(blocks(values, both=False), y, **options).log_odds == pytest.approx(whole.log_odds, abs=1e-10)


@pytest.mark.parametrize("given", [(), ("covariates",), ("blocks",)])
@pytest.mark.parametrize("levels", [True, False])
def test_outcomes(study, given, levels):
    values, _, covariates, batch = study
    outcome = (covariates["age"] // 10) if levels else covariates["age"]
    told = {"covariates": {"sex": covariates["sex"]}, "blocks": batch}
    options = {"outcome": outcome, "missing": "omit", "shuffles": 0} | {name: told[name] for name in given}
    same(bs.screen(blocks(values), **options), bs.screen(values, **options))


@pytest.mark.parametrize("order", ["together", "by class", "any"])
@pytest.mark.parametrize("with_blocks", [False, True])
def test_pairs_whose_samples_lie_in_any_block(study, order, with_blocks):
    values, _, _, batch = study
    pairs, y = np.arange(N) // 2, np.array(["well", "sick"])[np.arange(N) % 2]
    pairs[5] = 999  # two pairs lack a sample
    place = {"together": np.arange(N), "by class": np.argsort(y, kind="stable")}
    rows = place.get(order, np.random.default_rng(0).permutation(N))
    options = {"pairs": pairs[rows], "missing": "omit", "shuffles": 0}
    options |= {"blocks": batch[::2].repeat(2)[rows]} if with_blocks else {}
    lazy, whole = bs.screen(blocks(values[rows]), y[rows], **options), bs.screen(values[rows], y[rows], **options)
    same(lazy, whole)


def test_bits_do_not_depend_on_the_workers(study):
    values, y, covariates, _ = study
    pairs = np.random.default_rng(0).permutation(np.arange(N) // 2)
    sick = np.zeros(N, bool)
    sick[np.unique(pairs, return_index=True)[1]] = True
    found = []
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            one = bs.screen(blocks(values), y, covariates=covariates, missing="omit", shuffles=0)
            two = bs.screen(blocks(values), sick, pairs=pairs, missing="omit", shuffles=0)
        found.append((one.log_odds.tobytes(), two.log_odds.tobytes()))
    assert found[0] == found[1]


def test_what_cannot_be_done_is_said(study, monkeypatch):
    values, y, covariates, _ = study
    with pytest.raises(bs.OptionError, match="determines the class"):
        bs.screen(blocks(values), y, covariates={"who": y}, missing="omit")
    with pytest.raises(bs.OptionError, match="subject needs the values in memory"):
        bs.screen(blocks(values), y, subject=y, missing="omit")
    with pytest.warns(bs.errors.CalibrationWarning, match="residuals given covariates or along an outcome"):
        bs.screen(blocks(values), y, covariates=covariates, missing="omit", shuffles=5)
    monkeypatch.setattr(lazy_table, "AT_ONCE", 1000)
    pairs = np.tile(np.arange(N // 2), 2)
    with pytest.raises(bs.OptionError, match="pairs have their samples in different blocks") as error:
        bs.screen(blocks(values), np.repeat(["a", "b"], N // 2), pairs=pairs, missing="omit")
    assert "np.argsort" in str(error.value)


def test_missing_values_are_refused_unless_they_are_to_be_left_out(study):
    values, y, covariates, _ = study
    if not np.isnan(values).any():
        pytest.skip("nothing is missing")
    with warnings.catch_warnings(), pytest.raises(bs.MissingValueError, match="missing value"):
        bs.screen(blocks(values), y, covariates=covariates, shuffles=0)
