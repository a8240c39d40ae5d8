"""Files of formats other than text, written by their own library or after their public description."""

from __future__ import annotations

import gzip
import struct
import zipfile

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
import xlsxwriter


def workbook(path, **sheets):
    """Write sheets, each a list of rows."""
    with xlsxwriter.Workbook(str(path), {"default_date_format": "d-mmm"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                for j, cell in enumerate(row):
                    if cell is not None:
                        sheet.write(i, j, cell)
    return path


def ods(path, rows):
    """Write a sheet after the public description of OpenDocument."""

    def cell(value):
        if isinstance(value, str):
            return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
        return f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'

    body = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    names = " ".join(
        f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0"?><office:document-content {names}><office:body><office:spreadsheet><table:table '
        f'table:name="data">{body}</table:table></office:spreadsheet></office:body></office:document-content>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
    return path


_RNG = np.random.default_rng(8)
TENX_COUNTS = _RNG.poisson(0.7, size=(30, 12))  # cells x genes
TENX_COUNTS[15:, 0] += 9
BARCODES = [f"ACGT{i:03d}-1" for i in range(30)]
GENE_IDS = [f"ENSG{j:05d}" for j in range(12)]
SYMBOLS = [f"SYM{j}" for j in range(12)]
SYMBOLS[7] = "SYM3"
NAMES = [f"{s} ({k})" if s == "SYM3" else s for s, k in zip(SYMBOLS, GENE_IDS, strict=True)]
TYPES = ["Gene Expression"] * 10 + ["Antibody Capture"] * 2


def _put(path, text, packed):
    path = path.with_name(path.name + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())


def tenx_folder(path, *, packed=True, names="features", prefix="", order=None):
    """Write a folder as Cell Ranger does: version 3 with features.tsv.gz, version 2 with genes.tsv."""
    path.mkdir(exist_ok=True)
    matrix = sp.csc_matrix(TENX_COUNTS.T).tocoo()
    if order is not None:
        matrix = sp.coo_matrix((matrix.data[order], (matrix.row[order], matrix.col[order])), matrix.shape)
    name = path / f"{prefix}matrix.mtx{'.gz' if packed else ''}"
    with (gzip.open if packed else open)(name, "wb") as file:
        scipy.io.mmwrite(file, matrix, field="integer")
    lines = (
        zip(GENE_IDS, SYMBOLS, TYPES, strict=True) if names == "features" else zip(GENE_IDS, SYMBOLS, strict=True)
    )
    _put(path / f"{prefix}{names}.tsv", "".join("\t".join(line) + "\n" for line in lines), packed)
    _put(path / f"{prefix}barcodes.tsv", "".join(f"{cell}\n" for cell in BARCODES), packed)
    return path


def tenx_file(path, version=3, genomes=("GRCh38",)):
    """Write a file after 10x's description: CSC of features x barcodes."""
    matrix = sp.csc_matrix(TENX_COUNTS.T)
    with h5py.File(path, "w") as file:
        for genome in genomes:
            group = file.create_group("matrix" if version == 3 else genome)
            group["barcodes"] = np.array(BARCODES, dtype="S18")
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
            group["shape"] = np.array(matrix.shape, dtype="i4")
            if version == 3:
                features = group.create_group("features")
                features["id"], features["name"] = np.array(GENE_IDS, "S16"), np.array(SYMBOLS, "S16")
                features["feature_type"] = np.array(TYPES, "S20")
            else:
                group["genes"], group["gene_names"] = np.array(GENE_IDS, "S16"), np.array(SYMBOLS, "S16")
    return path


COUNTS = _RNG.poisson(1.0, size=(20, 6))
CELLS = [f"c{i}" for i in range(20)]
GENES = [f"g{j}" for j in range(6)]
STATE = ["well", "sick"] * 10
FORMS = {"dense": np.asarray, "csr": sp.csr_matrix, "csc": sp.csc_matrix}


def annotated(form="csr", counts=COUNTS, genes=GENES):
    obs = pd.DataFrame({"state": STATE, "plate": [f"d{i // 5}" for i in range(20)]}, index=CELLS)
    values = FORMS[form](counts.astype("f4"))
    return anndata.AnnData(
        values, obs=obs, var=pd.DataFrame(index=genes), layers={"twice": FORMS[form](counts * 2)}
    )


def loom(path, names=("Gene", "CellID"), genes=GENES, **more):
    """Write a file after the public description of loom: genes in rows, attributes of rows and columns."""
    with h5py.File(path, "w") as file:
        file.create_dataset("matrix", data=COUNTS.T.astype("f4"), chunks=(3, 10), compression="gzip")
        file.create_dataset("layers/spliced", data=COUNTS.T * 3)
        file[f"row_attrs/{names[0]}"] = np.array(genes, dtype="S")
        file["row_attrs/Accession"] = np.array([f"ENSG{j}" for j in range(6)], dtype=h5py.string_dtype())
        file[f"col_attrs/{names[1]}"] = np.array(CELLS, dtype="S")
        file["col_attrs/state"] = np.array(STATE, dtype=h5py.string_dtype())
        file["col_attrs/batch"] = np.arange(20) % 3
        file["col_attrs/umap"] = np.zeros((20, 2))
        file.create_group("row_graphs")
        file.create_group("col_graphs")
        file.attrs["LOOM_SPEC_VERSION"] = "3.0.0"
    return path


SIGNALS = np.random.default_rng(3).normal(8, 1, size=(10, 6)).round(4)
PROBES = [f"{1000 + j}_at" for j in range(6)]
TISSUE = ["normal"] * 5 + ["tumour"] * 5


def soft_sample(i, platform="GPL96", header="ID_REF\tVALUE\tABS_CALL", probes=PROBES, values=None):
    rows = SIGNALS[i] if values is None else values
    lines = [
        f"^SAMPLE = GSM{i}",
        f"!Sample_title = biopsy {i}",
        f"!Sample_geo_accession = GSM{i}",
        f"!Sample_characteristics_ch1 = tissue: {TISSUE[i]}",
        f"!Sample_characteristics_ch1 = sex: {'fm'[i % 2]}",
        f"!Sample_platform_id = {platform}",
        "#ID_REF =",
        "#VALUE = log2 signal",
        "!sample_table_begin",
        header,
        *(f"{probe}\t{value}\tP" for probe, value in zip(probes, rows, strict=True)),
        "!sample_table_end",
    ]
    return "\n".join(lines) + "\n"


_SOFT_HEAD = (
    "^DATABASE = GeoMiame\n!Database_name = Gene Expression Omnibus\n^SERIES = GSE1\n!Series_title = A series\n"
    "^PLATFORM = GPL96\n!platform_table_begin\nID\tGene Symbol\n1000_at\tTP53\n!platform_table_end\n"
)


def soft_family(path, *samples):
    text = (_SOFT_HEAD + "".join(samples)).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def old_workbook(path, rows):
    """Write a sheet as Excel 97 did, after the public descriptions of BIFF8 and of compound files."""

    def record(kind, content):
        return struct.pack("<HH", kind, len(content)) + content

    def cell(i, j, value):
        where = struct.pack("<HHH", i, j, 0)
        if isinstance(value, str):
            return record(0x204, where + struct.pack("<HB", len(value), 0) + value.encode("latin-1"))
        return record(0x203, where + struct.pack("<d", value))

    begin, end = struct.Struct("<HHHHII"), record(0x0A, b"")
    sheet = record(0x809, begin.pack(0x600, 0x10, 0, 1997, 0, 6))
    sheet += b"".join(cell(i, j, value) for i, row in enumerate(rows) for j, value in enumerate(row)) + end
    head = record(0x809, begin.pack(0x600, 5, 0, 1997, 0, 6))
    place = len(head) + 4 + 8 + len("data") + len(end)
    head += record(0x85, struct.pack("<IBBBB", place, 0, 0, len("data"), 0) + b"data") + end
    stream = head + sheet
    stream += bytes(-len(stream) % 512) if len(stream) > 4096 else bytes(4096 - len(stream))
    n_sectors = len(stream) // 512
    table = [
        0xFFFFFFFD,
        0xFFFFFFFE,
        *range(3, n_sectors + 2),
        0xFFFFFFFE,
    ]  # the table itself, the folder, the stream
    assert len(table) <= 128
    table += [0xFFFFFFFF] * (128 - len(table))
    header = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    )
    header += struct.pack("<IIIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0)
    header += b"\xff" * (512 - len(header))

    def entry(name, kind, child, start, size):
        text = (name + "\0").encode("utf-16-le") if name else b""
        links = struct.pack("<BBIII", kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
        return (
            text.ljust(64, b"\0")
            + struct.pack("<H", len(text))
            + links
            + bytes(36)
            + struct.pack("<IQ", start, size)
        )

    folder = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry("Workbook", 2, 0xFFFFFFFF, 2, len(stream))
    folder += entry("", 0, 0xFFFFFFFF, 0, 0) * 2
    path.write_bytes(header + struct.pack("<128I", *table) + folder + stream)
    return path
