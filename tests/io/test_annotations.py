"""Files about genes: platform tables of GEO, GSEA chips, two columns, GMT, lists of ids; what can be wrong."""

from __future__ import annotations

import gzip

import pytest

import bayesieve as bs
from bayesieve.io import read_ids

GPL = """^PLATFORM = GPL570
!Platform_title = [HG-U133_Plus_2] Affymetrix Human Genome U133 Plus 2.0 Array
#ID = Affymetrix Probe Set ID
#Gene Symbol = A gene symbol, when one is available
!platform_table_begin
ID\tGB_ACC\tGene Title\tGene Symbol\tENTREZ_GENE_ID\tRefSeq
1007_s_at\tU48705\tdiscoidin domain, 5" end\tDDR1 /// MIR4640\t780 /// 100616237\tNM_001202521
1053_at\tM87338\treplication factor C\tRFC2\t5982\tNM_002914
117_at\tX51757\t\t\t\t
1255_g_at\tL36861\tguanylate
!platform_table_end
"""
CHIP = """Probe Set ID\tGene Symbol\tGene Title
1007_s_at\tDDR1\tdiscoidin
1053_at\tRFC2\tna
AFFX_at\t---\tna
"""


def write(folder, name, text, encoding="utf-8"):
    path = folder / name
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["GPL570.txt", "GPL570-55999.txt.gz", "GPL570.annot"])
def test_a_platform_table_of_geo_gives_symbols_or_what_is_asked_for(tmp_path, name):
    path = write(tmp_path, name, GPL)
    genes = bs.read_gene_map(path)
    assert dict(genes.genes) == {
        "1007_s_at": ("DDR1", "MIR4640"), "1053_at": ("RFC2",), "117_at": (), "1255_g_at": (),
    }  # fmt: skip
    assert (genes.n_without, genes.n_several, genes.n_genes) == (2, 1, 3)
    entrez = bs.read_gene_map(path, gene_column="ENTREZ_GENE_ID")
    assert entrez["1007_s_at"] == ("780", "100616237")
    by_accession = bs.read_gene_map(path, id_column="GB_ACC")
    assert by_accession["M87338"] == ("RFC2",)


def test_a_chip_of_gsea(tmp_path):
    genes = bs.read_gene_map(write(tmp_path, "HG_U133.chip", CHIP))
    assert dict(genes.genes) == {"1007_s_at": ("DDR1",), "1053_at": ("RFC2",), "AFFX_at": ()}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("map.txt", "p1\tA\np2\tB\np1\tC\n"),
        ("map.csv", "p1,A\np2,B\np1,C\n"),
        ("map.csv", 'probe,gene\n"p1","A"\np2,B\np1,C\n'),
        ("map.csv.gz", "feature;gene\np1;A\np2;B\np1;C\n"),
        ("map.tsv", "gene\tprobe\nA\tp1\nB\tp2\nC\tp1\n"),
        ("map.txt", "ID\tsomething\r\np1\tA /// C\r\np2\tB\r\n"),
        ("map.txt", "p1 A\np2 B\np1 C\n"),
        ("map.csv", 'ID,Gene\np1,"A,C"\np2,B\n'),
    ],
)
def test_two_columns_with_or_without_a_header(tmp_path, name, text):
    assert dict(bs.read_gene_map(write(tmp_path, name, text)).genes) == {"p1": ("A", "C"), "p2": ("B",)}


def test_another_encoding(tmp_path):
    path = write(tmp_path, "map.txt", "ID\tGene\nµ1\tA\n", "latin-1")
    assert list(bs.read_gene_map(path, encoding="latin-1")) == ["µ1"]
    with pytest.raises(bs.FileError, match="not UTF-8"):
        bs.read_gene_map(path)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("# nothing\n\n", {}, "comments and blank lines only"),
        ("A\nB\n", {}, "single column"),
        ("ID\tGene\n", {}, "a header and no features"),
        ("a\tb\tc\n1\t2\t3\n", {}, "cannot be told which of its 3 columns.*a, b, c"),
        ("ID\tb\tc\n1\t2\t3\n", {}, "none of its columns is called"),
        ("ID\tGene Symbol\n1\tA\n", {"gene_column": "Gene Symbl"}, "no column 'Gene Symbl'.*Gene Symbol"),
        ("ID\tGene Symbol\n1\t---\n2\t\n", {}, "none of 2 features has a gene in 'Gene Symbol'"),
    ],
)
def test_what_is_wrong_with_a_gene_map_is_said(tmp_path, text, options, message):
    with pytest.raises(bs.FileError, match=message):
        bs.read_gene_map(write(tmp_path, "map.txt", text), **options)


@pytest.mark.parametrize("name", ["sets.gmt", "sets.gmt.gz"])
def test_gene_sets(tmp_path, name):
    sets = bs.read_gene_sets(write(tmp_path, name, "a\tabout a\tX\tY\tX\t\nb\t\tZ\n\nempty\tnothing\n"))
    assert dict(sets) == {"a": ("X", "Y"), "b": ("Z",), "empty": ()}
    assert sets.descriptions == ("about a", "", "nothing")
    assert sets.source == name
    assert sets.ids == {"X", "Y", "Z"}


@pytest.mark.parametrize(
    ("text", "message"), [("a b c\nd\te\tf\n", "line 1 has no tab"), ("a\tb\n", "no line holds")]
)
def test_what_is_wrong_with_gene_sets_is_said(tmp_path, text, message):
    with pytest.raises(bs.FileError, match=message):
        bs.read_gene_sets(write(tmp_path, "sets.gmt", text))


def test_lists_of_ids(tmp_path):
    path = write(tmp_path, "known.txt", '# from a review\nTP53\nKRAS, "APC"\nTP53\n')
    assert read_ids(path) == ("TP53", "KRAS", "APC")
    assert read_ids("TP53,KRAS") == ("TP53", "KRAS")
    assert read_ids("TP53") == ("TP53",)
    with pytest.raises(bs.FileError, match=r"no file absent\.txt"):
        read_ids("absent.txt")
    with pytest.raises(bs.FileError, match="holds no ids"):
        read_ids(write(tmp_path, "none.txt", "# nothing\n"))
