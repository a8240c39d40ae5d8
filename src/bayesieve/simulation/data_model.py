"""What draws synthetic data, and the data models by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol

from bayesieve.simulation.prior_design import proper_design
from bayesieve.simulation.shapes import ShapedModel
from bayesieve.simulation.synergetic import SynergeticModel
from bayesieve.simulation.synthetic_data import Seed, SyntheticData, SyntheticMoments, as_tuples
from bayesieve.simulation.variants import HeavyTailedModel, OutlierModel, SkewedModel
from bayesieve.utils import BayesieveError, OptionError

_MODELS: dict[str, Callable[..., DataModel]] = {
    "synergetic": SynergeticModel,
    "synergetic-heavy-tailed": HeavyTailedModel,
    "synergetic-skewed": SkewedModel,
    "synergetic-outliers": OutlierModel,
    "prior": proper_design,
    "shapes": ShapedModel,
}


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


def data_model_names() -> tuple[str, ...]:
    """Names that :func:`data_model` knows."""
    return tuple(_MODELS)


def data_model(name: str, /, **constants: Any) -> DataModel:
    """Build a data model by its name.

    Parameters
    ----------
    name
        ``"synergetic"`` (section 6), ``"synergetic-heavy-tailed"``, ``"synergetic-skewed"``,
        ``"synergetic-outliers"``, ``"prior"`` (parameters drawn from the priors of a Gaussian model) or
        ``"shapes"`` (features of one shape; see :class:`ShapedModel`).
    **constants
        Whatever differs from the defaults of the model; lists are taken for tuples.
    """
    if name not in _MODELS:
        raise OptionError(f"There is no data model {name!r}; there are {', '.join(_MODELS)}.")
    build = _MODELS[name]
    known = inspect.signature(build).parameters
    unknown = [key for key in constants if key not in known]
    if unknown:
        raise OptionError(
            f"Data model {name!r} has no constant {unknown[0]!r}; its constants are {', '.join(known)}."
        )
    try:
        model: DataModel = build(**{key: as_tuples(value) for key, value in constants.items()})
    except (TypeError, ValueError) as error:
        if isinstance(error, BayesieveError):
            raise
        settings = ", ".join(f"{key} = {value!r}" for key, value in constants.items())
        raise OptionError(f"Data model {name!r} cannot be made of {settings}: {error}.") from error
    return model
