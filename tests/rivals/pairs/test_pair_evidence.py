"""The evidence of pairs, and one pass over all of them, against determinants one at a time."""

from __future__ import annotations

import exact_blocks
import naive_pairs
import numpy as np
import pytest
import scipy.sparse

import bayesieve as bs
from bayesieve.data import LabelledMatrix
from bayesieve.models.normal_inverse_wishart import block_log_evidence
from bayesieve.rivals.pairs.evidence import PairEvidence
from bayesieve.rivals.pairs.sweep import sweep
from bayesieve.stats import Scatter, ScatterCorrelations, ValueCorrelations

PRIORS = {"jp": None, "pp": naive_pairs.PP}


def made(p=12, n=(11, 14), seed=0):
    """Correlated features, some of which differ, with means and scales of their own."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(y.size, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p)))
    X[y == 1, 0] += 1.5
    X[y == 1, 1] *= 2.0
    return X * rng.uniform(0.5, 2.0, p) + rng.normal(size=p), y


def swept(X, y, prior="jp", **asked):
    source = ValueCorrelations.of(LabelledMatrix.from_arrays(X, y))
    evidence = PairEvidence.of(source.moments, prior)
    return evidence, sweep(source, evidence, **asked)


@pytest.mark.parametrize("prior", PRIORS)
def test_all_pairs_equal_their_determinants(prior):
    X, y = made()
    table, alone = naive_pairs.pair_table(X, y, PRIORS[prior]), naive_pairs.singles(X, y, PRIORS[prior])
    evidence, found = swept(X, y, prior, top=1000, order="evidence")
    assert np.allclose(evidence.single, alone, rtol=0, atol=1e-10)
    assert found.score.size == 66 == found.n_pairs
    assert np.allclose(found.score, table[found.first, found.second], rtol=0, atol=1e-10)
    assert (np.diff(found.score) <= 0).all()
    _, found = swept(X, y, prior, top=20)
    together = table - alone[:, None] - alone
    strongest = np.sort(together[np.triu_indices(12, 1)])[::-1][:20]
    assert np.allclose(found.score, strongest, rtol=0, atol=1e-10)
    assert np.allclose(together[found.first, found.second], found.score, rtol=0, atol=1e-10)


@pytest.mark.parametrize("prior", PRIORS)
def test_cells_equal_those_of_fifty_digits(prior):
    """Means far from the prior's and from each other, spreads that differ by a factor of a million."""
    X, y = made(4)
    X = X * [1.0, 1e3, 1e-3, 1.0] + [0.0, 1e4, 0.0, 30.0]
    X[y == 1, 3] += 1e3
    _, found = swept(X, y, prior, top=6, order="evidence")
    cells = {"jp": [(0, 0, 0, 0)] * 3, "pp": [(3, 0.5, 0.1, m) for m in (0.0, 0.2, 0.0)]}[prior]
    for value, *pair in zip(found.score, found.first, found.second, strict=True):
        parts = [X[y == 0][:, pair], X[y == 1][:, pair], X[:, pair]]
        exact = [exact_blocks.block_log_marginal(part, *cell) for part, cell in zip(parts, cells, strict=True)]
        offset = np.log(2 * np.pi) if prior == "jp" else 0.0  # there the ratio L is 1
        assert value == pytest.approx(float(exact[0] + exact[1] - exact[2]) - offset, abs=1e-10, rel=1e-12)


def test_the_evidence_agrees_with_blocks_and_the_screen():
    X, y = made()
    scatter = Scatter.from_matrix(X, y)
    model = bs.GaussianModel.jeffreys(0.1)
    evidence, found = swept(X, y, model, top=1, order="evidence")
    pair = scatter.take([int(found.first[0]), int(found.second[0])])
    jeffreys = bs.NormalInverseGamma()
    expected = sum(block_log_evidence(jeffreys, pair.group(k)) for k in (0, 1))
    expected -= block_log_evidence(jeffreys, pair.pool())
    assert found.score[0] == pytest.approx(expected + 2 * np.log(0.1), abs=1e-10)
    screened = bs.screen(X, y, model=model, shuffles=0)
    assert np.allclose(evidence.single, screened.log_bayes_factor, rtol=0, atol=1e-10)


@pytest.mark.parametrize("prior", PRIORS)
def test_sums_best_partners_and_counts(prior):
    X, y = made()
    table, alone = naive_pairs.pair_table(X, y, PRIORS[prior]), naive_pairs.singles(X, y, PRIORS[prior])
    ladder = np.quantile(table[np.triu_indices(12, 1)], [0.1, 0.5, 0.9])
    _, found = swept(X, y, prior, n_sums=2, ladder=ladder, order="evidence", tile=5)
    assert np.allclose(found.sums[0].log_sum, naive_pairs.two_mnc(X, y, PRIORS[prior]), rtol=0, atol=1e-10)
    assert np.allclose(found.sums[0].best, table.max(axis=1), rtol=0, atol=1e-10)
    assert found.sums[0].partner.tolist() == table.argmax(axis=1).tolist()
    assert found.sums[1].partner.tolist() == (table - alone).argmax(axis=1).tolist()
    assert found.reached.tolist() == [(table[np.triu_indices(12, 1)] >= rung).sum() for rung in ladder]
    assert found.largest == pytest.approx(table.max(), abs=1e-10)


def test_tiles_and_threads_change_nothing():
    X, y = made(70, (20, 25))
    ladder = np.array([-1.0, 1.0, 4.0])
    whole = swept(X, y, n_sums=2, top=30, ladder=ladder, tile=1000)[1]
    for tile in (1, 7, 16, 64):
        others = [swept(X, y, n_sums=2, top=30, ladder=ladder, tile=tile, n_threads=k)[1] for k in (1, 3)]
        for part in others:
            assert part.first.tolist() == whole.first.tolist()
            assert part.second.tolist() == whole.second.tolist()
            assert part.reached.tolist() == whole.reached.tolist()
            assert np.allclose(part.score, whole.score, rtol=0, atol=1e-11)
            for mine, theirs in zip(part.sums, whole.sums, strict=True):
                assert np.allclose(mine.log_sum, theirs.log_sum, rtol=0, atol=1e-11)
                assert mine.partner.tolist() == theirs.partner.tolist()
        one, three = others
        assert one.score.tobytes() == three.score.tobytes()
        assert all(a.log_sum.tobytes() == b.log_sum.tobytes() for a, b in zip(one.sums, three.sums, strict=True))


def test_other_forms_of_the_table(monkeypatch):
    X, y = made()
    X = np.round(X, 2)
    X[np.abs(X) < 0.7] = 0.0
    dense = swept(X, y, "pp", n_sums=1, top=5)[1]
    forms = [scipy.sparse.csr_array(X), scipy.sparse.csc_matrix(X), np.asfortranarray(X)]
    for limit in (1 << 25, 0):  # kept in memory, or made for every tile
        monkeypatch.setattr("bayesieve.stats.correlations._KEPT", limit)
        for form in forms:
            other = swept(form, y, "pp", n_sums=1, top=5, tile=5)[1]
            assert np.allclose(other.score, dense.score, rtol=0, atol=1e-11)
            assert np.allclose(other.sums[0].log_sum, dense.sums[0].log_sum, rtol=0, atol=1e-11)
    single = swept(X.astype(np.float32), y, "pp", top=5)[1]
    assert np.allclose(single.score, dense.score, atol=1e-3)


def test_scatter_of_two_sites_gives_the_same_as_all_values():
    X, y = made()
    site = np.arange(y.size) % 2
    scatter = Scatter.from_matrix(X[site == 0], y[site == 0]).merge(
        Scatter.from_matrix(X[site == 1], y[site == 1])
    )
    source = ScatterCorrelations(scatter)
    evidence = PairEvidence.of(source.moments, "jp")
    merged = sweep(source, evidence, n_sums=1, top=9, tile=5)
    whole = swept(X, y, n_sums=1, top=9)[1]
    assert merged.first.tolist() == whole.first.tolist()
    assert np.allclose(merged.score, whole.score, rtol=0, atol=1e-10)
    assert np.allclose(merged.sums[0].log_sum, whole.sums[0].log_sum, rtol=0, atol=1e-10)
    values = ValueCorrelations.of(LabelledMatrix.from_arrays(X, y))
    assert np.allclose(source.with_one(3), values.with_one(3), rtol=0, atol=1e-12)
    some = np.array([7, 2, 5])
    assert np.allclose(source.take(some).with_one(0), values.take(some).with_one(0), rtol=0, atol=1e-12)


def test_constant_and_collinear_features_have_no_evidence_under_jeffreys_prior():
    X, y = made()
    X[:, 3] = 1.0
    X[y == 0, 4] = 2.0
    X[:, 6] = 3.0 - 2.0 * X[:, 5]
    evidence, found = swept(X, y, n_sums=1, top=100)
    assert np.flatnonzero(~evidence.usable).tolist() == [3, 4]
    assert found.sums[0].log_sum[[3, 4]].tolist() == [-np.inf] * 2
    assert found.n_collinear == 1
    assert found.score.size == 44 == found.n_pairs
    assert not {3, 4} & {*found.first, *found.second}
    assert (5, 6) not in zip(found.first, found.second, strict=True)
    evidence, found = swept(X, y, "pp", n_sums=1, top=100)
    assert evidence.usable.all()
    assert found.n_pairs == found.score.size == 66
    table = naive_pairs.pair_table(X, y, naive_pairs.PP)
    assert np.allclose(found.sums[0].best, table.max(axis=1), rtol=0, atol=1e-9)


def test_terms_far_apart_do_not_overflow():
    """A feature of enormous evidence beside features of none."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 30))
    X[y == 1, 0] += 1e4
    _, found = swept(X, y, n_sums=2, top=3, tile=7)
    table = naive_pairs.pair_table(X, y, None)
    assert np.allclose(found.sums[0].log_sum, naive_pairs.two_mnc(X, y, None), rtol=1e-12)
    assert found.sums[0].best.max() == pytest.approx(table.max(), rel=1e-12)
    assert found.sums[0].best.max() > 1500


def test_null_features_have_the_pair_evidence_of_the_specification():
    """60 + 60 samples: H2 - H1 - H1 is about -0.23 +- 0.77 (JP) and -2.24 +- 0.78 (coherent PP)."""
    X, y = np.random.default_rng(5).normal(size=(120, 150)), np.repeat([0, 1], 60)
    for prior, (mean, sd) in {"jp": (-0.23, 0.77), "pp": (-2.24, 0.78)}.items():
        score = swept(X, y, prior, top=11_175)[1].score
        assert score.mean() == pytest.approx(mean, abs=0.04)
        assert score.std() == pytest.approx(sd, abs=0.06)


def test_priors_and_classes_that_do_not_fit():
    X, y = made()
    with pytest.raises(bs.OptionError, match="'jp' or 'pp'"):
        swept(X, y, "jeffreys")
    mixed = bs.GaussianModel((bs.NormalInverseGamma(),), bs.NormalInverseGamma(3.0, 0.5, 0.1), 1.0)
    with pytest.raises(bs.PriorError, match="in both classes"):
        swept(X, y, mixed)
    with pytest.raises(bs.LabelError, match="at least 3"):
        swept(X[9:], y[9:])
    X[3, 4] = np.nan
    with pytest.raises(bs.MissingValueError, match="Pairs of features need all values: fill them in"):
        swept(X, y)
