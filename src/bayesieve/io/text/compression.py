"""Compressed files: gzip, bzip2, xz and zstd, told by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any

from bayesieve.errors import FileError

_MAGIC = {
    "gzip": b"\x1f\x8b",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
}
ENDINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


def decompressed(path: Path, name: str, start: bytes, source: Any) -> Any:
    """Return a stream of plain bytes; what the first bytes say and what the name says must agree."""
    kind = next((kind for kind, magic in _MAGIC.items() if start.startswith(magic)), None)
    promised = ENDINGS.get(path.suffix.lower())
    if promised and kind != promised:
        what = f"{kind} data" if kind else "no compressed data"
        raise FileError(
            f"{name} should hold {promised} data by its name, but it holds {what}. Give it the right "
            "name, or fetch it again."
        )
    if kind == "gzip":
        return gzip.GzipFile(fileobj=source)
    if kind == "bzip2":
        return bz2.BZ2File(source)
    if kind == "xz":
        return lzma.LZMAFile(source)
    if kind == "zstd":
        return _Zstd(source)
    return source


class _Zstd:
    """zstd data, frame by frame; an end in the middle of one is noticed."""

    def __init__(self, source: Any) -> None:
        import zstandard  # noqa: PLC0415 - only for such files

        self._source, self._new = source, zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = None

    def read(self, size: int) -> bytes:
        parts, length = [], 0
        while length < size:
            block = self._source.read(2**17)
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
