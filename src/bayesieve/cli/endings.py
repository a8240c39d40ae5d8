"""How a command ends other than well: told apart here, before the option parser takes it for its own affair."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class EndingError(BaseException):
    """An end that is no mistake: an interruption, or a reader that has seen enough.

    Parameters
    ----------
    code
        Exit code.
    message
        What to say, if anything.
    """

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code, self.message = code, message


@contextlib.contextmanager
def endings() -> Iterator[None]:
    """Turn an interruption and a closed pipe into an end of their own."""
    try:
        yield
    except KeyboardInterrupt:
        raise EndingError(130, "interrupted; files that were being written are as they were before.") from None
    except BrokenPipeError:  # the reader of standard output, such as head, has seen enough
        raise EndingError(0) from None
