"""Leaving one sample out, against screening again without each sample in turn."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from dataclasses import dataclass
from unittest import mock

import exact
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import bayesieve as bs
from bayesieve.models.gaussian.leave_one_out import turning_points
from bayesieve.screening.influence import one_by_one

SCREEN = importlib.import_module("bayesieve.screening.obf")  # the module; the package gives the function
RNG = np.random.default_rng(20240611)


def screen(*data, **options):
    """Screen under Jeffreys' prior, unless another model is given."""
    return bs.screen(*data, **{"model": bs.GaussianModel.jeffreys(), "shuffles": 0} | options)


def fragility(X, *labels, **options):
    """Leave samples out under Jeffreys' prior, unless another model or a screen is given."""
    model = {} if len(labels) > 1 or "posterior" in options else {"model": bs.GaussianModel.jeffreys()}
    return bs.fragility(X, *labels, **model | options)


@contextlib.contextmanager
def quietly():
    """Without warnings and the simulations behind them, which take most of the time of a small screen."""
    with warnings.catch_warnings(), mock.patch.object(SCREEN, "advise"):
        warnings.simplefilter("ignore")
        yield


@dataclass
class Brute:
    """What screening again without each sample gives; NaN where the removal is not defined."""

    without: np.ndarray
    there: np.ndarray

    @property
    def least(self):  # noqa: D102 - the least of what is defined
        return np.where(np.isnan(self.without), np.inf, self.without).min(axis=0)


def brute_force(X, y, *, missing="raise", **options):
    """Screen again without each sample; a feature that only then becomes degenerate is an undefined removal."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    without = np.full(X.shape, np.nan)
    classes = tuple(np.unique(y).tolist())
    with quietly():
        full = screen(X, y, classes=classes, missing=missing, **options)
    floored = full.degenerate & (full.log_bayes_factor != 0)
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        try:
            with quietly():
                shorter = screen(X[kept], y[kept], classes=classes, missing=missing, **options)
        except bs.PriorError:  # a class has become too small for its prior, whatever the feature
            continue
        without[i] = np.where(shorter.degenerate & ~floored, np.nan, shorter.log_odds)
    without[np.isnan(X)] = np.nan
    return Brute(without, ~np.isnan(X))


def check(X, y, cut=0.0, table=None, **options):
    """Compare fragility with brute force; return it."""
    labels = () if table is not None else (y,)
    with quietly():
        found = fragility(X if table is None else table, *labels, cut=cut, **options)
    wrong = {"n_threads": None} if table is None else {"missing": "omit"}
    expected = brute_force(X, y, **{k: v for k, v in {**wrong, **options}.items() if k != "n_threads"})
    compare(found, expected, cut)
    return found


def compare(found, expected, cut=0.0):
    usable = ~(found.full.degenerate & (found.full.log_bayes_factor == 0))
    full, least = found.full.log_odds, np.where(np.isfinite(expected.least), expected.least, found.full.log_odds)
    least = np.where(usable, least, full)
    np.testing.assert_allclose(found.least_log_odds, least, rtol=1e-9, atol=1e-9)
    defined = ~np.isnan(expected.without) & usable
    assert (found.n_removals == defined.sum(axis=0)).all()
    assert (found.n_skipped == (expected.there & ~defined & usable).sum(axis=0)).all()
    below = (defined & (expected.without <= cut)).sum(axis=0)
    close = (np.abs(expected.without - cut) < 1e-8).any(axis=0)
    assert (found.n_below == np.where(full > cut, below, 0))[~close].all()
    none = ~defined.any(axis=0)
    assert (found.culprit[none] == -1).all()
    columns = np.flatnonzero(~none)
    chosen = expected.without[found.culprit[columns], columns]
    np.testing.assert_allclose(chosen, expected.least[columns], rtol=1e-9, atol=1e-9)


def table_of(n0, n1, n_features=60):
    """Features of many kinds: null, shifted, more variable, heavy tails, outliers."""
    rng = np.random.default_rng([n0, n1, n_features])
    X = rng.normal(size=(n0 + n1, max(60, n_features)))
    y = np.repeat(["a", "b"], [n0, n1])
    X[n0:, 10:20] += 2.0
    X[n0:, 20:30] *= 4.0
    X[:, 30:40] = rng.standard_t(1.2, size=(n0 + n1, 10))
    X[rng.integers(n0 + n1, size=10), np.arange(40, 50)] += 10.0 ** rng.integers(0, 8, size=10)
    order = rng.permutation(len(y))
    return X[order][:, :n_features].copy(), y[order]


PRIORS = {
    "jeffreys": bs.GaussianModel.jeffreys(),
    "depends on sizes": bs.GaussianModel.jeffreys(prior_ratio="n_decay"),
    "function of sizes": bs.GaussianModel.jeffreys(prior_ratio=lambda n0, n1: 0.3 / np.sqrt(n0 * n1)),
    "proper": bs.GaussianModel.proper(),
    "no scale but a mean": bs.GaussianModel(
        (bs.NormalInverseGamma(0.0, 0.0, 0.5, 0.1),), bs.NormalInverseGamma(0.0, 0.0, 0.5, -0.2), 0.2
    ),
    "calibrated": bs.CalibratedModel(0.3, 3.0, 1.2, (0.5, 1.0, 2.0), (0.4, 0.8, 1.6), 0.4, 0.7),
    "calibrated, variances not moderated": bs.CalibratedModel(0.5, 0.0, 0.0, (0.3, 3.0), (0.3, 2.0), 0.0, 0.0),
    "calibrated, means only": bs.CalibratedModel(0.0, 2.0, 0.5, (1.0,), (), 0.0, 0.0),
    "many classes' degrees": bs.GaussianModel(
        (bs.NormalInverseGamma(40.0, 20.0, 1.0),), bs.NormalInverseGamma(1.0, 0.5, 1.0)
    ),
}


@pytest.mark.parametrize("model", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("sizes", [(12, 9), (3, 8), (2, 5), (60, 41)])
def test_equal_to_screening_again_without_each_sample(model, sizes):
    X, y = table_of(*sizes)
    check(X, y, model=model, prior_probability=0.1)
    check(X, y, cut=2.0, model=model, prior_probability=np.linspace(0.01, 0.9, X.shape[1]))


def test_a_class_of_one_sample_can_be_left_empty_under_a_proper_prior():
    X, y = table_of(1, 6)
    model = bs.GaussianModel.proper()
    found = fragility(X, y, model)
    alone = exact.log_odds([], X[y == "b", 3], exact.PROPER)
    if found.culprit[3] == np.flatnonzero(y == "a")[0]:
        assert found.least_log_odds[3] == pytest.approx(float(alone), rel=1e-10)
    assert (found.n_removals == 7).all()


@pytest.mark.parametrize("name", ["jeffreys", "proper", "depends on sizes", "function of sizes"])
def test_missing_values_are_no_removals(name):
    X, y = table_of(14, 11)
    X[RNG.random(X.shape) < 0.3] = np.nan
    X[y == "b", 5] = np.nan  # a class without values
    X[np.flatnonzero(y == "b")[:2], 5] = [1.0, 2.0]
    check(X, y, model=PRIORS[name], missing="omit", prior_probability=0.2)


@pytest.mark.parametrize("name", ["jeffreys", "calibrated", "calibrated, variances not moderated"])
def test_ties_equal_values_and_skipped_removals(name):
    X = np.round(RNG.normal(size=(16, 200)) * 0.7)  # few different values, many of them equal
    y = np.repeat([0, 1], 8)
    X[:, 0], X[:, 1], X[:8, 2] = 0.0, np.arange(16), 3.0
    X[8:, 3] = [1.0, 1.0, 1.0, 1.0, 7.0, 1.0, 1.0, 1.0]  # without sample 12 a class has no spread
    X[:8, 3] = np.arange(8)
    X[:8, 4] = [4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    X[8:, 4] = np.arange(8)
    found = check(X, y, model=PRIORS[name], prior_probability=0.3)
    assert found.n_skipped[3] == found.n_skipped[4] == 1
    assert found.n_removals[3] == 15
    assert found.culprit[3] != 12
    assert found.full.degenerate[[0, 2]].all()


def test_a_floor_does_not_hide_an_outlier():
    """Class a is constant, and one value of class b makes the difference: the floor of what is left counts."""
    X = np.zeros((40, 2))
    X[20:23, 0] = [2.0, 5.0, 1.0]
    X[20:, 1] = 1e-3 * RNG.normal(size=20)
    X[25, 1] = 8.0
    found = check(X, np.repeat(["a", "b"], 20))
    assert found.full.degenerate.all()
    assert (found.least_log_odds < found.full.log_odds - 5).all()
    assert found.culprit[1] == 25


def test_samples_in_another_order_are_noticed():
    X, y = table_of(12, 12)
    with pytest.raises(bs.DataError, match="not the one that was screened"):
        fragility(X, y[::-1], posterior=screen(X, y))


@pytest.mark.parametrize("step", [0.5, np.linspace(0.0, 2.0, 60)], ids=["one", "per feature"])
@pytest.mark.parametrize("sizes", [(9, 7), (2, 6)])
@pytest.mark.parametrize("name", ["jeffreys", "proper", "no scale but a mean", "calibrated"])
def test_rounding_variance_leaves_with_the_sample(step, sizes, name):
    X, y = table_of(*sizes)
    X = np.round(X)
    check(X, y, model=PRIORS[name], resolution=step, prior_probability=0.2)


def test_large_offsets_cost_no_digits():
    X, y = table_of(20, 15)
    X = np.round(X, 3)
    shifted = X + 2.0**27  # all digits survive up to 2**-25
    X = shifted - 2.0**27
    for name in ("jeffreys", "calibrated"):
        near, far = (fragility(Z, y, PRIORS[name]).least_log_odds for Z in (X, shifted))
        np.testing.assert_allclose(far, near, rtol=1e-9, atol=1e-9)
        check(shifted, y, model=PRIORS[name])


def test_outliers_that_hide_everything_else_are_removed_exactly():
    """The downdate of the sums has no digit left; mpmath from the values is the reference."""
    X = RNG.normal(size=(20, 5))
    y = np.repeat([0, 1], 10)
    X[3, :] = [1e6, 1e7, 1e8, 1e9, 1e12]
    found = fragility(X, y)
    kept = np.arange(20) != 3
    for j in range(5):
        expected = exact.log_odds(X[:10, j][kept[:10]], X[10:, j])
        assert found.culprit[j] == 3
        assert found.least_log_odds[j] == pytest.approx(float(expected), rel=1e-10)


def test_priors_per_feature():
    X, y = table_of(10, 8, 60)
    per = bs.NormalInverseGamma(np.linspace(0.5, 5, 60), np.linspace(0.1, 2, 60), 0.3, np.linspace(-2, 2, 60))
    pooled = bs.NormalInverseGamma(3.0, np.linspace(0.2, 1, 60), np.linspace(0.1, 1, 60), 0.0)
    check(X, y, model=bs.GaussianModel((per,), pooled))
    ratio = np.linspace(0.01, 2.0, 60)
    check(X, y, model=bs.GaussianModel.jeffreys(prior_ratio=ratio), prior_probability=0.2)


def test_negative_hyperparameters_are_evaluated_sample_by_sample():
    with pytest.warns(bs.PriorWarning):
        prior = bs.NormalInverseGamma(-1.0, -0.05, 0.0, allow_negative=True)
    model = bs.GaussianModel((prior,), prior, 0.1)
    X, y = table_of(9, 8, 30)
    found = fragility(X, y, model)
    for i in range(17):
        kept = np.arange(17) != i
        shorter = model.log_bayes_factor(bs.Moments.from_matrix(X[kept], y[kept]))
        assert (found.least_log_bayes_factor <= shorter * (1 + 1e-12 * np.sign(shorter)) + 1e-12).all()


def test_the_extremes_do_not_hold_the_least():
    """A shifted class: taking out a value near the middle hurts most."""
    X, y = table_of(25, 25, 400)
    found, expected = fragility(X, y), brute_force(X, y)
    compare(found, expected)
    extreme = np.zeros(X.shape, bool)
    for label in "ab":
        rows = np.flatnonzero(y == label)
        for pick in (np.argmin, np.argmax):
            extreme[rows[pick(X[rows], axis=0)], np.arange(400)] = True
    at_extremes = np.where(extreme, expected.without, np.inf).min(axis=0)
    inner = at_extremes > expected.least + 1e-6
    assert inner.sum() > 40
    assert inner[50:].mean() < 1  # and often they do


def test_turning_points_against_the_roots_of_numpy():
    rng = np.random.default_rng(3)
    kinds = set()
    for _ in range(3000):
        a, (b, c, d) = 10.0 ** rng.uniform(-6, 2), rng.normal(size=3) * 10.0 ** rng.uniform(-3, 1, size=3)
        roots = np.roots([a, b, c, d])
        real = np.sort(roots[np.abs(roots.imag) < 1e-7 * np.abs(roots)].real)
        if real.size == 2 or (np.diff(real) < 1e-3 * np.abs(real[:-1])).any():
            continue
        kinds.add(real.size)
        for found, root in zip(turning_points(a, b, c, d), (real[0], real[-1]), strict=True):
            if abs(root) <= 1.0:  # where values are
                assert found == pytest.approx(root, abs=1e-6)
            else:
                assert found == np.copysign(np.inf, root)
    assert kinds == {1, 3}
    for a, b, c, d, root in [(1.0, 0.0, 0.0, 0.0, 0.0), (8.0, -12.0, 6.0, -1.0, 0.5), (8.0, 0.0, 0.0, 1.0, -0.5)]:
        np.testing.assert_allclose(turning_points(a, b, c, d), (root, root), atol=1e-5)


CONTAINERS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "CSR": sp.csr_array,
    "CSC": sp.csc_array,
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_the_same_whatever_holds_the_values(container):
    X, y = table_of(13, 12)
    X[np.abs(X) < 0.4] = 0.0
    expected = fragility(X, y, prior_probability=0.3)
    for n_threads in (1, 3):
        found = fragility(container(X), y, prior_probability=0.3, n_threads=n_threads)
        np.testing.assert_allclose(found.least_log_odds, expected.least_log_odds, rtol=1e-10, atol=1e-11)
        assert (found.culprit == expected.culprit).all()
        assert (found.n_below == expected.n_below).all()


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.float16, np.int8])
def test_other_number_types(dtype):
    X, y = table_of(13, 12)
    check(np.clip(np.round(X * 8), -100, 100).astype(dtype), y, prior_probability=0.3)


def test_many_features_in_tiles_and_threads():
    X, y = table_of(7, 9, 2600)
    one, three = (fragility(X, y, prior_probability=0.3, n_threads=n) for n in (1, 3))
    for name in ("least_log_bayes_factor", "culprit", "n_below", "n_skipped", "n_removals"):
        assert (getattr(one, name) == getattr(three, name)).all()
    compare(one, brute_force(X, y, prior_probability=0.3))


@pytest.mark.parametrize("samples_in", ["rows", "columns"])
@pytest.mark.parametrize("missing", [False, True])
def test_files(tmp_path, samples_in, missing):
    X, y = table_of(11, 10)
    if missing:
        X[RNG.random(X.shape) < 0.1] = np.nan
    path = tmp_path / "values.csv"
    cells = [["" if np.isnan(v) else repr(float(v)) for v in row] for row in X]
    if samples_in == "rows":
        rows = [["id", "stage", *(f"g{j}" for j in range(60))]]
        rows += [[f"s{i}", y[i], *cells[i]] for i in range(21)]
        labels = "stage"
    else:
        rows = [["gene", *(f"s{i}" for i in range(21))]]
        rows += [[f"g{j}", *(cells[i][j] for i in range(21))] for j in range(60)]
        labels = str(tmp_path / "labels.csv") + ":stage"
        (tmp_path / "labels.csv").write_text("\n".join(["id,stage", *(f"s{i},{y[i]}" for i in range(21))]))
    path.write_text("\n".join(",".join(row) for row in rows) + "\n")
    table = bs.read_table(path, labels=labels, samples_in=samples_in, missing="omit")
    found = check(X, y, table=table, prior_probability=0.2)
    given = fragility(table, posterior=found.full)
    assert (given.culprit == found.culprit).all()


def test_files_that_come_in_many_pieces(tmp_path, monkeypatch):
    X, y = table_of(30, 30, 20)
    X[:, :4] *= 1e9
    X[5, :4] = 1e15
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "labels.csv").write_text("\n".join(["n,stage", *(f"{i},{label}" for i, label in enumerate(y))]))
    monkeypatch.setattr("bayesieve.io.formats.numpy_files.samples_per_chunk", lambda n_features: 8)
    monkeypatch.setattr("bayesieve.screening.influence.VALUES_AT_ONCE", 100)
    monkeypatch.setattr("bayesieve.screening.removals.VALUES_AT_ONCE", 100)
    table = bs.read_table(tmp_path / "x.npy", labels=f"{tmp_path / 'labels.csv'}:stage", samples_in="rows")
    assert len(list(table.blocks(np.arange(20)))) > 1
    check(X, y, table=table, prior_probability=0.2)


@settings(max_examples=40, deadline=None)
@given(
    X=hnp.arrays(
        np.float64, st.tuples(st.integers(5, 12), st.integers(1, 4)),
        elements=st.one_of(st.integers(-4, 4).map(float), st.floats(-1e3, 1e3, width=32)),
    ),
    n0=st.integers(2, 3),
    name=st.sampled_from(["jeffreys", "proper", "no scale but a mean", "depends on sizes"]),
)  # fmt: skip
def test_any_table(X, n0, name):
    X = np.where(np.abs(X) < 1e-3, 0.0, X)
    y = np.repeat([0, 1], [n0, len(X) - n0])
    check(X, y, model=PRIORS[name], prior_probability=0.5)


def test_one_by_one_agrees():
    X, y = table_of(8, 9, 30)
    X[2, 3] = np.nan
    fast = fragility(X, y, prior_probability=0.2, missing="omit")
    singles = (bs.Moments.from_matrix(X[i : i + 1], y[i : i + 1], missing="omit") for i in range(17))
    reduced = (fast.full.moments.remove(single) for single in singles)
    slow = one_by_one(fast.full, reduced, fast.full.model.log_bayes_factor)
    np.testing.assert_allclose(slow.least_log_odds, fast.least_log_odds, rtol=1e-9)
    assert (slow.culprit == fast.culprit).all()
    assert (slow.n_below == fast.n_below).all()
    assert slow.n_removals.tolist() == fast.n_removals.tolist()


def test_more_classes_and_other_models():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(24, 6)), np.repeat(["a", "b", "c"], 8)
    X[y == "c", 0] += 4.0
    X[3, 1] = 15.0
    compare(fragility(X, y), brute_force(X, y))
    options = {"resolution": 0.1, "patterns": "distinct"}
    compare(fragility(X, y, **options), brute_force(X, y, **options))
    counts = rng.poisson(5.0, size=(16, 6)).astype(float)
    counts[2, 1] = 60
    labels, exposures = np.repeat([0, 1], 8), rng.uniform(0.5, 2.0, 16)
    model = bs.PoissonModel(1.0, 0.5)
    found = fragility(counts, labels, model, exposures=exposures)
    assert found.culprit[1] == 2
    shorter = [
        screen(np.delete(counts, i, 0), np.delete(labels, i), model=model, exposures=np.delete(exposures, i))
        for i in range(16)
    ]
    np.testing.assert_allclose(found.least_log_odds, np.min([s.log_odds for s in shorter], axis=0), rtol=1e-12)


def test_files_of_other_models_are_as_tables_in_memory(tmp_path):
    path, labels, model = tmp_path / "x.csv", ["abc"[i % 3] for i in range(18)], bs.PoissonModel()
    counts = np.array([[i * i % 7, (3 * i) % 5] for i in range(18)])
    rows = [f"{label},{a},{b}\n" for label, (a, b) in zip(labels, counts.tolist(), strict=True)]
    path.write_text("y,g,h\n" + "".join(rows))
    of_file = fragility(bs.read_table(path, labels="y", model=model), model=model)
    of_table = fragility(counts, labels, model=model)
    np.testing.assert_array_equal(of_file.least_log_odds, of_table.least_log_odds)
    np.testing.assert_array_equal(of_file.culprit, of_table.culprit)


def test_a_ready_posterior_is_used():
    X, y = table_of(12, 12)
    posterior = screen(X, y, model=bs.GaussianModel.proper(), prior_probability=0.3, classes=("b", "a"))
    found = fragility(X, y, posterior=posterior)
    assert found.full is posterior
    compare(found, brute_force_of(posterior, X, y))


def brute_force_of(posterior, X, y):
    without = np.array([
        posterior.prior_log_odds
        + posterior.model.log_bayes_factor(bs.Moments.from_matrix(
            np.delete(X, i, axis=0), np.delete(y, i), classes=posterior.classes))
        for i in range(len(y))
    ])  # fmt: skip
    return Brute(without, np.ones(X.shape, bool))


def test_the_result_as_a_posterior_table_and_sentences():
    X = np.vstack([RNG.normal(size=(10, 3)), RNG.normal(size=(10, 3))])
    X[:10, 0] += 8.0
    X[4, 1] = 40.0
    y = np.repeat(["a", "b"], 10)
    found = fragility(X, y, prior_probability=0.1)
    assert bs.MinimalRisk(0.5).select(found.full).mask.tolist() == [True, True, False]
    cautious = found.posterior()
    assert bs.MinimalRisk(0.5).select(cautious).mask.tolist() == [True, False, False]
    np.testing.assert_allclose(cautious.log_odds, found.least_log_odds)
    assert found.fragile.tolist() == [False, True, False]
    columns = found.columns(found.full)
    assert columns["culprit"][1] == "4"
    assert columns["n_fragile_removals"].tolist() == [0, 1, 0]
    assert found.take([1]).culprit.tolist() == [4]
    assert found.take(np.array([True, False, True])).full.names == ("x0", "x2")
    assert [str(note) for note in found.notes()] == [
        "1 of 2 features over the cut would not pass without a certain sample, most often sample 4, counting from "
        "0 (1 of them)."
    ]
    with pytest.raises(bs.DataError, match="does not fit"):
        found.columns(found.full.take([0]))
    with pytest.raises(ValueError, match="read-only"):
        found.n_below[0] = 3


def test_names_of_samples_from_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"g": [0.1, -0.2, 0.3, 0.0, 0.1, 9.0, 0.2, -0.1, 0.1, 0.4]}, index=list("abcdefghij"))
    labels = np.repeat([0, 1], 5)
    assert fragility(frame, labels).culprit_names() == ["f"]
    assert fragility(frame.reset_index(drop=True), labels).culprit_names() == ["5"]


def test_skipped_removals_are_told():
    X = np.array([[0.0], [1.0], [5.0], [7.0], [6.0]])
    with pytest.warns(bs.CalibrationWarning):
        found = fragility(X, [0, 0, 1, 1, 1])
    assert found.n_skipped.tolist() == [2]
    assert str(found.notes()[1]).startswith("2 removals were skipped in 1 feature, because")
    with pytest.warns(bs.CalibrationWarning):
        nothing = fragility(X[:4], [0, 0, 1, 1])
    assert nothing.culprit.tolist() == [-1]
    assert nothing.culprit_names() == [""]
    assert nothing.least_log_odds.tolist() == nothing.full.log_odds.tolist()


def test_certain_priors_stay_certain():
    X, y = table_of(8, 8, 3)
    found = fragility(X, y, prior_probability=[0.0, 1.0, 0.5])
    assert found.least_log_odds[:2].tolist() == [-np.inf, np.inf]
    assert np.isfinite(found.posterior().log_bayes_factor).all()


def test_errors_say_what_to_do():
    X, y = table_of(8, 8, 3)
    with pytest.raises(bs.DataError, match=r"Moments hold sums.*fragility\(X, y\)"):
        fragility(bs.Moments.from_matrix(X, y))
    posterior = screen(X, y)
    with pytest.raises(bs.LabelError, match="class of every sample"):
        fragility(X, posterior=posterior)
    with pytest.raises(bs.DataError, match=r"2 features and \[8, 8\] samples"):
        fragility(X[:, :2], y, posterior=posterior)
    with pytest.raises(bs.DataError, match=r"\[8, 8\] samples were screened"):
        fragility(X[:-1], y[:-1], posterior=posterior)
    with quietly():
        blocked = screen(X, y, blocks=np.arange(16) % 2)
    with pytest.raises(bs.OptionError, match="not for blocks"):
        fragility(X, y, posterior=blocked)
    with pytest.raises(bs.OptionError, match="cut must be a number"):
        fragility(X, y, cut="high")


def test_calibrated_outliers_that_hide_everything_else_are_removed_exactly():
    """The downdate of the sums has no digit left; the screen of what is left is the reference."""
    X = RNG.normal(size=(20, 5))
    y = np.repeat([0, 1], 10)
    X[10:] += 3.0
    X[3, :] = [1e3, 1e5, 1e7, 1e9, 1e12]
    model = PRIORS["calibrated"]
    with quietly():
        found = bs.fragility(X, y, model)
        rest = bs.screen(np.delete(X, 3, axis=0), np.delete(y, 3), model=model)
        every = brute_force(X, y, model=model)
    np.testing.assert_allclose(every.without[3], rest.log_odds, rtol=1e-9, atol=1e-9)
    compare(found, every)


def test_what_all_features_gave_is_held_fixed(rng):
    """The constants of the whole table, not those of what is left; a screen of the rest with them is the same."""
    X, y = rng.normal(size=(30, 80)), np.repeat([0, 1], 15)
    X[15:, :10] += 1.2
    X[15:, 10:20] *= 3.0
    posterior = bs.screen(X, y, shuffles=20)
    found = bs.fragility(X, y, posterior=posterior, cut=1.0)
    assert found.full is posterior
    assert posterior.shuffled is not None
    assert found.posterior().shuffled is None
    assert posterior.model.variance_dof is not None
    expected = brute_force(X, y, model=posterior.model, shuffles=0)
    compare(found, expected, cut=1.0)
    with quietly():
        anew = bs.screen(np.delete(X, 0, axis=0), np.delete(y, 0), shuffles=0)
    assert np.abs(anew.log_odds - expected.without[0]).max() > 1e-6


def test_calibrated_fragility_of_three_classes_files_and_threads(rng, tmp_path):
    X, y = rng.normal(size=(24, 40)), np.repeat(["a", "b", "c"], 8)
    X[y == "c", 0] += 4.0
    with quietly():
        posterior = bs.screen(X, y, shuffles=0)
        compare(bs.fragility(X, y, posterior=posterior), brute_force(X, y, model=posterior.model, shuffles=0))
    path = tmp_path / "t.csv"
    lines = [",".join(["y", *(f"g{j}" for j in range(40))])]
    lines += [",".join([label, *map(repr, row.tolist())]) for label, row in zip(y[:16], X[:16], strict=True)]
    path.write_text("\n".join(lines) + "\n")
    table = bs.read_table(path, labels="y")
    with quietly():
        posterior = bs.screen(table, shuffles=0)
        one, all_cores = (bs.fragility(X[:16], y[:16], posterior=posterior, n_threads=n) for n in (1, None))
        of_file = bs.fragility(table, posterior=posterior)
    for other in (all_cores, of_file):
        for name in ("least_log_bayes_factor", "culprit", "n_below", "n_skipped", "n_removals"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
