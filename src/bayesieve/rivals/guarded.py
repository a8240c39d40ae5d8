"""Errors in a user's own method, told as the user's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from bayesieve.errors import BayesieveError, OptionError


def guarded(run: Callable[..., Any], name: str, home: str) -> Callable[..., Any]:
    """Let an error in a method of the user's own name its file.

    Examples
    --------
    >>> from bayesieve.rivals.guarded import guarded
    >>> guarded(lambda moments: moments, "mine", "mine.py")(3)
    3
    """

    @functools.wraps(run)
    def told(*given: Any, **options: Any) -> Any:
        try:
            return run(*given, **options)
        except BayesieveError:
            raise
        except Exception as error:
            raise OptionError(f"{name} of {home} failed: {type(error).__name__}: {error}.") from error

    return told
