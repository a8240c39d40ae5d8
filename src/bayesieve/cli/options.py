"""The options of the commands, each described once: name, type, default, panel of the help, help."""

from __future__ import annotations

import enum
import functools
import os
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesieve.cli.console import endings
from bayesieve.utils import OptionError

INPUT, COMPARED, CHOICE, OUTPUT, TALK = "The table", "What is compared", "Prior and rule", "Output", "Talk"
REQUIRED = Parameter.empty
Run = Callable[[dict[str, Any]], None]


def with_options(*parameters: Parameter) -> Callable[[Run], Callable[..., None]]:
    """Make a command of a function that takes all its options as plain values by name."""

    def decorate(function: Run) -> Callable[..., None]:
        @functools.wraps(function)
        def command(**options: Any) -> None:
            with endings():
                function(plain_params(options))

        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {}
        return command

    return decorate


def option(name: str, kind: Any, default: Any, panel: str, text: str, *short: str, **more: Any) -> Parameter:
    """Describe an option of that name, in its panel of the help; ``short`` are further spellings."""
    flag = f"--{name.rstrip('_').replace('_', '-')}"
    described = typer.Option(flag, *short, help=text, rich_help_panel=panel, **more)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, described])


def argument(name: str, kind: Any, text: str, default: Any = REQUIRED, **more: Any) -> Parameter:
    """Describe an argument; without a default it has to be given."""
    described = typer.Argument(help=text, show_default=False, **more)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, described])


def words(*choices: str) -> Any:
    """Return the type of an option that takes one of a few words."""
    make: Any = enum.StrEnum
    return make("Word", {choice.replace("-", "_"): choice for choice in choices})


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as plain values (texts, numbers, lists), whatever the parser made of them."""
    return {name: _plain(value) for name, value in params.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


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


# fmt: off
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel=TALK)]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more, with timings.", rich_help_panel=TALK)]
JsonLog = Annotated[bool, typer.Option("--json-log", help="Messages on standard error as JSON lines.",
                                       rich_help_panel=TALK)]
TALKING = tuple(Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind)
                for name, kind in (("quiet", Quiet), ("verbose", Verbose), ("json_log", JsonLog)))

TABLE = argument("table", Path, "CSV, TSV or TXT (also .gz .bz2 .xz .zst), Excel or OpenDocument (FILE.xlsx:SHEET "
                 "names a sheet), Parquet, Arrow/Feather, .h5ad, .h5mu, zarr, .loom, 10x folder or .h5, .mtx, GEO "
                 "series matrix or SOFT family, GCT, .npy/.npz, or a statistics file.")
CLASSES = option("classes", str | None, None, INPUT, 'Merge, pick, name and order: "early=1,adenoma; late=2,3,4".',
                 "-c", metavar="CLASSES")
SOURCE = (
    option("labels", str | None, None, INPUT, "Class of each sample: a column of the table, or FILE:COLUMN; of a "
           "workbook also FILE.xlsx:SHEET:COLUMN.", "-l",
           metavar="COLUMN"),
    CLASSES,
    option("samples_in", words("rows", "columns") | None, None, INPUT, "Found out from the labels if not given."),
    option("id_column", str | None, None, INPUT, "Column with the sample ids, of the table or the label file.",
           metavar="COLUMN"),
    option("ignore", list[str] | None, None, INPUT, "Column to leave out; may be repeated.", metavar="COLUMN"),
    option("transform", words("none", "log2", "log1p", "logit", "rank-normal"), "none", INPUT,
           "Applied to every value; never guessed."),
    option("missing", words("raise", "omit"), "raise", INPUT, "Missing values: an error, or left out."),
    option("na_values", list[str] | None, None, INPUT, "Further spelling of a missing value; may be repeated.",
           metavar="TEXT"),
    option("encoding", str | None, None, INPUT, "Of text, for example latin-1; UTF-8 if not given.",
           metavar="NAME"),
    option("decimal", str, ".", INPUT, "Decimal mark: . or ,", metavar="MARK"),
    option("delimiter", str | None, None, INPUT, "Between fields; found out if not given.", metavar="MARK"),
    option("layer", str | None, None, INPUT, "AnnData, loom: a layer, or raw; X if not given.", metavar="NAME"),
    option("modality", str | None, None, INPUT, "MuData: a modality; 10x: a feature type; GEO SOFT: a platform.",
           metavar="NAME"),
    option("memory", int | None, None, INPUT, "For data, e.g. 300MB; half of what is free if not given.",
           parser=parse_memory, metavar="SIZE"),
    option("threads", int | None, None, INPUT, "All cores if not given.", metavar="N", min=1),
    option("config", Path | None, None, INPUT, "TOML file with options; the command line wins.", metavar="FILE",
           callback=read_config, is_eager=True),
)
BLOCKS = option("blocks", str | None, None, COMPARED,
                "Batch of each sample: a column, FILE:COLUMN, or sites (of a statistics file).", "-b",
                metavar="COLUMN")
DESIGN = (
    option("model", words("gaussian", "categorical", "poisson", "negative-binomial"), "gaussian", COMPARED,
           "Of the values: measurements, categories or counts."),
    option("levels", str | None, None, COMPARED, 'Categories all features can have: "0,1,2".', metavar="LEVELS"),
    option("patterns", str, "any", COMPARED, 'Three or more classes: any, distinct, one-versus-rest, or given '
           'ones: "A | B,C; A,B | C".', metavar="PATTERNS"),
    BLOCKS,
    option("block_model", words("own", "shift"), "own", COMPARED,
           "Batches: all parameters their own, or one class shift."),
    option("pairs", str | None, None, COMPARED, "Pair (patient) of each sample: column or FILE:COLUMN.",
           metavar="COLUMN"),
    option("exposures", str | None, None, COMPARED, "Offsets of counts: column, FILE:COLUMN, or total (sums).",
           metavar="COLUMN"),
    option("informative_missing", bool, False, COMPARED, "A different share of missing values is evidence, too."),
    option("factors", str | None, None, COMPARED, "Compare given factors that samples share: how many, or auto.",
           metavar="N|auto"),
)
PRIOR_RATIO = option("prior_ratio", str | None, None, CHOICE,
                     "The paper's L for improper priors: a number, or paper, sqrt2pi, bic, ...", metavar="L")
PRIOR = (
    option("prior", str, "calibrated", CHOICE,
           "calibrated, the paper's jeffreys or proper, uniform (categories), or a TOML file.",
           metavar="NAME|FILE"),
    PRIOR_RATIO,
    option("prior_probability", str, "0.01", CHOICE, "Prior inclusion probability, estimate, or FILE:COLUMN.",
           "-p", metavar="P|FILE:COLUMN"),
    option("resolution", float | None, None, CHOICE, "Step to which values are rounded (1 for counts).",
           metavar="STEP", min=0),
    option("degenerate", words("floor", "exclude", "raise"), "floor", CHOICE,
           "Features without variance: floor, exclude or an error."),
)
RULE = (
    option("criterion", words("map", "cmap", "mr", "mnc", "cmnc", "np", "fdr", "fdp") | None, None, CHOICE,
           "Rule of the list; mnc (probability over 0.5) if no number says otherwise."),
    option("threshold", float | None, None, CHOICE, "For mr: least posterior probability.", metavar="P",
           min=0, max=1),
    option("n_selected", int | None, None, CHOICE, "For cmnc and cmap: list length.", "-n", metavar="N", min=0),
    option("expected_false_positives", float | None, None, CHOICE, "For np: a number of features.", metavar="N",
           min=0),
    option("proportion", float | None, None, CHOICE, "For fdr and fdp: share of false discoveries.",
           metavar="SHARE", min=0, max=1),
    option("confidence", float | None, None, CHOICE, "For fdp: probability of keeping the share.", metavar="P",
           min=0, max=1),
)
FINDINGS = (
    option("robust", bool, False, CHOICE, "Select on the least leave-one-out log-odds (--fragility)."),
    option("kinds", bool, False, OUTPUT, "Add: does the mean differ, the variance, or both? (two classes)"),
    option("effects", bool, False, OUTPUT, "Add: which way, and effect sizes with 95% intervals. (two classes)"),
    option("fragility", bool, False, OUTPUT, "Add: leave-one-out influence, the least log-odds."),
    option("p_values", bool, False, OUTPUT, "Add: exact p-values of the same difference. (two classes, Gaussian)"),
    option("permutations", int | None, None, OUTPUT,
           "Add: p-values and the number under the global null, from N permutations.", metavar="N", min=1),
    option("shuffles", int | None, None, CHOICE, "Screens with shuffled labels, to judge the list: 20 to 100 by "
           "the size of the table if not given; 0 for none.", metavar="N", min=0),
    option("seed", int | None, None, OUTPUT, "Of shuffles and permutations; 0 by default.", min=0),
)
OUT = option("out", Path | None, None, OUTPUT, ".csv, .tsv, .xlsx, .parquet or .json; standard output (CSV) if "
             "not given.", "-o", metavar="FILE")
REPORT_VALUES = option(
    "report_values", int | None, None, OUTPUT,
    "Features whose values go into the report, 500 if not given; 0 leaves out all about single samples.",
    metavar="N", min=0,
)
CONFIG_OUT = option("config_out", Path | None, None, OUTPUT, "TOML file for the settings of this run.",
                    metavar="FILE")
FILES = (
    OUT,
    option("report", Path | None, None, OUTPUT, "Page with the list, live rules, charts and the whole table.",
           metavar="FILE.html"),
    REPORT_VALUES,
    option("features", Path | None, None, OUTPUT, "Table of feature annotations; its columns are added.",
           metavar="FILE"),
    option("manifest", Path | None, None, OUTPUT, "JSON file for hashes, settings, versions and timings.",
           metavar="FILE"),
    CONFIG_OUT,
)
METHODS = (
    option("methods", str, "obf,obf-jp,welch,limma,bd", COMPARED,
           "With commas between: obf (calibrated), obf-jp, obf-pp, welch, student, limma, bd, mi, mi-literal, "
           "nmc, pearson-neyman, wilcoxon, f-classif, mutual-info, lasso-linear, lasso-logit, lasso-probit, "
           "elastic-net-linear, elastic-net-logit, elastic-net-probit, regressions, stability, skbs, bpm, "
           "bayesreg, bayesreg-logit-l1 (also linear, hs), 2mnc-robust, pofac, remain, spm, or a file of your "
           "own: my_rival.py:RIVAL.",
           "-m",
           metavar="NAMES"),
    option("top", str | None, None, COMPARED, "Length of the lists to compare, or several: 10,50,100.",
           metavar="N"),
    option("screen", str | None, None, COMPARED,
           "Give costly methods the strongest features of a quick one only, for example bd:300; all for all.",
           metavar="METHOD:N"),
    option("draws", int | None, None, COMPARED, "Draws that samplers keep of each chain.", metavar="N", min=1),
    option("burn_in", int | None, None, COMPARED, "Sweeps that samplers leave out first.", metavar="N", min=0),
    option("thin", int | None, None, COMPARED, "Sweeps for each draw that is kept.", metavar="N", min=1),
    option("chains", int | None, None, COMPARED, "Chains of each sampler.", metavar="N", min=1),
    option("method_option", list[str] | None, None, COMPARED,
           "Any other option of a method, for example lasso-logit.penalty=0.1; may be given several times.",
           metavar="METHOD.OPTION=VALUE"),
)
PROBABILITY, SHUFFLES, SEED = PRIOR[2], FINDINGS[6], FINDINGS[7]
CHECK = (
    option("repeats", int, 20, CHOICE, "Shuffles of the labels, each screened with known differences and without.",
           metavar="N", min=1),
    option("spiked_share", float, 0.05, CHOICE, "Share of the features that get a known difference.",
           metavar="SHARE", min=0, max=1),
    option("methods", str, "obf,obf-jp", COMPARED,
           "Screens, with commas between: obf (calibrated), obf-jp, obf-pp.", "-m", metavar="NAMES"),
    PROBABILITY, *RULE, SHUFFLES, SEED,
)
STATISTICS_OUT = option("out", Path, REQUIRED, OUTPUT, "Statistics file to write, NAME.stats.parquet.", "-o",
                        metavar="FILE", show_default=False)
SITE = (
    option("site", str | None, None, OUTPUT, "Name of the site; the file's name if not given.", metavar="NAME"),
    option("min_cell", int, 5, OUTPUT, "A feature with fewer values in any class is not given away.", metavar="N",
           min=0),
)
RESULT = argument("result", Path, "What screen --out wrote (.csv, .tsv, .parquet, .json), a statistics file, or a "
                  "manifest.", metavar="RESULT")
WRITTEN_BY = option("manifest", Path | None, None, INPUT, "Manifest of the run that wrote the result, if there is "
                    "one.", metavar="FILE")
ANOTHER_RULE = (
    CLASSES, BLOCKS, PRIOR_RATIO,
    option("prior_probability", str | None, None, CHOICE, "Another share of markers believed in than the "
           "result's.", "-p", metavar="P|FILE:COLUMN"),
    *RULE,
)
# fmt: on
