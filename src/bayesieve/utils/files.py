"""Files: written whole or not at all (atomically), read with errors that help, and TOML."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from bayesieve.utils.errors import BayesieveError, FileError
from bayesieve.utils.messages import nearest


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its final name only when everything has been written.

    The bytes go to a file beside the target, are forced to the disk, and the name is then changed
    in one step. When anything fails the old file stays and the new one is removed.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing at the file
    if target.is_dir():
        raise FileError(f"Cannot write {os.fspath(path)}: it is a directory. Name a file in it.")
    if target.exists() and not target.is_file():  # a pipe or a device takes bytes as they come
        with _failing_clearly(path), target.open("wb") as device:
            yield device
        return
    new = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    with _failing_clearly(path):
        file = new.open("xb")
    try:
        with _failing_clearly(path), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _failing_clearly(path):
            if target.exists():
                new.chmod(target.stat().st_mode & 0o777)
            new.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
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
    """Turn any exception of a library (polars also panics) into a :class:`FileError`; its warnings are dropped."""
    try:
        with warnings.catch_warnings():
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
