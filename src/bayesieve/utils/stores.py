"""Stores in SQLite files: opened, checked and read so that whatever is damaged in them is told in a sentence."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Collection, Iterator

from bayesieve.utils.errors import FileError

_MOST = 20  # objects of a store that are looked at; it has two tables


def open_store(path: str | os.PathLike[str]) -> sqlite3.Connection:
    """Open a database, or make an empty one; what its schema says is not believed to be harmless."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=30.0)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def using_store(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Say what SQLite says in a sentence; ``kind`` is what the file is the store of."""
    name = os.fspath(path)
    try:
        yield
    except sqlite3.OperationalError as error:
        raise FileError(
            f"The store {name} cannot be used: {_reason(error)}. Choose a folder that exists, may be written "
            "to and "
            "has room, let one process at a time use it, and delete the file if it is damaged."
        ) from None
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise FileError(
            f"{name} is damaged or not the store of {kind}: {_reason(error)}. Delete it and start again, or "
            "choose another name."
        ) from None


def has_tables(
    connection: sqlite3.Connection, path: str | os.PathLike[str], tables: Collection[str], kind: str
) -> bool:
    """Whether a store has its tables; False for an empty file, an error for one that holds something else.

    Views and triggers could make reading endless, or run when something is written; a store has none.
    """
    found = connection.execute(f"SELECT type, name FROM sqlite_master LIMIT {_MOST}").fetchall()
    if not found:
        return False
    own = {name for kind, name in found if kind == "table"}
    others = [name for kind, name in found if kind not in ("table", "index")]
    if own != set(tables) or others:
        lacks = sorted(set(tables) - own)
        what = f"it has no table {lacks[0]!r}" if lacks else "it holds something else besides"
        raise FileError(
            f"{os.fspath(path)} holds something else than {kind}: {what}. Choose another name, or delete the "
            "file if "
            "it was such a store and has been damaged."
        )
    return True


def meta_of(connection: sqlite3.Connection, path: str | os.PathLike[str], keys: Collection[str]) -> dict[str, str]:
    """Return what a store says about itself in the table ``meta``; raise unless it says all it should."""
    held = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    wrong = [key for key in keys if not isinstance(held.get(key), str)]
    if wrong:
        raise FileError(
            f"The store {os.fspath(path)} is damaged: it does not say its {wrong[0]!r} in the table meta. "
            "Restore the "
            "file from a copy, or delete it and start again."
        )
    return {str(key): str(value) for key, value in held.items()}


def _reason(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:200]
