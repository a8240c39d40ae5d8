"""``bayesieve enrich``: known markers and gene sets in the results of a screen."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.cli.layout import align, short, wrap
from bayesieve.cli.outputs import RunOptions, check_exists, check_targets
from bayesieve.enrichment import (
    Enrichment,
    KnownMarkers,
    RankedGenes,
    RecoveryCurve,
    enrich,
    known_markers,
    recovery_curve,
    set_title,
)
from bayesieve.io import (
    check_ending,
    read_gene_map,
    read_gene_sets,
    read_ids,
    read_rankings,
    split_reference,
    write_results,
)
from bayesieve.utils import (
    FORMATS,
    DataWarning,
    FileError,
    OptionError,
    list_names,
    load_matplotlib,
    normalise_formats,
    plural,
    replacing,
    together,
    warn,
)

_SHOWN, _SIGNIFICANT = 10, 0.05
_TABLES = ("out", "known_out", "top_out")
_EMPTY = (
    "Nothing was selected, so that no set can hold more than its share: p-values are 1. The numbers of markers "
    "expected are those of the posterior."
)
_INDEPENDENT = (
    "p-values take genes for independent of each other. Genes of a set go together, so that a list that holds one "
    "by chance holds others, too: they say how uneven the list is, not whether it is right."
)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was asked for.

    Parameters
    ----------
    rankings
        The rankings.
    known, curves
        Known markers in each, and how fast each recovers them.
    sets
        Gene sets of the first.
    """

    rankings: tuple[RankedGenes, ...]
    known: tuple[KnownMarkers, ...] = ()
    curves: tuple[RecoveryCurve, ...] = ()
    sets: Enrichment | None = None


def run_enrich(options: Mapping[str, Any]) -> None:
    """Read results, find known markers and gene sets, write and tell."""
    run = RunOptions.from_options(options)
    talk = run.talk()
    tops = _check(options)
    with talk.timed("read"):
        rankings, described = _read(options)
        known = read_ids(options["known"]) if options["known"] is not None else ()
        sets = [read_gene_sets(path) for path in options["sets"] or ()]
    with talk.timed("enrich"):
        found = Found(rankings)
        if known:
            found = replace(
                found,
                known=tuple(_known(genes, known, tops) for genes in rankings),
                curves=tuple(recovery_curve(genes.names, known, genes.method) for genes in rankings),
            )
        if sets:
            found = replace(found, sets=_enrich(rankings, sets, options))
    with talk.timed("write"):
        written = _write(found, options)
    lines = [*described, *_tell_known(found, tops), *_tell_sets(found)]
    lines += [f"Wrote {path}." for path in written]
    talk.say("result", "\n".join(lines), **_facts(found))


def _check(options: Mapping[str, Any]) -> list[int]:
    """Find out before the work whether options make sense, files are there and outputs can be written."""
    if options["known"] is None and not options["sets"] and options["rnk"] is None:
        raise OptionError(
            "Say what to look for: known markers (--known FILE), gene sets (--sets FILE.gmt), or a ranked list "
            "for other programs (--rnk FILE)."
        )
    for name, needed in (("known_out", "known"), ("top_out", "known"), ("out", "sets")):
        if options[name] is not None and not options[needed]:
            flag = f"--{name}".replace("_", "-")
            raise OptionError(f"{flag} is a table about --{needed}, which was not given.")
    read = _files(options)
    for name in _TABLES:
        if options[name] is not None:
            check_ending(options[name])
    check_targets(read, {name: options[name] for name in (*_TABLES, "rnk")})
    if options["figures"] is not None:
        if Path(options["figures"]).is_file():
            raise FileError(f"Cannot write figures to {options['figures']}: it is a file. Name a folder.")
        normalise_formats(_formats(options))
        load_matplotlib()  # says before the work how to install it
    return _lengths(options["top"])


def _files(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that are read, each with its option; all of them are there."""
    gene_map = options["gene_map"]
    named = {
        **dict.fromkeys(options["result"], "result"),
        **dict.fromkeys(options["sets"] or (), "sets"),
        **({} if gene_map is None else {split_reference(gene_map)[0]: "gene_map"}),
    }
    for path, name in named.items():
        check_exists(name.replace("_", "-"), path)
    known = options["known"]
    return {**named, known: "known"} if known is not None and Path(known).is_file() else named


def _lengths(text: str) -> list[int]:
    """Read the lengths of the top: 1000,2000,5000."""
    parts = [part.strip() for part in re.split(r"[,;]", text) if part.strip()]
    if not parts or not all(part.isdecimal() and int(part) for part in parts):
        raise OptionError(f"--top takes whole numbers of at least 1, such as 1000,2000, not {text!r}.")
    return sorted({int(part) for part in parts})


def _formats(options: Mapping[str, Any]) -> list[str]:
    names = [part.strip() for part in options["format_"].split(",") if part.strip()]
    if not names:
        raise OptionError(f"--format takes {', '.join(FORMATS)}, with commas between.")
    return names


def _read(options: Mapping[str, Any]) -> tuple[tuple[RankedGenes, ...], list[str]]:
    """Read all rankings, collapse them to genes if they are features, and say what was read."""
    stored = [read_rankings(path) for path in options["result"]]
    rankings = [genes for each in stored for genes in each]
    if options["method"] is not None:
        chosen = [genes for genes in rankings if genes.method == options["method"]]
        if not chosen:
            names = list_names([genes.method for genes in rankings])
            raise OptionError(f"There is no ranking {options['method']!r} (--method). There are: {names}.")
        rankings = chosen
    lines = []
    if options["gene_map"] is not None:
        path, column = split_reference(options["gene_map"])
        genes_of = read_gene_map(path, gene_column=column)
        for k, genes in enumerate(rankings):
            rankings[k], became = genes.collapsed(genes_of, options["unmapped"])
            if k == 0:
                lines += wrap(
                    f"{became.sentence} The best ranked feature stands for its gene, chosen after the screen: its "
                    "numbers of false positives are those of features. To have those of genes, give the map to "
                    "bayesieve screen."
                )
    for genes in rankings:
        listed = f", {int(genes.selected.sum()):,} selected" if genes.probability is not None else ""
        lines.insert(
            0 if len(rankings) == 1 else len(lines), f"{genes.method}: {len(genes.names):,} genes{listed}."
        )
    return tuple(rankings), lines


def _known(genes: RankedGenes, known: Sequence[str], tops: Sequence[int]) -> KnownMarkers:
    return known_markers(genes.names, known, tops)


def _enrich(rankings: Sequence[RankedGenes], sets: Sequence[Any], options: Mapping[str, Any]) -> Enrichment:
    """Test the sets on the one ranking that there is."""
    if len(rankings) > 1:
        raise OptionError(
            f"Gene sets are tested on one ranking, but there are {len(rankings)}: "
            f"{list_names([genes.method for genes in rankings])}. Name one with --method, or give one RESULT."
        )
    (genes,) = rankings
    size = options["n_selected"]
    if genes.probability is None and size is None:
        raise OptionError(
            f"{genes.method} is a ranking without a list. Say how many of the best are meant: --n-selected 500."
        )
    if size is not None and genes.probability is not None and size > genes.selected.sum():
        warn(
            DataWarning,
            f"The {size:,} best genes are taken for the list (--n-selected), but the result selects "
            f"{int(genes.selected.sum()):,}: of the others it does not say that they are markers, and sets that "
            "they fall into may be noise.",
            kind="forced-list",
        )
    return enrich(
        genes, sets, selected=size, min_size=options["min_size"], max_size=options["max_size"],
        ignore_case=options["ignore_case"], ignore_version=options["ignore_version"],
    )  # fmt: skip


def _write(found: Found, options: Mapping[str, Any]) -> list[str]:
    """Write what was asked for; return the files."""
    written = []
    tables = {"out": _set_table, "known_out": _rank_table, "top_out": _top_table}
    with together():
        for name, made in tables.items():
            if options[name] is not None:
                write_results(options[name], made(found), lambda: _facts(found))
                written.append(options[name])
        if options["rnk"] is not None:
            _write_rnk(options["rnk"], found)
            written.append(options["rnk"])
    if options["figures"] is not None:
        from bayesieve.report import save_genes  # noqa: PLC0415 - slow to import

        files = save_genes(options["figures"], found.curves, found.sets, _formats(options))
        written += [os.fspath(path) for path in files]
    return written


def _set_table(found: Found) -> dict[str, Any]:
    assert found.sets is not None
    return found.sets.to_dict()


def _rank_table(found: Found) -> dict[str, Any]:
    """Known markers with their rank in every ranking."""
    first = found.known[0]
    names = [*first.genes, *first.absent]
    table: dict[str, Any] = {"gene": names}
    for genes, each in zip(found.rankings, found.known, strict=True):
        rank = dict(zip(each.genes, each.rank.tolist(), strict=True))
        label = "rank" if len(found.known) == 1 else f"rank_{genes.method}"
        table[label] = ["" if rank.get(name) is None else str(rank[name]) for name in names]
    return table


def _top_table(found: Found) -> dict[str, Any]:
    """Counts and p-values of every length and ranking."""
    table: dict[str, Any] = {"method": []}
    for genes, each in zip(found.rankings, found.known, strict=True):
        columns = {**each.to_dict(), "log_p_value": each.log_p_value}
        table["method"] += [genes.method] * each.tops.size
        for name, values in columns.items():
            table.setdefault(name, []).extend(values.tolist())
        table.setdefault("n_known", []).extend([each.n_known] * each.tops.size)
        table.setdefault("n_ranked", []).extend([each.n_ranked] * each.tops.size)
    return {name: column if name == "method" else np.array(column) for name, column in table.items()}


def _write_rnk(path: str, found: Found) -> None:
    """Write single genes with their scores, the largest first, as GSEA programs read them."""
    if len(found.rankings) > 1:
        raise OptionError("--rnk writes one ranking. Name one with --method, or give one RESULT.")
    (genes,) = found.rankings
    if genes.score is None:
        raise OptionError(f"--rnk needs scores, and {genes.method} holds ranks alone. Give a result of a screen.")
    names, scores = genes.single_genes()
    order = np.argsort(-np.array(scores), kind="stable").tolist()
    with replacing(path) as file:
        file.write("".join(f"{names[i]}\t{scores[i]:.10g}\n" for i in order).encode("utf-8", "surrogatepass"))


def _tell_known(found: Found, tops: Sequence[int]) -> list[str]:
    if not found.known:
        return []
    lines = [""]
    for genes, each in zip(found.rankings, found.known, strict=True):
        lines += wrap(f"{genes.method}: {each.describe()}" if len(found.known) > 1 else each.describe())
        left = [str(top) for top in tops if top > each.n_ranked]
        if left:
            lines += wrap(f"Top {', '.join(left)}: there are only {each.n_ranked:,} genes.")
    shown = _rank_table(found)
    lines += ["", *align([(name, [cell or "-" for cell in column]) for name, column in shown.items()], 40)]
    table = _top_table(found)
    columns = [] if len(found.known) == 1 else [("method", table["method"])]
    columns += [
        ("top", [f"{n:,}" for n in table["top"]]),
        ("known", [f"{n:,}" for n in table["known"]]),
        ("expected", [f"{n:.2f}" for n in table["expected"]]),
        ("P(X >= k)", [f"{p:.3g}" for p in table["p_value"]]),
        ("P(X > k), the paper's", [f"{p:.3g}" for p in table["p_value_paper"]]),
    ]
    return [*lines, "", *align(columns, 60)]


def _tell_sets(found: Found) -> list[str]:
    sets = found.sets
    if sets is None:
        return []
    few = int((sets.q_value < _SIGNIFICANT).sum())
    first = (
        f"{plural(len(sets), 'gene set')} tested ({plural(sets.n_outside, 'other')} left out by size); "
        f"{sets.n_selected:,} of {sets.n_universe:,} genes selected; {few:,} with q-value below 0.05. The result "
        f"holds {sets.overlap.kind}, the sets hold {sets.overlap.set_kind}; {sets.overlap.n_matched:,} of "
        f"{sets.overlap.n_ids:,} ids are in a set."
    )
    table = sets.to_dict()
    rows = range(min(_SHOWN, len(sets)))
    columns = [
        ("set", [short(set_title(table["set"][k]), 34) for k in rows]),
        ("genes", [f"{table['in_universe'][k]:,}" for k in rows]),
        ("selected", [f"{table['selected'][k]:,}" for k in rows]),
        ("expected", [f"{table['expected'][k]:.2f}" for k in rows]),
        ("p-value", [f"{table['p_value'][k]:.2g}" for k in rows]),
        ("q-value", [f"{table['q_value'][k]:.2g}" for k in rows]),
        ("markers", [_number(table["expected_markers"][k]) for k in rows]),
        ("90%", [table["interval"][k] or "-" for k in rows]),
    ]
    last = _INDEPENDENT if sets.n_selected else _EMPTY
    return ["", *wrap(first), "", *align(columns, _SHOWN), "", *wrap(last)]


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f}"


def _facts(found: Found) -> dict[str, Any]:
    """What the JSON log, and formats with a place for it, say."""
    facts: dict[str, Any] = {"methods": [genes.method for genes in found.rankings]}
    if found.known:
        facts["known"] = [
            {"n_known": each.n_known, "n_ranked": each.n_ranked, "absent": list(each.absent),
             **{name: values.tolist() for name, values in each.to_dict().items()}}
            for each in found.known
        ]  # fmt: skip
    if found.sets is not None:
        sets = found.sets
        facts["sets"] = {
            "n_sets": len(sets), "n_outside": sets.n_outside, "n_universe": sets.n_universe,
            "n_selected": sets.n_selected, "n_matched": sets.overlap.n_matched, "n_ids": sets.overlap.n_ids,
            "ids": sets.overlap.kind, "set_ids": sets.overlap.set_kind,
        }  # fmt: skip
    return facts
