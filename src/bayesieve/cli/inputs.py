"""What a command reads: a table, or a statistics file."""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.cli.console import Talk
from bayesieve.errors import LabelError, OptionError
from bayesieve.io import Progress, Summary, read_table
from bayesieve.utils import check_file, plural

if TYPE_CHECKING:
    from bayesieve.models import Model
    from bayesieve.stats import Moments, StatisticsSet

_ONLY_FOR_TABLES = (
    "labels", "samples_in", "id_column", "ignore", "na_values", "encoding", "delimiter", "layer", "pairs",
    "exposures",
)  # fmt: skip


@dataclass(slots=True)
class Input:
    """What was read, and how to speak of it.

    Parameters
    ----------
    path
        The file.
    data
        What :func:`bayesieve.screen` takes.
    classes, class_counts, feature_ids, transform
        Of the data.
    described
        Sentences about shape, orientation and what was left out.
    discreet
        The same without ids of samples.
    sites, n_sites
        Of a statistics file: names of the sites, and how many hold each feature.
    blocks
        Of a statistics file whose sites are to be blocks: moments by site.
    """

    path: str
    data: Any
    classes: Sequence[Any]
    class_counts: dict[str, int]
    feature_ids: tuple[str, ...]
    transform: str
    described: list[str]
    sites: tuple[str, ...] = ()
    n_sites: Any = field(default_factory=list)
    label_map: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, Moments] | None = None
    discreet: list[str] = field(default_factory=list)

    def telling(self, n_values: int | None) -> list[str]:
        """Sentences for a report: without ids of samples if it is to show no values."""
        return list(self.discreet or self.described if n_values == 0 else self.described)


def read_input(settings: Mapping[str, Any], talk: Talk, model: Model | None = None) -> Input:
    """Read the table or statistics file of a command, and reduce it to what the model needs."""
    check_file(settings["table"])
    path = os.fspath(settings["table"])
    if path.lower().endswith((".parquet", ".pq")):
        from bayesieve.io import is_statistics_file  # noqa: PLC0415 - most tables are no Parquet

        if is_statistics_file(path):
            return _from_statistics(path, settings)
    with talk.progress(f"Reading {os.path.basename(path)}") as progress, _scipy_meanwhile() as started:
        summary = read_table(
            path,
            labels=settings["labels"],
            classes=settings["classes"],
            transform=settings["transform"],
            missing=settings["missing"],
            samples_in=settings["samples_in"],
            id_column=settings["id_column"],
            ignore=settings["ignore"] or (),
            na_values=settings["na_values"] or (),
            encoding=settings["encoding"],
            decimal=settings["decimal"],
            delimiter=settings["delimiter"],
            layer=settings["layer"],
            blocks=settings.get("blocks"),
            pairs=settings.get("pairs"),
            exposures=settings.get("exposures"),
            model=model,
            memory=settings["memory"],
            n_threads=settings["threads"],
            progress=_both(started, progress),
        )
    encoder = summary.labeller.encoder
    label_map = {label: label for label in encoder.classes} if encoder.wanted is None else encoder.wanted.members
    return Input(
        path, summary, summary.statistics.classes, summary.class_counts, summary.feature_names,
        settings["transform"], describe(summary), label_map=dict(label_map),
        discreet=describe(summary, ids=False),
    )  # fmt: skip


@contextlib.contextmanager
def _scipy_meanwhile() -> Iterator[Progress]:
    """Import what the summary needs (SciPy, a tenth of a second) while compiled loops read the table."""
    helper = threading.Thread(target=importlib.import_module, args=("bayesieve.posterior.null.distribution",))

    def start(done: int, total: int) -> None:
        del done, total
        if helper.ident is None:
            helper.start()

    try:
        yield start
    finally:
        if helper.ident is not None:
            helper.join()


def _both(first: Progress, second: Progress | None) -> Progress:
    def tell(done: int, total: int) -> None:
        first(done, total)
        if second is not None:
            second(done, total)

    return tell


def describe(summary: Summary, *, ids: bool = True) -> list[str]:
    """Say what a table holds and what was left out of it, with some of the ids or without."""
    table, labeller = summary.slabs.table, summary.labeller
    n = sum(summary.class_counts.values())
    lines = [
        f"{table.path}: {table.form}, samples in {table.samples_in}; {n:,} samples x "
        f"{plural(len(summary.feature_names), 'feature')}, transform {summary.slabs.transform}."
    ]
    out = _left_out(summary, ids)
    if out:
        lines.append("Left out: " + "; ".join(out) + ".")
    if labeller.in_order is not None:
        lines.append(f"The table has no sample ids: labels are taken in the order of {labeller.source}.")
    if labeller.by_id is not None and len(labeller.matched) < len(labeller.by_id):
        absent = [name for name in labeller.by_id if name not in labeller.matched]
        are = "is" if len(absent) == 1 else "are"
        few = f" ({_few(absent)})" if ids else ""
        lines.append(f"{plural(len(absent), 'id')} of {labeller.source} {are} not in the table{few}.")
    if labeller.ids_in:
        lines.append(f"Samples are looked up in {labeller.ids_in}.")
    if summary.missing.total:
        are = "is" if summary.missing.total == 1 else "are"
        lines.append(f"{plural(summary.missing.total, 'missing value')} {are} left out, feature by feature.")
    return lines


def _left_out(summary: Summary, ids: bool) -> list[str]:
    table, labeller = summary.slabs.table, summary.labeller
    encoder = labeller.encoder
    out = []
    if encoder.n_unlabelled:
        out.append(f"{plural(encoder.n_unlabelled, 'sample')} without a label")
    if encoder.outside:
        shown = ", ".join(f"{label} ({count})" for label, count in encoder.outside.most_common(5))
        out.append(f"{plural(sum(encoder.outside.values()), 'sample')} outside the classes: {shown}")
    out += summary.extra_left_out if ids else [text.partition(" (")[0] for text in summary.extra_left_out]
    unknown = [*labeller.unmatched, *table.left_out.get("not in the label file", [])]
    if unknown:
        few = f" ({_few(unknown)})" if ids else ""
        out.append(f"{plural(len(unknown), 'sample')} that {labeller.source} does not know{few}")
    for reason, names in table.left_out.items():
        few = f": {_few(names)}" if ids else ""
        if reason == "rows without numbers":
            out.append(f"{plural(len(names), 'row')} without numbers{few}")
        elif reason != "not in the label file":
            out.append(f"{plural(len(names), 'column')}, {reason}{few}")
    return out


def check_classes(given: Input) -> None:
    """Raise unless there are classes to compare, told apart by more than their spelling."""
    shown = ", ".join(f"{label} ({count})" for label, count in list(given.class_counts.items())[:10])
    if len(given.class_counts) == 1:
        raise LabelError(
            f"A screen compares at least two classes, but all samples of {given.path} are of class "
            f"{next(iter(given.class_counts))!r}. Check --labels, and --classes if it was given."
        )
    folded: dict[str, list[str]] = {}
    for label in given.class_counts:
        folded.setdefault(str(label).strip().casefold(), []).append(str(label))
    if 1 < len(folded) < len(given.class_counts):
        merged = "; ".join(f"{labels[0]}={','.join(labels)}" for labels in folded.values())
        raise LabelError(
            f'{given.path}: some of the labels {shown} differ in case only. Merge them: --classes "{merged}".'
        )


def _few(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def _from_statistics(path: str, settings: Mapping[str, Any]) -> Input:
    given = [name for name in _ONLY_FOR_TABLES if settings.get(name) not in (None, [], ())]
    if given:
        raise OptionError(
            f"{path} is a statistics file, to which --{given[0].replace('_', '-')} does not apply: labels and "
            "values were fixed when it was written. Leave the option out."
        )
    from bayesieve.io import read_statistics  # noqa: PLC0415

    found = read_statistics(path)
    if settings["transform"] not in ("none", found.transform):
        raise OptionError(
            f"{path} holds statistics of values with transform {found.transform}; they cannot be transformed "
            "again. Leave --transform out."
        )
    if settings.get("model", "gaussian") != "gaussian":
        raise OptionError(f"{path} holds moments, which serve the Gaussian model only. Leave --model out.")
    for name in ("informative_missing", "fragility", "robust", "permutations"):
        if settings.get(name):
            raise OptionError(
                f"{path} holds sums and no samples, so that --{name.replace('_', '-')} does not apply."
            )
    blocks = settings.get("blocks")
    if blocks not in (None, "sites", "site"):
        raise OptionError(f"The blocks of a statistics file are its sites: write --blocks sites, not {blocks!r}.")
    return from_set(path, found, settings["classes"], apart=blocks is not None)


def from_set(path: str, found: StatisticsSet, classes: str | None, *, apart: bool = False) -> Input:
    """Pool the sites of a statistics set, or keep them apart as blocks."""
    moments, blocks = found.pooled(), found.by_site() if apart else None
    if classes is not None:
        from bayesieve.io import ClassMap  # noqa: PLC0415

        wanted = ClassMap.parse(classes)
        if any(label != name for label, name in wanted.members.items()):
            raise OptionError("The classes of a statistics file can be picked and ordered, not merged or renamed.")
        moments = moments.pick(list(wanted.classes))
        blocks = blocks and {site: part.pick(list(wanted.classes)) for site, part in blocks.items()}
    counts = np.broadcast_to(moments.counts, moments.mean.shape).max(axis=1)
    sites = tuple(site.site for site in found.sites)
    described = [
        f"{path}: statistics of {plural(len(sites), 'site')} ({_few(sites, 5)}), "
        f"{'apart' if apart else 'pooled'}; "
        f"{int(counts.sum()):,} samples x {moments.n_features:,} features, transform {found.transform}."
    ]
    named = {str(label): int(n) for label, n in zip(moments.classes, counts, strict=True)}
    return Input(
        path, moments, moments.classes, named, found.feature_ids, found.transform, described, sites,
        found.n_sites_per_feature, blocks=blocks,
    )  # fmt: skip
