"""TOML files, read with a sentence about what is wrong."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from bayesieve.errors import FileError
from bayesieve.io.text.opening import check_file


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file, or say where it is wrong.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayesieve.io.toml import read_toml
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.toml"
    >>> _ = path.write_text("prior_ratio = 0.1")
    >>> read_toml(path)
    {'prior_ratio': 0.1}
    """
    check_file(path)
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{os.fspath(path)} is not a TOML file: {error}.") from None
    except OSError as error:
        raise FileError(f"{os.fspath(path)} cannot be read: {error.strerror or error}.") from None
