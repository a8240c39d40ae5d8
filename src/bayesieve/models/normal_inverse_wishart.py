r"""Evidence of correlated Gaussian features: the normal-inverse-Wishart family grown from one-feature priors.

A block of :math:`d` features has :math:`\Sigma \sim IW(\kappa_d, S)` and
:math:`\mu \mid \Sigma \sim N(m, \Sigma / \nu)` with :math:`\kappa_d = \kappa_1 + d - 1` and
:math:`S = \mathrm{diag}(s)`. The distribution of any part of the block is then that of the block of its features
alone, and the distribution of one feature is its :class:`~bayesieve.NormalInverseGamma` prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.models.gaussian.normal_inverse_gamma import NormalInverseGamma
from bayesieve.stats import Moments, Scatter
from bayesieve.utils import DataError, FloatArray, PriorError, compiled


def sums_over_sets(inside: npt.ArrayLike, outside: npt.ArrayLike = 0.0) -> FloatArray:
    r"""Return :math:`\sum_{f \in G} a_f + \sum_{f \notin G} b_f` for every set, by doubling."""
    a = np.asarray(inside, dtype=np.float64)
    b = np.broadcast_to(np.asarray(outside, dtype=np.float64), a.shape)
    sums = np.zeros(1)
    for with_it, without in zip(a.tolist(), b.tolist(), strict=True):
        sums = np.concatenate((sums + without, sums + with_it))
    return sums


def set_sizes(n_features: int) -> npt.NDArray[np.int64]:
    """Return the number of features in every set."""
    sizes = np.zeros(1, np.int64)
    for _ in range(n_features):
        sizes = np.concatenate((sizes, sizes + 1))
    return sizes


@compiled()
def walk_subsets(matrix: Any, vector: Any, least: Any, log_det: Any, form: Any) -> None:
    r"""Fill in :math:`\log|M_A|` and :math:`v_A^T M_A^{-1} v_A` for all subsets ``A``, by bit mask.

    The walk is depth-first; a subset grows by features after its last one. Every step eliminates one feature
    from what is left of the matrix, the Schur complement of the features taken so far. Half of the subsets
    leave nothing, a quarter one feature and so on, so that the whole walk takes :math:`O(2^d)` operations.

    Parameters
    ----------
    matrix, vector
        :math:`M`, positive definite with a unit diagonal, and :math:`v`.
    least
        A pivot cannot be below this, by theory: rounding is cut off there.
    log_det, form
        Filled in, :math:`2^d` numbers each.
    """
    d = matrix.shape[0]
    left, rest = np.empty((d + 1, d, d)), np.empty((d + 1, d))
    left[0], rest[0] = matrix, vector
    taken = np.empty(d + 1, np.int64)
    log_det[0] = form[0] = 0.0
    level, subset, f = 0, 0, 0
    while level > 0 or f < d:
        if f == d:  # nothing to add: go on with the feature after the last one taken
            level -= 1
            f = taken[level]
            subset ^= 1 << f
            f += 1
            continue
        now, after = left[level], left[level + 1]
        pivot = max(now[f, f], least[f])
        grown = subset | (1 << f)
        log_det[grown] = log_det[subset] + (math.log(pivot) if pivot > 0.0 else -math.inf)
        form[grown] = form[subset] + rest[level, f] ** 2 / pivot
        for a in range(f + 1, d):
            share = now[a, f] / pivot
            rest[level + 1, a] = rest[level, a] - share * rest[level, f]
            for b in range(f + 1, a + 1):
                after[a, b] = now[a, b] - share * now[b, f]
        taken[level] = f
        level, subset, f = level + 1, grown, f + 1


_MOST_SUBSETS = 24
_LOG_PI = math.log(math.pi)
_SINGULAR = 1e-13  # a share of a feature's spread that is rounding only


def block_log_evidence(prior: NormalInverseGamma, group: Scatter) -> float:
    r"""Log marginal likelihood of features that may be correlated, in one group of samples.

    .. math::
        -\tfrac{nd}{2} \log\pi + \tfrac d2 \log\tfrac{\nu}{\nu^*} + \tfrac{\kappa_d}{2} \log|S|
        - \tfrac{\kappa_d^*}{2} \log|S^*| + \log\Gamma_d(\tfrac{\kappa_d^*}{2}) - \log\Gamma_d(\tfrac{\kappa_d}{2})

    with :math:`\kappa_d^* = \kappa_d + n`, :math:`\nu^* = \nu + n` and
    :math:`S^* = S + W + \tfrac{\nu n}{\nu^*} (\bar x - m)(\bar x - m)^T`.

    Notes
    -----
    Under Jeffreys' prior (all zeros) :math:`\kappa_d = 0` for every :math:`d` and the prior's constants do not
    exist: they are taken as 1, as in :func:`bayesieve.log_evidence`, so that evidences of blocks of
    different sizes can be compared up to an arbitrary factor only.
    """
    block = Block.of(prior, group)
    factor = block.factor()
    form = forward(factor, block.shift[:, None])
    log_det = 2.0 * np.log(np.diagonal(factor)).sum()
    return float(block.log_evidence(block.size, block.logs.sum(axis=1), log_det, (form * form).sum()))


def subset_log_evidence(prior: NormalInverseGamma, group: Scatter) -> FloatArray:
    r"""Log marginal likelihood of every subset of the features as one block, by bit mask.

    Entry ``g`` is :func:`block_log_evidence` of the features ``f`` whose bit ``1 << f`` is set in ``g``; the
    empty set has 0. Time and memory are of the order of :math:`2^d`.
    """
    d = group.n_features
    if d > _MOST_SUBSETS:
        raise DataError(
            f"{d} features have {2**d:,} subsets, too many to go through. Choose at most {_MOST_SUBSETS} features."
        )
    block = Block.of(prior, group)
    block.factor()  # raises if the scatter is singular and the prior does not help
    log_det, form = np.empty(2**d), np.empty(2**d)
    walk_subsets(block.matrix, block.shift, block.least, log_det, form)
    sums = [sums_over_sets(logs) for logs in block.logs]
    return np.asarray(block.log_evidence(set_sizes(d), sums, log_det, form))


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    r"""Features of one group of samples, every one in units of the root of :math:`M_{ff}`, :math:`M = S + W`.

    Determinants of :math:`S^* = M + c v v^T` come from those of :math:`M` and from
    :math:`|S^*| = |M| (1 + c v^T M^{-1} v)`, so that means far away from the prior's cost no digits.
    """

    dof: float
    strength: float
    count: int
    proper: bool
    unit: FloatArray  # M_ff
    matrix: FloatArray  # M in these units: ones on the diagonal
    shift: FloatArray  # mean - m in these units
    least: FloatArray  # a pivot cannot be below s_f / M_ff

    @classmethod
    def of(cls, prior: NormalInverseGamma, group: Scatter) -> Block:
        """Bring the data of a block together with its prior."""
        d, n = group.n_features, _single(group)
        dof, strength, proper = check_family(prior, d)
        products, scale = group.products[0], np.broadcast_to(prior.variance_scale, (d,))
        unit = np.diagonal(products) + scale
        if not proper and (n - 1 < d or not unit.all()):
            raise PriorError(
                f"{d} features in {n} samples: under an improper prior a block of d features needs at least d + 1 "
                "samples and no constant feature. Use a proper prior, or fewer features."
            )
        root = np.sqrt(unit)
        matrix = products / root[:, None] / root
        np.fill_diagonal(matrix, 1.0)
        distance = (group.mean[0] - prior.mean_location) + np.asarray(group.residual)[0]
        return cls(dof, strength, n, proper, unit, matrix, distance / root, scale / unit)

    @property
    def size(self) -> int:
        """Number of features."""
        return int(self.unit.size)

    @property
    def weight(self) -> float:
        r""":math:`c = \nu n / \nu^*`."""
        return self.strength * (self.count / (self.strength + self.count)) if self.strength else 0.0

    @property
    def logs(self) -> FloatArray:
        r""":math:`\log s_f / M_{ff}` (0 if improper) and :math:`\log M_{ff}`."""
        share = np.log(self.least) if self.proper else np.zeros(self.size)
        return np.array([share, np.log(self.unit)])

    def constants(self, most: int) -> FloatArray:
        """Return what depends on the number of features only, for 0 to ``most`` features."""
        i, n = range(most), self.count
        if self.proper:
            each = 0.5 * (math.log(self.strength / (self.strength + n)) - n * _LOG_PI)
            gammas = [math.lgamma((self.dof + n + j) / 2) - math.lgamma((self.dof + j) / 2) for j in i]
        else:  # the constants of the prior are taken as 1
            each = 0.5 * (math.log(2.0 * math.pi / n) - n * _LOG_PI)
            gammas = [math.lgamma((n - j) / 2) + 0.5 * j * _LOG_PI for j in i]
        return np.cumsum([0.0, *(each + gamma for gamma in gammas)])

    def log_evidence(self, sizes: Any, logs: Any, log_det: Any, form: Any) -> Any:
        """Put the evidence of subsets together: their sizes, sums of logs, log determinants and forms."""
        dof = self.dof + sizes - 1.0 if self.proper else 0.0
        share, log_unit = logs
        n = self.count
        constant = self.constants(self.size)[sizes]
        return constant + 0.5 * (dof * share - n * log_unit - (dof + n) * (log_det + np.log1p(self.weight * form)))

    def factor(self) -> FloatArray:
        """Cholesky factor of the matrix, its pivots kept above what theory allows."""
        left, out = self.matrix.copy(), np.zeros_like(self.matrix)
        for f in range(self.size):
            pivot = max(left[f, f], self.least[f])
            if pivot < _SINGULAR and not self.proper:
                raise PriorError(
                    f"Feature {f} of the {self.size} in the block is a linear combination of those before it, and "
                    "the improper prior has no answer to that. Use a proper prior, or leave the feature out."
                )
            out[f:, f] = left[f:, f] / math.sqrt(pivot)
            out[f, f] = math.sqrt(pivot)
            left[f + 1 :, f + 1 :] -= np.multiply.outer(out[f + 1 :, f], out[f + 1 :, f])
        return out


def check_family(prior: NormalInverseGamma, n_features: int) -> tuple[float, float, bool]:
    r"""Return the common :math:`\kappa_1` and :math:`\nu` of a block and whether its prior is proper, or raise."""
    if prior.n_features not in (None, n_features):
        raise PriorError(f"The prior is given for {prior.n_features} features, the data have {n_features}.")
    for name in ("variance_dof", "mean_strength"):
        values = np.unique(getattr(prior, name))
        if values.size > 1:
            raise PriorError(
                f"Features of one block need a common {name}, but it is between {values[0]:g} and {values[-1]:g}. "
                "variance_scale and mean_location may differ between features."
            )
    dof, strength = (float(np.ravel(value)[0]) for value in (prior.variance_dof, prior.mean_strength))
    if not (prior.is_proper or prior.is_jeffreys):
        raise PriorError(
            "The prior of a block must be proper (variance_dof, variance_scale and mean_strength above 0) or "
            "Jeffreys' (all of them 0)."
        )
    return dof, strength, prior.is_proper


def forward(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Solve ``factor @ x = right`` for a small lower triangle and many columns."""
    out = np.empty(right.shape)
    for i in range(factor.shape[0]):
        out[i] = (right[i] - factor[i, :i] @ out[:i]) / factor[i, i]
    return out


def _single(group: Scatter) -> int:
    if len(group.classes) != 1:
        raise PriorError(
            f"One group of samples is needed, but this scatter holds {len(group.classes)} classes. "
            "Use scatter.group(label) or scatter.pool()."
        )
    return int(group.count[0])


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
        if check_family(prior, candidates.n_features) != (block.dof, block.strength, True):
            raise PriorError("Candidates and known features need the same variance_dof and mean_strength.")
        if candidates.count.shape != (1,) or int(candidates.count[0]) != block.count:
            raise DataError(f"Candidates need all of the {block.count} values that the known features have.")


def check_proper(prior: NormalInverseGamma) -> None:
    """Raise unless a prior can weigh blocks of different sizes against each other."""
    if not prior.is_proper:
        raise PriorError(
            "An improper prior leaves open what blocks of different sizes weigh against each other, and so it has "
            "no say about who belongs with the known features. Use a proper one, such as GaussianModel.proper()."
        )
