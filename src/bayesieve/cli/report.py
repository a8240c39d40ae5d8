"""``bayesieve report`` and ``bayesieve figures``: a stored result as a page or as pictures."""

from __future__ import annotations

import dataclasses
import math
import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input
from bayesieve.cli.manifest import check_inputs, check_outputs_of, compare_results, restore_run
from bayesieve.cli.outputs import (
    Annotations,
    RunOptions,
    annotation_file,
    check_exists,
    check_report,
    check_targets,
    label_features,
)
from bayesieve.cli.screen import read_probabilities, screen_source
from bayesieve.enrichment import Enrichment, enrich
from bayesieve.io import is_statistics_file, plain_suffix, read_gene_sets, read_record, read_result
from bayesieve.posterior import FeaturePosterior
from bayesieve.report import Commands, prior_probability, ratio_state
from bayesieve.screening import CANNOT, FEATURE_NUMBERS, RunRecord, ScreenSpec, SiteView, prior_numbers
from bayesieve.selection import MinimalRisk, Rule, Selection, make_rule
from bayesieve.utils import (
    BayesieveError,
    FileError,
    Message,
    OptionError,
    check_file,
    check_writable,
    plural,
    read_json,
)

_WIDTH = 79
_ENDINGS = (".stats.parquet", ".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq", ".json")
_OF_THE_PRIOR = ("prior_probability", "prior_ratio")


@dataclass(slots=True)
class Source:
    """A result, and what is known of it.

    Parameters
    ----------
    selection, rule
        The list, and its rule if that is known.
    record
        What is known of the run, and where it was read from.
    commands
        How to get the result again.
    data
        What was screened, if it was screened now.
    annotation
        Columns about the features.
    sites
        The strongest features site by site.
    """

    selection: Selection
    rule: Rule | None
    record: RunRecord
    commands: Commands
    data: Any = None
    annotation: dict[str, Any] = field(default_factory=dict)
    sites: SiteView | None = None

    def describe(self, n_values: int) -> list[str]:
        """Sentences about where it comes from; without ids of samples if no values are to be shown."""
        return [message.render(command=True, ids=n_values > 0) for message in self.record.described]


def read_source(path: str, changes: Mapping[str, Any], run: RunOptions, talk: Talk) -> Source:
    """Read a result, or make it: a statistics file is screened, a manifest is run again."""
    check_file(path)
    ending = plain_suffix(path)
    if ending in (".html", ".htm"):
        raise OptionError(f"{path} is a report already. Name what it is to be written of: a result table.")
    statistics = is_statistics_file(path)
    manifest = not statistics and ending == ".json" and _is_manifest(path)
    if run.manifest is not None and (statistics or manifest):
        what = "a statistics file" if statistics else "a manifest itself"
        raise OptionError(f"{path} is {what}; --manifest goes with a result table. Leave it out.")
    if statistics:
        spec = ScreenSpec(table=path).replace(**changes)
        source, selection = screen_source(spec, talk)
        return _from_input(source, selection, spec.make_rule(), changes, run)
    for name in ("classes", "blocks"):
        if name in changes:
            raise OptionError(
                f"--{name} is for statistics files, which are screened first; {path} is a result already. Leave "
                "it out, or screen the data again."
            )
    return _from_manifest(path, changes, run, talk) if manifest else _from_table(path, changes, run, talk)


def _is_manifest(path: str) -> bool:
    content = read_json(path)
    return isinstance(content, dict) and content.get("format") == "bayesieve-manifest"


def _from_table(path: str, changes: Mapping[str, Any], run: RunOptions, talk: Talk) -> Source:
    with talk.timed("read"):
        stored = read_result(path, run.manifest)
    if run.manifest is not None:
        check_outputs_of(run.manifest)
    record = stored.record
    recorded = None if record.spec is None else _recorded_rule(record.spec, stored.selection)
    selection, rule = _decide(stored.selection, recorded, changes)
    posterior = selection.posterior
    first = Message.of(
        f"{os.path.basename(path)}: a result of bayesieve screen, {plural(posterior.n_features, 'feature')}"
        + (f", transform {record.transform}." if record.transform else ".")
    )
    record = dataclasses.replace(record, described=(first, *record.described, *stored.remarks))
    sites = stored.n_sites is not None
    if record.spec is not None and record.spec.table:
        commands = Commands.of_spec(record.spec, posterior, statistics=sites, changes=_anew(changes))
    else:
        commands = _commands_of_table(path, changes, posterior)
    annotation: dict[str, Any] = {"n_sites": stored.n_sites, **stored.annotation} if sites else stored.annotation
    return Source(selection, rule, record, commands, annotation=dict(annotation))


def _anew(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the prior of the command line, where it was given."""
    return {name: changes[name] for name in _OF_THE_PRIOR if name in changes}


def _commands_of_table(path: str, changes: Mapping[str, Any], posterior: FeaturePosterior) -> Commands:
    """Commands that begin with the result, for want of better."""
    words = ["bayesieve", "report", path]
    lines = ["import bayesieve as bs", f"posterior = bs.read_result({path!r}).posterior"]
    probability, ratio = (changes.get(name) for name in _OF_THE_PRIOR)
    if prior_probability(posterior) is None and probability is not None:
        words += ["--prior-probability", str(probability)]
        lines += [
            FEATURE_NUMBERS,
            f"posterior = posterior.with_prior({prior_numbers(probability, 'posterior.names')})",
        ]
    if ratio is not None:
        words += ["--prior-ratio", str(ratio)]
        lines = [CANNOT.format(why="the prior ratio of a stored result is moved by the command line only")]
    return Commands(tuple(words), tuple(lines))


def _recorded_rule(spec: ScreenSpec, selection: Selection) -> Rule | None:
    """Return the rule of a specification, if it gives the list."""
    rule = spec.make_rule()
    try:
        same = bool((rule.select(selection.posterior).mask == selection.mask).all())
    except BayesieveError:
        return None
    return rule if same else None


def _decide(
    selection: Selection, recorded: Rule | None, changes: Mapping[str, Any]
) -> tuple[Selection, Rule | None]:
    """Apply the rule and the prior of the command line, where they were given, to a result."""
    posterior = selection.posterior
    if "prior_ratio" in changes:
        posterior = _with_ratio(posterior, changes["prior_ratio"])
    if "prior_probability" in changes:
        prior = ScreenSpec(prior_probability=changes["prior_probability"])
        posterior = posterior.with_prior(prior.make_prior(posterior.names, read_probabilities))
    if any(name in changes for name in ScreenSpec.names("rule")):
        rule: Rule = make_rule(changes.get("criterion"), changes)
    elif posterior is not selection.posterior:
        rule = recorded or MinimalRisk(0.5)
    else:
        return selection, recorded
    return rule.select(posterior), rule


def _with_ratio(posterior: FeaturePosterior, ratio: float | str) -> FeaturePosterior:
    """Put another prior ratio in the place of the one that a result has."""
    state = ratio_state(posterior)
    if state.value is None:
        raise OptionError(f"--prior-ratio does not apply to this result. {state.reason}")
    if isinstance(ratio, str) or not 0.0 < ratio < math.inf:
        raise OptionError(f"--prior-ratio must be a positive number here, not '{ratio}'; names need the data.")
    by = state.power * math.log(ratio / state.value)
    old: Any = posterior.model
    model: Any = dataclasses.replace(old, prior_ratio=ratio)
    shuffled = posterior.shuffled
    if shuffled is not None:  # the share of markers that the data suggest is another one
        shuffled = dataclasses.replace(shuffled.moved(by), own_share=np.nan, shares=np.empty(0))
    moved = np.asarray(posterior.log_bayes_factor + by)
    return dataclasses.replace(posterior, log_bayes_factor=moved, model=model, shuffled=shuffled)


def _from_manifest(path: str, changes: Mapping[str, Any], run: RunOptions, talk: Talk) -> Source:
    record = read_record(path)
    check_outputs_of(path)
    spec, recorded = restore_run(record, path)
    n_inputs = check_inputs(record, path)
    spec.check_files()
    inputs, selection = screen_source(spec, talk)
    named = annotation_file(recorded.features, selection.posterior.names, spec.encoding)
    selection, named = label_features(selection, inputs.data, named, recorded.label_column)
    comparison = Message.of(compare_results(record, path, selection, n_inputs))
    now, rule = _decide(selection, spec.make_rule(), changes)
    source = _from_input(inputs, now, rule, changes, run, named)
    source.record = dataclasses.replace(record, described=(*inputs.record.described, comparison))
    return source


def _from_input(
    source: Input, selection: Selection, rule: Rule | None, changes: Mapping[str, Any], run: RunOptions,
    named: Annotations | None = None,
) -> Source:  # fmt: skip
    """What was screened now, with sites if it has several."""
    record = source.record.redacted() if run.n_values == 0 else source.record
    posterior, spec = selection.posterior, record.spec or source.spec
    commands = Commands.of_spec(spec, posterior, statistics=bool(source.sites), changes=_anew(changes))
    annotation: dict[str, Any] = {"n_sites": np.asarray(source.n_sites)} if source.sites else {}
    annotation |= named or {}
    return Source(
        selection, rule, record, commands, None if source.sites else source.data, annotation,
        source.site_view(posterior),
    )  # fmt: skip


def run_report(options: Mapping[str, Any], result: str, title: str | None) -> None:
    """Write the report of a result."""
    changes, run = ScreenSpec.read_options(options), RunOptions.from_options(options)
    talk = run.talk()
    check_file(result)
    out = Path(run.out or _stem(result) + ".report.html")
    check_report(out, "--out")
    _check_options(changes, run)
    check_writable(out)
    given = options.get("sets") or ()
    for path in given:
        check_exists("sets", path)
    read = {result: "table", run.features: "features", run.manifest: "config", **dict.fromkeys(given, "sets")}
    check_targets({path: name for path, name in read.items() if path is not None}, {"out": out})
    source = read_source(result, changes, run, talk)
    _annotate(source, run.features)
    sets = _gene_sets(source.selection, given, options)
    from bayesieve.report import ReportData, write_page  # noqa: PLC0415 - slow to import

    with talk.timed("report"):
        warned = (*source.record.warnings, *talk.messages)
        report = ReportData.of(
            source.selection,
            rule=source.rule,
            data=source.data,
            n_values=run.n_values,
            annotation=source.annotation,
            title=title,
            record=dataclasses.replace(source.record, warnings=warned),
            sites=source.sites,
            commands=source.commands,
            command=True,
            sets=sets,
        )
        write_page(report, out)
    size, selection = out.stat().st_size, source.selection
    n, chosen = selection.posterior.n_features, selection.n_selected
    what = f"{chosen:,} selected of {plural(n, 'feature')} ({selection.rule})"
    last = f"Wrote the report of {what} to {out} ({size / 1e6:,.1f} MB); open it in a browser."
    lines = _wrap([*source.describe(run.n_values), last])
    talk.say("report", "\n".join(lines), path=os.fspath(out), bytes=size, n_features=n, n_selected=chosen)


def _gene_sets(selection: Selection, given: Sequence[str], options: Mapping[str, Any]) -> Enrichment | None:
    """Test the gene sets of the command line on the list."""
    if not given:
        return None
    sets = [read_gene_sets(path) for path in given]
    return enrich(selection, sets, min_size=options["min_size"], max_size=options["max_size"])


def run_figures(options: Mapping[str, Any], result: str, formats: str, features: Sequence[str]) -> None:
    """Write the figures of a result, each to a file of its own in every format."""
    changes, run = ScreenSpec.read_options(options), RunOptions.from_options(options)
    talk, folder = run.talk(), Path(str(run.out))
    check_file(result)
    names = [part.strip() for part in formats.split(",") if part.strip()]
    if folder.exists() and not folder.is_dir():
        raise FileError(f"Cannot write figures to {folder}: it is a file. Name a folder.")
    _check_options(changes, run)
    from bayesieve.report import save_all  # noqa: PLC0415 - slow to import
    from bayesieve.utils import FORMATS, load_matplotlib  # noqa: PLC0415

    if not names or any(name.lower() not in FORMATS for name in names):
        raise OptionError(f"--format takes {', '.join(FORMATS)}, with commas between, not {formats!r}.")
    load_matplotlib()  # says before the work how to install it
    source = read_source(result, changes, run, talk)
    with talk.timed("figures"):
        written = save_all(source.selection, folder, names, features, source.sites, data=source.data)
    lines = [
        *_wrap([*source.describe(run.n_values), f"Wrote {plural(len(written), 'file')}:"]),
        *(f"  {p}" for p in written),
    ]
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
