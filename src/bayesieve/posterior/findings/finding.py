"""Finding: what else is known about every feature; patterns of classes, and batches (blocks)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from bayesieve.data import disambiguate
from bayesieve.models import PatternShares
from bayesieve.stats import as_moments
from bayesieve.utils import DataError, FloatArray, Message, OptionError, list_names

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior


class Finding(Protocol):
    """Columns beside the log-odds: patterns of classes, kinds of difference, blocks, fragility."""

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns for the table of results, under the prior of ``posterior``."""
        ...

    def take(self, places: Any) -> Self:
        """The same for some of the features."""
        ...

    def notes(self) -> list[Message]:
        """Sentences for the summary."""
        ...


@runtime_checkable
class OfThePrior(Protocol):
    """A finding that says something about the prior, and has a say when another one is put in its place."""

    def reweighed(self, prior_log_odds: Any) -> tuple[Finding | None, Any]:
        """Return the finding under another prior (None if it no longer applies), and that prior."""
        ...


_OF_THE_PRIOR = (
    "kind", "probability_same", "probability_mean_only", "probability_variance_only", "probability_both",
    "pattern", "pattern_probability", "log_odds_pooled", "log_odds_unadjusted", "log_odds_without_a_block",
    "least_log_odds",
    "n_fragile_removals", "holds_without_one_sample",
)  # fmt: skip


def depends_on_prior(name: str) -> bool:
    """Whether a column of findings holds for the prior only under which it was worked out."""
    return name in _OF_THE_PRIOR or name.startswith("equal_")


def check_same_features(what: str, names: tuple[str, ...] | None, n: int, posterior: FeaturePosterior) -> None:
    """Raise if a finding is of other features than a screen, or of the same in another order."""
    if posterior.n_features != n:
        raise DataError(f"{what} of {n:,} features do not fit a table of {posterior.n_features:,}.")
    if names is None or posterior.feature_names is None or names == posterior.feature_names:
        return
    place = next(
        i for i, pair in enumerate(zip(names, posterior.feature_names, strict=True)) if pair[0] != pair[1]
    )
    raise DataError(
        f"{what} are of other features than the screen, or in another order: feature {place} is {names[place]!r} "
        f"there and {posterior.feature_names[place]!r} here. Take the same features in the same order."
    )


@dataclass(frozen=True, slots=True)
class Remark:
    """Sentences for the summary, without columns.

    Parameters
    ----------
    sentences
        What is to be said.
    """

    sentences: tuple[Message | str, ...]

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """No columns."""
        del posterior
        return {}

    def take(self, places: Any) -> Self:
        """The same for some of the features."""
        del places
        return self

    def notes(self) -> list[Message]:
        """Sentences for the summary."""
        return [Message.of(sentence) for sentence in self.sentences]


@dataclass(frozen=True, slots=True)
class PriorRemark(Remark):
    """Sentences about the prior, to be dropped when another one is put in its place."""

    def reweighed(self, prior_log_odds: Any) -> tuple[None, Any]:
        """Nothing is left of it under another prior."""
        return None, prior_log_odds


@dataclass(frozen=True, slots=True)
class EstimatedShare(PriorRemark):
    """The prior probability was estimated from the data: a feature needs evidence of its own to be listed."""


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Posterior over the patterns of differing classes.

    Parameters
    ----------
    shares
        Most probable pattern and probabilities of equality, given that a feature is a marker.
    """

    shares: PatternShares

    def __post_init__(self) -> None:
        for array in (self.shares.best, self.shares.log_share, self.shares.equal):
            array.flags.writeable = False

    def leading(self, posterior: FeaturePosterior) -> npt.NDArray[np.int16]:
        """Number of the leading pattern of every feature: the most probable of those that differ.

        It is -1, no difference, where that is more probable than all patterns together.
        """
        return np.where(posterior.log_odds > 0, self.shares.best, np.int16(-1))

    def words(self, posterior: FeaturePosterior) -> list[str]:
        """Say the leading pattern of every feature, for example "{BL} differs from {EWS, NB}"."""
        patterns = self.shares.patterns
        words = [patterns.words(i) for i in range(len(patterns.growths))]
        return [words[i] if i >= 0 else patterns.words(-1) for i in self.leading(posterior).tolist()]

    def probability(self, posterior: FeaturePosterior) -> FloatArray:
        """Probability of the pattern that :meth:`words` says."""
        best = np.exp(posterior.log_probability + self.shares.log_share)
        return np.where(posterior.log_odds > 0, best, posterior.null_probability)

    def equal(self, posterior: FeaturePosterior) -> FloatArray:
        """Probability that two classes are alike, for every pair (rows) and feature (columns)."""
        return posterior.null_probability + posterior.probability * self.shares.equal

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns ``pattern``, ``pattern_probability`` and ``equal_A_B`` for every pair of classes."""
        equal, classes = self.equal(posterior), disambiguate(self.shares.patterns.classes)
        names = [f"equal_{classes[a]}_{classes[b]}" for a, b in self.shares.pairs]
        if len(set(names)) < len(names):  # classes with underscores
            names = [f"equal_{classes[a]}|{classes[b]}" for a, b in self.shares.pairs]
        table: dict[str, Any] = {
            "pattern": self.words(posterior), "pattern_probability": self.probability(posterior),
        }  # fmt: skip
        return table | dict(zip(names, equal, strict=True))

    def take(self, places: Any) -> Differences:
        """Some features."""
        return Differences(self.shares.take(places))

    def notes(self) -> list[Message]:
        """Say which patterns were compared."""
        patterns = self.shares.patterns
        kind = {
            "any": f"every difference between the classes ({len(patterns.growths):,} patterns)",
            "distinct": "all classes different from each other",
            "one-versus-rest": "one class different from all others",
        }.get(patterns.kind, f"{len(patterns.growths):,} given pattern{'s' * (len(patterns.growths) > 1)}")
        return [Message.of(f"Compared with no difference: {kind}.", kind="patterns")]


_PARAMETERS = {  # of a class, by the family of its model
    "Gaussian": "means and variances", "Poisson": "rates", "negative binomial": "rates",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class BlockEvidence:
    r"""Contributions of blocks (batches, sites, plates) to the log Bayes factor.

    Parameters
    ----------
    names
        Names of the blocks that have a say.
    contributions
        How much of the log Bayes factor goes when a block is left out: (n_blocks, n_features). Where every
        block has its own parameters and there are two classes, this is the block's own log Bayes factor and
        the contributions add up.
    pooled_log_bayes_factor
        Log Bayes factor of all samples thrown together.
    block_model
        ``"own"``: every block keeps its own parameters, such as means and variances. ``"shift"``: own location,
        common class shift and variances. ``"pairs"``: own mean and variance of differences within pairs.
    within
        Difference of the class means within blocks (weighted by what they tell about it) and log ratio of the
        variances within blocks, second class over first; empty if there are not two classes of measurements.
    unused
        Blocks that contribute nothing, with the reason.
    prior_ratio
        What the prior ratio multiplies to over all blocks; None for proper priors and ratios per feature.
    family
        Distribution of the values, as models name it.
    """

    names: tuple[str, ...]
    contributions: FloatArray
    pooled_log_bayes_factor: FloatArray
    block_model: str
    within: FloatArray
    unused: tuple[tuple[str, str], ...] = ()
    prior_ratio: float | None = None
    family: str = "Gaussian"

    def __post_init__(self) -> None:
        for array in (self.contributions, self.pooled_log_bayes_factor, self.within):
            array.flags.writeable = False

    def without(self, posterior: FeaturePosterior, block: str) -> FloatArray:
        """Log-odds with one block left out."""
        if block not in self.names:
            raise OptionError(
                f"There is no block {block!r}; the blocks are {list_names(self.names, 20, quote=False)}."
            )
        return np.asarray(posterior.log_odds - self.contributions[self.names.index(block)])

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns: log-odds if pooled, least log-odds with one block left out, contribution of every block."""
        table: dict[str, Any] = {"log_odds_pooled": posterior.prior_log_odds + self.pooled_log_bayes_factor}
        if self.within.size:
            table |= {"mean_difference_within": self.within[0], "log_variance_ratio_within": self.within[1]}
        if len(self.names) > 1:
            worst = self.contributions.argmax(axis=0)
            table["log_odds_without_a_block"] = posterior.log_odds - self.contributions.max(axis=0)
            table["without_block"] = [self.names[k] for k in worst.tolist()]
        return table | {f"block_{name}": self.contributions[k] for k, name in enumerate(self.names)}

    def take(self, places: Any) -> BlockEvidence:
        """Some features."""
        return replace(
            self, contributions=self.contributions[:, places],
            pooled_log_bayes_factor=self.pooled_log_bayes_factor[places],
            within=self.within[:, places] if self.within.size else self.within,
        )  # fmt: skip

    def notes(self) -> list[Message]:
        """Say how blocks were used, which were not, and what the prior ratio adds up to."""
        how = {
            "own": f"each with its own {_PARAMETERS.get(self.family, 'parameters')}",
            "shift": "each with its own location, the class shift and the variances shared",
            "pairs": "each with its own mean and variance of the differences",
        }[self.block_model]
        number = f"{len(self.names)} block{'' if len(self.names) == 1 else 's'}"
        how = how.removeprefix("each ") if len(self.names) == 1 else how
        lines = [
            f"{number} ({list_names(self.names, 5, quote=False)}), {how}; the column log_odds_pooled ignores them."
        ]
        if self.prior_ratio is not None:
            times = f" {len(self.names)} times" if self.block_model == "own" and len(self.names) > 1 else " once"
            lines.append(f"The prior ratio enters{times}: {self.prior_ratio:.3g} in all (two groups of classes).")
        lines += [f"Block {name} contributes nothing: {reason}." for name, reason in self.unused]
        return [Message.of(line, kind="blocks") for line in lines]


def within_blocks(blocks: Sequence[Any]) -> FloatArray:
    r"""Difference of the class means, and log ratio of the variances, within blocks.

    Blocks count with :math:`n_0 n_1 / (n_0 + n_1)` for means and with their degrees of freedom for variances.

    Returns
    -------
    numpy.ndarray
        (2, n_features); empty unless these are moments of two classes.
    """
    if not all(as_moments(block) and len(block.classes) == 2 for block in blocks):
        return np.empty((0, 0))
    shape = (len(blocks), *blocks[0].mean.shape)
    counts = np.array([np.broadcast_to(block.counts, shape[1:]) for block in blocks], dtype=np.float64)
    total = np.maximum(counts.sum(axis=1), 1.0)
    weights = counts[:, 0] * counts[:, 1] / total
    differences = np.array([block.mean_difference for block in blocks])
    freedom = np.maximum(counts - 1.0, 0.0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (weights * differences).sum(axis=0) / weights.sum(axis=0)
        variance = sum(block.centred_squares for block in blocks) / freedom
        return np.array([mean, np.log(variance[1]) - np.log(variance[0])])
