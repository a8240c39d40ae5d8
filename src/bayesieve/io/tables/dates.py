"""Gene names that Excel has turned into dates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bayesieve.utils import DataWarning, list_names, plural, warn

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_OTHERS = {"mrz": 3, "mär": 3, "mrt": 3, "mai": 5, "maj": 5, "mei": 5, "okt": 10, "out": 10, "ott": 10, "dez": 12,
           "dic": 12, "set": 9, "déc": 12, "avr": 4, "abr": 4}  # fmt: skip
_NUMBER = {**{name: k + 1 for k, name in enumerate(_MONTHS)}, **_OTHERS}
_MONTH = "|".join(_NUMBER)
_DAY_MONTH = re.compile(rf"(\d{{1,2}})\.?[- /.]({_MONTH})[a-zéä]{{0,7}}\.?(?:[- /.]\d{{2,4}})?", re.IGNORECASE)
_MONTH_NUMBER = re.compile(rf"({'|'.join(name.capitalize() for name in _NUMBER)})-(\d{{1,2}})")
_ISO = re.compile(r"\d{4}-(\d\d)-(\d\d)(?:[T ]00:00:00(?:\.0+)?)?")
_OLD = {3: "MARCH", 9: "SEPT", 12: "DEC", 10: "OCT"}
_NEW = {3: "MARCHF", 9: "SEPTIN"}


def warn_of_dates(path: str, features: Sequence[str]) -> None:
    """Warn if a few feature names are dates: Excel turns MARCH1 and SEPT2 into 1-Mar and 2-Sep."""
    found = {name: place for name in features if (place := _month_and_number(name)) is not None}
    if not found or len(found) > len(features) / 2:  # features that are dates by design
        return
    old = [f"{_OLD.get(month, _MONTHS[month - 1].upper())}{number}" for month, number in found.values()]
    new = [f"{_NEW[month]}{number}" for month, number in found.values() if month in _NEW]
    today = f" (today {list_names(list(dict.fromkeys(new)), 5, quote=False)})" if new else ""
    warn(
        DataWarning,
        f"{path}: {plural(len(found), 'feature name')} of {len(features):,} look like dates: "
        f"{list_names(list(found), 5)}. Excel turns names of genes into dates when a table is opened or pasted; "
        f"they were probably {list_names(list(dict.fromkeys(old)), 5, quote=False)}{today}.",
        hint="Values and ranks are right, the names are not: restore them from the original file.",
        kind="dates",
        n=len(found),
    )


def _month_and_number(name: str) -> tuple[int, int] | None:
    if found := _DAY_MONTH.fullmatch(name):
        return _NUMBER[found[2].casefold()], int(found[1])
    if found := _MONTH_NUMBER.fullmatch(name):
        return _NUMBER[found[1].casefold()], int(found[2])
    if (found := _ISO.fullmatch(name)) and 1 <= int(found[1]) <= 12:
        return int(found[1]), int(found[2])
    return None
