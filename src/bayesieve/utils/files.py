"""Files: written whole or not at all (atomically), read with errors that help, and TOML."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import secrets
import threading
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bayesieve.utils.errors import BayesieveError, FileError
from bayesieve.utils.messages import nearest

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


_OURS = re.compile(r"\..{1,100}\.[0-9a-f]{12}\.part", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Part:
    """A file that is written and has no name yet; it is locked, so that no other run takes it for a leftover."""

    file: IO[bytes]
    place: Path
    target: Path

    @classmethod
    def begin(cls, target: Path) -> _Part:
        while True:
            place = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
            file = place.open("xb")
            if not _lock(file) or place.exists():  # else another run removed it before it was locked
                return cls(file, place, target)
            file.close()

    def settle(self) -> None:
        """Give the file its name."""
        if fcntl is None:  # an open file is not renamed there
            self.file.close()
        if self.target.exists():
            self.place.chmod(self.target.stat().st_mode & 0o777)
        self.place.replace(self.target)
        self.file.close()

    def drop(self) -> None:
        with contextlib.suppress(OSError):
            self.file.close()
        with contextlib.suppress(OSError):
            self.place.unlink(missing_ok=True)


def _lock(file: IO[bytes]) -> bool:
    """Lock a file until it is closed, or the process ends; False where another has it, or there are no locks."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (AttributeError, OSError):
        return False
    return True


@functools.cache
def _remove_leftovers(folder: Path) -> None:
    """Remove what killed runs left in a folder: files with names of ours that nobody has locked."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not _OURS.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError), open(entry.path, "rb") as file:
                if _lock(file):
                    os.unlink(entry.path)


_TOGETHER: ContextVar[list[_Part] | None] = ContextVar("files_written_together", default=None)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Let files that are written meanwhile take their names at the end, one right after the other.

    When anything fails all old files stay. A process that is killed leaves the old files, too, unless that happens
    in the instant between two names; :func:`hash_of_written` is for telling such a mixture.
    """
    if _TOGETHER.get() is not None:  # part of a larger whole
        yield
        return
    parts: list[_Part] = []
    token = _TOGETHER.set(parts)
    try:
        yield
        for part in parts:
            with _failing_clearly(part.target):
                part.settle()
    except BaseException:
        for part in parts:
            part.drop()
        raise
    finally:
        _TOGETHER.reset(token)


def hash_of_written(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, also of one that waits for its name in :func:`together`."""
    target = Path(os.path.realpath(path))
    waiting = {part.target: part.place for part in _TOGETHER.get() or ()}
    with waiting.get(target, target).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its final name only when everything has been written.

    The bytes go to a file beside the target, are forced to the disk, and the name is then changed
    in one step. When anything fails the old file stays and the new one is removed. What a killed process left
    is removed by the next one that writes to the folder, where the system has locks (not Windows) that tell it
    from a file in use.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing at the file
    if target.is_dir():
        raise FileError(f"Cannot write {os.fspath(path)}: it is a directory. Name a file in it.")
    if target.exists() and not target.is_file():  # a pipe or a device takes bytes as they come
        with _failing_clearly(path), target.open("wb") as device:
            yield device
        return
    _remove_leftovers(target.parent)
    with _failing_clearly(path):
        part = _Part.begin(target)
    try:
        with _failing_clearly(path):
            yield part.file
            part.file.flush()
            os.fsync(part.file.fileno())
            waiting = _TOGETHER.get()
            if waiting is None:
                part.settle()
            else:
                waiting.append(part)
    except BaseException:
        part.drop()
        raise


@contextlib.contextmanager
def _failing_clearly(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the operating system says about writing a file into an error with a hint."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).rstrip(".")
        raise FileError(
            f"Cannot write {os.fspath(path)}: {reason}. Choose a folder that exists, may be written to and has "
            "room; what stood there before is unchanged."
        ) from error


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Make a folder unless it is there, or say why it cannot be made."""
    made = Path(folder)
    try:
        made.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if made.is_file() else (error.strerror or str(error)).rstrip(".")
        raise FileError(f"Cannot make the folder {made}: {reason}. Name another one.") from error
    return made


def write_files(folder: str | os.PathLike[str], contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files, by their names, to a folder that is made if need be; each is written whole or not at all."""
    target = make_folder(folder)
    for name, content in contents.items():
        with replacing(target / name) as file:
            file.write(content)
    return tuple(target / name for name in contents)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise before hours of work, rather than after, if a file could not be written."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise FileError(f"Cannot write {os.fspath(path)}: it is a directory. Name a file in it.")
    folder = target.parent
    if not folder.is_dir():
        raise FileError(f"Cannot write {os.fspath(path)}: there is no folder {os.fspath(folder)}. Make it first.")
    if not os.access(folder, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise FileError(f"Cannot write {os.fspath(path)}: permission denied. Choose another place.")


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file, or say where it is wrong."""
    check_file(path)
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and nests of brackets
        raise FileError(f"{os.fspath(path)} is not a TOML file: {_in_words(error)}.") from None
    except OSError as error:
        raise FileError(f"{os.fspath(path)} cannot be read: {error.strerror or error}.") from None


_NO_NAME = re.compile(r'[/\\\x00-\x1f\x7f<>:"|?*]')
_DEVICES = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|com[0-9\xb9\xb2\xb3]|lpt[0-9\xb9\xb2\xb3])", re.IGNORECASE
)
_LONGEST = 150  # bytes of a name, which leaves room for endings


def is_device(name: str) -> bool:
    """Whether Windows takes a name for a device (CON, NUL, COM1), whatever its ending."""
    return _DEVICES.fullmatch(name.partition(".")[0].rstrip()) is not None


def can_name_files(name: str) -> bool:
    """Whether a name can begin the name of a file on every system: no path or device, not hidden nor too long."""
    plain = name == name.strip() and not name.startswith(".") and not name.endswith(".")
    fits = 0 < len(name.encode("utf-8", "surrogatepass")) <= _LONGEST
    return plain and fits and not _NO_NAME.search(name) and not is_device(name)


def toml_value(value: Any) -> str:
    """Write one value as TOML: texts, numbers, lists, and tables on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(toml_line(key, item) for key, item in value.items()) + " }"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_line(key: str, value: Any) -> str:
    """Write a key and its value as TOML; odd keys are quoted."""
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return f"{key if bare else toml_value(key)} = {toml_value(value)}"


@contextlib.contextmanager
def wrap_read_errors(path: str, form: str, again: str = "write it anew") -> Iterator[None]:
    """Turn any exception of a library (polars also panics) into a :class:`FileError`.

    Its warnings are dropped, but not in threads, of which one would bring back the filters of another.
    """
    alone = threading.current_thread() is threading.main_thread()
    try:
        with warnings.catch_warnings() if alone else contextlib.nullcontext():
            if alone:
                warnings.simplefilter("ignore")
            yield
    except (BayesieveError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic is no Exception
        why = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise FileError(
            f"{path} cannot be read as {form}: it is damaged, cut short or of another kind ({why[:200]}). Fetch "
            f"it again, or {again}."
        ) from error


def separating_colons(reference: str) -> list[int]:
    """Return the places of colons that may stand between a file and a column; that of a drive does not."""
    drive = re.match(r"[A-Za-z]:[\\/]", reference)
    return [
        k for k, letter in enumerate(reference) if letter == ":" and (2 if drive else 1) <= k < len(reference) - 1
    ]


_MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@contextlib.contextmanager
def decoding(path: str | os.PathLike[str], again: str = "Write it again.") -> Iterator[None]:
    """Turn what plain values of the wrong kind raise, while objects are made of them, into a :class:`FileError`.

    It goes around decoders alone, which do nothing else, so that a mistake of the package elsewhere shows as one.
    """
    try:
        yield
    except BayesieveError:
        raise
    except _MALFORMED as error:
        raise FileError(f"{os.fspath(path)} is damaged ({_in_words(error)}). {again}") from error


def _in_words(error: BaseException) -> str:
    why = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:120]
    return f"there is no {why}" if isinstance(error, KeyError) else why


def parse_json(text: str, path: str | os.PathLike[str], again: str = "Write it again.") -> Any:
    """Return the values in JSON that was read from a file, or say where it is damaged."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"{os.fspath(path)} cannot be read as JSON: it is damaged or cut short ({_in_words(error)}). {again}"
        ) from None


def check_file(path: str | os.PathLike[str]) -> Path:
    """Raise unless there is a file that may be read."""
    file, name = Path(path), os.fspath(path)
    try:
        if not file.exists():
            alike = _alike(file)
            hint = f" Did you mean {alike}?" if alike else " Check the name and the folder."
            raise FileError(f"There is no file {name}.{hint}")
        if file.is_dir():
            raise FileError(f"{name} is a folder, not a file. Name the file in it.")
        if not os.access(file, os.R_OK):
            raise FileError(f"{name} may not be read by this user: permission denied. Ask for access or copy it.")
        if not file.is_file():
            raise FileError(
                f"{name} is a pipe or a device. A table is looked at more than once: save it to a file."
            )
        if file.stat().st_size == 0:
            raise FileError(f"{name} is empty (0 bytes). Check how it was written or downloaded.")
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{name!r} cannot be opened: {error}.") from error
    return file


def _alike(file: Path) -> str | None:
    try:
        here = [entry.name for entry in file.parent.iterdir()]
    except OSError:
        return None
    found = nearest(file.name, here)
    return os.fspath(file.with_name(found)) if found else None


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file, or say where it is damaged."""
    data = check_file(path).read_bytes()
    with decoding(path):
        text = data.decode("utf-8-sig", "surrogatepass")
    return parse_json(text, path)
