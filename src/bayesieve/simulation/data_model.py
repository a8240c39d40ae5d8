"""What a synthetic data set holds, what draws one, and a list of data models by name."""

from __future__ import annotations

import enum
import importlib
import inspect
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesieve.errors import BayesieveError, DataError, OptionError
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray, IntArray, is_whole

KindArray = npt.NDArray[np.int8]
Seed: TypeAlias = "int | np.random.SeedSequence | None"

_HERE = "bayesieve.simulation"
_MODELS = {
    "synergetic": f"{_HERE}.synergetic:SynergeticModel",
    "synergetic-heavy-tailed": f"{_HERE}.variants:HeavyTailedModel",
    "synergetic-skewed": f"{_HERE}.variants:SkewedModel",
    "synergetic-outliers": f"{_HERE}.variants:OutlierModel",
    "prior": f"{_HERE}.prior_design:proper_design",
}


class Kind(enum.IntEnum):
    """What a synthetic feature is.

    Examples
    --------
    >>> from bayesieve.simulation import Kind
    >>> Kind.HETEROGENEOUS_MARKER.words, Kind.HETEROGENEOUS_MARKER.is_marker
    ('heterogeneous marker', True)
    """

    GLOBAL_MARKER = 0
    HETEROGENEOUS_MARKER = 1
    LOW_VARIANCE_NON_MARKER = 2
    HIGH_VARIANCE_NON_MARKER = 3
    MARKER = 4
    NON_MARKER = 5

    @property
    def words(self) -> str:
        """The kind as people call it."""
        return (
            "global marker",
            "heterogeneous marker",
            "no marker, low variance",
            "no marker, high variance",
            "marker",
            "no marker",
        )[self]

    @property
    def is_marker(self) -> bool:
        """Whether the distribution differs between the classes."""
        return self in (Kind.GLOBAL_MARKER, Kind.HETEROGENEOUS_MARKER, Kind.MARKER)


_IS_MARKER = np.array([kind.is_marker for kind in Kind])


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticData:
    """A synthetic data set, or a piece of one, and its truth.

    Parameters
    ----------
    values
        Samples x features.
    labels
        Class of every sample, 0 or 1.
    kind
        A :class:`Kind` per feature.
    group
        Group of variances per feature.

    Examples
    --------
    >>> from bayesieve.simulation import SynergeticModel
    >>> data = SynergeticModel(low_variance_blocks=2, high_variance_features=3).draw(6, seed=0)
    >>> data.values.shape, data.labels.tolist(), int(data.true_markers.sum())
    ((6, 152), [0, 0, 0, 1, 1, 1], 100)
    """

    values: FloatArray
    labels: IntArray
    kind: KindArray
    group: KindArray

    @property
    def true_markers(self) -> npt.NDArray[np.bool_]:
        """True for the features whose distribution differs between the classes."""
        return np.asarray(_IS_MARKER[self.kind])


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticMoments:
    """Sufficient statistics of a synthetic data set, and its truth.

    Parameters
    ----------
    moments
        Counts, means and centred squares of the classes 0 and 1.
    kind
        A :class:`Kind` per feature.
    group
        Group of variances per feature.

    Examples
    --------
    >>> from bayesieve.simulation import SynergeticModel
    >>> drawn = SynergeticModel().draw_moments(1_000_000, seed=0)
    >>> drawn.moments.count.tolist(), int(drawn.true_markers.sum())
    ([500000, 500000], 100)
    """

    moments: Moments
    kind: KindArray
    group: KindArray

    @property
    def true_markers(self) -> npt.NDArray[np.bool_]:
        """True for the features whose distribution differs between the classes."""
        return np.asarray(_IS_MARKER[self.kind])


class DataModel(Protocol):
    """What a study asks of a data model."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    def draw(self, n_samples: int | tuple[int, int], *, seed: Seed = None) -> SyntheticData:
        """Draw the values of a data set.

        Parameters
        ----------
        n_samples
            An even total, of which each class gets half, or the sizes of the two classes.
        seed
            Same seed, same data.
        """

    def draw_moments(self, n_samples: int | tuple[int, int], *, seed: Seed = None) -> SyntheticMoments:
        """Draw the sufficient statistics of a data set; see :meth:`draw`."""


def class_sizes_of(n_samples: Any) -> tuple[int, int]:
    """Sizes of the two classes: halves of an even total, or as given."""
    if isinstance(n_samples, (tuple, list)):
        if len(n_samples) != 2 or not all(is_whole(n) and n >= 1 for n in n_samples):
            raise DataError(f"Class sizes must be two whole numbers of at least 1, not {n_samples!r}.")
        return int(n_samples[0]), int(n_samples[1])
    if not is_whole(n_samples) or n_samples < 2 or n_samples % 2:
        raise DataError(
            f"n_samples must be even and at least 2, or a pair of class sizes such as (40, 60), not {n_samples!r}."
        )
    return int(n_samples) // 2, int(n_samples) // 2


def data_model_names() -> tuple[str, ...]:
    """Names that :func:`data_model` knows."""
    return tuple(_MODELS)


def data_model(name: str, /, **constants: Any) -> DataModel:
    """Build a data model by its name.

    Parameters
    ----------
    name
        ``"synergetic"`` (section 6), ``"synergetic-heavy-tailed"``, ``"synergetic-skewed"``,
        ``"synergetic-outliers"`` or ``"prior"`` (parameters drawn from the priors of a Gaussian model).
    **constants
        Whatever differs from the defaults of the model; lists are taken for tuples.
    """
    if name not in _MODELS:
        raise OptionError(f"There is no data model {name!r}; there are {', '.join(_MODELS)}.")
    module, _, attribute = _MODELS[name].partition(":")
    build = getattr(importlib.import_module(module), attribute)
    known = inspect.signature(build).parameters
    unknown = [key for key in constants if key not in known]
    if unknown:
        raise OptionError(
            f"Data model {name!r} has no constant {unknown[0]!r}; its constants are {', '.join(known)}."
        )
    try:
        model: DataModel = build(**{key: frozen(value) for key, value in constants.items()})
    except (TypeError, ValueError) as error:
        if isinstance(error, BayesieveError):
            raise
        given = ", ".join(f"{key} = {value!r}" for key, value in constants.items())
        raise OptionError(f"Data model {name!r} cannot be made of {given}: {error}.") from error
    return model


def frozen(value: Any) -> Any:
    """Return lists, as files hold them, as tuples."""
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value
