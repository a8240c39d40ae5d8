"""Settings of a screen, as a file says them: plain texts and numbers, safe to be shown in a command."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from bayesieve.errors import FileError

_TURNED = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}  # marks that show a text in another order


def checked_settings(path: str, said: Any) -> dict[str, Any]:
    r"""Return settings that were read from a file, or raise if they cannot be those of a screen.

    Parameters
    ----------
    path
        The file, for messages.
    said
        What it says; anything but a mapping counts as nothing.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.io.stored_settings import checked_settings
    >>> checked_settings("r.json", {"labels": "stage", "threshold": 0.9})
    {'labels': 'stage', 'threshold': 0.9}
    >>> try:
    ...     checked_settings("r.json", {"prior": "a\nimport os"})
    ... except bs.FileError as error:
    ...     print(str(error).split(":")[0])
    r.json cannot be used
    """
    if not isinstance(said, Mapping):
        return {}
    for name, value in said.items():
        for part in (name, *(value if isinstance(value, list) else [value])):
            if isinstance(part, str):
                _check_text(path, name, part)
            elif not (part is None or isinstance(part, (bool, int, float))):
                raise FileError(
                    f"{path} cannot be used: its setting {name} holds {type(part).__name__}, and settings are "
                    "texts, numbers and lists of them. The file has been changed; write it again with bayesieve "
                    "screen."
                )
    return dict(said)


def _check_text(path: str, name: str, text: str) -> None:
    for place, character in enumerate(text):
        kind = unicodedata.category(character)
        if (kind in ("Cc", "Zl", "Zp") and character != "\t") or ord(character) in _TURNED:
            raise FileError(
                f"{path} cannot be used: its setting {name!r} holds the control character U+{ord(character):04X} "
                f"(at position {place + 1}), which no option of bayesieve screen has a use for. Somebody may want "
                "to have a command run that is not the one shown. Do not use the file; write it again with "
                "bayesieve screen."
            )
