"""``bayesieve report`` and ``bayesieve figures``: a stored result as a page or as pictures."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesieve.cli.choices import RULE_NUMBERS, chosen_rule
from bayesieve.cli.console import Talk
from bayesieve.cli.outputs import annotation_file, check_targets
from bayesieve.cli.screen_report import VALUES_SHOWN, check_report
from bayesieve.cli.sources import Source, source_of
from bayesieve.cli.words import for_the_command_line
from bayesieve.errors import FileError, OptionError
from bayesieve.selection import Selection, counted
from bayesieve.utils import check_file, check_writable

_WIDTH = 79
_ENDINGS = (".stats.parquet", ".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq", ".json")


def run_report(settings: Mapping[str, Any]) -> None:
    """Write the report of a result."""
    talk = Talk(settings["quiet"], settings["verbose"], settings["json_log"])
    result = os.fspath(settings["result"])
    check_file(result)
    out = Path(settings["out"] or _stem(result) + ".report.html")
    check_report(out, "--out")
    _check_before(settings, out)
    source = _annotated(settings, source_of(settings, talk))
    from bayesieve.report import (  # noqa: PLC0415 - slow to import
        Story,
        write_story,
    )

    with talk.timed("report"):
        story = Story.of(
            source.selection,
            rule=source.rule,
            data=source.data,
            n_values=VALUES_SHOWN if settings["report_values"] is None else settings["report_values"],
            annotation=source.annotation,
            title=settings["title"],
            class_counts=source.class_counts,
            transform=source.transform,
            described=source.described,
            warned=talk.warned,
            sites=source.sites,
            commands=source.commands,
            manifest=source.manifest,
            say=for_the_command_line,
        )
        write_story(story, out)
    size = out.stat().st_size
    last = f"Wrote the report of {_list(source.selection)} to {out} ({size / 1e6:,.1f} MB); open it in a browser."
    lines = _wrapped([*source.described, last])
    talk.say(
        "report",
        "\n".join(lines),
        path=os.fspath(out),
        bytes=size,
        n_features=source.selection.posterior.n_features,
        n_selected=source.selection.n_selected,
    )


def run_figures(settings: Mapping[str, Any]) -> None:
    """Write the figures of a result, each to a file of its own in every format."""
    talk = Talk(settings["quiet"], settings["verbose"], settings["json_log"])
    check_file(settings["result"])
    folder = Path(settings["out"])
    formats = [part.strip() for part in settings["format"].split(",") if part.strip()]
    _check_folder(folder)
    _check_before(settings, None)
    from bayesieve.report import (  # noqa: PLC0415 - slow to import
        FORMATS,
        save_all,
    )
    from bayesieve.utils import load_matplotlib  # noqa: PLC0415

    odd = [name for name in formats if name.lower() not in FORMATS]
    if odd or not formats:
        raise OptionError(f"--format takes {', '.join(FORMATS)}, with commas between, not {settings['format']!r}.")
    load_matplotlib()  # says before the work how to install it
    source = source_of(settings, talk)
    with talk.timed("figures"):
        written = save_all(
            source.selection, folder, formats, settings["feature"] or (), source.sites, data=source.data
        )
    lines = [
        *_wrapped([*source.described, f"Wrote {counted(len(written), 'file')}:"]),
        *(f"  {p}" for p in written),
    ]
    talk.say("figures", "\n".join(lines), files=[os.fspath(path) for path in written])


def _wrapped(texts: list[str]) -> list[str]:
    wrapped = (textwrap.wrap(t, _WIDTH, break_long_words=False, break_on_hyphens=False) for t in texts)
    return [line for lines in wrapped for line in lines]


def _list(selection: Selection) -> str:
    n = selection.posterior.n_features
    return f"{selection.n_selected:,} selected of {counted(n, 'feature')} ({selection.rule})"


def _stem(result: str) -> str:
    name = result
    for ending in _ENDINGS:
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return name


def _check_before(settings: Mapping[str, Any], out: Path | None) -> None:
    """Find out before the work whether options contradict each other and the output can be written."""
    chosen_rule(settings["criterion"], {name: settings[name] for name in RULE_NUMBERS})
    for name in ("features", "manifest"):
        path = settings.get(name)
        if path is not None and not Path(path).exists():
            raise FileError(f"There is no file {path} (--{name}). Check the name and the folder.")
    if out is None:
        return
    check_writable(out)
    read = {"table": settings["result"], "features": settings["features"], "config": settings["manifest"]}
    check_targets({**read, "out": out}, ("out",))


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise FileError(f"Cannot write figures to {folder}: it is a file. Name a folder.")


def _annotated(settings: Mapping[str, Any], source: Source) -> Source:
    if settings["features"] is None:
        return source
    found = annotation_file(settings["features"], source.selection.posterior.names)
    for name, column in found.items():
        source.annotation[name if name not in source.annotation else f"{name} (2)"] = column
    return source
