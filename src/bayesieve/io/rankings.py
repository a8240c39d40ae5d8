"""Rankings from files: results of a screen, tables of a comparison, or names with scores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.enrichment import RankedGenes, marker_probability
from bayesieve.io.results.read import read_result
from bayesieve.io.results.table import StoredTable, read_stored_table
from bayesieve.io.tables.roles import check_distinct
from bayesieve.io.text.files import TextBytes, plain_suffix
from bayesieve.screening import RunRecord
from bayesieve.utils import FileError, check_file

_BLOCK = 2**22
_OF_A_RESULT = ("feature", "log_odds", "log_bayes_factor")
_RANK = "rank_"


@dataclass(frozen=True, slots=True, eq=False)
class StoredRankings:
    """What a file ranks.

    Parameters
    ----------
    path
        The file.
    rankings
        One, or one per method of a comparison.
    record
        What is known of the run; None if it is no result of a screen.
    """

    path: str
    rankings: tuple[RankedGenes, ...]
    record: RunRecord | None = None

    def __iter__(self) -> Iterator[RankedGenes]:
        return iter(self.rankings)


def read_rankings(path: str | os.PathLike[str]) -> StoredRankings:
    """Read what ``bayesieve screen --out`` or ``bayesieve compare --out`` wrote, or names and scores.

    Of two columns the first holds names, the second scores, the largest first, or ranks if it is called so; a
    single column holds names in rank order.
    """
    name = os.fspath(check_file(path))
    stem = _stem(name)
    if plain_suffix(name) in (".parquet", ".pq", ".json"):
        return _of_table(name, stem, read_stored_table(name))
    rows = _rows(name)
    head = rows[0]
    if len(head) > 2 or "feature" in head:
        return _of_table(name, stem, read_stored_table(name))
    return StoredRankings(name, (_of_columns(name, stem, rows),))


def _of_table(path: str, stem: str, table: StoredTable) -> StoredRankings:
    if all(column in table.columns for column in _OF_A_RESULT):
        stored = read_result(path)
        genes = RankedGenes.of(stored.selection, stem)
        if stored.posterior.shuffled is None and "expected_fdr" in table.columns:  # a table without its record
            fdr = dict(zip(table.texts("feature"), table.numbers("expected_fdr").tolist(), strict=True))
            rate = np.array([fdr[each] for each in genes.names])
            if not np.isnan(rate).any():
                order = stored.posterior.ranking
                likely = marker_probability(stored.posterior.probability[order], rate)
                genes = replace(genes, probability=likely)
        return StoredRankings(path, (genes,), stored.record)
    ranks = [column for column in table.columns if column.startswith(_RANK)]
    if "feature" not in table.columns or not ranks:
        shown = ", ".join([*table.columns][:8])
        raise FileError(
            f"{path} ranks nothing that could be read: it is no table of bayesieve screen or bayesieve compare, "
            f"and has more than two columns ({shown}). Name such a table, or give two columns, names and scores."
        )
    names = table.texts("feature")
    check_distinct(path, names, "feature")
    return StoredRankings(path, tuple(_by_rank(names, table.numbers(each), each[len(_RANK) :]) for each in ranks))


def _by_rank(names: list[str], ranks: Any, method: str) -> RankedGenes:
    """Names in the order of their ranks; those without one are left out."""
    order = np.argsort(ranks, kind="stable")
    order = order[~np.isnan(ranks[order])]
    return RankedGenes.of([names[i] for i in order.tolist()], method)


def _of_columns(path: str, stem: str, rows: list[list[str]]) -> RankedGenes:
    """Names with scores or ranks, or names alone, with a header or without."""
    if len(rows[0]) == 1:
        body = rows[1:] if rows[0][0].casefold() in ("feature", "gene", "name", "symbol", "id") else rows
        names = [row[0] for row in body]
        check_distinct(path, names, "name")
        return RankedGenes.of(names, stem)
    has_header = _number(rows[0][1]) is None
    body = rows[1:] if has_header else rows
    short = next((k for k, row in enumerate(body, 1 + has_header) if len(row) != 2), None)
    if short is not None:
        raise FileError(f"{path}: row {short:,} has not two columns, as the first has. Give names and scores.")
    names, values = [row[0] for row in body], [_number(row[1]) for row in body]
    wrong = [k for k, value in enumerate(values) if value is None]
    if wrong or not body:
        where = f"row {wrong[0] + 1 + has_header:,} holds {body[wrong[0]][1]!r}" if wrong else "there are no rows"
        raise FileError(f"{path}: a ranking needs a number for every name, but {where}. Give names and scores.")
    check_distinct(path, names, "name")
    scores = np.array(values, dtype=np.float64)
    ranked = has_header and "rank" in rows[0][1].casefold()
    order = np.argsort(scores if ranked else -scores, kind="stable")
    genes = RankedGenes.of([names[i] for i in order.tolist()], stem)
    return genes if ranked else replace(genes, score=scores[order], signed=bool((scores < 0).any()))


def _rows(path: str) -> list[list[str]]:
    with TextBytes(path, None) as stream:
        text = b"".join(iter(lambda: stream.read(_BLOCK), b"")).decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise FileError(f"{path} holds no ranking: there are only blank lines and comments.")
    delimiter = next((mark for mark in "\t,;" if mark in lines[0]), None)
    cells = [line.split(delimiter) if delimiter else [line] for line in lines]
    return [[cell.strip().strip('"') for cell in row] for row in cells]


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return None if np.isnan(found) else found


def _stem(path: str) -> str:
    name = os.path.basename(path)
    for ending in (".gz", ".csv", ".tsv", ".txt", ".rnk", ".parquet", ".pq", ".json"):
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return name
