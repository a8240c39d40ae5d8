"""A made series of the shape of GSE17538: series matrix, platform, gene sets and truth, written as real files.

Genes have levels and spreads as logarithms of intensities have them, share the factors of their module and of
the clinic, and are measured by one or several probes each. Late stages differ in the mean of some genes, in the
variance of others, and others again are raised in a part of the late patients only. Adenomas are as stage 1.
Some genes have heavy tails or two states that have nothing to do with the stage.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from bayesieve.study.colon.published import known_genes, published
from bayesieve.utils import FloatArray, IntArray, make_folder, replacing

SERIES, PLATFORM, SETS, TRUTH = (
    "made_series_matrix.txt.gz",
    "made_platform.txt.gz",
    "made_sets.gmt",
    "made_truth.csv",
)
"""Names of the files."""

Annotation = Sequence[tuple[str, tuple[str, ...]]]

_STAGES = {"1": 28, "2": 72, "3": 76, "4": 56, "": 6}
_KINDS = ("none", "mean", "variance", "part")
_SHARES = (0.95, 0.02, 0.02, 0.01)
_KNOWN_MARKERS = 12  # of the 36 known genes, in the order of Table S1
_N_MODULES, _N_SETS = 40, 150
_FIRST_ENTREZ = 90_000_000  # no gene has such an id
_LOWEST, _HIGHEST = 2.0, 15.0  # of logarithms of intensities


@dataclass(frozen=True, slots=True)
class MadeFiles:
    """Where the files of a made series are; the platform may be a real one."""

    series: Path
    platform: Path
    sets: Path
    truth: Path

    @classmethod
    def at(cls, folder: Path, platform: Path | None = None) -> MadeFiles:
        """Return the places of the files in a folder."""
        return cls(folder / SERIES, platform or folder / PLATFORM, folder / SETS, folder / TRUTH)


def make_files(
    folder: Path, n_features: int, seed: int, platform: Path | None = None, annotation: Annotation | None = None
) -> MadeFiles:
    """Write a made series and what belongs to it.

    Parameters
    ----------
    folder
        Where to.
    n_features
        Number of probes, if there is no platform.
    seed
        Same seed, same files.
    platform, annotation
        A platform whose probes are to be used, and its probes with their genes; one is made if there is none.
    """
    make_folder(folder)
    own, rng = annotation is None, np.random.default_rng(np.random.SeedSequence([seed, 238]))
    probes = _annotate(n_features, rng) if annotation is None else list(annotation)
    files = MadeFiles.at(folder, platform)
    genes = _Genes.draw(probes, rng)
    stages = rng.permutation(np.repeat(list(_STAGES), list(_STAGES.values())))
    _write_series(files.series, [name for name, _ in probes], genes.values(stages, rng), stages)
    if own:
        _write_platform(files.platform, probes)
    _write_sets(files.sets, genes, rng)
    _write_truth(files.truth, genes)
    return files


def _annotate(n_features: int, rng: np.random.Generator) -> list[tuple[str, tuple[str, ...]]]:
    """Make up a platform: known genes, those of the paper's figure, and others; families, and probes of none."""
    data = published()["data"]
    n_named = round(n_features * data["probes_with_gene"] / data["probes"])
    n_genes = round(n_named * data["genes"] / data["probes_with_gene"])
    known = [(gene.symbol,) for gene in known_genes()]
    shown: list[tuple[str, ...]] = [(symbol,) for symbol, _ in published()["figure_s3"]["genes"]]
    shown[0] = ("GAGE1", "GAGE4", "GAGE5", "GAGE6", "GAGE7", "GAGE12F")
    more = max(n_genes - len(known) - len(shown), 0)
    lists = [*known, *shown, *((f"MADE{k + 1:05d}",) for k in range(more))]
    for k in rng.permutation(np.arange(len(known) + len(shown), len(lists)))[: more // 20].tolist():
        lists[k] = (*lists[k], f"{lists[k][0]}B")  # a family: one probe for several genes
    weights = 1.0 + np.r_[np.full(len(known), 1.0), rng.exponential(0.5, len(lists) - len(known))]
    extra = rng.choice(len(lists), size=max(n_named - len(lists), 0), p=weights / weights.sum())
    owners = np.r_[np.arange(min(len(lists), n_named)), extra]
    found = [lists[k] for k in owners.tolist()] + [()] * (n_features - owners.size)
    order = rng.permutation(n_features).tolist()
    return [(f"M{i + 1:06d}_at", found[k]) for i, k in enumerate(order)]


@dataclass(frozen=True, slots=True, eq=False)
class _Genes:
    """Genes of a made series: what is true of each, and the probes that measure it."""

    names: tuple[str, ...]
    of_probe: IntArray
    kind: IntArray
    effect: FloatArray
    level: FloatArray
    spread: FloatArray
    module: IntArray
    n_named: int

    @classmethod
    def draw(cls, probes: Annotation, rng: np.random.Generator) -> _Genes:
        """Draw what is true of every gene list; probes of no gene have a gene of their own."""
        place: dict[str, int] = {}
        names = [" /// ".join(genes) for _, genes in probes]
        for name in filter(None, names):
            place.setdefault(name, len(place))
        n_named = len(place)
        for (probe, _), name in zip(probes, names, strict=True):
            if not name:
                place[f"({probe})"] = len(place)
        of_probe = np.array([place[name or f"({probe})"] for (probe, _), name in zip(probes, names, strict=True)])
        n = len(place)
        kind = rng.choice(len(_KINDS), size=n, p=_SHARES)
        size = (0.15 + rng.exponential(0.2, n)) * rng.choice([-1.0, 1.0], n)
        low = rng.random(n) < np.where(kind == 3, 0.9, 0.55)
        level = np.where(low, rng.normal(4.4, 0.8, n), rng.normal(8.2, 1.7, n))
        spread = np.where(low, 0.16, 0.42) * np.exp(0.35 * rng.normal(size=n))
        plain = {names_in: k for names_in, k in place.items() if " /// " not in names_in}
        for k, gene in enumerate(known_genes()):
            for name in (each for each in gene.names if each in plain):
                kind[plain[name]] = 1 + k % 3 if k < _KNOWN_MARKERS else 0
        shown = {name for pair in published()["figure_s3"]["genes"] for name in pair}
        for name, k in place.items():
            if shown.intersection(name.split(" /// ")):
                kind[k], level[k], spread[k], size[k] = 3, 4.2, 0.2, 0.8
        module = rng.integers(0, 3 * _N_MODULES, n)  # those from _N_MODULES on belong to none
        return cls(tuple(place), of_probe, kind, size, np.clip(level, _LOWEST, 14.0), spread, module, n_named)

    def values(self, stages: IntArray, rng: np.random.Generator) -> FloatArray:
        """Draw probes x samples."""
        late = np.isin(stages, ["2", "3", "4"])
        n_genes, n = self.kind.size, late.size
        factors = rng.normal(size=(_N_MODULES, n))
        clinic = (np.arange(n) >= round(0.75 * n)) - 0.25
        z = rng.normal(size=(n_genes, n)).astype(np.float32)
        heavy = rng.random(n_genes) < 0.3
        z[heavy] *= np.sqrt(3.0 / rng.chisquare(5.0, size=(int(heavy.sum()), n))).astype(np.float32)
        joined = self.module < _N_MODULES
        z[joined] = 0.7 * z[joined] + 0.71 * factors[self.module[joined]]
        z += np.outer(0.25 * rng.normal(size=n_genes), clinic)
        states = np.flatnonzero((rng.random(n_genes) < 0.01) & (self.kind == 0))  # two states that mean nothing
        z[states] += np.where(
            rng.random((states.size, n)) < rng.uniform(0.05, 0.5, states.size)[:, None], 4.0, 0.0
        )
        mean, wide, part = (self.kind == k for k in (1, 2, 3))
        z[np.ix_(mean, late)] += self.effect[mean, None]
        z[np.ix_(wide, late)] *= np.exp(1.4 * self.effect[wide, None])
        share = np.clip(0.35 * np.abs(self.effect[part]), 0.04, 0.3)
        raised = (rng.random((share.size, n)) < share[:, None]) & late
        z[part] += np.where(raised, rng.gamma(4.0, 1.5, size=raised.shape), 0.0)
        probes = self.of_probe.size
        strength = rng.beta(5.0, 2.0, probes).astype(np.float32)
        noise = rng.standard_normal((probes, n), dtype=np.float32)
        values = strength[:, None] * z[self.of_probe] + np.sqrt(1.0 - strength**2)[:, None] * noise
        level = self.level[self.of_probe] + rng.normal(0.0, 0.6, probes)
        values = np.clip(level, _LOWEST + 0.5, None)[:, None] + self.spread[self.of_probe, None] * values
        return np.asarray(np.clip(values, _LOWEST, _HIGHEST))


def _write_series(path: Path, probes: Sequence[str], values: FloatArray, stages: IntArray) -> None:
    n = stages.size
    samples = [f"GSM{900_001 + i}" for i in range(n)]
    kinds = ["Tubulovillous", "Adenoma", "Villous adenoma"]

    def line(key: str, cells: Sequence[str]) -> str:
        return "\t".join([key, *(f'"{cell}"' for cell in cells)]) + "\n"

    clinic = ["first clinic" if i < round(0.75 * n) else "second clinic" for i in range(n)]
    head = [
        line("!Series_title", ["A made series of the shape of GSE17538; no patient is behind it"]),
        line("!Sample_title", [f"made sample {i + 1}" for i in range(n)]),
        line("!Sample_geo_accession", samples),
        line("!Sample_source_name_ch1", clinic),
        line("!Sample_characteristics_ch1", [f"gender: {'male' if i % 2 else 'female'}" for i in range(n)]),
        line("!Sample_characteristics_ch1", [f"ajcc_stage: {stage}" if stage else "" for stage in stages]),
        line("!Sample_characteristics_ch1",
             ["" if stage else f"adenoma type: {kinds[i % 3]}" for i, stage in enumerate(stages)]),
        line("!Sample_data_processing", ["drawn at random, as logarithms to base 2"] * n),
        "!series_matrix_table_begin\n",
        line('"ID_REF"', samples),
    ]  # fmt: skip
    table = pl.DataFrame({"ID_REF": list(probes)}).hstack(pl.DataFrame(values.T.astype(np.float32).T, samples))
    body = io.BytesIO()
    table.write_csv(body, separator="\t", include_header=False, float_precision=4, quote_style="non_numeric")
    _write_gzip(path, "".join(head).encode() + body.getvalue() + b"!series_matrix_table_end\n")


def _write_platform(path: Path, probes: Annotation) -> None:
    known = {gene.symbol: gene.entrez for gene in known_genes()} | dict(published()["figure_s3"]["genes"])
    for _, genes in probes:
        for name in genes:
            known.setdefault(name, str(_FIRST_ENTREZ + len(known)))
    head = "#ID = probe\n#Gene Symbol = symbols of the genes, made up but for some\n#ENTREZ_GENE_ID = ids\n"
    lines = ["ID\tGene Symbol\tENTREZ_GENE_ID\n"]
    lines += [
        f"{probe}\t{' /// '.join(genes)}\t{' /// '.join(known[name] for name in genes)}\n"
        for probe, genes in probes
    ]
    _write_gzip(path, (head + "".join(lines)).encode())


def _write_sets(path: Path, genes: _Genes, rng: np.random.Generator) -> None:
    """Sets of random genes; every tenth takes a third of its genes from those that differ."""
    plain = np.array([k for k, name in enumerate(genes.names[: genes.n_named]) if " /// " not in name])
    markers = plain[genes.kind[plain] > 0]
    lines = []
    for k in range(_N_SETS):
        size = min(int(rng.integers(10, 120)), plain.size // 3)
        third = min(size // 3, markers.size) if k % 10 == 0 else 0
        chosen = np.r_[
            rng.choice(markers, third, replace=False), rng.choice(plain, size - third, replace=False)
        ].tolist()  # fmt: skip
        name = f"MADE_SET_{k + 1:03d}" + ("_WITH_MARKERS" if third else "")
        lines.append("\t".join([name, "made", *dict.fromkeys(genes.names[i] for i in chosen)]) + "\n")
    with replacing(path) as file:
        file.write("".join(lines).encode())


def _write_truth(path: Path, genes: _Genes) -> None:
    n = genes.n_named
    table = pl.DataFrame({
        "gene": genes.names[:n],
        "differs_in": [_KINDS[k] for k in genes.kind[:n].tolist()],
        "n_probes": np.bincount(genes.of_probe, minlength=len(genes.names))[:n],
    })  # fmt: skip
    with replacing(path) as file:
        file.write(table.write_csv().encode())


def _write_gzip(path: Path, content: bytes) -> None:
    with replacing(path) as file, gzip.GzipFile("", "wb", 1, file, mtime=0) as packed:
        packed.write(content)
