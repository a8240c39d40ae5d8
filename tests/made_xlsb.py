"""A small writer of binary Excel workbooks, after their public description [MS-XLSB]: records in a ZIP file."""

from __future__ import annotations

import struct
import zipfile

_TYPES = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/>{}</Types>'
)
_SHEET_TYPE = '<Override PartName="/xl/worksheets/sheet{}.bin" ContentType="application/vnd.ms-excel.worksheet"/>'
_STRINGS_TYPE = '<Override PartName="/xl/sharedStrings.bin" ContentType="application/vnd.ms-excel.sharedStrings"/>'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
)
_RELATION = '<Relationship Id="{}" Type="' + _OFFICE + '/{}" Target="{}"/>'

BEGIN_BOOK, END_BOOK, BEGIN_SHEET, END_SHEET = 131, 132, 129, 130
BEGIN_SHEETS, END_SHEETS, SHEET = 143, 144, 156
DIMENSION, BEGIN_DATA, END_DATA, ROW = 148, 145, 146, 0
BLANK, RK, ERROR, REAL, TEXT, SHARED = 1, 2, 3, 5, 6, 7
BEGIN_STRINGS, END_STRINGS, STRING = 159, 160, 19


def record(kind: int, data: bytes = b"") -> bytes:
    """A record: its number and its size in pieces of seven bits, the lowest first, then its data."""
    head = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
    size, pieces = len(data), []
    while True:
        pieces.append(size & 127 | (128 if size > 127 else 0))
        size >>= 7
        if not size:
            return head + bytes(pieces) + data


def text(value: str) -> bytes:
    """XLWideString: the number of UTF-16 units, and these."""
    return struct.pack("<I", len(value.encode("utf-16-le")) // 2) + value.encode("utf-16-le")


def cell(column: int, value, strings: dict[str, int]) -> bytes:
    """A cell: its column, its style, and a number, an error or a text (shared, or its own if it is long)."""
    head = struct.pack("<II", column, 0)
    if value is None:
        return record(BLANK, head)
    if isinstance(value, int) and abs(value) < 2**29:
        return record(RK, head + struct.pack("<i", value << 2 | 2))
    if isinstance(value, (int, float)):
        return record(REAL, head + struct.pack("<d", value))
    if value == "#N/A":
        return record(ERROR, head + b"\x2a")
    if len(value) > 20:
        return record(TEXT, head + text(value))
    return record(SHARED, head + struct.pack("<I", strings.setdefault(value, len(strings))))


def write_xlsb(path, sheets) -> None:
    """Write sheets, a mapping from names to rows of cells."""
    strings: dict[str, int] = {}
    bundle, relations, types = b"", "", ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for k, (name, rows) in enumerate(sheets.items(), 1):
            bundle += record(SHEET, struct.pack("<II", 0, k) + text(f"rId{k}") + text(name))
            relations += _RELATION.format(f"rId{k}", "worksheet", f"worksheets/sheet{k}.bin")
            types += _SHEET_TYPE.format(k)
            width = max(map(len, rows), default=1)
            body = b"".join(
                record(ROW, struct.pack("<IIHBBBIII", i, 0, 300, 0, 0, 0, 1, 0, width - 1))
                + b"".join(cell(j, value, strings) for j, value in enumerate(row))
                for i, row in enumerate(rows)
            )
            size = struct.pack("<IIII", 0, max(len(rows), 1) - 1, 0, width - 1)
            parts = record(DIMENSION, size) + record(BEGIN_DATA) + body + record(END_DATA)
            archive.writestr(f"xl/worksheets/sheet{k}.bin", record(BEGIN_SHEET) + parts + record(END_SHEET))
        relations += _RELATION.format("rIdS", "sharedStrings", "sharedStrings.bin")
        shared = b"".join(record(STRING, b"\0" + text(value)) for value in strings)
        counts = struct.pack("<II", len(strings), len(strings))
        archive.writestr("xl/sharedStrings.bin", record(BEGIN_STRINGS, counts) + shared + record(END_STRINGS))
        book = record(BEGIN_SHEETS) + bundle + record(END_SHEETS)
        archive.writestr("xl/workbook.bin", record(BEGIN_BOOK) + book + record(END_BOOK))
        archive.writestr("xl/_rels/workbook.bin.rels", _RELATIONS.format(relations))
        whole = _RELATION.format("rId1", "officeDocument", "xl/workbook.bin")
        archive.writestr("_rels/.rels", _RELATIONS.format(whole))
        archive.writestr("[Content_Types].xml", _TYPES.format(types + _STRINGS_TYPE))
