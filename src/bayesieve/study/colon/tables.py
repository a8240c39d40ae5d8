"""Tables S1 to S5 and the counts of the regressions: what the paper prints beside what this run found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesieve.enrichment.known import KnownMarkers, counted
from bayesieve.study.colon.published import TITLES, known_genes, published
from bayesieve.study.colon.regression_tables import penalties_section, regressions_section
from bayesieve.study.colon.run import ColonResults, Ranked
from bayesieve.study.colon.section import Section
from bayesieve.study.colon.series import codes_of
from bayesieve.study.colon.work import LEVELS, PRIOR_PROBABILITY, counts_at_levels
from bayesieve.utils import BoolArray, IntArray

_N_TOP = 20
_N_SETS = 10
_SURE = 0.999


def sections_of(results: ColonResults) -> Iterator[Section]:
    """Yield the tables that the run has numbers for."""
    yield data_section(results)
    if results.rankings and results.known_names:
        yield ranks_section(results)
        yield counts_section(results)
    if results.main is not None:
        yield top_section(results, "obf-jp", "table_s3", "S3", "CMNC-OBF-JP")
    if results.of_method("welch") is not None:
        yield top_section(results, "welch", "table_s4", "S4", "the t-test")
    if results.enrichment is not None:
        yield sets_section(results)
    if results.regressions:
        yield regressions_section(results)
        yield penalties_section(results)
    if results.shuffles:
        yield doubt_section(results)


def _data_rows(results: ColonResults) -> Iterator[tuple[Any, ...]]:
    paper, table = published()["data"], results.table
    stages = table.stages
    yield "samples", paper["samples"], int(stages.size)
    for reading in ("numbers", "words"):
        codes = codes_of(stages, reading)
        printed = " v ".join(map(str, paper["class_sizes"])) if reading == "numbers" else None
        yield (
            f"class 0 v class 1, by the paper's {reading}",
            printed,
            f"{(codes == 0).sum()} v {(codes == 1).sum()}",
        )
    yield "stages 1, 2, 3, 4", None, ", ".join(str(int((stages == k).sum())) for k in (1, 2, 3, 4))
    yield "adenomas", None, table.n_adenomas
    yield "samples without a stage, left out", None, int((stages < 0).sum())
    yield "probes (or features)", f"{paper['probes_printed']:,} (GPL570 has {paper['probes']:,})", results.n_probes
    yield "probes with a gene", paper["probes_with_gene"], len(table.features)
    yield "genes and families", paper["genes"], results.n_genes
    yield "known markers among them", paper["known"], len(results.known_names)


def data_section(results: ColonResults) -> Section:
    """The shape of the data."""
    lead = (
        f"Stages come from the field {results.table.field!r} of {results.table.path}. Probes without a gene are "
        "left out, as in the paper; another version of the platform's annotation gives other numbers of probes "
        "and genes."
    )
    return Section("data", "The data", lead, ("what", "paper", "here"), list(_data_rows(results)))


def ranks_section(results: ColonResults) -> Section:
    """Table S1: ranks of the known genes."""
    columns: list[tuple[str, Any]] = []
    for method, title in TITLES.items():
        if method != "obf":
            columns.append((f"{title}, paper", lambda gene, method=method: gene.ranks.get(method)))
        for reading in results.readings:
            found = results.rankings.get((method, reading))
            if found is not None:
                words = f", {reading}" if len(results.readings) > 1 else ""
                columns.append(
                    (f"{title}, here{words}", lambda gene, found=found: found.known.get(gene.symbol) or None)
                )
    rows = [(gene.symbol, *(column(gene) for _, column in columns)) for gene in known_genes()]
    lead = (
        "Ranks of the 36 genes with known involvement in colon cancer. Of probes with exactly the same genes "
        "the best one counts. A gene that has no probe of its own takes the best row that lists it. Where there "
        f"is no rank, the gene did not pass the first {published()['data']['prescreened_probes']:,} probes of "
        "BD, or is not measured."
    )
    if results.design.synthetic:
        lead += " The data here are made: their ranks have nothing to do with the paper's."
    return Section(
        "table-s1", "Table S1: ranks of known genes", lead, ("gene", *(name for name, _ in columns)), rows
    )


def known_counts(results: ColonResults, ranked: Ranked) -> KnownMarkers:
    """Count the known genes of a ranking, which may be one of the first phase's probes only."""
    ranks = sorted(rank for rank in ranked.known.values() if rank)
    return counted(ranks, results.n_genes, results.tops, n_known=len(results.known_names))


def paper_counts(method: str) -> KnownMarkers:
    """Count the known genes by their printed ranks."""
    data = published()["data"]
    ranks = sorted(gene.ranks[method] for gene in known_genes() if method in gene.ranks)
    tops = [row["top"] for row in published()["table_s2"]["rows"]]
    return counted(ranks, data["genes"], tops, n_known=data["known"])


def counts_section(results: ColonResults) -> Section:
    """Table S2: known genes in the top, with both p-values, and what shuffled stages give."""
    rows: list[tuple[Any, ...]] = []
    printed, drawn = published()["table_s2"], results.by_chance
    same = same_platform(results)
    for method, title in TITLES.items():
        paper = paper_counts(method) if method in printed["methods"] else None
        for k in range(len(results.tops)):
            in_paper: tuple[Any, ...] = (None,) * 6
            if paper is not None:
                text = printed["rows"][k]["p_values"][printed["methods"].index(method)]
                in_paper = (
                    int(paper.tops[k]), int(paper.count[k]), text, float(paper.p_value_paper[k]),
                    float(paper.p_value[k]), share_of(drawn[:, k], int(paper.count[k])) if same else None,
                )  # fmt: skip
            readings: list[str | None] = [each for each in results.readings if (method, each) in results.rankings]
            for reading in readings or [None]:
                here = () if reading is None else _counted_here(results, method, reading, k, drawn)
                if reading is None and paper is None:
                    continue
                first = not readings or reading == readings[0]
                rows.append((title, *(in_paper if first else (None,) * 6), reading, *(here or (None,) * 7)))
    lead = (
        "Known genes among the first N, and hypergeometric p-values. The paper prints P(X > k), one marker more "
        "than was seen; P(X >= k) is right if every gene is as likely to come far. 'By probes' is the same "
        "probability in random orders of the probes, where a gene with many probes comes farther, as the best of "
        "many. The last two columns shuffle the stages: the mean number of known genes in the top, and the share "
        "of shuffles with as many as with the true stages. The methods behind the first phase rank at most "
        f"{published()['data']['prescreened_genes']:,} genes in the paper: at N = 5,000 they count what BD let "
        "through."
    )
    head = (
        "method", "N, paper", "k, paper", "printed p", "P(X > k), paper", "P(X >= k), paper", "by probes, paper",
        "reading", "N, here", "k, here", "expected", "P(X >= k), here", "by probes, here", "k if shuffled",
        "shuffles with as many",
    )  # fmt: skip
    return Section("table-s2", "Table S2: known genes in the top", lead, head, rows)


def _counted_here(results: ColonResults, method: str, reading: str, k: int, drawn: IntArray) -> tuple[Any, ...]:
    found = known_counts(results, results.rankings[method, reading])
    if k >= found.tops.size:
        return ()
    shuffled = results.shuffles.get(method) if reading == results.reading else None
    chance: tuple[Any, ...] = (None, None)
    if shuffled is not None:
        chance = float(shuffled[:, k].mean()), float((shuffled[:, k] >= found.count[k]).mean())
    by_probes = share_of(drawn[:, k], int(found.count[k]))
    return (
        int(found.tops[k]), int(found.count[k]), float(found.expected[k]), float(found.p_value[k]), by_probes,
        *chance,
    )  # fmt: skip


def same_platform(results: ColonResults) -> bool:
    """Whether the numbers of probes are those of a real platform, with lists as long as the paper's."""
    tops = tuple(row["top"] for row in published()["table_s2"]["rows"])
    return results.design.platform is not None and results.tops == tops


def share_of(drawn: IntArray, count: int) -> float:
    """Share of draws with as many or more, the one that was observed included."""
    return float((1 + (drawn >= count).sum()) / (1 + drawn.size))


def top_section(results: ColonResults, method: str, name: str, number: str, title: str) -> Section:
    """Table S3 or S4: the first 20 genes with all three statistics."""
    ranked = results.of_method(method)
    assert ranked is not None
    place = {probe: k for k, probe in enumerate(results.table.features)}
    columns = []
    for other, what in (
        ("obf-jp", "probability"),
        ("welch", "p_value"),
        ("skbs", "probability"),
        ("obf", "probability"),
    ):
        found = results.of_method(other)
        columns.append(None if found is None else getattr(found, what))
    rows = []
    for rank, gene, *printed in published()[name]["rows"][:_N_TOP]:
        here: tuple[Any, ...] = (None,) * 6
        if rank <= len(ranked.genes):
            probe = ranked.genes.features[rank - 1]
            values = [None if column is None else float(column[place[probe]]) for column in columns]
            shown = [
                f">{_SURE}" if k != 1 and value is not None and value > _SURE else value
                for k, value in enumerate(values)
            ]
            here = (ranked.genes.genes[rank - 1], probe, *shown)
        rows.append((rank, gene, *printed, *here))
    lead = (
        f"The first 20 genes by {title}, with the posterior probability of OBF under Jeffreys' prior (prior "
        f"{PRIOR_PROBABILITY:g}), the p-value of the t-test (Welch's, not corrected), and the posterior "
        "probability of SKBS (prior 0.5; none for probes that BD does not let through)"
        + (", and that of the calibrated OBF." if columns[3] is not None else ".")
    )
    head = ("rank", "gene, paper", "pi*, paper", "t-test p, paper", "SKBS, paper", "gene, here", "probe, here",
            "pi*, here", "t-test p, here", "SKBS, here", "calibrated pi*, here")  # fmt: skip
    return Section(f"table-{number.lower()}", f"Table {number}: first 20 genes by {title}", lead, head, rows)


def sets_section(results: ColonResults) -> Section:
    """Table S5: over-represented sets among the first genes by OBF."""
    found, paper = results.enrichment, published()["table_s5"]
    assert found is not None
    rows = []
    for k, (rank, name, size, selected, p, q) in enumerate(paper["rows"][:_N_SETS]):
        here: tuple[Any, ...] = (None,) * 7
        if k < len(found):
            here = (found.names[k], int(found.in_universe[k]), int(found.selected[k]), float(found.expected[k]),
                    float(found.p_value[k]), float(found.q_value[k]),
                    ", ".join(found.features[k][:5]))  # fmt: skip
        rows.append((rank, name, size, selected, p, q, *here))
    lead = (
        f"The paper gave its first {paper['top']:,} genes to PANTHER, which knew {paper['recognised']} of them "
        f"and has {paper['sets']} pathways. Here the universe are the {found.n_universe:,} genes ranked, the "
        f"list is the first {found.n_selected:,}, and {len(found)} sets of the file given are counted in the "
        "correction; other sets cannot give the paper's numbers. Genes with many probes come farther by chance, "
        "here as in Table S2, and well-known sets are full of them."
    )
    head = ("rank", "pathway, paper", "size", "selected", "p", "adjusted p", "set, here", "size, here",
            "selected, here", "expected", "p, here", "q, here", "first genes")  # fmt: skip
    return Section("table-s5", "Table S5: over-represented sets", lead, head, rows)


def doubt_section(results: ColonResults) -> Section:
    """How many probes reach a probability, with true and with shuffled stages."""
    rows: list[tuple[Any, ...]] = []
    for method in ("obf-jp", "obf"):
        found, chance = results.of_method(method), results.shuffles.get(f"{method}-levels")
        if found is None or found.probability is None or chance is None:
            continue
        with np.errstate(divide="ignore"):
            real = counts_at_levels(np.log(found.probability) - np.log1p(-found.probability))
        for k, level in enumerate(LEVELS):
            as_many: BoolArray = chance[:, k] >= real[k]
            p = (1 + int(as_many.sum())) / (1 + as_many.size)
            rows.append((TITLES[method], level, real[k], float(chance[:, k].mean()), int(chance[:, k].max()), p))
    lead = (
        "Probes with a posterior probability above a level, with the true stages and with "
        f"{_n(results.shuffles)} shuffles of them, which leave nothing to be found. What passes with shuffled "
        "stages is wrong for sure. p: share of shuffles, the true one included, with as many."
    )
    head = ("method", "level", "true stages", "shuffled, mean", "shuffled, most", "p")
    return Section("shuffled", "Shuffled stages", lead, head, rows)


def _n(shuffles: Any) -> int:
    return int(next(iter(shuffles.values())).shape[0])
