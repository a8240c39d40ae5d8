"""The independent Gaussian model (section 2.3): evidences of groups of classes, next to the pooled sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix
from bayesieve.models.evidences import Evidences, ProductOfEvidences, compare
from bayesieve.models.gaussian.normal_inverse_gamma import (
    Cell,
    NormalInverseGamma,
    any_nonzero,
    log_evidence,
)
from bayesieve.models.gaussian.prior_ratio import (
    PriorRatio,
    check_prior_ratio,
    depends_on_sizes,
    log_prior_ratio,
)
from bayesieve.models.gaussian.slopes import MOST_GROUPS, group_log_bayes_factor, grouped
from bayesieve.models.model import Model
from bayesieve.models.patterns import Patterns
from bayesieve.stats import AdjustedMoments, Moments
from bayesieve.utils import FloatArray, OptionError, PriorError, Wording, option


class GaussianEvidences(ProductOfEvidences):
    """Evidences of groups of classes.

    Parameters
    ----------
    model
        The priors.
    moments
        Moments of the classes.
    """

    __slots__ = ("_cells", "_model", "_moments")

    def __init__(self, model: GaussianModel, moments: Moments) -> None:
        model.check_features(moments.n_features)
        self._model, self._moments = model, moments
        self._cells: dict[Any, Cell] = {}

    def cell(self, members: tuple[int, ...], prior_index: int) -> Cell:
        """Update the prior of a group with its data; all classes together have the pooled prior."""
        classes = self._moments.classes
        whole = len(members) == len(classes)
        key = (members, 0 if whole or self.has_one_prior else prior_index)
        if key not in self._cells:
            prior = self._model.pooled_prior if whole else self._model.prior_of(prior_index, len(classes))
            labels = tuple(classes[k] for k in members)
            group = self._moments.group(labels[0]) if len(labels) == 1 else self._moments.pool(labels)
            further = prior.further_squares(group)
            if len(labels) > 1:
                between = self._moments.between_squares(labels)
                further = between + further if any_nonzero(further) else between
            updated = prior.updated_values(group)[:3]
            within = tuple(self._moments.centred_squares[k] for k in members)
            self._cells[key] = Cell(_name(labels, whole), prior, group.count[0], *updated, further, within)
        return self._cells[key]

    def cells(self, patterns: Patterns) -> tuple[Cell, ...]:
        """Return the groups that need an evidence of their own and, last, the pooled sample."""
        check_patterns(self._model, patterns)
        return (*(self.cell(*each) for each in patterns.smallest_groups), self.pooled_cell)

    @property
    def pooled_cell(self) -> Cell:
        """The pooled sample."""
        return self.cell(tuple(range(len(self._moments.classes))), 0)

    def pooled(self) -> FloatArray:
        """Log evidence of all classes together."""
        return self.pooled_cell.log_evidence(self.pooled_cell)

    def group(self, members: tuple[int, ...], prior_index: int) -> FloatArray:
        """Log evidence of some classes."""
        return self.cell(members, prior_index).log_evidence(self.pooled_cell)

    def log_constant(self, n_groups: int) -> Any:
        r"""Constants of the priors where all are proper, the prior ratio for every further group elsewhere."""
        model, moments = self._model, self._moments
        proper, computed = model.proper_mask, None
        if proper.any():
            n_classes = len(moments.classes)
            with np.errstate(divide="ignore", invalid="ignore"):
                computed = -model.pooled_prior.log_constant() + sum(
                    model.prior_of(prior_index, n_classes).log_constant() for prior_index in range(n_groups)
                )
        if proper.all():
            return computed
        assert model.prior_ratio is not None
        sizes = (moments.count[0], moments.count[1])  # asked for by ratios that depend on two class sizes
        by_ratio = (n_groups - 1) * log_prior_ratio(model.prior_ratio, *sizes)
        return by_ratio if computed is None else np.where(proper, computed, by_ratio)

    @property
    def has_one_prior(self) -> bool:
        """Whether all groups of a pattern have the same prior."""
        return len(self._model.class_priors) == 1


class SlopeEvidences(GaussianEvidences):
    """Evidences of groups of classes that share slopes on covariates; they do not multiply."""

    __slots__ = ()

    def pattern(self, groups: Sequence[tuple[int, ...]]) -> FloatArray:
        """Log Bayes factor of the groups of a pattern."""
        model, design = self._model, cast("AdjustedMoments", self._moments).design
        assert design is not None
        if len(groups) > MOST_GROUPS:
            raise OptionError(
                f"Given covariates, the priors of the paper compare patterns of up to {MOST_GROUPS} groups of "
                f"classes, whose variances are integrated out exactly; a pattern of {len(groups)} is asked for.",
                hint=("Say which patterns to compare, such as ", option("patterns", "one-versus-rest"),
                      ", or leave ", Wording("the model", "--prior"),
                      " out: the calibrated prior compares any number."),
                kind="capability",
            )  # fmt: skip
        n = len(groups)
        priors = (*(model.prior_of(k, max(n, len(design.classes))) for k in range(n)), model.pooled_prior)
        return group_log_bayes_factor(grouped(design, groups), priors, self.log_constant(n))

    def terms(self, patterns: Patterns) -> list[Any]:
        """Log Bayes factors of the patterns."""
        return Evidences.terms(self, patterns)


def _name(labels: tuple[Any, ...], whole: bool) -> str:
    if whole:
        return "the pooled sample"
    return f"class {labels[0]!r}" if len(labels) == 1 else f"classes {', '.join(map(repr, labels))} together"


def check_patterns(model: GaussianModel, patterns: Patterns) -> None:
    """Raise unless the priors fit the patterns that are compared."""
    n_classes = len(patterns.classes)
    if n_classes == 2:
        return
    if len(model.class_priors) > 1 and patterns.kind != "given":
        raise PriorError(
            f"With {n_classes} classes every group of a partition has the same prior, but the model gives one "
            f"to each of {len(model.class_priors)} classes. Give a single class prior, for example ",
            Wording("GaussianModel.proper(mean_locations=(0.0,))", "--prior proper"),
            ", or say which patterns to compare: ",
            option("patterns"),
            ".",
            kind="patterns",
        )
    most = max(max(growth) for growth in patterns.growths) + 1
    if len(model.class_priors) not in (1, most):
        raise PriorError(
            f"The patterns have up to {most} groups, but the model has {len(model.class_priors)} class priors. "
            "Give one per group (the group of the first class is the first), or a single one."
        )
    if callable(model.prior_ratio) or (isinstance(model.prior_ratio, str) and depends_on_sizes(model.prior_ratio)):
        raise PriorError(
            f"With {n_classes} classes the prior ratio enters once for every further group and must be a "
            f"number (or 'paper', 'sqrt2pi', 'half_sqrt2pi'), not {model.prior_ratio!r}."
        )


@dataclass(frozen=True, slots=True, eq=False)
class GaussianModel(Model):
    """Priors of a marker (one per class) and of a non-marker (the pooled sample).

    Parameters
    ----------
    class_priors
        One prior per class, in the order of the classes, or a single prior for every class. With given
        patterns of more than two classes: one per group of a pattern; groups are numbered in the order of the
        classes, however a pattern is written.
    pooled_prior
        The prior of a feature whose classes share mean and variance.
    prior_ratio
        The paper's :math:`L`. Computed, and not to be given, when all priors are proper; required
        otherwise: a positive number, one per feature, a function of the two class sizes, or one of
        ``"paper"`` (0.1), ``"sqrt2pi"``, ``"half_sqrt2pi"``, ``"n_decay"``, ``"bic"``.

    Examples
    --------
    >>> import bayesieve as bs
    >>> model = bs.GaussianModel.jeffreys()
    >>> moments = bs.Moments.from_matrix([[0.1], [-0.4], [0.3], [0.8], [1.2], [0.7], [2.1], [1.5], [0.9]],
    ...                                  [0] * 4 + [1] * 5)
    >>> model.log_bayes_factor(moments).round(6).tolist()
    [2.986012]
    """

    class_priors: tuple[NormalInverseGamma, ...]
    pooled_prior: NormalInverseGamma
    prior_ratio: PriorRatio | None = None
    statistics_type: ClassVar[type] = Moments
    family: ClassVar[str] = "Gaussian"
    capabilities: ClassVar[frozenset[str]] = frozenset(
        (
            "moments", "pairs", "resolution", "floors", "leave-one-out", "permutations", "joint",
            "differences",
        )
    )  # fmt: skip

    def __post_init__(self) -> None:
        class_priors: Any = self.class_priors
        many = isinstance(class_priors, (tuple, list))
        priors = tuple(class_priors) if many else (class_priors,)
        if not priors or not all(isinstance(p, NormalInverseGamma) for p in (*priors, self.pooled_prior)):
            raise PriorError("Priors must be NormalInverseGamma(...) objects, at least one for the classes.")
        object.__setattr__(self, "class_priors", priors)
        if self.proper_mask.all():
            if self.prior_ratio is not None:
                raise PriorError(
                    "All priors are proper, so ",
                    option("prior_ratio"),
                    " follows from them; do not give it. (It is needed only when a prior is improper.)",
                    kind="prior-ratio",
                )
        elif self.prior_ratio is None:
            raise PriorError(
                "At least one prior is improper, so the prior ratio (the paper's L) must be given, for example ",
                option("prior_ratio", 0.1),
                ".",
                kind="prior-ratio",
            )
        else:
            object.__setattr__(self, "prior_ratio", check_prior_ratio(self.prior_ratio))

    @classmethod
    def jeffreys(cls, prior_ratio: PriorRatio = 0.1) -> GaussianModel:
        r"""Return the model with Jeffreys' prior on every mean and variance: section 6's JP.

        Parameters
        ----------
        prior_ratio
            The paper's :math:`L`, 0.1 there.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys(prior_ratio="sqrt2pi").is_proper
        False
        """
        return cls((NormalInverseGamma(),), NormalInverseGamma(), prior_ratio)

    @classmethod
    def proper(
        cls,
        *,
        variance_dof: float = 3.0,
        variance_scale: float = 0.5,
        mean_strength: float = 0.1,
        mean_locations: tuple[float, ...] = (0.0, 0.2),
        pooled_location: float = 0.0,
    ) -> GaussianModel:
        """Return a model with proper priors; the defaults are section 6's PP.

        They suit data with a variance of about 0.5. The second class is treated differently: its
        mean is expected at 0.2.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.proper().is_proper
        True
        """
        shared = (variance_dof, variance_scale, mean_strength)
        priors = tuple(NormalInverseGamma(*shared, location) for location in mean_locations)
        return cls(priors, NormalInverseGamma(*shared, pooled_location))

    @property
    def proper_mask(self) -> npt.NDArray[np.bool_]:
        """Where all priors are proper: a scalar or one flag per feature."""
        mask = np.asarray(self.pooled_prior.proper)
        for prior in self.class_priors:
            mask = mask & prior.proper
        return np.asarray(mask)

    def prior_of(self, k: int, n_classes: int) -> NormalInverseGamma:
        """Return the prior of class number ``k`` (of more than two classes: of the k-th group of a pattern).

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.proper().prior_of(1, 2).mean_location
        0.2
        """
        if len(self.class_priors) == 1:
            return self.class_priors[0]
        if len(self.class_priors) != n_classes if n_classes == 2 else len(self.class_priors) <= k:
            raise PriorError(
                f"The model has priors for {len(self.class_priors)} classes, the data have {n_classes}. "
                "Give one prior per class, or a single one for all."
            )
        return self.class_priors[k]

    def statistic(self, values: FloatArray) -> Moments:
        """Moments of one group.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys().statistic(np.array([[1.0], [3.0]])).mean.tolist()
        [[2.0]]
        """
        return Moments.from_matrix(values, np.zeros(len(values), np.int64), missing="omit", shape=False)

    def merge(self, first: Moments, second: Moments) -> Moments:
        """Moments of two groups together.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> model = bs.GaussianModel.jeffreys()
        >>> one, two = model.statistic(np.array([[1.0]])), model.statistic(np.array([[3.0]]))
        >>> model.merge(one, two).mean.tolist()
        [[2.0]]
        """
        return first.merge(second.renamed(first.classes))

    def log_evidence(self, group: Moments) -> FloatArray:
        """Log evidence of one group under the prior of the (first) class, equation (2.16).

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> model = bs.GaussianModel.proper()
        >>> model.log_evidence(model.statistic(np.array([[0.1], [-0.4], [0.3], [0.8]]))).round(6).tolist()
        [-4.628098]
        """
        return np.asarray(log_evidence(self.class_priors[0], group))

    def summarise(
        self, matrix: LabelledMatrix, *, missing: str = "raise", n_threads: int | None = None
    ) -> Moments:
        """Sum a table class by class; see :meth:`bayesieve.Moments.from_labelled`.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.GaussianModel.jeffreys()
        >>> model.summarise(model.matrix([[1.0], [2.0]], ["a", "b"])).mean.tolist()
        [[1.0], [2.0]]
        """
        return Moments.from_labelled(matrix, missing=missing, n_threads=n_threads, shape=False)

    def evidences(self, statistics: Any) -> GaussianEvidences:
        """Prepare the log evidences of groups of classes.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> [cell.scale.tolist() for cell in (bs.GaussianModel.jeffreys().evidences(moments).pooled_cell,)]
        [[21.0]]
        """
        if getattr(statistics, "design", None) is not None:
            return SlopeEvidences(self, statistics)
        return GaussianEvidences(self, statistics)

    def log_prior_ratio(self, moments: Moments) -> Any:
        r"""Return :math:`\log L`: computed where all priors are proper, as given elsewhere.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> bs.GaussianModel.jeffreys(prior_ratio=1.0).log_prior_ratio(moments).item()
        0.0
        """
        return self.evidences(moments).log_constant(2)

    def log_bayes_factor(self, moments: Moments, patterns: Any = "any") -> FloatArray:
        r"""Log Bayes factor of "marker" against "not a marker", feature by feature.

        .. math:: \log BF = \log L + \sum_y \log p(S_y) - \log p(S)

        for two classes, which is :math:`\log h(f)` of equation (2.18) without the prior odds; for more
        classes see :mod:`bayesieve.models.evidences`. Every group must be defined under the prior (see
        :mod:`bayesieve.models.gaussian.degenerate`).

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> bs.GaussianModel.proper().log_bayes_factor(moments).shape
        (1,)
        """
        chosen = Patterns.of(patterns, moments.classes)
        check_patterns(self, chosen)
        return compare(self.evidences(moments), chosen)

    def draw_null(self, statistics: Any, rng: np.random.Generator) -> Moments | None:
        """Draw class means and squares of Gaussian samples with each feature's own pooled mean and variance.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> bs.GaussianModel.jeffreys().draw_null(moments, np.random.default_rng(0)).mean.shape
        (2, 1)
        """
        if getattr(statistics, "design", None) is not None:  # residuals are dealt anew instead
            return None
        pooled = statistics.pool()
        number = np.maximum(np.broadcast_to(statistics.counts, statistics.mean.shape), 1)
        freedom = np.maximum(np.broadcast_to(pooled.counts, pooled.mean.shape)[0] - 1, 1)
        variance = pooled.centred_squares[0] / freedom
        means = pooled.mean[0] + np.sqrt(variance / number) * rng.standard_normal(number.shape)
        squares = variance * rng.chisquare(np.maximum(number - 1, 1e-9))
        squares[:, variance == 0] = 1.0  # degenerate: any positive number, they are not counted
        return Moments.trusted(statistics.classes, statistics.count, means, squares, np.zeros_like(means))

    @property
    def is_proper(self) -> bool:
        """Whether all priors are proper for every feature."""
        return bool(self.proper_mask.all())

    @property
    def is_jeffreys(self) -> bool:
        """Whether every hyper-parameter is 0, so that log-odds depend on the data through lambda alone."""
        return self.has_jeffreys_priors

    @property
    def has_jeffreys_priors(self) -> bool:
        """Whether every hyper-parameter is 0, whatever makes a marker."""
        return all(prior.is_jeffreys for prior in (*self.class_priors, self.pooled_prior))

    def supports(self, capability: str) -> bool:
        """Whether the model supports something; ``"prior-ratio"`` only if a prior is improper.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys().supports("prior-ratio"), bs.GaussianModel.proper().supports("prior-ratio")
        (True, False)
        """
        return not self.is_proper if capability == "prior-ratio" else capability in self.capabilities

    def check_features(self, n_features: int) -> None:
        """Raise unless per-feature hyper-parameters fit the number of features.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys(prior_ratio=[0.1, 0.2]).check_features(2)
        """
        ratio = self.prior_ratio
        priors = (*self.class_priors, self.pooled_prior)
        sizes = {prior.n_features for prior in priors if prior.n_features is not None}
        if isinstance(ratio, np.ndarray):
            sizes.add(ratio.size)
        if sizes - {n_features}:
            raise PriorError(
                f"Hyper-parameters are given for {sorted(sizes)} features, but the data have {n_features}. "
                "Give one number, or one per feature in the order of the columns."
            )
