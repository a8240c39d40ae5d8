"""``bayesieve stats``, ``merge`` and ``remove``: statistics instead of patients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from bayesieve.cli.config import plain_settings, write_settings
from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import read_input
from bayesieve.cli.outputs import check_targets
from bayesieve.data import NEEDS_ALL_SAMPLES
from bayesieve.errors import OptionError
from bayesieve.io import is_statistics_file, read_statistics, write_statistics
from bayesieve.stats import SiteStatistics, StatisticsSet, merge_statistics, suppress
from bayesieve.utils import check_file, check_writable


def run_stats(settings: Mapping[str, Any]) -> None:
    """Write the statistics of one site, small cells suppressed before anything is written."""
    talk = Talk(settings["quiet"], settings["verbose"], settings["json_log"])
    transform = settings["transform"]
    if transform in NEEDS_ALL_SAMPLES:
        raise OptionError(
            f"--transform {transform} looks at all samples of a feature at once, so that its statistics could not "
            "be merged with those of another site. Use none, log2 or log1p."
        )
    check_file(settings["table"])
    if is_statistics_file(settings["table"]):
        raise OptionError(
            f"{settings['table']} is a statistics file already; merge such files with bayesieve merge."
        )
    _check_ending(Path(settings["out"]))
    check_targets(settings, ("out", "config_out"))
    given = read_input(settings, talk)
    moments, ids, n_suppressed = suppress(given.data.moments, given.feature_ids, settings["min_cell"])
    site = settings["site"] or Path(settings["table"]).name.split(".")[0]
    result = StatisticsSet((SiteStatistics(site, moments, ids, transform, settings["min_cell"], n_suppressed),))
    write_statistics(result, settings["out"])
    if settings["config_out"] is not None:
        write_settings(settings["config_out"], "stats", plain_settings(settings))
    lines = [*given.described, f"Site {site!r}, classes: {_counts(given.class_counts)}."]
    if n_suppressed:
        lines.append(
            f"Suppressed {n_suppressed:,} features in which a class has fewer than {settings['min_cell']} values "
            "(--min-cell)."
        )
    lines.append(f"Wrote counts, means and centred squares of {len(ids):,} features to {settings['out']}.")
    talk.say("statistics", "\n".join(lines), site=site, n_features=len(ids), n_suppressed=n_suppressed)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts.items())


def _check_ending(out: Path) -> None:
    if out.suffix.lower() not in (".parquet", ".pq"):
        raise OptionError(f"A statistics file is a Parquet file; let {out} end in .stats.parquet.")


def run_merge(files: Sequence[Path], out: Path, join: Literal["inner", "outer"], talk: Talk) -> None:
    """Put the sites of several statistics files into one, each as its own block."""
    if len(files) < 2:
        raise OptionError("Merging needs at least two statistics files.")
    _check_ending(out)
    check_targets({"files": list(files), "out": out}, ("out",))
    sets = [read_statistics(path) for path in files]
    merged = merge_statistics(sets, how=join)
    write_statistics(merged, out)
    per_feature = merged.n_sites_per_feature
    lines = [f"Merged {len(merged.sites)} sites: {', '.join(site.site for site in merged.sites)}."]
    if join == "outer":
        held = {int(n): int((per_feature == n).sum()) for n in sorted(set(per_feature.tolist()), reverse=True)}
        lines.append(
            "Features by number of sites: " + ", ".join(f"{n}: {count:,}" for n, count in held.items()) + "."
        )
    else:
        lost = max(len(part.feature_ids) for part in sets) - len(merged.feature_ids)
        lines.append(
            f"{len(merged.feature_ids):,} features are common to all; {lost:,} of the longest list are not."
        )
    lines.append(f"Wrote {out}; screen it with: bayesieve screen {out}")
    talk.say("merged", "\n".join(lines), n_sites=len(merged.sites), n_features=len(merged.feature_ids))


def run_remove(file: Path, site: str, out: Path | None, talk: Talk) -> None:
    """Drop one site from a merged file."""
    target = out or file
    if out is not None:
        _check_ending(out)
    check_writable(target)
    left = read_statistics(file).without(site)
    write_statistics(left, target)
    talk.say(
        "removed",
        f"Removed {site!r}; {len(left.sites)} sites with {len(left.feature_ids):,} features are left in {target}.",
        n_sites=len(left.sites),
    )
