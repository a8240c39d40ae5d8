"""``bayesieve screen --groups``: the markers of each of many groups, from one reading."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input
from bayesieve.cli.layout import align, short, wrap
from bayesieve.cli.outputs import Annotations, RunOptions, annotation_file, write_config
from bayesieve.io import number_names, read_model, text_chunks, write_results
from bayesieve.screening import REST, GroupMarkers, GroupSelection, ScreenSpec, are_measured, screen_groups
from bayesieve.utils import OptionError, option, plural, together

MOST_CLASSES = 8  # whose patterns can all be gone through
_BEST, _NAME, _WIDTH = 5, 20, 79
Load = Callable[[str, Sequence[str]], Any]
_FOREIGN = (
    "patterns", "blocks", "outcome", "covariates", "subject", "block_model", "pairs", "informative_missing",
    "factors", "gene_map", "collapse", "unmapped", "resolution", "degenerate", "robust", "kinds", "effects",
    "fragility", "p_values", "permutations", "difference",
)  # fmt: skip


def check_groups(spec: ScreenSpec, run: RunOptions, options: Mapping[str, Any]) -> None:
    """Raise if groups were asked for with options that they do not know."""
    if options.get("log_scale") is not None and spec.transform != "none":
        raise OptionError(
            "--log-scale says that the values of the table are logarithms already; they are transformed by ",
            option("transform", spec.transform), " here. Leave one of them out.", kind="options",
        )  # fmt: skip
    if options.get("groups") is None:
        return
    for name in _foreign(spec, run):
        raise OptionError("--groups does not go with ", option(name), ". Leave one of them out.", kind="options")


def wants_groups(source: Input, run: RunOptions, options: Mapping[str, Any]) -> bool:
    """Whether groups are compared: as asked for, or because there are too many classes for all patterns."""
    if options.get("groups") is not None:
        return True
    many = len(source.class_counts) > MOST_CLASSES and not _foreign(source.spec, run)
    many = many and source.spec.outcome is None
    many = many and not are_measured(list(source.class_counts))
    if options.get("log_scale") is not None and not many:
        raise OptionError(
            "--log-scale is for fold changes of groups and contrasts. Add --groups rest.", kind="options"
        )
    return many


def _foreign(spec: ScreenSpec, run: RunOptions) -> list[str]:
    asked = [name for name in _FOREIGN if name in spec.to_dict()]
    asked += [name for name in ("report_pairs", "report_plan", "manifest") if getattr(run, name) is not None]
    return asked


def run_groups(source: Input, run: RunOptions, talk: Talk, options: Mapping[str, Any], load: Load) -> None:
    """Compare groups with their reference, write and tell; ``load`` reads prior probabilities."""
    spec = source.spec
    if options.get("groups") is None:
        talk.say(
            "note",
            "\n".join(wrap(
                f"There are {len(source.class_counts)} classes, too many for all ways in which they may differ: "
                "the markers of each class against the rest are looked for (--groups rest)."
            )),
        )  # fmt: skip
    with talk.timed("screen"):
        markers = _compare(source, talk, run.threads, options, load)
        lists = markers.select(spec.make_rule())
    lists, annotation = _annotated(lists, run, spec)
    with together():
        with talk.timed("write"):
            n_rows = _write(lists, run, source, annotation)
        write_config(run, "screen", spec, options)
        if run.report is not None:
            from bayesieve.report import write_groups  # noqa: PLC0415 - slow to import

            with talk.timed("report"):
                title = f"Markers of groups: {os.path.basename(spec.table)}"
                write_groups(lists, run.report, title=title, described=_without_folder(source))
    _tell(talk, lists, source, run, n_rows)


def _compare(
    source: Input, talk: Talk, threads: int | None, options: Mapping[str, Any], load: Load
) -> GroupMarkers:
    log_scale = options.get("log_scale")
    spec, features = source.spec, source.feature_ids
    known = source.record.transform if source.record.transform in ("log1p", "log2") else None
    with talk.progress("Shuffling groups", counted=True) as progress:
        return screen_groups(
            source.data,
            reference=options.get("groups") or REST,
            model=source.model or spec.make_model([str(label) for label in source.classes], features, read_model),
            prior_probability=spec.make_prior(features, load),
            feature_names=features if source.sites else None,
            log_scale=log_scale or known,
            shuffles="auto" if spec.shuffles is None else spec.shuffles,
            seed=spec.seed or 0,
            n_threads=threads,
            progress=progress,
        )


def _annotated(lists: GroupSelection, run: RunOptions, spec: ScreenSpec) -> tuple[GroupSelection, Annotations]:
    """Name the features by a column of annotations, if that was asked for."""
    ids = lists.markers.feature_names
    annotation = annotation_file(run.features, ids, spec.encoding)
    if run.label_column is None:
        return lists, annotation
    if run.label_column not in annotation:
        raise OptionError(
            f"--label-column {run.label_column} is no column of {run.features}, which has {', '.join(annotation)}."
        )
    names = number_names([annotation[run.label_column].get(name) or name for name in ids])[0]
    pairs = list(zip(names, ids, strict=True))
    made: Annotations = {"feature_id": dict(pairs)}
    made |= {
        key: {name: values.get(each) for name, each in pairs}
        for key, values in annotation.items() if key != run.label_column
    }  # fmt: skip
    markers = dataclasses.replace(lists.markers, feature_names=tuple(names))
    return dataclasses.replace(lists, markers=markers), made


def _write(lists: GroupSelection, run: RunOptions, source: Input, annotation: Annotations) -> int:
    """Write the table in long form; to standard output if nothing else is to be written."""
    if run.out is None and run.report is not None:
        return 0
    columns = lists.to_dict(only_selected=run.only_selected)
    for name, values in annotation.items():
        key = name if name not in columns else f"annotation_{name}"
        columns[key] = [values.get(feature) for feature in columns["feature"]]
    n_rows = len(columns["feature"])
    if run.out is not None:
        write_results(run.out, columns, lambda: _about(lists, source), quote_formulas=run.quote_formulas)
        return n_rows
    for chunk in text_chunks(columns, quote_formulas=run.quote_formulas):
        sys.stdout.buffer.write(chunk)
    sys.stdout.flush()
    return n_rows


def _about(lists: GroupSelection, source: Input) -> dict[str, Any]:
    """What formats with a place for it say about the table."""
    markers, shuffled = lists.markers, lists.markers.posterior.shuffled
    return {
        "table": source.spec.table,
        "groups": {str(group): size for group, size in markers.group_sizes.items()},
        "reference": str(markers.reference),
        "transform": source.record.transform,
        "rule": lists.selection.rule,
        "n_features": markers.n_features,
        "n_comparisons": int(markers.log_odds.size),
        "n_selected": lists.n_selected,
        "expected_false_positives": float(lists.selection.false_positive_estimate.expected),
        "n_shuffles": 0 if shuffled is None else shuffled.n_shuffles,
    }


def _tell(talk: Talk, lists: GroupSelection, source: Input, run: RunOptions, n_rows: int) -> None:
    lines = [part for text in (*source.described, "", *lists.lines()) for part in (wrap(text) or [""])]
    lines += ["", *_table(lists), ""]
    if run.out is not None:
        lines.append(f"Wrote {plural(n_rows, 'row')} to {run.out}.")
    if run.report is not None:
        size = os.path.getsize(run.report) / 1e6
        lines.append(f"Wrote the report to {run.report} ({size:,.1f} MB); open it in a browser.")
    talk.say("result", "\n".join(lines).rstrip(), **_about(lists, source))


def _table(lists: GroupSelection) -> list[str]:
    """A line for each group: how many samples and markers, and the strongest of these with their direction."""
    markers = lists.markers
    signs, direction = {-1: "-", 0: "", 1: "+"}, markers.direction
    groups = [short(str(group), _NAME) for group in markers.groups]
    sizes = [f"{markers.group_sizes[group]:,}" for group in markers.groups]
    numbers, names = [], []
    for group in markers.groups:
        places = markers.places(group)
        numbers.append(f"{sum(int(lists.mask[i].sum()) for i, _ in places):,}")
        found = [
            (
                -float(markers.log_odds[i, f]),
                markers.feature_names[f] + signs[int(direction[i, f]) * (-1) ** turned],
            )
            for i, turned in places
            for f in np.flatnonzero(lists.mask[i] & (markers.rank[i] <= _BEST)).tolist()
        ]
        names.append(list(dict.fromkeys(name for _, name in sorted(found)))[:_BEST])
    head = [("group", groups), ("samples", sizes), ("markers", numbers)]
    width = max(map(len, align(head)))
    rows = zip(align(head), [["strongest (+ higher, - lower)"], *names], strict=True)
    return [f"{line:<{width}}  {_fitting(each, _WIDTH - width - 2)}".rstrip() for line, each in rows]


def _fitting(names: list[str], room: int) -> str:
    """As many names as fit."""
    text = ""
    for name in names:
        longer = f"{text}  {name}" if text else short(name, room)
        if len(longer) > room:
            break
        text = longer
    return text


def _without_folder(source: Input) -> list[str]:
    """What is said about the data, with the table named without its folder: a page is for others, too."""
    folder = os.path.join(os.path.dirname(source.spec.table), "")
    return [text.replace(folder, "") if os.path.isabs(folder) else text for text in source.described]
