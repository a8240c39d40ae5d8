"""What is said about the values of a screen: made tables of every kind get the right word, or silence."""

from __future__ import annotations

import csv
import json
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from commands import outside

import bayesieve as bs
from bayesieve.errors import DataWarning
from bayesieve.screening import advise_on_share, advise_on_values
from bayesieve.stats import ValueSample

N, P = 60, 300
Y = np.repeat(["a", "b"], N // 2)
CODES = np.repeat([0, 1], N // 2)


def rng():
    return np.random.default_rng(3)


def raw_intensities(r):
    return np.exp(r.normal(5, 1.5, size=P) + r.normal(0, 0.5, size=(N, P)))


def genes(r):
    """Log2 intensities."""
    return r.normal(8, 2, size=P) + r.normal(0, 0.7, size=(N, P))


def betas(r):
    level = np.where(r.random(P) < 0.5, r.uniform(0.02, 0.1, P), r.uniform(0.8, 0.97, P))
    return r.beta(40 * level, 40 * (1 - level), size=(N, P))


def floored(r):
    values = genes(r)
    low = r.random(P) < 0.3
    values[:, low] = np.maximum(values[:, low], np.quantile(values[:, low], 0.7, axis=0))
    return values


def abundances(r):
    values = raw_intensities(r) * (r.random((N, P)) < 0.5)
    return values / values.sum(axis=1, keepdims=True)


SAID = {
    "values-counts": {
        "bulk": lambda r: r.negative_binomial(3, 3 / (3 + np.exp(r.normal(5, 2, size=P))), size=(N, P)),
        "cells": lambda r: r.negative_binomial(1, 1 / (1 + np.exp(r.normal(-1, 1, size=P))), size=(N, P)),
        "small": lambda r: r.poisson(3, size=(N, P)),
    },
    "values-categories": {
        "genotypes": lambda r: r.binomial(2, r.uniform(0.1, 0.5, P), size=(N, P)),
        "presence": lambda r: r.random((N, P)) < 0.3,
        "copy numbers": lambda r: r.integers(-2, 3, size=(N, P)),
    },
    "values-shares": {"betas": betas},
    "values-intensities": {
        "raw": raw_intensities,
        "whole": lambda r: np.ceil(raw_intensities(r)),
        "with zeros": lambda r: np.maximum(raw_intensities(r) - 20, 0),
        "subtracted": lambda r: raw_intensities(r) - 50 + r.normal(0, 20, size=(N, P)),
        "abundances": abundances,
    },
    "values-floors": {"floored": floored},
}
SILENT = {
    "log2": genes,
    "log2 and a few zeros": lambda r: genes(r) * (r.random((N, P)) > 0.02),
    "log ratios": lambda r: r.normal(0, 0.3, size=(N, P)),
    "log ratios with heavy tails": lambda r: r.standard_t(3, size=(N, P)),
    "z-scores": lambda r: (x := r.normal(size=(N, P)) - 0.1) / x.std(axis=0),
    "ranks": lambda r: r.random((N, P)).argsort(axis=0) + 1,
    "ranks from 0": lambda r: r.random((N, P)).argsort(axis=0),
    "uniform": lambda r: r.random((N, P)),
    "scaled to [0, 1]": lambda r: ((x := raw_intensities(r)) - x.min(axis=0)) / np.ptp(x, axis=0),
    "ages": lambda r: r.normal(50, 12, size=(N, P)).round().clip(18, 90),
    "few digits": lambda r: genes(r).round(1),
    "log2 of counts plus 1": lambda r: np.log2(1 + r.negative_binomial(5, 0.02, size=(N, P))),
    "features in other units": lambda r: (5 + r.normal(size=(N, P))) * np.where(np.arange(P) % 50, 1, 1e5),
    "other units, around 0": lambda r: (1 + r.normal(size=(N, P))) * np.where(np.arange(P) % 50, 1, 1e5),
    "tight intensities": lambda r: np.exp(r.normal(5, 1.5, size=P)) * r.normal(1, 0.1, size=(N, P)),
}


def said(values, **options):
    return advise_on_values(ValueSample.of(values, CODES).profile(), **options)


def kinds(values, **options):
    return [message.kind for message in said(values, **options)]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, made in SAID.items() for name in made])
def test_values_of_another_kind_are_named_first(kind, name):
    values = SAID[kind][name](rng())
    assert kinds(values)[0] == kind
    assert kinds(values, model_name="categorical") == kinds(values, model_name="negative-binomial") == []
    scale = [k for k in kinds(values, transform="log1p") if k != "values-floors"]
    assert scale == []  # whoever transforms has thought about the scale


@pytest.mark.parametrize("name", SILENT)
def test_values_that_suit_are_passed_over(name):
    values = SILENT[name](rng())
    assert kinds(values) == kinds(values, transform="none") == []


def test_few_values_say_nothing():
    counts = rng().negative_binomial(2, 0.01, size=(N, P))
    for part in (counts[::8], counts[:, :19], counts[:, :0]):
        if part.size:
            assert advise_on_values(ValueSample.of(part, np.arange(len(part)) % 2).profile()) == []


def test_sentences_hold_the_numbers_and_the_command():
    counts = rng().negative_binomial(1, 0.01, size=(N, 200)) * (rng().random((N, 200)) > 0.4)
    counts[7, 7] = 51_234
    (message,) = said(counts)
    start = f"The values are whole numbers from 0 to 51,234, {(counts == 0).mean():.0%} of them 0: they look like "
    assert message.render().startswith(start + "counts")
    assert "--model negative-binomial --exposures total" in message.render(command=True)
    assert "model=NegativeBinomialModel(), exposures=size_factors(X)" in message.render()
    (of_file,) = said(counts, transform="none")
    assert "exposures='total'" in of_file.render()
    assert "transform='log1p'" in of_file.render()
    first, second = said(np.maximum(raw_intensities(rng()), np.quantile(raw_intensities(rng()), 0.6)))
    assert "--transform log2" in first.render(command=True)
    assert "np.log2(X)" in first.render()
    assert (second.kind, "--resolution" in second.render(command=True)) == ("values-floors", True)
    (shares,) = said(betas(rng()))
    assert "--transform logit" in shares.render(command=True)
    assert "inwards" not in shares.render()
    at_end = betas(rng())
    at_end[0, 0] = 0.0
    assert "inwards" in said(at_end)[0].render()
    whole = said(np.ceil(raw_intensities(rng())))[0].render(command=True)
    assert "If they are counts: --model negative-binomial" in whole
    zeros = said(np.maximum(raw_intensities(rng()) - 20, 0))[0].render(command=True)
    assert "--transform log1p" in zeros
    for name in ("subtracted", "abundances"):
        text = said(SAID["values-intensities"][name](rng()))[0].render(command=True)
        assert "--transform rank-normal" in text
    json.dumps(first.to_dict())


def test_a_stated_resolution_takes_care_of_floors():
    values = floored(rng())
    assert kinds(values) == ["values-floors"]
    assert kinds(values, stepped=True) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bs.screen(values, Y, resolution=0.5)


@pytest.mark.parametrize(
    "given",
    [
        lambda counts: counts,
        lambda counts: counts.astype(np.float32),
        sp.csr_matrix,
        sp.csc_matrix,
        lambda counts: counts.tolist(),
    ],
)
def test_screen_warns_at_the_line_of_the_caller_and_changes_nothing(given):
    counts = SAID["values-counts"]["bulk"](rng())
    with pytest.warns(DataWarning, match="whole numbers from 0 to") as caught:
        found = bs.screen(given(counts), Y)
    mine = [each for each in caught if each.message.message.kind == "values-counts"]
    assert [each.filename for each in mine] == [__file__]
    assert pickle.loads(pickle.dumps(mine[0].message)).message.kind == "values-counts"
    plain = bs.screen(bs.Moments.from_matrix(counts, Y))  # statistics hold no values to look at
    np.testing.assert_allclose(found.log_odds, plain.log_odds, rtol=1e-6)


def test_blocks_and_pairs_are_looked_at_before_differences_are_taken():
    counts = SAID["values-counts"]["bulk"](rng())
    for options in ({"blocks": np.arange(N) % 2}, {"pairs": np.arange(N) % (N // 2)}):
        with pytest.warns(DataWarning, match="counts"):
            bs.screen(counts, Y, **options)


def test_models_of_counts_and_categories_are_not_lectured():
    counts, genotypes = SAID["values-counts"]["bulk"](rng()), SAID["values-categories"]["genotypes"](rng())
    bs.screen(counts, Y, model=bs.NegativeBinomialModel())
    bs.screen(genotypes, Y, model=bs.CategoricalModel())


def test_a_selector_says_it_and_what_screens_again_does_not():
    X = raw_intensities(rng())
    with pytest.warns(DataWarning, match="raw intensities") as caught:
        bs.OBFSelector().fit(X, Y)
    assert [each.filename for each in caught] == [__file__]
    bs.permutations(X, Y, model=bs.GaussianModel.jeffreys(), n_permutations=20)
    bs.fragility(X, Y)
    bs.enumerate_sets(X[:, :4], Y)
    with pytest.warns(DataWarning, match="raw intensities"):  # silence ends with its block
        bs.screen(X, Y)


def write(path, values, *, in_columns=False):
    ids = [f"s{i}" for i in range(N)]
    names = [f"g{j}" for j in range(P)]
    rows = [
        ["id", "y", *names],
        *([i, label, *row] for i, label, row in zip(ids, Y, values.tolist(), strict=True)),
    ]
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(zip(*rows, strict=True) if in_columns else rows)


def test_a_file_has_the_profile_of_its_array_in_whatever_format(tmp_path):
    values = np.maximum(raw_intensities(rng()) - 2, 0)
    write(tmp_path / "rows.csv", values)
    write(tmp_path / "columns.csv", values, in_columns=True)
    np.save(tmp_path / "t.npy", values)
    with open(tmp_path / "labels.csv", "w", newline="") as file:
        csv.writer(file).writerows([["id", "y"], *([f"s{i}", label] for i, label in enumerate(Y))])
    sources = [
        {"path": tmp_path / "rows.csv", "labels": "y"},
        {"path": tmp_path / "columns.csv", "labels": "y"},
        {"path": tmp_path / "rows.csv", "labels": "y", "transform": "rank-normal", "memory": 2**16},
        {"path": tmp_path / "columns.csv", "labels": "y", "transform": "log1p", "memory": 2**14},
        {"path": tmp_path / "t.npy", "labels": f"{tmp_path / 'labels.csv'}:y"},
    ]
    wanted = ValueSample.of(values, CODES).profile()
    for source in sources:
        path = source.pop("path")
        assert bs.read_table(path, **source).profile == wanted
    table = bs.read_table(tmp_path / "rows.csv", labels="y")
    with pytest.warns(DataWarning, match="transform='log1p'"):
        bs.screen(table)
    bs.screen(bs.read_table(tmp_path / "rows.csv", labels="y", transform="log1p"))
    np.save(tmp_path / "t.npy", np.rint(values))
    others = {"labels": sources[-1]["labels"], "model": bs.PoissonModel()}
    assert bs.read_table(tmp_path / "t.npy", **others).profile is None


def test_the_command_says_it_and_keeps_it_in_record_and_report(tmp_path):
    write(tmp_path / "t.csv", raw_intensities(rng()))
    done = outside("screen", "t.csv", "--labels", "y", "--out", "r.json", "--report", "r.html", folder=tmp_path)
    assert done.code == 0
    assert "bayesieve: warning: No value is negative, the largest is " in done.err
    assert "Take logarithms first: --transform log2." in done.err
    assert done.err.count("raw intensities") == 1
    kept = bs.read_result(tmp_path / "r.json")
    assert "values-intensities" in (tmp_path / "r.json").read_text()
    assert kept.posterior.n_features == P
    assert "look like raw intensities" in (tmp_path / "r.html").read_text()
    done = outside("screen", "t.csv", "--labels", "y", "--transform", "log2", "--out", "r.csv", folder=tmp_path)
    assert "raw intensities" not in done.err


def test_logit_makes_m_values_and_refuses_the_ends(tmp_path):
    values = betas(rng())
    write(tmp_path / "t.csv", values)
    found = bs.read_table(tmp_path / "t.csv", labels="y", transform="logit")
    wanted = bs.Moments.from_matrix(np.log2(values / (1 - values)), Y)
    np.testing.assert_allclose(found.moments.mean, wanted.mean, rtol=1e-9)
    for odd in (0.0, 1.0):
        values[3, 4] = odd
        write(tmp_path / "odd.csv", values)
        with pytest.raises(bs.DataError, match=r"logit needs values .*'s3', feature 'g4'.*inwards"):
            bs.read_table(tmp_path / "odd.csv", labels="y", transform="logit")


def test_a_list_of_implausible_length():
    assert advise_on_share(150, 1000, 0.01) is None
    assert advise_on_share(250, 1000, 0.1) is None
    assert advise_on_share(30, 40, 0.01) is None
    message = advise_on_share(6_052, 12_600, np.full(12_600, 0.01))
    assert message is not None
    assert message.render().startswith("6,052 of 12,600 features are selected (48%), where the prior expects 126")
    assert "--shuffles 100" in message.render(command=True)
