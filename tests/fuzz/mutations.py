"""Mutations of valid files, each decided by a random number generator alone: bytes, text, and the structures in them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import sqlite3
import zipfile

import zstandard

HUGE = [b"\xff" * 8, b"\0" * 8, (10**12).to_bytes(8, "little"), (10**12).to_bytes(8, "big"), b"\xff\xff\xff\x7f"]
SIGNS = [b",", b'"', b"\n", b"\t", b"\r", b"\0", b"NA", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1b[2J", b"=1+1", b";"]
NUMBERS = [
    "-1",
    "0",
    "1",
    "1e400",
    "-1e400",
    "nan",
    "inf",
    "1" + "0" * 30,
    "1" + "0" * 400,
    "0.5",
    "1e-320",
    "2147483648",
]
WORDS = ["", "null", "true", "false", "[]", "{}", '""', '"x"', "\u202e", "x" * 300, "../../x", "1:2:3", "CON"]
ODD = [
    None, True, False, 0, -1, 1, 3, 0.5, -2.5, 1e308, 1e-320, 10**30, -(10**30), 10**400, 2**53 + 1, float("nan"), float("inf"),
    "", "x", "nan", "1e999", "\x1b[2J", "../x", "\ud800", "top", "mr:0.9", [], {}, [None], [[]], {"x": 1}, [1, 2, 3],
    ["a", "b"], {"array": [1, {}]}, {"type": "GaussianModel"}, {"number": "x"}, [[[[[[]]]]]],
]  # fmt: skip
KEYS = ["x", "type", "array", "number", "name", "samples", "python", "n", "sizes", "methods", "", "from", "class"]


def of_bytes(rng, content):
    """Change bytes in one to four places, or cut the end off."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(8)
        if how == 0:
            del data[at:]
        elif how == 1 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif how == 2:
            new = rng.randbytes(rng.randint(1, 6))
            data[at : at + len(new)] = new
        elif how == 3:
            new = rng.choice(HUGE)
            data[at : at + len(new)] = new
        elif how == 4:
            data[at:at] = rng.choice(SIGNS)
        elif how == 5:
            del data[at : at + rng.randint(1, 60)]
        elif how == 6:
            data[at:at] = data[at : at + rng.randint(1, 60)]
        else:
            data[at:at] = data[: rng.randint(0, len(data))]
    return bytes(data)


_TOKEN = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[A-Za-z_][\w.-]*")


def of_text(rng, content):
    """Change numbers and words, drop or repeat lines; sometimes bytes."""
    how = rng.randrange(6)
    if how < 2:
        return of_bytes(rng, content)
    lines = content.split(b"\n")
    if how == 2:
        at = rng.randrange(len(lines))
        lines[at : at + 1] = rng.choice(
            [[], [lines[at]] * 2, [lines[at], rng.choice(lines)], [b""], [lines[at][: len(lines[at]) // 2]]]
        )
        return b"\n".join(lines)
    found = list(_TOKEN.finditer(content))
    for _ in range(rng.randint(1, 3)):
        if found:
            match = rng.choice(found)
            new = rng.choice(NUMBERS if how < 5 else WORDS).encode("utf-8", "surrogatepass")
            content = content[: match.start()] + new + content[match.end() :]
            found = list(_TOKEN.finditer(content))
    return content


def of_tree(rng, tree):
    """Change, drop, rename or repeat something in lists and tables."""
    places = []

    def walk(node):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                walk(node[key])

    if not isinstance(tree, (dict, list)) or not tree:
        return rng.choice(ODD)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places.clear()
        walk(tree)
        if not places:
            break
        node, key = rng.choice(places)
        how = rng.randrange(10)
        if how < 6:
            node[key] = json.loads(json.dumps(rng.choice(ODD)))
        elif how == 6:
            del node[key]
        elif how == 7:
            other, name = rng.choice(places)
            node[key] = json.loads(json.dumps(other[name]))
        elif isinstance(node, dict):
            node[rng.choice(KEYS)] = node.pop(key)
        else:
            node.append(json.loads(json.dumps(node[key])))
    return tree


def of_json(rng, content):
    """Change values of JSON, rarely its bytes."""
    if rng.randrange(6) == 0:
        return of_bytes(rng, content)
    return json.dumps(of_tree(rng, json.loads(content))).encode("utf-8", "surrogatepass")


TOML = [
    "0", "-1", "1", "4", "10_000_000_000", "1" + "0" * 30, "1" + "0" * 400, "1e400", "-1e308", "nan", "inf", "true", '""', '"x"', '"welch"',
    '"mr:0.9"', '"bh:2"', '"../x"', '"\\u001b[2J"', "[]", "[[]]", "[1, 2]", '["a"]', "[4, 10000000000]", "{}", "{ x = 1 }",
    "{ from = 4, to = 10000000000, step = 2 }", "{ from = -4, to = 1e9, step = 1 }", "1979-05-27", "07:32:00", '"a.csv:b"',
]  # fmt: skip


def of_toml(rng, content):
    """Change values, drop, repeat or move lines."""
    lines = content.decode().splitlines()
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(lines))
        name, equals, value = lines[at].partition(" = ")
        how = rng.randrange(8)
        if equals and how < 5:
            lines[at] = f"{name} = {rng.choice(TOML)}"
        elif equals and how == 5:
            lines[at] = f"{rng.choice([*KEYS[:-5], 'iterations', 'scores', 'title'])} = {value}"
        elif how == 6:
            del lines[at]
        elif equals:
            lines.insert(rng.randrange(len(lines)), lines[at])
        else:
            return of_text(rng, content)
        if not lines:
            break
    return "\n".join(lines).encode()


def of_sqlite(rng, content):
    """Change cells, rows, columns and tables of a database, or JSON in its cells; sometimes its bytes."""
    if rng.randrange(4) == 0:
        return of_bytes(rng, content)
    with sqlite3.connect(":memory:", isolation_level=None) as base:
        base.deserialize(content)
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(rng.choice([1, 1, 2])):
            try:
                _of_table(rng, base, rng.choice(tables))
            except (sqlite3.Error, OverflowError, UnicodeEncodeError):
                continue
        made = base.serialize()
    base.close()
    return made


def _of_table(rng, base, table):
    columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
    column, how = rng.choice(columns), rng.randrange(10)
    cells = [cell for (cell,) in base.execute(f'SELECT "{column}" FROM {table}')]
    cell = rng.choice(cells) if cells else None
    if how < 3:
        new = rng.choice([*ODD[:26], b"", b"\xff\x00", 2**62, -(2**63), "x" * 3000])
        base.execute(f'UPDATE {table} SET "{column}" = ? WHERE "{column}" IS ?', (new, cell))
    elif how < 7 and isinstance(cell, str) and cell[:1] in "{[":
        new = of_json(rng, cell.encode())
        base.execute(f'UPDATE {table} SET "{column}" = CAST(? AS TEXT) WHERE "{column}" IS ?', (new, cell))
    elif how < 7 and isinstance(cell, bytes):
        base.execute(f'UPDATE {table} SET "{column}" = ? WHERE "{column}" IS ?', (of_bytes(rng, cell), cell))
    elif how == 7:
        base.execute(f'DELETE FROM {table} WHERE "{column}" IS ?', (cell,))
    elif how == 8:
        base.execute(f'ALTER TABLE {table} RENAME COLUMN "{column}" TO "{rng.choice(KEYS)}"')
    else:
        base.execute(rng.choice([
            f"DROP TABLE {table}", f"ALTER TABLE {table} RENAME TO other", f"ALTER TABLE {table} ADD COLUMN more",
            f'ALTER TABLE {table} DROP COLUMN "{column}"', f"DELETE FROM {table}", f"CREATE TABLE more AS SELECT * FROM {table}",
            f"INSERT INTO {table} DEFAULT VALUES",
        ]))  # fmt: skip


def of_zip(rng, content):
    """Change a part of an archive whose checksums are then made anew, drop or repeat a part; sometimes bytes."""
    if rng.randrange(3) == 0:
        return of_bytes(rng, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(parts))
    how = rng.randrange(8)
    if how == 0:
        del parts[name]
    elif how == 1:
        parts[name] = parts[rng.choice(list(parts))]
    else:
        parts[name] = (of_text if how < 5 else of_bytes)(rng, parts[name])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for each, data in parts.items():
            archive.writestr(each, data)
    return made.getvalue()


PACKERS = {
    ".gz": (lambda data: gzip.compress(data, 1, mtime=0), gzip.decompress),
    ".bz2": (lambda data: bz2.compress(data, 1), bz2.decompress),
    ".xz": (lambda data: lzma.compress(data, preset=0), lzma.decompress),
    ".zst": (
        zstandard.ZstdCompressor().compress,
        lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    ),
}


def of_packed(rng, content):
    """Change compressed bytes, or what is compressed."""
    ending = next(
        e
        for e, magic in ((".gz", b"\x1f\x8b"), (".bz2", b"BZh"), (".xz", b"\xfd7z"), (".zst", b"(\xb5"))
        if content.startswith(magic)
    )
    if rng.randrange(3):
        return of_bytes(rng, content)
    pack, unpack = PACKERS[ending]
    return pack(of_text(rng, unpack(content)))


def of_hdf5(rng, content):
    """Drop, move or overwrite parts of an HDF5 file, or change its bytes."""
    import h5py  # noqa: PLC0415 - for these files only
    import numpy as np  # noqa: PLC0415

    if rng.randrange(3):
        return of_bytes(rng, content)
    held = io.BytesIO(content)
    with h5py.File(held, "r+") as file:
        names = []
        file.visit(names.append)
        name = rng.choice(names)
        item, how = file[name], rng.randrange(8)
        if how == 0:
            del file[name]
        elif how == 1:
            file.move(name, rng.choice(["x", "obs/x", "var/_index", "X2"]))
        elif how == 2 and isinstance(item, h5py.Dataset):
            item.attrs["encoding-type"] = rng.choice(["array", "csr_matrix", "dataframe", "null", "x"])
        elif how == 3 and list(item.attrs):
            key = rng.choice(list(item.attrs))
            item.attrs[key] = rng.choice(["x", 3, [1, 2], ["a", "b"], -1.5, "dataframe"])
        elif how == 4 and list(item.attrs):
            del item.attrs[rng.choice(list(item.attrs))]
        elif how == 5 and isinstance(item, h5py.Dataset) and item.size and item.dtype.kind in "iuf":
            values = np.array(item[()])
            values.reshape(-1)[rng.randrange(values.size)] = (
                rng.choice([0, 1, 99, 2**31 - 1]) if item.dtype.itemsize > 1 else 1
            )
            item[...] = values
        else:
            del file[name]
            file[name] = rng.choice(["x", 3, [1.5, 2.5], ["a", "b"], [[1, 2], [3, 4]], [2**40]])
    return held.getvalue()
