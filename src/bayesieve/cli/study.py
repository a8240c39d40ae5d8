"""``bayesieve study``: a simulation study, begun or continued, and what came out of it."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bayesieve.cli.console import EndingError, Talk
from bayesieve.cli.study_tables import study_lines
from bayesieve.errors import FileError, MissingExtraError, OptionError
from bayesieve.study import (
    FILE_NAME,
    StudyDesign,
    StudyResults,
    built_in,
    built_in_names,
    due_units,
    n_workers,
    run_study,
)

_MINUTE = 60.0


def run_study_command(settings: Mapping[str, Any]) -> None:
    """Run a study that comes with the package or is described in a TOML file, or show it."""
    talk = Talk(settings["quiet"], settings["verbose"], settings["json_log"])
    if settings["study"] is None:
        if not settings["list_"]:
            raise OptionError(f"Name a study ({', '.join(built_in_names())}) or a TOML file.")
        _show_all()
        return
    design = chosen_design(settings)
    if settings["list_"]:
        print(design.to_toml(), end="")  # noqa: T201
        return
    folder = _folder(settings["out"], design)
    _announce(design, folder, settings["workers"], talk)
    with talk.timed("study"):
        results = _run(design, folder, settings["workers"], talk)
    print("\n".join(study_lines(results)), flush=True)  # noqa: T201
    _report(results, folder, talk)


def chosen_design(settings: Mapping[str, Any]) -> StudyDesign:
    """Return the study that the options name, changed as they say."""
    name = str(settings["study"])
    if name in built_in_names():
        design = built_in(name)
    elif name.lower().endswith(".toml") or Path(name).is_file():
        design = StudyDesign.from_toml(name)
    else:
        raise OptionError(
            f"There is no study {name!r}. Studies are {', '.join(built_in_names())}; one of your own is a file "
            "that ends in .toml."
        )
    methods = settings["methods"]
    return design.changed(
        iterations=settings["iterations"],
        sizes=None if settings["sizes"] is None else _numbers(settings["sizes"]),
        methods=None if methods is None else [each.strip() for each in methods.split(",") if each.strip()],
        seed=settings["seed"],
    )


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise OptionError(
            f"--sizes takes whole numbers with commas between, such as 100,200,500, not {text!r}."
        ) from None


def _show_all() -> None:
    for name in built_in_names():
        print(f"{name:<12} {built_in(name).title}")  # noqa: T201


def _folder(out: str | None, design: StudyDesign) -> Path:
    folder = Path(design.name if out is None else out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"Cannot make the folder {folder}: {error.strerror or error}. Choose another --out."
        ) from None
    return folder


def _announce(design: StudyDesign, folder: Path, workers: int | None, talk: Talk) -> None:
    sizes = sorted({n for method in design.methods for n in design.sizes_of(method)})
    spread = (
        f"n = {sizes[0]:,}" if len(sizes) == 1 else f"{len(sizes)} sizes from n = {sizes[0]:,} to {sizes[-1]:,}"
    )
    number = n_workers(design, workers)
    talk.say(
        "study",
        f"Study {design.name}: {_counted(len(design.methods), 'method')}, {spread}, "
        f"{_counted(design.iterations, 'iteration')}, seed {design.seed}; {_counted(number, 'process', 'es')}.\n"
        f"Results are kept in {folder / FILE_NAME}.",
        study=design.name,
        store=str(folder / FILE_NAME),
        workers=number,
    )


def _counted(number: int, word: str, ending: str = "s") -> str:
    return f"{number:,} {word}{'' if number == 1 else ending}"


def _run(design: StudyDesign, folder: Path, workers: int | None, talk: Talk) -> StudyResults:
    total = len(due_units(design, set()))
    with talk.progress("Data sets", counted=True) as bar:
        watch = _Watch(total, talk, bar)
        try:
            return run_study(design, folder, workers=workers, progress=watch)
        except KeyboardInterrupt:
            raise EndingError(
                130,
                f"interrupted; {watch.n_done:,} of {total:,} data sets are finished and stored in "
                f"{folder / FILE_NAME}. Run the same command again to go on.",
            ) from None


class _Watch:
    """Follows a study: a bar on a terminal, elsewhere a line every minute."""

    def __init__(self, total: int, talk: Talk, bar: Callable[[int, int], None] | None) -> None:
        self._total, self._talk, self._bar = total, talk, bar
        self._began = self._told = 0.0
        self.n_done = 0

    def __call__(self, done: int, due: int) -> None:
        now = time.monotonic()
        self.n_done = self._total - due + done
        if not self._began:
            self._began = self._told = now
            if due < self._total:
                self._talk.say("resumed", f"{self._total - due:,} of {self._total:,} data sets are there already.")
        if self._bar is not None:
            self._bar(done, due)
        elif done and now - self._told > _MINUTE:
            self._told = now
            left = (now - self._began) / done * (due - done)
            self._talk.say(
                "progress",
                f"{self.n_done:,} of {self._total:,} data sets; about {_duration(left)} left.",
                left=left,
            )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _report(results: StudyResults, folder: Path, talk: Talk) -> None:
    """Write figures, tables and a summary; where figures cannot be drawn, the rest."""
    from bayesieve.study import write_report  # noqa: PLC0415 - loads matplotlib

    try:
        files = write_report(results, folder, command=shlex.join(["bayesieve", *sys.argv[1:]]))
    except MissingExtraError as error:
        talk.say("report", f"Wrote {folder / 'summary.html'} (also .md) and results.csv, but no figures: {error}")
        return
    names = sorted({path.stem for path in files if path.suffix in (".png", ".svg", ".pdf")})
    figures = f" and {_counted(len(names), 'figure')} ({', '.join(names)})" if names else ""
    talk.say(
        "report",
        f"Wrote {folder / 'summary.html'} (also .md), results.csv{figures}.",
        files=[str(path) for path in files],
    )
