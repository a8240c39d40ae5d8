"""Bayesian regressions as rivals: options, details, threads, messages."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.errors import LabelError, MissingValueError, OptionError

VARIANTS = [(link, prior) for link in ("linear", "logit") for prior in ("l1", "hs")]


def marked(rng, n=100, p=50):
    X, y = rng.normal(size=(n, p)), np.tile([0, 1], n // 2)
    X[y == 1, :2] += 1.3
    return X, y


@pytest.mark.parametrize(("link", "prior"), VARIANTS)
def test_the_rivals_as_a_user_meets_them(rng, link, prior):
    X, y = marked(rng)
    method, plan = f"bayesreg-{link}-{prior}", {"draws": 500, "burn_in": 200, "thin": 2, "screen": "bd:20"}
    told = []
    scores = bs.score(X, y, method=method, progress=lambda *now: told.append(now), **plan)
    kept = bs.score(X, y, method="bd").ranking[:20]
    assert np.flatnonzero(~np.isnan(scores.score)).tolist() == sorted(kept.tolist())
    assert set(scores.top(2)) == {"x0", "x1"}
    assert scores.selected is None
    assert told[-1] == (2400, 2400)
    assert set(scores.details) == {"t", "coefficient", "deviation", "r_hat", "ess"}
    np.testing.assert_allclose(
        scores.details["t"], scores.details["coefficient"] / scores.details["deviation"], rtol=1e-10
    )
    assert scores.diagnostics["sweeps"] == 1200
    again = bs.score(sparse.csr_matrix(X), y, method=method, n_threads=1, **plan)
    np.testing.assert_allclose(again.score, scores.score, rtol=1e-9)
    thinner = bs.score(1000.0 * X + 5.0, y, method=method, **plan)  # another unit
    np.testing.assert_allclose(thinner.score, scores.score, rtol=1e-4)
    np.testing.assert_allclose(1000.0 * thinner.details["coefficient"], scores.details["coefficient"], rtol=1e-4)


def test_the_number_of_threads_changes_nothing(rng):
    X, y = marked(rng)
    one, two = (
        bs.score(X, y, method="bayesreg-logit-l1", draws=300, burn_in=200, thin=3, chains=3, n_threads=k)
        for k in (1, 3)
    )
    np.testing.assert_array_equal(one.score, two.score)


def test_swapped_classes_change_the_sign_alone(rng):
    """Within Monte Carlo error: 0.2 of a t statistic of 4,000 draws."""
    X, y = marked(rng, p=6)
    one, other = (
        bs.score(X, labels, method="bayesreg-logit-hs", draws=2000, thin=2).details["t"] for labels in (y, 1 - y)
    )
    np.testing.assert_allclose(one, -other, atol=0.2)
    assert one[0] > 2


def test_options_and_tables_that_cannot_be_used(rng, r1):
    X, y = marked(rng)
    for options, text in (
        ({"draws": 2}, "draws must be a whole number of at least 4"),
        ({"thin": 0}, "thin must be"),
        ({"screen": "bd:none"}, "bd:300"),
        ({"pi": 0.1}, "no option 'pi'"),
    ):
        with pytest.raises(OptionError, match=text):
            bs.score(X, y, method="bayesreg-linear-l1", **options)
    X, y = r1
    with pytest.raises(LabelError, match=r"bayesreg-linear-l1 compares two classes .* only 0"):
        bs.score(X, [0] * 9, method="bayesreg-linear-l1")
    run = bs.rivals.rival("bayesreg-logit-hs").run
    with pytest.raises(LabelError, match="bayesreg-logit-hs needs at least two samples of each class"):
        run(LabelledMatrix.from_arrays(X[:3], y[2:5]), screen=None)
    holes = X.copy()
    holes[2] = np.nan
    with pytest.raises(MissingValueError, match="bayesreg-logit-hs takes no missing values, and 1 of the values"):
        run(LabelledMatrix.from_arrays(holes, y))


def test_constant_columns_have_no_score(rng):
    X, y = marked(rng, p=5)
    X[:, 3] = 7.0
    matrix = LabelledMatrix.from_arrays(X, y, feature_names=list("abcde"))
    with pytest.warns(bs.DegenerateFeatureWarning, match="bayesreg-linear-hs has no score for 1 of 5 features"):
        scores = bs.rivals.rival("bayesreg-linear-hs").run(matrix, screen=None, draws=200)
    assert np.isnan(scores.score).tolist() == [False, False, False, True, False]
    assert scores.top(5)[-1] != "d"
    assert len(scores.top(5)) == 4


def test_all_variants_are_the_four_side_by_side():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(30, 12))
    X[15:, 3] += 2.0
    y = [0] * 15 + [1] * 15
    options = {"draws": 40, "burn_in": 20, "thin": 1, "screen": "bd:6", "seed": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few draws
        together = bs.score(X, y, method="bayesreg", n_selected=2, **options)
        names = together.diagnostics["list_names"]
        alone = [bs.score(X, y, method=f"bayesreg-{name}", **options) for name in names]
    assert names == ("linear-l1", "linear-hs", "logit-l1", "logit-hs")
    np.testing.assert_allclose(together.score, np.mean([each.score for each in alone], axis=0))
    for row, each in zip(together.diagnostics["lists"], alone, strict=True):
        assert set(np.flatnonzero(row)) == set(each.ranking[:2])
    assert np.isnan(together.score).sum() == 6
