"""Files that are no tables: named for what they are, by their bytes first and by their name second."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

from bayesieve.utils import FileError, list_names

HDF5 = b"\x89HDF\r\n\x1a\n"
ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_EXPORT = "Open it with the program that wrote it and export the table as CSV."
_RAW = (
    "It holds raw data of one sample, not a table of samples x features. Run the usual pipeline of that platform "
    "first, and screen the table of values that comes out of it."
)
_READS = (
    "Reads have to be counted first (per gene, transcript or site); screen the table of counts that comes out, "
    "with one column per sample."
)
_VARIANTS = (
    "Turn the genotypes into a table first, with one row per sample and 0, 1 or 2 per variant (plink2 --export A "
    "does that), and screen it with the categorical model."
)
_GENOME = "It describes places in a genome, not samples."
_UNPACK = "Unpack it, and name the table inside."
_NOT_RUN = (
    "It is not read, because opening it can run any program. Write the table it holds from Python instead: "
    "frame.to_parquet('table.parquet')."
)
_PAGE = (
    "The link of a download often gives a page to log in or to click on instead of the file: open it in a browser "
    "to see what it says, and download the table itself."
)

# First bytes, what it is, what to do. Longer beginnings stand before shorter ones.
_BYTES: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a Parquet file", "Let its name end in .parquet."),
    (b"ARROW1", "an Arrow file", "Let its name end in .arrow or .feather."),
    (b"FEA1", "a Feather file of version 1", "Write it anew as Parquet."),
    (b"\x93NUMPY", "a NumPy file", "Let its name end in .npy."),
    (b"%PDF", "a PDF document", "Export the table as CSV, or ask its authors for it."),
    (b"{\\rtf", "a text document (RTF)", _EXPORT),
    (b"IDAT\x03\x00", "an Illumina intensity file (.idat)", _RAW),
    (b"[CEL]", "an Affymetrix CEL file", _RAW),
    (b"\x40\x00\x00\x00\x04\x00\x00\x00", "an Affymetrix CEL file", _RAW),
    (b"\x3b\x01\x00\x00", "an Affymetrix CEL or CHP file", _RAW),
    (b"BAM\x01", "a file of aligned reads (BAM)", _READS),
    (b"CRAM\x02", "a file of aligned reads (CRAM)", _READS),
    (b"CRAM\x03", "a file of aligned reads (CRAM)", _READS),
    (b"@HD\t", "a file of aligned reads (SAM)", _READS),
    (b"@SQ\t", "a file of aligned reads (SAM)", _READS),
    (b"NCBI.sra", "an archive of reads (SRA)", _READS),
    (b"##fileformat=VCF", "a file of variants (VCF)", _VARIANTS),
    (b"BCF\x02", "a file of variants (BCF)", _VARIANTS),
    (b"\x6c\x1b\x01", "a PLINK file of genotypes (.bed)", _VARIANTS),
    (b"##gff-version", "an annotation of a genome (GFF)", _GENOME),
    (b"\x26\xfc\x8f\x88", "a track of a genome (bigWig)", _GENOME),
    (b"\x88\x8f\xfc\x26", "a track of a genome (bigWig)", _GENOME),
    (b"MATLAB 5.0", "a MATLAB file", "In MATLAB: writetable(array2table(X), 'table.csv')."),
    (b"MATLAB 7", "a MATLAB file", "In MATLAB: writetable(array2table(X), 'table.csv')."),
    (b"<stata_dta>", "a Stata file", "In Stata: export delimited using table.csv."),
    (b"$FL2", "an SPSS file", "In SPSS: SAVE TRANSLATE OUTFILE='table.csv' /TYPE=CSV /FIELDNAMES."),
    (b"$FL3", "an SPSS file", "In SPSS: SAVE TRANSLATE OUTFILE='table.csv' /TYPE=CSV /FIELDNAMES."),
    (b"HEADER RECORD*******", "a SAS transport file", "In SAS: PROC EXPORT with DBMS=CSV."),
    (b"SQLite format 3\x00", "an SQLite database", "Export the table as CSV."),
    (b"Rar!", "a RAR archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"\x89PNG", "a picture (PNG)", _EXPORT),
    (b"\xff\xd8\xff", "a picture (JPEG)", _EXPORT),
    (b"GIF87a", "a picture (GIF)", _EXPORT),
    (b"GIF89a", "a picture (GIF)", _EXPORT),
    (b"II*\x00", "a picture (TIFF)", _EXPORT),
    (b"MM\x00*", "a picture (TIFF)", _EXPORT),
    (b"Obj\x01", "an Avro file", "Write it anew as Parquet."),
    (HDF5, "an HDF5 file", "Tables are read from AnnData (.h5ad), MuData (.h5mu), loom and 10x files."),
    (OLE, "an old document of Microsoft Office (Word, PowerPoint)", _EXPORT),
)
_SAS = bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c"
_R_OBJECTS = re.compile(rb"(X\n\x00\x00\x00[\x02\x03]|A\n[23]\n|B\n[\x02\x03]\x00\x00\x00)")
_R_WORKSPACE = re.compile(rb"RD[XAB][23]\n")
_PICKLE = re.compile(rb"\x80[\x02-\x05](?:\x95.{8})?[c}\]\x8c(K]", re.DOTALL)
_HTML = re.compile(rb"\s*(<!doctype html|<html|<head)", re.IGNORECASE)
_FASTQ = re.compile(rb"@[^\n]+\n[A-Za-z.*-]+\r?\n\+")
_FASTA = re.compile(rb">[^\n]+\n[A-Za-z*\r\n-]{20,}")
_JSON = re.compile(rb'\s*(\[\s*[{\[]|\{\s*"[^"\n]*"\s*:|\[\s*\])')
_ARFF = re.compile(rb"(\s*%[^\n]*\n)*\s*@relation\s", re.IGNORECASE)
_MARKDOWN = re.compile(rb"\s*\|[^\n]*\|\s*\n\s*\|(\s*:?-+:?\s*\|)+\s*\n")
_FCS = re.compile(rb"FCS[23]\.\d    ")
_NAMES: dict[tuple[str, ...], tuple[str, str]] = {
    (".cel", ".chp", ".cdf"): ("an Affymetrix file", _RAW),
    (".idat",): ("an Illumina intensity file (.idat)", _RAW),
    (".fcs",): ("a flow cytometry file (.fcs)", _RAW),
    (".raw", ".mzml", ".mzxml", ".wiff", ".d"): ("a mass spectrometry file", _RAW),
    (".fastq", ".fq"): ("a file of reads (FASTQ)", _READS),
    (".fasta", ".fa", ".fna"): ("a file of sequences (FASTA)", _READS),
    (".bam", ".cram", ".sam", ".sra"): ("a file of reads", _READS),
    (".vcf", ".bcf", ".bgen", ".bim", ".fam"): ("a file of variants", _VARIANTS),
    (".gtf", ".gff", ".gff3", ".bw", ".bigwig"): ("an annotation or a track of a genome", _GENOME),
    (".gmt", ".gmx", ".grp"): ("a file of gene sets", "It names genes, not samples with values."),
    (".dta",): ("a Stata file", "In Stata: export delimited using table.csv."),
    (".sav", ".zsav"): ("an SPSS file", "In SPSS: SAVE TRANSLATE OUTFILE='table.csv' /TYPE=CSV /FIELDNAMES."),
    (".sas7bdat", ".xpt"): ("a SAS file", "In SAS: PROC EXPORT with DBMS=CSV."),
    (".mat",): ("a MATLAB file", "In MATLAB: writetable(array2table(X), 'table.csv')."),
    (".rds", ".rdata", ".rda"): ("an R data file", "In R: write.csv(NAME, \"table.csv\")."),
    (".pkl", ".pickle", ".joblib"): ("a pickle of Python", _NOT_RUN),
    (".pdf", ".doc", ".docx", ".ppt", ".pptx", ".rtf"): ("a document", _EXPORT),
    (".zip", ".tar", ".tgz", ".rar", ".7z"): ("an archive", _UNPACK),
    (".numbers",): ("an Apple Numbers document", _EXPORT),
}  # fmt: skip


TEXTS = frozenset({".gmt", ".gmx", ".grp", ".gtf", ".gff", ".gff3", ".bim", ".fam", ".sam"})  # but no tables
_READABLE = {
    "workbook": "a workbook; let its name end in .xlsx or .ods",
    "numpy": "an archive of NumPy; let its name end in .npz",
}


def check_foreign(name: str, start: bytes, *, by_name: bool = False) -> None:
    """Raise if a file with these first bytes (after decompression) is no table, and say what it is.

    ``by_name``: the bytes are no text either, so that the name may tell.
    """
    if start.startswith(ZIP) and os.path.isfile(name):
        kind = zip_kind(name)
        raise FileError(f"{name} is not text but {_READABLE[kind]}.", kind="foreign")
    found = _r_file(name, start) or _by_bytes(start) or (_by_name(name) if by_name else None)
    if found is not None:
        raise FileError(f"{name} is not a table but {found[0]}. {found[1]}", kind="foreign")


def _r_file(name: str, start: bytes) -> tuple[str, str] | None:
    file, target = os.path.basename(name), Path(name).name.split(".")[0] or "table"
    if _R_OBJECTS.match(start):
        return (
            "an R object (saveRDS), which R alone can read",
            "Two lines of R write it as Parquet (the first column holds the row names): "
            f'x <- as.data.frame(readRDS("{file}")); '
            f'arrow::write_parquet(cbind(id = rownames(x), x), "{target}.parquet"). Without the package arrow: '
            f'write.csv(x, "{target}.csv").',
        )
    if _R_WORKSPACE.match(start):
        return (
            "an R workspace (save), which R alone can read",
            f'Two lines of R write a table of it: print(load("{file}")) says what it holds; then '
            f'arrow::write_parquet(as.data.frame(NAME), "{target}.parquet"), or write.csv(NAME, "{target}.csv") '
            "to keep the row names.",
        )
    return None


def _by_bytes(start: bytes) -> tuple[str, str] | None:
    known = ((what, advice) for magic, what, advice in _BYTES if start.startswith(magic))
    looks = ((what, advice) for test, what, advice in _LOOKS if test(start))
    return next(known, None) or next(looks, None)


_Looks = tuple[Callable[[bytes], object], str, str]
_LOOKS: tuple[_Looks, ...] = (
    (lambda start: start.startswith(ZIP), "a ZIP archive", _UNPACK),
    (
        lambda start: start[257:262] == b"ustar",
        "a tar archive",
        "Unpack it (tar -xf). A tar file of GEO holds raw files; the series matrix holds the table.",
    ),
    (lambda start: start.startswith(_SAS), "a SAS file", "In SAS: PROC EXPORT with DBMS=CSV."),
    (_PICKLE.match, "a pickle of Python", _NOT_RUN),
    (_HTML.match, "a web page", _PAGE),
    (_FASTQ.match, "a file of reads (FASTQ)", _READS),
    (_FCS.match, "a flow cytometry file (FCS)", _RAW),
    (_FASTA.match, "a file of sequences (FASTA)", _READS),
    (_JSON.match, "a JSON file", "In Python: pandas.read_json(FILE).to_csv('table.csv', index=False)."),
    (_ARFF.match, "an ARFF file of Weka", "Save it as CSV there, or drop the lines that begin with @."),
    (_MARKDOWN.match, "a Markdown table", "Write it as CSV, without the line below the header."),
    (
        lambda start: start.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<?xml"),
        "an XML file",
        "Export the table as CSV; of a GEO series, download the series matrix (not MINiML).",
    ),
)


def _by_name(name: str) -> tuple[str, str] | None:
    endings = {suffix.lower() for suffix in Path(name).suffixes[-2:]}
    return next((found for known, found in _NAMES.items() if endings.intersection(known)), None)


def zip_kind(name: str, data: bytes | None = None) -> str:
    """Return what a ZIP archive is: ``"workbook"``, ``"numpy"``; raise if it is anything else, and say what."""
    try:
        with zipfile.ZipFile(name if data is None else io.BytesIO(data)) as archive:
            members = [member for member in archive.namelist() if not member.startswith("__MACOSX/")]
            mime = _beginning(archive, "mimetype") if "mimetype" in members else b""
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError) as error:
        raise FileError(
            f"{name} is damaged or cut short: it begins as a ZIP archive (an Excel workbook is one, too), but "
            f"cannot be read to its end ({str(error).rstrip('.')}). Download or save it again."
        ) from None
    if any(member.startswith("xl/") for member in members) or b"opendocument.spreadsheet" in mime:
        return "workbook"
    if members and all(member.endswith(".npy") for member in members):
        return "numpy"
    parts = {"word/": "a Word document", "ppt/": "a PowerPoint document", "Index/": "an Apple Numbers document"}
    document = next((what for part, what in parts.items() if any(m.startswith(part) for m in members)), None)
    document = "an OpenDocument text or drawing" if b"opendocument" in mime else document
    if document is not None:
        raise FileError(f"{name} is not a table but {document}. {_EXPORT}", kind="foreign")
    if any(member.endswith((".zgroup", "zarr.json")) for member in members):
        raise FileError(f"{name} is a zipped zarr store. Unzip it, and name the folder.", kind="foreign")
    holds = f"It holds {list_names(members, 3)}." if members else "It is empty."
    raise FileError(f"{name} is not a table but a ZIP archive. {holds} {_UNPACK}", kind="foreign")


def _beginning(archive: zipfile.ZipFile, part: str) -> bytes:
    with archive.open(part) as stream:
        return stream.read(80)


def is_old_workbook(start: bytes) -> bool:
    """Tell an Excel workbook of 97-2003 from other documents of that time."""
    return start.startswith(OLE) and any(
        word.encode("utf-16-le") in start for word in ("Workbook", "Book", "WORKBOOK")
    )
