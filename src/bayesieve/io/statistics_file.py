"""Sufficient statistics of sites as files: Parquet that any tool can open, with a seal over its contents.

One row per site and feature, site by site, every site with the same features in the same order.
Columns: ``site``, ``feature`` and for every class, by position k, ``count_k``, ``mean_k``,
``residual_k``, ``centred_squares_k``, ``centred_cubes_k`` and ``centred_fourths_k``; the last two are null in
rows of a site that does not know them, and are not there in version 1 of the format. The key ``bayesieve`` of the
Parquet metadata holds JSON:
``format``, ``schema_version``, ``bayesieve_version``, ``transform``, ``classes``, ``sites`` (name,
most values per class, features held, suppression, whether it knows cubes and fourths) and ``sha256``.
A site that is a part of a table (``[3, 20]``) says so under ``part``, in version 4.
Files with covariates are of version 3: ``covariates`` names them in the JSON, and for class k and covariates i, j
there are ``location_k_i`` (mean), ``cross_k_i`` (centred products with the feature) and ``scatter_k_i_j`` for
j <= i (centred products with each other), in the units of the covariates. Files without are of version 2.

The seal is the SHA-256 of these bytes in a row, numbers in little-endian order:

1. the JSON without ``bayesieve_version`` and ``sha256``: keys sorted, no spaces, other than ASCII escaped;
2. the number of bytes of that JSON, then of every feature id in UTF-8, as int64;
3. the feature ids in UTF-8, one after another;
4. for every site the counts as int64, then means, residuals, centred squares and, where the site knows them,
   cubes and fourths as float64, each class by class, and of covariates the columns above in that order.

Before the Parquet footer, where readers do not look, stand the bytes ``bayesieve-sha256`` and the SHA-256
of all other bytes, in every version of the format. This is checked first, since damaged bytes that reach
polars can abort the whole process. Neither is a signature: whoever forges a file can make them anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve import __version__
from bayesieve.io.moment_tables import is_moment_table, read_moment_table
from bayesieve.stats import DesignMoments, Moments, SiteStatistics, StatisticsSet
from bayesieve.utils import BayesieveError, DataError, FileError, Wording, install_command, replacing

if TYPE_CHECKING:
    import polars as pl

SCHEMA_VERSION = 4

_FORMAT = "bayesieve-statistics"
_KEY = "bayesieve"
_WRITE_ONE = ("Write one with ", Wording("write_statistics", "bayesieve stats"), ".")
_MAGIC = b"PAR1"
_MARK = b"bayesieve-sha256"
_NUMBERS = ("count", "mean", "residual", "centred_squares")
_POWERS = ("centred_cubes", "centred_fourths")
_LARGEST_COUNT = 2**53  # beyond, counts are no longer exact in float64


def write_statistics(statistics: StatisticsSet, path: str | os.PathLike[str]) -> None:
    """Write statistics of one or more sites to a file, whole or not at all.

    Examples
    --------
    >>> import tempfile, pathlib, bayesieve as bs
    >>> from bayesieve.stats.sites import SiteStatistics, StatisticsSet
    >>> from bayesieve.io.statistics_file import read_statistics, write_statistics
    >>> moments = bs.Moments.from_matrix([[1.0], [3.0], [5.0]], ["well", "well", "sick"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "oslo.parquet"
    >>> write_statistics(StatisticsSet((SiteStatistics("Oslo", moments, ("TP53",)),)), path)
    >>> read_statistics(path).pooled().mean.tolist()
    [[5.0], [2.0]]
    """
    for site in statistics.sites:
        _check_site(site)
    header = {**_header(statistics), "bayesieve_version": __version__, "sha256": seal(statistics)}
    buffer = io.BytesIO()
    _frame(statistics).write_parquet(buffer, metadata={_KEY: json.dumps(header)})
    with replacing(path) as file:
        file.write(_protect(buffer.getvalue()))


def read_statistics(path: str | os.PathLike[str]) -> StatisticsSet:
    """Read a file of :func:`write_statistics` and check everything in it; or a tidy table of moments.

    The latter is CSV or Parquet with the columns of :func:`bayesieve.tidy_statistics`.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.io.statistics_file import read_statistics
    >>> try:
    ...     read_statistics("no/such/file.parquet")
    ... except bs.FileError as error:
    ...     print(error)
    Cannot read no/such/file.parquet: there is no such file. Name a statistics file.
    """
    import polars as pl  # noqa: PLC0415 - slow to import

    if is_moment_table(path):
        return read_moment_table(path)
    with _open(path) as file:
        _check_kind(file, path)
        file.seek(0)
        content = file.read()
    with _intact(path):
        content = _unprotect(content)
        header = json.loads(pl.read_parquet_metadata(io.BytesIO(content))[_KEY])
        version, writer = header["schema_version"], header.get("bayesieve_version")
    if version not in range(1, SCHEMA_VERSION + 1):
        raise FileError(
            f"{os.fspath(path)} is in version {version!r} of the statistics format, written by bayesieve "
            f"{writer}. This is bayesieve {__version__}, which reads versions up to {SCHEMA_VERSION}. Upgrade it: "
            f"{install_command().replace('install', 'install --upgrade', 1)}"
        )
    with _intact(path):
        statistics = _rebuild(header, pl.read_parquet(io.BytesIO(content)))
        if header != {**header, **_header(statistics, version), "sha256": seal(statistics, version)}:
            raise DataError("The contents do not match the seal.")
    return statistics


def is_statistics_file(path: str | os.PathLike[str]) -> bool:
    """Tell, from the two ends of a file, whether it is one of :func:`write_statistics` or a table of moments."""
    if is_moment_table(path):
        return True
    try:
        with _open(path) as file:
            _check_kind(file, path)
    except (FileError, ValueError, TypeError):
        return False
    return True


def seal(statistics: StatisticsSet, version: int | None = None) -> str:
    """Hash of everything that statistics say, the same wherever and whenever they are written."""
    header = json.dumps(_header(statistics, version), sort_keys=True, separators=(",", ":")).encode()
    ids = [name.encode() for name in statistics.feature_ids]
    digest = hashlib.sha256(header)
    digest.update(np.array([len(header), *map(len, ids)], dtype="<i8").tobytes())
    digest.update(b"".join(ids))
    for site in statistics.sites:
        for name, array in _arrays(site).items():
            digest.update(array.astype("<i8" if name == "count" else "<f8").tobytes())
    return digest.hexdigest()


def _header(statistics: StatisticsSet, version: int | None = None) -> dict[str, Any]:
    """Say what the file holds, other than the numbers."""
    in_parts = any(site.part is not None for site in statistics.sites)
    version = (4 if in_parts else 3 if statistics.covariates else 2) if version is None else version
    sites: list[dict[str, Any]] = [
        {
            "name": site.site,
            "class_counts": site.moments.counts.max(axis=1).tolist(),
            "n_features": int(site.held.sum()),
            "min_cell": site.min_cell,
            "n_suppressed": site.n_suppressed,
            **({"powers": site.moments.has_shape} if version > 1 else {}),
            **({"part": list(site.part)} if site.part is not None else {}),
        }
        for site in statistics.sites
    ]
    what = {"format": _FORMAT, "schema_version": version, "transform": statistics.transform}
    given = {"covariates": list(statistics.covariates)} if version > 2 else {}
    return {**what, "classes": list(statistics.classes), **given, "sites": sites}


def _arrays(site: SiteStatistics) -> dict[str, npt.NDArray[Any]]:
    """Collect the numbers of a site, each (n_classes, n_features)."""
    moments = site.moments
    counts = np.broadcast_to(moments.counts, moments.mean.shape)
    values = (counts, moments.mean, np.asarray(moments.residual), moments.centred_squares)
    powers = moments.shape() or ()
    found = dict(zip((*_NUMBERS, *_POWERS[: len(powers)]), (*values, *powers), strict=True))
    return found if site.design is None else found | _of_design(site.design)


def _of_design(design: DesignMoments) -> dict[str, npt.NDArray[Any]]:
    """Collect the sums of covariates, each (n_classes, n_features)."""
    whole = design.spread()
    found: dict[str, npt.NDArray[Any]] = {}
    for i in range(design.n_covariates):
        found |= {f"location_{i}": whole.location[:, i], f"cross_{i}": whole.cross[:, i]}
        found |= {f"scatter_{i}_{j}": whole.scatter[:, i, j] for j in range(i + 1)}
    return found


def _design_names(n: int) -> list[str]:
    """Names of what :func:`_of_design` collects."""
    return [
        name
        for i in range(n)
        for name in (f"location_{i}", f"cross_{i}", *(f"scatter_{i}_{j}" for j in range(i + 1)))
    ]


def _frame(statistics: StatisticsSet) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - slow to import

    n_features = len(statistics.feature_ids)
    names = [site.site for site in statistics.sites for _ in range(n_features)]
    blocks = [_arrays(site) for site in statistics.sites]
    columns = [
        pl.Series("site", names, dtype=pl.String),
        pl.Series("feature", statistics.feature_ids * len(blocks), dtype=pl.String),
    ]
    unknown = np.full((len(statistics.classes), n_features), np.nan)
    columns += [
        pl.Series(
            _column(name, k),
            np.concatenate([block.get(name, unknown)[k] for block in blocks]),
            nan_to_null=name in _POWERS,
        )
        for k in range(len(statistics.classes))
        for name in (*_NUMBERS, *_POWERS, *_design_names(len(statistics.covariates)))
    ]
    return pl.DataFrame(columns)


def _rebuild(header: dict[str, Any], frame: pl.DataFrame) -> StatisticsSet:
    """Turn a table and its description into statistics, trusting neither."""
    import polars as pl  # noqa: PLC0415 - slow to import

    kinds: list[tuple[str, Any]] = [("site", pl.String), ("feature", pl.String)]
    numbers = (*_NUMBERS, *_POWERS) if header["schema_version"] > 1 else _NUMBERS
    numbers = (*numbers, *_design_names(len(header.get("covariates", ()))))
    for k in range(len(header["classes"])):
        kinds += [(_column(name, k), pl.Int64 if name == "count" else pl.Float64) for name in numbers]
    n_features, extra = divmod(frame.height, len(header["sites"]))
    told = [name for name, _ in kinds if not name.startswith(_POWERS)]
    as_promised = list(frame.schema.items()) == kinds and not extra and n_features
    if not as_promised or sum(frame.select(told).null_count().row(0)):
        raise DataError("The table does not have the columns and rows that its description promises.")
    blocks = (frame.slice(i * n_features, n_features) for i in range(len(header["sites"])))
    return StatisticsSet(tuple(_site(header, *each) for each in zip(header["sites"], blocks, strict=True)))


def _site(header: dict[str, Any], about: dict[str, Any], rows: pl.DataFrame) -> SiteStatistics:
    if rows["site"].unique().to_list() != [about["name"]]:
        raise DataError("The rows of a site do not carry its name.")
    places = range(len(header["classes"]))
    powers = _POWERS if about.get("powers") else ()
    count, mean, residual, squares, *shape = (
        np.array([rows[f"{name}_{k}"].to_numpy() for k in places]) for name in (*_NUMBERS, *powers)
    )
    moments = Moments(tuple(header["classes"]), count, mean, squares, residual, *shape)
    settings = header["transform"], about["min_cell"], about["n_suppressed"]
    design = _design(header, rows, moments) if header.get("covariates") else None
    part = (int(about["part"][0]), int(about["part"][1])) if about.get("part") else None
    site = SiteStatistics(about["name"], moments, tuple(rows["feature"].to_list()), *settings, design, part)
    _check_site(site)
    return site


def _design(header: dict[str, Any], rows: pl.DataFrame, moments: Moments) -> DesignMoments:
    """Put the sums of covariates together, once for all features where they are alike."""
    names, places = tuple(map(str, header["covariates"])), range(len(header["classes"]))
    n = len(names)
    told = {name: np.array([rows[_column(name, k)].to_numpy() for k in places]) for name in _design_names(n)}
    if not all(np.isfinite(each).all() for each in told.values()):
        raise DataError("Sums of covariates are not finite.")
    location = np.stack([told[f"location_{i}"] for i in range(n)], axis=1)
    cross = np.stack([told[f"cross_{i}"] for i in range(n)], axis=1)
    scatter = np.stack(
        [np.stack([told[f"scatter_{max(i, j)}_{min(i, j)}"] for j in range(n)], axis=1) for i in range(n)], axis=1
    )
    if all((each == each[..., :1]).all() for each in (location, scatter)) and moments.count.ndim == 1:
        location, scatter = location[..., 0].copy(), scatter[..., 0].copy()
    return DesignMoments(moments, names, location, scatter, cross)


def _column(name: str, k: int) -> str:
    """Return the column of a number of a class: ``mean_0``, ``scatter_0_2_1``."""
    kind, *rest = name.rsplit("_") if name.startswith(("location_", "cross_", "scatter_")) else (name,)
    return "_".join([kind, str(k), *rest])


def _check_site(site: SiteStatistics) -> None:
    """Raise unless a file can hold this site as it is, and nothing small slips out."""
    try:
        "".join((site.site, *map(str, site.moments.classes), *site.feature_ids)).encode()
    except UnicodeEncodeError:
        raise DataError(
            f"Site {site.site!r} holds a name, label or feature id that is not valid text (half of a character, "
            "after reading a file in the wrong encoding). Read the table as UTF-8."
        ) from None
    least = 0 if site.part is not None else site.min_cell  # applied to the whole
    few = (site.moments.counts < least).any(axis=0) & site.held
    if few.any():
        raise DataError(
            f"Site {site.site!r} promises at least {site.min_cell} values per class, but {few.sum()} of "
            f"{few.size} features have fewer. Apply suppress first."
        )
    if site.moments.count.max() > _LARGEST_COUNT:
        raise DataError(f"Site {site.site!r} counts more than 2**53 values, which no table can hold.")


@contextlib.contextmanager
def _open(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a plain file for reading, or say why not."""
    place = Path(path)
    try:
        if not place.is_file():
            why = "it is a directory" if place.is_dir() else "there is no such file"
            raise FileError(f"Cannot read {os.fspath(path)}: {why}. Name a statistics file.")
        with place.open("rb") as file:
            yield file
    except OSError as error:
        raise FileError(f"Cannot read {os.fspath(path)}: {error.strerror or error}.") from error


def _check_kind(file: IO[bytes], path: str | os.PathLike[str]) -> None:
    """Raise unless the two ends of a file are those of a statistics file."""
    shown, size = os.fspath(path), file.seek(0, os.SEEK_END)
    file.seek(0)
    if size < 12 or file.read(4) != _MAGIC:
        raise FileError(f"{shown} is not a statistics file: it is not Parquet.", hint=_WRITE_ONE)
    file.seek(size - 8)
    length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
    if magic != _MAGIC or length > size - 12:
        raise FileError(f"{shown} is cut short or damaged: its end is not that of a Parquet file. Copy it again.")
    file.seek(size - 8 - length)
    if f'"{_FORMAT}"'.encode() not in file.read():
        raise FileError(f"{shown} is Parquet but not a statistics file.", hint=_WRITE_ONE)


def _protect(content: bytes) -> bytes:
    """Put the hash of a Parquet file in front of its footer."""
    cut = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:cut] + _MARK + hashlib.sha256(content).digest() + content[cut:]


def _unprotect(content: bytes) -> bytes:
    """Undo :func:`_protect`, provided that not a bit has changed."""
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    plain = content[: max(start - len(_MARK) - 32, 0)] + content[start:]
    if _protect(plain) != content:
        raise DataError("Its bytes do not match their hash.")
    return plain


@contextlib.contextmanager
def _intact(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever goes wrong with damaged bytes into a sentence; polars panics outside of Exception."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        why = f": {error}" if isinstance(error, BayesieveError) else "."
        raise FileError(
            f"{os.fspath(path)} has been changed or damaged since it was written{why} "
            "Copy it again, or ask its site for a new one."
        ) from error
