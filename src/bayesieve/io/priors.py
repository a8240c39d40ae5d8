"""Priors from a TOML file: every hyper-parameter as a number, or one per feature from a column file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.io.tables.columns import numbers_by_feature
from bayesieve.models import GaussianModel, NormalInverseGamma
from bayesieve.utils import PriorError, did_you_mean, option, read_toml

_PARAMETERS = ("variance_dof", "variance_scale", "mean_strength", "mean_location")
_KEYS = ("class", "classes", "pooled", "prior_ratio")


def read_model(
    path: str | os.PathLike[str], classes: Sequence[str], feature_ids: Sequence[str], prior_ratio: Any = None
) -> GaussianModel:
    r"""Read the priors of a Gaussian model.

    The table ``[pooled]`` holds the prior of the pooled sample; ``[class]`` that of every class, or
    ``[classes.NAME]`` that of one. Each gives ``variance_dof`` (kappa), ``variance_scale`` (s),
    ``mean_strength`` (nu) and ``mean_location`` (m); those left out are Jeffreys' (0). A text
    ``"file.csv:column"`` stands for one number per feature.
    """
    name, found = os.fspath(path), read_toml(path)
    for key in found:
        if key not in _KEYS:
            raise PriorError(
                f"{name}: there is no key {key!r}.{did_you_mean(key, _KEYS)} Keys are: {', '.join(_KEYS)}."
            )
    named = _table(name, found, "classes")
    unknown = [label for label in named if label not in classes]
    if unknown:
        raise PriorError(
            f"{name}: [classes.{unknown[0]}] is not a class of the data.{did_you_mean(unknown[0], classes)} "
            f"Classes are: {', '.join(classes)}."
        )
    shared = _table(name, found, "class")
    folder = Path(name).parent
    priors = [_prior(name, folder, named.get(label, shared), feature_ids) for label in classes]
    pooled = _prior(name, folder, _table(name, found, "pooled"), feature_ids)
    ratio = found.get("prior_ratio")
    if ratio is not None and prior_ratio is not None:
        raise PriorError(
            f"The prior ratio is given both in {name} and with ", option("prior_ratio"), ".", hint="Give it once."
        )
    ratio = prior_ratio if ratio is None else ratio
    if isinstance(ratio, str) and ":" in ratio:
        ratio = np.array(numbers_by_feature(_beside(folder, ratio), feature_ids, "prior_ratio"))
    return GaussianModel(tuple(priors), pooled, prior_ratio=ratio)


def _table(name: str, found: dict[str, Any], key: str) -> dict[str, Any]:
    table = found.get(key, {})
    if not isinstance(table, dict):
        raise PriorError(f"{name}: [{key}] must be a table of hyper-parameters.")
    return table


def _prior(name: str, folder: Path, table: Any, feature_ids: Sequence[str]) -> NormalInverseGamma:
    if not isinstance(table, dict):
        raise PriorError(f"{name}: a class must be a table of hyper-parameters, [classes.NAME].")
    for key in table:
        if key not in _PARAMETERS:
            raise PriorError(
                f"{name}: there is no hyper-parameter {key!r}.{did_you_mean(key, _PARAMETERS)} There are: "
                f"{', '.join(_PARAMETERS)}."
            )
    values = {key: _value(name, folder, key, value, feature_ids) for key, value in table.items()}
    return NormalInverseGamma(**{key: values.get(key, 0.0) for key in _PARAMETERS})


def _value(name: str, folder: Path, key: str, value: Any, feature_ids: Sequence[str]) -> Any:
    if isinstance(value, str):
        value = np.array(numbers_by_feature(_beside(folder, value), feature_ids, key))
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PriorError(f'{name}: {key} must be a number or "FILE:COLUMN", not {value!r}.')
    if key != "mean_location" and np.min(value) < 0:
        raise PriorError(f"{name}: {key} must be at least 0, not {np.min(value):g}.")
    return value


def _beside(folder: Path, reference: str) -> str:
    """Files are named relative to the TOML file."""
    return reference if os.path.isabs(reference) else os.path.join(folder, reference)
