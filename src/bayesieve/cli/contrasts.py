"""``bayesieve screen --contrasts``: all comparisons of a contrast file from one reading of the table."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input, check_classes, check_not_statistics
from bayesieve.cli.layout import align, short, wrap
from bayesieve.cli.multiqc import feature_file, summary_files
from bayesieve.cli.outputs import (
    RunOptions,
    annotation_file,
    check_outputs,
    files_read,
    label_features,
    make_folder,
    write_config,
)
from bayesieve.cli.screen import load_gene_map, select_features, write_report
from bayesieve.io import (
    Contrast,
    ContrastTables,
    Summary,
    ranked_columns,
    read_contrasts,
    split_reference,
    text_chunks,
)
from bayesieve.posterior import class_statistics
from bayesieve.screening import RunRecord, ScreenSpec
from bayesieve.selection import Selection
from bayesieve.utils import (
    BayesieveError,
    DataError,
    Message,
    OptionError,
    check_writable,
    list_names,
    plural,
    replacing,
)

_OF_ONE_TABLE = (
    "classes", "report_pairs", "report_plan", "manifest", "groups", "aggregate", "likelihoods", "covariates",
    "subject", "outcome",
)  # fmt: skip
_FIRST = ("logFC", "log_odds", "probability", "local_fdr", "expected_fdr", "selected")
_NAMES = {"probability": "posterior"}
_NATURAL = math.log2(math.e)
_LOG2 = {"log2": 1.0, "ln": _NATURAL, "log1p": _NATURAL, "log10": math.log2(10.0)}  # units of a log2 fold change
_PACKAGES = ("numpy", "scipy", "numba", "polars")
_SUMMARY = "bayesieve.contrasts"


@dataclass(frozen=True, slots=True)
class _Run:
    """One run over all contrasts: what was asked for, what is done, and what failed."""

    spec: ScreenSpec
    run: RunOptions
    talk: Talk
    folder: Path
    sheet: str | None
    per_log2: float | None
    multiqc: bool
    process: str
    done: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, Message] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)

    def tell_once(self, texts: Iterable[str]) -> None:
        """Say what was not said of another contrast."""
        for text in texts:
            if text not in self.said:
                self.said.add(text)
                self.talk.say("read", "\n".join(wrap(text)))

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder, whole or not at all."""
        with replacing(self.folder / name) as file:
            file.write(content)

    def write_json(self, name: str, content: Any) -> None:
        """Write values that JSON knows."""
        self.write(name, f"{json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)}\n".encode())


def run_contrasts(options: Mapping[str, Any]) -> None:
    """Check all, read once, then screen, select and write one contrast after the other."""
    _check_options(options)
    spec = ScreenSpec.from_options({**options, "labels": None})
    run = RunOptions.from_options(options)
    talk = run.talk()
    spec.check_files()
    contrasts = read_contrasts(options["contrasts"])
    per_log2 = _log_scale(spec, options["log_scale"])
    work = _Run(
        spec, run, talk, _folder(spec, run, contrasts, options), options["labels"], per_log2, options["multiqc"],
        options["process_name"],
    )  # fmt: skip
    genes = None if spec.gene_map is None else load_gene_map(spec)
    tables = _read(work, contrasts)
    try:
        for k, contrast in enumerate(tables.contrasts, 1):
            talk.say("contrast", f"{k} of {len(contrasts)}: {contrast.id} ({contrast})", id=contrast.id)
            try:
                _one(work, tables, contrast, genes)
            except BayesieveError as error:
                work.failed[contrast.id] = error.message
                said = error.message.render(command=True)
                talk.say("failed", f"bayesieve: {contrast.id} failed: {said}", id=contrast.id)
    finally:  # also after Ctrl-C: what is done stands
        tables.close()
        _write_summary(work, contrasts)
    write_config(run, "screen", spec, options)
    _tell(work, len(contrasts))


def _check_options(options: Mapping[str, Any]) -> None:
    for name in _OF_ONE_TABLE:
        if options.get(name):
            flag = f"--{name.replace('_', '-')}"
            why = "the levels stand in the contrasts" if name == "classes" else "it is about one comparison"
            raise OptionError(f"{flag} does not go with --contrasts: {why}. Leave it out.")
    if options.get("model") == "auto":
        raise OptionError("--model auto does not go with --contrasts: name the model of all features.")
    if options.get("out") is None:
        raise OptionError("--contrasts writes a table for each contrast. Name their folder with --out FOLDER.")


def _log_scale(spec: ScreenSpec, declared: str | None) -> float | None:
    """What a difference is multiplied by to be a log2 fold change; None if values are not declared to be logs."""
    if declared is not None and spec.transform != "none":
        raise OptionError(
            f"--log-scale {declared} says that the table holds logarithms, and --transform {spec.transform} would "
            "transform them again. Leave one out."
        )
    if declared is not None and spec.model != "gaussian":
        raise OptionError(f"--log-scale {declared} is about measurements, not about --model {spec.model}.")
    scale = {"log2": "log2", "log1p": "ln"}.get(spec.transform, declared)
    return None if scale is None else _LOG2[scale]


def _folder(
    spec: ScreenSpec, run: RunOptions, contrasts: tuple[Contrast, ...], options: Mapping[str, Any]
) -> Path:
    """Make the folder of the results; raise if it cannot be written to."""
    folder = Path(str(run.out))
    check_outputs(
        spec, RunOptions(features=run.features, label_column=run.label_column, config_out=run.config_out)
    )
    make_folder(folder, "--out", "tables")
    sheet = options["labels"] and split_reference(options["labels"])[0]
    read = {os.path.realpath(path) for path in (*files_read(spec, run), options["contrasts"], sheet) if path}
    for name in ("versions.yml", f"{_SUMMARY}.tsv", f"{_SUMMARY}.json", *(_file(each.id) for each in contrasts)):
        check_writable(folder / name)
        if os.path.realpath(folder / name) in read:
            raise OptionError(f"--out would overwrite {folder / name}, which is read. Choose another folder.")
    if run.report is not None:
        _check_pages(Path(run.report), contrasts)
    return folder


def _check_pages(folder: Path, contrasts: tuple[Contrast, ...]) -> None:
    """Make the folder of the reports; raise if it is no folder, or cannot be written to."""
    if folder.suffix.lower() in (".html", ".htm"):
        raise OptionError(
            f"--contrasts writes a page for each contrast. Name their folder, not {folder} (--report)."
        )
    make_folder(folder, "--report", "pages")
    for each in contrasts:
        check_writable(folder / _file(each.id, "html"))


def _file(key: str, ending: str = "results.tsv") -> str:
    return f"{key}.bayesieve.{ending}"


def _read(work: _Run, contrasts: tuple[Contrast, ...]) -> ContrastTables:
    spec = work.spec
    check_not_statistics(spec.table, "--contrasts")
    reading = {name: value for name, value in spec.options_for("read_table").items() if name not in _NOT_READ}
    with work.talk.timed("read"), work.talk.progress(f"Reading {os.path.basename(spec.table)}") as progress:
        return ContrastTables.read(
            spec.table, contrasts, work.sheet, model=None if spec.model == "gaussian" else spec.make_model(),
            memory=work.run.memory, n_threads=work.run.threads, progress=progress, **reading,
        )  # fmt: skip


_NOT_READ = ("labels", "outcome", "classes", "aggregate", "covariates", "subject")


def _one(work: _Run, tables: ContrastTables, contrast: Contrast, genes: Any) -> None:
    """Screen one contrast, select and write."""
    spec, run, talk = work.spec, work.run, work.talk
    model = None if spec.model == "gaussian" else spec.make_model()
    summary = tables.summary(contrast)
    own = _own_spec(work, contrast)
    record = RunRecord(
        spec=own, class_counts=summary.class_counts, label_map=summary.label_map, transform=spec.transform,
        described=tuple(summary.record.messages()),
    )  # fmt: skip
    source = Input(record, summary, summary.statistics.classes, summary.feature_names, model, genes=genes)
    work.tell_once(source.described)
    check_classes(source)
    source, selection = select_features(source, talk, run.threads)
    annotation = annotation_file(run.features, selection.posterior.names, spec.encoding)
    selection, annotation = label_features(selection, source.data, annotation, run.label_column)
    logs = _log_changes(selection, work.per_log2)
    order = selection.posterior.ranking
    if run.only_selected:
        order = order[selection.mask[order]]
    made = ranked_columns(selection, spec.transform, annotation)
    head = "gene" if genes is not None else tables.id_column

    def columns(rows: Any) -> dict[str, Any]:
        return _columns(made(rows), head, None if logs is None else logs[rows])

    work.write(
        _file(contrast.id), b"".join(text_chunks(columns, "\t", order, quote_formulas=work.run.quote_formulas))
    )
    if work.multiqc:
        top = _columns(made(order), head, None if logs is None else logs[order])
        top |= {"difference": top["mean_difference"]} if "mean_difference" in top and logs is None else {}
        work.write_json(
            f"{contrast.id}.bayesieve_mqc.json",
            feature_file(contrast.id, top, selection.n_selected, was_cut=selection.was_cut),
        )
    if run.report is not None:
        with talk.timed("report"):
            page = replace(run, report=str(Path(run.report) / _file(contrast.id, "html")))
            write_report(page, selection, source, record, annotation)
    work.done[contrast.id] = _facts(contrast, summary, selection)


def _own_spec(work: _Run, contrast: Contrast) -> ScreenSpec:
    """Return the specification of the contrast alone, as far as one can say it."""
    place = "" if work.sheet is None else f"{work.sheet}:"
    blocks = f"{place}{contrast.blocking[0]}" if len(contrast.blocking) == 1 else None
    return work.spec.replace(
        labels=f"{place}{contrast.variable}", classes=f"{contrast.reference}; {contrast.target}", blocks=blocks
    )


def _difference(selection: Selection) -> Any:
    """Target minus reference by feature: of means (within blocks if there are any), or of log rates; or None."""
    table = class_statistics(selection.posterior)
    for finding in selection.posterior.findings:
        table |= finding.columns(selection.posterior)
    if len(selection.posterior.classes) == 1:  # pairs
        return table.get(f"mean_{selection.posterior.classes[0]}")
    for name in ("mean_difference_within", "mean_difference", "log_rate_ratio"):
        if table.get(name) is not None:
            return np.asarray(table[name], dtype=np.float64)
    return None


def _log_changes(selection: Selection, per_log2: float | None) -> Any:
    """Log2 fold changes, of declared logarithms or of rates; None otherwise."""
    rates = "log_rate_ratio" in class_statistics(selection.posterior)
    scale = _LOG2["ln"] if rates else per_log2
    found = None if scale is None else _difference(selection)
    return None if found is None else np.asarray(found) * scale


def _columns(part: Mapping[str, Any], head: str, logs: Any) -> dict[str, Any]:
    """Bring the columns of a result to the order of differential results: the id, then what is asked for first."""
    found = {head: part["feature"]}
    if logs is not None:
        found["logFC"] = logs
    found |= {_NAMES.get(name, name): part[name] for name in _FIRST if name in part}
    taken = {"feature", "transform", *_FIRST}
    return found | {
        name if name not in found else f"{name} (2)": v for name, v in part.items() if name not in taken
    }


def _facts(contrast: Contrast, summary: Summary, selection: Selection) -> dict[str, Any]:
    counts, estimate = summary.class_counts, selection.false_positive_estimate
    change = _difference(selection)
    chosen = np.zeros(0) if change is None else np.asarray(change)[selection.mask]
    return {
        "id": contrast.id, "variable": contrast.variable, "reference": contrast.reference,
        "target": contrast.target, "blocking": list(contrast.blocking),
        "n_reference": counts[contrast.reference], "n_target": counts[contrast.target],
        "n_features": selection.posterior.n_features, "n_selected": selection.n_selected,
        "n_up": int((chosen > 0).sum()), "n_down": int((chosen < 0).sum()),
        "expected_false_positives": round(float(estimate.expected), 6), "false_positives_from": estimate.source,
        "rule": selection.rule, "was_cut": bool(selection.was_cut), "file": _file(contrast.id),
        "best": selection.posterior.names[int(selection.posterior.ranking[0])],
    }  # fmt: skip


def _write_summary(work: _Run, contrasts: tuple[Contrast, ...]) -> None:
    """Write what is known of all contrasts that are done."""
    rows = list(work.done.values())
    left = [each.id for each in contrasts if each.id not in work.done and each.id not in work.failed]
    failed = {key: message.render(command=True, ids=False) for key, message in work.failed.items()}
    work.write_json(
        f"{_SUMMARY}.json",
        {"format": "bayesieve-contrasts", "table": work.spec.table, "settings": work.spec.to_dict(),
         "versions": _versions(), "contrasts": rows, "failed": failed, "not_done": left},
    )  # fmt: skip
    if rows:
        table = {
            name: [" x ".join(row[name]) if name == "blocking" else row[name] for row in rows] for name in rows[0]
        }
        work.write(f"{_SUMMARY}.tsv", b"".join(text_chunks(table, "\t", quote_formulas=work.run.quote_formulas)))
    lines = [f"    {name}: {version}" for name, version in _versions().items()]
    work.write("versions.yml", "\n".join([f'"{_quoted(work.process)}":', *lines, ""]).encode())
    if work.multiqc and work.done:
        for name, content in summary_files(work.done).items():
            work.write_json(name, content)


def _quoted(text: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", text)


def _versions() -> dict[str, str]:
    """Versions of what computes."""
    found = {"bayesieve": importlib.metadata.version("bayesieve"), "python": platform.python_version()}
    return found | {name: importlib.metadata.version(name) for name in _PACKAGES}


def _tell(work: _Run, n_contrasts: int) -> None:
    rows = list(work.done.values())
    lines = []
    if rows:
        columns = [
            ("contrast", [short(row["id"], 28) for row in rows]),
            ("samples", [f"{row['n_reference']} v {row['n_target']}" for row in rows]),
            ("features", [f"{row['n_features']:,}" for row in rows]),
            ("selected", [f"{'*' * row['was_cut']}{row['n_selected']:,}" for row in rows]),
            ("up", [f"{row['n_up']:,}" for row in rows]),
            ("down", [f"{row['n_down']:,}" for row in rows]),
            ("false pos.", [f"{row['expected_false_positives']:,.1f}" for row in rows]),
        ]
        lines = ["", *align(columns), ""]
        if any(row["was_cut"] for row in rows):
            lines += wrap("* shortened or emptied: shuffled labels give a list as long as the rule's.")
        lines += wrap(f"Wrote {plural(len(rows), 'table')} to {work.folder}.")
        if work.run.report is not None:
            lines += wrap(f"Wrote {plural(len(rows), 'page')} to {work.run.report}; open them in a browser.")
    work.talk.say("result", "\n".join(lines), contrasts=rows, failed=list(work.failed))
    if work.failed:
        key, message = next(iter(work.failed.items()))
        raise DataError(
            f"{len(work.failed)} of {plural(n_contrasts, 'contrast')} could not be screened: "
            f"{list_names(list(work.failed))}; the others are written. {key}: ",
            *message.text,
            hint=message.hint,
        )
