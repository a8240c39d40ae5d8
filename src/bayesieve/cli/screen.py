"""``bayesieve screen``: from a file to a ranked table."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.cli.choices import (
    RULE_NUMBERS,
    check_findings,
    check_prior_name,
    chosen_model,
    chosen_probability,
    chosen_rule,
    model_of_values,
)
from bayesieve.cli.config import plain_settings, write_settings
from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input, check_classes, read_input
from bayesieve.cli.manifest import about_settings, finished, lasting, manifest_content, write_content
from bayesieve.cli.outputs import Annotations, annotation_file, check_targets
from bayesieve.cli.screen_report import check_report, write_report
from bayesieve.cli.summary import summary_lines
from bayesieve.errors import FileError
from bayesieve.io import check_ending, text_chunks, write_results
from bayesieve.models import Model
from bayesieve.posterior import FeaturePosterior
from bayesieve.screening import screen
from bayesieve.selection import Rule, Selection, results_hash


def run_screen(settings: Mapping[str, Any]) -> None:
    """Read, screen, select, write and tell.

    Parameters
    ----------
    settings
        All options of the command by name.
    """
    talk = Talk(settings["quiet"], settings["verbose"], settings["json_log"])
    rule = chosen_rule(settings["criterion"], {name: settings[name] for name in RULE_NUMBERS})
    check_prior_name(settings["prior"], settings["prior_ratio"], settings["model"])
    check_findings(settings)
    model = model_of_values(settings)
    _check_outputs(settings)
    with talk.timed("read"):
        given = read_input(settings, talk, model)
    check_classes(given)
    with talk.timed("screen"):
        selection = selected(settings, given, model, rule, talk)
    annotation = annotation_file(settings["features"], selection.posterior.names, settings["encoding"])
    with talk.timed("write"):
        _write(settings, selection, given, annotation)
    plain = plain_settings(settings)
    if settings["config_out"] is not None:
        write_settings(settings["config_out"], "screen", plain)
    if settings["report"] is not None or settings["manifest"] is not None:
        content = manifest_content("screen", plain, given, talk, selection)
        if settings["report"] is not None:
            with talk.timed("report"):
                write_report(settings, selection, rule, given, talk, annotation, lasting(content))
        if settings["manifest"] is not None:
            write_content(settings["manifest"], finished(content, talk))
    _tell(talk, selection, given, settings)


def selected(settings: Mapping[str, Any], given: Input, model: Model, rule: Rule, talk: Talk) -> Selection:
    """Screen, find out what else was asked for, and select."""
    features, classes = given.feature_ids, [str(label) for label in given.classes]
    if settings["model"] == "gaussian":
        model = chosen_model(settings["prior"], settings["prior_ratio"], classes, features)
    posterior = screen(
        given.data,
        model=model,
        prior_probability=chosen_probability(settings["prior_probability"], features),
        feature_names=features if given.sites else None,
        patterns=settings["patterns"],
        blocks=given.blocks,
        block_model=settings["block_model"],
        informative_missing=settings["informative_missing"],
        degenerate=settings["degenerate"],
        resolution=settings["resolution"],
    )
    posterior = with_findings(posterior, settings)
    selection = rule.select(posterior)
    if settings["permutations"] is not None:
        posterior = _relabelled(settings, given, selection, talk)
        selection = rule.select(posterior)
    if not (settings["fragility"] or settings["robust"]):
        return selection
    from bayesieve.screening import fragility  # noqa: PLC0415 - compiles kernels of its own

    found = fragility(given.data, posterior=posterior, cut=selection.cut, n_threads=settings["threads"])
    chosen = found.posterior() if settings["robust"] else posterior
    return rule.select(chosen.with_finding(found))


def _relabelled(settings: Mapping[str, Any], given: Input, selection: Selection, talk: Talk) -> FeaturePosterior:
    """Add what permuted labels say about the list."""
    from bayesieve.screening import permutations  # noqa: PLC0415 - compiles kernels of its own

    with talk.progress("relabelling", counted=True) as progress:
        found = permutations(
            given.data,
            posterior=selection.posterior,
            cut=selection.cut,
            n_permutations=settings["permutations"],
            degenerate=settings["degenerate"],
            seed=settings["seed"] or 0,
            n_threads=settings["threads"],
            progress=progress,
        )
    return selection.posterior.with_finding(found)


def with_findings(posterior: FeaturePosterior, settings: Mapping[str, Any]) -> FeaturePosterior:
    """Add kinds of difference, effect sizes and p-values where they were asked for."""
    if settings["kinds"]:
        from bayesieve.posterior import kinds  # noqa: PLC0415 - compiles kernels of its own

        posterior = posterior.with_finding(kinds(posterior))
    if settings["effects"]:
        from bayesieve.posterior import effects  # noqa: PLC0415

        posterior = posterior.with_finding(effects(posterior))
    if settings["p_values"]:
        from bayesieve.rivals import pearson_neyman  # noqa: PLC0415 - SciPy is slow to import

        posterior = posterior.with_finding(pearson_neyman(posterior))
    return posterior


def _check_outputs(settings: Mapping[str, Any]) -> None:
    """Find out before the work whether its fruits can be kept."""
    if settings["out"] is not None:
        check_ending(settings["out"])
    check_report(settings["report"])
    check_targets(settings, ("out", "report", "manifest", "config_out"))
    if settings["features"] is not None and not Path(settings["features"]).exists():
        raise FileError(f"There is no file {settings['features']} (--features). Check the name and the folder.")


def _write(settings: Mapping[str, Any], selection: Selection, given: Input, annotation: Annotations) -> None:
    """Write the table; to standard output if nothing else is to be written."""
    if settings["out"] is None and settings["report"] is not None:
        return
    ranking, rank = selection.posterior.ranking, selection.posterior.rank

    def columns(rows: npt.NDArray[np.int64]) -> dict[str, Any]:
        part = selection.take(rows).to_dict()
        part |= {"rank": rank[rows], "transform": [given.transform] * rows.size}
        if given.sites:
            part["n_sites"] = np.asarray(given.n_sites)[rows]
        for name, values in annotation.items():
            column = [values.get(feature) for feature in part["feature"]]
            part[name if name not in part else f"annotation_{name}"] = column
        return part

    if settings["out"] is None:
        for chunk in text_chunks(columns, order=ranking):
            sys.stdout.buffer.write(chunk)
        sys.stdout.flush()
        return
    write_results(settings["out"], columns, lambda: _about(selection, given, settings), ranking)


def _about(selection: Selection, given: Input, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What formats with a place for it say about the table."""
    return {
        "table": given.path,
        "classes": {str(label): count for label, count in given.class_counts.items()},
        "transform": given.transform,
        "rule": selection.rule,
        "n_selected": selection.n_selected,
        "expected_false_positives": selection.expected_false_positives,
        "expected_by_chance": selection.expected_by_chance,
        "results_hash": results_hash(selection),
        **about_settings(selection, settings),
    }


def _tell(talk: Talk, selection: Selection, given: Input, settings: Mapping[str, Any]) -> None:
    lines = summary_lines(selection, given)
    if settings["out"] is not None:
        lines.append(f"Wrote {selection.posterior.n_features:,} rows to {settings['out']}.")
    if settings["report"] is not None:
        size = os.path.getsize(settings["report"]) / 1e6
        lines.append(f"Wrote the report to {settings['report']} ({size:,.1f} MB); open it in a browser.")
    low, high = selection.false_positives.interval(0.9)
    talk.say(
        "result",
        "\n".join(lines),
        n_features=selection.posterior.n_features,
        classes=given.class_counts,
        n_selected=selection.n_selected,
        expected_false_positives=selection.expected_false_positives,
        interval=[int(low), int(high)],
        expected_by_chance=selection.expected_by_chance,
    )
