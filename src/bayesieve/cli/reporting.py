"""``bayesieve report`` and ``bayesieve figures``: a stored result as a page or as pictures."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesieve.cli.outputs import RunOptions, annotation_file, check_exists, check_report, check_targets
from bayesieve.cli.report_source import Source, read_source
from bayesieve.cli.words import for_the_command_line
from bayesieve.errors import FileError, OptionError
from bayesieve.screening import ScreenSpec
from bayesieve.selection import counted, make_rule
from bayesieve.utils import check_file, check_writable

_WIDTH = 79
_ENDINGS = (".stats.parquet", ".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq", ".json")


def run_report(options: Mapping[str, Any], result: str, title: str | None) -> None:
    """Write the report of a result."""
    changes, run = ScreenSpec.read_options(options), RunOptions.from_options(options)
    talk = run.talk()
    check_file(result)
    out = Path(run.out or _stem(result) + ".report.html")
    check_report(out, "--out")
    _check_options(changes, run)
    check_writable(out)
    read = {result: "table", run.features: "features", run.manifest: "config"}
    check_targets({path: name for path, name in read.items() if path is not None}, {"out": out})
    source = read_source(result, changes, run, talk)
    _annotate(source, run.features)
    from bayesieve.report import Story, write_story  # noqa: PLC0415 - slow to import

    with talk.timed("report"):
        story = Story.of(
            source.selection,
            rule=source.rule,
            data=source.data,
            n_values=run.n_values,
            annotation=source.annotation,
            title=title,
            class_counts=source.class_counts,
            transform=source.transform,
            described=source.described,
            warned=talk.warned(ids=run.n_values > 0),
            sites=source.sites,
            commands=source.commands,
            manifest=source.manifest,
            say=for_the_command_line,
        )
        write_story(story, out)
    size, selection = out.stat().st_size, source.selection
    n, chosen = selection.posterior.n_features, selection.n_selected
    what = f"{chosen:,} selected of {counted(n, 'feature')} ({selection.rule})"
    last = f"Wrote the report of {what} to {out} ({size / 1e6:,.1f} MB); open it in a browser."
    lines = _wrap([*source.described, last])
    talk.say("report", "\n".join(lines), path=os.fspath(out), bytes=size, n_features=n, n_selected=chosen)


def run_figures(options: Mapping[str, Any], result: str, formats: str, features: Sequence[str]) -> None:
    """Write the figures of a result, each to a file of its own in every format."""
    changes, run = ScreenSpec.read_options(options), RunOptions.from_options(options)
    talk, folder = run.talk(), Path(str(run.out))
    check_file(result)
    names = [part.strip() for part in formats.split(",") if part.strip()]
    if folder.exists() and not folder.is_dir():
        raise FileError(f"Cannot write figures to {folder}: it is a file. Name a folder.")
    _check_options(changes, run)
    from bayesieve.report import FORMATS, save_all  # noqa: PLC0415 - slow to import
    from bayesieve.utils import load_matplotlib  # noqa: PLC0415

    if not names or any(name.lower() not in FORMATS for name in names):
        raise OptionError(f"--format takes {', '.join(FORMATS)}, with commas between, not {formats!r}.")
    load_matplotlib()  # says before the work how to install it
    source = read_source(result, changes, run, talk)
    with talk.timed("figures"):
        written = save_all(source.selection, folder, names, features, source.sites, data=source.data)
    lines = [*_wrap([*source.described, f"Wrote {counted(len(written), 'file')}:"]), *(f"  {p}" for p in written)]
    talk.say("figures", "\n".join(lines), files=[os.fspath(path) for path in written])


def _wrap(texts: list[str]) -> list[str]:
    wrapped = (textwrap.wrap(t, _WIDTH, break_long_words=False, break_on_hyphens=False) for t in texts)
    return [line for lines in wrapped for line in lines]


def _stem(result: str) -> str:
    name = result
    for ending in _ENDINGS:
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return name


def _check_options(changes: Mapping[str, Any], run: RunOptions) -> None:
    """Find out before the work whether options contradict each other and files are there."""
    make_rule(changes.get("criterion"), changes)
    check_exists("features", run.features)
    check_exists("manifest", run.manifest)


def _annotate(source: Source, features: str | None) -> None:
    """Add the columns of a table of annotations."""
    for name, column in annotation_file(features, source.selection.posterior.names).items():
        source.annotation[name if name not in source.annotation else f"{name} (2)"] = column
