"""Pairs: the evidence of differences within pairs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.labels import told_apart
from bayesieve.errors import DegenerateFeatureError, DegenerateFeatureWarning, LabelError, OptionError
from bayesieve.models import GaussianModel, Model
from bayesieve.models.degenerate import Degeneracy
from bayesieve.models.paired import PAIR_CONSTANT, PairedComparison
from bayesieve.posterior.block_evidence import BlockEvidence
from bayesieve.posterior.chance import is_jeffreys
from bayesieve.posterior.finding import Finding, Remark
from bayesieve.screening.evidence import Handling
from bayesieve.screening.inputs import Given
from bayesieve.stats import Moments

FloatArray = npt.NDArray[np.float64]
Flags = npt.NDArray[np.int8]


def _remark(n_pairs: int, n_incomplete: int) -> Remark:
    """Say what pairs can show."""
    left = f"; {n_incomplete:,} incomplete pair{'s are' if n_incomplete > 1 else ' is'} left out" * bool(
        n_incomplete
    )
    return Remark((
        f"{n_pairs:,} pairs{left}. Differences within pairs see the mean only: a difference in variance between "
        f"the classes does not count. Constant of the further mean: {PAIR_CONSTANT:.4f}.",
    ))  # fmt: skip


def screen_pairs(
    model: Model, given: Given, handling: Handling
) -> tuple[PairedComparison, FloatArray, Flags, tuple[Finding, ...]]:
    """Compare differences within pairs with differences of mean 0, block by block if there are blocks."""
    if not isinstance(model, GaussianModel) or not is_jeffreys(model):
        raise OptionError("Pairs are compared under Jeffreys' prior only; leave the model (or the prior) out.")
    model.check_features(given.statistics.n_features)
    if given.n_pairs < 2:
        raise LabelError(f"There is only {given.n_pairs} complete pair, and at least 2 that differ are needed.")
    blocks: Any = given.blocked or {None: given.statistics}
    repaired = [_repaired(part, handling) for part in blocks.values()]
    step = 0.0 if handling.resolution is None else _step(handling.resolution)
    parts, kept = tuple(each[0] for each in repaired), tuple(each[1] == 0 for each in repaired)
    comparison = PairedComparison(parts, kept, step)
    contributions = comparison.contributions()
    log_bf = contributions.sum(axis=0)
    flags = np.min([flag for _, flag in repaired], axis=0)
    _tell(flags, handling)
    pairing = _remark(given.n_pairs, given.n_incomplete)
    if not given.blocked:
        return comparison, log_bf, flags, (pairing,)
    whole, silent = _repaired(given.statistics, handling)
    pooled = PairedComparison((whole,), (silent == 0,)).log_bayes_factor()
    evidence = BlockEvidence(tuple(told_apart(list(blocks))), contributions, pooled, "pairs", np.empty((0, 0)))
    return comparison, log_bf, flags, (pairing, evidence)


def _repaired(differences: Any, handling: Handling) -> tuple[Moments, Flags]:
    """Flag features without enough differences, or whose differences are all the same."""
    assert isinstance(differences, Moments)
    used = differences
    if handling.resolution is not None:
        used = differences.with_resolution(_step(handling.resolution))
    counts = np.broadcast_to(differences.counts, differences.mean.shape)[0]
    flags = np.zeros(used.n_features, np.int8)
    flags[used.centred_squares[0] == 0] = Degeneracy.CONSTANT
    flags[counts < 2] = Degeneracy.TOO_FEW_VALUES
    squares = np.where(flags > 0, 1.0, used.centred_squares)
    count = used.count if used.count.ndim == 1 else np.maximum(used.count, 1)
    return Moments.trusted(used.classes, count, used.mean, squares, np.asarray(used.residual)), flags


def _step(resolution: Any) -> Any:
    """A difference of two rounded values has twice the rounding variance."""
    return np.sqrt(2.0) * np.asarray(resolution, dtype=np.float64)


def _tell(flags: Flags, handling: Handling) -> None:
    n = int((flags > 0).sum())
    if not n:
        return
    found = f"{n} of {flags.size} features have no two differences that differ"
    if handling.policy == "raise":
        raise DegenerateFeatureError(f"{found}. Drop them, or state the instrument's resolution.")
    warnings.warn(
        f"{found}; they are flagged in .degenerate and left at the prior. State the resolution to have features "
        "judged whose differences are all the same.",
        DegenerateFeatureWarning,
        stacklevel=4,
    )
