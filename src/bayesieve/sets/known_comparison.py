"""Candidates against known markers: one comparison that can be repeated on draws under the global null."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.models import GaussianModel, KnownBlock, NormalInverseGamma
from bayesieve.posterior import FeaturePosterior, check_log_odds, expit
from bayesieve.sets.masks import log_sum
from bayesieve.stats import Moments, Scatter
from bayesieve.utils import FloatArray, IntArray, Message, list_names

_SHOWN = 5
_AT_ONCE = 4096  # features drawn together
_FLAT = 1e-12  # directions of the known markers with a smaller share of their spread are rounding


@dataclass(frozen=True, slots=True, eq=False)
class KnownComparison:
    r"""A feature is a marker beside the known ones, a marker by itself, or none.

    .. math::
        \log BF = \log\Big( w\, e^{\sum_y [\ell_y(K \cup f) - \ell_y(K)]} + (1 - w)\, e^{\sum_y \ell_y(f)} \Big)
        - \ell(f)

    with log evidences :math:`\ell`. ``"pairs"`` puts the mean over the pairs :math:`\{k, f\}` in place of the
    block :math:`K \cup f`.

    Parameters
    ----------
    model, statistics
        Model and moments of the candidates, two classes.
    known
        Scatter of the known markers.
    weight
        The prior probability :math:`w` that a marker belongs to the block.
    blocks
        For every class and partnership the positions of its members in ``known``, and what is known of them.
    own_units
        Whether the priors are those of :func:`in_units_of`, which have to be made again for other data.
    """

    model: GaussianModel
    statistics: Moments
    known: Scatter
    weight: float
    blocks: tuple[tuple[tuple[IntArray, KnownBlock], ...], ...]
    own_units: bool = False

    @classmethod
    def of(
        cls,
        model: GaussianModel,
        statistics: Moments,
        known_model: GaussianModel,
        known: Scatter,
        weight: float,
        partners: str,
    ) -> KnownComparison:
        """Put candidates beside known markers, ``"all"`` of which are one block or which are in ``"pairs"``."""
        every = np.arange(known.n_features)
        together = [every] if partners == "all" else np.split(every, every.size)
        blocks = []
        for y, label in enumerate(known.classes):
            group = known.group(label)
            priors = [known_model.take(members, every.size).prior_of(y, 2) for members in together]
            made = [KnownBlock.of(prior, group.take(each)) for prior, each in zip(priors, together, strict=True)]
            blocks.append(tuple(zip(together, made, strict=True)))
        return cls(model, statistics, known, weight, tuple(blocks))

    @property
    def cost(self) -> int:
        """How much a draw costs."""
        return 1 + self.known.n_features

    def take(self, places: Any) -> KnownComparison:
        """The same for some of the candidates."""
        model = self.model.take(places, self.statistics.n_features)
        return replace(self, model=model, statistics=self.statistics.take(places))

    def log_gains(self, cross: Sequence[FloatArray] | FloatArray) -> FloatArray:
        r"""Gains :math:`\sum_y [\ell_y(K \cup f) - \ell_y(K) - \ell_y(f)]` of the block, or of every pair.

        Parameters
        ----------
        cross
            For every class the centred sums of products, known markers x candidates.
        """
        gains = np.zeros((len(self.blocks[0]), self.statistics.n_features))
        for y, label in enumerate(self.statistics.classes):
            candidates, prior = self.statistics.group(label), self.model.prior_of(y, 2)
            for i, (members, block) in enumerate(self.blocks[y]):
                gains[i] += block.log_gain(prior, candidates, cross[y][members])
        return gains

    def combined(self, alone: FloatArray, log_gain: FloatArray) -> FloatArray:
        """Log Bayes factor, from that of a marker by itself and from the gain of belonging to the block."""
        block = math.log(self.weight) if self.weight else -math.inf
        by_itself = math.log1p(-self.weight) if self.weight < 1 else -math.inf
        return alone + np.logaddexp(block + log_gain, by_itself)

    def null_log_bayes_factor(self, rng: np.random.Generator) -> FloatArray:
        """Draw log Bayes factors as if no candidate were a marker, beside the known markers as they are."""
        n = self.statistics.n_features
        pieces = (self.take(slice(lo, min(lo + _AT_ONCE, n))) for lo in range(0, n, _AT_ONCE))
        return np.concatenate([_draw(piece, rng) for piece in pieces])


def in_units_of(statistics: Moments) -> GaussianModel:
    """Make the paper's proper priors around every feature's pooled mean and variance."""
    pooled = statistics.pool()
    variance = pooled.centred_squares[0] / max(int(pooled.count[0]) - 1, 1)
    prior = NormalInverseGamma(3.0, np.where(variance > 0, variance, 1.0), 0.1, pooled.mean[0])
    return GaussianModel((prior,), prior)


def log_mean(gains: FloatArray) -> FloatArray:
    """Log of the mean over partnerships, the first axis."""
    return log_sum(gains, axis=0) - math.log(len(gains))


@dataclass(frozen=True, slots=True, eq=False)
class BesideKnown:
    """What the known markers say about every feature.

    Parameters
    ----------
    known
        Names of the known markers.
    alone
        Log Bayes factor of a marker by itself.
    log_gain
        What it adds to be in the block, or in a pair; NaN for the known markers themselves.
    weight
        Prior probability that a marker is in it.
    best
        Of pairs, the position in ``known`` of the partner with the largest evidence; None without pairs.
    n_companions
        Features with more than even odds that have no evidence of their own.
    """

    known: tuple[str, ...]
    alone: FloatArray
    log_gain: FloatArray
    weight: float
    best: IntArray | None = None
    n_companions: int = 0

    def __post_init__(self) -> None:
        for array in (self.alone, self.log_gain, self.best):
            if array is not None:
                array.flags.writeable = False

    @property
    def probability_in_block(self) -> FloatArray:
        """Probability that a feature, if it is a marker, belongs with the known ones; NaN for these."""
        return expit(self.log_gain + check_log_odds(self.weight, 1))

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns for the table of results."""
        del posterior
        table: dict[str, Any] = {
            "log_bayes_factor_alone": self.alone,
            "probability_in_block": self.probability_in_block,
        }
        if self.best is not None:
            own = np.isnan(self.log_gain).tolist()
            table["best_partner"] = [
                "" if o else self.known[k] for k, o in zip(self.best.tolist(), own, strict=True)
            ]
        return table

    def take(self, places: Any) -> BesideKnown:
        """Some of the features."""
        best = None if self.best is None else self.best[places]
        return replace(self, alone=self.alone[places], log_gain=self.log_gain[places], best=best)

    def reweighed(self, prior_log_odds: Any) -> tuple[BesideKnown, FloatArray]:
        """Known markers stay certain under any other prior."""
        return self, np.where(np.isnan(self.log_gain), np.inf, prior_log_odds)

    def notes(self) -> list[Message]:
        """Sentences for the summary."""
        shown = list_names(self.known, _SHOWN, quote=False)
        where = "in one block with them" if self.best is None else "paired with one of them"
        where = where if len(self.known) > 1 else "in one block with it"
        sentences = (
            f"Known: {shown}. Other markers are {where} with prior probability {self.weight:g}; "
            "the column log_bayes_factor_alone ignores that.",
            f"{self.n_companions:,} features have more than even odds without evidence of their own. Numbers "
            "under the global null suppose that non-markers are independent of the known markers; where they are "
            "not, many more pass.",
        )
        return [Message.of(sentence, kind="known-markers") for sentence in sentences]


def _draw(like: KnownComparison, rng: np.random.Generator) -> FloatArray:
    """Draw Gaussian candidates with their pooled mean and variance, independent of the known markers."""
    statistics, known = like.statistics, like.known
    pooled, shape = statistics.pool(), statistics.mean.shape
    spread = np.sqrt(pooled.centred_squares[0] / max(int(pooled.count[0]) - 1, 1))
    mean, squares, cross = np.empty(shape), np.empty(shape), []
    for y, n in enumerate(statistics.count.tolist()):
        root = _root(known.products[y])
        along = rng.standard_normal((root.shape[1], shape[1]))
        across = rng.chisquare(max(n - 1 - root.shape[1], 1e-9), shape[1])
        mean[y] = pooled.mean[0] + spread / math.sqrt(n) * rng.standard_normal(shape[1])
        squares[y] = spread**2 * ((along * along).sum(axis=0) + across)
        cross.append(spread * (root @ along))
    drawn = Moments.trusted(statistics.classes, statistics.count, mean, squares, np.zeros(shape))
    again = replace(like, statistics=drawn, model=in_units_of(drawn) if like.own_units else like.model)
    return again.combined(again.model.log_bayes_factor(drawn), log_mean(again.log_gains(cross)))


def _root(products: FloatArray) -> FloatArray:
    """Return ``A`` with ``A @ A.T`` equal to the products, one column for every direction that is not flat."""
    values, vectors = np.linalg.eigh(products)
    kept = values > _FLAT * max(float(values.max()), np.finfo(np.float64).tiny)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
