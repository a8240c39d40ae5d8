"""Chains side by side: the same draws whatever the threads, interruptions, R-hat and effective sample size."""

from __future__ import annotations

import _thread
import threading
import time

import numpy as np
import pytest

from bayesieve.errors import ConvergenceWarning, OptionError
from bayesieve.rivals.mcmc.chains import Schedule, diagnose, effective_sizes, run_chains, split_r_hat


def autoregressive(phi, shape, seed):
    """Stationary AR(1) of variance 1, along axis 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    for t in range(1, shape[1]):
        x[:, t] = phi * x[:, t - 1] + np.sqrt(1 - phi**2) * x[:, t]
    return x


@pytest.mark.parametrize("phi", [-0.4, 0.0, 0.5, 0.9])
def test_effective_size_of_autoregressions(phi):
    """The time constant is (1 + phi) / (1 - phi); the mean of 300 estimates is right to 5%, each to 50%."""
    x = autoregressive(phi, (4, 4000, 300), 1)
    ratio = effective_sizes(x) * (1 + phi) / (1 - phi) / x[:, :, 0].size
    assert ratio.mean() == pytest.approx(1.0, abs=0.05)
    assert abs(ratio - 1).max() < 0.5
    assert abs(split_r_hat(x) - 1).max() < 0.05


def test_r_hat_by_the_formula_of_the_book(rng):
    x = rng.normal(size=(3, 11, 2)) + rng.normal(size=(3, 1, 2))
    for q in range(2):
        parts = [part for chain in x[:, :, q] for part in (chain[:5], chain[-5:])]  # the middle one is left out
        within = np.mean([np.var(part, ddof=1) for part in parts])
        between = 5 * np.var([np.mean(part) for part in parts], ddof=1)
        expected = np.sqrt((4 / 5 * within + between / 5) / within)
        assert split_r_hat(x)[q] == pytest.approx(expected, rel=1e-12)


def test_chains_that_differ_or_drift_are_seen():
    x = autoregressive(0.0, (2, 2000, 3), 2)
    x[1, :, 0] += 3.0  # apart: variance of means 2.25 * 4/3 over four halves
    x[:, 1000:, 1] += 3.0  # both drift
    r_hat = split_r_hat(x)
    np.testing.assert_allclose(r_hat[:2], np.sqrt(1 + 2.25 * 4 / 3), rtol=0.02)
    assert r_hat[2] < 1.01
    assert effective_sizes(x)[0] < 10


def test_quantities_that_never_change():
    x = np.zeros((2, 10, 2))
    x[1, :, 1] = 1.0
    assert split_r_hat(x).tolist() == [1.0, np.inf]
    assert effective_sizes(x)[0] == 20.0
    with pytest.raises(OptionError, match="4 or more draws"):
        split_r_hat(np.zeros((2, 3, 1)))


def test_many_quantities_are_taken_in_pieces(rng):
    x = rng.normal(size=(2, 50, 600)).astype(np.float32)
    for found in (split_r_hat, effective_sizes):
        np.testing.assert_allclose(found(x)[300:310], found(x[:, :, 300:310].copy()), rtol=1e-12)


class Walk:
    """A random walk, slow enough to be interrupted."""

    def __init__(self, rng, pause=0.0, fails_at=None):
        self.rng, self.pause, self.fails_at = rng, pause, fails_at
        self.n_sweeps, self.place = 0, 0.0

    def advance(self, n_sweeps):
        """Take some steps."""
        for _ in range(n_sweeps):
            self.n_sweeps += 1
            self.place += self.rng.standard_normal()
            time.sleep(self.pause)
            if self.n_sweeps == self.fails_at:
                raise ZeroDivisionError("at the wall")


def test_the_same_walks_whatever_the_number_of_threads():
    plan = Schedule(10, 50, 3, 5, 7)
    assert plan.n_sweeps == 80
    ends = []
    for n_threads in (1, 2, 8):
        walks, told = [Walk(rng) for rng in plan.generators()], []
        run_chains(walks, plan.n_sweeps, n_threads=n_threads, progress=lambda *now, told=told: told.append(now))
        assert all(walk.n_sweeps == 80 for walk in walks)
        assert told == sorted(told)
        assert told[-1] == (400, 400)
        ends.append([walk.place for walk in walks])
    assert ends[0] == ends[1] == ends[2]
    assert len(set(ends[0])) == 5


def test_an_interruption_stops_all_chains_soon():
    before = threading.active_count()
    walks = [Walk(np.random.default_rng(k), pause=0.002) for k in range(4)]
    threading.Timer(0.3, _thread.interrupt_main).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        run_chains(walks, 10**6, n_threads=2)
    assert time.perf_counter() - start < 20  # of more than an hour
    assert walks[0].n_sweeps > 0
    assert walks[2].n_sweeps == 0
    assert threading.active_count() <= before + 1  # the timer may still be on its way out


def test_an_error_in_a_chain_reaches_the_caller():
    walks = [Walk(np.random.default_rng(0), 0.001), Walk(np.random.default_rng(1), fails_at=5)]
    with pytest.raises(ZeroDivisionError, match="at the wall"):
        run_chains(walks, 10**6, n_threads=2)


@pytest.mark.parametrize(
    ("change", "text"),
    [({"draws": 3}, "draws must be a whole number of at least 4"), ({"thin": 0}, "thin must be"),
     ({"burn_in": -1}, "burn_in must be"), ({"chains": 0}, "chains must be"), ({"seed": 1.5}, "seed must be")],
)  # fmt: skip
def test_schedules_that_make_no_sense(change, text):
    with pytest.raises(OptionError, match=text):
        Schedule(**({"draws": 10, "burn_in": 0, "thin": 1, "chains": 1, "seed": 0} | change))


def test_a_warning_where_chains_disagree_on_strong_features():
    x = autoregressive(0.0, (2, 500, 30), 3)
    x[1, :, 4] += 1.0
    score = np.arange(30.0)  # feature 4 is weak: not among the twenty strongest
    _, numbers = diagnose("bpm", x, score)
    assert numbers["r_hat_worst"] > 1.1 > numbers["r_hat_top"]
    with pytest.warns(ConvergenceWarning, match=r"disagree on 1 of the 20 strongest features.*raise draws"):
        columns, numbers = diagnose("bpm", x, -score)
    assert numbers["r_hat_top"] == columns["r_hat"][4] == columns["r_hat"].max()
    assert columns["ess"].shape == (30,)
