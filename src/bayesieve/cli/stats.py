"""``bayesieve stats``, ``merge`` and ``remove``: sufficient statistics instead of patients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input, read_input
from bayesieve.cli.outputs import RunOptions, check_targets, files_read, write_config
from bayesieve.data import Covariates, looks_at_all_samples
from bayesieve.io import Part, check_table, is_statistics_file, read_statistics, unstable_numbers, write_statistics
from bayesieve.screening import ScreenSpec
from bayesieve.stats import DesignMoments, SiteStatistics, StatisticsSet, merge_statistics, suppress
from bayesieve.utils import DataWarning, OptionError, check_writable, plural, warn


def run_stats(options: Mapping[str, Any], site: str | None, min_cell: int, part: str | None = None) -> None:
    """Write the statistics of one site, small cells suppressed before anything is written; of a part, as it is."""
    spec, run = ScreenSpec.from_options(options), RunOptions.from_options(options)
    talk, out = run.talk(), Path(str(run.out))
    if looks_at_all_samples("none", spec.normalise):
        raise OptionError(
            f"--normalise {spec.normalise} looks at all samples at once, so that the statistics could not be "
            "merged with those of another site. State the total that all sites use: --normalise total:10000."
        )
    if looks_at_all_samples(spec.transform):
        stated = ", or state the dispersion that all sites use: vst:0.05" if spec.transform == "vst" else ""
        raise OptionError(
            f"--transform {spec.transform} looks at all samples of a feature at once, so that its statistics "
            f"could not be merged with those of another site. Use none, log2, log1p or logit{stated}."
        )
    if check_table(spec.table).is_file() and is_statistics_file(spec.table):
        raise OptionError(f"{spec.table} is a statistics file already; merge such files with bayesieve merge.")
    _check_ending(out)
    _check_part(spec, part)
    run.check_targets(files_read(spec, run))
    with run.cluster() as client:
        source = read_input(spec, talk, memory=run.memory, threads=run.threads, part=part, client=client)
    if source.data.repeated:
        warn(DataWarning, *unstable_numbers(source.data.repeated).pieces, kind="duplicates-of-sites")
    if part is not None:
        _write_part(source, site or Path(spec.table).name.split(".")[0], min_cell, part, run, talk)
        write_config(run, "stats", spec, options)
        return
    moments, ids, n_suppressed = suppress(source.data.moments, source.feature_ids, min_cell)
    named = site or Path(spec.table).name.split(".")[0]
    design = _design(source.data, min_cell) if spec.covariates is not None else None
    if design is not None:
        shared = set(ids)
        places = np.array([i for i, name in enumerate(source.feature_ids) if name in shared])
        design = design.at(moments, places)
    result = StatisticsSet((SiteStatistics(named, moments, ids, spec.treatment, min_cell, n_suppressed, design),))
    write_statistics(result, out)
    write_config(run, "stats", spec, options)
    lines = [*source.described, f"Site {named!r}, classes: {_counts(source.class_counts)}."]
    if n_suppressed:
        lines.append(
            f"Suppressed {n_suppressed:,} features in which a class has fewer than {min_cell} values (--min-cell)."
        )
    sums = "counts, means and centred powers up to the fourth"
    if not moments.has_shape:
        sums = "counts, means and centred squares (of fewer than five values higher powers would give all away)"
    if design is not None:
        sums += f", and products with covariates ({', '.join(design.covariates)}),"
    lines.append(f"Wrote {sums} of {len(ids):,} features to {out}.")
    talk.say("statistics", "\n".join(lines), site=named, n_features=len(ids), n_suppressed=n_suppressed)


def _check_part(spec: ScreenSpec, part: str | None) -> None:
    """Raise unless the samples of a table can be summed in parts."""
    if part is None:
        return
    Part.parse(part)
    if spec.covariates is not None:
        raise OptionError(
            "--covariates looks at the levels of all samples at once, so that --part cannot go with it. Write the "
            "statistics in one job."
        )


def _write_part(source: Input, named: str, min_cell: int, part: str, run: RunOptions, talk: Talk) -> None:
    """Write the statistics of some of the samples; small cells are held back when all parts are merged."""
    chosen, ids, out = Part.parse(part), source.feature_ids, Path(str(run.out))
    held = SiteStatistics(
        named, source.data.moments, ids, source.spec.treatment, min_cell, part=(chosen.number, chosen.of)
    )
    write_statistics(StatisticsSet((held,)), out)
    talk.say(
        "statistics",
        "\n".join([
            *source.described,
            f"Part {chosen.number} of {chosen.of} of site {named!r}, classes: {_counts(source.class_counts)}.",
            f"Wrote {out}, which small cells are still in. Put all parts together: bayesieve merge PARTS --out "
            f"{named}.stats.parquet",
        ]),
        site=named, n_features=len(ids), part=[chosen.number, chosen.of],
    )  # fmt: skip


def _design(table: Any, min_cell: int) -> DesignMoments:
    """Sum the covariates of a table in their own units; raise if a level stands for few samples of a class."""
    held, covariates = table.in_memory(), Covariates.of(table.covariates)
    codes = table.summed.labels.codes if held is None else held[0].labels.codes
    given, classes = covariates.as_given, table.statistics.classes
    for name, levels in covariates.levels.items():
        own = [k for k, source in enumerate(covariates.sources) if source == name]
        rest = 1.0 - given[:, own].sum(axis=1)
        for level, told in zip(levels, (rest, *given[:, own].T), strict=True):
            for k, label in enumerate(classes):
                n = int(np.rint(told[codes == k].sum()))
                if 0 < n < min_cell:
                    raise OptionError(
                        f"Covariate {name!r} has {n} sample{'s' * (n > 1)} of class {label!r} with {level!r}, "
                        f"fewer than --min-cell {min_cell}: products with it would give them away. Merge levels, "
                        "leave the covariate out, or lower --min-cell if your rules allow it.",
                        kind="small-cells",
                    )
    if held is None:
        found: DesignMoments = table.summed.design(covariates, as_given=True)
        return found
    return DesignMoments.from_labelled(held[0], given, names=covariates.names, missing="omit")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts.items())


def _check_ending(out: Path) -> None:
    if out.suffix.lower() not in (".parquet", ".pq"):
        raise OptionError(f"A statistics file is a Parquet file; let {out} end in .stats.parquet.")


def run_merge(options: Mapping[str, Any], files: Sequence[str], join: Literal["inner", "outer"]) -> None:
    """Put the sites of several statistics files into one, each as its own block."""
    run = RunOptions.from_options(options)
    talk, out = run.talk(), Path(str(run.out))
    if len(files) < 2:
        raise OptionError("Merging needs at least two statistics files.")
    _check_ending(out)
    check_targets(dict.fromkeys(files, "files"), {"out": out})
    sets = [read_statistics(path) for path in files]
    merged = merge_statistics(sets, how=join)
    write_statistics(merged, out)
    per_feature = merged.n_sites_per_feature
    lines = [f"Merged {plural(len(merged.sites), 'site')}: {', '.join(site.site for site in merged.sites)}."]
    n_parts = sum(site.part is not None for each in sets for site in each.sites)
    if n_parts:
        lines.append(
            f"{n_parts:,} of the files were parts of a table, {sum(map(_n_samples, merged.sites)):,} samples."
        )
    if join == "outer":
        held = {int(n): int((per_feature == n).sum()) for n in sorted(set(per_feature.tolist()), reverse=True)}
        lines.append(
            "Features by number of sites: " + ", ".join(f"{n}: {count:,}" for n, count in held.items()) + "."
        )
    elif len(merged.sites) > 1:
        lost = max(len(part.feature_ids) for part in sets) - len(merged.feature_ids)
        lines.append(
            f"{len(merged.feature_ids):,} features are common to all; {lost:,} of the longest list are not."
        )
    lines.append(f"Wrote {out}; screen it with: bayesieve screen {out}")
    talk.say("merged", "\n".join(lines), n_sites=len(merged.sites), n_features=len(merged.feature_ids))


def _n_samples(site: SiteStatistics) -> int:
    return int(site.moments.counts.max(axis=1).sum())


def run_remove(options: Mapping[str, Any], file: str, site: str) -> None:
    """Drop one site from a merged file."""
    run = RunOptions.from_options(options)
    talk, target = run.talk(), Path(run.out or file)
    if run.out is not None:
        _check_ending(target)
    check_writable(target)
    left = read_statistics(file).without(site)
    write_statistics(left, target)
    talk.say(
        "removed",
        f"Removed {site!r}; {len(left.sites)} sites with {len(left.feature_ids):,} features are left in {target}.",
        n_sites=len(left.sites),
    )
