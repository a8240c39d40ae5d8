r"""Candidates beside known features: what it does to their evidence to be in one block with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import DataError, PriorError
from bayesieve.models.normal_inverse_gamma import NormalInverseGamma
from bayesieve.models.normal_inverse_wishart import Block, checked_family, forward
from bayesieve.stats import Moments
from bayesieve.stats.scatter import Scatter

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class KnownBlock:
    """Known features in one group of samples, ready to be joined by candidates.

    Parameters
    ----------
    block
        The known features in their units.
    factor
        Cholesky factor of their matrix.
    offset
        Their means beyond the prior's, solved with the factor.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.models.known_block import KnownBlock
    >>> from bayesieve.stats.scatter import Scatter
    >>> both = Scatter.from_matrix([[0.1, 0.3], [-0.4, -0.2], [0.3, 0.1], [0.8, 1.0]], ["a"] * 4)
    >>> prior = bs.NormalInverseGamma(variance_dof=3.0, variance_scale=0.5, mean_strength=0.1)
    >>> known = KnownBlock.of(prior, both.take([0]))
    >>> known.log_gain(prior, both.take([1]).moments(), both.products[0, :1, 1:]).round(6).tolist()
    [1.029706]
    """

    block: Block
    factor: FloatArray
    offset: FloatArray

    @classmethod
    def of(cls, prior: NormalInverseGamma, group: Scatter) -> KnownBlock:
        """Prepare the known features of one group; the prior must be proper."""
        check_proper(prior)
        block = Block.of(prior, group)
        factor = block.factor()
        return cls(block, factor, forward(factor, block.shift[:, None])[:, 0])

    def log_gain(self, prior: NormalInverseGamma, candidates: Moments, cross: Any) -> FloatArray:
        r"""Log evidence of a candidate together with the known features, against each by itself.

        .. math:: \log p(K \cup \{f\}) - \log p(K) - \log p(\{f\})

        by the Schur complement of the known features. It is positive where the candidate is correlated with
        them, and negative (the price of parameters that are of no use) where it is not.

        Parameters
        ----------
        prior, candidates
            Prior and moments of the candidates: a single class, no value missing.
        cross
            Centred sums of products, known features x candidates.
        """
        block, n = self.block, self.block.count
        self._check(prior, candidates)
        share = prior.variance_scale / (candidates.centred_squares[0] + prior.variance_scale)
        root = np.sqrt(candidates.centred_squares[0] + prior.variance_scale)
        along = forward(self.factor, np.asarray(cross) / np.sqrt(block.unit)[:, None] / root)
        pivot = np.maximum(1.0 - np.einsum("kp,kp->p", along, along), share)
        distance = ((candidates.mean[0] - prior.mean_location) + np.asarray(candidates.residual)[0]) / root
        beyond = distance - self.offset @ along
        form = 1.0 + block.weight * float(self.offset @ self.offset)
        left = np.log(pivot) + np.log1p(block.weight * beyond * beyond / (pivot * form))
        alone = np.log1p(block.weight * distance * distance)
        gain = 0.5 * ((block.dof + n) * alone - (block.dof + block.size + n) * left + block.size * np.log(share))
        return np.asarray(self._constant(form) + gain)

    def _constant(self, form: float) -> float:
        """Return the part of the gain that is the same for all candidates."""
        k = self.block.size
        constants = self.block.constants(k + 1)
        log_det = 2.0 * float(np.log(np.diagonal(self.factor)).sum()) + math.log(form)
        own = 0.5 * (float(self.block.logs[0].sum()) - log_det)
        return float(constants[k + 1] - constants[k] - constants[1]) + own

    def _check(self, prior: NormalInverseGamma, candidates: Moments) -> None:
        block = self.block
        if checked_family(prior, candidates.n_features) != (block.dof, block.strength, True):
            raise PriorError("Candidates and known features need the same variance_dof and mean_strength.")
        if candidates.count.shape != (1,) or int(candidates.count[0]) != block.count:
            raise DataError(f"Candidates need all of the {block.count} values that the known features have.")


def check_proper(prior: NormalInverseGamma) -> None:
    """Raise unless a prior can weigh blocks of different sizes against each other.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.models.known_block import check_proper
    >>> check_proper(bs.NormalInverseGamma(variance_dof=3.0, variance_scale=0.5, mean_strength=0.1))
    """
    if not prior.is_proper:
        raise PriorError(
            "An improper prior leaves open what blocks of different sizes weigh against each other, and so it has "
            "no say about who belongs with the known features. Use a proper one, such as GaussianModel.proper()."
        )
