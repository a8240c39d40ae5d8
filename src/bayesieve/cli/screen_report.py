"""The report of a screen that has just been run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input
from bayesieve.errors import OptionError
from bayesieve.selection import Rule, Selection

VALUES_SHOWN = 500


def check_report(path: str | os.PathLike[str] | None, option: str = "--report") -> None:
    """Raise before the work unless the report that an option names has the ending of one."""
    if path is not None and Path(path).suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"A report is an HTML file; let {os.fspath(path)} ({option}) end in .html.")


def write_report(
    settings: Mapping[str, Any], selection: Selection, rule: Rule, given: Input, talk: Talk,
    annotation: Mapping[str, Any], manifest: Mapping[str, Any],
) -> None:  # fmt: skip
    """Write the report that ``--report`` asks for; the values shown take one more reading of their features."""
    from bayesieve.cli.rerun import screen_defaults  # noqa: PLC0415 - knows this module's caller
    from bayesieve.cli.sources import sites_of  # noqa: PLC0415
    from bayesieve.report import (  # noqa: PLC0415 - slow to import
        Commands,
        Story,
        write_story,
    )

    n_values = VALUES_SHOWN if settings["report_values"] is None else settings["report_values"]
    story = Story.of(
        selection,
        rule=rule,
        data=given.data,
        n_values=n_values,
        annotation=annotation,
        class_counts=given.class_counts,
        transform=given.transform,
        described=given.telling(n_values),
        warned=talk.warned,
        sites=sites_of(given, selection.posterior),
        commands=Commands.of_settings(
            "screen", settings, screen_defaults(), selection.posterior, statistics=bool(given.sites)
        ),
        manifest=manifest,
        command=True,
    )
    write_story(story, settings["report"])
