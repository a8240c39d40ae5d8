"""The options of the commands, each described once."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesieve.cli.enums import Criterion, DegeneratePolicy, MissingPolicy, Transform, Where
from bayesieve.errors import OptionError

INPUT, COMPARED, CHOICE, OUTPUT, TALK = "The table", "What is compared", "Prior and rule", "Output", "Talk"


def parse_memory(value: str) -> int:
    """Read an amount of memory: 300MB, 2GB, 512MiB, or a number of bytes."""
    text = str(value).strip().lower().removesuffix("b")
    scale = {"k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
    unit = next((unit for unit in sorted(scale, key=len, reverse=True) if text.endswith(unit)), "")
    try:
        size = int(float(text.removesuffix(unit)) * scale.get(unit, 1))
    except (ValueError, OverflowError):
        size = 0
    if size < 10**6:
        raise typer.BadParameter(
            f"{value!r} is no amount of memory of at least 1MB. Write, for example, 300MB or 2GB."
        )
    return size


def option(panel: str, *names: str, help: str, **more: Any) -> Any:  # noqa: A002 - as typer calls it
    """Describe an option, in its panel of the help."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


TableArgument = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV or TXT (also .gz .bz2 .xz .zst), Parquet, Arrow/Feather, .h5ad, GEO series matrix, GCT, "
        ".npy/.npz, or a statistics file.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    option(
        INPUT,
        "--labels",
        "-l",
        metavar="COLUMN",
        help="Class of each sample: a column of the table, or FILE:COLUMN.",
    ),
]
Classes = Annotated[
    str | None,
    option(
        INPUT,
        "--classes",
        "-c",
        metavar="CLASSES",
        help='Merge, pick, name and order: "early=1,adenoma; late=2,3,4".',
    ),
]
SamplesIn = Annotated[Where | None, option(INPUT, "--samples-in", help="Found out from the labels if not given.")]
IdColumn = Annotated[
    str | None,
    option(
        INPUT, "--id-column", metavar="COLUMN", help="Column with the sample ids, of the table or the label file."
    ),
]
Ignore = Annotated[
    list[str] | None, option(INPUT, "--ignore", metavar="COLUMN", help="Column to leave out; may be repeated.")
]
TransformOption = Annotated[Transform, option(INPUT, "--transform", help="Applied to every value; never guessed.")]
MissingOption = Annotated[MissingPolicy, option(INPUT, "--missing", help="Missing values: an error, or left out.")]
NaValues = Annotated[
    list[str] | None,
    option(INPUT, "--na-values", metavar="TEXT", help="Further spelling of a missing value; may be repeated."),
]
Encoding = Annotated[
    str | None,
    option(INPUT, "--encoding", metavar="NAME", help="Of text, for example latin-1; UTF-8 if not given."),
]
Decimal = Annotated[str, option(INPUT, "--decimal", metavar="MARK", help="Decimal mark: . or ,")]
Delimiter = Annotated[
    str | None, option(INPUT, "--delimiter", metavar="MARK", help="Between fields; found out if not given.")
]
Layer = Annotated[
    str | None, option(INPUT, "--layer", metavar="NAME", help="AnnData: a layer, or raw; X if not given.")
]
MemoryOption = Annotated[
    int | None,
    option(
        INPUT, "--memory", help="For data, e.g. 300MB; half of what is free if not given.", parser=parse_memory,
        metavar="SIZE",
    ),
]  # fmt: skip
Threads = Annotated[int | None, option(INPUT, "--threads", metavar="N", help="All cores if not given.", min=1)]

PriorOption = Annotated[
    str,
    option(CHOICE, "--prior", metavar="NAME|FILE", help="jeffreys, proper, uniform (categories), or a TOML file."),
]
PriorRatio = Annotated[
    str | None,
    option(
        CHOICE,
        "--prior-ratio",
        metavar="L",
        help="The paper's L for improper priors: a number, or paper, sqrt2pi, bic, ...",
    ),
]
PriorProbability = Annotated[
    str,
    option(
        CHOICE,
        "--prior-probability",
        "-p",
        metavar="P|FILE:COLUMN",
        help="Share of markers believed in, or FILE:COLUMN by feature.",
    ),
]
Resolution = Annotated[
    float | None,
    option(CHOICE, "--resolution", metavar="STEP", help="Step to which values are rounded (1 for counts).", min=0),
]
Degenerate = Annotated[
    DegeneratePolicy,
    option(CHOICE, "--degenerate", help="Features without variance: floor, exclude or an error."),
]
CriterionOption = Annotated[
    Criterion | None,
    option(
        CHOICE, "--criterion", help="Rule of the list; mnc (probability over 0.5) if no number says otherwise."
    ),
]
Threshold = Annotated[
    float | None, option(CHOICE, "--threshold", metavar="P", help="For mr: least probability.", min=0, max=1)
]
NSelected = Annotated[
    int | None, option(CHOICE, "--n-selected", "-n", metavar="N", help="For cmnc and cmap: list length.", min=0)
]
ExpectedFalse = Annotated[
    float | None,
    option(CHOICE, "--expected-false-positives", metavar="N", help="For np: a number of features.", min=0),
]
Proportion = Annotated[
    float | None,
    option(CHOICE, "--proportion", metavar="SHARE", help="For fdr and fdp: share of false ones.", min=0, max=1),
]
Confidence = Annotated[
    float | None,
    option(CHOICE, "--confidence", metavar="P", help="For fdp: probability of keeping the share.", min=0, max=1),
]

Out = Annotated[
    Path | None,
    option(
        OUTPUT,
        "--out",
        "-o",
        metavar="FILE",
        help=".csv, .tsv, .parquet or .json; standard output (CSV) if not given.",
    ),
]
Features = Annotated[
    Path | None,
    option(OUTPUT, "--features", metavar="FILE", help="Table of feature annotations; its columns are added."),
]
Report = Annotated[
    Path | None,
    option(
        OUTPUT, "--report", metavar="FILE.html", help="Page with the list, live rules, charts and the whole table."
    ),
]
ReportValues = Annotated[
    int | None,
    option(
        OUTPUT,
        "--report-values",
        metavar="N",
        help="Features whose values go into the report, 500 if not given; 0 leaves out all about single samples.",
        min=0,
    ),
]
ManifestOption = Annotated[
    Path | None,
    option(OUTPUT, "--manifest", metavar="FILE", help="JSON file for hashes, settings, versions and timings."),
]
ConfigOut = Annotated[
    Path | None, option(OUTPUT, "--config-out", metavar="FILE", help="TOML file for the settings of this run.")
]
Quiet = Annotated[bool, option(TALK, "--quiet", "-q", help="Say nothing but errors.")]
Verbose = Annotated[bool, option(TALK, "--verbose", "-v", help="Say more, with timings.")]
JsonLog = Annotated[bool, option(TALK, "--json-log", help="Messages on standard error as JSON lines.")]

Site = Annotated[
    str | None, option(OUTPUT, "--site", metavar="NAME", help="Name of the site; the file's name if not given.")
]
MinCell = Annotated[
    int,
    option(
        OUTPUT,
        "--min-cell",
        metavar="N",
        help="A feature with fewer values in any class is not given away.",
        min=0,
    ),
]
StatisticsOut = Annotated[
    Path,
    option(
        OUTPUT,
        "--out",
        "-o",
        metavar="FILE",
        help="Statistics file to write, NAME.stats.parquet.",
        show_default=False,
    ),
]


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as plain values (texts, numbers, lists), whatever the parser made of them."""
    return {name: _plain(value) for name, value in params.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


_JOINED = {"methods": ",", "top": ","}  # lists in a file that are texts on the command line


def read_config(ctx: typer.Context, param: Any, path: Path | None) -> Path | None:
    """Take the options that the command line does not give from a TOML file; dashes are as good as underscores."""
    del param
    if path is None or ctx.resilient_parsing:
        return path
    from bayesieve.screening import ScreenSpec  # noqa: PLC0415 - only when asked for
    from bayesieve.utils import read_toml  # noqa: PLC0415

    known = {each.name: each for each in ctx.command.params if each.name not in (None, "config", "config_out")}
    settings = {key.replace("-", "_"): value for key, value in read_toml(path).items()}
    settings.pop("bayesieve_version", None)
    _check_settings(path, settings, known, ctx.info_name or "")
    try:
        settings |= ScreenSpec.read_options(settings)
    except OptionError as error:
        raise OptionError(f"{path}: ", *error.message.text, hint=error.message.hint) from None
    for name, value in settings.items():
        if isinstance(value, list) and name in _JOINED:
            settings[name] = value = _JOINED[name].join(map(str, value))  # noqa: PLW2901 - as on the command line
        try:
            known[name].process_value(ctx, value)
        except typer.BadParameter as error:
            raise OptionError(f"{path}: {name} = {value!r}: {error.message.rstrip('.')}.") from None
    ctx.default_map = {**(ctx.default_map or {}), **settings}
    return path


def _check_settings(path: Path, settings: dict[str, Any], known: Mapping[str, Any], command: str) -> None:
    """Raise if settings are of another command, have another name than an option, or are no plain values."""
    from bayesieve.utils import did_you_mean  # noqa: PLC0415 - only when asked for

    of = settings.pop("command", command)
    if of != command:
        raise OptionError(f"{path} holds settings of bayesieve {of}, not of bayesieve {command}.")
    for name, value in settings.items():
        if name not in known:
            raise OptionError(
                f"{path}: there is no setting {name!r}.{did_you_mean(name, known)} Settings are called as the "
                "options of the command are, without the leading dashes."
            )
        if isinstance(value, dict):
            raise OptionError(f"{path}: {name!r} is a table; settings are plain values.")


Config = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="TOML file with options; the command line wins.", callback=read_config,
        is_eager=True, rich_help_panel=INPUT,
    ),
]  # fmt: skip
