"""The application as one run: data, rankings of probes and genes, regressions, shuffled stages, gene sets."""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bayesieve.data import GeneMap
from bayesieve.enrichment import Enrichment, GeneRanking, collapse, enrich
from bayesieve.enrichment.known import find_ranks
from bayesieve.io import read_gene_map, read_gene_sets
from bayesieve.study.colon.chance import KnownRows
from bayesieve.study.colon.made import SERIES, MadeFiles, make_files
from bayesieve.study.colon.published import TITLES, known_genes, published
from bayesieve.study.colon.series import READINGS, StagedTable, read_series, read_staged
from bayesieve.study.colon.steps import Result, Steps, Tell
from bayesieve.study.colon.work import QUICK, REGRESSIONS, SAMPLERS, Progress, Work
from bayesieve.utils import (
    BayesieveWarning,
    DataError,
    FloatArray,
    IntArray,
    OptionError,
    check_file,
    check_whole,
    make_folder,
)

DEFAULTS = (*QUICK, "skbs", *REGRESSIONS)
"""Methods of a run if none are named: those that end within minutes."""
ALL = (*QUICK, "skbs", *SAMPLERS, *REGRESSIONS)
_FEWEST_FEATURES = 300
_TOPS = (1000, 2000, 5000)
_MANY_GENES = 10_000  # from here on the paper's lengths of lists are used as they are


@dataclass(frozen=True, slots=True)
class ColonDesign:
    """What the application is run on, and with what.

    Parameters
    ----------
    series, platform
        A series matrix of GEO, and the table of its platform (probes and genes).
    table
        Instead of a series: any table with a column of stages; its features are genes, unless a platform is given.
    labels
        Field or column of stages; found by its name in a series, ``ajcc_stage`` in a table.
    synthetic
        Instead of either: make a series of the same shape; with a platform it takes its probes from there.
    sets
        Gene sets (GMT) for Table S5; those made with the series if there are none.
    features
        Number of probes of a made series.
    reading
        ``"numbers"``, ``"words"`` or ``"both"``: which classes; see
        :data:`bayesieve.study.colon.series.READINGS`.
    methods
        Some of :data:`ALL`.
    repeats
        Repetitions of the cross-validation; stability selection takes ten times as many subsamples.
    seed
        Of everything that is random.

    Examples
    --------
    >>> from bayesieve.study import ColonDesign
    >>> ColonDesign(synthetic=True, features=2000).main_reading
    'numbers'
    """

    series: str | None = None
    platform: str | None = None
    table: str | None = None
    labels: str | None = None
    synthetic: bool = False
    sets: str | None = None
    features: int = 54_675
    reading: str = "both"
    methods: tuple[str, ...] = DEFAULTS
    repeats: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        given = [name for name in ("series", "table") if getattr(self, name) is not None]
        given += ["synthetic"] if self.synthetic else []
        if len(given) != 1:
            what = "Nothing says" if not given else f"--{' and --'.join(given)} both say"
            raise OptionError(
                f"{what} what the study colon is to run on. Give one of --series "
                "GSE17538-GPL570_series_matrix.txt.gz (with --platform GPL570.txt; both from GEO), --table FILE "
                "--labels COLUMN, or --synthetic."
            )
        if self.series is not None and self.platform is None:
            raise OptionError(
                "A series has probes, and the tables are about genes: give the table of its platform as well, "
                "--platform GPL570.txt (GEO, 'Download full table')."
            )
        unknown = [name for name in self.methods if name not in ALL]
        if unknown or not self.methods:
            raise OptionError(
                f"The study colon has no method {', '.join(unknown) or 'at all'!r}. It has: {', '.join(ALL)}."
            )
        if self.reading not in (*READINGS, "both"):
            raise OptionError(f"reading must be numbers, words or both, not {self.reading!r}.")
        check_whole("repeats", self.repeats, 1)
        check_whole("seed", self.seed)
        check_whole("features", self.features, _FEWEST_FEATURES)

    @property
    def main_reading(self) -> str:
        """The classes that all methods are run on."""
        return "words" if self.reading == "words" else "numbers"


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """A ranking of probes, and of genes by their best probes.

    Parameters
    ----------
    method, reading
        What ranked them, and by which classes.
    genes
        The genes in rank order.
    known
        Rank of every known gene, by its printed symbol; 0 if it has none.
    probability, p_value
        By probe; None where the method has none.
    warnings
        What the method warned of.
    """

    method: str
    reading: str
    genes: GeneRanking
    known: dict[str, int]
    probability: FloatArray | None = None
    p_value: FloatArray | None = None
    warnings: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class ColonResults:
    """What came out of a run.

    Parameters
    ----------
    design
        What was asked for.
    table
        The values of the probes used.
    gene_map
        Genes of the probes.
    n_probes
        Probes of the file, with a gene or without.
    known_names
        What the known genes are called here, by their printed symbol; those that are not there are left out.
    known_rows
        Where they stand among the genes.
    by_chance
        How many of them are in the top in random orders of the probes: draws x tops.
    rankings
        By method and reading.
    regressions, shuffles
        Results of these steps; shuffles may be empty.
    enrichment
        Gene sets in the top of the main ranking; None without sets.
    notes
        Warnings of gene sets.
    seconds
        What each step took.
    """

    design: ColonDesign
    table: StagedTable
    gene_map: GeneMap
    n_probes: int
    known_names: dict[str, str]
    known_rows: KnownRows
    by_chance: IntArray
    rankings: dict[tuple[str, str], Ranked] = field(default_factory=dict)
    regressions: dict[str, Result] = field(default_factory=dict)
    shuffles: Result = field(default_factory=dict)
    enrichment: Enrichment | None = None
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def n_genes(self) -> int:
        """Number of genes and families that the probes used measure."""
        return self.gene_map.n_gene_lists

    @property
    def tops(self) -> tuple[int, ...]:
        """Lengths of lists: the paper's, or the same shares of fewer genes."""
        return tops_of(self.n_genes)

    @property
    def main(self) -> Ranked | None:
        """The ranking by OBF under Jeffreys' prior, as the paper has it."""
        return self.rankings.get(("obf-jp", self.reading))

    @property
    def reading(self) -> str:
        """The classes that all methods were run on."""
        return self.design.main_reading if self.table.n_adenomas else "numbers"

    @property
    def readings(self) -> tuple[str, ...]:
        """The classes that there are rankings for."""
        return tuple(dict.fromkeys(reading for _, reading in self.rankings))

    def of_method(self, method: str) -> Ranked | None:
        """Return the ranking of a method by the main reading."""
        return self.rankings.get((method, self.reading))

    def genes_of(self, probes: IntArray) -> set[frozenset[str]]:
        """Return the different genes and families of some probes."""
        return {frozenset(self.gene_map[self.table.features[k]]) for k in probes.tolist()}


def tops_of(n_genes: int) -> tuple[int, ...]:
    """Return the paper's lengths of lists, or the same shares of fewer genes."""
    if n_genes >= _MANY_GENES:
        return _TOPS
    return tuple(max(1, round(n_genes * top / published()["data"]["genes"])) for top in _TOPS)


def run_colon(
    design: ColonDesign,
    folder: str | Path,
    *,
    workers: int | None = None,
    tell: Tell | None = None,
    progress: Progress | None = None,
) -> ColonResults:
    """Run the application, or go on with it: steps that are in the folder are not done again.

    Parameters
    ----------
    design
        What to run on, and with what.
    folder
        Where finished steps, and the files of a made series, are kept.
    workers
        Processes of the regressions; one per core by default.
    tell
        Called with what is being done.
    progress
        Called with the number of fits of a regression done and to be done.

    Examples
    --------
    >>> import tempfile
    >>> from bayesieve.study import ColonDesign, run_colon
    >>> results = run_colon(ColonDesign(synthetic=True, features=400, methods=("obf-jp",)), tempfile.mkdtemp())
    >>> results.table.values.shape[0], len(results.known_names)
    (238, 36)
    """
    home, say = make_folder(folder), tell or (lambda _: None)
    table, gene_map, sets = _read(design, home, say)
    n_probes = len(table.features)
    table = table.take(np.array([bool(gene_map[name]) for name in table.features]))
    gene_map = GeneMap({name: gene_map[name] for name in table.features}, gene_map.source)
    known = _names_here(gene_map)
    rows = KnownRows.of(gene_map.group(table.features), known)
    chance = rows.draw(tops_of(gene_map.n_gene_lists), design.seed)
    results = ColonResults(design, table, gene_map, n_probes, known, rows, chance)
    steps = Steps(home, table.fingerprint + _digest(gene_map), say)
    work = Work(steps, design.seed, design.repeats, workers, progress)
    _rank_all(results, work)
    matrix = table.labelled(results.reading)
    for method in (each for each in design.methods if each in REGRESSIONS):
        results.regressions[method] = work.regress(matrix, method, results.reading)
    quick = [each for each in design.methods if each in QUICK]
    if quick:
        count = functools.partial(results.known_rows.count, tops=results.tops)
        results.shuffles = work.shuffle(matrix, results.reading, quick, count)
    if sets is not None and results.main is not None:
        _look_at_sets(results, sets)
    results.seconds = steps.seconds
    if steps.n_found:
        say(f"{steps.n_found} of {steps.n_found + steps.n_done} steps were there already.")
    return results


def _read(design: ColonDesign, folder: Path, say: Tell) -> tuple[StagedTable, GeneMap, str | None]:
    """Read, or make, the table, the genes of its features, and say which gene sets to use."""
    for path in (design.platform, design.sets):
        if path is not None:
            check_file(path)
    if design.table is not None:
        table = read_staged(design.table, design.labels or "ajcc_stage")
        if design.platform is None:
            return (
                table,
                GeneMap.from_pairs([(name, (name,)) for name in table.features], design.table),
                design.sets,
            )
        return table, _matching(table, read_gene_map(design.platform)), design.sets
    if design.series is not None:
        assert design.platform is not None
        table = read_series(design.series, design.labels)
        return table, _matching(table, read_gene_map(design.platform)), design.sets
    platform = None if design.platform is None else read_gene_map(design.platform)
    files = _make(design, folder, platform, say)
    table = read_series(files.series)
    return table, platform or read_gene_map(files.platform), design.sets or str(files.sets)


def _make(design: ColonDesign, folder: Path, platform: GeneMap | None, say: Tell) -> MadeFiles:
    """Make the files of a series, unless they are there."""
    home = None if design.platform is None else Path(design.platform)
    annotation = None if platform is None else list(platform.genes.items())

    def make() -> Result:
        make_files(folder, design.features, design.seed, home, annotation)
        return {}

    settings = {"features": design.features, "seed": design.seed}
    steps = Steps(folder, "" if platform is None else _digest(platform), say)
    title = f"Making {folder / SERIES}, of the shape of GSE17538"
    steps.run("made", title, settings, make)
    files = MadeFiles.at(folder, home)
    if not all(path.is_file() for path in (files.series, files.platform, files.sets)):
        make()  # somebody has moved them
    return files


def _digest(gene_map: GeneMap) -> str:
    return hashlib.blake2b(repr(list(gene_map.genes.items())).encode(), digest_size=16).hexdigest()


def _matching(table: StagedTable, gene_map: GeneMap) -> GeneMap:
    """Raise unless the platform knows the features of the table."""
    known = sum(name in gene_map for name in table.features)
    if 2 * known < len(table.features):
        raise DataError(
            f"{gene_map.source} knows {known:,} of the {len(table.features):,} features of {table.path} "
            f"({table.features[0]!r}, ...); it holds ids like {next(iter(gene_map))!r}. Give the table of the "
            "platform that was measured; for a table of genes leave --platform out."
        )
    return gene_map


def _names_here(gene_map: GeneMap) -> dict[str, str]:
    here = {gene for genes in gene_map.genes.values() for gene in genes}
    found = {gene.symbol: next((name for name in gene.names if name in here), "") for gene in known_genes()}
    return {symbol: name for symbol, name in found.items() if name}


def _rank_all(results: ColonResults, work: Work) -> None:
    design, table = results.design, results.table
    main = results.reading
    others = [each for each in table.readings if each != main] if design.reading == "both" else []
    for reading in (main, *others):
        matrix = table.labelled(reading)
        for method in (each for each in design.methods if each in TITLES):
            if reading == main or method in QUICK:
                found = work.rank(matrix, method, reading)
                results.rankings[method, reading] = _ranked(results, method, reading, found)


def _ranked(results: ColonResults, method: str, reading: str, found: Result) -> Ranked:
    names = results.table.features
    genes = collapse([names[i] for i in found["order"].tolist()], results.gene_map)
    return Ranked(
        method, reading, genes, _known_ranks(results, genes.genes), found.get("probability"), found.get("p_value"),
        tuple(found["warnings"]),
    )  # fmt: skip


def _known_ranks(results: ColonResults, genes: Sequence[str]) -> dict[str, int]:
    ranks = find_ranks(genes, results.known_names.values())
    return {symbol: ranks[name] for symbol, name in results.known_names.items()}


def _look_at_sets(results: ColonResults, path: str) -> None:
    assert results.main is not None
    sets = read_gene_sets(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results.enrichment = enrich(results.main.genes.genes, sets, selected=results.tops[1])
    results.notes += [str(each.message) for each in caught if isinstance(each.message, BayesieveWarning)]
