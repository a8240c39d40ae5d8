"""Whatever a library says about a file it cannot read, in one sentence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from bayesieve.errors import BayesieveError, FileError


@contextmanager
def reading(path: str, form: str, again: str = "write it anew") -> Iterator[None]:
    """Turn any exception of a library (polars also panics) into a :class:`FileError`; its warnings are dropped.

    Parameters
    ----------
    path, form
        The file, and what it should be.
    again
        How to write it again.
    """
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
