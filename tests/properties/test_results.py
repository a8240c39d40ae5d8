"""A result that is written and read again is the same: any screen, any findings, every format."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import jeffreys
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bayesieve as bs
from bayesieve.models import UnknownModel
from bayesieve.screening import RunRecord
from bayesieve.selection import results_hash

ENDINGS = ("csv", "tsv", "parquet", "json")
DESIGNS = ("jeffreys", "ratio", "proper", "own priors", "three", "given patterns", "poisson", "negative binomial",
           "categories", "blocks", "shift", "pairs", "resolution")  # fmt: skip
RULES = (bs.MinimalRisk(0.5), bs.MinimalRisk(0.9), bs.FixedSize(3), bs.NeymanPearson(0.3), bs.FalseDiscovery(0.2))


def screened(design, rng, n_features):
    """Screen random values by some design; also the values and labels, for findings that need them."""
    n = 24
    values = rng.normal(rng.choice([0.0, 1e4]), rng.choice([1e-3, 1.0]), size=(n, n_features))
    three = design in ("three", "given patterns")
    codes = np.arange(n) % (3 if three else 2)
    labels = np.array(rng.permutation(["b", "a_1", "n_x"])[:3])[codes] if rng.random() < 0.7 else codes
    values[codes == 1, : n_features // 3] += 2.0 * values.std()
    if rng.random() < 0.3:
        values[:, -1] = values[0, 0]  # without variance
    prior = rng.uniform(0.001, 0.9, n_features) if rng.random() < 0.4 else float(rng.uniform(0.001, 0.5))
    counts = rng.poisson(4.0, size=values.shape) + 3 * (codes[:, None] == 1) * (np.arange(n_features) < 3)
    own = bs.NormalInverseGamma(3.0, rng.uniform(0.5, 2.0, n_features), 1.0, 0.1)
    how = {
        "jeffreys": {}, "ratio": {"model": bs.GaussianModel.jeffreys("bic")},
        "proper": {"model": bs.GaussianModel.proper()}, "own priors": {"model": bs.GaussianModel((own, own), own)},
        "three": {}, "given patterns": {"patterns": {((0, 1, 1)): 2.0, ((0, 0, 1)): 1.0}},
        "poisson": {"model": bs.PoissonModel()}, "negative binomial": {"model": bs.NegativeBinomialModel()},
        "categories": {"model": bs.CategoricalModel()}, "blocks": {"blocks": np.arange(n) // 8},
        "shift": {"blocks": np.arange(n) // 12, "block_model": "shift"}, "pairs": {"pairs": np.arange(n) // 2},
        "resolution": {"resolution": 0.01},
    }[design]  # fmt: skip
    if design in ("poisson", "negative binomial", "categories"):
        values = np.minimum(counts, 3) if design == "categories" else counts
    return jeffreys.screen(values, labels, prior_probability=prior, **how), values, labels


def with_findings(posterior, values, labels, chosen):
    if "kinds" in chosen:
        posterior = posterior.with_finding(bs.kinds(posterior))
    if "fragility" in chosen:
        found = bs.fragility(values, labels, posterior=posterior)
        posterior = (found.posterior() if "robust" in chosen else posterior).with_finding(found)
    if "effects" in chosen:
        posterior = posterior.with_finding(bs.effects(posterior))
    if "p-values" in chosen:
        posterior = posterior.with_finding(bs.pearson_neyman(posterior))
    return posterior


def check_columns(found, wanted):
    assert list(found) == list(wanted)
    for name, column in wanted.items():
        if np.asarray(column).dtype.kind in "f":
            np.testing.assert_allclose(found[name], column, rtol=1e-13, atol=1e-12, err_msg=name)
        else:
            assert list(found[name]) == list(column), name


@pytest.mark.parametrize("design", DESIGNS)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32), ending=st.sampled_from(ENDINGS), rule=st.sampled_from(RULES),
       chosen=st.sets(st.sampled_from(["kinds", "effects", "fragility", "robust", "p-values"])))  # fmt: skip
def test_a_result_comes_back_as_it_was(design, seed, ending, rule, chosen):
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        posterior, values, labels = screened(design, rng, n_features=int(rng.integers(4, 12)))
        if design in ("jeffreys", "proper"):
            posterior = with_findings(posterior, values, labels, chosen)
        selection, order = rule.select(posterior), posterior.ranking
        path = bs.write_result(Path(folder) / f"r.{ending}", selection)
        stored = bs.read_result(path)
        np.testing.assert_array_equal(stored.posterior.log_odds, posterior.log_odds[order])
        np.testing.assert_array_equal(stored.posterior.log_bayes_factor, posterior.log_bayes_factor[order])
        np.testing.assert_array_equal(stored.posterior.degenerate_codes, posterior.degenerate_codes[order])
        assert stored.selection.names == selection.names
        assert (stored.selection.rule, stored.selection.cut) == (selection.rule, selection.cut)
        assert stored.selection.summary() == selection.summary()
        assert list(map(str, stored.posterior.classes)) == list(map(str, posterior.classes))
        assert results_hash(stored.selection) == results_hash(selection) == stored.record.results_hash
        assert stored.record == RunRecord.of(selection).redacted()
        assert not stored.remarks
        check_columns(
            stored.selection.to_dict(), selection.take(order).to_dict() | {"rank": posterior.rank[order]}
        )
        again = bs.write_result(Path(folder) / f"again.{ending}", stored.selection, stored.record)
        if ending != "parquet":
            check_columns(bs.read_result(again).selection.to_dict(), stored.selection.to_dict())
        if ending in ("csv", "tsv"):
            check_bare(path, stored)


def check_bare(path, stored):
    """A side-car of another table is refused; without one log-odds and list are there, and the model is not."""
    beside = Path(f"{path}.json")
    other = replace(stored.selection, mask=~stored.selection.mask)
    bs.write_result(path.with_name("other.csv"), other)
    own = beside.read_bytes()
    beside.write_bytes(path.with_name("other.csv.json").read_bytes())
    with pytest.raises(bs.FileError, match="record of another result"):
        bs.read_result(path)
    beside.write_bytes(own)
    assert bs.read_result(path).record == stored.record
    beside.unlink()
    bare = bs.read_result(path)
    np.testing.assert_allclose(bare.posterior.log_odds, stored.posterior.log_odds, rtol=4e-16, atol=4e-16)
    assert bare.selection.names == stored.selection.names
    assert isinstance(bare.posterior.model, UnknownModel)
    assert bare.remarks[0].kind == "no-record"
