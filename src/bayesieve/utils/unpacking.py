"""How much a packed file may hold: files that are made to fill a memory stop before they do, and say so."""

from __future__ import annotations

import os
import zipfile
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from bayesieve.utils.errors import FileError

LARGEST = 2**30
"""Bytes that any file may unpack to."""
RATIO = 500
"""How many times its own size a file may unpack to beyond that."""


def check_unpacked(path: str | os.PathLike[str], packed: int, unpacked: int, instead: str, what: str = "") -> None:
    """Raise if so few bytes become so many that the file seems to be made to fill a memory."""
    if unpacked > LARGEST and unpacked > RATIO * packed:
        raise FileError(
            f"{os.fspath(path)}{what} holds {packed:,} bytes that become more than {unpacked / 1e9:,.1f} GB, over "
            f"{RATIO} times as many, as in files that are made to fill a memory. If it is meant, {instead}."
        )


def check_archive(path: str | os.PathLike[str], archive: zipfile.ZipFile, instead: str) -> None:
    """Raise if the parts of a ZIP archive unpack to too much; no part unpacks to more than it promises."""
    parts = archive.infolist()
    check_unpacked(path, sum(p.compress_size for p in parts), sum(p.file_size for p in parts), instead)


def read_arrays(source: Any, path: str | os.PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """Read all arrays of an archive of NumPy, none of them Python objects."""
    with zipfile.ZipFile(source) as archive:
        names = array_names(path, archive)
    if hasattr(source, "seek"):
        source.seek(0)
    with np.load(source, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in names}


def array_names(path: str | os.PathLike[str], archive: zipfile.ZipFile) -> list[str]:
    """Names of the arrays in an archive; raise if one says that it is larger than what is there."""
    check_archive(path, archive, "save its arrays with numpy.savez, which does not compress")
    found = []
    for part in archive.infolist():
        if not part.filename.endswith(".npy"):
            continue
        with archive.open(part) as stream:
            promised = _size(stream)
        if promised is not None and promised != part.file_size:
            raise FileError(
                f"{os.fspath(path)} is damaged: its array {part.filename.removesuffix('.npy')[:80]!r} should take "
                f"{promised:,} bytes and takes {part.file_size:,}. Fetch it again, or write it anew."
            )
        found.append(part.filename.removesuffix(".npy"))
    return found


def _size(stream: IO[bytes]) -> int | None:
    """Bytes that an array takes by its header; None where it does not tell, as of Python objects."""
    version = np.lib.format.read_magic(stream)
    read: Any = np.lib.format.read_array_header_1_0 if version[0] == 1 else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        return None
    size = dtype.itemsize
    for length in shape:
        size *= int(length)
    return stream.tell() + int(size)
