"""The manifest of a run: what it says about the result that was written together with it."""

from __future__ import annotations

import os
from typing import Any

from bayesieve.errors import FileError
from bayesieve.io.roles import listed
from bayesieve.io.stored_settings import checked_settings
from bayesieve.io.stored_table import StoredTable, read_json


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the manifest of a screen.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayesieve as bs
    >>> from bayesieve.io.stored_manifest import read_manifest
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.json"
    >>> _ = path.write_text('{"format": "something"}')
    >>> try:
    ...     read_manifest(path)
    ... except bs.FileError as error:
    ...     print("no manifest" in str(error))
    True
    """
    content, name = read_json(path), os.fspath(path)
    if not isinstance(content, dict) or content.get("format") != "bayesieve-manifest":
        raise FileError(f"{name} is no manifest of bayesieve; name a file that screen --manifest wrote.")
    if content.get("schema_version") != 1:
        raise FileError(
            f"{name} is a manifest in version {content.get('schema_version')!r} of the format, of bayesieve "
            f"{content.get('versions', {}).get('bayesieve', 'of another version')}; this one reads version 1."
        )
    parts = {"settings": dict, "results": dict, "inputs": list}
    wrong = [key for key, kind in parts.items() if not isinstance(content.get(key), kind)]
    if wrong or content.get("command") != "screen":
        raise FileError(
            f"{name} is not the manifest of a screen: "
            + (f"{listed(wrong)} is missing." if wrong else f"it is of bayesieve {content.get('command')}.")
        )
    checked_settings(name, content["settings"])
    return content


def said_by_manifest(manifest: str | os.PathLike[str], table: StoredTable) -> dict[str, Any]:
    """Return what the manifest of a run says about its result, if it is that of this table.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.io.stored_manifest import said_by_manifest
    >>> try:
    ...     said_by_manifest("no-such-manifest.json", None)
    ... except bs.FileError as error:
    ...     print(error)
    There is no file no-such-manifest.json. Check the name and the folder.
    """
    content, name = read_manifest(manifest), os.fspath(manifest)
    results, hashed = content["results"], table.about.get("results_hash")
    features = results.get("n_features")
    if features != table.n_rows or hashed not in (None, results.get("sha256")):
        raise FileError(
            f"{name} is the manifest of another run than {table.path}: "
            + (f"of {features} features" if features != table.n_rows else "its results have another hash")
            + ". Give the manifest that was written together with the result."
        )
    return {
        "n_features": features, "settings": dict(content["settings"]), "notes": list(results.get("notes", ())),
        "results_hash": results.get("sha256", ""), "classes": dict(content.get("classes", {})),
    }  # fmt: skip
