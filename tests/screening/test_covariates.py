"""Screens given covariates: numbers, shuffled residuals, designs that cannot work, and every way in."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

import bayesieve as bs
from bayesieve.data import Covariates, Labels
from bayesieve.models.gaussian.slopes import slopes_log_bayes_factor
from bayesieve.posterior import Adjustment
from bayesieve.screening.covariates import check_design, one_class_levels
from bayesieve.stats import DesignMoments
from bayesieve.utils import CalibrationWarning, LabelError, OptionError

N = 60


@pytest.fixture(scope="module")
def study():
    """Age differs between the classes, a third of the features depends on it, five differ by themselves."""
    rng = np.random.default_rng(3)
    y = np.repeat(["well", "sick"], N // 2)
    sick = y == "sick"
    age, sex = rng.normal(60, 10, N) + 15 * sick, rng.choice(["f", "m"], N)
    X = rng.normal(size=(N, 300))
    X[:, 100:200] += ((age - 65) / 10)[:, None] * rng.choice([-1.5, 1.5], 100)
    X[sick, :5] += 2.0
    return X, y, {"age": age, "sex": sex}


@pytest.fixture(scope="module")
def posterior(study):
    X, y, covariates = study
    return bs.screen(X, y, classes=("well", "sick"), covariates=covariates, shuffles=20)


def test_confounded_features_go_and_true_ones_stay(study, posterior):
    X, y, _ = study
    plain = bs.MinimalRisk(0.5).select(bs.screen(X, y, shuffles=20))
    assert np.isin(np.arange(100, 200), plain.indices).sum() > 20
    given = bs.MinimalRisk(0.5).select(posterior)
    assert set(given.indices) >= {0, 1, 2, 3, 4}
    assert given.n_selected <= 6
    assert "given the covariates" in str(given)


def test_log_bayes_factors_are_those_of_the_model(study):
    X, y, covariates = study
    model = bs.GaussianModel.jeffreys(0.1)
    found = bs.screen(X, y, covariates={"age": covariates["age"]}, model=model, shuffles=0)
    design = DesignMoments.from_matrix(X, y, covariates["age"])
    np.testing.assert_allclose(found.log_bayes_factor, slopes_log_bayes_factor(design, np.log(0.1)), atol=1e-9)
    assert bs.screen(X, y, covariates=covariates, model=bs.GaussianModel.proper(), shuffles=2).shuffled is not None


def test_adjusted_differences_are_those_of_a_regression(study, posterior):
    X, y, covariates = study
    A = np.column_stack([np.ones(N), y == "sick", covariates["age"], covariates["sex"] == "m"]).astype(float)
    fit = np.linalg.lstsq(A, X, rcond=None)[0]
    table = posterior.to_dict()
    np.testing.assert_allclose(table["mean_difference"], fit[1], atol=1e-10)
    np.testing.assert_allclose(table["slope_age"], fit[2], atol=1e-10)
    np.testing.assert_allclose(table["slope_sex=m"], fit[3], atol=1e-10)
    variance = ((X - A @ fit) ** 2).sum(axis=0) / (N - 4)
    half = t.ppf(0.975, N - 4) * np.sqrt(variance * np.linalg.inv(A.T @ A)[1, 1])
    np.testing.assert_allclose(table["difference_low"], fit[1] - half, atol=1e-9)
    np.testing.assert_allclose(table["adjusted_effect_size"], fit[1] / np.sqrt(variance), atol=1e-9)
    plain = bs.screen(X, y, classes=("well", "sick"), shuffles=0)
    np.testing.assert_allclose(table["log_odds_unadjusted"], plain.log_odds, atol=1e-10)


def test_residuals_shuffle_alike_whatever_the_threads(study, posterior):
    X, y, covariates = study
    again = bs.screen(X, y, classes=("well", "sick"), covariates=covariates, shuffles=20, n_threads=1)
    for one, two in zip(again.shuffled.values, posterior.shuffled.values, strict=True):
        np.testing.assert_array_equal(one, two)
    assert again.shuffled.scheme == "residuals"


def test_without_a_difference_nothing_is_claimed():
    """Age that goes with the class and acts on half of the features: the expected number of false ones holds."""
    claimed = listed = 0.0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], 20)
        age = rng.normal(size=40) + 1.5 * y
        X = rng.normal(size=(40, 400)) + age[:, None] * rng.normal(0, 1, 400) * (np.arange(400) < 200)
        found = bs.MinimalRisk(0.5).select(
            bs.screen(X, y, covariates={"age": age}, prior_probability=0.1, shuffles=20)
        )
        listed += int((found.posterior.probability > 0.5).sum())
        shuffled = found.posterior.shuffled.values
        claimed += float(np.mean([(values > -found.posterior.prior_log_odds).sum() for values in shuffled]))
    assert listed <= claimed + 3 * np.sqrt(claimed) + 3


def test_every_form_of_covariates_gives_the_same(study):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y, covariates = study
    wanted = bs.screen(X, y, covariates=covariates, shuffles=0).log_odds
    frame = pd.DataFrame(covariates)
    numbers = np.column_stack([covariates["age"], covariates["sex"] == "m"])
    for given in (frame, pl.DataFrame(frame), numbers.astype(float)):
        np.testing.assert_allclose(bs.screen(X, y, covariates=given, shuffles=0).log_odds, wanted, atol=1e-9)
    turned = frame.iloc[::-1]
    table = pd.DataFrame(X)
    np.testing.assert_allclose(bs.screen(table, y, covariates=turned, shuffles=0).log_odds, wanted, atol=1e-9)


def test_the_selector_takes_covariates_out_of_the_table(study):
    pd = pytest.importorskip("pandas")
    X, y, covariates = study
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(300)]).assign(**covariates)
    selector = bs.OBFSelector(covariates=["age", "sex"], shuffles=0).fit(frame, y)
    wanted = bs.screen(X, y, covariates=covariates, shuffles=0)
    np.testing.assert_allclose(selector.posterior_.log_odds, wanted.log_odds, atol=1e-10)
    assert selector.transform(frame).shape == (N, selector.selection_.n_selected)
    numbers = np.column_stack([covariates["age"], X])
    by_place = bs.OBFSelector(covariates=[0], shuffles=0).fit(numbers, y)
    assert by_place.transform(numbers).shape[1] == by_place.selection_.n_selected
    with pytest.raises(OptionError, match="no column 'agee'"):
        bs.OBFSelector(covariates="agee").fit(frame, y)
    with pytest.raises(OptionError, match="call fit"):
        bs.OBFSelector(covariates="age").partial_fit(frame, y)


def test_names_of_obs_are_covariates_of_an_object(study):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    X, y, covariates = study
    names = [f"s{i}" for i in range(N)]
    held = anndata.AnnData(X, obs=pd.DataFrame({"class": y, **covariates}, index=names))
    found = bs.screen(held, "class", covariates=["age", "sex"], shuffles=0)
    np.testing.assert_allclose(
        found.log_odds, bs.screen(X, y, covariates=covariates, shuffles=0).log_odds, atol=1e-9
    )


def test_blocks_beside_covariates_have_a_location(study):
    X, y, covariates = study
    batch = np.array(["p", "q", "r"])[np.arange(N) % 3]
    shifted = X + np.select([batch == "q", batch == "r"], [5.0, -3.0])[:, None]
    found = bs.screen(shifted, y, covariates=covariates, blocks=batch, shuffles=2)
    wanted = bs.screen(X, y, covariates={**covariates, "batch": batch}, shuffles=0)
    np.testing.assert_allclose(found.log_odds, wanted.log_odds, atol=1e-8)


def test_three_classes_and_missing_values(study):
    X, _, covariates = study
    y = np.arange(N) % 3
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    X[y == 2, 0] += 4.0
    found = bs.screen(X, y, covariates=covariates, missing="omit", shuffles=2)
    assert found.ranking[0] == 0
    assert np.isfinite(found.log_odds).all()


def of(**columns):
    return Covariates.of(columns)


def _labels(codes):
    return Labels(("a", "b"), np.asarray(codes))


def test_designs_that_cannot_work_are_named():
    rng = np.random.default_rng(0)
    codes, age = np.repeat([0, 1], 20), rng.normal(size=40)
    with pytest.raises(OptionError, match="'site' determines the class"):
        check_design(of(age=age, site=np.where(codes, "x", "z").tolist()), _labels(codes))
    sum_of_both = [int(code) for code in codes]
    with pytest.raises(OptionError, match="'twice' is determined by 'age'"):
        check_design(of(age=age, twice=2 * age + 1), _labels(codes))
    with pytest.raises(OptionError, match="determine together"):
        check_design(of(age=age, other=sum_of_both - age), _labels(codes))
    with pytest.raises(OptionError, match="too few"):
        check_design(of(**{f"z{k}": rng.normal(size=8) for k in range(5)}), _labels(np.repeat([0, 1], 4)))
    with pytest.warns(CalibrationWarning, match="% of the comparison is left"):
        check_design(of(near=codes + 0.1 * age), _labels(codes))
    batch = ["p"] * 5 + ["q"] * 30 + ["r"] * 5
    assert one_class_levels(of(batch=batch), _labels(codes)) == ["batch p (5 of a)", "batch r (5 of b)"]


@pytest.mark.parametrize(
    ("column", "error", "match"),
    [
        (["k"] * 40, OptionError, "in all samples"),
        ([3.0] * 40, OptionError, "in all samples"),
        ([None, *range(39)], LabelError, "not known of 1 of 40"),
        ([f"s{k}" for k in range(40)], OptionError, "look like ids"),
    ],
)
def test_columns_that_are_no_covariates(column, error, match):
    with pytest.raises(error, match=match):
        of(this=column)


def test_numbers_that_are_names_have_levels():
    found = Covariates.of({"C(batch)": [1, 2, 3, 1, 2, 3], "dose": [1, 2, 3, 1, 2, 4]})
    assert found.names == ("batch=2", "batch=3", "dose")
    assert found.describe() == "batch ('1', '2', '3'), dose (a slope)"


def test_what_does_not_go_with_covariates(study):
    X, y, covariates = study
    others = {"pairs": np.arange(N) % 30, "factors": 1, "resolution": 0.1, "informative_missing": True}
    for options in ({name: value} for name, value in others.items()):
        with pytest.raises(OptionError, match="does not go with"):
            bs.screen(X, y, covariates=covariates, **options)
    with pytest.raises(OptionError, match="by slopes; PoissonModel has none"):
        bs.screen(np.abs(X).round(), y, covariates=covariates, model=bs.PoissonModel())
    with pytest.raises(OptionError, match="needs the samples"):
        bs.screen(bs.Moments.from_matrix(X, y), covariates=covariates)
    with pytest.raises(OptionError, match="up to 3 groups"):
        bs.screen(X, np.arange(N) % 4, covariates=covariates, model=bs.GaussianModel.jeffreys())
    with pytest.raises(OptionError, match="give the columns themselves"):
        bs.screen(X, y, covariates="age")


def test_a_constant_feature_stays_at_its_prior(study):
    X, y, covariates = study
    X = X.copy()
    X[:, 7] = 1.5
    with pytest.warns(bs.errors.DegenerateFeatureWarning):
        found = bs.screen(X, y, covariates=covariates, model=bs.GaussianModel.jeffreys(), shuffles=0)
    assert found.log_bayes_factor[7] == 0.0


def test_values_shown_are_adjusted(study, posterior):
    X, _, covariates = study
    finding = next(each for each in posterior.findings if isinstance(each, Adjustment))
    shown = finding.adjusted(X.T[:3], np.arange(3))
    age, sex = covariates["age"] - covariates["age"].mean(), covariates["sex"] == "m"
    table = posterior.to_dict()
    for j in range(3):
        slopes = table["slope_age"][j], table["slope_sex=m"][j]
        np.testing.assert_allclose(
            shown[j], X[:, j] - slopes[0] * age - slopes[1] * (sex - sex.mean()), atol=1e-10
        )


def test_several_columns_of_blocks_are_crossed(study):
    pd = pytest.importorskip("pandas")
    X, y, covariates = study
    batch = np.array(["p", "q"])[np.arange(N) % 2]
    frame = pd.DataFrame({"batch": batch, "sex": covariates["sex"]})
    crossed = [f"{one} x {two}" for one, two in zip(batch, covariates["sex"], strict=True)]
    found = bs.screen(X, y, blocks=frame, shuffles=0)
    np.testing.assert_array_equal(found.log_odds, bs.screen(X, y, blocks=crossed, shuffles=0).log_odds)
    assert found.block_evidence.names == ("p x f", "p x m", "q x f", "q x m")


@pytest.mark.parametrize("model", [None, bs.GaussianModel.jeffreys()], ids=["calibrated", "jeffreys"])
def test_fragility_is_that_of_the_table_without_each_sample(study, model):
    """Screens of the other samples, with what the model took from all features held fixed."""
    X, y, covariates = study
    X = X[:, 80:130].copy()
    X[3, 0] += 9.0
    full = bs.screen(X, y, covariates=covariates, model=model, shuffles=0)
    found = bs.fragility(X, y, posterior=full)
    least = np.full(50, np.inf)
    for i in range(N):
        rest = np.arange(N) != i
        given = {name: np.asarray(column)[rest] for name, column in covariates.items()}
        one = bs.screen(X[rest], y[rest], covariates=given, model=full.model, shuffles=0)
        least = np.minimum(least, one.log_odds)
    np.testing.assert_allclose(found.least_log_odds, least, atol=1e-8)
    assert (found.n_removals == N).all()
    again = bs.fragility(X, y, model, covariates=covariates)
    np.testing.assert_allclose(again.least_log_odds, found.least_log_odds, atol=1e-10)
    with pytest.raises(OptionError, match="outcomes"):
        bs.fragility(X, y, posterior=bs.screen(X, outcome=covariates["age"], shuffles=0))


@pytest.mark.parametrize("model", [None, bs.GaussianModel.jeffreys(), bs.GaussianModel.proper()])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_covariate_may_be_the_same_in_all_samples_of_a_class(rng, model, n_classes):
    """Its slope is that of the other classes; of the class alone, it tells nothing."""
    y = np.arange(N) % n_classes
    sex = np.where(y == 0, "f", rng.choice(["f", "m"], N))
    X = rng.normal(size=(N, 30)) + (sex == "m")[:, None]
    model = (
        bs.GaussianModel.proper(mean_locations=(0.0,))
        if isinstance(model, bs.GaussianModel) and model.is_proper
        else model
    )
    found = bs.screen(X, y, covariates={"sex": sex}, model=model, shuffles=0)
    assert np.isfinite(found.log_odds).all()
    assert not (found.log_odds > 0).any()
