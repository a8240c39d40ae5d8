"""OBFSelector among its peers: scikit-learn's own checks, and what they do not look at."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesieve as bs

MARKERS = [3, 17, 40]
N_FEATURES = 60


@pytest.fixture(scope="module")
def data():
    """Return 60 samples x 60 features in random order; three of them differ by four standard deviations."""
    rng = np.random.default_rng(11)
    y = rng.permutation(np.repeat(["case", "control"], 30))
    X = rng.normal(size=(60, N_FEATURES))
    X[np.ix_(y == "control", MARKERS)] += 4.0
    return X, y


@pytest.fixture(scope="module")
def frame(data):
    return pd.DataFrame(data[0], columns=[f"gene{i}" for i in range(N_FEATURES)])


def list_names(mark):
    """Return the mark with its cases as a list: scikit-learn 1.6 gives a generator, which pytest 9 warns about."""
    return pytest.mark.parametrize(mark.args[0], list(mark.args[1]), **mark.kwargs)


# scikit-learn's checks fit noise, of which nothing is selected, and samples of ten, which are few.
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore:Class . has only . samples:bayesieve.errors.CalibrationWarning")
@list_names(parametrize_with_checks([bs.OBFSelector()]))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_tags():
    tags = get_tags(bs.OBFSelector())
    assert tags.classifier_tags is not None
    assert tags.classifier_tags.multi_class
    assert tags.target_tags.required
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert get_tags(bs.OBFSelector(missing="omit")).input_tags.allow_nan


def test_three_classes(data):
    X, _ = data
    y = np.array(["a", "b", "c"] * 20)
    shifted = X + 9.0 * ((y == "b")[:, None] & (np.arange(X.shape[1]) == 7))
    selector = bs.OBFSelector().fit(shifted, y)
    assert 7 in selector.get_support(indices=True)
    assert selector.posterior_.to_dict()["pattern"][7] == "{b} differs from {a, c}"


def test_missing_labels_in_a_list_are_refused(data):
    """NumPy would make them a class of the name 'nan'."""
    X, _ = data
    with pytest.raises(bs.LabelError, match="30 of 60 samples have no label"):
        bs.OBFSelector().fit(X, ["a", float("nan")] * 30)


def test_fitted_attributes(data):
    X, y = data
    selector = bs.OBFSelector(prior_probability=0.05).fit(X, y)
    posterior = bs.screen(X, y, prior_probability=0.05)
    np.testing.assert_array_equal(selector.scores_, posterior.log_odds)
    np.testing.assert_array_equal(selector.get_support(), bs.MinimalRisk(0.5).select(posterior).mask)
    assert selector.get_support(indices=True).tolist() == MARKERS
    assert selector.classes_.tolist() == ["case", "control"]
    assert selector.n_features_in_ == N_FEATURES
    assert selector.moments_.count.tolist() == [30, 30]
    assert selector.posterior_.names[3] == "x3"
    assert selector.selection_.n_selected == 3
    np.testing.assert_array_equal(selector.transform(X), X[:, MARKERS])


@pytest.mark.parametrize(
    ("rule", "chosen"),
    [
        ("MNC", MARKERS),
        ("mnc", MARKERS),
        ("MAP", MARKERS),
        (bs.MinimalRisk(0.9), MARKERS),
        (bs.FalseDiscovery(0.01), MARKERS),
        (bs.NeymanPearson(1e-3), MARKERS),
        (bs.FixedSize(0), []),
        (bs.FixedSize(N_FEATURES), list(range(N_FEATURES))),
        (bs.MostProbable(size=3), MARKERS),
    ],
    ids=repr,
)
def test_rules(data, rule, chosen):
    selector = bs.OBFSelector(rule=rule).fit(*data)
    assert selector.get_support(indices=True).tolist() == chosen


def test_unknown_rules_are_refused_before_the_data_are_read(data):
    with pytest.raises(bs.RuleError, match="Unknown rule 'CMNC'"):
        bs.OBFSelector(rule="CMNC").fit(*data)


@pytest.mark.parametrize("method", ["get_support", "transform", "inverse_transform", "get_feature_names_out"])
def test_before_fit(data, method):
    arguments = () if method.startswith("get") else (data[0],)
    with pytest.raises(NotFittedError, match="OBFSelector"):
        getattr(bs.OBFSelector(), method)(*arguments)


def test_nothing_selected(data):
    """The summary tells how near the best feature came, and what to try."""
    X, y = data
    selector = bs.OBFSelector().fit(np.delete(X, MARKERS, axis=1), y)
    assert not selector.get_support().any()
    best = int(np.argmax(selector.scores_))
    probability = selector.posterior_.probability[best]
    text = str(selector.selection_)
    assert "0 of 57 features selected" in text
    assert f"the best feature, 'x{best}', has probability {probability:.3g}" in text
    assert f"{-selector.scores_[best]:.3g} below the cut in log-odds" in text
    for remedy in ("FixedSize(n)", "lower threshold", "with_prior()"):
        assert remedy in text
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(X[:, :57]).shape == (60, 0)


# --- with the rest of scikit-learn ----------------------------------------------------------------


def test_pipeline(data, frame):
    _, y = data
    pipeline = make_pipeline(bs.OBFSelector(), GaussianNB()).fit(frame, y)
    assert pipeline.score(frame, y) > 0.95
    assert pipeline[:-1].get_feature_names_out().tolist() == [f"gene{i}" for i in MARKERS]
    assert pipeline[-1].theta_.shape == (2, 3)


def test_grid_search(data):
    """A size of one feature leaves two markers out, so the grid has something to find."""
    grid = {
        "obfselector__prior_probability": [0.001, 0.1],
        "obfselector__rule": [bs.FixedSize(1), "MNC"],
    }
    search = GridSearchCV(make_pipeline(bs.OBFSelector(), GaussianNB()), grid, cv=3).fit(*data)
    assert search.best_params_["obfselector__rule"] == "MNC"
    assert len(search.cv_results_["params"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[0].get_support(indices=True).tolist() == MARKERS


@pytest.mark.parametrize(
    "selector",
    [
        bs.OBFSelector(),
        bs.OBFSelector(bs.GaussianModel.proper(mean_strength=0.5), prior_probability=0.2, rule=bs.FixedSize(7)),
        bs.OBFSelector(
            bs.GaussianModel.jeffreys(np.full(N_FEATURES, 0.2)),
            prior_probability=np.linspace(0.01, 0.2, N_FEATURES),
            rule=bs.FalseDiscovery(0.1, confidence=0.8),
            missing="omit",
            degenerate="exclude",
            resolution=0.001,
            n_threads=1,
        ),
    ],
    ids=["defaults", "proper", "per feature"],
)
def test_clone_and_pickle(data, selector):
    X, y = data
    fitted = clone(selector).fit(X, y)
    assert not hasattr(selector, "selection_")
    assert not hasattr(clone(fitted), "selection_")
    for other in (clone(fitted).fit(X, y), pickle.loads(pickle.dumps(fitted))):
        assert repr(other.get_params()) == repr(selector.get_params())
        np.testing.assert_array_equal(other.scores_, fitted.scores_)
        np.testing.assert_array_equal(other.transform(X), fitted.transform(X))
        assert other.selection_.rule == fitted.selection_.rule


def test_pickled_selectors_go_on_learning(data):
    X, y = data
    half = pickle.loads(pickle.dumps(bs.OBFSelector().fit(X[:30], y[:30])))
    whole = half.partial_fit(X[30:], y[30:])
    np.testing.assert_allclose(whole.scores_, bs.OBFSelector().fit(X, y).scores_, rtol=1e-10)


def test_set_params_takes_effect_at_the_next_fit(data):
    selector = bs.OBFSelector().fit(*data)
    selector.set_params(rule=bs.FixedSize(5), prior_probability=0.5)
    assert selector.fit(*data).get_support().sum() == 5


# --- containers -----------------------------------------------------------------------------------


def test_names_of_frames(data, frame):
    _, y = data
    names = [f"gene{i}" for i in MARKERS]
    selector = bs.OBFSelector().fit(frame, y)
    assert selector.feature_names_in_.tolist() == list(frame.columns)
    assert selector.get_feature_names_out().tolist() == names
    assert set(selector.selection_.names) == set(names)
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(frame.rename(columns={"gene0": "other"}))


def test_names_of_polars_frames(data, frame):
    """Also where scikit-learn does not know them: 1.6 cannot read the names of polars 2."""
    table = pl.DataFrame(frame.to_dict("list"))
    names = [f"gene{i}" for i in MARKERS]
    for method in ("fit", "partial_fit"):
        selector = getattr(bs.OBFSelector().set_output(transform="polars"), method)(table, pl.Series(data[1]))
        assert set(selector.selection_.names) == set(names)
        assert selector.get_feature_names_out().tolist() == names
        assert selector.transform(table).columns == names


def test_columns_that_are_no_strings_give_no_names(data, frame):
    selector = bs.OBFSelector().fit(frame.set_axis(range(N_FEATURES), axis=1), data[1])
    assert selector.get_feature_names_out().tolist() == [f"x{i}" for i in MARKERS]
    assert selector.posterior_.names[3] == "x3"


def test_made_up_names(data):
    selector = bs.OBFSelector().fit(*data)
    assert selector.get_feature_names_out().tolist() == [f"x{i}" for i in MARKERS]


def test_names_go_when_the_next_fit_has_none(data, frame):
    X, y = data
    selector = bs.OBFSelector().fit(frame, y).fit(X, y)
    assert not hasattr(selector, "feature_names_in_")
    assert selector.posterior_.names[0] == "x0"


@pytest.mark.parametrize(("container", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(data, frame, container, kind):
    selector = bs.OBFSelector().set_output(transform=container).fit(frame, data[1])
    out = selector.transform(frame)
    assert isinstance(out, kind)
    assert list(out.columns) == [f"gene{i}" for i in MARKERS]
    np.testing.assert_array_equal(out.to_numpy(), data[0][:, MARKERS])


def test_inverse_transform(data):
    X, y = data
    selector = bs.OBFSelector().fit(X, y)
    back = selector.inverse_transform(selector.transform(X))
    expected = np.zeros_like(X)
    expected[:, MARKERS] = X[:, MARKERS]
    np.testing.assert_array_equal(back, expected)


@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array, sp.coo_array])
def test_sparse_tables(data, layout):
    X, y = data
    thin = np.where(np.abs(X) > 0.8, X, 0.0)
    dense = bs.OBFSelector(rule=bs.FixedSize(5)).fit(thin, y)
    sparse = bs.OBFSelector(rule=bs.FixedSize(5)).fit(layout(thin), y)
    np.testing.assert_allclose(sparse.scores_, dense.scores_, rtol=1e-10, atol=1e-10)
    out = sparse.transform(layout(thin))
    assert sp.issparse(out)
    np.testing.assert_array_equal(out.toarray(), dense.transform(thin))


def test_missing_values(data):
    X, y = data
    holes = np.where(np.random.default_rng(3).random(X.shape) < 0.1, np.nan, X)
    with pytest.raises(bs.MissingValueError, match="missing='omit'"):
        bs.OBFSelector().fit(holes, y)
    selector = bs.OBFSelector(missing="omit").fit(holes, y)
    np.testing.assert_array_equal(selector.scores_, bs.screen(holes, y, missing="omit").log_odds)
    np.testing.assert_array_equal(selector.transform(holes), holes[:, MARKERS])


# --- batches --------------------------------------------------------------------------------------


def batches(rng, n_samples):
    """Cut 0 .. n_samples - 1 into runs of random lengths, single samples among them."""
    cuts = np.unique(np.concatenate([rng.integers(1, n_samples, size=12), [1, 2, n_samples]]))
    return np.split(np.arange(n_samples), cuts[:-1])


# The first batches are small on purpose.
@pytest.mark.filterwarnings("ignore:Class .* has only . samples:bayesieve.errors.CalibrationWarning")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("missing", ["raise", "omit"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_partial_fit_equals_fit(data, seed, missing, layout):
    X, y = data
    rng = np.random.default_rng(seed)
    order = rng.permutation(60) if seed % 2 else np.argsort(y, kind="stable")  # sorted: whole batches lack a class
    X, y = X[order] + 100.0, y[order]
    if missing == "omit":
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    model = bs.GaussianModel.jeffreys() if seed < 4 else bs.GaussianModel.proper(pooled_location=100.0)
    whole = bs.OBFSelector(model, missing=missing).fit(layout(X), y)
    parts = bs.OBFSelector(model, missing=missing)
    lacking = 0
    for batch in batches(rng, 60):
        lacking += len(set(y[batch])) == 1
        parts.partial_fit(layout(X[batch]), y[batch], classes=["case", "control"])
    assert lacking >= 2
    np.testing.assert_allclose(parts.scores_, whole.scores_, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(parts.get_support(), whole.get_support())
    np.testing.assert_array_equal(parts.moments_.count, whole.moments_.count)
    assert parts.classes_.tolist() == whole.classes_.tolist()


def test_the_first_batch_must_show_both_classes_or_name_them(data):
    X, y = data
    cases = X[y == "case"]
    with pytest.raises(bs.LabelError, match=r"\['case'\]; at least two are needed.*classes=\[\.\.\.\]"):
        bs.OBFSelector().partial_fit(cases, ["case"] * 30)
    selector = bs.OBFSelector().partial_fit(cases, ["case"] * 30, classes=["control", "case"])
    assert selector.classes_.tolist() == ["control", "case"]
    assert selector.moments_.count.tolist() == [0, 30]
    with pytest.raises(NotFittedError):
        selector.get_support()
    selector.partial_fit(X[y == "control"], ["control"] * 30)
    assert selector.get_support(indices=True).tolist() == MARKERS


def test_later_batches_must_fit_the_first(data):
    X, y = data
    selector = bs.OBFSelector().partial_fit(X, y)
    with pytest.raises(bs.LabelError, match=r"not in classes.*'other'"):
        selector.partial_fit(X[:1], ["other"])
    with pytest.raises(bs.LabelError, match="differ from those of the first call"):
        selector.partial_fit(X, y, classes=["case", "other"])
    with pytest.raises(ValueError, match="59 features, but OBFSelector is expecting 60"):
        selector.partial_fit(X[:, 1:], y)
    assert selector.moments_.count.tolist() == [30, 30]


def test_a_feature_that_is_always_missing_does_not_stop_partial_fit(data):
    X, y = data
    holes = X.copy()
    holes[:, 0] = np.nan
    with pytest.warns(bs.DegenerateFeatureWarning, match="1 of 60"):
        selector = bs.OBFSelector(missing="omit").partial_fit(holes, y)
    assert selector.get_support(indices=True).tolist() == MARKERS


def test_refit_forgets(data):
    X, y = data
    fresh = bs.OBFSelector().fit(X[:, :20], y)
    for used in (bs.OBFSelector().fit(X, y), bs.OBFSelector().partial_fit(X, y)):
        used.fit(X[:, :20], y)
        assert used.n_features_in_ == 20
        assert used.moments_.count.tolist() == [30, 30]
        np.testing.assert_array_equal(used.scores_, fresh.scores_)


def test_partial_fit_goes_on_from_fit(data):
    X, y = data
    selector = bs.OBFSelector().fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(selector.scores_, bs.OBFSelector().fit(X, y).scores_, rtol=1e-10)


def test_constant_in_a_class_needs_the_values_or_a_resolution(data):
    """What partial_fit says in its documentation."""
    X, y = data
    flat = X.copy()
    flat[y == "case", 0] = 2.0
    with pytest.warns(bs.DegenerateFeatureWarning):
        whole = bs.OBFSelector(bs.GaussianModel.jeffreys()).fit(flat, y)
    with pytest.warns(bs.DegenerateFeatureWarning):
        parts = bs.OBFSelector(bs.GaussianModel.jeffreys()).partial_fit(flat, y)
    assert whole.posterior_.log_bayes_factor[0] > 10.0
    assert parts.posterior_.log_bayes_factor[0] == 0.0
    whole, parts = bs.OBFSelector(resolution=0.1).fit(flat, y), bs.OBFSelector(resolution=0.1).partial_fit(flat, y)
    np.testing.assert_allclose(parts.scores_, whole.scores_, rtol=1e-10)


def test_patterns_blocks_pairs_and_exposures_reach_the_screen(data):
    X, _ = data
    y = np.array(["a", "b", "c"] * 20)
    selector = bs.OBFSelector(patterns="a | *").fit(X, y)
    np.testing.assert_array_equal(selector.scores_, bs.screen(X, y, patterns="a | *").log_odds)
    two, batch, pair = np.array(["a", "b"] * 30), np.repeat([0, 1], 30), np.repeat(np.arange(30), 2)
    blocked = bs.OBFSelector(block_model="shift").fit(X, two, blocks=batch)
    np.testing.assert_array_equal(blocked.scores_, bs.screen(X, two, blocks=batch, block_model="shift").log_odds)
    paired = bs.OBFSelector().fit(X, two, pairs=pair)
    np.testing.assert_array_equal(paired.scores_, bs.screen(X, two, pairs=pair).log_odds)
    counts, depth = np.abs(X).round(), np.linspace(0.5, 2.0, 60)
    counted = bs.OBFSelector(bs.PoissonModel()).fit(counts, two, exposures=depth)
    np.testing.assert_array_equal(
        counted.scores_, bs.screen(counts, two, model=bs.PoissonModel(), exposures=depth).log_odds
    )


def test_kinds_and_fragility_of_a_selector(data):
    X, y = data
    selector = bs.OBFSelector(kinds=True, fragility="report").fit(X, y)
    assert {"kind", "least_log_odds"} <= set(selector.posterior_.to_dict())
    robust = bs.OBFSelector(fragility="select").fit(X, y)
    np.testing.assert_array_equal(robust.scores_, robust.fragility_.least_log_odds)
    assert robust.get_support().sum() <= selector.get_support().sum()
    with pytest.raises(bs.OptionError, match="'report' or 'select'"):
        bs.OBFSelector(fragility="yes").fit(X, y)
    with pytest.raises(bs.OptionError, match="partial_fit keeps no values"):
        bs.OBFSelector(fragility="report").partial_fit(X, y)


def test_fragility_of_counts_uses_their_exposures(data):
    X, _ = data
    two, counts, depth = np.array(["a", "b"] * 30), np.abs(X[:, :6]).round(), np.linspace(0.5, 2.0, 60)
    selector = bs.OBFSelector(bs.PoissonModel(), fragility="report").fit(counts, two, exposures=depth)
    rest = [np.delete(np.arange(60), i) for i in range(60)]
    brute = [bs.screen(counts[r], two[r], model=bs.PoissonModel(), exposures=depth[r]).log_odds for r in rest]
    np.testing.assert_allclose(selector.fragility_.least_log_odds, np.min(brute, axis=0), rtol=1e-9)
    with pytest.raises(bs.DataError, match="exposures that the screen had"):
        bs.fragility(counts, two, posterior=selector.posterior_)


def test_batches_of_categories_and_counts_add_up(data):
    X, _ = data
    y = np.array(["a", "b", "c"] * 20)
    levels = np.digitize(X, [-0.5, 0.5])
    for model, values in ((bs.CategoricalModel(), levels), (bs.PoissonModel(), levels)):
        selector = bs.OBFSelector(model)
        for part in (slice(0, 20), slice(20, 60)):
            selector.partial_fit(values[part], y[part], classes=["a", "b", "c"])
        np.testing.assert_allclose(selector.scores_, bs.OBFSelector(model).fit(values, y).scores_, rtol=1e-11)
        with pytest.raises(AttributeError, match="statistics_"):
            _ = selector.moments_


def test_text_categories_of_a_frame():
    frame = pd.DataFrame({"snp": ["AA", "AG", "AA", "GG"] * 5, "flag": [True, False] * 10})
    selector = bs.OBFSelector(bs.CategoricalModel()).fit(frame, ["a", "b"] * 10)
    assert selector.get_support().tolist() == [True, True]
    assert list(selector.get_feature_names_out()) == ["snp", "flag"]


def test_shuffles_and_their_seed_reach_the_screen(data):
    X, y = data
    screened = bs.screen(X, y, shuffles=30, seed=3)
    for state in (3, np.int64(3)):
        selector = bs.OBFSelector(shuffles=30, random_state=state).fit(X, y)
        assert selector.posterior_.shuffled.n_shuffles == 30
        np.testing.assert_array_equal(selector.posterior_.shuffled.reaching, screened.shuffled.reaching)
    assert selector.selection_.false_positive_estimate.source == "shuffles"
    assert selector.selection_.count_test is not None
    first, second = (
        bs.OBFSelector(shuffles=30, random_state=np.random.RandomState(5)).fit(X, y).posterior_ for _ in range(2)
    )
    np.testing.assert_array_equal(first.shuffled.reaching, second.shuffled.reaching)
    assert (first.shuffled.reaching != screened.shuffled.reaching).any()
    assert bs.OBFSelector(shuffles=0, random_state=None).fit(X, y).posterior_.shuffled is None
    with pytest.raises(ValueError, match="seed"):
        bs.OBFSelector(shuffles=30, random_state="often").fit(X, y)
    robust = bs.OBFSelector(shuffles=30, fragility="select").fit(X, y)
    assert robust.selection_.posterior.shuffled is None
    assert robust.posterior_.shuffled is not None
    estimated = bs.OBFSelector(shuffles=30, prior_probability="estimate").fit(X, y)
    assert estimated.posterior_.estimated_share == bs.screen(X, y, shuffles=30).estimated_share


def test_batches_merge_third_and_fourth_powers_and_shuffle_nothing(data):
    X, y = data
    X = X + np.random.default_rng(1).standard_t(3, size=X.shape)
    parts = bs.OBFSelector()
    for rows in np.array_split(np.random.default_rng(0).permutation(len(y)), 4):
        parts.partial_fit(X[rows], y[rows], classes=np.unique(y))
    whole = bs.OBFSelector(shuffles=20).fit(X, y)
    np.testing.assert_allclose(parts.moments_.centred_fourths, whole.moments_.centred_fourths, rtol=1e-10)
    np.testing.assert_allclose(parts.moments_.centred_cubes, whole.moments_.centred_cubes, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(parts.scores_, whole.scores_, rtol=1e-8, atol=1e-9)
    assert parts.posterior_.shuffled is None
    assert parts.selection_.false_positive_estimate.source == "model"
    assert whole.selection_.false_positive_estimate.source == "shuffles"
    with pytest.raises(bs.OptionError, match="shuffled labels"):
        bs.OBFSelector(prior_probability="estimate").partial_fit(X, y)


def test_nothing_is_selected_before_both_classes_are_there(data):
    X, y = data
    classes = np.unique(y)
    one = bs.OBFSelector().partial_fit(X[y == classes[0]], y[y == classes[0]], classes=classes)
    assert not hasattr(one, "selection_")
    both = one.partial_fit(X[y == classes[1]], y[y == classes[1]])
    np.testing.assert_allclose(both.scores_, bs.OBFSelector(shuffles=0).fit(X, y).scores_, rtol=1e-8, atol=1e-9)
