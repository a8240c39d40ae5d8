"""enumerate_sets(): the general Bayesian model of section 2.1, by enumeration of all sets of features.

The features of :math:`G` are one part in every class, the others one part in the pooled sample. A structure
turns the log evidences of all sets, each taken as one jointly distributed block, into those of all sets,
each taken as a part.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.models import GaussianModel, Model, NormalInverseGamma, subset_log_evidence
from bayesieve.posterior import MOST_FEATURES
from bayesieve.screening import rescreen
from bayesieve.sets.masks import check_number, mask_of, members, set_sizes, sums_over_sets
from bayesieve.sets.priors import SetPrior, as_prior
from bayesieve.sets.set_posterior import SetPosterior
from bayesieve.sets.tables import TwoClasses
from bayesieve.stats import Scatter
from bayesieve.utils import FloatArray, OptionError, PriorError, compiled, is_number, is_whole

_MOST_AVERAGED = 16


class Structure(abc.ABC):
    """What is distributed jointly within a part."""

    @abc.abstractmethod
    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Log evidence of every set as a part, from those of every set as one block."""

    def largest_blocks(self, n_features: int) -> tuple[int, ...]:
        """Bit masks of blocks such that only they and their subsets are ever one block."""
        return (2**n_features - 1,)

    @property
    def most_features(self) -> int:
        """The largest number of features this can be worked out for."""
        return MOST_FEATURES


@dataclass(frozen=True, slots=True)
class Joint(Structure):
    """All features of a part are one block."""

    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Return the evidences as they are."""
        return blocks


@dataclass(frozen=True, slots=True)
class Diagonal(Structure):
    """Every feature is a block of its own."""

    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Add up the evidences of single features."""
        n_features = blocks.size.bit_length() - 1
        return sums_over_sets(blocks[2 ** np.arange(n_features)])

    def largest_blocks(self, n_features: int) -> tuple[int, ...]:
        """Single features."""
        return tuple(1 << f for f in range(n_features))


@dataclass(frozen=True, slots=True)
class Partition(Structure):
    """Given blocks, of which a part holds the features that belong to it.

    Parameters
    ----------
    blocks
        Disjoint blocks as bit masks that together hold all features.
    """

    blocks: tuple[int, ...]

    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Add up the evidences of the blocks, each as far as it belongs to the part."""
        sets = np.arange(blocks.size)
        total = np.zeros(blocks.size)
        for block in self.blocks:
            total += blocks[sets & block]
        return total

    def largest_blocks(self, n_features: int) -> tuple[int, ...]:
        """The blocks themselves."""
        del n_features
        return self.blocks


@dataclass(frozen=True, slots=True)
class Average(Structure):
    r"""The partition of a part into blocks is unknown, and averaged over: all partitions are possible.

    Every class has its own partition of the features of :math:`G`, since section 2.1 takes the parameters of
    the classes as independent given :math:`G`.

    Parameters
    ----------
    cohesion
        Function of the size of a block; a partition has the weight of the product over its blocks,
        normalised within each part. None gives every partition the same weight.

    Notes
    -----
    With :math:`c` the cohesion and :math:`w` the evidence of a block, :math:`T(A) = \sum_{D} c(|D|) w(D)
    T(A \setminus D)` over the subsets :math:`D` of :math:`A` that hold its lowest feature: :math:`3^{|F|}`
    steps in all.
    """

    cohesion: Callable[[int], float] | None = None

    @property
    def most_features(self) -> int:
        """The largest number of features this can be worked out for."""
        return _MOST_AVERAGED

    def log_evidence(self, blocks: FloatArray) -> FloatArray:
        """Average over all partitions of every set."""
        n_features = blocks.size.bit_length() - 1
        log_cohesion = np.array([_log_cohesion(self.cohesion, size) for size in range(1, n_features + 1)])
        sizes = set_sizes(n_features)
        weighted = blocks + np.concatenate(([0.0], log_cohesion))[sizes]
        return np.asarray(partition_sums(weighted) - _log_normaliser(log_cohesion)[sizes])


@compiled()
def partition_sums(blocks: Any) -> Any:
    """Log of the sum, over all partitions of each set, of the product of the weights of their blocks."""
    total = np.empty(blocks.shape[0])
    total[0] = 0.0
    for whole in range(1, blocks.shape[0]):
        low = whole & -whole
        rest = whole ^ low
        top = -math.inf
        others = rest
        while True:  # others: the subsets of the rest, which stay outside the block of the lowest feature
            top = max(top, blocks[whole ^ others] + total[others])
            if others == 0:
                break
            others = (others - 1) & rest
        summed = 0.0
        if top > -math.inf:
            others = rest
            while True:
                summed += math.exp(blocks[whole ^ others] + total[others] - top)
                if others == 0:
                    break
                others = (others - 1) & rest
        total[whole] = top + math.log(summed) if summed > 0.0 else -math.inf
    return total


def as_structures(structure: Any, n_features: int) -> tuple[Structure, Structure]:
    """Understand a structure, one for both parts or a pair for markers and non-markers."""
    good, bad = _pair(structure)
    found = _as_structure(good, n_features), _as_structure(bad, n_features)
    check_number(n_features, min(each.most_features for each in found))
    return found


def all_independent(structure: Any) -> bool:
    """Whether every feature stands alone, among markers and among the others."""
    return all(
        isinstance(NAMED.get(part) if isinstance(part, str) else part, Diagonal) for part in _pair(structure)
    )


def _pair(structure: Any) -> tuple[Any, Any]:
    """Return the structures of markers and of the others."""
    if isinstance(structure, tuple) and len(structure) == 2 and not any(map(_is_block, structure)):
        return structure
    return structure, structure


NAMED: dict[str, Structure] = {"diagonal": Diagonal(), "joint": Joint(), "average": Average()}


def _as_structure(structure: Any, n_features: int) -> Structure:
    if isinstance(structure, Structure):
        return structure
    if isinstance(structure, str) and structure in NAMED:
        return NAMED[structure]
    if isinstance(structure, str) or not isinstance(structure, Iterable) or not all(map(_is_block, structure)):
        raise OptionError(
            f"structure must be one of {', '.join(map(repr, NAMED))}, blocks of positions such as [[0, 2], [1]], "
            f"or a pair of these for markers and non-markers, not {structure!r}."
        )
    return _partition(list(structure), n_features)


def _partition(blocks: Sequence[Any], n_features: int) -> Partition:
    named = [f for block in blocks for f in block]
    wrong = [f for f in named if not 0 <= f < n_features]
    if wrong:
        raise OptionError(f"A block holds feature {wrong[0]}, but there are {n_features}, counted from 0.")
    if len(set(named)) < len(named):
        twice = next(f for f in named if named.count(f) > 1)
        raise OptionError(f"Feature {twice} is named more than once. Every feature belongs to one block.")
    alone = [1 << f for f in range(n_features) if f not in named]
    return Partition((*(mask_of(block) for block in blocks), *alone))


def _is_block(value: Any) -> bool:
    """Whether this is a sequence of positions, at least one."""
    if isinstance(value, (str, Structure)) or not isinstance(value, Sequence | np.ndarray) or not len(value):
        return False
    return all(map(is_whole, value))


def _log_cohesion(cohesion: Callable[[int], float] | None, size: int) -> float:
    value = 1.0 if cohesion is None else cohesion(size)
    if not is_number(value) or not 0.0 < value < math.inf:
        raise OptionError(
            f"The cohesion of a block of {size} features must be positive and finite, not {value!r}."
        )
    return math.log(value)


def _log_normaliser(log_cohesion: FloatArray) -> FloatArray:
    """Log of the sum of the weights of all partitions of 0, 1, ... features; Bell numbers if all are 1."""
    totals = [1.0]
    for size in range(1, log_cohesion.size + 1):
        terms = [math.comb(size - 1, k - 1) * math.exp(log_cohesion[k - 1]) * totals[size - k]
                 for k in range(1, size + 1)]  # fmt: skip
        totals.append(math.fsum(terms))
    return np.log(totals)


_CONVENTION = (
    "Under an improper prior the weights between blocks of different sizes are a convention: the prior ratio "
    "enters once for every marker."
)

_SATURATED = (
    "All non-markers are one joint block: if they are in truth independent, sets with false markers are preferred "
    "however many samples there are. structure=('joint', 'diagonal') takes non-markers one by one."
)


def enumerate_sets(
    X: Any,
    y: Any = None,
    *,
    model: Model | None = None,
    prior: SetPrior | npt.ArrayLike | Mapping[Any, float] | Callable[[frozenset[int]], float] = 0.01,
    structure: Any = "diagonal",
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    missing: str = "raise",
) -> SetPosterior:
    r"""Find the probability of every set of features, :math:`p(G \mid S)`, for up to about 20 features.

    .. math:: p(G \mid S) \propto p(G)\, p(S_0^G \mid G)\, p(S_1^G \mid G)\, p(S^B \mid B)

    (equation (2.6)). Markers may be correlated within each class, the other features within the pooled
    sample; a set of correlated features has the normal-inverse-Wishart family of priors that is grown from
    the model's one-feature priors, :math:`\kappa_d = \kappa_1 + d - 1`, :math:`S = \mathrm{diag}(s)`.

    Parameters
    ----------
    X, y
        Samples x features and one label per sample, or what :func:`bayesieve.read_table` returns, as for
        :func:`bayesieve.screen`. Ready statistics will do if features are independent.
    model
        Likelihood and priors; ``GaussianModel.jeffreys(prior_ratio=0.1)`` by default.
    prior
        A :class:`SetPrior` (:class:`ProductPrior`, :class:`SizePrior`, :class:`IsingPrior`,
        :class:`SetTable`); prior probabilities of independent features, a number or one per feature; a mapping
        from sets of positions to weights, such as ``{(0, 1): 2.0, (): 1.0}``; or a function of a frozenset of
        positions.
    structure
        What is jointly distributed: ``"diagonal"`` (features are independent; any model),
        ``"joint"`` (all markers, and all others), blocks of positions such as ``[[0, 2], [1]]`` (as far as
        they are markers, and as far as they are not), or ``"average"`` (over all partitions into blocks;
        at most 16 features). A pair gives one for markers and one for the others. Everything but
        ``"diagonal"`` is for the Gaussian model and two classes.
    classes, feature_names, missing
        As for :func:`bayesieve.screen`; values may be missing if features are independent.

    Notes
    -----
    Time and memory double with every feature. Under Jeffreys' prior :math:`\kappa_d = 0` for every
    :math:`d`, every class needs more samples than a block has features, and the weights between sets of
    different sizes are a convention (the prior ratio enters once for every marker).

    With ``"joint"`` all non-markers are one block, and every pair of them has a correlation of its own. If
    they are in truth independent, sets that call some of them markers save such parameters and win by a power of
    the number of samples, however many there are. ``structure=("joint", "diagonal")`` takes non-markers one by
    one and has no such preference.

    Examples
    --------
    Two features that differ neither in mean nor in variance, but in the sign of their correlation:

    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> X[:30, 1] = 0.9 * X[:30, 0] + 0.4 * X[:30, 1]
    >>> X[30:, 1] = -0.9 * X[30:, 0] + 0.4 * X[30:, 1]
    >>> y = ["a"] * 30 + ["b"] * 30
    >>> model = bs.GaussianModel.proper(mean_locations=(0.0,))
    >>> alone = bs.enumerate_sets(X, y, model=model, prior=0.1)
    >>> together = bs.enumerate_sets(X, y, model=model, prior=0.1, structure="joint")
    >>> alone.select("MNC").names, together.select("MNC").names
    ((), ('x0', 'x1'))
    """
    over_sets = as_prior(prior)
    if all_independent(structure):
        screened = rescreen(X, y, model=model, classes=classes, feature_names=feature_names, missing=missing)
        return SetPosterior.of_features(screened, over_sets)
    gaussian = _gaussian(model, missing)
    what = "A structure other than 'diagonal'"
    table = TwoClasses.of(X, y, what=what, classes=classes, feature_names=feature_names)
    structures = as_structures(structure, table.n_features)
    log_prior = over_sets.log_probability(table.n_features)
    scatter = Scatter.from_labelled(table.columns(np.arange(table.n_features)))
    log_likelihood = set_log_likelihood(scatter, gaussian, *structures)
    notes = [] if gaussian.is_proper or all(isinstance(each, Diagonal) for each in structures) else [_CONVENTION]
    if isinstance(structures[1], Joint) and table.n_features > 2:
        notes.append(_SATURATED)
    return SetPosterior(log_likelihood, log_prior, table.feature_names, tuple(notes))


def set_log_likelihood(scatter: Scatter, model: GaussianModel, good: Structure, bad: Structure) -> FloatArray:
    r"""Return :math:`\log p(S \mid G)` of every set of features, up to a constant."""
    model.check_features(scatter.n_features)
    unit = _units(scatter)
    total = np.zeros(2**scatter.n_features)
    scaled = _in_units(model, unit)
    for k, label in enumerate(scatter.classes):
        total += good.log_evidence(block_evidences(scaled, k, _scaled(scatter.group(label), unit), good))
    total += bad.log_evidence(block_evidences(scaled, None, _scaled(scatter.pool(), unit), bad))[::-1]
    if not model.is_proper:
        ratio = np.broadcast_to(model.log_prior_ratio(scatter.moments()), (scatter.n_features,))
        total += sums_over_sets(ratio)
    return total


def block_evidences(model: GaussianModel, k: int | None, group: Scatter, structure: Structure) -> FloatArray:
    """Log evidence of every set as one block, where the structure asks for it; NaN elsewhere."""
    n_features = group.n_features
    evidences = np.full(2**n_features, np.nan)
    for block in structure.largest_blocks(n_features):
        places = list(members(block))
        subsets = sums_over_sets(2.0 ** np.array(places)).astype(np.int64)
        taken = model.take(places, n_features)
        prior = taken.pooled_prior if k is None else taken.prior_of(k, 2)
        evidences[subsets] = subset_log_evidence(prior, group.take(places))
    return evidences


def _gaussian(stated: Model | None, missing: str) -> GaussianModel:
    """Check that the model can have jointly distributed features."""
    model = GaussianModel.jeffreys(prior_ratio=0.1) if stated is None else cast("GaussianModel", stated)
    model.require(
        "joint",
        f"Features are distributed jointly under a GaussianModel; {type(model).__name__} knows them one by one.",
        hint="Use structure='diagonal', or a model such as GaussianModel.jeffreys().",
    )
    priors = (*model.class_priors, model.pooled_prior)
    if not (model.is_proper or all(prior.is_jeffreys for prior in priors)):
        raise PriorError(
            "Jointly distributed features need priors that are proper throughout, GaussianModel.proper(), or "
            "Jeffreys' throughout, GaussianModel.jeffreys(); this model lies between."
        )
    if missing != "raise":
        raise OptionError("Jointly distributed features need complete samples: leave missing at 'raise'.")
    return model


def _units(scatter: Scatter) -> FloatArray:
    """Powers of 2 near the standard deviation of the features: evidences are then small and their sums exact."""
    squares = np.diagonal(scatter.pool().products[0])
    sd = np.sqrt(squares / max(int(scatter.count.sum()) - 1, 1))
    return np.exp2(np.round(np.log2(np.where(sd > 0, sd, 1.0))))


def _scaled(group: Scatter, unit: FloatArray) -> Scatter:
    residual = np.asarray(group.residual) / unit
    products = group.products / unit[:, None] / unit
    return Scatter(group.classes, group.count, group.mean / unit, products, residual)


def _in_units(model: GaussianModel, unit: FloatArray) -> GaussianModel:
    def scaled(prior: NormalInverseGamma) -> NormalInverseGamma:
        scale, location = prior.variance_scale / unit**2, prior.mean_location / unit
        return replace(prior, variance_scale=scale, mean_location=location)

    priors = tuple(map(scaled, model.class_priors))
    return replace(model, class_priors=priors, pooled_prior=scaled(model.pooled_prior))
