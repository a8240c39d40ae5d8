"""Files about genes: which genes features measure, gene sets (GMT), and lists of ids."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from pathlib import Path

from bayesieve.data import GeneMap
from bayesieve.enrichment import GeneSets
from bayesieve.io.text.files import TextBytes, plain_suffix
from bayesieve.utils import FileError, Wording, did_you_mean, list_names, option

_BLOCK = 2**22
_COMMENTS = ("#", "!", "^")
_ID_NAMES = (
    "id", "probe set id", "probe_set_id", "probeset id", "probesetid", "probeset_id", "probeset", "probe id",
    "probe_id", "probeid", "probe", "probes", "id_ref", "feature", "feature_id", "featureid", "array_address_id",
)  # fmt: skip
_GENE_NAMES = (
    "gene symbol", "gene_symbol", "genesymbol", "symbol", "symbols", "hgnc_symbol", "hgnc symbol", "gene_name",
    "gene", "genes", "ilmn_gene", "entrez_gene_id", "entrez gene", "entrez gene id", "entrezid", "entrez_id",
    "entrez", "gene_id", "geneid", "gene id", "ensembl_gene_id", "ensembl", "orf",
)  # fmt: skip
_BETWEEN = re.compile(r"[\s,;]+")


def read_gene_map(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    gene_column: str | None = None,
    encoding: str | None = None,
) -> GeneMap:
    r"""Read which genes features measure: a GPL table of GEO, a GSEA ``.chip`` file, or two columns of text.

    Lines that begin with ``#``, ``!`` or ``^`` are comments. Several genes of a feature stand in one cell
    (``A /// B``; also ``;``, ``|`` or ``,``) or in several rows.

    Parameters
    ----------
    path
        The file: tab- or comma-separated text, compressed or not.
    id_column
        Column of the feature ids; found by its name (ID, Probe Set ID, ...), else the first.
    gene_column
        Column of the genes; found by its name, a gene symbol before an Entrez id.
    encoding
        Of the text; UTF-8 if not given.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayesieve as bs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "platform.txt"
    >>> _ = path.write_text("#ID = probe\nID\tGene Symbol\n1007_s_at\tDDR1 /// MIR4640\n1053_at\tRFC2\n")
    >>> bs.read_gene_map(path)["1007_s_at"]
    ('DDR1', 'MIR4640')
    """
    name = os.fspath(path)
    rows = _rows(name, _text(path, encoding))
    if not rows:
        raise FileError(f"{name} holds comments and blank lines only. Check how it was downloaded.")
    head = [cell.strip() for cell in rows[0]]
    id_place, gene_place, has_header = _places(name, head, id_column, gene_column)
    body = rows[1:] if has_header else rows
    if not body:
        raise FileError(f"{name} holds a header and no features. Check how it was downloaded.")
    last = max(id_place, gene_place)
    pairs = [(row[id_place].strip(), row[gene_place]) for row in body if len(row) > last and row[id_place].strip()]
    short = [row[id_place].strip() for row in body if id_place < len(row) <= gene_place]
    pairs += [(feature, "") for feature in short if feature]  # trailing empty cells are left out
    found = GeneMap.from_pairs(pairs, name)
    if not found.n_genes:
        column = head[gene_place] if has_header else f"column {gene_place + 1}"
        raise FileError(
            f"{name}: none of {len(found):,} features has a gene in {column!r}. Its columns are: {_shown(head)}.",
            hint=(
                "Name the one with the genes: ",
                Wording("gene_column='NAME'", f"--gene-map {name}:COLUMN"),
                ".",
            ),
        )
    return found


def _text(path: str | os.PathLike[str], encoding: str | None = None) -> str:
    with TextBytes(path, encoding) as stream:
        data = b"".join(iter(lambda: stream.read(_BLOCK), b""))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(
            f"{os.fspath(path)} is not UTF-8 text.",
            hint=("Name its encoding, for example ", option("encoding", "latin-1"), "."),
        ) from None


def _rows(name: str, text: str) -> list[list[str]]:
    """Cut a table into cells: of tab-separated text quotation marks are part of it, unless they stand around."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(_COMMENTS)]
    if not lines:
        return []
    first = lines[0]
    if "\t" in first or plain_suffix(name) in (".tsv", ".chip"):
        return [[cell.strip().strip('"') for cell in line.split("\t")] for line in lines]
    delimiter = max(",; ", key=lambda mark: (mark in first, first.count(mark) * (mark != " ")))
    if delimiter not in first:
        raise FileError(
            f"{name} seems to have a single column ({first[:60]!r}): neither tab, comma nor semicolon separates "
            "features from genes. Give two columns."
        )
    try:
        return [*csv.reader(lines, delimiter=delimiter, skipinitialspace=True)]
    except csv.Error as error:
        raise FileError(f"{name} cannot be read as a table: {error}.") from None


def _places(
    name: str, head: Sequence[str], id_column: str | None, gene_column: str | None
) -> tuple[int, int, bool]:
    """Where ids and genes stand, and whether the first row is a header."""
    folded = [cell.casefold() for cell in head]
    ids = next((folded.index(known) for known in _ID_NAMES if known in folded), None)
    genes = next((folded.index(known) for known in _GENE_NAMES if known in folded), None)
    given = id_column is not None or gene_column is not None
    if not given and ids is None and genes is None:
        if len(head) == 2:
            return 0, 1, False
        raise FileError(
            f"{name}: it cannot be told which of its {len(head):,} columns holds the features and which the "
            f"genes: {_shown(head)}.",
            hint=(
                "Name them: ",
                Wording("id_column='NAME', gene_column='NAME'", f"--gene-map {name}:COLUMN"),
                ".",
            ),
        )
    genes = _named(name, head, gene_column) if gene_column is not None else genes
    ids = _named(name, head, id_column) if id_column is not None else ids
    if ids is None:
        ids = 1 if genes == 0 else 0
    if genes is None or genes == ids:
        others = [k for k in range(len(head)) if k != ids]
        if len(others) != 1:
            raise FileError(
                f"{name}: none of its columns is called as one with genes is. They are: {_shown(head)}.",
                hint=("Name it: ", Wording("gene_column='NAME'", f"--gene-map {name}:COLUMN"), "."),
            )
        genes = others[0]
    return ids, genes, True


def _named(name: str, head: Sequence[str], column: str) -> int:
    if column not in head:
        raise FileError(f"{name} has no column {column!r}.{did_you_mean(column, head)} They are: {_shown(head)}.")
    return head.index(column)


def _shown(names: Sequence[str]) -> str:
    return list_names(names, 12, quote=False)


def read_gene_sets(path: str | os.PathLike[str], *, encoding: str | None = None) -> GeneSets:
    r"""Read gene sets from a GMT file: a line per set with its name, a description and its genes, tabs between.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayesieve as bs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pathways.gmt"
    >>> _ = path.write_text("Glycolysis\thttp://example.org\tHK1\tPFKM\nCycle\t\tCDK1\tCDK2\tCDK1\n")
    >>> sets = bs.read_gene_sets(path)
    >>> sets.names, sets.genes
    (('Glycolysis', 'Cycle'), (('HK1', 'PFKM'), ('CDK1', 'CDK2')))
    """
    file = os.fspath(path)
    lines = [(k, line) for k, line in enumerate(_text(path, encoding).splitlines(), 1) if line.strip()]
    names, sets, descriptions, wrong = [], [], [], []
    for k, line in lines:
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < 2 or not cells[0]:
            wrong.append(k)
            continue
        names.append(cells[0])
        descriptions.append(cells[1])
        sets.append(tuple(dict.fromkeys(cell for cell in cells[2:] if cell)))
    if wrong or not any(sets):
        where = f"line {wrong[0]:,} has no tab or no name" if wrong else "no line holds a gene"
        raise FileError(
            f"{file} is no file of gene sets: {where} ({len(wrong) or len(lines):,} of {len(lines):,} lines are "
            "like that). A GMT file has a line per set: name, description and genes with tabs between."
        )
    return GeneSets(tuple(names), tuple(sets), tuple(descriptions), os.path.basename(file))


def read_ids(reference: str | os.PathLike[str], *, encoding: str | None = None) -> tuple[str, ...]:
    """Read ids from a file, one per line or with commas or blanks between, or from a text with commas between."""
    name = os.fspath(reference)
    if Path(name).is_file():
        lines = [line for line in _text(name, encoding).splitlines() if not line.startswith("#")]
        text = "\n".join(lines)
    elif "," in name or not re.search(r"[./\\]", name):
        text = name
    else:
        raise FileError(
            f"There is no file {name}. Check the name and the folder, or give ids with commas between."
        )
    found = tuple(dict.fromkeys(part.strip('"') for part in _BETWEEN.split(text) if part.strip('"')))
    if not found:
        raise FileError(f"{name} holds no ids. Give one per line, or several with commas between.")
    return found
