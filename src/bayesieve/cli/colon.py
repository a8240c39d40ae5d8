"""``bayesieve study colon``: the paper's application as one command, begun or continued."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

from bayesieve.cli.console import EndingError, Talk, show
from bayesieve.study import ColonDesign, ColonResults, run_colon, write_colon_report
from bayesieve.study.colon.published import TITLES
from bayesieve.study.colon.report import NAME, TITLE
from bayesieve.study.colon.run import DEFAULTS
from bayesieve.study.colon.work import SAMPLERS
from bayesieve.utils import OptionError, make_folder, toml_line

OPTIONS = ("series", "platform", "sets", "table", "labels", "synthetic", "reading", "mcmc")
"""Options of this study alone."""
_NOT_HERE = ("sizes", "scenarios")
_EVERY = 30.0  # seconds between messages about fits


def check_no_colon_options(settings: Mapping[str, Any]) -> None:
    """Raise if an option of this study is given with another one."""
    for name in OPTIONS:
        if settings.get(name):
            raise OptionError(f"--{name} is for the study {NAME}: bayesieve study {NAME} --{name} ...")


def colon_design(settings: Mapping[str, Any]) -> ColonDesign:
    """Return the design that the options describe."""
    for name in _NOT_HERE:
        if settings[name] is not None:
            raise OptionError(f"--{name} is not for the study {NAME}, which has one data set. Leave it out.")
    if settings["dask"] is not None:
        raise OptionError(f"--dask is not for the study {NAME}, which runs on one machine. Say --workers instead.")
    if settings["features"] is not None and not settings["synthetic"]:
        raise OptionError(
            "--features is the number of probes that --synthetic makes. Leave it out, or say --synthetic."
        )
    if settings["features"] is not None and settings["platform"] is not None:
        raise OptionError("A made series takes all probes of --platform: leave --features out.")
    methods = DEFAULTS if settings["methods"] is None else tuple(
        name.strip() for name in settings["methods"].split(",") if name.strip()
    )  # fmt: skip
    if settings["mcmc"]:
        methods = tuple(dict.fromkeys((*methods, *SAMPLERS)))
    given = {
        name: settings[name] for name in ("series", "platform", "sets", "table", "labels", "features", "seed")
    }
    given |= {"repeats": settings["iterations"], "reading": settings["reading"]}
    return ColonDesign(
        methods=methods, synthetic=bool(settings["synthetic"]),
        **{name: value for name, value in given.items() if value is not None},
    )  # fmt: skip


def run_colon_study(settings: Mapping[str, Any], talk: Talk, report: Callable[..., None]) -> None:
    """Run the application, tell what came out, and write the report."""
    if settings["list_"]:
        lines = [toml_line("name", NAME), toml_line("title", TITLE), toml_line("methods", DEFAULTS)]
        show("\n".join(lines))
        return
    design = colon_design(settings)
    folder = make_folder(NAME if settings["out"] is None else settings["out"])
    tell = _Teller(talk, f"Study {NAME}: {', '.join(design.methods)}; results are kept in {folder}.")
    try:
        with talk.timed("study"), talk.progress("Fits of a regression", counted=True) as bar:
            results = run_colon(
                design, folder, workers=settings["workers"], tell=tell,
                progress=bar or _Lines(talk),
            )  # fmt: skip
    except KeyboardInterrupt:
        raise EndingError(
            130, f"interrupted; finished steps are stored in {folder}. Run the same command again to go on."
        ) from None
    show("\n".join(_describe(results)))
    report(functools.partial(write_colon_report, results), folder, talk)


class _Teller:
    """Tells what is done, and before the first step what it is for: files that cannot be read come before."""

    def __init__(self, talk: Talk, first: str) -> None:
        self._talk, self._first = talk, first

    def __call__(self, text: str) -> None:
        if self._first:
            self._talk.say("study", self._first)
            self._first = ""
        self._talk.say("step", text)


class _Lines:
    """Tells now and then how far a regression has got, where there is no bar."""

    def __init__(self, talk: Talk) -> None:
        self._talk, self._told = talk, time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._told > _EVERY:
            self._told = now
            self._talk.say("progress", f"  {done:,} of {total:,} fits.", done=done, total=total)


def _describe(results: ColonResults) -> list[str]:
    """Say what came out: the shape, the first genes, and known genes in the top."""
    table = results.table
    made = " (made, no patients)" if results.design.synthetic else ""
    lines = [
        f"{table.stages.size:,} samples{made}, {len(table.features):,} of {results.n_probes:,} features with a "
        f"gene, {results.n_genes:,} genes.",
    ]
    first, *others = results.tops
    known = len(results.known_names)
    if results.rankings and known:
        lines.append(
            f"Of {known} known genes, among the first {first:,}, {' and '.join(f'{n:,}' for n in others)}:"
        )
    for (method, reading), found in results.rankings.items():
        counts = [sum(0 < rank <= top for rank in found.known.values()) for top in results.tops]
        shown = ", ".join(f"{count}" for count in counts)
        lines.append(
            f"  {TITLES[method] + ', ' + reading:<30} {shown:<12} first: "
            f"{', '.join(map(_short, found.genes.gene_lists[:3]))}"
        )
    for method, fitted in results.regressions.items():
        n = int((fitted["stability"] >= 0.51).sum())
        lines.append(
            f"  {method + ', ' + results.reading:<30} penalty {fitted['best']:g} by cross-validation; {n} stable "
            "probes"
        )
    return lines


def _short(genes: tuple[str, ...]) -> str:
    """Name a family by its first gene."""
    return genes[0] if len(genes) == 1 else f"{genes[0]} and {len(genes) - 1} more"
