"""Evidences of groups of classes under the Gaussian model, in units of the pooled spread (section 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import PriorError
from bayesieve.models.evidences import Evidences
from bayesieve.models.normal_inverse_gamma import NormalInverseGamma, kernel_of
from bayesieve.models.patterns import Patterns
from bayesieve.models.prior_ratio import depends_on_sizes, log_prior_ratio
from bayesieve.stats import Moments

if TYPE_CHECKING:
    from bayesieve.models.gaussian import GaussianModel

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    r"""One group of samples under its prior: the updated :math:`\kappa^*, s^*, \nu^*` of section 2.3."""

    name: str
    prior: NormalInverseGamma
    count: Any
    dof: Any
    scale: Any
    strength: Any

    def log_kernel(self, unit: Any) -> FloatArray:
        """Log evidence without the prior's constant, in units of ``sqrt(unit)``."""
        return np.asarray(kernel_of(self.prior, (self.dof, self.scale, self.strength), self.count, unit))


class GaussianEvidences(Evidences):
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

    def cell(self, members: tuple[int, ...], law: int) -> Cell:
        """Update the prior of a group with its data; all classes together have the pooled prior."""
        classes = self._moments.classes
        whole = len(members) == len(classes)
        key = (members, 0 if whole or self.has_one_law else law)
        if key not in self._cells:
            prior = self._model.pooled_prior if whole else self._model.prior_of(law, len(classes))
            labels = tuple(classes[k] for k in members)
            group = self._moments.group(labels[0]) if len(labels) == 1 else self._moments.pool(labels)
            self._cells[key] = Cell(_name(labels, whole), prior, group.count[0], *prior.updated_values(group)[:3])
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
        return self.pooled_cell.log_kernel(self.pooled_cell.scale)

    def group(self, members: tuple[int, ...], law: int) -> FloatArray:
        """Log evidence of some classes."""
        return self.cell(members, law).log_kernel(self.pooled_cell.scale)

    def log_constant(self, n_groups: int) -> Any:
        r"""Constants of the priors where all are proper, the prior ratio for every further group elsewhere."""
        model, moments = self._model, self._moments
        proper, computed = model.proper_mask, None
        if proper.any():
            n_classes = len(moments.classes)
            with np.errstate(divide="ignore", invalid="ignore"):
                computed = -model.pooled_prior.log_constant() + sum(
                    model.prior_of(law, n_classes).log_constant() for law in range(n_groups)
                )
        if proper.all():
            return computed
        assert model.prior_ratio is not None
        sizes = (moments.count[0], moments.count[1])  # asked for by ratios that depend on two class sizes
        given = (n_groups - 1) * log_prior_ratio(model.prior_ratio, *sizes)
        return given if computed is None else np.where(proper, computed, given)

    @property
    def has_one_law(self) -> bool:
        """Whether all groups of a pattern have the same prior."""
        return len(self._model.class_priors) == 1


def _name(labels: tuple[Any, ...], whole: bool) -> str:
    if whole:
        return "the pooled sample"
    return f"class {labels[0]!r}" if len(labels) == 1 else f"classes {', '.join(map(repr, labels))} together"


def check_patterns(model: GaussianModel, patterns: Patterns) -> None:
    """Raise unless the priors fit the patterns that are compared.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.models.patterns import Patterns
    >>> from bayesieve.models.gaussian_evidences import check_patterns
    >>> check_patterns(bs.GaussianModel.jeffreys(), Patterns.of("any", ("a", "b", "c")))
    """
    n_classes = len(patterns.classes)
    if n_classes == 2:
        return
    if len(model.class_priors) > 1 and patterns.kind != "given":
        raise PriorError(
            f"With {n_classes} classes every group of a partition has the same prior, but the model gives one "
            f"to each of {len(model.class_priors)} classes. Give a single class prior, for example "
            "GaussianModel.proper(mean_locations=(0.0,)), or say which patterns to compare: patterns=..."
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
