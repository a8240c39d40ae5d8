"""Model: a likelihood whose parameters are integrated out, in three methods (section 2.2).

Under the independent model all that matters of a feature is a statistic per class, how statistics
merge, and the log evidence of a group of classes that share their parameters. The rest (partitions
of the classes, posteriors, rules, errors) is the same for every likelihood.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix
from bayesieve.models.evidences import Evidences, GroupEvidences
from bayesieve.stats import ClassStatistics, Parts, side_by_side
from bayesieve.utils import DataError, FloatArray, Message, OptionError, Piece, check_missing

_VALUES_AT_ONCE = 2**22


DIFFERENCES = ("any", "mean", "variance")  # that can make a marker


class Model(abc.ABC):
    r"""What a likelihood has to say for itself; three methods make a new one.

    Examples
    --------
    Waiting times, exponential with a gamma prior on the rate:

    >>> import numpy as np
    >>> from scipy.special import gammaln
    >>> import bayesieve as bs
    >>> class ExponentialModel(bs.Model):
    ...     def statistic(self, values):                      # of one class, NaN where missing
    ...         return np.array([np.isfinite(values).sum(axis=0), np.nansum(values, axis=0)])
    ...     def merge(self, first, second):
    ...         return first + second
    ...     def log_evidence(self, group, a=1.0, b=1.0):
    ...         n, total = group
    ...         return a * np.log(b) - gammaln(a) + gammaln(a + n) - (a + n) * np.log(b + total)
    >>> X = np.random.default_rng(0).exponential(size=(40, 2))
    >>> X[20:, 1] *= 5.0
    >>> bs.screen(X, [0] * 20 + [1] * 20, model=ExponentialModel()).probability.round(3).tolist()
    [0.005, 0.999]

    Attributes
    ----------
    family, caveat
        Distribution of the values as summaries name it ("Gaussian"), and a sentence that belongs into each. A
        model may still call its family ``law``, as it was called before.
    difference
        What makes a marker: ``"any"`` difference, or that of the ``"mean"`` or ``"variance"`` alone.
    capabilities
        What the model supports beyond comparing classes; see :meth:`supports`.
    """

    __slots__ = ()

    prior_ratio: Any = None
    difference: str = "any"
    statistics_type: ClassVar[type] = Parts
    takes_exposures: ClassVar[bool] = False
    family: ClassVar[str] = ""
    law: ClassVar[str] = ""
    capabilities: ClassVar[frozenset[str]] = frozenset()
    caveat: ClassVar[str | Message] = ""

    def __init_subclass__(cls) -> None:
        """Let ``law`` be another word for ``family``."""
        if "family" in cls.__dict__:
            cls.law = cls.family
        elif "law" in cls.__dict__:
            cls.family = cls.law

    def supports(self, capability: str) -> bool:
        """Whether the model supports more than comparing classes.

        Capabilities are ``"moments"`` (values have means and variances that effects, kinds and predictive
        distributions speak of), ``"pairs"``, ``"resolution"``, ``"floors"`` (features without variance),
        ``"leave-one-out"`` (by downdating), ``"permutations"``, ``"joint"`` (jointly
        distributed features), ``"differences"`` (of means or variances alone), ``"prior-ratio"`` (an improper
        prior, whose ratio is a choice) and ``"categories"``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys().supports("pairs"), bs.PoissonModel().supports("pairs")
        (True, False)
        """
        return capability in self.capabilities

    def require(self, capability: str, *text: Piece, hint: Piece | Iterable[Piece] = ()) -> None:
        """Raise an error of the kind ``"capability"`` if the model does not support something.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys().require("pairs", "Pairs are compared by their differences.")
        """
        if not self.supports(capability):
            missing = {"capability": capability, "model": type(self).__name__}
            raise OptionError(*text, hint=hint, kind="capability", numbers=missing)

    @property
    def is_jeffreys(self) -> bool:
        """Whether values are Gaussian and every hyper-parameter is 0: evidence depends on lambda alone."""
        return False

    @property
    def has_jeffreys_priors(self) -> bool:
        """Whether values are Gaussian and every hyper-parameter is 0, whatever makes a marker."""
        return False

    def check_features(self, n_features: int) -> None:  # noqa: B027 - most models fit any number
        """Raise unless per-feature hyper-parameters fit the number of features.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.PoissonModel().check_features(3)
        """

    @abc.abstractmethod
    def statistic(self, values: FloatArray) -> Any:
        """All that the model needs to know of one group.

        Parameters
        ----------
        values
            Samples x features, NaN where a value is missing.

        Returns
        -------
        object
            Any object; arrays in it have the features on their last axis.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys().statistic(np.array([[1.0], [3.0]])).count.tolist()
        [2]
        """

    @abc.abstractmethod
    def merge(self, first: Any, second: Any) -> Any:
        """Return the statistic of two groups taken together.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> model = bs.PoissonModel()
        >>> group = model.statistic(np.array([[1.0], [3.0]]))
        >>> model.merge(group, group).total.tolist()
        [[8.0]]
        """

    @abc.abstractmethod
    def log_evidence(self, group: Any) -> FloatArray:
        """Log marginal likelihood of one group, feature by feature; what cancels may be left out.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> model = bs.CategoricalModel(1.0, levels=(0, 1))
        >>> model.log_evidence(model.statistic(np.array([[0.0], [1.0]]))).round(6).tolist()
        [-1.791759]
        """

    def matrix(
        self, X: Any, y: Any, *, classes: Sequence[Label] | None = None, feature_names: Sequence[str] | None = None
    ) -> LabelledMatrix:
        """Check a table and its labels.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys().matrix([[1.0], [2.0]], ["a", "b"]).n_features
        1
        """
        return LabelledMatrix.from_arrays(X, y, classes=classes, feature_names=feature_names)

    def summarise(
        self, matrix: LabelledMatrix, *, missing: str = "raise", n_threads: int | None = None
    ) -> ClassStatistics:
        """Sum a table class by class, some features at a time.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.GaussianModel.jeffreys()
        >>> model.summarise(model.matrix([[1.0], [2.0]], ["a", "b"])).classes
        ('a', 'b')
        """
        del n_threads
        check_missing(missing)
        width = max(1, _VALUES_AT_ONCE // matrix.n_samples)
        pieces: list[list[Any]] = []
        counts = np.zeros((len(matrix.labels.classes), matrix.n_features), np.int64)
        for lo in range(0, matrix.n_features, width):
            places = np.arange(lo, min(lo + width, matrix.n_features))
            values = np.array([column for _, column in matrix.columns(places)]).T
            odd = ~np.isfinite(values).all(axis=0)
            if np.isinf(values).any() or (missing == "raise" and odd.any()):
                matrix.explain_non_finite(places[odd], missing)
            groups = [values[matrix.labels.codes == k] for k in range(len(counts))]
            pieces.append([self.statistic(group) for group in groups])
            counts[:, places] = [np.isfinite(group).sum(axis=0) for group in groups]
        parts = tuple(side_by_side([piece[k] for piece in pieces]) for k in range(len(counts)))
        return Parts(matrix.labels.classes, parts, counts, self.merge)

    def fitted(self, statistics: ClassStatistics) -> Model:
        """Return the model with constants that depend on all classes together; itself if there are none.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.GaussianModel.jeffreys()
        >>> model.fitted(bs.Moments.from_matrix([[1.0], [2.0]], ["a", "b"])) is model
        True
        """
        del statistics
        return self

    def estimate(self, parts: Sequence[ClassStatistics]) -> Model:
        """Return the model with constants that all features of independent parts of the data give; itself if none.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.GaussianModel.jeffreys()
        >>> model.estimate([bs.Moments.from_matrix([[1.0], [2.0]], ["a", "b"])]) is model
        True
        """
        del parts
        return self

    def quick(self) -> Model:
        """Return the model at a lower accuracy that is good enough for shuffled labels; itself by default.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.GaussianModel.jeffreys()
        >>> model.quick() is model
        True
        """
        return self

    def holding(self) -> Model:
        """Return the model that keeps what it finds out while it estimates, for one comparison; itself by default.

        Examples
        --------
        >>> import bayesieve as bs
        >>> model = bs.GaussianModel.jeffreys()
        >>> model.holding() is model
        True
        """
        return self

    def flag(self, statistics: ClassStatistics) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
        """Say which features are degenerate, and which of them have no evidence at all; none by default.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0]], ["a", "b"])
        >>> bs.GaussianModel.proper().flag(moments)[1].tolist()
        [False]
        """
        return np.zeros(statistics.n_features, np.int8), np.zeros(statistics.n_features, np.bool_)

    def evidences(self, statistics: ClassStatistics) -> Evidences:
        """Prepare the log evidences of groups of classes.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> bs.GaussianModel.proper().evidences(moments).group((0,), 0).shape
        (1,)
        """
        model = self.fitted(statistics)
        return GroupEvidences(model.log_evidence, statistics, model.prior_ratio)

    def check_exposures(self, exposures: Any) -> None:  # noqa: B027 - most models take what they get
        """Raise if these exposures, of all samples, are not what the model can use.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.PoissonModel().check_exposures([1.0, 2.0])
        """

    def take(self, places: Any, n_features: int) -> Self:
        """Return the model of some features, where hyper-parameters are given for each.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys(prior_ratio=[0.1, 0.2]).take([1], 2).prior_ratio.tolist()
        [0.2]
        """
        return _of_features(self, places, n_features) if dataclasses.is_dataclass(self) else self

    def draw_cost(self, statistics: ClassStatistics) -> int:
        """How much :meth:`draw_null` costs, relative to drawing the statistics themselves.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.GaussianModel.jeffreys().draw_cost(bs.Moments.from_matrix([[1.0], [2.0]], ["a", "b"]))
        1
        """
        del statistics
        return 1

    def draw_null(self, statistics: ClassStatistics, rng: np.random.Generator) -> ClassStatistics | None:
        """Draw statistics as if the classes were alike; None if the model does not know how.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [2.0], [4.0], [7.0]], ["a", "a", "b", "b"])
        >>> bs.GaussianModel.jeffreys().draw_null(moments, np.random.default_rng(0)).classes
        ('a', 'b')
        """
        del statistics, rng
        return None


def _of_features(value: Any, places: Any, n_features: int) -> Any:
    """Take features from every array that has one number for each, also inside tuples and dataclasses."""
    if isinstance(value, np.ndarray):
        return value[places] if value.shape == (n_features,) else value
    if isinstance(value, tuple):
        return tuple(_of_features(each, places, n_features) for each in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    held = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    taken = {name: _of_features(each, places, n_features) for name, each in held.items()}
    changed = {name: each for name, each in taken.items() if each is not held[name]}
    return dataclasses.replace(value, **changed) if changed else value


@dataclass(frozen=True, slots=True)
class UnknownModel(Model):
    """The model of a result of which only the log Bayes factors are known.

    Parameters
    ----------
    family, caveat
        Distribution of the values, and a sentence that belongs into the summary; empty if not known.
    """

    family: str = ""  # type: ignore[misc]
    caveat: str | Message = ""  # type: ignore[misc]

    def statistic(self, values: Any) -> NoReturn:
        """Raise: there are no values to sum."""
        self._raise()

    def merge(self, first: Any, second: Any) -> NoReturn:
        """Raise: there is nothing to merge."""
        self._raise()

    def log_evidence(self, group: Any) -> NoReturn:
        """Raise: the evidence of a group is not known."""
        self._raise()

    def _raise(self) -> NoReturn:
        raise DataError(
            "The model of this stored result is not known: it holds log Bayes factors and what stands in its "
            "columns. Screen the data again for that.",
            kind="unknown-model",
        )
