"""Statistics drawn without data, against the statistics of data: distributions, moments, dependence, limits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

import bayesieve as bs
from bayesieve.simulation import Kind, SynergeticModel
from bayesieve.simulation.variants import HeavyTailedModel

SHIFTS = 1.0 / np.arange(1.0, 6.0)
SIGMA = np.full((5, 5), 0.8) + 0.2 * np.eye(5)
VARIANCES = ((0.16, 0.16), (0.49, 0.49), (0.09, 0.25), (0.49, 0.64))
N_BLOCKS = 2000
SIZES = [(25, 25), (7, 7), (4, 9), (3, 2)]
GROUPS = dict(zip(SIZES, (2, 3, 0, 1), strict=True))

# what a feature is, and the subclass in which a heterogeneous marker differs
WHAT = {
    "global": (Kind.GLOBAL_MARKER, -1),
    "differs in subclass 0": (Kind.HETEROGENEOUS_MARKER, 0),
    "differs in subclass 1": (Kind.HETEROGENEOUS_MARKER, 1),
    "low variance": (Kind.LOW_VARIANCE_NON_MARKER, -1),
    "high variance": (Kind.HIGH_VARIANCE_NON_MARKER, -1),
}


def many_blocks(group):
    """Return a model with many independent blocks of every kind, all with the variances of one group."""
    return SynergeticModel(
        class_variances=(VARIANCES[group],),
        global_blocks=N_BLOCKS,
        heterogeneous_blocks=2 * N_BLOCKS,
        low_variance_blocks=N_BLOCKS,
        high_variance_features=N_BLOCKS,
    )


def columns_of(model, what, position):
    kind, subclass = WHAT[what]
    layout = model.layout
    at = position if kind != Kind.HIGH_VARIANCE_NON_MARKER else 0
    return np.flatnonzero((layout.kind == kind) & (layout.subclass == subclass) & (layout.position == at))


def literal_values(what, group, sizes, rng):
    """Blocks x samples x 5 values, or features x samples, drawn word for word as described."""
    (n0, n1), (v0, v1) = sizes, VARIANCES[group]
    if what == "high variance":
        share = rng.random((N_BLOCKS, 1))
        first = rng.random((N_BLOCKS, n0 + n1)) < share
        return np.where(first, rng.normal(0, v0**0.5, first.shape), rng.normal(1, v1**0.5, first.shape))
    sub0 = math.ceil(n1 / 2)
    same = {"mean": np.zeros(5), "cov": v0 * SIGMA}
    other = {"mean": SHIFTS, "cov": v1 * SIGMA}
    distributions = {
        "global": (other, other),
        "differs in subclass 0": (other, same),
        "differs in subclass 1": (same, other),
        "low variance": (same, same),
    }[what]
    parts = [(same, n0), (distributions[0], sub0), (distributions[1], n1 - sub0)]
    drawn = [
        rng.multivariate_normal(**distribution, size=(N_BLOCKS, n), method="cholesky") for distribution, n in parts
    ]
    return np.concatenate(drawn, axis=1)


def statistics_of(moments, columns):
    """Means and centred squares of both classes, and log-odds under both priors of section 6."""
    part = bs.Moments((0, 1), moments.count, moments.mean[:, columns], moments.centred_squares[:, columns])
    found = {"mean 0": part.mean[0], "mean 1": part.mean[1]}
    found |= {f"squares {k}": part.centred_squares[k] for k in (0, 1)}
    for name, model in (("JP", bs.GaussianModel.jeffreys()), ("PP", bs.GaussianModel.proper())):
        found[name] = model.log_bayes_factor(part)
    return found


@pytest.fixture(scope="module", params=SIZES, ids=str)
def drawn(request):
    sizes = request.param
    model = many_blocks(GROUPS[sizes])
    data = model.draw(sizes, seed=101, shuffle=False)
    exact = model.draw_moments(sizes, seed=202, shuffle=False)
    return model, sizes, exact.moments, bs.Moments.from_matrix(data.values, data.labels)


@pytest.mark.parametrize("what", WHAT)
def test_distributions_equal_those_of_raw_data_by_kolmogorov_smirnov(drawn, what):
    model, _, exact, raw = drawn
    for position in (0, 4):
        columns = columns_of(model, what, position)
        assert columns.size == N_BLOCKS
        mine, theirs = statistics_of(exact, columns), statistics_of(raw, columns)
        for name, values in mine.items():
            p_value = stats.ks_2samp(values, theirs[name], method="asymp").pvalue
            assert p_value > 1e-4, (what, position, name, p_value)


@pytest.mark.parametrize("what", WHAT)
def test_raw_data_have_the_distribution_of_the_description_by_a_literal_generator(drawn, what):
    model, sizes, exact, raw = drawn
    values = literal_values(what, GROUPS[sizes], sizes, np.random.default_rng(303))
    for position in (0, 3):
        columns = columns_of(model, what, position)
        feature = values[..., position] if values.ndim == 3 else values
        literal = bs.Moments.from_matrix(feature.T, np.repeat([0, 1], sizes))
        theirs = statistics_of(literal, np.arange(N_BLOCKS))
        for moments in (exact, raw):
            for name, mine in statistics_of(moments, columns).items():
                assert stats.ks_2samp(mine, theirs[name], method="asymp").pvalue > 1e-4, (what, position, name)


@pytest.mark.parametrize("what", [what for what in WHAT if what != "high variance"])
def test_dependence_within_blocks_equals_that_of_raw_data(drawn, what):
    """Correlations of means, of centred squares and of log-odds between features of a block, by Fisher's z."""
    model, sizes, exact, raw = drawn
    pairs = [(0, 1), (1, 4)]
    for one, two in pairs:
        found = []
        for moments in (exact, raw):
            first, second = (statistics_of(moments, columns_of(model, what, at)) for at in (one, two))
            found.append({name: stats.spearmanr(first[name], second[name]).statistic for name in first})
        for name in found[0]:
            z = (np.arctanh(found[0][name]) - np.arctanh(found[1][name])) / math.sqrt(2 * 1.06 / (N_BLOCKS - 3))
            assert abs(z) < 4.5, (what, name, sizes, found[0][name], found[1][name])


def test_features_of_different_blocks_are_independent(drawn):
    model, _, exact, _ = drawn
    columns = columns_of(model, "low variance", 0)
    for values in (exact.mean[1, columns], exact.centred_squares[1, columns]):
        assert abs(stats.spearmanr(values[1:], values[:-1]).statistic) < 4.5 / math.sqrt(N_BLOCKS)
    for values in (exact.mean, exact.centred_squares):  # classes too
        assert abs(stats.spearmanr(values[0, columns], values[1, columns]).statistic) < 4.5 / math.sqrt(N_BLOCKS)


def test_correlation_of_log_odds_by_a_printed_number():
    """0.697 and 0.690 in two samples of 20,000 blocks; for the first two global markers of the first group."""
    model = SynergeticModel(
        class_variances=VARIANCES[:1], global_blocks=20_000, heterogeneous_blocks=0, low_variance_blocks=0,
        high_variance_features=0,
    )  # fmt: skip
    moments = model.draw_moments(50, seed=8, shuffle=False).moments
    log_odds = bs.GaussianModel.jeffreys().log_bayes_factor(moments).reshape(-1, 5)
    assert np.corrcoef(log_odds[:, :2].T)[0, 1] == pytest.approx(0.6935, abs=0.015)


@pytest.mark.parametrize("n", [2, 4, 6, 25, 1000])
def test_mean_variance_and_correlation_of_centred_squares_by_theory(n):
    r"""E = d s, Var = 2 d s^2, Cov = 2 d s^2 rho^2 with d = n - 1; the correlation is 0.64."""
    model = SynergeticModel(
        class_variances=((0.25, 0.25),), global_blocks=0, heterogeneous_blocks=0, low_variance_blocks=20_000,
        high_variance_features=0,
    )  # fmt: skip
    moments = model.draw_moments((n, n), seed=5, shuffle=False).moments
    squares = moments.centred_squares.reshape(2, 20_000, 5)
    d, s = n - 1, 0.25
    error = math.sqrt(2 * d) * s / math.sqrt(200_000)
    assert squares.mean() == pytest.approx(d * s, abs=8 * error)  # values of a block are no independent ones
    assert squares.var() == pytest.approx(2 * d * s**2, rel=0.05 if n < 25 else 0.02)
    for k in (0, 1):
        correlation = np.corrcoef(squares[k].T)[~np.eye(5, dtype=bool)]
        np.testing.assert_allclose(correlation, 0.64, atol=0.06 if n < 25 else 0.015)
        means = np.corrcoef(moments.mean[k].reshape(20_000, 5).T)[~np.eye(5, dtype=bool)]
        np.testing.assert_allclose(means, 0.8, atol=0.015)
    assert moments.mean.var() == pytest.approx(s / n, rel=0.03)


def test_tiny_classes_leave_no_spread():
    """One sample has no centred squares; two subclasses of one sample each have those of two values."""
    model = many_blocks(2)
    single = model.draw_moments((1, 1), seed=1, shuffle=False).moments
    assert (single.centred_squares == 0.0).all()
    assert stats.kstest(single.mean[0, columns_of(model, "low variance", 2)], stats.norm(0, 0.3).cdf).pvalue > 1e-3
    # one sample of class 1 is in subclass 0, so that nothing differs in subclass 1
    for what, distribution in (("differs in subclass 1", (0, 0.3)), ("differs in subclass 0", (1, 0.5))):
        column = single.mean[1, columns_of(model, what, 0)]
        assert stats.kstest(column, stats.norm(*distribution).cdf).pvalue > 1e-3
    double = model.draw_moments((1, 2), seed=1, shuffle=False).moments
    half = double.centred_squares[1, columns_of(model, "differs in subclass 0", 0)] * 2  # (x - y)^2 = 2 SS
    distribution = stats.ncx2(df=1, nc=1.0 / 0.34, scale=0.34)
    assert stats.kstest(half, distribution.cdf).pvalue > 1e-3


def test_cost_and_counts_do_not_depend_on_n():
    for n in (2, 100, 1_000_000, (3, 999_999)):
        drawn = SynergeticModel(low_variance_blocks=2, high_variance_features=3).draw_moments(n, seed=0)
        assert drawn.moments.count.sum() == np.sum(n)
        assert drawn.moments.classes == (0, 1)
        assert np.isfinite(drawn.moments.mean).all()


def test_statistics_and_data_of_a_seed_have_the_same_features():
    model = SynergeticModel(low_variance_blocks=20, high_variance_features=40)
    for seed in (3, np.random.SeedSequence(3, spawn_key=(7, 1))):
        data, drawn = model.draw(10, seed=seed), model.draw_moments(10_000_000, seed=seed)
        np.testing.assert_array_equal(data.kind, drawn.kind)
        np.testing.assert_array_equal(data.group, drawn.group)
        many = model.draw(8000, seed=seed)
        large = bs.Moments.from_matrix(many.values, many.labels)
        np.testing.assert_allclose(large.mean, drawn.moments.mean, atol=5 * 1.1 / math.sqrt(4000))
        again = model.draw_moments(10_000_000, seed=seed)
        np.testing.assert_array_equal(drawn.moments.mean, again.moments.mean)
        np.testing.assert_array_equal(drawn.moments.centred_squares, again.moments.centred_squares)


def test_order_of_the_columns_is_all_that_shuffling_changes():
    model = SynergeticModel(low_variance_blocks=20, high_variance_features=40)
    plain, scattered = (model.draw_moments(50, seed=9, shuffle=shuffle) for shuffle in (False, True))
    assert (np.diff(plain.kind[:-160]) >= 0).sum() > 0
    assert not (plain.kind == scattered.kind).all()
    np.testing.assert_array_equal(np.sort(plain.moments.mean[1]), np.sort(scattered.moments.mean[1]))
    for kind in Kind:
        np.testing.assert_array_equal(
            np.sort(plain.moments.centred_squares[0, plain.kind == kind]),
            np.sort(scattered.moments.centred_squares[0, scattered.kind == kind]),
        )


# --- limits ----------------------------------------------------------------------------------------


def marginal(what, group, position):
    """Mean and variance of class 1."""
    shift, (v0, v1) = 1.0 / (position + 1), VARIANCES[group]
    return (shift, v1) if what == "global" else (shift / 2, (v0 + v1) / 2 + shift**2 / 4)


def rate(what, group, position):
    mean, v1 = marginal(what, group, position)
    v0 = VARIANCES[group][0]
    pooled = (v0 + v1) / 2 + mean**2 / 4
    return 0.5 * math.log(pooled) - 0.25 * math.log(v0) - 0.25 * math.log(v1)


def detected_at(delta, ratio=0.1, probability=0.005):
    """Return the n at which log-odds under Jeffreys' prior pass 0."""
    needed = math.log((1 - probability) / probability) - math.log(ratio * 8 * math.sqrt(2) * math.pi)
    return optimize.brentq(lambda n: n * delta - math.log(n) - needed, 5, 1e6)


@pytest.mark.parametrize(
    ("what", "group", "position", "delta", "n"),
    [
        ("global", 2, 0, 0.5148, 13),
        ("global", 0, 0, 0.4705, 14),
        ("heterogeneous", 1, 4, 0.00254, 4923),
        ("heterogeneous", 3, 4, None, 3059),
        ("heterogeneous", 1, 3, None, 3034),
    ],
)
def test_printed_rates_and_sizes_of_detection(what, group, position, delta, n):
    found = rate(what, group, position)
    if delta is not None:
        assert found == pytest.approx(delta, abs=6e-5 if delta > 0.1 else 6e-6)
    assert detected_at(found) == pytest.approx(n, abs=0.51)


def test_median_marker_is_detected_at_some_hundred_samples():
    sizes = [
        detected_at(rate(what, group, position))
        for what, copies in (("global", 1), ("heterogeneous", 4))
        for group, position in itertools.product(range(4), range(5))
        for _ in range(copies)
    ]
    assert 200 <= np.median(sizes) <= 350


def test_log_odds_grow_at_the_limit_rate():
    """The ratio log h / n tends to Delta for every marker, here within five standard errors at n = 10^8."""
    n = 10**8
    model = SynergeticModel(low_variance_blocks=1, high_variance_features=1)
    drawn = model.draw_moments(n, seed=4, shuffle=False)
    log_odds = bs.GaussianModel.jeffreys().log_bayes_factor(drawn.moments)
    layout = model.layout
    for column in np.flatnonzero(drawn.true_markers):
        what = "global" if layout.kind[column] == Kind.GLOBAL_MARKER else "heterogeneous"
        limit = rate(what, int(layout.group[column]), int(layout.position[column]))
        assert log_odds[column] / n == pytest.approx(limit, abs=5 * math.sqrt(4 * limit / n) + 50 / n)
    assert (log_odds[~drawn.true_markers] < 0).all()


@pytest.mark.parametrize(("what", "group", "position"), [("global", 2, 0), ("global", 0, 0), ("mixed", 1, 4)])
def test_about_half_of_the_markers_are_over_the_cut_at_their_size_of_detection(what, group, position):
    delta = rate(what, group, position)
    n = 2 * round(detected_at(delta) / 2)
    blocks = {"global_blocks": 400, "heterogeneous_blocks": 0}
    if what == "mixed":
        blocks = {"global_blocks": 0, "heterogeneous_blocks": 400}
    model = SynergeticModel(
        class_variances=(VARIANCES[group],), low_variance_blocks=0, high_variance_features=0, **blocks
    )
    moments = model.draw_moments(n, seed=1, shuffle=False).moments
    log_odds = bs.GaussianModel.jeffreys(0.1).log_bayes_factor(moments) + math.log(0.005 / 0.995)
    assert 0.3 < (log_odds[position::5] > 0).mean() < 0.7  # the formula is a large-sample one


# --- accuracies ------------------------------------------------------------------------------------

REFERENCE = {  # features labelled correctly of 20,000: MNC-JP, MNC-PP, CMNC-JP, CMNC-PP, Bhattacharyya
    50: (19893.6, 19904.1, 19841.6, 19842.6, 19842.0),
    100: (19913.7, 19916.9, 19870.0, 19870.8, 19870.4),
    200: (19933.8, 19934.0, 19902.0, 19902.4, 19902.2),
    300: (19944.0, 19944.0, 19917.3, 19917.4, 19917.5),
    400: (19950.2, 19950.0, 19928.0, 19927.8, 19928.2),
    500: (19954.7, 19954.2, 19936.1, 19935.5, 19936.2),
    650: (19960.1, 19959.1, 19945.6, 19945.0, 19945.7),
    800: (19964.7, 19963.6, 19953.0, 19952.4, 19953.1),
    1000: (19969.4, 19968.2, 19960.4, 19959.7, 19960.5),
    2000: (19983.4, 19982.0, 19980.7, 19979.7, 19980.8),
    3000: (19990.3, 19989.4, 19989.5, 19988.8, 19989.5),
    5000: (19996.0, 19995.6, 19995.9, 19995.6, 19995.9),
}


def bhattacharyya(moments):
    v0, v1 = moments.centred_squares / (moments.count[:, None] - 1)
    difference = moments.mean[1] - moments.mean[0]
    return difference**2 / (4 * (v0 + v1)) + 0.5 * np.log((v0 + v1) / (2 * np.sqrt(v0 * v1)))


def top(scores):
    mask = np.zeros(scores.size, dtype=bool)
    mask[np.argsort(-scores)[:100]] = True
    return mask


@pytest.mark.parametrize("n", REFERENCE)
def test_accuracies_against_reference_values(n):
    """Averages of 10 draws within four standard errors of averages of hundreds from another implementation."""
    rounds, correct = 10, []
    for iteration in range(rounds):
        seed = np.random.SeedSequence(11, spawn_key=(n, iteration))
        drawn = SynergeticModel().draw_moments(n, seed=seed)
        jp, pp = (
            model.log_bayes_factor(drawn.moments) + math.log(0.005 / 0.995)
            for model in (bs.GaussianModel.jeffreys(0.1), bs.GaussianModel.proper())
        )
        selected = (jp > 0, pp > 0, top(jp), top(pp), top(bhattacharyya(drawn.moments)))
        correct.append([(mask == drawn.true_markers).sum() for mask in selected])
    error = np.hypot(np.std(correct, axis=0, ddof=1) / math.sqrt(rounds), 0.35)
    assert (np.abs(np.mean(correct, axis=0) - REFERENCE[n]) < 4 * error).all()


def test_select_nothing_scores_19900():
    assert (~SynergeticModel().draw_moments(10, seed=0).true_markers).sum() == 19_900


def test_variants_have_no_exact_sampler_and_say_the_truth():
    """Statistics of a variant are those of its values, to rounding."""
    model = HeavyTailedModel(low_variance_blocks=20, high_variance_features=40)
    data, drawn = model.draw((40, 61), seed=2), model.draw_moments((40, 61), seed=2)
    raw = bs.Moments.from_matrix(data.values, data.labels)
    np.testing.assert_allclose(drawn.moments.mean, raw.mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(drawn.moments.centred_squares, raw.centred_squares, rtol=1e-10)
    np.testing.assert_array_equal(data.true_markers, drawn.true_markers)
