"""REMAIN: take the features whose pairs hold most of the evidence, leave them out, and look at what remains."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.pairs.evidence import PairEvidence
from bayesieve.rivals.pairs.sweep import Progress, RowSums, Sweep, sweep, warn_left_out
from bayesieve.stats import ValueCorrelations
from bayesieve.utils import BoolArray, FloatArray, check_between


def remain(
    matrix: LabelledMatrix,
    *,
    prior: Any = "jp",
    t1: float = 0.3,
    t2: float | None = None,
    progress: Progress | None = None,
    n_threads: int | None = None,
) -> FeatureScores:
    r"""Choose features round by round from the evidence of all pairs.

    The evidences of all pairs, taken as probabilities with a total of 2, give every feature its share (column
    sum). Features with a share above ``t1`` are taken. Their columns are set to 0, which leaves the other columns
    as they are but for the total: the shares of the others grow, and more may follow. When none does, the pairs of
    all features taken are left out and everything begins anew with the rest, unless no pair of it has an evidence
    of ``t2``.

    Parameters
    ----------
    matrix, prior, n_threads
        As for :func:`bayesieve.rivals.pairs.sums.two_mnc_robust`.
    t1
        Least share of a feature, between 0 and 1 and above one over the number of features that are no markers.
    t2
        Least log evidence of a pair for another round; the number of samples by default.
    progress
        Called with the number of pairs done and of all of the round.

    Returns
    -------
    FeatureScores
        ``selected`` is the list. The score counts backwards from 0 in the order in which features were taken,
        and all that were not have the same; ties are broken by the log share, of the last round in which a feature
        took part. ``round`` (NaN: not taken) and ``log_share`` are in ``details``.
    """
    t1 = check_between("t1", t1, 0.0, 1.0, open_ends=True)
    least = float(matrix.n_samples) if t2 is None else check_between("t2", t2, -np.inf, np.inf)
    source = ValueCorrelations.of(matrix, n_threads=n_threads)
    left = np.arange(matrix.n_features)
    p = left.size
    chosen, rounds = np.zeros(p, dtype=bool), np.full(p, np.nan)
    steps, shares = np.full(p, np.inf), np.full(p, -np.inf)
    n_rounds = n_steps = 0
    first: tuple[PairEvidence, Sweep] | None = None
    part = source
    while left.size > 1:
        evidence = PairEvidence.of(part.moments, prior)
        found = sweep(part, evidence, n_sums=1, n_threads=n_threads, progress=progress)
        first = first or (evidence, found)
        (sums,) = found.sums
        if not np.isfinite(sums.best).any() or (n_rounds and not (sums.best >= least).any()):
            break
        n_rounds += 1
        taken, step, share = _round(sums, t1)
        shares[left] = share
        if not taken.any():
            break
        places = left[taken]
        chosen[places], rounds[places] = True, n_rounds
        steps[places] = n_steps + step[taken]
        n_steps = int(steps[places].max()) + 1
        left = left[~taken]
        part = source.take(left)
    if first is None:
        first = PairEvidence.of(source.moments, prior), sweep(source, PairEvidence.of(source.moments, prior))
    evidence, found = first
    score = np.where(evidence.usable, -np.minimum(steps, float(n_steps)), np.nan)
    warn_left_out(matrix.feature_names, evidence, found.n_collinear)
    return FeatureScores(
        "remain", score, matrix.feature_names, details={"round": rounds, "log_share": shares},
        selected=chosen, tie_break=shares,
        diagnostics={
            "n_rounds": n_rounds, "t1": t1, "t2": least, "n_collinear_pairs": found.n_collinear,
            "n_left_out": int((~evidence.usable).sum()),
        },
    )  # fmt: skip


def _round(sums: RowSums, t1: float) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Take features until no share is above ``t1``: which ones, at which step, and the log shares."""
    taken, step = np.zeros(sums.log_sum.size, dtype=bool), np.full(sums.log_sum.size, np.inf)
    share = np.full(sums.log_sum.size, -np.inf)
    n = 0
    while True:
        left = ~taken & np.isfinite(sums.log_sum)
        if not left.any():
            return taken, step, share
        share[left] = np.log(2.0) + sums.log_sum[left] - logsumexp(sums.log_sum[left])
        new = left & (share > np.log(t1))
        if not new.any():
            return taken, step, share
        step[new] = n
        taken |= new
        n += 1


RIVAL = Rival("remain", "REMAIN", "values", remain)
