"""The command line: parse, call, print. No formula lives here."""

from __future__ import annotations

import sys
import warnings
from typing import Any


def main() -> None:
    """Run the command ``bayesieve``; exit codes: 0 fine, 2 a user's mistake, 1 a bug, 130 interrupted."""
    from bayesieve.cli.app import app  # noqa: PLC0415 - keeps ``import bayesieve.cli`` quick
    from bayesieve.errors import BayesieveError  # noqa: PLC0415

    warnings.showwarning = _tell
    try:
        app()
    except BayesieveError as error:
        print(f"bayesieve: {error}", file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("bayesieve: interrupted", file=sys.stderr)  # noqa: T201
        raise SystemExit(130) from None


def _tell(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show a warning as one paragraph, without the line of source that raised it."""
    print(f"bayesieve: warning: {message}", file=sys.stderr)  # noqa: T201
