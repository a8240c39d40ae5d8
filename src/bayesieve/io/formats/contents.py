"""What may stand in a file of HDF5 or a zarr store: nothing that lies elsewhere, fills memory or runs programs."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

from bayesieve.utils import RATIO, FileError, check_unpacked

_DEEPEST = 64
_INSTEAD = "write the file anew without compression"


def check_hdf5(path: str, file: Any) -> None:
    """Raise if an open HDF5 file refers to other files or places, or holds far more values than bytes."""
    seen: set[int] = set()
    bytes_beyond = _walk(path, importlib.import_module("h5py"), file, "", seen)
    check_unpacked(path, 0, bytes_beyond, _INSTEAD)


def _walk(path: str, h5py: Any, group: Any, where: str, seen: set[int], depth: int = 0) -> int:
    """Look through a group; return how many bytes its values have beyond what those in the file could become."""
    beyond = 0
    for name in group:
        place = f"{where}/{name}"
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise _elsewhere(path, place, f"a link to {getattr(link, 'filename', '')}{link.path}"[:120])
        item = group[name]
        address = h5py.h5o.get_info(item.id).addr
        if address in seen:
            continue
        seen.add(address)
        if isinstance(item, h5py.Group):
            if depth >= _DEEPEST:
                raise FileError(
                    f"{path} is damaged: its groups are nested too deeply at {place[:120]!r}. Fetch it again."
                )
            beyond += _walk(path, h5py, item, place, seen, depth + 1)
        elif isinstance(item, h5py.Dataset) and item.shape is not None:
            if item.external or item.is_virtual:
                raise _elsewhere(path, place, "values in other files")
            stored = item.id.get_storage_size()
            check_unpacked(path, stored, item.nbytes, _INSTEAD, f", {place[:120]!r}")
            beyond += max(item.nbytes - RATIO * stored, 0)
    return beyond


def _elsewhere(path: str, place: str, what: str) -> FileError:
    return FileError(
        f"{path} is not read, because {place[:120]!r} in it is {what}: a table must hold its values itself. "
        "Copy it "
        "with the values in place of links (h5repack, or read it and write it anew with the program that "
        "wrote it).",
        kind="link",
    )


def check_zarr(path: str) -> None:
    """Raise if a zarr store leads out of its folder, would run programs, or holds far more values than bytes."""
    root = Path(os.path.realpath(path))
    sizes: dict[Path, int] = {}
    arrays: dict[Path, int] = {}
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        for name in (*folders, *files):
            target = Path(os.path.realpath(here / name))
            if (here / name).is_symlink() and not target.is_relative_to(root):
                raise FileError(
                    f"{path} is not read, because {name!r} in it is a link to {target}, outside of the "
                    "store. Copy "
                    "the store with the values in place of links (cp -rL).",
                    kind="link",
                )
        sizes[here] = sum(os.path.getsize(here / name) for name in files)
        for name in files:
            if name in (".zarray", ".zmetadata", "zarr.json", ".zgroup"):
                size = _described(path, here / name)
                if size is not None:
                    arrays[here] = size
    for here, size in arrays.items():
        stored = sum(n for folder, n in sizes.items() if folder.is_relative_to(here))
        check_unpacked(path, stored, size, _INSTEAD, f", {os.fspath(here.relative_to(root))[:120]!r}")
    beyond = sum(max(size - RATIO * sizes[here], 0) for here, size in arrays.items())
    check_unpacked(path, 0, beyond, _INSTEAD)


def _described(path: str, file: Path) -> int | None:
    """Bytes of the values that a description of an array promises; None if it describes none or cannot be read."""
    try:
        found = json.loads(file.read_bytes())
        _refuse_pickles(path, found)
        shape, dtype = found["shape"], str(found.get("dtype", found.get("data_type", "")))
    except FileError:
        raise
    except (OSError, ValueError, LookupError, AttributeError, TypeError, RecursionError):
        return None  # zarr says what is wrong with it
    size = _item_size(dtype)
    for length in shape if isinstance(shape, list) else ():
        size *= length if isinstance(length, int) else 1
    return size


def _item_size(dtype: str) -> int:
    digits = "".join(c for c in dtype[-3:] if c.isdigit())
    number = int(digits) if digits else 8
    return max(number // 8 if dtype[:1].isalpha() else number, 1)


def _refuse_pickles(path: str, described: Any) -> None:
    """Raise if values are said to be pickles of Python, which can run any program when they are read."""
    if isinstance(described, dict):
        kinds = (described.get("id"), described.get("name"))
        if any("pickle" in kind for kind in kinds if isinstance(kind, str)):
            raise FileError(
                f"{path} is not read, because it holds Python objects (a pickle), which can run any program. "
                "Write it "
                "anew with texts and numbers.",
                kind="pickle",
            )
    for part in (
        described.values() if isinstance(described, dict) else described if isinstance(described, list) else ()
    ):
        _refuse_pickles(path, part)
