r"""2MNC-Robust and POFAC (Foroughi pour and Dalton): every feature by a sum over its partners.

.. math::
    \text{2MNC-Robust}(f) = \log \sum_{j \ne f} e^{H_2(f, j)}, \qquad
    \text{POFAC}(f) = \log \frac1{p - 1} \sum_{j \ne f} e^{H_2(f, j) - H_1(j)}

The first is the posterior log-probability, up to a constant, that ``f`` is a marker if there are exactly two; the
second the evidence of ``f`` as corrected by each partner, on average.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.pairs.evidence import PairEvidence
from bayesieve.rivals.pairs.sweep import Progress, RowSums, sweep, warn_left_out
from bayesieve.stats import ValueCorrelations


def two_mnc_robust(
    matrix: LabelledMatrix, *, prior: Any = "jp", progress: Progress | None = None, n_threads: int | None = None
) -> FeatureScores:
    """Score features by the evidence of all pairs that they belong to.

    Parameters
    ----------
    matrix
        A table of two classes without missing values.
    prior
        ``"jp"``, Jeffreys', ``"pp"``, the proper prior of section 6, or a :class:`bayesieve.GaussianModel`.
    progress
        Called with the number of pairs done and of all.
    n_threads
        Threads; they change nothing but the time.

    Returns
    -------
    FeatureScores
        The score is the log-sum of the evidences of all pairs. In ``details``: ``log_bayes_factor`` of the
        feature alone, ``best_pair``, the evidence of its strongest pair, and ``partner``, the position of the
        other feature of it. A feature that is constant in a class has no score under Jeffreys' prior.
    """
    evidence, (sums,), n_collinear = partner_sums(matrix, prior, 1, progress, n_threads)
    warn_left_out(matrix.feature_names, evidence, n_collinear)
    return _scores("two_mnc_robust", matrix, evidence, sums, sums.log_sum, n_collinear)


def pofac(
    matrix: LabelledMatrix, *, prior: Any = "jp", progress: Progress | None = None, n_threads: int | None = None
) -> FeatureScores:
    r"""Score features by their evidence given a partner, on average over partners.

    Parameters
    ----------
    matrix, prior, progress, n_threads
        As for :func:`two_mnc_robust`.

    Returns
    -------
    FeatureScores
        The score is :math:`\log\beta`. In ``details``: ``log_bayes_factor`` of the feature alone, ``best_pair``,
        the largest :math:`H_2(f, j) - H_1(j)`, and ``partner``, the position of that partner. A feature that is
        constant in a class has no score under Jeffreys' prior.
    """
    evidence, (_, sums), n_collinear = partner_sums(matrix, prior, 2, progress, n_threads)
    warn_left_out(matrix.feature_names, evidence, n_collinear)
    return _scores("pofac", matrix, evidence, sums, sums.log_mean, n_collinear)


def partner_sums(
    matrix: LabelledMatrix, prior: Any, n_sums: int, progress: Progress | None, n_threads: int | None
) -> tuple[PairEvidence, tuple[RowSums, ...], int]:
    """Go through all pairs of a table once; return the evidence, the sums and the number of pairs left out."""
    source = ValueCorrelations.of(matrix, n_threads=n_threads)
    evidence = PairEvidence.of(source.moments, prior)
    found = sweep(source, evidence, n_sums=n_sums, n_threads=n_threads, progress=progress)
    return evidence, found.sums, found.n_collinear


def _scores(
    method: str, matrix: LabelledMatrix, evidence: PairEvidence, sums: RowSums, score: Any, n_collinear: int
) -> FeatureScores:
    known = np.isfinite(score)
    details = {
        "log_bayes_factor": evidence.single,
        "best_pair": sums.best,
        "partner": np.where(sums.partner >= 0, sums.partner, np.nan),
    }
    return FeatureScores(
        method, np.where(known, score, np.nan), matrix.feature_names,
        details={name: np.where(known, column, np.nan) for name, column in details.items()},
        diagnostics={"n_collinear_pairs": n_collinear, "n_left_out": int((~evidence.usable).sum())},
    )  # fmt: skip


TWO_MNC_ROBUST = Rival("2mnc-robust", "2MNC-Robust", "values", two_mnc_robust)
POFAC = Rival("pofac", "POFAC", "values", pofac)
