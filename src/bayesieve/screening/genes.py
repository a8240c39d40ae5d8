"""A screen of genes, or of ids: of features with the same ones the strongest stands for them, in every shuffle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from bayesieve.data import Block, GeneGroups, GeneMap, LabelledMatrix, ValueBlocks
from bayesieve.models import Model
from bayesieve.posterior import FeaturePosterior, GeneFeatures, ShuffledLabels
from bayesieve.screening.inputs import ScreenInput
from bayesieve.screening.summarised_table import SummarisedTable
from bayesieve.stats import ClassStatistics, EventTotals, as_moments
from bayesieve.utils import DataError, FloatArray, IntArray, Message, OptionError, check_choice, option, plural

COLLAPSE = ("best", "max-mean")


@dataclass(frozen=True, slots=True, eq=False)
class FeatureView:
    """Some features of a table that was read, under other names.

    Parameters
    ----------
    table
        The table.
    places
        Positions of the features, rising.
    names
        Their names here.
    """

    table: SummarisedTable
    places: IntArray
    names: tuple[str, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.names

    @property
    def statistics(self) -> ClassStatistics:
        """Statistics of the classes."""
        return self.table.statistics.take(self.places)

    @property
    def blocked(self) -> Mapping[str, ClassStatistics]:
        """Statistics by block."""
        return {name: part.take(self.places) for name, part in self.table.blocked.items()}

    @property
    def class_counts(self) -> Mapping[str, int]:
        """Number of samples by class."""
        return self.table.class_counts

    @property
    def block_class_counts(self) -> Mapping[str, Mapping[str, int]]:
        """Number of samples by block and class."""
        return self.table.block_class_counts

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.table.n_pairs

    @property
    def n_incomplete(self) -> int:
        """Number of pairs left out."""
        return self.table.n_incomplete

    @property
    def sample_names(self) -> tuple[str, ...]:
        """Ids of the samples, as far as they are known."""
        return tuple(getattr(self.table, "sample_names", None) or ())

    @property
    def transform(self) -> str | None:
        """How the values were transformed."""
        return getattr(self.table, "transform", None)

    @property
    def normalise(self) -> str:
        """How samples were normalised before."""
        return getattr(self.table, "normalise", "none")

    @property
    def profile(self) -> Any:
        """What the values of the whole table look like."""
        return getattr(self.table, "profile", None)

    def blocks(self, which: IntArray) -> Iterator[Block]:
        """Yield the values of some features."""
        return self.table.blocks(self.places[which])

    def in_memory(self) -> tuple[LabelledMatrix, tuple[str, ...] | None] | None:
        """All values with their labels, and the block of every sample; None if they are not in memory."""
        held = self.table.in_memory()
        return None if held is None else (_columns(held[0], self.places, self.names), held[1])


def view_genes(data: Any, posterior: FeaturePosterior) -> Any:
    """Return the table that was screened as one of the genes of its screen; the same if it was not collapsed."""
    found = next((each for each in posterior.findings if isinstance(each, GeneFeatures)), None)
    return data if found is None else _view(data, found.places, posterior.names)


def view_ids(data: Any, posterior: FeaturePosterior) -> Any:
    """Return a table whose repeated ids were collapsed as one of its ids; any other as it is."""
    return view_genes(data, posterior) if collapses_ids(data) else data


def collapses_ids(data: Any) -> bool:
    """Whether a screen of this table lets one of several features stand for their id."""
    return bool(getattr(data, "numbered", None)) and getattr(data, "duplicates", "") == "strongest"


def _view(data: Any, places: IntArray, names: tuple[str, ...]) -> Any:
    if isinstance(data, LabelledMatrix):
        return _columns(data, places, names)
    if isinstance(data, SummarisedTable):
        return FeatureView(data, places, names)
    if isinstance(data, np.ndarray):  # one number per feature
        return data[places]
    return data.take(places) if isinstance(data, ClassStatistics) else data


def _columns(matrix: LabelledMatrix, places: IntArray, names: tuple[str, ...]) -> LabelledMatrix:
    return replace(matrix, values=matrix.values[:, places], feature_names=names)


def _part(value: Any, places: IntArray) -> Any:
    """Some of one number per feature; one number stays as it is."""
    return np.asarray(value)[places] if value is not None and np.ndim(value) else value


@dataclass(frozen=True, slots=True, eq=False)
class GeneCollapse:
    """How features become genes.

    Parameters
    ----------
    groups
        Groups of the features that are screened.
    rule
        ``"best"`` or ``"max-mean"``.
    names
        Names of the features that are screened.
    places
        Their positions in the table.
    sizes
        How many features every gene has.
    sentence
        What became of the features.
    """

    groups: GeneGroups
    rule: str
    names: tuple[str, ...]
    places: IntArray
    sizes: IntArray
    sentence: Message

    @classmethod
    def of(cls, found: ScreenInput, gene_map: Any, rule: str, unmapped: str) -> GeneCollapse | None:
        """Choose the features of a table that are screened; None if each stands for itself."""
        check_choice("collapse", rule, COLLAPSE)
        numbered: Mapping[str, str] = getattr(found.table, "numbered", {})
        strongest = collapses_ids(found.table)
        if gene_map is None:
            return cls._of_ids(found, numbered) if strongest else None
        if not isinstance(gene_map, GeneMap):
            raise OptionError(
                f"gene_map is a GeneMap, which read_gene_map() returns, not {type(gene_map).__name__}.",
                kind="option",
            )
        if strongest and rule != "best":
            raise OptionError(
                option("duplicates", "strongest"), " and ", option("collapse", rule),
                " choose features by two rules.", hint="Leave one of them out.", kind="options",
            )  # fmt: skip
        names = found.names or tuple(f"x{i}" for i in range(found.statistics.n_features))
        known = _with_numbers(gene_map, numbered, alone=strongest and unmapped == "keep")
        groups = known.group(names, unmapped)
        places = np.flatnonzero(groups.codes >= 0)
        if rule == "max-mean":
            places = np.sort(groups.largest(_means(found)))
        chosen = {"best": "the best ranked stands for its gene", "max-mean": "the one with the largest mean does"}
        text = f"{groups.describe()} Of features with the same genes {chosen[rule]}."
        kept = replace(groups, codes=groups.codes[places])
        made = tuple(names[i] for i in places.tolist())
        return cls(kept, rule, made, places, groups.sizes, Message((text,), kind="genes", numbers=groups.counts()))

    @classmethod
    def _of_ids(cls, found: ScreenInput, numbered: Mapping[str, str]) -> GeneCollapse:
        """Let the strongest of features with the same id stand for it."""
        names = found.names or ()
        ids = [numbered.get(name, name) for name in names]
        place = {name: k for k, name in enumerate(dict.fromkeys(ids))}
        codes = np.array([place[name] for name in ids], dtype=np.int64)
        groups = GeneGroups(tuple(place), tuple((name,) for name in place), codes, 0)
        text = (
            f"{plural(len(ids), 'feature')} with {plural(len(place), 'id')}: of features with the same id the one "
            "with the strongest evidence stands for it, chosen anew in every shuffle of the labels."
        )
        told = Message((text,), kind="duplicates-collapsed", numbers=groups.counts())
        return cls(groups, "best", names, np.arange(codes.size), groups.sizes, told)

    def restrict(
        self, found: ScreenInput, model: Model, prior_log_odds: Any, resolution: Any
    ) -> tuple[ScreenInput, Model, Any, Any]:
        """Leave only the features that are screened."""
        n = found.statistics.n_features
        samples, whole = found.shufflable, found.whole
        if samples is not None:
            samples = replace(samples, matrix=_columns(samples.matrix, self.places, self.names))
        made = replace(
            found,
            table=cast("ValueBlocks | None", _view(found.table, self.places, self.names)),
            statistics=found.statistics.take(self.places),
            names=self.names,
            blocked={name: part.take(self.places) for name, part in found.blocked.items()},
            shufflable=samples,
            whole=None if whole is None else _columns(whole, self.places, self.names),
            relabels=found.relabels if self.places.size == n else None,  # which sum every feature
        )
        return made, model.take(self.places, n), _part(prior_log_odds, self.places), _part(resolution, self.places)

    def settled(self, log_odds: FloatArray) -> GeneCollapse:
        """Put genes in the order of their features in the table."""
        order = np.argsort(self.groups.largest(log_odds), kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        groups = replace(
            self.groups,
            labels=tuple(self.groups.labels[k] for k in order.tolist()),
            genes=tuple(self.groups.genes[k] for k in order.tolist()),
            codes=rank[self.groups.codes],
        )
        return replace(self, groups=groups, sizes=self.sizes[order])

    def best(self, log_odds: FloatArray) -> IntArray:
        """Return the feature of every gene: of those that were screened the strongest."""
        return self.groups.largest(log_odds)

    def apply(self, posterior: FeaturePosterior, shuffled: ShuffledLabels | None) -> FeaturePosterior:
        """Return the posterior of the genes."""
        kept = self.best(posterior.log_odds)
        taken = replace(posterior, shuffled=None).take(kept)
        sentences = [self.sentence]
        if self.rule == "best" and shuffled is None and (self.sizes > 1).any():
            sentences.append(_unjudged(of_ids=self.sentence.kind == "duplicates-collapsed"))
        features = GeneFeatures(taken.names, self.sizes, self.places[kept], tuple(sentences))
        return replace(
            taken,
            feature_names=self.groups.labels,
            shuffled=shuffled,
            findings=(*taken.findings, features),
            checker=posterior.checker,
        )


def _with_numbers(gene_map: GeneMap, numbered: Mapping[str, str], *, alone: bool) -> GeneMap:
    """Return the map that also knows features by the names that tell repeated ids apart.

    ``alone``: an id without a gene stands for its features as a gene does.
    """
    genes = {name: gene_map[own] for name, own in numbered.items() if own in gene_map}
    if alone:
        genes |= {name: (own,) for name, own in numbered.items() if not genes.get(name)}
    return replace(gene_map, genes={**gene_map.genes, **genes}) if genes else gene_map


def _unjudged(*, of_ids: bool) -> Message:
    other = option("duplicates", "mean") if of_ids else option("collapse", "max-mean")
    return Message.of(
        "No labels were shuffled: expected numbers of errors are those of the features kept, and do not know that "
        "each is the best of several.",
        hint=("Shuffle labels, or say ", other, "."),
        kind="genes-unjudged",
    )


def _means(found: ScreenInput) -> FloatArray:
    """Mean of every feature over all samples, whatever their class."""
    if found.n_pairs:
        raise OptionError(
            option("collapse", "max-mean"), " needs means of values, and of pairs their differences are compared.",
            hint=("Say ", option("collapse", "best"), "."), kind="options",
        )  # fmt: skip
    moments = as_moments(found.statistics)
    if moments is not None:
        counts = np.broadcast_to(moments.counts, moments.mean.shape)
        sums = np.where(counts > 0, counts * moments.mean, 0.0).sum(axis=0)
        return np.asarray(sums / np.maximum(counts.sum(axis=0), 1))
    if isinstance(found.statistics, EventTotals):
        return np.asarray(found.statistics.total.sum(axis=0), dtype=np.float64)
    raise DataError(
        option("collapse", "max-mean"), " needs numbers; categories have no mean.",
        hint=("Say ", option("collapse", "best"), "."), kind="options",
    )  # fmt: skip
