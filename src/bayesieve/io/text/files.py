"""Bytes of a text file: decompress, as UTF-8, without a byte-order mark, lines ended by a newline."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from bayesieve.io.text.foreign import check_foreign
from bayesieve.utils import FileError, MissingExtraError, check_file, check_unpacked, install_command, option

_MAGIC = {
    "gzip": b"\x1f\x8b",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
}
ENDINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


def decompress(path: Path, name: str, start: bytes, source: Any) -> Any:
    """Return a stream of plain bytes; what the first bytes say and what the name says must agree.

    A stream that unpacks to far more than it takes is stopped.
    """
    kind = next((kind for kind, magic in _MAGIC.items() if start.startswith(magic)), None)
    promised = ENDINGS.get(path.suffix.lower())
    if promised and kind != promised:
        what = f"{kind} data" if kind else "no compressed data"
        raise FileError(
            f"{name} should hold {promised} data by its name, but it holds {what}. Give it the right "
            "name, or fetch it again."
        )
    if kind is None:
        return source
    openers: dict[str, Callable[[Any], Any]] = {
        "gzip": lambda packed: gzip.GzipFile(fileobj=packed), "bzip2": bz2.BZ2File, "xz": lzma.LZMAFile,
        "zstd": _Zstd,
    }  # fmt: skip
    return _Bounded(openers[kind](source), name, path.stat().st_size)


class _Bounded:
    """What is unpacked of a file, as long as it does not become too much."""

    def __init__(self, stream: Any, name: str, size: int) -> None:
        self._stream, self._name, self._size, self._unpacked = stream, name, size, 0

    def read(self, size: int) -> bytes:
        block: bytes = self._stream.read(size)
        self._unpacked += len(block)
        check_unpacked(self._name, self._size, self._unpacked, "unpack the file first, and name what comes out")
        return block


_ZSTD_STEP = 2**12  # bytes that can become 128 MB at once; there is no other bound


class _Zstd:
    """zstd data, frame by frame; an end in the middle of one is noticed."""

    def __init__(self, source: Any) -> None:
        self._source, self._new = source, _zstd_frames()
        self._frame: Any = None

    def read(self, size: int) -> bytes:
        parts, length = [], 0
        while length < size:
            block = self._source.read(_ZSTD_STEP)
            if not block:
                if self._frame is not None:
                    raise EOFError("the last frame has no end")
                break
            while block:
                frame = self._frame or self._new()
                parts.append(frame.decompress(block))
                length += len(parts[-1])
                self._frame, block = (None, frame.unused_data) if frame.eof else (frame, b"")
        return b"".join(parts)


def _zstd_frames() -> Callable[[], Any]:
    """What makes a decompressor of one frame: Python's own from 3.14 on, before that of the extra ``zstd``."""
    try:
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdDecompressor  # noqa: PLC0415 - only for such files

            return ZstdDecompressor
        import zstandard  # noqa: PLC0415

        return zstandard.ZstdDecompressor().decompressobj
    except ImportError as error:
        raise MissingExtraError(
            f"Files packed with zstd need the package zstandard: run {install_command('zstd')}, or unpack them "
            "first."
        ) from error


_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_LOOK = 2**18
_SKIP = 2**20
TROUBLE = (EOFError, OSError, zlib.error, lzma.LZMAError)


def plain_suffix(path: str | os.PathLike[str]) -> str:
    """Ending of a file name in lower case, without that of a compression."""
    name = Path(path)
    return (name.with_suffix("") if name.suffix.lower() in ENDINGS else name).suffix.lower()


def first_bytes(path: Path) -> bytes:
    """Return the first bytes of a file as they are."""
    try:
        with path.open("rb") as stream:
            return stream.read(_LOOK)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


class TextBytes:
    r"""A text file as a stream of UTF-8 bytes.

    Parameters
    ----------
    path
        The file; gzip, bzip2, xz and zstd are recognised by their first bytes.
    encoding
        Encoding of the text; None for UTF-8, or what a byte-order mark says.
    content
        The text itself, in UTF-8, if it was taken out of the file already; then the file is not opened.
    """

    def __init__(
        self, path: str | os.PathLike[str], encoding: str | None = None, content: bytes | None = None
    ) -> None:
        self.name = os.fspath(path)
        if content is not None:
            self.path, self.size, self.encoding = Path(path), len(content), "utf-8"
            self._raw: Any = io.BytesIO(content)
            self._file, self._ahead, self._returns, self._decoder = self._raw, b"", False, None
            return
        self.path = check_file(path)
        try:
            self.size = self.path.stat().st_size
            self._raw = self.path.open("rb")
            start = self._raw.read(_LOOK)
            self._raw.seek(0)
        except OSError as error:
            raise FileError(f"{self.name} cannot be read: {error.strerror or error}.") from error
        self._ahead, self._returns, self._decoder = b"", False, None
        try:
            self._file = decompress(self.path, self.name, start, self._raw)
            self._decoder = self._begin(encoding)
        except BaseException:
            self._raw.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    @property
    def position(self) -> int:
        """How many bytes of the file itself have been read, out of ``size``."""
        try:
            return int(self._raw.tell())
        except (OSError, ValueError):
            return 0

    def read(self, size: int, before: bytes | bytearray = b"") -> bytes | bytearray:
        """Return ``before`` and about ``size`` more bytes, no more at the end."""
        if self._ahead:
            before, size, self._ahead = before + self._ahead, size - len(self._ahead), b""
            if size <= 0:
                return before
        if self._file is self._raw and self._decoder is None and not self._returns:
            return self._read_plain(size, before)
        while True:
            block = self._raw_read(size)
            text = self._decode(block)
            if text or not block:
                return before + (text.replace(b"\r", b"\n") if self._returns else text)

    def _read_plain(self, size: int, before: bytes | bytearray) -> bytearray:
        """Read behind what was left of the last block: nothing is copied."""
        block = bytearray(len(before) + size)
        block[: len(before)] = before
        try:
            with memoryview(block) as view:
                number = self._raw.readinto(view[len(before) :])
        except OSError as error:
            raise FileError(f"{self.name} cannot be read: {error.strerror or error}.") from error
        del block[len(before) + number :]
        return block

    def skip_lines(self, n_lines: int) -> None:
        """Pass over some lines."""
        while n_lines > 0 and (block := self.read(_SKIP)):
            found = block.count(b"\n")
            if found < n_lines:
                n_lines -= found
                continue
            place = -1
            for _ in range(n_lines):
                place = block.index(b"\n", place + 1)
            self._ahead, n_lines = bytes(block[place + 1 :]), 0

    def _raw_read(self, size: int) -> bytes:
        try:
            return bytes(self._file.read(size))
        except TROUBLE as error:
            raise self._damage_error(error) from error
        except Exception as error:
            if type(error).__name__ == "ZstdError":
                raise self._damage_error(error) from error
            raise

    def _damage_error(self, error: Exception) -> FileError:
        return FileError(
            f"{self.name} is damaged or cut short: its compressed data cannot be read to the end "
            f"({str(error).rstrip('.')}). Download or copy it again."
        )

    def _begin(self, encoding: str | None) -> Any:
        """Look at the first bytes; keep them as they are to be read, and return a decoder if one is needed."""
        start = self._raw_read(_LOOK)
        while 0 < len(start) < _LOOK:
            more = self._raw_read(_LOOK - len(start))
            if not more:
                break
            start += more
        if not start:
            raise FileError(f"{self.name} holds no data. Check how it was written or downloaded.")
        check_foreign(self.name, start)
        mark = next((mark for mark in _MARKS if start.startswith(mark)), b"")
        start = start[len(mark) :]
        self.encoding = encoding or _MARKS.get(mark) or _without_mark(start)
        decoder = self._decoder_for(self.encoding)
        if mark and decoder is not None and self.encoding.lower().startswith(("utf", "u")):  # the mark knows best
            decoder = self._decoder_for(_MARKS[mark])
        self._decoder = decoder
        self._ahead = self._decode(start)
        self._returns = b"\r" in self._ahead[:-1] and b"\n" not in self._ahead  # as old Macs wrote
        if self._returns:
            self._ahead = self._ahead.replace(b"\r", b"\n")
        if b"\0" in self._ahead:
            check_foreign(self.name, start, by_name=True)
            raise FileError(
                f"{self.name} is not a text table: it holds zero bytes.",
                hint=(
                    "If it is text in an unusual encoding, name it with ",
                    option("encoding"),
                    " (for example utf-16); otherwise save the table as CSV.",
                ),
            )
        return decoder

    def _decoder_for(self, encoding: str) -> Any:
        try:
            name = codecs.lookup(encoding).name
            return None if name in ("utf-8", "ascii") else codecs.getincrementaldecoder(name)("strict")
        except (LookupError, TypeError, ValueError):
            raise FileError(
                f"There is no text encoding {encoding!r}. Usual ones are utf-8, latin-1, cp1252 and utf-16."
            ) from None

    def _decode(self, block: bytes) -> bytes:
        if self._decoder is None:
            return block
        try:
            text = self._decoder.decode(block, final=not block)
        except (UnicodeDecodeError, ValueError) as error:
            raise FileError(
                f"{self.name} is not {self.encoding} text ({str(error).rstrip('.')}).",
                hint=("Name its encoding with ", option("encoding"), ", for example utf-8, latin-1 or utf-16."),
            ) from None
        return bytes(text.encode("utf-8", "surrogatepass"))


def _without_mark(start: bytes) -> str:
    """UTF-16 without a mark shows as zeros in every second place."""
    even, odd = start[0:512:2], start[1:512:2]
    if len(start) >= 8 and odd.count(0) > 0.7 * len(odd) and not even.count(0):
        return "utf-16-le"
    if len(start) >= 8 and even.count(0) > 0.7 * len(even) and not odd.count(0):
        return "utf-16-be"
    return "utf-8"
