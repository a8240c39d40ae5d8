"""Measures against counting by hand, and against all outcomes written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.study.measures import (
    EDGES,
    bin_names,
    error_measures,
    label_measures,
    measure_names,
    reliability_measures,
)


@pytest.fixture
def posterior():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(16, 12))
    values[8:, :6] += np.linspace(0.4, 2.0, 6)
    return bs.screen(
        values, [0] * 8 + [1] * 8, model=bs.GaussianModel.jeffreys(), prior_probability=0.3, shuffles=0
    )


def test_labels_by_hand():
    selected = np.array([1, 1, 1, 0, 0, 0, 0], dtype=bool)
    truth = np.array([1, 0, 0, 1, 1, 0, 0], dtype=bool)
    assert label_measures(selected, truth) == {
        "correct": 3.0, "n_selected": 3.0, "true_positives": 1.0, "false_positives": 2.0
    }  # fmt: skip


def test_expected_errors_against_all_subsets_written_out(posterior):
    selected = posterior.probability > 0.4
    null = 1.0 - posterior.probability[selected]
    mass = np.zeros(null.size + 1)
    for wrong in itertools.product([0, 1], repeat=null.size):
        mass[sum(wrong)] += np.prod(np.where(wrong, null, 1.0 - null))
    below = np.cumsum(mass)
    low, high = int(np.argmax(below >= 0.05)), int(np.argmax(below >= 0.95))
    found = error_measures(posterior, selected, 0.0)
    assert 2 < null.size < 12
    assert found["expected_false_positives"] == pytest.approx(mass @ np.arange(mass.size), rel=1e-12)
    assert (found["interval_low"], found["interval_high"]) == (low, high)
    assert found["interval_probability"] == pytest.approx(mass[low : high + 1].sum(), rel=1e-12)
    assert found["expected_markers"] == pytest.approx(posterior.probability.sum(), rel=1e-12)


def test_chance_is_that_of_drawn_non_markers_and_known_for_jeffreys_only(posterior):
    expected = error_measures(posterior, posterior.probability > 0.5, 0.0)["expected_under_null"]
    noise = np.random.default_rng(0).normal(size=(16, 100_000))
    jeffreys = bs.GaussianModel.jeffreys()
    drawn = bs.screen(noise, [0] * 8 + [1] * 8, model=jeffreys, prior_probability=0.3, shuffles=0)
    passed = drawn.log_odds > 0
    share, error = passed.mean(), passed.std() / np.sqrt(passed.size)
    assert abs(expected / 12 - share) < 4 * error
    proper = bs.screen(posterior.moments, model=bs.GaussianModel.proper())
    assert "expected_under_null" not in error_measures(proper, proper.probability > 0.5, 0.0)


def test_an_empty_list_has_no_errors(posterior):
    found = error_measures(posterior, np.zeros(12, dtype=bool), np.inf)
    assert (found["expected_false_positives"], found["interval_low"], found["interval_high"]) == (0, 0, 0)
    assert found["interval_probability"] == 1.0


def test_bins_by_hand(posterior):
    truth = np.arange(12) < 6
    found = reliability_measures(posterior, truth)
    for k, (low, high) in enumerate(itertools.pairwise(EDGES)):
        probability = posterior.probability
        inside = (probability >= low) & ((probability < high) | (high == 1.0))
        features, total, markers = (found[name] for name in bin_names(k))
        assert (features, markers) == (inside.sum(), (inside & truth).sum())
        assert total == pytest.approx(probability[inside].sum(), abs=1e-12)
    assert sum(found[bin_names(k)[0]] for k in range(len(EDGES) - 1)) == 12


def test_names_cover_what_is_measured(posterior):
    everything = (
        label_measures(np.ones(12, bool), np.ones(12, bool))
        | error_measures(posterior, np.ones(12, bool), 0.0)
        | reliability_measures(posterior, np.ones(12, bool))
        | {"seconds": 1.0, "peak_bytes": 1.0}
    )
    assert set(measure_names(["labels", "errors", "reliability", "costs"])) == set(everything)
    assert measure_names(["costs"])[-2:] == ("seconds", "peak_bytes")
