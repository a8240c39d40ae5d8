"""What goes into a screen: a model, and the statistics of two classes."""

from __future__ import annotations

import functools
from typing import Any, Protocol, runtime_checkable

from bayesieve.data import LabelledMatrix
from bayesieve.data.matrix import ValueBlocks, checked_names
from bayesieve.errors import LabelError, PriorError
from bayesieve.models import GaussianModel
from bayesieve.stats import Moments


@functools.cache
def _default_model() -> GaussianModel:
    return GaussianModel.jeffreys(prior_ratio=0.1)


def checked_model(model: Any) -> GaussianModel:
    """Return the model, Jeffreys' prior with the paper's ratio when none was given."""
    if model is None:
        return _default_model()
    if not isinstance(model, GaussianModel):
        raise PriorError(f"model must be a GaussianModel, for example GaussianModel.jeffreys(), not {model!r}.")
    return model


@runtime_checkable
class Summarised(ValueBlocks, Protocol):
    """A table whose moments are known and whose values can be looked at again, such as a file."""

    @property
    def moments(self) -> Moments:
        """Moments of its classes."""
        ...


def statistics(
    X: Any, y: Any, classes: Any, feature_names: Any, missing: str, n_threads: int | None
) -> tuple[ValueBlocks | None, Moments, tuple[str, ...] | None]:
    """Return the table (None from ready moments), the moments of its classes, and feature names."""
    if isinstance(X, Summarised):
        if y is not None or classes is not None or feature_names is not None:
            raise LabelError("The table already holds its classes and features; call screen(table) without them.")
        return X, X.moments, X.feature_names
    if isinstance(X, Moments):
        if y is not None:
            raise LabelError("Moments already hold the classes; call screen(moments) without y.")
        moments = X if classes is None else X.pick(classes)
        return None, moments, checked_names(feature_names, X.n_features)
    matrix = LabelledMatrix.from_arrays(X, y, classes=classes, feature_names=feature_names)
    _check_labels(matrix)
    return matrix, Moments.from_labelled(matrix, missing=missing, n_threads=n_threads), matrix.feature_names


def _check_labels(matrix: LabelledMatrix) -> None:
    found = matrix.labels.classes
    if len(found) == 1:
        raise LabelError(
            f"All {matrix.n_samples} samples are of class {found[0]!r}. A screen compares two classes: "
            "check the label column."
        )
    if len(found) > 2:
        shown = ", ".join(repr(label) for label in found[:8]) + (", ..." if len(found) > 8 else "")
        raise LabelError(
            f"There are {len(found)} classes ({shown}), and a screen compares two. Keep the samples of two "
            "classes, or merge classes by giving them the same label. If the labels are measurements, "
            "turn them into two groups first."
        )
