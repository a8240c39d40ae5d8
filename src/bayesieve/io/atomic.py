"""Files that are either the old one or the new one, whatever happens in between."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from bayesieve.errors import FileError


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its final name only when everything has been written.

    The bytes go to a file beside the target, are forced to the disk, and the name is then changed
    in one step. When anything fails the old file stays and the new one is removed.

    Parameters
    ----------
    path
        The file to write or replace.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayesieve.io.atomic import replacing
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "list.txt"
    >>> with replacing(target) as file:
    ...     _ = file.write(b"BRCA1")
    >>> target.read_text()
    'BRCA1'
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing at the file
    if target.is_dir():
        raise FileError(f"Cannot write {os.fspath(path)}: it is a directory. Name a file in it.")
    if target.exists() and not target.is_file():  # a pipe or a device takes bytes as they come
        with _said(path), target.open("wb") as device:
            yield device
        return
    new = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    with _said(path):
        file = new.open("xb")
    try:
        with _said(path), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _said(path):
            if target.exists():
                new.chmod(target.stat().st_mode & 0o777)
            new.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _said(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the operating system says about a file into a sentence."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).rstrip(".")
        raise FileError(
            f"Cannot write {os.fspath(path)}: {reason}. Choose a folder that exists, may be written to and has "
            "room; what stood there before is unchanged."
        ) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise before hours of work, rather than after, if a file could not be written.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.io.atomic import check_writable
    >>> try:
    ...     check_writable("no/such/folder/list.csv")
    ... except bs.FileError as error:
    ...     print("refused")
    refused
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise FileError(f"Cannot write {os.fspath(path)}: it is a directory. Name a file in it.")
    folder = target.parent
    if not folder.is_dir():
        raise FileError(f"Cannot write {os.fspath(path)}: there is no folder {os.fspath(folder)}. Make it first.")
    if not os.access(folder, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise FileError(f"Cannot write {os.fspath(path)}: permission denied. Choose another place.")
