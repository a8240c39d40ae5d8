"""``bayesieve plan``: how many samples the next study needs."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Mapping
from typing import Any

from bayesieve.cli.console import EndingError, Talk, show
from bayesieve.cli.inputs import Input, check_classes, read_input
from bayesieve.cli.outputs import RunOptions, check_report, check_targets, files_read, write_config
from bayesieve.io import check_ending, check_table, read_result, write_results
from bayesieve.planning import SHUFFLES, Plan, StatedEffects, parse_designs, plan, save_figures, write_plan
from bayesieve.screening import ScreenSpec
from bayesieve.utils import OptionError, load_matplotlib, normalise_formats, option, together

_STATED = ("n_features", "n_markers", "differences", "variance_ratios", "variance_share")
_PLANNED = ("per_class", "ratio", "batches", "right", "combined", "interim", "goal", "cost_per_sample",
            "cost_per_follow_up", "futures", "prior_probability")  # fmt: skip
_NOT_PLANNED = ("pairs", "blocks", "covariates", "subject", "outcome", "likelihoods", "gene_map")
_FEW, _USUAL_PRIOR = 400, 0.01  # futures, and prior probability where the screen estimated or read it
_RESULT = (b"log_odds", b"probability", b"local_fdr")


def run_plan(options: Mapping[str, Any]) -> None:
    """Read the pilot, draw futures, write and tell."""
    run = RunOptions.from_options(options)
    talk = run.talk()
    stated, settings = options["no_pilot"], {name: options[name] for name in _PLANNED}
    settings["rules"] = [rule.strip() for rule in str(options["rules"]).split(",") if rule.strip()]
    settings["seed"] = options["seed"] or 0
    if stated == bool(options["table"]):
        raise OptionError(
            "A plan is made from a pilot TABLE or from stated effects (--no-pilot), "
            + ("and both were given. Leave one out." if stated else "and neither was given.")
        )
    spec = ScreenSpec.from_options({**options, "table": options["table"] or "", "shuffles": None})
    _check_outputs(options, spec, run)
    described: list[str] = []
    if stated:
        with talk.timed("plan"):
            found = make_plan(talk, None, effects=_effects(options), n_threads=run.threads, **settings)
    else:
        pilot, described = _read(spec, talk, run)
        with talk.timed("plan"):
            found = make_plan(
                talk, pilot, n_threads=run.threads, shuffles=options["shuffles"], missing=spec.missing, **settings
            )
    _show(found)
    _write(options, found, talk)
    write_config(run, "plan", spec, {name: value for name, value in options.items() if name != "table" or value})
    talk.say("result", "\n".join([*described, *_wrote(options)]), rows=found.to_dict())


def _effects(options: Mapping[str, Any]) -> StatedEffects:
    """Return the stated effects."""
    known: dict[str, Any] = {name: options[name] for name in _STATED}
    for name in ("differences", "variance_ratios"):
        try:
            known[name] = tuple(float(text) for text in str(options[name]).split(",") if text.strip())
        except ValueError:
            raise OptionError(
                option(name), f" takes numbers with commas between, such as 0.5,1.2, not {options[name]!r}."
            ) from None
    return StatedEffects(**known)


def _read(spec: ScreenSpec, talk: Talk, run: RunOptions) -> tuple[Any, list[str]]:
    """Return the pilot as plan() takes it, and what is to be said about it."""
    check_table(spec.table)
    if _is_result(spec.table):
        return read_result(spec.table).posterior, [f"{spec.table}: the pilot is a stored result."]
    with talk.timed("read"):
        source = read_input(spec, talk, memory=run.memory, threads=run.threads, keep_values=True)
    check_classes(source)
    return source.data, source.described


def _is_result(path: str) -> bool:
    """Whether a file is what ``screen --out`` wrote, by the names of its columns."""
    if not os.path.isfile(path) or path.endswith(".stats.parquet"):
        return False
    if path.endswith((".parquet", ".pq")):
        import polars as pl  # noqa: PLC0415 - slow to import

        return all(name.decode() in pl.read_parquet_schema(path) for name in _RESULT)
    open_file: Callable[..., Any] = gzip.open if path.endswith(".gz") else open
    try:
        with open_file(path, "rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    line = head if path.endswith((".json", ".json.gz")) else head.split(b"\n", 1)[0]
    return all(name in line for name in _RESULT)


def _check_outputs(options: Mapping[str, Any], spec: ScreenSpec, run: RunOptions) -> None:
    """Find out before the work whether everything can be written."""
    for name in ("out", "power_out"):
        if options[name] is not None:
            check_ending(options[name])
    check_report(options["report"])
    if options["figure"] is not None:
        normalise_formats(os.path.splitext(options["figure"])[1] or "none")
        load_matplotlib()
    targets = {name: options[name] for name in ("out", "power_out", "report", "figure", "config_out")}
    check_targets(files_read(spec, run), targets)


def make_plan(talk: Talk, pilot: Any, **settings: Any) -> Plan:
    """Draw the futures, and show how far it is."""
    done = 0
    with talk.progress("Futures", counted=True) as bar:

        def tell(number: int, total: int) -> None:
            nonlocal done
            done = number
            if bar is not None:
                bar(number, total)

        try:
            return plan(pilot, progress=tell, **settings)
        except KeyboardInterrupt:
            raise EndingError(130, f"interrupted after {done:,} futures; nothing was written.") from None


def check_report_plan(spec: ScreenSpec, run: RunOptions) -> None:
    """Refuse before the work what the report of a screen cannot plan."""
    if run.report is None:
        raise OptionError("--report-plan is about the report. Say --report FILE.html, or use bayesieve plan.")
    parse_designs(run.report_plan)
    asked = [name for name in _NOT_PLANNED if getattr(spec, name) is not None]
    asked += ["model"] if spec.model != "gaussian" else []
    asked += ["factors"] if spec.factors else []
    if asked:
        raise OptionError(
            option("report_plan"), " is for two classes of independent samples with measured values, and ",
            option(asked[0]), " asks for something else. Leave one of them out.",
        )  # fmt: skip


def plan_for_report(source: Input, rule: Any, run: RunOptions, talk: Talk) -> Plan:
    """Plan what a further study would list by the same rule, with the data of a screen as the pilot."""
    spec = source.spec
    prior = spec.prior_probability if isinstance(spec.prior_probability, float) else _USUAL_PRIOR
    shuffles = SHUFFLES if spec.shuffles is None else spec.shuffles
    return make_plan(
        talk, source.data, per_class=run.report_plan, rules=rule, prior_probability=prior, futures=_FEW,
        shuffles=shuffles, missing=spec.missing, seed=spec.seed or 0, n_threads=run.threads,
    )  # fmt: skip


def _show(found: Plan) -> None:
    show(found.summary())


def _write(options: Mapping[str, Any], found: Plan, talk: Talk) -> None:
    with together():
        _write_files(options, found, talk)


def _write_files(options: Mapping[str, Any], found: Plan, talk: Talk) -> None:
    if options["out"] is not None:
        about = {"sentences": found.sentences(), "seed": options["seed"] or 0}
        write_results(options["out"], found.to_dict(), lambda: about)
    if options["power_out"] is not None:
        write_results(options["power_out"], found.power(), lambda: {"seed": options["seed"] or 0})
    if options["report"] is not None:
        with talk.timed("report"):
            write_plan(found, options["report"])
    if options["figure"] is not None:
        save_figures(found, options["figure"])


def _wrote(options: Mapping[str, Any]) -> list[str]:
    written = [
        str(options[name]) for name in ("out", "power_out", "report", "figure") if options[name] is not None
    ]
    return [f"Wrote {', '.join(written)}."] if written else []
