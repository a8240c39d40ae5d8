"""``bayesieve simulate``: data with known truth, as files to practise on."""

from __future__ import annotations

import gzip
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from bayesieve.cli.console import Talk
from bayesieve.io import number_bytes, text_chunks
from bayesieve.simulation import Kind, SyntheticData, class_sizes_of, data_model
from bayesieve.utils import OptionError, check_writable, replacing

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
_PARQUET = {".parquet", ".pq"}

Progress = Callable[[int, int], None]


def run_simulate(settings: Mapping[str, Any]) -> None:
    """Draw a data set and write its values and its truth."""
    talk = Talk(settings["quiet"], settings["verbose"], settings["json_log"])
    out = Path(settings["out"])
    check_out(out)
    model: Any = data_model(settings["model"], **constants(settings["set"] or ()))
    sizes = class_sizes_of(sizes_of(settings["n"]))
    pieces = model.chunks(sizes, seed=settings["seed"])
    with talk.timed("drawing and writing"), talk.progress("Writing samples", counted=True) as progress:
        n_markers = write_data(pieces, out, sum(sizes), decimals=settings["decimals"], progress=progress)
    share = n_markers / model.n_features
    talk.say(
        "simulated",
        f"Drew {sum(sizes):,} samples x {model.n_features:,} features, {n_markers:,} of them true markers (model "
        f"{settings['model']}, seed {settings['seed']}).\n"
        f"Wrote {out} (classes 0 and 1: {sizes[0]:,} and {sizes[1]:,} samples) and {truth_path(out)}.\n"
        f"Try: bayesieve screen {out} --labels class -p {min(max(share, 1e-6), 0.999):.2g}",
        n_samples=list(sizes),
        n_features=model.n_features,
        n_markers=n_markers,
        out=str(out),
        truth=str(truth_path(out)),
    )


def sizes_of(text: str) -> Any:
    """Read a total or two class sizes."""
    try:
        numbers = [int(part) for part in str(text).split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise OptionError(
            f"--n must be an even number of samples or two class sizes, for example 200 or 80,120, not {text!r}."
        )
    if len(numbers) == 1 and numbers[0] % 2:
        raise OptionError(
            f"--n must be even, because both classes get half of the samples; {numbers[0]} was given. Try "
            f"{numbers[0] + 1}, or name the class sizes: {numbers[0] // 2},{numbers[0] // 2 + 1}."
        )
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def constants(items: Sequence[str]) -> dict[str, Any]:
    """Read constants of a data model, written as ``key=value``."""
    found: dict[str, Any] = {}
    for item in items:
        key, equals, value = item.partition("=")
        name = key.strip().replace("-", "_")
        try:
            if not equals or not name:
                raise ValueError
            found[name] = _value(value.strip())
        except ValueError:  # tomllib.TOMLDecodeError is one
            raise OptionError(
                f"--set takes a constant and its value, for example --set correlation=0.5 or "
                f'--set "mean_shifts=[1, 0.5, 0.5, 0.5, 0.5]", not {item!r}.'
            ) from None
    return found


def _value(text: str) -> Any:
    """Read a value as TOML; a bare word is a text, since every shell has its own way with quotation marks."""
    if re.fullmatch(r"[A-Za-z_][\w-]*", text) and text not in ("true", "false", "inf", "nan"):
        return text
    return tomllib.loads(f"value = {text}")["value"]


def truth_path(path: Path) -> Path:
    """Return the file beside the data that says which features are markers."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.with_name(f"{plain.stem}.truth.csv")


def check_out(path: Path) -> None:
    """Raise unless data can be written under this name: CSV, TSV (also compressed) or Parquet."""
    _form(path)
    check_writable(path)
    check_writable(truth_path(path))


def write_data(
    pieces: Iterable[SyntheticData],
    path: Path,
    n_samples: int,
    *,
    decimals: int = 4,
    progress: Progress | None = None,
) -> int:
    """Write data, some samples at a time, and beside them which features are markers; return how many are.

    Both files take their names when both are complete. Parquet, which holds columns, needs all values in memory.
    """
    write = _write_parquet if _form(path) == ".parquet" else _write_text
    with replacing(path) as file, replacing(truth_path(path)) as beside:
        truth = write(file, path, _round(pieces, n_samples, decimals, progress))
        columns = {
            "feature": _names(truth),
            "marker": truth.true_markers,
            "kind": [Kind(kind).words for kind in truth.kind.tolist()],
            "group": truth.group,
        }
        for chunk in text_chunks(columns):
            beside.write(chunk)
    return int(truth.true_markers.sum())


def _form(path: Path) -> str:
    """Return the plain ending of a name."""
    zipped = path.suffix.lower() == ".gz"
    ending = (path.with_suffix("") if zipped else path).suffix.lower()
    if ending in _PARQUET and not zipped:
        return ".parquet"
    if ending not in _DELIMITERS:
        raise OptionError(
            f"Cannot tell the format of {path} by its ending. Let it end in .csv, .tsv, .csv.gz, .tsv.gz or "
            ".parquet."
        )
    return ending


def _round(
    pieces: Iterable[SyntheticData], n_samples: int, decimals: int, progress: Progress | None
) -> Iterator[SyntheticData]:
    done = 0
    for piece in pieces:
        values = np.round(piece.values, decimals) + 0.0  # no negative zeros
        yield SyntheticData(values, piece.labels, piece.kind, piece.group)
        done += len(values)
        if progress is not None:
            progress(done, n_samples)


def _names(data: SyntheticData) -> list[str]:
    return [f"x{j}" for j in range(data.kind.size)]


def _write_text(file: IO[bytes], path: Path, pieces: Iterator[SyntheticData]) -> SyntheticData:
    mark = _DELIMITERS[_form(path)].encode()
    done = 0
    with _compressing(file, path) as stream:
        for piece in pieces:
            if not done:
                stream.write(mark.join(name.encode() for name in ("sample", "class", *_names(piece))) + b"\n")
            for i, (label, row) in enumerate(zip(piece.labels.tolist(), piece.values, strict=True), start=done):
                numbers = number_bytes(row, mark)
                stream.write(mark.join((f"s{i}".encode(), str(label).encode(), numbers)) + b"\n")
            done += len(piece.labels)
    return piece


@contextmanager
def _compressing(file: IO[bytes], path: Path) -> Iterator[Any]:
    if path.suffix.lower() != ".gz":
        yield file
        return
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as stream:
        yield stream


def _write_parquet(file: IO[bytes], path: Path, pieces: Iterator[SyntheticData]) -> SyntheticData:
    import polars as pl  # noqa: PLC0415 - slow to import

    del path
    held = list(pieces)
    values = np.asfortranarray(np.concatenate([piece.values for piece in held]))
    labels = np.concatenate([piece.labels for piece in held])
    columns: dict[str, Any] = {"sample": [f"s{i}" for i in range(len(values))], "class": labels}
    columns |= {name: values[:, j] for j, name in enumerate(_names(held[0]))}
    pl.DataFrame(columns).write_parquet(file)
    return held[0]
