"""MixedModel: every feature has the likelihood of its kind - measurement, count or category - and one ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from bayesieve.data import CATEGORY, COUNT, MEASUREMENT, NONE, Label, LabelledMatrix, MixedMatrix, labelled_mixture
from bayesieve.models.categorical import CategoricalModel
from bayesieve.models.counts.negative_binomial import NegativeBinomialModel
from bayesieve.models.evidences import Evidences
from bayesieve.models.gaussian.calibrated import CalibratedModel
from bayesieve.models.gaussian.degenerate import Degeneracy
from bayesieve.models.model import Model
from bayesieve.stats import MixedStatistics, places_within
from bayesieve.utils import DataError, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class MixedModel(Model):
    """Features of several kinds in one screen, each under a likelihood of its own.

    All log-odds are prior log-odds plus a log Bayes factor and compare directly: there is one list, one prior
    probability and one number of false positives. How features are told apart says
    :func:`bayesieve.data.mixed.kind_of`.

    Parameters
    ----------
    likelihoods
        Kinds that are known better, by feature: ``{"grade": "category", "age": "measurement"}``.
    measurement, count, category
        Models of the kinds; :class:`CalibratedModel`, :class:`NegativeBinomialModel` and
        :class:`CategoricalModel` by default.
    kinds
        Set by :meth:`estimate`, not by users: the kind of every feature.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> sick = np.repeat([False, True], 30)
    >>> table = np.empty((60, 3), dtype=object)
    >>> table[:, 0] = rng.normal(size=60) + 2.0 * sick            # a measurement
    >>> table[:, 1] = rng.poisson(np.where(sick, 9, 3))           # a count
    >>> table[:, 2] = np.where(rng.random(60) < 0.5, "yes", "no")  # a category, the same in both classes
    >>> posterior = bs.screen(table, sick, model="auto", shuffles=0)
    >>> posterior.to_dict()["likelihood"]
    ['measurement', 'count', 'category']
    >>> (posterior.probability > 0.5).tolist()
    [True, True, False]
    """

    likelihoods: Mapping[str, str] | None = None
    measurement: Model = field(default_factory=CalibratedModel)
    count: Model = field(default_factory=NegativeBinomialModel)
    category: Model = field(default_factory=CategoricalModel)
    kinds: npt.NDArray[np.int8] | None = field(default=None, repr=False, kw_only=True)
    statistics_type: ClassVar[type] = MixedStatistics
    takes_exposures: ClassVar[bool] = True
    capabilities: ClassVar[frozenset[str]] = frozenset({"categories", "mixed"})

    def models(self) -> dict[int, Model]:
        """The model of every kind.

        Examples
        --------
        >>> import bayesieve as bs
        >>> len(bs.MixedModel().models())
        3
        """
        return {MEASUREMENT: self.measurement, COUNT: self.count, CATEGORY: self.category}

    def matrix(
        self, X: Any, y: Any, *, classes: Sequence[Label] | None = None, feature_names: Sequence[str] | None = None
    ) -> MixedMatrix:
        """Check a table and its labels, and tell its features apart.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.MixedModel().matrix([[0.5, "red"], [1.5, "blue"]], ["a", "b"]).kinds.tolist()
        [0, 2]
        """
        return labelled_mixture(X, y, classes=classes, feature_names=feature_names, likelihoods=self.likelihoods)

    def summarise(
        self, matrix: LabelledMatrix, *, missing: str = "raise", n_threads: int | None = None
    ) -> MixedStatistics:
        """Sum the features of every kind as its model does.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.MixedModel()
        >>> model.summarise(model.matrix([[0.5, "red"], [1.5, "blue"]], ["a", "b"])).words()
        ['measurement', 'category']
        """
        if not isinstance(matrix, MixedMatrix):
            raise DataError("A mixed model takes a table whose features have been told apart: MixedModel.matrix.")
        parts = {}
        for kind, model in self.models().items():
            part = matrix.part(kind)
            if part is not None:
                parts[kind] = model.summarise(part, missing=missing, n_threads=n_threads)
        return MixedStatistics(matrix.labels.classes, matrix.kinds, parts)

    def estimate(self, parts: Sequence[Any]) -> MixedModel:
        """Return the model with what each kind takes from all its features.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.MixedModel()
        >>> found = model.summarise(model.matrix([["red"], ["blue"]], ["a", "b"]))
        >>> model.estimate([found]).kinds.tolist()
        [2]
        """
        ready = {
            kind: model.estimate([part.parts[kind] for part in parts]) if kind in parts[0].parts else model
            for kind, model in self.models().items()
        }
        return self._with(ready, parts[0].kinds)

    def quick(self) -> MixedModel:
        """Return the model at a lower accuracy.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.MixedModel().quick().kinds is None
        True
        """
        return self._with({kind: model.quick() for kind, model in self.models().items()}, self.kinds)

    def take(self, places: Any, n_features: int) -> MixedModel:
        """Return the model of some features.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.MixedModel().take([0], 3).kinds is None
        True
        """
        if self.kinds is None:
            return self
        wanted = np.arange(n_features)[places]
        kinds, inside = self.kinds[wanted], places_within(self.kinds)
        ready = {
            kind: model.take(inside[wanted[kinds == kind]], int((self.kinds == kind).sum()))
            for kind, model in self.models().items()
        }
        return self._with(ready, kinds)

    def flag(self, statistics: Any) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
        """Say which features are degenerate: as their models say, and those of no kind.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.MixedModel()
        >>> found = model.summarise(model.matrix([["red"], ["blue"]], ["a", "b"]))
        >>> model.flag(found)[1].tolist()
        [False]
        """
        flags = np.zeros(statistics.n_features, np.int8)
        flags[statistics.kinds == NONE] = Degeneracy.TOO_MANY_LEVELS
        excluded = statistics.kinds == NONE
        for kind, part in statistics.parts.items():
            mine = statistics.kinds == kind
            flags[mine], excluded[mine] = self.models()[kind].flag(part)
        return flags, excluded

    def evidences(self, statistics: Any) -> MixedEvidences:
        """Prepare the log evidences of every kind.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.MixedModel()
        >>> found = model.summarise(model.matrix([["red"], ["blue"]], ["a", "b"]))
        >>> model.evidences(found).pattern([(0,), (1,)]).shape
        (1,)
        """
        parts = {kind: self.models()[kind].evidences(part) for kind, part in statistics.parts.items()}
        return MixedEvidences(statistics.kinds, parts)

    def check_exposures(self, exposures: Any) -> None:
        """Raise if the model of counts cannot use these exposures.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.MixedModel().check_exposures([0.8, 1.3])
        """
        self.count.check_exposures(exposures)

    def statistic(self, values: FloatArray) -> NoReturn:
        """Raise: values alone do not say of which kind they are.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> bs.MixedModel().statistic(np.zeros((2, 1)))
        Traceback (most recent call last):
        ...
        bayesieve.errors.DataError: A mixed model sums whole tables, not groups: MixedModel.summarise.
        """
        raise DataError("A mixed model sums whole tables, not groups: MixedModel.summarise.")

    def merge(self, first: Any, second: Any) -> Any:
        """Return the statistics of two groups of samples taken together.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.MixedModel()
        >>> found = model.summarise(model.matrix([["red"], ["blue"]], ["a", "b"]))
        >>> model.merge(found, found).counts.tolist()
        [[2], [2]]
        """
        return first.merge(second)

    def log_evidence(self, group: Any) -> FloatArray:
        """Log evidence of one group under each feature's own model, as far as it has one.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.MixedModel()
        >>> found = model.summarise(model.matrix([["red"], ["blue"]], ["a", "b"]))
        >>> model.log_evidence(found.pool()).round(3).tolist()
        [-2.079]
        """
        found = np.zeros(group.n_features)
        for kind, part in group.parts.items():
            found[group.kinds == kind] = self.models()[kind].log_evidence(part)
        return found

    def _with(self, ready: Mapping[int, Model], kinds: Any) -> MixedModel:
        return replace(
            self, measurement=ready[MEASUREMENT], count=ready[COUNT], category=ready[CATEGORY], kinds=kinds
        )


class MixedEvidences(Evidences):
    """Log Bayes factors of features of several kinds.

    Parameters
    ----------
    kinds
        The kind of every feature.
    parts
        The evidences of every kind.
    """

    __slots__ = ("_kinds", "_parts")

    def __init__(self, kinds: npt.NDArray[np.int8], parts: Mapping[int, Evidences]) -> None:
        self._kinds, self._parts = kinds, parts

    def pattern(self, groups: Sequence[tuple[int, ...]]) -> FloatArray:
        """Log Bayes factor of one pattern against no difference; 0 for features of no kind."""
        found = np.zeros(self._kinds.size)
        for kind, part in self._parts.items():
            found[self._kinds == kind] = part.pattern(groups)
        return found
