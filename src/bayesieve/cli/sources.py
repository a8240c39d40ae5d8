"""What a report is written of: a result table, a statistics file, or the manifest of a run."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.cli.choices import RULE_NUMBERS, chosen_probability
from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input
from bayesieve.cli.outputs import annotation_file
from bayesieve.cli.rerun import (
    check_inputs,
    compared,
    recorded_settings,
    rule_of,
    screen_defaults,
    screened,
)
from bayesieve.errors import BayesieveError, OptionError
from bayesieve.io import is_statistics_file, plain_suffix, read_json, read_manifest, read_result, read_statistics
from bayesieve.posterior import FeaturePosterior
from bayesieve.report import (
    CANNOT,
    FEATURE_NUMBERS,
    Commands,
    manifest_without_samples,
    numbers_of,
    prior_probability,
    ratio_state,
)
from bayesieve.screening import SiteView
from bayesieve.selection import MinimalRisk, Rule, Selection
from bayesieve.utils import check_file, plural

_FOR_STATISTICS = ("classes", "blocks")


@dataclass(slots=True)
class Source:
    """What is known of a result.

    Parameters
    ----------
    selection, rule
        The list, and its rule if that is known.
    described
        Sentences about where it comes from.
    class_counts, transform
        Of the data.
    commands
        How to get the result again.
    data
        What was screened, if it was screened now.
    annotation
        Columns about the features.
    sites
        The strongest features site by site.
    manifest
        The manifest of the run.
    """

    selection: Selection
    rule: Rule | None
    described: list[str]
    class_counts: dict[str, int]
    transform: str
    commands: Commands
    data: Any = None
    annotation: dict[str, Any] = field(default_factory=dict)
    sites: SiteView | None = None
    manifest: dict[str, Any] = field(default_factory=dict)


def source_of(settings: Mapping[str, Any], talk: Talk) -> Source:
    """Read a result, or make it: a statistics file is screened, a manifest is run again."""
    path = os.fspath(settings["result"])
    check_file(path)
    ending = plain_suffix(path)
    if ending in (".html", ".htm"):
        raise OptionError(f"{path} is a report already. Name what it is to be written of: a result table.")
    if ending in (".parquet", ".pq") and is_statistics_file(path):
        return _of_statistics(path, settings, talk)
    _check_no_others(path, settings)
    if ending == ".json" and _is_manifest(path):
        return _of_manifest(path, settings, talk)
    return _of_table(path, settings, talk)


def _is_manifest(path: str) -> bool:
    content = read_json(path)
    return isinstance(content, dict) and content.get("format") == "bayesieve-manifest"


def _check_no_others(path: str, settings: Mapping[str, Any]) -> None:
    given = [name for name in _FOR_STATISTICS if settings.get(name) is not None]
    if given:
        raise OptionError(
            f"--{given[0]} is for statistics files, which are screened first; {path} is a result already. Leave "
            "it out, or screen the data again."
        )


def _of_table(path: str, settings: Mapping[str, Any], talk: Talk) -> Source:
    with talk.timed("read"):
        stored = read_result(path, settings.get("manifest"))
    recorded = _recorded_rule(stored.settings, stored.selection)
    selection, rule = _decided(stored.selection, recorded, settings)
    posterior = selection.posterior
    manifest = {} if settings.get("manifest") is None else _shown(read_manifest(settings["manifest"]), settings)
    described = [
        f"{path}: a result of bayesieve screen, {plural(posterior.n_features, 'feature')}"
        + (f", transform {stored.transform}." if stored.transform else "."),
        *map(str, manifest.get("described", ())),
        *stored.remarks,
    ]
    if isinstance(stored.settings.get("table"), str):
        commands = Commands.of_settings(
            "screen", stored.settings, screen_defaults(), posterior, statistics=stored.n_sites is not None,
            changed=_anew(settings),
        )  # fmt: skip
    else:
        commands = _of_the_table(path, settings, posterior)
    annotation: dict[str, Any] = dict(stored.annotation)
    if stored.n_sites is not None:
        annotation = {"n_sites": stored.n_sites, **annotation}
    return Source(
        selection, rule, described, stored.class_counts, stored.transform or "none", commands,
        annotation=annotation, manifest=manifest,
    )  # fmt: skip


def _shown(manifest: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    return manifest_without_samples(manifest) if settings.get("report_values") == 0 else manifest


def _anew(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the prior of the command line, where it was given."""
    names = ("prior_probability", "prior_ratio")
    return {name: settings[name] for name in names if settings[name] is not None}


def _of_the_table(path: str, settings: Mapping[str, Any], posterior: FeaturePosterior) -> Commands:
    """Commands that begin with the result, for want of better."""
    words, anew = ["bayesieve", "report", path], _anew(settings)
    lines = ["import bayesieve as bs", f"posterior = bs.read_result({path!r}).posterior"]
    if prior_probability(posterior) is None and "prior_probability" in anew:
        words += ["--prior-probability", anew["prior_probability"]]
        found = numbers_of(anew["prior_probability"], "posterior.names")
        lines += [FEATURE_NUMBERS, f"posterior = posterior.with_prior({found})"]
    if "prior_ratio" in anew:
        words += ["--prior-ratio", anew["prior_ratio"]]
        lines = [CANNOT.format(why="the prior ratio of a stored result is moved by the command line only")]
    return Commands(tuple(words), tuple(lines))


def _recorded_rule(settings: Mapping[str, Any], selection: Selection) -> Rule | None:
    """Return the rule of the settings, if it gives the list."""
    if not settings:
        return None
    try:
        rule = rule_of(settings)
        same = bool((rule.select(selection.posterior).mask == selection.mask).all())
    except (BayesieveError, TypeError, KeyError):
        return None
    return rule if same else None


def _decided(
    selection: Selection, recorded: Rule | None, settings: Mapping[str, Any]
) -> tuple[Selection, Rule | None]:
    """Apply the rule and the prior of the command line, where they were given, to a result."""
    posterior, probability, ratio = selection.posterior, settings["prior_probability"], settings["prior_ratio"]
    if ratio is not None:
        posterior = _with_ratio(posterior, ratio)
    if probability is not None:
        posterior = posterior.with_prior(chosen_probability(probability, posterior.names))
    if any(settings[name] is not None for name in ("criterion", *RULE_NUMBERS)):
        rule: Rule | None = rule_of(settings)
    elif posterior is not selection.posterior:
        rule = recorded or MinimalRisk(0.5)
    else:
        rule = recorded
    return (selection, None) if rule is None else (rule.select(posterior), rule)


def _with_ratio(posterior: FeaturePosterior, text: str) -> FeaturePosterior:
    """Put another prior ratio in the place of the one that a result has."""
    state = ratio_state(posterior)
    if state.value is None:
        raise OptionError(f"--prior-ratio does not apply to this result. {state.reason}")
    try:
        ratio = float(text)
    except ValueError:
        ratio = math.nan
    if not 0.0 < ratio < math.inf:
        raise OptionError(f"--prior-ratio must be a positive number here, not {text!r}; names need the data.")
    moved = np.asarray(posterior.log_bayes_factor + state.power * math.log(ratio / state.value))
    model: Any = posterior.model
    return dataclasses.replace(
        posterior, log_bayes_factor=moved, model=dataclasses.replace(model, prior_ratio=ratio)
    )


def _of_manifest(path: str, settings: Mapping[str, Any], talk: Talk) -> Source:
    if settings.get("manifest") is not None:
        raise OptionError(f"{path} is a manifest itself; --manifest goes with a result table. Leave it out.")
    content = read_manifest(path)
    recorded = recorded_settings(content, path)
    n_inputs = check_inputs(content, path)
    given, rule, selection = screened(recorded, talk)
    said = compared(content, path, selection, n_inputs)
    chosen, now = _decided(selection, rule, settings)
    source = _from_input(given, chosen, now, recorded, settings, _shown(content, settings))
    source.described.append(said)
    return source


def _of_statistics(path: str, settings: Mapping[str, Any], talk: Talk) -> Source:
    if settings.get("manifest") is not None:
        raise OptionError(f"{path} is a statistics file; --manifest goes with a result table. Leave it out.")
    names = ("classes", "blocks", "prior_probability", "prior_ratio", "criterion", *RULE_NUMBERS)
    given_options = {name: settings[name] for name in names if settings.get(name) is not None}
    every = screen_defaults() | {"table": path} | given_options
    given, rule, selection = screened(every, talk)
    return _from_input(given, selection, rule, every, settings, {})


def _from_input(
    given: Input, selection: Selection, rule: Rule | None, settings: Mapping[str, Any], asked: Mapping[str, Any],
    manifest: dict[str, Any],
) -> Source:  # fmt: skip
    """What was screened now, with sites if it has several."""
    posterior = selection.posterior
    commands = Commands.of_settings(
        "screen", settings, screen_defaults(), posterior, statistics=bool(given.sites), changed=_anew(asked)
    )
    described = given.telling(asked.get("report_values"))
    annotation: dict[str, Any] = {"n_sites": np.asarray(given.n_sites)} if given.sites else {}
    annotation |= annotation_file(settings.get("features"), posterior.names, settings.get("encoding"))
    data = None if given.sites else given.data
    return Source(
        selection, rule, described, given.class_counts, given.transform, commands, data, annotation,
        sites_of(given, posterior), manifest,
    )  # fmt: skip


def sites_of(given: Input, posterior: FeaturePosterior) -> SiteView | None:
    """Look at sites of a statistics file, or at blocks, one by one; None if there are not several."""
    if not given.sites:
        return SiteView.of_blocks(posterior)
    if len(given.sites) == 1:
        return None
    if given.blocks is not None:
        return SiteView.of(posterior, given.blocks)
    found = read_statistics(given.path).by_site()
    return SiteView.of(posterior, {site: moments.pick(list(given.classes)) for site, moments in found.items()})
