"""BlockEvidence: what every block of samples says, beside the result of pooling them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.errors import Message, OptionError
from bayesieve.stats import as_moments
from bayesieve.utils import FloatArray, listed

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior


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
        ``"own"``: every block keeps its own means and variances. ``"shift"``: own location, common class
        shift and variances. ``"pairs"``: own mean and variance of differences within pairs.
    within
        Difference of the class means within blocks (weighted by what they tell about it) and log ratio of the
        variances within blocks, second class over first; empty if there are not two classes of measurements.
    unused
        Blocks that contribute nothing, with the reason.
    prior_ratio
        What the prior ratio multiplies to over all blocks; None for proper priors and ratios per feature.
    """

    names: tuple[str, ...]
    contributions: FloatArray
    pooled_log_bayes_factor: FloatArray
    block_model: str
    within: FloatArray
    unused: tuple[tuple[str, str], ...] = ()
    prior_ratio: float | None = None

    def __post_init__(self) -> None:
        for array in (self.contributions, self.pooled_log_bayes_factor, self.within):
            array.flags.writeable = False

    def without(self, posterior: FeaturePosterior, block: str) -> FloatArray:
        """Log-odds with one block left out."""
        if block not in self.names:
            raise OptionError(
                f"There is no block {block!r}; the blocks are {listed(self.names, 20, quote=False)}."
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
            "own": "each with its own means and variances",
            "shift": "each with its own location, the class shift and the variances shared",
            "pairs": "each with its own mean and variance of the differences",
        }[self.block_model]
        number = f"{len(self.names)} block{'' if len(self.names) == 1 else 's'}"
        how = how.removeprefix("each ") if len(self.names) == 1 else how
        lines = [
            f"{number} ({listed(self.names, 5, quote=False)}), {how}; the column log_odds_pooled ignores them."
        ]
        if self.prior_ratio is not None:
            times = f" {len(self.names)} times" if self.block_model == "own" and len(self.names) > 1 else " once"
            lines.append(f"The prior ratio enters{times}: {self.prior_ratio:.3g} in all (two groups of classes).")
        lines += [f"Block {name} contributes nothing: {reason}." for name, reason in self.unused]
        return [Message.of(line, kind="blocks") for line in lines]


def within_blocks(blocks: Sequence[Any]) -> FloatArray:
    r"""Difference of the class means, and log ratio of the variances, within blocks.

    Blocks count with :math:`n_0 n_1 / (n_0 + n_1)` for means and with their degrees of freedom for variances.

    Parameters
    ----------
    blocks
        Statistics of every block.

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
