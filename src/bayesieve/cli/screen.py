"""``bayesieve screen``: from a file to a ranked table."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.cli.console import Talk
from bayesieve.cli.feature_rows import feature_rows
from bayesieve.cli.groups import check_groups, run_groups, wants_groups
from bayesieve.cli.inputs import Input, check_classes, read_input
from bayesieve.cli.manifest import make_record, with_inputs, write_manifest
from bayesieve.cli.outputs import (
    Annotations,
    RunOptions,
    annotation_file,
    check_outputs,
    label_features,
    write_config,
)
from bayesieve.data import GeneMap
from bayesieve.io import (
    check_table,
    is_reference,
    numbers_by_feature,
    ranked_columns,
    read_gene_map,
    read_model,
    split_reference,
    text_chunks,
    write_result,
    write_results,
)
from bayesieve.posterior import FeaturePosterior, expit
from bayesieve.rivals import PairScreen, screen_pairs
from bayesieve.screening import RunRecord, ScreenSpec, advise_on_share, screen, with_checks
from bayesieve.selection import Selection, summary_lines
from bayesieve.stats import largest_counts
from bayesieve.utils import DataWarning, OptionError, join_words, option, plural, together, warn

_WIDTH = 79


def run_screen(options: Mapping[str, Any]) -> None:
    """Read, screen, select, write and tell."""
    spec, run = ScreenSpec.from_options(options), RunOptions.from_options(options)
    talk = run.talk()
    spec.check_files()
    check_outputs(spec, run)
    if run.report_pairs and run.report is None:
        raise OptionError("--report-pairs is about the report. Say --report FILE.html, or use bayesieve pairs.")
    if run.report_plan is not None:
        from bayesieve.cli.plan import check_report_plan  # noqa: PLC0415 - imports numba and more

        check_report_plan(spec, run)
    check_groups(spec, run, options)
    if run.dask is not None:
        check_table(spec.table)  # before anything is started for it
    with run.cluster() as client:
        _run(spec, run, talk, options, client)


def _run(spec: ScreenSpec, run: RunOptions, talk: Talk, options: Mapping[str, Any], client: Any) -> None:
    """Do what was asked for, where the table is read by this process or by a cluster."""
    how = {"memory": run.memory, "threads": run.threads, "client": client}
    source = open_source(spec, talk, **how, keep_values=run.report is not None)
    _announce_passes(source, run, talk)
    if wants_groups(source, run, options):
        run_groups(source, run, talk, options, read_probabilities)
        return
    source, selection = _judged(source, talk, run.threads)
    annotation = annotation_file(run.features, selection.posterior.names, spec.encoding)
    selection, annotation = label_features(selection, source.data, annotation, run.label_column)
    with talk.timed("checks"):
        selection = with_checks(selection)
    record = make_record(source, run, talk, selection)
    with together():
        with talk.timed("write"):
            _write_table(run, selection, source, record, annotation)
        write_config(run, "screen", spec, options)
        if run.report is not None or run.manifest is not None:
            record = with_inputs(record, run)
        if run.report is not None:
            pairs = _compare_pairs(run, source, talk) if run.report_pairs else None
            with talk.timed("report"):
                write_report(run, selection, source, record, annotation, pairs, _plan(run, source, talk))
        if run.manifest is not None:
            write_manifest(run.manifest, record, run, talk)
    _tell(talk, selection, source, run, record)


def _announce_passes(source: Input, run: RunOptions, talk: Talk) -> None:
    """Say for what the file is read again, if its values were not kept."""
    spans = getattr(source.data, "spans", None)
    if spans is None or source.data.kept is not None:
        return
    if source.spec.shuffles:
        n_passes = source.data.labelled()[2].n_passes(source.spec.shuffles)
        times = "once" if n_passes == 1 else f"{n_passes:,} times"
        talk.say("pass", f"{plural(source.spec.shuffles, 'shuffle')}: the table is read {times} more.")
    if run.report is not None and run.n_values:
        talk.say("pass", f"Values of the {run.n_values:,} strongest features for the report: read once more.")


def screen_source(
    spec: ScreenSpec,
    talk: Talk,
    *,
    memory: int | None = None,
    threads: int | None = None,
    keep_values: bool = False,
) -> tuple[Input, Selection]:
    """Read the source of a specification, screen it and select; nothing is written."""
    source = open_source(spec, talk, memory=memory, threads=threads, keep_values=keep_values)
    return _judged(source, talk, threads)


def open_source(spec: ScreenSpec, talk: Talk, **how: Any) -> Input:
    """Read the source of a specification, with its genes."""
    genes = None if spec.gene_map is None else load_gene_map(spec)  # first: a mistake in it is found at once
    with talk.timed("read"):
        source = read_input(spec, talk, **how, screens=True)
    source.genes = genes
    check_classes(source)
    return source


def _judged(source: Input, talk: Talk, threads: int | None) -> tuple[Input, Selection]:
    """Screen and select."""
    with talk.timed("screen"):
        source, selection = select_features(source, talk, threads)
        _warn_about_share(selection, source.spec)
        return source, replace(selection, under_null=selection.expected_under_null)


def load_gene_map(spec: ScreenSpec) -> GeneMap:
    """Read the genes of the features that a specification names."""
    path, column = split_reference(str(spec.gene_map))
    return read_gene_map(path, gene_column=column, encoding=spec.encoding)


def _warn_about_share(selection: Selection, spec: ScreenSpec) -> None:
    """Say so where a list is implausibly long, unless that was asked for."""
    posterior = selection.posterior
    if spec.n_selected is not None:
        return
    probability = expit(np.asarray(posterior.prior_log_odds, dtype=np.float64))
    long = advise_on_share(selection.n_selected, posterior.n_features, probability)
    if long is not None:
        warn(DataWarning, *long.text, hint=() if posterior.shuffled else long.hint, kind=long.kind, **long.numbers)


def select_features(source: Input, talk: Talk, threads: int | None = None) -> tuple[Input, Selection]:
    """Screen, find out what else was asked for, and select; the input is that of genes if they were screened."""
    spec, rule = source.spec, source.spec.make_rule()
    posterior = _screen(source, talk)
    source = source.of_genes(posterior)
    if spec.outcome is not None:  # groups of samples to look at take the place of its values
        counts = largest_counts(posterior.moments)
        groups = {str(label): int(n) for label, n in zip(posterior.classes, counts, strict=True)}
        source = replace(
            source, record=replace(source.record, class_counts=groups, label_map={}), classes=posterior.classes
        )
    posterior = add_findings(posterior, spec)
    selection = rule.select(posterior)
    if spec.permutations is not None:
        posterior = _permute(source, selection, talk, threads)
        selection = rule.select(posterior)
    if not (spec.fragility or spec.robust):
        return source, selection
    from bayesieve.screening import fragility  # noqa: PLC0415 - compiles kernels of its own

    found = fragility(source.data, posterior=posterior, cut=selection.cut, n_threads=threads)
    decisive = found.posterior() if spec.robust else posterior
    return source, rule.select(decisive.with_finding(found))


def _screen(source: Input, talk: Talk) -> FeaturePosterior:
    """Screen what was read, under the model and the prior of the specification."""
    spec, features = source.spec, source.feature_ids
    classes = [str(label) for label in source.classes]
    with talk.progress("Shuffling labels", counted=True) as progress:
        return screen(
            source.data,
            model=source.model or spec.make_model(classes, features, read_model),
            prior_probability=spec.make_prior(features, read_probabilities),
            feature_names=features if source.sites else None,
            blocks=source.blocks,
            shuffles="auto" if spec.shuffles is None else spec.shuffles,
            seed=spec.seed or 0,
            progress=progress,
            gene_map=source.genes,
            **spec.options_for("screen"),
        )


def read_probabilities(text: str, features: Any) -> npt.NDArray[np.float64]:
    """Read one prior probability per feature from ``FILE:COLUMN``."""
    if not is_reference(text):
        problem = " must be a number between 0 and 1, estimate, or FILE:COLUMN with one per feature, not "
        raise OptionError(option("prior_probability"), problem, f"{text!r}.")
    return np.array(numbers_by_feature(text, features, "the prior probability"))


def _permute(source: Input, selection: Selection, talk: Talk, threads: int | None) -> FeaturePosterior:
    """Add what permuted labels say about the list."""
    from bayesieve.screening import permutations  # noqa: PLC0415 - compiles kernels of its own

    spec = source.spec
    with talk.progress("relabelling", counted=True) as progress:
        found = permutations(
            source.data,
            posterior=selection.posterior,
            cut=selection.cut,
            n_permutations=spec.permutations or 1,
            degenerate=spec.degenerate,
            seed=spec.seed or 0,
            n_threads=threads,
            progress=progress,
        )
    return selection.posterior.with_finding(found)


def add_findings(posterior: FeaturePosterior, spec: ScreenSpec) -> FeaturePosterior:
    """Add kinds of difference, effect sizes and p-values where they were asked for."""
    if spec.kinds:
        from bayesieve.posterior import kinds  # noqa: PLC0415 - compiles kernels of its own

        posterior = posterior.with_finding(kinds(posterior))
    if spec.effects:
        from bayesieve.posterior import effects  # noqa: PLC0415

        posterior = posterior.with_finding(effects(posterior))
    if spec.p_values:
        from bayesieve.rivals import pearson_neyman  # noqa: PLC0415 - SciPy is slow to import

        posterior = posterior.with_finding(pearson_neyman(posterior))
    return posterior


def _write_table(
    run: RunOptions, selection: Selection, source: Input, record: RunRecord, annotation: Annotations
) -> None:
    """Write the table; to standard output if nothing else is to be written."""
    if run.out is None and run.report is not None:
        return
    others: dict[str, Any] = {"n_sites": np.asarray(source.n_sites)} if source.sites else {}
    others |= {f"annotation_{name}" if name in others else name: column for name, column in annotation.items()}
    order = selection.posterior.ranking
    if run.only_selected:
        order = order[selection.mask[order]]
    if run.out is not None and not run.only_selected:
        write_result(run.out, selection, record, others, quote_formulas=run.quote_formulas)
        return
    columns = ranked_columns(selection, record.transform, others)
    if run.out is not None:
        write_results(run.out, columns, lambda: {"list": "selected features"}, order,
                      quote_formulas=run.quote_formulas)  # fmt: skip
        return
    for chunk in text_chunks(columns, order=order, quote_formulas=run.quote_formulas):
        sys.stdout.buffer.write(chunk)
    sys.stdout.flush()


def _compare_pairs(run: RunOptions, source: Input, talk: Talk) -> PairScreen:
    """Compare all pairs of features, for the report."""
    with talk.timed("pairs"), talk.progress("Pairs", share=True) as progress:
        return screen_pairs(
            source.data,
            top=run.report_pairs or 1,
            seed=source.spec.seed or 0,
            progress=progress,
            n_threads=run.threads,
        )


def _plan(run: RunOptions, source: Input, talk: Talk) -> Any:
    """Plan a further study, for the report."""
    if run.report_plan is None:
        return None
    from bayesieve.cli.plan import plan_for_report  # noqa: PLC0415 - imports numba and more

    return plan_for_report(source, source.spec.make_rule(), run, talk)


def write_report(
    run: RunOptions,
    selection: Selection,
    source: Input,
    record: RunRecord,
    annotation: Annotations,
    pairs: PairScreen | None = None,
    planned: Any = None,
) -> None:
    """Write the report; the values shown take one more reading of their features."""
    from bayesieve.report import Commands, ReportData, write_page  # noqa: PLC0415 - slow to import

    shown = record.redacted() if run.n_values == 0 else record
    report = ReportData.of(
        selection,
        rule=source.spec.make_rule(),
        data=source.data,
        n_values=run.n_values,
        annotation=annotation,
        record=shown,
        sites=source.site_view(selection.posterior),
        pairs=pairs,
        plan=planned,
        commands=Commands.of_spec(shown.spec or source.spec, selection.posterior, statistics=bool(source.sites)),
        command=True,
    )
    write_page(report, str(run.report))


def _tell(talk: Talk, selection: Selection, source: Input, run: RunOptions, record: RunRecord) -> None:
    lines = _summary(selection, source)
    if run.out is not None:
        n_rows = selection.n_selected if run.only_selected else selection.posterior.n_features
        lines.append(f"Wrote {plural(n_rows, 'row')} to {run.out}.")
    if run.report is not None:
        size = os.path.getsize(run.report) / 1e6
        lines.append(f"Wrote the report to {run.report} ({size:,.1f} MB); open it in a browser.")
    names = ("n_features", "n_selected", "expected_false_positives", "false_positives", "was_cut")
    under_null = selection.expected_under_null
    talk.say(
        "result",
        "\n".join(lines),
        classes=dict(source.class_counts),
        interval=record.results["false_positives_90"],
        expected_under_null=None if np.isnan(under_null) else under_null,
        count_test=record.results.get("count_test"),
        checks=selection.checks.to_dict(),
        **{name: record.results[name] for name in names},
    )


def _summary(selection: Selection, source: Input) -> list[str]:
    """Say what was compared, what was found, how wrong it may be, and which features to look at first."""
    lines = [wrapped for text in source.described for wrapped in _wrap(text)]
    counts = [f"{label} ({count:,})" for label, count in source.class_counts.items()]
    named = list(source.class_counts)
    signed = len(named) == 2 and not hasattr(selection.posterior.statistics, "levels")  # categories have no sign
    minus = f"; differences are {named[1]} minus {named[0]}" if signed else ""
    lines += _wrap(f"Classes: {join_words(counts)}{minus}.")
    lines.append("")
    for line in summary_lines(selection, classes=False):
        lines += _wrap(line.render(command=True))
    for text in selection.checks.lines(command=True):
        lines += _wrap(text)
    return [*lines, "", *feature_rows(selection)]


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
