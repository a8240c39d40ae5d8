"""Where a table is: a file, a folder, or a sheet of a workbook."""

from __future__ import annotations

import os
import re
from pathlib import Path

from bayesieve.utils import check_file

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_SHEET = re.compile(r"(.+?\.(?:xlsx|xlsm|xlsb|xls|ods)):(.*)", re.IGNORECASE | re.DOTALL)


def split_sheet(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Split ``book.xlsx:rest`` into the workbook and what is said of it: a sheet, a column, or both."""
    name = os.fspath(path)
    found = None if os.path.lexists(name) else _SHEET.fullmatch(name)
    return (found[1], found[2].strip(":") or None) if found else (name, None)


def check_table(path: str | os.PathLike[str]) -> Path:
    """Raise unless there is a file that may be read, or a folder; return it, without the name of a sheet."""
    name = split_sheet(path)[0]
    return Path(name) if os.path.isdir(name) else check_file(name)
