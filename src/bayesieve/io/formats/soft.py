"""GEO SOFT families: one table per sample, brought together to one, with characteristics as label columns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.io.formats.geo import Annotations, find_characteristic
from bayesieve.io.formats.numpy_files import MatrixFeatures, check_names
from bayesieve.io.tables.roles import asks_for_labels, count_levels
from bayesieve.io.tables.table import FeatureTable, ReadOptions, features_per_chunk
from bayesieve.io.text.files import TextBytes
from bayesieve.io.text.layout import label_from_text
from bayesieve.utils import FileError, FloatArray, OptionError, option, wrap_read_errors

_BLOCK = 2**22
_BEGIN, _END = b"!sample_table_begin", b"!sample_table_end"


@dataclass(slots=True)
class _Sample:
    """A sample of a family: what is said of it, and its column of values."""

    name: str
    lines: list[tuple[str, str]] = field(default_factory=list)
    features: Any = None
    values: FloatArray | None = None

    @property
    def platform(self) -> str:
        return next((value for key, value in self.lines if key == "platform_id"), "")


def open_family(path: str | os.PathLike[str], options: ReadOptions) -> FeatureTable:
    r"""Open a SOFT family of a series; its values are held in memory."""
    name = os.fspath(path)
    samples = _of_one_platform(name, list(_samples(name, options)), options)
    ids = [sample.name for sample in samples]
    full = [sample for sample in samples if sample.values is not None]
    if not full:
        raise FileError(
            f"{name} describes {len(samples):,} samples but holds no values, as is usual for sequencing series. "
            "Use the supplementary table of the series instead, with the characteristics as labels in a CSV file."
        )
    features, matrix = _together(name, samples, full[0], options)
    check_names(name, features, ids, options)
    found = _annotations(samples, options.missing_words)
    columns = {role: find_characteristic(name, key, found) for role, key in options.columns.items()}
    table = MatrixFeatures(
        name, "GEO SOFT family", "columns", {"ignored": list(options.ignore)} if options.ignore else {},
        tuple(ids), len(ids), columns, feature_ids=features, read=lambda part: matrix[part], options=options,
        size=features_per_chunk(len(ids), options), ignored=frozenset(options.ignore),
    )  # fmt: skip
    if asks_for_labels(options):
        table.candidates = {key: count_levels(column) for key, column in found.items()}
    return table


def _of_one_platform(path: str, samples: list[_Sample], options: ReadOptions) -> list[_Sample]:
    if not samples:
        raise FileError(
            f"{path} is a SOFT file of GEO without samples (a platform or a data set). Download the family file "
            "of the series (GSE..._family.soft.gz) or its series matrix; a platform serves as --features."
        )
    platforms = list(dict.fromkeys(sample.platform for sample in samples))
    wanted = options.modality or (platforms[0] if len(platforms) == 1 else None)
    if wanted not in platforms:
        sizes = ", ".join(f"{p} ({sum(s.platform == p for s in samples):,} samples)" for p in platforms)
        raise OptionError(
            f"{path} holds samples of {len(platforms)} platforms, whose features differ: {sizes}.",
            hint=("Say which one: ", option("modality", platforms[0]), "."),
        )
    return [sample for sample in samples if sample.platform == wanted]


def _samples(path: str, options: ReadOptions) -> Iterator[_Sample]:
    """Go through the file: what is said of every sample, and its values."""
    sample: _Sample | None = None
    for line, table in _lines_and_tables(path, options):
        if table is not None and sample is not None:
            _read_values(path, sample, table)
        elif line.startswith(b"^"):
            if sample is not None:
                yield sample
            sample = _Sample(_value(line)) if line[:7].upper() == b"^SAMPLE" else None
        elif sample is not None and line.startswith(b"!Sample_"):
            key, _, value = line.decode("utf-8", "replace").partition("=")
            sample.lines.append((key.strip().removeprefix("!Sample_"), value.strip()))
    if sample is not None:
        yield sample


def _lines_and_tables(path: str, options: ReadOptions) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield every line outside the tables of samples, and those tables whole."""
    held, size, block = b"", 0, b" "
    with TextBytes(path, options.encoding) as stream:
        while block:
            block = bytes(stream.read(_BLOCK))
            held += block
            while (end := held.find(b"\n")) >= 0 or (held and not block):
                line, after = (held[:end], held[end + 1 :]) if end >= 0 else (held, b"")
                table = None
                if line.startswith(_BEGIN):
                    stop = after.find(_END)
                    if stop < 0 and block:
                        break  # the table goes on in the next block
                    if stop < 0:
                        raise FileError(f"{path} is cut short: it ends within a table. Download it again.")
                    table, after = after[:stop], after[stop:]
                    size += stop
                    _check_memory(path, size, options)
                yield line, table
                held = after
            if options.progress is not None:
                options.progress(stream.position, stream.size)


def _value(line: bytes) -> str:
    return line.decode("utf-8", "replace").partition("=")[2].strip()


def _check_memory(path: str, size: int, options: ReadOptions) -> None:
    if size > 2 * options.memory:
        raise FileError(
            f"{path}: its tables do not fit into memory. Take the series matrix of the series, which is read a "
            "piece at a time, or allow more.",
            hint=("See ", option("memory"), "."),
        )


def _read_values(path: str, sample: _Sample, block: bytes) -> None:
    """Read the columns ID_REF and VALUE of the table of a sample."""
    import polars as pl  # noqa: PLC0415 - slow to import

    header = block.partition(b"\n")[0].decode("utf-8", "replace").strip("\r").split("\t")
    if len(header) < 2 or "VALUE" not in header or not block.partition(b"\n")[2].strip():
        return
    key, place = header.index("ID_REF") if "ID_REF" in header else 0, header.index("VALUE")
    with wrap_read_errors(path, "a SOFT family"):
        frame = pl.read_csv(
            block, separator="\t", infer_schema=False, quote_char=None, truncate_ragged_lines=True,
            columns=[key, place],
        )  # fmt: skip
        ids, texts = frame.get_columns() if key < place else frame.get_columns()[::-1]
        texts = texts.str.strip_chars()
        values = texts.cast(pl.Float64, strict=False)
        odd = texts.filter(values.is_null() & texts.is_not_null() & ~texts.str.to_lowercase().is_in(_MISSING))
        if len(odd):
            raise FileError(
                f"{path}: {len(odd):,} values of sample {sample.name} are no numbers, for example {odd[0]!r}. "
                "Take the series matrix of the series instead."
            )
        named = ids.is_not_null() & (ids.str.strip_chars() != "")
        if not named.all():  # blank lines are none
            if values.filter(~named).is_not_null().any():
                raise FileError(f"{path}: values of sample {sample.name} have no ID_REF. Download it again.")
            ids, values = ids.filter(named), values.filter(named)
        sample.features, sample.values = ids.str.strip_chars().to_list(), values.to_numpy().astype(np.float64)


_MISSING = ["", "null", "na", "nan", "n/a", "none", "-", "."]


def _together(
    path: str, samples: list[_Sample], first: _Sample, options: ReadOptions
) -> tuple[list[str], FloatArray]:
    """Bring the columns of all samples to the same features; a feature that a sample lacks is missing there."""
    places = {name: j for j, name in enumerate(first.features)}
    for sample in samples:
        if sample.features is not None and sample.features != first.features:
            for name in sample.features:
                places.setdefault(name, len(places))
    if len(places) < len(first.features):
        raise FileError(f"{path}: sample {first.name} names features twice. Take the series matrix instead.")
    need = 8 * len(places) * len(samples)
    _check_memory(path, need, options)
    matrix = np.full((len(places), len(samples)), np.nan)
    for i, sample in enumerate(samples):
        if sample.values is None:
            continue
        if sample.features == first.features:
            matrix[: len(first.features), i] = sample.values
        else:
            matrix[[places[name] for name in sample.features], i] = sample.values
        sample.values = None
    return list(places), matrix


def _annotations(samples: list[_Sample], words: tuple[str, ...]) -> Annotations:
    """What is said of the samples, by name: characteristics by their key, other lines by theirs."""
    found: Annotations = {}
    for i, sample in enumerate(samples):
        for key, value in sample.lines:
            name, cell = key, value
            if key.startswith("characteristics"):
                name, colon, cell = (part.strip() for part in value.partition(":"))
                if not colon:
                    continue
            column = found.setdefault(name, [None] * len(samples))
            if column[i] is None:
                column[i] = label_from_text(cell, words)
    return found
