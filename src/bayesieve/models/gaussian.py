"""The independent Gaussian model (section 2.3): evidences of the classes against that of the pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import LabelError, PriorError
from bayesieve.models.normal_inverse_gamma import NormalInverseGamma, kernel_of
from bayesieve.models.prior_ratio import PriorRatio, checked_prior_ratio, log_prior_ratio
from bayesieve.stats import Moments

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    r"""One group of samples under its prior: the updated :math:`\kappa^*, s^*, \nu^*` of section 2.3."""

    label: Any
    prior: NormalInverseGamma
    count: Any
    dof: Any
    scale: Any
    strength: Any

    def log_kernel(self, unit: Any) -> FloatArray:
        """Log evidence without the prior's constant, in units of ``sqrt(unit)``."""
        return np.asarray(kernel_of(self.prior, (self.dof, self.scale, self.strength), self.count, unit))


@dataclass(frozen=True, slots=True, eq=False)
class GaussianModel:
    """Priors of a marker (one per class) and of a non-marker (the pooled sample).

    Parameters
    ----------
    class_priors
        One prior per class, in the order of the classes, or a single prior for every class.
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

    def __post_init__(self) -> None:
        given: Any = self.class_priors
        many = isinstance(given, (tuple, list))
        priors = tuple(given) if many else (given,)
        if not priors or not all(isinstance(p, NormalInverseGamma) for p in (*priors, self.pooled_prior)):
            raise PriorError("Priors must be NormalInverseGamma(...) objects, at least one for the classes.")
        object.__setattr__(self, "class_priors", priors)
        if self.proper_mask.all():
            if self.prior_ratio is not None:
                raise PriorError(
                    "All priors are proper, so prior_ratio follows from them; do not give it. "
                    "(It is needed only when a prior is improper.)"
                )
        elif self.prior_ratio is None:
            raise PriorError(
                "At least one prior is improper, so prior_ratio (the paper's L) must be given, "
                "for example prior_ratio=0.1."
            )
        else:
            object.__setattr__(self, "prior_ratio", checked_prior_ratio(self.prior_ratio))

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
        """Return the prior of class number ``k``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.proper().prior_of(1, 2).mean_location
        0.2
        """
        if len(self.class_priors) == 1:
            return self.class_priors[0]
        if len(self.class_priors) != n_classes:
            raise PriorError(
                f"The model has priors for {len(self.class_priors)} classes, the data have {n_classes}. "
                "Give one prior per class, or a single one for all."
            )
        return self.class_priors[k]

    def log_prior_ratio(self, moments: Moments) -> Any:
        r"""Return :math:`\log L`: computed where all priors are proper, as given elsewhere.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> bs.GaussianModel.jeffreys(prior_ratio=1.0).log_prior_ratio(moments).item()
        0.0
        """
        proper, computed = self.proper_mask, None
        if proper.any():
            n_classes = len(moments.classes)
            with np.errstate(divide="ignore", invalid="ignore"):
                computed = -self.pooled_prior.log_constant() + sum(
                    self.prior_of(k, n_classes).log_constant() for k in range(n_classes)
                )
        if proper.all():
            return computed
        assert self.prior_ratio is not None
        given = log_prior_ratio(self.prior_ratio, moments.count[0], moments.count[1])
        return given if computed is None else np.where(proper, computed, given)

    def log_bayes_factor(self, moments: Moments) -> FloatArray:
        r"""Log Bayes factor of "marker" against "not a marker", feature by feature.

        .. math:: \log BF = \log L + \sum_y \log p(S_y) - \log p(S)

        which is :math:`\log h(f)` of equation (2.18) without the prior odds. Every group must be
        defined under the prior (see :mod:`bayesieve.models.degenerate`).

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> bs.GaussianModel.proper().log_bayes_factor(moments).shape
        (1,)
        """
        return self.combine(self.cells(moments), moments)

    def cells(self, moments: Moments) -> tuple[Cell, ...]:
        """Update the priors with the data of every class and, last, of the pooled sample.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> [cell.scale.tolist() for cell in bs.GaussianModel.jeffreys().cells(moments)]
        [[0.5], [4.5], [21.0]]
        """
        self.check_features(moments.n_features)
        if len(moments.classes) != 2:
            raise LabelError(
                f"Two classes are compared, but there are {len(moments.classes)}: {list(moments.classes)!r}. "
                "Pick two of them, or merge some by giving them the same label."
            )
        groups = [(label, moments.group(label)) for label in moments.classes]
        groups.append((moments.classes, moments.pool()))
        priors = [self.prior_of(k, 2) for k in range(2)] + [self.pooled_prior]
        return tuple(
            Cell(label, prior, group.count[0], *prior.updated_values(group)[:3])
            for (label, group), prior in zip(groups, priors, strict=True)
        )

    def combine(self, cells: tuple[Cell, ...], moments: Moments) -> FloatArray:
        """Evidences of the classes over that of the pool, all in units of the pool's spread.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> model = bs.GaussianModel.jeffreys()
        >>> bool(model.combine(model.cells(moments), moments) == model.log_bayes_factor(moments))
        True
        """
        *classes, pooled = cells
        log_bf = -pooled.log_kernel(pooled.scale)
        for cell in classes:
            log_bf += cell.log_kernel(pooled.scale)
        log_bf += self.log_prior_ratio(moments)
        return np.asarray(log_bf, dtype=np.float64)

    @property
    def is_proper(self) -> bool:
        """Whether all priors are proper for every feature."""
        return bool(self.proper_mask.all())

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
