"""Steps of a long run: each is stored as a whole when it is done, and taken from there the next time."""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import bayesieve
from bayesieve.utils import decoding, make_folder, read_arrays, replacing

Result = dict[str, Any]
Tell = Callable[[str], None]

FOLDER = "steps"
_ABOUT = "about"


class Steps:
    """A folder of finished steps.

    Parameters
    ----------
    folder
        Folder of the study; steps are kept in one below it.
    fingerprint
        Of the data; a step of other data is done anew.
    tell
        Called with what is being done.
    """

    def __init__(self, folder: Path, fingerprint: str, tell: Tell) -> None:
        self.folder = make_folder(folder / FOLDER)
        self._fingerprint, self._tell = fingerprint, tell
        self.seconds: dict[str, float] = {}
        self.n_done = self.n_found = 0

    def key(self, settings: Mapping[str, Any]) -> str:
        """Hash of the data and of all that decides what a step gives."""
        text = json.dumps([bayesieve.__version__, self._fingerprint, dict(settings)], sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    def run(
        self, name: str, title: str, settings: Mapping[str, Any], work: Callable[[], Result], *, slow: bool = False
    ) -> Result:
        """Return what a step gave before, or do it and store what it gives: arrays and plain values by name."""
        path, key = self.folder / f"{name}.npz", self.key(settings)
        found = _load(path)
        if found is not None and found.pop("key", "") == key:
            self.seconds[name] = float(found.pop("seconds"))
            self.n_found += 1
            return found
        if slow:
            self._tell(f"{title} ...")
        start = time.perf_counter()
        made = work()
        self.seconds[name] = time.perf_counter() - start
        _save(path, {**made, "key": key, "seconds": self.seconds[name]})
        self._tell(f"{title}: {self.seconds[name]:.1f} s.")
        self.n_done += 1
        return made


def _save(path: Path, values: Mapping[str, Any]) -> None:
    arrays: dict[str, Any] = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    plain = {name: value for name, value in values.items() if name not in arrays}
    content = io.BytesIO()
    about = np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
    arrays[_ABOUT] = about
    np.savez_compressed(content, **arrays)
    with replacing(path) as file:
        file.write(content.getvalue())


def _load(path: Path) -> Result | None:
    """Return a stored step; None if there is none that can be read, which is then done anew."""
    try:
        found: Result = dict(read_arrays(path, path))
        with decoding(path):
            plain = dict(json.loads(bytes(found.pop(_ABOUT)).decode()))
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None
    return {**found, **plain}
