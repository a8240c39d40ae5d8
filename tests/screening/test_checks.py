"""The checks of a list, each against another way to the same number."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesieve as bs
from bayesieve.data import apply_transform
from bayesieve.posterior import Check, Checks
from bayesieve.screening.checks.confounding import evidence
from bayesieve.screening.checks.floors import mostly_one_value
from bayesieve.screening.checks.leak import is_named_like, separates
from bayesieve.screening.checks.sample_columns import SampleColumn, fisher_exact, welch
from bayesieve.screening.checks.shape import ShapeOfValues
from bayesieve.stats import Shape
from bayesieve.utils import expectation

FIVE = ["one-sample", "floors", "shape", "confounding", "chance"]
MODELS = {"calibrated": bs.CalibratedModel(), "jeffreys": bs.GaussianModel.jeffreys(prior_ratio=0.1)}


def made(seed=0, n=40, p=300, markers=10, by=2.0):
    """Clean Gaussian data of two classes."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(loc=7.0, size=(n, p)), np.repeat(["control", "case"], [n // 2, n - n // 2])
    X[n // 2 :, :markers] += by
    columns = {
        "sex": rng.choice(["f", "m"], n),
        "batch": rng.choice(["one", "two", "three"], n),
        "age": rng.normal(60.0, 8.0, n),
    }
    return X, y, columns


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_clean_data_raise_no_alarm(model, seed):
    X, y, columns = made(seed)
    checks = bs.screen(X, y, model=model, sample_columns=columns, shuffles=40).checks
    assert [check.name for check in checks] == FIVE
    assert [check.state for check in checks] == ["good"] * 5, str(checks)
    assert checks.state == "good"


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_what_falls_is_what_a_screen_without_the_sample_does_not_list(model):
    X, y, _ = made(3, n=26, p=120, markers=25, by=1.4)
    X[13, 60:90] += 9.0
    posterior = bs.screen(X, y, model=model, shuffles=0)
    checks = posterior.checks
    listed, held = posterior.log_odds > 0, posterior.log_odds > 0
    fallen_without = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = bs.screen(X[rest], y[rest], model=posterior.model, shuffles=0, classes=posterior.classes)
        fallen_without.append(int((listed & (again.log_odds <= 0)).sum()))
        held = held & (again.log_odds > 0)
    check = checks["one-sample"]
    assert check.number == (listed & ~held).sum() > 0
    np.testing.assert_array_equal(checks.holds, np.where(listed, held.astype(int), -1))
    assert check.shown == f"{check.number:.0f} of {listed.sum()}"
    if model is MODELS["jeffreys"]:
        assert check.state == "alarm"
        assert next(iter(check.numbers["samples"])) == "13"
        assert "sample 13" in check.render()
        assert "sample 13" not in check.render(ids=False)
        assert fallen_without[13] == max(fallen_without)


def test_a_sample_of_a_long_list_stands_for_it(monkeypatch):
    monkeypatch.setattr("bayesieve.screening.checks.one_sample._QUICK_WORK", 30 * 40)
    X, y, _ = made(4, p=200, markers=100)
    checks = bs.screen(X, y, prior_probability=0.3).checks
    numbers = checks["one-sample"].numbers
    assert numbers["n_looked_at"] == 30 < numbers["n_listed"]
    assert (checks.holds >= 0).sum() == 30
    assert "30 features looked at" in checks["one-sample"].render()


def test_floors_are_runs_of_one_value():
    rng = np.random.default_rng(5)
    values = np.round(rng.normal(size=(31, 400)), 1)
    values[:12, 7], values[20, 9] = 0.3, np.nan
    codes = np.repeat([0, 1], [14, 17])
    wanted = []
    for column in values.T:
        shares = [pd.Series(column[codes == k]).value_counts(normalize=True).max() for k in (0, 1)]
        wanted.append(max(shares) >= 0.5)
    np.testing.assert_array_equal(mostly_one_value(values, codes, 2), wanted)
    assert wanted[7]


def test_floors_of_every_array_are_found_after_a_normalisation():
    X, y, _ = made(6, markers=30, by=3.0)
    X[:20, :12] = 0.0  # below what can be seen, in the controls
    assert bs.screen(X, y).checks["floors"].number == 12
    shifted = X + np.random.default_rng(0).normal(size=(40, 1))  # every array has a floor of its own
    check = bs.screen(shifted, y).checks["floors"]
    assert check.number == 12
    assert check.state == "alarm"


def test_shape_is_that_of_scipy():
    X, y, _ = made(7, n=51)
    X = np.exp(0.6 * X)
    matrix = bs.LabelledMatrix.from_arrays(X, y)
    shape = ShapeOfValues.of(Shape.of(matrix))
    parts = [X[matrix.labels.codes == k] for k in (0, 1)]
    sizes = np.array([len(part) for part in parts])
    skew = sum(len(part) * stats.skew(part) for part in parts) / sizes.sum()
    kurtosis = sum(n * (stats.kurtosis(part) + 6 / (n + 1)) for n, part in zip(sizes, parts, strict=True))
    np.testing.assert_allclose(shape.skewness, skew, rtol=1e-10)
    np.testing.assert_allclose(shape.excess, kurtosis / sizes.sum(), rtol=1e-10)


def test_the_law_of_the_moments_is_that_of_gaussian_values():
    rng = np.random.default_rng(8)
    matrix = bs.LabelledMatrix.from_arrays(rng.normal(size=(25, 40_000)), np.repeat([0, 1], [10, 15]))
    shape = ShapeOfValues.of(Shape.of(matrix))
    np.testing.assert_allclose(shape.skewness.std(), shape.skewness_error[0], rtol=0.02)
    np.testing.assert_allclose(shape.excess.std(), shape.excess_error[0], rtol=0.03)
    assert abs(shape.excess.mean()) < 4 * shape.excess_error[0] / 200
    assert abs(shape.typical_skewness) < 0.1
    assert shape.share_beyond < 0.02


def test_raw_intensities_are_far_from_gaussian_and_logarithms_change_the_list():
    X, y, _ = made(9, p=1000, markers=30, by=1.2)
    raw = np.exp(1.3 * X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check = bs.screen(raw, y, model=MODELS["jeffreys"]).checks["shape"]
        logs = bs.screen(np.log2(raw), y, model=MODELS["jeffreys"], shuffles=0)
    assert check.state == "alarm"
    assert check.numbers["n_listed_logarithms"] == (logs.log_odds > 0).sum()
    assert check.numbers["skewness"] > 1


def test_an_implausible_share_is_an_alarm():
    X, y, _ = made(10, markers=150, by=3.0)
    check = bs.screen(X, y).checks["shape"]
    assert check.state == "alarm"
    assert "implausible share" in check.render()
    assert bs.screen(X, y, prior_probability=0.5).checks["shape"].state == "good"


def test_tests_of_columns_are_those_of_scipy():
    rng = np.random.default_rng(11)
    for _ in range(20):
        table = rng.integers(0, 12, size=(2, 2)) + 1.0
        assert fisher_exact(table) == pytest.approx(stats.fisher_exact(table)[1], rel=1e-9)
        a, b = rng.normal(size=9), rng.normal(0.7, 2.0, size=14)
        assert welch(a, b) == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue, rel=1e-10)
    levels, codes = rng.choice(list("abc"), 80), np.repeat([0, 1], 40)
    levels[:25] = "a"
    strength, p_value = SampleColumn.of("batch", levels.tolist()).association(codes)
    table = pd.crosstab(levels, codes)
    assert strength == pytest.approx(stats.contingency.association(table), rel=1e-10)
    assert p_value == pytest.approx(stats.chi2_contingency(table).pvalue, abs=0.01)
    numbers, three = rng.normal(size=90) + np.repeat([0.0, 0.3, 0.6], 30), np.repeat([0, 1, 2], 30)
    strength, p_value = SampleColumn.of("age", numbers.tolist()).association(three)
    groups = [numbers[three == k] for k in range(3)]
    assert p_value == pytest.approx(stats.f_oneway(*groups).pvalue, abs=0.015)


def test_a_confounded_batch_is_named_and_its_share_counted():
    X, y, columns = made(12, n=60, p=400, markers=6)
    rng = np.random.default_rng(0)
    batch = np.where(rng.random(60) < 0.9, y == "case", y == "control")
    X[:, 50:90] += 2.2 * batch[:, None]
    columns |= {"batch": np.where(batch, "B2", "B1")}
    posterior = bs.screen(X, y, sample_columns=pd.DataFrame(columns))
    check = posterior.checks["confounding"]
    assert (check.state, check.numbers["column"]) == ("alarm", "batch")
    assert check.render().startswith("'batch' goes with the classes")
    listed = np.flatnonzero(posterior.log_odds > 0)
    by_batch = bs.screen(X[:, listed], batch, model=posterior.model, shuffles=0).log_bayes_factor
    share = (by_batch >= posterior.log_bayes_factor[listed]).mean()
    assert check.number == pytest.approx(share, abs=1e-12)
    assert share > 0.5
    assert check.numbers["columns"]["sex"]["share_explained"] is None


def test_evidence_of_the_classes_is_that_of_the_screen():
    X, y, columns = made(13)
    for model in MODELS.values():
        posterior = bs.screen(X, y, model=model, sample_columns=columns)
        view = posterior.checker._view(bs.MinimalRisk(0.5).select(posterior))
        which = np.arange(20)
        found = evidence(view, which, np.ones(40, bool), view.codes)
        np.testing.assert_allclose(found, posterior.log_bayes_factor[:20], atol=1e-8)


def test_a_leaked_label_is_asked_about():
    X, y, _ = made(14)
    X[:, 33] = np.where(y == "case", 2.0, 1.0)
    names = [f"g{j}" for j in range(X.shape[1])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = bs.screen(pd.DataFrame(X, columns=names), pd.Series(y, name="diagnosis")).checks
    assert checks["leak"].state == "alarm"
    assert "'g33'" in checks["leak"].render()
    X[:, 33] = np.where(y == "case", 9.0, 1.0) + np.random.default_rng(0).normal(size=40)
    for name, asked in (("DIAGNOSIS_code", True), ("g33", False)):
        names[33] = name
        found = bs.screen(pd.DataFrame(X, columns=names), pd.Series(y, name="diagnosis")).checks
        assert ("leak" in found) is asked


def test_classes_that_lie_apart():
    codes = np.array([0, 0, 1, 1, 2, 2])
    values = np.array([[1.0, 1, 5], [2, 2, 6], [3, 2, 1], [4, 5, 2], [9, 7, 3], [8, np.nan, 4]])
    assert separates(values, codes, 3).tolist() == [True, False, True]
    assert is_named_like("tumour type", "type")
    assert is_named_like("Y", "y")
    assert not is_named_like("TYK2", "y")
    assert not is_named_like("", "")


def test_chance_stands_beside_the_model():
    X, y, _ = made(15)
    selection = bs.MinimalRisk(0.5).select(bs.screen(X, y, shuffles=40))
    check = selection.checks["chance"]
    assert check.number == selection.false_positive_estimate.expected
    assert check.numbers["by_model"] == pytest.approx(selection.expected_false_positives)
    unshuffled = bs.screen(X, y, shuffles=0).checks["chance"]
    assert unshuffled.state == "unknown"
    assert "not shuffled" in unshuffled.render()


def test_other_designs_say_what_was_not_checked():
    X, y, _ = made(16)
    blocks = bs.screen(X, y, blocks=["a", "b"] * 20).checks
    assert blocks["one-sample"].state == "unknown"
    pairs = bs.screen(X, y, pairs=[*range(20), *range(20)]).checks
    assert {pairs[name].state for name in ("one-sample", "confounding")} == {"unknown"}
    counts = bs.screen(np.random.default_rng(0).poisson(4.0, (30, 60)), [0, 1, 2] * 10, model=bs.PoissonModel())
    assert [check.name for check in counts.checks] == FIVE
    assert counts.checks["floors"].state == "unknown"
    three = bs.screen(np.c_[X, X], np.repeat(["a", "b", "c"], [20, 10, 10])).checks
    assert three["one-sample"].number >= 0


def test_every_rule_has_checks_of_its_own_list():
    X, y, _ = made(17)
    posterior = bs.screen(X, y)
    assert bs.FixedSize(3).select(posterior).checks["one-sample"].numbers["n_listed"] == 3
    again = bs.MinimalRisk(0.5).select(posterior)
    assert again.checks is posterior.checks
    table = posterior.with_finding(bs.fragility(X, y, posterior=posterior))
    assert bs.MinimalRisk(0.5).select(table).checks is posterior.checks


def test_values_do_not_go_with_a_pickle():
    X, y, _ = made(18)
    posterior = bs.screen(X, y)
    assert len(pickle.dumps(posterior)) < X.nbytes + 50_000
    for copied in (pickle.loads(pickle.dumps(posterior)), posterior.take([0, 1])):
        assert copied.checker is None
        assert len(copied.checks) == 0
    assert copy.copy(posterior).checks.state == posterior.checks.state
    assert "no values" in repr(Checks())


def test_checks_are_short_to_look_at_and_plain_in_json():
    X, y, columns = made(19)
    checks = bs.screen(X, y, sample_columns=columns).checks
    assert len(repr(checks)) < 600
    assert str(checks).count("\n") == 4
    assert "<script" not in Checks((Check.from_dict({**checks[0].to_dict(), "title": "<script>"}),))._repr_html_()
    for check in checks:
        back = Check.from_dict(check.to_dict())
        assert (back.name, back.state, back.shown, back.number) == (
            check.name,
            check.state,
            check.shown,
            check.number,
        )
    with pytest.raises(KeyError, match="no check 'two'"):
        checks["two"]
    with pytest.raises(ValueError, match="no state"):
        Check.from_dict({**checks[0].to_dict(), "state": "odd"})


def test_columns_that_do_not_fit_are_refused():
    X, y, _ = made(20)
    with pytest.raises(bs.LabelError, match="'sex' of sample_columns has 3 values, but there are 40 samples"):
        bs.screen(X, y, sample_columns={"sex": ["f", "m", "f"]})
    with pytest.raises(bs.OptionError, match="sample_columns is a data frame"):
        bs.screen(X, y, sample_columns=5)


@pytest.mark.parametrize(
    ("number", "step", "text"),
    [(1.77e-6, 0.0, "under 0.01"), (0.0, 0.0, "under 0.01"), (0.02, 0.0, "0.02"), (0.3, 0.0, "0.3"),
     (1234.5, 0.0, "1,234.5"),     (0.0, 0.05, "fewer than 0.05"), (0.0, 0.001, "under 0.01")],
)  # fmt: skip
def test_small_expectations_are_said_to_be_small(number, step, text):
    assert expectation(number, step) == text


def test_looking_at_ranks_leaves_the_values_alone():
    rng = np.random.default_rng(0)
    for order in "CF":
        values = np.asarray(rng.normal(size=(30, 100)), order=order)
        before = values.copy()
        apply_transform("rank-normal", values, lambda i, j: "")
        np.testing.assert_array_equal(values, before)
