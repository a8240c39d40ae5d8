"""The short way in which the cases of the page move the prior ratio gives what a fresh screen gives."""

from __future__ import annotations

import numpy as np
import pytest
from jeffreys import screen
from report.engine_cases import expected, reweighed, rule_of, settings

import bayesieve as bs


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(11)
    values, labels = rng.normal(size=(30, 200)), np.arange(30) % 2
    values[labels == 1, :12] += 1.8
    return values, labels


@pytest.mark.parametrize("ratio", [0.001, 0.3989, 2.0])
@pytest.mark.parametrize("prior", [None, 0.1])
def test_another_ratio_is_another_screen(data, ratio, prior):
    posterior = screen(*data, prior_probability=0.02)
    fresh = screen(
        *data, model=bs.GaussianModel.jeffreys(ratio), prior_probability=0.02 if prior is None else prior
    )
    moved = {"ratio": ratio} if prior is None else {"ratio": ratio, "prior": prior}
    np.testing.assert_allclose(reweighed(posterior, moved).log_odds, fresh.log_odds, rtol=1e-12, atol=1e-12)
    states = [state for state in settings(posterior) if not {"prior", "ratio"} & state.keys()]
    assert {state["rule"] for state in states} == {"mnc", "mr", "cmnc", "np", "fdr", "fdp"}
    for state in states:
        wanted = rule_of(state).select(fresh)
        found = expected(posterior, state | moved)
        assert found["n_selected"] == wanted.n_selected
        assert found["expected_false"] == pytest.approx(wanted.expected_false_positives, rel=1e-9, abs=1e-9)
        assert found["under_null"] == pytest.approx(wanted.expected_under_null, rel=1e-9, abs=1e-9)
        assert found["expected_markers"] == pytest.approx(fresh.expected_markers, rel=1e-9)
        assert found["cut"] == pytest.approx(wanted.cut, rel=1e-9, abs=1e-9)
