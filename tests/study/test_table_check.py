"""check_table(): the truth that spikes make, claims against counting, and the level over all labellings."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.errors import DataError, OptionError
from bayesieve.study import Spike, check_table
from bayesieve.study.table_check import draw_labellings, put_spikes

LABELS = [0] * 8 + [1] * 10


@pytest.fixture
def values():
    return np.random.default_rng(5).standard_t(4, size=(18, 60))


def test_spikes_are_what_they_say_and_nothing_else_changes(values):
    codes = np.random.default_rng(1).permutation(LABELS)
    spikes = Spike("mean", 1.5), Spike("variance", 3.0)
    features = np.array([3, 10, 20, 41])
    truth, made = put_spikes(values, codes, spikes, features, np.random.default_rng(2))
    assert truth[features].tolist() == [0, 1, 0, 1]
    others = np.setdiff1d(np.arange(60), features)
    assert (truth[others] == -1).all()
    np.testing.assert_array_equal(made[:, others], values[:, others])
    np.testing.assert_array_equal(made[codes == 0], values[codes == 0])
    for feature in features:
        before, after = (bs.Moments.from_matrix(each[:, [feature]], codes.tolist()) for each in (values, made))
        shift = float(after.mean_difference[0] - before.mean_difference[0])
        ratio = float((after.variance[1] / after.variance[0] / (before.variance[1] / before.variance[0]))[0])
        deviation = math.sqrt(float((7 * before.variance[0] + 9 * before.variance[1])[0]) / 16)
        if truth[feature] == 0:
            assert abs(shift) == pytest.approx(1.5 * deviation, rel=1e-10)
            assert ratio == pytest.approx(1.0, rel=1e-10)
        else:
            assert shift == pytest.approx(0.0, abs=1e-10)
            assert max(ratio, 1 / ratio) == pytest.approx(3.0, rel=1e-10)


def test_missing_values_stay_missing(values):
    values[0, 3] = values[12, 3] = np.nan
    codes = np.array(LABELS)
    _, made = put_spikes(values, codes, (Spike("mean", 2.0),), np.array([3]), np.random.default_rng(0))
    np.testing.assert_array_equal(np.isnan(made), np.isnan(values))
    known = made[codes == 1, 3] - values[codes == 1, 3]
    assert np.nanmin(known) == pytest.approx(np.nanmax(known))


def test_numbers_by_hand(values):
    found = check_table(values, LABELS, repeats=3, shuffles=30, spiked_share=0.2, seed=7)
    codes = draw_labellings(np.array(LABELS), 3, np.random.default_rng((7, 0)))[0][1]
    usable = np.arange(60)
    rng = np.random.default_rng((7, 1, 1))
    order = rng.permutation(usable)[: found.n_spiked * 5]
    truth, made = put_spikes(values, codes, found.spikes, order, rng)
    selection = bs.MinimalRisk(0.5).select(bs.screen(made, codes.tolist(), shuffles=30, seed=1))
    row = next(row for row in found.rows if (row["method"], row["repeat"], row["spiked"]) == ("obf", 1, True))
    assert row["n_selected"] == selection.n_selected
    assert row["false_positives"] == (selection.mask & (truth < 0)).sum()
    assert row["mean 2 sd"] == (selection.mask & (truth == 2)).sum()
    assert row["claimed_false_positives"] == selection.false_positive_estimate.expected
    plain = bs.screen(values, codes.tolist(), model=bs.GaussianModel.jeffreys(), shuffles=0)
    row = next(row for row in found.rows if (row["method"], row["repeat"], row["spiked"]) == ("obf-jp", 1, False))
    assert row["n_selected"] == row["false_positives"] == (plain.log_odds > 0).sum()


def test_level_over_all_labellings():
    """All 70 ways to deal labels to 4 + 4 samples, each judged by the 69 others: at most 5% give a list."""
    values = np.random.default_rng(3).standard_t(2, size=(8, 80)) + np.random.default_rng(4).normal(size=(8, 1))
    found = check_table(values, [0] * 4 + [1] * 4, repeats=70, shuffles=69, prior_probability=0.2)
    assert found.complete
    assert found.n_repeats == 70
    listed = found.values("n_selected", "obf", spiked=False)
    assert (listed > 0).sum() <= 0.05 * 70
    emptied = found.values("was_emptied", "obf", spiked=False)
    assert emptied.sum() > 10
    assert (found.values("n_selected", "obf-jp", spiked=False) > 0).sum() > 35


def test_shuffles_are_distinct_and_complete_only_if_few():
    few, complete = draw_labellings(np.array([0, 0, 1, 1]), 6, np.random.default_rng(0))
    assert complete
    assert len({tuple(each) for each in few}) == 6
    some, complete = draw_labellings(np.array([0, 0, 1, 1]), 5, np.random.default_rng(0))
    assert not complete
    assert [sorted(each) for each in some] == [[0, 0, 1, 1]] * 5


def test_same_seed_same_numbers_and_progress(values):
    seen = []
    first = check_table(values, LABELS, repeats=2, shuffles=20, progress=lambda *at: seen.append(at))
    assert seen == [(k + 1, 8) for k in range(8)]
    assert first.rows == check_table(values, LABELS, repeats=2, shuffles=20).rows
    assert first.rows != check_table(values, LABELS, repeats=2, shuffles=20, seed=1).rows


def test_the_summary_says_what_the_rows_do(values):
    found = check_table(values, LABELS, repeats=4, shuffles=20, methods=["obf", "obf-jp", "obf-pp"])
    text = found.summary()
    assert "OBF calibrated" in text
    assert "OBF-PP" in text
    rows = found.summary_rows()
    assert len(rows) == 6
    spiked = next(row for row in rows if row["method"] == "obf-jp" and row["spiked"])
    assert spiked["false_positives"] == found.values("false_positives", "obf-jp").mean()
    claimed, true = (found.values(name, "obf-jp").sum() for name in ("claimed_false_positives", "false_positives"))
    assert spiked["claimed_over_true"] == pytest.approx(claimed / true)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"repeats": 0}, OptionError, "repeats"),
        ({"spiked_share": 1.0}, OptionError, "spiked_share"),
        ({"spiked_share": 0.999, "variance_factors": ()}, None, ""),
        ({"methods": ["welch"]}, OptionError, "obf, obf-jp, obf-pp"),
        ({"mean_shifts": (), "variance_factors": ()}, OptionError, "positive"),
        ({"mean_shifts": (-1.0,)}, OptionError, "positive"),
    ],
)
def test_what_makes_no_sense_is_refused(values, options, error, said):
    call = {"repeats": 1, "shuffles": 0} | options
    if error is None:
        assert check_table(values, LABELS, **call).n_spiked == 20
        return
    with pytest.raises(error, match=said):
        check_table(values, LABELS, **call)


def test_tables_that_cannot_be_checked_are_refused(values):
    with pytest.raises(DataError, match="only 1 sample"):
        check_table(values, [0] + [1] * 17)
    with pytest.raises(ValueError, match="two classes"):
        check_table(values, [0] * 6 + [1] * 6 + [2] * 6)
    values[:, :] = 1.0
    with pytest.raises(DataError, match="Spike fewer"):
        check_table(values, LABELS)
