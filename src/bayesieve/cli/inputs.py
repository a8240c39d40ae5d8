"""Input of a command: a table, or a statistics file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve.cli.console import Talk
from bayesieve.data import split_treatment
from bayesieve.io import ClassMap, check_table, is_statistics_file, read_statistics, read_table
from bayesieve.screening import RunRecord, ScreenSpec, SiteView, refuse_quantity, view_genes
from bayesieve.utils import DataWarning, LabelError, Message, OptionError, option, plural, warn

if TYPE_CHECKING:
    from bayesieve.data import GeneMap
    from bayesieve.models import Model
    from bayesieve.posterior import FeaturePosterior
    from bayesieve.stats import Moments

_OF_SAMPLES = ("informative_missing", "fragility", "robust", "permutations")


@dataclass(slots=True)
class Input:
    """What was read.

    Parameters
    ----------
    record
        What is known of the run so far.
    data
        What :func:`bayesieve.screen` takes.
    classes, feature_ids
        Of the data.
    model
        The model whose statistics were summed; None for a Gaussian one.
    n_sites
        Of a statistics file: how many sites hold each feature.
    blocks
        Of a statistics file whose sites are to be blocks: moments by site.
    genes
        Genes of the features, if these are to be collapsed.
    """

    record: RunRecord
    data: Any
    classes: Sequence[Any]
    feature_ids: tuple[str, ...]
    model: Model | None = None
    n_sites: Any = field(default_factory=list)
    blocks: dict[str, Moments] | None = None
    genes: GeneMap | None = None

    @property
    def spec(self) -> ScreenSpec:
        """What was asked for."""
        assert self.record.spec is not None
        return self.record.spec

    @property
    def sites(self) -> tuple[str, ...]:
        """Names of the sites of a statistics file."""
        return self.record.sites

    @property
    def class_counts(self) -> Mapping[str, int]:
        """Number of samples of every class."""
        return self.record.class_counts

    @property
    def described(self) -> list[str]:
        """Sentences about shape, orientation and what was left out."""
        return [message.render(command=True) for message in self.record.described]

    def site_view(self, posterior: FeaturePosterior) -> SiteView | None:
        """Look at sites of a statistics file, or at blocks, one by one; None if there are not several."""
        if not self.sites:
            return SiteView.of_blocks(posterior)
        if len(self.sites) == 1:
            return None
        found = self.blocks
        if found is None:
            every = read_statistics(self.spec.table).by_site()
            found = {site: moments.pick(list(self.classes)) for site, moments in every.items()}
        return SiteView.of(posterior, {site: view_genes(moments, posterior) for site, moments in found.items()})

    def of_genes(self, posterior: FeaturePosterior) -> Input:
        """Return the input whose features are the genes of a screen; the same if it was not collapsed."""
        data = view_genes(self.data, posterior)
        if data is self.data:
            return self
        n_sites = view_genes(np.asarray(self.n_sites), posterior) if self.sites else self.n_sites
        return replace(self, data=data, feature_ids=posterior.names, n_sites=n_sites)


def read_input(
    spec: ScreenSpec,
    talk: Talk,
    *,
    memory: int | None = None,
    threads: int | None = None,
    keep_values: bool = False,
    screens: bool = False,
    client: Any = None,
    part: str | None = None,
) -> Input:
    """Read the table or statistics file of a command, and reduce it to what the model needs."""
    if spec.duplicates == "strongest" and not screens:
        raise OptionError(
            "--duplicates strongest chooses features by their evidence, which is what bayesieve screen finds out.",
            hint="Say --duplicates mean or number.",
        )
    check_table(spec.table)
    if is_statistics_file(spec.table):
        if client is not None:
            raise OptionError(f"{spec.table} holds sums already, which need no cluster. Leave --dask out.")
        return _read_statistics(spec)
    model = None if spec.model == "gaussian" else spec.make_model()
    again = keep_values or spec.shuffles != 0 or spec.permutations is not None or spec.fragility or spec.robust
    again = again or spec.covariates is not None or spec.subject is not None
    with talk.progress(f"Reading {os.path.basename(spec.table)}") as progress:
        summary = read_table(
            spec.table,
            **spec.options_for("read_table"),
            model=model,
            memory=memory,
            n_threads=threads,
            progress=progress,
            keep_values=again,
            client=client,
            part=part,
        )
    ids_in = ["ignore"] if summary.record.samples_in == "columns" else []
    ids_in += ["classes"] if summary.labels_are_ids else []
    record = RunRecord(
        spec=spec, class_counts=summary.class_counts, label_map=summary.label_map, transform=spec.treatment,
        described=tuple(summary.record.messages()), ids_in=tuple(ids_in),
    )  # fmt: skip
    return Input(record, summary, summary.statistics.classes, summary.feature_names, model)


def check_not_statistics(path: str, name: str) -> None:
    """Raise if a table is a statistics file, to which an option does not apply."""
    check_table(path)
    if is_statistics_file(path):
        raise OptionError(
            f"{path} holds sums and no samples, so that {name} does not apply. Give the table itself."
        )


def check_classes(source: Input) -> None:
    """Raise unless there are classes to compare, told apart by more than their spelling."""
    path, counts = source.spec.table, source.class_counts
    if source.spec.outcome is not None:  # its values are no classes
        return
    refuse_quantity(list(counts), sum(counts.values()), source.spec.labels or "")
    if len(counts) == 1:
        raise LabelError(
            f"A screen compares at least two classes, but all samples of {path} are of class "
            f"{next(iter(counts))!r}. Check --labels, and --classes if it was given."
        )
    folded: dict[str, list[str]] = {}
    for label in counts:
        folded.setdefault(str(label).strip().casefold(), []).append(str(label))
    if 1 < len(folded) < len(counts):
        shown = ", ".join(f"{label} ({count})" for label, count in list(counts.items())[:10])
        merged = "; ".join(f"{labels[0]}={','.join(labels)}" for labels in folded.values())
        raise LabelError(
            f'{path}: some of the labels {shown} differ in case only. Merge them: --classes "{merged}".'
        )
    if source.spec.pairs is None and not source.sites:
        _check_sizes(source)


def _check_sizes(source: Input) -> None:
    """Say what to do about classes of one sample: an error where the prior needs two, otherwise a warning."""
    counts, spec = source.class_counts, source.spec
    alone = [label for label, count in counts.items() if count == 1]
    if not alone:
        return
    members: dict[str, list[str]] = {label: [] for label in counts}
    for raw, label in source.record.label_map.items():
        members.setdefault(label, []).append(raw)
    others = [label for label in counts if label not in alone]

    def words(groups: Mapping[str, Sequence[str]]) -> str:
        return "; ".join(
            name if list(raw) in ([], [name]) else f"{name}={','.join(raw)}" for name, raw in groups.items()
        )

    ways = []
    if len(others) > 1:
        ways.append(f'leave it out: --classes "{words({label: members[label] for label in others})}"')
    if len(counts) > 2:
        labels = list(counts)
        place = labels.index(alone[0])
        near = labels[place - 1] if place else labels[1]
        both = sorted([near, alone[0]], key=labels.index)
        joined = [each for label in both for each in members[label] or [label]]
        groups = {
            ("+".join(both) if label == near else label): (joined if label == near else members[label])
            for label in labels
            if label != alone[0]
        }
        ways.append(f'merge it with another: --classes "{words(groups)}"')
    advice = ", or ".join(ways) if ways else "add samples, or merge other labels into it with --classes"
    said = (
        f"{spec.table}: class {alone[0]!r} has one sample, and one sample shows no spread to compare. "
        f"{advice[0].upper()}{advice[1:]}."
    )
    if spec.model == "gaussian" and spec.prior == "jeffreys":
        hint = "The calibrated prior takes one sample, too: leave out --prior jeffreys."
        raise LabelError(said, hint=hint, kind="one-sample")
    warn(DataWarning, said, kind="one-sample")


def _few(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def _read_statistics(spec: ScreenSpec) -> Input:
    """Pool the sites of a statistics file, or keep them apart as blocks."""
    found = read_statistics(spec.table)
    parts = [site for site in found.sites if site.part is not None]
    if parts:
        number, of = parts[0].part or (0, 0)
        raise OptionError(
            f"{spec.table} holds part {number} of {of:,} of {parts[0].site}. Put all parts together first: "
            "bayesieve merge PARTS --out whole.stats.parquet.",
            kind="parts",
        )
    _check_for_statistics(spec, found.transform)
    apart = spec.blocks is not None
    if apart and found.covariates:
        raise OptionError(
            f"{spec.table} holds covariates ({_few(found.covariates, 6)}), whose slopes all sites share: sites "
            "cannot be blocks beside them. Leave --blocks out."
        )
    moments, blocks = found.pooled(), found.by_site() if apart else None
    if spec.classes is not None:
        wanted = ClassMap.parse(spec.classes)
        if any(label != name for label, name in wanted.members.items()):
            raise OptionError("The classes of a statistics file can be picked and ordered, not merged or renamed.")
        moments = moments.pick(list(wanted.classes))
        blocks = blocks and {site: part.pick(list(wanted.classes)) for site, part in blocks.items()}
    counts = np.broadcast_to(moments.counts, moments.mean.shape).max(axis=1)
    sites = tuple(site.site for site in found.sites)
    described = Message.of(
        f"{spec.table}: statistics of {plural(len(sites), 'site')} ({_few(sites, 5)}), "
        f"{'apart' if apart else 'pooled'}; "
        f"{int(counts.sum()):,} samples x {moments.n_features:,} features, transform {found.transform}."
    )
    named = {str(label): int(n) for label, n in zip(moments.classes, counts, strict=True)}
    record = RunRecord(
        spec=spec, class_counts=named, transform=found.transform, sites=sites,
        described=(described, *_without_shape(spec, found.without_shape)),
    )  # fmt: skip
    return Input(
        record, moments, moments.classes, found.feature_ids, n_sites=found.n_sites_per_feature, blocks=blocks
    )


def _without_shape(spec: ScreenSpec, sites: Sequence[str]) -> tuple[Message, ...]:
    """Say so where sites do not know fourth powers, by which the calibrated prior judges variances."""
    if not sites or spec.prior != "calibrated":
        return ()
    alone = " there" if spec.blocks is not None else ""
    return (
        Message.of(
            f"The statistics of {_few(sites, 5)} hold no fourth powers: variances are not compared{alone}.",
            hint=(
                "Have them written anew by this version of bayesieve, or say ",
                option("prior", "jeffreys"),
                ".",
            ),
            kind="no-fourth-powers",
        ),
    )


def _check_for_statistics(spec: ScreenSpec, transform: str) -> None:
    """Raise if an option needs samples or values, which a statistics file does not hold."""
    path, asked = spec.table, spec.to_dict()
    for name in spec.names("read_table"):
        if name in asked and name not in ("classes", "blocks", "transform", "missing", "decimal"):
            raise OptionError(
                f"{path} is a statistics file, to which ", option(name), " does not apply: labels and values were "
                "fixed when it was written. Leave the option out.",
            )  # fmt: skip
    if spec.transform not in ("none", transform, split_treatment(transform)[1]):
        raise OptionError(
            f"{path} holds statistics of values with transform {transform}; they cannot be transformed again. "
            "Leave ", option("transform"), " out.",
        )  # fmt: skip
    if spec.model != "gaussian":
        raise OptionError(
            f"{path} holds moments, which serve the Gaussian model only. Leave ", option("model"), " out."
        )
    for name in _OF_SAMPLES:
        if name in asked:
            raise OptionError(f"{path} holds sums and no samples, so that ", option(name), " does not apply.")
    if spec.blocks not in (None, "sites", "site"):
        known = ("The blocks of a statistics file are its sites: write ", option("blocks", "sites"))
        raise OptionError(*known, f", not {spec.blocks!r}.")
