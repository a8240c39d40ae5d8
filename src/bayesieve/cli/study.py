"""``bayesieve study``: a simulation study, begun or continued, and what came out of it."""

from __future__ import annotations

import functools
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesieve.cli.colon import check_no_colon_options, run_colon_study
from bayesieve.cli.console import EndingError, Talk, show
from bayesieve.study import (
    FILE_NAME,
    GRIDS,
    RecoveryView,
    StudyDesign,
    StudyGrid,
    StudyResults,
    TrustView,
    built_in,
    built_in_grid,
    built_in_names,
    check_cluster,
    check_recovery,
    check_trust,
    describe_recovery,
    due_units,
    model_of,
    n_workers,
    relative_costs,
    run_grid,
    run_study,
    write_recovery_report,
    write_report,
    write_trust_report,
)
from bayesieve.study.colon.report import NAME as COLON, TITLE as COLON_TITLE
from bayesieve.utils import MissingExtraError, OptionError, make_folder, read_toml

_MINUTE = 60.0
_MOST_COLUMNS = 4


def run_study_command(settings: Mapping[str, Any]) -> None:
    """Run a study that comes with the package or is described in a TOML file, or show it."""
    talk = Talk(settings["quiet"], settings["verbose"], settings["json_log"])
    if settings["study"] is None:
        if not settings["list_"]:
            raise OptionError(f"Name a study ({', '.join(_known())}) or a TOML file.")
        _show_all()
        return
    if settings["study"] == COLON:
        run_colon_study(settings, talk, _report)
        return
    check_no_colon_options(settings)
    design = _design_of(settings)
    if settings["list_"]:
        show(design.to_toml(), end="")
        return
    if isinstance(design, StudyGrid):
        _run_grid(design, settings, talk)
        return
    folder = make_folder(design.name if settings["out"] is None else settings["out"])
    workers, dask = settings["workers"], settings["dask"]
    check_cluster(design, workers, dask)
    _announce(design, folder, workers, dask, talk)
    with talk.timed("study"):
        results = _run(design, folder, workers, dask, talk)
    show("\n".join(_describe(results)))
    _report(functools.partial(write_report, results), folder, talk)


def _known() -> tuple[str, ...]:
    return (*built_in_names(), *GRIDS, COLON)


def _design_of(settings: Mapping[str, Any]) -> StudyDesign | StudyGrid:
    """Return the study that the options name, changed as they say."""
    name = str(settings["study"])
    found: StudyDesign | StudyGrid
    if name in built_in_names():
        found = built_in(name)
    elif name in GRIDS:
        found = built_in_grid(name)
    elif name.lower().endswith(".toml") or Path(name).is_file():
        found = StudyGrid.from_toml(name) if "scenarios" in read_toml(name) else StudyDesign.from_toml(name)
    else:
        raise OptionError(
            f"There is no study {name!r}. Studies are {', '.join(_known())}; one of your own is a file "
            "that ends in .toml."
        )
    changes = {
        "iterations": settings["iterations"],
        "sizes": None if settings["sizes"] is None else _numbers(settings["sizes"]),
        "methods": _names(settings["methods"]),
        "seed": settings["seed"],
    }
    if isinstance(found, StudyGrid):
        return found.changed(**changes, scenarios=_names(settings["scenarios"]), n_features=settings["features"])
    for option in ("scenarios", "features"):
        if settings[option] is not None:
            raise OptionError(f"--{option} is for a study of several scenarios, such as {', '.join(GRIDS)}.")
    return found.changed(**changes)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [each.strip() for each in text.split(",") if each.strip()]


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise OptionError(
            f"--sizes takes whole numbers with commas between, such as 100,200,500, not {text!r}."
        ) from None


def _show_all() -> None:
    for name in _known():
        title = (
            built_in_grid(name).title if name in GRIDS else COLON_TITLE if name == COLON else built_in(name).title
        )
        show(f"{name:<12} {title}")


def _run_grid(grid: StudyGrid, settings: Mapping[str, Any], talk: Talk) -> None:
    """Run the scenarios one after the other, say which statements hold, and write the report."""
    folder = make_folder(grid.name if settings["out"] is None else settings["out"])
    base, total = grid.base, grid.n_data_sets
    talk.say(
        "study",
        f"Study {grid.name}: {_pluralise(len(grid.scenarios), 'scenario')}, "
        f"{_pluralise(len(base.methods), 'method')}, n = {', '.join(f'{n:,}' for n in base.sizes)}, "
        f"{_pluralise(base.iterations, 'iteration')}, seed {base.seed}; {total:,} data sets.\n"
        f"Results are kept in {folder}, a folder for each scenario.",
        study=grid.name,
        store=str(folder),
    )
    with talk.timed("study"), talk.progress("Data sets", counted=True) as bar:
        watch = _Watch(total, talk, bar)
        try:
            results = run_grid(
                grid, folder, workers=settings["workers"], dask=settings["dask"], progress=watch.of_all
            )
        except KeyboardInterrupt:
            raise EndingError(
                130,
                f"interrupted; {watch.n_done:,} of {total:,} data sets are finished and stored in {folder}. Run "
                "the same command again to go on.",
            ) from None
    write: Callable[..., tuple[Path, ...]]
    if "trust" in base.measures:
        found = check_trust(TrustView(grid, results))
        write = functools.partial(write_trust_report, grid, results)
    else:
        view = RecoveryView(grid, results)
        show("\n".join(describe_recovery(view)))
        found = [(claim, finding) for claim, _, finding in check_recovery(view)]
        write = functools.partial(write_recovery_report, grid, results)
    for claim, finding in found:
        if finding.rows:
            show(f"{str(finding.verdict).capitalize()}: {claim}.")
    _report(write, folder, talk)


def _announce(design: StudyDesign, folder: Path, workers: int | None, dask: str | None, talk: Talk) -> None:
    sizes = sorted({n for method in design.methods for n in design.sizes_of(method)})
    spread = (
        f"n = {sizes[0]:,}" if len(sizes) == 1 else f"{len(sizes)} sizes from n = {sizes[0]:,} to {sizes[-1]:,}"
    )
    number = n_workers(design, workers) if dask is None else None
    where = f"cluster {dask}" if number is None else _pluralise(number, "process", "es")
    talk.say(
        "study",
        f"Study {design.name}: {_pluralise(len(design.methods), 'method')}, {spread}, "
        f"{_pluralise(design.iterations, 'iteration')}, seed {design.seed}; {where}.\n"
        f"Results are kept in {folder / FILE_NAME}.",
        study=design.name,
        store=str(folder / FILE_NAME),
        workers=number,
        **({} if dask is None else {"dask": dask}),
    )


def _pluralise(number: int, word: str, ending: str = "s") -> str:
    return f"{number:,} {word}{'' if number == 1 else ending}"


def _run(design: StudyDesign, folder: Path, workers: int | None, dask: str | None, talk: Talk) -> StudyResults:
    total = len(due_units(design, set()))
    with talk.progress("Data sets", counted=True) as bar:
        watch = _Watch(total, talk, bar)
        try:
            return run_study(design, folder, workers=workers, dask=dask, progress=watch)
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
        self._show(now, done, due)

    def of_all(self, done: int, total: int) -> None:
        """Follow several studies together: what is there already counts as done."""
        now = time.monotonic()
        self.n_done = done
        if not self._began:
            self._began = self._told = now
        self._show(now, done, total)

    def _show(self, now: float, done: int, due: int) -> None:
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


def _report(write: Callable[..., tuple[Path, ...]], folder: Path, talk: Talk) -> None:
    """Write figures, tables and a summary; where figures cannot be drawn, the rest."""
    try:
        files = write(folder, command=shlex.join(["bayesieve", *sys.argv[1:]]))
    except MissingExtraError as error:
        talk.say("report", f"Wrote {folder / 'summary.html'} (also .md) and results.csv, but no figures: {error}")
        return
    names = sorted({path.stem for path in files if path.suffix in (".png", ".svg", ".pdf")})
    figures = f" and {_pluralise(len(names), 'figure')} ({', '.join(names)})" if names else ""
    talk.say(
        "report",
        f"Wrote {folder / 'summary.html'} (also .md), results.csv{figures}.",
        files=[str(path) for path in files],
    )


def _describe(results: StudyResults) -> list[str]:
    """Say what came out: costs, errors of rules, or correctly labelled features, as the study is about."""
    if "costs" in results.design.measures:
        return _costs(results)
    if "reliability" in results.design.measures:
        return _calibration(results)
    return _accuracy(results)


def _accuracy(results: StudyResults) -> list[str]:
    means = results.means("correct")
    found = {(row["method"], row["n"]): row for row in means.iter_rows(named=True)}

    def cell(name: str, n: int) -> str:
        row = found.get((name, n))
        return "" if row is None else f"{row['mean']:,.1f} ({row['standard_error']:.1f})"

    n_features = model_of(results.design).n_features
    head = f"Correctly labelled of {n_features:,} features: mean over iterations (standard error)."
    return [head, *_table(results, cell)]


def _calibration(results: StudyResults) -> list[str]:
    pairs = [results.means(name) for name in ("expected_false_positives", "false_positives")]
    expected, true = (
        {(row["method"], row["n"]): row["mean"] for row in means.iter_rows(named=True)} for means in pairs
    )

    def cell(name: str, n: int) -> str:
        where = name, n
        return f"{expected[where]:,.2f} / {true[where]:,.2f}" if where in expected and where in true else ""

    return ["False positives in the list, expected / true: means over iterations.", *_table(results, cell)]


def _costs(results: StudyResults) -> list[str]:
    costs = relative_costs(results)
    width = max(len(title) for title in costs["title"])
    unit = results.design.methods[0].title
    lines = [
        f"Time in units of {unit}, and peak memory beyond the data, of each method alone on one thread.",
        f"{'method':<{width}}  {'n':>6}  {'milliseconds':>12}  {'times':>6}  {'MB':>7}",
    ]
    lines += [
        f"{row['title']:<{width}}  {row['n']:>6,}  {1e3 * row['seconds']:>12.1f}  "
        f"{row['times_reference']:>6.2f}  {row['peak_megabytes']:>7.1f}"
        for row in costs.iter_rows(named=True)
    ]
    return lines


def _table(results: StudyResults, cell: Callable[[str, int], str]) -> list[str]:
    """Methods by numbers of samples, of which some are shown."""
    sizes = _some(sorted(set(results.wide["n"])))
    rows = [
        ["method", *(f"n = {n:,}" for n in sizes)],
        *([method.title, *(cell(method.name, n) for n in sizes)] for method in results.design.methods),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(text.rjust(size) for text, size in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]


def _some(sizes: Sequence[int]) -> list[int]:
    """Return the first, the last and some in between."""
    if len(sizes) <= _MOST_COLUMNS:
        return list(sizes)
    step = (len(sizes) - 1) / (_MOST_COLUMNS - 1)
    return [sizes[round(k * step)] for k in range(_MOST_COLUMNS)]
