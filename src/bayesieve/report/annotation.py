"""What is known about features from elsewhere: names of genes, chromosomes, the truth of a simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from bayesieve.errors import DataError
from bayesieve.posterior import FeaturePosterior


def annotation_columns(annotation: Any, posterior: FeaturePosterior) -> dict[str, list[Any]]:
    """Bring annotation to one value per feature, in feature order.

    Parameters
    ----------
    annotation
        Columns by name: each a sequence in feature order, or a mapping from feature names (others are left
        empty). A pandas frame whose index names features is matched by it, any other frame is taken in order.
    posterior
        The screen.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.annotation import annotation_columns
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [0.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> annotation_columns({"chromosome": {"x0": "17"}}, posterior)
    {'chromosome': ['17']}
    """
    if annotation is None:
        return {}
    if hasattr(annotation, "columns") and hasattr(annotation, "dtypes"):
        annotation = _of_frame(annotation)
    if not isinstance(annotation, Mapping):
        raise DataError(
            "annotation is a mapping from names of columns to their values, or a data frame, not "
            f"{type(annotation).__name__}."
        )
    names, columns = posterior.names, {}
    for name, values in annotation.items():
        if isinstance(values, Mapping):
            column = [values.get(feature) for feature in names]
            if all(value is None for value in column) and values:
                raise DataError(
                    f"The annotation {name!r} names none of the features: it has ids like {next(iter(values))!r}, "
                    f"the screen {names[0]!r}. Use the same ids in both."
                )
        else:
            column = list(values)
        if len(column) != posterior.n_features:
            raise DataError(
                f"The annotation {name!r} has {len(column):,} values for {posterior.n_features:,} features. Give "
                "one each, in the order of the features, or a mapping from their names."
            )
        columns[str(name)] = column
    return columns


def _of_frame(frame: Any) -> dict[str, Any]:
    """Columns of a data frame, None where a cell is missing; by the names in its index, if it has names."""
    if not hasattr(frame, "iloc"):
        return {str(name): list(frame[name]) for name in frame.columns}
    columns = {
        str(name): [
            None if absent else cell
            for cell, absent in zip(frame[name].tolist(), frame[name].isna().tolist(), strict=True)
        ]
        for name in frame.columns
    }
    if frame.index.dtype.kind in "iuf":
        return columns
    ids = [str(name) for name in frame.index]
    _check_once(ids)
    return {name: dict(zip(ids, cells, strict=True)) for name, cells in columns.items()}


def _check_once(ids: list[str]) -> None:
    often = [name for name, n in Counter(ids).items() if n > 1]
    if often:
        stand = "ids of the annotation stand" if len(often) > 1 else "id of the annotation stands"
        raise DataError(
            f"{len(often):,} {stand} in more than one row of the frame, for example "
            f"{', '.join(map(repr, often[:3]))}: which row is meant cannot be told. Keep one row per feature."
        )
