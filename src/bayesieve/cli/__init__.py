"""The command line: parse, call, print. No formula lives here."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import warnings
from typing import Any


def command() -> None:
    """Run the command as a process of its own, which is short: it is not searched for garbage again and again."""
    gc.set_threshold(1_000_000)
    atexit.register(gc.freeze)  # nor at the end, which would cost a tenth of a second
    main()


def main() -> None:
    """Run the command ``bayesieve``; exit codes: 0 fine, 2 a user's mistake, 1 a bug, 130 interrupted."""
    from bayesieve.cli.app import app  # noqa: PLC0415 - keeps ``import bayesieve.cli`` quick
    from bayesieve.cli.console import EndingError  # noqa: PLC0415
    from bayesieve.utils import BayesieveError  # noqa: PLC0415

    warnings.showwarning = _tell
    sys.argv[1:] = [os.fsencode(argument).decode("utf-8", "surrogateescape") for argument in sys.argv[1:]]
    try:
        app()
    except BayesieveError as error:
        _say(f"bayesieve: {error.message.render(command=True)}")
        raise SystemExit(2) from None
    except EndingError as ending:
        if ending.message:
            _say(f"bayesieve: {ending.message}")
        else:  # nobody reads standard output any more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(ending.code) from None
    except OSError as error:
        _say(f"bayesieve: the system refuses: {error.strerror or error}{_file_of(error)}. Choose another place.")
        raise SystemExit(2) from None
    except MemoryError:
        _say(
            "bayesieve: there is not enough memory. Say --memory with less than is free, for example --memory 1GB."
        )
        raise SystemExit(2) from None
    except Exception:
        import traceback  # noqa: PLC0415

        traceback.print_exc()
        _say(
            "bayesieve: this is a bug, not your mistake. Please report it with the lines above, the command, and "
            "the output of bayesieve --version."
        )
        raise SystemExit(1) from None


def _file_of(error: OSError) -> str:
    return f" ({str(error.filename)[:80]})" if error.filename else ""


def _say(text: str) -> None:
    if "--json-log" in sys.argv:
        import json  # noqa: PLC0415

        text = json.dumps({"event": "error", "message": text.removeprefix("bayesieve: ")})
    from bayesieve.utils import printable  # noqa: PLC0415 - keeps ``import bayesieve.cli`` quick

    print(printable(text), file=sys.stderr)  # noqa: T201


def _tell(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show a warning as one paragraph, without the line of source that raised it."""
    known = getattr(message, "message", None)
    _say(f"bayesieve: warning: {known.render(command=True) if known is not None else message}")
