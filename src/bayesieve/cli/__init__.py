"""The command line: parse, call, print. No formula lives here."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command ``bayesieve``; exit codes: 0 fine, 2 a user's mistake, 1 a bug, 130 interrupted."""
    from bayesieve.cli.app import app  # noqa: PLC0415 - keeps ``import bayesieve.cli`` quick
    from bayesieve.errors import BayesieveError  # noqa: PLC0415

    try:
        app()
    except BayesieveError as error:
        print(f"bayesieve: {error}", file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("bayesieve: interrupted", file=sys.stderr)  # noqa: T201
        raise SystemExit(130) from None
