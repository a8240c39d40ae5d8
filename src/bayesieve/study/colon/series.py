"""The data of the application: values, stages from what is said of the samples, and the paper's two classes."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, Labels, is_sparse
from bayesieve.io.formats.geo import read_annotations
from bayesieve.io.tables.opening import open_table
from bayesieve.io.tables.table import FeatureTable, ReadOptions, SampleTable
from bayesieve.utils import (
    BoolArray,
    DataError,
    FileError,
    FloatArray,
    IntArray,
    LabelError,
    check_file,
    plural,
)

ADENOMA, UNKNOWN = 0, -1
"""Codes of samples without a stage: an adenoma, and one of which nothing is known."""

READINGS = {"numbers": "stage 1 v stages 2-4 and adenomas", "words": "stage 1 and adenomas v stages 2-4"}
"""The paper's classes by its numbers (28 v 210), and by its words."""

CLASSES = ("early", "late")
_STAGE = re.compile(r"(?:ajcc|tnm|uicc|stage|[\s:_-])*(?:([1-4])(?:\.0+)?|(iv|i{1,3}))\s*[abc]?", re.IGNORECASE)
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4}
_NOTHING = {"", "no", "none", "na", "n/a", "0", "not applicable"}
_LEAST = 4  # samples of a class
_PROCESSING = "data_processing"


@dataclass(frozen=True, slots=True, eq=False)
class StagedTable:
    """Values of samples whose stages are known.

    Parameters
    ----------
    path, form
        The file, and what it is.
    values
        Samples x features.
    features
        Ids of probes or genes.
    stages
        1 to 4, :data:`ADENOMA` or :data:`UNKNOWN`, one per sample.
    field
        Field or column that the stages come from.
    processing
        What a series says about how its values were made; may be empty.
    """

    path: str
    form: str
    values: FloatArray
    features: tuple[str, ...]
    stages: IntArray
    field: str
    processing: str = ""

    @property
    def n_adenomas(self) -> int:
        """Number of adenomas."""
        return int((self.stages == ADENOMA).sum())

    @property
    def readings(self) -> tuple[str, ...]:
        """Readings of the classes that differ here: one if there are no adenomas."""
        return tuple(READINGS) if self.n_adenomas else ("numbers",)

    @property
    def fingerprint(self) -> str:
        """Hash of values, features and stages."""
        found = hashlib.blake2b(np.ascontiguousarray(self.values.T).data, digest_size=16)
        found.update("\n".join(self.features).encode() + self.stages.tobytes())
        return found.hexdigest()

    def take(self, kept: BoolArray) -> StagedTable:
        """Return some of the features."""
        names = tuple(name for name, wanted in zip(self.features, kept.tolist(), strict=True) if wanted)
        values = self.values.T[kept].T
        return StagedTable(self.path, self.form, values, names, self.stages, self.field, self.processing)

    def labelled(self, reading: str) -> LabelledMatrix:
        """Return the samples of known class with their classes, early and late."""
        codes = codes_of(self.stages, reading)
        known = codes >= 0
        sizes = np.bincount(codes[known], minlength=2)
        if sizes.min() < _LEAST:
            raise LabelError(
                f"{self.path}: {plural(int(sizes[0]), 'sample')} of an early and {int(sizes[1])} of a late stage "
                f"by {self.field!r}; each class needs at least {_LEAST}. Name another field with --labels."
            )
        values = self.values if known.all() else self.values.T[:, known].T
        return LabelledMatrix(values, Labels(CLASSES, codes[known]), self.features)


def codes_of(stages: IntArray, reading: str) -> IntArray:
    """Return the class of every sample, 0 for early and 1 for late; -1 where the stage is not known."""
    adenoma = 1 if reading == "numbers" else 0
    return np.select(
        [stages == UNKNOWN, stages == ADENOMA, stages == 1], [-1, adenoma, 0], default=1
    ).astype(np.int64)  # fmt: skip


def read_series(path: str | os.PathLike[str], field: str | None = None) -> StagedTable:
    """Read a series matrix with the stages that its samples have."""
    check_file(path)
    samples, fields = read_annotations(path)
    field = _stage_field(os.fspath(path), fields, field)
    adenoma = _adenomas(fields, len(samples))
    stages = np.array([
        ADENOMA if stage is None and adenoma[k] else UNKNOWN if stage is None else stage
        for k, stage in enumerate(map(stage_of, fields[field]))
    ], dtype=np.int64)  # fmt: skip
    table = open_table(path, ReadOptions())
    if not isinstance(table, FeatureTable) or table.sample_ids is None:
        raise FileError(f"{os.fspath(path)} is no GEO series matrix. Download 'Series Matrix File(s)' from GEO.")
    place = {name: k for k, name in enumerate(samples)}
    stages = stages[[place[name] for name in table.sample_ids]]
    values, features = _values_of(table)
    said = next((text for text in fields.get(_PROCESSING, ()) if text), "")
    return _checked(StagedTable(os.fspath(path), table.form, values, features, stages, field, said))


def read_staged(path: str | os.PathLike[str], column: str = "ajcc_stage") -> StagedTable:
    """Read any table with a column of stages; its features are genes, or probes of a platform."""
    table = open_table(path, ReadOptions(labels=column))
    values, features = _values_of(table)
    texts = table.columns["labels"] if isinstance(table, FeatureTable) else _labels_of(table)
    stages = [UNKNOWN if (stage := stage_of(text)) is None else stage for text in texts]
    stages = [
        ADENOMA if stage == UNKNOWN and "adenoma" in (text or "").casefold() else stage
        for stage, text in zip(stages, texts, strict=True)
    ]
    if len({stage for stage in stages if stage > 0}) < 2:
        shown = ", ".join(repr(text) for text in dict.fromkeys(texts) if text is not None)
        raise LabelError(
            f"{os.fspath(path)}: the column {column!r} holds no stages 1 to 4, but {shown[:120] or 'nothing'}. "
            "Name the column of stages with --labels."
        )
    found = StagedTable(os.fspath(path), table.form, values, features, np.array(stages, dtype=np.int64), column)
    return _checked(found)


def stage_of(text: str | None) -> int | None:
    """Return the stage that a text such as ``2``, ``2.0``, ``Stage IIIb`` means; None if it means none."""
    found = _STAGE.fullmatch((text or "").strip())
    if found is None:
        return None
    return int(found[1]) if found[1] else _ROMAN[found[2].lower()]


def _stage_field(path: str, fields: Mapping[str, Sequence[str | None]], named: str | None) -> str:
    """Return the field of stages: the one named, or of those called stage the one that fits best."""
    folded = {name.casefold(): name for name in fields}
    if named is not None:
        wanted = [folded[named.casefold()]] if named.casefold() in folded else []
    else:
        wanted = sorted((name for name in fields if "stage" in name.casefold()), key=_foreign)
    for name in wanted:
        stages = [stage for text in fields[name] if (stage := stage_of(text)) is not None]
        if len(set(stages)) > 1 and 2 * len(stages) > len(fields[name]):
            return name
    several = [name for name, column in fields.items() if 1 < len({*column} - {None}) <= len(column) / 2]
    where = "in any field called stage" if named is None else f"in a field {named!r}"
    raise LabelError(
        f"{path} does not say a stage (1 to 4, or I to IV) of most of its samples {where}. Fields with several "
        f"values: {', '.join(map(repr, several[:12])) or 'none'}. Name the one of stages with --labels, or "
        "download GSE17538-GPL570_series_matrix.txt.gz."
    )


def _foreign(name: str) -> tuple[bool, bool]:
    folded = name.casefold()
    return "ajcc" not in folded, "t_stage" in folded


def _adenomas(fields: Mapping[str, Sequence[str | None]], n_samples: int) -> list[bool]:
    """Tell which samples are said to be adenomas, in any field or by a field of that name."""
    found = [False] * n_samples
    for name, column in fields.items():
        for k, text in enumerate(column):
            told = (text or "").strip().casefold()
            found[k] |= "adenoma" in told or ("adenoma" in name.casefold() and told not in _NOTHING)
    return found


def _values_of(table: SampleTable | FeatureTable) -> tuple[FloatArray, tuple[str, ...]]:
    """Return samples x features, features contiguous, and the names of the features."""
    parts: list[FloatArray] = []
    names: list[str] = []
    if isinstance(table, FeatureTable):
        for part in table.chunks(np.arange(table.n_samples)):
            parts.append(_dense(part.values))
            names += part.ids
        return np.concatenate(parts).T, tuple(names)
    rows = [_dense(chunk.values) for chunk in table.chunks()]
    return np.asfortranarray(np.concatenate(rows)), table.feature_ids


def _dense(values: Any) -> FloatArray:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


def _labels_of(table: SampleTable) -> list[str | None]:
    return [text for chunk in table.chunks(slice(0, 1)) for text in chunk.columns["labels"]]


def _checked(table: StagedTable) -> StagedTable:
    """Raise if a value is missing: regressions and kernels need all of them."""
    odd = ~np.isfinite(table.values.sum(axis=0))
    if odd.any():
        holes = ~np.isfinite(table.values[:, odd])
        first = table.features[int(np.flatnonzero(odd)[0])]
        raise DataError(
            f"{table.path}: {plural(int(holes.sum()), 'value')} of {plural(int(odd.sum()), 'feature')} "
            f"({first!r} is the first) are missing or infinite, which regressions cannot use. Leave these "
            "features out, or fill the values in."
        )
    return table
