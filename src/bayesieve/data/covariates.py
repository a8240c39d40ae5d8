"""Covariates: columns about the samples (age, sex, batch) as numbers of a regression."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data.annotated import is_annotated, obs_column
from bayesieve.data.frames import is_frame
from bayesieve.data.labels import aligned, sorted_labels
from bayesieve.data.missing import is_missing
from bayesieve.utils import FloatArray, IntArray, LabelError, OptionError, did_you_mean, list_names, option

_LEVELS = re.compile(r"\s*C\((.*)\)\s*")  # a column whose numbers are names
_NO_VALUE = ("", "na", "n/a", "nan", "null", "none", "?")


@dataclass(frozen=True, slots=True, eq=False)
class Covariates:
    """Columns of a regression.

    Parameters
    ----------
    names
        Names of the columns: that of a number, or ``name=level`` of an indicator.
    values
        Samples x columns, each about its mean; numbers in units of their standard deviation.
    sources
        The covariate that each column is of.
    units
        Standard deviation of each column as it was given; 1 of indicators.
    levels
        Levels of the covariates that are no numbers, the one that others are compared with first.
    centres
        Mean of each column as it was given.
    """

    names: tuple[str, ...]
    values: FloatArray
    sources: tuple[str, ...]
    units: FloatArray
    levels: Mapping[str, tuple[str, ...]]
    centres: FloatArray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Any]]) -> Covariates:
        """Turn columns into numbers; raise if one has a single value, or none for some sample."""
        names: list[str] = []
        parts: list[FloatArray] = []
        sources: list[str] = []
        units: list[float] = []
        centres: list[float] = []
        levels: dict[str, tuple[str, ...]] = {}
        for name, cells in columns.items():
            known = _LEVELS.fullmatch(name)
            name = known.group(1) if known else name  # noqa: PLW2901
            _check_known(name, cells)
            numbers = None if known else _numbers(cells)
            if numbers is not None:
                spread = float(numbers.std())
                if spread <= 1e-12 * float(np.abs(numbers).max()):
                    raise _constant(name, cells[0])
                names.append(name)
                parts.append((numbers - numbers.mean()) / spread)
                units.append(spread)
                centres.append(float(numbers.mean()))
                sources.append(name)
                continue
            texts = [str(cell).strip() for cell in cells]
            levels[name] = tuple(map(str, sorted_labels(list(dict.fromkeys(texts)))))
            if len(levels[name]) < 2:
                raise _constant(name, texts[0])
            if len(levels[name]) > len(texts) / 2:
                raise OptionError(
                    f"Covariate {name!r} has {len(levels[name]):,} different values in {len(texts):,} samples: "
                    "they look "
                    "like ids, not like levels. Leave it out.",
                    kind="covariates",
                )
            for level in levels[name][1:]:
                names.append(f"{name}={level}")
                told = np.array([float(text == level) for text in texts])
                parts.append(told - told.mean())
                units.append(1.0)
                centres.append(float(told.mean()))
                sources.append(name)
        values = np.column_stack(parts) if parts else np.empty((len(next(iter(columns.values()), ())), 0))
        return cls(tuple(names), values, tuple(sources), np.array(units), levels, np.array(centres))

    @property
    def as_given(self) -> FloatArray:
        """Columns in their own units: those of another part of the samples have the same."""
        return self.values * self.units + self.centres

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates."""
        return tuple(dict.fromkeys(self.sources))

    def __len__(self) -> int:
        return len(self.names)

    def describe(self) -> str:
        """Say how each covariate is used."""
        told = []
        for name in self.covariates:
            if name in self.levels:
                told.append(f"{name} ({list_names(self.levels[name], 4)})")
            else:
                told.append(f"{name} (a slope)")
        return ", ".join(told)

    def take(self, rows: IntArray) -> FloatArray:
        """Values of some samples."""
        return self.values[rows]


def covariate_columns(given: Any, X: Any, n_samples: int) -> dict[str, list[Any]]:
    """Return covariates by name, one value per sample in the order of the table.

    Parameters
    ----------
    given
        A mapping or frame of columns; an array, samples x covariates; of an AnnData object names of columns of
        ``obs``.
    X
        The table; if both are pandas objects, their index says who is who.
    n_samples
        Number of samples.
    """
    if is_annotated(X) and (names := named_columns(given)) is not None:
        columns = {name: obs_column(X, plain_name(name)) for name in names}
    elif isinstance(given, Mapping):
        columns = {str(name): aligned(X, values, "covariates") for name, values in given.items()}
    elif is_frame(given):
        frame = aligned(X, given, "covariates")
        columns = {str(name): frame[name] for name in frame.columns}
    elif isinstance(given, str) or (isinstance(given, (list, tuple)) and all(isinstance(k, str) for k in given)):
        raise OptionError(
            "Names of covariates are columns of an AnnData object, or of a table that was read with them. Of "
            "arrays and "
            "frames give the columns themselves, for example covariates={'age': age, 'sex': sex}.",
            kind="covariates",
        )
    else:
        array = np.asarray(aligned(X, given, "covariates"))
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise OptionError(f"Covariates are samples x columns, not of shape {array.shape}.", kind="covariates")
        named = getattr(given, "name", None)
        columns = {str(named or f"z{k + 1}"): array[:, k] for k in range(array.shape[1])}
    found = {name: _cells(values) for name, values in columns.items()}
    for name, cells in found.items():
        if len(cells) != n_samples:
            raise LabelError(
                f"Covariate {name!r} has {len(cells):,} values for {n_samples:,} samples. Give one for each "
                "sample.",
                kind="covariates",
            )
    return found


def named_columns(given: Any) -> list[str] | None:
    """Return the names of columns, from a list or a text with commas; None if columns are given themselves."""
    if isinstance(given, str):
        return [name.strip() for name in re.split(r",(?![^(]*\))", given) if name.strip()]
    if isinstance(given, (list, tuple)) and given and all(isinstance(name, str) for name in given):
        return list(given)
    return None


def plain_name(name: str) -> str:
    """Return NAME of ``C(NAME)``, a column whose numbers are names, and any other name as it is."""
    found = _LEVELS.fullmatch(name)
    return found.group(1) if found else name


def _cells(column: Any) -> list[Any]:
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return [None if math.isnan(value) else value for value in column.tolist()]
    values = column.to_list() if hasattr(column, "to_list") else np.asarray(column).tolist()
    return [None if _is_absent(value) else value for value in values]


def _is_absent(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and value.strip().casefold() in _NO_VALUE)


def _numbers(cells: Sequence[Any]) -> FloatArray | None:
    """Return the numbers of a column; None if it holds something else."""
    if any(isinstance(cell, (bool, np.bool_)) for cell in cells):
        return None
    try:
        numbers = np.array([float(cell) for cell in cells])
    except (TypeError, ValueError):
        return None
    return numbers if all(map(math.isfinite, numbers.tolist())) else None


def _check_known(name: str, cells: Sequence[Any]) -> None:
    absent = sum(cell is None for cell in cells)
    if absent:
        raise LabelError(
            f"Covariate {name!r} is not known of {absent:,} of {len(cells):,} samples, and a comparison at "
            f"equal {name} "
            "says nothing about them. Leave these samples out, or fill in what is known, or leave the covariate "
            "out.",
            kind="covariates",
        )


def _constant(name: str, value: Any) -> OptionError:
    return OptionError(
        f"Covariate {name!r} is {value!r} in all samples, so that there is nothing to adjust for. Leave it out "
        "of ",
        option("covariates"),
        ".",
        kind="covariates",
    )


def split_covariates(X: Any, names: Any) -> tuple[Any, dict[str, list[Any]] | None]:
    """Take columns out of a table: return what is left, and the columns by name; None if there are no names.

    Parameters
    ----------
    X
        A frame, an array, or an AnnData object, whose columns of ``obs`` are meant.
    names
        Names of columns; positions, of an array.
    """
    if names is None:
        return X, None
    wanted = named_columns(names) or list(names if isinstance(names, (list, tuple)) else [names])
    if is_annotated(X):
        return X, covariate_columns(wanted, X, len(X.obs))
    if is_frame(X):
        plain = [plain_name(str(name)) for name in wanted]
        absent = [name for name in plain if name not in X.columns]
        if absent:
            raise OptionError(
                f"X has no column {absent[0]!r}, which is named as a "
                f"covariate.{did_you_mean(absent[0], X.columns)}",
                kind="covariates",
            )
        columns = {str(name): _cells(X[own]) for name, own in zip(wanted, plain, strict=True)}
        return X.drop(columns=plain) if hasattr(X, "iloc") else X.drop(plain), columns
    array = np.asarray(X)
    try:
        places = [int(name) for name in wanted]
        columns = {f"column {k}": _cells(array[:, k]) for k in places}
    except (IndexError, TypeError, ValueError):
        raise OptionError(
            f"Covariates of an array are positions of its columns, not {names!r}. Use a data frame to name them.",
            kind="covariates",
        ) from None
    return np.delete(array, places, axis=1), columns
